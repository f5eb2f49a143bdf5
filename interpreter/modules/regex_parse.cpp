// Pattern text -> tree, with the messages of Python's re.
#include "interpreter/modules/regex_parse.h"

namespace tsc::interp::regex {
namespace {

constexpr size_t kDeepest = 200;  // nested groups

std::unique_ptr<Node> make(NodeKind kind, uint32_t value = 0) {
  auto node = std::make_unique<Node>();
  node->kind = kind;
  node->value = value;
  return node;
}

class Parser : public Reader {
 public:
  Parser(const std::vector<uint32_t>& pattern, uint32_t flags, bool bytes, Tree& tree)
      : Reader(pattern, bytes), tree_(tree), flags_(flags) {}

  std::unique_ptr<Node> parse_all() {
    auto node = alternation();
    if (!at_end()) fail("unbalanced parenthesis", place());
    for (const auto& [number, at] : later_groups_)
      if (number > tree_.groups) fail("invalid group reference " + std::to_string(number), at);
    return node;
  }
  uint32_t flags() const { return flags_; }

 private:
  std::unique_ptr<Node> alternation() {
    if (++depth_ > kDeepest) fail("too many nested groups", place());
    std::vector<std::unique_ptr<Node>> branches;
    for (bool more = true; more; at_beginning_ = at_beginning_ && !more) {
      branches.push_back(sequence());
      more = take('|');
    }
    --depth_;
    if (branches.size() == 1) return std::move(branches[0]);
    auto node = make(NodeKind::Alternation);
    node->children = std::move(branches);
    return node;
  }

  std::unique_ptr<Node> sequence() {
    auto node = make(NodeKind::Sequence);
    while (!at_end() && peek() != '|' && peek() != ')') {
      if (skip_verbose()) continue;
      size_t start = at_;
      auto item = atom(node->children.empty());
      if (!item) continue;
      at_beginning_ = false;
      item->flags = flags_;
      node->children.push_back(quantified(std::move(item), start));
    }
    if (node->children.size() == 1) return std::move(node->children[0]);
    return node;
  }

  bool skip_verbose() {
    if (!(flags_ & kVerbose)) return false;
    if (is_space(peek(), true)) return ++at_, true;
    if (peek() != '#') return false;
    while (!at_end() && peek() != '\n') ++at_;
    return true;
  }

  // --- quantifiers -----------------------------------------------------------------------------------

  bool read_bounds(uint32_t& minimum, uint32_t& maximum) {
    size_t start = at_;
    ++at_;  // {
    if (!at_end() && peek() == '}') return at_ = start, false;
    std::string low = digits(), high = low;
    if (take(',')) high = digits();
    else if (low.empty()) return at_ = start, false;
    if (!take('}')) return at_ = start, false;
    auto number = [&](const std::string& text, uint32_t if_empty) {
      if (text.empty()) return if_empty;
      if (text.size() > 9) fail("the repetition number is too large", static_cast<int64_t>(start));
      return static_cast<uint32_t>(std::stoul(text));
    };
    minimum = number(low, 0);
    maximum = number(high, kUnlimited);
    if (maximum < minimum) fail("min repeat greater than max repeat", static_cast<int64_t>(start) + 1);
    return true;
  }

  std::unique_ptr<Node> quantified(std::unique_ptr<Node> item, size_t item_start) {
    for (bool repeated = false;; repeated = true) {
      while (!at_end() && skip_verbose()) continue;
      if (at_end()) return item;
      size_t start = at_;
      uint32_t minimum = 0, maximum = kUnlimited;
      if (take('*')) {
      } else if (take('+')) {
        minimum = 1;
      } else if (take('?')) {
        maximum = 1;
      } else if (peek() != '{' || !read_bounds(minimum, maximum)) {
        return item;
      }
      if (repeated) fail("multiple repeat", static_cast<int64_t>(start));
      bool bare = item->kind == NodeKind::Assertion && item->value != 'b' && item->value != 'B';
      if (item->kind == NodeKind::Empty || (bare && (item->value == '^' || item->value == 'A')))
        fail("nothing to repeat", static_cast<int64_t>(start));
      (void)item_start;
      auto node = make(NodeKind::Repeat);
      node->minimum = minimum;
      node->maximum = maximum;
      node->greed = take('?') ? Greed::Lazy : take('+') ? Greed::Possessive : Greed::Greedy;
      node->flags = flags_;
      node->children.push_back(std::move(item));
      item = std::move(node);
    }
  }

