// Index ops. Bounds are checked before anything is written. Writers of one place keep row-major order:
// all of them lie on one line along the axis, and a line belongs to one thread.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/lines.h"
#include "runtime/kernels/strided.h"
#include "runtime/kernels/typed.h"
#include "runtime/ops/bounds_report.h"

namespace tsc {
namespace {

constexpr double kMoveNanoseconds = 1.0;

// What is said of an index that lies outside: {at} is the place that it asks for, {count} how many there are, {last}
// one less, {position} where in the index it stands, {axis} along which axis.
struct BoundsText {
  BoundsReport report;
  ErrorKind kind;
  const char *above, *below;  // of places behind the last one, and below 0 where that is another text
};

#define TSC_INDEX "index {at} is out of bounds for dimension {axis} with size {count}"
#define TSC_CTC " (while checking arguments for ctc_loss_allocate_outputs)"
constexpr BoundsText kBoundsTexts[] = {
    {BoundsReport::Indexing, ErrorKind::IndexError, TSC_INDEX, nullptr},
    {BoundsReport::Selected, ErrorKind::IndexError, "index out of range in self", nullptr},
    {BoundsReport::Target, ErrorKind::IndexError, "Target {at} is out of bounds.", nullptr},
    {BoundsReport::Placed, ErrorKind::RuntimeError, TSC_INDEX, nullptr},
    {BoundsReport::Taken, ErrorKind::IndexError,
     "out of range: tried to access index {at} on a tensor of {count} elements.", nullptr},
    {BoundsReport::Bag, ErrorKind::RuntimeError,
     "Index {position} of input takes value {at} which is not in the valid range [0, {count})", nullptr},
    {BoundsReport::FirstOffset, ErrorKind::RuntimeError,
     "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
     "{at}"
     "\n[ torch.LongTensor{} ]",
     nullptr},
    {BoundsReport::LastOffset, ErrorKind::RuntimeError,
     "offsets[-1] can not be greater than input's length {last} but got offsets[-1] of {at}", nullptr},
    {BoundsReport::Copied, ErrorKind::IndexError, "index_copy_(): " TSC_INDEX, nullptr},
    {BoundsReport::Class, ErrorKind::RuntimeError, "Class values must be smaller than num_classes.",
     "Class values must be non-negative."},
    {BoundsReport::Margin, ErrorKind::RuntimeError, "target out of range", nullptr},
    {BoundsReport::Margins, ErrorKind::RuntimeError, "argument #2 'target' is out of range", nullptr},
    {BoundsReport::MaskedSource, ErrorKind::RuntimeError, "Number of elements of source < number of ones in mask",
     nullptr},
    {BoundsReport::InputLength, ErrorKind::RuntimeError,
     "Expected input_lengths to have value at most {last}, but got value {at}" TSC_CTC,
     "Expected input_lengths to have value at least 0, but got value {at}" TSC_CTC},
    {BoundsReport::TargetLength, ErrorKind::RuntimeError,
     "Expected tensor to have size at least {at} at dimension 1, but got size {last} for argument #2 'targets'" TSC_CTC,
     "Expected target_lengths to have value at least 0, but got value {at}" TSC_CTC},
    {BoundsReport::UnitInput, ErrorKind::RuntimeError, "all elements of input should be between 0 and 1", nullptr},
    {BoundsReport::UnitTarget, ErrorKind::RuntimeError, "all elements of target should be between 0 and 1", nullptr},
    {BoundsReport::Variance, ErrorKind::ValueError, "var has negative entry/entries", nullptr},
    {BoundsReport::Probability, ErrorKind::RuntimeError, "Expected p_in >= 0 && p_in <= 1 to be true, but got false.",
     nullptr},
    {BoundsReport::Weight, ErrorKind::RuntimeError, "probability tensor contains either `inf`, `nan` or element < 0",
     nullptr},
    {BoundsReport::WeightSum, ErrorKind::RuntimeError, "invalid multinomial distribution (sum of probabilities <= 0)",
     nullptr},
    {BoundsReport::Rate, ErrorKind::RuntimeError, "invalid Poisson rate, expected rate to be non-negative", nullptr},
    {BoundsReport::Deviation, ErrorKind::RuntimeError, "normal expects all elements of std >= 0.0", nullptr},
};
#undef TSC_INDEX
#undef TSC_CTC
constexpr bool in_order_of_reports() {
  for (size_t i = 0; i < std::size(kBoundsTexts); ++i)
    if (static_cast<size_t>(kBoundsTexts[i].report) != i) return false;
  return std::size(kBoundsTexts) == static_cast<size_t>(BoundsReport::Deviation) + 1;
}
static_assert(in_order_of_reports());

// The element at `position` of the index is `place`, which the axis has not.
[[noreturn]] void refuse(BoundsReport report, int64_t position, int64_t place, int64_t axis, int64_t size) {
  const BoundsText& row = kBoundsTexts[static_cast<size_t>(report)];
  std::string text = place < 0 && row.below ? row.below : row.above;
  const std::pair<std::string_view, int64_t> numbers[] = {
      {"{at}", place}, {"{count}", size}, {"{last}", size - 1}, {"{position}", position}, {"{axis}", axis}};
  for (const auto& [name, number] : numbers)
    for (size_t at; (at = text.find(name)) != std::string::npos;) text.replace(at, name.size(), std::to_string(number));
  throw Error(row.kind, text);
}

void check_bounds(const OpCall& call, const Tensor& index) {
  int64_t axis = call.attributes.axes[0], size = call.tensors[0].size(axis);
  const int64_t* places = index.data_as<int64_t>();
  std::atomic<bool> inside = true;
  int64_t n = index.numel();
  parallel_for(n, grain_for(0.5), [&](int64_t begin, int64_t end) {
    bool all = true;
    for (int64_t i = begin; i < end; ++i) all &= static_cast<uint64_t>(places[i]) < static_cast<uint64_t>(size);
    if (!all) inside.store(false, std::memory_order_relaxed);
  });
  if (inside) return;
  for (int64_t i = 0; i < n; ++i)
    if (places[i] < 0 || places[i] >= size)
      refuse(static_cast<BoundsReport>(call.attributes.mode), i, places[i], axis, size);
}

// to[i] = the word at from + i * advance + places[i] * step, in bytes.
template <class Word>
void pick_words(std::byte* to, const std::byte* from, int64_t advance, const int64_t* places, int64_t step,
                int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::memcpy(to + i * sizeof(Word), from + i * advance + places[i] * step, sizeof(Word));
}

Tensor run_take(const OpCall& call) {
  Tensor out = empty_result(call);
  Tensor x = contiguous(call.tensors[0]), index = contiguous(call.tensors[1]);
  check_bounds(call, index);
  if (out.numel() == 0) return out;
  Lines around(x.sizes(), call.attributes.axes[0]);
  const int64_t picks = index.numel(), row = around.inner * dtype_size(x.dtype());
  // copy(to, from, places, count): rows of the result that come from one block of the axis.
  const auto in_blocks = [&](double cost, auto copy) {
    parallel_for(around.outer * picks, grain_for(cost), [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t block = begin / picks, pick = begin % picks, count = std::min(end - begin, picks - pick);
        copy(out.data() + begin * row, x.data() + block * around.length * row, index.data_as<int64_t>() + pick, count);
        begin += count;
      }
    });
  };
  if (around.inner > 1) {
    in_blocks(kMoveNanoseconds + 0.1 * row,
              [=](std::byte* to, const std::byte* from, const int64_t* places, int64_t count) {
                for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * row, from + places[i] * row, row);
              });
  } else {
    visit_width(row, [&]<class Word>() {
      in_blocks(kMoveNanoseconds, [](std::byte* to, const std::byte* from, const int64_t* places, int64_t count) {
        pick_words<Word>(to, from, 0, places, sizeof(Word), count);
      });
    });
  }
  return out;
}

