#pragma once
// Numbers as they lie in memory: the one table of item formats, which struct, array and memoryview share, and what
// packs and unpacks one item. Knows numbers and bytes. Must not know: layouts of several items, the texts of errors.
#include <string_view>

#include "interpreter/value/value.h"

namespace tsc::interp {

class Vm;

enum class ItemKind : uint8_t { Pad, Byte, Signed, Unsigned, Bool, Float, Text, Character };

// Who knows a format.
enum ItemUser : uint8_t { kInStruct = 1, kInArray = 2, kInView = 4 };

struct ItemFormat {
  char code;
  ItemKind kind;
  uint8_t size;           // as the machine has it, which is its alignment as well
  uint8_t standard_size;  // of struct's "<", ">" and "="; 0: not there
  uint8_t users;
};
// Null when there is none that this user knows.
const ItemFormat* find_item_format(char code, ItemUser user);

// A whole number (an int, a bool or one beyond 64 bits) into `size` bytes. False: it does not fit.
bool pack_integer(const Value& whole, bool has_sign, size_t size, bool big_endian, char* to);
// OverflowError for what half precision cannot hold; a float of 4 bytes becomes infinite.
void pack_float(Vm& vm, double d, size_t size, bool big_endian, char* to);
// An item of any kind but Pad and Text; a Byte is bytes of length 1, a Character is a str of length 1.
Value unpack_item(Vm& vm, ItemKind kind, size_t size, bool big_endian, const char* from);

}  // namespace tsc::interp
