// The benchmark driver: runs the programs of tests/perf/programs in Tenscript and, in interleaved
// rounds of the same run, in the peers that are installed, against this machine's own measured
// ceilings.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <interpreter/embed/tenscript.hpp>
#include <memory>
#include <sstream>
#include <thread>

#include "ceilings.h"
#include "peer.h"
#include "table.h"

using namespace tsc::perf;
namespace fs = std::filesystem;

namespace {

constexpr const char* kUsage =
    "usage: tsc_bench [options] [NAME...]   programs whose name holds one of NAME; all without\n"
    "  --threads N      threads of every side (default: one per processor)\n"
    "  --peers LIST     of eager, compile, max-autotune (all PyTorch), jax, onnxruntime, numpy; or\n"
    "                   none (default: all that the Python has)\n"
    "  --python CMD     a Python with the peers (default: $TENSCRIPT_BENCH_PYTHON, then python3)\n"
    "  --rounds N       interleaved rounds (default 5)\n"
    "  --json FILE      write the results\n"
    "  --html FILE      write the results as a page with bars\n"
    "  --baseline FILE  compare with results written before\n"
    "  --small          small sizes, one round, no ceilings: only checks the answers\n";

struct Settings {
  int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  int rounds = 5;
  bool small = false;
  std::string python, json, html, baseline;
  std::vector<std::string> peers, names;
};

// The peers and what runs them, a file of tests/perf/peers.
const std::vector<std::pair<std::string, std::string>> kPeers = {
    {"eager", "torch_peer.py"}, {"compile", "torch_peer.py"},           {"max-autotune", "torch_peer.py"},
    {"jax", "jax_peer.py"},     {"onnxruntime", "onnxruntime_peer.py"}, {"numpy", "numpy_peer.py"}};

const std::string* peer_script(const std::string& name) {
  for (const auto& [known, script] : kPeers)
    if (known == name) return &script;
  return nullptr;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, at);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

Settings parse(int count, char** words) {
  Settings settings;
  const char* named = std::getenv("TENSCRIPT_BENCH_PYTHON");
  settings.python = named ? named : "python3";
  for (const auto& [name, script] : kPeers) settings.peers.push_back(name);
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--help") {
      std::printf("%s", kUsage);
      std::exit(0);
    } else if (word == "--small") {
      settings.small = true;
      settings.rounds = 1;
    } else if (word.rfind("--", 0) != 0) {
      settings.names.push_back(word);
    } else {
      if (i + 1 == count) throw std::runtime_error(word + " needs a value\n" + kUsage);
      const std::string value = words[++i];
      if (word == "--threads") settings.threads = std::max(1, std::atoi(value.c_str()));
      else if (word == "--rounds") settings.rounds = std::max(1, std::atoi(value.c_str()));
      else if (word == "--python") settings.python = value;
      else if (word == "--json") settings.json = value;
      else if (word == "--html") settings.html = value;
      else if (word == "--baseline") settings.baseline = value;
      else if (word == "--peers") settings.peers = value == "none" ? split("", ',') : split(value, ',');
      else throw std::runtime_error("there is no option " + word + "\n" + kUsage);
    }
  }
  for (const std::string& name : settings.peers)
    if (!peer_script(name)) throw std::runtime_error("there is no peer " + name + "\n" + kUsage);
  return settings;
}

fs::path folder() { return TENSCRIPT_PERF_FOLDER; }

std::string read_file(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return text.str();
}

