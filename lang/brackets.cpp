#include "lang/brackets.h"

namespace tsc::lang {

namespace {

char opener_of(char closer) { return closer == ')' ? '(' : closer == ']' ? '[' : '{'; }

std::string quote(char c) { return std::string("'") + c + "'"; }

}  // namespace

bool Brackets::open(char opener, Span span, bool is_field) {
  if (open_.size() >= kMaxBrackets) {
    diagnostics_.error(Code::TooManyBrackets, span, "more than 200 nested brackets")
        .label(open_.front().span, "the outermost one is here");
    return false;
  }
  open_.push_back({opener, is_field, false, span});
  return true;
}

Brackets::Closed Brackets::close(char closer, Span span, size_t floor, size_t& match) {
  if (open_.size() <= floor) {
    diagnostics_.error(Code::UnmatchedBracket, span, "unmatched " + quote(closer)).under("no bracket is open here");
    return Closed::Stray;
  }
  match = open_.size() - 1;
  if (open_.back().opener == opener_of(closer)) {
    open_.pop_back();
    return Closed::Matched;
  }
  const Open wrong = open_.back();
  diagnostics_
      .error(Code::UnmatchedBracket, span,
             "closing " + quote(closer) + " does not match opening " + quote(wrong.opener))
      .label(wrong.span, "opened here");
  // A closer inside a replacement field cannot reach past the field.
  for (size_t i = open_.size(); i-- > floor;) {
    if (open_[i].opener == opener_of(closer)) {
      match = i;
      return Closed::Repaired;
    }
    if (open_[i].is_field) break;
  }
  if (wrong.is_field) return Closed::Stray;
  open_.pop_back();
  return Closed::Retyped;
}

}  // namespace tsc::lang
