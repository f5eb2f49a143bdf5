// The C++ face of tenscript.h: handles that free themselves, errors as exceptions. Header-only,
// C++17. Knows: the C interface. Must not know: anything behind it. Keeps: no C++ type crosses the
// C line, so a host and the library may be built by different compilers.
//
//   tenscript::Engine engine;
//   engine.define("host", "half", [](double x) { return x / 2; });
//   engine.run_file("model.tsc");
//   double loss = engine.call("train", 10).as<double>();
#pragma once
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tenscript_options.hpp"

namespace tenscript {

class Engine {
 public:
  explicit Engine(Options options = {}) : host_(new Host{std::move(options)}) {
    tsc_engine_options raw{};
    raw.struct_size = sizeof raw;
    raw.threads = host_->options.threads;
    raw.jit = host_->options.jit ? TSC_DEFAULT : TSC_OFF;
    raw.background = host_->options.background ? TSC_DEFAULT : TSC_OFF;
    raw.check_shapes = host_->options.check_shapes;
    raw.has_seed = host_->options.has_seed;
    raw.seed = host_->options.seed;
    raw.max_depth = host_->options.max_depth;
    const auto arguments = pointers(host_->options.arguments), paths = pointers(host_->options.search_paths);
    raw.arguments = arguments.data();
    raw.argument_count = arguments.size();
    raw.search_paths = paths.data();
    raw.search_path_count = paths.size();
    const auto readable = pointers(host_->options.read_roots), writable = pointers(host_->options.write_roots);
    raw.grants = host_->options.grants;
    raw.read_roots = readable.data();
    raw.read_root_count = readable.size();
    raw.write_roots = writable.data();
    raw.write_root_count = writable.size();
    raw.disabled_passes = host_->options.disabled_passes.c_str();
    raw.logs = host_->options.logs.c_str();
    raw.stress_break = host_->options.stress_break;
    raw.verify_percent = host_->options.verify_percent;
    raw.strict_compiler = host_->options.strict_compiler;
    raw.untimed = host_->options.untimed;
    raw.signals = host_->options.signals;
    raw.poison_memory = host_->options.poison_memory;
    raw.cache_dir = host_->options.cache_dir.c_str();
    raw.cuda = host_->options.cuda.c_str();
    raw.cache_bytes = host_->options.cache_bytes;
    raw.memory_limit = host_->options.memory_limit;
    raw.time_limit_ns = static_cast<uint64_t>(host_->options.time_limit.count());
    raw.step_limit = host_->options.step_limit;
    if (host_->options.log) {
      raw.log = [](void* user, const char* text, size_t size) {
        static_cast<Host*>(user)->tell([&](const Options& given) { given.log({text, size}); });
      };
      raw.log_user = host_.get();
    }
    if (host_->options.loader) {
      raw.loader = load;
      raw.loader_user = host_.get();
    }
    if (host_->options.output) {
      raw.output = [](void* user, tsc_stream stream, const char* text, size_t size) {
        static_cast<Host*>(user)->tell([&](const Options& given) { given.output(stream, {text, size}); });
      };
      raw.output_user = host_.get();
    }
    check(api().engine_new(&raw, &engine_));
    host_->engine = engine_;
  }
  ~Engine() { api().engine_free(engine_); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  tsc_engine* handle() const { return engine_; }
  static std::string version() { return api().version_text(); }
  // The names that `emit` takes, in the order of the trip.
  static std::vector<std::string> stages() {
    std::vector<std::string> names;
    for (const char* const* name = api().emit_stages(); *name != nullptr; ++name) names.push_back(*name);
    return names;
  }
  void interrupt() { api().interrupt(engine_); }  // any thread, signal safe
  void clear_interrupt() { api().clear_interrupt(engine_); }
  // Ends what runs with a LimitError that no script can catch. Any thread, signal safe.
  void stop(const char* reason = nullptr) { api().stop(engine_, reason); }
  void clear_stop() { api().clear_stop(engine_); }
  // The program is over: waits for its threads and calls what it has registered with atexit.
  void finish() { check(api().finish(engine_)); }
  void set_limits(const Limits& limits) {
    tsc_limits raw{};
    raw.struct_size = sizeof raw;
    raw.memory_bytes = limits.memory;
    raw.time_ns = static_cast<uint64_t>(limits.time.count());
    raw.steps = limits.steps;
    raw.depth = limits.depth;
    check(api().set_limits(engine_, &raw));
  }
  tsc_statistics statistics() const {  // any thread
    tsc_statistics out{};
    out.struct_size = sizeof out;
    check(api().statistics(engine_, &out));
    return out;
  }
  void reset_tensor_peak() { check(api().reset_tensor_peak(engine_)); }

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
  Value import_module(const std::string& name) {
    tsc_value* out = nullptr;
    check(api().import_module(engine_, name.c_str(), &out));
    return Value(out);
  }
  void add_module(const std::string& name, std::string_view text, bool is_package = false) {
    check(api().add_module(engine_, name.c_str(), text.data(), text.size(), is_package));
  }
  Value get_attribute(const Value& object, const std::string& name) {
    tsc_value* out = nullptr;
    check(api().get_attribute(engine_, object.handle(), name.c_str(), &out));
    return Value(out);
  }
  void set_attribute(const Value& object, const std::string& name, const Value& value) {
    check(api().set_attribute(engine_, object.handle(), name.c_str(), value.handle()));
  }
  // object[key]
  template <class K>
  Value get_item(const Value& object, const K& key) {
    std::vector<Value> made;
    made.reserve(1);
    tsc_value* out = nullptr;
    check(api().get_item(engine_, object.handle(), argument(key, made), &out));
    return Value(out);
  }
  template <class K>
  void set_item(const Value& object, const K& key, const Value& item) {
    std::vector<Value> made;
    made.reserve(1);
    check(api().set_item(engine_, object.handle(), argument(key, made), item.handle()));
  }
  void set(const std::string& name, const Value& value) { check(api().set(engine_, name.c_str(), value.handle())); }

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
    check(api().call(engine_, function.handle(), raw.data(), raw.size(), nullptr, nullptr, 0, &out));
    return Value(out);
  }

