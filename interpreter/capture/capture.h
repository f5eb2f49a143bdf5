#pragma once
// Capture: abstract interpretation of bytecode into a region. It starts at any pc of a frame, follows the
// program (calls inlined, control flow decided by what is known) and runs nothing: no script code, no
// stores. It ends when the entered frame returns, or at an exit where the interpreter must go on.
// Every read of host state goes through the functions of "loads" below, which record the assumption; there
// is no other way to reach a host value. A store to the host becomes a host instruction at its place in
// program order, and an overlay that later reads see.
#include <array>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "interpreter/capture/plan.h"
#include "interpreter/tensor/eager.h"
#include "jit/region/builder.h"
#include "jit/region/value_map.h"
#include "interpreter/vm/inspect.h"
#include "lang/bytecode/liveness.h"

namespace tsc::interp {

class CallRecorder;
enum class Question : uint8_t;
struct TensorForm;

// Ends the region in front of the current instruction.
struct BreakHere {
  BreakReason reason;
  std::string detail;
};

// The capture has to start again because a cell it took for constant is written by the region itself.
struct CaptureRestart {};

// Remembered between captures of one function: cells that changed and are read at every entry instead of
// being assumed, and places where virtual objects must not be created.
struct CaptureMemory {
  struct Cell {
    Object* holder;
    Object* name;  // interned str; null: cell content; or element index below
    int64_t index;
    bool operator==(const Cell&) const = default;
  };
  std::vector<Cell> dynamic;
  // Instructions at which the region is left: one ran script code that had to leave, or made an iterator
  // that outlived the region.
  struct Refusal {
    const CodeObject* code;
    uint32_t pc;
    BreakReason reason;
    std::string detail;
  };
  std::vector<Refusal> refused;
  const Refusal* refusal(const CodeObject* code, uint32_t pc) const;
  // Places (source_place) of lists and dicts whose items something reads; of objects that must be taken by
  // identity; of instances that differ from call to call and are taken apart; of strings that do and are
  // only carried along.
  std::unordered_set<std::string> read, whole, apart, text;
  std::unordered_set<std::string> shared;  // places of tensors whose memory is another one's too: not written in a region
  // Functions of which no call is repeated (call_record.h): one was, and came out differently; or of none.
  std::unordered_set<const Object*> followed;
  bool follows_calls = false;
  bool specialises = false;  // sizes and ints are facts
  bool only_call = false;    // the region ends behind its first instruction, a call
  bool has_effects = false;  // an operation that raises inside try or with cannot be run a second time
  std::vector<Value> keep_alive;
  bool is_dynamic(const Cell& cell) const;
  void make_dynamic(const Cell& cell, const Value& holder);
};

// Names an entry source across captures.
std::string source_place(const std::vector<EntrySource>& sources, const EntrySource& source);

// An object that holds data: when a call brings another one, it is taken apart.
bool holds_data(Vm& vm, const Value& v);

// A call whose result nobody takes; one whose result goes to the instruction that is running.
inline constexpr uint16_t kNoDestination = 0xFFFF;
inline constexpr uint16_t kNestedDestination = 0xFFFE;

// Of the calls of one function with arguments of one form: see call_record.h.
struct SeenCall {
  std::vector<std::shared_ptr<const struct CallRecord>> records;
  uint32_t steps = 0;   // that the last one took
  uint32_t misses = 0;  // calls that no record fitted
  bool spoiled = false;
};

struct AFrame {
  Av function;                    // constant function or VFunction; Undefined for the entered frame
  Local<CodeObject> code;
  Local<ModuleObject> module;
  Local<FunctionObject> host_function;  // of a constant function
  std::vector<Av> closure;
  std::vector<Av> registers;
  uint32_t pc = 0;
  uint16_t destination = 0;       // register of the caller that gets the result
  bool discard_result = false;    // __init__ (the instance is in `constructed`) or __setitem__
  Av constructed;
  uint32_t call_origin = 0;       // origin of the caller's call instruction
  VIterator* generator = nullptr; // whose body this is
  SeenCall* seen = nullptr;       // of the call; null: it is not to be repeated
  uint32_t begun = 0;             // when, in steps of the capture
  bool recorded = false;
};

// The builder asks capture when two sizes must be equal; capture records an entry condition.
class Capture;
class CaptureBuilder final : public jit::RegionBuilder {
 public:
  CaptureBuilder(jit::Region& region, Capture& capture)
      : RegionBuilder(region), capture_(capture) {}
  // What is asked of it and made with it is recorded (recorded.cpp).
  ValueId op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
             const OpAttributes& attributes, int result = 0) override;
  ValueId scalar(jit::ScalarOp op, std::span<const ValueId> operands) override;
  std::optional<int64_t> known_int(ValueId scalar) const override;
  std::optional<Scalar> known(ValueId scalar) const;
  bool known_equal(ValueId a, ValueId b) const;
  void assume_equal(ValueId a, ValueId b);
  bool require_equal(ValueId a, ValueId b) override;
  ValueId read(ValueId tensor, jit::ValueKind kind);

