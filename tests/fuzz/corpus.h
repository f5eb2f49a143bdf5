#pragma once
// The seeds of text targets: every script below some folders, cut into pieces that stand alone (a
// whole small file, or one statement of the top level), and the dictionary of tokens.
#include <string>
#include <vector>

namespace tsc::fuzz {

struct Corpus {
  std::vector<std::string> pieces;
  std::vector<std::string> words;  // dictionary entries
};

// Folders are below the source tree's root. The order does not depend on the file system.
Corpus load_corpus(const std::vector<std::string>& folders);

}  // namespace tsc::fuzz
