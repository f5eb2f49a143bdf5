#pragma once
// One entry of the disk cache as bytes: what it was made from and by, its machine code, a checksum.
// Must not know files. Keeps: reading never trusts a length; every byte of an entry is checked.
#include <string>
#include <string_view>

#include "jit/image/code_image.h"
#include "runtime/base/hash.h"

namespace tsc::jit {

struct CacheEntry {
  std::string identity;  // machine_code_identity() of its maker
  std::string program;   // the kernel program's canonical text
  CodeImage image;
  bool operator==(const CacheEntry&) const = default;
};

std::string pack_entry(const CacheEntry& entry);

// Fills `entry` and returns "", or returns what is wrong with the bytes.
std::string unpack_entry(std::string_view bytes, CacheEntry* entry);

// "5f0c...e1.kernel": where the entry of a program is kept. The content decides, nothing else: no
// path, no place in the source, no name.
std::string entry_file_name(std::string_view identity, std::string_view program);

}  // namespace tsc::jit
