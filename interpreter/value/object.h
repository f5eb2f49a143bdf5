#pragma once
// The header of every heap object, and Local<T>, an owning typed pointer. An object knows its Type
// (which knows its Vm) and its Kind, the C++ layout: `kind == Kind::List` means the object may be
// cast to ListObject, also when its type is a script subclass of list.
// `watched` is set by the compiler on objects whose content it assumed; every store path tests it.
#include <cstdint>
#include <string_view>

#include "interpreter/value/value.h"

namespace tsc::interp {

class Vm;
struct Type;

enum class Kind : uint8_t {
  Instance,  // Instance: shape and slots only
  Str,
  Bytes,
  ByteArray,
  Array,  // of the module array
  MemoryView,
  List,
  Dict,
  Tuple,
  Set,  // also frozenset: the type tells
  Range,
  Slice,
  Function,
  NativeFunction,
  BoundMethod,
  Type,
  Module,
  Cell,
  Code,
  Generator,
  Exception,  // begins as Instance
  Property,
  NativeProperty,
  StaticMethod,
  ClassMethod,
  Super,
  Iterator,
  DictView,
  File,
  Traceback,
  Complex,
  BigInt,       // an int beyond 64 bits; its type is int
  BoxedNumber,  // an instance of a script subclass of int or float
  Native,       // a layout of another room (tensors); begins as Instance
};

enum ObjectFlag : uint8_t {
  kWatched = 1,    // stores call Watchers::on_store
  kTracked = 2,    // known to the cycle collector
  kOldObject = 4,  // in the collector's old generation
  kReprGuard = 8,  // repr of this container is in progress
  kInterned = 16,  // a name: equal interned strings are the same object
  kBeingFreed = 32,
  kHasEnd = 64,      // the script may see it die: its class has __del__, or it is weakly referred to (vm/ends.h)
  kFinalized = 128,  // its __del__ was called
};

struct Object {
  uint32_t reference_count = 0;
  uint32_t gc_index = 0;
  Type* type = nullptr;
  Kind kind;
  uint8_t flags = 0;

  explicit Object(Kind k) : kind(k) {}
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  bool watched() const { return flags & kWatched; }
  void watch() { flags |= kWatched; }
  void stop_watching() { flags &= static_cast<decltype(flags)>(~kWatched); }
};

// An owning pointer to an object of known layout.
template <class T>
class Local {
 public:
  Local() = default;
  Local(std::nullptr_t) {}
  explicit Local(T* pointer) : pointer_(pointer) {
    if (pointer_) ++pointer_->reference_count;
  }
  Local(const Local& other) : Local(other.pointer_) {}
  Local(Local&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  Local& operator=(Local other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Local() {
    if (pointer_ && --pointer_->reference_count == 0) destroy_object(pointer_);
  }
  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  explicit operator bool() const { return pointer_ != nullptr; }
  operator T*() const { return pointer_; }
  // The reference as a value; the Local becomes empty.
  Value take() { return Value::adopt(std::exchange(pointer_, nullptr)); }
  Value value() const { return Value(pointer_); }

 private:
  T* pointer_ = nullptr;
};

inline bool is_kind(const Value& v, Kind kind) { return v.is_object() && v.object()->kind == kind; }

template <class T>
T* cast(const Value& v) {
  return static_cast<T*>(v.object());
}

// Null when the value has another layout.
template <class T>
T* try_cast(const Value& v) {
  return is_kind(v, T::kKind) ? static_cast<T*>(v.object()) : nullptr;
}

}  // namespace tsc::interp
