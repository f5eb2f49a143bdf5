#include "interpreter/tensor/eager.h"

#include "interpreter/builtins/builtins.h"
#include "interpreter/tensor/broadcasting.h"
#include "interpreter/tensor/custom_gradient.h"
#include "interpreter/tensor/elementwise.h"
#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/value/complex.h"
#include "interpreter/vm/big_numbers.h"
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
    if (tensor_state(vm_)
            .modes.grad_enabled) {  // with create_graph: who holds the gradient that there was keeps it as it is
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

void remember_view(TensorObject* result, Op op, TensorObject* parent, std::span<const Scalar> scalars,
                   const OpAttributes& attributes) {
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
    t->history = jit::record(t->view->op, {&input, 1}, t->view->scalars, t->view->attributes, results, &order);
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
jit::TapeValue scattered_history(TensorObject* base, TensorObject* view, const jit::TapeTensor& value) {
  const auto taped_reshape = [](const jit::TapeTensor& x, const Sizes& sizes) {
    SmallVector<Scalar, 6> scalars;
    for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
    return jit::run_taped(Op::reshape, {&x, 1}, scalars, {}, true).first;
  };
  const jit::TapeTensor inputs[] = {taped_reshape({base->tensor, base->history, nullptr}, {base->tensor.numel()}),
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
    throw Error(ErrorKind::RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation.");
  if (recording && root != x && root->is_leaf_with_gradient())
    throw Error(ErrorKind::RuntimeError,
                "a view of a leaf Variable that requires grad is being used in an in-place operation.");
  (void)vm;
}

EagerResults run_unrecorded(Vm& vm, Op op, std::span<TensorObject* const> tensors, std::span<const Scalar> scalars,
                            const OpAttributes& attributes) {
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

namespace {

// An int that int64 does not hold, as PyTorch takes it: without a sign.
uint64_t unsigned_of(const Value& v) {
  BigInt* big = cast<BigInt>(v);
  if (big->size < 0) throw Error(ErrorKind::OverflowError, "can't convert negative int to unsigned");
  if (big->size > 1) throw Error(ErrorKind::OverflowError, "int too big to convert");
  return big->limbs()[0];
}

}  // namespace

bool number_of(const Value& v, Scalar* out) {
  switch (v.tag()) {
    case Tag::Int: *out = Scalar::of_int(v.as_int()); return true;
    case Tag::Bool: *out = Scalar::of_bool(v.as_bool()); return true;
    case Tag::Float: *out = Scalar::of_float(v.as_float()); return true;
    default:
      if (is_big(v)) unsigned_of(v), throw Error(ErrorKind::OverflowError, "int too big to convert");
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

void check_filling(DType dtype, const Value& v) {
  if (is_big(v)) {
    const auto wide = static_cast<double>(unsigned_of(v));
    if (dtype != DType::Bool) check_number(dtype, Scalar::of_float(wide));
  } else if (is_kind(v, Kind::Complex)) {
    const ComplexNumber z = cast<ComplexObject>(v)->number;
    if (!is_complex(dtype)) return;
    check_number(dtype, Scalar::of_float(z.re));
    check_number(dtype, Scalar::of_float(z.im));
  } else if (Scalar number; number_of(v, &number)) {
    check_number(dtype, number);
  }
}

Tensor number_tensor(const Value& v, DType dtype) {
  Scalar number;
  if (is_big(v)) {  // whole numbers get its bits
    const uint64_t wide = unsigned_of(v);
    const bool is_whole = !is_floating(dtype) && !is_complex(dtype);
    return scalar_tensor(
        is_whole ? Scalar::of_int(static_cast<int64_t>(wide)) : Scalar::of_float(static_cast<double>(wide)), dtype);
  }
  if (number_of(v, &number)) return scalar_tensor(number, dtype);
  const ComplexNumber z = cast<ComplexObject>(v)->number;
  if (dtype == DType::Bool) return scalar_tensor(Scalar::of_bool(z.re != 0 || z.im != 0), dtype);
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
  return number.kind == Scalar::Kind::Float  ? default_dtype
         : number.kind == Scalar::Kind::Bool ? DType::Bool
                                             : DType::I64;
}

jit::TapeTensor tape_tensor(Vm& vm, TensorObject* object) {
  refresh_history(vm, object);
  jit::TapeTensor out{object->tensor, object->history, nullptr};
  if (!object->history.node && object->requires_grad) out.leaf = leaf_of(vm, object);
  return out;
}

static bool shows_the_same(const Tensor& a, const Tensor& b) {
  return a.storage() == b.storage() && a.offset() == b.offset() && a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         a.strides() == b.strides();
}

Local<TensorObject> from_tape(Vm& vm, const jit::TapeTensor& value) {
  // A gradient that a script has given (grad_outputs) is that tensor.
  if (TensorObject* leaf = value.history.node ? nullptr : leaf_object(value.leaf.get());
      leaf && shows_the_same(leaf->tensor, value.tensor))
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

// Records the operation. What it saves goes through the hooks that are set, and in anomaly mode the step knows its
// place.
jit::TapeResults run_recorded(Vm& vm, Op op, std::span<const jit::TapeTensor> inputs, std::span<const Scalar> scalars,
                              const OpAttributes& attributes) {
  const AutogradState* state = tensor_state(vm).autograd.get();
  if (!state) [[likely]]
    return jit::run_taped(op, inputs, scalars, attributes, true);
  const bool packs = !state->saved_hooks.empty() && !state->is_packing;
  const std::shared_ptr<ScriptSavedHooks> hooks = packs ? state->saved_hooks.back() : nullptr;
  const jit::SavedHooksScope scope(hooks.get());
  jit::TapeResults results = jit::run_taped(op, inputs, scalars, attributes, true);
  if (state->detect_anomaly && results.first.history.node)
    jit::notes_of(*results.first.history.node).trace = places_of_frames(vm);
  return results;
}

}  // namespace

EagerResults run_eager(Vm& vm, Op op, std::span<TensorObject* const> tensors, std::span<const Scalar> scalars,
                       const OpAttributes& attributes) {
  for (const TensorObject* t : tensors)
    if (t->extra) [[unlikely]]
      return run_special(vm, op, tensors, scalars, attributes);
  return run_plain(vm, op, tensors, scalars, attributes);
}

EagerResults run_plain(Vm& vm, Op op, std::span<TensorObject* const> tensors, std::span<const Scalar> scalars,
                       const OpAttributes& attributes) {
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

// What an operation and the function that it ends have saved of its result: that is in x from now on.
void move_result(jit::TapeNode& node, const Tensor& from, const Tensor& to) {
  node.move_result(from, to);
  if (!node.notes) return;
  for (jit::NodeNotes::Check& check : node.notes->checks)
    if (check.tensor.storage() == from.storage()) {
      check.tensor = to;
      check.version = to.storage()->version;
    }
}

// The elements and the history of `source`, which has x's dtype and sizes.
void write(Vm& vm, TensorObject* x, TensorObject* source, WriteHistory history, bool recording) {
  jit::TapeTensor taped = recording ? tape_tensor(vm, source) : jit::TapeTensor{};
  x->tensor.storage()->prepare_write();
  copy_into(x->tensor, source->tensor);
  x->tensor.storage()->version += x->counts_writes();
  if (!recording) return;
  const bool is_step = taped.leaf || history == WriteHistory::Step;
  if (!is_step && taped.history.node) move_result(*taped.history.node, source->tensor, x->tensor);
  TensorObject* root = x;
  while (root->view && root->view->op != Op::detach) root = root->view->parent.get();
  if (root != x) {
    if (root->needs_grad() || taped.needs_grad()) rebase_base(vm, root, x, taped);
    return;
  }
  if (is_step) {
    const Tensor results[] = {x->tensor};
    x->history = jit::record(Op::copy, {&taped, 1}, {}, {}, results);
  } else {
    x->history = taped.history;
  }
  note_new_history(vm, x);
}

}  // namespace

void assign(Vm& vm, TensorObject* x, const Value& value, WriteHistory history) {
  TensorState& state = tensor_state(vm);
  Local<TensorObject> source;
  if (TensorObject* t = as_tensor(state, value)) {
    source = Local<TensorObject>(t);
  } else if (is_script_number(value)) {
    if (!is_rounded(x->tensor.dtype(), x->tensor.numel())) check_filling(x->tensor.dtype(), value);
    source = make_tensor(vm, number_tensor(value, x->tensor.dtype()));
  } else {
    raise_type_error(vm, "can't assign a " + type_name(vm, value) + " to a torch." +
                             std::string(dtype_info(x->tensor.dtype()).scalar_name) + "Tensor");
  }
  bool recording = state.modes.grad_enabled && (source->needs_grad() || x->needs_grad() || x->view);
  check_assignable(vm, x, state.modes.grad_enabled);
  if (x->extra && is_inference(x) && !state.modes.inference)
    throw Error(
        ErrorKind::RuntimeError,
        "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
        "normal tensor before doing inplace update.");
  if (state.knows_places && !source->tensor.is_meta() && !x->tensor.is_meta())
    source = to_place(vm, source, x->tensor.place());
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