 private:
  uint32_t find_origin() override;
  Capture& capture_;
};

struct CaptureResult {
  jit::Region region;
  RegionPlan plan;
  bool empty = false;  // nothing could be captured at this pc
  std::vector<std::string> violations;  // of sizes that torch._dynamo.mark_dynamic marked
};

class Capture {
 public:
  Capture(Vm& vm, const Frame& frame, CaptureMemory& memory);
  ~Capture();
  // Raises CaptureRestart after changing `memory`; the caller constructs a new Capture.
  CaptureResult run();

  struct CallArguments {
    std::vector<Av> positional;
    std::vector<std::pair<Local<StrObject>, Av>> keywords;
  };

  // ---- used by the instruction and native handlers (step_*.cpp, natives_*.cpp) ----
  Vm& vm() { return vm_; }
  CaptureBuilder& builder() { return builder_; }
  AFrame& frame() { return frames_.back(); }
  Modes modes;
  bool break_everywhere = false;  // every statement leaves its region (a test world)
  [[noreturn]] void break_here(BreakReason reason, std::string detail = {});

  // Registers of the current frame.
  const Av& read(uint16_t reg);
  void write(uint16_t reg, Av value);

  // Loads: the only ways to host state.
  Av load_value(const Value& v, EntrySource source);
  void refuse_end(const Value& v);
  void read_anew(const Value& holder);
  Av load_attribute_cell(const Value& holder, StrObject* name, const Value& current);
  Av load_global(StrObject* name);
  Av load_cell(const Av& cell);
  Av load_element(ListObject* list, int64_t index);
  Av load_dict_entry(DictObject* dict, const Value& key);
  Av load_gradient(VTensor& tensor);
  std::shared_ptr<VTensor> share_tensor(const Av& av);  // breaks when av is no tensor
  void assume_unchanged(Object* holder, const Value& key);
  void assume_length(const Value& container);
  // Lists and dicts from outside (containers.cpp).
  [[noreturn]] void read_from_now_on(const Virtual& object);
  void keep_whole(Object* holder);
  void keep_apart_from(const Value& holder);
  void write_through(const Av& container, const char* method, std::vector<Av> arguments);
  // In front of every change of a virtual object. One that a host instruction has built exists outside already:
  // the interpreter changes it.
  void will_change(const Virtual& object) {
    if (object.built) break_here(BreakReason::escape, "an object is changed after it was stored outside");
  }

