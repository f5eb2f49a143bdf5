// The Tensor type: operators, indexing, iteration and the properties that read the object itself.
// Everything else that a tensor can do is a script function of stdlib/torch/_tensor.tsc.
#include <cstring>

#include "interpreter/tensor/custom_gradient.h"
#include "interpreter/tensor/data.h"
#include "interpreter/tensor/devices.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/elementwise.h"
#include "interpreter/tensor/native_math.h"
#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/print_tensor.h"
#include "interpreter/tensor/thread_modes.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/value/complex.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/numbers.h"
#include "jit/autodiff/rules.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

constexpr char kStateKey = 0;

TensorObject* self_of(const Value& v) { return cast<TensorObject>(v); }

Value call_library(Vm& vm, const char* name, std::initializer_list<Value> args) {
  return interp::call_library(vm, name, std::span<const Value>(args.begin(), args.size()));
}

Value times_reciprocal(Vm& vm, const Value& number, const Value& x) {
  const Value operands[] = {run_elementwise(vm, Op::reciprocal, {&x, 1}), number};
  Scalar known;
  if (!is_big(number) && number_of(number, &known) && known.as_float() == 1 && !self_of(operands[0])->needs_grad())
    return operands[0];
  return run_elementwise(vm, Op::mul, operands);
}

Value tensor_binary(Vm& vm, BinaryOp op, const Value& left, const Value& right, bool reflected) {
  (void)reflected;
  const Value operands[] = {left, right};
  TensorState& state = tensor_state(vm);
  const OperatorPrimitive primitive = primitive_of(op, !as_tensor(state, left));
  for (const Value& v : operands)
    if (!as_tensor(state, v) && !is_script_number(v)) return vm.not_implemented();
  if (!primitive.exists) return call_library(vm, op == BinaryOp::MatMul ? "_matmul" : "_pow", {left, right});
  if (primitive.reciprocal) return times_reciprocal(vm, left, right);
  return run_elementwise(vm, primitive.op, operands);
}

// Whether the gradient of `x op other` reads the elements of x.
bool saves_left_operand(Vm& vm, BinaryOp op, TensorObject* x, TensorObject* other) {
  if (!tensor_state(vm).modes.grad_enabled) return false;
  const bool wanted[] = {tape_tensor(vm, x).needs_grad(), other != nullptr && tape_tensor(vm, other).needs_grad()};
  if (!wanted[0] && !wanted[1]) return false;
  const OperatorPrimitive primitive = primitive_of(op);
  return !primitive.exists || jit::saved_set(primitive.op, wanted) & jit::kSavesX;
}

Value tensor_in_place(Vm& vm, BinaryOp op, const Value& self, const Value& other) {
  TensorState& state = tensor_state(vm);
  if (!as_tensor(state, other) && !is_script_number(other)) return vm.not_implemented();
  TensorObject* x = self_of(self);
  Local<TensorObject> operand(x);
  if (saves_left_operand(vm, op, x, as_tensor(state, other))) operand = in_place_operand(vm, x);
  Value result = tensor_binary(vm, op, operand.value(), other, false);
  TensorObject* r = self_of(result);
  if (category_of(r->tensor.dtype()) > category_of(x->tensor.dtype()))
    raise(vm, vm.exceptions().RuntimeError,
          "result type " + std::string(dtype_info(r->tensor.dtype()).scalar_name) +
              " can't be cast to the desired output type " + std::string(dtype_info(x->tensor.dtype()).scalar_name));
  if (!(r->tensor.sizes() == x->tensor.sizes()))
    raise(vm, vm.exceptions().RuntimeError,
          "output with shape " + sizes_text(x->tensor.sizes()) + " doesn't match the broadcast shape " +
              sizes_text(r->tensor.sizes()));
  assign(vm, x, result);
  return self;
}

