#include "runtime/io/safetensors.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_set>

#include "runtime/base/checked.h"
#include "runtime/io/header_text.h"

namespace tsc::io {
namespace {

constexpr std::string_view kOtherDTypes[] = {"F4",      "F6_E2M3", "F6_E3M2", "F8_E5M2", "F8_E4M3",
                                             "F8_E8M0", "U16",     "U32",     "U64"};
constexpr std::string_view kMetadata = "__metadata__";

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::ValueError, "not a valid safetensors file: " + what);
}

DType dtype_called(const std::string& name, const std::string& tensor) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kDTypes[i].safetensors == name && !name.empty()) return static_cast<DType>(i);
  for (const std::string_view other : kOtherDTypes)
    if (other == name)
      throw Error(ErrorKind::ValueError, "tensor '" + tensor + "' has elements of type " + name +
                                             ", which no dtype here can hold; convert the file to "
                                             "F32 or BF16 first");
  refuse("tensor '" + tensor + "' has the unknown element type '" + name + "'");
}

// The header is a small subset of JSON, read strictly.
class Reader {
 public:
  explicit Reader(std::string_view json) : text_(json, refuse) {}

  SafetensorsHeader run() {
    SafetensorsHeader header;
    std::unordered_set<std::string> names;
    text_.expect('{');
    if (!text_.take('}')) {
      do {
        std::string name = text_.string();
        text_.expect(':');
        if (!names.insert(name).second) refuse("the name '" + name + "' stands twice in its header");
        if (name == kMetadata) read_metadata(header);
        else header.tensors.push_back(record(std::move(name)));
      } while (text_.take(','));
      text_.expect('}');
    }
    text_.expect_spaces_to_end();
    return header;
  }

 private:
  void read_metadata(SafetensorsHeader& header) {
    std::unordered_set<std::string> keys;
    text_.expect('{');
    if (text_.take('}')) return;
    do {
      std::string key = text_.string();
      text_.expect(':');
      if (!keys.insert(key).second) refuse("the key '" + key + "' stands twice in its metadata");
      header.metadata.emplace_back(std::move(key), text_.string());
    } while (text_.take(','));
    text_.expect('}');
  }

  TensorRecord record(std::string name) {
    TensorRecord out;
    out.name = std::move(name);
    bool has_dtype = false, has_shape = false, has_offsets = false;
    text_.expect('{');
    do {
      const std::string field = text_.string();
      text_.expect(':');
      bool& seen = field == "dtype" ? has_dtype : field == "shape" ? has_shape : has_offsets;
      if (field != "dtype" && field != "shape" && field != "data_offsets")
        refuse("tensor '" + out.name + "' has the unknown field '" + field + "'");
      if (std::exchange(seen, true)) refuse("tensor '" + out.name + "' has the field '" + field + "' twice");
      if (&seen == &has_dtype) out.dtype = dtype_called(text_.string(), out.name);
      else if (&seen == &has_shape) out.sizes = numbers(kMaxRank, out.name);
      else set_offsets(out);
    } while (text_.take(','));
    text_.expect('}');
    if (!has_dtype || !has_shape || !has_offsets)
      refuse("tensor '" + out.name + "' lacks its dtype, shape or data_offsets");
    return out;
  }

  void set_offsets(TensorRecord& out) {
    const Sizes both = numbers(2, out.name);
    if (both.size() != 2) refuse("tensor '" + out.name + "' has no two data_offsets");
    out.begin = both[0];
    out.end = both[1];
  }

  Sizes numbers(int64_t most, const std::string& name) {
    Sizes out;
    text_.expect('[');
    if (text_.take(']')) return out;
    do {
      if (static_cast<int64_t>(out.size()) == most)
        refuse("tensor '" + name + "' has more than " + std::to_string(most) + " numbers in a list");
      out.push_back(text_.natural());
    } while (text_.take(','));
    text_.expect(']');
    return out;
  }

  HeaderText text_;
};

int64_t bytes_of(const TensorRecord& record) {
  try {
    return contiguous_bytes(record.sizes, record.dtype);
  } catch (const Error&) {
    refuse("tensor '" + record.name + "' of shape " + shape_text(record.sizes) + " has more bytes than can be counted");
  }
}

