#pragma once
// Abstract values: what capture knows of a script value without running anything. A value is a constant of
// the host (by identity), a scalar register of the region, a tensor of the region, or a virtual object
// that exists only while capturing and is built at an exit if it is still alive there.
// Knows script values and region value ids. Must not know instructions or frames of the Vm.
#include <bit>
#include <map>
#include <memory>
#include <vector>

#include "interpreter/tensor/tensor_object.h"
#include "jit/region/region.h"

namespace tsc::interp {

using jit::kNoValue;
using jit::ValueId;

struct Virtual;
using VirtualRef = std::shared_ptr<Virtual>;

struct Av {
  enum class Kind : uint8_t {
    Undefined,  // unbound register
    Constant,   // `value`
    Number,     // scalar register `id` (Int, Float or Bool by scalar_kind); `value` = its value now
                // (Undefined when only running can tell)
    Opaque,     // an object that only the running region will hold: object register `id`
    Virtual,    // `object`
  } kind = Kind::Undefined;
  jit::ValueKind scalar_kind = jit::ValueKind::Int;
  ValueId id = kNoValue;
  Value value;
  VirtualRef object;

  static Av constant(Value v) {
    Av av;
    av.kind = v.is_undefined() ? Kind::Undefined : Kind::Constant;
    av.value = std::move(v);
    return av;
  }
  static Av none() { return constant(Value::none()); }
  static Av boolean(bool b) { return constant(Value::boolean(b)); }
  static Av integer(int64_t i) { return constant(Value::integer(i)); }
  static Av number(jit::ValueKind kind, ValueId id, Value now) {
    Av av;
    av.kind = Kind::Number;
    av.scalar_kind = kind;
    av.id = id;
    av.value = std::move(now);
    return av;
  }
  static Av opaque(ValueId id) {
    Av av;
    av.kind = Kind::Opaque;
    av.id = id;
    return av;
  }
  static Av of(VirtualRef object) {
    Av av;
    av.kind = Kind::Virtual;
    av.object = std::move(object);
    return av;
  }
  bool is_undefined() const { return kind == Kind::Undefined; }
  bool is_constant() const { return kind == Kind::Constant; }
  // A number, known or not.
  bool holds_number() const {
    return is_number() || (is_constant() && (value.is_int() || value.is_float() || value.is_bool()));
  }
  // Of one that holds a number.
  jit::ValueKind number_kind() const {
    if (is_number()) return scalar_kind;
    return value.is_bool() ? jit::ValueKind::Bool : value.is_int() ? jit::ValueKind::Int : jit::ValueKind::Float;
  }
  bool is_none() const { return is_constant() && value.is_none(); }
  bool is_number() const { return kind == Kind::Number; }
  // An int known now and for ever (a constant; bool counts as int).
  bool is_constant_int() const { return is_constant() && (value.is_int() || value.is_bool()); }
};

// What kind of thing a virtual object is; one struct each below.
// clang-format off
enum class VirtualKind : uint8_t {
  Tensor, Tuple, List, Set, Dict, DictView, Instance, Function, Cell, BoundMethod, Iterator, Range, Slice, Super, Text,
  Partial, Exception
};
// clang-format on

struct Virtual : std::enable_shared_from_this<Virtual> {
  static constexpr uint32_t kMadeHere = ~0u;
  VirtualKind kind;
  uint32_t number = 0;          // identity within one capture; the running region remembers built objects by it
  uint32_t source = kMadeHere;  // of a tuple, list, dict or instance that came in: its entry source
  // Nothing has looked at its items, which are no entry values; an instance is only handed on.
  bool unread = false;
  bool built = false;  // made here: a recipe names it, so that a script object of it is made (see Effects::will_change)
  explicit Virtual(VirtualKind k) : kind(k) {}
  virtual ~Virtual() = default;
};

// One value, as far as can be told: the same number, constant or virtual object.
inline bool is_same(const Av& a, const Av& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Av::Kind::Undefined: return true;
    case Av::Kind::Constant:
      if (a.value.is_float() && b.value.is_float())
        return std::bit_cast<int64_t>(a.value.as_float()) == std::bit_cast<int64_t>(b.value.as_float());
      return a.value.is(b.value);
    case Av::Kind::Number:
    case Av::Kind::Opaque: return a.id == b.id;
    case Av::Kind::Virtual: return a.object == b.object;
  }
  return false;
}

inline bool is_virtual(const Av& av, VirtualKind kind) {
  return av.kind == Av::Kind::Virtual && av.object->kind == kind;
}

// Thrown where more of an unread object is needed than its class; Capture::run starts again and reads it, or takes it
// by identity.
struct UnreadContainer {
  VirtualRef object;
};

