#pragma once
// What is read from outside and becomes a fact: attributes, globals, closure cells, elements and entries of objects
// that are known by identity. A place whose content is assumed is watched: a store to it makes the region invalid. One
// that changes from call to call (CaptureMemory::dynamic) is an entry value instead (inputs.h). There is no other way
// to reach what such an object holds. What the region itself has stored there comes first (overlay.h). Owns what was
// loaded once and the watched places; must not know instructions. Defined in loads.cpp, program/recorded.cpp,
// values/sequences.cpp.
#include <array>

#include "interpreter/capture/rooms.h"
#include "interpreter/capture/written/overlay.h"

namespace tsc::interp {

class Cells : private Room {
 public:
  explicit Cells(const Rooms& rooms) : Room(rooms) {}
  // Own attribute `name` of an object, or an entry of a namespace dict; `current` is its value now.
  Av load_attribute_cell(const Value& holder, StrObject* name, const Value& current);
  Av load_global(StrObject* name);
  // The content of a closure cell.
  Av load_cell(const Av& cell);
  Av load_element(ListObject* list, int64_t index);
  Av load_dict_entry(DictObject* dict, const Value& key);
  // A store there makes the region invalid. The key is a name, an index, or Undefined for all of the content.
  void assume_unchanged(Object* holder, const Value& key);
  void assume_length(const Value& container);
  // Of a list that the region appends to in the host: its content here would be stale.
  void forbid_reads(const Value& holder);
  // Whether the place is read at every entry instead of being assumed.
  bool is_dynamic(const Value& holder, const Value& key) const;
  // The region is about to store there: what was assumed of it makes capture start again.
  void written_by_region(const OverlayKey& place, const Value& holder);
  // For the report.
  void note_fact(std::string text);

 private:
  void read_anew(const Value& holder);
  Av find_attribute_cell(const Value& holder, StrObject* name, const Value& current);
  Av find_cell(const Av& cell);
  Av find_element(ListObject* list, int64_t index);
  Av find_dict_entry(DictObject* dict, const Value& key);
  void watch(Object* holder, const Value& key);

  std::vector<Value> forbidden_;                                      // lists that are not read any more
  std::unordered_map<OverlayKey, Av, OverlayHash> loaded_;            // what was read, once
  std::unordered_map<OverlayKey, bool, OverlayHash> constant_cells_;  // assumed
  std::array<Watched, 512> last_watched_;                             // of plan_.watched, by their hash
};

}  // namespace tsc::interp
