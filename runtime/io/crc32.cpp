#include "runtime/io/crc32.h"

#include <array>
#include <cstring>

namespace tsc::io {
namespace {

// Row k: what a byte adds that k more bytes follow, so that eight bytes take eight independent look-ups.
using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    tables[0][byte] = crc;
  }
  for (size_t row = 1; row < 8; ++row)
    for (uint32_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[row - 1][byte];
      tables[row][byte] = before >> 8 ^ tables[0][before & 255];
    }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

uint32_t crc32(uint32_t value, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  uint32_t crc = ~value;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    const uint32_t low = crc ^ (at[0] | at[1] << 8 | at[2] << 16 | static_cast<uint32_t>(at[3]) << 24);
    crc = kTables[7][low & 255] ^ kTables[6][low >> 8 & 255] ^ kTables[5][low >> 16 & 255] ^ kTables[4][low >> 24] ^
          kTables[3][at[4]] ^ kTables[2][at[5]] ^ kTables[1][at[6]] ^ kTables[0][at[7]];
  }
  for (; bytes > 0; --bytes, ++at) crc = crc >> 8 ^ kTables[0][(crc ^ *at) & 255];
  return ~crc;
}

}  // namespace tsc::io
