#pragma once
// What was entered before, as whole blocks. Knows: the history file. Must not know: keys, screens.
// Keeps: each entry is written when it is made, under a lock, so parallel sessions lose nothing.
#include <string>
#include <string_view>
#include <vector>

namespace tsc::cli {

class History {
 public:
  // An empty path keeps the history in memory only.
  explicit History(std::string path);

  void add(const std::string& entry);
  std::size_t size() const { return entries_.size(); }
  const std::string& at(std::size_t index) const { return entries_[index]; }
  // The newest entry before `before` that contains `text`, or npos.
  std::size_t find_back(std::string_view text, std::size_t before) const;
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);

 private:
  std::string path_;
  std::vector<std::string> entries_;
};

// $XDG_STATE_HOME/tenscript/history, or the same below ~/.local/state; empty when neither is known.
std::string default_history_path();

}  // namespace tsc::cli
