#pragma once
// Iterators: the fast ones the dispatch loop knows by type, a base for native ones, generators.
#include <concepts>
#include <functional>
#include <optional>
#include <tuple>

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

// What copy() and deepcopy() make of a part of an iterator.
using CopiedPart = std::function<Value(const Value&)>;

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
  // Another one in the same state, made of the copied parts; Undefined: it cannot be copied.
  virtual Value rebuilt(Vm&, const CopiedPart&) const { return Value(); }
};
// The same of any iterator of C++; Undefined for all else.
Value rebuilt_iterator(Vm& vm, const Value& iterator, const CopiedPart& part);

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

inline void copy_member(Vm&, Value& to, const Value& from, const CopiedPart& part) {
  if (from.is_undefined()) return;
  const Value kept = from;  // what copies a part may take items meanwhile
  to = part(kept);
}
template <class V>
  requires std::same_as<V, Values> || std::same_as<V, std::vector<Value>>
void copy_member(Vm& vm, V& to, const V& from, const CopiedPart& part) {
  for (const Value& v : std::vector<Value>(from.begin(), from.end())) {
    Value copied;
    copy_member(vm, copied, v, part);
    to.push_back(std::move(copied));
  }
}
template <class O>
void copy_member(Vm& vm, Local<O>& to, const Local<O>& from, const CopiedPart& part) {
  Value copied;
  if (from) copy_member(vm, copied, from.value(), part);
  to = Local<O>(try_cast<O>(copied));
  if (from && !to) raise_type_error(vm, "the copy of a part of an iterator is no " + from->type->name);
}
template <class X>
void copy_member(Vm&, X& to, const X& from, const CopiedPart&) {
  to = from;
}

// NativeIterator::rebuilt of a T whose members() are a tuple of all its state.
template <class T>
Value rebuild(Vm& vm, const T& from, const CopiedPart& part) {
  Local<T> made;
  if constexpr (requires { &T::state; }) made = make_iterator<T>(vm, from.type);
  else made = vm.heap().make<T>(from.type);
  const Local<T> kept(const_cast<T*>(&from));
  const auto to = made->members(), state = kept->members();
  [&]<size_t... kPlace>(std::index_sequence<kPlace...>) {
    (copy_member(vm, std::get<kPlace>(to), std::as_const(std::get<kPlace>(state)), part), ...);
  }(std::make_index_sequence<std::tuple_size_v<decltype(to)>>());
  return made.take();
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
