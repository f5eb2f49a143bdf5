// Numbers, strings and f-strings of the AstBuilder.
#include <algorithm>
#include <charconv>
#include <limits>
#include <string>

#include "lang/ast_builder.h"
#include "lang/character_names.h"

namespace tsc::lang {

namespace {

std::string without_underscores(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text)
    if (c != '_') out += c;
  return out;
}

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

// False when the digits need more than 64 bits.
bool parse_integer(std::string_view text, uint64_t& value) {
  unsigned base = 10;
  if (text.size() > 2 && text[0] == '0') {
    char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10) text.remove_prefix(2);
  }
  value = 0;
  for (char c : text) {
    if (c == '_') continue;
    if (__builtin_mul_overflow(value, uint64_t{base}, &value) ||
        __builtin_add_overflow(value, static_cast<uint64_t>(digit_value(c)), &value))
      return false;
  }
  return true;
}

// Whether a number outside the range of double is too large (else it is too small).
bool is_huge(std::string_view digits) {
  size_t e = digits.find_first_of("eE");
  std::string_view mantissa = digits.substr(0, e);
  bool negative_exponent = e != digits.npos && digits[e + 1] == '-';
  int64_t exponent = 0;
  if (e != digits.npos)
    for (char c : digits.substr(e + 1))
      if (c >= '0' && c <= '9' && exponent < (int64_t{1} << 40)) exponent = exponent * 10 + (c - '0');
  size_t point = std::min(mantissa.find('.'), mantissa.size());
  size_t leading = mantissa.find_first_not_of("0.");
  int64_t place = static_cast<int64_t>(point) - static_cast<int64_t>(std::min(leading, mantissa.size()));
  return place + (negative_exponent ? -exponent : exponent) > 0;
}

double parse_float(std::string_view text) {
  std::string digits = without_underscores(text);
  double value = 0;
  auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (fault == std::errc::result_out_of_range) return is_huge(digits) ? std::numeric_limits<double>::infinity() : 0.0;
  return value;
}

void append_utf8(std::string& out, uint32_t point) {
  if (point < 0x80) {
    out += static_cast<char>(point);
  } else if (point < 0x800) {
    out += static_cast<char>(0xC0 | (point >> 6));
    out += static_cast<char>(0x80 | (point & 63));
  } else if (point < 0x10000) {
    out += static_cast<char>(0xE0 | (point >> 12));
    out += static_cast<char>(0x80 | ((point >> 6) & 63));
    out += static_cast<char>(0x80 | (point & 63));
  } else {
    out += static_cast<char>(0xF0 | (point >> 18));
    out += static_cast<char>(0x80 | ((point >> 12) & 63));
    out += static_cast<char>(0x80 | ((point >> 6) & 63));
    out += static_cast<char>(0x80 | (point & 63));
  }
}

constexpr std::string_view kSimpleEscapes = "\\'\"abfnrtv";
constexpr std::string_view kSimpleValues = "\\'\"\a\b\f\n\r\t\v";

// Replaces escapes, line breaks and doubled braces of a literal's text.
class Decoder {
 public:
  struct Fault {
    Span span;  // empty: none
    std::string message, help;
  };

  Decoder(std::string_view text, uint32_t offset, bool raw, bool bytes, bool braces)
      : text_(text), offset_(offset), raw_(raw), bytes_(bytes), braces_(braces) {}

