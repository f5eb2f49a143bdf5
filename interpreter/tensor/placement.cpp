#include "interpreter/tensor/placement.h"

#include "interpreter/tensor/custom_gradient.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/vm/frame.h"
#include "interpreter/vm/operations.h"
#include "jit/autodiff/node_notes.h"
#include "lang/bytecode/bytecode.h"
#include "lang/library_file.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

enum class Place : uint8_t { Unsaid, Memory, Meta };

// The library's arrays of numpy, which have elements.
constexpr std::string_view kArrays = "<stdlib>/_numpy/";

Place place_of_device(Vm& vm, const Value& device) {
  if (device.is_undefined() || device.is_none()) return Place::Unsaid;
  return names_meta(vm, device) ? Place::Meta : Place::Memory;
}

void look_at(const TensorState& state, const Value& v, Place* place) {
  if (const TensorObject* t = as_tensor(state, v); t && *place != Place::Meta)
    *place = t->tensor.is_meta() ? Place::Meta : Place::Memory;
}

// What the tensors say that a parameter is or lists.
void look_into(const TensorState& state, const Value& v, Place* place) {
  look_at(state, v, place);
  if (const ListObject* list = try_cast<ListObject>(v))
    for (const Value& item : list->items) look_at(state, item, place);
  if (const TupleObject* tuple = try_cast<TupleObject>(v))
    for (const Value& item : tuple->span()) look_at(state, item, place);
}

struct FramePlace {
  Place device = Place::Unsaid, tensors = Place::Unsaid;
};

FramePlace place_in(Vm& vm, const Frame& frame, const StrObject* device) {
  FramePlace found;
  const auto& names = frame.code->parameter_names;
  for (size_t i = 0; i < names.size() && i < frame.register_count; ++i) {
    Value v = frame.registers[i];
    if (const CellObject* cell = try_cast<CellObject>(v)) v = cell->content;
    if (names[i].get() == device) found.device = place_of_device(vm, v);
    else look_into(tensor_state(vm), v, &found.tensors);
  }
  return found;
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

bool names_meta(Vm& vm, const Value& device) {
  Value name = device;
  if (is_kind(device, Kind::Instance)) name = get_own_attribute(vm, device.object(), intern(vm, "type").get());
  const StrObject* text = try_cast<StrObject>(name);
  return text && text->view().starts_with("meta");
}

std::string_view device_name(const Tensor& x) { return x.is_meta() ? "meta" : "cpu"; }

bool makes_meta(Vm& vm, const Frame* frame) {
  const TensorState& state = tensor_state(vm);
  if (!state.knows_meta) [[likely]] return false;
  Place tensors = Place::Unsaid;
  const Local<StrObject> device = intern(vm, "device"), body = intern(vm, "<module>");
  for (const Frame* at = frame ? frame : vm.current_frame(); at; at = at->back) {
    const std::string_view file = at->code->code->file();
    if (!lang::is_library_file(file)) break;
    if (at->code->name.get() == body.get() || file.starts_with(kArrays)) return false;
    const FramePlace here = place_in(vm, *at, device.get());
    if (here.device != Place::Unsaid) return here.device == Place::Meta;
    if (tensors == Place::Unsaid) tensors = here.tensors;
  }
  return tensors == Place::Unsaid ? state.modes.meta : tensors == Place::Meta;
}

Local<TensorObject> to_meta(Vm& vm, Local<TensorObject> x) {
  tensor_state(vm).knows_meta = true;
  const Tensor& from = x->tensor;
  Tensor made = Tensor::meta(from.dtype(), from.sizes());
  if (is_dense(from)) made = Tensor(made.storage(), from.dtype(), from.sizes(), from.strides(), 0);
  if (!tensor_state(vm).modes.grad_enabled || !x->needs_grad()) return make_tensor(vm, std::move(made));
  const jit::TapeTensor inputs[] = {tape_tensor(vm, x.get())};
  const Tensor results[] = {made};
  jit::TapeTensor taped{made, jit::record(Op::copy, inputs, {}, {}, results), nullptr};
  if (taped.history.node) jit::notes_of(*taped.history.node).name = "ToCopyBackward0";
  return from_tape(vm, taped);
}

void check_devices(Op op, std::span<TensorObject* const> tensors) {
  const Family family = op_row(op).family;
  const bool leads = family == Family::Index || family == Family::Contract || family == Family::Window;
  const Tensor* expected = nullptr;
  for (const TensorObject* t : tensors) {
    const Tensor& x = t->tensor;
    if (!x.is_meta() && x.rank() == 0) continue;
    if (!expected) expected = &x;
    if (x.is_meta() == expected->is_meta() || (leads && expected->is_meta())) continue;
    throw Error(ErrorKind::RuntimeError, "Tensor on device " + std::string(device_name(x)) +
                                             " is not on the expected device " + std::string(device_name(*expected)) + "!");
  }
}

namespace {

Value prim_is_meta(Vm& vm, Args& args) { return Value::boolean(expect_tensor(vm, args[0], "x")->tensor.is_meta()); }

Value prim_to_meta(Vm& vm, Args& args) { return to_meta(vm, Local<TensorObject>(expect_tensor(vm, args[0], "x"))).take(); }

// use_meta(): the program has named the device; from now on new tensors look where they lie.
Value prim_use_meta(Vm& vm, Args&) {
  tensor_state(vm).knows_meta = true;
  return Value::none();
}

// set_meta_default(mode): whether tensors of which nothing is said are meta tensors; gives what was set before.
Value prim_set_meta_default(Vm& vm, Args& args) {
  TensorState& state = tensor_state(vm);
  const bool before = state.modes.meta;
  state.modes.meta = truth(vm, args[0]);
  state.knows_meta |= state.modes.meta;
  return Value::boolean(before);
}

Value prim_meta_default(Vm& vm, Args&) { return Value::boolean(tensor_state(vm).modes.meta); }

// plain(tensors): whether this is the interpreter and none of them is more than its elements and its history: no meta
// tensor, no example of a batch, none with a tangent. Then a function may take a way that is no chain of primitives.
// Compiled code does not: `plain` is false there, and a region ends in front of `plain_or_break`.
Value prim_plain(Vm& vm, Args& args) {
  if (!is_kind(args[0], Kind::Tuple)) raise_type_error(vm, "expected a tuple of tensors");
  for (const Value& item : cast<TupleObject>(args[0])->span()) {
    const TensorObject* x = expect_tensor(vm, item, "element of the tuple");
    if (x->tensor.is_meta() || is_batched(x) || tangent_of(vm, x)) return Value::boolean(false);
  }
  return Value::boolean(true);
}

constexpr GradientPrim kPlacementPrims[] = {
    {"plain", "tensors", prim_plain},
    {"plain_or_break", "tensors", prim_plain},
    {"is_meta", "x", prim_is_meta},
    {"to_meta", "x", prim_to_meta},
    {"use_meta", "", prim_use_meta},
    {"set_meta_default", "mode", prim_set_meta_default},
    {"meta_default", "", prim_meta_default},
};

}  // namespace

std::span<const GradientPrim> placement_prims() { return kPlacementPrims; }

}  // namespace tsc::interp
