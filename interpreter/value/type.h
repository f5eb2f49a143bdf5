#pragma once
// Types: script classes and native types are the same object. A native type is described by its slots
// (C++ functions); a script class inherits the slots of its bases and replaces those whose dunder
// method it defines by a trampoline to that method. Native types get dunder methods in their
// dictionary that call the slots, so `super().__setattr__(...)` and `dict.__getitem__` work.
#include <string>
#include <vector>

#include "interpreter/value/object.h"
#include "interpreter/value/operators.h"
#include "interpreter/value/shape.h"

namespace tsc::interp {

struct Args;
struct StrObject;
struct DictObject;
struct CodeObject;

// Called with every object an object refers to.
struct Visitor {
  virtual void visit(Object* object) = 0;
  void operator()(const Value& v) {
    if (v.is_object()) visit(v.object());
  }
  void operator()(Object* object) {
    if (object) visit(object);
  }

 protected:
  ~Visitor() = default;
};

// Null means: not supported (or, for life cycle slots, nothing to do). Operator slots return the
// NotImplemented value when they do not know the other operand.
struct TypeSlots {
  // Life cycle. `destroy` runs the C++ destructor and gives the memory back (Heap::free).
  void (*destroy)(Vm&, Object*) = nullptr;
  // Lets go of what the object holds, one by one, while Heap::is_late() is false. True: what is left for `destroy`
  // takes no time, also not for giving a large block back (Heap::may_free). Null: that is always so.
  bool (*release)(Heap&, Object*) = nullptr;
  void (*traverse)(Object*, Visitor&) = nullptr;
  void (*clear)(Vm&, Object*) = nullptr;  // drop references to break a cycle
  // type(args): null means allocate an instance (only for script classes of plain layout).
  // `construct` is __new__: `type` may be a script subclass; __init__ runs after it.
  Value (*construct)(Vm&, Type* type, Args& args) = nullptr;
  void (*initialize)(Vm&, const Value& self, Args& args) = nullptr;
  // Operators. `reflected`: the slot belongs to the type of `right`.
  Value (*binary)(Vm&, BinaryOp, const Value& left, const Value& right, bool reflected) = nullptr;
  Value (*in_place)(Vm&, BinaryOp, const Value& self, const Value& other) = nullptr;
  Value (*unary)(Vm&, UnaryOp, const Value& self) = nullptr;
  Value (*compare)(Vm&, CompareOp, const Value& self, const Value& other) = nullptr;
  int64_t (*hash)(Vm&, const Value& self) = nullptr;
  bool (*truth)(Vm&, const Value& self) = nullptr;
  int64_t (*length)(Vm&, const Value& self) = nullptr;
  Value (*to_int)(Vm&, const Value& self) = nullptr;
  Value (*to_float)(Vm&, const Value& self) = nullptr;
  Value (*to_index)(Vm&, const Value& self) = nullptr;
  // Containers.
  Value (*get_item)(Vm&, const Value& self, const Value& key) = nullptr;
  void (*set_item)(Vm&, const Value& self, const Value& key, const Value& value) = nullptr;
  void (*delete_item)(Vm&, const Value& self, const Value& key) = nullptr;
  bool (*contains)(Vm&, const Value& self, const Value& item) = nullptr;
  Value (*iterate)(Vm&, const Value& self) = nullptr;
  bool (*next)(Vm&, const Value& self, Value& out) = nullptr;  // false: exhausted
  // Attributes. Null means the generic rule (instance slots, class dictionary, __getattr__).
  // `get_attribute` returns Undefined when the attribute is absent.
  Value (*get_attribute)(Vm&, const Value& self, StrObject* name) = nullptr;
  void (*set_attribute)(Vm&, const Value& self, StrObject* name, const Value& value) = nullptr;
  void (*delete_attribute)(Vm&, const Value& self, StrObject* name) = nullptr;
  Value (*get_missing_attribute)(Vm&, const Value& self, StrObject* name) = nullptr;  // __getattr__
  // Descriptors: what an attribute found in a class becomes.
  Value (*bind)(Vm&, const Value& self, const Value& instance, Type* owner) = nullptr;
  void (*bind_set)(Vm&, const Value& self, const Value& instance, const Value& value) = nullptr;
  // The rest.
  Value (*call)(Vm&, const Value& self, Args& args) = nullptr;
  Value (*repr)(Vm&, const Value& self) = nullptr;
  Value (*to_str)(Vm&, const Value& self) = nullptr;
  Value (*format)(Vm&, const Value& self, StrObject* spec) = nullptr;
};

enum TypeFlag : uint32_t {
  kScriptClass = 1,     // made by a class statement; counted by its instances
  kBaseType = 2,        // a script class may inherit from it
  kPlainInstances = 4,  // layout Instance with generic attribute access: inline caches apply
  kExceptionType = 8,
  kPlainSetAttribute = 16,  // stores follow the generic rule (no __setattr__ in the MRO)
  kAbstractClass = 32,      // has abstract methods left: no instances
  kSlotsOnly = 64,          // __slots__ all the way down: no attributes but those, no __dict__
  kHasFinalizer = 128,      // __del__ in the MRO
  kOpenClass = 256,         // of C++, but its attributes may be set as those of a script class
};

struct Type : Object {
  static constexpr Kind kKind = Kind::Type;
  std::string name;
  std::string qualified_name;
  Vm* vm = nullptr;
  Type* base = nullptr;              // the base that decides the layout (counted through `bases`)
  std::vector<Type*> bases;          // counted
  std::vector<Type*> mro;            // this type first; not counted beyond `bases` (ancestors are alive)
  std::vector<Type*> subclasses;     // not counted
  DictObject* attributes = nullptr;  // counted
  TypeSlots slots;
  Kind layout = Kind::Instance;  // of the instances
  uint32_t type_flags = 0;
  uint32_t version = 0;          // changes whenever a lookup through this type may change
  uint32_t instance_offset = 0;  // where the InstanceState of an instance lies; 0: no attributes
  uint32_t subclass_offset = 0;  // the instance_offset that script subclasses of a native type get
  uint32_t slots_hint = 0;       // most attributes seen on an instance
  // Found once per version by the dispatch loop: __init__ and __call__ (not counted).
  uint32_t call_cache_version = 0;
  Object* cached_init = nullptr;
  Object* cached_call = nullptr;
  std::unique_ptr<Shape> root_shape;
  std::unique_ptr<Shape> dictionary_shape;

  Type() : Object(Kind::Type) {}
  Shape* root() {
    if (!root_shape) root_shape = std::make_unique<Shape>(this, false);
    return root_shape.get();
  }
  bool is_subtype_of(const Type* other) const {
    for (Type* t : mro)
      if (t == other) return true;
    return false;
  }
};

// Offset of a member, for layouts that are not standard-layout.
template <class T, class M>
uint32_t offset_of(M T::* member) {
  alignas(T) static char storage[sizeof(T)];
  T* object = reinterpret_cast<T*>(storage);
  return static_cast<uint32_t>(reinterpret_cast<char*>(&(object->*member)) - storage);
}

inline InstanceState* instance_state(Object* object) {
  uint32_t offset = object->type->instance_offset;
  return offset ? reinterpret_cast<InstanceState*>(reinterpret_cast<char*>(object) + offset) : nullptr;
}

}  // namespace tsc::interp