template <class T>
T* as(const Av& av) {
  if (!is_virtual(av, T::kKind)) return nullptr;
  if (av.object->unread) throw UnreadContainer{av.object};
  return static_cast<T*>(av.object.get());
}

// How a tensor object is a view of another one: replayed on the newest version of its parent.
struct VirtualView {
  std::shared_ptr<struct VTensor> parent;
  Op op;
  std::vector<ValueId> scalars;
  OpAttributes attributes;
  uint32_t root_version = 0;  // of the tensor at the end of the chain when `id` was computed
};

struct VTensor : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Tensor;
  VTensor() : Virtual(kKind) {}
  ValueId id = kNoValue;                    // the newest version of its elements
  uint32_t version = 0;                     // counts what makes other elements of it
  uint32_t writes = 0, writes_outside = 0;  // of the program; those that its memory outside has seen
  ValueId writes_of_loops = kNoValue;       // and those of rolled loops beside them, which memory outside has not seen
  bool requires_grad = false;               // of leaves and of results of recorded ops
  bool hooked = false;                      // script functions see its gradient
  bool leaf = true;
  bool is_data = false;       // what `.data` gave (TensorObject::is_data)
  bool is_inference = false;  // made in inference mode: outside of it, its operations are the interpreter's
  bool in_history = false;    // a recorded operation of this region read or made it
  // Needs a gradient, and was written without one: its elements may be those of another tensor, whose gradients are not
  // these. Tensors::current gives it a place of its own.
  bool unrecorded = false;
  Local<CodeObject> copied_in;  // a contiguous copy that may be the tensor itself: the instruction that made it
  uint32_t copied_at = 0;
  bool contiguous = true;  // its layout is row-major (of inputs: checked at entry)
  // Reshapes of it that may or may not share its memory: while one is alive it must not be written.
  std::vector<std::weak_ptr<VTensor>> ambiguous;
  bool has_ambiguous() const {
    for (const std::weak_ptr<VTensor>& view : ambiguous)
      if (!view.expired()) return true;
    return false;
  }
  ValueId input = kNoValue;  // the region input this object came in as; kNoValue: made here
  bool dirty = false;        // its memory is behind `id`: Writes lists it
  Value host;                // the script tensor behind an input, as it was while capturing
  // What the ways of branches have given (program/forks.h): that tensor, where the condition holds; where none does, a
  // tensor of its own.
  struct SameAs {
    ValueId condition;
    VirtualRef tensor;
  };
  std::vector<SameAs> same_as;
  bool unnamed = false;  // it may be one of those, and nobody can say which
  std::unique_ptr<VirtualView> view;
  std::vector<std::weak_ptr<VTensor>> views;  // of this tensor and of its views, oldest first
  bool has_grad_overlay = false;
  Av grad;  // valid if has_grad_overlay

  void come_in(TensorObject& tensor, ValueId as) {
    id = input = as;
    requires_grad = tensor.needs_grad();
    hooked = tensor.hooks != nullptr;
    leaf = !tensor.history.node;
    is_inference = tensor.extra != nullptr;  // a tangent or a batch does not come in
    contiguous = tensor.tensor.is_contiguous();
    host = Value(&tensor);
  }
};

// The tensor whose memory a view looks at; a tensor that is no view: itself.
inline VTensor* root_of(VTensor& tensor) {
  VTensor* root = &tensor;
  while (root->view) root = root->view->parent.get();
  return root;
}

// Whether an object of that kind can become part of itself: a function is, through the cell of its own name.
constexpr bool may_contain_itself(VirtualKind kind) {
  return kind == VirtualKind::List || kind == VirtualKind::Dict || kind == VirtualKind::Instance ||
         kind == VirtualKind::Cell;
}

struct VTuple : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Tuple;
  VTuple() : Virtual(kKind) {}
  std::vector<Av> items;
  Local<Type> type;  // a class made of tuple (torch.Size, a named result); null: tuple itself
};

struct VList : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::List;
  VList() : Virtual(kKind) {}
  std::vector<Av> items;
  // While it is unread: how many items it came in with, once somebody has asked, and what the region has appended
  // since.
  Value host;
  Av length;
  std::vector<Av> tail;
  Av rows;  // of one made here that a rolled loop has appended to: a tensor whose rows follow `items`; such a list is
            // unread
};

// Of constants; the order of iteration is the interpreter's.
struct VSet : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Set;
  VSet() : Virtual(kKind) {}
  std::vector<Av> items;
  uint64_t version = 0;  // counts the changes of what is in it
  bool frozen = false;
};

