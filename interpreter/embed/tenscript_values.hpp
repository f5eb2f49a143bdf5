// The part of the C++ wrapper that needs no engine: errors and values. Include tenscript.hpp.
#pragma once
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenscript.h"

namespace tenscript {

inline const tsc_api& api() {
  static const tsc_api* table = tsc_get_api(TSC_API_VERSION);
  if (table == nullptr) throw std::runtime_error("the Tenscript library is older than this program");
  return *table;
}

namespace detail {
inline void append(void* user, const char* text, size_t size) { static_cast<std::string*>(user)->append(text, size); }
inline void collect(void* user, const char* text, size_t size) {
  static_cast<std::vector<std::string>*>(user)->emplace_back(text, size);
}
struct FreeStatus {
  void operator()(tsc_status* status) const { api().status_free(status); }
};
struct FreeValue {
  void operator()(tsc_value* value) const { api().value_free(value); }
};
}  // namespace detail

struct Frame {
  std::string file, function, source_line;
  unsigned line = 0, column = 0, end_column = 0;
};

// What went wrong, with its traceback as data.
class Error : public std::runtime_error {
 public:
  explicit Error(tsc_status* status)
      : std::runtime_error(api().status_message(status)), status_(status, detail::FreeStatus()) {}

  tsc_code code() const { return api().status_code(status_.get()); }
  std::string type() const { return api().status_type(status_.get()); }
  tsc_limit limit() const { return api().status_limit(status_.get()); }
  int exit_code() const { return api().status_exit_code(status_.get()); }
  std::string render(bool color = false) const {
    std::string text;
    api().status_render(status_.get(), color, detail::append, &text);
    return text;
  }
  std::vector<Frame> traceback() const { return frames_of(status_.get()); }
  // What this came from (`raise ... from`, or what was handled meanwhile), nearest first.
  struct Cause {
    std::string type, message;
    std::vector<Frame> traceback;
  };
  std::vector<Cause> causes() const {
    std::vector<Cause> chain;
    for (const tsc_status* cause = api().status_cause(status_.get()); cause != nullptr;
         cause = api().status_cause(cause))
      chain.push_back({api().status_type(cause), api().status_message(cause), frames_of(cause)});
    return chain;
  }

 private:
  static std::vector<Frame> frames_of(const tsc_status* status) {
    std::vector<Frame> frames(api().status_frame_count(status));
    for (size_t i = 0; i < frames.size(); ++i) {
      tsc_frame frame{};
      frame.struct_size = sizeof frame;
      api().status_frame(status, i, &frame);
      frames[i] = {frame.file, frame.function, frame.source_line, frame.line, frame.column, frame.end_column};
    }
    return frames;
  }
  std::shared_ptr<tsc_status> status_;
};

inline void check(tsc_status* status) {
  if (status != nullptr) throw Error(status);
}

namespace detail {
[[noreturn]] inline void overflow(const std::string& message) {
  throw Error(api().error_new(nullptr, "OverflowError", message.c_str()));
}
template <class T>
int64_t as_int64(T number) {
  if constexpr (std::is_unsigned_v<T> && sizeof(T) >= sizeof(int64_t))
    if (number > static_cast<T>(std::numeric_limits<int64_t>::max()))
      overflow("the number " + std::to_string(number) +
               " of the host does not fit an int, which has 64 bits with a sign");
  return static_cast<int64_t>(number);
}
template <class T>
void check_range(int64_t number) {
  using Limits = std::numeric_limits<T>;
  bool fits = number >= 0;
  if constexpr (std::is_unsigned_v<T>) fits = fits && static_cast<uint64_t>(number) <= Limits::max();
  else fits = number >= Limits::min() && number <= Limits::max();
  if (!fits)
    overflow("the int " + std::to_string(number) + " does not fit the " + std::to_string(8 * sizeof(T)) +
             (std::is_unsigned_v<T> ? "-bit unsigned" : "-bit") + " integer that the host reads it as");
}
}  // namespace detail

// A script value. Move-only; it must go before its engine.
class Value {
 public:
  Value() = default;
  explicit Value(tsc_value* handle) : handle_(handle) {}

  tsc_value* handle() const { return handle_.get(); }
  explicit operator bool() const { return handle_ != nullptr; }
  tsc_kind kind() const { return api().kind(handle()); }
  std::string type_name() const { return api().type_name(handle()); }
  bool is_none() const { return kind() == TSC_NONE; }

  // bool, an integer type (an int that does not fit it throws), a floating type, std::string; a
  // std::string_view lives as long as this value.
  template <class T>
  T as() const {
    static_assert(std::is_arithmetic_v<T> || std::is_constructible_v<T, const char*, size_t>,
                  "a script's value is read as bool, an integer type, a floating type, std::string or "
                  "std::string_view");
    if constexpr (std::is_same_v<T, bool>) {
      int truth = 0;
      check(api().as_bool(handle(), &truth));
      return truth != 0;
    } else if constexpr (std::is_integral_v<T>) {
      int64_t number = 0;
      check(api().as_int(handle(), &number));
      detail::check_range<T>(number);
      return static_cast<T>(number);
    } else if constexpr (std::is_floating_point_v<T>) {
      double number = 0;
      check(api().as_float(handle(), &number));
      return static_cast<T>(number);
    } else {
      const char* text = nullptr;
      size_t size = 0;
      check(api().as_str(handle(), &text, &size));
      return T(text, size);
    }
  }

  size_t size() const {
    size_t count = 0;
    check(api().length(handle(), &count));
    return count;
  }
  Value operator[](size_t index) const {
    tsc_value* out = nullptr;
    check(api().item(handle(), index, &out));
    return Value(out);
  }
  std::pair<Value, Value> entry(size_t index) const {
    tsc_value *key = nullptr, *item = nullptr;
    check(api().dict_entry(handle(), index, &key, &item));
    return {Value(key), Value(item)};
  }
  // The tensor's shape, dtype and memory; valid while this value lives.
  tsc_tensor_info tensor() const {
    tsc_tensor_info info{};
    info.struct_size = sizeof info;
    check(api().tensor_info(handle(), &info));
    return info;
  }
  std::vector<int64_t> sizes() const {
    const tsc_tensor_info info = tensor();
    return std::vector<int64_t>(info.sizes, info.sizes + info.rank);
  }
  // Another handle to the same value.
  Value copy() const {
    tsc_value* out = nullptr;
    check(api().value_copy(handle(), &out));
    return Value(out);
  }
  // The tensor's memory for another library; the receiver calls its deleter once.
  DLManagedTensorVersioned* to_dlpack() const {
    DLManagedTensorVersioned* out = nullptr;
    check(api().dlpack_export(handle(), &out));
    return out;
  }
  tsc_value* release() { return handle_.release(); }

 private:
  std::unique_ptr<tsc_value, detail::FreeValue> handle_;
};

}  // namespace tenscript
