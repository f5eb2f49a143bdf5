// tsc_bench_interpreter: the programs of tests/perf/interp run by Tenscript without its compiler and by
// other interpreters, in interleaved rounds; the answers must agree. Prints the fastest run of each in
// processor milliseconds, the ratios to CPython and their geometric means. An interpreter that is
// missing, or that is another version than the column says, is left out with the reason.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Program {
  const char* name;
  int size, small;
  const char* what;
};
constexpr Program kPrograms[] = {
    {"fib", 27, 10, "recursion"},
    {"loops", 2000000, 100, "while and for over integers"},
    {"mandelbrot", 120, 5, "float arithmetic"},
    {"sieve", 600000, 100, "list items"},
    {"nbody", 20000, 10, "float attributes of __slots__"},
    {"spectral", 90, 5, "closures over floats and lists"},
    {"methods", 300000, 10, "methods, one overridden"},
    {"attributes", 300000, 10, "attributes read and written"},
    {"closures", 700000, 20, "calls of lambdas"},
    {"trees", 12, 3, "tuples made and dropped"},
    {"words", 150000, 50, "str, dict, split and join"},
    {"dicts", 500000, 50, "dict of integers"},
    {"formats", 150000, 10, "f-strings"},
    {"exceptions", 400000, 10, "raise and except"},
    {"generators", 600000, 10, "a generator of a generator"},
    {"sort", 100000, 10, "sort with and without a key"},
};

struct Interpreter {
  std::string title;
  std::string command;  // before the program's name and size
  std::string version;  // prints what must hold `expected`
  std::string expected;
  std::string missing;  // why it is left out
};

struct Answer {
  std::string text;
  double milliseconds = 0;
};

std::string quoted(const std::string& word) {
  std::string out = "'";
  for (char c : word) c == '\'' ? out += "'\\''" : out += c;
  return out + "'";
}

std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return out;
  char piece[4096];
  for (size_t count; (count = fread(piece, 1, sizeof piece, pipe)) > 0;) out.append(piece, count);
  pclose(pipe);
  return out;
}

// False with the output when the program failed.
bool run(const Interpreter& interpreter, const Program& program, bool small, Answer& answer) {
  const int size = small ? program.small : program.size;
  std::string out = output_of(interpreter.command + " " + program.name + " " + std::to_string(size));
  std::istringstream words(out);
  if (words >> answer.text >> answer.milliseconds) return true;
  answer.text = out;
  return false;
}

std::vector<Interpreter> interpreters(const std::string& tenscript, const std::string& python) {
  const std::string folder = std::string(TENSCRIPT_PERF_FOLDER) + "/interp/programs";
  const std::string tsc = quoted(folder + ".tsc"), lua = quoted(folder + ".lua");
  return {
      {"tenscript", quoted(tenscript) + " --no-jit " + tsc, "", "", ""},
      {"CPython 3.11", quoted(python) + " " + tsc, quoted(python) + " --version", "Python 3.11", ""},
      {"Lua 5.4", "lua5.4 " + lua, "lua5.4 -v", "Lua 5.4", ""},
      {"LuaJIT -joff", "luajit -joff " + lua, "luajit -v", "LuaJIT", ""},
  };
}

void leave_out_missing(std::vector<Interpreter>& all) {
  for (Interpreter& one : all) {
    if (one.version.empty()) continue;
    const std::string found = output_of(one.version);
    if (found.find(one.expected) != std::string::npos) continue;
    one.missing = found.substr(0, found.find('\n'));
    std::cout << "  " << one.title << " is left out: " << one.missing << "\n";
  }
}

struct Measured {
  std::vector<double> best;  // by interpreter; 0: not run
};

// One round of a program; false after a report.
bool round(const std::vector<Interpreter>& all, const Program& program, bool small, Measured& into) {
  std::string expected;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].missing.empty()) continue;
    Answer answer;
    if (!run(all[i], program, small, answer)) {
      std::cout << program.name << ": " << all[i].title << " fails: " << answer.text << "\n";
      return false;
    }
    if (expected.empty()) expected = answer.text;
    if (answer.text != expected) {
      std::cout << program.name << ": " << all[i].title << " says " << answer.text << ", " << all[0].title << " says "
                << expected << "\n";
      return false;
    }
    if (into.best[i] == 0 || answer.milliseconds < into.best[i]) into.best[i] = std::max(answer.milliseconds, 1e-3);
  }
  return true;
}

void print_table(const std::vector<Interpreter>& all, const std::map<std::string, Measured>& measured) {
  std::printf("  %-12s", "");
  for (const Interpreter& one : all) std::printf(" %20s", one.title.c_str());
  std::printf("\n");
  std::vector<double> logarithms(all.size());
  std::vector<int> counts(all.size());
  for (const Program& program : kPrograms) {
    auto found = measured.find(program.name);
    if (found == measured.end()) continue;
    const std::vector<double>& best = found->second.best;
    std::printf("  %-12s", program.name);
    for (size_t i = 0; i < all.size(); ++i) {
      if (best[i] == 0) {
        std::printf(" %20s", "-");
        continue;
      }
      if (best[1] == 0) {
        std::printf(" %17.1f ms", best[i]);
        continue;
      }
      std::printf(" %9.1f ms %6.2fx", best[i], best[1] / best[i]);
      logarithms[i] += std::log(best[1] / best[i]);
      ++counts[i];
    }
    std::printf("  %s\n", program.what);
  }
  std::printf("  %-12s", "mean");
  for (size_t i = 0; i < all.size(); ++i)
    if (counts[i]) std::printf(" %12s %6.2fx", "", std::exp(logarithms[i] / counts[i]));
    else std::printf(" %20s", "-");
  std::printf("  geometric mean of the speeds, CPython = 1\n");
}

constexpr char kUsage[] =
    "usage: tsc_bench_interpreter [--tenscript PATH] [--python PATH] [--rounds N] [--small] [NAME...]\n"
    "  --rounds N   rounds, the fastest run of each counts (5)\n"
    "  --small      small sizes, one round: only the answers are checked\n"
    "  NAME         programs whose name holds this\n";

}  // namespace

int main(int argc, char** argv) {
  std::string tenscript = TENSCRIPT_EXECUTABLE, python = "python3";
  int rounds = 5;
  bool small = false;
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool has_value = i + 1 < argc;
    if (word == "--tenscript" && has_value) tenscript = argv[++i];
    else if (word == "--python" && has_value) python = argv[++i];
    else if (word == "--rounds" && has_value) rounds = std::max(1, std::atoi(argv[++i]));
    else if (word == "--small") small = true;
    else if (word[0] != '-') wanted.push_back(word);
    else return std::cerr << kUsage, word == "--help" ? 0 : 2;
  }
  std::vector<Interpreter> all = interpreters(tenscript, python);
  leave_out_missing(all);
  std::map<std::string, Measured> measured;
  for (int k = 0; k < (small ? 1 : rounds); ++k)
    for (const Program& program : kPrograms) {
      bool chosen = wanted.empty();
      for (const std::string& part : wanted) chosen |= std::strstr(program.name, part.c_str()) != nullptr;
      if (!chosen) continue;
      Measured& into = measured[program.name];
      into.best.resize(all.size());
      if (!round(all, program, small, into)) return 1;
    }
  if (measured.empty()) return std::cerr << "no program has such a name\n", 2;
  print_table(all, measured);
}
