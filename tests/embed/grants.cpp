// Grants: an engine reaches nothing that its host did not give, by no path.
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "catch2/catch.hpp"
#include "interpreter/embed/tenscript.hpp"
#include "process.h"
#include "standard_input.h"

using namespace tenscript;
namespace fs = std::filesystem;

namespace {

// A folder with a granted part, a secret beside it, and links from the one to the other.
struct Ground {
  tsc::test::TemporaryFolder folder;
  fs::path top;
  Ground() : top(fs::canonical(folder.path())) {
    fs::create_directories(top / "open/inner");
    fs::create_directories(top / "open_too");
    fs::create_directories(top / "closed");
    write(top / "open/data.txt", "data");
    write(top / "open/inner/deep.txt", "deep");
    write(top / "open_too/data.txt", "neighbour");
    write(top / "closed/secret.txt", "secret");
    fs::create_symlink(top / "closed", top / "open/way_out");
    fs::create_symlink("../closed/secret.txt", top / "open/relative_way_out");
    fs::create_symlink(top / "closed/new.txt", top / "open/dangling");
    fs::create_symlink("inner/deep.txt", top / "open/way_in");
    fs::create_symlink("loop", top / "open/loop");
    fs::create_symlink(top / "open", top / "alias");
  }
  static void write(const fs::path& path, const char* text) { std::ofstream(path) << text; }
  std::string path(const char* name) const { return (top / name).string(); }
};

// "" when the script may read the file, else the type of what it raised.
std::string outcome(Engine& engine, const std::string& path, const char* mode) {
  engine.set("path", engine.value(path));
  engine.set("mode", engine.value(mode));
  engine.run_source(
      "try:\n"
      "    with open(path, mode) as f:\n"
      "        text = f.read() if 'r' in mode else str(f.write('x'))\n"
      "    result = ''\n"
      "except Exception as e:\n"
      "    result = type(e).__name__\n");
  return engine.get("result").as<std::string>();
}

}  // namespace

TEST_CASE("an engine without grants reaches nothing outside itself") {
  Ground ground;
  Engine engine;
  CHECK(outcome(engine, ground.path("open/data.txt"), "r") == "PermissionError");
  CHECK(outcome(engine, "/proc/self/environ", "r") == "PermissionError");
  CHECK(outcome(engine, ground.path("open/new.txt"), "w") == "PermissionError");
  CHECK_FALSE(fs::exists(ground.path("open/new.txt")));
  for (const char* deed : {"os.listdir('.')",        "os.getcwd()",
                           "os.mkdir('made')",       "os.makedirs('made/y')",
                           "os.remove('made')",      "os.rename('made', 'made2')",
                           "os.getenv('HOME')",      "os.getpid()",
                           "os.path.exists('/etc')", "os.path.isfile('/etc/passwd')",
                           "os.path.isdir('/etc')",  "os.path.getsize('/etc/passwd')",
                           "os.path.abspath('x')",   "time.time()",
                           "time.time_ns()",         "time.perf_counter()",
                           "time.monotonic()",       "time.process_time()",
                           "time.sleep(0)",          "time.strftime('%Y')"}) {
    INFO(deed);
    std::string type, message;
    try {
      engine.run_source(std::string("import os, time\n") + deed);
    } catch (const Error& error) {
      type = error.type();
      message = error.what();
    }
    CHECK(type == "PermissionError");
    CHECK(message.find("--allow-") != std::string::npos);
  }
  engine.run_source("import os\nassert len(os.environ) == 0 and os.path.expanduser('~') == '~'");
}

TEST_CASE("a granted folder, and no way out of it") {
  Ground ground;
  Options options;
  options.read_roots = {ground.path("open")};
  Engine engine(options);
  for (const char* name : {"open/data.txt", "open/way_in", "open/inner/../data.txt", "open/inner/../inner/./deep.txt",
                           "alias/data.txt", "open//data.txt"}) {
    INFO(name);
    CHECK(outcome(engine, ground.path(name), "r") == "");
  }
  for (const char* name :
       {"closed/secret.txt", "open/../closed/secret.txt", "open/way_out/secret.txt", "open/relative_way_out",
        "open/way_out/../closed/secret.txt", "open_too/data.txt", "open/inner/../../closed/secret.txt"}) {
    INFO(name);
    CHECK(outcome(engine, ground.path(name), "r") == "PermissionError");
  }
  CHECK(outcome(engine, ground.path("open/loop"), "r") == "OSError");
  CHECK(outcome(engine, ground.path("open/nothing"), "r") == "FileNotFoundError");
  CHECK(outcome(engine, ground.path("open/nothing/../data.txt"), "r") == "FileNotFoundError");
  CHECK(outcome(engine, ground.path("open/inner"), "r") == "IsADirectoryError");
  CHECK(outcome(engine, "/proc/self/root" + ground.path("closed/secret.txt"), "r") == "PermissionError");
  // Reading is not writing.
  CHECK(outcome(engine, ground.path("open/data.txt"), "w") == "PermissionError");
  CHECK(outcome(engine, ground.path("open/data.txt"), "r+") == "PermissionError");
  CHECK(outcome(engine, ground.path("open/data.txt"), "a") == "PermissionError");
}

