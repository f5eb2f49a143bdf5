#include "mutate.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace tsc::fuzz {
namespace {

constexpr size_t kLongestText = 12000;

struct Slice {
  size_t begin, end;
  size_t size() const { return end - begin; }
};

bool is_word_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }

// The tokens of a text, near enough: words with numbers, quoted texts of one line, operators.
std::vector<Slice> tokens_of(std::string_view text) {
  std::vector<Slice> out;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char c = text[at++];
    if (c == ' ' || c == '\n') continue;
    if (is_word_byte(c)) {
      while (at < text.size() && (is_word_byte(text[at]) || text[at] == '.')) {
        if (text[at] == '.' && !std::isdigit(static_cast<unsigned char>(c))) break;
        ++at;
      }
    } else if (c == '"' || c == '\'') {
      while (at < text.size() && text[at] != c && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
      at = std::min(at + 1, text.size());
    } else {
      while (at < text.size() && at < begin + 3 &&
             std::string_view("=<>*/:-+|&").find(text[at]) != std::string_view::npos)
        ++at;
    }
    out.push_back({begin, at});
  }
  return out;
}

std::vector<Slice> lines_of(std::string_view text) {
  std::vector<Slice> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    out.push_back({at, end});
    at = end;
  }
  return out;
}

class Mutator {
 public:
  Mutator(const Corpus& corpus, Random& random) : corpus_(corpus), random_(random) {}

  std::string run(bool gentle) {
    for (size_t pieces = 1 + random_.below(3); pieces > 0; --pieces) {
      text_ += random_.pick(corpus_.pieces);
      if (!text_.ends_with('\n') && !random_.once_in(16)) text_ += '\n';
    }
    size_t edits = random_.below(gentle ? 4 : 12);
    if (!gentle) ++edits;
    while (edits-- > 0 && text_.size() < kLongestText) {
      if (text_.empty()) text_ = random_.pick(corpus_.pieces);
      gentle ? gentle_edit() : rough_edit();
    }
    return std::move(text_);
  }

 private:
  void gentle_edit() {
    switch (random_.below(12)) {
      case 0:
      case 1:
      case 2: return exchange_token_of_a_kind();
      case 3: return exchange_token_with_word();
      case 4: return white_space();
      case 5: return duplicate_line();
      case 6: return erase_line();
      case 7: return swap_lines();
      case 8: return wrap_lines();
      case 9: return insert_piece_of_lines();
      case 10: return parenthesize();
      default: return comment();
    }
  }

  void rough_edit() {
    switch (random_.below(14)) {
      case 0: return flip_bit();
      case 1: return insert_bytes();
      case 2: return erase_bytes();
      case 3: return copy_bytes();
      case 4: return truncate();
      case 5: return nest();
      case 6:
      case 7: return insert_word();
      case 8: return erase_token();
      case 9: return swap_tokens();
      case 10: return indent_line();
      default: return gentle_edit();
    }
  }

  size_t place() { return random_.below(text_.size() + 1); }
  void replace(Slice at, std::string_view with) { text_.replace(at.begin, at.size(), with); }
  std::string_view view(Slice at) const { return std::string_view(text_).substr(at.begin, at.size()); }

  // Names for names, numbers for numbers, operators for operators: of this text or another.
  void exchange_token_of_a_kind() {
    const std::vector<Slice> tokens = tokens_of(text_);
    if (tokens.empty()) return;
    const Slice to = random_.pick(tokens);
    const bool wants_word = is_word_byte(text_[to.begin]);
    const std::string other = random_.once_in(3) ? random_.pick(corpus_.pieces) : text_;
    const std::vector<Slice> offers = tokens_of(other);
    for (int i = 0; i < 20 && !offers.empty(); ++i) {
      const Slice from = random_.pick(offers);
      if (is_word_byte(other[from.begin]) != wants_word) continue;
      const std::string taken = other.substr(from.begin, from.size());
      return replace(to, taken);
    }
  }
  void exchange_token_with_word() {
    const std::vector<Slice> tokens = tokens_of(text_);
    if (!tokens.empty()) replace(random_.pick(tokens), random_.pick(corpus_.words));
  }
  void insert_word() {
    const std::vector<Slice> tokens = tokens_of(text_);
    const size_t at = tokens.empty() || random_.once_in(4) ? place() : random_.pick(tokens).begin;
    text_.insert(at, random_.pick(corpus_.words));
  }
  void erase_token() {
    const std::vector<Slice> tokens = tokens_of(text_);
    if (!tokens.empty()) replace(random_.pick(tokens), "");
  }
  void swap_tokens() {
    const std::vector<Slice> tokens = tokens_of(text_);
    if (tokens.size() < 2) return;
    size_t i = random_.below(tokens.size()), j = random_.below(tokens.size());
    if (i == j) return;
    if (i > j) std::swap(i, j);
    const std::string first(view(tokens[i])), second(view(tokens[j]));
    replace(tokens[j], first);
    replace(tokens[i], second);
  }
  void parenthesize() {
    const std::vector<Slice> tokens = tokens_of(text_);
    if (tokens.empty()) return;
    const size_t first = random_.below(tokens.size());
    const size_t last = std::min(tokens.size() - 1, first + random_.below(6));
    const size_t kind = random_.below(3);
    text_.insert(tokens[last].end, 1, ")]}"[kind]);
    text_.insert(tokens[first].begin, 1, "([{"[kind]);
  }

