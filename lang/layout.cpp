#include "lang/layout.h"

#include <algorithm>

#include "lang/lexer.h"

namespace tsc::lang {

namespace {

// Keywords that begin a statement and can stand nowhere inside brackets.
bool begins_statement_only(TokenKind kind) {
  switch (kind) {
    case TokenKind::DEF:
    case TokenKind::CLASS:
    case TokenKind::RETURN:
    case TokenKind::WHILE:
    case TokenKind::TRY:
    case TokenKind::IMPORT:
    case TokenKind::PASS:
    case TokenKind::BREAK:
    case TokenKind::CONTINUE:
    case TokenKind::RAISE:
    case TokenKind::GLOBAL:
    case TokenKind::NONLOCAL:
    case TokenKind::DEL:
    case TokenKind::ASSERT:
    case TokenKind::WITH:
    case TokenKind::EXCEPT:
    case TokenKind::FINALLY: return true;
    default: return false;
  }
}

bool begins_block(TokenKind kind) {
  switch (kind) {
    case TokenKind::IF:
    case TokenKind::ELIF:
    case TokenKind::ELSE:
    case TokenKind::FOR:
    case TokenKind::WHILE:
    case TokenKind::DEF:
    case TokenKind::CLASS:
    case TokenKind::WITH:
    case TokenKind::TRY:
    case TokenKind::EXCEPT:
    case TokenKind::FINALLY:
    case TokenKind::ASYNC: return true;
    default: return false;
  }
}

struct Level {
  uint32_t column;       // tabs to the next multiple of 8
  uint32_t alternate;    // tabs as one column: both measures must order the lines alike
  bool phantom = false;  // a misplaced indentation, reported, without INDENT and DEDENT
};

class Layout {
 public:
  Layout(const Source& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics), lexer_(source, diagnostics, list_) {
    levels_.push_back({0, 0});
    list_.tokens.reserve(source.text().size() / 4 + 16);
  }

