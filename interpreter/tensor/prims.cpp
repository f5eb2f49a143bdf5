// Module `_prims`: every row of the op table as a function, and the few functions that need the tensor
// object itself (in-place assignment, history, random state, data in and out).
#include "interpreter/tensor/custom_gradient.h"
#include "interpreter/tensor/data.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/elementwise.h"
#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/prim_signature.h"
#include "interpreter/tensor/storage_prims.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/vm/big_numbers.h"
#include "jit/autodiff/backward_into.h"
#include "runtime/device/device.h"

namespace tsc::interp {
namespace {

struct PrimArguments {
  SmallVector<TensorObject*, 4> tensors;
  SmallVector<Scalar, 6> scalars;
  OpAttributes attributes;
};

void take_tensors(Vm& vm, const Value& v, SmallVector<TensorObject*, 4>* out) {
  std::span<const Value> items;
  if (ListObject* list = try_cast<ListObject>(v)) items = list->items;
  else if (TupleObject* tuple = try_cast<TupleObject>(v)) items = tuple->span();
  else raise_type_error(vm, "expected a list or tuple of tensors, not '" + type_name(vm, v) + "'");
  for (const Value& item : items) out->push_back(expect_tensor(vm, item, "element of the list"));
}

Scalar take_number(Vm& vm, const Value& v, const char* what) {
  Scalar number;
  if (number_of(v, &number)) return number;
  if (TensorObject* t = as_tensor(tensor_state(vm), v)) return tensor_scalar(t->tensor);
  raise_type_error(vm, std::string("'") + what + "' must be a number, not '" + type_name(vm, v) + "'");
}

PrimArguments parse_arguments(Vm& vm, const PrimSignature& signature, const Args& args) {
  PrimArguments out;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const Value& v = args[i];
    switch (signature.parameters[i]) {
      case PrimParameter::Tensor: out.tensors.push_back(expect_tensor(vm, v, "argument")); break;
      case PrimParameter::TensorList: take_tensors(vm, v, &out.tensors); break;
      case PrimParameter::Axis: out.attributes.axes = Sizes{to_index(vm, v, "axis")}; break;
      case PrimParameter::Axes: out.attributes.axes = expect_sizes(vm, v, "axes"); break;
      case PrimParameter::Number: out.scalars.push_back(take_number(vm, v, "argument")); break;
      case PrimParameter::Sizes:
        for (int64_t size : expect_sizes(vm, v, "sizes")) out.scalars.push_back(Scalar::of_int(size));
        break;
      case PrimParameter::DType: out.attributes.dtype = expect_dtype(vm, v, "dtype"); break;
      case PrimParameter::Mode: out.attributes.mode = truth(vm, v); break;
      case PrimParameter::Bounds: out.attributes.mode = to_index(vm, v, "bounds"); break;
    }
  }
  if (signature.fills) {
    int64_t elements = 1;
    for (size_t i = 1; i < out.scalars.size(); ++i) elements *= out.scalars[i].i;
    if (!is_rounded(out.attributes.dtype, elements)) check_number(out.attributes.dtype, out.scalars[0]);
  }
  return out;
}

struct BoundPrim {
  Op op;
  PrimSignature signature;
};

// full(value, sizes, dtype) of a number that no scalar operand holds: a complex one, or an int beyond int64.
Value full_of_wide(Vm& vm, Args& args) {
  const DType dtype = expect_dtype(vm, args[2], "dtype");
  std::vector<Scalar> sizes;
  int64_t elements = 1;
  for (int64_t size : expect_sizes(vm, args[1], "sizes")) sizes.push_back(Scalar::of_int(size)), elements *= size;
  if (!is_rounded(dtype, elements)) check_filling(dtype, args[0]);
  const Tensor number = number_tensor(args[0], dtype);
  const Tensor spread = run_op(Op::broadcast, {&number, 1}, sizes, {}).first;
  return make_tensor(vm, moved_to(run_op(Op::copy, {&spread, 1}, {}, {}).first, place_of_new(vm))).take();
}

Value call_prim(Vm& vm, Args& args) {
  const BoundPrim& prim = *static_cast<const BoundPrim*>(args.callee->pointer);
  if (is_elementwise(prim.op) && prim.op != Op::cast && prim.op != Op::bitcast) {
    Value result = run_elementwise(vm, prim.op, args.span());
    if (result.is_undefined())
      raise_type_error(vm, std::string(op_name(prim.op)) + "(): arguments must be tensors or numbers");
    return result;
  }
  if (prim.op == Op::full && (is_kind(args[0], Kind::Complex) || is_big(args[0]))) return full_of_wide(vm, args);
  PrimArguments arguments = parse_arguments(vm, prim.signature, args);
  EagerResults results = run_eager(vm, prim.op, arguments.tensors, arguments.scalars, arguments.attributes);
  if (!results.second) return results.first.take();
  const Value both[] = {results.first.take(), results.second.take()};
  return make_tuple(vm, both).take();
}

// Nothing is drawn on device "meta".
Value prim_rng_bits(Vm& vm, Args& args) {
  if (place_of_new(vm).is_meta())
    return make_tensor(vm, Tensor::meta(expect_dtype(vm, args[1], "dtype"), expect_sizes(vm, args[0], "sizes"))).take();
  return random_bits(vm, expect_sizes(vm, args[0], "sizes"), expect_dtype(vm, args[1], "dtype")).take();
}

Value prim_assign(Vm& vm, Args& args) {
  assign(vm, expect_tensor(vm, args[0], "x"), args[1]);
  return args[0];
}

Value prim_copy_into(Vm& vm, Args& args) {
  assign(vm, expect_tensor(vm, args[0], "x"), args[1], WriteHistory::Step);
  return args[0];
}

Value prim_contiguous(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  if (x->tensor.is_contiguous()) return args[0];
  TensorObject* operands[] = {x};
  return run_eager(vm, Op::copy, operands, {}, {}).first.take();
}

// unsafe_view(x, sizes): the elements of x, a tensor that nobody else has, in another shape. The result is no view:
// x is not seen any more.
Value prim_unsafe_view(Vm& vm, Args& args) {
  TensorObject* operands[] = {expect_tensor(vm, args[0], "x")};
  std::vector<Scalar> sizes;
  for (int64_t size : expect_sizes(vm, args[1], "sizes")) sizes.push_back(Scalar::of_int(size));
  Local<TensorObject> result = run_eager(vm, Op::reshape, operands, sizes, {}).first;
  result->view.reset();
  return result.take();
}

Value prim_in_place_operand(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  if (!tensor_state(vm).modes.grad_enabled || !tape_tensor(vm, x).needs_grad()) return args[0];
  return in_place_operand(vm, x).take();
}

Value prim_set_grad_enabled(Vm& vm, Args& args) {
  TensorState& state = tensor_state(vm);
  bool before = state.modes.grad_enabled;
  state.modes.grad_enabled = truth(vm, args[0]);
  return Value::boolean(before);
}

// A list that a loop of a compiled region has filled is the rows of a tensor (capture/program/rolled_loops.h): of a
// real one there are none.
Value prim_filled_rows(Vm&, Args&) { return Value::none(); }

Value prim_grad_enabled(Vm& vm, Args&) { return Value::boolean(tensor_state(vm).modes.grad_enabled); }

Value autocast_value(const TensorState& state, std::optional<DType> dtype) {
  return dtype ? dtype_value(state, *dtype) : Value::none();
}

// set_autocast(dtype or None, on_device): gives what was set before.
Value prim_set_autocast(Vm& vm, Args& args) {
  TensorState& state = tensor_state(vm);
  std::optional<DType>& set = truth(vm, args[1]) ? state.modes.device_autocast : state.modes.autocast;
  const Value before = autocast_value(state, set);
  if (args[0].is_none()) set.reset();
  else set = expect_dtype(vm, args[0], "dtype");
  return before;
}

// autocast(on_device=None): the dtype on devices, or on the CPU; of None that of either.
Value prim_autocast(Vm& vm, Args& args) {
  const TensorState& state = tensor_state(vm);
  const Modes& modes = state.modes;
  if (args[0].is_none()) return autocast_value(state, modes.autocast ? modes.autocast : modes.device_autocast);
  return autocast_value(state, truth(vm, args[0]) ? modes.device_autocast : modes.autocast);
}

Value prim_manual_seed(Vm& vm, Args& args) {
  rng_of(tensor_state(vm), expect_place(vm, args[1])) = {static_cast<uint64_t>(to_index(vm, args[0], "seed")), 0};
  return Value::none();
}

Value prim_rng_state(Vm& vm, Args& args) {
  const jit::RngState& rng = rng_of(tensor_state(vm), expect_place(vm, args[0]));
  const Value both[] = {Value::integer(static_cast<int64_t>(rng.seed)),
                        Value::integer(static_cast<int64_t>(rng.offset))};
  return make_tuple(vm, both).take();
}

Value prim_set_rng_state(Vm& vm, Args& args) {
  Sizes both = expect_sizes(vm, args[0], "state");
  if (both.size() != 2) raise_value_error(vm, "the random state is a tuple (seed, offset)");
  rng_of(tensor_state(vm), expect_place(vm, args[1])) = {static_cast<uint64_t>(both[0]),
                                                         static_cast<uint64_t>(both[1])};
  return Value::none();
}

Value prim_tensor(Vm& vm, Args& args) {
  std::optional<DType> dtype;
  if (!args[1].is_none()) dtype = expect_dtype(vm, args[1], "dtype");
  Local<TensorObject> made = make_tensor(vm, tensor_from_data(vm, args[0], dtype));
  return to_place(vm, made, place_of_new(vm)).take();
}

Value prim_to_list(Vm& vm, Args& args) {
  refuse_batched(expect_tensor(vm, args[0], "x"), "calling .tolist()");
  return tensor_to_list(vm, expect_tensor(vm, args[0], "x")->tensor);
}

Value prim_item(Vm& vm, Args& args) {
  refuse_batched(expect_tensor(vm, args[0], "x"), "calling .item()");
  return tensor_item(vm, expect_tensor(vm, args[0], "x")->tensor);
}

Value prim_is_tensor(Vm& vm, Args& args) { return Value::boolean(as_tensor(tensor_state(vm), args[0]) != nullptr); }

// x itself where it has that dtype already.
Value prim_to_dtype(Vm& vm, Args& args) {
  Local<TensorObject> x(expect_tensor(vm, args[0], "x"));
  return cast_to(vm, x, expect_dtype(vm, args[1], "dtype")).take();
}

// In the precision that an operation on x computes in.
Value prim_wide(Vm& vm, Args& args) {
  Local<TensorObject> x(expect_tensor(vm, args[0], "x"));
  return cast_to(vm, x, computing_dtype(x->tensor.dtype())).take();
}

// Whether one of the list's items is the object itself.
Value prim_holds(Vm& vm, Args& args) {
  if (!is_kind(args[0], Kind::List)) raise_type_error(vm, "expected a list, not '" + type_name(vm, args[0]) + "'");
  for (const Value& item : cast<ListObject>(args[0])->items)
    if (item.is(args[1])) return Value::boolean(true);
  return Value::boolean(false);
}

Value prim_set_data(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  TensorObject* y = expect_tensor(vm, args[1], "data");
  note_tensor_store(vm, x, kTensorData);
  x->tensor = y->tensor;
  return Value::none();
}

Value prim_is_set_to(Vm& vm, Args& args) {
  const Tensor& x = expect_tensor(vm, args[0], "x")->tensor;
  const Tensor& y = expect_tensor(vm, args[1], "y")->tensor;
  return Value::boolean(x.storage() == y.storage());
}

Value prim_set_default_dtype(Vm& vm, Args& args) {
  DType dtype = expect_dtype(vm, args[0], "dtype");
  if (!is_floating(dtype)) raise_type_error(vm, "only floating-point types are supported as the default type");
  tensor_state(vm).modes.default_dtype = dtype;
  return Value::none();
}

Value prim_default_dtype(Vm& vm, Args&) {
  TensorState& state = tensor_state(vm);
  return dtype_value(state, state.modes.default_dtype);
}

// At most what the host gave: a script may give threads back, not take more.
Value prim_set_thread_count(Vm& vm, Args& args) {
  Threads& threads = current_device().threads;
  int& most = tensor_state(vm).most_threads;
  if (most == 0) most = threads.count();
  threads.set_count(static_cast<int>(std::clamp<int64_t>(to_index(vm, args[0], "count"), 1, most)));
  return Value::none();
}

Value prim_profile_start(Vm& vm, Args&) {
  std::shared_ptr<Profile>& profile = tensor_state(vm).profile;
  if (profile) raise(vm, vm.exceptions().RuntimeError, "a profile is running already: one at a time");
  profile = std::make_shared<Profile>();
  return Value::none();
}

// profile_stop() -> [(name, kind, begin, duration in nanoseconds, number of the event around it or -1)]
Value prim_profile_stop(Vm& vm, Args&) {
  static constexpr const char* kKinds[] = {"operation", "region", "backward", "range"};
  const std::shared_ptr<Profile> profile = std::move(tensor_state(vm).profile);
  Local<ListObject> list = make_list(vm);
  if (!profile) return list.take();
  const int64_t now = profile->now();
  for (const Profile::Event& event : profile->events()) {
    const Value parts[] = {str_value(vm, event.name), str_value(vm, kKinds[static_cast<int>(event.kind)]),
                           Value::integer(event.begin), Value::integer((event.end ? event.end : now) - event.begin),
                           Value::integer(event.parent)};
    list->items.push_back(make_tuple(vm, parts).take());
  }
  return list.take();
}

Value prim_profile_begin(Vm& vm, Args& args) {
  if (Profile* profile = tensor_state(vm).profile.get()) profile->begin(text_of(vm, args[0]), Profile::Kind::Range);
  return Value::none();
}

Value prim_profile_end(Vm& vm, Args&) {
  if (Profile* profile = tensor_state(vm).profile.get()) profile->end_range();
  return Value::none();
}

Value prim_thread_count(Vm&, Args&) { return Value::integer(current_device().threads.count()); }

// set_print_options(precision, threshold, edge_items, line_width, scientific: None, False or True)
Value prim_set_print_options(Vm& vm, Args& args) {
  PrintOptions& options = tensor_state(vm).print_options;
  options.precision = static_cast<int>(std::clamp<int64_t>(to_index(vm, args[0], "precision"), 0, 100));
  options.threshold = std::max<int64_t>(to_index(vm, args[1], "threshold"), 0);
  options.edge_items = std::max<int64_t>(to_index(vm, args[2], "edgeitems"), 0);
  options.line_width = std::max<int64_t>(to_index(vm, args[3], "linewidth"), 1);
  options.scientific.reset();
  if (!args[4].is_none()) options.scientific = truth(vm, args[4]);
  return Value::none();
}

Value prim_promote_types(Vm& vm, Args& args) {
  return dtype_value(tensor_state(vm),
                     promote_types(expect_dtype(vm, args[0], "type1"), expect_dtype(vm, args[1], "type2")));
}

std::vector<jit::TapeTensor> take_taped(Vm& vm, const Value& v) {
  std::vector<jit::TapeTensor> out;
  std::span<const Value> items = cast<TupleObject>(v)->span();
  for (const Value& item : items) {
    TensorObject* t = as_tensor(tensor_state(vm), item);
    out.push_back(t ? tape_tensor(vm, t) : jit::TapeTensor{});
  }
  return out;
}

jit::BackwardOptions backward_options(Vm& vm, bool retain_graph, bool create_graph) {
  const AutogradState* state = tensor_state(vm).autograd.get();
  return {retain_graph || create_graph, create_graph, state && state->detect_anomaly && state->check_nan};
}

// Where a batch or a tangent would be lost.
void check_differentiable_here(Vm& vm, const Value& tensors, bool batches_too) {
  const AutogradState* state = tensor_state(vm).autograd.get();
  if (!state) return;
  for (const Value& item : cast<TupleObject>(tensors)->span()) {
    TensorObject* t = as_tensor(tensor_state(vm), item);
    if (!t) continue;
    if (tangent_of(vm, without_batches(t)))
      raise(vm, vm.exceptions().NotImplementedError,
            "gradients of a tensor that has a tangent: use torch.func.jvp around torch.func.grad");
    if (batches_too && is_batched(t))
      throw Error(ErrorKind::RuntimeError,
                  "backward() called inside a functorch transform. This is not supported, "
                  "please use functorch.grad or functorch.vjp instead or call backward() "
                  "outside of functorch transforms.");
  }
}

struct BackwardRequest {
  std::vector<jit::TapeTensor> roots, gradients;
};

BackwardRequest backward_request(Vm& vm, const Value& tensors, const Value& seeds) {
  check_differentiable_here(vm, tensors, true);
  BackwardRequest request{take_taped(vm, tensors), take_taped(vm, seeds)};
  for (size_t i = 0; i < request.roots.size(); ++i)
    if (!request.roots[i].needs_grad())
      throw Error(ErrorKind::RuntimeError,
                  "element " + std::to_string(i) + " of tensors does not require grad and does not have a grad_fn");
  return request;
}

// backward(tensors, gradients, retain_graph, create_graph): tuples; None in gradients means implicit.
Value prim_backward(Vm& vm, Args& args) {
  const BackwardRequest request = backward_request(vm, args[0], args[1]);
  const bool retain_graph = truth(vm, args[2]), create_graph = truth(vm, args[3]);
  const ProfileScope event(tensor_state(vm).profile, "backward", Profile::Kind::Backward);
  const BackwardMode mode(vm, create_graph);
  jit::run_backward(request.roots, request.gradients, backward_options(vm, retain_graph, create_graph));
  return Value::none();
}

// The same with the tensors that alone get a gradient.
Value prim_backward_into(Vm& vm, Args& args) {
  const BackwardRequest request = backward_request(vm, args[0], args[1]);
  const std::vector<jit::TapeTensor> inputs = take_taped(vm, args[2]);
  const bool retain_graph = truth(vm, args[3]), create_graph = truth(vm, args[4]);
  const ProfileScope event(tensor_state(vm).profile, "backward", Profile::Kind::Backward);
  const BackwardMode mode(vm, create_graph);
  jit::run_backward_into(request.roots, request.gradients, inputs, backward_options(vm, retain_graph, create_graph));
  return Value::none();
}

// What is asked for inside vmap: every example's own gradient, of tensors that are batched at all levels.
struct GradientRequest {
  std::vector<Local<TensorObject>> held;
  std::vector<jit::TapeTensor> roots, gradients, inputs;
};

GradientRequest batched_request(Vm& vm, const Args& args, int levels) {
  GradientRequest request;
  const auto below = [&](const Value& v) {
    request.held.push_back(batched_everywhere(vm, Local<TensorObject>(cast<TensorObject>(v)), levels));
    return tape_tensor(vm, without_batches(request.held.back().get()));
  };
  const std::span<const Value> roots = cast<TupleObject>(args[0])->span(), seeds = cast<TupleObject>(args[2])->span();
  for (size_t i = 0; i < roots.size(); ++i) {
    request.roots.push_back(below(roots[i]));
    if (i < seeds.size() && as_tensor(tensor_state(vm), seeds[i])) {
      request.gradients.push_back({below(seeds[i]).tensor, {}, nullptr});
      request.gradients.back() = tape_tensor(vm, without_batches(request.held.back().get()));
      continue;
    }
    if (cast<TensorObject>(roots[i])->tensor.numel() != 1)
      throw Error(ErrorKind::RuntimeError, "grad can be implicitly created only for scalar outputs");
    std::vector<Scalar> scalars = {Scalar::of_float(1.0)};
    for (int64_t size : request.roots.back().tensor.sizes()) scalars.push_back(Scalar::of_int(size));
    OpAttributes attributes;
    attributes.dtype = request.roots.back().tensor.dtype();
    request.gradients.push_back({run_op(Op::full, {}, scalars, attributes).first, {}, nullptr});
  }
  for (const Value& v : cast<TupleObject>(args[1])->span()) {
    TensorObject* x = cast<TensorObject>(v);
    int level = levels;
    for (TensorObject* t = x; level > 0 && is_batched(t) && t->extra->level == level; t = t->extra->physical.get())
      --level;
    if (level > 0)
      throw Error(ErrorKind::RuntimeError,
                  "vmap: the gradient of a tensor that is not batched is the sum over the batch; differentiate with "
                  "torch.func.grad, whose arguments have a gradient for each example");
    request.inputs.push_back(tape_tensor(vm, without_batches(x)));
  }
  return request;
}

// gradients(outputs, inputs, output gradients, retain_graph, create_graph) -> tuple with None where
// unconnected.
Value prim_gradients(Vm& vm, Args& args) {
  check_differentiable_here(vm, args[0], false);
  const AutogradState* state = tensor_state(vm).autograd.get();
  const int levels = state ? static_cast<int>(state->levels.size()) : 0;
  GradientRequest request;
  if (levels) request = batched_request(vm, args, levels);
  else request = {{}, take_taped(vm, args[0]), take_taped(vm, args[2]), take_taped(vm, args[1])};
  bool create_graph = truth(vm, args[4]);
  const ProfileScope event(tensor_state(vm).profile, "backward", Profile::Kind::Backward);
  std::vector<jit::TapeTensor> out = jit::gradients_of(request.roots, request.gradients, request.inputs,
                                                       backward_options(vm, truth(vm, args[3]), create_graph));
  Local<TupleObject> tuple = make_tuple(vm, out.size());
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].tensor.defined()) {
      tuple->items[i] = Value::none();
      continue;
    }
    TensorObject* leaf = levels ? nullptr : leaf_object(request.inputs[i].leaf.get());
    if (leaf && leaf->hooks) out[i] = call_leaf_hooks(vm, leaf, out[i]);
    Local<TensorObject> gradient = from_tape(vm, jit::in_row_order(out[i]));
    for (int level = 1; level <= levels; ++level) gradient = make_batched(vm, gradient, level);
    tuple->items[i] = gradient.take();
  }
  return tuple.take();
}

