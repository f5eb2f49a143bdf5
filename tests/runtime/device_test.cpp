// Promotion, allocator, threads, devices, storage.
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "catch2/catch.hpp"
#include "runtime/ops/infer.h"
#include "tensor_testing.h"

using namespace tsc;
using namespace tsc::testing;

TEST_CASE("promote_types is PyTorch's table") {
  // Rows and columns in the order of dtypes.def, from torch.promote_types.
  const char* expected[kDTypeCount][kDTypeCount] = {
      {"bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
      {"u8", "u8", "i16", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
      {"i8", "i16", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
      {"i16", "i16", "i16", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
      {"i32", "i32", "i32", "i32", "i32", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
      {"i64", "i64", "i64", "i64", "i64", "i64", "f16", "bf16", "f32", "f64", "c64", "c128"},
      {"f16", "f16", "f16", "f16", "f16", "f16", "f16", "f32", "f32", "f64", "c64", "c128"},
      {"bf16", "bf16", "bf16", "bf16", "bf16", "bf16", "f32", "bf16", "f32", "f64", "c64", "c128"},
      {"f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f32", "f64", "c64", "c128"},
      {"f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "f64", "c128", "c128"},
      {"c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c64", "c128", "c64", "c128"},
      {"c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128", "c128"}};
  for (int i = 0; i < kDTypeCount; ++i)
    for (int j = 0; j < kDTypeCount; ++j)
      CHECK(dtype_short_name(promote_types(dtype_at(i), dtype_at(j))) == expected[i][j]);
  CHECK(dtype_from_name("bfloat16") == DType::BF16);
  CHECK(dtype_from_name("i64") == DType::I64);
  CHECK(dtype_from_name("float16") == DType::F16);
  CHECK(!dtype_from_name("float8"));
  CHECK(category_of(DType::U8) == Category::Integer);
}

TEST_CASE("broadcast_sizes") {
  CHECK(broadcast_sizes({2, 1, 3}, {4, 1}) == Sizes{2, 4, 3});
  CHECK(broadcast_sizes({}, {2}) == Sizes{2});
  CHECK(broadcast_sizes({0}, {1}) == Sizes{0});
  CHECK(message_of([&] { broadcast_sizes({2, 3}, {4, 5}); }) ==
        "RuntimeError: The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 1");
  CHECK(message_of([&] { broadcast_sizes({5}, {2, 3}); }) ==
        "RuntimeError: The size of tensor a (5) must match the size of tensor b (3) at non-singleton dimension 1");
}

TEST_CASE("blocks are rounded, aligned, reused and counted") {
  CachingAllocator* allocator = new CachingAllocator();
  Ref<CachingAllocator> keep(allocator);
  for (int64_t bytes : {1, 64, 65, 100, 4096, 5000, 1 << 20, (1 << 20) + 1, 3 << 20, 9 << 20}) {
    CachingAllocator::Block block = allocator->allocate(bytes);
    CHECK(block.capacity >= bytes);
    CHECK(block.capacity == CachingAllocator::rounded_size(block.capacity));
    int64_t alignment = bytes > (1 << 20) ? 2 << 20 : 64;
    CHECK(reinterpret_cast<uintptr_t>(block.data) % alignment == 0);
    std::memset(block.data, 0xAB, block.capacity);
    allocator->free(block);
    CachingAllocator::Block again = allocator->allocate(bytes);
    CHECK(again.data == block.data);
    allocator->free(again);
  }
  AllocatorStatistics statistics = allocator->statistics();
  CHECK(statistics.used_bytes == 0);
  CHECK(statistics.cached_bytes > 0);
  CHECK(statistics.allocations == 20);
  CHECK(statistics.system_requests < 20);
  allocator->release_cached();
  CHECK(allocator->statistics().cached_bytes == 0);
}

TEST_CASE("blocks of middle size lie apart, come back, and are not pinned by others") {
  Ref<CachingAllocator> allocator = make_ref<CachingAllocator>();
  std::vector<CachingAllocator::Block> blocks;
  int64_t bytes = 0;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 600; ++i) {
      const int64_t size = int64_t{4096} + i % 7 * 9000 + round * 700;
      blocks.push_back(allocator->allocate(size));
      bytes += blocks.back().capacity;
      CHECK(reinterpret_cast<uintptr_t>(blocks.back().data) % 64 == 0);
      std::memset(blocks.back().data, static_cast<int>(blocks.size() % 251), static_cast<size_t>(size));
    }
  }
  bool whole = true;  // nobody wrote into another's bytes
  for (size_t i = 0; i < blocks.size(); ++i)
    for (int64_t at : {int64_t{0}, int64_t{4095}}) whole &= static_cast<size_t>(blocks[i].data[at]) == (i + 1) % 251;
  CHECK(whole);
  CHECK(allocator->budget().used() == bytes);

  // Every fiftieth stays in use: what shares a slab with one stays too, and serves the next of its size.
  std::vector<CachingAllocator::Block> kept;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (i % 50 == 0) kept.push_back(blocks[i]);
    else allocator->free(blocks[i]);
  }
  allocator->release_cached();
  const AllocatorStatistics after = allocator->statistics();
  CHECK(allocator->budget().used() == after.used_bytes + after.cached_bytes);
  const int64_t asked = after.system_requests;
  if (after.cached_bytes > 0) {  // not under a sanitizer, which has no slabs
    for (size_t i = 1; i < 50; ++i) allocator->free(allocator->allocate(blocks[blocks.size() - 1 - i].capacity));
    CHECK(allocator->statistics().system_requests - asked < 10);
  }
  for (CachingAllocator::Block block : kept) allocator->free(block);
  allocator->release_cached();
  CHECK(allocator->statistics().cached_bytes == 0);
  CHECK(allocator->budget().used() == 0);
}

namespace {

// Sanitizers keep what was freed: nothing is to be seen there.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMemoryLeaves = false;
#else
constexpr bool kMemoryLeaves = true;
#endif

// Memory of this process that is in use now.
int64_t resident_bytes() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

TEST_CASE("under a limit released memory leaves the process") {
  Ref<CachingAllocator> allocator = make_ref<CachingAllocator>();
  allocator->budget().set_limit(int64_t{64} << 20);
  const int64_t before = resident_bytes();
  std::vector<CachingAllocator::Block> kept;
  for (int round = 0; round < 40; ++round) {
    std::vector<CachingAllocator::Block> blocks;
    const int64_t size = 8192 + round * 1500;  // of another class in most rounds
    for (int64_t taken = 0; taken < int64_t{40} << 20; taken += CachingAllocator::rounded_size(size)) {
      blocks.push_back(allocator->allocate(size));
      std::memset(blocks.back().data, 1, static_cast<size_t>(blocks.back().capacity));
    }
    kept.push_back(blocks.back());
    blocks.pop_back();
    for (CachingAllocator::Block block : blocks) allocator->free(block);
  }
  if (kMemoryLeaves) CHECK(resident_bytes() - before < int64_t{100} << 20);
  for (CachingAllocator::Block block : kept) allocator->free(block);
}

TEST_CASE("the memory limit raises LimitError and is given back") {
  Device device(1);
  DeviceScope scope(device);
  device.budget->set_limit(1 << 20);
  Tensor half = Tensor::empty(DType::U8, {1 << 19});
  CHECK(message_of([&] { Tensor::empty(DType::U8, {1 << 20}); })
            .find("LimitError: a request for 1048576 bytes exceeds the memory limit of 1048576 bytes, of "
                  "which 524288 are in use") == 0);
  half = Tensor();
  CHECK_NOTHROW(Tensor::empty(DType::U8, {1 << 20}));
  CHECK(message_of([&] { Tensor::empty(DType::U8, {int64_t{1} << 62}); }).find("MemoryError") == 0);
}

TEST_CASE("storage outlives its device and may die on another thread") {
  Tensor x;
  {
    Device device(1);
    DeviceScope scope(device);
    x = Tensor::empty(DType::F32, {1000});
  }
  x.data_as<float>()[999] = 5;
  std::thread([moved = std::move(x)]() mutable { moved = Tensor(); }).join();
  int deleted = 0;
  float memory[4] = {1, 2, 3, 4};
  {
    Ref<Storage> borrowed = Storage::borrow(memory, sizeof memory, [&] { ++deleted; });
    Tensor view(borrowed, DType::F32, {4}, {1}, 0);
    borrowed = nullptr;
    CHECK(values(view) == std::vector<double>{1, 2, 3, 4});
    CHECK(deleted == 0);
  }
  CHECK(deleted == 1);
}

TEST_CASE("two devices do not see each other") {
  Device a(1), b(1);
  DeviceScope outer(a);
  Tensor x = Tensor::empty(DType::F32, {100});
  {
    DeviceScope inner(b);
    Tensor y = Tensor::empty(DType::F32, {100});
    CHECK(b.allocator->statistics().allocations == 1);
  }
  CHECK(&current_device() == &a);
  CHECK(a.allocator->statistics().allocations == 1);
}

TEST_CASE("parallel_for covers the range once, rethrows, nests inline") {
  for (int threads : {1, 2, 5}) {
    Device device(threads);
    DeviceScope scope(device);
    for (int64_t count : {0, 1, 7, 100, 12345}) {
      std::vector<std::atomic<int>> hits(count);
      parallel_for(count, 3, [&](int64_t begin, int64_t end) {
        parallel_for(end - begin, 1, [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) ++hits[begin + i];
        });
      });
      for (auto& hit : hits) CHECK(hit == 1);
    }
    CHECK_THROWS_AS(parallel_for(1000, 1,
                                 [](int64_t begin, int64_t) {
                                   if (begin >= 0) throw Error(ErrorKind::ValueError, "no");
                                 }),
                    Error);
    device.threads.set_count(2);
    std::atomic<int64_t> total{0};
    parallel_for(100, 1, [&](int64_t begin, int64_t end) { total += end - begin; });
    CHECK(total == 100);
  }
}

TEST_CASE("every op has a name that leads back to it") {
  for (const OpRow& row : op_rows()) CHECK(op_from_name(row.name) == row.op);
  CHECK(!op_from_name("nothing"));
}
