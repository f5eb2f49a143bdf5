// The disk cache: what it gives back, what it refuses, and what happens to it on a bad day.
#include "jit/cache/disk_cache.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "catch2/catch.hpp"
#include "jit/cache/artifacts.h"
#include "jit/cache/identity.h"
#include "process.h"

using namespace tsc::jit;
using tsc::test::read_file;
using tsc::test::TemporaryFolder;

namespace {

namespace fs = std::filesystem;
using State = DiskCacheRow::State;

CodeImage sample_image(size_t bytes = 40) {
  CodeImage image;
  image.text = std::string(bytes, '\xC3');
  image.data = std::string(16, '\0') + "data";
  image.imports = {{0, "memcpy"}, {8, "fmod"}};
  image.entry = 3;
  return image;
}

DiskCacheOptions in(const TemporaryFolder& folder, uint64_t limit = kDefaultCacheBytes) {
  return {folder.path() + "/cache", limit, "test"};
}

std::string only_file(const std::string& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".kernel") return entry.path().string();
  return "";
}

size_t entries(const std::string& folder) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) count += entry.path().extension() == ".kernel";
  return count;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void set_age(const std::string& path, int64_t seconds) {
  const timespec time = {std::time(nullptr) - seconds, 0};
  const timespec times[] = {time, time};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

bool has(DiskCache& cache, const std::string& program) {
  Problem problem;
  const bool found = cache.load(program, &problem).has_value();
  INFO(problem);
  CHECK(problem.empty());
  return found;
}

// Root may write anywhere, so as root this becomes somebody else for a while.
class Nobody {
 public:
  explicit Nobody(const TemporaryFolder& folder) {
    if (geteuid() != 0) return;
    chmod(folder.path().c_str(), 0755);
    for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
      REQUIRE(chown(entry.path().c_str(), kUser, kUser) == 0);
    REQUIRE(seteuid(kUser) == 0);
    changed_ = true;
  }
  ~Nobody() {
    if (changed_ && seteuid(0) != 0) std::abort();
  }

 private:
  static constexpr uid_t kUser = 65534;
  bool changed_ = false;
};

}  // namespace

TEST_CASE("what one cache stores another loads") {
  TemporaryFolder folder;
  DiskCache first(in(folder)), second(in(folder));
  CHECK_FALSE(has(first, "a program"));
  CHECK_FALSE(fs::exists(folder.path() + "/cache"));  // reading makes nothing
  CHECK(first.store("a program", sample_image()).empty());
  Problem problem;
  CHECK(second.load("a program", &problem) == sample_image());
  CHECK_FALSE(has(second, "another program"));
  CHECK(first.store("empty", {"\xC3", "", {}, 0}).empty());
  CHECK(second.load("empty", &problem) == CodeImage{"\xC3", "", {}, 0});
  struct stat about{};
  REQUIRE(stat((folder.path() + "/cache").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0700);
  REQUIRE(stat(only_file(folder.path() + "/cache").c_str(), &about) == 0);
  CHECK((about.st_mode & 0777) == 0600);
}

TEST_CASE("another machine's or version's entries are not used") {
  TemporaryFolder folder;
  DiskCacheOptions other = in(folder);
  other.identity = "another processor";
  DiskCache ours(in(folder)), theirs(other);
  CHECK(theirs.store("p", sample_image()).empty());
  CHECK_FALSE(has(ours, "p"));
  CHECK(ours.store("p", sample_image(50)).empty());
  CHECK(theirs.load("p", std::make_unique<Problem>().get()) == sample_image());
  Problem problem;
  std::multiset<State> states;
  for (const DiskCacheRow& row : ours.list(&problem)) states.insert(row.state);
  CHECK(states == std::multiset<State>{State::Usable, State::Foreign});
  // Renamed to where ours would be: the key inside tells.
  const std::string place = folder.path() + "/cache/" + entry_file_name("test", "p");
  fs::rename(folder.path() + "/cache/" + entry_file_name("another processor", "p"), place);
  CHECK_FALSE(ours.load("p", &problem));
  CHECK(problem.find("another machine") != std::string::npos);
}

TEST_CASE("no changed byte and no cut goes unnoticed") {
  const std::string bytes = pack_entry({"test", "a program", sample_image()});
  CacheEntry entry;
  REQUIRE(unpack_entry(bytes, &entry).empty());
  CHECK(entry == CacheEntry{"test", "a program", sample_image()});
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int flip : {0x01, 0x10, 0x80, 0xFF}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      INFO("byte " << at);
      CHECK_FALSE(unpack_entry(damaged, &entry).empty());
    }
  for (size_t size = 0; size < bytes.size(); ++size) {
    INFO(size << " bytes");
    CHECK_FALSE(unpack_entry(bytes.substr(0, size), &entry).empty());
  }
  CHECK_FALSE(unpack_entry(bytes + '\0', &entry).empty());
}

