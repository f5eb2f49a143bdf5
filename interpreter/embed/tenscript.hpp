// The C++ face of tenscript.h: handles that free themselves, errors as exceptions. Header-only,
// C++17. Knows: the C interface. Must not know: anything behind it. Keeps: no C++ type crosses the
// C line, so a host and the library may be built by different compilers.
//
//   tenscript::Engine engine;
//   engine.define("host", "half", [](double x) { return x / 2; });
//   engine.run_file("model.tsc");
//   double loss = engine.call("train", 10).as<double>();
#pragma once
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenscript.h"

namespace tenscript {

inline const tsc_api& api() {
  static const tsc_api* table = tsc_get_api(TSC_API_VERSION);
  if (table == nullptr)
    throw std::runtime_error("the Tenscript library is older than this program");
  return *table;
}

namespace detail {
inline void append(void* user, const char* text, size_t size) {
  static_cast<std::string*>(user)->append(text, size);
}
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
  int exit_code() const { return api().status_exit_code(status_.get()); }
  std::string render(bool color = false) const {
    std::string text;
    api().status_render(status_.get(), color, detail::append, &text);
    return text;
  }
  std::vector<Frame> traceback() const {
    std::vector<Frame> frames(api().status_frame_count(status_.get()));
    for (size_t i = 0; i < frames.size(); ++i) {
      tsc_frame frame{};
      frame.struct_size = sizeof frame;
      api().status_frame(status_.get(), i, &frame);
      frames[i] = {frame.file, frame.function, frame.source_line,
                   frame.line, frame.column,   frame.end_column};
    }
    return frames;
  }

 private:
  std::shared_ptr<tsc_status> status_;
};

inline void check(tsc_status* status) {
  if (status != nullptr) throw Error(status);
}

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

