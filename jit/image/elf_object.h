#pragma once
// A relocatable ELF object, read with every offset checked: the bytes may come from anywhere.
// Knows the ELF format; must not know what relocations mean.
#include <elf.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace tsc::jit {

class ElfObject {
 public:
  // InternalFault when the bytes are no 64-bit little-endian relocatable object.
  explicit ElfObject(std::string_view bytes);

  uint16_t machine() const { return machine_; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  const std::vector<Elf64_Sym>& symbols() const { return symbols_; }
  std::string_view name(const Elf64_Sym& symbol) const;
  // Empty for sections without bytes in the file.
  std::string_view content(const Elf64_Shdr& section) const;
  // The relocations of section `index`.
  std::vector<Elf64_Rela> relocations(size_t index) const;

 private:
  std::string_view part(uint64_t offset, uint64_t size) const;
  // A table of fixed-size records.
  template <class Record>
  std::vector<Record> records(std::string_view table) const {
    std::vector<Record> found(table.size() / sizeof(Record));
    if (!found.empty()) std::memcpy(found.data(), table.data(), found.size() * sizeof(Record));
    return found;
  }

  std::string_view bytes_;
  uint16_t machine_ = 0;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::string_view names_;
};

}  // namespace tsc::jit