TEST_CASE("a valid checksum over nonsense is refused too") {
  // Fields that do not fill the entry, or an image that cannot be loaded, with a checksum that
  // fits.
  CodeImage image = sample_image();
  image.entry = 40;
  CacheEntry entry;
  CHECK(unpack_entry(pack_entry({"test", "p", image}), &entry).find("byte 40") != std::string::npos);
  image = sample_image();
  image.imports[0].slot = 13;
  CHECK_FALSE(unpack_entry(pack_entry({"test", "p", image}), &entry).empty());
  image.imports[0] = {24, "memcpy"};
  CHECK_FALSE(unpack_entry(pack_entry({"test", "p", image}), &entry).empty());
  image.imports[0] = {0, "system"};
  CHECK_FALSE(unpack_entry(pack_entry({"test", "p", image}), &entry).empty());
}

TEST_CASE("a damaged file is skipped with a reason and written anew") {
  TemporaryFolder folder;
  DiskCache cache(in(folder));
  REQUIRE(cache.store("p", sample_image()).empty());
  const std::string file = only_file(cache.folder());
  const std::string bytes = read_file(file);
  for (const std::string& damaged : {std::string(), bytes.substr(0, 31), bytes.substr(0, bytes.size() - 1),
                                     std::string(bytes.size(), '\0'), std::string("#!/bin/sh\n")}) {
    write_file(file, damaged);
    Problem problem;
    CHECK_FALSE(cache.load("p", &problem));
    CHECK(problem.find("is not used") != std::string::npos);
    CHECK(cache.list(&problem).at(0).state == State::Damaged);
    CHECK(cache.store("p", sample_image()).empty());
    CHECK(has(cache, "p"));
  }
}

TEST_CASE("a folder in the place of an entry is skipped with a reason and replaced") {
  TemporaryFolder folder;
  const std::string inside = GENERATE("", "/deep/er");
  DiskCache cache(in(folder, 100000));
  REQUIRE(cache.store("p", sample_image()).empty());
  const std::string file = only_file(cache.folder());
  for (const std::string& place : {file, cache.folder() + "/size"}) {
    fs::remove(place);
    fs::create_directories(place + inside);
  }
  Problem problem;
  CHECK_FALSE(cache.load("p", &problem));
  CHECK(problem.find("no plain file") != std::string::npos);
  CHECK(cache.list(&problem).at(0).state == State::Damaged);
  CHECK(cache.store("p", sample_image()).empty());
  CHECK(has(cache, "p"));
  CHECK(fs::is_regular_file(cache.folder() + "/size"));
  fs::remove(file);
  fs::create_directories(file + inside);
  CHECK(cache.clear(&problem).first == 1);
  CHECK(problem.empty());
  CHECK_FALSE(fs::exists(file));
}

TEST_CASE("an entry that cannot be replaced costs itself and no other") {
  TemporaryFolder folder;
  DiskCache cache(in(folder));
  REQUIRE(cache.store("p", sample_image()).empty());
  const std::string file = only_file(cache.folder());
  fs::remove(file);
  fs::create_directories(file + "/held");
  {
    const Nobody nobody(folder);
    chmod(file.c_str(), 0500);
    CHECK(cache.store("p", sample_image()).find("cannot replace") != std::string::npos);
    CHECK(cache.store("q", sample_image()).empty());
    CHECK(has(cache, "q"));
    chmod(file.c_str(), 0700);
  }
}

TEST_CASE("a folder that is removed beside a writer is made again") {
  TemporaryFolder folder;
  DiskCache cache(in(folder));
  REQUIRE(cache.store("p", sample_image()).empty());
  fs::remove_all(cache.folder());
  CHECK_FALSE(has(cache, "p"));
  CHECK(cache.store("q", sample_image()).empty());
  CHECK(entries(cache.folder()) == 1);
  CHECK(has(cache, "q"));
  fs::remove_all(cache.folder());
  write_file(cache.folder(), "");
  CHECK(cache.store("r", sample_image()).find("no longer kept") != std::string::npos);
}

