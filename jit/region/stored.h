#pragma once
// The binary form of a region: every field of every instruction and value, ids as they are. Compact and quick
// to read; the text form (region.h) stays the one for people.
// Keeps: equal regions make equal bytes; reading trusts no number, so that what was read can be handed to
// verify(), whatever the bytes were.
#include "jit/region/region.h"
#include "runtime/base/byte_stream.h"

namespace tsc::jit {

void write_region(const Region& region, ByteWriter& out);
// Whether it is one tells `in.failed()`.
Region read_region(ByteReader& in);

// Lists of values that come from a region of `value_count` values; with `or_none` kNoValue is one of them.
void write_value(ValueId value, ByteWriter& out);
ValueId read_value(ByteReader& in, size_t value_count, bool or_none = false);
template <class List>
void write_values(const List& values, ByteWriter& out) {
  out.number(values.size());
  for (ValueId value : values) write_value(value, out);
}
template <class List>
List read_values(ByteReader& in, size_t value_count) {
  List values;
  for (size_t left = in.count(1); left > 0; --left) values.push_back(read_value(in, value_count));
  return values;
}

// One byte that is at most `last`.
template <class Enum>
Enum read_enum(ByteReader& in, Enum last) {
  const uint8_t value = in.byte();
  if (value > static_cast<uint8_t>(last)) in.fail("a number stands for nothing");
  return in.failed() ? Enum{} : static_cast<Enum>(value);
}

void write_number(const Scalar& scalar, ByteWriter& out);
Scalar read_number(ByteReader& in);

}  // namespace tsc::jit