TEST_CASE("a folder granted for writing") {
  Ground ground;
  Options options;
  options.write_roots = {ground.path("open")};
  Engine engine(options);
  CHECK(outcome(engine, ground.path("open/new.txt"), "w") == "");
  CHECK(outcome(engine, ground.path("open/new.txt"), "a") == "");
  CHECK(fs::file_size(ground.path("open/new.txt")) == 2);
  CHECK(outcome(engine, ground.path("open/new.txt"), "x") == "FileExistsError");
  CHECK(outcome(engine, ground.path("open/new.txt"), "r") == "PermissionError");
  // A link that leads out and to nothing would make the file outside.
  CHECK(outcome(engine, ground.path("open/dangling"), "w") == "PermissionError");
  CHECK(outcome(engine, ground.path("open/way_out/new.txt"), "w") == "PermissionError");
  CHECK_FALSE(fs::exists(ground.path("closed/new.txt")));
  engine.set("top", engine.value(ground.top.string()));
  engine.run_source(
      "import os\n"
      "def denied(f, *args):\n"
      "    try: f(*args)\n"
      "    except PermissionError: return True\n"
      "    return False\n"
      "os.mkdir(top + '/open/made')\n"
      "os.rename(top + '/open/made', top + '/open/renamed')\n"
      "assert denied(os.rename, top + '/open/renamed', top + '/closed/renamed')\n"
      "assert denied(os.rename, top + '/closed/secret.txt', top + '/open/secret.txt')\n"
      "assert denied(os.remove, top + '/open/way_out/secret.txt')\n"
      "assert denied(os.makedirs, top + '/open/way_out/a/b')\n"
      "os.remove(top + '/open/way_out')\n"  // the link, not what it leads to
      "os.remove(top + '/open/dangling')\n");
  CHECK(fs::exists(ground.path("closed/secret.txt")));
  CHECK_FALSE(fs::is_symlink(ground.path("open/way_out")));
}

TEST_CASE("imports read the folders that the host named, and nothing else") {
  Ground ground;
  Ground::write(ground.top / "closed/outside.tsc", "x = 1\n");
  Ground::write(ground.top / "open/inside.tsc", "x = 2\n");
  Options options;
  options.search_paths = {ground.path("open")};
  Engine engine(options);
  engine.run_source("import inside\nassert inside.x == 2");
  CHECK_THROWS_WITH(engine.run_source("import outside"), Catch::Contains("No module named"));
  // A folder that the script adds to sys.path needs the grant for reading; the others are searched as before.
  engine.run_source("import sys\nsys.path.insert(0, '" + ground.path("closed") + "')");
  CHECK_THROWS_WITH(engine.run_source("import outside"), Catch::Contains("of sys.path may not be read"));
  engine.run_source("import json, sys\ndel sys.modules['inside']\nimport inside\nassert inside.x == 2");
  CHECK_THROWS_WITH(engine.run_source("__import__('../closed/outside')"),
                    Catch::Contains("No module named") || Catch::Contains("not defined"));
}

TEST_CASE("the host's standard input is a grant like the others") {
  const StandardInput input("first\nsecond\nthird\n");
  Engine closed;
  for (const char* deed : {"input()", "import sys\nsys.stdin.read()", "import sys\nsys.stdin.readline()",
                           "import sys\nfor line in sys.stdin: pass", "import sys\nsys.stdin.buffer.read(1)"}) {
    INFO(deed);
    CHECK_THROWS_WITH(closed.run_source(deed), Catch::Contains("PermissionError: reading standard input") &&
                                                   Catch::Contains("--allow-input") &&
                                                   Catch::Contains("TSC_GRANT_INPUT"));
  }
  Options options;
  options.grants = TSC_GRANT_INPUT;
  Engine open(options);
  open.run_source("import sys\nassert input() == 'first' and sys.stdin.read() == 'second\\nthird\\n'");
}

TEST_CASE("text that a script runs is a grant of its own") {
  Engine closed;
  for (const char* deed : {"exec('1')", "eval('1')", "compile('1', 'f', 'exec')"}) {
    INFO(deed);
    CHECK_THROWS_WITH(closed.run_source(deed), Catch::Contains("PermissionError") && Catch::Contains("--allow-code") &&
                                                   Catch::Contains("TSC_GRANT_CODE"));
  }
  Options options;
  options.grants = TSC_GRANT_CODE;
  Engine open(options);
  open.run_source("exec('x = 2')\nassert eval('x + 1') == 3");
}

TEST_CASE("single grants") {
  ::setenv("TENSCRIPT_TEST_GRANT", "seen", 1);
  Options options;
  options.grants = TSC_GRANT_CLOCK | TSC_GRANT_ENVIRONMENT;
  Engine engine(options);
  engine.run_source(
      "import os, time\n"
      "assert time.time() > 1e9\n"
      "assert os.getenv('TENSCRIPT_TEST_GRANT') == 'seen'\n"
      "assert os.environ['TENSCRIPT_TEST_GRANT'] == 'seen'\n");
  CHECK_THROWS_WITH(engine.run_source("os.getpid()"), Catch::Contains("TSC_GRANT_PROCESS"));
  CHECK_THROWS_WITH(engine.run_source("open('/etc/passwd')"), Catch::Contains("TSC_GRANT_READ"));
}
