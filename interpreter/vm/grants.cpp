#include "interpreter/vm/grants.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <deque>

#include "interpreter/vm/vm.h"

namespace tsc::interp {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

struct GrantText {
  Grant grant;
  const char* name;  // of the field in the host's options, as the message says it
  const char* flag;
};
constexpr GrantText kGrantTexts[] = {
    {Grant::Read, "TSC_GRANT_READ", "--allow-read"},
    {Grant::Write, "TSC_GRANT_WRITE", "--allow-write"},
    {Grant::Environment, "TSC_GRANT_ENVIRONMENT", "--allow-env"},
    {Grant::Process, "TSC_GRANT_PROCESS", "--allow-run"},
    {Grant::Clock, "TSC_GRANT_CLOCK", "--allow-clock"},
    {Grant::Network, "TSC_GRANT_NETWORK", "--allow-net"},
    {Grant::Input, "TSC_GRANT_INPUT", "--allow-input"},
    {Grant::Code, "TSC_GRANT_CODE", "--allow-code"},
    {Grant::Threads, "TSC_GRANT_THREADS", "--allow-threads"},
};

std::string current_folder() {
  char buffer[PATH_MAX];
  return ::getcwd(buffer, sizeof buffer) ? buffer : "/";
}

void push_parts(std::deque<std::string>& parts, const std::string& path) {
  std::deque<std::string> found;
  for (size_t at = 0; at < path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    if (end > at && path.compare(at, end - at, ".") != 0) found.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  parts.insert(parts.begin(), found.begin(), found.end());
}

// Follows the path part by part, as the kernel would: `..` after a link leaves the link's target.
// False with errno for what the kernel would not follow either.
bool resolve(const std::string& path, Links links, std::string& resolved) {
  std::deque<std::string> parts;
  push_parts(parts, path);
  resolved.clear();
  if (path.empty() || path[0] != '/') resolved = current_folder();
  if (resolved == "/") resolved.clear();
  bool missing = false;
  for (int followed = 0; !parts.empty();) {
    const std::string part = std::move(parts.front());
    parts.pop_front();
    if (part == "..") {
      if (missing) return errno = ENOENT, false;
      resolved.resize(resolved.empty() ? 0 : resolved.rfind('/'));
      continue;
    }
    const std::string next = resolved + "/" + part;
    char target[PATH_MAX];
    const ssize_t size = parts.empty() && links == Links::Keep ? -1 : ::readlink(next.c_str(), target, sizeof target);
    if (size < 0) {
      struct stat about{};
      missing = missing || ::lstat(next.c_str(), &about) != 0;
      resolved = next;
      continue;
    }
    if (++followed > kMostLinks) return errno = ELOOP, false;
    if (target[0] == '/') resolved.clear();
    push_parts(parts, std::string(target, static_cast<size_t>(size)));
  }
  if (resolved.empty()) resolved = "/";
  return true;
}

bool is_below(const std::string& path, const std::string& root) {
  if (root == "/") return true;
  return path.compare(0, root.size(), root) == 0 && (path.size() == root.size() || path[root.size()] == '/');
}

const std::string* root_of(const std::vector<std::string>& roots, const std::string& path) {
  for (const std::string& root : roots)
    if (is_below(path, root)) return &root;
  return nullptr;
}

[[noreturn]] void refuse(Vm& vm, Grant grant, const std::string& what, const std::vector<std::string>* roots) {
  const GrantText* text = kGrantTexts;
  while (text->grant != grant) ++text;
  std::string message = what + " needs a grant of the host";
  const bool file = roots != nullptr;
  if (file && !roots->empty()) {
    message += ", which has granted only";
    for (const std::string& root : *roots) message += " '" + root + "'";
  }
  message += std::string(" (") + text->flag + (file ? "=DIR" : "") + " on the command line, " + text->name +
             (file ? std::string(" or ") + (grant == Grant::Read ? "read" : "write") + "_roots" : "") +
             " when embedded)";
  raise(vm, vm.exceptions().PermissionError, message);
}

std::string check_path(Vm& vm, const std::string& path, Links links, Grant grant) {
  if (path.find('\0') != std::string::npos) raise_value_error(vm, "embedded null byte");
  const Grants& grants = vm.config().grants;
  if (grants.has(grant)) return path;
  const auto& roots = grant == Grant::Read ? grants.read_roots : grants.write_roots;
  const std::string what = (grant == Grant::Read ? "reading '" : "writing '") + path + "'";
  if (roots.empty()) refuse(vm, grant, what, &roots);
  std::string resolved;
  if (path.empty()) raise_os_error(vm, ENOENT, path);
  if (!resolve(path, links, resolved)) raise_os_error(vm, errno, path);
  if (!root_of(roots, resolved)) refuse(vm, grant, what, &roots);
  return resolved;
}

// Opens a resolved path below its root; no part of it may be a link any more.
int open_below(const std::string& root, const std::string& path, int flags, unsigned mode) {
  const int folder = ::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0 && path.size() > root.size()) {
    const char* rest = path.c_str() + root.size() + (root == "/" ? 0 : 1);
    open_how how{};
    how.flags = static_cast<uint64_t>(flags);
    how.mode = flags & O_CREAT ? mode & 07777 : 0;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    const long opened = ::syscall(SYS_openat2, folder, rest, &how, sizeof how);
    const int error = errno;
    ::close(folder);
    errno = error;
    if (opened >= 0 || (error != ENOSYS && error != EPERM)) return static_cast<int>(opened);
  } else if (folder >= 0) {
    ::close(folder);
  }
  // A root that is a file, the root itself, or a kernel older than openat2.
  return ::open(path.c_str(), flags | O_NOFOLLOW, mode);
}

}  // namespace

void add_root(std::vector<std::string>& roots, const std::string& folder) {
  std::string resolved;
  if (!folder.empty() && resolve(folder, Links::Follow, resolved)) roots.push_back(resolved);
}

void check_grant(Vm& vm, Grant grant, std::string_view what) {
  if (!vm.config().grants.has(grant)) refuse(vm, grant, std::string(what), nullptr);
}

std::string check_read(Vm& vm, const std::string& path, Links links) {
  return check_path(vm, path, links, Grant::Read);
}

std::string check_write(Vm& vm, const std::string& path, Links links) {
  return check_path(vm, path, links, Grant::Write);
}

bool may_write_in(const Grants& grants, const std::string& folder) {
  if (grants.has(Grant::Write)) return true;
  std::string resolved;
  if (grants.write_roots.empty()) return false;
  if (!resolve(folder, Links::Follow, resolved)) return true;
  for (const std::string& root : grants.write_roots)
    if (is_below(resolved, root) || is_below(root, resolved)) return true;
  return false;
}

int open_granted(Vm& vm, const std::string& path, int flags, unsigned mode) {
  flags |= O_CLOEXEC;
  const Grants& grants = vm.config().grants;
  const int access = flags & O_ACCMODE;
  const bool reads = access != O_WRONLY;
  const bool writes = access != O_RDONLY || (flags & (O_CREAT | O_TRUNC)) != 0;
  std::string resolved = path;
  const std::string* root = nullptr;
  if (reads) resolved = check_read(vm, path);
  if (reads && !grants.has(Grant::Read)) root = root_of(grants.read_roots, resolved);
  if (writes) resolved = check_write(vm, path);
  if (writes && !grants.has(Grant::Write)) root = root_of(grants.write_roots, resolved);
  return root ? open_below(*root, resolved, flags, mode) : ::open(resolved.c_str(), flags, mode);
}

}  // namespace tsc::interp
