#include "interpreter/capture/compiler/accounts.h"

#include <algorithm>
#include <utility>

namespace tsc::interp {
namespace {

constexpr uint32_t kFreeCaptures = 400;
constexpr std::chrono::seconds kFreeTime{2};
// So much longer than its last capture a function runs before another one: a fifth of the time.
constexpr int kTimesRun = 4;
constexpr uint32_t kRefusals = 100;
constexpr uint32_t kMissesInRow = 8;
constexpr uint32_t kShortRest = 64, kLongRest = 4096;  // instructions

}  // namespace

bool CaptureAccounts::may_capture(const CodeObject* code) const {
  const auto found = accounts_.find(code);
  if (found == accounts_.end()) return true;
  const bool is_free = found->second.captures < kFreeCaptures && (!timed_ || found->second.spent < kFreeTime);
  if (is_free) return true;
  if (!timed_) return found->second.refused >= kRefusals;
  return Clock::now() - found->second.last >= kTimesRun * found->second.took;
}

void CaptureAccounts::captured(const CodeObject* code, Clock::duration took) {
  Account& account = accounts_[code];
  ++account.captures;
  account.last = Clock::now();
  account.took = took;
  account.spent += took;
  account.refused = 0;
}

bool CaptureAccounts::missed(const CodeObject* code) {
  Account& account = accounts_[code];
  ++account.refused;
  any_missed_ = true;
  const bool first = !std::exchange(account.has_missed, true);
  if (++account.misses < kMissesInRow) return first;
  account.misses = 0;
  account.rest = std::clamp(2 * account.rest, kShortRest, kLongRest);
  resting_ = code;
  rest_ = account.rest;
  return false;
}

void CaptureAccounts::end_misses(const CodeObject* code) {
  const auto found = accounts_.find(code);
  if (found == accounts_.end()) return;
  found->second.misses = 0;
  found->second.rest = 0;
}

}  // namespace tsc::interp
