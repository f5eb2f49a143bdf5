#pragma once
// The machine code of one kernel as plain bytes: what the code generator gives, the disk cache
// keeps and the loader maps. Linked once, when it is made: code and constants lie at fixed
// distances, so the bytes run at any address and loading them needs no LLVM. Knows ELF objects
// (link.cpp) and pages (load.cpp); must not know programs or files. Keeps: pages are writable or
// executable, never both; code finds only the functions of one explicit table, never the process's
// symbols.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "jit/loops/kernel_program.h"
#include "runtime/base/ref.h"

namespace tsc::jit {

// Laid out as `text`, zeros up to a multiple of kImagePage, `data`.
struct CodeImage {
  // An 8-byte place in `data` that holds the address of a function of the runtime.
  struct Import {
    uint32_t slot = 0;  // offset in data
    std::string name;   // "fmod"
    bool operator==(const Import&) const = default;
  };
  std::string text;
  std::string data;
  std::vector<Import> imports;
  uint32_t entry = 0;  // of the kernel, an offset in text
  bool operator==(const CodeImage&) const = default;
};

// Text and data have different protections, and the distance between them is part of the code: a
// multiple of every page size in use.
#if defined(__aarch64__)
inline constexpr uint64_t kImagePage = 65536;
#else
inline constexpr uint64_t kImagePage = 4096;
#endif

// The function `symbol` of a relocatable ELF object (x86-64 or AArch64) with everything it refers
// to. InternalFault when the object is not one, or needs what an image cannot hold (absolute
// addresses, a relocation outside the table of link.cpp).
CodeImage link_image(std::string_view object, const std::string& symbol);

// Owns the machine code of one kernel in memory; the pages are freed with the last reference.
class CompiledKernel : public RefCounted {
 public:
  KernelFunction function = nullptr;
  std::string symbol;
  int64_t code_bytes = 0;

  // The bytes it was loaded from.
  CodeImage image() const;

 private:
  friend Ref<CompiledKernel> load_image(const CodeImage& image, const std::string& symbol);
  ~CompiledKernel() override;
  std::byte* pages_ = nullptr;
  size_t mapped_bytes_ = 0;
  size_t data_bytes_ = 0;
  uint32_t entry_ = 0;
  std::vector<CodeImage::Import> imports_;
};

// Copies the image to fresh pages, fills in the addresses of its imports and makes the code
// executable. InternalFault when the image is inconsistent or imports a function that the table
// does not have.
Ref<CompiledKernel> load_image(const CodeImage& image, const std::string& symbol);

// Whether load_image would take it; the reason when not, "" when so.
std::string image_problem(const CodeImage& image);

}  // namespace tsc::jit
