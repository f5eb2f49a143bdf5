#include "runtime/io/npy.h"

#include <optional>
#include <utility>

#include "runtime/base/checked.h"
#include "runtime/io/header_text.h"

namespace tsc::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr int64_t kMaxHeader = int64_t{1} << 20;
constexpr int64_t kAlignment = 64;

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::ValueError, "not a valid .npy file: " + what);
}

uint32_t byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

std::optional<DType> dtype_coded(std::string_view code) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (!code.empty() && kDTypes[i].npy == code) return static_cast<DType>(i);
  return std::nullopt;
}

std::string known_dtypes() {
  std::string text;
  for (const DTypeInfo& row : kDTypes)
    if (!row.npy.empty()) text += (text.empty() ? "" : ", ") + std::string(row.name);
  return text;
}

void set_dtype(const std::string& descr, NpyHeader& header) {
  const char order = descr.empty() ? '\0' : descr[0];
  const std::string_view code = std::string_view(descr).substr(descr.empty() ? 0 : 1);
  if (!code.empty() && code[0] == 'O')
    throw Error(ErrorKind::ValueError,
                "the array holds Python objects, which are pickled code and never loaded; save it with a "
                "number dtype");
  const std::optional<DType> dtype = dtype_coded(code);
  const bool is_byte = dtype && dtype_size(*dtype) == 1;
  if (!dtype || std::string_view("<>|=").find(order) == std::string_view::npos || (order == '|' && !is_byte))
    throw Error(ErrorKind::ValueError, "the array has elements of type '" + descr +
                                           "', which no dtype here can hold; the types are " + known_dtypes());
  header.dtype = *dtype;
  header.big_endian = order == '>' && !is_byte;
}

void read_shape(HeaderText& text, NpyHeader& header) {
  text.expect('(');
  bool comma = true;
  while (!text.take(')')) {
    if (!comma) refuse("a comma is missing in its shape");
    if (static_cast<int64_t>(header.sizes.size()) == kMaxRank)
      refuse("it has more than " + std::to_string(kMaxRank) + " dimensions");
    header.sizes.push_back(text.natural());
    text.take('L');  // of Python 2
    comma = text.take(',');
  }
  if (header.sizes.size() == 1 && !comma) refuse("its shape is no tuple");
}

void read_entries(std::string_view dict, NpyHeader& header) {
  HeaderText text(dict, refuse);
  bool has_descr = false, has_order = false, has_shape = false, comma = true;
  text.expect('{');
  while (!text.take('}')) {
    if (!comma) refuse("a comma is missing in its header");
    const std::string key = text.plain_string();
    text.expect(':');
    bool& seen = key == "descr" ? has_descr : key == "fortran_order" ? has_order : has_shape;
    if (&seen == &has_shape && key != "shape") refuse("its header has the unknown key '" + key + "'");
    if (std::exchange(seen, true)) refuse("its header has the key '" + key + "' twice");
    if (&seen == &has_descr) {
      if (text.take('[')) refuse("its elements have fields; only plain numbers can be loaded");
      set_dtype(text.plain_string(), header);
    } else if (&seen == &has_order) {
      header.fortran_order = text.take("True");
      if (!header.fortran_order && !text.take("False")) refuse("its fortran_order is no bool");
    } else {
      read_shape(text, header);
    }
    comma = text.take(',');
  }
  if (!has_descr || !has_order || !has_shape) refuse("its header lacks descr, fortran_order or shape");
  text.expect_end();
}

}  // namespace

int64_t npy_header_bytes(std::string_view prefix, int64_t file_bytes) {
  if (prefix.size() < 10 || !prefix.starts_with(kMagic)) refuse("it does not begin with \\x93NUMPY");
  const uint32_t major = byte_at(prefix, 6), minor = byte_at(prefix, 7);
  if (major < 1 || major > 3 || minor != 0)
    refuse("its version is " + std::to_string(major) + "." + std::to_string(minor) + "; 1.0, 2.0 and 3.0 are known");
  const size_t width = major == 1 ? 2 : 4;
  if (prefix.size() < 8 + width) refuse("it ends in its header");
  int64_t length = 0;
  for (size_t i = width; i-- > 0;) length = length << 8 | byte_at(prefix, 8 + i);
  if (length > kMaxHeader)
    refuse("its header would have " + std::to_string(length) + " bytes, more than the " + std::to_string(kMaxHeader) +
           " that are allowed");
  const int64_t end = 8 + static_cast<int64_t>(width) + length;
  if (end > file_bytes) refuse("its header ends at byte " + std::to_string(end) + " of " + std::to_string(file_bytes));
  return end;
}

NpyHeader parse_npy_header(std::string_view beginning, int64_t file_bytes) {
  NpyHeader header;
  header.begin = npy_header_bytes(beginning.substr(0, kNpyPrefix), file_bytes);
  if (static_cast<int64_t>(beginning.size()) < header.begin) refuse("it ends in its header");
  const size_t width = byte_at(beginning, 6) == 1 ? 2 : 4;
  read_entries(beginning.substr(8 + width, static_cast<size_t>(header.begin) - 8 - width), header);
  try {
    const int64_t bytes = contiguous_bytes(header.sizes, header.dtype);
    header.end = checked_add(header.begin, bytes);
  } catch (const Error&) {
    refuse("an array of shape " + shape_text(header.sizes) + " has more bytes than can be counted");
  }
  if (header.end > file_bytes)
    refuse("an array of shape " + shape_text(header.sizes) + " needs " + std::to_string(header.end - header.begin) +
           " bytes but " + std::to_string(file_bytes - header.begin) + " follow the header");
  return header;
}

std::string make_npy_header(DType dtype, const Sizes& sizes) {
  const std::string_view code = dtype_info(dtype).npy;
  if (code.empty())
    throw Error(ErrorKind::ValueError, "an .npy file cannot hold " + std::string(dtype_name(dtype)) +
                                           " elements; convert the tensor with .float() first");
  std::string shape;
  for (const int64_t size : sizes) shape += std::to_string(size) + (sizes.size() == 1 ? "," : ", ");
  if (sizes.size() > 1) shape.resize(shape.size() - 2);
  std::string dict = "{'descr': '" + std::string(dtype_size(dtype) == 1 ? "|" : "<") + std::string(code) +
                     "', 'fortran_order': False, 'shape': (" + shape + "), }";
  const size_t beginning = kMagic.size() + 2 + (dict.size() + 2 * kAlignment < 65536 ? 2 : 4);
  const size_t whole = (beginning + dict.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  dict.append(whole - beginning - dict.size() - 1, ' ');
  dict += '\n';
  std::string out(kMagic);
  const size_t width = beginning - kMagic.size() - 2;
  out += width == 2 ? '\1' : '\2';
  out += '\0';
  for (size_t i = 0; i < width; ++i) out += static_cast<char>(dict.size() >> (8 * i));
  return out + dict;
}

}  // namespace tsc::io
