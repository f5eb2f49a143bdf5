// Copies of transposed layouts. Walking them in row-major order would touch a new cache line for every
// element, so tiles go through a small dense buffer: read along the source's rows, written along the
// target's, whole cache lines both times.
#include "runtime/kernels/transpose.h"

#include <algorithm>
#include <cstring>

#include "runtime/device/device.h"
#include "runtime/kernels/typed.h"

namespace tsc {
namespace {

constexpr int64_t kSourceRun = 64;  // elements read from one source row
constexpr double kTransposeNanoseconds = 0.8;

// The axis along which the source is dense, or -1.
int64_t dense_axis(const StridedMap& map) {
  int64_t last = static_cast<int64_t>(map.sizes().size()) - 1;
  // (An axis that stands still is no column: its elements need no collecting.)
  if (map.strides()[last] == map.element_size() || map.strides()[last] == 0) return -1;
  for (int64_t axis = 0; axis < last; ++axis)
    if (map.strides()[axis] == map.element_size()) return axis;
  return -1;
}

// out[i][j] = source[j][i] for one tile, i < rows <= kSourceRun, j < columns <= 64 / sizeof(Word).
template <class Word>
void copy_tile(Word* out, int64_t out_stride, const std::byte* source, int64_t source_stride, int64_t rows,
               int64_t columns) {
  constexpr int64_t kColumns = 64 / sizeof(Word);
  Word buffer[kColumns][kSourceRun];
  for (int64_t j = 0; j < columns; ++j) std::memcpy(buffer[j], source + j * source_stride, rows * sizeof(Word));
  for (int64_t i = 0; i < rows; ++i, out += out_stride)
    for (int64_t j = 0; j < columns; ++j) out[j] = buffer[j][i];
}

template <class Word>
void copy_blocks(std::byte* out_bytes, const std::byte* source, const StridedMap& map, int64_t dense) {
  constexpr int64_t kColumns = 64 / sizeof(Word);
  const Sizes& sizes = map.sizes();
  int64_t last = static_cast<int64_t>(sizes.size()) - 1;
  int64_t rows = sizes[dense], columns = sizes[last];
  Sizes outer_sizes = sizes, out_strides = contiguous_strides(sizes), source_strides;
  outer_sizes[dense] = outer_sizes[last] = 1;
  for (int64_t stride : map.strides()) source_strides.push_back(stride / static_cast<int64_t>(sizeof(Word)));
  // Two maps of the other axes that keep their axes apart, so that they walk in step.
  StridedMap outer_source(outer_sizes, source_strides, sizeof(Word));
  StridedMap outer_out(outer_sizes, out_strides, sizeof(Word));
  int64_t tiles = (rows + kSourceRun - 1) / kSourceRun, outer = numel_of(outer_sizes);
  double cost = kTransposeNanoseconds * std::min(rows, kSourceRun) * columns;
  parallel_for(outer * tiles, grain_for(cost), [&](int64_t begin, int64_t end) {
    for (int64_t work = begin; work < end; ++work) {
      int64_t first = work % tiles * kSourceRun, count = std::min(kSourceRun, rows - first);
      const std::byte* from =
          source + outer_source.offset_of(work / tiles) + first * static_cast<int64_t>(sizeof(Word));
      auto* to = reinterpret_cast<Word*>(out_bytes + outer_out.offset_of(work / tiles)) + first * out_strides[dense];
      for (int64_t j = 0; j < columns; j += kColumns)
        copy_tile(to + j, out_strides[dense], from + j * map.strides()[last], map.strides()[last], count,
                  std::min(kColumns, columns - j));
    }
  });
}

}  // namespace

bool is_transposed(const StridedMap& map) {
  int64_t dense = dense_axis(map);
  return dense >= 0 && map.sizes()[dense] >= 8 && map.sizes().back() >= 8;
}

void copy_transposed(std::byte* out, const std::byte* source, const StridedMap& map) {
  visit_width(map.element_size(), [&]<class Word>() { copy_blocks<Word>(out, source, map, dense_axis(map)); });
}

}  // namespace tsc