Value tensor_unary(Vm& vm, UnaryOp op, const Value& self) {
  static constexpr Op kOps[] = {Op::neg, Op::neg, Op::bitwise_not, Op::abs};
  if (op == UnaryOp::Positive) return self;
  if (op == UnaryOp::Invert && is_differentiable(self_of(self)->tensor.dtype()))
    raise_type_error(vm, "~ (operator.invert) is only implemented on integer and Boolean-type tensors");
  return run_elementwise(vm, kOps[static_cast<int>(op)], {&self, 1});
}

Value tensor_compare(Vm& vm, CompareOp op, const Value& self, const Value& other) {
  OperatorPrimitive primitive = primitive_of(op);
  const Value operands[] = {primitive.swapped ? other : self, primitive.swapped ? self : other};
  Value result = run_elementwise(vm, primitive.op, operands);
  return result.is_undefined() ? vm.not_implemented() : result;
}

int64_t tensor_hash(Vm&, const Value& self) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(self.object()) >> 4);
}

bool tensor_truth(Vm& vm, const Value& self) {
  if (is_batched(self_of(self)))
    raise(vm, vm.exceptions().RuntimeError,
          "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow. We don't support "
          "that yet, please file an issue at https://github.com/pytorch/pytorch/issues .");
  const Tensor& x = self_of(self)->tensor;
  if (x.numel() != 1)
    raise(vm, vm.exceptions().RuntimeError,
          x.numel() == 0 ? "Boolean value of Tensor with no values is ambiguous"
                         : "Boolean value of Tensor with more than one value is ambiguous");
  if (is_complex(x.dtype())) return truth(vm, tensor_item(vm, x));
  Scalar s = tensor_scalar(x);
  return s.kind == Scalar::Kind::Float ? s.f != 0 : s.i != 0;
}

int64_t tensor_length(Vm& vm, const Value& self) {
  const Tensor& x = self_of(self)->tensor;
  if (x.rank() == 0) raise_type_error(vm, "len() of a 0-d tensor");
  return x.size(0);
}

Scalar only_element(Vm& vm, const Value& self) {
  refuse_batched(self_of(self), "calling .item()");
  const Tensor& x = self_of(self)->tensor;
  if (x.numel() != 1) raise_value_error(vm, "only one element tensors can be converted to Python scalars");
  return tensor_scalar(x);
}

Value tensor_to_int(Vm& vm, const Value& self) {
  const Scalar s = only_element(vm, self);
  if (s.kind != Scalar::Kind::Float) return Value::integer(s.i);
  return float_to_int(vm, s.f);
}

Value tensor_to_float(Vm& vm, const Value& self) { return Value::real(only_element(vm, self).as_float()); }

Value tensor_to_index(Vm& vm, const Value& self) {
  const Tensor& x = self_of(self)->tensor;
  if (is_differentiable(x.dtype()) || x.numel() != 1)
    raise_type_error(vm, "only integer tensors of a single element can be converted to an index");
  return Value::integer(tensor_scalar(x).as_int());
}

Value tensor_get_item(Vm& vm, const Value& self, const Value& key) { return call_library(vm, "_getitem", {self, key}); }

void tensor_set_item(Vm& vm, const Value& self, const Value& key, const Value& value) {
  call_library(vm, "_setitem", {self, key, value});
}

bool tensor_contains(Vm& vm, const Value& self, const Value& item) {
  return truth(vm, call_library(vm, "_contains", {self, item}));
}

Value tensor_iterate(Vm& vm, const Value& self) {
  if (self_of(self)->tensor.rank() == 0) raise_type_error(vm, "iteration over a 0-d tensor");
  return iterate(vm, call_library(vm, "unbind", {self}));
}

Value tensor_repr_slot(Vm& vm, const Value& self) { return str_value(vm, tensor_text(vm, self_of(self))); }

