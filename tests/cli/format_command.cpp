// `tenscript fmt` as a person meets it.
#include <sys/stat.h>
#include <unistd.h>

#include "run_tenscript.h"

using namespace tsc::test;

TEST_CASE("fmt writes files and folders, and says what it did") {
  TemporaryFolder folder;
  const std::string a = folder.write("a.tsc", "x=1\n"), b = folder.write("sub/b.tsc", "y = 2\n");
  folder.write("sub/notes.txt", "z=3\n");
  folder.write(".hidden/c.tsc", "z=3\n");
  const ProcessResult result = tenscript({"fmt", folder.path()});
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, "1 of 2 files changed"));
  CHECK(result.out.empty());
  CHECK(read_file(a) == "x = 1\n");
  CHECK(read_file(folder.path() + "/sub/notes.txt") == "z=3\n");
  CHECK(read_file(folder.path() + "/.hidden/c.tsc") == "z=3\n");
}

TEST_CASE("fmt --check and --diff write nothing") {
  TemporaryFolder folder;
  const std::string a = folder.write("a.tsc", "x=1\n");
  folder.write("b.tsc", "y = 2\n");
  const ProcessResult check = tenscript({"fmt", "--check", "a.tsc", "b.tsc"}, "", folder.path());
  CHECK(check.exit_code == 1);
  CHECK(check.out == "a.tsc\n");
  CHECK(tenscript({"fmt", "--check", "b.tsc"}, "", folder.path()).exit_code == 0);
  const ProcessResult diff = tenscript({"fmt", "a.tsc", "--diff"}, "", folder.path());
  CHECK(diff.exit_code == 0);
  CHECK(diff.out == "--- a.tsc\n+++ a.tsc\n@@ -1 +1 @@\n-x=1\n+x = 1\n");
  CHECK(tenscript({"fmt", "--diff", "--check", "a.tsc"}, "", folder.path()).exit_code == 1);
  CHECK(read_file(a) == "x=1\n");
}

TEST_CASE("fmt reads standard input") {
  const ProcessResult result = tenscript({"fmt", "-"}, "x=[1,\n2]");
  CHECK(result.out == "x = [1, 2]\n");
  CHECK(result.err.empty());
  CHECK(tenscript({"fmt", "--check", "-"}, "x = 1\n").exit_code == 0);
  CHECK(tenscript({"fmt", "--check", "-"}, "x=1\n").exit_code == 1);
}

TEST_CASE("fmt leaves a file with errors alone") {
  TemporaryFolder folder;
  const std::string bad = folder.write("bad.tsc", "x=(1\ny=]\n");
  const std::string good = folder.write("good.tsc", "x=1\n");
  const ProcessResult result = tenscript({"fmt", folder.path()});
  CHECK(result.exit_code == 1);
  CHECK(contains(result.err, "error[E0"));
  CHECK(read_file(bad) == "x=(1\ny=]\n");
  CHECK(read_file(good) == "x = 1\n");
}

TEST_CASE("fmt replaces the file in one step and keeps its mode and links") {
  TemporaryFolder folder;
  const std::string real = folder.write("real.tsc", "x=1\n");
  chmod(real.c_str(), 0750);
  REQUIRE(symlink("real.tsc", (folder.path() + "/link.tsc").c_str()) == 0);
  CHECK(tenscript({"fmt", folder.path() + "/link.tsc"}).exit_code == 0);
  struct stat about{};
  REQUIRE(lstat((folder.path() + "/link.tsc").c_str(), &about) == 0);
  CHECK(S_ISLNK(about.st_mode));
  REQUIRE(stat(real.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0750);
  CHECK(read_file(real) == "x = 1\n");
  if (geteuid() == 0) return;  // root writes where it may not
  chmod(folder.path().c_str(), 0500);
  folder.write("real.tsc", "x=1\n");
  const ProcessResult refused = tenscript({"fmt", real});
  chmod(folder.path().c_str(), 0700);
  CHECK(refused.exit_code == 1);
  CHECK(contains(refused.err, "cannot write"));
  CHECK(read_file(real) == "x=1\n");
}

TEST_CASE("fmt names what is missing") {
  TemporaryFolder folder;
  folder.write("train.tsc", "x = 1\n");
  const ProcessResult missing = tenscript({"fmt", "trian.tsc"}, "", folder.path());
  CHECK(missing.exit_code == 2);
  CHECK(contains(missing.err, "did you mean 'train.tsc'?"));
  CHECK(tenscript({"fmt"}).exit_code == 2);
  CHECK(contains(tenscript({"fmt", "--chek", "a"}).err, "did you mean '--check'?"));
  CHECK(contains(tenscript({"--diff", "a.tsc"}).err, "--diff belongs to the command 'fmt'"));
}
