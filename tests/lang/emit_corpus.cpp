// Every script of the corpus and the library compiles to code that keeps the rules.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "emit_testing.h"

using namespace tsc::lang;

TEST_CASE("all scripts compile and verify", "[emit]") {
  namespace fs = std::filesystem;
  size_t compiled = 0;
  for (const char* folder : {"tests/scripts", "stdlib", "examples"}) {
    fs::path root = fs::path(TSC_SOURCE_FOLDER) / folder;
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() != ".tsc") continue;
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      if (text.str().find("# diagnostic:") != std::string::npos) continue;
      INFO(entry.path());
      compile_checked(text.str());
      ++compiled;
    }
  }
  CHECK(compiled > 5);
}
