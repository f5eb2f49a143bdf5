#pragma once
// Files as the tools see them: which scripts a command line means, reading whole texts, replacing a
// file in one step. Knows: paths. Must not know: the engine.
#include <string>
#include <vector>

namespace tsc::cli {

// The paths with each folder replaced by the .tsc files below it, sorted; hidden folders are left
// out. `problem` names the first path that does not exist.
struct ScriptList {
  std::vector<std::string> files;
  std::string problem;
};
ScriptList collect_scripts(const std::vector<std::string>& paths);

// "-" is standard input. False with the reason in `problem`.
bool read_text(const std::string& path, std::string& text, std::string& problem);

// Writes a temporary file beside `path` and renames it over it, so that nobody ever sees half a
// text; the mode stays. What is no file, a device or a pipe, is written as it is. False with the reason in
// `problem`, and then a file is as before.
bool replace_file(const std::string& path, const std::string& text, std::string& problem);

// "cannot open 'x': No such file or directory", with the file it might have meant.
std::string no_such_file(const std::string& path);

}  // namespace tsc::cli
