// The disk cache as a person meets it: a second process is warm, commands, environment, bad days.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "catch2/catch.hpp"
#include "process.h"

using namespace tsc::test;

namespace {

namespace fs = std::filesystem;

constexpr const char* kScript =
    "import sys\n"
    "import torch\n"
    "@torch.compile\n"
    "def f(x):\n"
    "    return (x * 2 + 1).exp()\n"
    "print(f(torch.arange(1000) / 1000).sum().item())\n"
    "counts = torch.compiler.report()\n"
    "print(counts['kernel'], counts['disk_hit'], counts['plan_hit'], counts['cache_problem'], file=sys.stderr)\n";

struct Warmth {
  TemporaryFolder folder;
  std::string cache = folder.path() + "/kernels";

  ProcessResult tenscript(std::vector<std::string> arguments,
                          std::vector<std::pair<std::string, std::string>> environment = {}) const {
    ProcessOptions options;
    options.arguments = std::move(arguments);
    options.arguments.insert(options.arguments.begin(), TENSCRIPT_EXECUTABLE);
    options.environment = {{"NO_COLOR", "1"}, {"TENSCRIPT_STRICT_COMPILER", "1"}, {"TENSCRIPT_CACHE_DIR", cache}};
    for (auto& variable : environment) options.environment.push_back(std::move(variable));
    return run_process(options);
  }
  ProcessResult run(std::vector<std::pair<std::string, std::string>> environment = {}) const {
    return tenscript({"-c", kScript}, std::move(environment));
  }
  std::vector<fs::path> entries(const char* kind = ".kernel") const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(cache))
      if (entry.path().extension() == kind) files.push_back(entry.path());
    return files;
  }
};

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the second process takes its kernels from disk and opens no LLVM") {
  Warmth warmth;
  const ProcessResult cold = warmth.run();
  CHECK(cold.exit_code == 0);
  CHECK(cold.err == "1 0 0 0\n");
  // A module that cannot be opened would be a fault: strict, and said so.
  const ProcessResult warm = warmth.run({{"TENSCRIPT_LLVM_MODULE", "/nonexistent"}});
  CHECK(warm.out == cold.out);
  CHECK(warm.err == "1 1 1 0\n");
}

TEST_CASE("the cache can be switched off and put elsewhere") {
  Warmth warmth;
  for (const char* off : {"", "off"}) {
    CHECK(warmth.run({{"TENSCRIPT_CACHE_DIR", off}}).err == "1 0 0 0\n");
    CHECK(contains(warmth.tenscript({"cache", "list"}, {{"TENSCRIPT_CACHE_DIR", off}}).out, "off"));
  }
  CHECK(warmth.tenscript({"--no-cache", "-c", kScript}).err == "1 0 0 0\n");
  CHECK_FALSE(fs::exists(warmth.cache));
  CHECK(warmth.tenscript({"cache", "path"}).out == warmth.cache + "\n");
  // Without a variable of its own: the place for caches, then the home.
  ProcessOptions options;
  options.arguments = {
      "/usr/bin/env", "-u",  "TENSCRIPT_CACHE_DIR", "-u", "XDG_CACHE_HOME", "HOME=/people/x", TENSCRIPT_EXECUTABLE,
      "cache",        "path"};
  CHECK(run_process(options).out == "/people/x/.cache/tenscript\n");
  options.arguments.insert(options.arguments.begin() + 5, "XDG_CACHE_HOME=/var/y");
  CHECK(run_process(options).out == "/var/y/tenscript\n");
}

