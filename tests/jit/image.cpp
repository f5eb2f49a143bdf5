// Images: objects written by hand, linked, looked at byte by byte, and run where the processor
// allows.
#include <elf.h>

#include <cstring>

#include "catch2/catch.hpp"
#include "jit/image/code_image.h"
#include "runtime/base/error.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

std::string raw(std::initializer_list<int> bytes) {
  std::string text;
  for (int byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

template <class Record>
std::string raw_record(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof record};
}

uint32_t word(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  REQUIRE(at + 4 <= bytes.size());
  std::memcpy(&number, bytes.data() + at, 4);
  return number;
}

// Sections: 1 code, 2 constants, 3 relocations of the code, 4 symbols, 5 names.
// Symbols: 1 `kernel` in the code, 2 the constants' section, 3 an undefined one.
struct Object {
  uint16_t machine = EM_X86_64;
  std::string code, constants;
  std::vector<Elf64_Rela> relocations;
  uint64_t code_flags = SHF_ALLOC | SHF_EXECINSTR, constant_flags = SHF_ALLOC;
  std::string imported = "memset";

  void relocate(uint64_t at, uint32_t symbol, uint32_t type, int64_t addend) {
    relocations.push_back({at, ELF64_R_INFO(uint64_t{symbol}, type), addend});
  }

  std::string bytes() const {
    const std::string names = std::string("\0kernel\0", 8) + imported + '\0';
    std::string symbols = raw_record(Elf64_Sym{});
    symbols += raw_record(Elf64_Sym{1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, 1, 0, code.size()});
    symbols += raw_record(Elf64_Sym{0, ELF64_ST_INFO(STB_LOCAL, STT_SECTION), 0, 2, 0, 0});
    symbols += raw_record(Elf64_Sym{8, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, SHN_UNDEF, 0, 0});
    std::string fixes;
    for (const Elf64_Rela& relocation : relocations) fixes += raw_record(relocation);

    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = ET_REL;
    header.e_machine = machine;
    header.e_shentsize = sizeof(Elf64_Shdr);
    std::string body(sizeof header, '\0'), table = raw_record(Elf64_Shdr{});
    auto add = [&](uint32_t type, uint64_t flags, const std::string& content, uint32_t link, uint32_t info,
                   uint64_t alignment) {
      Elf64_Shdr section{};
      section.sh_type = type;
      section.sh_flags = flags;
      section.sh_offset = body.size();
      section.sh_size = content.size();
      section.sh_link = link;
      section.sh_info = info;
      section.sh_addralign = alignment;
      table += raw_record(section);
      body += content;
      ++header.e_shnum;
    };
    ++header.e_shnum;
    add(SHT_PROGBITS, code_flags, code, 0, 0, 16);
    add(SHT_PROGBITS, constant_flags, constants, 0, 0, 16);
    add(SHT_RELA, 0, fixes, 4, 1, 8);
    add(SHT_SYMTAB, 0, symbols, 5, 3, 8);
    add(SHT_STRTAB, 0, names, 0, 0, 1);
    header.e_shoff = body.size();
    std::memcpy(body.data(), &header, sizeof header);
    return body + table;
  }
};

// Writes the second constant to operand 0: mov 4(constants), %eax; mov (%rdi), %rcx; mov %eax,
// (%rcx); ret
Object constant_writer() {
  Object object;
  object.code = raw({0x8B, 0x05, 0, 0, 0, 0, 0x48, 0x8B, 0x0F, 0x89, 0x01, 0xC3});
  object.constants = raw({1, 0, 0, 0, 77, 0, 0, 0});
  object.relocate(2, 2, R_X86_64_PC32, 4 - 4);
  return object;
}

// memset(operand 0, 42, 4): mov (%rdi), %rdi; mov $42, %esi; mov $4, %edx; jmp memset
Object importer() {
  Object object;
  object.code = raw({0x48, 0x8B, 0x3F, 0xBE, 42, 0, 0, 0, 0xBA, 4, 0, 0, 0, 0xE9, 0, 0, 0, 0});
  object.relocate(14, 3, R_X86_64_PLT32, -4);
  return object;
}

int32_t run_on_one(const CompiledKernel& kernel) {
  int32_t out = 0;
  OperandArgument operand{&out, 0, 0};
  kernel.function(&operand, nullptr, 1, 1, nullptr);
  return out;
}

}  // namespace

