#include "ceilings.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tsc::perf {
namespace {

using Clock = std::chrono::steady_clock;
using Job = std::function<void(int thread)>;

// Seconds of the slowest thread; all start together. Best of `rounds`.
double best_seconds(int threads, int rounds, const Job& job) {
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    std::atomic<int> waiting{0};
    std::vector<double> elapsed(static_cast<size_t>(threads));
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&, t] {
        waiting.fetch_add(1);
        while (waiting.load() < threads) std::this_thread::yield();
        const auto start = Clock::now();
        job(t);
        elapsed[static_cast<size_t>(t)] = std::chrono::duration<double>(Clock::now() - start).count();
      });
    for (std::thread& thread : all) thread.join();
    best = std::min(best, *std::max_element(elapsed.begin(), elapsed.end()));
  }
  return best;
}

constexpr int kSteps = 200000;
constexpr int kChains = 12;  // more than the latency of a multiply-add times its units

// Multiply-adds of kChains registers, kSteps times; returns how many numbers a register holds. In
// assembly, because compilers move such loops to the stack or out of the world.
#ifdef __x86_64__
#define TSC_CHAINS(kind, kind_char)                                                                    \
  kind a0{}, a1{}, a2{}, a3{}, a4{}, a5{}, a6{}, a7{}, a8{}, a9{}, a10{}, a11{}, x{};                  \
  for (int i = 0; i < kSteps; ++i)                                                                     \
  asm volatile(                                                                                        \
      "vfmadd231ps %12,%12,%0\n\tvfmadd231ps %12,%12,%1\n\tvfmadd231ps %12,%12,%2\n\t"                 \
      "vfmadd231ps %12,%12,%3\n\tvfmadd231ps %12,%12,%4\n\tvfmadd231ps %12,%12,%5\n\t"                 \
      "vfmadd231ps %12,%12,%6\n\tvfmadd231ps %12,%12,%7\n\tvfmadd231ps %12,%12,%8\n\t"                 \
      "vfmadd231ps %12,%12,%9\n\tvfmadd231ps %12,%12,%10\n\tvfmadd231ps %12,%12,%11"                   \
      : "+" kind_char(a0), "+" kind_char(a1), "+" kind_char(a2), "+" kind_char(a3), "+" kind_char(a4), \
        "+" kind_char(a5), "+" kind_char(a6), "+" kind_char(a7), "+" kind_char(a8), "+" kind_char(a9), \
        "+" kind_char(a10), "+" kind_char(a11)                                                         \
      : kind_char(x))

__attribute__((target("avx512f"))) void chains_512() { TSC_CHAINS(__m512, "v"); }
__attribute__((target("avx2,fma"))) void chains_256() { TSC_CHAINS(__m256, "x"); }
#undef TSC_CHAINS
#endif

struct Chains {
  void (*run)() = nullptr;  // null: no measure for this processor
  int lanes = 0;
};

Chains best_chains() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return {chains_512, 16};
  if (__builtin_cpu_supports("fma")) return {chains_256, 8};
#endif
  return {};
}

constexpr size_t kBytes = size_t{96} << 20;  // a thread's share, far larger than its caches

struct Buffer {
  Buffer() : data(static_cast<char*>(std::aligned_alloc(size_t{2} << 20, kBytes))) { std::memset(data, 1, kBytes); }
  ~Buffer() { std::free(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  char* data;
};

// Vectors of the compiler: 64 bytes at once where the processor can.
using Line = uint64_t __attribute__((vector_size(64)));

void read_all(const char* data) {
  Line total[4]{};
  const auto* line = reinterpret_cast<const Line*>(data);
  for (size_t i = 0; i < kBytes / sizeof(Line); i += 4)
    for (size_t j = 0; j < 4; ++j) total[j] ^= line[i + j];
  asm volatile("" : : "m"(total));
}

void update_all(char* data) {
  auto* line = reinterpret_cast<Line*>(data);
  for (size_t i = 0; i < kBytes / sizeof(Line); ++i) line[i] += 1;
  asm volatile("" : : "r"(data) : "memory");
}

void copy_past_cache(char* to, const char* from) {
#ifdef __x86_64__
  for (size_t i = 0; i < kBytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
  _mm_sfence();
#else
  std::memcpy(to, from, kBytes);
#endif
}

}  // namespace

double peak_gflops(int threads) {
  const Chains chains = best_chains();
  if (chains.run == nullptr) return 0;
  const double seconds = best_seconds(threads, 9, [&](int) { chains.run(); });
  return 2.0 * kSteps * kChains * chains.lanes * threads / seconds * 1e-9;
}

double memory_gbs(int threads) {
  static std::vector<std::unique_ptr<Buffer>> buffers;
  while (buffers.size() < 2 * static_cast<size_t>(threads)) buffers.push_back(std::make_unique<Buffer>());
  auto buffer = [&](int t, int which) { return buffers[static_cast<size_t>(2 * t + which)]->data; };
  const double all = static_cast<double>(kBytes) * threads * 1e-9;
  const double read = all / best_seconds(threads, 3, [&](int t) { read_all(buffer(t, 0)); });
  const double update = 2 * all / best_seconds(threads, 3, [&](int t) { update_all(buffer(t, 0)); });
  const double copy = 2 * all / best_seconds(threads, 3, [&](int t) { copy_past_cache(buffer(t, 1), buffer(t, 0)); });
  return std::max({read, update, copy});
}

}  // namespace tsc::perf
