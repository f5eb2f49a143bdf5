#include "allocation_trials.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "hooks.h"

namespace tsc::baddays {
namespace {

namespace fs = std::filesystem;

struct Ending {
  tsc_code code = TSC_OK;
  std::string type, message;
};

Ending run(tenscript::Engine& engine, const std::string& name, const std::string& text) {
  Ending ending;
  tsc_status* status = tenscript::api().run_source(engine.handle(), name.c_str(), text.data(), text.size());
  disarm();
  ending.code = tenscript::api().status_code(status);
  ending.type = tenscript::api().status_type(status);
  ending.message = tenscript::api().status_message(status);
  tenscript::api().status_free(status);
  return ending;
}

// A compilation that had no memory is told of in one line; no other fault of the compiler may be.
std::string fault_of_warnings(const std::string& err) {
  if (err.empty()) return "";
  const bool known =
      (err.starts_with("warning: the compiler failed at ") || err.starts_with("warning: nothing is compiled; ")) &&
      err.ends_with("(out of memory)\n") && std::count(err.begin(), err.end(), '\n') == 1;
  return known ? "" : "on standard error:\n" + err;
}

std::string fault_of(const Ending& ending, const std::string& expected, const Shown& shown) {
  if (std::string fault = fault_of_warnings(shown.err); !fault.empty()) return fault;
  if (ending.code == TSC_OK) return shown.out == expected ? "" : "it ended well with another output:\n" + shown.out;
  if (ending.code != TSC_SCRIPT_ERROR || !ending.type.ends_with("MemoryError"))
    return "it ended with code " + std::to_string(ending.code) + ": " + ending.message;
  if (ending.message.empty()) return "MemoryError without a message";
  return expected.starts_with(shown.out) ? "" : "what it printed before is wrong:\n" + shown.out;
}

// How many kernels the recorded compiler has made in this process.
size_t recorded_kernels() {
  static const auto count = [] {
    void* module = dlopen(std::getenv("TENSCRIPT_LLVM_MODULE"), RTLD_NOW | RTLD_LOCAL);
    void* symbol = module != nullptr ? dlsym(module, "tsc_recorded_kernels") : nullptr;
    if (symbol == nullptr) throw std::runtime_error("no recorded compiler");
    return reinterpret_cast<size_t (*)()>(symbol);
  }();
  return count();
}

// A number that a forked process writes for its parent.
class SharedNumber {
 public:
  SharedNumber()
      : place_(static_cast<int64_t*>(
            mmap(nullptr, sizeof(int64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (place_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~SharedNumber() { munmap(place_, sizeof(int64_t)); }
  SharedNumber(const SharedNumber&) = delete;
  int64_t& value() { return *place_; }

 private:
  int64_t* place_;
};

template <class Work>
void in_own_process(const std::string& what, Work&& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    std::string fault;
    try {
      fault = work();
    } catch (const std::exception& error) {
      fault = error.what();
    }
    if (!fault.empty()) std::fprintf(stderr, "%s: %s\n", what.c_str(), fault.c_str());
    _exit(fault.empty() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    throw std::runtime_error(what + " does not run even when nothing fails");
}

}  // namespace

Shown::Shown() {
  out.reserve(size_t{1} << 16);
  err.reserve(size_t{1} << 16);
}

Trials::Trials(World world, Victim victim, int64_t failures)
    : world_(std::move(world)), victim_(victim), failures_(failures) {
  if (world_.has_disk) {
    kernels_ = (fs::temp_directory_path() / "tsc-allocation-XXXXXX").string();
    if (mkdtemp(kernels_.data()) == nullptr) throw std::runtime_error("no folder for kernels");
  }
  load();
  count_allocations();
}

Trials::~Trials() {
  std::error_code ignored;
  if (!kernels_.empty() && getpid() == owner_) fs::remove_all(kernels_, ignored);
}

void Trials::load() {
  for (const fs::directory_entry& entry : fs::directory_iterator(world_.scripts)) {
    std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    scripts_.push_back({entry.path().filename().string(), text.str(), "", 0});
  }
  std::sort(scripts_.begin(), scripts_.end(), [](const Script& a, const Script& b) { return a.name < b.name; });
  for (Script& script : scripts_) {
    Shown shown;
    tenscript::Options plain = options(shown);
    plain.jit = false;
    plain.threads = 1;
    tenscript::Engine engine(plain);
    if (run(engine, script.name, script.text).code != TSC_OK)
      throw std::runtime_error(script.name + " does not run in the interpreter");
    script.expected = shown.out;
  }
}

void Trials::count_allocations() {
  for (Script& script : scripts_) {
    SharedNumber asked;
    in_own_process(script.name, [&] {
      std::string fault = try_once(script, 0);  // kernels are made
      if (fault.empty()) fault = try_once(script, 0, &asked.value());
      return fault;
    });
    script.allocations = asked.value();
  }
}

uint64_t Trials::count(int64_t samples) const {
  int64_t most = samples;
  if (samples == 0)
    for (const Script& script : scripts_) most = std::max(most, script.allocations);
  return static_cast<uint64_t>(most) * scripts_.size();
}

std::string Trials::name(uint64_t number, int64_t samples) const {
  const Script& script = scripts_[number % scripts_.size()];
  const auto turn = static_cast<int64_t>(number / scripts_.size());
  const int64_t first = samples == 0 ? turn : turn * script.allocations / samples;
  return script.name + " " + std::to_string(1 + first);
}

std::string Trials::try_named(const std::string& name) {
  std::istringstream words(name);
  std::string wanted;
  int64_t first = 0;
  words >> wanted >> first;
  for (const Script& script : scripts_)
    if (script.name == wanted) return first > script.allocations ? "" : try_counted(script, first);
  return "there is no script " + wanted;
}

tenscript::Options Trials::options(Shown& shown) const {
  tenscript::Options options;
  options.jit = world_.jit;
  options.background = world_.background;
  options.threads = world_.background ? 2 : 1;
  options.cache_dir = kernels_;
  options.output = [&shown](tsc_stream stream, std::string_view text) {
    (stream == TSC_STDOUT ? shown.out : shown.err).append(text);
  };
  return options;
}

std::string Trials::try_once(const Script& script, int64_t first, int64_t* asked) {
  Shown shown;
  tenscript::Engine engine(options(shown));
  const bool spared = victim_ == Victim::Others;
  if (spared) tsc_baddays_pause(1);
  spared ? arm_others(first, failures_) : arm(first, failures_);
  const Ending ending = run(engine, script.name, script.text);
  AllocationCounts counts = disarm();
  // Whoever reads the report waits for the compiler.
  if (world_.background) run(engine, "wait", "import torch\ntorch.compiler.report()\n");
  if (spared) {
    counts = disarm_others();
    tsc_baddays_pause(0);
  }
  if (asked != nullptr) *asked = counts.asked;
  if (std::string fault = fault_of(ending, script.expected, shown); !fault.empty()) return fault;
  shown.out.clear();
  const Ending again = run(engine, script.name, script.text);
  if (again.code != TSC_OK) return "the engine is of no use afterwards: " + again.message;
  return shown.out == script.expected ? "" : "afterwards it prints something else:\n" + shown.out;
}

// What the process keeps for good (function statics, recorded kernels) is made before anything is
// counted.
std::string Trials::try_counted(const Script& script, int64_t first) {
  if (warm_.insert(script.name).second)
    for (int i = 0; i < 2; ++i)
      if (std::string fault = try_once(script, 0); !fault.empty()) return "it fails even when nothing does: " + fault;
  constexpr int kMostAttempts = 8;
  int64_t lost = 0;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const size_t kernels = recorded_kernels();
    const int64_t before = live_blocks();
    if (std::string fault = try_once(script, first); !fault.empty()) return fault;
    lost = live_blocks() - before;
    // What is lost is lost every time; a thread that ends late gives back later.
    if (recorded_kernels() == kernels && lost == 0) break;
  }
  return lost == 0 ? "" : std::to_string(lost) + " blocks of memory are lost";
}

namespace {

tsc_status* make_engine(tsc_engine** engine) {
  tsc_engine_options options{};
  options.struct_size = sizeof options;
  options.threads = 1;
  options.has_seed = 1;
  options.grants = TSC_GRANT_ALL;
  const char* paths[] = {"a", "b"};
  options.search_paths = paths;
  options.search_path_count = std::size(paths);
  options.logs = "regions,kernels";
  return tenscript::api().engine_new(&options, engine);
}

// Through the C++ wrapper, with callbacks and what they keep.
std::string fault_of_wrapper(int64_t first, int64_t failures) {
  Shown shown;
  tenscript::Options options;
  options.threads = 1;
  options.arguments = {"one", "two"};
  options.output = [&shown](tsc_stream, std::string_view text) { shown.out.append(text); };
  options.log = [](std::string_view) {};
  options.loader = [](const std::string&) { return std::optional<tenscript::Source>(); };
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (attempt == 0) arm(first, failures);
    try {
      tenscript::Engine engine(options);
      disarm();
      engine.run_source("print('made')");
    } catch (const tenscript::Error& error) {
      disarm();
      if (attempt > 0 || std::string(error.type()) != "MemoryError") return "the wrapper throws: " + error.render();
    } catch (const std::bad_alloc&) {
      disarm();
      if (attempt > 0) return "the wrapper finds no memory the second time";
    }
  }
  return shown.out.ends_with("made\n") ? "" : "no engine was made";
}

std::string fault_of_creation(int64_t first, int64_t failures, int64_t* asked) {
  tsc_engine* engine = nullptr;
  arm(first, failures);
  tsc_status* status = make_engine(&engine);
  const AllocationCounts counts = disarm();
  if (asked != nullptr) *asked = counts.asked;
  const bool failed = status != nullptr;
  const std::string type = tenscript::api().status_type(status);
  tenscript::api().status_free(status);
  tenscript::api().engine_free(engine);
  if (failed != (engine == nullptr)) return "an engine and an error, or neither";
  if (failed && type != "MemoryError") return "the error is a " + type;
  if (!failed && counts.failed > 0 && first == 0) return "nothing was to fail";
  status = make_engine(&engine);
  if (status != nullptr) return "the next attempt fails too";
  status = tenscript::api().run_source(engine, "x", "assert sum([1, 2]) == 3", 23);
  const bool works = status == nullptr;
  tenscript::api().status_free(status);
  tenscript::api().engine_free(engine);
  return works ? "" : "the engine of the next attempt does not work";
}

}  // namespace

std::string try_creation(int64_t first, int64_t failures, int64_t* asked) {
  static const bool warm = fault_of_creation(0, 0, nullptr).empty() && fault_of_wrapper(0, 0).empty();
  if (!warm) return "no engine is made even when nothing fails";
  const int64_t before = live_blocks();
  if (std::string fault = fault_of_creation(first, failures, asked); !fault.empty()) return fault;
  if (std::string fault = fault_of_wrapper(first, failures); !fault.empty()) return fault;
  const int64_t lost = live_blocks() - before;
  return lost == 0 ? "" : std::to_string(lost) + " blocks of memory are lost";
}

}  // namespace tsc::baddays
