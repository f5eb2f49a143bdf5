#pragma once
// The results of a run: as a table for people, as JSON, and beside an earlier run's JSON.
#include <map>
#include <string>
#include <vector>

namespace tsc::perf {

struct Column {
  double ms = 0;        // median; 0: the peer did not run
  double best_ms = 0;   // the fastest step
  double first_ms = 0;  // the first step, with compilation
  std::string why;      // a peer that did not run: why not
};

struct Row {
  std::string name, title;
  double floor_ms = 0;  // what the measured ceilings allow; 0: nothing is counted
  Column tenscript;
  std::map<std::string, Column> peers;

  double best_peer_ms() const;
};

struct Results {
  int threads = 0;
  double peak_gflops = 0, memory_gbs = 0;
  std::vector<std::string> peer_names;
  std::vector<Row> rows;
};

void print_heading(const Results& results, bool with_baseline);
// `baseline_ms`: this row in an earlier run; 0: none.
void print_row(const Results& results, const Row& row, double baseline_ms);
std::string to_json(const Results& results);
// A page that needs nothing else: a group of bars a row, the shortest bar is the fastest.
std::string to_html(const Results& results);
// Milliseconds of Tenscript by row, from a file that to_json made. Throws std::runtime_error.
std::map<std::string, double> read_baseline(const std::string& path);

}  // namespace tsc::perf
