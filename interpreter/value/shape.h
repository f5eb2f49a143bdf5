#pragma once
// Hidden classes. A Shape is the list of attribute names of an instance, in order of creation; equal
// histories share one Shape, so (shape == cached) proves the type and every slot index at once.
// Shapes form a tree owned by the Type. An instance with very many attributes, or whose __dict__ was
// asked for, moves to dictionary mode: its shape says so and slot 0 holds the dict.
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "interpreter/value/object.h"

namespace tsc::interp {

struct StrObject;
struct DictObject;

class Shape {
 public:
  static constexpr uint32_t kMaxSlots = 256;
  Shape(Type* type, bool dictionary_mode) : type_(type), dictionary_mode_(dictionary_mode) {}
  ~Shape();
  Type* type() const { return type_; }
  bool dictionary_mode() const { return dictionary_mode_; }
  uint32_t size() const { return static_cast<uint32_t>(names_.size()); }
  StrObject* name(uint32_t slot) const { return names_[slot]; }
  // Slot of an interned name, -1 when absent.
  int32_t find(StrObject* name) const {
    if (!index_.empty()) return find_in_index(name);
    for (size_t i = 0; i < names_.size(); ++i)
      if (names_[i] == name) return static_cast<int32_t>(i);
    return -1;
  }
  // The shape after adding an interned name.
  Shape* with(StrObject* name);

 private:
  int32_t find_in_index(StrObject* name) const;

  Type* type_;
  bool dictionary_mode_;
  std::vector<StrObject*> names_;                  // counted
  std::unordered_map<StrObject*, int32_t> index_;  // only from 12 names on
  std::vector<std::pair<StrObject*, std::unique_ptr<Shape>>> transitions_;
};

// The attributes of one object: embedded in Instance, or at Type::instance_offset of other layouts.
struct InstanceState {
  Shape* shape = nullptr;  // null until the first attribute, in layouts other than Instance
  Value* slots = nullptr;
  uint32_t capacity = 0;
};

// An object with attributes. Layouts of other rooms derive from it and pass Kind::Native.
struct Instance : Object {
  static constexpr Kind kKind = Kind::Instance;
  InstanceState state;
  explicit Instance(Kind k = Kind::Instance) : Object(k) {}
};

}  // namespace tsc::interp
