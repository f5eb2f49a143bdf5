#pragma once
// What comes in and is known by structure, because a call brings another object of the same form: tuples, lists, dicts,
// sets, instances that hold data, bound methods, functions, closure cells, partials, iterators and texts. They are
// taken apart into parts, each an entry source of its own. An object that is needed by identity after all is kept
// whole: capture starts again and remembers its place (CaptureMemory). Owns what was taken apart; must not know what is
// stored into it (effects.h). Defined in outside.cpp, containers.cpp, loads.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Structures : private Room {
 public:
  explicit Structures(const Rooms& rooms) : Room(rooms) {}
  ~Structures();
  // Something needs the items of a container that was taken as it is: capture starts again and reads them.
  [[noreturn]] void read_from_now_on(const Virtual& object);
  // The object was reached by a way that needs it by identity.
  void keep_whole(Object* holder);
  // An object known by identity whose content the region changes, or that it compares with others.
  void keep_apart_from(const Value& holder);
  // The first source at which that text came in; `source` where it has not.
  uint32_t first_source_of_text(Object* text, uint32_t source) {
    return texts_.try_emplace(text, source).first->second;
  }
  const uint32_t* source_of_text(Object* text) const {
    const auto found = texts_.find(text);
    return found == texts_.end() ? nullptr : &found->second;
  }
  // What a text is decides the program: it is known by identity from the next capture on.
  void keep_text_whole(const VText& text);
  // A tuple, whose items are known by position.
  Av structural_input(const Value& v, uint32_t source);
  // Whether it is known by its parts, here and now.
  bool comes_apart(const Value& v, uint32_t source) const;
  bool is_known_otherwise(const Value& v) const;
  // Anything else that comes apart, or is only handed on and known by its class.
  Av container_input(const Value& v, uint32_t source);
  // Of a list whose items nothing reads: how many there are, and an item that the region has appended; null: another
  // one.
  Av length_of_unread(VList& list);
  const Av* appended_item(const Av& container, const Av& key) const;
  bool is_tuple_by_items(const Value& v);
  // The next item of an iterator that came in; false: it has ended.
  bool next_from_outside(VIterator& iterator, Av* out);
  // Nothing that an iterator from outside walks over may have been changed.
  void check_walks();
  // A string of which nothing is known but that it is one.
  Av text_input(uint32_t source);

 private:
  bool has_items(const Value& v, bool apart) const;
  Av part_of(uint32_t parent, uint32_t index, const Value& now);
  void know_by_structure(const Value& v, uint32_t source, const VirtualRef& object);
  Av method_input(const Value& v, uint32_t source);
  Av function_input(const Value& v, uint32_t source);
  Av cell_input(const Value& v, uint32_t source);
  Av iterator_input(const Value& v, uint32_t source);
  Av set_input(const Value& v, uint32_t source);
  Av partial_input(const Value& v, uint32_t source);
  Av instance_input(const Value& v, uint32_t source);
  void read_container(const Value& v, uint32_t source, Virtual& object);

  std::unordered_map<Object*, uint32_t> texts_;           // texts of which only what they say is a fact: their sources
  std::unordered_map<Object*, Av> taken_apart_;           // by the object
  std::unordered_map<Object*, Object*> attribute_dicts_;  // the instance among them that a `__dict__` belongs to
  std::unordered_set<Object*> constants_;                 // host objects reached by identity
  std::unordered_map<const Virtual*, std::string> container_places_;  // source_place of each
};

}  // namespace tsc::interp
