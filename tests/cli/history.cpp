#include "interpreter/cli/history.h"

#include <sys/resource.h>

#include <csignal>

#include "catch2/catch.hpp"
#include "process.h"

using tsc::cli::History;

TEST_CASE("a history keeps whole blocks, in a file, without repetitions") {
  tsc::test::TemporaryFolder folder;
  const std::string path = folder.path() + "/deep/er/history";
  {
    History history(path);
    history.add("if x:\n    print('a\\n')");
    history.add("  \n ");
    history.add("b");
    history.add("b");
    history.add("c");
    history.add("b");
    CHECK(history.size() == 3);
  }
  History again(path);
  REQUIRE(again.size() == 3);
  CHECK(again.at(0) == "if x:\n    print('a\\n')");
  CHECK(again.at(1) == "c");
  CHECK(again.at(2) == "b");
  CHECK(again.find_back("print", again.size()) == 0);
  CHECK(again.find_back("zzz", again.size()) == History::npos);
}

TEST_CASE("a history file that is not there or not writable is no error") {
  History nowhere("");
  nowhere.add("x");
  CHECK(nowhere.size() == 1);
  History blocked("/proc/no/such/history");
  blocked.add("x");
  CHECK(blocked.size() == 1);
}

TEST_CASE("a full disk costs whole entries, never half of one") {
  tsc::test::TemporaryFolder folder;
  const std::string path = folder.path() + "/history";
  History history(path);
  history.add("first = 1");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = before;
  small.rlim_cur = 15;
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  history.add("second = 2");
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  signal(SIGXFSZ, handler);
  CHECK(tsc::test::read_file(path) == "first = 1\n");
  history.add("third = 3");
  CHECK(tsc::test::read_file(path) == "first = 1\nthird = 3\n");
}

TEST_CASE("two sessions write one file") {
  tsc::test::TemporaryFolder folder;
  const std::string path = folder.path() + "/history";
  History a(path), b(path);
  a.add("one");
  b.add("two");
  a.add("three");
  CHECK(History(path).size() == 3);
}
