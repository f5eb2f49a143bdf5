#pragma once
// The virtual machine: one object owns everything a script can reach. Two Vms in one process share
// nothing. The Vm executes bytecode, keeps the frames, and offers three seams to the rooms above it:
// CompilerHooks (compiled functions), Watchers (stores to watched objects), Config (output, limits,
// modules). Native types and functions are added through native.h.
#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpreter/heap/heap.h"
#include "interpreter/value/text_places.h"
#include "interpreter/value/type.h"
#include "interpreter/vm/frame.h"
#include "interpreter/vm/grants.h"
#include "interpreter/vm/operations.h"
#include "runtime/base/stop.h"

namespace tsc::interp {

class Importer;
class ScriptThreads;

// Memory of frames and their registers: chunks that never move. All but the first are charged to the heap.
class FrameStack {
 public:
  explicit FrameStack(Heap& heap) : heap_(heap) {}
  ~FrameStack();
  // Gives back the chunks that a deep recursion left.
  void trim() noexcept { drop_from(top_ ? current_ + 1 : 0); }
  // A frame of the function, called by `back`, with its registers behind it: all unbound but the first `taken` ones,
  // which the caller fills at once. The code is prepared; the function is not counted yet.
  Frame* push(FunctionObject* function, Frame* back, uint32_t taken = 0);
  void pop(Frame* frame);
  // Trades frames with another stack of the same heap: threads of the script take turns (threads.h).
  void swap(FrameStack& other) noexcept {
    std::swap(chunks_, other.chunks_);
    std::swap(current_, other.current_);
    std::swap(top_, other.top_);
    std::swap(end_, other.end_);
  }

 private:
  struct Chunk {
    char* begin;
    char* end;
    char* top;  // while a later chunk is in use
  };
  static constexpr size_t kChunkBytes = 256 << 10;
  Frame* push_in_next_chunk(FunctionObject* function, Frame* back, uint32_t taken, size_t bytes);
  void pop_chunk();
  void drop_from(size_t first) noexcept;
  Heap& heap_;
  std::vector<Chunk> chunks_;
  size_t current_ = 0;
  char* top_ = nullptr;
  char* end_ = nullptr;
};

// Told about stores to watched objects. The key is the attribute name, the dict key or the list index;
// Undefined: the whole content may have changed.
class Watchers {
 public:
  virtual ~Watchers() = default;
  virtual void on_store(Object* holder, const Value& key) = 0;
};

enum class EnterResult {
  Interpret,  // run the frame as it is; the hook changed nothing
  Returned,   // the call is done, `result` holds the value; the Vm drops the frame
  Resume,     // the hook changed the frame's pc and registers and may have pushed frames above it:
              // the Vm continues with the innermost frame
};

// The compiler's side of a call. A hook may throw ScriptException; it is raised at frame.pc.
class CompilerHooks {
 public:
  virtual ~CompilerHooks() = default;
  // A function with `compiled` set was called; its arguments are bound, pc is 0.
  virtual EnterResult enter_function(Vm& vm, Frame& frame, Value& result) = 0;
  // The program sees objects die from now on: the first one has __del__, or is referred to weakly.
  virtual void on_ends() {}
  // An object is seen from now on: whatever the compiler holds of it must not keep it alive.
  virtual void let_go(Object*) {}
  // In front of an instruction of a frame whose `stepping` is set.
  virtual EnterResult enter_at(Vm& vm, Frame& frame, Value& result) = 0;
};

enum class Stream { Out, Error };

struct EmbeddedFile {
  std::string_view name;  // "torch/__init__.tsc"
  std::string_view text;
};

struct ModuleSource {
  std::string text;
  std::string file;  // for tracebacks
  bool is_package = false;
};

struct Config {
  // Receives everything scripts print. Empty: standard output and error.
  std::function<void(Stream, std::string_view)> write;
  bool terminal = false;  // what sys.stdout.isatty() answers
  // Takes the value of a prompt's expression statement. Empty: its repr is printed and kept as `_`.
  std::function<void(const Value&)> display;
  std::function<std::optional<std::string>()> read_line;  // input(); empty: standard input
  uint32_t recursion_limit = 1000;
  uint32_t largest_recursion_limit = 1000000;  // what the script itself may ask for
  uint64_t instruction_limit = 0;              // back-edges and calls of one entry; 0: none
  int64_t time_limit = 0;                      // nanoseconds, for the message: the host watches the clock
  Ref<MemoryBudget> budget;                    // shared with the tensors; empty: one of the Vm's own
  StopFlag* stop = nullptr;                    // shared with the kernels; null: one of the Vm's own
  std::function<std::string()> stop_reason;    // why the host stopped the script, for the message
  std::vector<std::string> module_path;        // where imports search .tsc files
  // Source of modules by name, asked before the module path. Empty: none.
  std::function<std::optional<ModuleSource>(const std::string&)> find_module;
  const EmbeddedFile* embedded = nullptr;  // the standard library
  size_t embedded_count = 0;
  Grants grants;                       // everything; a host that embeds starts from nothing
  bool owns_signals = false;           // the process's signals are the script's business
  std::vector<std::string> arguments;  // sys.argv
};

enum InterruptReason : uint32_t {
  kInterruptKeyboard = 1,
  kInterruptStop = 2,      // see Vm::stop
  kInterruptCollect = 4,   // many young containers
  kInterruptPressure = 8,  // half of what was left of the memory is used
  kInterruptTurn = 16,     // another thread of the script waits for its turn (threads.h)
  kInterruptLeave = 32,    // threads of the script are to end
  kInterruptSignal = 64,   // a signal came that the script has a handler for
};

struct Names {
#define NAME(member, text) Local<StrObject> member;
#include "interpreter/vm/names.def"
#undef NAME
};

struct ExceptionTypes {
  Type* BaseException = nullptr;
#define EXCEPTION(name, base) Type* name = nullptr;
#include "interpreter/vm/exceptions.def"
#undef EXCEPTION
  Type* OutOfMemoryError = nullptr;  // torch's, of a device: no builtin
};

struct Types {
  Type *object, *type, *none, *boolean, *integer, *real, *complex, *str, *bytes, *byte_array, *memory_view, *list,
      *tuple, *dict, *set, *frozenset, *range, *slice, *function, *native_function, *bound_method, *module, *cell,
      *code, *generator, *property, *native_property, *member_descriptor, *static_method, *class_method, *super,
      *iterator, *range_iterator, *list_iterator, *tuple_iterator, *dict_keys, *dict_values, *dict_items, *file,
      *traceback, *not_implemented, *ellipsis, *generic_alias, *union_type, *mapping_proxy, *annotations;
};

struct TensorState;

class Vm {
 public:
  explicit Vm(Config config = {});
  ~Vm();
  Vm(const Vm&) = delete;
  Vm& operator=(const Vm&) = delete;

