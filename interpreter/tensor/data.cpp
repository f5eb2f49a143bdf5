#include "interpreter/tensor/data.h"

#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/elementwise.h"
#include "interpreter/tensor/host_access.h"
#include "interpreter/value/complex.h"
#include "interpreter/vm/big_numbers.h"
#include "runtime/kernels/run_op.h"
#include "runtime/tensor/small_floats.h"

namespace tsc::interp {
namespace {

bool sequence_items(const Value& v, std::span<const Value>* items) {
  if (ListObject* list = try_cast<ListObject>(v)) {
    *items = list->items;
    return true;
  }
  if (TupleObject* tuple = try_cast<TupleObject>(v)) {
    *items = tuple->span();
    return true;
  }
  return false;
}

// First pass: the shape (from the first element of each level) and the dtype the content asks for.
struct DataShape {
  Sizes sizes;
  DType dtype = DType::Bool;
  bool any = false;
};

void widen(DataShape* shape, DType dtype) {
  shape->dtype = shape->any ? promote_types(shape->dtype, dtype) : dtype;
  shape->any = true;
}

void measure(Vm& vm, const Value& v, size_t depth, bool first, DataShape* shape) {
  TensorState& state = tensor_state(vm);
  std::span<const Value> items;
  if (sequence_items(v, &items)) {
    if (depth >= 64) raise_value_error(vm, "too many dimensions: the nesting is deeper than 64");
    if (first) shape->sizes.push_back(static_cast<int64_t>(items.size()));
    if (depth >= shape->sizes.size() || shape->sizes[depth] != static_cast<int64_t>(items.size()))
      raise_value_error(vm, "expected sequence of length " +
                                (depth < shape->sizes.size() ? std::to_string(shape->sizes[depth]) : std::string("0")) +
                                " at dim " + std::to_string(depth) + " (got " + std::to_string(items.size()) + ")");
    for (size_t i = 0; i < items.size(); ++i) vm.hear_stop(), measure(vm, items[i], depth + 1, first && i == 0, shape);
    return;
  }
  if (depth != shape->sizes.size() && !as_tensor(state, v))
    raise_value_error(vm, "expected a sequence at dim " + std::to_string(depth) + ", got a number");
  if (TensorObject* t = as_tensor(state, v)) {
    if (t->tensor.numel() != 1)
      raise_value_error(vm, "only tensors of one element can be elements of a list; use torch.stack");
    widen(shape, t->tensor.dtype());
  } else if (is_script_number(v)) {
    widen(shape, number_dtype(v, state.modes.default_dtype));
  } else if (!is_kind(v, Kind::Str) && !is_kind(v, Kind::Bytes)) {
    throw Error(ErrorKind::RuntimeError, "Could not infer dtype of " + type_name(vm, v));
  } else if (depth > 0 && first && is_kind(v, Kind::Str)) {
    raise_value_error(vm, "too many dimensions 'str'");
  } else {
    raise_type_error(vm, "new(): invalid data type '" + type_name(vm, v) + "'");
  }
}

// Second pass: elements as f64 or i64 in row-major order.
// Data are refused by the dtype's own name, numbers that fill a tensor by that of its C++ type.
[[noreturn]] void refuse_data(DType dtype) {
  throw Error(ErrorKind::RuntimeError,
              "value cannot be converted to type " + std::string(dtype_name(dtype)) + " without overflow");
}

template <class T>
void fill(Vm& vm, const Value& v, DType wanted, T*& out) {
  std::span<const Value> items;
  if (sequence_items(v, &items)) {
    for (const Value& item : items) vm.hear_stop(), fill(vm, item, wanted, out);
    return;
  }
  if (is_big(v)) {
    if constexpr (std::is_floating_point_v<T>) *out++ = big_to_double(vm, v);
    else raise_value_error(vm, "Overflow when unpacking long long");
    return;
  }
  Scalar number;
  if (!number_of(v, &number)) number = tensor_scalar(cast<TensorObject>(v)->tensor);
  if (is_integral(wanted) && !fits_dtype(wanted, number)) refuse_data(wanted);
  if constexpr (std::is_floating_point_v<T>) *out++ = number.as_float();
  else *out++ = number.kind == Scalar::Kind::Float ? static_cast<T>(number.f) : number.i;
}

// The same of complex data: a number may be any.
void fill_complex(Vm& vm, const Value& v, DType wanted, Complex<double>*& out) {
  std::span<const Value> items;
  if (sequence_items(v, &items)) {
    for (const Value& item : items) vm.hear_stop(), fill_complex(vm, item, wanted, out);
    return;
  }
  const TensorObject* tensor = as_tensor(tensor_state(vm), v);
  const ComplexNumber z = *as_complex(tensor ? tensor_item(vm, tensor->tensor) : v);
  if (!is_complex(wanted) && tensor) {
    if (z.im != 0) refuse_number(wanted);
  } else if (!is_complex(wanted) && is_kind(v, Kind::Complex)) {
    raise_type_error(vm, is_floating(wanted) ? "must be real number, not complex"
                                             : "'complex' object cannot be interpreted as an integer");
  }
  *out++ = {z.re, z.im};
}

Tensor cast_tensor(const Tensor& x, DType dtype) {
  OpAttributes attributes;
  attributes.dtype = dtype;
  return x.dtype() == dtype ? x : run_op(Op::cast, {&x, 1}, {}, attributes).first;
}

Value build_list(Vm& vm, const Tensor& contiguous, int64_t axis, int64_t& position) {
  if (axis == contiguous.rank()) {
    int64_t i = position++;
    if (contiguous.dtype() == DType::C128) {
      const Complex<double> z = contiguous.data_as<Complex<double>>()[i];
      return make_complex(vm, {z.re, z.im});
    }
    if (contiguous.dtype() == DType::F64) return Value::real(contiguous.data_as<double>()[i]);
    int64_t number = contiguous.data_as<int64_t>()[i];
    return Value::integer(number);
  }
  Local<ListObject> list = make_list(vm, static_cast<size_t>(contiguous.size(axis)));
  for (int64_t i = 0; i < contiguous.size(axis); ++i)
    vm.hear_stop(), list->items.push_back(build_list(vm, contiguous, axis + 1, position));
  return list.take();
}

void make_bools(ListObject* list) {
  for (Value& item : list->items) {
    if (ListObject* inner = try_cast<ListObject>(item)) make_bools(inner);
    else item = Value::boolean(item.as_int() != 0);
  }
}

// Any other sequence (a range, a deque, an object with __getitem__ and __len__) as a list; what is none as it is.
Value as_list(Vm& vm, const Value& v) {
  if (!v.is_object() || is_kind(v, Kind::List) || is_kind(v, Kind::Tuple) || is_kind(v, Kind::Str) ||
      is_kind(v, Kind::Bytes))
    return v;
  Type* type = type_of(vm, v);
  if (is_kind(v, Kind::Dict) || !lookup_in_type(type, intern(vm, "__getitem__").get()) ||
      !lookup_in_type(type, intern(vm, "__len__").get()))
    return v;
  Local<ListObject> list = make_list(vm);
  for_each(vm, v, [&](const Value& item) {
    list->items.push_back(as_list(vm, item));
    return true;
  });
  return list.take();
}

// An object that lies in the memory of a tensor (an array of numpy) tells which by this method.
bool has_tensor(Vm& vm, const Value& v) {
  return v.is_object() && lookup_in_type(type_of(vm, v), intern(vm, "__tensor__").get());
}

bool holds_arrays(Vm& vm, const Value& v) {
  std::span<const Value> items;
  if (!sequence_items(v, &items)) return has_tensor(vm, v);
  return !items.empty() && holds_arrays(vm, items[0]);
}

// Such objects, and lists of them, as lists of numbers; `dtype` becomes that of their elements.
Value without_arrays(Vm& vm, const Value& v, std::optional<DType>* dtype) {
  if (has_tensor(vm, v)) {
    const Value tensor = call_method(vm, v, "__tensor__");
    const Tensor& elements = expect_tensor(vm, tensor, "__tensor__()")->tensor;
    *dtype = *dtype ? promote_types(**dtype, elements.dtype()) : elements.dtype();
    return tensor_to_list(vm, elements);
  }
  std::span<const Value> items;
  if (!sequence_items(v, &items)) return v;
  Local<ListObject> list = make_list(vm);
  for (const Value& item : items) list->items.push_back(without_arrays(vm, item, dtype));
  return list.take();
}

}  // namespace

Tensor tensor_from_data(Vm& vm, const Value& data, std::optional<DType> dtype) {
  if (TensorObject* t = as_tensor(tensor_state(vm), data)) {
    Tensor copy = run_op(Op::copy, {&t->tensor, 1}, {}, {}).first;
    return dtype ? cast_tensor(copy, *dtype) : copy;
  }
  if (holds_arrays(vm, data)) {
    std::optional<DType> found;
    const Value list = without_arrays(vm, data, &found);
    return tensor_from_data(vm, list, dtype ? dtype : found);
  }
  if (const Value list = as_list(vm, data); !list.is(data)) return tensor_from_data(vm, list, dtype);
  DataShape shape;
  measure(vm, data, 0, true, &shape);
  DType found = shape.any ? shape.dtype : tensor_state(vm).modes.default_dtype;
  DType wanted = dtype.value_or(found);
  if (is_complex(found)) {
    Tensor out = Tensor::empty(DType::C128, shape.sizes);
    auto* cursor = out.data_as<Complex<double>>();
    fill_complex(vm, data, wanted, cursor);
    return cast_tensor(out, wanted);
  }
  if (is_floating(found) || is_floating(wanted)) {
    Tensor out = Tensor::empty(DType::F64, shape.sizes);
    double* cursor = out.data_as<double>();
    fill(vm, data, wanted, cursor);
    return cast_tensor(out, wanted);
  }
  Tensor out = Tensor::empty(DType::I64, shape.sizes);
  int64_t* cursor = out.data_as<int64_t>();
  fill(vm, data, wanted, cursor);
  return cast_tensor(out, wanted);
}

Value tensor_to_list(Vm& vm, const Tensor& tensor) {
  refuse_meta_copy(tensor);
  const HostAccess access(tensor);
  Tensor wide = cast_tensor(tensor, is_complex(tensor.dtype())    ? DType::C128
                                    : is_floating(tensor.dtype()) ? DType::F64
                                                                  : DType::I64);
  wide = run_op(Op::copy, {&wide, 1}, {}, {}).first;
  if (tensor.rank() == 0) return tensor_item(vm, tensor);
  int64_t position = 0;
  Value list = build_list(vm, wide, 0, position);
  if (tensor.dtype() == DType::Bool) make_bools(cast<ListObject>(list));
  return list;
}

namespace {

template <class T>
Value complex_value(Vm& vm, Complex<T> z) {
  return make_complex(vm, {z.re, z.im});
}

template <class S>
Scalar scalar_of(S x) {
  if constexpr (std::is_same_v<S, bool>) return Scalar::of_bool(x);
  else if constexpr (std::is_integral_v<S>) return Scalar::of_int(x);
  else if constexpr (!kIsComplex<S>) return Scalar::of_float(tsc::widen(x));
  else if (x.im == 0) return Scalar::of_float(x.re);
  throw Error(ErrorKind::RuntimeError, "value cannot be converted to type double without overflow");
}

// What is no single number, or is nobody's.
void check_number_of(const Tensor& tensor) {
  if (tensor.numel() != 1)
    throw Error(ErrorKind::RuntimeError,
                "a Tensor with " + std::to_string(tensor.numel()) + " elements cannot be converted to Scalar");
  if (tensor.is_meta()) throw Error(ErrorKind::RuntimeError, "Tensor.item() cannot be called on meta tensors");
}

}  // namespace

Scalar tensor_scalar(const Tensor& tensor) {
  check_number_of(tensor);
  const HostAccess access(tensor);
  switch (tensor.dtype()) {
#define DTYPE(id, name, ir, category, is_signed, bits, storage, ...) \
  case DType::id: return scalar_of(*tensor.data_as<storage>());
#include "runtime/tensor/dtypes.def"
  }
  __builtin_unreachable();
}

Value tensor_item(Vm& vm, const Tensor& tensor) {
  check_number_of(tensor);
  const HostAccess access(tensor);
  if (is_complex(tensor.dtype())) {
    if (tensor.dtype() == DType::C128) return complex_value(vm, *tensor.data_as<Complex<double>>());
    return complex_value(vm, *tensor.data_as<Complex<float>>());
  }
  Scalar s = tensor_scalar(tensor);
  switch (s.kind) {
    case Scalar::Kind::Bool: return Value::boolean(s.i != 0);
    case Scalar::Kind::Int: return Value::integer(s.i);
    case Scalar::Kind::Float: break;
  }
  return Value::real(s.f);
}

}  // namespace tsc::interp