Value tensor_format(Vm& vm, const Value& self, StrObject* spec) {
  TensorObject* x = self_of(self);
  const bool is_number = x->tensor.rank() == 0 && !x->tensor.is_meta();
  if (is_number && spec->size) return str_value(vm, format(vm, tensor_item(vm, x->tensor), spec->view()));
  if (spec->size) raise_type_error(vm, "unsupported format string passed to Tensor.__format__");
  return str_value(vm, is_number && !x->needs_grad() && !is_batched(x) ? to_string(vm, tensor_item(vm, x->tensor))
                                                                       : to_string(vm, self));
}

void traverse_tensor(Object* object, Visitor& visit) {
  traverse_instance(object, visit);
  TensorObject* x = static_cast<TensorObject*>(object);
  visit(x->grad);
  if (x->view) visit(x->view->parent.get());
  if (x->extra) {
    visit(x->extra->physical.get());
    visit(x->extra->tangent.get());
  }
  if (!x->hooks) return;
  for (const LeafHooks::Entry& entry : x->hooks->before) visit(entry.function);
  for (const LeafHooks::Entry& entry : x->hooks->after) visit(entry.function);
}

void clear_tensor(Vm& vm, Object* object) {
  clear_instance(vm, object);
  TensorObject* x = static_cast<TensorObject*>(object);
  x->grad.reset();
  x->view.reset();
  x->hooks.reset();
  x->alive.reset();
  x->extra.reset();
}

// Tensor(data) and its script subclasses (Parameter): shares a tensor's memory, cut from its history. Of a
// list the elements in the default dtype; of integers or a Size a tensor of that shape, of zeros.
Value construct_tensor(Vm& vm, Type* type, Args& args) {
  Local<TensorObject> object = vm.heap().make<TensorObject>(type);
  if (args.count == 0) {
    object->tensor = Tensor::empty(tensor_state(vm).modes.default_dtype, Sizes{0});
  } else if (TensorObject* source = as_tensor(tensor_state(vm), args[0])) {
    object->tensor = source->tensor;
  } else if (args[0].is_int() || is_instance(vm, args[0], tensor_state(vm).size_type)) {
    SmallVector<Scalar, 6> scalars = {Scalar::of_float(0)};
    if (args[0].is_int())
      for (size_t i = 0; i < args.count; ++i) scalars.push_back(Scalar::of_int(to_index(vm, args[i], "size")));
    else
      for (int64_t size : expect_sizes(vm, args[0], "size")) scalars.push_back(Scalar::of_int(size));
    OpAttributes attributes;
    attributes.dtype = tensor_state(vm).modes.default_dtype;
    object->tensor = run_op(Op::full, {}, scalars, attributes).first;
  } else {
    object->tensor = tensor_from_data(vm, args[0], tensor_state(vm).modes.default_dtype);
  }
  return object.take();
}

// ---- properties ----

