#include "interpreter/tensor/host_access.h"

#include "runtime/kernels/run_op.h"

namespace tsc::interp {

HostAccess::HostAccess(Vm& vm, const Args& args) {
  const TensorState& state = tensor_state(vm);
  for (const Value& v : args.span()) look_into(state, v);
}

void HostAccess::look_at(const Tensor& tensor) {
  if (!tensor.place().is_device()) return;
  if (access_ && access_->backend().place() != tensor.place()) refuse_places(access_->backend().place(), tensor.place());
  if (!access_) access_.emplace(tensor.storage()->backend());
  access_->open(tensor);
}

void HostAccess::look_into(const TensorState& state, const Value& v) {
  if (const TensorObject* t = as_tensor(state, v)) look_at(t->tensor);
  if (const ListObject* list = try_cast<ListObject>(v))
    for (const Value& item : list->items) look_into(state, item);
  if (const TupleObject* tuple = try_cast<TupleObject>(v))
    for (const Value& item : tuple->span()) look_into(state, item);
}

}  // namespace tsc::interp
