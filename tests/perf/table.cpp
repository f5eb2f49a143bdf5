#include "table.h"

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace tsc::perf {
namespace {

std::string milliseconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, ms < 0.1 ? "%.5f" : ms < 10 ? "%.3f" : "%.1f", ms);
  return ms > 0 ? text : "-";
}

std::string ratio(double a, double b) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2fx", a / b);
  return a > 0 && b > 0 ? text : "-";
}

std::string share(double floor_ms, double ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * floor_ms / ms);
  return floor_ms > 0 && ms > 0 ? text : "-";
}

}  // namespace

double Row::best_peer_ms() const {
  double best = 0;
  for (const auto& [name, column] : peers)
    if (column.ms > 0 && (best == 0 || column.ms < best)) best = column.ms;
  return best;
}

void print_heading(const Results& results, bool with_baseline) {
  std::printf("%-18s %12s", "ms, median", "Tenscript");
  for (const std::string& name : results.peer_names) std::printf(" %13s", name.c_str());
  std::printf(" %10s %8s %9s", "best peer", "ceiling", "first");
  std::printf(with_baseline ? " %9s\n" : "\n", "baseline");
}

void print_row(const Results& results, const Row& row, double baseline_ms) {
  std::printf("%-18s %12s", row.name.c_str(), milliseconds(row.tenscript.ms).c_str());
  for (const std::string& name : results.peer_names) std::printf(" %13s", milliseconds(row.peers.at(name).ms).c_str());
  std::printf(" %10s %8s %9s", ratio(row.tenscript.ms, row.best_peer_ms()).c_str(),
              share(row.floor_ms, row.tenscript.ms).c_str(), milliseconds(row.tenscript.first_ms).c_str());
  if (baseline_ms > 0) std::printf(" %9s", ratio(row.tenscript.ms, baseline_ms).c_str());
  std::printf("\n");
  std::fflush(stdout);
}

std::string to_json(const Results& results) {
  auto column = [](const Column& from) {
    nlohmann::json to = {{"ms", from.ms}, {"best_ms", from.best_ms}, {"first_ms", from.first_ms}};
    if (!from.why.empty()) to["missing"] = from.why;
    return to;
  };
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : results.rows) {
    nlohmann::json to = {
        {"name", row.name}, {"title", row.title}, {"floor_ms", row.floor_ms}, {"tenscript", column(row.tenscript)}};
    for (const auto& [name, peer] : row.peers) to["peers"][name] = column(peer);
    rows.push_back(std::move(to));
  }
  const nlohmann::json all = {{"threads", results.threads},
                              {"peak_gflops", results.peak_gflops},
                              {"memory_gbs", results.memory_gbs},
                              {"rows", rows}};
  return all.dump(2) + "\n";
}

std::map<std::string, double> read_baseline(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read the baseline " + path);
  const nlohmann::json all = nlohmann::json::parse(file);
  std::map<std::string, double> rows;
  for (const auto& row : all.at("rows")) rows[row.at("name")] = row.at("tenscript").at("ms");
  return rows;
}

}  // namespace tsc::perf