  // --- atoms -----------------------------------------------------------------------------------------

  std::unique_ptr<Node> atom(bool first) {
    int64_t start = place();
    uint32_t c = next();
    switch (c) {
      case '.': return make(NodeKind::Any);
      case '^': return make(NodeKind::Assertion, flags_ & kMultiLine ? '^' : 'A');
      case '$': return make(NodeKind::Assertion, flags_ & kMultiLine ? '$' : 'z');
      case '(': return group(start);
      case '[': return set(start);
      case '\\': return escape(start);
      case '*':
      case '+':
      case '?': (void)first; fail("nothing to repeat", start);
      case '{': {
        --at_;
        uint32_t low, high;
        if (read_bounds(low, high)) fail("nothing to repeat", start);
        ++at_;
        return make(NodeKind::Char, c);
      }
      default: return make(NodeKind::Char, c);
    }
  }

  std::unique_ptr<Node> set_node(CharSet set) {
    set.ignore_case = flags_ & kIgnoreCase;
    set.ascii = bytes_ || (flags_ & kAscii);
    set.finish();
    tree_.sets.push_back(std::move(set));
    return make(NodeKind::Set, static_cast<uint32_t>(tree_.sets.size() - 1));
  }
  std::unique_ptr<Node> category(uint32_t letter) {
    CharSet set;
    set.categories += static_cast<char>(letter);
    return set_node(std::move(set));
  }

  std::unique_ptr<Node> set(int64_t start) {
    CharSet result;
    result.negated = take('^');
    for (bool first = true;; first = false) {
      if (at_end()) fail("unterminated character set", start);
      int64_t item = place();
      if (peek() == ']' && !first) break;
      uint32_t low = set_item(result);
      bool is_range = at_ + 1 < pattern_.size() && peek() == '-' && pattern_[at_ + 1] != ']';
      if (!is_range) {
        if (low != kCategory) result.ranges.push_back({low, low});
        continue;
      }
      ++at_;
      if (at_end()) fail("unterminated character set", start);
      uint32_t high = set_item(result);
      if (low == kCategory || high == kCategory || high < low)
        fail("bad character range " + text(static_cast<size_t>(item), at_), item);
      result.ranges.push_back({low, high});
    }
    ++at_;
    return set_node(std::move(result));
  }
  static constexpr uint32_t kCategory = 0xffffffffu;
  // One unit of a set; a category is added at once and answered as kCategory.
  uint32_t set_item(CharSet& result) {
    int64_t start = place();
    uint32_t c = next();
    if (c != '\\') return c;
    if (at_end()) fail("bad escape (end of pattern)", start);
    c = next();
    if (c < 128 && std::string_view("dDwWsS").find(static_cast<char>(c)) != std::string_view::npos) {
      result.categories += static_cast<char>(c);
      return kCategory;
    }
    return escaped_unit(c, start, true);
  }

  std::unique_ptr<Node> escape(int64_t start) {
    if (at_end()) fail("bad escape (end of pattern)", start);
    uint32_t c = next();
    if (c < 128 && std::string_view("dDwWsS").find(static_cast<char>(c)) != std::string_view::npos) return category(c);
    if (c == 'A' || c == 'b' || c == 'B') return make(NodeKind::Assertion, c);
    if (c == 'Z') return make(NodeKind::Assertion, 'Z');
    if (c >= '1' && c <= '9') {
      uint32_t number;
      if (!octal_escape(c, start, number)) return reference(number, start);
      return make(NodeKind::Char, number);
    }
    return make(NodeKind::Char, escaped_unit(c, start, false));
  }
  // \1 to \99 are references (false), three octal digits are a character (true).
  bool octal_escape(uint32_t first, int64_t start, uint32_t& value) {
    value = first - '0';
    if (at_end() || !is_digit(peek(), true)) return false;
    uint32_t second = peek();
    bool octal =
        first < '8' && second < '8' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] >= '0' && pattern_[at_ + 1] < '8';
    ++at_;
    if (octal) {
      value = (value * 8 + (second - '0')) * 8 + (next() - '0');
      if (value > 0377)
        fail("octal escape value " + text(static_cast<size_t>(start), at_) + " outside of range 0-0o377", start);
      return true;
    }
    value = value * 10 + (second - '0');
    return false;
  }
  std::unique_ptr<Node> reference(uint32_t number, int64_t start) {
    if (number > tree_.groups || open_[number])
      fail(
          number > tree_.groups ? "invalid group reference " + std::to_string(number) : "cannot refer to an open group",
          number > tree_.groups ? start + 1 : start);
    tree_.has_references = true;
    return make(NodeKind::BackReference, number);
  }