  void white_space() {
    static const char* const kSpaces[] = {" ", "  ", "\t", "\\\n", "\n", "\n\n\n", "\r\n", "\f", " ;", "\n    "};
    const std::vector<Slice> tokens = tokens_of(text_);
    if (tokens.empty()) return;
    text_.insert(random_.pick(tokens).begin, random_.pick(kSpaces));
  }
  void comment() {
    static const char* const kComments[] = {"#c\n", "  # d\n", "#\n", "# fmt: skip\n", "#!x\n", "\n# e\n"};
    const std::vector<Slice> tokens = tokens_of(text_);
    if (tokens.empty()) return;
    text_.insert(random_.pick(tokens).end, random_.pick(kComments));
  }

  void duplicate_line() {
    const std::vector<Slice> lines = lines_of(text_);
    const Slice line = random_.pick(lines);
    const std::string copy(view(line));
    text_.insert(random_.once_in(2) ? line.end : random_.pick(lines).begin, copy);
  }
  void erase_line() { replace(random_.pick(lines_of(text_)), ""); }
  void swap_lines() {
    const std::vector<Slice> lines = lines_of(text_);
    const size_t i = random_.below(lines.size());
    if (i + 1 >= lines.size()) return;
    const std::string both = std::string(view(lines[i + 1])) + std::string(view(lines[i]));
    replace({lines[i].begin, lines[i + 1].end}, both);
  }
  void indent_line() {
    const size_t begin = random_.pick(lines_of(text_)).begin;
    if (random_.once_in(2)) text_.insert(begin, random_.once_in(8) ? "\t" : "    ");
    else
      while (begin < text_.size() && text_[begin] == ' ') text_.erase(begin, 1);
  }
  // Puts some lines, deeper, below the head of a block.
  void wrap_lines() {
    static const char* const kHeads[] = {
        "if x:",    "while True:", "for x in range(3):", "def f(x=1):", "class C:", "with x:", "try:",
        "def g():", "else:",       "match x:",           "lambda:",     "@x"};
    static const char* const kTails[] = {"",
                                         "",
                                         "",
                                         "except Exception as e:\n    print(type(e))\n",
                                         "finally:\n    pass\n",
                                         "else:\n    pass\n",
                                         "f()\n",
                                         "for y in g(): print(y)\n"};
    const std::vector<Slice> lines = lines_of(text_);
    const size_t first = random_.below(lines.size());
    const size_t last = std::min(lines.size() - 1, first + random_.below(6));
    const size_t blanks = std::min(std::string(view(lines[first])).find_first_not_of(' '), lines[first].size());
    std::string block = std::string(blanks, ' ') + random_.pick(kHeads) + "\n";
    for (size_t i = first; i <= last; ++i) block += "    " + std::string(view(lines[i]));
    block += std::string(blanks, ' ') + random_.pick(kTails);
    replace({lines[first].begin, lines[last].end}, block);
  }
  void insert_piece_of_lines() {
    const std::string& other = random_.pick(corpus_.pieces);
    const std::vector<Slice> lines = lines_of(other);
    if (lines.empty()) return;
    const size_t first = random_.below(lines.size());
    const size_t last = std::min(lines.size() - 1, first + random_.below(8));
    text_.insert(random_.pick(lines_of(text_)).begin,
                 other.substr(lines[first].begin, lines[last].end - lines[first].begin));
  }

  void flip_bit() {
    char& c = text_[random_.below(text_.size())];
    c = static_cast<char>(c ^ (1 << random_.below(8)));
  }
  void insert_bytes() {
    std::string bytes(1 + random_.below(4), ' ');
    for (char& c : bytes) c = static_cast<char>(random_.next());
    text_.insert(place(), bytes);
  }
  void erase_bytes() { text_.erase(random_.below(text_.size()), 1 + random_.below(16)); }
  void copy_bytes() {
    const std::string copy = text_.substr(random_.below(text_.size()), random_.below(40));
    text_.insert(place(), copy);
  }
  void truncate() {
    const size_t at = place();
    random_.once_in(2) ? text_.erase(at) : text_.erase(0, at);
  }
  // Deep nesting: one opener many times, perhaps closed again.
  void nest() {
    static const char* const kOpeners[] = {
        "(",   "[", "{",    "-",   "not ",         "lambda: ", "f'{",   "x[",    "f(",          "if x:",
        "{1:", "*", "x.y(", "(x,", "x if x else ", "a + ",     "a ** ", "a.b.c", "[x for x in "};
    const std::string opener = random_.pick(kOpeners);
    const size_t times = random_.once_in(4) ? random_.below(1200) : random_.below(120);
    std::string text;
    for (size_t i = 0; i < times; ++i) text += opener;
    text += "x";
    if (random_.once_in(2)) {
      const char close = opener.back() == '[' ? ']' : opener.back() == '{' ? '}' : ')';
      text.append(times, close);
    }
    text_.insert(place(), text);
  }

  const Corpus& corpus_;
  Random& random_;
  std::string text_;
};

}  // namespace

std::string mutated_program(const Corpus& corpus, Random& random, Temper temper) {
  const bool gentle = temper == Temper::Program ? !random.once_in(8) : random.once_in(2);
  return Mutator(corpus, random).run(gentle);
}

}  // namespace tsc::fuzz
