// The installed tree: what it holds, and that programs outside build against it and run.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

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
  CHECK(out.find("\nRuntimeError: mm: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)") != std::string::npos);
  CHECK(out.find("released 1\n") != std::string::npos);
}

TEST_CASE("a C++ host built with find_package") {
  TemporaryFolder folder;
  const std::string out = must({build_example("embed_cpp", folder.path())});
  CHECK(out.find("predict: 2 5 10 17\nframe: 2 4 6 8, released 1\n") == 0);
  CHECK(out.find("in predict\n") != std::string::npos);
}

namespace {

// What a server on this machine answers to GET, status line first; empty when nobody listens.
std::string http_get(int port, const std::string& path) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request = "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
    if (send(socket, request.data(), request.size(), 0) > 0) {
      char buffer[4096];
      for (ssize_t size; (size = recv(socket, buffer, sizeof buffer, 0)) > 0;)
        answer.append(buffer, static_cast<size_t>(size));
    }
  }
  close(socket);
  return answer;
}

std::string body_of(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

}  // namespace

TEST_CASE("an HTTP service: a model loaded once, requests with a deadline each") {
  if (!fs::exists("/usr/include/httplib.h")) {
    WARN("skipped: libcpp-httplib-dev is not installed");
    return;
  }
  TemporaryFolder folder;
  const std::string program = build_example("embed_server", folder.path());
  const std::string printed = folder.path() + "/printed";
  ProcessResult served;
  std::thread server([&] {
    served = run({"sh", "-c", program + " " TENSCRIPT_SOURCE_DIR "/examples/embed_server/model.tsc 0 > " + printed});
  });
  std::string line;
  for (int i = 0; i < 1200 && line.find('\n') == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    line = read_file(printed);
  }
  const int port = std::atoi(line.substr(line.rfind(':') + 1).c_str());
  CHECK(port > 0);
  const std::string once = http_get(port, "/predict?x=1,2,3,4&deadline_ms=60000");
  CHECK(once.find("200") != std::string::npos);
  std::vector<std::string> answers(4);
  std::vector<std::thread> clients;
  for (std::string& answer : answers)
    clients.emplace_back([&] { answer = http_get(port, "/predict?x=1,2,3,4&deadline_ms=60000"); });
  const std::string late = http_get(port, "/think?turns=100000000&deadline_ms=100");
  for (std::thread& client : clients) client.join();
  for (const std::string& answer : answers) CHECK(body_of(answer) == body_of(once));
  CHECK(late.find("504") != std::string::npos);
  CHECK(late.find("time limit of 100 ms") != std::string::npos);
  CHECK(http_get(port, "/predict?x=1,2&deadline_ms=60000").find("400") != std::string::npos);
  CHECK(body_of(http_get(port, "/predict?x=1,2,3,4&deadline_ms=60000")) == body_of(once));
  CHECK(body_of(http_get(port, "/stats")).find("memory ") == 0);
  http_get(port, "/quit");
  server.join();
  CHECK(served.exit_code == 0);
}

TEST_CASE("a C host built with pkg-config") {
  if (run({"pkg-config", "--version"}).exit_code != 0) {
    WARN("skipped: pkg-config is not installed");
    return;
  }
  TemporaryFolder folder;
  const std::string program = folder.path() + "/host", library = library_folder().string();
  std::string flags =
      must({"pkg-config", "--cflags", "--libs", "tenscript"}, {{"PKG_CONFIG_PATH", library + "/pkgconfig"}});
  while (!flags.empty() && flags.back() == '\n') flags.pop_back();
  must({"sh", "-c",
        TENSCRIPT_CC " " TENSCRIPT_FLAGS " -o " + program + " " TENSCRIPT_SOURCE_DIR "/examples/embed_c/main.c " +
            flags + " -Wl,-rpath," + library});
  CHECK(must({program}).find("released 1\n") != std::string::npos);
  CHECK(must({"pkg-config", "--modversion", "tenscript"}, {{"PKG_CONFIG_PATH", library + "/pkgconfig"}}) ==
        TENSCRIPT_VERSION "\n");
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
  if (*TENSCRIPT_FLAGS) {
    WARN("skipped: a sanitizer replaces the allocator that this host brings");
    return;
  }
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
  must({TENSCRIPT_CPACK, "--config", TENSCRIPT_BUILD_DIR "/CPackConfig.cmake", "-B", folder.path(), "-D",
        "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"});
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