  // With keyword arguments too.
  Value call_with(const Value& function, const std::vector<Value>& arguments,
                  const std::vector<std::pair<std::string, Value>>& keywords) {
    std::vector<tsc_value*> raw, given;
    std::vector<const char*> names;
    for (const Value& argument : arguments) raw.push_back(argument.handle());
    for (const auto& [name, value] : keywords) {
      names.push_back(name.c_str());
      given.push_back(value.handle());
    }
    tsc_value* out = nullptr;
    check(
        api().call(engine_, function.handle(), raw.data(), raw.size(), names.data(), given.data(), given.size(), &out));
    return Value(out);
  }

  Value none() {
    tsc_value* out = nullptr;
    check(api().none_new(engine_, &out));
    return Value(out);
  }
  // bool, an integer (one beyond 64 bits with a sign throws), a floating number, text.
  template <class T>
  Value value(const T& x) {
    static_assert(std::is_arithmetic_v<T> || std::is_convertible_v<const T&, std::string_view>,
                  "a script's value is made from bool, a number or text; see list, tuple, dict and tensor");
    tsc_value* out = nullptr;
    if constexpr (std::is_same_v<T, bool>) check(api().bool_new(engine_, x, &out));
    else if constexpr (std::is_integral_v<T>) check(api().int_new(engine_, detail::as_int64(x), &out));
    else if constexpr (std::is_floating_point_v<T>) check(api().float_new(engine_, x, &out));
    else check(api().str_new(engine_, std::string_view(x).data(), std::string_view(x).size(), &out));
    return Value(out);
  }
  Value list(const std::vector<Value>& items) {
    std::vector<tsc_value*> raw;
    for (const Value& item : items) raw.push_back(item.handle());
    tsc_value* out = nullptr;
    check(api().list_new(engine_, raw.data(), raw.size(), &out));
    return Value(out);
  }
  Value tuple(const std::vector<Value>& items) {
    std::vector<tsc_value*> raw;
    for (const Value& item : items) raw.push_back(item.handle());
    tsc_value* out = nullptr;
    check(api().tuple_new(engine_, raw.data(), raw.size(), &out));
    return Value(out);
  }
  // In this order; a key that comes again keeps its place and the last value.
  Value dict(const std::vector<std::pair<Value, Value>>& entries) {
    std::vector<tsc_value*> keys, values;
    for (const auto& [key, value] : entries) {
      keys.push_back(key.handle());
      values.push_back(value.handle());
    }
    tsc_value* out = nullptr;
    check(api().dict_new(engine_, keys.data(), values.data(), keys.size(), &out));
    return Value(out);
  }
  // A tensor with its own copy of row-major data.
  template <class T>
  Value tensor(const std::vector<int64_t>& sizes, const T* data) {
    tsc_value* out = nullptr;
    check(api().tensor_new(engine_, DtypeOf<T>::value, sizes.data(), static_cast<uint32_t>(sizes.size()), data, &out));
    return Value(out);
  }
  // A tensor over the host's memory; `release` runs once, when the last view of it is gone. Memory of a const
  // type is never written: a script that does gets a copy.
  template <class T>
  Value borrow(const std::vector<int64_t>& sizes, T* data, std::function<void()> release = {}) {
    return lend(sizes, {}, data, std::move(release));
  }