Value get_shape(Vm& vm, const Value& self) { return size_tuple(vm, self_of(self)->tensor.sizes()); }
Value get_strides(Vm& vm, const Value& self) { return size_tuple(vm, self_of(self)->tensor.strides()); }
Value get_dtype(Vm& vm, const Value& self) { return dtype_value(tensor_state(vm), self_of(self)->tensor.dtype()); }
Value get_ndim(Vm&, const Value& self) { return Value::integer(self_of(self)->tensor.rank()); }
Value get_requires_grad(Vm& vm, const Value& self) {
  return Value::boolean(tape_tensor(vm, without_batches(self_of(self))).needs_grad());
}
void set_requires_grad(Vm& vm, const Value& self, const Value& value) {
  TensorObject* x = self_of(self);
  bool wanted = truth(vm, value);
  if (wanted && is_batched(x))
    raise(
        vm, vm.exceptions().RuntimeError,
        "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside "
        "of a function being transformed by a functorch transform. This is unsupported, please attempt to use the "
        "functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call requires_grad_() outside of a "
        "function being transformed instead.");
  if (wanted && is_inference(x) && !tensor_state(vm).modes.inference)
    raise(vm, vm.exceptions().RuntimeError,
          "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (wanted && !is_differentiable(x->tensor.dtype()))
    raise(vm, vm.exceptions().RuntimeError, "only Tensors of floating point dtype can require gradients");
  if (!wanted && x->history.node)
    raise(vm, vm.exceptions().RuntimeError,
          "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
          "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  if (!x->history.node) x->requires_grad = wanted;
  note_tensor_store(vm, x, kTensorGradientClass);
}
Value get_grad(Vm&, const Value& self) {
  const Value& grad = self_of(self)->grad;
  return grad.is_undefined() ? Value::none() : grad;
}
// PyTorch tells apart whether the devices are of two types or two of one.
void check_gradient_place(Vm& vm, const Tensor& gradient, const Tensor& x) {
  const Place given = gradient.place(), there = x.place();
  if (given == there) return;
  const auto refuse = [&](const std::string& what, const std::string& is, const std::string& other,
                          const std::string& wanted) {
    raise(vm, vm.exceptions().RuntimeError,
          "attempting to assign a gradient " + what + is + "' to a tensor " + other + wanted +
              "'. Please ensure that the gradient and the tensor are on the same device");
  };
  if (given.type() != there.type())
    refuse("with device type '", std::string(given.type()), "with device type '", std::string(there.type()));
  refuse("located on device with index '", std::to_string(given.index()), "located on device with index '",
         std::to_string(there.index()));
}

void set_grad(Vm& vm, const Value& self, const Value& value) {
  TensorObject* x = self_of(self);
  if (value.is_undefined() || value.is_none()) {
    x->grad.reset();
  } else {
    TensorObject* grad = as_tensor(tensor_state(vm), value);
    if (!grad)
      raise_type_error(vm, "assigned grad expected to be a Tensor or None but got grad of type " +
                               std::string(type_name(vm, value)));
    if (grad == x) raise(vm, vm.exceptions().RuntimeError, "can't assign Variable as its own grad");
    if (grad->tensor.dtype() != x->tensor.dtype()) refuse_gradient(vm, grad->tensor.dtype(), x->tensor.dtype());
    check_gradient_place(vm, grad->tensor, x->tensor);
    if (!(grad->tensor.sizes() == x->tensor.sizes()))
      raise(vm, vm.exceptions().RuntimeError,
            "attempting to assign a gradient of size '" + sizes_text(grad->tensor.sizes()) + "' to a tensor of size '" +
                sizes_text(x->tensor.sizes()) + "'. Please ensure that the gradient and the tensor are the same size");
    x->grad = value;
  }
  // No note_store: the compiler never assumes a gradient, it reads it at every entry.
}
Value get_is_leaf(Vm& vm, const Value& self) {
  return Value::boolean(!tape_tensor(vm, without_batches(self_of(self))).history.node);
}
Value get_grad_fn(Vm& vm, const Value& self) {
  const jit::TapeTensor t = tape_tensor(vm, without_batches(self_of(self)));
  return t.history.node ? grad_node(vm, t) : Value::none();
}
Value get_data(Vm& vm, const Value& self) {
  const Local<TensorObject> data = make_tensor(vm, self_of(self)->tensor);
  data->is_data = true;
  return data.value();
}
void set_data(Vm& vm, const Value& self, const Value& value) {
  TensorObject* source = expect_tensor(vm, value, "data");
  if (source->tensor.is_meta() != self_of(self)->tensor.is_meta())
    raise(vm, vm.exceptions().RuntimeError,
          "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type.");
  note_tensor_store(vm, self_of(self), kTensorData);
  self_of(self)->tensor = source->tensor;
}
Value get_version(Vm& vm, const Value& self) {
  if (is_inference(self_of(self)))
    raise(vm, vm.exceptions().RuntimeError, "Inference tensors do not track version counter.");
  return Value::integer(self_of(self)->tensor.storage()->version);
}

// The tensor whose elements this one shows, as far up as views go; null: its own. `detach` starts anew, and inference
// keeps no views.
TensorObject* base_of(TensorObject* x) {
  const auto parent = [](TensorObject* at) {
    return at->view && at->view->op != Op::detach ? at->view->parent.get() : nullptr;
  };
  TensorObject* base = is_inference(x) ? nullptr : parent(x);
  while (base && parent(base)) base = parent(base);
  return base;
}
Value get_base(Vm&, const Value& self) {
  TensorObject* base = base_of(self_of(self));
  return base ? Value(base) : Value::none();
}
Value method_is_view(Vm&, Args& args) { return Value::boolean(base_of(self_of(args[0]))); }

Value method_data_ptr(Vm&, Args& args) {
  const Tensor& x = self_of(args[0])->tensor;
  return Value::integer(x.is_meta() ? x.offset() * dtype_size(x.dtype())
                                    : static_cast<int64_t>(reinterpret_cast<uintptr_t>(x.data())));
}
Value method_storage_offset(Vm&, Args& args) { return Value::integer(self_of(args[0])->tensor.offset()); }
Value method_is_contiguous(Vm&, Args& args) { return Value::boolean(self_of(args[0])->tensor.is_contiguous()); }
Value method_numel(Vm&, Args& args) { return Value::integer(self_of(args[0])->tensor.numel()); }
Value method_item(Vm& vm, Args& args) {
  refuse_batched(self_of(args[0]), "calling .item()");
  return tensor_item(vm, self_of(args[0])->tensor);
}
Value method_tolist(Vm& vm, Args& args) {
  refuse_batched(self_of(args[0]), "calling .tolist()");
  return tensor_to_list(vm, self_of(args[0])->tensor);
}

Value dtype_repr(Vm& vm, const Value& self) {
  return str_value(vm, "torch." + std::string(dtype_name(cast<DTypeObject>(self)->dtype)));
}
Value dtype_is_floating(Vm&, const Value& self) { return Value::boolean(is_floating(cast<DTypeObject>(self)->dtype)); }
Value dtype_is_complex(Vm&, const Value& self) { return Value::boolean(is_complex(cast<DTypeObject>(self)->dtype)); }
Value dtype_is_signed(Vm&, const Value& self) { return Value::boolean(!is_unsigned(cast<DTypeObject>(self)->dtype)); }
Value dtype_to_real(Vm& vm, Args& args) {
  return dtype_value(tensor_state(vm), part_dtype(cast<DTypeObject>(args[0])->dtype));
}
Value dtype_to_complex(Vm& vm, Args& args) {
  const DType dtype = cast<DTypeObject>(args[0])->dtype;
  if (is_complex(dtype)) return args[0];
  return dtype_value(tensor_state(vm), complex_dtype(dtype));
}
// Whether an operation on it computes in a wider dtype.
Value dtype_widens(Vm&, const Value& self) { return Value::boolean(is_small_float(cast<DTypeObject>(self)->dtype)); }
// PyTorch's name of the scalar: "Half" of HalfTensor.
Value dtype_scalar_name(Vm& vm, const Value& self) {
  return str_value(vm, dtype_info(cast<DTypeObject>(self)->dtype).scalar_name);
}
Value dtype_itemsize(Vm&, const Value& self) { return Value::integer(dtype_size(cast<DTypeObject>(self)->dtype)); }

Value size_of(Vm& vm, const TupleObject* items) {
  std::vector<Value> sizes;
  for (const Value& size : items->span())
    sizes.push_back(Value::integer(to_index(vm, size, "torch.Size(): each size")));
  return retype_tuple(vm, make_tuple(vm, sizes), tensor_state(vm).size_type);
}
// torch.Size(iterable): whole numbers.
Value size_construct(Vm& vm, Type*, Args& args) {
  static const Signature kSignature("iterable=?, /");
  std::vector<Value> given;
  kSignature.bind(vm, "Size", args, given);
  Local<TupleObject> source = given[0] ? to_tuple(vm, given[0]) : make_tuple(vm, size_t{0});
  return size_of(vm, source.get());
}
Value size_repr(Vm& vm, const Value& self) {
  std::string text = "torch.Size([";
  const TupleObject* tuple = cast<TupleObject>(self);
  for (uint32_t i = 0; i < tuple->size; ++i) text += (i ? ", " : "") + repr(vm, tuple->items[i]);
  return str_value(vm, text + "])");
}
// What tuple makes of sizes is a size.
Value as_size(Vm& vm, const Value& made) {
  return is_kind(made, Kind::Tuple) ? size_of(vm, cast<TupleObject>(made)) : made;
}
Value size_get_item(Vm& vm, const Value& self, const Value& key) {
  Value made = vm.types().tuple->slots.get_item(vm, self, key);
  return is_kind(key, Kind::Slice) ? as_size(vm, made) : made;
}
Value size_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool is_reflected) {
  // A tuple joins from the left only, and `a` is what stands there.
  const bool asks_right = is_reflected && !(op == BinaryOp::Add && is_kind(a, Kind::Tuple));
  return as_size(vm, vm.types().tuple->slots.binary(vm, op, a, b, asks_right));
}
Value size_numel(Vm&, Args& args) {
  int64_t n = 1;
  for (const Value& v : cast<TupleObject>(args[0])->span()) n = checked_mul(n, v.as_int());
  return Value::integer(n);
}

void fill_slots(TypeSlots& slots) {
  slots.destroy = destroy_as<TensorObject>;
  slots.traverse = traverse_tensor;
  slots.clear = clear_tensor;
  slots.construct = construct_tensor;
  slots.binary = tensor_binary;
  slots.in_place = tensor_in_place;
  slots.unary = tensor_unary;
  slots.compare = tensor_compare;
  slots.hash = tensor_hash;
  slots.truth = tensor_truth;
  slots.length = tensor_length;
  slots.to_int = tensor_to_int;
  slots.to_float = tensor_to_float;
  slots.to_index = tensor_to_index;
  slots.get_item = tensor_get_item;
  slots.set_item = tensor_set_item;
  slots.contains = tensor_contains;
  slots.iterate = tensor_iterate;
  slots.repr = tensor_repr_slot;
  slots.format = tensor_format;
}

Type* make_tensor_type(Vm& vm) {
  TypeBuilder type(vm, "Tensor", Kind::Native);
  type.attribute("__module__", str_value(vm, "torch"))
      .with_attributes(offset_of(&TensorObject::state))
      .allow_subclasses()
      .open();
  fill_slots(type.slots());
  type.getter("shape", get_shape)
      .getter("_strides", get_strides)
      .getter("dtype", get_dtype)
      .getter("ndim", get_ndim)
      .getter("requires_grad", get_requires_grad, set_requires_grad)
      .getter("grad", get_grad, set_grad)
      .getter("is_leaf", get_is_leaf)
      .getter("grad_fn", get_grad_fn)
      .getter("data", get_data, set_data)
      .getter("_version", get_version)
      .getter("_base", get_base);
  type.method("data_ptr", "self", method_data_ptr)
      .method("storage_offset", "self", method_storage_offset)
      .method("is_contiguous", "self", method_is_contiguous)
      .method("numel", "self", method_numel)
      .method("_is_view", "self", method_is_view)
      .method("item", "self", method_item)
      .method("tolist", "self", method_tolist);
  return type.finish();
}

Type* make_dtype_type(Vm& vm) {
  TypeBuilder type(vm, "dtype", Kind::Native);
  type.attribute("__module__", str_value(vm, "torch"));
  type.slots().destroy = destroy_as<DTypeObject>;
  type.slots().repr = dtype_repr;
  type.getter("is_floating_point", dtype_is_floating).getter("itemsize", dtype_itemsize);
  type.getter("is_complex", dtype_is_complex).getter("is_signed", dtype_is_signed);
  type.getter("_scalar_name", dtype_scalar_name).getter("_widens", dtype_widens);
  type.method("to_real", "self", dtype_to_real).method("to_complex", "self", dtype_to_complex);
  return type.finish();
}

Type* make_size_type(Vm& vm) {
  TypeBuilder type(vm, "Size", Kind::Tuple, vm.types().tuple);
  type.attribute("__module__", str_value(vm, "torch"));
  type.slots().construct = size_construct;
  type.slots().repr = size_repr;
  type.slots().get_item = size_get_item;
  type.slots().binary = size_binary;
  type.method("numel", "self", size_numel);
  return type.finish();
}

}  // namespace

