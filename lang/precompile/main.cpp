// tsc_precompile <root> <file.cpp> <path>...: compiles the .tsc files at the paths below root and
// writes one C++ table of {path, text, bytecode}, in the order given: what stdlib/embedded.h reads.
// A step of the build; a file that does not compile stops it with the compiler's report.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "lang/bytecode/serialize.h"
#include "lang/emit/compile.h"
#include "lang/library_file.h"

namespace {

using namespace tsc::lang;

bool read_file(const std::string& path, std::string& text) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  if (!(all << file.rdbuf()) && file.peek() != std::ifstream::traits_type::eof()) return false;
  text = all.str();
  return file.is_open();
}

// As string literals: neighbouring ones are joined, and pieces keep each one below the length that
// the C++ standard promises to take.
std::string literal(std::string_view bytes) {
  std::string out = "std::string_view(\"";
  size_t piece = 0;
  for (char c : bytes) {
    if (++piece % 16000 == 0) out += "\"\n\"";
    const bool is_plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
    if (is_plain) {
      out += c;
      continue;
    }
    // Three digits always: a fourth would be text.
    const auto value = static_cast<unsigned char>(c);
    for (int shift : {6, 3, 0}) {
      if (shift == 6) out += '\\';
      out += static_cast<char>('0' + (value >> shift & 7));
    }
  }
  return out + "\", " + std::to_string(bytes.size()) + ")";
}

// The row of one file; false after a report.
bool append_row(const std::string& root, const std::string& path, std::string& table) {
  std::string text;
  if (!read_file(root + "/" + path, text)) {
    std::cerr << "tsc_precompile: cannot read '" << root << "/" << path << "'\n";
    return false;
  }
  // The name that an import gives it: it is part of messages, not of the bytecode.
  auto source = std::make_shared<const Source>(std::string(kLibraryFolder) + path, text);
  CompileResult compiled = compile_module(source);
  if (!compiled.code) {
    std::cerr << render_all(compiled.diagnostics, *source);
    return false;
  }
  table += "    {" + literal(path) + ",\n" + literal(text) + ",\n" + literal(serialize(*compiled.code)) + "},\n";
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: tsc_precompile root file.cpp path...\n";
    return 2;
  }
  std::string table;
  for (int i = 3; i < argc; ++i)
    if (!append_row(argv[1], argv[i], table)) return 1;
  std::ofstream out(argv[2], std::ios::binary);
  out << "// Generated from stdlib/**/*.tsc.\n#include \"stdlib/embedded.h\"\n\n"
         "namespace tsc::stdlib {\n\n"
         "extern const EmbeddedFile kFiles[];\nextern const std::size_t kFileCount;\n\n"
         "const EmbeddedFile kFiles[] = {\n"
      << table << "    {\"~\", {}, {}},\n};\nconst std::size_t kFileCount = " << argc - 3
      << ";\n\n}  // namespace tsc::stdlib\n";
  out.close();
  if (out) return 0;
  std::cerr << "tsc_precompile: cannot write '" << argv[2] << "'\n";
  std::remove(argv[2]);
  return 1;
}
