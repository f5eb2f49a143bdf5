// tsc_pack_names <file.cpp> <folder>: writes what Unicode says of its characters as two compressed texts: the names,
// what character_names.cpp reads, and the other properties, what character_properties.cpp reads. The folder is that of
// Debian's package unicode-data; without it the texts are empty. A step of the build.
// Lines of the first text: "N2022;BULLET", in the order of the characters; "A..." for another name of a character,
// "S..." for a named sequence of several, "R4E00;9FFF" for ideographs, whose names are made of their numbers.
// Of the second, each kind in the order of the characters: "D00BD;<fraction> 0031 2044 0032" for a decomposition,
// "G00B2;2" for a digit, "V00BD;1/2" for a numeric value, "W0020..0020;Na" for the width of a range.
#include <zlib.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <utility>
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

// The text without blanks at its ends.
std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(' '), last = text.find_last_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// The columns of UnicodeData.txt that hold a decomposition and the value of a digit.
void add_columns(const std::string& path, std::string& out) {
  constexpr size_t kDecomposition = 5, kDigit = 7;
  for (const auto& [column, letter] : {std::pair{kDecomposition, 'D'}, {kDigit, 'G'}}) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
      if (const auto fields = fields_of(line); fields.size() > column && !fields[column].empty())
        out += letter + fields[0] + ";" + fields[column] + "\n";
  }
}

// Lines of "character or range ; ... ; what", sorted by the character.
void add_sorted(const std::string& path, char letter, size_t column, std::string& out) {
  std::ifstream file(path);
  std::map<unsigned long, std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (const auto fields = fields_of(line); fields.size() > column)
      lines[std::stoul(fields[0], nullptr, 16)] = trimmed(fields[0]) + ";" + trimmed(fields[column]);
  for (const auto& [character, line] : lines) out += letter + line + "\n";
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

void write_text(std::ostream& out, const std::string& name, const std::string& text) {
  const std::string packed = text.empty() ? "" : compressed(text);
  out << "const unsigned char k" << name << "Bytes[] = {";
  for (size_t i = 0; i < packed.size(); ++i)
    out << (i % 32 == 0 ? "\n" : "") << static_cast<int>(static_cast<unsigned char>(packed[i])) << ',';
  out << "0};\nextern const PackedText kPacked" << name << ";\nconst PackedText kPacked" << name << " = {"
      << text.size() << ", " << packed.size() << ", k" << name << "Bytes};\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  std::string names, properties;
  if (argc > 2) {
    const std::string folder = argv[2];
    if (!add_names(folder + "/UnicodeData.txt", names)) {
      std::cerr << "tsc_pack_names: cannot read '" << folder << "/UnicodeData.txt'\n";
      return 1;
    }
    add_aliases(folder + "/NameAliases.txt", names);
    add_sequences(folder + "/NamedSequences.txt", names);
    add_columns(folder + "/UnicodeData.txt", properties);
    add_sorted(folder + "/extracted/DerivedNumericValues.txt", 'V', 3, properties);
    add_sorted(folder + "/EastAsianWidth.txt", 'W', 1, properties);
  }
  std::ofstream out(argv[1]);
  out << "// Made by tsc_pack_names.\n#include \"lang/packed_text.h\"\n\nnamespace tsc::lang {\n\n";
  write_text(out, "Names", names);
  write_text(out, "Properties", properties);
  out << "\n}  // namespace tsc::lang\n";
  return out.flush() ? 0 : 1;
}
