#pragma once
// Which registers hold a value that may still be read: what an exit of a compiled region has to
// fill in, and what a frame may forget.
#include <cstdint>
#include <vector>

#include "lang/bytecode/bytecode.h"

namespace tsc::lang {

// Bit set over the registers of one frame.
class RegisterSet {
 public:
  explicit RegisterSet(uint32_t registers = 0) : words_((registers + 63) / 64) {}
  bool contains(uint32_t reg) const { return words_[reg / 64] >> (reg % 64) & 1; }
  void insert(uint32_t reg) { words_[reg / 64] |= uint64_t{1} << (reg % 64); }
  void erase(uint32_t reg) { words_[reg / 64] &= ~(uint64_t{1} << (reg % 64)); }
  // True when something was added.
  bool merge(const RegisterSet& other);
  std::vector<uint32_t> to_vector() const;
  bool operator==(const RegisterSet&) const = default;

 private:
  std::vector<uint64_t> words_;
};

// The registers an instruction reads and writes, in operand order. Consumed windows count as reads
// and as writes (they are left unbound), so do released registers.
struct RegisterUse {
  std::vector<uint32_t> reads, writes;
};
RegisterUse register_use(const CodeObject& code, const Instruction& instruction);

class LivenessTable {
 public:
  explicit LivenessTable(const CodeObject& code);
  // Live before the instruction at pc runs.
  const RegisterSet& live_before(uint32_t pc) const { return before_[pc]; }

 private:
  std::vector<RegisterSet> before_;
};

// Registers live at pc; computed for the whole code on first use and kept in it.
const RegisterSet& live_registers(const CodeObject& code, uint32_t pc);

}  // namespace tsc::lang
