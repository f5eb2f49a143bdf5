#include "corpus.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tsc::fuzz {
namespace {

namespace fs = std::filesystem;

// A piece longer than this costs more time to try than it finds.
constexpr size_t kLongestPiece = 1500;

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// True where a statement of the top level may begin.
bool begins_statement(std::string_view line) {
  if (line.empty() || std::string_view(" \t\r\n#)]}'\"").find(line[0]) != line.npos) return false;
  for (const char* word : {"else", "elif", "except", "finally"})
    if (line.starts_with(word)) return false;
  return true;
}

void cut(const std::string& text, std::vector<std::string>& pieces) {
  if (text.size() <= kLongestPiece) {
    pieces.push_back(text);
    return;
  }
  std::string piece;
  bool after_decorator = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line(text.data() + at, end - at);
    if (begins_statement(line) && !after_decorator && !piece.empty()) {
      if (piece.size() <= kLongestPiece) pieces.push_back(piece);
      piece.clear();
    }
    after_decorator = line[0] == '@';
    piece += line;
    at = end;
  }
  if (!piece.empty() && piece.size() <= kLongestPiece) pieces.push_back(piece);
}

std::string unescaped(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\' || i + 1 == line.size()) {
      out += line[i];
      continue;
    }
    const char kind = line[++i];
    if (kind == 'x') {
      out += static_cast<char>(std::stoi(std::string(line.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += kind == 'n' ? '\n' : kind == 't' ? '\t' : kind == 'r' ? '\r' : kind;
    }
  }
  return out;
}

}  // namespace

Corpus load_corpus(const std::vector<std::string>& folders) {
  const fs::path root = TSC_SOURCE_FOLDER;
  Corpus corpus;
  std::vector<fs::path> files;
  for (const std::string& folder : folders)
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder))
      if (entry.path().extension() == ".tsc") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) cut(read(file), corpus.pieces);
  std::istringstream lines(read(root / "tests/fuzz/dictionary.txt"));
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && !line.starts_with("# ")) corpus.words.push_back(unescaped(line));
  if (corpus.pieces.empty() || corpus.words.empty())
    throw std::runtime_error("the corpus of the fuzz targets is empty: " + root.string());
  return corpus;
}

}  // namespace tsc::fuzz
