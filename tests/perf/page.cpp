// The results as a web page.
#include <algorithm>
#include <cstdio>

#include "table.h"

namespace tsc::perf {
namespace {

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Tenscript benchmarks</title><style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { font-size: 1.05rem; margin: 1.8rem 0 .3rem; }
.bar { display: grid; grid-template-columns: 9rem 1fr; align-items: center; gap: .6rem; margin: 2px 0; }
.track { display: flex; align-items: center; gap: .5rem; white-space: nowrap; }
.fill { height: 1rem; min-width: 2px; background: #8a8f98; border-radius: 2px; }
.own .fill { background: #2f6fde; }
.own .name { font-weight: 600; }
.allowed .fill { background: none; border: 1px dashed #8a8f98; height: .8rem; }
.missing { opacity: .65; }
</style></head><body>
<h1>Tenscript benchmarks</h1>
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      default: out += c;
    }
  return out;
}

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string bar(const std::string& name, const char* kind, double ms, double longest, const std::string& remark) {
  return "<div class=\"bar " + std::string(kind) + "\"><span class=\"name\">" + escaped(name) +
         "</span><span class=\"track\"><span class=\"fill\" style=\"width:" + number("%.2f", 70 * ms / longest) +
         "%\"></span>" + number("%.4g ms", ms) + escaped(remark) + "</span></div>\n";
}

std::string missing(const std::string& name, const std::string& why) {
  return "<div class=\"bar missing\"><span class=\"name\">" + escaped(name) + "</span><span>missing: " + escaped(why) +
         "</span></div>\n";
}

std::string section(const Results& results, const Row& row) {
  const double own = row.tenscript.ms;
  double longest = std::max(own, row.floor_ms);
  for (const auto& [name, column] : row.peers) longest = std::max(longest, column.ms);
  if (longest <= 0) return {};
  std::string text = "<h2>" + escaped(row.name) + ": " + escaped(row.title) + "</h2>\n";
  const double best = row.best_peer_ms();
  text += bar("Tenscript", "own", own, longest, best > 0 ? number(", %.2fx of the best peer's time", own / best) : "");
  for (const std::string& name : results.peer_names) {
    const Column& column = row.peers.at(name);
    text += column.ms > 0 ? bar(name, "", column.ms, longest, "") : missing(name, column.why);
  }
  if (row.floor_ms > 0) text += bar("ceiling allows", "allowed", row.floor_ms, longest, "");
  return text;
}

}  // namespace

std::string to_html(const Results& results) {
  std::string text = kHead;
  text += "<p>Median milliseconds of a step, " + std::to_string(results.threads) +
          " threads. Shorter is faster; bars are comparable inside one group. Measured ceilings: " +
          number("%.0f GFLOP/s float32", results.peak_gflops) + number(", memory %.1f GB/s.</p>\n", results.memory_gbs);
  for (const Row& row : results.rows) text += section(results, row);
  return text + "</body></html>\n";
}

}  // namespace tsc::perf
