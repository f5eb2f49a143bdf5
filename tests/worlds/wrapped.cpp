#include "wrapped.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <vector>

#include "lang/lexer.h"
#include "process.h"

namespace tsc::worlds {
namespace {

// For each line, counted from one: whether it begins inside a literal.
std::vector<bool> lines_in_literals(const lang::Source& source) {
  lang::Diagnostics diagnostics;
  lang::TokenList list;
  lang::Lexer lexer(source, diagnostics, list);
  std::vector<bool> inside(source.line_count() + 2);
  for (lang::Token token = lexer.next(); token.kind != lang::TokenKind::END; token = lexer.next()) {
    if (token.kind == lang::TokenKind::NEWLINE || token.span.end <= token.span.begin) continue;
    const uint32_t first = source.line_of(token.span.begin), last = source.line_of(token.span.end - 1);
    for (uint32_t line = first + 1; line <= last; ++line) inside[line] = true;
    // The text of an f-string may end with a line break, behind which the literal goes on.
    if (source.slice(token.span).back() == '\n') inside[last + 1] = true;
  }
  return inside;
}

// What differs from run to run: addresses, names of temporary files, warnings of the compiler.
std::string steady(const std::string& text) {
  static const std::regex varying("0x[0-9a-f]+|/tmp/[A-Za-z0-9_]+");
  return std::regex_replace(text, varying, "*");
}

std::string last_line_of_error(const std::string& text) {
  std::string last, line;
  for (std::istringstream stream(text); std::getline(stream, line);)
    if (!line.empty() && line.rfind("warning: ", 0) != 0) last = line;
  return steady(last);
}

// Whether the program imports a module that lies beside it. Else the folder is kept out of the path: a program may have
// the name of a module of the library.
bool imports_neighbours(const std::string& text, const std::filesystem::path& folder) {
  static const std::regex statement(R"((?:^|\n)\s*(?:import|from)\s+([A-Za-z_][A-Za-z0-9_]*))");
  for (std::sregex_iterator found(text.begin(), text.end(), statement), end; found != end; ++found)
    if (std::filesystem::exists(folder / ((*found)[1].str() + ".tsc")) ||
        std::filesystem::exists(folder / (*found)[1].str()) ||
        std::filesystem::exists(folder / "lib" / (*found)[1].str()))
      return true;
  return false;
}

test::ProcessResult run(const std::string& tenscript, const std::string& file, const std::string& folder,
                        bool sees_folder, bool compiled) {
  test::ProcessOptions options;
  options.arguments = {tenscript};
  if (!compiled) options.arguments.push_back("--no-jit");
  options.arguments.push_back(file);
  options.folder = folder;
  options.environment = {{"TENSCRIPT_PATH", sees_folder ? folder : ""},
                         {"TENSCRIPT_NO_BACKGROUND", "1"},
                         {"TENSCRIPT_STRICT_COMPILER", "1"},
                         {"TENSCRIPT_UNTIMED", "1"},
                         {"TENSCRIPT_CACHE_DIR", "off"}};
  return test::run_process(options);
}

std::string differing_line(const std::string& expected, const std::string& actual) {
  std::istringstream left(expected), right(actual);
  for (int line = 1;; ++line) {
    std::string a, b;
    const bool more_a = static_cast<bool>(std::getline(left, a)), more_b = static_cast<bool>(std::getline(right, b));
    if (!more_a && !more_b) return "the last line break";
    if (more_a != more_b || a != b)
      return "output line " + std::to_string(line) + "\n      interpreted: " + a + "\n      compiled:    " + b;
  }
}

}  // namespace

std::string wrapped(const std::string& text) {
  const lang::Source source("wrapped", text);
  const std::vector<bool> inside = lines_in_literals(source);
  std::string imports, body;
  for (uint32_t line = 1; line <= source.line_count(); ++line) {
    const std::string one(source.line_text(line));
    if (one.rfind("from __future__", 0) == 0 && !inside[line]) imports += one + "\n";
    else body += (inside[line] || one.empty() ? "" : "    ") + one + "\n";
  }
  return imports + "import torch\n\n\n@torch.compile\ndef whole_program():\n    pass\n" + body +
         "\n\nfor turn in range(3):\n    print('turn', turn)\n    whole_program()\n";
}

WrappedResult run_wrapped(const std::string& tenscript, const std::string& script) {
  const std::filesystem::path path(script);
  const test::TemporaryFolder scratch;
  const std::string text = test::read_file(script);
  const std::string file = scratch.write("program_of_" + path.filename().string(), wrapped(text));
  const bool sees_folder = imports_neighbours(text, path.parent_path());
  const auto run_it = [&](bool compiled) {
    return run(tenscript, file, path.parent_path().string(), sees_folder, compiled);
  };
  const test::ProcessResult expected = run_it(false), actual = run_it(true);
  if (expected.timed_out || actual.timed_out) return {"did not end within five minutes", "", ""};
  if (steady(expected.out) != steady(actual.out))
    return {"differs at " + differing_line(steady(expected.out), steady(actual.out)) +
                (actual.exit_code == expected.exit_code ? "" : "\n" + actual.err),
            "", ""};
  if (expected.exit_code != actual.exit_code)
    return {"exit code " + std::to_string(actual.exit_code) + " instead of " + std::to_string(expected.exit_code) +
                "\n" + actual.err,
            "", ""};
  const std::string wanted = last_line_of_error(expected.err), said = last_line_of_error(actual.err);
  if (wanted != said) return {"the error is '" + said + "' instead of '" + wanted + "'", "", ""};
  if (expected.exit_code == 0) return {};
  return {"", wanted.empty() ? "exit code " + std::to_string(expected.exit_code) : wanted, expected.err};
}

Findings::Findings(const std::string& file) {
  std::istringstream lines(test::read_file(file));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first.empty() || first[0] == '#') continue;
    if (first == "fails") failing_.insert(second);
    else known_.insert(first);
  }
}

std::string Findings::judge(const std::string& name, const WrappedResult& result,
                            const std::string& expected_error) const {
  if (known_.count(name)) return result.problem.empty() ? "passes: take it out of the known findings" : "";
  if (!result.problem.empty()) return result.problem;
  const bool is_expected = !expected_error.empty() && result.report.find(expected_error) != std::string::npos;
  const bool fails = !result.error.empty() && !is_expected;
  if (fails == (failing_.count(name) != 0)) return "";
  return fails ? "ends with an error in both runs, and what stands behind it is compared nowhere: " + result.error
               : "does not fail any more: take it out of the known findings";
}

std::vector<std::string> Findings::unknown_programs(const std::vector<std::string>& corpora) const {
  std::vector<std::string> unknown;
  for (const std::set<std::string>& names : {known_, failing_})
    for (const std::string& name : names)
      if (std::none_of(corpora.begin(), corpora.end(),
                       [&](const std::filesystem::path& corpus) { return std::filesystem::exists(corpus / name); }))
        unknown.push_back(name);
  return unknown;
}

}  // namespace tsc::worlds
