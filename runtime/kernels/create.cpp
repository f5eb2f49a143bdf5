// Create ops: full, iota, rng_bits.
#include <algorithm>
#include <cstring>

#include "runtime/device/device.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/kernel_table.h"
#include "runtime/kernels/strided.h"

namespace tsc {
namespace {

constexpr double kFillNanoseconds = 0.2, kIotaNanoseconds = 1.0, kPhiloxNanoseconds = 1.5;

void fill_full(const Tensor& out, const Scalar& value) {
  std::byte element[kMaxElementSize];
  scalar_to_element(value, out.dtype(), element);
  int64_t size = dtype_size(out.dtype());
  parallel_for(out.numel(), grain_for(kFillNanoseconds), [&](int64_t begin, int64_t end) {
    fill_elements(out.data() + begin * size, element, size, end - begin);
  });
}

// The index is an i64, converted by `cast`.
void fill_iota(const Tensor& out, int64_t axis) {
  int64_t inner = 1;
  for (int64_t i = axis + 1; i < out.rank(); ++i) inner *= out.size(i);
  int64_t length = out.size(axis), size = dtype_size(out.dtype());
  ElementLoop convert = current_kernels().cast[static_cast<int>(DType::I64)][static_cast<int>(out.dtype())];
  parallel_for(out.numel(), grain_for(kIotaNanoseconds), [&](int64_t begin, int64_t end) {
    int64_t indices[kBlock];
    int64_t index = begin / inner % length, left = inner - begin % inner;
    for (int64_t first = begin; first < end; first += kBlock) {
      int64_t n = std::min(kBlock, end - first);
      for (int64_t i = 0; i < n;) {
        if (inner == 1) {  // counting, up to the end of the axis or of the block
          int64_t run = std::min(length - index, n - i);
          for (int64_t j = 0; j < run; ++j) indices[i + j] = index + j;
          i += run;
          index = index + run == length ? 0 : index + run;
          continue;
        }
        int64_t run = std::min(left, n - i);
        std::fill_n(indices + i, run, index);
        i += run;
        left -= run;
        if (left > 0) continue;
        left = inner;
        if (++index == length) index = 0;
      }
      convert(out.data() + first * size, indices, nullptr, nullptr, n);
    }
  });
}

// How many elements one Philox block of four words serves.
int64_t elements_per_block(DType dtype) { return dtype == DType::F64 ? 2 : 4; }

void fill_random(const Tensor& out, uint64_t seed, uint64_t offset) {
  int64_t per_block = elements_per_block(out.dtype()), size = dtype_size(out.dtype());
  const RandomLoops& loops = current_kernels().random;
  RandomConvert convert = loops.convert[static_cast<int>(out.dtype())];
  constexpr int64_t kBlocks = kBlock / 4;
  parallel_for(out.numel(), grain_for(kPhiloxNanoseconds), [&](int64_t begin, int64_t end) {
    alignas(64) uint32_t words[kBlocks * 4];
    alignas(64) std::byte elements[kBlocks * 4 * 8];
    int64_t step = kBlocks * per_block;
    for (int64_t first = begin / step * step; first < end; first += step) {
      loops.words(words, seed, offset, first / per_block, kBlocks);
      convert(elements, words, step);
      int64_t from = std::max(first, begin), to = std::min(first + step, end);
      std::memcpy(out.data() + from * size, elements + (from - first) * size, (to - from) * size);
    }
  });
}

}  // namespace

void fill_elements(std::byte* out, const std::byte* element, int64_t element_size, int64_t count) {
  if (count <= 0) return;
  bool same_bytes = true;
  for (int64_t i = 1; i < element_size; ++i) same_bytes &= element[i] == element[0];
  if (same_bytes) {
    std::memset(out, static_cast<int>(element[0]), count * element_size);
    return;
  }
  // Doubling copies of what is written already, in pieces that stay in the cache.
  std::memcpy(out, element, element_size);
  int64_t done = 1;
  while (done < count) {
    int64_t n = std::min({done, count - done, int64_t{2048}});
    std::memcpy(out + done * element_size, out, n * element_size);
    done += n;
  }
}

void scalar_to_element(const Scalar& scalar, DType dtype, std::byte* element) {
  const KernelTable& table = current_kernels();
  DType from = scalar.kind == Scalar::Kind::Float ? DType::F64 : DType::I64;
  const void* source =
      scalar.kind == Scalar::Kind::Float ? static_cast<const void*>(&scalar.f) : static_cast<const void*>(&scalar.i);
  table.cast[static_cast<int>(from)][static_cast<int>(dtype)](element, source, nullptr, nullptr, 1);
}

OpResults run_create(const OpCall& call) {
  Tensor out = empty_result(call);
  if (out.numel() == 0) return {std::move(out), {}};
  switch (call.op) {
    case Op::full: fill_full(out, call.scalars[0]); break;
    case Op::iota: fill_iota(out, call.attributes.axes[0]); break;
    default:
      fill_random(out, static_cast<uint64_t>(call.scalars[0].as_int()),
                  static_cast<uint64_t>(call.scalars[1].as_int()));
  }
  return {std::move(out), {}};
}

}  // namespace tsc
