#pragma once
// The value every script variable holds: 16 bytes, a tag and a payload. None, bool, int (64-bit) and
// float live in the value itself; everything else is a counted pointer to a heap Object.
// RawValue is the trivially copyable form (it owns nothing); Value owns its reference.
// Counts are not atomic: a Vm and its objects belong to one thread at a time.
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "interpreter/heap/counted_memory.h"

namespace tsc::interp {

struct Object;

enum class Tag : uint32_t {
  Undefined = 0,  // no value: an unbound register, an absent argument, a failed lookup
  None,
  Bool,
  Int,
  Float,
  Object,
};

struct RawValue {
  Tag tag;
  union {
    int64_t integer;  // also holds a bool, as 0 or 1
    double real;
    Object* object;
  };
};

// Tag and payload one by one: a 16-byte load of a value that was just stored in two parts has to wait
// until both have left the store buffer.
inline void copy_raw(RawValue& to, const RawValue& from) {
  to.tag = from.tag;
  to.integer = from.integer;
}

// Defined with the heap (interpreter/heap/heap.h): frees an object whose count fell to zero.
void destroy_object(Object* object);

// The first field of every Object is its count; Value needs no more of Object than that.
inline uint32_t& reference_count(Object* object) { return *reinterpret_cast<uint32_t*>(object); }

class Value {
 public:
  Value() : raw_{Tag::Undefined, {0}} {}
  Value(const Value& other) {
    copy_raw(raw_, other.raw_);
    if (raw_.tag == Tag::Object) ++reference_count(raw_.object);
  }
  Value(Value&& other) noexcept {
    copy_raw(raw_, other.raw_);
    other.raw_.tag = Tag::Undefined;
  }
  // A new reference to `object`, which must not be null.
  explicit Value(Object* object) : raw_{Tag::Object, {0}} {
    raw_.object = object;
    ++reference_count(object);
  }
  ~Value() { drop(); }
  Value& operator=(const Value& other) {
    RawValue fresh;
    copy_raw(fresh, other.raw_);
    if (fresh.tag == Tag::Object) ++reference_count(fresh.object);
    replace(fresh);
    return *this;
  }
  Value& operator=(Value&& other) noexcept {
    RawValue fresh;
    copy_raw(fresh, other.raw_);
    other.raw_.tag = Tag::Undefined;
    replace(fresh);
    return *this;
  }

  static Value none() { return from_raw({Tag::None, {0}}); }
  static Value boolean(bool b) { return from_raw({Tag::Bool, {b}}); }
  static Value integer(int64_t i) { return from_raw({Tag::Int, {i}}); }
  static Value real(double d) {
    RawValue raw{Tag::Float, {0}};
    raw.real = d;
    return from_raw(raw);
  }
  // Takes over the reference the caller holds.
  static Value adopt(Object* object) {
    RawValue raw{Tag::Object, {0}};
    raw.object = object;
    return from_raw(raw);
  }
  static Value from_raw(RawValue raw) {
    Value v;
    copy_raw(v.raw_, raw);
    return v;
  }
  // Gives up the reference without dropping it.
  RawValue release_raw() {
    RawValue out;
    copy_raw(out, raw_);
    raw_.tag = Tag::Undefined;
    return out;
  }

  Tag tag() const { return raw_.tag; }
  bool is_undefined() const { return raw_.tag == Tag::Undefined; }
  bool is_none() const { return raw_.tag == Tag::None; }
  bool is_bool() const { return raw_.tag == Tag::Bool; }
  bool is_int() const { return raw_.tag == Tag::Int; }
  bool is_float() const { return raw_.tag == Tag::Float; }
  bool is_object() const { return raw_.tag == Tag::Object; }
  explicit operator bool() const { return raw_.tag != Tag::Undefined; }

  bool as_bool() const { return raw_.integer != 0; }
  int64_t as_int() const { return raw_.integer; }
  double as_float() const { return raw_.real; }
  Object* object() const { return raw_.object; }
  const RawValue& raw() const { return raw_; }

  // The script's `is`.
  bool is(const Value& other) const {
    return raw_.tag == other.raw_.tag && (raw_.tag <= Tag::None || raw_.integer == other.raw_.integer);
  }

  // Stores for the dispatch loop: no temporary, the old content is dropped after the store.
  void set_int(int64_t i) { replace({Tag::Int, {i}}); }
  void set_float(double d) {
    RawValue fresh;
    fresh.tag = Tag::Float;
    fresh.real = d;
    replace(fresh);
  }
  void set_bool(bool b) { replace({Tag::Bool, {b}}); }
  void set_none() { reset_to(Tag::None); }
  void reset() { reset_to(Tag::Undefined); }
  // Of memory that holds no value yet; the payload stays as it is.
  void begin_unbound() { raw_.tag = Tag::Undefined; }
  // Takes over the reference that `fresh` holds.
  void replace(RawValue fresh) {
    if (raw_.tag != Tag::Object) [[likely]]
      return copy_raw(raw_, fresh);
    Object* old = raw_.object;
    copy_raw(raw_, fresh);
    release(old);
  }

 private:
  static void release(Object* old) {
    if (--reference_count(old) == 0) destroy_object(old);
  }
  void reset_to(Tag tag) {
    const bool held = raw_.tag == Tag::Object;
    raw_.tag = tag;
    if (held) release(raw_.object);
  }
  void drop() {
    if (raw_.tag == Tag::Object) release(raw_.object);
  }

  RawValue raw_;
};

static_assert(sizeof(Value) == 16);

}  // namespace tsc::interp

// Vectors of values are charged to the Vm's memory budget, whoever makes them.
template <>
class std::allocator<tsc::interp::Value> {
 public:
  using value_type = tsc::interp::Value;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_move_assignment = std::true_type;
  allocator() noexcept = default;
  template <class U>
  allocator(const std::allocator<U>&) noexcept {}
  value_type* allocate(size_type count) {
    if (count > PTRDIFF_MAX / sizeof(value_type)) throw std::bad_array_new_length();
    return static_cast<value_type*>(tsc::interp::counted_allocate(count * sizeof(value_type)));
  }
  void deallocate(value_type* memory, size_type count) noexcept {
    tsc::interp::counted_free(memory, count * sizeof(value_type));
  }
  friend bool operator==(const allocator&, const allocator&) noexcept { return true; }
};