Tensor run_index_add(const OpCall& call) {
  Tensor index = contiguous(call.tensors[1]), values = contiguous(call.tensors[2]);
  infer_dtype(call);
  infer_sizes(call);
  check_bounds(call, index);
  Tensor out = copy_of(call.tensors[0]);
  if (values.numel() == 0) return out;
  Lines around(out.sizes(), call.attributes.axes[0]);
  int64_t picks = index.numel();
  const int64_t* places = index.data_as<int64_t>();
  visit_dtype(out.dtype(), [&]<class S>() {
    S* result = out.data_as<S>();
    const S* added = values.data_as<S>();
    if (around.inner == 1) {
      parallel_for(around.outer, grain_for(2.0 * static_cast<double>(picks) + 1), [&](int64_t begin, int64_t end) {
        for (int64_t outer = begin; outer < end; ++outer) {
          S* line = result + outer * around.length;
          const S* source = added + outer * picks;
          for (int64_t pick = 0; pick < picks; ++pick)
            store_element(line + places[pick],
                          TSC_ISA::scalar::add(load_element(line + places[pick]), load_element(source + pick)));
        }
      });
      return;
    }
    // A thread takes columns of the inner axes (of one outer index): no two share a place.
    constexpr int64_t kColumns = 64;
    int64_t tiles = (around.inner + kColumns - 1) / kColumns;
    double cost = static_cast<double>(picks) * std::min(around.inner, kColumns) * 0.5 + 1;
    parallel_for(around.outer * tiles, grain_for(cost), [&](int64_t begin, int64_t end) {
      for (int64_t work = begin; work < end; ++work) {
        int64_t outer = work / tiles, first = work % tiles * kColumns;
        int64_t last = std::min(around.inner, first + kColumns);
        for (int64_t pick = 0; pick < picks; ++pick) {
          S* target = result + (outer * around.length + places[pick]) * around.inner;
          const S* source = added + (outer * picks + pick) * around.inner;
          for (int64_t j = first; j < last; ++j)
            store_element(target + j, TSC_ISA::scalar::add(load_element(target + j), load_element(source + j)));
        }
      }
    });
  });
  return out;
}