struct VDict : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Dict;
  VDict() : Virtual(kKind) {}
  Local<Type> type;                                     // undefined: dict itself
  std::vector<std::pair<Av, Av>> items;                 // keys are constants
  std::vector<std::pair<Local<StrObject>, Av>> fields;  // attributes of one of a class, which is made here
  uint64_t version = 0;                                 // counts the keys that came or went
};

// d.keys(), d.values(), d.items(): what the dict holds when it is asked.
struct VDictView : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::DictView;
  VDictView() : Virtual(kKind) {}
  enum class Form : uint8_t { Keys, Values, Items } form = Form::Keys;
  Av dict;
};
inline constexpr const char* kDictViewMethods[] = {"keys", "values", "items"};

struct VInstance : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Instance;
  VInstance() : Virtual(kKind) {}
  Local<Type> type;
  std::vector<std::pair<Local<StrObject>, Av>> fields;  // of one that came in: those looked at so far
  Value host;                                           // the object while capturing, if it came in
};

struct VCell : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Cell;
  VCell() : Virtual(kKind) {}
  Av content;
};

struct VFunction : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Function;
  VFunction() : Virtual(kKind) {}
  Local<CodeObject> code;
  Local<ModuleObject> module;
  std::vector<Av> defaults, keyword_defaults;
  std::vector<Av> closure;  // VCells or constant cells
};

struct VBoundMethod : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::BoundMethod;
  VBoundMethod() : Virtual(kKind) {}
  Av function, self;
};

// functools.partial: a function with its first arguments.
struct VPartial : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Partial;
  VPartial() : Virtual(kKind) {}
  Local<Type> type;
  Av function;
  std::vector<Av> positional;
  std::vector<std::pair<Local<StrObject>, Av>> keywords;
};

// An iterator whose items are known one by one: a position in a snapshot of sources.
struct VIterator : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Iterator;
  VIterator() : Virtual(kKind) {}
  // Native: the interpreter's own, on stand-ins (natives/stand_ins.h). Counted: of a loop that may be rolled
  // (program/rolled_loops.h); it stands nowhere but in that loop's register.
  enum class Form : uint8_t { Items, Live, Native, Generator, Outside, Counted } form = Form::Items;
  std::vector<Av> items;  // Items: the sequence itself; Live: one list, which is read item by item
  size_t position = 0;
  int64_t count = 0;                         // Live in reverse: the next index
  bool reverse = false;                      // Live, and of what is pending
  std::shared_ptr<class StandIns> run;       // Native: in which `host` runs
  std::shared_ptr<struct AFrame> suspended;  // Generator: its body, until it has ended
  bool running = false;
  Av keyed;  // Items: of this dict or set, which must keep its keys
  uint64_t keyed_version = 0;
  Av view;     // Items: the keys of this view, whose values are read one by one
  Av pending;  // Items: they are those of this range or tensor, in reverse where that is said; nobody has asked for one
               // yet
  bool open = false;           // how many items there are, the call decides
  Local<CodeObject> begun_in;  // the instruction that began to iterate over it
  uint32_t begun_at = 0;
  Local<CodeObject> made_in;  // of one that cannot be made anywhere else: the instruction that made it
  uint32_t made_at = 0;
  Value host;  // Native: the iterator; Outside: that while capturing (see outside.cpp)
  Value copy;  // of it, ahead by `position` items; Undefined: none was taken yet
  uint32_t copy_source = 0;
};

// When it goes its body may run handlers: it stays in its register until the interpreter drops it.
inline bool is_generator_from_outside(const Av& av) {
  return is_virtual(av, VirtualKind::Iterator) &&
         is_kind(static_cast<const VIterator&>(*av.object).host, Kind::Generator);
}

struct VRange : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Range;
  VRange() : Virtual(kKind) {}
  Av start, stop, step;
};

struct VSlice : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Slice;
  VSlice() : Virtual(kKind) {}
  Av start, stop, step;
};

struct VSuper : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Super;
  VSuper() : Virtual(kKind) {}
  Local<Type> start;
  Av self;
};

// An exception that the program made and handles in the region, or its traceback. It cannot be made anywhere else: what
// asks it for more than its class leaves the region in front of the instruction that made it.
struct VException : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Exception;
  VException() : Virtual(kKind) {}
  Local<Type> type;  // null: a traceback
  Local<CodeObject> made_in;
  uint32_t made_at = 0;
};

// Text put together from parts that only running can format.
struct VText : Virtual {
  static constexpr VirtualKind kKind = VirtualKind::Text;
  VText() : Virtual(kKind) {}
  struct Part {
    std::string text;  // literal, if `formatted` is Undefined
    Av formatted;
    int conversion = 0;  // as FormatValue: 0 none, 1 str, 2 repr, 3 ascii
    std::string spec;
  };
  std::vector<Part> parts;
};

}  // namespace tsc::interp