  // Attributes, items, calls on abstract values. An attribute that is a property comes back Undefined,
  // with its getter in pending_getter_; the instruction then calls it.
  Av get_attribute(const Av& object, StrObject* name);
  void set_attribute(const Av& object, StrObject* name, const Av& value);
  // The function and self of object.name(...) without making a bound method; self Undefined: none.
  std::pair<Av, Av> load_method(const Av& object, StrObject* name);
  std::pair<Av, CallArguments> take_pending_getter() { return std::move(pending_getter_); }
  Type* type_of_av(const Av& av);
  const Value* class_attribute(Type* type, StrObject* name, Type** owner);
  void set_plain_attribute(const Av& object, StrObject* name, const Av& value);
  void set_field(const Av& object, StrObject* name, const Av& value);
  // An own attribute; null: there is none.
  const Av* find_field(VInstance& instance, StrObject* name);
  Av get_item(const Av& container, const Av& key);
  bool contains(const Av& container, const Av& item);
  Av length_of(const Av& av);
  bool has_identity_hash(const Av& av);
  bool is_dict(const Av& av) const;
  // The method of that name of the script's class that the value is of, and the result of calling it with the value and
  // others; null and nothing: the class has none, or a native one.
  const Value* own_method(const Av& av, const char* name);
  std::optional<Av> call_own(const char* name, std::vector<Av> arguments);
  // Breaks where there is such a method.
  void refuse_override(const Av& av, std::initializer_list<const char*> names);
  std::vector<Av> dict_keys(const Av& dict);
  Value known_key(const Av& key);
  Av dict_find(const Av& dict, const Av& key);  // Undefined: absent
  std::shared_ptr<VSlice> slice_of(const Av& key);  // null: no slice
  void set_item(const Av& container, const Av& key, const Av& value);
  void delete_item(const Av& container, const Av& key);
  // Starts a call whose result goes to `destination`; returns at once for natives (the result is written),
  // pushes an abstract frame for script functions.
  void call(const Av& callee, CallArguments arguments, uint16_t destination,
            bool discard_result = false);
  Av call_native(NativeFunction* function, CallArguments& arguments, uint16_t destination);
  // Of a symbolic form: it does not know these arguments.
  Av decline() {
    declined_ = true;
    return Av();
  }
  // Runs a call to its end and gives the result (nested.cpp).
  Av call_now(const Av& callee, CallArguments arguments);
  // An iterator whose items are made when they are asked for.
  std::shared_ptr<VIterator> make_lazy(VIterator::Form form);
  void yield_value(uint16_t sent, Av value);

  // Calls made behind the scenes (script_calls.cpp).
  void call_library(const char* name, std::vector<Av> arguments, uint16_t destination);
  bool is_script_instance(const Av& av) const;
  Av binary_dunder(BinaryOp op, bool in_place, const Av& left, const Av& right);
  Av call_pending_getter();
  bool has_attribute(const Av& object, StrObject* name);
  Av class_cell();
  Av first_argument();
  void forbid_reads(const Value& holder);
  void store_cell(const Av& cell, const Av& value);
  void store_global(StrObject* name, const Av& value);
  ValueId fill_value(const Av& av, size_t position, Op op);
  // Leaves where the interpreter refuses the number, or may.
  void check_written(const Av& number, DType dtype);
  void spoil_record();  // what goes on now cannot be repeated (call_record.h)
  TensorForm form_of(const VTensor& tensor) const;
  size_t frame_depth() const { return frames_.size() - 1; }
  AFrame& frame_at(size_t depth) { return frames_[depth]; }

