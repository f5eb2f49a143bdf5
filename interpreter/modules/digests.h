#pragma once
// Message digests: MD5 (RFC 1321), SHA-1 and SHA-2 (FIPS 180-4). Knows: bytes, nothing of the Vm.
#include <string>
#include <string_view>

namespace tsc::interp {

// The digest of a name ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"); empty for another name.
std::string digest(std::string_view name, std::string_view data);

}  // namespace tsc::interp