  // --- groups ----------------------------------------------------------------------------------------

  void close(int64_t start) {
    if (!take(')')) fail("missing ), unterminated subpattern", start);
  }
  std::unique_ptr<Node> capture(int64_t start, const std::string& name) {
    at_beginning_ = false;
    uint32_t number = ++tree_.groups;
    open_.resize(number + 1, false);
    open_[number] = true;
    if (!name.empty()) {
      auto [known, added] = tree_.names.emplace(name, number);
      if (!added)
        fail("redefinition of group name '" + name + "' as group " + std::to_string(number) + "; was group " +
                 std::to_string(known->second),
             place() - static_cast<int64_t>(name.size()) - 1);
    }
    auto node = make(NodeKind::Group, number);
    node->children.push_back(scoped());
    close(start);
    open_[number] = false;
    return node;
  }
  // An alternation whose inline flags end with it.
  std::unique_ptr<Node> scoped() {
    uint32_t saved = flags_;
    auto node = alternation();
    flags_ = saved;
    return node;
  }
  std::unique_ptr<Node> wrapped(NodeKind kind, int64_t start, bool negated, bool behind) {
    at_beginning_ = false;
    auto node = make(kind);
    node->negated = negated;
    node->behind = behind;
    node->children.push_back(scoped());
    close(start);
    return node;
  }

  std::unique_ptr<Node> group(int64_t start) {
    if (!take('?')) return capture(start, "");
    if (at_end()) fail("unexpected end of pattern", place());
    uint32_t c = next();
    switch (c) {
      case ':': return wrapped(NodeKind::Group, start, false, false);
      case '>': return wrapped(NodeKind::Atomic, start, false, false);
      case '=': return wrapped(NodeKind::Look, start, false, false);
      case '!': return wrapped(NodeKind::Look, start, true, false);
      case 'P': return named(start);
      case '(': return conditional(start);
      case '#':
        while (!at_end() && peek() != ')') ++at_;
        if (!take(')')) fail("missing ), unterminated comment", start);
        return nullptr;
      case '<':
        if (at_end()) fail("unexpected end of pattern", place());
        c = next();
        if (c == '=' || c == '!') return wrapped(NodeKind::Look, start, c == '!', true);
        fail("unknown extension ?<" + text(at_ - 1, at_), start + 1);
      default: --at_; return inline_flags(start);
    }
  }
  std::unique_ptr<Node> named(int64_t start) {
    if (at_end()) fail("unexpected end of pattern", place());
    uint32_t c = next();
    if (c == '<') {
      std::string name = group_name('>', "group name");
      return capture(start, name);
    }
    if (c != '=') fail("unknown extension ?P" + text(at_ - 1, at_), start + 1);
    int64_t at = place();
    std::string name = group_name(')', "group name");
    auto known = tree_.names.find(name);
    if (known == tree_.names.end()) fail("unknown group name '" + name + "'", at);
    if (open_[known->second]) fail("cannot refer to an open group", at);
    tree_.has_references = true;
    return make(NodeKind::BackReference, known->second);
  }
  std::unique_ptr<Node> conditional(int64_t start) {
    at_beginning_ = false;
    int64_t at = place();
    std::string name = group_name(')', "group name", true);
    uint32_t number;
    if (is_digit(static_cast<uint8_t>(name[0]), true)) {
      number = static_cast<uint32_t>(std::stoul(name.substr(0, 9)));
      if (!number) fail("bad group number", at);
      if (number > tree_.groups) later_groups_.emplace_back(number, at);
    } else {
      auto known = tree_.names.find(name);
      if (known == tree_.names.end()) fail("unknown group name '" + name + "'", at);
      number = known->second;
    }
    tree_.has_references = true;
    auto node = make(NodeKind::Conditional, number);
    auto body = scoped();
    if (body->kind == NodeKind::Alternation) {
      if (body->children.size() > 2) fail("conditional backref with more than two branches", at);
      node->children = std::move(body->children);
    } else {
      node->children.push_back(std::move(body));
    }
    close(start);
    return node;
  }

