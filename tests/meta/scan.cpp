#include "scan.h"

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
  bool starts(const char* word) const {
    return text_.compare(at_, std::string(word).size(), word) == 0;
  }

  void skip_until(const std::string& close) {
    const std::size_t found = text_.find(close, at_);
    at_ = found == std::string::npos ? text_.size() : found + close.size();
  }

  void skip_directive() {
    while (at_ < text_.size() && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
  }

  void skip_quoted(char quote) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      at_ += text_[at_] == '\\' ? 2 : 1;
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
  return last != std::string::npos &&
         (std::isalnum(static_cast<unsigned char>(head[last])) || head[last] == '_') &&
         std::regex_search(head, in_list);
}

std::string one_line(const std::string& head) {
  std::string line;
  for (char c : head)
    if (!std::isspace(static_cast<unsigned char>(c)))
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
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

}  // namespace tsc::meta
