#include "interpreter/tensor/print_tensor.h"

#include "interpreter/tensor/host_access.h"
#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/transforms.h"
#include "runtime/kernels/run_op.h"
#include "runtime/tensor/print.h"

namespace tsc::interp {

std::string tensor_text(Vm& vm, TensorObject* object) {
  if (is_batched(object))
    return "BatchedTensor(lvl=" + std::to_string(object->extra->level) + ", bdim=0, value=\n" +
           tensor_text(vm, object->extra->physical.get()) + "\n)";
  jit::TapeTensor taped = tape_tensor(vm, object);
  std::string extra;
  if (taped.history.node)
    extra = "grad_fn=<" + std::string(jit::shown_name(*taped.history.node, taped.history.output)) + ">";
  else if (object->requires_grad) extra = "requires_grad=True";
  if (TensorObject* tangent = tangent_of(vm, object))
    extra += std::string(extra.empty() ? "" : ", ") + "tangent=" + tensor_text(vm, tangent);
  PrintOptions options = tensor_state(vm).print_options;
  options.default_dtype = tensor_state(vm).modes.default_dtype;
  const bool silent = object->tensor.place().is_device() && object->tensor.place() == silent_place(vm);
  const Tensor shown = silent ? moved_to(object->tensor, Place::host()) : object->tensor;
  const HostAccess access(shown);
  std::string text = tensor_repr(shown, extra, options);
  if (object->type->name == "Parameter") return "Parameter containing:\n" + text;
  return text;
}

Value retype_tuple(Vm&, const Local<TupleObject>& tuple, Type* type) {
  tuple->type = type;
  return tuple.value();
}

}  // namespace tsc::interp
