#pragma once
// What the files of bytearray share: changes of its size.
// Keeps: a bytearray whose memory is exported keeps its size (BufferError).
#include "interpreter/value/buffer.h"

namespace tsc::interp {

// Puts `data`, which lies elsewhere, in the place of [begin, end).
void replace_range(Vm& vm, ByteArrayObject* self, size_t begin, size_t end, std::string_view data);
// Appends a bytes-like object or the ints of an iterable.
void extend_bytes(Vm& vm, ByteArrayObject* self, const Value& source);

}  // namespace tsc::interp