  // Numbers.
  Av binary(BinaryOp op, const Av& left, const Av& right);
  Av operate(BinaryOp op, const Av& left, const Av& right);
  Av compare(CompareOp op, const Av& left, const Av& right);
  Av unary(UnaryOp op, const Av& operand);
  Av scalar(jit::ScalarOp op, std::vector<Av> operands);
  ValueId number_id(const Av& av);     // constant or register as a region scalar
  ValueId int_id(const Av& av);        // the same for an int (bool, or a 0-d integer tensor breaks)
  // The value of a branch or loop bound: known, or assumed through an entry condition, or a break.
  bool truth(const Av& av);
  int64_t concrete_int(const Av& av);
  bool is_identical(const Av& a, const Av& b);
  bool is_same_number(ValueId a, ValueId b);  // one value of the region
  Av scalar_av(ValueId id);
  std::vector<ValueId> matched(std::span<const Av> operands, bool force_float);
  Av binary_sequence(BinaryOp op, const Av& left, const Av& right);
  Av as_container(const Av& av);
  bool is_operand(const Av& av) const;
  bool truth_of_instance(Type* type);
  std::optional<bool> own_truth(const Av& av);  // by the methods of a script's class
  bool truth_of_constant(const Value& v);
  void assume_truth(const Av& number, bool now);
  bool is_plain_data(const Value& v) const;
  bool is_sequence_of(const Av& av, Kind kind) const;  // virtual or constant list / tuple
  bool is_sequence(const Av& av) const {
    return is_sequence_of(av, Kind::List) || is_sequence_of(av, Kind::Tuple);
  }

  // Tensors.
  VTensor* tensor_of(const Av& av);
  ValueId current(VTensor& tensor);    // newest version, views replayed
  static ValueId gradient_place(const VTensor& tensor);
  void begin_gradient(VTensor& tensor);
  Av emit(Op op, std::span<const Av> tensors, std::span<const ValueId> scalars,
          const OpAttributes& attributes, int result = 0);
  // The function that the tensor's last operation ends has this name among the steps of the gradient history.
  void name_step(const Av& av, std::string_view name) { step_names_[share_tensor(av)->id] = std::string(name); }
  std::pair<Av, Av> emit_pair(Op op, const Av& tensor, const OpAttributes& attributes);
  Av elementwise(Op op, std::span<const Av> operands);  // Undefined when an operand fits not
  void assign(const std::shared_ptr<VTensor>& target, const Av& value, WriteHistory history = WriteHistory::Take);
  void check_writable(const VTensor& root);
  bool may_be_saved(const VTensor& root) const;
  void take_views_anew(VTensor& root);
  void add_written(uint32_t source);
  bool reshape_is_view(const jit::ValueList& from, std::span<const ValueId> to);
  void remember_history(std::span<const Av> tensors, ValueId result);
  void forget_history(ValueId loss);
  void check_in_place(VTensor& target, const Av& result);
  void backward(const Av& loss, const Av& gradient, bool retain_graph);
  void check_accumulates(VTensor& leaf);
  void accumulate(const std::shared_ptr<VTensor>& leaf, ValueId gradient);
  Av read_item(VTensor& tensor);
  Av new_tensor(ValueId id, bool requires_grad);
  Av filled(const Av& number, DType dtype);
  Av tensor_constant(const Tensor& tensor);  // a new tensor with these elements at each run
  void set_gradient(const std::shared_ptr<VTensor>& tensor, const Av& value);
  // In front of what may raise: whoever catches the exception sees what was written so far. Inside try or with, where
  // a raise must find its handler, an effect breaks; an operation may stay as long as the region has no effect,
  // since the interpreter can then run it all again. A `with torch.no_grad()` of the region's own does not count.
  bool is_protected();
  // What the `with` block of a gradient mode that the region entered puts back; null for any other block.
  const Av* mode_of_region(const AFrame& frame, const lang::ExceptionEntry& entry);
  void set_grad_enabled(bool enabled);
  bool grad_enabled_after_raise();
  void effect_may_raise();
  void may_need_big_int();
  bool text_is_script_code(const Av& av, int depth = 0);
  void operation_may_raise();
  void reduction_may_raise(ValueId tensor, const OpAttributes& attributes);
  void scalar_may_raise(jit::ScalarOp op, std::span<const ValueId> operands);
  bool cannot_raise(jit::ScalarOp op, std::span<const ValueId> operands);
  bool may_raise(Op op, std::span<const ValueId> tensors) const;
  // size_checks.cpp
  void check_sizes(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes);
  bool assume_sizes(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes);
  bool assume_inside(ValueId size, std::span<const ValueId> slice);
  bool assume_within(ValueId number, int64_t most);
  void check_overflow(jit::ScalarOp op, std::span<const ValueId> operands);
  bool assume_windows(Op op, std::span<const ValueId> scalars);
  bool assume_cropped(ValueId size, ValueId low, ValueId high);
  std::optional<bool> keeps_order(jit::ValueList sizes, const Sizes& order);
  bool assume_index_fits(ValueId tensor, ValueId index, int64_t axis);
  bool sizes_fit(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes);
  bool assume_nonnegative(ValueId size);
  bool assume_below(ValueId low, ValueId high);
  bool is_never_negative(ValueId number) const;
  bool stays_nonnegative(const jit::Instruction& scalar) const;
  ValueId combined(jit::ScalarOp op, ValueId a, ValueId b);
  Av shape_of(VTensor& tensor);
  Av int_av(ValueId id);
  std::vector<ValueId> broadcast_sizes(std::span<const Av> operands);
  void broadcast_together(std::vector<Av>& operands);
  Av broadcast_to(const Av& av, const std::vector<ValueId>& sizes);
  Av expand(const Av& av, const std::vector<ValueId>& sizes);
  Av cast_to(const Av& tensor, DType dtype);  // the tensor itself where it has that dtype
  // A contiguous copy that may share memory with the tensor if that is contiguous after all.
  Av copied(const Av& av);
  std::optional<bool> is_row_major(const VTensor& tensor);
  bool is_row_major_now(const VTensor& tensor);
  // A reshape of `of` that shares its memory, whatever the layout.
  bool is_reshaped_view(const VTensor& view, const VTensor& of);
  void assume_size_one(ValueId size, ValueId other);
  std::pair<ValueId, ValueId> rng_offset();  // seed, offset

