#pragma once
// What one captured region needs of the host: where its inputs come from and what was assumed about them,
// what its host instructions do, how the frames look at each exit. Pure data: made by Capture, read by the
// running side (region_call.h). A Recipe says how to build one script value at run time.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "interpreter/capture/abstract.h"
#include "jit/autodiff/gradient.h"
#include "jit/autodiff/tape.h"
#include "jit/executable.h"
#include "runtime/device/device.h"

namespace tsc::jit {
struct SplitBackward;
}

namespace tsc::interp {

enum class BreakReason : uint8_t {
#define BREAK(id, ...) id,
#include "interpreter/capture/breaks.def"
#undef BREAK
};
struct BreakRow {
  const char* id;
  const char* grade;
  const char* explanation;
  const char* hint;
};
const BreakRow& break_row(BreakReason reason);

// Where a value is found when a region is entered.
struct EntrySource {
  enum class Form : uint8_t {
    Register,   // of the entered frame: `index`
    Closure,    // cell `index` of the function of the entered frame
    Item,       // element `index` of the list or tuple at source `parent`; of a dict, the one of key `key`
    Length,     // how many items the list at source `parent` has
    Attribute,  // own attribute `name` of `holder`; without one, of the instance at source `parent`
    Content,    // of the cell `holder`
    Namespace,  // entry `name` of the dict `holder`
    Element,    // element `index` of the list `holder`
    Gradient,   // `.grad` of the tensor at source `parent`
    Part,    // number `index` of what the method, function, partial or cell at source `parent` is made of (outside.cpp)
    Copy,    // a copy of the iterator at source `parent`
    Next,    // the next item of the copy at source `parent`; Undefined behind the last one
    Pinned,  // `holder` itself, known by identity
  } form = Form::Register;
  uint32_t parent = 0;
  uint32_t index = 0;
  Value holder;
  Local<StrObject> name;
  Value key;  // Item of a dict