// install(type namespace): the functions and properties of a script class become attributes of Tensor.
Value prim_install_methods(Vm& vm, Args& args) {
  Type* source = try_cast<Type>(args[0]);
  if (!source) raise_type_error(vm, "expected a class");
  Type* target = tensor_state(vm).tensor_type;
  for_each(vm, get_attribute(vm, args[0], "__dict__"), [&](const Value& name) {
    std::string_view text = text_of(vm, name);
    const Value value = dict_get(vm, source->attributes, name);
    // __module__, __doc__ and the like are those of the namespace itself.
    const bool own = text.starts_with("__") && !is_kind(value, Kind::Function);
    if (!own) dict_set(vm, target->attributes, name, value);
    return true;
  });
  type_modified(vm, target);
  return Value::none();
}

struct PrimFunction {
  const char* name;
  const char* signature;
  NativeCode code;
};

constexpr PrimFunction kFunctions[] = {
    {"assign_", "x, value", prim_assign},
    {"copy_", "x, value", prim_copy_into},
    {"contiguous", "x", prim_contiguous},
    {"unsafe_view", "x, sizes", prim_unsafe_view},
    {"in_place_operand", "x", prim_in_place_operand},
    {"rng_bits", "sizes, dtype", prim_rng_bits},
    {"set_grad_enabled", "mode", prim_set_grad_enabled},
    {"grad_enabled", "", prim_grad_enabled},
    {"filled_rows", "tensors", prim_filled_rows},
    {"set_autocast", "dtype, on_device=False", prim_set_autocast},
    {"autocast", "on_device=None", prim_autocast},
    {"profile_start", "", prim_profile_start},
    {"profile_stop", "", prim_profile_stop},
    {"profile_begin", "name", prim_profile_begin},
    {"profile_end", "", prim_profile_end},
    {"thread_count", "", prim_thread_count},
    {"set_thread_count", "count", prim_set_thread_count},
    {"set_print_options", "precision, threshold, edge_items, line_width, scientific", prim_set_print_options},
    {"manual_seed", "seed, place=0", prim_manual_seed},
    {"rng_state", "place=0", prim_rng_state},
    {"set_rng_state", "state, place=0", prim_set_rng_state},
    {"tensor", "data, dtype=None", prim_tensor},
    {"to_list", "x", prim_to_list},
    {"item", "x", prim_item},
    {"is_tensor", "x", prim_is_tensor},
    {"to_dtype", "x, dtype", prim_to_dtype},
    {"wide", "x", prim_wide},
    {"holds", "items, x", prim_holds},
    {"set_data", "x, data", prim_set_data},
    {"shares_storage", "x, y", prim_is_set_to},
    {"set_default_dtype", "dtype", prim_set_default_dtype},
    {"default_dtype", "", prim_default_dtype},
    {"promote_types", "type1, type2", prim_promote_types},
    {"backward", "tensors, gradients, retain_graph, create_graph", prim_backward},
    {"backward_into", "tensors, gradients, inputs, retain_graph, create_graph", prim_backward_into},
    {"gradients", "outputs, inputs, output_gradients, retain_graph, create_graph", prim_gradients},
    {"install_methods", "cls", prim_install_methods},
};

