#include "interpreter/tensor/eager.h"

#include "interpreter/builtins/builtins.h"
#include "interpreter/tensor/custom_gradient.h"
#include "interpreter/tensor/elementwise.h"
#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/value/complex.h"
#include "jit/autodiff/moved.h"
#include "runtime/kernels/run_op.h"
#include "runtime/ops/infer.h"

namespace tsc::interp {
namespace {

// Keeps the script tensor alive as long as a history refers to it, and adds to its `.grad`.
class ScriptLeaf : public jit::LeafSink {
 public:
  explicit ScriptLeaf(Vm& vm, TensorObject* object) : vm_(vm), object_(object) {}
  void accumulate(const jit::TapeTensor& gradient) override {
    if (!object_->tensor.is_meta()) refuse_meta_copy(gradient.tensor);
    if (const Place place = object_->tensor.place(); place != gradient.tensor.place())
      return accumulate(jit::moved(gradient, place, gradient.needs_grad()));
    // One that is in row order stays the only reference to its memory: add() takes that over without a copy.
    if (!jit::is_in_row_order(gradient.tensor)) return accumulate(jit::in_row_order(gradient));
    if (!object_->hooks) return add(gradient);
    add(call_leaf_hooks(vm_, object_.get(), gradient));
    if (object_->hooks) call_post_hooks(vm_, object_.get());
  }
  TensorObject* object() const { return object_.get(); }

 private:
  void add(const jit::TapeTensor& gradient) {
    TensorObject* existing = as_tensor(tensor_state(vm_), object_->grad);
    if (!existing) {
      // Its own memory: the same gradient may have gone to other leaves, or be an expanded view.
      jit::TapeTensor own = gradient;
      const bool shared = own.tensor.storage()->use_count() > 2 || !own.tensor.is_contiguous();
      if (shared) own = jit::run_taped(Op::copy, {&gradient, 1}, {}, {}, gradient.needs_grad()).first;
      object_->grad = from_tape(vm_, own).take();
      return;
    }
    const Tensor operands[] = {existing->tensor, gradient.tensor};
    if (tensor_state(vm_).modes.grad_enabled) {  // with create_graph: who holds the gradient that there was keeps it as it is
      const jit::TapeTensor inputs[] = {tape_tensor(vm_, existing), gradient};
      object_->grad = from_tape(vm_, run_taped(Op::add, inputs, {}, {}, true).first).take();
      return;
    }
    existing->tensor.storage()->prepare_write();
    copy_into(existing->tensor, run_op(Op::add, operands, {}, {}).first);
    ++existing->tensor.storage()->version;
  }

