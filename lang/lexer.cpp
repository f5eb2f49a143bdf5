// What the rules of lexer.re do with names, numbers, brackets and strange characters.
#include "lang/lexer.h"

#include <utf8proc.h>

#include <algorithm>
#include <iterator>

namespace tsc::lang {

namespace {

struct Lookalike {
  utf8proc_int32_t point;
  std::string_view help;
  std::string_view text;  // what was meant
};

constexpr Lookalike kLookalikes[] = {
    {0x00A0, "this is a no-break space; write a plain space", " "},
    {0x00D7, "write '*' for multiplication", "*"},
    {0x00F7, "write '/' for division", "/"},
    {0x2013, "this is a dash; write '-'", "-"},
    {0x2014, "this is a dash; write '-'", "-"},
    {0x2018, "this is a typographic quote; write '", "'"},
    {0x2019, "this is a typographic quote; write '", "'"},
    {0x201C, "this is a typographic quote; write \"", "\""},
    {0x201D, "this is a typographic quote; write \"", "\""},
    {0x2026, "write three dots '...'", "..."},
    {0x2192, "write '->'", "->"},
    {0x2212, "this is a minus sign of typography; write '-'", "-"},
    {0x2260, "write '!='", "!="},
    {0x2264, "write '<='", "<="},
    {0x2265, "write '>='", ">="},
    {0x3000, "this is a wide space; write a plain space", " "},
    {0xFEFF, "this is a byte order mark inside the text; delete it", ""},
    {0xFF08, "this is a wide bracket; write '('", "("},
    {0xFF09, "this is a wide bracket; write ')'", ")"},
    {0xFF0C, "this is a wide comma; write ','", ","},
    {0xFF1A, "this is a wide colon; write ':'", ":"},
};

bool may_start_name(utf8proc_category_t c) {
  return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) || c == UTF8PROC_CATEGORY_NL;
}

bool may_continue_name(utf8proc_category_t c) {
  return may_start_name(c) || c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC || c == UTF8PROC_CATEGORY_ND ||
         c == UTF8PROC_CATEGORY_PC;
}

std::string code_point_text(utf8proc_int32_t point) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out = "U+";
  for (int shift = point > 0xFFFF ? 20 : 12; shift >= 0; shift -= 4)
    if (shift <= 12 || point >> shift) out += kHex[(point >> shift) & 15];
  return out;
}

utf8proc_ssize_t decode(std::string_view text, utf8proc_int32_t& point) {
  return utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                          static_cast<utf8proc_ssize_t>(text.size()), &point);
}

void report_character(Diagnostics& diagnostics, std::string_view bytes, uint32_t begin, utf8proc_int32_t point) {
  Span span{begin, begin + static_cast<uint32_t>(bytes.size())};
  auto category = utf8proc_category(point);
  bool visible = category != UTF8PROC_CATEGORY_CC && category != UTF8PROC_CATEGORY_CF &&
                 category != UTF8PROC_CATEGORY_ZS && category != UTF8PROC_CATEGORY_CN;
  std::string what = "invalid character ";
  if (visible) what += "'" + std::string(bytes) + "' (" + code_point_text(point) + ")";
  Diagnostic& d = diagnostics.error(Code::InvalidCharacter, span, visible ? what : what + code_point_text(point));
  for (const Lookalike& like : kLookalikes)
    if (like.point == point)
      d.help(std::string(like.help)).fix({{span, std::string(like.text)}}, Applicability::MachineApplicable);
  if (point == '?') d.help("write `a if condition else b` for a choice");
}

constexpr TokenKind closer_kind(char opener) {
  return opener == '(' ? TokenKind::RPAR : opener == '[' ? TokenKind::RSQB : TokenKind::RBRACE;
}

}  // namespace

Lexer::Lexer(const Source& source, Diagnostics& diagnostics, TokenList& out)
    : source_(source), text_(source.text().data()), limit_(static_cast<uint32_t>(source.text().size())),
      diagnostics_(diagnostics), out_(out), brackets_(diagnostics) {
  if (source.text().starts_with("\xEF\xBB\xBF")) at_ = 3;
}

bool Lexer::in_field() const { return !fstrings_.empty() && brackets_.size() > fstrings_.back().base; }

