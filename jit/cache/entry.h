#pragma once
// One entry of the disk cache as bytes: what it was made from and by, a kernel's machine code or a region's
// plan, a checksum. Must not know files, nor what a plan's bytes mean. Keeps: reading never trusts a length; every byte
// of an entry is checked.
#include <string>
#include <string_view>

#include "jit/image/code_image.h"
#include "runtime/base/hash.h"

namespace tsc::jit {

struct CacheEntry {
  enum class Kind : uint8_t { Kernel, Plan };
  std::string identity;  // machine_code_identity() of its maker
  std::string program;   // what it is made from: a kernel program's canonical text, or a plan_key
  CodeImage image;       // of a kernel
  Kind kind = Kind::Kernel;
  std::string plan = {};  // of a plan (jit/plan)
  bool operator==(const CacheEntry&) const = default;
};

std::string pack_entry(const CacheEntry& entry);

// Fills `entry` and returns "", or returns what is wrong with the bytes.
std::string unpack_entry(std::string_view bytes, CacheEntry* entry);

// "5f0c...e1.kernel", ".plan": where the entry of a program is kept. The content decides, nothing else: no
// path, no place in the source.
std::string entry_file_name(std::string_view identity, std::string_view program,
                            CacheEntry::Kind kind = CacheEntry::Kind::Kernel);
std::string_view entry_suffix(CacheEntry::Kind kind);

}  // namespace tsc::jit
