#pragma once
// NumPy's .npy format (versions 1.0 to 3.0): a magic text, a header that is a Python dict of three
// entries, the elements. A file may come from anybody: whatever its bytes, reading a header ends in
// a description whose elements lie inside the file, or in a ValueError that says what is wrong.
// Arrays of objects are refused: they hold pickled code. Knows: the format, dtypes, sizes. Must not
// know: files, tensors, scripts.
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/tensor/dtype.h"
#include "runtime/tensor/tensor.h"

namespace tsc::io {

struct NpyHeader {
  DType dtype = DType::F32;
  bool big_endian = false;     // the elements' bytes are to be turned round
  bool fortran_order = false;  // the first index runs fastest
  Sizes sizes;
  int64_t begin = 0, end = 0;  // of the elements, in bytes of the file
};

// So many bytes of a file tell where its header ends.
inline constexpr int64_t kNpyPrefix = 12;

// The bytes up to the elements, from the first kNpyPrefix of them (a shorter file: all).
int64_t npy_header_bytes(std::string_view prefix, int64_t file_bytes);
NpyHeader parse_npy_header(std::string_view beginning, int64_t file_bytes);

// The beginning of a file (version 1.0; 2.0 where the shape is long) of row-major little-endian
// elements.
std::string make_npy_header(DType dtype, const Sizes& sizes);

}  // namespace tsc::io
