#include "jit/cache/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>

namespace tsc::jit {
namespace {

constexpr off_t kLargestFile = 256 << 20;

Problem system_problem(const std::string& what) { return what + ": " + std::strerror(errno); }

// Owned by this user and not writable by others.
bool is_private(const struct stat& about) {
  return about.st_uid == geteuid() && (about.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

Problem make_folders(const std::filesystem::path& path) {
  std::filesystem::path made;
  for (const auto& part : path) {
    made /= part;
    if (mkdir(made.c_str(), 0700) == 0 || errno == EEXIST) continue;
    // A folder above may be closed to us and exist all the same.
    std::error_code ignored;
    if (std::filesystem::is_directory(made, ignored)) continue;
    mkdir(made.c_str(), 0700);
    return system_problem("cannot make the folder '" + made.string() + "'");
  }
  return "";
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return true;
}

bool read_all(int descriptor, std::string* bytes, size_t size) {
  bytes->resize(size);
  size_t done = 0;
  while (done < size) {
    const ssize_t count = ::read(descriptor, bytes->data() + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  bytes->resize(done);
  return true;
}

// A folder goes with what it holds; a link goes, not what it leads to.
bool remove_from(int folder, const char* name) {
  if (unlinkat(folder, name, 0) == 0) return true;
  if (errno != EISDIR) return false;
  const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR* entries = inner >= 0 ? fdopendir(inner) : nullptr;
  if (!entries) {
    if (inner >= 0) ::close(inner);
    return false;
  }
  while (const dirent* found = readdir(entries)) {
    const std::string_view part = found->d_name;
    if (part != "." && part != "..") remove_from(inner, found->d_name);
  }
  closedir(entries);
  return unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

// While it lives, a write beyond the process's file size limit is an error of the write and not a
// signal that ends the process.
class FileSizeSignal {
 public:
  FileSizeSignal() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~FileSizeSignal() {
    const int kept = errno;
    if (sigismember(&before_, SIGXFSZ) == 0) {
      const timespec now = {0, 0};
      while (sigtimedwait(&set_, nullptr, &now) == SIGXFSZ) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = kept;
  }

 private:
  sigset_t set_, before_;
};

}  // namespace

Problem PrivateFolder::open_checked(bool make, int* found) const {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  *found = ::open(path_.c_str(), kFlags);
  if (*found < 0 && errno == ENOENT) {
    if (!make) return "";
    if (Problem problem = make_folders(path_); !problem.empty()) return problem;
    *found = ::open(path_.c_str(), kFlags);
  }
  if (*found < 0) return system_problem("cannot open the folder '" + path_ + "'");
  struct stat about{};
  if (fstat(*found, &about) == 0 && is_private(about)) return "";
  ::close(*found);
  *found = -1;
  return about.st_uid != geteuid()
             ? "the folder '" + path_ + "' belongs to another user"
             : "other users may write to the folder '" + path_ + "' (chmod go-w would change that)";
}

Problem PrivateFolder::open(const std::string& path, bool make) {
  close();
  path_ = path;
  return open_checked(make, &descriptor_);
}

// The folder that the path names now, made when there is none, takes the place of the one that was opened.
Problem PrivateFolder::renew() {
  int found = -1;
  Problem problem = open_checked(true, &found);
  if (!problem.empty()) return problem;
  if (dup3(found, descriptor_, O_CLOEXEC) < 0) problem = system_problem("cannot open the folder");
  ::close(found);
  return problem;
}

void PrivateFolder::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

std::vector<PrivateFolder::File> PrivateFolder::list() const {
  std::vector<File> files;
  const int copy = openat(descriptor_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* folder = copy >= 0 ? fdopendir(copy) : nullptr;
  if (!folder) {
    if (copy >= 0) ::close(copy);
    return files;
  }
  while (const dirent* found = readdir(folder)) {
    const std::string_view name = found->d_name;
    struct stat about{};
    if (name == "." || name == "..") continue;
    if (fstatat(descriptor_, found->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    files.push_back({found->d_name, static_cast<uint64_t>(about.st_size), about.st_mtime});
  }
  closedir(folder);
  return files;
}

std::optional<std::string> PrivateFolder::read(const std::string& name, Problem* problem, int64_t* used) const {
  problem->clear();
  // Neither a link to elsewhere nor a pipe that nobody feeds.
  const int file = openat(descriptor_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) {
    if (errno != ENOENT) *problem = system_problem("cannot open it");
    return std::nullopt;
  }
  struct stat about{};
  std::string bytes;
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    *problem = "it is no plain file";
  } else if (!is_private(about)) {
    *problem = "another user may have written it";
  } else if (about.st_size > kLargestFile) {
    *problem = "it has " + std::to_string(about.st_size) + " bytes, more than any kernel";
  } else if (!read_all(file, &bytes, static_cast<size_t>(about.st_size))) {
    *problem = system_problem("cannot read it");
  }
  ::close(file);
  if (!problem->empty()) return std::nullopt;
  *used = about.st_mtime;
  return bytes;
}

// Returns an error number, or 0.
int PrivateFolder::write_temporary(const std::string& name, std::string_view bytes, Problem* problem) const {
  const int file = openat(descriptor_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) {
    const int reason = errno;
    *problem = system_problem("cannot make a file");
    return reason;
  }
  bool written;
  {
    FileSizeSignal blocked;
    written = write_all(file, bytes);
  }
  int reason = written ? 0 : errno;
  // Not synchronised: after a crash of the machine the checksum tells.
  if (::close(file) != 0 && reason == 0) reason = errno;
  if (reason == 0) return 0;
  errno = reason;
  *problem = system_problem("cannot write a file");
  unlinkat(descriptor_, name.c_str(), 0);
  return reason;
}

PrivateFolder::Written PrivateFolder::write(const std::string& name, std::string_view bytes) {
  // Different in every process, engine and moment; O_EXCL sees to the rest.
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::string temporary = std::string(kTemporaryPrefix) + std::to_string(getpid()) + "-" +
                                std::to_string(reinterpret_cast<uintptr_t>(this)) + "-" + std::to_string(now.tv_sec) +
                                "." + std::to_string(now.tv_nsec);
  const auto rename = [&] { return renameat(descriptor_, temporary.c_str(), descriptor_, name.c_str()) == 0; };
  constexpr int kAttempts = 3;  // whoever empties the folder does it once
  Written result;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    result = {};
    int reason = write_temporary(temporary, bytes, &result.problem);
    if (reason == 0) {
      if (rename() || (errno == EISDIR && remove(name) && rename())) return {};
      reason = errno;
      result = {system_problem("cannot replace " + name), true};
      unlinkat(descriptor_, temporary.c_str(), 0);
    }
    if (reason != ENOENT) return result;
    if (Problem problem = renew(); !problem.empty()) return {problem};
  }
  return result;
}

bool PrivateFolder::remove(const std::string& name) const { return remove_from(descriptor_, name.c_str()); }

void PrivateFolder::touch(const std::string& name) const {
  utimensat(descriptor_, name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

PrivateFolder::Locked::Locked(const PrivateFolder& folder, const std::string& name) {
  const auto open = [&] {
    return openat(folder.descriptor_, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  };
  descriptor_ = open();
  if (descriptor_ < 0 && errno == EISDIR && folder.remove(name)) descriptor_ = open();
  if (descriptor_ < 0 || flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
}

PrivateFolder::Locked::~Locked() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string PrivateFolder::Locked::text() const {
  char buffer[64];
  const ssize_t count = pread(descriptor_, buffer, sizeof buffer, 0);
  return {buffer, count > 0 ? static_cast<size_t>(count) : 0};
}

void PrivateFolder::Locked::set_text(const std::string& text) const {
  FileSizeSignal blocked;
  if (ftruncate(descriptor_, 0) == 0 && pwrite(descriptor_, text.data(), text.size(), 0) < 0)
    return;  // an unreadable number is counted anew
}

}  // namespace tsc::jit
