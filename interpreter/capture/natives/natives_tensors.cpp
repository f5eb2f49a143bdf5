// Symbolic forms of the natives of the tensor binding.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/capture/values/shapes.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/writes.h"
#include "interpreter/tensor/data.h"

namespace tsc::interp {
namespace {

using Arguments = CallArguments;

Av prim_assign(Capture& capture, Arguments& arguments) {
  capture.writes().assign(capture.tensors().share_tensor(at(arguments, 0)), at(arguments, 1));
  return at(arguments, 0);
}

Av prim_copy_into(Capture& capture, Arguments& arguments) {
  capture.writes().assign(capture.tensors().share_tensor(at(arguments, 0)), at(arguments, 1), WriteHistory::Step);
  return at(arguments, 0);
}

Av prim_unsafe_view(Capture& capture, Arguments& arguments) {
  std::vector<ValueId> sizes;
  for (const Av& size : capture.iterators().items_of(at(arguments, 1))) sizes.push_back(capture.numbers().int_id(size));
  OpAttributes attributes;
  attributes.mode = Tensors::kNoView;
  const Av x = at(arguments, 0);
  return capture.tensors().emit(Op::reshape, {&x, 1}, sizes, attributes);
}

// What the operation saves are the elements as they are now, whatever is written afterwards.
Av prim_in_place_operand(Capture& capture, Arguments& arguments) {
  const std::shared_ptr<VTensor> x = capture.tensors().share_tensor(at(arguments, 0));
  if (!capture.modes().grad_enabled || !x->requires_grad || x->leaf) return at(arguments, 0);
  if (root_of(*x)->input != kNoValue || x->hooked)
    break_here(BreakReason::write, "a tensor with gradient history is written in place");
  const Av operand = at(arguments, 0);
  return capture.tensors().emit(Op::copy, {&operand, 1}, {}, {});
}

// The modes of save_for_backward that library functions write: the tensor is compared at backward(), not kept in place
// of what is cheap to make again.
constexpr int kSavesArgument = 1, kSavesResult = 2;

Av said_saved(Capture& capture, const Av& x, int mode) {
  if (!capture.tensors().tensor_of(x)) return x;
  const std::shared_ptr<VTensor> tensor = capture.tensors().share_tensor(x);
  if (!capture.modes().grad_enabled || !tensor->requires_grad) return x;
  OpAttributes attributes;
  attributes.mode = mode;
  return capture.tensors().emit(Op::save_for_backward, {&x, 1}, {}, attributes);
}

Av prim_saved(Capture& capture, Arguments& arguments) { return said_saved(capture, at(arguments, 0), kSavesArgument); }

// What the function saves of its arguments it has said with _prims.saved.
Av prim_step(Capture& capture, Arguments& arguments) {
  Av y = at(arguments, 0);
  const VTensor* named = capture.tensors().tensor_of(y);
  if (!named) return y;
  // The interpreter has computed it: the step is one of its history.
  if (named->input != kNoValue && !named->leaf && capture.modes().grad_enabled)
    break_here(BreakReason::history, "a step of the gradient history outside is named");
  for (const Av& saved : capture.iterators().items_of(at(arguments, 3)))
    if (capture.operators().is_identical(saved, y)) {
      y = said_saved(capture, y, kSavesResult);
      break;
    }
  if (at(arguments, 1).is_constant()) capture.gradients().name_step(y, text_of(capture.vm(), at(arguments, 1).value));
  return y;
}

Av prim_rng_bits(Capture& capture, Arguments& arguments) {
  OpAttributes attributes;
  attributes.dtype = expect_dtype(capture.vm(), at(arguments, 1).value, "dtype");
  const auto [seed, offset] = capture.tensors().rng_offset();
  std::vector<ValueId> scalars = {seed, offset};
  for (const Av& size : capture.iterators().items_of(at(arguments, 0)))
    scalars.push_back(capture.numbers().int_id(size));
  return capture.tensors().emit(Op::rng_bits, {}, scalars, attributes);
}

Av prim_set_grad_enabled(Capture& capture, Arguments& arguments) {
  const bool before = capture.modes().grad_enabled;
  capture.frames().set_grad_enabled(capture.numbers().truth(at(arguments, 0)));
  return Av::boolean(before);
}

Av prim_filled_rows(Capture& capture, Arguments& arguments) { return capture.rolled().filled_rows(at(arguments, 0)); }

Av prim_grad_enabled(Capture& capture, Arguments&) { return Av::boolean(capture.modes().grad_enabled); }

Av prim_set_inference(Capture& capture, Arguments& arguments) {
  const bool before = capture.modes().inference;
  capture.frames().set_inference(capture.numbers().truth(at(arguments, 0)));
  return Av::boolean(before);
}

Av prim_inference(Capture& capture, Arguments&) { return Av::boolean(capture.modes().inference); }

Av prim_is_inference(Capture& capture, Arguments& arguments) {
  const VTensor* tensor = capture.tensors().tensor_of(at(arguments, 0));
  if (!tensor) break_here(BreakReason::unknown_object, "a tensor with a batch or a tangent");
  return Av::boolean(tensor->is_inference);
}

Av autocast_value(Capture& capture, std::optional<DType> dtype) {
  return dtype ? Av::constant(dtype_value(tensor_state(capture.vm()), *dtype)) : Av::none();
}

std::optional<DType>& autocast_of(Capture& capture, const Av& on_device) {
  Modes& modes = capture.modes();
  return !on_device.is_undefined() && capture.numbers().truth(on_device) ? modes.device_autocast : modes.autocast;
}

Av prim_set_autocast(Capture& capture, Arguments& arguments) {
  capture.repeats().spoil_record();
  std::optional<DType>& set = autocast_of(capture, at(arguments, 1));
  Av before = autocast_value(capture, set);
  const Av& dtype = at(arguments, 0);
  if (dtype.is_none()) set.reset();
  else if (dtype.is_constant()) set = expect_dtype(capture.vm(), dtype.value, "dtype");
  else break_here(BreakReason::unknown_call, "autocast to a dtype that is not known");
  return before;
}

Av prim_autocast(Capture& capture, Arguments& arguments) {
  const Modes& modes = capture.modes();
  const Av& on_device = at(arguments, 0);
  const bool asks_either = on_device.is_undefined() || on_device.is_none();
  return autocast_value(capture, asks_either ? (modes.autocast ? modes.autocast : modes.device_autocast)
                                             : autocast_of(capture, on_device));
}

Av prim_item(Capture& capture, Arguments& arguments) {
  return capture.tensors().read_item(*capture.tensors().share_tensor(at(arguments, 0)));
}

Av prim_is_tensor(Capture& capture, Arguments& arguments) {
  const Av& x = at(arguments, 0);
  // One for the interpreter, which is only handed on here, may be known by its class alone (Inputs::load_value).
  if (is_virtual(x, VirtualKind::Instance))
    return Av::boolean(capture.attributes().type_of_av(x)->is_subtype_of(tensor_state(capture.vm()).tensor_type));
  return Av::boolean(capture.tensors().tensor_of(x) != nullptr);
}

// Tensors of device meta are left to the interpreter (Inputs::tensor_input), and so is where new ones are made there.
Av prim_is_meta(Capture& capture, Arguments& arguments) {
  (void)capture.tensors().share_tensor(at(arguments, 0));
  return Av::boolean(false);
}

// All tensors of a region lie in one place.
Av prim_place(Capture& capture, Arguments& arguments) {
  (void)capture.tensors().share_tensor(at(arguments, 0));
  return capture.tensors().place();
}

Av prim_to_place(Capture& capture, Arguments& arguments) {
  (void)capture.tensors().share_tensor(at(arguments, 0));
  const int64_t place = capture.numbers().concrete_int(at(arguments, 1));
  if (!capture.tensors().place().value.is(Value::integer(place)))
    break_here(BreakReason::two_devices, "a copy to another one");
  return at(arguments, 0);
}

Av prim_same_place(Capture& capture, Arguments& arguments) {
  for (const Av& x : arguments.positional) (void)capture.tensors().share_tensor(x);
  return Av::none();
}

Av prim_new_place(Capture& capture, Arguments&) {
  return Av::constant(Value::integer(capture.tensors().place_of_created().code()));
}

// The region is for calls with this one.
Av current_device_number(Capture& capture, Arguments&) { return Av::integer(capture.tensors().device_number()); }

Av prim_default_place(Capture& capture, Arguments&) {
  return Av::constant(Value::integer(capture.modes().place.code()));
}

Av prim_plain(Capture&, Arguments&) { return Av::boolean(false); }

Av prim_to_dtype(Capture& capture, Arguments& arguments) {
  const Av& dtype = at(arguments, 1);
  if (!dtype.is_constant()) break_here(BreakReason::unknown_call, "a dtype that is not known");
  return capture.tensors().cast_to(at(arguments, 0), expect_dtype(capture.vm(), dtype.value, "dtype"));
}

Av prim_wide(Capture& capture, Arguments& arguments) {
  const Av& x = at(arguments, 0);
  return capture.tensors().cast_to(x, computing_dtype(capture.builder().dtype(capture.tensors().share_tensor(x)->id)));
}

Av prim_holds(Capture& capture, Arguments& arguments) {
  const VList* list = as<VList>(at(arguments, 0));
  std::vector<Av> others;
  if (!list) others = capture.iterators().items_of(at(arguments, 0));
  for (const Av& item : list ? list->items : others)
    if (capture.operators().is_identical(item, at(arguments, 1))) return Av::boolean(true);
  return Av::boolean(false);
}

Av prim_default_dtype(Capture& capture, Arguments&) {
  return Av::constant(dtype_value(tensor_state(capture.vm()), capture.modes().default_dtype));
}

// The data as a script value, in which numbers that only running can tell stand for their kind; and its numbers in
// order.
Value sample_of_data(Capture& capture, const Av& data, std::vector<Av>& numbers, bool& known) {
  constexpr size_t kMostNumbers = 256;
  if (data.holds_number()) {
    numbers.push_back(data);
    known &= data.is_constant();
    if (!data.value.is_undefined()) return data.value;
    if (data.scalar_kind == jit::ValueKind::Float) return Value::real(0.0);
    return data.scalar_kind == jit::ValueKind::Int ? Value::integer(0) : Value::boolean(false);
  }
  const bool nested =
      capture.containers().is_sequence(data) && !(capture.attributes().type_of_av(data)->type_flags & kScriptClass);
  if (!nested || numbers.size() > kMostNumbers) break_here(BreakReason::unknown_call, "torch.tensor of these data");
  Local<ListObject> list = make_list(capture.vm(), 0);
  for (const Av& item : capture.iterators().items_of(data))
    list_append(capture.vm(), list.get(), sample_of_data(capture, item, numbers, known));
  return list.take();
}

// Of a tensor, and of an object that lies in a tensor's memory (an array of numpy), the elements are copied. Undefined:
// it is none, or its numbers may not fit the dtype, which the interpreter looks at one by one.
Av copy_of_array(Capture& capture, const Av& data, const Av& dtype) {
  std::optional<Av> tensor = capture.tensors().tensor_of(data) ? data : capture.calls().call_own("__tensor__", {data});
  if (!tensor || !capture.tensors().tensor_of(*tensor)) return Av();
  if (capture.tensors().tensor_of(*tensor)->requires_grad)
    tensor = capture.tensors().emit(Op::detach, {&*tensor, 1}, {}, {});
  const DType own = capture.builder().dtype(capture.tensors().share_tensor(*tensor)->id);
  const bool is_given = !dtype.is_none() && !dtype.is_undefined();
  const DType wanted = is_given ? expect_dtype(capture.vm(), dtype.value, "dtype") : own;
  if (wanted != own && (!is_floating(wanted) || is_complex(own))) return Av();
  (void)capture.tensors().place_of_created();  // the copy lies where the array does
  const Av copy = capture.tensors().emit(Op::copy, {&*tensor, 1}, {}, {});
  return capture.tensors().cast_to(copy, wanted);
}

// The tensor that the interpreter makes of these numbers, or its elements one by one.
Av tensor_of_data(Capture& capture, const Av& data, const Av& dtype) {
  if (capture.modes().default_dtype != tensor_state(capture.vm()).modes.default_dtype)
    break_here(BreakReason::unknown_call, "torch.tensor with another default dtype");
  if (const Av copy = copy_of_array(capture, data, dtype); !copy.is_undefined()) return copy;
  std::vector<Av> numbers;
  bool known = true;
  const Value sample = sample_of_data(capture, data, numbers, known);
  std::optional<DType> wanted;
  if (!dtype.is_none() && !dtype.is_undefined()) wanted = expect_dtype(capture.vm(), dtype.value, "dtype");
  const Tensor made = tensor_from_data(capture.vm(), sample, wanted);
  if (known) return capture.inputs().tensor_constant(made);
  OpAttributes attributes;
  attributes.dtype = made.dtype();
  std::vector<Av> elements;
  for (const Av& number : numbers) {
    capture.tensors().check_written(number, made.dtype());
    const ValueId scalars[] = {capture.numbers().number_id(number), capture.builder().constant(int64_t{1})};
    elements.push_back(capture.tensors().emit(Op::full, {}, scalars, attributes));
  }
  std::vector<ValueId> sizes;
  for (int64_t size : made.sizes()) sizes.push_back(capture.builder().constant(size));
  OpAttributes along;
  along.axes = Sizes{0};
  const Av row = capture.tensors().emit(Op::concat, elements, {}, along);
  if (sizes.size() == 1) return row;
  const Av shaped = capture.tensors().emit(Op::reshape, {&row, 1}, sizes, {});
  return capture.tensors().emit(Op::copy, {&shaped, 1}, {}, {});  // no view of anything
}

Av prim_tensor(Capture& capture, Arguments& arguments) {
  const Av& data = arguments.positional[0];
  bool number = data.is_number() || (data.is_constant() && !data.value.is_object());
  if (!number) return tensor_of_data(capture, data, at(arguments, 1));
  OpAttributes attributes;
  Av dtype = at(arguments, 1);
  Type* type = capture.attributes().type_of_av(data);
  attributes.dtype = type == capture.vm().types().real      ? capture.modes().default_dtype
                     : type == capture.vm().types().boolean ? DType::Bool
                                                            : DType::I64;
  if (!dtype.is_none() && !dtype.is_undefined()) attributes.dtype = expect_dtype(capture.vm(), dtype.value, "dtype");
  capture.tensors().check_written(data, attributes.dtype);
  ValueId id = capture.numbers().number_id(data);
  return capture.tensors().emit(Op::full, {}, {&id, 1}, attributes);
}

// torch.Tensor of a list of numbers, in the default dtype.
Av call_tensor(Capture& capture, Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.keywords.empty()) return capture.calls().decline();
  const Av& data = at(arguments, 0);
  const Type* type = capture.attributes().type_of_av(data);
  if (type != capture.vm().types().list && type != capture.vm().types().tuple) return capture.calls().decline();
  return tensor_of_data(capture, data,
                        Av::constant(dtype_value(tensor_state(capture.vm()), capture.modes().default_dtype)));
}

Av prim_backward(Capture& capture, Arguments& arguments) {
  std::vector<Av> roots = capture.iterators().items_of(at(arguments, 0));
  std::vector<Av> gradients = capture.iterators().items_of(at(arguments, 1));
  if (roots.size() != 1) break_here(BreakReason::unknown_call, "backward of several tensors");
  if (capture.numbers().truth(at(arguments, 3))) break_here(BreakReason::history, "create_graph");
  capture.gradients().backward(roots[0], gradients[0], capture.numbers().truth(at(arguments, 2)));
  return Av::none();
}

// gradients(outputs, inputs, output gradients, retain_graph, create_graph)
Av prim_gradients(Capture& capture, Arguments& arguments) {
  const std::vector<Av> outputs = capture.iterators().items_of(at(arguments, 0));
  const std::vector<Av> wanted = capture.iterators().items_of(at(arguments, 1));
  const std::vector<Av> seeds = capture.iterators().items_of(at(arguments, 2));
  const bool retain_graph = capture.numbers().truth(at(arguments, 3)),
             create_graph = capture.numbers().truth(at(arguments, 4));
  return capture.containers().make_tuple_av(
      capture.gradients().gradients(outputs, wanted, seeds, retain_graph, create_graph));
}

Av product_of(Capture& capture, const Av& sizes) {
  Av count = Av::integer(1);
  for (const Av& size : capture.iterators().items_of(sizes))
    count = capture.operators().binary(BinaryOp::Mul, count, size);
  return count;
}

Av tensor_numel(Capture& capture, Arguments& arguments) {
  return product_of(capture, capture.shapes().shape_of(*capture.tensors().share_tensor(at(arguments, 0))));
}

Av size_numel(Capture& capture, Arguments& arguments) { return product_of(capture, at(arguments, 0)); }

// What is no view keeps its layout: a fresh copy, or the same tensor. Of some views only running can tell.
Av prim_contiguous(Capture& capture, Arguments& arguments) {
  std::shared_ptr<VTensor> tensor = capture.tensors().share_tensor(at(arguments, 0));
  const std::optional<bool> row_major = capture.shapes().is_row_major(*tensor);
  if (!row_major && capture.shapes().is_row_major_now(*tensor))
    break_here(BreakReason::unknown_call, "contiguous() of a view");
  if (row_major.value_or(false)) {
    tensor->contiguous = true;  // at every entry: its views have the memory that they have in this call
    return at(arguments, 0);
  }
  return row_major ? capture.tensors().emit(Op::copy, {&arguments.positional[0], 1}, {}, {})
                   : capture.tensors().copied(at(arguments, 0));
}

Av tensor_is_contiguous(Capture& capture, Arguments& arguments) {
  std::shared_ptr<VTensor> tensor = capture.tensors().share_tensor(at(arguments, 0));
  if (tensor->contiguous) return Av::boolean(true);
  if (!tensor->view) return Av::boolean(false);
  break_here(BreakReason::unknown_call, "is_contiguous() of a view");
}

// memory_order(x): of some views only running can tell.
Av prim_memory_order(Capture& capture, Arguments& arguments) {
  std::shared_ptr<VTensor> tensor = capture.tensors().share_tensor(at(arguments, 0));
  const std::optional<Sizes> order = capture.shapes().memory_order(*tensor);
  if (!order) break_here(BreakReason::unknown_call, "the order of a view's axes in memory");
  if (std::is_sorted(order->begin(), order->end())) return Av::constant(Value::none());
  auto axes = capture.make<VTuple>();
  for (int64_t axis : *order) axes->items.push_back(Av::integer(axis));
  return Av::of(axes);
}

// shares_storage(x, a reshape of x)
Av prim_shares_storage(Capture& capture, Arguments& arguments) {
  std::shared_ptr<VTensor> x = capture.tensors().share_tensor(at(arguments, 0)),
                           y = capture.tensors().share_tensor(at(arguments, 1));
  if (capture.operators().is_identical(at(arguments, 0), at(arguments, 1)) || capture.shapes().is_reshaped_view(*y, *x))
    return Av::boolean(true);
  break_here(BreakReason::unknown_call, "whether a tensor shares the memory of another");
}

constexpr NativeRow kTensors[] = {
    {"_prims.assign_", prim_assign},
    {"_prims.copy_", prim_copy_into},
    {"_prims.in_place_operand", prim_in_place_operand},
    {"_prims.saved", prim_saved},
    {"_prims.step", prim_step},
    {"_prims.unsafe_view", prim_unsafe_view},
    {"_prims.rng_bits", prim_rng_bits},
    {"_prims.set_grad_enabled", prim_set_grad_enabled},
    {"_prims.grad_enabled", prim_grad_enabled},
    {"_prims.filled_rows", prim_filled_rows},
    {"_prims.set_inference", prim_set_inference},
    {"_prims.inference", prim_inference},
    {"_prims.is_inference", prim_is_inference},
    {"_prims.set_autocast", prim_set_autocast},
    {"_prims.autocast", prim_autocast},
    {"_prims.contiguous", prim_contiguous},
    {"_prims.memory_order", prim_memory_order},
    {"_prims.shares_storage", prim_shares_storage},
    {"_prims.item", prim_item},
    {"_prims.is_tensor", prim_is_tensor},
    {"_prims.is_meta", prim_is_meta},
    {"_prims.place", prim_place},
    {"_prims.to_place", prim_to_place},
    {"_prims.default_place", prim_default_place},
    {"_prims.new_place", prim_new_place},
    {"_prims.same_place", prim_same_place},
    {"_devices.current", current_device_number},
    {"_prims.plain", prim_plain},
    {"_prims.to_dtype", prim_to_dtype},
    {"_prims.wide", prim_wide},
    {"_prims.holds", prim_holds},
    {"_prims.default_dtype", prim_default_dtype},
    {"_prims.tensor", prim_tensor},
    {"Tensor", call_tensor, NativeRow::Runs::Never, true},
    {"_prims.backward", prim_backward},
    {"_prims.gradients", prim_gradients},
    {"Tensor.item", prim_item},
    {"Tensor.numel", tensor_numel},
    {"Size.numel", size_numel},
    {"Tensor.is_contiguous", tensor_is_contiguous},
};

}  // namespace

std::span<const NativeRow> tensor_forms() { return kTensors; }

}  // namespace tsc::interp
