// Fuzz target of the virtual machine: mutated programs run in the interpreter alone, with limits of
// memory, time and steps and without any grant. Each ends in one of the ways a script may end, and
// its engine works afterwards. Usage: see command.h.
#include <string>

#include "command.h"
#include "hostile_file.h"
#include "interpreter/embed/tenscript.hpp"
#include "mutate.h"

namespace {

using namespace std::chrono_literals;
using tsc::fuzz::Corpus;
using tsc::fuzz::Random;

constexpr uint64_t kMemory = uint64_t{64} << 20;
constexpr uint64_t kSteps = 50000;

bool is_expected(tsc_code code) {
  return code == TSC_SCRIPT_ERROR || code == TSC_SYNTAX_ERROR || code == TSC_LIMIT || code == TSC_EXIT;
}

std::string fault_of(const tenscript::Error& error) {
  if (!is_expected(error.code())) return "it ended with code " + std::to_string(error.code());
  // A script that ends with a number says nothing.
  if (error.code() != TSC_EXIT && error.render().empty()) return "an error without a text";
  if ((error.code() == TSC_LIMIT) != (error.limit() != TSC_LIMIT_NONE))
    return "a limit that is none, or the other way round";
  return "";
}

// Without limits: what the program did to them must not last.
std::string fault_of_engine(tenscript::Engine& engine) {
  engine.set_limits({});
  try {
    engine.run_source("canary_ = 0\nfor canary_i_ in [1, 2, 3]: canary_ = canary_ + canary_i_\n");
    return engine.get("canary_").as<int>() == 6 ? "" : "the engine cannot add any more";
  } catch (const tenscript::Error& error) {
    return "the engine is of no use afterwards: " + error.render();
  }
}

std::string indented(const std::string& text) {
  std::string out = "    ";
  for (const char c : text) (out += c) += c == '\n' ? "    " : "";
  return out + "\n";
}

// `must_end`: an exception or a limit is a fault.
std::string try_program(const std::string& text, bool must_end = false) {
  uint64_t printed = 0;
  tenscript::Options options;
  options.jit = false;
  options.threads = 1;
  options.seed = 1;
  options.has_seed = true;
  options.memory_limit = kMemory;
  options.step_limit = kSteps;
  options.time_limit = 5s;
  options.output = [&](tsc_stream, std::string_view piece) { printed += piece.size(); };
  tenscript::Engine engine(options);
  try {
    engine.run_source(text, "fuzz.tsc");
  } catch (const tenscript::Error& error) {
    if (std::string fault = fault_of(error); !fault.empty()) return fault + "\n" + error.render();
    if (must_end) return "it did not end well\n" + error.render();
  }
  if (engine.statistics().peak_memory_bytes > 2 * kMemory) return "the memory limit did not hold";
  return fault_of_engine(engine);
}

// A script that loads the bytes of a file and uses what it gets.
std::string loading_script(Random& random) {
  const size_t kind = random.below(3);
  const bool is_npy = kind == 0;
  const std::string file = is_npy      ? tsc::fuzz::hostile_npy(random)
                           : kind == 1 ? tsc::fuzz::hostile_safetensors(random)
                                       : tsc::fuzz::hostile_archive(random);
  std::string hex;
  for (const char c : file) {
    static constexpr char kDigits[] = "0123456789abcdef";
    (hex += kDigits[(c >> 4) & 15]) += kDigits[c & 15];
  }
  return "import io, torch, npy, safetensors.torch\ndata = bytes.fromhex('" + hex + "')\n" +
         (is_npy ? "x = npy.loads(data)\nprint(x, x.double().sum(), npy.dumps(x) == data)\n"
                 : "try:\n    print(safetensors.torch.load(data))\nexcept ValueError as error:\n"
                   "    print(error)\nprint(torch.load(io.BytesIO(data)))\n");
}

// Whoever loads a file from a stranger expects ValueError, and no other exception of the reader's.
std::string try_loading(const std::string& text) {
  return try_program("try:\n" + indented(text) + "except (ValueError, MemoryError): pass\n", true);
}

}  // namespace

int main(int count, char** words) {
  const Corpus corpus = tsc::fuzz::load_corpus({"tests/conformance", "tests/scripts", "tests/slips"});
  const auto make = [&](Random& random, uint64_t) {
    return tsc::fuzz::mutated_program(corpus, random, tsc::fuzz::Temper::Program);
  };
  return tsc::fuzz::fuzz_main(
      count, words,
      {{"vm", ".tsc", make, [](const std::string& text) { return try_program(text); }},
       {"load", ".tsc", [](Random& random, uint64_t) { return loading_script(random); }, try_loading}});
}