  // bool, an integer type, a floating type, std::string.
  template <class T>
  T as() const {
    if constexpr (std::is_same_v<T, bool>) {
      int truth = 0;
      check(api().as_bool(handle(), &truth));
      return truth != 0;
    } else if constexpr (std::is_integral_v<T>) {
      int64_t number = 0;
      check(api().as_int(handle(), &number));
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
  tsc_value* release() { return handle_.release(); }

 private:
  std::unique_ptr<tsc_value, detail::FreeValue> handle_;
};

struct Options {
  unsigned threads = 0;
  bool jit = true;
  bool has_seed = false;
  uint64_t seed = 0;
  unsigned max_depth = 0;
  std::vector<std::string> arguments, search_paths;
  std::string disabled_passes, logs;
  bool stress_break = false, strict_compiler = false;
  uint32_t grants = 0;  // tsc_grant bits: nothing outside the script unless asked for
  std::vector<std::string> read_roots, write_roots;
  std::string cache_dir;     // where compiled kernels are kept; empty: no file is touched
  uint64_t cache_bytes = 0;  // at most so many of them; 0: 1 GiB
  std::function<void(tsc_stream, std::string_view)> output;  // empty: the process's own
};

template <class T>
struct DtypeOf;
template <>
struct DtypeOf<float> {
  static constexpr tsc_dtype value = TSC_FLOAT32;
};
template <>
struct DtypeOf<double> {
  static constexpr tsc_dtype value = TSC_FLOAT64;
};
template <>
struct DtypeOf<int32_t> {
  static constexpr tsc_dtype value = TSC_INT32;
};
template <>
struct DtypeOf<int64_t> {
  static constexpr tsc_dtype value = TSC_INT64;
};
template <>
struct DtypeOf<uint8_t> {
  static constexpr tsc_dtype value = TSC_UINT8;
};

class Engine {
 public:
  explicit Engine(Options options = {}) : options_(new Options(std::move(options))) {
    tsc_engine_options raw{};
    raw.struct_size = sizeof raw;
    raw.threads = options_->threads;
    raw.jit = options_->jit ? TSC_DEFAULT : TSC_OFF;
    raw.has_seed = options_->has_seed;
    raw.seed = options_->seed;
    raw.max_depth = options_->max_depth;
    const auto arguments = pointers(options_->arguments), paths = pointers(options_->search_paths);
    raw.arguments = arguments.data();
    raw.argument_count = arguments.size();
    raw.search_paths = paths.data();
    raw.search_path_count = paths.size();
    const auto readable = pointers(options_->read_roots), writable = pointers(options_->write_roots);
    raw.grants = options_->grants;
    raw.read_roots = readable.data();
    raw.read_root_count = readable.size();
    raw.write_roots = writable.data();
    raw.write_root_count = writable.size();
    raw.disabled_passes = options_->disabled_passes.c_str();
    raw.logs = options_->logs.c_str();
    raw.stress_break = options_->stress_break;
    raw.strict_compiler = options_->strict_compiler;
    raw.cache_dir = options_->cache_dir.c_str();
    raw.cache_bytes = options_->cache_bytes;
    if (options_->output) {
      raw.output = [](void* user, tsc_stream stream, const char* text, size_t size) {
        static_cast<Options*>(user)->output(stream, {text, size});
      };
      raw.output_user = options_.get();
    }
    check(api().engine_new(&raw, &engine_));
  }
  ~Engine() { api().engine_free(engine_); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  tsc_engine* handle() const { return engine_; }
  void interrupt() { api().interrupt(engine_); }  // any thread, signal safe
  void clear_interrupt() { api().clear_interrupt(engine_); }

  void run_source(std::string_view text, const std::string& name = "<string>") {
    check(api().run_source(engine_, name.c_str(), text.data(), text.size()));
  }
  void run_file(const std::string& path) { check(api().run_file(engine_, path.c_str())); }
  void run_module(const std::string& name) { check(api().run_module(engine_, name.c_str())); }
  // An empty Value when the entry has none.
  Value run_entry(std::string_view text, const std::string& name = "<stdin>") {
    tsc_value* out = nullptr;
    check(api().run_entry(engine_, name.c_str(), text.data(), text.size(), &out));
    return Value(out);
  }
  bool is_incomplete(std::string_view text) const {
    return api().is_incomplete(engine_, text.data(), text.size()) != 0;
  }

  Value get(const std::string& dotted_name) {
    tsc_value* out = nullptr;
    check(api().get(engine_, dotted_name.c_str(), &out));
    return Value(out);
  }
  void set(const std::string& name, const Value& value) {
    check(api().set(engine_, name.c_str(), value.handle()));
  }

  // Calls a script function by name or by value with C++ arguments.
  template <class... A>
  Value call(const std::string& dotted_name, A&&... arguments) {
    const Value function = get(dotted_name);
    return call(function, std::forward<A>(arguments)...);
  }
  template <class... A>
  Value call(const Value& function, A&&... arguments) {
    std::vector<Value> made;
    made.reserve(sizeof...(A) + 1);
    std::vector<tsc_value*> raw = {argument(arguments, made)...};
    tsc_value* out = nullptr;
    check(
        api().call(engine_, function.handle(), raw.data(), raw.size(), nullptr, nullptr, 0, &out));
    return Value(out);
  }

  Value none() {
    tsc_value* out = nullptr;
    check(api().none_new(engine_, &out));
    return Value(out);
  }
  template <class T>
  Value value(const T& x) {
    tsc_value* out = nullptr;
    if constexpr (std::is_same_v<T, bool>)
      check(api().bool_new(engine_, x, &out));
    else if constexpr (std::is_integral_v<T>)
      check(api().int_new(engine_, x, &out));
    else if constexpr (std::is_floating_point_v<T>)
      check(api().float_new(engine_, x, &out));
    else
      check(api().str_new(engine_, std::string_view(x).data(), std::string_view(x).size(), &out));
    return Value(out);
  }
  Value list(const std::vector<Value>& items) {
    std::vector<tsc_value*> raw;
    for (const Value& item : items) raw.push_back(item.handle());
    tsc_value* out = nullptr;
    check(api().list_new(engine_, raw.data(), raw.size(), &out));
    return Value(out);
  }
  // A tensor with its own copy of row-major data.
  template <class T>
  Value tensor(const std::vector<int64_t>& sizes, const T* data) {
    tsc_value* out = nullptr;
    check(api().tensor_new(engine_, DtypeOf<T>::value, sizes.data(),
                           static_cast<uint32_t>(sizes.size()), data, &out));
    return Value(out);
  }
  // A tensor over the host's memory; `release` runs once, when the last view of it is gone.
  template <class T>
  Value borrow(const std::vector<int64_t>& sizes, T* data, std::function<void()> release = {}) {
    auto* held = new std::function<void()>(std::move(release));
    auto drop = [](void* user) {
      std::unique_ptr<std::function<void()>> mine(static_cast<std::function<void()>*>(user));
      if (*mine) (*mine)();
    };
    tsc_value* out = nullptr;
    tsc_status* status =
        api().tensor_borrow(engine_, DtypeOf<T>::value, sizes.data(),
                            static_cast<uint32_t>(sizes.size()), data, drop, held, &out);
    if (status != nullptr) delete held;
    check(status);
    return Value(out);
  }

  // Makes module.name a function of the script: define("host", "half", [](double x) { ... }).
  template <class F>
  void define(const std::string& module, const std::string& name, F function) {
    define_as(module, name, std::function(std::move(function)));
  }

  std::string represent(const Value& value) {
    std::string text;
    check(api().represent(engine_, value.handle(), detail::append, &text));
    return text;
  }
  std::string emit(const std::string& stage, const std::string& name, std::string_view source) {
    std::string text;
    check(api().emit(engine_, stage.c_str(), name.c_str(), source.data(), source.size(),
                     detail::append, &text));
    return text;
  }
  std::string report(const std::string& format = "explain") {
    std::string text;
    check(api().report(engine_, format.c_str(), detail::append, &text));
    return text;
  }
  std::string info(const std::string& format = "text") {
    std::string text;
    check(api().info(engine_, format.c_str(), detail::append, &text));
    return text;
  }
  std::pair<size_t, std::vector<std::string>> complete(std::string_view text, size_t cursor) {
    std::vector<std::string> names;
    const std::string owned(text);
    const size_t start = api().complete(engine_, owned.c_str(), cursor, detail::collect, &names);
    return {start, std::move(names)};
  }

 private:
  static std::vector<const char*> pointers(const std::vector<std::string>& texts) {
    std::vector<const char*> raw;
    for (const std::string& text : texts) raw.push_back(text.c_str());
    return raw;
  }

  template <class A>
  tsc_value* argument(const A& x, std::vector<Value>& made) {
    if constexpr (std::is_same_v<A, Value>) {
      return x.handle();
    } else {
      made.push_back(value(x));
      return made.back().handle();
    }
  }

  template <class R, class... A>
  struct Bound {
    Engine* engine;
    std::function<R(A...)> function;
    std::string name;

    template <size_t... I>
    tsc_status* run(tsc_value* const* arguments, tsc_value** result, std::index_sequence<I...>) {
      if constexpr (std::is_void_v<R>) {
        function(read<std::decay_t<A>>(arguments[I])...);
        return api().none_new(engine->engine_, result);
      } else {
        *result = engine->result(function(read<std::decay_t<A>>(arguments[I])...)).release();
        return nullptr;
      }
    }
  };

  // A host function borrows its arguments: reading one must not free it.
  template <class T>
  static T read(tsc_value* handle) {
    Value borrowed(handle);
    struct Keep {
      Value& value;
      ~Keep() { value.release(); }
    } keep{borrowed};
    return borrowed.as<T>();
  }
  template <class T>
  Value result(T&& x) {
    if constexpr (std::is_same_v<std::decay_t<T>, Value>)
      return std::forward<T>(x);
    else
      return value(x);
  }

  template <class R, class... A>
  static tsc_status* invoke(void* user, tsc_engine* engine, tsc_value* const* arguments,
                            size_t count, tsc_value** result) {
    auto* bound = static_cast<Bound<R, A...>*>(user);
    if (count != sizeof...(A)) {
      const std::string message = bound->name + "() takes " + std::to_string(sizeof...(A)) +
                                  " arguments, " + std::to_string(count) + " were given";
      return api().error_new(engine, "TypeError", message.c_str());
    }
    try {
      return bound->run(arguments, result, std::index_sequence_for<A...>());
    } catch (const Error& error) {
      return api().error_new(engine, error.type().c_str(), error.what());
    } catch (const std::exception& error) {
      return api().error_new(engine, "RuntimeError", error.what());
    } catch (...) {
      return api().error_new(engine, "RuntimeError", "a host function failed");
    }
  }

  template <class R, class... A>
  void define_as(const std::string& module, const std::string& name, std::function<R(A...)> f) {
    auto* bound = new Bound<R, A...>{this, std::move(f), name};
    auto drop = [](void* user) { delete static_cast<Bound<R, A...>*>(user); };
    tsc_status* status =
        api().define(engine_, module.c_str(), name.c_str(), invoke<R, A...>, bound, drop);
    if (status != nullptr) delete bound;
    check(status);
  }

  std::unique_ptr<Options> options_;  // the output callback's address must not move
  tsc_engine* engine_ = nullptr;
};

}  // namespace tenscript