Token Lexer::next() {
  for (;;) {
    if (has_pending()) return pending_[next_pending_++];
    pending_.clear();
    next_pending_ = 0;
    if (cut_short_) return {TokenKind::END, false, false, {limit_, limit_}};
    bool text_mode = !fstrings_.empty() && (!in_field() || brackets_.top().in_spec);
    Token token = text_mode ? fstring_text() : scan_code();
    bool nothing = token.kind == TokenKind::END && token.bad;
    if (!nothing) return token;
  }
}

void Lexer::abandon() { close_down_to(0, 0); }

void Lexer::close_down_to(size_t size, uint32_t from) {
  const auto emit = [&](TokenKind kind) { pending_.push_back({kind, true, false, {at_, at_}}); };
  for (;;) {
    const FString* f = fstrings_.empty() ? nullptr : &fstrings_.back();
    if (f && f->base >= brackets_.size() && (f->base > size || f->start.begin >= from)) {
      emit(TokenKind::FSTRING_END);
      fstrings_.pop_back();
    } else if (brackets_.size() > size) {
      const Brackets::Open open = brackets_.top();
      emit(open.is_field ? TokenKind::FIELD_CLOSE : closer_kind(open.opener));
      brackets_.shrink(brackets_.size() - 1);
    } else {
      return;
    }
  }
}

void Lexer::continuation(uint32_t begin, bool at_line_end) {
  if (at_line_end) {
    continued_at_ = at_;
    return;
  }
  if (at_end()) {
    continued_at_ = at_;
    return;
  }
  diagnostics_.error(Code::InvalidContinuation, {begin, at_}, "unexpected character after line continuation character")
      .note("a backslash continues a line only as its very last character");
  damage_line(begin);
}

void Lexer::damage_line(uint32_t at) {
  uint32_t line = source_.line_of(at);
  uint32_t begin = source_.line_begin(line);
  out_.damaged.push_back({begin, begin + static_cast<uint32_t>(source_.line_text(line).size()) + 1});
}

void Lexer::invalid_character(uint32_t begin) {
  std::string_view byte = source_.text().substr(begin, at_ - begin);
  report_character(diagnostics_, byte, begin, static_cast<unsigned char>(byte[0]));
  damage_line(begin);
}

Token Lexer::name(uint32_t begin) {
  Span span{begin, at_};
  std::string_view text = source_.text().substr(begin, at_ - begin);
  unsigned char first = static_cast<unsigned char>(text[0]);
  bool ascii = std::none_of(text.begin(), text.end(), [](char c) { return c & 0x80; });
  if (ascii) {
    bool may_be_keyword = text.size() >= 2 && text.size() <= 8 && (first >= 'a' || first <= 'T');
    return {may_be_keyword ? keyword_or_name(span) : TokenKind::NAME, false, false, span};
  }
  for (size_t i = 0; i < text.size();) {
    utf8proc_int32_t point = 0;
    auto length = decode(text.substr(i), point);
    if (length <= 0) return {TokenKind::NAME, true, false, span};  // check_utf8 has reported it
    auto category = utf8proc_category(point);
    bool valid = point == '_' || (i ? may_continue_name(category) : may_start_name(category));
    if (!valid) {
      uint32_t at = begin + static_cast<uint32_t>(i);
      report_character(diagnostics_, text.substr(i, static_cast<size_t>(length)), at, point);
      damage_line(begin);
      return {TokenKind::NAME, true, false, span};
    }
    i += static_cast<size_t>(length);
  }
  return {TokenKind::NAME, false, false, span};
}

