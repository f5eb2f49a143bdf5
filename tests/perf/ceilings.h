#pragma once
// What this machine can do at most, measured: fused multiply-adds and memory traffic on a number of
// threads. Knows the processor; must not know Tenscript.

namespace tsc::perf {

// float32 fused multiply-adds in registers, best of several runs, in GFLOP/s (two a multiply-add).
// 0 where there is no measure for the processor.
double peak_gflops(int threads);
// Main memory, the best of reading, copying past the cache and updating in place, in GB/s.
double memory_gbs(int threads);

}  // namespace tsc::perf
