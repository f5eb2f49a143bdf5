// Headers of tensor files: those of others are read, ours are what the formats ask for, and what
// does not fit is refused with its reason.
#include "catch2/catch.hpp"
#include "runtime/base/error.h"
#include "runtime/io/npy.h"
#include "runtime/io/safetensors.h"

using namespace tsc;
using namespace tsc::io;
using Catch::Matchers::Contains;

namespace {

int64_t size_of(const std::string& text) { return static_cast<int64_t>(text.size()); }

std::string file_of(const std::string& json, size_t data_bytes) {
  std::string out(8, '\0');
  for (size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(json.size() >> (8 * i));
  return out + json + std::string(data_bytes, '\1');
}

SafetensorsHeader read(const std::string& file) {
  const int64_t length = safetensors_header_bytes(std::string_view(file).substr(0, kSafetensorsPrefix), size_of(file));
  return parse_safetensors_header(std::string_view(file).substr(kSafetensorsPrefix, static_cast<size_t>(length)),
                                  size_of(file));
}

std::string refusal(const std::string& file) {
  try {
    read(file);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::ValueError);
    return error.message();
  }
  return "accepted";
}

std::string tensor(const char* name, const char* dtype, const char* shape, const char* offsets) {
  return std::string("\"") + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}

std::string npy_of(const std::string& dict, size_t data_bytes, char version = 1) {
  std::string out = std::string("\x93NUMPY") + version + '\0';
  for (size_t i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(dict.size() >> (8 * i));
  return out + dict + std::string(data_bytes, '\1');
}

std::string npy_refusal(const std::string& file) {
  try {
    parse_npy_header(file, size_of(file));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::ValueError);
    return error.message();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("a safetensors header tells names, dtypes, shapes and bytes") {
  const SafetensorsHeader header = read(
      file_of("{\"__metadata__\":{\"format\":\"pt\",\"k\\u00e9y\":\"\\\"\\n\\ud83d\\ude00\"}," +
                  tensor("b", "I64", "[2]", "[8,24]") + "," + tensor("a", "F32", "[1,2]", "[0,8]") + "," +
                  tensor("none", "BF16", "[3,0]", "[24,24]") + "," + tensor("flag", "BOOL", "[]", "[24,25]") + "}   ",
              25));
  REQUIRE(header.tensors.size() == 4);
  CHECK(header.tensors[0].name == "a");
  CHECK(header.tensors[0].dtype == DType::F32);
  CHECK(header.tensors[0].sizes == Sizes{1, 2});
  CHECK(header.tensors[1].name == "b");
  CHECK(header.tensors[1].end - header.tensors[1].begin == 16);
  CHECK(header.tensors[2].name == "none");
  CHECK(header.tensors[3].sizes.empty());
  CHECK(header.metadata[1] == std::pair<std::string, std::string>("k\xc3\xa9y", "\"\n\xf0\x9f\x98\x80"));
  CHECK(read(file_of("{}", 0)).tensors.empty());
}

TEST_CASE("our safetensors header is the format's own, byte for byte") {
  SafetensorsHeader header;
  header.tensors = {{"w", DType::F32, {2}, 0, 0}, {"n", DType::I64, {}, 0, 0}, {"a", DType::F32, {1}, 0, 0}};
  header.metadata = {{"format", "pt"}};
  const std::string written = make_safetensors_header(header);
  CHECK(written.substr(8) ==
        "{\"__metadata__\":{\"format\":\"pt\"},\"n\":{\"dtype\":\"I64\",\"shape\":[],\"data_"
        "offsets\":[0,8]},"
        "\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]},"
        "\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[12,20]}}       ");
  CHECK(written.size() % 8 == 0);
  CHECK(header.tensors[2].end == size_of(written) + 20);
  header.tensors.push_back(header.tensors[0]);
  CHECK_THROWS_WITH(make_safetensors_header(header), Contains("'n'"));
}

TEST_CASE("a safetensors file that cannot be is refused with its reason") {
  const std::string good = tensor("a", "F32", "[2]", "[0,8]");
  const struct {
    std::string file;
    const char* reason;
  } cases[] = {
      {"", "fewer than 8 bytes"},
      {std::string(7, '\0'), "fewer than 8 bytes"},
      {std::string(8, '\0'), "does not begin with '{'"},
      {std::string(8, '\xff'), "more than the 100000000"},
      {std::string("\x10\0\0\0\0\0\0\0{}", 10), "does not fit in its 10 bytes"},
      {file_of(" {}", 0), "does not begin with '{'"},
      {file_of("{}\n", 0), "more than its end"},
      {file_of("{}{}", 0), "more than its end"},
      {file_of("{" + good + "}", 7), "end by 7"},
      {file_of("{" + good + "}", 9), "1 bytes at its end belong to no tensor"},
      {file_of("{" + good + "," + good + "}", 8), "stands twice"},
      {file_of("{" + good + "," + tensor("b", "F32", "[1]", "[4,8]") + "}", 8), "begin at 8"},
      {file_of("{" + tensor("a", "F32", "[2]", "[4,12]") + "}", 12), "begin at 0"},
      {file_of("{" + tensor("a", "F32", "[3]", "[0,8]") + "}", 8), "needs 12 bytes but has 8"},
      {file_of("{" + tensor("a", "F32", "[4611686018427387904,4]", "[0,0]") + "}", 0), "can be counted"},
      {file_of("{" + tensor("a", "U8", "[4611686018427387904,0,2]", "[0,0]") + "}", 0), "can be counted"},
      {file_of("{" + tensor("a", "F32", "[9223372036854775808]", "[0,0]") + "}", 0), "too large"},
      {file_of("{" + tensor("a", "F32", "[-1]", "[0,0]") + "}", 0), "a number is missing"},
      {file_of("{" + tensor("a", "F32", "[1e3]", "[0,0]") + "}", 0), "not whole"},
      {file_of("{" + tensor("a", "F8_E4M3", "[2]", "[0,2]") + "}", 2), "type F8_E4M3, which no dtype here can hold"},
      {file_of("{" + tensor("a", "F33", "[2]", "[0,4]") + "}", 4), "unknown element type 'F33'"},
      {file_of("{" + tensor("a", "F32", "[2]", "[0]") + "}", 4), "no two data_offsets"},
      {file_of("{\"a\":{\"dtype\":\"F32\"}}", 0), "lacks its dtype, shape or data_offsets"},
      {file_of("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\"}}", 0), "twice"},
      {file_of("{\"a\":{\"evil\":1}}", 0), "unknown field 'evil'"},
      {file_of("{\"__metadata__\":{\"a\":1}}", 0), "'\"' is missing"},
      {file_of("{\"a\xff\":1}", 0), "not UTF-8"},
      {file_of("{\"\\ud800\":1}", 0), "surrogate"},
      {file_of("{\"" + std::string(1, '\1') + "\":1}", 0), "control character"},
  };
  for (const auto& [file, reason] : cases) CHECK_THAT(refusal(file), Contains(reason));
  std::string ranks = "[";
  for (int i = 0; i < 65; ++i) ranks += i ? ",1" : "1";
  CHECK_THAT(refusal(file_of("{" + tensor("a", "U8", (ranks + "]").c_str(), "[0,1]") + "}", 1)),
             Contains("more than 64 numbers"));
}

TEST_CASE("an .npy header tells dtype, order and shape") {
  // As NumPy writes them.
  const auto parse = [](const std::string& file) { return parse_npy_header(file, size_of(file)); };
  NpyHeader header = parse(npy_of("{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }        \n", 24));
  CHECK(header.dtype == DType::F32);
  CHECK(header.big_endian);
  CHECK(header.fortran_order);
  CHECK(header.sizes == Sizes{2, 3});
  header = parse(npy_of("{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n", 1));
  CHECK(header.sizes.empty());
  CHECK(header.end - header.begin == 1);
  header = parse(npy_of("{'shape': (5L,), 'fortran_order': False, 'descr': \"<i8\"}", 40, 3));
  CHECK(header.sizes == Sizes{5});
}

TEST_CASE("our .npy header is aligned and says what was given") {
  for (const Sizes& sizes : {Sizes{}, Sizes{0}, Sizes{7}, Sizes{2, 3, 4}}) {
    const std::string written = make_npy_header(DType::F64, sizes);
    CHECK(written.size() % 64 == 0);
    CHECK(written.back() == '\n');
    const NpyHeader header = parse_npy_header(written, size_of(written) + numel_of(sizes) * 8);
    CHECK(header.sizes == sizes);
    CHECK(header.dtype == DType::F64);
  }
  CHECK(make_npy_header(DType::I64, {3}).substr(10, 57) == "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }");
  CHECK_THROWS_WITH(make_npy_header(DType::BF16, {1}), Contains("bfloat16"));
}

TEST_CASE("an .npy file that cannot be is refused with its reason") {
  const auto dict = [](const char* descr, const char* shape) {
    return std::string("{'descr': ") + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  const struct {
    std::string file;
    const char* reason;
  } cases[] = {
      {"", "does not begin"},
      {"\x93NUMPY", "does not begin"},
      {"PK\3\4aaaaaaaaaa", "does not begin"},
      {npy_of("{}", 0, 4), "version is 4.0"},
      {npy_of("{}", 0), "lacks descr"},
      {npy_of(dict("'<f4'", "(2,)"), 7), "needs 8 bytes but 7 follow"},
      {npy_of(dict("'|O'", "(2,)"), 16), "pickled code"},
      {npy_of(dict("'<u2'", "(2,)"), 4), "'<u2', which no dtype here can hold"},
      {npy_of(dict("[('a', '<f4')]", "(2,)"), 8), "have fields"},
      {npy_of(dict("'<f4'", "(4611686018427387904, 4)"), 0), "can be counted"},
      {npy_of(dict("'|b1'", "(4611686018427387904, 0, 2)"), 0), "can be counted"},
      {npy_of(dict("'<f4'", "(9223372036854775808,)"), 0), "too large"},
      {npy_of(dict("'<f4'", "(-1,)"), 0), "a number is missing"},
      {npy_of(dict("'<f4'", "(2)"), 8), "no tuple"},
      {npy_of(dict("'<f4'", "[2]"), 8), "'(' is missing"},
      {npy_of("{'descr': '<f4', 'descr': '<f4'}", 0), "twice"},
      {npy_of("{'evil': __import__('os')}", 0), "unknown key 'evil'"},
      {npy_of(dict("'<f4'", "()") + "x", 4), "more than its end"},
      {std::string("\x93NUMPY\2\0\xff\xff\xff\xff", 12), "more than the 1048576"},
  };
  for (const auto& [file, reason] : cases) CHECK_THAT(npy_refusal(file), Contains(reason));
}