// Owns the BoundPrims that the functions point to.
struct PrimTable {
  std::vector<std::unique_ptr<BoundPrim>> prims;
};

Local<ModuleObject> make_prims(Vm& vm) {
  static constexpr char kTableKey = 0;
  auto table = std::make_shared<PrimTable>();
  ModuleBuilder module(vm, "_prims");
  for (const OpRow& row : op_rows()) {
    if (row.op == Op::rng_bits || row.op == Op::store) continue;
    table->prims.push_back(std::make_unique<BoundPrim>(BoundPrim{row.op, prim_signature(row.op)}));
    BoundPrim* prim = table->prims.back().get();
    Local<NativeFunction> function = make_native(vm, row.name, prim->signature.text, call_prim);
    function->pointer = prim;
    function->doc = std::string(row.doc);
    module.value(row.name, function.take());
  }
  for (const PrimFunction& f : kFunctions) module.function(f.name, f.signature, f.code);
  for (const auto prims : {gradient_prims(), transform_prims(), node_prims(), placement_prims()})
    for (const GradientPrim& f : prims) module.function(f.name, f.signature, f.code);
  for (const StoragePrim& f : storage_prims()) module.function(f.name, f.signature, f.code);
  TensorState& state = tensor_state(vm);
  for (int i = 0; i < kDTypeCount; ++i) module.value(dtype_name(static_cast<DType>(i)), state.dtypes[i].value());
  Local<TupleObject> dtypes = make_tuple(vm, kDTypeCount);  // all of them
  for (int i = 0; i < kDTypeCount; ++i) dtypes->items[i] = state.dtypes[i].value();
  module.value("dtypes", dtypes.take());
  module.value("Tensor", Value(state.tensor_type));
  module.value("Size", Value(state.size_type));
  vm.extension(&kTableKey) = table;
  return module.finish();
}

}  // namespace

NativeCode prim_native_code() { return call_prim; }

Op prim_op(const NativeFunction* function) { return static_cast<const BoundPrim*>(function->pointer)->op; }

void register_prims(Vm& vm) { register_native_module(vm, "_prims", make_prims); }

}  // namespace tsc::interp
