#pragma once
// The safetensors format: eight bytes of length (little endian), a JSON header, the tensors' bytes.
// A file may come from anybody: whatever its bytes, reading a header ends in a description whose
// every byte range lies inside the file, or in a ValueError that says what is wrong; nothing is run
// and nothing is allocated beyond the size of the header. Knows: the format, dtypes, sizes. Must
// not know: files, tensors, scripts. Keeps: tensors lie one behind the other without holes or
// overlaps and end where the file ends.
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/tensor/dtype.h"
#include "runtime/tensor/tensor.h"

namespace tsc::io {

// A tensor of a file: `begin` and `end` are bytes from the beginning of the file.
struct TensorRecord {
  std::string name;
  DType dtype = DType::F32;
  Sizes sizes;
  int64_t begin = 0, end = 0;
};

struct SafetensorsHeader {
  std::vector<TensorRecord> tensors;                          // in the order of their bytes
  std::vector<std::pair<std::string, std::string>> metadata;  // in the order of the header
};

inline constexpr int64_t kSafetensorsPrefix = 8;
// What the format's own implementation accepts.
inline constexpr int64_t kMaxSafetensorsHeader = 100'000'000;

// The length of the JSON text from the file's first eight bytes. ValueError when the file cannot
// hold it.
int64_t safetensors_header_bytes(std::string_view prefix, int64_t file_bytes);
// `json`: as many bytes as the length says, from offset 8 on.
SafetensorsHeader parse_safetensors_header(std::string_view json, int64_t file_bytes);

// Sets begin and end of each record and puts them in the order of the format (larger elements
// first, then by name); the file's beginning, after which the tensors' bytes follow in that order.
// ValueError for two of one name.
std::string make_safetensors_header(SafetensorsHeader& header);

}  // namespace tsc::io
