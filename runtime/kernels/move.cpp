// View and Move ops, and copying between layouts.
#include <cstring>
#include <string>

#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/strided.h"
#include "runtime/kernels/transpose.h"

namespace tsc {
namespace {

constexpr double kCopyNanoseconds = 0.3, kStridedCopyNanoseconds = 1.0;

void copy_to_contiguous(std::byte* out, const Tensor& x) {
  StridedMap map(x);
  int64_t size = map.element_size(), n = x.numel();
  const std::byte* source = x.data();
  if (map.contiguous()) {
    parallel_for(n, grain_for(kCopyNanoseconds), [&](int64_t begin, int64_t end) {
      std::memcpy(out + begin * size, source + begin * size, (end - begin) * size);
    });
    return;
  }
  if (is_transposed(map)) return copy_transposed(out, source, map);
  parallel_for(n, grain_for(kStridedCopyNanoseconds),
               [&](int64_t begin, int64_t end) { map.pack(out + begin * size, source, begin, end - begin); });
}

// The bytes a tensor's elements span, for the overlap test.
struct Span {
  const std::byte *low, *high;
};
Span bytes_of(const Tensor& x) {
  int64_t low = 0, high = 0;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    int64_t reach = (x.size(axis) - 1) * x.stride(axis);
    (reach < 0 ? low : high) += reach;
  }
  int64_t size = dtype_size(x.dtype());
  return {x.data() + low * size, x.data() + (high + 1) * size};
}

Sizes scalar_sizes(const OpCall& call, size_t first, size_t count) {
  Sizes sizes;
  for (size_t i = first; i < first + count; ++i) sizes.push_back(call.scalars[i].as_int());
  return sizes;
}

Tensor run_store(const OpCall& call) {
  infer_dtype(call);
  infer_sizes(call);
  size_t rank = call.tensors[1].sizes().size();
  Tensor out = copy_of(call.tensors[0]);
  Tensor place =
      view_as_strided(out, scalar_sizes(call, 1, rank), scalar_sizes(call, 1 + rank, rank), call.scalars[0].as_int());
  copy_into(place, call.tensors[1]);
  return out;
}

Tensor run_pad(const OpCall& call) {
  Tensor out = empty_result(call);
  if (out.numel() == 0) return out;
  int64_t axis = call.attributes.axes[0], low = call.scalars[1].as_int();
  const Tensor& x = call.tensors[0];
  std::byte element[kMaxElementSize];
  scalar_to_element(call.scalars[0], out.dtype(), element);
  int64_t kept_begin = std::max<int64_t>(0, -low);  // of x; a negative low crops
  int64_t kept_end = std::min(x.size(axis), out.size(axis) - low);
  if (kept_end <= kept_begin || low > 0 || out.size(axis) > kept_end + low) {
    int64_t size = dtype_size(out.dtype());
    parallel_for(out.numel(), grain_for(kCopyNanoseconds), [&](int64_t begin, int64_t end) {
      fill_elements(out.data() + begin * size, element, size, end - begin);
    });
  }
  if (kept_end > kept_begin) {
    int64_t length = kept_end - kept_begin;
    copy_into(view_slice(out, axis, kept_begin + low, length, 1), view_slice(x, axis, kept_begin, length, 1));
  }
  return out;
}

Tensor run_concat(const OpCall& call) {
  Tensor out = empty_result(call);
  int64_t axis = call.attributes.axes[0], start = 0;
  for (const Tensor& x : call.tensors) {
    copy_into(view_slice(out, axis, start, x.size(axis), 1), x);
    start += x.size(axis);
  }
  return out;
}

}  // namespace

Tensor copy_of(const Tensor& x) {
  if (x.is_elsewhere()) [[unlikely]] {
    Tensor out = Tensor::empty_at(x.place(), x.dtype(), x.sizes());
    if (!x.is_meta() && x.numel() > 0) x.storage()->backend().copy(out, x);
    return out;
  }
  Tensor out = Tensor::empty(x.dtype(), x.sizes());
  if (out.numel() > 0) copy_to_contiguous(out.data(), x);
  return out;
}

