// Methods of containers and strings, math functions, and natives of the tensor binding.
#include <unordered_map>
#include <unordered_set>

#include "interpreter/capture/native_table.h"
#include "interpreter/tensor/data.h"

namespace tsc::interp {
namespace {

using Arguments = Capture::CallArguments;

Av at(const Arguments& arguments, size_t i) {
  return i < arguments.positional.size() ? arguments.positional[i] : Av();
}

VList& virtual_list(Capture& capture, const Arguments& arguments) {
  VList* list = as<VList>(at(arguments, 0));
  if (!list) capture.break_here(BreakReason::escape, "a list from outside the region is changed");
  return *list;
}

Av host_method(Capture& capture, const char* name, Arguments& arguments) {
  // A list of the host: the interpreter does it in place, in order; later reads here would be stale.
  const Av& self = arguments.positional[0];
  if (!self.is_constant()) capture.break_here(BreakReason::unknown_object, name);
  capture.effect_may_raise();
  HostAction action;
  action.reason = BreakReason::host_call;
  // The list's own, whatever a class made of list calls so.
  const Value* method = lookup_in_type(capture.vm().types().list, intern(capture.vm(), name).get());
  std::vector<Av> values = {Av::constant(*method)};
  values.insert(values.end(), arguments.positional.begin(), arguments.positional.end());
  capture.forbid_reads(self.value);
  capture.host_action(std::move(action), std::move(values));
  return Av::none();
}

Av list_append(Capture& capture, Arguments& arguments) {
  const Av list = at(arguments, 0);
  if (!is_virtual(list, VirtualKind::List)) return host_method(capture, "append", arguments);
  capture.write_through(list, "append", {at(arguments, 1)});
  // What nothing has read keeps any length.
  if (!list.object->unread) as<VList>(list)->items.push_back(at(arguments, 1));
  return Av::none();
}

Av list_extend(Capture& capture, Arguments& arguments) {
  std::vector<Av> items = capture.items_of(at(arguments, 1));
  VList& list = virtual_list(capture, arguments);
  capture.write_through(at(arguments, 0), "extend", {capture.make_tuple_av(items)});
  list.items.insert(list.items.end(), items.begin(), items.end());
  return Av::none();
}

Av list_pop(Capture& capture, Arguments& arguments) {
  if (arguments.positional.size() > 2 || !arguments.keywords.empty()) capture.break_here(BreakReason::raises, "TypeError: pop()");
  VList& list = virtual_list(capture, arguments);
  Av index = at(arguments, 1);
  int64_t i = index.is_undefined() ? -1 : capture.concrete_int(index);
  if (i < 0) i += static_cast<int64_t>(list.items.size());
  if (i < 0 || i >= static_cast<int64_t>(list.items.size()))
    capture.break_here(BreakReason::raises, "IndexError: pop");
  Av item = list.items[static_cast<size_t>(i)];
  capture.write_through(at(arguments, 0), "pop", {Av::integer(i)});
  list.items.erase(list.items.begin() + i);
  return item;
}

Av list_insert(Capture& capture, Arguments& arguments) {
  VList& list = virtual_list(capture, arguments);
  int64_t n = static_cast<int64_t>(list.items.size());
  int64_t i = capture.concrete_int(at(arguments, 1));
  if (i < 0) i = std::max<int64_t>(0, i + n);
  capture.write_through(at(arguments, 0), "insert", {Av::integer(std::min(i, n)), at(arguments, 2)});
  list.items.insert(list.items.begin() + std::min(i, n), at(arguments, 2));
  return Av::none();
}

Av list_reverse(Capture& capture, Arguments& arguments) {
  VList& list = virtual_list(capture, arguments);
  capture.write_through(at(arguments, 0), "reverse", {});
  std::reverse(list.items.begin(), list.items.end());
  return Av::none();
}

Av list_copy(Capture& capture, Arguments& arguments) {
  return capture.make_list_av(capture.items_of(at(arguments, 0)));
}

Av dict_get(Capture& capture, Arguments& arguments) {
  Av found = capture.dict_find(at(arguments, 0), at(arguments, 1));
  if (!found.is_undefined()) return found;
  return at(arguments, 2).is_undefined() ? Av::none() : at(arguments, 2);
}

template <VDictView::Form form>
Av dict_view(Capture& capture, Arguments& arguments) {
  if (!capture.is_dict(at(arguments, 0))) capture.break_here(BreakReason::unknown_object, "a view of a dict");
  auto view = capture.make<VDictView>();
  view->form = form;
  view->dict = at(arguments, 0);
  return Av::of(view);
}

Av dict_update(Capture& capture, Arguments& arguments) {
  if (arguments.positional.size() > 2) capture.break_here(BreakReason::raises, "TypeError: update()");
  if (arguments.positional.size() > 1 && !capture.is_dict(at(arguments, 1)))
    capture.break_here(BreakReason::unknown_object, "dict.update() with a value that is no dict");
  if (arguments.positional.size() > 1)
    for (const Av& key : capture.dict_keys(at(arguments, 1)))
      capture.set_item(at(arguments, 0), key, capture.dict_find(at(arguments, 1), key));
  for (auto& [name, value] : arguments.keywords)
    capture.set_item(at(arguments, 0), Av::constant(name.value()), value);
  return Av::none();
}

// ---- math ----

template <jit::ScalarOp op>
Av math_function(Capture& capture, Arguments& arguments) {
  Av av = at(arguments, 0);
  if (VTensor* tensor = capture.tensor_of(av)) av = capture.read_item(*tensor);
  if (!av.holds_number()) capture.break_here(BreakReason::raises, "TypeError: a function of numbers");
  return capture.scalar(op, {av});
}

template <jit::ScalarOp op>
Av math_rounding(Capture& capture, Arguments& arguments) {
  Av rounded = math_function<op>(capture, arguments);
  return capture.scalar(jit::ScalarOp::float_to_int, {rounded});
}

Av math_pow(Capture& capture, Arguments& arguments) {
  for (const Av& av : arguments.positional)
    if (!av.holds_number()) capture.break_here(BreakReason::raises, "TypeError: a function of numbers");
  return capture.scalar(jit::ScalarOp::pow, {at(arguments, 0), at(arguments, 1)});
}

// ---- tensor binding ----

Av prim_assign(Capture& capture, Arguments& arguments) {
  capture.assign(capture.share_tensor(at(arguments, 0)), at(arguments, 1));
  return at(arguments, 0);
}

Av prim_copy_into(Capture& capture, Arguments& arguments) {
  capture.assign(capture.share_tensor(at(arguments, 0)), at(arguments, 1), WriteHistory::Step);
  return at(arguments, 0);
}

Av prim_in_place_operand(Capture& capture, Arguments& arguments) {
  if (capture.modes.grad_enabled && capture.share_tensor(at(arguments, 0))->requires_grad)
    capture.break_here(BreakReason::write, "a tensor with gradient history is written in place");
  return at(arguments, 0);
}

Av prim_rng_bits(Capture& capture, Arguments& arguments) {
  OpAttributes attributes;
  attributes.dtype = expect_dtype(capture.vm(), at(arguments, 1).value, "dtype");
  const auto [seed, offset] = capture.rng_offset();
  std::vector<ValueId> scalars = {seed, offset};
  for (const Av& size : capture.items_of(at(arguments, 0))) scalars.push_back(capture.int_id(size));
  return capture.emit(Op::rng_bits, {}, scalars, attributes);
}

Av prim_set_grad_enabled(Capture& capture, Arguments& arguments) {
  const bool before = capture.modes.grad_enabled;
  capture.set_grad_enabled(capture.truth(at(arguments, 0)));
  return Av::boolean(before);
}

Av prim_grad_enabled(Capture& capture, Arguments&) { return Av::boolean(capture.modes.grad_enabled); }

Av autocast_value(Capture& capture) {
  if (!capture.modes.autocast) return Av::none();
  return Av::constant(dtype_value(tensor_state(capture.vm()), *capture.modes.autocast));
}

Av prim_set_autocast(Capture& capture, Arguments& arguments) {
  capture.spoil_record();
  Av before = autocast_value(capture);
  const Av& dtype = at(arguments, 0);
  if (dtype.is_none()) capture.modes.autocast.reset();
  else if (dtype.is_constant()) capture.modes.autocast = expect_dtype(capture.vm(), dtype.value, "dtype");
  else capture.break_here(BreakReason::unknown_call, "autocast to a dtype that is not known");
  return before;
}

Av prim_autocast(Capture& capture, Arguments&) { return autocast_value(capture); }

Av prim_item(Capture& capture, Arguments& arguments) {
  return capture.read_item(*capture.share_tensor(at(arguments, 0)));
}

Av prim_is_tensor(Capture& capture, Arguments& arguments) {
  return Av::boolean(capture.tensor_of(at(arguments, 0)) != nullptr);
}

Av prim_to_dtype(Capture& capture, Arguments& arguments) {
  const Av& dtype = at(arguments, 1);
  if (!dtype.is_constant()) capture.break_here(BreakReason::unknown_call, "a dtype that is not known");
  return capture.cast_to(at(arguments, 0), expect_dtype(capture.vm(), dtype.value, "dtype"));
}

Av prim_wide(Capture& capture, Arguments& arguments) {
  const Av& x = at(arguments, 0);
  return capture.cast_to(x, computing_dtype(capture.builder().dtype(capture.share_tensor(x)->id)));
}

Av prim_holds(Capture& capture, Arguments& arguments) {
  const VList* list = as<VList>(at(arguments, 0));
  std::vector<Av> others;
  if (!list) others = capture.items_of(at(arguments, 0));
  for (const Av& item : list ? list->items : others)
    if (capture.is_identical(item, at(arguments, 1))) return Av::boolean(true);
  return Av::boolean(false);
}

Av prim_default_dtype(Capture& capture, Arguments&) {
  return Av::constant(dtype_value(tensor_state(capture.vm()), capture.modes.default_dtype));
}

// The data as a script value, in which numbers that only running can tell stand for their kind; and its numbers in order.
Value sample_of_data(Capture& capture, const Av& data, std::vector<Av>& numbers, bool& known) {
  constexpr size_t kMostNumbers = 256;
  if (data.holds_number()) {
    numbers.push_back(data);
    known &= data.is_constant();
    if (!data.value.is_undefined()) return data.value;
    if (data.scalar_kind == jit::ValueKind::Float) return Value::real(0.0);
    return data.scalar_kind == jit::ValueKind::Int ? Value::integer(0) : Value::boolean(false);
  }
  const bool nested = capture.is_sequence(data) && !(capture.type_of_av(data)->type_flags & kScriptClass);
  if (!nested || numbers.size() > kMostNumbers) capture.break_here(BreakReason::unknown_call, "torch.tensor of these data");
  Local<ListObject> list = make_list(capture.vm(), 0);
  for (const Av& item : capture.items_of(data)) list_append(capture.vm(), list.get(), sample_of_data(capture, item, numbers, known));
  return list.take();
}

// The tensor that the interpreter makes of these numbers, or its elements one by one.
Av tensor_of_data(Capture& capture, const Av& data, const Av& dtype) {
  if (capture.modes.default_dtype != tensor_state(capture.vm()).modes.default_dtype)
    capture.break_here(BreakReason::unknown_call, "torch.tensor with another default dtype");
  std::vector<Av> numbers;
  bool known = true;
  const Value sample = sample_of_data(capture, data, numbers, known);
  std::optional<DType> wanted;
  if (!dtype.is_none() && !dtype.is_undefined()) wanted = expect_dtype(capture.vm(), dtype.value, "dtype");
  const Tensor made = tensor_from_data(capture.vm(), sample, wanted);
  if (known) return capture.tensor_constant(made);
  OpAttributes attributes;
  attributes.dtype = made.dtype();
  std::vector<Av> elements;
  for (const Av& number : numbers) {
    capture.check_written(number, made.dtype());
    const ValueId scalars[] = {capture.number_id(number), capture.builder().constant(int64_t{1})};
    elements.push_back(capture.emit(Op::full, {}, scalars, attributes));
  }
  std::vector<ValueId> sizes;
  for (int64_t size : made.sizes()) sizes.push_back(capture.builder().constant(size));
  OpAttributes along;
  along.axes = Sizes{0};
  const Av row = capture.emit(Op::concat, elements, {}, along);
  if (sizes.size() == 1) return row;
  const Av shaped = capture.emit(Op::reshape, {&row, 1}, sizes, {});
  return capture.emit(Op::copy, {&shaped, 1}, {}, {});  // no view of anything
}

Av prim_tensor(Capture& capture, Arguments& arguments) {
  const Av& data = arguments.positional[0];
  bool number = data.is_number() || (data.is_constant() && !data.value.is_object());
  if (!number) return tensor_of_data(capture, data, at(arguments, 1));
  OpAttributes attributes;
  Av dtype = at(arguments, 1);
  Type* type = capture.type_of_av(data);
  attributes.dtype = type == capture.vm().types().real     ? capture.modes.default_dtype
                     : type == capture.vm().types().boolean ? DType::Bool
                                                            : DType::I64;
  if (!dtype.is_none() && !dtype.is_undefined())
    attributes.dtype = expect_dtype(capture.vm(), dtype.value, "dtype");
  capture.check_written(data, attributes.dtype);
  ValueId id = capture.number_id(data);
  return capture.emit(Op::full, {}, {&id, 1}, attributes);
}

Av prim_backward(Capture& capture, Arguments& arguments) {
  std::vector<Av> roots = capture.items_of(at(arguments, 0));
  std::vector<Av> gradients = capture.items_of(at(arguments, 1));
  if (roots.size() != 1) capture.break_here(BreakReason::unknown_call, "backward of several tensors");
  if (capture.truth(at(arguments, 3))) capture.break_here(BreakReason::history, "create_graph");
  capture.backward(roots[0], gradients[0], capture.truth(at(arguments, 2)));
  return Av::none();
}

Av tensor_numel(Capture& capture, Arguments& arguments) {
  std::shared_ptr<VTensor> tensor = capture.share_tensor(at(arguments, 0));
  Av count = Av::integer(1);
  Av shape = capture.shape_of(*tensor);
  for (const Av& size : as<VTuple>(shape)->items) count = capture.binary(BinaryOp::Mul, count, size);
  return count;
}

// Comparing as `in` does: the same object or equal.
Av list_count(Capture& capture, Arguments& arguments) {
  int64_t count = 0;
  for (const Av& item : capture.items_of(at(arguments, 0)))
    count += capture.same_item(item, at(arguments, 1));
  return Av::integer(count);
}

Av list_index(Capture& capture, Arguments& arguments) {
  std::vector<Av> items = capture.items_of(at(arguments, 0));
  Av start = at(arguments, 2);
  int64_t first = start.is_undefined() ? 0 : capture.concrete_int(start);
  for (int64_t i = std::max<int64_t>(first, 0); first >= 0 && i < static_cast<int64_t>(items.size()); ++i)
    if (capture.same_item(items[i], at(arguments, 1))) return Av::integer(i);
  capture.break_here(BreakReason::raises, "ValueError: list.index");
}

// What is no view keeps its layout: a fresh copy, or the same tensor. Of some views only running can tell.
Av prim_contiguous(Capture& capture, Arguments& arguments) {
  std::shared_ptr<VTensor> tensor = capture.share_tensor(at(arguments, 0));
  const std::optional<bool> row_major = capture.is_row_major(*tensor);
  if (!row_major && capture.is_row_major_now(*tensor))
    capture.break_here(BreakReason::unknown_call, "contiguous() of a view");
  if (row_major.value_or(false)) return at(arguments, 0);
  return row_major ? capture.emit(Op::copy, {&arguments.positional[0], 1}, {}, {}) : capture.copied(at(arguments, 0));
}

Av tensor_is_contiguous(Capture& capture, Arguments& arguments) {
  std::shared_ptr<VTensor> tensor = capture.share_tensor(at(arguments, 0));
  if (tensor->contiguous) return Av::boolean(true);
  if (!tensor->view) return Av::boolean(false);
  capture.break_here(BreakReason::unknown_call, "is_contiguous() of a view");
}

// shares_storage(x, a reshape of x)
Av prim_shares_storage(Capture& capture, Arguments& arguments) {
  std::shared_ptr<VTensor> x = capture.share_tensor(at(arguments, 0)), y = capture.share_tensor(at(arguments, 1));
  if (capture.is_identical(at(arguments, 0), at(arguments, 1)) || capture.is_reshaped_view(*y, *x)) return Av::boolean(true);
  capture.break_here(BreakReason::unknown_call, "whether a tensor shares the memory of another");
}

constexpr NativeRow kMethods[] = {
    {"list.append", list_append},   {"list.extend", list_extend},   {"list.pop", list_pop},
    {"list.count", list_count},     {"list.index", list_index},     {"list.insert", list_insert},   {"list.reverse", list_reverse}, {"list.copy", list_copy},
    {"dict.get", dict_get},         {"dict.keys", dict_view<VDictView::Form::Keys>}, {"dict.values", dict_view<VDictView::Form::Values>},
    {"dict.items", dict_view<VDictView::Form::Items>},     {"dict.update", dict_update},
    {"math.sqrt", math_function<jit::ScalarOp::sqrt>},
    {"math.exp", math_function<jit::ScalarOp::exp>},
    {"math.sin", math_function<jit::ScalarOp::sin>},
    {"math.cos", math_function<jit::ScalarOp::cos>},
    {"math.tanh", math_function<jit::ScalarOp::tanh>},
    {"math.floor", math_rounding<jit::ScalarOp::floor>},
    {"math.ceil", math_rounding<jit::ScalarOp::ceil>},
    {"math.pow", math_pow},
};

constexpr NativeRow kTensorNatives[] = {
    {"_prims.assign_", prim_assign},
    {"_prims.copy_", prim_copy_into},
    {"_prims.in_place_operand", prim_in_place_operand},
    {"_prims.rng_bits", prim_rng_bits},
    {"_prims.set_grad_enabled", prim_set_grad_enabled},
    {"_prims.grad_enabled", prim_grad_enabled},
    {"_prims.set_autocast", prim_set_autocast},
    {"_prims.autocast", prim_autocast},
    {"_prims.contiguous", prim_contiguous},
    {"_prims.shares_storage", prim_shares_storage},
    {"_prims.item", prim_item},
    {"_prims.is_tensor", prim_is_tensor},
    {"_prims.to_dtype", prim_to_dtype},
    {"_prims.wide", prim_wide},
    {"_prims.holds", prim_holds},
    {"_prims.default_dtype", prim_default_dtype},
    {"_prims.tensor", prim_tensor},
    {"_prims.backward", prim_backward},
    {"Tensor.item", prim_item},
    {"Tensor.numel", tensor_numel},
    {"Tensor.is_contiguous", tensor_is_contiguous},
    {"Size.numel", nullptr},
};

struct HostCallRow {
  const char* name;
  bool has_result;
  jit::ValueKind result;
  BreakReason reason;
};
constexpr HostCallRow kHostCalls[] = {
    {"print", false, jit::ValueKind::Object, BreakReason::print_call},
    {"_time.time", true, jit::ValueKind::Float, BreakReason::host_call},
    {"_time.perf_counter", true, jit::ValueKind::Float, BreakReason::host_call},
    {"_time.monotonic", true, jit::ValueKind::Float, BreakReason::host_call},
    {"_time.sleep", false, jit::ValueKind::Object, BreakReason::host_call},
    {"_random.random", true, jit::ValueKind::Float, BreakReason::host_call},
    {"_prims.profile_begin", false, jit::ValueKind::Object, BreakReason::host_call},
    {"_prims.profile_end", false, jit::ValueKind::Object, BreakReason::host_call},
    {"sys.stdout.flush", false, jit::ValueKind::Object, BreakReason::host_call},
};

// Natives that only compute: owners whose every function is pure, and single ones.
constexpr const char* kPureOwners[] = {"str", "math", "int", "float", "bytes", "tuple"};
constexpr const char* kPureNames[] = {"ord", "chr", "round", "divmod", "pow", "hash", "repr", "format",
                                      "min", "max", "sum", "sorted", "bool",
                                      "_prims.promote_types"};

std::string full_name(const NativeFunction* function) {
  bool plain = function->owner.empty() || function->owner == "builtins";
  return plain ? function->name : function->owner + "." + function->name;
}

}  // namespace

std::span<const NativeRow> method_natives() { return kMethods; }
std::span<const NativeRow> tensor_natives() { return kTensorNatives; }

NativeHandler find_native_handler(const NativeFunction* function) {
  static const std::unordered_map<std::string_view, NativeHandler> handlers = [] {
    std::unordered_map<std::string_view, NativeHandler> all;
    for (std::span<const NativeRow> table : {builtin_natives(), iteration_natives(), method_natives(),
                                             tensor_natives(), shape_natives()})
      for (const NativeRow& row : table) all.emplace(row.name, row.handler);
    return all;
  }();
  const auto found = handlers.find(full_name(function));
  return found == handlers.end() ? nullptr : found->second;
}

bool handles_own_arguments(const NativeFunction* function) {
  static const std::unordered_set<std::string_view> own = {"min", "max",  "sum",         "enumerate", "zip",
                                                           "getattr", "next", "dict.update", "map",   "list.pop"};
  return own.count(full_name(function)) != 0;
}

bool is_pure_native(const NativeFunction* function) {
  for (const char* owner : kPureOwners)
    if (function->owner == owner) return true;
  std::string name = full_name(function);
  for (const char* pure : kPureNames)
    if (name == pure) return true;
  return false;
}

KnownHostCall known_host_call(const NativeFunction* function) {
  std::string name = full_name(function);
  for (const HostCallRow& row : kHostCalls)
    if (name == row.name) return {true, row.has_result, row.result, row.reason};
  return {};
}

}  // namespace tsc::interp
