#pragma once
// CRC-32 as zip, gzip and PNG use it (polynomial 0xEDB88320, bits reversed). Knows bytes only.
#include <cstddef>
#include <cstdint>

namespace tsc::io {

// The checksum of bytes that follow others whose checksum was `value`; 0 for the first.
uint32_t crc32(uint32_t value, const void* data, size_t bytes);

}  // namespace tsc::io