std::vector<fs::path> programs(const Settings& settings) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder() / "programs")) {
    const std::string name = entry.path().stem();
    bool wanted = name[0] != '_' && entry.path().extension() == ".tsc";
    bool named = settings.names.empty();
    for (const std::string& part : settings.names) named |= name.find(part) != std::string::npos;
    if (wanted && named) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

double median(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  std::nth_element(numbers.begin(), numbers.begin() + static_cast<long>(numbers.size() / 2), numbers.end());
  return numbers[numbers.size() / 2];
}

// Steps of one round: about 60 ms, and at least three.
int steps_of(double ms) { return std::clamp(static_cast<int>(60 / std::max(ms, 0.01)), 3, 50); }

class Program {
 public:
  Program(const fs::path& path, const Settings& settings) : settings_(settings), path_(path) {
    row.name = path.stem();
    const std::string text = read_file(path);
    row.title = text.substr(2, text.find('\n') - 2);
    tenscript::Options options;
    options.threads = static_cast<unsigned>(settings.threads);
    options.strict_compiler = true;
    options.background = false;      // the first step is to be that of the compiler
    options.grants = TSC_GRANT_ALL;  // the programs time themselves
    engine_ = std::make_unique<tenscript::Engine>(std::move(options));
    engine_->run_source(settings.small ? "SMALL = True\n" : "SMALL = False\n", "settings");
    engine_->run_source(read_file(prelude()), prelude());
    engine_->run_source(text, path.string());
    engine_->run_source(read_file(epilogue()), epilogue());
    const tenscript::Value first = engine_->call("bench_first");
    row.tenscript.first_ms = first[0].as<double>();
    total_ = first[1].as<double>();
    repeat_ = number("REPEAT");
    start_peers();
  }

  void measure(double peak_gflops, double* memory) {
    std::vector<double> own, bandwidths;
    std::map<std::string, std::vector<double>> others;
    for (int round = 0; round < settings_.rounds; ++round) {
      if (!settings_.small) bandwidths.push_back(memory_gbs(settings_.threads));
      append(&own, run_own(round == 0 ? 3 : steps_of(own.back())));
      for (auto& [name, peer] : peers_) {
        std::vector<double>& times = others[name];
        append(&times, peer->run(round == 0 ? 3 : times.empty() ? 1 : steps_of(times.back())));
      }
    }
    fill(&row.tenscript, own);
    for (const auto& [name, times] : others) fill(&row.peers[name], times);
    if (settings_.small) return;
    *memory = std::max(*memory, median(bandwidths));
    const double by_bytes = number("BYTES") / median(bandwidths) * 1e-6;
    const double by_flops = peak_gflops > 0 ? number("FLOPS") / peak_gflops * 1e-6 : 0;
    row.floor_ms = std::max(by_bytes, by_flops);
  }

  Row row;

 private:
  static std::string prelude() { return folder() / "programs" / "_prelude.tsc"; }
  static std::string epilogue() { return folder() / "programs" / "_epilogue.tsc"; }
  static void append(std::vector<double>* to, const std::vector<double>& from) {
    to->insert(to->end(), from.begin(), from.end());
  }

  double number(const char* name) {
    const tenscript::Value value = engine_->get(name);
    return value.kind() == TSC_INT ? static_cast<double>(value.as<int64_t>()) : value.as<double>();
  }

  // The first three steps of a side only warm it up.
  void fill(Column* column, std::vector<double> times) const {
    if (times.size() > 6) times.erase(times.begin(), times.begin() + 3);
    column->ms = median(times) / repeat_;
    column->best_ms = times.empty() ? 0 : *std::min_element(times.begin(), times.end()) / repeat_;
  }

  std::vector<double> run_own(int count) {
    const tenscript::Value times = engine_->call("bench_run", count);
    std::vector<double> all;
    for (size_t i = 0; i < times.size(); ++i) all.push_back(times[i].as<double>());
    return all;
  }

  // Peers are tuned: huge pages, freed memory kept, threads given. One after the other, so that
  // their compilers do not disturb each other.
  void start_peers() {
    const std::string threads = std::to_string(settings_.threads);
    const std::vector<std::string> environment = {
        "OMP_NUM_THREADS=" + threads, "MKL_NUM_THREADS=" + threads,
        "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=8589934592:"
        "glibc.malloc.trim_threshold=17179869184"};
    for (const std::string& mode : settings_.peers) {
      auto peer = std::make_unique<Peer>(
          std::vector<std::string>{settings_.python, (folder() / "peers" / *peer_script(mode)).string(), mode, threads,
                                   settings_.small ? "1" : "0", prelude(), path_.string(), epilogue()},
          environment);
      Column& column = row.peers[mode];
      double total = 0;
      if (!peer->ready(&column.first_ms, &total)) {
        column.why = peer->why();
        continue;
      }
      if (std::abs(total - total_) > 1e-3 * std::abs(total_)) {
        // check() has seen our answer; a peer with another one is not timed.
        column.why = "its answer adds up to " + std::to_string(total) + " instead of " + std::to_string(total_);
        continue;
      }
      peers_[mode] = std::move(peer);
    }
  }

  const Settings& settings_;
  fs::path path_;
  std::unique_ptr<tenscript::Engine> engine_;
  std::map<std::string, std::unique_ptr<Peer>> peers_;
  double total_ = 0, repeat_ = 1;
};

void run_all(const Settings& settings) {
  Results results;
  results.threads = settings.threads;
  results.peer_names = settings.peers;
  std::map<std::string, double> baseline;
  if (!settings.baseline.empty()) baseline = read_baseline(settings.baseline);
  if (!settings.small) {
    results.peak_gflops = peak_gflops(settings.threads);
    results.memory_gbs = memory_gbs(settings.threads);
    std::printf("ceilings, %d threads: %.0f GFLOP/s float32, memory %.1f GB/s\n", settings.threads, results.peak_gflops,
                results.memory_gbs);
  }
  print_heading(results, !baseline.empty());
  std::map<std::string, std::string> missing;
  for (const fs::path& path : programs(settings)) {
    Program program(path, settings);
    program.measure(results.peak_gflops, &results.memory_gbs);
    results.rows.push_back(program.row);
    print_row(results, program.row, baseline[program.row.name]);
    for (const auto& [name, column] : program.row.peers)
      if (!column.why.empty()) missing[name] = program.row.name + ": " + column.why;
  }
  for (const auto& [name, why] : missing) std::printf("%s is missing: %s\n", name.c_str(), why.c_str());
  if (!settings.json.empty() && !(std::ofstream(settings.json) << to_json(results)))
    throw std::runtime_error("cannot write " + settings.json);
  if (!settings.html.empty() && !(std::ofstream(settings.html) << to_html(results)))
    throw std::runtime_error("cannot write " + settings.html);
}

}  // namespace

int main(int count, char** words) {
  try {
    run_all(parse(count, words));
    return 0;
  } catch (const tenscript::Error& error) {
    std::fprintf(stderr, "%s\n", error.render().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tsc_bench: %s\n", error.what());
  }
  return 1;
}