  // Virtual objects.
  template <class T>
  std::shared_ptr<T> make() {
    auto object = std::make_shared<T>();
    object->number = ++objects_made_;
    return object;
  }
  Av make_tuple_av(std::vector<Av> items);
  // Items of `source`: of a torch.Size they are one again.
  Av make_tuple_like(const Av& source, std::vector<Av> items);
  Av make_list_av(std::vector<Av> items);
  Av made_list(std::span<const Value> items);
  // The items of a list, tuple, range, dict keys, iterator...; breaks when they are not known.
  std::vector<Av> items_of(const Av& iterable);
  Av iterate(const Av& iterable);
  bool next(VIterator& iterator, Av* out);
  void begin(VIterator& iterator, const Av& av, bool reverse = false);
  bool next_live(VIterator& iterator, Av* out);
  bool next_item(VIterator& iterator, Av* out);
  Av text_of_value(const Av& av, int conversion, std::string spec);
  void check_format(const Av& av, const std::string& spec);

  // Host instructions.
  // In front of what runs host code or may raise: whoever looks then must find all that was stored.
  void stores_must_not_wait() {
    if (!waiting_stores_.empty()) break_here(BreakReason::history, "a tensor with gradient history was stored");
  }
  void host_action(HostAction action, std::vector<Av> values);
  Av host_action_with_result(HostAction action, std::vector<Av> values);
  void flush_writes();  // memory of written inputs is brought up to date

  // Conditions on entry values; `hint` true now. False when the value is not derived from entry values.
  bool assume_at_entry(ValueId condition);
  // Whether both are sizes of tensors that come in.
  bool are_input_sizes(ValueId a, ValueId b) const;
  // The value a scalar has in this call, when it follows from entry values alone.
  std::optional<Scalar> hint(ValueId id);

  // The innermost frame returns: to its caller, or out of the region.
  void leave_with_return(const Av& result);