  Vm& vm_;
  Local<TensorObject> object_;
};

std::shared_ptr<jit::LeafSink> leaf_of(Vm& vm, TensorObject* object) {
  std::shared_ptr<jit::LeafSink> leaf = object->leaf.lock();
  if (!leaf) {
    leaf = std::make_shared<ScriptLeaf>(vm, object);
    object->leaf = leaf;
  }
  return leaf;
}

bool any_needs_grad(std::span<TensorObject* const> tensors) {
  for (TensorObject* t : tensors)
    if (t->needs_grad() || t->view) return true;
  return false;
}

void remember_view(TensorObject* result, Op op, TensorObject* parent,
                   std::span<const Scalar> scalars, const OpAttributes& attributes) {
  if (result->tensor.storage() != parent->tensor.storage()) return;
  result->view = std::make_unique_for_overwrite<ViewOrigin>();
  result->view->parent = Local<TensorObject>(parent);
  result->view->op = op;
  for (const Scalar& s : scalars) result->view->scalars.push_back(s);
  result->view->attributes = attributes;
  result->view->parent_history = parent->history_version;
  result->view->number = jit::next_sequence();
}

}  // namespace

// The view op is recorded again on the base's new history, as if all views of the base had been taken anew
// right after the write, in the order in which they were made.
void refresh_history(Vm& vm, TensorObject* object) {
  std::vector<TensorObject*> chain;
  for (TensorObject* t = object; t->view; t = t->view->parent.get()) chain.push_back(t);
  for (size_t i = chain.size(); i-- > 0;) {
    TensorObject* t = chain[i];
    TensorObject* parent = t->view->parent.get();
    if (t->view->op == Op::detach || t->view->parent_history == parent->history_version) continue;
    jit::TapeTensor input{parent->tensor, parent->history, nullptr};
    if (parent->requires_grad) input.leaf = leaf_of(vm, parent);
    const Tensor results[] = {t->tensor};
    const jit::TapeOrder order{parent->history_written, t->view->number};
    t->history = jit::record(t->view->op, {&input, 1}, t->view->scalars, t->view->attributes, results,
                             &order);
    t->history_written = parent->history_written;
    t->view->parent_history = parent->history_version;
    ++t->history_version;
  }
}

namespace {

Tensor reshaped(const Tensor& x, const Sizes& sizes) {
  SmallVector<Scalar, 6> scalars;
  for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
  return run_op(Op::reshape, {&x, 1}, scalars, {}).first;
}

void note_new_history(Vm& vm, TensorObject* written) {
  note_tensor_store(vm, written, kTensorGradientClass);
  ++written->history_version;
  written->history_written = jit::next_sequence();
}

// For each element of `view`, its row-major place among those of `base`: the view's ops applied to the
// places.
Tensor places_in_base(TensorObject* base, TensorObject* view) {
  std::vector<TensorObject*> chain;
  for (TensorObject* t = view; t != base; t = t->view->parent.get()) chain.push_back(t);
  const Scalar count = Scalar::of_int(base->tensor.numel());
  OpAttributes attributes;
  attributes.dtype = DType::I64;
  attributes.axes = {0};
  Tensor places = reshaped(run_op(Op::iota, {}, {&count, 1}, attributes).first, base->tensor.sizes());
  for (size_t i = chain.size(); i-- > 0;) {
    const ViewOrigin& origin = *chain[i]->view;
    places = run_op(origin.op, {&places, 1}, origin.scalars, origin.attributes).first;
  }
  return reshaped(places, {places.numel()});
}

// A base that is not row-major: its elements in row-major order, with those of the view put in their places.
jit::TapeValue scattered_history(TensorObject* base, TensorObject* view,
                                 const jit::TapeTensor& value) {
  const auto taped_reshape = [](const jit::TapeTensor& x, const Sizes& sizes) {
    SmallVector<Scalar, 6> scalars;
    for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
    return jit::run_taped(Op::reshape, {&x, 1}, scalars, {}, true).first;
  };
  const jit::TapeTensor inputs[] = {
      taped_reshape({base->tensor, base->history, nullptr}, {base->tensor.numel()}),
      {places_in_base(base, view), {}, nullptr},
      taped_reshape(value, {value.tensor.numel()})};
  OpAttributes attributes;
  attributes.axes = {0};
  const jit::TapeTensor written = jit::run_taped(Op::scatter, inputs, {}, attributes, true).first;
  return taped_reshape(written, base->tensor.sizes()).history;
}

// The same where the view shows the parts of a complex base, or a real base as complex numbers: everything
// happens on the parts.
jit::TapeValue history_by_parts(TensorObject* base, TensorObject* view, const jit::TapeTensor& value) {
  if (!base->tensor.is_contiguous())
    throw Error(ErrorKind::NotImplementedError,
                "a write through the real view of a complex tensor that is not contiguous has no gradient; "
                "write to a contiguous() copy instead");
  const auto as_real = [](const jit::TapeTensor& x) {
    return is_complex(x.tensor.dtype()) ? jit::run_taped(Op::view_as_real, {&x, 1}, {}, {}, true).first : x;
  };
  const jit::TapeTensor inputs[] = {as_real({base->tensor, base->history, nullptr}), as_real(value)};
  const Tensor place = is_complex(view->tensor.dtype()) ? view_as_real(view->tensor) : view->tensor;
  SmallVector<Scalar, 6> scalars;
  scalars.push_back(Scalar::of_int(place.offset() - inputs[0].tensor.offset()));
  for (int64_t size : place.sizes()) scalars.push_back(Scalar::of_int(size));
  for (int64_t stride : place.strides()) scalars.push_back(Scalar::of_int(stride));
  const Tensor results[] = {inputs[0].tensor};
  const jit::TapeTensor written{inputs[0].tensor, jit::record(Op::store, inputs, scalars, {}, results), nullptr};
  if (!is_complex(base->tensor.dtype())) return written.history;
  return jit::run_taped(Op::view_as_complex, {&written, 1}, {}, {}, true).first.history;
}

// The history of `base` after its elements under `view` became those of `value`.
void rebase_base(Vm& vm, TensorObject* base, TensorObject* view, const jit::TapeTensor& value) {
  const bool by_parts = base->tensor.dtype() != view->tensor.dtype();
  if (by_parts || !base->tensor.is_contiguous()) {
    base->history = by_parts ? history_by_parts(base, view, value) : scattered_history(base, view, value);
    note_new_history(vm, base);
    return refresh_history(vm, view);
  }
  jit::TapeTensor before{base->tensor, base->history, nullptr};
  SmallVector<Scalar, 6> scalars;
  scalars.push_back(Scalar::of_int(view->tensor.offset() - base->tensor.offset()));
  for (int64_t size : view->tensor.sizes()) scalars.push_back(Scalar::of_int(size));
  for (int64_t stride : view->tensor.strides()) scalars.push_back(Scalar::of_int(stride));
  const jit::TapeTensor inputs[] = {before, value};
  const Tensor results[] = {base->tensor};
  base->history = jit::record(Op::store, inputs, scalars, {}, results);
  note_new_history(vm, base);
  refresh_history(vm, view);
}

void check_assignable(Vm& vm, TensorObject* x, bool recording) {
  if (x->tensor.overlaps_itself())
    throw Error(ErrorKind::RuntimeError,
                "unsupported operation: more than one element of the written-to tensor refers to a "
                "single memory location. Please clone() the tensor before performing the operation");
  const TensorObject* root = x->viewed();
  if (recording && x->is_leaf_with_gradient())
    throw Error(ErrorKind::RuntimeError,
                "a leaf Variable that requires grad is being used in an in-place operation.");
  if (recording && root != x && root->is_leaf_with_gradient())
    throw Error(ErrorKind::RuntimeError,
                "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  (void)vm;
}

EagerResults run_unrecorded(Vm& vm, Op op, std::span<TensorObject* const> tensors,
                            std::span<const Scalar> scalars, const OpAttributes& attributes) {
  OpResults results;
  if (tensors.empty()) {
    results.first = create_at(place_of_new(vm), op, scalars, attributes);
  } else if (tensors.size() == 1) {
    results = run_op(op, {&tensors[0]->tensor, 1}, scalars, attributes);
  } else {
    std::vector<Tensor> inputs;
    inputs.reserve(tensors.size());
    for (TensorObject* t : tensors) inputs.push_back(t->tensor);
    results = run_op(op, inputs, scalars, attributes);
  }
  EagerResults out;
  out.first = make_tensor(vm, std::move(results.first));
  if (results.second.defined()) out.second = make_tensor(vm, std::move(results.second));
  return out;
}

}  // namespace

bool number_of(const Value& v, Scalar* out) {
  switch (v.tag()) {
    case Tag::Int: *out = Scalar::of_int(v.as_int()); return true;
    case Tag::Bool: *out = Scalar::of_bool(v.as_bool()); return true;
    case Tag::Float: *out = Scalar::of_float(v.as_float()); return true;
    default:
      if (is_kind(v, Kind::BigInt)) throw Error(ErrorKind::OverflowError, "int too big to convert");
      return is_kind(v, Kind::BoxedNumber) && number_of(unboxed_number(v), out);
  }
}

Tensor scalar_tensor(const Scalar& value, DType dtype) {
  OpAttributes attributes;
  attributes.dtype = dtype;
  return run_op(Op::full, {}, {&value, 1}, attributes).first;
}

bool is_script_number(const Value& v) {
  Scalar unused;
  return is_kind(v, Kind::BigInt) || is_kind(v, Kind::Complex) || number_of(v, &unused);
}

Tensor number_tensor(const Value& v, DType dtype) {
  Scalar number;
  if (number_of(v, &number)) return scalar_tensor(number, dtype);
  const ComplexNumber z = cast<ComplexObject>(v)->number;
  if (!is_complex(dtype)) {
    if (z.im != 0) refuse_number(dtype);
    return scalar_tensor(Scalar::of_float(z.re), dtype);
  }
  const Tensor wide = Tensor::empty(DType::C128, {});
  *wide.data_as<Complex<double>>() = {z.re, z.im};
  OpAttributes attributes;
  attributes.dtype = dtype;
  return run_op(Op::cast, {&wide, 1}, {}, attributes).first;
}

DType number_dtype(const Value& v, DType default_dtype) {
  if (is_kind(v, Kind::Complex)) return complex_dtype(default_dtype);
  if (is_kind(v, Kind::BigInt)) return DType::I64;
  Scalar number;
  number_of(v, &number);
  return number.kind == Scalar::Kind::Float ? default_dtype : number.kind == Scalar::Kind::Bool ? DType::Bool : DType::I64;
}

jit::TapeTensor tape_tensor(Vm& vm, TensorObject* object) {
  refresh_history(vm, object);
  jit::TapeTensor out{object->tensor, object->history, nullptr};
  if (!object->history.node && object->requires_grad) out.leaf = leaf_of(vm, object);
  return out;
}

static bool shows_the_same(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.offset() == b.offset() && a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides();
}

Local<TensorObject> from_tape(Vm& vm, const jit::TapeTensor& value) {
  // A gradient that a script has given (grad_outputs) is that tensor.
  if (TensorObject* leaf = value.history.node ? nullptr : leaf_object(value.leaf.get()); leaf && shows_the_same(leaf->tensor, value.tensor))
    return Local<TensorObject>(leaf);
  Local<TensorObject> object = make_tensor(vm, value.tensor);
  object->history = value.history;
  return object;
}

TensorObject* leaf_object(const jit::LeafSink* leaf) {
  const auto* script = dynamic_cast<const ScriptLeaf*>(leaf);
  return script ? script->object() : nullptr;
}

namespace {

// Records the operation. What it saves goes through the hooks that are set, and in anomaly mode the step knows its place.
jit::TapeResults run_recorded(Vm& vm, Op op, std::span<const jit::TapeTensor> inputs, std::span<const Scalar> scalars,
                              const OpAttributes& attributes) {
  const AutogradState* state = tensor_state(vm).autograd.get();
  if (!state) [[likely]] return jit::run_taped(op, inputs, scalars, attributes, true);
  const bool packs = !state->saved_hooks.empty() && !state->is_packing;
  const std::shared_ptr<ScriptSavedHooks> hooks = packs ? state->saved_hooks.back() : nullptr;
  const jit::SavedHooksScope scope(hooks.get());
  jit::TapeResults results = jit::run_taped(op, inputs, scalars, attributes, true);
  if (state->detect_anomaly && results.first.history.node)
    jit::notes_of(*results.first.history.node).trace = places_of_frames(vm);
  return results;
}

}  // namespace

EagerResults run_eager(Vm& vm, Op op, std::span<TensorObject* const> tensors,
                       std::span<const Scalar> scalars, const OpAttributes& attributes) {
  for (const TensorObject* t : tensors)
    if (t->extra) [[unlikely]] return run_special(vm, op, tensors, scalars, attributes);
  return run_plain(vm, op, tensors, scalars, attributes);
}

EagerResults run_plain(Vm& vm, Op op, std::span<TensorObject* const> tensors,
                       std::span<const Scalar> scalars, const OpAttributes& attributes) {
  const ProfileScope event(tensor_state(vm).profile, op_name(op), Profile::Kind::Operation);
  bool view = op_row(op).flags & kView;
  if (tensors.size() > 1 && tensor_state(vm).knows_places) check_devices(vm, op, tensors);
  EagerResults out;
  if (!tensor_state(vm).modes.grad_enabled || op == Op::detach || !any_needs_grad(tensors)) {
    out = run_unrecorded(vm, op, tensors, scalars, attributes);
  } else {
    std::vector<jit::TapeTensor> inputs;
    inputs.reserve(tensors.size());
    for (TensorObject* t : tensors) inputs.push_back(tape_tensor(vm, t));
    jit::TapeResults results = run_recorded(vm, op, inputs, scalars, attributes);
    out.first = from_tape(vm, results.first);
    if (results.second.tensor.defined()) out.second = from_tape(vm, results.second);
  }
  if (view) {
    // A view that is taken in inference mode of a tensor that takes part in gradients does so as well.
    if (tensor_state(vm).modes.inference && !is_inference(tensors[0])) out.first->extra.reset();
    remember_view(out.first, op, tensors[0], scalars, attributes);
  }
  return out;
}

Local<TensorObject> cast_to(Vm& vm, Local<TensorObject> x, DType dtype) {
  if (x->tensor.dtype() == dtype) return x;
  OpAttributes attributes;
  attributes.dtype = dtype;
  TensorObject* operands[] = {x.get()};
  return run_eager(vm, Op::cast, operands, {}, attributes).first;
}

namespace {

using Level = ElementwiseOperand::Level;

Local<TensorObject> broadcast_to(Vm& vm, Local<TensorObject> x, const Sizes& sizes) {
  if (x->tensor.sizes() == sizes) return x;
  SmallVector<Scalar, 6> scalars;
  for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
  TensorObject* operands[] = {x.get()};
  return run_eager(vm, Op::broadcast, operands, scalars, {}).first;
}

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
    if (!other || other->tensor.dtype() != first->tensor.dtype() ||
        !(other->tensor.sizes() == first->tensor.sizes()))
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

// A number, and a tensor of one in memory, goes where the others are.
Local<TensorObject> operand_in(Vm& vm, const Value& operand, DType dtype, Place place) {
  TensorObject* t = as_tensor(tensor_state(vm), operand);
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
  return number_of(operand, &number) && !holds_exactly(dtype, number);
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
  if (const auto unrounded = unrounded_operand(op, kinds, dtype); unrounded && !place.is_meta() && is_one_number(state, operands[*unrounded], dtype))
    return run_unrounded(vm, op, operands, dtype, place, *unrounded);
  Local<TensorObject> held[3];
  const bool direct = same_kind(operands, state) && kinds[0].dtype == dtype && op != Op::select;
  for (size_t i = 0; i < operands.size(); ++i) {
    const DType wanted = op == Op::select && i == 0 ? DType::Bool : dtype;
    if (Scalar number; op == Op::select && i > 0 && !is_small_float(dtype) && number_of(operands[i], &number)) check_number(dtype, number);
    held[i] = direct ? Local<TensorObject>(as_tensor(state, operands[i])) : operand_in(vm, operands[i], wanted, place);
  }
  Local<TensorObject> result = run_together(vm, op, {held, operands.size()}, direct);
  if (!direct && result->history.node) name_inputs(vm, op, result.get(), operands);
  return result.take();
}

Local<TensorObject> in_place_operand(Vm& vm, TensorObject* x) {
  if (x->extra) {
    TensorObject* operands[] = {x};
    return run_eager(vm, Op::copy, operands, {}, {}).first;
  }
  const jit::TapeTensor taped = tape_tensor(vm, x);
  if (taped.leaf) return Local<TensorObject>(x);  // the write will be refused
  Local<TensorObject> operand = make_tensor(vm, run_op(Op::copy, {&x->tensor, 1}, {}, {}).first);
  operand->history = taped.history;
  return operand;
}

namespace {

// The checks of what a function saved: its result is in x from now on.
void move_checks(const TensorObject* x, const Tensor& from) {
  if (!x->history.node || !x->history.node->notes) return;
  for (jit::NodeNotes::Check& check : x->history.node->notes->checks)
    if (check.tensor.storage() == from.storage()) {
      check.tensor = x->tensor;
      check.version = x->tensor.storage()->version;
    }
}

// The elements and the history of `source`, which has x's dtype and sizes.
void write(Vm& vm, TensorObject* x, TensorObject* source, WriteHistory history, bool recording) {
  jit::TapeTensor taped = recording ? tape_tensor(vm, source) : jit::TapeTensor{};
  x->tensor.storage()->prepare_write();
  copy_into(x->tensor, source->tensor);
  x->tensor.storage()->version += x->counts_writes();
  if (!recording) return;
  TensorObject* root = x;
  while (root->view && root->view->op != Op::detach) root = root->view->parent.get();
  if (root != x) {
    if (root->needs_grad() || taped.needs_grad()) rebase_base(vm, root, x, taped);
    return;
  }
  if (taped.leaf || history == WriteHistory::Step) {
    const Tensor results[] = {x->tensor};
    x->history = jit::record(Op::copy, {&taped, 1}, {}, {}, results);
  } else {
    x->history = taped.history;
    move_checks(x, source->tensor);
  }
  note_new_history(vm, x);
}

}  // namespace

void assign(Vm& vm, TensorObject* x, const Value& value, WriteHistory history) {
  TensorState& state = tensor_state(vm);
  Local<TensorObject> source;
  Scalar number;
  if (TensorObject* t = as_tensor(state, value)) {
    source = Local<TensorObject>(t);
  } else if (is_script_number(value)) {
    if (number_of(value, &number)) check_number(x->tensor.dtype(), number);
    source = make_tensor(vm, number_tensor(value, x->tensor.dtype()));
  } else {
    raise_type_error(vm, "can't assign a " + type_name(vm, value) + " to a torch." +
                             std::string(dtype_info(x->tensor.dtype()).scalar_name) + "Tensor");
  }
  bool recording = state.modes.grad_enabled && (source->needs_grad() || x->needs_grad() || x->view);
  check_assignable(vm, x, state.modes.grad_enabled);
  if (x->extra && is_inference(x) && !state.modes.inference)
    throw Error(ErrorKind::RuntimeError,
                "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
                "normal tensor before doing inplace update.");
  if (state.knows_places && !source->tensor.is_meta() && !x->tensor.is_meta()) source = to_place(vm, source, x->tensor.place());
  source = cast_to(vm, source, x->tensor.dtype());
  if (source->tensor.rank() > x->tensor.rank()) {
    // Leading axes of size 1 are dropped, as a broadcast the other way round would allow.
    while (source->tensor.rank() > x->tensor.rank() && source->tensor.size(0) == 1) {
      Sizes rest(source->tensor.sizes().begin() + 1, source->tensor.sizes().end());
      SmallVector<Scalar, 6> scalars;
      for (int64_t size : rest) scalars.push_back(Scalar::of_int(size));
      TensorObject* operands[] = {source.get()};
      source = run_eager(vm, Op::reshape, operands, scalars, {}).first;
    }
  }
  if (is_batched(x) || is_batched(source.get())) return assign_batched(vm, x, source.get(), history);
  source = broadcast_to(vm, source, x->tensor.sizes());
  write(vm, x, source.get(), history, recording);
  if (x->extra || source->extra) assign_tangent(vm, x, source.get());
}

}  // namespace tsc::interp