// A number may be followed directly by a keyword operator (`1if x else 2`), by nothing else of a
// name.
Token Lexer::number(TokenKind kind, uint32_t begin) {
  static constexpr std::string_view kMayFollow[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
  const uint32_t digits_end = at_;
  const auto in_name = [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80);
  };
  uint32_t stop = at_;
  while (in_name(text_[stop])) ++stop;
  std::string_view text = source_.text().substr(begin, stop - begin);
  std::string_view tail = text.substr(digits_end - begin);
  bool keyword = std::any_of(std::begin(kMayFollow), std::end(kMayFollow),
                             [&](std::string_view word) { return tail.starts_with(word); });
  if (!tail.empty() && !keyword) {
    at_ = stop;
    Diagnostic& d =
        diagnostics_.error(Code::InvalidNumber, {begin, at_}, "invalid number literal '" + std::string(text) + "'");
    if (tail[0] == '_') d.note("underscores may stand only between two digits");
    else if (kind == TokenKind::INTEGER && text[0] != '0') d.note("a name cannot start with a digit");
    return make(kind, begin, true);
  }
  std::string_view digits = text.substr(0, digits_end - begin);
  bool decimal = kind == TokenKind::INTEGER && digits.find_first_of("xXoObB") == digits.npos;
  if (decimal && digits[0] == '0' && digits.find_first_not_of("0_") != digits.npos) {
    diagnostics_
        .error(Code::InvalidNumber, {begin, at_}, "leading zeros in a decimal integer literal are not permitted")
        .help("write 0o for an octal number, or drop the zeros")
        .fix({{{begin, begin + static_cast<uint32_t>(digits.find_first_not_of("0_"))}, ""}},
             Applicability::MaybeIncorrect);
    return make(kind, begin, true);
  }
  return make(kind, begin);
}

Token Lexer::bracket(TokenKind kind, uint32_t begin) {
  const char c = text_[begin];
  const Token nothing{TokenKind::END, true, false, {begin, at_}};
  if (c == '(' || c == '[' || c == '{') {
    if (brackets_.open(c, {begin, at_})) return make(kind, begin);
    out_.damaged.push_back({0, UINT32_MAX});
    cut_short_ = true;
    return nothing;
  }
  size_t match = 0;
  size_t floor = fstrings_.empty() ? 0 : fstrings_.back().base;
  char expected = brackets_.empty() ? c : brackets_.top().opener;
  Brackets::Closed closed = brackets_.close(c, {begin, at_}, floor, match);
  if (closed == Brackets::Closed::Stray) {
    damage_line(begin);
    return nothing;
  }
  if (closed == Brackets::Closed::Retyped) {
    out_.damaged.push_back({begin, at_ + 1});
    return make(closer_kind(expected), begin);
  }
  if (closed == Brackets::Closed::Repaired) {
    out_.damaged.push_back({brackets_.all()[match].span.begin, at_ + 1});
    close_down_to(match + 1, UINT32_MAX);
    brackets_.shrink(match);
  }
  bool closed_field = c == '}' && !fstrings_.empty() && (!in_field() || brackets_.top().in_spec);
  Token token = make(closed_field ? TokenKind::FIELD_CLOSE : kind, begin);
  if (closed == Brackets::Closed::Matched) return token;
  pending_.push_back(token);
  return nothing;
}

// ':', '=' and '!' mean something else directly inside a replacement field.
Token Lexer::operator_in_field(TokenKind kind, uint32_t begin) {
  if (!in_field() || !brackets_.top().is_field) return make(kind, begin);
  if (kind == TokenKind::COLON || kind == TokenKind::WALRUS) {
    at_ = begin + 1;
    brackets_.top().in_spec = true;
    return make(TokenKind::FIELD_COLON, begin);
  }
  if (kind == TokenKind::BANG) return make(TokenKind::FIELD_BANG, begin);
  uint32_t after = at_;
  while (text_[after] == ' ' || text_[after] == '\t' || text_[after] == '\n' || text_[after] == '\r') ++after;
  char c = text_[after];
  if (c != '}' && c != ':' && !(c == '!' && text_[after + 1] != '=')) return make(kind, begin);
  at_ = after;  // the spaces are part of the text that `f"{x = }"` shows
  return make(TokenKind::FIELD_EQUAL, begin);
}

bool check_utf8(const Source& source, Diagnostics& diagnostics) {
  std::string_view text = source.text();
  bool valid = true;
  for (size_t i = 0; i < text.size();) {
    if (!(text[i] & 0x80)) {
      ++i;
      continue;
    }
    utf8proc_int32_t point = 0;
    auto length = decode(text.substr(i), point);
    if (length <= 0) {
      if (valid)
        diagnostics
            .error(Code::InvalidUtf8, {static_cast<uint32_t>(i), static_cast<uint32_t>(i + 1)},
                   "the text is not valid UTF-8")
            .help("save the file in UTF-8");
      valid = false;
      length = 1;
    }
    i += static_cast<size_t>(length);
  }
  return valid;
}

}  // namespace tsc::lang
