#pragma once
// Many cache entries as one string of bytes: what carries compiled kernels to another machine.
// Keeps: every entry has its own checksum, so one damaged entry does not lose the others.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/cache/entry.h"

namespace tsc::jit {

std::string pack_artifacts(std::span<const CacheEntry> entries);

struct UnpackedArtifacts {
  std::vector<CacheEntry> entries;
  // One for each entry that cannot be read, and one when the whole is cut short or of another
  // format.
  std::vector<std::string> problems;
};
UnpackedArtifacts unpack_artifacts(std::string_view bytes);

}  // namespace tsc::jit