  // --- running -----------------------------------------------------------------------------------
  // Compiles and runs a module body. Source errors are raised as SyntaxError.
  Local<ModuleObject> run_module(std::string_view source, std::string_view file,
                                 std::string_view module_name = "__main__");
  // Runs code in an existing module (the REPL): the value of the code.
  Value run_code(Local<CodeObject> code, ModuleObject* module);
  Local<ModuleObject> import_module(std::string_view dotted_name);
  // Continues a stack of frames, outermost first; the result is the outermost frame's.
  Value run_frames(std::span<FrameState> frames);

  // --- seams -------------------------------------------------------------------------------------
  void set_hooks(CompilerHooks* hooks) { hooks_ = hooks; }
  CompilerHooks* hooks() const { return hooks_; }
  // Whether the program can see objects die (ends.h); it stays so.
  bool sees_ends() const { return sees_ends_; }
  void see_ends() {
    if (!sees_ends_ && hooks_) hooks_->on_ends();
    sees_ends_ = true;
  }
  void set_watchers(Watchers* watchers) { watchers_ = watchers; }
  Watchers* watchers() const { return watchers_; }
  // Pushes a frame above the current one (for hooks, before they return Resume).
  Frame* push_frame(const FrameState& state);
  Frame* current_frame() const { return frame_; }
  void pop_frame();
  // Owned data of other rooms (the compiler's state, the tensor binding's types), by key.
  std::shared_ptr<void>& extension(const void* key) { return extensions_[key]; }
  // The extension that every operation on tensors looks at, without the search; see tensor_state().
  void set_tensors(TensorState* tensors) { tensors_ = tensors; }
  TensorState& tensors() const { return *tensors_; }

  // --- interrupts: safe from other threads and from signal handlers --------------------------------
  void interrupt(InterruptReason reason) { interrupts_.fetch_or(reason); }
  std::atomic<uint32_t>& interrupts() { return interrupts_; }
  void handle_interrupts();  // raises what is pending
  // What native code that can take long calls now and then.
  void poll() {
    if (interrupts_.load(std::memory_order_relaxed)) [[unlikely]]
      handle_interrupts();
  }

  // The same in the midst of work on an object: nothing is collected, so no code of the script runs.
  void hear_stop() {
    if (interrupts_.load(std::memory_order_relaxed) & (kInterruptStop | kInterruptKeyboard)) [[unlikely]]
      raise_stop();
  }

  // --- limits: LimitError, which no script can catch -----------------------------------------------
  // Ends what runs: LimitError at the next safe point, and again until end_entry(). `finally` and
  // __exit__ get kGraceNanoseconds, then they are skipped, as are those of generators that the heap puts off.
  // Any thread, signal safe.
  void stop(StopCause cause) noexcept {
    stop_->request(cause);
    interrupts_.fetch_or(kInterruptStop);
  }
  static constexpr int64_t kGraceNanoseconds = 100'000'000;
  void begin_entry();  // the host calls in: the steps are counted anew
  void end_entry();    // the outermost call is over: what was stopped may go on
  void begin_grace();  // a LimitError is on its way
  Local<ExceptionObject> limit_exception() noexcept;
  // MemoryError, also when there is no memory for a new one.
  Local<ExceptionObject> memory_error() noexcept;
  StopFlag& stop_flag() { return *stop_; }

