// Elementwise primitives over tensors and numbers: what they promote to and broadcast to, and the step that is
// recorded.
#include "interpreter/tensor/broadcasting.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/elementwise.h"
#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/vm/big_numbers.h"
#include "jit/autodiff/node_notes.h"
#include "runtime/kernels/run_op.h"
#include "runtime/ops/infer.h"

namespace tsc::interp {

Local<TensorObject> broadcast_to(Vm& vm, Local<TensorObject> x, const Sizes& sizes) {
  if (x->tensor.sizes() == sizes) return x;
  SmallVector<Scalar, 6> scalars;
  for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
  TensorObject* operands[] = {x.get()};
  return run_eager(vm, Op::broadcast, operands, scalars, {}).first;
}

namespace {

using Level = ElementwiseOperand::Level;

// The shape to which all operands broadcast.
Sizes broadcast_shape(std::span<const Local<TensorObject>> operands) {
  Sizes sizes;
  for (const Local<TensorObject>& x : operands) sizes = broadcast_sizes(sizes, x->tensor.sizes());
  return sizes;
}

bool same_kind(std::span<const Value> operands, const TensorState& state) {
  TensorObject* first = as_tensor(state, operands[0]);
  if (!first) return false;
  for (const Value& v : operands.subspan(1)) {
    TensorObject* other = as_tensor(state, v);
    if (!other || other->tensor.dtype() != first->tensor.dtype() || !(other->tensor.sizes() == first->tensor.sizes()))
      return false;
  }
  return true;
}

// The inputs of the step are the operands that the program gave, not what promotion and broadcasting made of them.
void name_inputs(Vm& vm, Op op, TensorObject* result, std::span<const Value> operands) {
  jit::NodeNotes& notes = jit::notes_of(*result->history.node);
  notes.has_next = true;
  const bool by_number = (op == Op::remainder || op == Op::rem) && !as_tensor(tensor_state(vm), operands[1]);
  if (by_number) notes.name = op == Op::rem ? "FmodBackward0" : "RemainderBackward0";
  const bool from_number = op == Op::sub && !as_tensor(tensor_state(vm), operands[0]);
  if (from_number) notes.name = "RsubBackward1";
  if (by_number) operands = operands.first(1);
  for (const Value& operand : from_number ? operands.subspan(1) : operands) {
    TensorObject* x = as_tensor(tensor_state(vm), operand);
    const jit::TapeTensor taped = x ? tape_tensor(vm, x) : jit::TapeTensor{};
    const bool flows = x && is_differentiable(x->tensor.dtype());
    notes.next.push_back(flows ? jit::TapeNode::Edge{taped.history, taped.leaf} : jit::TapeNode::Edge{});
  }
}

// The sizes that all tensors among the operands share, where they are so few elements that a number beside them is
// written out sooner than spread as a view; null otherwise.
const Sizes* few_elements(const TensorState& state, std::span<const Value> operands) {
  constexpr int64_t kFew = 256;
  const Sizes* shared = nullptr;
  for (const Value& v : operands) {
    TensorObject* t = as_tensor(state, v);
    if (!t) continue;
    if (t->extra || t->tensor.numel() > kFew || (shared && !(t->tensor.sizes() == *shared))) return nullptr;
    shared = &t->tensor.sizes();
  }
  return shared;
}

// A number, and a tensor of one in memory, goes where the others are; a number in `sizes` where these are given.
Local<TensorObject> operand_in(Vm& vm, const Value& operand, DType dtype, Place place, const Sizes* sizes = nullptr) {
  TensorObject* t = as_tensor(tensor_state(vm), operand);
  if (Scalar number; !t && sizes && place.is_host() && !is_big(operand) && number_of(operand, &number)) {
    SmallVector<Scalar, 6> scalars;
    scalars.push_back(number);
    for (int64_t size : *sizes) scalars.push_back(Scalar::of_int(size));
    OpAttributes attributes;
    attributes.dtype = dtype;
    return make_tensor(vm, run_op(Op::full, {}, scalars, attributes).first);
  }
  if (!t) return make_tensor(vm, moved_to(number_tensor(operand, dtype), place));
  if (t->tensor.place() != place) return cast_to(vm, to_place(vm, Local<TensorObject>(t), place), dtype);
  if (dtype == DType::Bool && t->tensor.dtype() != DType::Bool)
    throw Error(ErrorKind::RuntimeError,
                "where expected condition to be a boolean tensor, but got a tensor with dtype " +
                    std::string(dtype_info(t->tensor.dtype()).scalar_name));
  return cast_to(vm, Local<TensorObject>(t), dtype);
}

// Operands of the dtypes that the op takes; `direct`: of one shape too.
Local<TensorObject> run_together(Vm& vm, Op op, std::span<Local<TensorObject>> operands, bool direct) {
  if (!direct && operands.size() > 1) {
    const Sizes sizes = broadcast_shape(operands);
    for (Local<TensorObject>& x : operands) x = broadcast_to(vm, x, sizes);
  }
  SmallVector<TensorObject*, 3> arguments;
  for (const Local<TensorObject>& x : operands) arguments.push_back(x.get());
  return run_eager(vm, op, arguments, {}, {}).first;
}

// Whether the operand is one number that the dtype would round.
bool is_one_number(const TensorState& state, const Value& operand, DType dtype) {
  Scalar number;
  if (TensorObject* t = as_tensor(state, operand)) return t->tensor.numel() == 1;
  return is_big(operand) || (number_of(operand, &number) && !holds_exactly(dtype, number));
}

// Where the operands lie; elsewhere than in memory only numbers may join them.
Place place_of_operands(Vm& vm, Op op, std::span<const Value> operands) {
  const TensorState& state = tensor_state(vm);
  SmallVector<TensorObject*, 3> tensors;
  Place place;
  for (const Value& v : operands) {
    if (TensorObject* t = as_tensor(state, v)) {
      tensors.push_back(t);
      if (place.is_host()) place = t->tensor.place();
    }
  }
  if (!place.is_host()) check_devices(vm, op, tensors);
  return place;
}

// In float32, with one operand that was not rounded to `dtype`; the result is.
Value run_unrounded(Vm& vm, Op op, std::span<const Value> operands, DType dtype, Place place, size_t unrounded) {
  Local<TensorObject> held[2];
  for (size_t i = 0; i < 2; ++i) {
    if (i != unrounded) held[i] = operand_in(vm, operands[i], dtype, place);
    held[i] = i == unrounded ? operand_in(vm, operands[i], DType::F32, place) : cast_to(vm, held[i], DType::F32);
  }
  const Local<TensorObject> wide = run_together(vm, op, held, false);
  Local<TensorObject> result = cast_to(vm, wide, dtype);
  if (result->history.node) {
    name_inputs(vm, op, result.get(), operands);
    jit::notes_of(*result->history.node).name = jit::shown_name(*wide->history.node, 0);
  }
  return result.take();
}

}  // namespace

Value run_elementwise(Vm& vm, Op op, std::span<const Value> operands) {
  TensorState& state = tensor_state(vm);
  const ProfileScope event(state.profile, op_name(op), Profile::Kind::Operation);
  SmallVector<ElementwiseOperand, 3> kinds;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (TensorObject* t = as_tensor(state, operands[i])) {
      kinds.push_back({t->tensor.rank() ? Level::Dimensioned : Level::ZeroDim, t->tensor.dtype()});
    } else if (is_script_number(operands[i])) {
      kinds.push_back({Level::Number, number_dtype(operands[i], state.modes.default_dtype)});
    } else {
      return Value();
    }
  }
  bool identity = false;
  DType dtype = compute_dtype(op, kinds, state.modes.default_dtype, &identity);
  if (identity) return operands[0];
  if (is_complex(dtype) && !(op_row(op).flags & kComplex)) {
    std::vector<Value> arguments{str_value(vm, op_name(op))};
    arguments.insert(arguments.end(), operands.begin(), operands.end());
    return call_library(vm, "_complex_function", arguments);
  }
  const Place place = state.knows_places ? place_of_operands(vm, op, operands) : Place();
  if (const auto unrounded = unrounded_operand(op, kinds, dtype);
      unrounded && !place.is_meta() && is_one_number(state, operands[*unrounded], dtype))
    return run_unrounded(vm, op, operands, dtype, place, *unrounded);
  Local<TensorObject> held[3];
  const bool direct = same_kind(operands, state) && kinds[0].dtype == dtype && op != Op::select;
  const Sizes* sizes = direct ? nullptr : few_elements(state, operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    const DType wanted = op == Op::select && i == 0 ? DType::Bool : dtype;
    held[i] =
        direct ? Local<TensorObject>(as_tensor(state, operands[i])) : operand_in(vm, operands[i], wanted, place, sizes);
  }
  Local<TensorObject> result = run_together(vm, op, {held, operands.size()}, direct);
  if (!direct && result->history.node) name_inputs(vm, op, result.get(), operands);
  return result.take();
}

}  // namespace tsc::interp
