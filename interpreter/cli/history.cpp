#include "interpreter/cli/history.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tsc::cli {
namespace {

constexpr std::size_t kMaxEntries = 10000;

// One line of the file is one entry: line breaks and backslashes are escaped.
std::string escape(const std::string& entry) {
  std::string line;
  for (char c : entry) {
    if (c == '\\') line += "\\\\";
    else if (c == '\n') line += "\\n";
    else line += c;
  }
  return line;
}

std::string unescape(const std::string& line) {
  std::string entry;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      entry += line[i];
    } else {
      ++i;
      entry += line[i] == 'n' ? '\n' : line[i];
    }
  }
  return entry;
}

void remove_older(std::vector<std::string>& entries, const std::string& entry) {
  entries.erase(std::remove(entries.begin(), entries.end(), entry), entries.end());
}

// Appends while no other session writes; a file grown to twice the limit is rewritten shorter.
void append_locked(const std::string& path, const std::string& line, const std::vector<std::string>& entries) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  flock(file, LOCK_EX);
  std::string text = line + "\n";
  off_t length = lseek(file, 0, SEEK_END);
  if (length > static_cast<off_t>(8 << 20)) {
    text.clear();
    for (const std::string& entry : entries) text += escape(entry) + "\n";
    if (ftruncate(file, 0) != 0) text.clear();
    length = 0;
  }
  // A history that cannot be kept is no reason to stop; half an entry would join the next one.
  const auto written = static_cast<std::size_t>(std::max<ssize_t>(write(file, text.data(), text.size()), 0));
  if (written < text.size()) {
    const std::size_t whole = text.substr(0, written).rfind('\n') + 1;
    if (ftruncate(file, length + static_cast<off_t>(whole)) != 0) text.clear();
  }
  close(file);
}

}  // namespace

History::History(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  std::ifstream stream(path_, std::ios::binary);
  for (std::string line; std::getline(stream, line);) entries_.push_back(unescape(line));
  // The last of equal entries counts.
  std::vector<std::string> kept;
  std::vector<std::string> sorted;
  for (std::size_t i = entries_.size(); i-- > 0 && kept.size() < kMaxEntries;) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), entries_[i]);
    if (place != sorted.end() && *place == entries_[i]) continue;
    sorted.insert(place, entries_[i]);
    kept.push_back(entries_[i]);
  }
  std::reverse(kept.begin(), kept.end());
  entries_ = std::move(kept);
}

void History::add(const std::string& entry) {
  if (entry.find_first_not_of(" \n\t") == std::string::npos) return;
  if (!entries_.empty() && entries_.back() == entry) return;
  remove_older(entries_, entry);
  entries_.push_back(entry);
  if (entries_.size() > kMaxEntries) entries_.erase(entries_.begin());
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  append_locked(path_, escape(entry), entries_);
}

std::size_t History::find_back(std::string_view text, std::size_t before) const {
  for (std::size_t i = std::min(before, entries_.size()); i-- > 0;)
    if (entries_[i].find(text) != std::string::npos) return i;
  return npos;
}

std::string default_history_path() {
  const char* state = std::getenv("XDG_STATE_HOME");
  if (state != nullptr && *state == '/') return std::string(state) + "/tenscript/history";
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.local/state/tenscript/history";
  return "";
}

}  // namespace tsc::cli
