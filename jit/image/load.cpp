// An image becomes code: fresh pages, the runtime's addresses filled in, then no page writable any
// more.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "jit/image/code_image.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

struct RuntimeFunction {
  const char* name;
  void* address;
};

template <class Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

using Unary32 = float(float);
using Unary64 = double(double);
using Binary32 = float(float, float);
using Binary64 = double(double, double);
using Ternary32 = float(float, float, float);
using Ternary64 = double(double, double, double);

// What code generation may call on some CPU: exact functions only, so the bits are the same as
// those of the instructions that other CPUs have.
const RuntimeFunction kRuntimeFunctions[] = {
    {"memcpy", address_of<void*(void*, const void*, size_t)>(std::memcpy)},
    {"memset", address_of<void*(void*, int, size_t)>(std::memset)},
    {"fmaf", address_of<Ternary32>(::fmaf)},
    {"fma", address_of<Ternary64>(::fma)},
    {"fmodf", address_of<Binary32>(::fmodf)},
    {"fmod", address_of<Binary64>(::fmod)},
    {"floorf", address_of<Unary32>(::floorf)},
    {"floor", address_of<Unary64>(::floor)},
    {"ceilf", address_of<Unary32>(::ceilf)},
    {"ceil", address_of<Unary64>(::ceil)},
    {"truncf", address_of<Unary32>(::truncf)},
    {"trunc", address_of<Unary64>(::trunc)},
    {"rintf", address_of<Unary32>(::rintf)},
    {"rint", address_of<Unary64>(::rint)},
};

void* runtime_function(std::string_view name) {
  for (const RuntimeFunction& function : kRuntimeFunctions)
    if (name == function.name) return function.address;
  return nullptr;
}

size_t whole_pages(size_t bytes) { return (bytes + kImagePage - 1) / kImagePage * kImagePage; }

}  // namespace

std::string image_problem(const CodeImage& image) {
  if (image.text.empty() || image.entry >= image.text.size())
    return "the kernel begins at byte " + std::to_string(image.entry) + " of " + std::to_string(image.text.size()) +
           " bytes of code";
  for (const CodeImage::Import& import : image.imports) {
    if (import.slot % 8 != 0 || image.data.size() < 8 || import.slot > image.data.size() - 8)
      return "the address of '" + import.name + "' has no place in the data";
    if (!runtime_function(import.name)) return "the code calls '" + import.name + "', which the runtime does not offer";
  }
  if (const long page = sysconf(_SC_PAGESIZE); page <= 0 || kImagePage % static_cast<uint64_t>(page))
    return "pages of " + std::to_string(page) + " bytes: images are made for at most " + std::to_string(kImagePage);
  return "";
}

Ref<CompiledKernel> load_image(const CodeImage& image, const std::string& symbol) {
  const std::string problem = image_problem(image);
  TSC_CHECK(problem.empty(), problem);
  auto kernel = make_ref<CompiledKernel>();
  const size_t text = whole_pages(image.text.size());
  const size_t data = whole_pages(image.data.size());
  void* pages = mmap(nullptr, text + data, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED)
    throw Error(ErrorKind::MemoryError, "no memory for " + std::to_string(text + data) + " bytes of machine code");
  kernel->pages_ = static_cast<std::byte*>(pages);
  kernel->mapped_bytes_ = text + data;
  kernel->data_bytes_ = image.data.size();
  kernel->imports_ = image.imports;
  kernel->entry_ = image.entry;
  kernel->symbol = symbol;
  kernel->code_bytes = static_cast<int64_t>(image.text.size());
  std::memcpy(kernel->pages_, image.text.data(), image.text.size());
  if (data != 0) std::memcpy(kernel->pages_ + text, image.data.data(), image.data.size());
  for (const CodeImage::Import& import : image.imports) {
    void* address = runtime_function(import.name);
    std::memcpy(kernel->pages_ + text + import.slot, &address, sizeof address);
  }
  bool sealed = mprotect(pages, text, PROT_READ | PROT_EXEC) == 0;
  if (data != 0) sealed = mprotect(kernel->pages_ + text, data, PROT_READ) == 0 && sealed;
  TSC_CHECK(sealed, "the system refuses executable memory to this process");
  __builtin___clear_cache(static_cast<char*>(pages), static_cast<char*>(pages) + text);
  kernel->function = reinterpret_cast<KernelFunction>(kernel->pages_ + image.entry);
  return kernel;
}

CompiledKernel::~CompiledKernel() {
  if (pages_) munmap(pages_, mapped_bytes_);
}

CodeImage CompiledKernel::image() const {
  CodeImage image;
  const char* bytes = reinterpret_cast<const char*>(pages_);
  const auto text_bytes = static_cast<size_t>(code_bytes);
  image.text.assign(bytes, text_bytes);
  if (data_bytes_ != 0) image.data.assign(bytes + whole_pages(text_bytes), data_bytes_);
  image.imports = imports_;
  image.entry = entry_;
  for (const CodeImage::Import& import : imports_) image.data.replace(import.slot, 8, 8, '\0');
  return image;
}

}  // namespace tsc::jit
