// The text of a shape: "b *rest 3 n//2".
#include <cctype>

#include "lang/shapes/annotation.h"

namespace tsc::lang {
namespace {

using Kind = SizeTerm::Kind;

constexpr const char* kForms = "a dimension is a name, a number, '_', '*name' or '...'";
constexpr size_t kMostDigits = 18;

bool begins_name(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)); }
bool in_name(char c) { return begins_name(c) || std::isdigit(static_cast<unsigned char>(c)); }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// One dimension that is computed, by precedence: sums of products of names, numbers and brackets.
class Computed {
 public:
  explicit Computed(std::string_view text) : text_(text) {}

  // Nullopt: the text is no expression.
  std::optional<std::vector<SizeTerm>> read() {
    if (!sum(0) || at_ != text_.size()) return std::nullopt;
    return std::move(terms_);
  }

 private:
  static constexpr int kDeepest = 50;

  bool take(std::string_view sign) {
    if (text_.substr(at_, sign.size()) != sign) return false;
    at_ += sign.size();
    return true;
  }

  void operation(Kind kind) { terms_.push_back({kind, 0, {}}); }

  bool sum(int depth) {
    if (!product(depth)) return false;
    for (;;) {
      const Kind kind = take("+") ? Kind::Add : take("-") ? Kind::Subtract : Kind::Number;
      if (kind == Kind::Number) return true;
      if (!product(depth)) return false;
      operation(kind);
    }
  }

  bool product(int depth) {
    if (!atom(depth)) return false;
    for (;;) {
      const Kind kind = take("*")    ? Kind::Multiply
                        : take("//") ? Kind::FloorDivide
                        : take("%")  ? Kind::Modulo
                                     : Kind::Number;
      if (kind == Kind::Number) return true;
      if (!atom(depth)) return false;
      operation(kind);
    }
  }

  bool atom(int depth) {
    if (take("(")) return depth < kDeepest && sum(depth + 1) && take(")");
    const size_t begin = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word.empty()) return false;
    if (begins_name(word[0])) {
      terms_.push_back({Kind::Name, 0, word});
      return word != "_";
    }
    if (word.size() > kMostDigits || word.find_first_not_of("0123456789") != std::string::npos) return false;
    terms_.push_back({Kind::Number, std::stoll(word), {}});
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<SizeTerm> terms_;
};

bool is_name(std::string_view word) {
  if (word.empty() || !begins_name(word[0])) return false;
  for (char c : word)
    if (!in_name(c)) return false;
  return true;
}

class Dimensions {
 public:
  Dimensions(std::string_view text, const AnnotationPlace& place) : text_(text), place_(place) {}

  std::optional<ShapeFault> read(std::vector<Dimension>& out) {
    for (size_t at = 0; at < text_.size();) {
      if (is_blank(text_[at])) {
        ++at;
        continue;
      }
      size_t end = at;
      while (end < text_.size() && !is_blank(text_[end])) ++end;
      begin_ = at;
      end_ = end;
      if (!word(text_.substr(at, end - at), out)) return std::move(fault_);
      at = end;
    }
    return std::nullopt;
  }

 private:
  bool fail(std::string message, std::string help) {
    fault_ = {begin_, end_, std::move(message), std::move(help)};
    return false;
  }

  static std::string quoted(std::string_view word) { return "'" + std::string(word) + "'"; }

  bool word(std::string_view word, std::vector<Dimension>& out) {
    Dimension d{Dimension::Kind::Any, std::string(word), 0, {}};
    const bool digits = word.find_first_not_of("0123456789") == std::string_view::npos;
    if (word == "_") {
    } else if (word == "...") {
      d.kind = Dimension::Kind::AnyRest;
    } else if (digits) {
      if (word.size() > kMostDigits) return fail("the size " + quoted(word) + " is too large", "");
      d.kind = Dimension::Kind::Exact;
      d.size = std::stoll(std::string(word));
    } else if (is_name(word)) {
      d.kind = Dimension::Kind::Name;
      if (!bind(word, false)) return false;
    } else if (word[0] == '*' && is_name(word.substr(1)) && word != "*_") {
      d.kind = Dimension::Kind::Rest;
      d.text = word.substr(1);
      if (!bind(d.text, true)) return false;
    } else if (!computed(word, d)) {
      return false;
    }
    if (d.kind == Dimension::Kind::AnyRest || d.kind == Dimension::Kind::Rest) {
      if (has_rest_)
        return fail("a second part of any length, " + quoted(word),
                    "one '...' or '*name' is enough for a shape: more could be split in several ways");
      has_rest_ = true;
    }
    out.push_back(std::move(d));
    return true;
  }

  bool bind(std::string_view name, bool is_rest) {
    if (!place_.names) return true;
    const auto [at, is_new] = place_.names->emplace(name, is_rest);
    if (is_new || at->second == is_rest) return true;
    return fail(quoted(name) + " names one size and also, as '*" + std::string(name) + "', any number of them",
                "give one of them another name");
  }

  bool computed(std::string_view word, Dimension& d) {
    auto terms = Computed(word).read();
    if (!terms) {
      const bool comma = word.find(',') != std::string_view::npos;
      return fail(quoted(word) + " is no dimension",
                  comma ? "write blanks between dimensions, not commas"
                        : std::string(kForms) + ", in results also b//2 without blanks");
    }
    if (!place_.is_result)
      return fail("the dimension " + quoted(word) + " of a parameter is computed",
                  "name it: a parameter's sizes bind names, only a result's are computed from them");
    for (const SizeTerm& term : *terms) {
      if (term.kind != Kind::Name || !place_.names) continue;
      const auto found = place_.names->find(term.name);
      if (found == place_.names->end() || found->second)
        return fail("no parameter binds the size " + quoted(term.name), "");
    }
    d.kind = Dimension::Kind::Computed;
    d.terms = std::move(*terms);
    return true;
  }

  std::string_view text_;
  const AnnotationPlace& place_;
  size_t begin_ = 0, end_ = 0;
  bool has_rest_ = false;
  ShapeFault fault_;
};

}  // namespace

std::optional<ShapeFault> parse_dimensions(std::string_view text, const AnnotationPlace& place,
                                           std::vector<Dimension>& out) {
  return Dimensions(text, place).read(out);
}

}  // namespace tsc::lang