  TokenList run() {
    for (;;) {
      Token token = lexer_.next();
      if (token.kind == TokenKind::END) break;
      if (token.kind == TokenKind::NEWLINE) {
        line_break(token);
        continue;
      }
      if (fresh_line_ && begins_statement_only(token.kind) && !used_as_argument(token)) recover_bracket(token);
      fresh_line_ = false;
      if (line_first_ == kNone && !begin_line(token)) break;
      add(token);
    }
    finish();
    return std::move(list_);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  void add(const Token& token) {
    if (line_first_ == kNone) line_first_ = list_.tokens.size();
    bool at_depth_0 = lexer_.brackets().empty();
    colon_seen_ |= token.kind == TokenKind::COLON && at_depth_0;
    list_.tokens.push_back(token);
  }

  void put(TokenKind kind, uint32_t at) { list_.tokens.push_back({kind, false, false, {at, at}}); }

  void line_break(const Token& token) {
    if (!lexer_.brackets().empty()) {
      fresh_line_ = true;
      return;
    }
    if (line_first_ != kNone) {
      list_.tokens.push_back(token);
      end_line();
    }
    line_begin_ = token.span.end;
  }

  // Remembers what the ended line makes of the next one's indentation.
  void end_line() {
    const std::vector<Token>& tokens = list_.tokens;
    header_ = tokens[line_first_];
    bool ends_in_colon = tokens.size() >= 2 && tokens[tokens.size() - 2].kind == TokenKind::COLON;
    needs_block_ = begins_block(header_.kind) && ends_in_colon;
    // No other statement ends in ':', so one that does is a header that the grammar will report.
    allows_block_ = ends_in_colon || (begins_block(header_.kind) && !colon_seen_);
    line_first_ = kNone;
    colon_seen_ = false;
    fresh_line_ = false;
  }

  Level measure(uint32_t end) const {
    Level level{0, 0};
    for (uint32_t i = line_begin_; i < end; ++i) {
      char c = source_.text()[i];
      if (c == ' ') {
        ++level.column, ++level.alternate;
      } else if (c == '\t') {
        level.column = (level.column / 8 + 1) * 8, ++level.alternate;
      } else if (c == '\f') {
        level = {0, 0};
      } else if (c == '\\') {
        break;
      }
    }
    return level;
  }

  // False when the text is cut short here.
  bool begin_line(const Token& token) {
    const Level here = measure(token.span.begin);
    if (needs_block_ && here.column <= levels_.back().column) missing_block(token.span);
    bool mixed = false;
    if (here.column > levels_.back().column) {
      mixed = here.alternate <= levels_.back().alternate;
      if (!indent(here, token)) return false;
    } else {
      dedent(here, token);
      mixed = here.column == levels_.back().column && here.alternate != levels_.back().alternate;
    }
    if (mixed) {
      diagnostics_
          .error(Code::MixedIndentation, {line_begin_, token.span.begin},
                 "inconsistent use of tabs and spaces in indentation")
          .help("indent every line with spaces only");
    }
    needs_block_ = allows_block_ = false;
    return true;
  }

  bool indent(Level here, const Token& token) {
    if (levels_.size() > kMaxIndents) {
      diagnostics_.error(Code::TooManyIndents, token.span, "more than 100 nested blocks");
      list_.damaged.push_back({0, UINT32_MAX});
      needs_block_ = false;
      return false;
    }
    here.phantom = !allows_block_;
    levels_.push_back(here);
    if (here.phantom) {
      diagnostics_.error(Code::UnexpectedIndent, token.span, "unexpected indentation")
          .note("a line is indented deeper only after a line that ends with ':'");
    } else {
      list_.tokens.push_back({TokenKind::INDENT, false, false, {line_begin_, token.span.begin}});
    }
    return true;
  }

  void dedent(const Level& here, const Token& token) {
    while (here.column < levels_.back().column) {
      if (!levels_.back().phantom) put(TokenKind::DEDENT, token.span.begin);
      levels_.pop_back();
    }
    if (here.column == levels_.back().column) return;
    diagnostics_
        .error(Code::InconsistentDedent, {line_begin_, token.span.begin},
               "unindent does not match any outer indentation level")
        .note("this line is indented by " + std::to_string(here.column) + " columns, the enclosing block by " +
              std::to_string(levels_.back().column));
    Level phantom = here;
    phantom.phantom = true;
    levels_.push_back(phantom);
  }

  // Reports a header without body and gives the grammar an empty one.
  void missing_block(Span found) {
    diagnostics_
        .error(Code::ExpectedBlock, found,
               "expected an indented block after " + std::string(token_spelling(header_.kind)))
        .label(header_.span, "the block belongs here")
        .help("write `pass` for an empty block");
    uint32_t at = list_.tokens.back().span.end;
    for (TokenKind kind : {TokenKind::INDENT, TokenKind::PASS, TokenKind::NEWLINE, TokenKind::DEDENT}) put(kind, at);
    needs_block_ = allows_block_ = false;
  }

  // `f(class=1)`: a keyword where an argument's name should be is the grammar's to report.
  bool used_as_argument(const Token& token) const {
    size_t after = source_.text().find_first_not_of(" \t", token.span.end);
    return after != std::string_view::npos &&
           std::string_view("=,)]}:.").find(source_.text()[after]) != std::string_view::npos &&
           token.kind != TokenKind::TRY && token.kind != TokenKind::FINALLY && token.kind != TokenKind::EXCEPT;
  }

  void unclosed_bracket(Span found, std::string_view what) {
    const Brackets::Open open = lexer_.brackets().top();
    Diagnostic& d =
        diagnostics_.error(Code::UnclosedBracket, open.span, std::string("'") + open.opener + "' was never closed");
    if (!what.empty()) d.label(found, std::string(what));
    list_.damaged.push_back({lexer_.brackets().all().front().span.begin, found.begin});
    close_brackets();
  }

  void close_brackets() {
    lexer_.abandon();
    while (lexer_.has_pending()) list_.tokens.push_back(lexer_.next());
  }

  void recover_bracket(const Token& token) {
    unclosed_bracket(token.span, "a new statement begins here");
    put(TokenKind::NEWLINE, token.span.begin);
    end_line();
    line_begin_ = source_.line_begin(source_.line_of(token.span.begin));
  }

  bool ends_with_blank_line() const {
    std::string_view text = source_.text();
    size_t last = text.find_last_of("\n\r");
    if (last == std::string_view::npos) return false;
    if (text[last] == '\n' && last > 0 && text[last - 1] == '\r') --last;
    size_t content = text.find_last_not_of(" \t\f", last ? last - 1 : 0);
    return last == 0 || content == std::string_view::npos || text[content] == '\n' || text[content] == '\r';
  }

  void finish() {
    const uint32_t end = static_cast<uint32_t>(source_.text().size());
    const bool clean = !diagnostics_.has_errors();
    bool open_end = list_.incomplete || lexer_.ends_continued();
    if (!lexer_.brackets().empty() && !lexer_.cut_short()) {
      open_end = true;
      unclosed_bracket({end, end}, {});
      list_.damaged.back().end = UINT32_MAX;
    }
    close_brackets();
    if (line_first_ != kNone) {
      put(TokenKind::NEWLINE, end);
      end_line();
    }
    bool decorator = header_.kind == TokenKind::AT;
    bool in_block = levels_.size() > 1 && !ends_with_blank_line();
    list_.incomplete = (clean && (open_end || needs_block_ || decorator || in_block)) ||
                       (list_.incomplete && diagnostics_.error_count() == 1);
    if (needs_block_) missing_block({end, end});
    for (; levels_.size() > 1; levels_.pop_back())
      if (!levels_.back().phantom) put(TokenKind::DEDENT, end);
    put(TokenKind::END, end);
  }

  const Source& source_;
  Diagnostics& diagnostics_;
  TokenList list_;
  Lexer lexer_;
  std::vector<Level> levels_;
  size_t line_first_ = kNone;  // index of the current logical line's first token
  uint32_t line_begin_ = 0;
  bool fresh_line_ = false;  // a physical line begins inside brackets
  bool colon_seen_ = false;  // outside brackets, on this logical line
  Token header_;             // first token of the last logical line
  bool needs_block_ = false, allows_block_ = false;
};

// Sorts the damaged places and joins those that touch, so that looking one up is a binary search.
void merge_damage(std::vector<Span>& damaged) {
  std::sort(damaged.begin(), damaged.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const Span& span : damaged) {
    if (kept && span.begin <= damaged[kept - 1].end) damaged[kept - 1].end = std::max(damaged[kept - 1].end, span.end);
    else damaged[kept++] = span;
  }
  damaged.resize(kept);
}

}  // namespace

TokenList tokenize(const Source& source, Diagnostics& diagnostics) {
  if (source.text().size() > kMaxSourceBytes) {
    diagnostics.error(Code::SourceTooLarge, {0, 0}, "the source text is larger than 1 GiB");
    return {{{TokenKind::END, false, false, {0, 0}}}, {}, false};
  }
  check_utf8(source, diagnostics);
  TokenList list = Layout(source, diagnostics).run();
  promote_soft_keywords(list, source, diagnostics);
  merge_damage(list.damaged);
  return list;
}

}  // namespace tsc::lang
