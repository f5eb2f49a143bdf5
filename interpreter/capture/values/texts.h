#pragma once
// Texts that are made of values: f-strings, str() and repr(), whose parts may only be known when the region runs.
// Defined in texts.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class Texts : private Room {
 public:
  explicit Texts(const Rooms& rooms) : Room(rooms) {}
  // Whether making the text of the value runs code of a script.
  bool text_is_script_code(const Av& av, int depth = 0);
  Av text_of_value(const Av& av, int conversion, std::string spec);

 private:
  std::optional<Av> text_by_class(const Av& av, int conversion, const std::string& spec);
  void check_format(const Av& av, const std::string& spec);
  Av snapshot(const Av& av, bool is_number, int depth = 0);

  std::vector<const void*> inside_texts_;  // sequences whose items are taken for a text
};

}  // namespace tsc::interp