  // --- what it owns --------------------------------------------------------------------------------
  Heap& heap() { return heap_; }
  TextPlaces& text_places() { return text_places_; }
  // The string of one ASCII character.
  StrObject* letter(char c) {
    const Local<StrObject>& known = letters_[static_cast<unsigned char>(c)];
    return known ? known.get() : make_letter(c);
  }
  const Types& types() const { return types_; }
  const ExceptionTypes& exceptions() const { return exceptions_; }
  const Names& names() const { return names_; }
  const Config& config() const { return config_; }
  Config& config() { return config_; }
  ModuleObject* builtins() const { return builtins_; }
  DictObject* modules() const { return modules_; }  // sys.modules
  Importer& importer() { return *importer_; }
  ScriptThreads& threads() { return *threads_; }
  // While it is not zero the thread keeps its turn, unless it waits: what is under way counts on what it has looked at.
  uint32_t& keeps_turn() { return keeps_turn_; }
  const Value& not_implemented() const { return not_implemented_; }
  const Value& ellipsis() const { return ellipsis_; }
  uint64_t hash_key(int half) const { return hash_key_[half]; }
  void write(Stream stream, std::string_view text);
  std::optional<std::string> read_line();
  // From standard input; a stop is heard while nothing comes.
  std::optional<std::string> wait_for_line();
  // What a native function returns in place of a value that it has not: the exception is raised behind it. Where the
  // caller is the dispatch loop, and the handler in the same frame, without a C++ throw, which costs microseconds.
  Value return_raised(Local<ExceptionObject> exception) {
    returned_ = std::move(exception);
    return Value();
  }
  bool has_returned() const { return static_cast<bool>(returned_); }
  Local<ExceptionObject> take_returned() { return std::exchange(returned_, nullptr); }
  void check_native_stack();  // RecursionError when the C++ stack runs short

 private:
  friend class Interpreter;  // the dispatch loop
  friend struct VmAccess;    // boot code

  Config config_;
  Heap heap_;
  TextPlaces text_places_;
  Types types_{};
  ExceptionTypes exceptions_{};
  std::unordered_map<std::string_view, StrObject*> interned_;
  std::vector<Type*> native_types_;  // counted; freed last
  Names names_;
  std::array<Local<StrObject>, 128> letters_;
  Value not_implemented_, ellipsis_;
  Local<ModuleObject> builtins_;
  Local<DictObject> modules_;
  std::unique_ptr<Importer> importer_;
  std::unique_ptr<ScriptThreads> threads_;
  CompilerHooks* hooks_ = nullptr;
  Watchers* watchers_ = nullptr;
  std::unordered_map<const void*, std::shared_ptr<void>> extensions_;
  TensorState* tensors_ = nullptr;
  std::atomic<uint32_t> interrupts_{0};
  StrObject* make_letter(char c);
  void relieve_pressure();
  void write_piece(Stream stream, std::string_view text);
  void raise_stop();
  void leave_if_told();
  void hurry();
  void make_spare_errors();
  std::string limit_message();
  uint32_t pressure_skips_ = 0, next_pressure_skips_ = 1;
  StopFlag own_stop_;
  StopFlag* stop_ = nullptr;
  bool shutting_down_ = false;
  bool sees_ends_ = false;
  Frame* frame_ = nullptr;
  FrameStack stack_{heap_};
  Local<ExceptionObject> returned_;
  Local<ExceptionObject> unwinding_;  // on its way to a handler or to a C++ caller
  // Raised when there is no memory for an exception.
  Local<ExceptionObject> spare_memory_error_, spare_limit_error_;
  uint32_t depth_ = 0;  // frames of the script
  uint32_t keeps_turn_ = 0;
  int64_t fuel_ = INT64_MAX;  // back-edges and calls left
  uint32_t next_type_version_ = 1;
  struct LookupCacheEntry {
    uint32_t version = 0;
    StrObject* name = nullptr;
    const Value* value = nullptr;
    Type* owner = nullptr;
  };
  static constexpr size_t kLookupCacheSize = 2048;
  std::unique_ptr<LookupCacheEntry[]> lookup_cache_;
  uint64_t hash_key_[2] = {0, 0};
};

inline Type* type_of(Vm& vm, const Value& v) {
  switch (v.tag()) {
    case Tag::Object: return v.object()->type;
    case Tag::Int: return vm.types().integer;
    case Tag::Float: return vm.types().real;
    case Tag::Bool: return vm.types().boolean;
    default: return vm.types().none;
  }
}

// Text -> code; raises SyntaxError, whose `report` attribute is the rendered diagnostics.
Local<CodeObject> compile_source(Vm& vm, std::string_view text, std::string_view file);

}  // namespace tsc::interp
