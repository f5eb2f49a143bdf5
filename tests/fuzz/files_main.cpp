// Fuzz targets of the readers of tensor files: whatever the bytes, a description that fits the
// file, or a ValueError. Usage: see command.h.
#include "command.h"
#include "hostile_file.h"
#include "runtime/base/error.h"
#include "runtime/io/npy.h"
#include "runtime/io/safetensors.h"

namespace {

using namespace tsc;
using fuzz::Random;

int64_t size_of(const std::string& file) { return static_cast<int64_t>(file.size()); }

std::string fault_of(const Error& error) {
  if (error.kind() != ErrorKind::ValueError) return "another error: " + error.message();
  return error.message().empty() ? "an error without a message" : "";
}

// Written again from what was read, the header says the same.
std::string fault_of_round_trip(io::SafetensorsHeader header) {
  const size_t count = header.tensors.size();
  std::string first;
  int64_t bytes = 0;
  try {
    first = io::make_safetensors_header(header);
    for (const io::TensorRecord& record : header.tensors) bytes += record.end - record.begin;
    const io::SafetensorsHeader again = io::parse_safetensors_header(
        std::string_view(first).substr(io::kSafetensorsPrefix), static_cast<int64_t>(first.size()) + bytes);
    if (again.tensors.size() != count || again.metadata != header.metadata) return "written again it has other entries";
  } catch (const Error& error) {
    return "written again it is refused: " + error.message();
  }
  return "";
}

std::string try_safetensors(const std::string& file) {
  io::SafetensorsHeader header;
  try {
    const int64_t length =
        io::safetensors_header_bytes(std::string_view(file).substr(0, io::kSafetensorsPrefix), size_of(file));
    header = io::parse_safetensors_header(
        std::string_view(file).substr(io::kSafetensorsPrefix, static_cast<size_t>(length)), size_of(file));
  } catch (const Error& error) {
    return fault_of(error);
  }
  for (const io::TensorRecord& record : header.tensors)
    if (record.begin < 0 || record.end > size_of(file) ||
        record.end - record.begin != numel_of(record.sizes) * dtype_size(record.dtype))
      return "tensor '" + record.name + "' does not fit the file";
  return fault_of_round_trip(std::move(header));
}

std::string try_npy(const std::string& file) {
  try {
    const io::NpyHeader header = io::parse_npy_header(file, size_of(file));
    if (header.begin < 0 || header.end > size_of(file) ||
        header.end - header.begin != numel_of(header.sizes) * dtype_size(header.dtype))
      return "the array does not fit the file";
    const std::string again = io::make_npy_header(header.dtype, header.sizes);
    const io::NpyHeader read =
        io::parse_npy_header(again, static_cast<int64_t>(again.size()) + header.end - header.begin);
    return read.sizes == header.sizes && read.dtype == header.dtype && again.size() % 64 == 0
               ? ""
               : "written again it says something else";
  } catch (const Error& error) {
    return fault_of(error);
  }
}

}  // namespace

int main(int count, char** words) {
  const auto safetensors = [](Random& random, uint64_t) { return fuzz::hostile_safetensors(random); };
  const auto npy = [](Random& random, uint64_t) { return fuzz::hostile_npy(random); };
  return fuzz::fuzz_main(
      count, words, {{"safetensors", ".safetensors", safetensors, try_safetensors}, {"npy", ".npy", npy, try_npy}});
}