TEST_CASE("an image holds code and constants at a fixed distance") {
  const CodeImage image = link_image(constant_writer().bytes(), "kernel");
  CHECK(image.entry == 0);
  CHECK(image.data == constant_writer().constants);
  CHECK(image.imports.empty());
  CHECK(image_problem(image).empty());
#if defined(__x86_64__)
  CHECK(word(image.text, 2) == kImagePage + 4 - 6);
  const Ref<CompiledKernel> kernel = load_image(image, "writer");
  CHECK(run_on_one(*kernel) == 77);
  CHECK(kernel->image() == image);
#endif
}

TEST_CASE("calls of the runtime go through a slot that loading fills in") {
  const CodeImage image = link_image(importer().bytes(), "kernel");
  REQUIRE(image.imports.size() == 1);
  CHECK(image.imports[0].name == "memset");
  CHECK(image.data == std::string(8, '\0'));
  CHECK(image_problem(image).empty());
#if defined(__x86_64__)
  const Ref<CompiledKernel> kernel = load_image(image, "importer");
  CHECK(run_on_one(*kernel) == 0x2A2A2A2A);
  // No address of this process is in what would be kept.
  CHECK(kernel->image() == image);
#endif
}

TEST_CASE("AArch64 instructions are filled in") {
  Object object;
  object.machine = EM_AARCH64;
  // adrp x0, constants+8; ldr q0, [x0, :lo12:constants+16]; bl memset; ret
  object.code = raw({0, 0, 0, 0x90, 0, 0, 0xC0, 0x3D, 0, 0, 0, 0x94, 0xC0, 0x03, 0x5F, 0xD6});
  object.constants = std::string(32, 'c');
  object.relocate(0, 2, R_AARCH64_ADR_PREL_PG_HI21, 8);
  object.relocate(4, 2, R_AARCH64_LDST128_ABS_LO12_NC, 16);
  object.relocate(8, 3, R_AARCH64_CALL26, 0);
  const CodeImage image = link_image(object.bytes(), "kernel");
  constexpr uint32_t kPages = kImagePage / 4096;  // the data begins so many pages after the code
  const uint32_t immediate = (kPages & 3) << 29 | kPages >> 2 << 5;
  CHECK(word(image.text, 0) == (0x90000000 | immediate));
  CHECK(word(image.text, 4) == (0x3DC00000 | (16 / 16) << 10));
  CHECK(word(image.text, 8) == (0x94000000 | (16 - 8) / 4));  // the stub is at 16
  CHECK(word(image.text, 16) == (0x90000010 | immediate));
  CHECK(word(image.text, 20) == (0xF9400210 | (32 / 8) << 10));  // the slot lies behind the constants
  CHECK(word(image.text, 24) == 0xD61F0200);
  object.relocations[1].r_addend = 8;
  CHECK_THROWS_AS(link_image(object.bytes(), "kernel"), InternalFault);  // not aligned for 16 bytes
}

TEST_CASE("what an image cannot hold is refused") {
  Object object = constant_writer();
  CHECK_THROWS_AS(link_image(object.bytes(), "other"), InternalFault);
  object.constant_flags |= SHF_WRITE;
  CHECK_THROWS_AS(link_image(object.bytes(), "kernel"), InternalFault);
  object = constant_writer();
  object.relocations[0].r_info = ELF64_R_INFO(2, R_X86_64_64);  // an absolute address
  CHECK_THROWS_AS(link_image(object.bytes(), "kernel"), InternalFault);
  object = constant_writer();
  object.relocations[0].r_offset = 9;  // its last byte lies behind the code
  CHECK_THROWS_AS(link_image(object.bytes(), "kernel"), InternalFault);
  object = constant_writer();
  object.relocations[0].r_addend = int64_t{1} << 40;
  CHECK_THROWS_AS(link_image(object.bytes(), "kernel"), InternalFault);
  object = importer();
  object.imported = "system";
  CHECK(image_problem(link_image(object.bytes(), "kernel")).find("'system'") != std::string::npos);
  CHECK_THROWS_AS(load_image(link_image(object.bytes(), "kernel"), ""), InternalFault);
}

TEST_CASE("no prefix of an object is read beyond its end") {
  const std::string bytes = importer().bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    CHECK_THROWS_AS(link_image(bytes.substr(0, size), "kernel"), InternalFault);
}

TEST_CASE("no byte of an object makes the linker read or write outside") {
  for (const Object& object : {constant_writer(), importer()}) {
    const std::string bytes = object.bytes();
    for (size_t at = 0; at < bytes.size(); ++at)
      for (int flip : {0x01, 0x80, 0xFF}) {
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        try {
          link_image(damaged, "kernel");
        } catch (const InternalFault&) {
        }
      }
  }
}
