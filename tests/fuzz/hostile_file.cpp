#include "hostile_file.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <vector>

namespace tsc::fuzz {
namespace {

constexpr const char* kNumbers[] = {"0",
                                    "1",
                                    "2",
                                    "-1",
                                    "7",
                                    "8",
                                    "64",
                                    "65",
                                    "255",
                                    "65536",
                                    "2147483647",
                                    "2147483648",
                                    "4294967296",
                                    "4611686018427387904",
                                    "9223372036854775807",
                                    "9223372036854775808",
                                    "18446744073709551615",
                                    "99999999999999999999999",
                                    "1.5",
                                    "1e3",
                                    "01",
                                    "0x10",
                                    "",
                                    "true",
                                    "null",
                                    "\"1\"",
                                    "[1]",
                                    "1L"};
constexpr const char* kTexts[] = {"F32",
                                  "F64",
                                  "F16",
                                  "I64",
                                  "BOOL",
                                  "U8",
                                  "BF16",
                                  "F8_E4M3",
                                  "I128",
                                  "dtype",
                                  "shape",
                                  "data_offsets",
                                  "__metadata__",
                                  "format",
                                  "pt",
                                  "tenscript.object",
                                  "\\u0000",
                                  "\\ud800",
                                  "\\ud83d\\ude00",
                                  "\\q",
                                  "\xff",
                                  "\xc0\x80",
                                  "a",
                                  "",
                                  "[",
                                  "{\\\"tensor\\\": \\\"a\\\"}",
                                  "[[[[",
                                  "{\\\"dict\\\": [[[], 1]]}",
                                  "{\\\"parameter\\\": \\\"b\\\", \\\"requires_grad\\\": true}",
                                  "{\\\"size\\\": [1, -1]}",
                                  "{\\\"float\\\": \\\"x\\\"}",
                                  "{\\\"dtype\\\": \\\"Tensor\\\"}",
                                  "{\\\"bytes\\\": \\\"0\\\"}"};
constexpr const char* kNpyTexts[] = {"<f4",           "<f8",   "<i4",  "<i8", "|b1",    "|u1", ">f4", ">i8",
                                     "=f4",           "|O",    "<U10", "<f2", "<c8",    "f4",  "",    "descr",
                                     "fortran_order", "shape", "<f-4", "V8",  "M8[ns]", "<"};

std::string little_endian(uint64_t value, size_t bytes) {
  std::string out;
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

// The begin and length of each number, or of each text without its quotes.
std::vector<std::pair<size_t, size_t>> places(const std::string& text, bool numbers, char quote) {
  std::vector<std::pair<size_t, size_t>> out;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i;
    if (text[i] == quote) {
      end = text.find(quote, i + 1);
      if (end == std::string::npos) break;
      if (!numbers) out.emplace_back(i + 1, end - i - 1);
    } else if (std::isdigit(static_cast<unsigned char>(text[i]))) {
      while (end + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[end + 1]))) ++end;
      if (numbers) out.emplace_back(i, end - i + 1);
    }
    i = end;
  }
  return out;
}

template <class Words>
void edit_header(std::string& text, Random& random, char quote, const Words& words) {
  const bool numbers = !random.once_in(3);
  const auto found = places(text, numbers, quote);
  if (found.empty() || random.once_in(6)) {
    const size_t at = random.below(text.size() + 1);
    static constexpr char kMarks[] = "{}[](),:\"' \n0-";
    if (random.once_in(2)) text.insert(at, 1, kMarks[random.below(sizeof kMarks - 1)]);
    else text.erase(at, 1 + random.below(4));
    return;
  }
  const auto [at, size] = random.pick(found);
  text.replace(at, size, numbers ? random.pick(kNumbers) : random.pick(words));
}

void damage(std::string& file, Random& random) {
  switch (random.below(5)) {
    case 0: file.resize(random.below(file.size() + 1)); break;
    case 1: file.append(random.below(40), static_cast<char>(random.next())); break;
    case 2: file.insert(random.below(file.size() + 1), 1, static_cast<char>(random.next())); break;
    default:
      if (!file.empty()) file[random.below(file.size())] = static_cast<char>(random.next());
  }
}

constexpr uint64_t kLengths[] = {
    0, 1, 2, 7, 8, 9, 100'000'000, 100'000'001, uint64_t{1} << 31, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 7};

// A zip file without compression of these entries.
std::string zip_of(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string file, list;
  for (const auto& [name, data] : entries) {
    const std::string sizes = little_endian(0, 4) + little_endian(data.size(), 4) + little_endian(data.size(), 4) +
                              little_endian(name.size(), 2) + little_endian(0, 2);
    list += "PK\1\2" + std::string(12, '\0') + sizes + std::string(10, '\0') + little_endian(file.size(), 4) + name;
    file += "PK\3\4" + std::string(10, '\0') + sizes + name + data;
  }
  return file + list + "PK\5\6" + std::string(4, '\0') + little_endian(entries.size(), 2) +
         little_endian(entries.size(), 2) + little_endian(list.size(), 4) + little_endian(file.size(), 4) +
         std::string(2, '\0');
}

std::string pickled_text(const std::string& text) { return "X" + little_endian(text.size(), 4) + text; }

std::string pickled_number(int64_t number) { return "\x8a\x08" + little_endian(static_cast<uint64_t>(number), 8); }

