// tsc_pack_names <file.cpp> <folder>: writes the names of the Unicode characters as one compressed text, what
// character_names.cpp reads. The folder is that of Debian's package unicode-data; without it the text is empty. A step
// of the build. Lines of the text: "N2022;BULLET", in the order of the characters; "A..." for another name of a
// character, "S..." for a named sequence of several, "R4E00;9FFF" for ideographs, whose names are made of their
// numbers.
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  for (char c : line.substr(0, line.find('#')))
    if (c == ';') fields.emplace_back();
    else fields.back() += c;
  return fields;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool add_names(const std::string& path, std::string& out) {
  std::ifstream file(path);
  std::string first;
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> fields = fields_of(line);
    if (fields.size() < 2) continue;
    const std::string& name = fields[1];
    const bool is_ideograph = name.rfind("<CJK Ideograph", 0) == 0;
    if (is_ideograph && ends_with(name, "First>")) first = fields[0];
    if (is_ideograph && ends_with(name, "Last>")) out += "R" + first + ";" + fields[0] + "\n";
    if (!name.empty() && name[0] != '<') out += "N" + fields[0] + ";" + name + "\n";
  }
  return !out.empty();
}

void add_aliases(const std::string& path, std::string& out) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (const auto fields = fields_of(line); fields.size() >= 2) out += "A" + fields[0] + ";" + fields[1] + "\n";
}

// Here the name comes first.
void add_sequences(const std::string& path, std::string& out) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (const auto fields = fields_of(line); fields.size() >= 2) out += "S" + fields[1] + ";" + fields[0] + "\n";
}

std::string compressed(const std::string& text) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::string out(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                static_cast<uLong>(text.size()), Z_BEST_COMPRESSION) != Z_OK)
    return "";
  out.resize(size);
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string text;
  if (argc > 2) {
    const std::string folder = argv[2];
    if (!add_names(folder + "/UnicodeData.txt", text)) {
      std::cerr << "tsc_pack_names: cannot read '" << folder << "/UnicodeData.txt'\n";
      return 1;
    }
    add_aliases(folder + "/NameAliases.txt", text);
    add_sequences(folder + "/NamedSequences.txt", text);
  }
  const std::string packed = text.empty() ? "" : compressed(text);
  std::ofstream out(argv[1]);
  out << "// Made by tsc_pack_names.\n#include \"lang/character_names.h\"\n\nnamespace tsc::lang {\n\n"
      << "const size_t kNamesBytes = " << text.size() << ", kPackedNamesBytes = " << packed.size() << ";\n"
      << "const unsigned char kPackedNames[] = {";
  for (size_t i = 0; i < packed.size(); ++i)
    out << (i % 32 == 0 ? "\n" : "") << static_cast<int>(static_cast<unsigned char>(packed[i])) << ',';
  out << "0};\n\n}  // namespace tsc::lang\n";
  return out.flush() ? 0 : 1;
}
