#include "lang/token.h"

#include <algorithm>

namespace tsc::lang {

namespace {

struct TokenRow {
  std::string_view name, spelling;
  bool keyword;
};

constexpr TokenRow kRows[] = {
    {"END", "end of file", false},
#define TSC_TOKEN(name, text) {#name, text, false},
#define TSC_KEYWORD(name, text) {#name, "'" text "'", true},
#include "lang/tokens.def"
#undef TSC_TOKEN
#undef TSC_KEYWORD
};

const TokenRow& row(TokenKind kind) { return kRows[static_cast<size_t>(kind)]; }

std::string place(const Source& source, uint32_t offset) {
  LineColumn at = source.locate(offset);
  return std::to_string(at.line) + ":" + std::to_string(at.column);
}

std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\n') out += "\\n";
    else if (c == '\r') out += "\\r";
    else out += static_cast<unsigned char>(c) < 0x20 ? '.' : c;
  }
  return out;
}

}  // namespace

bool TokenList::is_damaged(uint32_t offset) const {
  auto after = std::upper_bound(damaged.begin(), damaged.end(), offset,
                                [](uint32_t o, const Span& span) { return o < span.begin; });
  return after != damaged.begin() && offset < (after - 1)->end;
}

bool is_keyword(TokenKind kind) { return row(kind).keyword; }
std::string_view token_name(TokenKind kind) { return row(kind).name; }
std::string_view token_spelling(TokenKind kind) { return row(kind).spelling; }

std::string print_tokens(const TokenList& list, const Source& source) {
  std::string out;
  for (const Token& token : list.tokens) {
    out += place(source, token.span.begin) + "-" + place(source, token.span.end) + " ";
    out += token_name(token.kind);
    bool has_text = token.kind != TokenKind::NEWLINE && token.kind != TokenKind::INDENT;
    if (has_text && token.span.begin != token.span.end) out += " " + printable(source.slice(token.span));
    out += "\n";
  }
  return out;
}

}  // namespace tsc::lang