std::string pickled_tensor(Random& random) {
  static constexpr const char* kKinds[] = {"FloatStorage", "LongStorage", "BoolStorage", "HalfStorage", "x"};
  static constexpr int64_t kOdd[] = {0, 1, 2, 3, 4, 5, 6, 8, -1, int64_t{1} << 40, INT64_MAX, INT64_MIN};
  const auto number = [&](int64_t usual) { return pickled_number(random.once_in(8) ? random.pick(kOdd) : usual); };
  const std::string storage = "(" + pickled_text("storage") + "ctorch\n" +
                              (random.once_in(8) ? random.pick(kKinds) : "FloatStorage") + "\n" +
                              pickled_text(random.once_in(8) ? "1" : "0") + pickled_text("cpu") + number(6) + "tQ";
  const std::string sizes = number(2) + number(3) + "\x86", strides = number(3) + number(1) + "\x86";
  const std::string tensor = "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + number(0) + sizes + strides +
                             (random.once_in(4) ? "\x88" : "\x89") + "ccollections\nOrderedDict\n)RtR";
  return random.once_in(4) ? "ctorch._utils\n_rebuild_parameter\n" + tensor + "\x88)\x87R" : tensor;
}

}  // namespace

std::string hostile_archive(Random& random) {
  static constexpr const char* kSteps[] = {"}",
                                           "]",
                                           ")",
                                           "(",
                                           "t",
                                           "\x85",
                                           "\x86",
                                           "\x87",
                                           "a",
                                           "e",
                                           "s",
                                           "u",
                                           "N",
                                           "K\5",
                                           "q\1",
                                           "h\1",
                                           "0",
                                           ".",
                                           "R",
                                           "b",
                                           "Q",
                                           "\x81",
                                           "\x8f",
                                           "\x90",
                                           "\x93",
                                           "\x94",
                                           "r\xff\xff\xff\xff",
                                           "cos\nsystem\n",
                                           "cbuiltins\neval\n",
                                           "ctorch\nSize\n",
                                           "c__builtin__\nset\n",
                                           "X\xff\xff\xff\x7f",
                                           "\x8a\xff"};
  std::string pickle = "\x80\2}(";
  for (size_t count = random.below(3); count > 0; --count)
    pickle += pickled_text("w" + std::to_string(count)) + pickled_tensor(random);
  pickle += pickled_text("n") + pickled_number(3) + "u.";
  for (size_t edits = random.below(4); edits > 0; --edits) {
    const size_t at = random.below(pickle.size() + 1);
    if (random.once_in(3)) damage(pickle, random);
    else pickle.insert(std::min(at, pickle.size()), random.pick(kSteps));
  }
  std::string file = zip_of({{"archive/data.pkl", pickle},
                             {"archive/byteorder", "little"},
                             {"archive/data/0", std::string(random.once_in(8) ? random.below(40) : 24, '\1')}});
  for (size_t edits = random.once_in(3) ? random.below(4) : 0; edits > 0; --edits) damage(file, random);
  return file;
}

std::string hostile_safetensors(Random& random) {
  struct Kind {
    const char* name;
    size_t bytes;
  };
  static constexpr Kind kKinds[] = {{"F32", 4}, {"F64", 8}, {"I64", 8}, {"BOOL", 1}, {"BF16", 2}};
  static constexpr const char* kNames[] = {"a", "b", "model.weight", "\\u00e9", "tensor", "0"};
  std::string json = "{", data;
  if (random.once_in(2))
    json += std::string("\"__metadata__\":{\"format\":\"pt\",\"tenscript.object\":\"") + random.pick(kTexts) + "\"}";
  for (size_t count = random.below(4); count > 0; --count) {
    const Kind kind = random.pick(kKinds);
    std::string shape;
    size_t elements = 1;
    for (size_t rank = random.below(4); rank > 0; --rank) {
      const size_t size = random.below(4);
      elements *= size;
      (shape += shape.empty() ? "" : ",") += std::to_string(size);
    }
    const size_t begin = data.size();
    data.append(elements * kind.bytes, static_cast<char>(random.next()));
    json += std::string(json.size() == 1 ? "" : ",") + "\"" + random.pick(kNames) + "\":{\"dtype\":\"" + kind.name +
            "\",\"shape\":[" + shape + "],\"data_offsets\":[" + std::to_string(begin) + "," +
            std::to_string(data.size()) + "]}";
  }
  json += "}";
  if (random.once_in(2)) json.append(random.below(9), ' ');
  for (size_t edits = random.below(4); edits > 0; --edits) edit_header(json, random, '"', kTexts);
  const uint64_t length = random.once_in(6) ? random.pick(kLengths) : json.size();
  std::string file = little_endian(length, 8) + json + data;
  for (size_t edits = random.once_in(3) ? random.below(3) : 0; edits > 0; --edits) damage(file, random);
  return file;
}

std::string hostile_npy(Random& random) {
  std::string shape;
  size_t elements = 1;
  for (size_t rank = random.below(4); rank > 0; --rank) {
    const size_t size = random.below(4);
    elements *= size;
    shape += std::to_string(size) + ",";
  }
  std::string dict = std::string("{'descr': '") + random.pick(kNpyTexts) +
                     "', 'fortran_order': " + (random.once_in(2) ? "True" : "False") + ", 'shape': (" + shape + "), }";
  for (size_t edits = random.below(3); edits > 0; --edits) edit_header(dict, random, '\'', kNpyTexts);
  dict += std::string(random.below(20), ' ') + "\n";
  const size_t version = random.once_in(8) ? random.below(256) : 1 + random.below(3);
  const uint64_t length = random.once_in(6) ? random.pick(kLengths) : dict.size();
  std::string file = "\x93NUMPY" + std::string(1, static_cast<char>(version)) +
                     std::string(1, random.once_in(16) ? '\1' : '\0') + little_endian(length, version == 1 ? 2 : 4) +
                     dict;
  file.append(elements * 8, static_cast<char>(random.next()));
  for (size_t edits = random.once_in(3) ? random.below(3) : 0; edits > 0; --edits) damage(file, random);
  return file;
}

}  // namespace tsc::fuzz
