#include "interpreter/capture/compiler/accounts.h"

#include <algorithm>

namespace tsc::interp {
namespace {

constexpr uint32_t kFreeCaptures = 400;
constexpr int kTimesRun = 4;  // so much longer than its last capture a function runs before another one: a fifth of the time
constexpr uint32_t kRefusals = 100;
constexpr uint32_t kMissesInRow = 8;
constexpr uint32_t kShortRest = 64, kLongRest = 4096;  // instructions

}  // namespace

bool CaptureAccounts::may_capture(const CodeObject* code) const {
  const auto found = accounts_.find(code);
  if (found == accounts_.end() || found->second.captures < kFreeCaptures) return true;
  if (!timed_) return found->second.refused >= kRefusals;
  return Clock::now() - found->second.last >= kTimesRun * found->second.took;
}

void CaptureAccounts::captured(const CodeObject* code, Clock::duration took) {
  Account& account = accounts_[code];
  ++account.captures;
  account.last = Clock::now();
  account.took = took;
  account.refused = 0;
}

bool CaptureAccounts::missed(const CodeObject* code) {
  ++accounts_[code].refused;
  const auto [found, first] = spent_.try_emplace(code);
  Misses& misses = found->second;
  if (++misses.in_row < kMissesInRow) return first;
  misses.in_row = 0;
  misses.rest = std::clamp(2 * misses.rest, kShortRest, kLongRest);
  resting_ = code;
  rest_ = misses.rest;
  return false;
}

void CaptureAccounts::end_misses(const CodeObject* code) {
  const auto found = spent_.find(code);
  if (found != spent_.end()) found->second = {};
}

void CaptureAccounts::reset() {
  accounts_.clear();
  spent_.clear();
  rest_ = 0;
}

}  // namespace tsc::interp
