#pragma once
// What one engine may hold in memory: script objects, their containers and tensors draw on one budget,
// from any thread. Knows bytes only. Keeps: a request that would exceed the limit is refused before
// the memory exists; above the soft mark the owner's signal word is set once, which asks for a
// collection at the next safe point.
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "runtime/base/error.h"
#include "runtime/base/ref.h"

namespace tsc {

class MemoryBudget : public RefCounted {
 public:
  // False: beyond the limit, nothing was charged.
  bool try_charge(int64_t bytes) noexcept {
    const int64_t used = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    if (used > soft_.load(std::memory_order_relaxed) && !admit(used)) [[unlikely]] {
      used_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    if (used > peak_.load(std::memory_order_relaxed)) peak_.store(used, std::memory_order_relaxed);
    return true;
  }
  // For what cannot be refused: the error that says so, a collection's own lists.
  void force_charge(int64_t bytes) noexcept { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void give_back(int64_t bytes) noexcept { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Gives back what is only kept for reuse, before a request is refused.
  void reclaim() const {
    if (reclaim_) reclaim_();
  }
  // Who does that; it is called by whichever thread made the request. Set while nobody charges.
  void set_reclaim(std::function<void()> reclaim) { reclaim_ = std::move(reclaim); }
  bool has_room(int64_t bytes) const noexcept { return limit() == 0 || bytes <= most() - used(); }
  // LimitError that says what was asked for and what is in use.
  [[noreturn]] void refuse(int64_t bytes) const {
    throw Error(ErrorKind::LimitError, "a request for " + std::to_string(bytes) +
                                           " bytes exceeds the memory limit of " + std::to_string(limit()) +
                                           " bytes, of which " + std::to_string(used()) + " are in use");
  }

  // 0: no limit. It may lie below what is in use already: then every further request is refused.
  void set_limit(int64_t bytes) noexcept {
    limit_.store(bytes, std::memory_order_relaxed);
    rearm();
  }
  // So much above the limit is admitted: for what shall free memory, after the limit was met.
  void set_reserve(int64_t bytes) noexcept {
    reserve_.store(bytes, std::memory_order_relaxed);
    rearm();
  }
  int64_t limit() const noexcept { return limit_.load(std::memory_order_relaxed); }
  int64_t used() const noexcept { return used_.load(std::memory_order_relaxed); }
  int64_t peak() const noexcept { return peak_.load(std::memory_order_relaxed); }

  // `bit` is set in `word` when the soft mark is passed; null: nobody is told.
  void set_signal(std::atomic<uint32_t>* word, uint32_t bit) noexcept {
    bit_ = bit;
    signal_.store(word, std::memory_order_release);
  }
  // After a collection: the next signal comes half way between what is left in use and the limit.
  void rearm() noexcept {
    const int64_t most = this->most(), now = used();
    soft_.store(most == 0 ? INT64_MAX : now >= most ? most : now + (most - now) / 2, std::memory_order_relaxed);
  }

 private:
  int64_t most() const noexcept { return limit() == 0 ? 0 : limit() + reserve_.load(std::memory_order_relaxed); }
  bool admit(int64_t used) noexcept {
    const int64_t most = this->most();
    soft_.store(most > 0 ? most : INT64_MAX, std::memory_order_relaxed);
    if (auto* word = signal_.load(std::memory_order_acquire)) word->fetch_or(bit_);
    return most == 0 || used <= most;
  }

  std::atomic<int64_t> used_{0}, peak_{0}, limit_{0}, reserve_{0};
  std::atomic<int64_t> soft_{INT64_MAX};  // passed: look closer
  std::atomic<std::atomic<uint32_t>*> signal_{nullptr};
  uint32_t bit_ = 0;
  std::function<void()> reclaim_;
};

}  // namespace tsc