void install_tensors(Vm& vm) {
  auto state = std::make_shared<TensorState>();
  vm.extension(&kStateKey) = state;
  vm.set_tensors(state.get());
  state->tensor_type = make_tensor_type(vm);
  state->dtype_type = make_dtype_type(vm);
  state->size_type = make_size_type(vm);
  for (int i = 0; i < kDTypeCount; ++i)
    state->dtypes[i] = vm.heap().make<DTypeObject>(state->dtype_type, static_cast<DType>(i));
  register_prims(vm);
  register_files(vm);
  register_draws(vm);
  register_devices(vm);
  register_linalg(vm);
  register_fft(vm);
  register_fused(vm);
  add_thread_modes(vm);
}

TensorObject* expect_tensor(Vm& vm, const Value& v, const char* what) {
  if (TensorObject* t = as_tensor(tensor_state(vm), v)) return t;
  raise_type_error(vm, std::string(what) + " must be a Tensor, not '" + type_name(vm, v) + "'");
}

DType expect_dtype(Vm& vm, const Value& v, const char* what) {
  if (v.is_object() && v.object()->type == tensor_state(vm).dtype_type) return cast<DTypeObject>(v)->dtype;
  if (const Type* type = try_cast<Type>(v)) {
    const Types& types = vm.types();
    if (type == types.boolean) return DType::Bool;
    if (type == types.integer) return DType::I64;
    if (type == types.real) return DType::F64;
    if (type == types.complex) return DType::C128;
  }
  raise_type_error(vm, std::string(what) + " must be a torch.dtype, not '" + type_name(vm, v) + "'");
}