  // What must hold of the value.
  // clang-format off
  enum class Check : uint8_t {
    Nothing, Same, Alias, Int, Float, Tensor, Tuple, List, Dict, Instance, Text, Method, Function, Cell, Iterator,
    Set, Partial
  } check = Check::Nothing;
  // clang-format on
  Value expected;  // Same: identity, or an equal None/bool/str; Tuple, Instance, Iterator, Set, Partial, Tensor: its
                   // class; Function: its code
  uint64_t tensor_key = 0;  // Tensor
  static constexpr uint32_t kAnyLength = ~0u;
  uint32_t length = 0;  // Tuple, List, Dict, Set; Function: its defaults; Partial: its positional arguments; Alias: the
                        // source that holds the same object
  std::vector<Value> keys;  // Dict and Set, in order; Function: its module; Partial: names of its keyword arguments
  bool is_literal = false;  // Pinned: a tensor that capture made of numbers in the program
  bool unread = false;      // a tensor whose elements no instruction of the region reads: its memory may be anybody's
  // Whether it is found in the value at source `parent`.
  bool is_inside() const {
    return form == Form::Item || form == Form::Length || form == Form::Gradient || form == Form::Part ||
           form == Form::Copy || form == Form::Next || (form == Form::Attribute && !holder.is_object());
  }
};

// A tuple that is no more than its items and its class.
bool is_bare_tuple(const Value& v);
// A function that is no more than its code, defaults and closure.
bool is_plain_function(const FunctionObject& function);
// Whether the library defines it.
bool is_library(const CodeObject* code);
// The register of the parameter of a library function that says where its tensors lie: it is asked for where one is
// made, whether the function reads it again or not (tensor/placement.h). As many as there are parameters: it has none.
size_t device_parameter(const CodeObject* code);
// Whether the iterator takes its items from that object.
bool walks_over(const Value& iterator, const Object* container);

// dtype, rank and gradient class of a tensor in one word.
uint64_t tensor_key(const TensorObject& tensor);

struct Recipe {
  enum class Form : uint8_t {
    Undefined,
    Constant,  // `constant`
    Live,      // operand number `index` of the instruction
    Object,    // element `index` of Materials::objects
    Entry,     // the value that entry source `index` had in this run
  } form = Form::Undefined;
  Value constant;
  uint32_t index = 0;
};

struct ObjectRecipe {
  uint32_t number = 0;  // identity: built once per run
  VirtualKind kind = VirtualKind::Tuple;
  std::vector<Recipe> parts;
  // Tensor: parts[0] = its elements (Live), or the parent of a view; parts[1], where there is one, the writes of loops
  // (Live).
  bool requires_grad = false;
  uint32_t writes = 0;  // that the region has made to it
  bool is_data = false;
  bool is_inference = false;
  bool has_history = false;
  Recipe gradient;  // its .grad; Undefined: none
  // Where that condition (Live) holds it is that object.
  std::vector<std::pair<Recipe, Recipe>> same_as;
  bool is_view = false;
  Op view_op = Op::reshape;
  OpAttributes attributes;              // of the view op; its scalars are parts[1...]
  Local<Type> type;                     // Instance, Super, Tuple (null: tuple itself)
  std::vector<Local<StrObject>> names;  // fields of an Instance
  Local<CodeObject> code;               // Function: parts = defaults, keyword defaults, closure
  Local<ModuleObject> module;
  uint32_t counts[3] = {0, 0, 0};
  std::vector<VText::Part> text;  // Text: parts[i] belongs to the i-th formatted part
  VIterator::Form iterator = VIterator::Form::Items;
  int64_t position = 0;
};

// Recipes of one instruction, in dependency order, and the region values its operands carry.
struct Materials {
  std::vector<ObjectRecipe> objects;
  std::vector<ValueId> live;
};

// What is asked of the backward of a call.
struct BackwardRequest {
  std::vector<bool> present;                              // which outputs have a gradient
  bool add_up = false;                                    // the terms of each input
  std::vector<jit::TapeNode::Pass::Inspected> inspected;  // outputs whose whole gradients somebody looks at
  std::set<size_t> left_out;                              // inputs whose gradients nobody wants
  auto operator<=>(const BackwardRequest&) const = default;
};

// The forward part of a region as it was at an exit: what its backward is made from.
struct HistorySource {
  jit::Region forward;
  std::vector<ValueId> outputs, wrt, stops;
  std::vector<std::string> names;      // for each output: of the function or the op that made it,
  std::vector<std::string> all_names;  // and of those that may have, for ExitPlan::chosen_names
  std::map<BackwardRequest, std::shared_ptr<jit::SplitBackward>> made;  // the most recent ones
  std::unordered_map<ValueId, jit::ValueSet> computed_from;             // for values about which was asked
};

// One host instruction.
struct HostAction {
  enum class Form : uint8_t {
    Call,          // values[0](values[1...], with `keywords` naming the last ones)
    SetAttribute,  // values[0].name = values[1]
    SetItem,       // values[0][values[1]] = values[2]
    SetContent,    // content of cell values[0] = values[1]
    SetGlobal,     // namespace dict values[0][name] = values[1]
    SetGradient,   // values[0].grad = values[1]
    Advance,       // next(values[0]), which may have ended
  } form = Form::Call;
  bool is_store = false;  // a Call that stands for a store: like the other forms no statement of the host
  BreakReason reason = BreakReason::host_call;  // of any other Call
  std::vector<Recipe> values;
  std::vector<Local<StrObject>> keywords;
  Local<StrObject> name;
  Materials materials;
  bool has_result = false;
  bool is_effect = true;  // false: nobody sees whether it is called once or twice
  jit::ValueKind result = jit::ValueKind::Object;
  uint32_t origin = 0;
};

struct ExitFrame {
  Local<FunctionObject> function;  // null: the frame that was entered
  Recipe function_recipe;          // of functions made in the region
  uint32_t pc = 0;
  std::vector<std::pair<uint32_t, Recipe>> registers;
  bool discards_result = false;  // nobody takes the result
  Recipe constructed;            // of an __init__: the instance
};

struct ExitPlan {
  enum class Form : uint8_t {
    Return,
    Resume,
    Miss,  // the region does not fit the call
    Anew,  // a guess was wrong (program/guesses.h): the interpreter runs the call from the entry on
  } form = Form::Resume;
  BreakReason reason = BreakReason::instruction;
  std::string detail;
  std::vector<ExitFrame> frames;  // outermost (the entered frame) first
  Recipe result;                  // Return
  struct Branch {
    Local<CodeObject> code;
    uint32_t pc = 0;
    bool is_turn = false;  // that there is a first turn of a loop
  } branch;                // Anew: that was guessed
  Materials materials;
  Modes modes;  // there
  uint32_t origin = 0;
  // Gradient history of results that outlive the region: empty when there is none.
  std::vector<uint32_t> history_objects;  // object numbers, in the order of the node's outputs
  std::vector<uint32_t> history_live;     // where their values stand among the live ones
  std::vector<uint32_t> saved_live;       // where the saved values stand
  std::vector<uint32_t> saved_inputs;     // of those: the entry source that was written and then saved, or kMadeHere
  std::vector<uint32_t> wrt_sources;      // entry sources that get a gradient, and then
  std::vector<uint32_t> wrt_objects;      // leaves made in the region, by object number
  std::vector<HostAction> stores;         // what waits for the history; of `materials`
  std::shared_ptr<jit::SplitBackward> backward;   // for gradients of all outputs
  jit::ValueSet freed;                            // of its `saving`: what a backward() in the region has freed
  bool history_freed = false;                     // every backward of an output meets one of those: nothing is saved
  std::shared_ptr<struct HistorySource> history;  // to make the one for some of them
  // Outputs that branches and loops give by steps of several names, and which live value is the number of that.
  struct ChosenName {
    uint32_t output, number;
  };
  std::vector<ChosenName> chosen_names;
};

// A place of the source, through the inlined calls that led to it.
struct Origin {
  uint32_t caller = 0;  // 0: none
  Local<CodeObject> code;
  uint32_t pc = 0;
  // In the frame that was entered: around the place stand `with` blocks of gradient modes alone, all of the region.
  bool skips_handlers = false;
  Modes modes;  // once what is raised here has left those blocks
};

struct Watched {
  Value holder;
  Value key;  // interned str, int index, kKeysOnly, or Undefined for any change
};
// Of a dict: which keys it has, and in which order. A value that is replaced says nothing of them.
inline const Value kKeysOnly = Value::boolean(true);

struct RegionPlan {
  std::vector<EntrySource> sources;
  std::vector<std::pair<ValueId, uint32_t>> inputs;  // region input value, its source
  std::vector<HostAction> actions;
  std::vector<ExitPlan> exits;
  std::vector<Origin> origins;  // index 0 unused
  std::vector<Watched> watched;
  std::vector<std::string> facts;  // for explain
  std::vector<uint32_t> written_sources;
  std::vector<uint32_t> graded_sources;  // tensors whose .grad is set: each must be none of the other inputs
  std::vector<uint32_t> containers;      // sources of the objects that were taken apart, and those of them
  std::vector<uint32_t> distinct;        // that must be none of the others, nor watched
  std::vector<uint32_t> walked;  // iterators that the region takes items from: over no container that it changes
  std::vector<Value> foreign;    // objects known by identity that none of them may be
  std::vector<Value> read_anew;  // those of which something is read at every entry: no written one may be
  std::vector<std::pair<uint32_t, uint32_t>> different;  // sources that `is` found to be two objects
  Local<FunctionObject> function;  // of a closure: the region knows its cells by identity; null: they are entry sources
  Local<CodeObject> entry_code;
  uint32_t entry_pc = 0;
  Modes modes;
  std::optional<int> device_number;  // of the current device, where the region has asked for it
  bool is_for(const Modes& now) const {
    return modes == now && device_number.value_or(current_device().current_backend) == current_device().current_backend;
  }
  std::optional<Place> place;  // where its tensors lie, all of them; empty: it has none
  bool lacks_guess = false;    // ends at a branch whose way is expected, but what it has done would happen again
  bool run_again = false;      // has no effects: when it raises, the interpreter runs the frame from its start
  std::unordered_set<uint32_t> starts_again;  // origins in front of which it has none: when these raise, the same
  uint32_t repeats = 0;                       // calls that were not followed, but done as one before (call_record.h)
  uint32_t instructions = 0;                  // bytecode instructions captured
  uint32_t object_count = 0;                  // numbers of its objects are at most this
  uint32_t deepest = 0;                       // so many frames stand above the entered one where most of them do
};

}  // namespace tsc::interp
