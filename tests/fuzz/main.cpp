// The differential fuzzer: runs random programs in the interpreter and in compiled worlds and
// compares every printed bit and every error. Usage: tsc_fuzz [--seconds N] [--seed N] [--count N]
// [--python | --loops] [--print]. With --python the programs are of plain Python, with --loops recurrent functions and
// gradients.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "generate.h"
#include "interpreter/embed/tenscript.hpp"

namespace {

using tenscript::Options;

struct World {
  const char* name;
  void (*set)(Options&);
};

constexpr World kWorlds[] = {
    {"compiled", [](Options&) {}},
    {"one thread", [](Options& options) { options.threads = 1; }},
    {"unfused", [](Options& options) { options.disabled_passes = "fuse"; }},
    {"every statement breaks", [](Options& options) { options.stress_break = true; }},
};

// A history that was written in place is an error in both worlds; which tensor the message names depends on
// what each of them saved.
std::string without_saved_names(std::string text) {
  const std::string_view mark = "modified by an inplace operation";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    text.erase(at + mark.size(), end - at - mark.size());
  }
  return text;
}

// That a place has had too many variants is said in compiled worlds alone.
std::string without_warnings(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line);)
    if (line.find("calls need a variant of their own too often") == std::string::npos) out += line + '\n';
  return out;
}

// The gradient of a tensor that is repeated along an axis is a sum along it; the sum of one negative zero is zero.
// Where the axis happens to have one element the interpreter repeats nothing, and a region, which does not know, sums.
// So in lines that show gradients negative zeros count as zeros.
std::string without_zero_signs(const std::string& text) {
  std::istringstream lines(text);
  std::string out;
  for (std::string line; std::getline(lines, line); out += line + '\n') {
    const std::string word = line.substr(0, line.find(' '));
    if (word != "own" && word != "grad" && word != "inner" && word != "seen") continue;
    for (std::size_t at = line.find("-0.0"); at != std::string::npos; at = line.find("-0.0", at + 1))
      if (line[at + 4] == ',' || line[at + 4] == ']') line.erase(at, 1);
  }
  return out;
}

// Everything a program shows: its output, then its error.
std::string run(const std::string& program, void (*set)(Options&)) {
  std::string shown;
  Options options;
  options.strict_compiler = true;
  options.background = false;  // the first call is to be the compiler's
  options.output = [&](tsc_stream, std::string_view text) { shown += text; };
  set(options);
  tenscript::Engine engine(options);
  try {
    engine.run_source(program, "fuzz.tsc");
  } catch (const tenscript::Error& error) {
    shown += error.render();
    if (error.code() == TSC_INTERNAL) shown += "(internal fault)";
  }
  return without_zero_signs(without_warnings(without_saved_names(shown)));
}

// The first line in which two outputs differ, shortened to what a person can compare.
std::string first_difference(const std::string& expected, const std::string& actual) {
  std::istringstream left(expected), right(actual);
  for (std::string a, b;;) {
    const bool more_a = static_cast<bool>(std::getline(left, a));
    const bool more_b = static_cast<bool>(std::getline(right, b));
    if (!more_a) a = "(end)";
    if (!more_b) b = "(end)";
    if (a == b && (more_a || more_b)) continue;
    std::size_t same = 0;
    while (same < a.size() && same < b.size() && a[same] == b[same]) ++same;
    const std::size_t from = same < 60 ? 0 : same - 60;
    return "interpreter: " + a.substr(0, 40) + " ... " + a.substr(from, 160) + "\ncompiled:    " + b.substr(0, 40) +
           " ... " + b.substr(from, 160) + "\n";
  }
}

void report(uint64_t seed, const World& world, const std::string& program, const std::string& expected,
            const std::string& actual) {
  std::printf("seed %llu differs in world '%s'\n%s%s\n", static_cast<unsigned long long>(seed), world.name,
              program.c_str(), first_difference(expected, actual).c_str());
}

using Generator = std::string (*)(uint64_t seed);

// The compiled worlds take turns, so that a run of some length sees all of them.
bool check(uint64_t seed, Generator generate) {
  const std::string program = generate(seed);
  const std::string expected = run(program, [](Options& options) { options.jit = false; });
  const std::size_t turn = seed % std::size(kWorlds);
  const World& world = kWorlds[turn];
  const std::string actual = run(program, world.set);
  if (actual == expected) return true;
  report(seed, world, program, expected, actual);
  return false;
}

unsigned long long number(const char* text) { return std::strtoull(text, nullptr, 10); }

}  // namespace

int main(int count, char** words) {
  double seconds = 60;
  uint64_t seed = 1, most = ~0ull;
  Generator generate = tsc::fuzz::generate_program;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--python") generate = tsc::fuzz::generate_python_program;
    if (word == "--loops") generate = tsc::fuzz::generate_recurrent_program;
    if (word == "--print") {
      std::fputs(generate(seed).c_str(), stdout);
      return 0;
    }
    if (i + 1 == count) break;
    if (word == "--seconds") seconds = static_cast<double>(number(words[++i]));
    if (word == "--seed") seed = number(words[++i]);
    if (word == "--count") most = number(words[++i]);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  uint64_t done = 0, failed = 0;
  for (; done < most && failed < 5 && std::chrono::steady_clock::now() < end; ++done)
    if (!check(seed + done, generate)) ++failed;
  std::printf("%llu passed, %llu failed\n", static_cast<unsigned long long>(done - failed),
              static_cast<unsigned long long>(failed));
  return failed == 0 ? 0 : 1;
}