TEST_CASE("cache lists, verifies and clears") {
  Warmth warmth;
  CHECK(contains(warmth.tenscript({"cache", "list"}).out, "0 kernels, 0 plans, 0 of 1073741824 bytes"));
  warmth.run();
  const ProcessResult list = warmth.tenscript({"cache", "list"});
  CHECK(contains(list.out, "usable  row kernel("));
  CHECK(contains(list.out, "usable  plan of f\n"));
  CHECK(contains(list.out, "1 kernel, 1 plan, "));
  CHECK(contains(warmth.tenscript({"cache", "list", "--json"}).out, "\"state\": \"usable\""));
  CHECK(contains(warmth.tenscript({"info"}).out, warmth.cache));
  CHECK(contains(warmth.tenscript({"cache", "verify"}, {{"TENSCRIPT_CACHE_SIZE", "1M"}}).out, "of 1048576 bytes"));
  CHECK(warmth.tenscript({"cache", "verify"}).exit_code == 0);
  std::ofstream(warmth.entries().at(0), std::ios::app) << "x";
  const ProcessResult damaged = warmth.tenscript({"cache", "verify"});
  CHECK(damaged.exit_code == 1);
  CHECK(contains(damaged.out, "its header says"));
  CHECK(contains(warmth.tenscript({"cache", "clear"}).out, "2 entries removed"));
  CHECK(warmth.entries().empty());
  CHECK(warmth.entries(".plan").empty());
  CHECK(warmth.tenscript({"cache"}).exit_code == 2);
  CHECK(warmth.tenscript({"cache", "empty"}).exit_code == 2);
  CHECK(warmth.tenscript({"cache", "list", "clear"}).exit_code == 2);
  CHECK(warmth.tenscript({"cache", "path"}, {{"TENSCRIPT_CACHE_SIZE", "much"}}).exit_code == 2);
}

TEST_CASE("a damaged entry is skipped with a reason and written anew") {
  const std::string kind = GENERATE(".kernel", ".plan");
  Warmth warmth;
  const ProcessResult cold = warmth.run();
  const fs::path entry = warmth.entries(kind.c_str()).at(0);
  const std::string bytes = read_file(entry.string());
  for (const size_t size : {size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    fs::resize_file(entry, size);
    const ProcessResult again = warmth.run({{"TENSCRIPT_LOGS", "cache"}});
    CHECK(again.out == cold.out);
    CHECK(contains(again.err, "is not used: it has " + std::to_string(size) + " bytes"));
    CHECK(contains(again.err, kind == ".plan" ? "1 1 0 1\n" : "1 0 1 1\n"));
    CHECK(read_file(entry.string()) == bytes);
    CHECK(warmth.run().err == "1 1 1 0\n");
  }
}

TEST_CASE("a folder that is refused or unwritable warns once and costs nothing else") {
  Warmth warmth;
  const ProcessResult cold = warmth.run();
  const std::string two =
      std::string(kScript) + "@torch.compile\ndef g(x):\n    return x.sin().sum()\ng(torch.ones(5))\n";
  chmod(warmth.cache.c_str(), 0777);
  ProcessResult result = warmth.tenscript({"-c", two});
  CHECK(result.exit_code == 0);
  CHECK(result.out == cold.out);
  CHECK(result.err == "warning: other users may write to the folder '" + warmth.cache +
                          "' (chmod go-w would change that); what is compiled is not kept on disk\n"
                          "1 0 0 1\n");
  chmod(warmth.cache.c_str(), 0700);
  // A disk that is full.
#ifdef __SANITIZE_THREAD__
  const std::string full = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";  // its start writes a file too
#else
  const std::string full = "ulimit -f 0; exec \"$@\"";
#endif
  ProcessOptions options;
  options.arguments = {"/bin/sh", "-c", full, "sh", TENSCRIPT_EXECUTABLE, "-c", two};
  options.environment = {{"TENSCRIPT_STRICT_COMPILER", "1"}, {"TENSCRIPT_CACHE_DIR", warmth.folder.path() + "/full"}};
  result = run_process(options);
  CHECK(result.exit_code == 0);
  CHECK(result.out == cold.out);
  CHECK(contains(result.err, "warning: cannot write a file: File too large"));
  CHECK(result.err.find("warning", 20) == std::string::npos);
}

TEST_CASE("processes that fill one cache at once all succeed") {
  Warmth warmth;
  std::vector<ProcessResult> results(4);
  std::vector<std::thread> threads;
  for (ProcessResult& result : results) threads.emplace_back([&] { result = warmth.run(); });
  for (std::thread& thread : threads) thread.join();
  for (const ProcessResult& result : results) {
    CHECK(result.exit_code == 0);
    CHECK(result.out == results[0].out);
  }
  CHECK(warmth.entries().size() == 1);
  CHECK(warmth.entries(".plan").size() == 1);
  CHECK(warmth.tenscript({"cache", "verify"}).exit_code == 0);
}

TEST_CASE("artifacts carry kernels to another machine") {
  Warmth warmth;
  const std::string file = warmth.folder.path() + "/kernels.artifacts";
  const std::string script = kScript;
  const ProcessResult saved = warmth.tenscript(
      {"--no-cache", "-c", script + "print(torch.compiler.save_cache_artifacts(" + "'" + file + "')[1])\n"});
  CHECK(contains(saved.out, "CacheInfo(kernels=1, plans=1, skipped=0)"));
  const std::string load = "import torch\nprint(torch.compiler.load_cache_artifacts('" + file + "'))\n";
  // Without a disk they stay in memory; with one they are kept.
  const ProcessResult loaded = warmth.tenscript({"--no-cache", "-c", load + script});
  CHECK(contains(loaded.out, "CacheInfo(kernels=1, plans=1, skipped=0)"));
  CHECK(loaded.err == "1 1 1 0\n");
  CHECK(warmth.tenscript({"-c", load}).exit_code == 0);
  CHECK(warmth.run().err == "1 1 1 0\n");
  CHECK(contains(warmth.tenscript({"-c", "import torch\nprint(torch.compiler.save_cache_artifacts())"}).out, "None"));
  // Damaged: the entry is not used, and the log says why.
  std::string bytes = read_file(file);
  for (const size_t at : {size_t{0}, size_t{9}, size_t{17}, bytes.size() / 2, bytes.size() - 1}) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    warmth.folder.write("kernels.artifacts", damaged);
    const ProcessResult result = warmth.tenscript({"--no-cache", "--log=cache", "-c", load});
    INFO("byte " << at << "\n" << result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.err, "artifact"));
    const bool whole_lost = result.out == "None\n";
    CHECK((at == 9 || whole_lost || contains(result.out, "skipped=1")));
  }
}