// The elements of x that index positions stand for: the index's shape over x's strides, the axis
// itself left out (its place comes from the index).
StridedMap place_map(const Tensor& x, const Sizes& index_sizes, int64_t axis) {
  Sizes strides = x.strides();
  strides[axis] = 0;
  return StridedMap(index_sizes, strides, dtype_size(x.dtype()));
}

Tensor run_gather(const OpCall& call) {
  Tensor out = empty_result(call);
  const Tensor& x = call.tensors[0];
  Tensor index = contiguous(call.tensors[1]);
  check_bounds(call, index);
  if (out.numel() == 0) return out;
  int64_t axis = call.attributes.axes[0];
  StridedMap map = place_map(x, index.sizes(), axis);
  const int64_t* places = index.data_as<int64_t>();
  visit_width(dtype_size(x.dtype()), [&]<class Word>() {
    const std::byte* base = x.data();
    int64_t step = x.stride(axis) * static_cast<int64_t>(sizeof(Word));
    parallel_for(out.numel(), grain_for(kMoveNanoseconds), [&](int64_t begin, int64_t end) {
      for_runs(map, begin, end, [&](int64_t first, int64_t offset, int64_t count) {
        pick_words<Word>(out.data() + first * sizeof(Word), base + offset, map.strides().back(), places + first, step,
                         count);
      });
    });
  });
  return out;
}

// Calls write(element of out, element of values) along every line of the index.
template <class Write>
void for_lines(const Tensor& out, const Tensor& index, int64_t axis, Write write) {
  Lines around(index.sizes(), axis);
  Sizes line_sizes = index.sizes();
  line_sizes[axis] = 1;
  StridedMap map(line_sizes, out.strides(), 1);  // offsets in elements
  int64_t step = out.stride(axis);
  const int64_t* places = index.data_as<int64_t>();
  parallel_for(around.outer * around.inner, grain_for(kMoveNanoseconds * around.length + 1),
               [&](int64_t begin, int64_t end) {
                 StridedWalk walk(map, begin);
                 for (int64_t line = begin; line < end; ++line, walk.next()) {
                   int64_t first = line / around.inner * around.length * around.inner + line % around.inner;
                   for (int64_t i = 0; i < around.length; ++i) {
                     int64_t element = first + i * around.inner;
                     write(walk.offset() + places[element] * step, element);
                   }
                 }
               });
}

// The places along the axis where an index is one vector of them that the other axes repeat, all of them whole: then
// whole rows are written. Undefined where it is not.
Tensor vector_of_places(const Tensor& index, const Tensor& x, int64_t axis) {
  for (int64_t k = 0; k < index.rank(); ++k)
    if (k != axis && (index.size(k) != x.size(k) || (index.size(k) > 1 && index.stride(k) != 0))) return {};
  return contiguous(Tensor(index.storage(), index.dtype(), {index.size(axis)}, {index.stride(axis)}, index.offset()));
}

// scatter of whole rows. A thread takes bytes of the inner axes of one outer index: no two share a place.
Tensor write_rows(const OpCall& call, const Tensor& places) {
  const Tensor values = contiguous(call.tensors[2]);
  check_bounds(call, places);
  Tensor out = copy_of(call.tensors[0]);
  constexpr int64_t kBytes = 1024;
  const Lines around(out.sizes(), call.attributes.axes[0]);
  const int64_t row = around.inner * dtype_size(out.dtype()), picks = places.numel(),
                tiles = (row + kBytes - 1) / kBytes;
  const int64_t* at = places.data_as<int64_t>();
  const double cost =
      (0.1 * static_cast<double>(std::min(row, kBytes)) + kMoveNanoseconds) * static_cast<double>(picks);
  parallel_for(around.outer * tiles, grain_for(cost + 1), [&](int64_t begin, int64_t end) {
    for (int64_t work = begin; work < end; ++work) {
      const int64_t outer = work / tiles, first = work % tiles * kBytes, count = std::min(kBytes, row - first);
      std::byte* to = out.data() + outer * around.length * row + first;
      const std::byte* from = values.data() + outer * picks * row + first;
      for (int64_t pick = 0; pick < picks; ++pick) std::memcpy(to + at[pick] * row, from + pick * row, count);
    }
  });
  return out;
}