Tensor contiguous(const Tensor& x) { return x.is_contiguous() ? x : copy_of(x); }

namespace {

void copy_elsewhere(const Tensor& target, const Tensor& source) {
  if (target.is_meta()) return;
  refuse_meta_copy(source);
  (target.is_elsewhere() ? target : source).storage()->backend().copy(target, source);
}

}  // namespace

void copy_into(const Tensor& target, const Tensor& source) {
  TSC_CHECK(
      target.dtype() == source.dtype() && target.sizes() == source.sizes(),
      "copy_into needs one dtype and shape, got " + shape_text(target.sizes()) + " and " + shape_text(source.sizes()));
  int64_t n = target.numel();
  if (n == 0) return;
  if (target.overlaps_itself())
    throw Error(ErrorKind::RuntimeError,
                "more than one element of the written-to tensor refers to a single memory location; "
                "clone() the tensor before writing to it");
  if (target.is_elsewhere() || source.is_elsewhere()) [[unlikely]]
    return copy_elsewhere(target, source);
  Span to = bytes_of(target), from = bytes_of(source);
  if (to.low < from.high && from.low < to.high) {
    bool identical = target.data() == source.data() && target.strides() == source.strides();
    if (!identical) copy_into(target, copy_of(source));
    return;
  }
  StridedMap to_map(target), from_map(source);
  if (to_map.contiguous()) return copy_to_contiguous(target.data(), source);
  int64_t size = to_map.element_size();
  std::byte *out = target.data(), *in = source.data();
  parallel_for(n, grain_for(kStridedCopyNanoseconds), [&](int64_t begin, int64_t end) {
    if (from_map.contiguous()) return to_map.unpack(out, in + begin * size, begin, end - begin);
    alignas(64) std::byte buffer[kBlock * kMaxElementSize];
    for (int64_t first = begin; first < end; first += kBlock) {
      int64_t count = std::min(kBlock, end - first);
      from_map.pack(buffer, in, first, count);
      to_map.unpack(out, buffer, first, count);
    }
  });
}

// The views check their arguments themselves; here only that the arguments are there. What is missing
// is reported by inference, so both tiers speak with one voice.
OpResults run_view(const OpCall& call) {
  const Sizes& axes = call.attributes.axes;
  auto scalar = [&](size_t i) { return call.scalars[i].as_int(); };
  auto needs = [&](size_t scalars, size_t axis_count) {
    if (call.tensors.size() != 1 || call.scalars.size() != scalars || axes.size() != axis_count) infer_sizes(call);
  };
  needs(call.scalars.size(), axes.size());
  const Tensor& x = call.tensors[0];
  switch (call.op) {
    case Op::reshape: {
      Sizes sizes = infer_sizes(call);
      Tensor view = try_view_reshape(x, sizes);
      return {view.defined() ? std::move(view) : try_view_reshape(copy_of(x), sizes), {}};
    }
    case Op::broadcast: return {view_broadcast(x, scalar_sizes(call, 0, call.scalars.size())), {}};
    case Op::view_as_real:
    case Op::view_as_complex:
      infer_dtype(call);
      infer_sizes(call);
      return {call.op == Op::view_as_real ? tsc::view_as_real(x) : tsc::view_as_complex(x), {}};
    case Op::permute: needs(0, axes.size()); return {view_permute(x, axes), {}};
    case Op::slice: needs(3, 1); return {view_slice(x, axes[0], scalar(0), scalar(1), scalar(2)), {}};
    case Op::diagonal: needs(1, 2); return {view_diagonal(x, scalar(0), axes[0], axes[1]), {}};
    default: needs(2, 1); return {view_unfold(x, axes[0], scalar(0), scalar(1)), {}};
  }
}

OpResults run_move(const OpCall& call) {
  switch (call.op) {
    case Op::copy: infer_sizes(call); return {copy_of(call.tensors[0]), {}};
    case Op::detach:
    case Op::save_for_backward: infer_sizes(call); return {call.tensors[0], {}};
    case Op::pad: return {run_pad(call), {}};
    case Op::concat: return {run_concat(call), {}};
    default: return {run_store(call), {}};
  }
}

}  // namespace tsc