  std::string run() {
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '\\' && !raw_ && at_ < text_.size()) escape();
      else if (c == '\r') line_break();
      else if (braces_ && (c == '{' || c == '}') && at_ < text_.size() && text_[at_] == c) out_ += text_[at_++];
      else out_ += c;
    }
    return std::move(out_);
  }
  const Fault& fault() const { return fault_; }

 private:
  void line_break() {
    out_ += '\n';
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
  }

  void escape() {
    const size_t begin = at_ - 1;
    const char c = text_[at_++];
    if (size_t i = kSimpleEscapes.find(c); i != kSimpleEscapes.npos) out_ += kSimpleValues[i];
    else if (c == '\r' || c == '\n') at_ += c == '\r' && at_ < text_.size() && text_[at_] == '\n';
    else if (c >= '0' && c <= '7') octal(c - '0');
    else if (c == 'x') hexadecimal(begin, 2);
    else if (!bytes_ && (c == 'u' || c == 'U')) hexadecimal(begin, c == 'u' ? 4 : 8);
    else if (!bytes_ && c == 'N') named(begin);
    else (out_ += '\\') += c;
  }

  void octal(uint32_t value) {
    for (int i = 0; i < 2 && at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '7'; ++i)
      value = value * 8 + static_cast<uint32_t>(text_[at_++] - '0');
    put(value);
  }

  void hexadecimal(size_t begin, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; ++i, ++at_) {
      int digit = at_ < text_.size() ? digit_value(text_[at_]) : 99;
      if (digit > 15)
        return refuse(begin, "truncated escape sequence: expected " + std::to_string(count) + " hexadecimal digits",
                      "");
      value = value * 16 + static_cast<uint32_t>(digit);
    }
    if (count > 2 && value > 0x10FFFF) return refuse(begin, "the escape sequence is not a Unicode character", "");
    put(value);
  }

  // \N{NAME}
  void named(size_t begin) {
    const size_t end = at_ < text_.size() && text_[at_] == '{' ? text_.find('}', at_) : text_.npos;
    if (end == text_.npos || end == at_ + 1) return refuse(begin, "malformed \\N character escape", "write \\N{NAME}");
    const std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (!has_character_names())
      return refuse(begin, "this build has no names of characters",
                    "write the code point, \\u...., or build with Debian's package unicode-data");
    const std::optional<uint32_t> character = character_named(name);
    if (!character) return refuse(begin, "unknown Unicode character name", "");
    put(*character);
  }

  void put(uint32_t value) {
    if (bytes_) out_ += static_cast<char>(value & 255);
    else append_utf8(out_, value);
  }

  void refuse(size_t begin, std::string message, std::string help) {
    if (fault_.span.end) return;
    fault_ = {{offset_ + static_cast<uint32_t>(begin), offset_ + static_cast<uint32_t>(at_)},
              std::move(message),
              std::move(help)};
  }

  std::string_view text_;
  uint32_t offset_;
  bool raw_, bytes_, braces_;
  size_t at_ = 0;
  std::string out_;
  Fault fault_;
};

bool is_text(const Expr* e) {
  return e->kind == ExprKind::Constant && static_cast<const Constant*>(e)->value_kind == ConstantKind::Str;
}

}  // namespace

Expr* AstBuilder::constant(ConstantKind kind, Span span) {
  auto* e = expr<Constant>(span);
  e->value_kind = kind;
  return e;
}

// ---- Numbers

Expr* AstBuilder::integer(const Token* token) {
  auto* e = expr<Constant>(token->span);
  e->value_kind = ConstantKind::Int;
  if (token->bad) return e;
  constexpr uint64_t kLimit = uint64_t{1} << 63;
  uint64_t value = 0;
  const std::string_view text = source_.slice(token->span);
  const bool fits = parse_integer(text, value);
  if (!fits || value >= kLimit) {
    std::string digits = without_underscores(text);
    for (char& c : digits) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    e->text = arena_.text(digits);
    e->needs_negation = fits && value == kLimit;
    return e;
  }
  e->integer = static_cast<int64_t>(value);
  return e;
}

Expr* AstBuilder::floating(const Token* token) {
  auto* e = expr<Constant>(token->span);
  e->value_kind = ConstantKind::Float;
  if (token->bad) return e;
  std::string_view text = source_.slice(token->span);
  if (text.back() == 'j' || text.back() == 'J') {
    e->value_kind = ConstantKind::Imaginary;
    text.remove_suffix(1);
  }
  e->floating = parse_float(text);
  return e;
}

// ---- Strings

std::string_view AstBuilder::decode(std::string_view text, uint32_t offset, bool raw, bool bytes, bool braces) {
  std::string_view special = raw ? "\r" : "\\\r";
  bool plain = text.find_first_of(special) == text.npos && (!braces || text.find_first_of("{}") == text.npos);
  if (plain) return text;
  Decoder decoder(text, offset, raw, bytes, braces);
  std::string out = decoder.run();
  if (decoder.fault().span.end) {
    Diagnostic& d = error(Code::InvalidEscape, decoder.fault().span, decoder.fault().message);
    if (!decoder.fault().help.empty()) d.help(decoder.fault().help);
  }
  return arena_.text(out);
}

