#pragma once
// What is read from outside and becomes a fact: attributes, globals, closure cells, elements and entries of objects that are
// known by identity. A place whose content is assumed is watched: a store to it makes the region invalid. One that changes from
// call to call (CaptureMemory::dynamic) is an entry value instead (inputs.h). There is no other way to reach what such
// an object holds. What the region itself has stored there comes first (overlay.h).
// Owns what was loaded once and the watched places; must not know instructions.
#include <array>

#include "interpreter/capture/overlay.h"
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Cells : private Room {
 public:
  explicit Cells(const Rooms& rooms) : Room(rooms) {}
  Av load_attribute_cell(const Value& holder, StrObject* name, const Value& current);
  Av load_global(StrObject* name);
  Av load_cell(const Av& cell);
  Av load_element(ListObject* list, int64_t index);
  Av load_dict_entry(DictObject* dict, const Value& key);
  void assume_unchanged(Object* holder, const Value& key);
  void assume_length(const Value& container);
  void forbid_reads(const Value& holder);
  bool is_dynamic(const Value& holder, const Value& key) const;
  void written_by_region(const OverlayKey& place, const Value& holder);
  void note_fact(std::string text);

 private:
  void read_anew(const Value& holder);
  Av find_attribute_cell(const Value& holder, StrObject* name, const Value& current);
  Av find_cell(const Av& cell);
  Av find_element(ListObject* list, int64_t index);
  Av find_dict_entry(DictObject* dict, const Value& key);
  void watch(Object* holder, const Value& key);

  std::vector<Value> forbidden_;
  std::unordered_map<OverlayKey, Av, OverlayHash> loaded_;    // what was read, once
  std::unordered_map<OverlayKey, bool, OverlayHash> constant_cells_;
  std::array<Watched, 512> last_watched_;                     // of plan_.watched, by their hash
};

}  // namespace tsc::interp
