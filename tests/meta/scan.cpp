#include "scan.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <regex>

namespace tsc::meta {
namespace {

// Walks over one text and copies what is code.
class Blanker {
 public:
  explicit Blanker(const std::string& text) : text_(text), out_(text.size(), ' ') {
    for (std::size_t i = 0; i < text_.size(); ++i)
      if (text_[i] == '\n') out_[i] = '\n';
  }

  std::string run() {
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        line_start = true;
        ++at_;
        continue;
      }
      if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
        continue;
      }
      if (line_start && c == '#') {
        skip_directive();
        continue;
      }
      line_start = false;
      step(c);
    }
    return out_;
  }

 private:
  bool starts(const char* word) const { return text_.compare(at_, std::string(word).size(), word) == 0; }

  void skip_until(const std::string& close) {
    const std::size_t found = text_.find(close, at_);
    at_ = found == std::string::npos ? text_.size() : found + close.size();
  }

  void skip_directive() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
  }

  void skip_quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ < text_.size()) ++at_;
  }

  void step(char c) {
    const bool after_word = at_ > 0 && std::isalnum(static_cast<unsigned char>(text_[at_ - 1]));
    if (starts("//")) {
      const std::size_t end = text_.find('\n', at_);
      at_ = end == std::string::npos ? text_.size() : end;
    } else if (starts("/*")) {
      at_ += 2;
      skip_until("*/");
    } else if (starts("R\"") && !after_word) {
      const std::size_t open = text_.find('(', at_);
      const std::string close = ")" + text_.substr(at_ + 2, open - at_ - 2) + "\"";
      at_ = open;
      skip_until(close);
      out_[at_ - 1] = '0';
    } else if (c == '"' || (c == '\'' && !after_word)) {
      skip_quoted(c);
      out_[at_ - 1] = '0';
    } else {
      out_[at_] = c;
      ++at_;
    }
  }

  const std::string& text_;
  std::string out_;
  std::size_t at_ = 0;
};

// Is the brace after this head the start of a function's body?
bool opens_function(const std::string& head) {
  static const std::regex container("\\b(namespace|class|struct|union|enum)\\b[^()]*$");
  static const std::regex initializer("=\\s*$");
  if (std::regex_search(head, initializer) || std::regex_search(head, container)) return false;
  return head.find('(') != std::string::npos;
}

// Is the brace after this head a member's initial value in a constructor, `B() : member{`?
bool opens_member_value(const std::string& head) {
  static const std::regex in_list("\\)\\s*(noexcept\\s*)?:[^:]");
  const std::size_t last = head.find_last_not_of(" \n");
  return last != std::string::npos && (std::isalnum(static_cast<unsigned char>(head[last])) || head[last] == '_') &&
         std::regex_search(head, in_list);
}

std::string one_line(const std::string& head) {
  std::string line;
  for (char c : head)
    if (!std::isspace(static_cast<unsigned char>(c))) line += c;
    else if (!line.empty() && line.back() != ' ') line += ' ';
  return line;
}

}  // namespace

std::string blank_literals(const std::string& text) { return Blanker(text).run(); }

std::vector<FunctionSpan> functions_in(const std::string& text) {
  const std::string code = blank_literals(text);
  std::vector<FunctionSpan> spans;
  std::string head;
  int line = 1, head_line = 1, depth_in_function = 0, depth_in_value = 0;
  FunctionSpan current;
  for (char c : code) {
    if (c == '\n') ++line;
    if (depth_in_function > 0) {
      if (c == '{') ++depth_in_function;
      if (c == '}' && --depth_in_function == 0) {
        current.last_line = line;
        spans.push_back(current);
        head.clear();
      }
      continue;
    }
    if (depth_in_value > 0 || (c == '{' && opens_member_value(head))) {
      depth_in_value += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (depth_in_value == 0) head += "()";
    } else if (c == '{' && opens_function(head)) {
      current = {one_line(head), head_line, line};
      depth_in_function = 1;
    } else if (c == '{' || c == '}' || c == ';') {
      head.clear();
    } else if (!head.empty() || !std::isspace(static_cast<unsigned char>(c))) {
      if (head.empty()) head_line = line;
      head += c;
    }
  }
  return spans;
}

namespace {

// Without what stands between angle brackets: the parentheses there declare nothing.
std::string without_template_arguments(const std::string& head) {
  std::string out;
  int depth = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    const bool is_operator = out.size() >= 8 && out.compare(out.size() - 8, 8, "operator") == 0;
    if (head[i] == '<' && !is_operator) ++depth;
    else if (head[i] == '>' && depth > 0) --depth;
    else if (depth == 0) out += head[i];
  }
  return out;
}

bool declares_function(const std::string& head) {
  static const std::regex other("^\\s*(using|friend|typedef|static_assert|enum)\\b");
  if (std::regex_search(head, other)) return false;
  const std::string plain = without_template_arguments(head);
  const std::size_t open = plain.find('('), value = plain.find('='), word = plain.find("operator");
  if (open == std::string::npos) return false;
  return value == std::string::npos || open < value || word < value;
}

// Reads one scope after the other.
class ClassReader {
 public:
  explicit ClassReader(const std::string& text) : code_(blank_literals(text)) {}

  std::vector<ClassSize> run() {
    read_scope(-1);
    return std::move(found_);
  }

 private:
  // Up to the brace that closes the scope; `owner` counts its functions, -1: a namespace.
  void read_scope(int owner) {
    static const std::regex type("\\b(class|struct|union)\\s+(?:alignas\\([^)]*\\)\\s*)?(\\w+)[^()]*$");
    static const std::regex label("^\\s*(public|private|protected)\\s*:");
    std::string head;
    std::smatch match;
    while (at_ < code_.size()) {
      const char c = code_[at_++];
      if (c == '}') return;
      if (c == ';' || c == '{') {
        head = std::regex_replace(head, label, "");
        const bool is_function = declares_function(head);
        if (is_function && owner >= 0) ++found_[static_cast<std::size_t>(owner)].functions;
        const std::string plain = without_template_arguments(head);
        if (c == '{' && !is_function && std::regex_search(plain, match, type)) {
          found_.push_back({match[2].str(), line(), 0});
          read_scope(static_cast<int>(found_.size()) - 1);
        } else if (c == '{' && !is_function && head.find("namespace") != std::string::npos) {
          read_scope(owner);
        } else if (c == '{') {
          skip_body(is_function);
        }
        head.clear();
      } else {
        head += c;
      }
    }
  }

  // Behind an opening brace: up to the end of the body, or of the value in braces. A constructor may set members in
  // braces in front of its body.
  void skip_body(bool is_function) {
    for (;;) {
      for (int depth = 1; at_ < code_.size() && depth > 0; ++at_)
        depth += code_[at_] == '{' ? 1 : code_[at_] == '}' ? -1 : 0;
      std::size_t next = at_;
      while (next < code_.size() && std::isspace(static_cast<unsigned char>(code_[next]))) ++next;
      if (!is_function || next >= code_.size() || (code_[next] != ',' && code_[next] != '{')) return;
      at_ = code_.find('{', next);
      if (at_ == std::string::npos) at_ = code_.size();
      else ++at_;
    }
  }

  int line() const {
    return 1 + static_cast<int>(std::count(code_.begin(), code_.begin() + static_cast<std::ptrdiff_t>(at_), '\n'));
  }

  std::string code_;
  std::size_t at_ = 0;
  std::vector<ClassSize> found_;
};

}  // namespace

std::vector<ClassSize> classes_in(const std::string& text) { return ClassReader(text).run(); }

}  // namespace tsc::meta
