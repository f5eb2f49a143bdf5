#pragma once
// Lists, tuples, dicts, sets and slices: making them, their items, their length.
// Defined in sequences.cpp, natives/natives.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Containers : private Room {
 public:
  explicit Containers(const Rooms& rooms) : Room(rooms) {}
  Av get_item(const Av& container, const Av& key);
  bool contains(const Av& container, const Av& item);
  Av length_of(const Av& av);
  // Virtual or constant.
  bool is_dict(const Av& av) const;
  std::vector<Av> dict_keys(const Av& dict);
  // A key that decides the program: it must be known.
  Value known_key(const Av& key);
  Av dict_find(const Av& dict, const Av& key);  // Undefined: absent
  void set_item(const Av& container, const Av& key, const Av& value);
  void delete_item(const Av& container, const Av& key);
  bool is_sequence_of(const Av& av, Kind kind) const;  // virtual or constant list / tuple
  bool is_sequence(const Av& av) const { return is_sequence_of(av, Kind::List) || is_sequence_of(av, Kind::Tuple); }
  Av make_tuple_av(std::vector<Av> items);
  // Items of `source`: of a torch.Size they are one again.
  Av make_tuple_like(const Av& source, std::vector<Av> items);
  Av make_list_av(std::vector<Av> items);

  // list.append(), of a virtual list.
  void append(const Av& list, const Av& item);

 private:
  std::shared_ptr<VSlice> slice_of(const Av& key);  // null: no slice
  Av slice_items(const Av& container, const VSlice& slice);
  size_t checked_index(const Av& key, size_t size);
  void store_dict(const Av& container, const Av& key, const Av& value);
};

}  // namespace tsc::interp
