#include "lang/format/pieces.h"

#include <algorithm>

namespace tsc::lang {

namespace {

bool is_break(char c) { return c == '\n' || c == '\r'; }

std::string_view without_trailing_blanks(std::string_view text) {
  size_t last = text.find_last_not_of(" \t\f\v");
  return text.substr(0, last == text.npos ? 0 : last + 1);
}

class Reader {
 public:
  Reader(const TokenList& tokens, const Source& source)
      : tokens_(tokens.tokens), source_(source), text_(source.text()) {
    if (text_.starts_with("\xEF\xBB\xBF")) end_ = 3;
  }

  std::vector<LogicalLine> run() {
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      switch (token.kind) {
        case TokenKind::INDENT: columns_.push_back(measure(token.span.begin, token.span.end)); continue;
        case TokenKind::DEDENT: columns_.pop_back(); continue;
        case TokenKind::NEWLINE:
          gap(token.span.begin, nullptr);
          finish_line();
          inline_depth_ = 0;
          end_ = token.span.end;
          line_start_ = true;
          continue;
        case TokenKind::SEMICOLON:
          if (brackets_ != 0) break;
          gap(token.span.begin, nullptr);
          finish_line();
          end_ = token.span.end;
          continue;
        case TokenKind::END: finish_text(token); continue;
        default: break;
      }
      i = add(i);
    }
    return std::move(lines_);
  }

 private:
  // Appends the piece that begins at token `i`; returns the piece's last token.
  size_t add(size_t i) {
    size_t last = i;
    if (tokens_[i].kind == TokenKind::FSTRING_START) last = fstring_end(i);
    Piece piece;
    piece.kind = tokens_[i].kind;
    const Span span{tokens_[i].span.begin, tokens_[last].span.end};
    piece.text = source_.slice(span);
    gap(span.begin, &piece);
    if (piece.opens()) ++brackets_;
    if (piece.closes()) --brackets_;
    const bool is_colon = piece.kind == TokenKind::COLON && brackets_ == 0;
    line_.pieces.push_back(std::move(piece));
    end_ = span.end;
    line_start_ = false;
    // The body of `if x: y` is a line of its own.
    if (is_colon && tokens_[i + 1].kind != TokenKind::NEWLINE &&
        header_colon(line_.pieces) + 1 == line_.pieces.size()) {
      finish_line();
      ++inline_depth_;
    }
    return last;
  }

  size_t fstring_end(size_t i) const {
    size_t open = 0;
    for (; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == TokenKind::FSTRING_START) ++open;
      if (tokens_[i].kind == TokenKind::FSTRING_END && --open == 0) return i;
    }
    return tokens_.size() - 1;
  }

  // Reads what stands between the last token and `next`: comments and empty lines.
  void gap(uint32_t next, Piece* piece) {
    bool broken = line_start_;
    int breaks = 0;
    for (uint32_t i = end_; i < next; ++i) {
      const char c = text_[i];
      if (is_break(c)) {
        if (c == '\r' && i + 1 < next && text_[i + 1] == '\n') ++i;
        broken = true;
        ++breaks;
      } else if (c == '#') {
        uint32_t stop = i;
        while (stop < next && !is_break(text_[stop])) ++stop;
        comment(without_trailing_blanks(text_.substr(i, stop - i)), i, broken, breaks, piece);
        breaks = -1;  // the comment's own line break makes no empty line
        i = stop - 1;
      }
    }
    if (line_start_) line_.blanks = static_cast<uint32_t>(std::max(breaks, 0));
  }

  void comment(std::string_view text, uint32_t at, bool broken, int breaks, Piece* piece) {
    if (!broken && !line_.pieces.empty()) {
      line_.pieces.back().trailing.push_back(text);
    } else if (!broken && !lines_.empty()) {  // after `a;`
      lines_.back().pieces.back().trailing.push_back(text);
    } else if (piece && !line_.pieces.empty()) {
      piece->leading.push_back(text);
    } else {
      const uint32_t column = measure(source_.line_begin(source_.line_of(at)), at);
      line_.before.push_back({text, column, static_cast<uint32_t>(std::max(breaks, 0))});
    }
  }

  void finish_line() {
    if (line_.pieces.empty()) return;
    place_comments();
    line_.depth = depth() + inline_depth_;
    last_columns_ = columns_;
    lines_.push_back(std::move(line_));
    line_ = {};
  }

  void finish_text(const Token& token) {
    line_start_ = true;
    gap(token.span.begin, nullptr);
    place_comments();
    if (!line_.before.empty()) lines_.push_back(std::move(line_));
    line_ = {};
  }

  uint32_t depth() const { return static_cast<uint32_t>(columns_.size()) - 1; }

  // A comment between two lines belongs to the innermost block, of those open before or after it,
  // that begins no further right than the comment.
  void place_comments() {
    if (line_.before.empty()) return;
    const std::vector<uint32_t>& open = columns_.size() > last_columns_.size() ? columns_ : last_columns_;
    uint32_t limit = static_cast<uint32_t>(open.size()) - 1;
    for (OwnComment& comment : line_.before) {
      const uint32_t column = comment.depth;
      uint32_t depth = limit;
      while (depth > this->depth() && open[depth] > column) --depth;
      comment.depth = limit = depth;
    }
  }

  uint32_t measure(uint32_t begin, uint32_t end) const {
    uint32_t column = 0;
    for (uint32_t i = begin; i < end; ++i) {
      if (text_[i] == ' ') ++column;
      else if (text_[i] == '\t') column = (column / 8 + 1) * 8;
      else if (text_[i] == '\f') column = 0;
      else break;
    }
    return column;
  }

  const std::vector<Token>& tokens_;
  const Source& source_;
  std::string_view text_;
  std::vector<LogicalLine> lines_;
  LogicalLine line_;
  std::vector<uint32_t> columns_{0};       // of the open blocks
  std::vector<uint32_t> last_columns_{0};  // of the blocks open at the last line
  uint32_t end_ = 0;                       // of the last token
  uint32_t inline_depth_ = 0;
  size_t brackets_ = 0;
  bool line_start_ = true;
};

}  // namespace

bool begins_compound(TokenKind kind) {
  static constexpr TokenKind kKinds[] = {TokenKind::IF,    TokenKind::ELIF,   TokenKind::ELSE,    TokenKind::FOR,
                                         TokenKind::WHILE, TokenKind::DEF,    TokenKind::CLASS,   TokenKind::WITH,
                                         TokenKind::TRY,   TokenKind::EXCEPT, TokenKind::FINALLY, TokenKind::MATCH,
                                         TokenKind::CASE};
  return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

size_t header_colon(const std::vector<Piece>& pieces) {
  if (pieces.empty() || !begins_compound(pieces[0].kind)) return pieces.size();
  size_t depth = 0, lambdas = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].opens()) ++depth;
    if (pieces[i].closes()) --depth;
    if (depth) continue;
    if (pieces[i].kind == TokenKind::LAMBDA) ++lambdas;
    if (pieces[i].kind != TokenKind::COLON) continue;
    if (!lambdas) return i;
    --lambdas;
  }
  return pieces.size();
}

std::vector<LogicalLine> read_lines(const TokenList& tokens, const Source& source) {
  return Reader(tokens, source).run();
}

}  // namespace tsc::lang