Tensor run_scatter(const OpCall& call) {
  infer_dtype(call);
  infer_sizes(call);
  if (call.tensors[1].rank() > 1 && call.tensors[1].numel() > 0) {
    const Tensor places = vector_of_places(call.tensors[1], call.tensors[0], call.attributes.axes[0]);
    if (places.defined() && call.op == Op::scatter) return write_rows(call, places);
    if (places.defined()) {
      const Tensor operands[] = {call.tensors[0], places, call.tensors[2]};
      return run_index_add({Op::index_add, operands, {}, call.attributes});
    }
  }
  Tensor index = contiguous(call.tensors[1]), values = contiguous(call.tensors[2]);
  check_bounds(call, index);
  Tensor out = copy_of(call.tensors[0]);
  if (index.numel() == 0) return out;
  int64_t axis = call.attributes.axes[0];
  if (call.op == Op::scatter) {
    visit_width(dtype_size(out.dtype()), [&]<class Word>() {
      Word* result = out.data_as<Word>();
      const Word* source = values.data_as<Word>();
      for_lines(out, index, axis, [=](int64_t to, int64_t from) { result[to] = source[from]; });
    });
  } else {
    visit_dtype(out.dtype(), [&]<class S>() {
      S* result = out.data_as<S>();
      const S* source = values.data_as<S>();
      for_lines(out, index, axis, [=](int64_t to, int64_t from) {
        store_element(result + to, TSC_ISA::scalar::add(load_element(result + to), load_element(source + from)));
      });
    });
  }
  return out;
}

// Counts first, so that every block knows where its rows begin.
Tensor run_nonzero(const OpCall& call) {
  infer_dtype(call);
  constexpr int64_t kBlock = 16 << 10;
  const Tensor x = contiguous(call.tensors[0]);
  const int64_t n = x.numel(), rank = x.rank(), blocks = (n + kBlock - 1) / kBlock;
  std::vector<int64_t> first_row(blocks + 1, 0);
  const auto in_blocks = [&](auto work) {
    visit_dtype(x.dtype(), [&]<class S>() {
      const S* elements = x.data_as<S>();
      const auto is_nonzero = [=](int64_t i) { return !TSC_ISA::scalar::logical_not(load_element(elements + i)); };
      parallel_for(blocks, grain_for(kMoveNanoseconds * kBlock), [&](int64_t begin, int64_t end) {
        for (int64_t block = begin; block < end; ++block)
          work(block, block * kBlock, std::min(n, (block + 1) * kBlock), is_nonzero);
      });
    });
  };
  in_blocks([&](int64_t block, int64_t begin, int64_t end, auto is_nonzero) {
    int64_t count = 0;
    for (int64_t i = begin; i < end; ++i) count += is_nonzero(i);
    first_row[block + 1] = count;
  });
  std::partial_sum(first_row.begin(), first_row.end(), first_row.begin());
  Tensor out = Tensor::empty(DType::I64, Sizes{first_row[blocks], rank});
  in_blocks([&](int64_t block, int64_t begin, int64_t end, auto is_nonzero) {
    int64_t* row = out.data_as<int64_t>() + first_row[block] * rank;
    for (int64_t i = begin; i < end; ++i) {
      if (!is_nonzero(i)) continue;
      int64_t place = i;
      for (int64_t axis = rank - 1; axis > 0; --axis) {
        row[axis] = place % x.size(axis);
        place /= x.size(axis);
      }
      if (rank) row[0] = place;
      row += rank;
    }
  });
  return out;
}

}  // namespace

OpResults run_index(const OpCall& call) {
  switch (call.op) {
    case Op::take: return {run_take(call), {}};
    case Op::gather: return {run_gather(call), {}};
    case Op::index_add: return {run_index_add(call), {}};
    case Op::nonzero: return {run_nonzero(call), {}};
    default: return {run_scatter(call), {}};
  }
}

}  // namespace tsc