  // The same with strides (in elements; empty: row-major).
  template <class T>
  Value lend(const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides, T* data,
             std::function<void()> release = {}) {
    auto held = std::make_unique<std::function<void()>>(std::move(release));
    tsc_buffer buffer{};
    buffer.struct_size = sizeof buffer;
    buffer.dtype = DtypeOf<std::remove_const_t<T>>::value;
    buffer.rank = static_cast<uint32_t>(sizes.size());
    buffer.sizes = sizes.data();
    buffer.strides = strides.empty() ? nullptr : strides.data();
    buffer.data = const_cast<std::remove_const_t<T>*>(data);
    buffer.read_only = std::is_const_v<T>;
    buffer.user = held.get();
    buffer.release = [](void* user) {
      std::unique_ptr<std::function<void()>> mine(static_cast<std::function<void()>*>(user));
      if (*mine) (*mine)();
    };
    tsc_value* out = nullptr;
    check(api().tensor_lend(engine_, &buffer, &out));
    held.release();
    return Value(out);
  }
  // Takes over a tensor of another library; its deleter runs once, also when this throws.
  Value from_dlpack(DLManagedTensorVersioned* tensor) {
    tsc_value* out = nullptr;
    check(api().dlpack_import(engine_, tensor, &out));
    return Value(out);
  }

  // Makes module.name an op of the script; see Op.
  void define_op(Op op) {
    auto held = std::make_unique<BoundOp>(BoundOp{this, std::move(op)});
    tsc_op raw{};
    raw.struct_size = sizeof raw;
    raw.module = held->op.module.c_str();
    raw.name = held->op.name.c_str();
    raw.doc = held->op.doc.c_str();
    raw.argument_count = held->op.arguments;
    if (held->op.shape) raw.shape = op_shape;
    if (held->op.run) raw.run = op_run;
    if (held->op.gradient) raw.gradient = op_gradient;
    raw.user = held.get();
    raw.drop = [](void* user) { delete static_cast<BoundOp*>(user); };
    check(api().define_op(engine_, &raw));
    held.release();
  }

