// The embedded library is the folder stdlib/, file by file.
#include "stdlib/embedded.h"

#include <set>

#include "catch2/catch.hpp"
#include "source_tree.h"

using namespace tsc::meta;

TEST_CASE("every library file is embedded, byte by byte") {
  std::set<std::string> paths;
  for (const SourceFile& file : source_files()) {
    if (file.path.rfind("stdlib/", 0) != 0 || !has_suffix(file.path, ".tsc")) continue;
    const std::string path = file.path.substr(7);
    paths.insert(path);
    INFO(path);
    const tsc::stdlib::EmbeddedFile* found = tsc::stdlib::find(path);
    REQUIRE(found != nullptr);
    CHECK(found->text == file.text);
    CHECK_FALSE(found->bytecode.empty());
  }
  CHECK(static_cast<std::size_t>(tsc::stdlib::end() - tsc::stdlib::begin()) == paths.size());
}

TEST_CASE("a library file that does not exist is not found") {
  CHECK(tsc::stdlib::find("no/such.tsc") == nullptr);
  CHECK(tsc::stdlib::find("") == nullptr);
  CHECK(tsc::stdlib::find("~") == nullptr);
}