TEST_CASE("emptying the cache beside those who write stops nobody") {
  TemporaryFolder folder;
  std::atomic<int> wrong{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int t = 0; t < 2; ++t)
    writers.emplace_back([&, t] {
      DiskCache cache(in(folder));
      for (int i = 0; i < 300; ++i)
        if (!cache.store("p" + std::to_string(t), sample_image(20000)).empty()) ++wrong;
      cache.store("last" + std::to_string(t), sample_image());
    });
  std::thread cleaner([&] {
    while (!done) {
      Problem problem;
      DiskCache(in(folder)).clear(&problem);
      if (!problem.empty()) ++wrong;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  for (std::thread& writer : writers) writer.join();
  done = true;
  cleaner.join();
  CHECK(wrong == 0);
  DiskCache after(in(folder));
  CHECK(after.store("q", sample_image()).empty());
  CHECK(has(after, "q"));
}

TEST_CASE("only plain files of this user are read") {
  TemporaryFolder folder;
  DiskCache cache(in(folder));
  REQUIRE(cache.store("p", sample_image()).empty());
  const std::string file = only_file(cache.folder());
  Problem problem;
  chmod(file.c_str(), 0622);
  CHECK_FALSE(cache.load("p", &problem));
  CHECK(problem.find("another user may have written it") != std::string::npos);
  chmod(file.c_str(), 0600);
  fs::rename(file, folder.path() + "/elsewhere");
  fs::create_symlink(folder.path() + "/elsewhere", file);
  CHECK_FALSE(cache.load("p", &problem));
  CHECK_FALSE(problem.empty());
  fs::remove(file);
  REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  CHECK_FALSE(cache.load("p", &problem));  // and it does not wait for a writer
  CHECK(problem.find("no plain file") != std::string::npos);
  CHECK(cache.store("p", sample_image()).empty());
  CHECK(has(cache, "p"));
}

TEST_CASE("a folder that others may write is refused, once, with what to do") {
  TemporaryFolder folder;
  for (int mode : {0770, 0707, 0777}) {
    DiskCacheOptions options = in(folder);
    fs::create_directory(options.folder);
    chmod(options.folder.c_str(), static_cast<mode_t>(mode));
    DiskCache cache(options);
    Problem problem;
    CHECK_FALSE(cache.load("p", &problem));
    CHECK(problem.find("other users may write") != std::string::npos);
    CHECK_FALSE(cache.load("p", &problem));
    CHECK(problem.empty());
    CHECK(cache.store("p", sample_image()).empty());
    CHECK(fs::is_empty(options.folder));
  }
  DiskCache file({folder.write("file", ""), kDefaultCacheBytes, "test"});
  CHECK(file.store("p", sample_image()).find("Not a directory") != std::string::npos);
}

TEST_CASE("a folder that cannot be written costs one message; what is in it is still used") {
  TemporaryFolder folder;
  const DiskCacheOptions options = in(folder);
  REQUIRE(DiskCache(options).store("p", sample_image()).empty());
  {
    const Nobody nobody(folder);
    chmod(options.folder.c_str(), 0500);
    DiskCache cache(options);
    CHECK(has(cache, "p"));
    CHECK(cache.store("q", sample_image()).find("no longer kept") != std::string::npos);
    CHECK(cache.store("r", sample_image()).empty());
    CHECK(has(cache, "p"));
    chmod(options.folder.c_str(), 0700);
    DiskCache missing({options.folder + "/sub/folder", kDefaultCacheBytes, "test"});
    chmod(options.folder.c_str(), 0500);
    CHECK(missing.store("p", sample_image()).find("cannot make the folder") != std::string::npos);
    chmod(options.folder.c_str(), 0700);
  }
}

TEST_CASE("another user's folder is refused") {
  if (geteuid() != 0) {
    SUCCEED("only root can give a folder away");
    return;
  }
  TemporaryFolder folder;
  DiskCache cache(in(folder));
  REQUIRE(cache.store("p", sample_image()).empty());
  {
    const Nobody nobody(folder);
  }
  DiskCache again(in(folder));
  Problem problem;
  CHECK_FALSE(again.load("p", &problem));
  CHECK(problem.find("belongs to another user") != std::string::npos);
}

TEST_CASE("a full disk costs one message, no signal and no half file") {
  TemporaryFolder folder;
  DiskCache cache(in(folder));
  REQUIRE(cache.store("p", sample_image()).empty());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  rlimit small = before;
  small.rlim_cur = 512;
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  const Problem first = cache.store("large", sample_image(4000));
  const Problem second = cache.store("larger", sample_image(8000));
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  CHECK(first.find("File too large") != std::string::npos);
  CHECK(second.empty());
  CHECK(has(cache, "p"));
  CHECK_FALSE(has(cache, "large"));
  for (const auto& entry : fs::directory_iterator(cache.folder()))
    CHECK(entry.path().filename().string().rfind(".tmp-", 0) != 0);
}

TEST_CASE("the least recently used entries go first") {
  TemporaryFolder folder;
  const uint64_t one = pack_entry({"test", "p0", sample_image(1000)}).size();
  DiskCache cache(in(folder, one * 10));
  for (int i = 0; i < 10; ++i) {
    const std::string program = "p" + std::to_string(i);
    REQUIRE(cache.store(program, sample_image(1000)).empty());
    set_age(cache.folder() + "/" + entry_file_name("test", program), 10000 - i);
  }
  CHECK(entries(cache.folder()) == 10);
  CHECK(has(cache, "p0"));  // used now
  REQUIRE(cache.store("q0", sample_image(1000)).empty());
  CHECK(entries(cache.folder()) == 9);
  CHECK(has(cache, "p0"));
  CHECK(has(cache, "q0"));
  CHECK_FALSE(has(cache, "p1"));
  CHECK_FALSE(has(cache, "p2"));
  CHECK(has(cache, "p3"));
  REQUIRE(cache.store("giant", sample_image(one * 11)).empty());
  CHECK_FALSE(has(cache, "giant"));
  CHECK(entries(cache.folder()) == 9);
}

TEST_CASE("the count of bytes survives its file") {
  TemporaryFolder folder;
  const uint64_t one = pack_entry({"test", "p0", sample_image(1000)}).size();
  const std::string count = folder.path() + "/cache/size";
  for (const char* text : {"", "nonsense", "18446744073709551615\n", "-5\n"}) {
    DiskCache cache(in(folder, one * 4));
    for (int i = 0; i < 9; ++i) {
      if (i == 4) write_file(count, text);
      REQUIRE(cache.store("p" + std::to_string(i), sample_image(1000)).empty());
    }
    INFO("count file: " << text);
    CHECK(entries(cache.folder()) <= 4);
    CHECK(entries(cache.folder()) >= 2);
  }
}

TEST_CASE("temporary files of processes that died are removed in time") {
  TemporaryFolder folder;
  DiskCache cache(in(folder, 2000));
  REQUIRE(cache.store("p", sample_image(900)).empty());
  write_file(cache.folder() + "/.tmp-1-2", "half");
  write_file(cache.folder() + "/.tmp-3-4", "half");
  write_file(cache.folder() + "/notes.txt", "not ours");
  set_age(cache.folder() + "/.tmp-1-2", 7200);
  REQUIRE(cache.store("q", sample_image(900)).empty());
  REQUIRE(cache.store("r", sample_image(900)).empty());
  CHECK_FALSE(fs::exists(cache.folder() + "/.tmp-1-2"));
  CHECK(fs::exists(cache.folder() + "/.tmp-3-4"));
  Problem problem;
  CHECK(cache.clear(&problem).first == 1);
  CHECK(problem.empty());
  CHECK(fs::exists(cache.folder() + "/notes.txt"));
  CHECK_FALSE(fs::exists(cache.folder() + "/.tmp-3-4"));
  CHECK(cache.list(&problem).empty());
}

TEST_CASE("threads and caches on one folder do not disturb one another") {
  TemporaryFolder folder;
  const DiskCacheOptions options = in(folder, 200000);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      DiskCache cache(options);
      for (int i = 0; i < 100; ++i) {
        const size_t number = static_cast<size_t>((i * 7 + t) % 40);
        const std::string program = "p" + std::to_string(number);
        Problem problem;
        const auto found = cache.load(program, &problem);
        if (!problem.empty() || (found && !(*found == sample_image(4000 + number)))) ++wrong;
        if (!cache.store(program, sample_image(4000 + number)).empty()) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  Problem problem;
  for (const DiskCacheRow& row : DiskCache(options).list(&problem)) CHECK(row.state == State::Usable);
}

TEST_CASE("artifacts lose nothing but what is damaged") {
  const std::vector<CacheEntry> entries = {{"test", "first", sample_image()}, {"test", "second", sample_image(100)}};
  const std::string bytes = pack_artifacts(entries);
  CHECK(unpack_artifacts(bytes).entries == entries);
  CHECK(unpack_artifacts(bytes).problems.empty());
  CHECK(unpack_artifacts(pack_artifacts({})).problems.empty());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const UnpackedArtifacts cut = unpack_artifacts(bytes.substr(0, size));
    CHECK_FALSE(cut.problems.empty());
    CHECK(cut.entries.size() < 2);
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x80);
    const UnpackedArtifacts found = unpack_artifacts(damaged);
    CHECK_FALSE(found.problems.empty());
    for (const CacheEntry& entry : found.entries)
      CHECK(std::find(entries.begin(), entries.end(), entry) != entries.end());
  }
}

TEST_CASE("the identity names the code generator and the processor") {
  CHECK(machine_code_identity() == machine_code_identity());
  CHECK(machine_code_identity().find(code_version()) != std::string::npos);
  CHECK(processor_identity().size() > 20);
}
