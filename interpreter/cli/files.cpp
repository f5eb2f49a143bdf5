#include "interpreter/cli/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "interpreter/cli/options.h"

namespace tsc::cli {
namespace {

namespace fs = std::filesystem;

void collect_below(const fs::path& folder, std::vector<std::string>& files) {
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name[0] == '.' && at->is_directory(error)) at.disable_recursion_pending();
    if (name[0] != '.' && at->path().extension() == ".tsc" && at->is_regular_file(error))
      files.push_back(at->path().lexically_normal().string());
  }
}

bool read_stream(FILE* stream, std::string& text) {
  char buffer[65536];
  for (size_t count; (count = std::fread(buffer, 1, sizeof buffer, stream)) > 0;) text.append(buffer, count);
  return std::ferror(stream) == 0;
}

bool write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t count = write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

// A device, a pipe: it takes the text and stays what it is.
bool write_in_place(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool good = write_all(file, text);
  const int reason = errno;
  if (close(file) != 0 && good) return false;
  errno = reason;
  return good;
}

bool write_beside(const std::string& target, mode_t mode, const std::string& text) {
  std::string temporary = target + ".XXXXXX";
  const size_t slash = target.rfind('/');
  temporary.insert(slash == std::string::npos ? 0 : slash + 1, ".");
  const int file = mkstemp(temporary.data());
  if (file < 0) return false;
  bool good = fchmod(file, mode) == 0 && write_all(file, text) && fsync(file) == 0;
  int reason = errno;
  if (close(file) != 0 && good) {
    good = false;
    reason = errno;
  }
  if (good && std::rename(temporary.c_str(), target.c_str()) == 0) return true;
  if (good) reason = errno;
  unlink(temporary.c_str());
  errno = reason;
  return false;
}

}  // namespace

ScriptList collect_scripts(const std::vector<std::string>& paths) {
  ScriptList list;
  for (const std::string& path : paths) {
    std::error_code error;
    const size_t before = list.files.size();
    if (path == "-" || !fs::is_directory(path, error)) {
      errno = 0;
      if (path != "-" && access(path.c_str(), F_OK) != 0) {
        list.problem = no_such_file(path);
        return list;
      }
      list.files.push_back(path);
      continue;
    }
    collect_below(path, list.files);
    std::sort(list.files.begin() + static_cast<long>(before), list.files.end());
  }
  // A file named twice is worked on once.
  std::vector<std::string> seen;
  for (const std::string& file : list.files)
    if (std::find(seen.begin(), seen.end(), file) == seen.end()) seen.push_back(file);
  list.files = std::move(seen);
  return list;
}

bool read_text(const std::string& path, std::string& text, std::string& problem) {
  text.clear();
  errno = 0;
  if (path == "-") {
    if (read_stream(stdin, text)) return true;
    problem = std::string("cannot read standard input: ") + std::strerror(errno);
    return false;
  }
  FILE* file = std::fopen(path.c_str(), "rb");
  const bool good = file != nullptr && read_stream(file, text);
  if (!good) problem = no_such_file(path);
  if (file != nullptr) std::fclose(file);
  return good;
}

bool replace_file(const std::string& path, const std::string& text, std::string& problem) {
  // The file behind a link is replaced, not the link.
  char* resolved = realpath(path.c_str(), nullptr);
  const std::string target = resolved != nullptr ? resolved : path;
  std::free(resolved);
  struct stat about{};
  if (stat(target.c_str(), &about) != 0) about.st_mode = S_IFREG | 0644;
  if (S_ISREG(about.st_mode) ? write_beside(target, about.st_mode & 07777, text) : write_in_place(target, text))
    return true;
  problem = "cannot write '" + path + "': " + std::strerror(errno);
  return false;
}

std::string no_such_file(const std::string& path) {
  const int reason = errno;
  std::string problem = "cannot open '" + path + "': " + std::strerror(reason);
  if (reason != ENOENT) return problem;
  const std::string_view command = nearest(path, command_names());
  if (!command.empty()) problem += "; did you mean the command '" + std::string(command) + "'?";
  if (access((path + ".tsc").c_str(), F_OK) == 0) {
    problem += "; did you mean '" + path + ".tsc'?";
    return problem;
  }
  // The nearest name in the same folder.
  const fs::path asked(path);
  std::vector<std::string> names;
  std::error_code error;
  const fs::path folder = asked.has_parent_path() ? asked.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error))
    names.push_back(at->path().filename().string());
  const std::string_view near = nearest(asked.filename().string(), {names.begin(), names.end()});
  if (!near.empty() && command.empty())
    problem += "; did you mean '" + (asked.has_parent_path() ? (folder / near).string() : std::string(near)) + "'?";
  return problem;
}

}  // namespace tsc::cli
