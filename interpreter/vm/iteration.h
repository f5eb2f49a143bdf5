#pragma once
// Iterators: the fast ones the dispatch loop knows by type, a base for native ones, generators.
#include <optional>

#include "interpreter/vm/native.h"

namespace tsc::interp {

struct RangeIterator : Object {
  int64_t next = 0, step = 1, left = 0;
  RangeIterator() : Object(Kind::Iterator) {}
};
struct ListIterator : Object {
  Local<ListObject> list;  // null once exhausted
  size_t index = 0;
  ListIterator() : Object(Kind::Iterator) {}
};
struct TupleIterator : Object {
  Local<TupleObject> tuple;
  uint32_t index = 0;
  TupleIterator() : Object(Kind::Iterator) {}
};

// Base of native iterators: next() fills `out` or returns false for good.
struct NativeIterator : Object {
  NativeIterator() : Object(Kind::Iterator) {}
  virtual ~NativeIterator() = default;
  virtual bool next(Vm& vm, Value& out) = 0;
  virtual void traverse(Visitor&) {}
  virtual int64_t length_hint() { return 0; }
  // See copy_iterator below.
  virtual Value copy(Vm&) const { return Value(); }
  // A tuple of what its class is called with to make one that gives the same items from here on; Undefined: no such
  // call is known.
  virtual Value arguments(Vm&) const { return Value(); }
  // Of zip and enumerate: each item is made of one of each of these iterators, behind a number that grows by one
  // (enumerate).
  struct Rows {
    std::vector<Value> iterators;
    std::optional<int64_t> count;
  };
  virtual std::optional<Rows> rows() const { return std::nullopt; }
};

// Null: the value is no native iterator, or one of a script's class.
NativeIterator* as_native_iterator(const Vm& vm, const Value& v);

// An iterator of its own that gives the items which `iterator` would give next. Undefined where taking an item runs
// code of the script, or where somebody else may take items from what this iterator walks over.
Value copy_iterator(Vm& vm, const Value& iterator);

// For the constructor of an iterator that knows no keywords: they are for the `__init__` of a script class.
void no_keywords_of(Vm& vm, Type* type, const Args& args);

// One of `type`, which may be a script class.
template <class T>
Local<T> make_iterator(Vm& vm, Type* type) {
  Local<T> made = vm.heap().make<T>(type);
  if (type->type_flags & kScriptClass) made->state.shape = type->root();
  return made;
}

// A type whose objects are T, a NativeIterator; `construct` may be null. Script classes may inherit where T has a
// `state`.
template <class T>
Type* make_iterator_type(Vm& vm, std::string_view name, Value (*construct)(Vm&, Type*, Args&) = nullptr) {
  TypeBuilder builder(vm, name, Kind::Iterator);
  TypeSlots& slots = builder.slots();
  slots.destroy = destroy_as<T>;
  slots.traverse = [](Object* o, Visitor& visit) {
    static_cast<T*>(o)->traverse(visit);
    if (o->type->instance_offset) traverse_instance(o, visit);
  };
  slots.iterate = [](Vm&, const Value& self) { return self; };
  slots.next = [](Vm& vm, const Value& self, Value& out) {
    try {
      return static_cast<T*>(self.object())->next(vm, out);
    } catch (const ScriptException& e) {  // of a function that a map calls, or of an iterator of the script
      if (!e.exception()->type->is_subtype_of(vm.exceptions().StopIteration)) throw;
      return false;
    }
  };
  slots.construct = construct;
  if constexpr (requires { &T::state; }) {
    // Counted from the Object, in front of which such an iterator has its table of virtual functions.
    alignas(T) static char storage[sizeof(T)];
    const char* object = reinterpret_cast<char*>(static_cast<Object*>(reinterpret_cast<T*>(storage)));
    builder.allow_subclasses(offset_of(&T::state) - static_cast<uint32_t>(object - storage));
  }
  return builder.finish();
}

struct GeneratorObject : Object {
  static constexpr Kind kKind = Kind::Generator;
  enum class State : uint8_t { Fresh, Suspended, Running, Finished };
  State state = State::Fresh;
  Frame frame;  // registers in `storage`
  std::unique_ptr<Value[]> storage;
  Local<StrObject> name, qualified_name;
  GeneratorObject() : Object(Kind::Generator) {}
};

// A generator of a function whose arguments lie in `registers` (moved out).
Local<GeneratorObject> make_generator(Vm& vm, FunctionObject* function, Value* registers);
// Resumes with a value (None or Undefined: next). False: it returned, `out` holds its result.
bool generator_send(Vm& vm, GeneratorObject* generator, const Value& sent, Value& out);
bool generator_throw(Vm& vm, GeneratorObject* generator, Local<ExceptionObject> exception, Value& out);
void generator_close(Vm& vm, GeneratorObject* generator);
Value delegate_of(GeneratorObject* generator);  // the iterator of the yield from in which it waits, or Undefined
// For the dispatch loop: the sent value goes to its place; a generator that yields to C++ is unlinked.
void resume_with(GeneratorObject* generator, const Value& sent);
void suspend_to_native(Vm& vm);
void finish_generator(GeneratorObject* generator);  // frees its frame

}  // namespace tsc::interp