 private:
  friend class BreakFinder;
  friend class CallRecorder;
  friend class StandIns;
  friend class CaptureBuilder;
  friend class ExitBuilder;
  friend class Repetition;
  friend class RecipeWriter;
  struct OverlayKey {
    Object* holder;
    Object* name;
    int64_t index;
    bool operator==(const OverlayKey&) const = default;
  };
  // Calls that are followed once (call_record.h). `run` is part of the record as a whole, which `note` adds it to.
  template <class Run, class Note>
  auto recorded(Run&& run, Note&& note);
  SeenCall* seen_call(const FunctionObject* function, const CallArguments& arguments);
  bool repeat_call(SeenCall& seen, const FunctionObject* function, const CallArguments& arguments, uint16_t destination);
  std::unique_ptr<CallRecorder> recorder_for(const SeenCall& seen, FunctionObject* function, const CallArguments& arguments);
  void begin_call(SeenCall& seen, std::unique_ptr<CallRecorder> recorder);
  void end_call(const AFrame& finished, const Av& result);
  bool note_read(const Value& holder, const Value& key, Question question);
  TensorForm form_of_host(const Value& host) const;
  bool has_stored(const Value& holder, const Value& key) const;
  bool is_dynamic(const Value& holder, const Value& key) const;
  bool has_room_for(size_t instructions, uint32_t steps) const;
  // What the functions above do that are recorded.
  Av emit_op(Op op, std::span<const Av> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes, int result);
  std::pair<Av, Av> emit_op_pair(Op op, const Av& tensor, const OpAttributes& attributes);
  Av emit_elementwise(Op op, std::span<const Av> operands);
  Av emit_scalar(jit::ScalarOp op, std::vector<Av> operands);
  void write_elements(const std::shared_ptr<VTensor>& target, const Av& value, WriteHistory history);
  Av find_gradient(VTensor& tensor);
  bool are_one_object(const Av& a, const Av& b);
  void replace_gradient(const std::shared_ptr<VTensor>& tensor, const Av& value);
  Av find_attribute(const Av& object, StrObject* name);
  Av find_attribute_cell(const Value& holder, StrObject* name, const Value& current);
  Av find_cell(const Av& cell);
  Av find_element(ListObject* list, int64_t index);
  Av find_dict_entry(DictObject* dict, const Value& key);
  bool finds_attribute(const Av& object, StrObject* name);
  void watch(Object* holder, const Value& key);
  bool condition_holds(ValueId condition);
  bool is_nonnegative_at_entry(ValueId size);
  std::optional<Scalar> find_hint(ValueId id);
  Av find_int(ValueId id);
  Av find_number(ValueId id);
  void write_back_all();
  void set_mode(bool grad_enabled);
  void may_raise_here();
  std::pair<ValueId, ValueId> advance_rng();
  Av bind(const Value& attribute, const Av& self, bool through_class);
  Av tensor_attribute(const Av& object, VTensor& tensor, StrObject* name);
  Av read_class_attribute(const Value& attribute, const Av& self);
  Av host_attribute(const Av& object, StrObject* name);
  Av super_attribute(VSuper& super, StrObject* name);
  void store_host_attribute(const Av& object, StrObject* name, const Av& value);
  void set_tensor_attribute(const Av& object, VTensor& tensor, StrObject* name, const Av& value);
  std::vector<Av> range_items(const Av& start, const Av& stop, const Av& step);
  std::vector<Av> unbind(const Av& av, VTensor& tensor);
  Av slice_items(const Av& container, const VSlice& slice);
  size_t checked_index(const Av& key, size_t size);
  void store_dict(const Av& container, const Av& key, const Av& value);
  void written_by_region(const OverlayKey& place, const Value& holder);
  Av snapshot(const Av& av, int depth = 0);
  void enter_frame(const Frame& frame);
  void run_to_the_end();
  void step();
  bool begins_statement(const AFrame& frame) const;
  void leave_with_break(const BreakHere& reason);
  void leave_or_refuse(const BreakHere& reason);
  [[noreturn]] void refuse(CodeObject* code, uint32_t pc, const BreakHere& reason);
  [[noreturn]] void refuse_making(const VIterator& iterator);
  void run_above(size_t base, const std::function<void()>& start);
  bool resume(VIterator& generator, Av* out);
  bool next_mapped(VIterator& iterator, Av* out);
  bool next_filtered(VIterator& iterator, Av* out);
  Av try_operator(const Av& self, const char* name, const Av& other);
  Av compare_dunder(CompareOp op, const Av& left, const Av& right);
  Av try_compare(const Av& self, CompareOp op, const Av& other);
  void return_from(const Av& result);
  void construct(Type* type, CallArguments& arguments, uint16_t destination);
  Av make_partial(Type* type, CallArguments& arguments);
  void call_partial(const Av& partial, CallArguments arguments, uint16_t destination, bool discard_result);
  bool is_tuple_class(Type* type);
  void call_object(const Av& callee, CallArguments arguments, uint16_t destination, bool discard_result);
  void push_call(const Av& function, AFrame frame, CallArguments& arguments, uint16_t destination,
                 bool discard_result);
  void bind_arguments(const lang::CodeObject& code, AFrame& frame, CallArguments& arguments,
                      const std::vector<Av>& defaults, const std::vector<Av>& keyword_defaults,
                      const std::string& name);
  Av add_input(uint32_t source, EntrySource::Check check, const Value& now);
  Av tensor_input(TensorObject* tensor, uint32_t source);
  // size_marks.cpp: what the program says of sizes.
  void take_size_marks(TensorObject* tensor, ValueId id);
  std::vector<std::string> broken_size_marks() const;
  Av structural_input(const Value& v, uint32_t source);
  bool comes_apart(const Value& v, uint32_t source) const;
  Av container_input(const Value& v, uint32_t source);
  // outside.cpp
  bool is_tuple_by_items(const Value& v);
  Av part_of(uint32_t parent, uint32_t index, const Value& now);
  void know_by_structure(const Value& v, uint32_t source, const VirtualRef& object);
  Av method_input(const Value& v, uint32_t source);
  Av function_input(const Value& v, uint32_t source);
  Av cell_input(const Value& v, uint32_t source);
  Av iterator_input(const Value& v, uint32_t source);
  Av set_input(const Value& v, uint32_t source);
  Av partial_input(const Value& v, uint32_t source);
  bool next_from_outside(VIterator& iterator, Av* out);
  void check_walks();
  Av text_input(uint32_t source);
  Av instance_input(const Value& v, uint32_t source);
  void read_container(const Value& v, uint32_t source, Virtual& object);
  uint32_t add_source(EntrySource source);
  uint32_t current_origin() { return origin_at(frames_.back().pc); }
  uint32_t origin_at(uint32_t pc);  // of the innermost frame
  bool all_freed(const std::vector<ValueId>& outputs, const std::vector<ValueId>& wrt,
                 const jit::ValueSet& stops) const;
  void split_history(ExitPlan& plan, class RecipeWriter& writer);
  void check_memory();
  void check_at_entry();
  CaptureResult finish();
  void note_fact(std::string text);

