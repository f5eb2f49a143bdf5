// Shortest edit script by E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
#include "interpreter/cli/diff.h"

#include <algorithm>
#include <string_view>
#include <vector>

namespace tsc::cli {
namespace {

using Lines = std::vector<std::string_view>;
constexpr long kContext = 3;
// Texts that differ more than this are shown as one removed and one added block: the search keeps
// a row for each difference.
constexpr long kMostEdits = 4000;

// With their line breaks, so that a missing one at the end shows.
Lines split(const std::string& text) {
  Lines lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    lines.push_back(std::string_view(text).substr(begin, end - begin));
    begin = end;
  }
  return lines;
}

// One step of an edit script: how many lines of each text it takes.
struct Step {
  char sign;  // ' ', '-' or '+'
  long before, after;
};

class Search {
 public:
  Search(const Lines& before, const Lines& after) : a_(before), b_(after) {
    while (head_ < size(a_) && head_ < size(b_) && a_[at(head_)] == b_[at(head_)]) ++head_;
    while (tail_ < size(a_) - head_ && tail_ < size(b_) - head_ &&
           a_[a_.size() - 1 - at(tail_)] == b_[b_.size() - 1 - at(tail_)])
      ++tail_;
    n_ = size(a_) - head_ - tail_;
    m_ = size(b_) - head_ - tail_;
  }

  std::vector<Step> run() {
    std::vector<Step> steps;
    for (long i = 0; i < head_; ++i) steps.push_back({' ', i, i});
    middle(steps);
    for (long i = 0; i < tail_; ++i) steps.push_back({' ', head_ + n_ + i, head_ + m_ + i});
    return steps;
  }

 private:
  static long size(const Lines& lines) { return static_cast<long>(lines.size()); }
  static size_t at(long i) { return static_cast<size_t>(i); }
  bool same(long x, long y) const { return a_[at(head_ + x)] == b_[at(head_ + y)]; }

  // Furthest x on each diagonal for every number of edits until the end is reached.
  bool search() {
    const long most = std::min(n_ + m_, kMostEdits);
    std::vector<long> row(at(2 * most + 3), 0);
    const auto furthest = [&](long k) -> long& { return row[at(k + most + 1)]; };
    for (long d = 0; d <= most; ++d) {
      for (long k = -d; k <= d; k += 2) {
        const bool down = k == -d || (k != d && furthest(k - 1) < furthest(k + 1));
        long x = down ? furthest(k + 1) : furthest(k - 1) + 1;
        while (x < n_ && x - k < m_ && same(x, x - k)) ++x;
        furthest(k) = x;
      }
      rows_.emplace_back(row.begin() + (most + 1 - d), row.begin() + (most + 2 + d));
      const long end = n_ - m_;
      if (end >= -d && end <= d && (d - end) % 2 == 0 && furthest(end) >= n_) return true;
    }
    return false;
  }

  void middle(std::vector<Step>& steps) {
    if (!search()) {
      for (long x = 0; x < n_; ++x) steps.push_back({'-', head_ + x, head_});
      for (long y = 0; y < m_; ++y) steps.push_back({'+', head_ + n_, head_ + y});
      return;
    }
    std::vector<Step> back;
    long x = n_, y = m_;
    for (long d = static_cast<long>(rows_.size()) - 1; d > 0; --d) {
      const std::vector<long>& row = rows_[at(d - 1)];  // diagonals -(d-1) .. d-1
      const auto furthest = [&](long k) { return k < -(d - 1) || k > d - 1 ? -1 : row[at(k + d - 1)]; };
      const long k = x - y;
      const bool down = k == -d || (k != d && furthest(k - 1) < furthest(k + 1));
      const long from_x = down ? furthest(k + 1) : furthest(k - 1);
      const long from_y = from_x - (down ? k + 1 : k - 1);
      while (x > from_x + (down ? 0 : 1) && y > from_y + (down ? 1 : 0))
        --x, --y, back.push_back({' ', head_ + x, head_ + y});
      if (down) --y, back.push_back({'+', head_ + x, head_ + y});
      else --x, back.push_back({'-', head_ + x, head_ + y});
    }
    while (x > 0) --x, --y, back.push_back({' ', head_ + x, head_ + y});
    steps.insert(steps.end(), back.rbegin(), back.rend());
  }

  const Lines& a_;
  const Lines& b_;
  long head_ = 0, tail_ = 0, n_ = 0, m_ = 0;
  std::vector<std::vector<long>> rows_;
};

std::string place(long begin, long count) {
  std::string text = std::to_string(count == 0 ? begin : begin + 1);
  return count == 1 ? text : text + "," + std::to_string(count);
}

}  // namespace

std::string unified_diff(const std::string& before, const std::string& after, const std::string& before_name,
                         const std::string& after_name) {
  if (before == after) return "";
  const Lines a = split(before), b = split(after);
  const std::vector<Step> steps = Search(a, b).run();
  std::string out = "--- " + before_name + "\n+++ " + after_name + "\n";
  const long size = static_cast<long>(steps.size());
  for (long i = 0; i < size;) {
    if (steps[static_cast<size_t>(i)].sign == ' ') {
      ++i;
      continue;
    }
    // A hunk reaches to where twice the context has no change.
    const long begin = std::max(0L, i - kContext);
    long last = i;
    for (long j = i; j < size && j <= last + 2 * kContext; ++j)
      if (steps[static_cast<size_t>(j)].sign != ' ') last = j;
    const long end = std::min(size, last + kContext + 1);
    long removed = 0, added = 0;
    std::string body;
    for (long j = begin; j < end; ++j) {
      const Step& step = steps[static_cast<size_t>(j)];
      removed += step.sign != '+';
      added += step.sign != '-';
      const std::string_view line =
          step.sign == '+' ? b[static_cast<size_t>(step.after)] : a[static_cast<size_t>(step.before)];
      (body += step.sign) += line;
      if (line.back() != '\n') body += "\n\\ No newline at end of file\n";
    }
    const Step& first = steps[static_cast<size_t>(begin)];
    out += "@@ -" + place(first.before, removed) + " +" + place(first.after, added) + " @@\n" + body;
    i = end;
  }
  return out;
}

}  // namespace tsc::cli
