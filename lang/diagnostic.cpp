#include "lang/diagnostic.h"

#include <algorithm>

namespace tsc::lang {

namespace {

struct CodeRow {
  Code code;
  std::string_view meaning;
};

constexpr CodeRow kRows[] = {
#define TSC_CODE(id, name, meaning) {Code::name, meaning},
#include "lang/diagnostic_codes.def"
#undef TSC_CODE
};

constexpr Code kCodes[] = {
#define TSC_CODE(id, name, meaning) Code::name,
#include "lang/diagnostic_codes.def"
#undef TSC_CODE
};

}  // namespace

std::string code_text(Code code) {
  std::string digits = std::to_string(static_cast<unsigned>(code));
  return "E" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

std::string_view code_meaning(Code code) {
  for (const CodeRow& row : kRows)
    if (row.code == code) return row.meaning;
  return {};
}

std::span<const Code> all_codes() { return kCodes; }

Diagnostic& Diagnostic::label(Span span, std::string text) {
  secondary.push_back({span, std::move(text)});
  return *this;
}

Diagnostic& Diagnostic::under(std::string text) {
  primary.text = std::move(text);
  return *this;
}

Diagnostic& Diagnostic::note(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}

Diagnostic& Diagnostic::help(std::string text) {
  helps.push_back(std::move(text));
  return *this;
}

Diagnostic& Diagnostic::fix(std::vector<Edit> edits, Applicability applicability, std::string title) {
  if (title.empty() && !helps.empty()) title = helps.back();
  fixes.push_back({std::move(title), applicability, std::move(edits)});
  return *this;
}

Diagnostic& Diagnostic::did_you_mean(Span wrong, std::string_view right) {
  return help("did you mean `" + std::string(right) + "`?")
      .fix({{wrong, std::string(right)}}, Applicability::MaybeIncorrect);
}

Diagnostic& Diagnostics::error(Code code, Span span, std::string message) {
  return add({code, Severity::Error, std::move(message), {span, {}}, {}, {}, {}, {}});
}

Diagnostic& Diagnostics::warning(Code code, Span span, std::string message) {
  return add({code, Severity::Warning, std::move(message), {span, {}}, {}, {}, {}, {}});
}

Diagnostic& Diagnostics::add(Diagnostic diagnostic) {
  errors_ += diagnostic.severity == Severity::Error;
  if (items_.size() >= kMaxKept) return overflow_ = std::move(diagnostic);
  items_.push_back(std::move(diagnostic));
  return items_.back();
}

void Diagnostics::sort() {
  std::stable_sort(items_.begin(), items_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.primary.span.begin < b.primary.span.begin;
  });
}

}  // namespace tsc::lang
