#include <algorithm>
#include <vector>

#include "lang/diagnostic.h"

namespace tsc::lang {

namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

// Optimal string alignment distance in half steps: 2 for an insertion, deletion, replacement or
// swap of neighbours, 1 for a letter of the other case. Gives up above `limit`.
unsigned distance(std::string_view a, std::string_view b, unsigned limit) {
  std::vector<unsigned> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<unsigned>(2 * j);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<unsigned>(2 * i);
    unsigned least = row[0];
    for (size_t j = 1; j <= b.size(); ++j) {
      unsigned change = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
      row[j] = std::min({above[j] + 2, row[j - 1] + 2, above[j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 2);
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit + 1;
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr size_t kLongest = 64;
  if (word.empty() || word.size() > kLongest) return {};
  // Two edits, but no more than a third of the word: `x` must not suggest every other letter.
  unsigned limit = static_cast<unsigned>(std::min<size_t>(4, 2 * ((word.size() + 1) / 3)));
  std::string_view best;
  unsigned best_distance = limit + 1;
  for (std::string_view candidate : candidates) {
    size_t gap = candidate.size() > word.size() ? candidate.size() - word.size() : word.size() - candidate.size();
    if (candidate == word || 2 * gap >= best_distance) continue;
    unsigned d = distance(word, candidate, best_distance - 1);
    if (d < best_distance) {
      best_distance = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace tsc::lang
