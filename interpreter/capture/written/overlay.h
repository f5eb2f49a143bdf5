#pragma once
// The stores of this region to objects from outside: later reads see them, though the objects themselves change only
// when the region runs. A place of an object is a key of three parts; what was assumed of a place that the region then
// writes cannot be assumed (written_by_region). Defined in overlay.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

// A place of an object from outside: an attribute or entry by its name, an element by its index and one, the content of
// a cell.
struct OverlayKey {
  Object* holder;
  Object* name;
  int64_t index;
  bool operator==(const OverlayKey&) const = default;
};
struct OverlayHash {
  size_t operator()(const OverlayKey& k) const {
    return hash_mix(reinterpret_cast<uint64_t>(k.holder),
                    reinterpret_cast<uint64_t>(k.name) + static_cast<uint64_t>(k.index) * 31);
  }
};

class Overlay : private Room {
 public:
  explicit Overlay(const Rooms& rooms) : Room(rooms) {}
  // The stores of closure cells and globals; those of attributes and items are in attributes.h and containers.h.
  void store_cell(const Av& cell, const Av& value);
  void store_global(StrObject* name, const Av& value);
  // What the region has stored there; null: nothing.
  const Av* stored_at(const OverlayKey& place) const;
  void note_stored(const OverlayKey& place, const Av& value) { stored_[place] = value; }
  // Of a place as it is watched.
  bool has_stored(const Value& holder, const Value& key) const;

 private:
  std::unordered_map<OverlayKey, Av, OverlayHash> stored_;
};

}  // namespace tsc::interp