Value dtype_value(const TensorState& state, DType dtype) { return state.dtypes[static_cast<int>(dtype)].value(); }

Value size_tuple(Vm& vm, const Sizes& sizes) {
  Local<TupleObject> tuple = make_tuple(vm, sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) tuple->items[i] = Value::integer(sizes[i]);
  return retype_tuple(vm, tuple, tensor_state(vm).size_type);
}

Sizes expect_sizes(Vm& vm, const Value& v, const char* what) {
  std::span<const Value> items;
  if (ListObject* list = try_cast<ListObject>(v)) items = list->items;
  else if (TupleObject* tuple = try_cast<TupleObject>(v)) items = tuple->span();
  else raise_type_error(vm, std::string(what) + " must be a tuple of ints, not '" + type_name(vm, v) + "'");
  Sizes sizes;
  for (const Value& item : items) sizes.push_back(to_index(vm, item, what));
  return sizes;
}

Local<TensorObject> make_tensor(Vm& vm, Tensor tensor) {
  Local<TensorObject> object = vm.heap().make<TensorObject>(tensor_state(vm).tensor_type);
  object->tensor = std::move(tensor);
  if (tensor_state(vm).modes.inference) [[unlikely]]
    object->extra = autograd_state(vm).inference;
  return object;
}

// The torch module must have been imported.
Value call_library(Vm& vm, const char* name, std::span<const Value> args) {
  Local<StrObject> key = intern(vm, name);
  const Value* method = lookup_in_type(tensor_state(vm).tensor_type, key.get());
  if (!method) raise(vm, vm.exceptions().RuntimeError, "import torch before using tensors");
  return call(vm, *method, args);
}

void note_tensor_store(Vm& vm, TensorObject* tensor, std::string_view what) {
  if (tensor->watched()) [[unlikely]]
    note_store(vm, tensor, intern(vm, what).value());
}

}  // namespace tsc::interp