TEST_CASE("a sandboxed script cannot bring machine code of its own") {
  Warmth warmth;
  const ProcessResult refused =
      warmth.tenscript({"--sandbox", "-c", "import torch\ntorch.compiler.load_cache_artifacts(b'')"});
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.err, "PermissionError"));
  // Nor through a folder that it may write.
  fs::create_directory(warmth.cache);
  for (const std::string& root : {warmth.folder.path(), warmth.cache}) {
    const ProcessResult result = warmth.tenscript({"--allow-write=" + root, "-c", kScript});
    CHECK(contains(result.err, "warning: scripts may write to the folder"));
    CHECK(warmth.entries().empty());
  }
  CHECK(warmth.tenscript({"--sandbox", "-c", kScript}).err == "1 0 0 0\n");
  CHECK(warmth.tenscript({"--sandbox", "-c", kScript}).err == "1 1 1 0\n");
}

// The program is found through PATH, so that its own name says nothing about where it lies.
TEST_CASE("no compiler module is taken from the working folder or from around it") {
  TemporaryFolder folder;
  fs::create_directory(folder.path() + "/inner");
  for (const char* place : {"/", "/inner/"}) {
    std::ofstream(folder.path() + place + "libtenscript_llvm.so") << "not a module";
  }
  const fs::path program = TENSCRIPT_EXECUTABLE;
  ProcessOptions options;
  options.arguments = {
      "/usr/bin/env", "PATH=" + program.parent_path().string(), program.filename().string(), "--no-background", "-c",
      kScript};
  options.environment = {{"TENSCRIPT_STRICT_COMPILER", "1"}, {"TENSCRIPT_CACHE_DIR", "off"}};
  options.folder = folder.path() + "/inner";
  const ProcessResult result = run_process(options);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "1 0 0 0"));
}
