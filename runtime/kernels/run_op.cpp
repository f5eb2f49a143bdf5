#include "runtime/kernels/run_op.h"

#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/kernels/families.h"

namespace tsc {

namespace {

// What is known of the results without their elements.
OpResults run_without_memory(const OpCall& call) {
  const OpRow& row = op_row(call.op);
  if (row.flags & kView) return row.family == Family::View ? run_view(call) : run_move(call);
  if (row.flags & kDynamicSize)
    throw Error(ErrorKind::NotImplementedError,
                std::string(row.name) +
                    "() of a tensor on device meta: the size of its result depends on the elements, "
                    "and a meta tensor has none");
  const Sizes sizes = infer_sizes(call);
  OpResults results{Tensor::meta(infer_dtype(call), sizes), {}};
  if (op_result_count(call.op) == 2) results.second = Tensor::meta(infer_dtype(call, 1), sizes);
  return results;
}

// Kernels of which only the result tells the size wait for it.
OpResults run_with_host(const OpCall& call, Backend& backend) {
  DeviceAccess access(backend);
  for (const Tensor& x : call.tensors) access.open(x);
  return run_op(call.op, call.tensors, call.scalars, call.attributes);
}

void check_places(const OpCall& call, Place place) {
  for (const Tensor& x : call.tensors)
    if (x.is_elsewhere() && x.place() != place) refuse_places(x.place(), place);
}

OpResults run_on_device(const OpCall& call, Backend& backend) {
  const OpRow& row = op_row(call.op);
  if (row.flags & kView) return row.family == Family::View ? run_view(call) : run_move(call);
  check_places(call, backend.place());
  if (row.flags & kDynamicSize) return run_with_host(call, backend);
  const Sizes sizes = infer_sizes(call);
  const char* maker = row.name.data();
  Tensor results[] = {Tensor::on_device(backend, infer_dtype(call), sizes, maker), {}};
  const bool two = op_result_count(call.op) == 2;
  if (two) results[1] = Tensor::on_device(backend, infer_dtype(call, 1), sizes, maker);
  backend.run(call, {results, two ? 2u : 1u});
  return {results[0], results[1]};
}

// Where an operand lies on a device, there; a meta tensor among them makes all the rest shapes.
OpResults run_elsewhere(const OpCall& call) {
  Backend* backend = nullptr;
  for (const Tensor& x : call.tensors) {
    if (x.is_meta()) return run_without_memory(call);
    if (!backend && x.is_elsewhere()) backend = &x.storage()->backend();
  }
  return run_on_device(call, *backend);
}

// Whether the elements fill one stretch of memory.
bool is_dense(const Tensor& x) {
  int64_t reach = 0;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (x.stride(axis) < 0) return false;
    reach += (x.size(axis) - 1) * x.stride(axis);
  }
  return reach == x.numel() - 1 && !x.overlaps_itself();
}

}  // namespace

void refuse_places(Place a, Place b) {
  throw Error(ErrorKind::RuntimeError,
              "Expected all tensors to be on the same device, but found at least two devices, " + a.name() + " and " +
                  b.name() + "!");
}

OpResults run_op(Op op, std::span<const Tensor> tensors, std::span<const Scalar> scalars,
                 const OpAttributes& attributes) {
  using Driver = OpResults (*)(const OpCall&);
  static constexpr Driver kDrivers[] = {run_elementwise, run_elementwise, run_elementwise, run_create,
                                        run_view,        run_move,        run_index,       run_reduce,
                                        run_scan,        run_sort,        run_contract,    run_window};
  for (const Tensor& x : tensors)
    if (x.is_elsewhere()) [[unlikely]]
      return run_elsewhere({op, tensors, scalars, attributes});
  return kDrivers[static_cast<size_t>(op_row(op).family)]({op, tensors, scalars, attributes});
}

Tensor create_at(Place place, Op op, std::span<const Scalar> scalars, const OpAttributes& attributes) {
  const OpCall call{op, {}, scalars, attributes};
  if (place.is_host()) return run_op(op, {}, scalars, attributes).first;
  return place.is_meta() ? run_without_memory(call).first : run_on_device(call, current_device().backend(place)).first;
}

Tensor moved_to(const Tensor& x, Place place) {
  if (x.place() == place) return x;
  if (!place.is_meta()) refuse_meta_copy(x);
  Tensor made = Tensor::empty_at(place, x.dtype(), x.sizes());
  if (is_dense(x)) made = Tensor(made.storage(), x.dtype(), x.sizes(), x.strides(), 0);
  if (!place.is_meta()) copy_into(made, x);
  return made;
}

void refuse_meta_copy(const Tensor& x) {
  if (x.is_meta()) throw Error(ErrorKind::NotImplementedError, "Cannot copy out of meta tensor; no data!");
}

Sizes infer_sizes(const OpCall& call) {
  std::vector<Sizes> shapes;
  for (const Tensor& x : call.tensors) shapes.push_back(x.sizes());
  return infer_sizes(call.op, shapes, call.scalars, call.attributes);
}

DType infer_dtype(const OpCall& call, int index) {
  SmallVector<DType, 8> dtypes;
  for (const Tensor& x : call.tensors) dtypes.push_back(x.dtype());
  return infer_dtype(call.op, dtypes, call.attributes, index);
}

Tensor empty_result(const OpCall& call) {
  DType dtype = infer_dtype(call);
  return Tensor::empty(dtype, infer_sizes(call));
}

}  // namespace tsc