  uint32_t flag_of(uint32_t c) {
    switch (c) {
      case 'i': return kIgnoreCase;
      case 'L': return kLocale;
      case 'm': return kMultiLine;
      case 's': return kDotAll;
      case 'u': return kUnicode;
      case 'x': return kVerbose;
      case 'a': return kAscii;
      default: return 0;
    }
  }
  void check_kind_of_text(uint32_t letter, uint32_t others, bool off) {
    if (!bytes_ && letter == 'L') fail("bad inline flags: cannot use 'L' flag with a str pattern", place());
    if (bytes_ && letter == 'u') fail("bad inline flags: cannot use 'u' flag with a bytes pattern", place());
    if (off) fail("bad inline flags: cannot turn off flags 'a', 'u' and 'L'", place());
    if ((others | flag_of(letter)) != flag_of(letter))
      fail("bad inline flags: flags 'a', 'u' and 'L' are incompatible", place());
  }
  // `letter`, which has been read, and those behind it, up to what ends them.
  uint32_t flag_letters(uint32_t letter, bool off, const char* missing) {
    const auto refuse = [&](uint32_t c, const char* what) {
      const bool is_letter = is_word(c, true) && !is_digit(c, true) && c != '_';
      fail(is_letter ? "unknown flag" : what, place() - 1);
    };
    if (!flag_of(letter)) refuse(letter, "missing flag");
    uint32_t flags = 0;
    for (uint32_t c = letter;; c = next()) {
      if (!flag_of(c)) refuse(c, missing);
      if (flag_of(c) & kKindOfText) check_kind_of_text(c, flags & kKindOfText, off);
      flags |= flag_of(c);
      if (at_end()) fail(missing, place());
      if (peek() == ':' || (!off && (peek() == ')' || peek() == '-'))) return flags;
    }
  }
  std::unique_ptr<Node> inline_flags(int64_t start) {
    uint32_t on = 0, off = 0, c = next();
    if (c != '-') {
      if (!flag_of(c)) fail("unknown extension ?" + text(at_ - 1, at_), start + 1);
      on = flag_letters(c, false, "missing -, : or )");
      c = next();
    }
    if (c == ')') {
      if (!at_beginning_) fail("global flags not at the start of the expression", start);
      flags_ |= on;
      return nullptr;
    }
    at_beginning_ = false;
    if (c == '-') {
      if (at_end()) fail("missing flag", place());
      off = flag_letters(next(), true, "missing :");
      take(':');
    }
    if (on & off) fail("bad inline flags: flag turned on and off", place() - 1);
    uint32_t saved = flags_;
    if (on & kKindOfText) flags_ &= ~kKindOfText;
    flags_ = (flags_ | on) & ~off;
    auto node = make(NodeKind::Group);
    node->children.push_back(alternation());
    flags_ = saved;
    close(start);
    return node;
  }

  static constexpr uint32_t kKindOfText = kAscii | kLocale | kUnicode;
  // Nothing but comments and flags has been read yet.
  bool at_beginning_ = true;
  Tree& tree_;
  uint32_t flags_;
  size_t depth_ = 0;
  std::vector<bool> open_{false};
  std::vector<std::pair<uint32_t, int64_t>> later_groups_;  // that conditions ask for, and where
};

}  // namespace

Tree parse(const std::vector<uint32_t>& pattern, uint32_t flags, bool bytes) {
  Tree tree;
  Parser parser(pattern, flags, bytes, tree);
  tree.root = parser.parse_all();
  tree.flags = parser.flags();
  if (!bytes && !(tree.flags & kAscii)) tree.flags |= kUnicode;
  return tree;
}

}  // namespace tsc::interp::regex