  // Makes module.name a function of the script with the parameters as a script would write them; it
  // gets one Value for each, and returns one: define("host", "scale", "x, by=2.0", [](auto& v) {...}).
  void define(const std::string& module, const std::string& name, const std::string& parameters,
              std::function<Value(const std::vector<Value>&)> function, const std::string& doc = "") {
    auto held = std::make_unique<BoundList>(BoundList{this, std::move(function)});
    auto drop = [](void* user) { delete static_cast<BoundList*>(user); };
    check(api().define_function(engine_, module.c_str(), name.c_str(), parameters.c_str(), doc.c_str(), invoke_list,
                                held.get(), drop));
    held.release();
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
    check(api().emit(engine_, stage.c_str(), name.c_str(), source.data(), source.size(), detail::append, &text));
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
  // The text in the one style; throws when it is no program.
  std::string format(std::string_view source, const std::string& name = "<string>") {
    std::string text;
    check(api().format(engine_, name.c_str(), source.data(), source.size(), detail::append, &text));
    return text;
  }
  // What is wrong with the text, one finding each, as "text", "color" or "json"; none: nothing is.
  std::vector<std::string> check_source(std::string_view source, const std::string& name = "<string>",
                                        const std::string& format = "text") {
    std::vector<std::string> found;
    size_t count = 0;
    check(api().check(engine_, name.c_str(), source.data(), source.size(), format.c_str(), detail::collect, &found,
                      &count));
    return found;
  }
  // What a value is, for a person: signature, documentation, place, and its source when asked.
  std::string describe(const Value& value, bool with_source = false) {
    std::string text;
    check(api().describe(engine_, value.handle(), with_source, detail::append, &text));
    return text;
  }
  // The disk cache of the options' cache_dir: "path", "list", "verify" or "clear".
  std::string cache(const std::string& action, const std::string& format = "text") {
    std::string text;
    check(api().cache(engine_, action.c_str(), format.c_str(), detail::append, &text));
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

  // The status for the C++ exception in flight.
  static tsc_status* current_error(tsc_engine* engine) {
    try {
      throw;
    } catch (const Error& error) {
      const std::string type = error.type().empty() ? "RuntimeError" : error.type();
      std::string message = error.what();
      if (message.compare(0, type.size() + 2, type + ": ") == 0) message.erase(0, type.size() + 2);
      return api().error_new(engine, type.c_str(), message.c_str());
    } catch (const std::exception& error) {
      return api().error_new(engine, "RuntimeError", error.what());
    } catch (...) {
      return api().error_new(engine, "RuntimeError", "a host function failed");
    }
  }

  static int load(void* user, tsc_engine* engine, const char* name, tsc_sink give, void* to, tsc_status** error) {
    try {
      const std::optional<Source> source = static_cast<Host*>(user)->options.loader(name);
      if (!source) return 0;
      give(to, source->text.data(), source->text.size());
      return source->is_package ? 2 : 1;
    } catch (...) {
      *error = current_error(engine);
      return 0;
    }
  }

  // Handles that the caller keeps, as Values for the time of a call.
  class Borrowed {
   public:
    Borrowed(tsc_value* const* handles, size_t count) {
      for (size_t i = 0; i < count; ++i) values.emplace_back(handles[i]);
    }
    ~Borrowed() {
      for (Value& value : values) value.release();
    }
    std::vector<Value> values;
  };

  struct BoundList {
    Engine* engine;
    std::function<Value(const std::vector<Value>&)> function;
  };
  static tsc_status* invoke_list(void* user, tsc_engine* engine, tsc_value* const* arguments, size_t count,
                                 tsc_value** result) {
    const Borrowed borrowed(arguments, count);
    try {
      *result = static_cast<BoundList*>(user)->function(borrowed.values).release();
      return nullptr;
    } catch (...) {
      return current_error(engine);
    }
  }

  struct BoundOp {
    Engine* engine;
    Op op;
  };
  static tsc_status* op_shape(void* user, tsc_engine* engine, const tsc_tensor_info* arguments, size_t count,
                              tsc_dtype* dtype, uint32_t* rank, int64_t* sizes) {
    try {
      const Op::Shape shape = static_cast<BoundOp*>(user)->op.shape(Op::Infos(arguments, arguments + count));
      if (shape.sizes.size() > TSC_MAX_RANK) throw std::length_error("too many dimensions");
      *dtype = shape.dtype;
      *rank = static_cast<uint32_t>(shape.sizes.size());
      std::copy(shape.sizes.begin(), shape.sizes.end(), sizes);
      return nullptr;
    } catch (...) {
      return current_error(engine);
    }
  }
  static tsc_status* op_run(void* user, tsc_engine* engine, const tsc_tensor_info* arguments, size_t count,
                            const tsc_tensor_info* result) {
    try {
      static_cast<BoundOp*>(user)->op.run(Op::Infos(arguments, arguments + count), *result);
      return nullptr;
    } catch (...) {
      return current_error(engine);
    }
  }
  static tsc_status* op_gradient(void* user, tsc_engine* engine, tsc_value* gradient, tsc_value* const* arguments,
                                 size_t count, tsc_value* result, tsc_value** gradients) {
    const Borrowed borrowed(arguments, count), given(&gradient, 1), made(&result, 1);
    try {
      std::vector<Value> out =
          static_cast<BoundOp*>(user)->op.gradient(given.values[0], borrowed.values, made.values[0]);
      if (out.size() != count) throw std::length_error("a gradient rule gives one value for each argument");
      for (size_t i = 0; i < count; ++i) gradients[i] = out[i].release();
      return nullptr;
    } catch (...) {
      return current_error(engine);
    }
  }

  template <class R, class... A>
  struct Bound {
    Engine* engine;
    std::function<R(A...)> function;
    std::string name;

    static_assert(((!std::is_lvalue_reference_v<A> || std::is_const_v<std::remove_reference_t<A>>) && ...),
                  "a function of the host takes its arguments by value or by const reference");

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
    if constexpr (std::is_same_v<T, Value>) return borrowed.copy();  // the function may keep it
    else return borrowed.as<T>();
  }
  template <class T>
  Value result(T&& x) {
    if constexpr (std::is_same_v<T, Value>) return std::move(x);
    else if constexpr (std::is_same_v<std::decay_t<T>, Value>) return x.copy();
    else return value(x);
  }

  template <class R, class... A>
  static tsc_status* invoke(void* user, tsc_engine* engine, tsc_value* const* arguments, size_t count,
                            tsc_value** result) {
    auto* bound = static_cast<Bound<R, A...>*>(user);
    if (count != sizeof...(A)) {
      const std::string message = bound->name + "() takes " + std::to_string(sizeof...(A)) + " arguments, " +
                                  std::to_string(count) + " were given";
      return api().error_new(engine, "TypeError", message.c_str());
    }
    try {
      return bound->run(arguments, result, std::index_sequence_for<A...>());
    } catch (...) {
      return current_error(engine);
    }
  }

  template <class R, class... A>
  void define_as(const std::string& module, const std::string& name, std::function<R(A...)> f) {
    auto* bound = new Bound<R, A...>{this, std::move(f), name};
    auto drop = [](void* user) { delete static_cast<Bound<R, A...>*>(user); };
    tsc_status* status = api().define(engine_, module.c_str(), name.c_str(), invoke<R, A...>, bound, drop);
    if (status != nullptr) delete bound;
    check(status);
  }

  // What the callbacks find through their `user`: its address does not move.
  struct Host {
    Options options;
    tsc_engine* engine = nullptr;
    // Calls a callback that returns nothing: what it throws is raised in the script when it is back.
    template <class F>
    void tell(F&& callback) {
      try {
        callback(options);
      } catch (...) {
        api().raise_later(engine, current_error(engine));
      }
    }
  };
  std::unique_ptr<Host> host_;
  tsc_engine* engine_ = nullptr;
};

}  // namespace tenscript
