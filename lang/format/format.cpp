#include "lang/format/format.h"

#include <algorithm>

#include "lang/ast_print.h"
#include "lang/format/pieces.h"
#include "lang/format/writer.h"
#include "lang/layout.h"
#include "lang/parse.h"

namespace tsc::lang {

namespace {

constexpr uint32_t kIndent = 4;

// Comments beside a comma belong after it and before the next item.
void gather_comments(std::vector<Piece>& pieces) {
  const auto move = [](std::vector<std::string_view>& from, std::vector<std::string_view>& to) {
    to.insert(to.begin(), from.begin(), from.end());
    from.clear();
  };
  for (size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].kind != TokenKind::COMMA) continue;
    move(pieces[i - 1].trailing, pieces[i].trailing);
    if (i + 1 < pieces.size()) move(pieces[i].leading, pieces[i + 1].leading);
  }
}

// Puts the lines one under the other, with the empty lines that the style wants between them.
class Page {
 public:
  explicit Page(uint32_t width) : width_(width) {}

  std::string run(std::vector<LogicalLine>& lines) {
    for (LogicalLine& line : lines) {
      // A comment that stands directly over a definition has the empty lines before itself.
      size_t attached = line.before.size();
      if (is_definition(line) && line.blanks == 0) {
        while (attached > 0 && line.before[attached - 1].depth == line.depth) {
          --attached;
          if (line.before[attached].blanks > 0) break;
        }
      }
      for (size_t i = 0; i < line.before.size(); ++i) {
        const OwnComment& comment = line.before[i];
        space(comment.depth, comment.blanks, i == attached);
        out_.append(size_t{kIndent} * comment.depth, ' ');
        (out_ += comment.text) += '\n';
        last_ = Last::Comment;
      }
      if (!line.pieces.empty()) add(line, attached < line.before.size());
    }
    return std::move(out_);
  }

 private:
  enum class Last { Nothing, Line, Header, Decorator, Comment };

  static bool is_decorator(const LogicalLine& line) {
    return !line.pieces.empty() && line.pieces[0].kind == TokenKind::AT;
  }
  static bool is_definition(const LogicalLine& line) {
    if (line.pieces.empty()) return false;
    const TokenKind kind = line.pieces[0].kind;
    return kind == TokenKind::DEF || kind == TokenKind::CLASS || kind == TokenKind::AT;
  }
  // Goes on with a statement begun before it.
  static bool is_clause(const LogicalLine& line) {
    const TokenKind kind = line.pieces[0].kind;
    return kind == TokenKind::ELIF || kind == TokenKind::ELSE || kind == TokenKind::EXCEPT ||
           kind == TokenKind::FINALLY;
  }

  void add(LogicalLine& line, bool has_attached_comment) {
    gather_comments(line.pieces);
    set_spaces(line.pieces);
    set_brackets(line.pieces);
    const bool definition = is_definition(line);
    const bool decorated = after_decorator_ && definition;
    if (decorated) out_.resize(out_.find_last_not_of('\n') + 2);
    else if (!has_attached_comment) space(line.depth, line.blanks, definition, is_clause(line));
    out_ += LineWriter(line.pieces, kIndent * line.depth, width_).run();
    out_ += '\n';
    after_decorator_ = is_decorator(line);
    const bool header =
        line.pieces.back().kind == TokenKind::COLON && header_colon(line.pieces) + 1 == line.pieces.size();
    last_ = after_decorator_ ? Last::Decorator : header ? Last::Header : Last::Line;
    if (definition && header) definitions_.push_back(line.depth);
  }

  // Empty lines before a line at `depth` that had `blanks` of them.
  void space(uint32_t depth, uint32_t blanks, bool definition, bool clause = false) {
    const uint32_t most = depth == 0 ? 2 : 1;
    uint32_t wanted = std::min(blanks, most);
    bool after_definition = false;
    while (!definitions_.empty() && definitions_.back() >= depth) {
      definitions_.pop_back();
      after_definition = true;
    }
    if (last_ == Last::Nothing || last_ == Last::Header || last_ == Last::Decorator) wanted = 0;
    else if (!clause && (definition || after_definition)) wanted = most;
    out_.append(wanted, '\n');
  }

  uint32_t width_;
  std::string out_;
  Last last_ = Last::Nothing;
  bool after_decorator_ = false;
  std::vector<uint32_t> definitions_;  // depths of the definitions whose bodies are open
};

std::string tree_of(const Source& source, Diagnostics& diagnostics) {
  Arena arena;
  ParseResult parsed = parse_module(source, arena);
  std::string text = parsed.module ? print_ast(*parsed.module) : "";
  diagnostics = std::move(parsed.diagnostics);
  return text;
}

}  // namespace

FormatResult format(const Source& source, const FormatOptions& options) {
  FormatResult result;
  const std::string before = tree_of(source, result.diagnostics);
  if (result.diagnostics.has_errors()) return result;
  Diagnostics ignored;
  std::vector<LogicalLine> lines = read_lines(tokenize(source, ignored), source);
  std::string text = Page(options.width).run(lines);
  // The tree is the law: a text that would mean something else is never handed out.
  Diagnostics faults;
  const std::string after = tree_of(Source(source.name(), text), faults);
  TSC_CHECK(!faults.has_errors() && before == after, "formatting changed the program");
  result.text = std::move(text);
  result.ok = true;
  return result;
}

}  // namespace tsc::lang