  Vm& vm_;
  TensorState& tensors_;
  CaptureMemory& memory_;
  jit::Region region_;
  CaptureBuilder builder_;
  RegionPlan plan_;
  std::vector<AFrame> frames_;
  std::vector<bool> held_at_entry_;  // registers of the entered frame with objects that may die with them
  std::pair<Av, CallArguments> pending_getter_;
  uint16_t call_destination_ = 0;
  bool declined_ = false;  // a symbolic form has just said so
  std::vector<Value> forbidden_;
  std::vector<const void*> inside_texts_;  // sequences whose items are taken for a text
  uint32_t objects_made_ = 0;
  bool done_ = false;
  uint32_t nested_ = 0;    // how many instructions wait for script code that they run
  Av nested_result_;
  bool advanced_ = false;  // the instruction took items from an iterator
  uint32_t steps_ = 0;
  std::unordered_map<uint64_t, SeenCall> seen_calls_;
  std::unique_ptr<CallRecorder> recorder_;  // of the call that is recorded
  uint32_t raises_ = 0;                     // places at which the region may raise, or brings memory up to date
  uint32_t recorded_depth_ = 0;             // inside what is recorded as a whole

  struct OverlayHash {
    size_t operator()(const OverlayKey& k) const {
      return hash_mix(reinterpret_cast<uint64_t>(k.holder),
                      reinterpret_cast<uint64_t>(k.name) + static_cast<uint64_t>(k.index) * 31);
    }
  };
  std::unordered_map<OverlayKey, Av, OverlayHash> overlay_;   // stores of this region
  std::unordered_map<OverlayKey, Av, OverlayHash> loaded_;    // what was read, once
  std::unordered_map<Object*, Av> tensor_objects_;            // host tensors already inputs
  std::unordered_map<Object*, uint32_t> texts_;               // texts of which only what they say is a fact: their sources
  std::unordered_map<Object*, Av> containers_;                // host objects taken apart
  std::unordered_set<Object*> constants_;                     // host objects reached by identity
  std::unordered_map<const Virtual*, std::string> container_places_;
  std::unordered_map<OverlayKey, bool, OverlayHash> constant_cells_;
  std::array<Watched, 512> last_watched_;                     // of plan_.watched, by their hash
  std::vector<std::shared_ptr<VTensor>> inputs_;              // tensor inputs, in order
  std::vector<std::shared_ptr<VTensor>> dirty_;               // inputs whose memory is out of date
  std::vector<std::shared_ptr<VTensor>> grad_dirty_;          // host tensors whose .grad is out of date
  std::vector<std::pair<std::shared_ptr<VTensor>, ValueId>> in_history_;  // and the result that a recorded op made of it
  jit::ValueSet freed_;  // first results of the ops whose saved values a backward() in the region freed
  // Stores of what has a gradient history, which is made when the region is left, and all stores behind one.
  struct WaitingStore {
    HostAction action;
    std::vector<Av> values;
  };
  std::vector<WaitingStore> waiting_stores_;
  std::vector<std::shared_ptr<VTensor>> leaves_;              // leaves made by requires_grad_ here
  jit::ValueSet conditions_;                                  // Bool values that hold at every entry
  jit::ValueSet input_sizes_;                                 // sizes of tensor inputs
  jit::ValueMap<Scalar> hints_;                               // of scalars that follow from entry values
  size_t hints_seen_ = 0;
  jit::ValueSet nonnegative_;                                 // sizes, and scalars made of them that stay so
  // Sizes that must not be assumed to be one number, and what they are called.
  std::vector<std::pair<ValueId, std::string>> marked_sizes_;
  std::vector<std::string> violations_;
  std::vector<ValueId> no_grad_values_;                       // results of ops under no_grad
  std::unordered_map<ValueId, std::string> step_names_;
  bool set_grad_enabled_ = true;  // as the program has set it; `modes` may differ inside one operation
  uint32_t step_pc_ = 0;      // of the instruction that is captured
  uint32_t origin_pc_ = ~0u;  // of the last origin
  uint32_t origin_ = 0;
  size_t origin_depth_ = 0;
};

// Of a function marked by torch.compiler.disable: why; null of any other.
const std::string* refusal_of(const FunctionObject* function);

// The symbolic form of a native function (native_table.h).
using NativeHandler = Av (*)(Capture& capture, Capture::CallArguments& arguments);

using StepHandler = void (*)(Capture& capture, const lang::Instruction& instruction);
StepHandler step_handler(lang::Op op);

}  // namespace tsc::interp
