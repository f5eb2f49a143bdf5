// A disk that is full, a file that may not grow, a folder that nobody may write: an OSError that
// says so, no signal, no half file.
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "catch2/catch.hpp"
#include "process.h"

using namespace tsc::test;

namespace {

bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

ProcessResult run(const std::string& script, const std::string& folder, const std::string& limits = "true") {
  ProcessOptions options;
  options.arguments = {"/bin/sh", "-c", limits + " && exec " TENSCRIPT_EXECUTABLE " -c \"$0\"", script};
  options.environment = {{"NO_COLOR", "1"}, {"TENSCRIPT_STRICT_COMPILER", "1"}, {"TENSCRIPT_CACHE_DIR", "off"}};
  options.folder = folder;
  return run_process(options);
}

}  // namespace

TEST_CASE("a full disk is an OSError of whoever writes") {
  TemporaryFolder folder;
  const ProcessResult result =
      run("import os, torch, npy, safetensors.torch\n"
          "def told(f):\n"
          "    try: f()\n"
          "    except OSError as error: print(type(error).__name__, error.errno, error.filename)\n"
          "    else: print('no error')\n"
          "def text():\n"
          "    with open('/dev/full', 'w') as file: file.write('x' * 100000)\n"
          "told(text)\n"
          "told(lambda: torch.save(torch.ones(9), '/dev/full'))\n"
          "told(lambda: safetensors.torch.save_file({'a': torch.ones(9)}, '/dev/full'))\n"
          "told(lambda: npy.save('/dev/full', torch.ones(9)))\n",
          folder.path());
  CHECK(result.exit_code == 0);
  INFO(result.out << result.err);
  CHECK(contains(result.out, "OSError 28"));
  CHECK(!contains(result.out, "no error"));
}

TEST_CASE("a file that may not grow is an error and leaves the old one whole") {
  TemporaryFolder folder;
  const ProcessResult result =
      run("import os, torch\n"
          "torch.save({'a': torch.ones(4)}, 'state.pt')\n"
          "before = open('state.pt', 'rb').read()\n"
          "try:\n"
          "    torch.save({'a': torch.ones(1000000)}, 'state.pt')\n"
          "except OSError as error:\n"
          "    print(error)\n"
          "print(open('state.pt', 'rb').read() == before, os.listdir())\n"
          "print(torch.load('state.pt'))\n",
          folder.path(), "ulimit -f 16");
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out ==
        "[Errno 27] File too large: 'state.pt'\nTrue ['state.pt']\n{'a': tensor([1., 1., 1., "
        "1.])}\n");
}

TEST_CASE("standard output that cannot be written is told and is no success") {
  TemporaryFolder folder;
  for (const char* script : {"print('x')", "for i in range(100000): print(i)"}) {
    const ProcessResult result = run(script, folder.path(), "exec > /dev/full");
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "standard output could not be written"));
  }
}

TEST_CASE("a folder without the right to write is an error with its name") {
  TemporaryFolder folder;
  folder.write("file", "");
  const ProcessResult result =
      run("import torch\n"
          "try: torch.save(1, 'file/state.pt')\n"
          "except OSError as error: print(type(error).__name__, error.filename)\n",
          folder.path());
  CHECK(result.out == "NotADirectoryError file/state.pt\n");
}

TEST_CASE("a command whose file cannot be written to the end says so and fails") {
  TemporaryFolder folder;
  folder.write("test_a.tsc", "def test_a(): pass\n");
  folder.write("a.tsc", "x  =  1\n");
  const auto command = [&](const std::string& arguments, const std::string& limits = "true") {
    ProcessOptions options;
    options.arguments = {"/bin/sh", "-c", limits + " && exec " TENSCRIPT_EXECUTABLE " " + arguments};
    options.environment = {{"TENSCRIPT_CACHE_DIR", "off"}};
    options.folder = folder.path();
    return run_process(options);
  };
  for (const char* arguments :
       {"--report /dev/full -c 'print(1)'", "--report=/dev/full --emit=ast -c 1", "test --junit /dev/full"}) {
    const ProcessResult result = command(arguments);
    INFO(arguments << "\n" << result.err);
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "cannot write '/dev/full': No space left on device"));
  }
  CHECK(std::filesystem::is_character_file("/dev/full"));
  CHECK(command("--report /dev/full -c 'import sys; sys.exit(5)'").exit_code == 5);
  CHECK(contains(command("--report nowhere/x -c 1").err, "cannot write 'nowhere/x'"));
  // A device takes the text and stays what it is.
  CHECK(contains(command("--report /dev/stdout -c 1 | cat").out, "\"totals\""));
  for (const char* arguments : {"--report old -c 1", "fmt a.tsc"}) {
    folder.write("old", "before");
    const ProcessResult result = command(arguments, "ulimit -f 0");
    INFO(arguments << "\n" << result.err);
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "File too large"));
  }
  CHECK(read_file(folder.path() + "/old") == "before");
  CHECK(read_file(folder.path() + "/a.tsc") == "x  =  1\n");
}