// Every tensor has as many bytes as its shape needs, and together they are the data, once.
void check_ranges(std::vector<TensorRecord>& tensors, int64_t data_begin, int64_t data_bytes) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorRecord& a, const TensorRecord& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  int64_t at = 0;
  for (TensorRecord& record : tensors) {
    if (record.begin != at || record.end < record.begin || record.end > data_bytes)
      refuse("tensor '" + record.name + "' has bytes " + std::to_string(record.begin) + " to " +
             std::to_string(record.end) + " where they must begin at " + std::to_string(at) + " and end by " +
             std::to_string(data_bytes));
    if (record.end - record.begin != bytes_of(record))
      refuse("tensor '" + record.name + "' of shape " + shape_text(record.sizes) + " needs " +
             std::to_string(bytes_of(record)) + " bytes but has " + std::to_string(record.end - record.begin));
    at = record.end;
    record.begin += data_begin;
    record.end += data_begin;
  }
  if (at != data_bytes) refuse(std::to_string(data_bytes - at) + " bytes at its end belong to no tensor");
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    static constexpr char kHex[] = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') (out += '\\') += c;
    else if (byte < 0x20) ((out += "\\u00") += kHex[byte >> 4]) += kHex[byte & 15];
    else out += c;
  }
  return out += '"';
}

}  // namespace

int64_t safetensors_header_bytes(std::string_view prefix, int64_t file_bytes) {
  if (prefix.size() < kSafetensorsPrefix) refuse("it has fewer than 8 bytes");
  uint64_t length = 0;
  for (size_t i = kSafetensorsPrefix; i-- > 0;) length = length << 8 | static_cast<unsigned char>(prefix[i]);
  if (length > static_cast<uint64_t>(kMaxSafetensorsHeader))
    refuse("its header would have " + std::to_string(length) + " bytes, more than the " +
           std::to_string(kMaxSafetensorsHeader) + " that are allowed");
  if (static_cast<int64_t>(length) > file_bytes - kSafetensorsPrefix)
    refuse("its header of " + std::to_string(length) + " bytes does not fit in its " + std::to_string(file_bytes) +
           " bytes");
  return static_cast<int64_t>(length);
}

SafetensorsHeader parse_safetensors_header(std::string_view json, int64_t file_bytes) {
  if (json.empty() || json[0] != '{') refuse("its header does not begin with '{'");
  const int64_t data_begin = kSafetensorsPrefix + static_cast<int64_t>(json.size());
  SafetensorsHeader header = Reader(json).run();
  check_ranges(header.tensors, data_begin, file_bytes - data_begin);
  return header;
}

std::string make_safetensors_header(SafetensorsHeader& header) {
  std::sort(header.tensors.begin(), header.tensors.end(), [](const TensorRecord& a, const TensorRecord& b) {
    // From the last dtype to the first.
    const int i = dtype_info(a.dtype).safetensors_rank, j = dtype_info(b.dtype).safetensors_rank;
    return i != j ? i > j : a.name < b.name;
  });
  std::string json = "{";
  if (!header.metadata.empty()) {
    for (const auto& [key, value] : header.metadata)
      json += (json.size() == 1 ? quoted(kMetadata) + ":{" : ",") + quoted(key) + ":" + quoted(value);
    json += '}';
  }
  std::unordered_set<std::string> names{std::string(kMetadata)};
  int64_t at = 0;
  for (TensorRecord& record : header.tensors) {
    if (!names.insert(record.name).second)
      throw Error(ErrorKind::ValueError,
                  "a tensor cannot be called '" + record.name + "' " +
                      (record.name == kMetadata ? "in a safetensors file" : "when another one is"));
    if (dtype_info(record.dtype).safetensors.empty())
      throw Error(ErrorKind::ValueError, "tensor '" + record.name + "': a safetensors file cannot hold " +
                                             std::string(dtype_name(record.dtype)) + " elements");
    std::string shape;
    for (const int64_t size : record.sizes) (shape += shape.empty() ? "" : ",") += std::to_string(size);
    record.begin = at;
    at = record.end = checked_add(at, bytes_of(record));
    (json += json.size() == 1 ? "" : ",") +=
        quoted(record.name) + ":{\"dtype\":" + quoted(dtype_info(record.dtype).safetensors) + ",\"shape\":[" + shape +
        "],\"data_offsets\":[" + std::to_string(record.begin) + "," + std::to_string(record.end) + "]}";
  }
  json += '}';
  json.append((8 - json.size() % 8) % 8, ' ');
  const auto length = static_cast<int64_t>(json.size());
  if (length > kMaxSafetensorsHeader)
    throw Error(ErrorKind::ValueError, "names and metadata make a header of " + std::to_string(length) +
                                           " bytes; a safetensors file may have " +
                                           std::to_string(kMaxSafetensorsHeader));
  std::string out;
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(length >> shift);
  for (TensorRecord& record : header.tensors) {
    record.begin += kSafetensorsPrefix + length;
    record.end += kSafetensorsPrefix + length;
  }
  return out + json;
}

}  // namespace tsc::io
