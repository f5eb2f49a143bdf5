#pragma once
// What the functions of the table were given, checked in one place. For: every entry of tenscript.h. Knows:
// handles, text, what a name of a script is. Keeps: no pointer of a caller is followed before it passed here,
// and what is wrong with it becomes TSC_BAD_ARGUMENT with the name that tenscript.h gives it.
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/embed/engine.h"

namespace tsc::embed {

[[noreturn]] void refuse_null(const std::string& what);
// A word that is none of `names`: "there is no stage 'x'; did you mean 'y'?; the stages are ...".
[[noreturn]] void refuse_word(const std::string& kind, std::string_view word,
                              const std::vector<std::string_view>& names);

// A pointer, to data or to a function, that a call cannot do without.
template <class T>
T* required(T* pointer, const char* what) {
  if (pointer == nullptr) refuse_null(what);
  return pointer;
}

// A struct that begins with its size: what the caller's version has of it, the rest zero.
template <class T>
T copy_of(const T* given) {
  T copy{};
  if (given != nullptr) std::memcpy(&copy, given, std::min(given->struct_size, sizeof copy));
  return copy;
}

std::string required_text(const char* text, const char* what);
// NULL stands for no text when it has no size.
std::string_view required_text(const char* text, size_t size, const char* what);
// A name that a script could write; the dotted one has such parts.
std::string required_name(const char* name, const char* what);
std::string required_dotted_name(const char* name, const char* what);
// `count` texts; none when the count is 0, whatever the pointer.
std::vector<std::string> texts_of(const char* const* texts, size_t count, const char* what);

// The value behind a handle, which is this engine's.
const interp::Value& value_of(const tsc_engine* engine, const tsc_value* handle, const std::string& what);
std::vector<interp::Value> values_of(const tsc_engine* engine, const tsc_value* const* handles, size_t count,
                                     const char* what);

// Of functions that need no engine: whatever the body throws is a status.
template <class Body>
tsc_status* without_engine(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return current_exception_status(nullptr);
  }
}

// Of functions that read a value: in the value's own engine.
template <class Body>
tsc_status* reading(const tsc_value* value, Body&& body) noexcept {
  if (value == nullptr) return without_engine([]() -> tsc_status* { refuse_null("value"); });
  return guarded(value->engine, body);
}

// Of functions that make a value: *out is what the body returns, or NULL.
template <class Body>
tsc_status* making(tsc_engine* engine, tsc_value** out, const char* what, Body&& body) noexcept {
  if (out != nullptr) *out = nullptr;
  return guarded(engine, [&]() -> tsc_status* {
    required(out, what);
    *out = new_value(engine, body());
    return nullptr;
  });
}

}  // namespace tsc::embed