Expr* AstBuilder::string(const Token* token) {
  auto* e = expr<Constant>(token->span);
  e->value_kind = ConstantKind::Str;
  if (token->bad) return e;
  std::string_view text = source_.slice(token->span);
  bool raw = false, bytes = false;
  size_t begin = 0;
  for (; text[begin] != '"' && text[begin] != '\''; ++begin) {
    raw |= (text[begin] | 0x20) == 'r';
    bytes |= (text[begin] | 0x20) == 'b';
  }
  size_t quotes = text.size() - begin >= 6 && text[begin] == text[begin + 1] && text[begin] == text[begin + 2] ? 3 : 1;
  begin += quotes;
  std::string_view inner = text.substr(begin, text.size() - quotes - begin);
  const uint32_t offset = token->span.begin + static_cast<uint32_t>(begin);
  e->text = decode(inner, offset, raw, bytes, false);
  if (!bytes) return e;
  e->value_kind = ConstantKind::Bytes;
  for (size_t i = 0; i < inner.size(); ++i) {
    if (!(inner[i] & 0x80)) continue;
    uint32_t at = offset + static_cast<uint32_t>(i);
    error(Code::InvalidBytes, {at, at + 1}, "bytes can only contain ASCII literal characters")
        .help("write other bytes as \\x..");
    break;
  }
  return e;
}

// Literals side by side are one: texts are joined, f-strings keep their fields.
Expr* AstBuilder::strings(Chain<Expr*>* parts, Span span) {
  Expr* first = parts->first->item;
  if (parts->count == 1) return first;
  const auto is_bytes = [](const Expr* e) { return e->kind == ExprKind::Constant && !is_text(e); };
  bool formatted = false;
  for (auto* link = parts->first; link; link = link->next) {
    formatted |= link->item->kind == ExprKind::JoinedStr;
    if (is_bytes(link->item) != is_bytes(first)) {
      error(Code::MixedBytes, link->item->span, "cannot mix bytes and text literals")
          .label(first->span, is_bytes(first) ? "this is bytes" : "this is text");
      return first;
    }
  }
  if (formatted) return joined(parts, span);
  std::string all;
  for (auto* link = parts->first; link; link = link->next) all += as<Constant>(link->item)->text;
  auto* e = expr<Constant>(span);
  e->value_kind = as<Constant>(first)->value_kind;
  e->text = arena_.text(all);
  return e;
}

// ---- F-strings

// Flattens nested JoinedStrs, joins neighbouring texts and drops empty ones.
JoinedStr* AstBuilder::joined(const Chain<Expr*>* parts, Span span) {
  auto* e = expr<JoinedStr>(span);
  Chain<Expr*>* out = chain<Expr*>();
  Chain<Expr*>* texts = chain<Expr*>();
  const auto flush = [&] {
    if (!texts->count) return;
    Span whole = cover(texts->first->item->span, texts->last->item->span);
    auto* text = as<Constant>(strings(texts, whole));
    if (!text->text.empty()) append<Expr*>(out, text);
    texts = chain<Expr*>();
  };
  const auto add = [&](Expr* part) {
    if (is_text(part)) {
      append(texts, part);
    } else {
      flush();
      append(out, part);
    }
  };
  for (auto* link = parts->first; link; link = link->next) {
    if (auto* nested = try_as<JoinedStr>(link->item))
      for (Expr* part : nested->values) add(part);
    else add(link->item);
  }
  flush();
  e->values = children(*e, out);
  return e;
}

Expr* AstBuilder::fstring(const Token*, Chain<Expr*>* parts, Span span) { return joined(parts, span); }

Expr* AstBuilder::fstring_text(const Token* token, bool in_spec) {
  auto* e = expr<Constant>(token->span);
  e->value_kind = ConstantKind::Str;
  e->text = decode(source_.slice(token->span), token->span.begin, token->raw, false, !in_spec);
  return e;
}

Expr* AstBuilder::field(const Token* open, Expr* value, FieldEnd end, Span span) {
  auto* e = expr<FormattedValue>(span, {value, end.spec});
  e->value = value;
  e->format_spec = end.spec;
  if (end.conversion) {
    std::string_view text = source_.slice(end.conversion->span);
    e->conversion = text[0];
    if (text != "s" && text != "r" && text != "a")
      error(Code::InvalidFString, end.conversion->span, "invalid conversion '" + std::string(text) + "' in an f-string")
          .note("expected 's', 'r' or 'a'");
  }
  if (!end.equal) return e;
  // `{x = }` shows its own text before the value.
  if (!end.conversion && !end.spec) e->conversion = 'r';
  auto* text = expr<Constant>({open->span.end, end.equal->span.end});
  text->value_kind = ConstantKind::Str;
  text->text = source_.slice(text->span);
  auto* both = expr<JoinedStr>(span, {e});
  both->values = arena_.list<Expr*>(2);
  both->values[0] = text;
  both->values[1] = e;
  return both;
}

Expr* AstBuilder::spec(Chain<Expr*>* parts, Span span) { return joined(parts, span); }

}  // namespace tsc::lang
