// The installed tree: what it holds, and that programs outside build against it and run.
#include <dlfcn.h>

#include <filesystem>
#include <fstream>

#include "catch2/catch.hpp"
#include "process.h"

using namespace tsc::test;
namespace fs = std::filesystem;

namespace {

ProcessResult run(std::vector<std::string> arguments,
                  std::vector<std::pair<std::string, std::string>> environment = {}) {
  ProcessOptions options;
  options.arguments = std::move(arguments);
  options.environment = std::move(environment);
  options.environment.push_back({"TENSCRIPT_STRICT_COMPILER", "1"});
  options.seconds = 300;
  return run_process(options);
}

// Runs a command that must succeed; its output.
std::string must(std::vector<std::string> arguments,
                 std::vector<std::pair<std::string, std::string>> environment = {}) {
  std::string shown;
  for (const std::string& word : arguments) shown += word + " ";
  const ProcessResult result = run(std::move(arguments), std::move(environment));
  INFO(shown << "\n" << result.out << result.err);
  REQUIRE(result.exit_code == 0);
  return result.out;
}

// The build installed once, then moved: an installed tree must not depend on where it was put.
const fs::path& prefix() {
  static const TemporaryFolder folder;
  static const fs::path moved = [] {
    const fs::path first = fs::path(folder.path()) / "first", second = fs::path(folder.path()) / "moved";
    must({TENSCRIPT_CMAKE, "--install", TENSCRIPT_BUILD_DIR, "--prefix", first.string()});
    fs::rename(first, second);
    return second;
  }();
  return moved;
}

fs::path library_folder() { return prefix() / TENSCRIPT_LIBRARY_FOLDER; }

std::string build_example(const std::string& name, const std::string& folder) {
  must({TENSCRIPT_CMAKE, "-S", TENSCRIPT_SOURCE_DIR "/examples/" + name, "-B", folder,
        "-DCMAKE_PREFIX_PATH=" + prefix().string(), "-DCMAKE_C_COMPILER=" TENSCRIPT_CC,
        "-DCMAKE_CXX_COMPILER=" TENSCRIPT_CXX, "-DCMAKE_BUILD_TYPE=Debug",
        "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror -pedantic -std=c99 " TENSCRIPT_FLAGS,
        "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror " TENSCRIPT_FLAGS});
  must({TENSCRIPT_CMAKE, "--build", folder});
  return folder + "/" + name;
}

}  // namespace

TEST_CASE("a C host built with find_package") {
  TemporaryFolder folder;
  const std::string out = must({build_example("embed_c", folder.path())});
  CHECK(out.find("mean 22.5, pixels 20 21 22 23 24 25\n") == 0);
  CHECK(out.find("error at image.tsc:8 in broken\n") != std::string::npos);
  CHECK(out.find("\nRuntimeError: matmul: ") != std::string::npos);
  CHECK(out.find("released 1\n") != std::string::npos);
}

TEST_CASE("a C++ host built with find_package") {
  TemporaryFolder folder;
  const std::string out = must({build_example("embed_cpp", folder.path())});
  CHECK(out.find("predict: 2 5 10 17\nframe: 2 4 6 8, released 1\n") == 0);
  CHECK(out.find("in predict\n") != std::string::npos);
}

TEST_CASE("a C host built with pkg-config") {
  if (run({"pkg-config", "--version"}).exit_code != 0) {
    WARN("skipped: pkg-config is not installed");
    return;
  }
  TemporaryFolder folder;
  const std::string program = folder.path() + "/host", library = library_folder().string();
  std::string flags = must({"pkg-config", "--cflags", "--libs", "tenscript"},
                           {{"PKG_CONFIG_PATH", library + "/pkgconfig"}});
  while (!flags.empty() && flags.back() == '\n') flags.pop_back();
  must({"sh", "-c", TENSCRIPT_CC " " TENSCRIPT_FLAGS " -o " + program + " " TENSCRIPT_SOURCE_DIR
                    "/examples/embed_c/main.c " + flags + " -Wl,-rpath," + library});
  CHECK(must({program}).find("released 1\n") != std::string::npos);
  CHECK(must({"pkg-config", "--modversion", "tenscript"},
             {{"PKG_CONFIG_PATH", library + "/pkgconfig"}}) == TENSCRIPT_VERSION "\n");
}

