#include "jit/image/elf_object.h"

#include "runtime/base/error.h"

namespace tsc::jit {

ElfObject::ElfObject(std::string_view bytes) : bytes_(bytes) {
  const std::string_view start = part(0, sizeof(Elf64_Ehdr));
  Elf64_Ehdr header;
  std::memcpy(&header, start.data(), sizeof header);
  const bool known = std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
                     header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_type == ET_REL &&
                     header.e_shentsize == sizeof(Elf64_Shdr);
  TSC_CHECK(known, "not a 64-bit little-endian relocatable ELF object");
  machine_ = header.e_machine;
  sections_ = records<Elf64_Shdr>(part(header.e_shoff, static_cast<uint64_t>(header.e_shnum) * sizeof(Elf64_Shdr)));
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type != SHT_SYMTAB) continue;
    TSC_CHECK(symbols_.empty(), "two symbol tables in one object");
    TSC_CHECK(section.sh_link < sections_.size(), "the symbol names' section does not exist");
    symbols_ = records<Elf64_Sym>(content(section));
    names_ = content(sections_[section.sh_link]);
  }
}

std::string_view ElfObject::part(uint64_t offset, uint64_t size) const {
  TSC_CHECK(offset <= bytes_.size() && size <= bytes_.size() - offset,
            "the object ends at byte " + std::to_string(bytes_.size()) + ", before byte " + std::to_string(offset) +
                " + " + std::to_string(size));
  return bytes_.substr(offset, size);
}

std::string_view ElfObject::name(const Elf64_Sym& symbol) const {
  TSC_CHECK(symbol.st_name < names_.size(), "a symbol's name lies outside the table");
  const std::string_view rest = names_.substr(symbol.st_name);
  return rest.substr(0, rest.find('\0'));
}

std::string_view ElfObject::content(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) return {};
  return part(section.sh_offset, section.sh_size);
}

std::vector<Elf64_Rela> ElfObject::relocations(size_t index) const {
  std::vector<Elf64_Rela> found;
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_info != index) continue;
    TSC_CHECK(section.sh_type != SHT_REL, "relocations without addends");
    if (section.sh_type != SHT_RELA) continue;
    const auto more = records<Elf64_Rela>(content(section));
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace tsc::jit
