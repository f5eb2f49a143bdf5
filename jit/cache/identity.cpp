#include "jit/cache/identity.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <set>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tsc::jit {

const char* code_version() {
  return
#include "code_version.inc"
      ;
}

bool is_built_with_llvm() { return !std::string_view(code_version()).ends_with("llvm none"); }

namespace {

#if defined(__x86_64__)

// A leaf of the CPUID instruction and the bits of EAX, EBX, ECX, EDX that say what code may be used
// and tuned for; the others change from core to core, or with the hypervisor.
struct Leaf {
  uint32_t leaf, subleaf;
  uint32_t mask[4];
};

constexpr uint32_t kAll = 0xFFFFFFFF;
constexpr Leaf kLeaves[] = {
    {1, 0, {0x0FFF3FFF, 0, 0x7FFFFFFF, kAll}},  // family, model, stepping; not the APIC's number
    {7, 0, {0, kAll, kAll, 0x03FFF9FF}},        // not the mitigations
    {7, 1, {kAll, 0, 0, kAll}},                 // AVX-VNNI, AMX ...
    {0xD, 1, {kAll, 0, 0, 0}},                  // XSAVE's variants
    {0x80000001, 0, {0, 0, kAll, kAll}},        // AMD's: LZCNT, FMA4 ...
};

// The registers' state that the system saves: without it a processor's AVX cannot be used.
uint64_t enabled_state() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

#endif

}  // namespace

#if defined(__x86_64__)

std::string processor_identity() {
  std::string text = "x86-64";
  char part[64];
  for (const Leaf& leaf : kLeaves) {
    uint32_t found[4] = {};
    __get_cpuid_count(leaf.leaf, leaf.subleaf, &found[0], &found[1], &found[2], &found[3]);
    for (int i = 0; i < 4; ++i) found[i] &= leaf.mask[i];
    std::snprintf(part, sizeof part, " %x:%x:%x:%x", found[0], found[1], found[2], found[3]);
    text += part;
    const bool has_xgetbv = leaf.leaf == 1 && (found[2] >> 27 & 1);
    if (!has_xgetbv) continue;
    std::snprintf(part, sizeof part, " %llx", static_cast<unsigned long long>(enabled_state()));
    text += part;
  }
  return text;
}

#else

// What the kernel says of the cores; several kinds of core are all named.
std::string processor_identity() {
  std::set<std::string> lines;
  std::ifstream stream("/proc/cpuinfo");
  for (std::string line; std::getline(stream, line);)
    if (line.rfind("CPU ", 0) == 0 || line.rfind("Features", 0) == 0) lines.insert(line);
  std::string text = "other";
  for (const std::string& line : lines) text += "; " + line;
  return text;
}

#endif

std::string machine_code_identity() {
  return std::string("tenscript kernel 1\ncode ") + code_version() + "\nprocessor " + processor_identity() + "\n";
}

}  // namespace tsc::jit