TEST_CASE("the installed executable compiles") {
  const std::string program = (prefix() / "bin/tenscript").string();
  const std::string script =
      "import torch\n@torch.compile\ndef f(x): return (x * 2 + 1).sum()\nprint(f(torch.ones(4)).item())";
  CHECK(must({program, "-c", script}) == "12.0\n");
  const std::string explained = must({program, "--report", "/dev/stdout", "-c", script});
  if (fs::exists(library_folder() / "tenscript/libtenscript_llvm.so"))
    CHECK(explained.find("no_llvm") == std::string::npos);
}

TEST_CASE("one symbol is visible, and nothing of LLVM is needed to load the library") {
  if (std::string(TENSCRIPT_FLAGS).find("sanitize") != std::string::npos) return;
  const std::string library = (library_folder() / "libtenscript.so").string();
  const std::string symbols = must({"nm", "-D", "--defined-only", library});
  CHECK(symbols.find(" T tsc_get_api@@TENSCRIPT_0\n") != std::string::npos);
  CHECK(std::count(symbols.begin(), symbols.end(), '\n') == 2);  // and the version's own
  CHECK(must({"readelf", "-d", library}).find("LLVM") == std::string::npos);
}

TEST_CASE("a host with another LLVM in its global scope") {
  TemporaryFolder folder;
  const std::string source = folder.write("host.cpp", R"(
#include <dlfcn.h>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <tenscript/tenscript.hpp>
// The host's own allocator, with a header before each block: mixed up with another it breaks.
void* operator new(std::size_t size) {
  auto* block = static_cast<std::size_t*>(std::malloc(size + 16));
  block[0] = 0x7e25c41b7;
  return block + 2;
}
void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* block = static_cast<std::size_t*>(memory) - 2;
  if (block[0] != 0x7e25c41b7) std::abort();
  std::free(block);
}
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
int main(int, char** names) {
  void* other = dlopen(names[1], RTLD_NOW | RTLD_GLOBAL);
  if (other == nullptr) return 77;
  auto make = reinterpret_cast<void* (*)()>(dlsym(other, "LLVMContextCreate"));
  auto drop = reinterpret_cast<void (*)(void*)>(dlsym(other, "LLVMContextDispose"));
  void* context = make();
  double sum = 0;
  {
    tenscript::Engine engine;
    engine.run_source("import torch\n@torch.compile\ndef f(x): return (x.exp() * 2).sum()\n"
                      "y = f(torch.zeros(5)).item()\n");
    sum = engine.get("y").as<double>();
    if (engine.report().find("no_llvm") != std::string::npos) return 3;
  }
  drop(context);
  drop(make());
  std::printf("%g\n", sum);
  return 0;
}
)");
  const std::string program = folder.path() + "/host", library = library_folder().string();
  must({TENSCRIPT_CXX, "-std=c++17", "-rdynamic", "-o", program, source, "-I" + (prefix() / "include").string(),
        "-L" + library, "-ltenscript", "-ldl", "-Wl,-rpath," + library});
  int tested = 0;
  for (const char* other : {"libLLVM-14.so.1", "libLLVM-15.so.1", "libLLVM.so.19.1"}) {
    const ProcessResult result = run({program, other});
    INFO(other << "\n" << result.out << result.err);
    if (result.exit_code == 77) continue;
    CHECK(result.exit_code == 0);
    CHECK(result.out == "10\n");
    ++tested;
  }
  if (tested == 0) WARN("skipped: no other LLVM library is installed");
}

TEST_CASE("the Debian package") {
  if (run({"dpkg-deb", "--version"}).exit_code != 0) {
    WARN("skipped: dpkg-deb is not installed");
    return;
  }
  TemporaryFolder folder;
  must({TENSCRIPT_CPACK, "--config", TENSCRIPT_BUILD_DIR "/CPackConfig.cmake", "-B", folder.path(),
        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"});
  std::string package;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    if (entry.path().extension() == ".deb") package = entry.path().string();
  REQUIRE_FALSE(package.empty());
  const std::string about = must({"dpkg-deb", "-f", package});
  CHECK(about.find("Package: tenscript\n") != std::string::npos);
  if (run({"dpkg-shlibdeps", "--version"}).exit_code == 0) {
    CHECK(about.find("libtbb") != std::string::npos);
    if (fs::exists(library_folder() / "tenscript/libtenscript_llvm.so"))
      CHECK(about.find("libllvm19") != std::string::npos);
  }
  const std::string root = folder.path() + "/root";
  must({"dpkg-deb", "-x", package, root});
  CHECK(must({root + "/usr/bin/tenscript", "-c", "print(6 * 7)"}) == "42\n");
  CHECK(fs::exists(root + "/usr/include/tenscript/tenscript.h"));
}
