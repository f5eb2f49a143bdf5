// An object becomes an image: the kernel's section and those it refers to are laid out, every
// relocation between them is resolved, and calls of the runtime go through stubs that read a slot
// of the data.
#include <algorithm>
#include <limits>
#include <optional>

#include "jit/image/code_image.h"
#include "jit/image/elf_object.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

// How a relocation's place is filled with the target S, the addend A and the place's own position
// P.
enum class Form : uint8_t {
  Relative32,  // S + A - P
  Relative64,
  Slot32,    // the position of the target's slot + A - P
  Branch26,  // AArch64 b, bl: (S + A - P) / 4
  Page21,    // AArch64 adrp: pages from P to S + A
  Low12,     // AArch64: the low 12 bits of S + A, divided by the size of the access
};

struct RelocationRow {
  uint16_t machine;
  uint32_t type;
  Form form;
  uint8_t shift = 0;  // Low12: log2 of the access size
};

constexpr RelocationRow kRelocations[] = {
    {EM_X86_64, R_X86_64_PC32, Form::Relative32},
    {EM_X86_64, R_X86_64_PLT32, Form::Relative32},
    {EM_X86_64, R_X86_64_PC64, Form::Relative64},
    {EM_X86_64, R_X86_64_GOTPCREL, Form::Slot32},
    {EM_X86_64, R_X86_64_GOTPCRELX, Form::Slot32},
    {EM_X86_64, R_X86_64_REX_GOTPCRELX, Form::Slot32},
    {EM_AARCH64, R_AARCH64_PREL32, Form::Relative32},
    {EM_AARCH64, R_AARCH64_PREL64, Form::Relative64},
    {EM_AARCH64, R_AARCH64_CALL26, Form::Branch26},
    {EM_AARCH64, R_AARCH64_JUMP26, Form::Branch26},
    {EM_AARCH64, R_AARCH64_ADR_PREL_PG_HI21, Form::Page21},
    {EM_AARCH64, R_AARCH64_ADD_ABS_LO12_NC, Form::Low12, 0},
    {EM_AARCH64, R_AARCH64_LDST8_ABS_LO12_NC, Form::Low12, 0},
    {EM_AARCH64, R_AARCH64_LDST16_ABS_LO12_NC, Form::Low12, 1},
    {EM_AARCH64, R_AARCH64_LDST32_ABS_LO12_NC, Form::Low12, 2},
    {EM_AARCH64, R_AARCH64_LDST64_ABS_LO12_NC, Form::Low12, 3},
    {EM_AARCH64, R_AARCH64_LDST128_ABS_LO12_NC, Form::Low12, 4},
};

constexpr uint64_t kStubBytes = 16;

const RelocationRow& row_of(uint16_t machine, uint32_t type) {
  for (const RelocationRow& row : kRelocations)
    if (row.machine == machine && row.type == type) return row;
  TSC_CHECK(false, "relocation of type " + std::to_string(type) + " for machine " + std::to_string(machine) +
                       " is not in the table of jit/image/link.cpp");
}

template <class Integer>
Integer read(const std::string& bytes, uint64_t at) {
  Integer number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

template <class Integer>
void write(std::string& bytes, uint64_t at, Integer number) {
  std::memcpy(bytes.data() + at, &number, sizeof number);
}

uint32_t adrp_immediate(int64_t pages) {
  const auto bits = static_cast<uint32_t>(pages);
  return (bits & 3) << 29 | (bits >> 2 & 0x7FFFF) << 5;
}

// Wraps: the numbers of an object may be anything, and what comes out is checked.
int64_t wrapping_sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

int64_t page_of(int64_t position) { return position >> 12; }

void check_range(int64_t value, int bits) {
  const int64_t limit = int64_t{1} << (bits - 1);
  TSC_CHECK(value >= -limit && value < limit, "a relocation reaches too far");
}

class Linker {
 public:
  explicit Linker(std::string_view object) : object_(object), places_(object_.sections().size()) {}

  CodeImage link(const std::string& symbol) {
    const Elf64_Sym& kernel = find(symbol);
    add_section(kernel.st_shndx);
    // The list grows while it is read.
    for (size_t i = 0; i < order_.size(); ++i) add_targets(order_[i]);
    lay_out_imports();
    for (size_t section : order_) relocate(section);
    const Place& place = *places_[kernel.st_shndx];
    TSC_CHECK(place.is_text, "the kernel's symbol is no code");
    TSC_CHECK(kernel.st_value < image_.text.size(), "the kernel begins outside its section");
    image_.entry = static_cast<uint32_t>(place.offset + kernel.st_value);
    return std::move(image_);
  }

 private:
  struct Place {
    bool is_text = false;
    uint64_t offset = 0;
  };

  // A function: the object's own file may have the same name.
  const Elf64_Sym& find(const std::string& symbol) const {
    for (const Elf64_Sym& known : object_.symbols())
      if (ELF64_ST_TYPE(known.st_info) == STT_FUNC && known.st_shndx != SHN_UNDEF && object_.name(known) == symbol)
        return known;
    TSC_CHECK(false, "the object has no symbol '" + symbol + "'");
  }

  const Elf64_Sym& target(const Elf64_Rela& relocation) const {
    const uint64_t number = ELF64_R_SYM(relocation.r_info);
    TSC_CHECK(number < object_.symbols().size(), "a relocation's symbol does not exist");
    return object_.symbols()[number];
  }

  void add_section(size_t index) {
    TSC_CHECK(index < places_.size(), "a symbol is in no section of the object");
    if (places_[index]) return;
    const Elf64_Shdr& section = object_.sections()[index];
    TSC_CHECK((section.sh_flags & SHF_ALLOC) && !(section.sh_flags & SHF_WRITE) && section.sh_type == SHT_PROGBITS,
              "kernels consist of code and constants, not of variables");
    const uint64_t alignment = std::max<uint64_t>(section.sh_addralign, 1);
    TSC_CHECK((alignment & (alignment - 1)) == 0 && alignment <= 4096, "strange alignment");
    Place place;
    place.is_text = (section.sh_flags & SHF_EXECINSTR) != 0;
    std::string& bytes = place.is_text ? image_.text : image_.data;
    bytes.resize((bytes.size() + alignment - 1) & ~(alignment - 1));
    place.offset = bytes.size();
    bytes += object_.content(section);
    places_[index] = place;
    order_.push_back(index);
  }

  void add_targets(size_t index) {
    for (const Elf64_Rela& relocation : object_.relocations(index)) {
      const Elf64_Sym& symbol = target(relocation);
      if (symbol.st_shndx == SHN_UNDEF) import_number(std::string(object_.name(symbol)));
      else add_section(symbol.st_shndx);
    }
  }

  size_t import_number(const std::string& name) {
    for (size_t i = 0; i < image_.imports.size(); ++i)
      if (image_.imports[i].name == name) return i;
    image_.imports.push_back({0, name});
    return image_.imports.size() - 1;
  }

  void lay_out_imports() {
    if (!image_.imports.empty()) {
      image_.text.resize((image_.text.size() + kStubBytes - 1) & ~(kStubBytes - 1));
      first_stub_ = image_.text.size();
      image_.text.resize(first_stub_ + kStubBytes * image_.imports.size());
      image_.data.resize((image_.data.size() + 7) & ~uint64_t{7});
    }
    TSC_CHECK(image_.text.size() + image_.data.size() < (1u << 30), "a kernel of a gigabyte");
    data_start_ = (image_.text.size() + kImagePage - 1) / kImagePage * kImagePage;
    for (size_t i = 0; i < image_.imports.size(); ++i) {
      image_.imports[i].slot = static_cast<uint32_t>(image_.data.size());
      image_.data.append(8, '\0');
      write_stub(i);
    }
  }

  uint64_t stub(size_t import) const { return first_stub_ + kStubBytes * import; }
  uint64_t slot(size_t import) const { return data_start_ + image_.imports[import].slot; }

  void write_stub(size_t import) {
    const uint64_t at = stub(import);
    const auto from = static_cast<int64_t>(at), to = static_cast<int64_t>(slot(import));
    if (object_.machine() == EM_AARCH64) {
      write<uint32_t>(image_.text, at, 0x90000010 | adrp_immediate(page_of(to) - page_of(from)));
      write<uint32_t>(image_.text, at + 4, 0xF9400210 | static_cast<uint32_t>(to & 0xFFF) / 8 << 10);
      write<uint32_t>(image_.text, at + 8, 0xD61F0200);  // br x16
      return;
    }
    write<uint16_t>(image_.text, at, 0x25FF);  // jmp *slot(%rip)
    write<int32_t>(image_.text, at + 2, static_cast<int32_t>(to - from - 6));
  }

  // The position that a relocation means, in the whole image.
  int64_t position(const Elf64_Sym& symbol, Form form) {
    if (symbol.st_shndx == SHN_UNDEF) {
      const size_t import = import_number(std::string(object_.name(symbol)));
      return static_cast<int64_t>(form == Form::Slot32 ? slot(import) : stub(import));
    }
    TSC_CHECK(form != Form::Slot32, "an address of the kernel's own in a table");
    const Place& place = *places_[symbol.st_shndx];
    return static_cast<int64_t>((place.is_text ? 0 : data_start_) + place.offset + symbol.st_value);
  }

  void relocate(size_t index) {
    const Place& place = *places_[index];
    std::string& bytes = place.is_text ? image_.text : image_.data;
    const uint64_t start = place.is_text ? 0 : data_start_;
    for (const Elf64_Rela& relocation : object_.relocations(index)) {
      const RelocationRow& row = row_of(object_.machine(), static_cast<uint32_t>(ELF64_R_TYPE(relocation.r_info)));
      const uint64_t width = row.form == Form::Relative64 ? 8 : 4;
      const uint64_t size = object_.content(object_.sections()[index]).size();
      TSC_CHECK(relocation.r_offset <= size && width <= size - relocation.r_offset,
                "a relocation lies outside its section");
      const uint64_t at = place.offset + relocation.r_offset;
      fill(bytes, at, row, wrapping_sum(position(target(relocation), row.form), relocation.r_addend),
           static_cast<int64_t>(start + at));
    }
  }

  static void fill(std::string& bytes, uint64_t at, const RelocationRow& row, int64_t to, int64_t from) {
    const int64_t distance = wrapping_sum(to, -from);
    switch (row.form) {
      case Form::Relative32:
      case Form::Slot32:
        check_range(distance, 32);
        write(bytes, at, static_cast<int32_t>(distance));
        break;
      case Form::Relative64: write(bytes, at, distance); break;
      case Form::Branch26:
        check_range(distance, 28);
        write(bytes, at,
              (read<uint32_t>(bytes, at) & 0xFC000000) | (static_cast<uint32_t>(distance >> 2) & 0x03FFFFFF));
        break;
      case Form::Page21:
        write(bytes, at, (read<uint32_t>(bytes, at) & 0x9F00001F) | adrp_immediate(page_of(to) - page_of(from)));
        break;
      case Form::Low12:
        TSC_CHECK((to & ((1 << row.shift) - 1)) == 0, "a load from an address that is not aligned");
        write(bytes, at,
              (read<uint32_t>(bytes, at) & 0xFFC003FF) | static_cast<uint32_t>(to & 0xFFF) >> row.shift << 10);
        break;
    }
  }

  ElfObject object_;
  std::vector<std::optional<Place>> places_;  // by section number
  std::vector<size_t> order_;                 // sections of the image
  CodeImage image_;
  uint64_t first_stub_ = 0, data_start_ = 0;
};

}  // namespace

CodeImage link_image(std::string_view object, const std::string& symbol) { return Linker(object).link(symbol); }

}  // namespace tsc::jit
