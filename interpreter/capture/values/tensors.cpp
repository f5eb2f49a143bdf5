// Tensors while capturing: primitives are appended to the region, views remember how they were made.
#include "interpreter/capture/values/tensors.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "interpreter/builtins/builtins.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/entry/size_checks.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/program/call_record.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/shapes.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/capture/written/writes.h"
#include "interpreter/tensor/elementwise.h"
#include "interpreter/tensor/placement.h"
#include "runtime/device/device.h"

namespace tsc::interp {
namespace {

bool makes_view(Op op) { return op_row(op).flags & kView; }

}  // namespace

VTensor* Tensors::tensor_of(const Av& av) {
  if (VTensor* tensor = as<VTensor>(av)) return tensor;
  if (av.is_constant() && as_tensor(tensor_state_, av.value)) {
    repeats_.spoil_record();
    if (const Av* found = inputs_.input_of(av.value.object())) return as<VTensor>(*found);
    EntrySource source;
    source.form = EntrySource::Form::Pinned;
    source.holder = av.value;
    plan_.watched.push_back({av.value, Value()});
    Av input = inputs_.tensor_input(as_tensor(tensor_state_, av.value), inputs_.add_source(std::move(source)));
    return as<VTensor>(input);
  }
  return nullptr;
}

std::shared_ptr<VTensor> Tensors::share_tensor(const Av& av) {
  VTensor* tensor = tensor_of(av);
  if (!tensor) break_here(BreakReason::unknown_object, "expected a tensor");
  if (tensor->is_inference && !modes_.inference) break_here(BreakReason::unknown_object, "a tensor of inference mode");
  if (av.kind == Av::Kind::Virtual) return std::static_pointer_cast<VTensor>(av.object);
  return std::static_pointer_cast<VTensor>(inputs_.input_of(av.value.object())->object);
}

ValueId Tensors::current(VTensor& tensor) {
  VTensor* root = root_of(tensor);
  if (root->unrecorded && modes_.grad_enabled) {
    root->id = builder_.op(Op::copy, {&root->id, 1}, {}, {});
    gradients_.end_history(root->id);
    ++root->version;
    root->unrecorded = false;
  }
  if (!tensor.view || tensor.view->root_version == root->version) return tensor.id;
  const VTensor& parent = *tensor.view->parent;
  const ValueId viewed = current(*tensor.view->parent);
  const bool no_grad = gradients_.is_without_history(tensor.id);
  tensor.id = builder_.op(tensor.view->op, {&viewed, 1}, tensor.view->scalars, tensor.view->attributes);
  tensor.view->root_version = root->version;
  if (no_grad) gradients_.end_history(tensor.id);
  if (parent.requires_grad && !parent.leaf && tensor.view->op != Op::detach && !no_grad) {
    tensor.requires_grad = true;
    tensor.leaf = false;
  }
  return tensor.id;
}

// Where a reduced axis is empty.
void Tensors::reduction_may_raise(ValueId tensor, const OpAttributes& attributes) {
  const jit::ValueList sizes = region_.type(tensor).sizes;
  for (int64_t axis : attributes.axes) {
    const ValueId size = sizes[static_cast<size_t>(axis)];
    if (builder_.known_int(size).value_or(0) > 0) continue;
    if (!frames_.is_protected() && !effects_.writes_wait()) return writes_.flush_writes();
    const ValueId sides[] = {size, builder_.constant(int64_t{0})};
    if (!conditions_.assume_at_entry(builder_.scalar(jit::ScalarOp::ne, sides))) return effects_.operation_may_raise();
  }
}

// On element values.
bool Tensors::may_raise(Op op, std::span<const ValueId> tensors) const {
  if (!(op_row(op).flags & kMayRaise) || op_row(op).family == Family::Reduce) return false;
  return !is_elementwise(op) || !is_floating(region_.type(tensors[0]).dtype);
}

Av Tensors::new_tensor(ValueId id, bool requires_grad) {
  auto tensor = make<VTensor>();
  tensor->id = id;
  tensor->requires_grad = requires_grad;
  tensor->leaf = !requires_grad;
  tensor->is_inference = modes_.inference;
  return Av::of(tensor);
}

namespace {

// A tensor that the region only hands on.
bool is_tensor_from_elsewhere(const TensorState& state, const Av& v) {
  if (v.is_constant()) return as_tensor(state, v.value) != nullptr;
  return is_virtual(v, VirtualKind::Instance) &&
         static_cast<const VInstance&>(*v.object).type->is_subtype_of(state.tensor_type);
}

bool is_region_tensor(const Av& v) {
  if (is_virtual(v, VirtualKind::Tensor)) return true;
  const auto any = [](const std::vector<Av>& items) {
    return std::any_of(items.begin(), items.end(),
                       [](const Av& item) { return is_virtual(item, VirtualKind::Tensor); });
  };
  if (is_virtual(v, VirtualKind::Tuple)) return any(static_cast<const VTuple&>(*v.object).items);
  return is_virtual(v, VirtualKind::List) && any(static_cast<const VList&>(*v.object).items);
}

// Whether a device says "the current one", which another call may find to be another one.
bool depends_on_current(Vm& vm, const Value& device) {
  if (current_device().backends.size() < 2) return false;
  if (const StrObject* text = try_cast<StrObject>(device)) return text->view() == "cuda";
  if (!is_kind(device, Kind::Instance)) return false;
  const Value type = get_own_attribute(vm, device.object(), intern(vm, "type").get());
  return depends_on_current(vm, type) && get_own_attribute(vm, device.object(), intern(vm, "index").get()).is_none();
}

// What a parameter says of new tensors; empty: nothing, or, inside, that it is not known.
std::optional<std::optional<Place>> place_of_parameter(const TensorState& state, const RegionPlan& plan, const Av& v) {
  if (v.is_constant() && is_tensor(state, v.value)) return cast<TensorObject>(v.value)->tensor.place();
  if (is_tensor_from_elsewhere(state, v)) return std::optional<Place>();
  if (is_region_tensor(v)) return plan.place.value_or(Place());
  return {};
}

// What the interpreter finds by place_of_new (tensor/placement.h), of what the region knows; empty: it does not know.
std::optional<Place> find_place_of_created(Vm& vm, Frames& frames, RegionPlan& plan, const Modes& modes) {
  const TensorState& state = tensor_state(vm);
  if (!state.knows_places) return Place();
  std::optional<std::optional<Place>> tensors;
  size_t at = frames.frame_count();
  for (; at > 0 && is_library(frames.frame_at(at - 1).code.get()); --at) {
    const AFrame& frame = frames.frame_at(at - 1);
    const size_t device = device_parameter(frame.code.get()), parameters = frame.code->code->parameters.count();
    for (size_t i = 0; i < parameters; ++i) {
      const VCell* cell = as<VCell>(frame.registers[i]);
      const Av& v = cell ? cell->content : frame.registers[i];
      const bool says = i == device && !v.is_undefined() && !v.is_none();
      if (says && !v.is_constant()) return std::nullopt;
      if (says && depends_on_current(vm, v.value)) plan.device_number = current_device().current_backend;
      if (says) return named_place(vm, v.value);
      if (!tensors && i != device) tensors = place_of_parameter(state, plan, v);
    }
  }
  if (tensors) return *tensors;
  // Where the region begins inside of the library, who has called there decides, which no entry condition tells.
  const Frame* caller = at == 0 && vm.current_frame() ? vm.current_frame()->back : nullptr;
  if (caller && is_library(caller->code)) return std::nullopt;
  return modes.place;
}

}  // namespace

Place Tensors::place_of_created() {
  const std::optional<Place> place = find_place_of_created(vm_, frames_, plan_, modes_);
  if (!place || place->is_meta() || !inputs_.lies_with_others(*place))
    break_here(BreakReason::two_devices, "a new tensor of another one");
  return *place;
}

Av Tensors::emit_op(Op op, std::span<const Av> tensors, std::span<const ValueId> scalars,
                    const OpAttributes& attributes, int result) {
  std::vector<ValueId> ids;
  bool any_grad = false;
  for (const Av& av : tensors) {
    std::shared_ptr<VTensor> tensor = share_tensor(av);
    ids.push_back(current(*tensor));
    any_grad |= tensor->requires_grad;
  }
  const bool makes_complex = op_row(op).dtype_rule == DTypeRule::Attribute && is_complex(attributes.dtype);
  const bool takes_complex =
      std::any_of(ids.begin(), ids.end(), [&](ValueId id) { return is_complex(region_.type(id).dtype); });
  if (makes_complex || takes_complex || op == Op::view_as_complex)
    break_here(BreakReason::complex_numbers, std::string(op_name(op)));
  const bool lacks_memory = memory_.lacks_memory && !makes_view(op) && frames_.is_protected();
  if (lacks_memory || may_raise(op, ids)) effects_.operation_may_raise();
  else if (op_row(op).domain == Domain::NonEmpty) reduction_may_raise(ids[0], attributes);
  size_checks_.check_sizes(op, ids, scalars, attributes);
  const bool finds_size = op_row(op).flags & kDynamicSize;
  if (finds_size) {
    rolled_.leave_out();
    repeats_.spoil_record();
  }
  const bool is_no_view = op == Op::reshape && attributes.mode == kNoView;
  ValueId id = builder_.op(op, ids, scalars, is_no_view ? OpAttributes{} : attributes, result);
  if (finds_size) note_found_size(op, ids[0], id);
  for (ValueId size : region_.type(id).sizes) conditions_.set_nonnegative(size);
  bool floating = is_differentiable(region_.type(id).dtype);
  if (any_grad && !modes_.grad_enabled) gradients_.end_history(id);
  Av out = new_tensor(id, any_grad && modes_.grad_enabled && floating && op != Op::detach);
  const bool is_same_object = op == Op::save_for_backward && attributes.mode != 0;
  const bool is_view = makes_view(op) && !is_same_object && !is_no_view;
  if (as<VTensor>(out)->requires_grad) {
    gradients_.remember_history(tensors, id);  // of a view, what it is a view of
    if (!is_view) gradients_.remember_history({&out, 1}, id);
  }
  if (!is_view) return out;
  VTensor* made = as<VTensor>(out);
  std::shared_ptr<VTensor> parent = share_tensor(tensors[0]);
  made->view = std::make_unique<VirtualView>();
  made->view->parent = parent;
  made->is_inference = parent->is_inference;
  made->view->op = op;
  made->view->scalars.assign(scalars.begin(), scalars.end());
  made->view->attributes = attributes;
  made->view->root_version = root_of(*parent)->version;
  root_of(*parent)->views.push_back(std::static_pointer_cast<VTensor>(out.object));
  const bool leading = op == Op::slice && attributes.axes[0] == 0 && builder_.known_int(scalars[2]) == 1;
  made->contiguous =
      parent->contiguous && (op == Op::reshape || op == Op::detach || op == Op::save_for_backward || leading);
  if (op == Op::reshape && !parent->contiguous && !shapes_.reshape_is_view(region_.type(parent->id).sizes, scalars))
    root_of(*parent)->ambiguous.push_back(std::static_pointer_cast<VTensor>(out.object));
  return out;
}

// Of one tensor the same operation finds the same size each time.
void Tensors::note_found_size(Op op, ValueId of, ValueId found) {
  conditions_.set_found_size(region_.type(found).sizes[0]);
  const auto [first, fresh] = found_sizes_.try_emplace({op, of}, region_.type(found).sizes[0]);
  if (!fresh) builder_.assume_equal(first->second, region_.type(found).sizes[0]);
}

Av Tensors::copied(const Av& av) {
  repeats_.spoil_record();  // it belongs to its instruction
  std::shared_ptr<VTensor> tensor = share_tensor(av);
  Av out = emit(Op::copy, {&av, 1}, {}, {});
  if (tensor->view) {
    root_of(*tensor)->ambiguous.push_back(std::static_pointer_cast<VTensor>(out.object));
    VTensor& copy = static_cast<VTensor&>(*out.object);
    copy.copied_in = frames_.frame().code;
    copy.copied_at = frames_.frame().pc;
  }
  return out;
}

std::pair<Av, Av> Tensors::emit_op_pair(Op op, const Av& tensor, const OpAttributes& attributes) {
  std::shared_ptr<VTensor> operand = share_tensor(tensor);
  ValueId id = current(*operand);
  std::vector<ValueId> ids = builder_.op_results(op, {&id, 1}, {}, attributes);
  const bool grad = operand->requires_grad && modes_.grad_enabled;
  if (operand->requires_grad && !modes_.grad_enabled) gradients_.end_history(ids[0]);
  std::pair<Av, Av> out = {new_tensor(ids[0], grad), new_tensor(ids[1], false)};
  if (grad) gradients_.remember_history(std::array{tensor, out.first}, ids[0]);
  return out;
}

namespace {

using Level = ElementwiseOperand::Level;

}  // namespace

// Of a number that comes in: whether it is within the range of a floating dtype now, which is then assumed of every
// call, or is no finite one.
bool Tensors::fits_at_entry(const Av& number, DType dtype) {
  if (!is_floating(dtype)) return false;
  const ValueId id = numbers_.number_id(number);
  const std::optional<Scalar> now = conditions_.hint(id);
  if (!now || !fits_dtype(dtype, *now)) return false;
  const auto assume = [&](jit::ScalarOp relation, ValueId left, ValueId right) {
    const ValueId sides[] = {left, right};
    const ValueId condition = builder_.scalar(relation, sides);
    const std::optional<Scalar> known = builder_.known(condition);
    return known ? known->i != 0 : conditions_.assume_at_entry(condition);
  };
  if (std::isnan(now->as_float())) return assume(jit::ScalarOp::ne, id, id);
  const bool is_int = number.number_kind() == jit::ValueKind::Int;
  if (is_int && largest_number(dtype) > 0x1p63) return true;
  const auto constant = [&](double value) {
    return is_int ? builder_.constant(static_cast<int64_t>(value)) : builder_.constant(value);
  };
  if (std::isinf(now->as_float())) return assume(jit::ScalarOp::eq, id, constant(now->as_float()));
  const double most = largest_number(dtype);
  return assume(jit::ScalarOp::le, constant(-most), id) && assume(jit::ScalarOp::le, id, constant(most));
}

void Tensors::check_written(const Av& number, DType dtype) {
  if (dtype == DType::F64 || (!is_integral(dtype) && !is_floating(dtype))) return;
  Scalar known;
  if (number.is_constant()
          ? number_of(number.value, &known) && fits_dtype(dtype, known)
          : number.number_kind() == jit::ValueKind::Bool ||
                (dtype == DType::I64 && number.number_kind() == jit::ValueKind::Int) || fits_at_entry(number, dtype))
    return;
  break_here(BreakReason::raises, "a number beyond the dtype");
}

Av Tensors::emit_elementwise(Op op, std::span<const Av> given) {
  std::vector<Av> operands(given.begin(), given.end());
  for (Av& av : operands)
    if (av.is_constant() && is_kind(av.value, Kind::BoxedNumber)) av = Av::constant(unboxed_number(av.value));
  SmallVector<ElementwiseOperand, 3> kinds;
  for (const Av& av : operands) {
    if (VTensor* tensor = tensor_of(av)) {
      const jit::Type& type = region_.type(tensor->id);
      kinds.push_back({type.sizes.empty() ? Level::ZeroDim : Level::Dimensioned, type.dtype});
    } else if (av.holds_number()) {
      jit::ValueKind kind = av.number_kind();
      kinds.push_back({Level::Number, kind == jit::ValueKind::Float  ? modes_.default_dtype
                                      : kind == jit::ValueKind::Bool ? DType::Bool
                                                                     : DType::I64});
    } else {
      return Av();
    }
  }
  bool identity = false;
  DType dtype = compute_dtype(op, kinds, modes_.default_dtype, &identity);
  if (identity) return operands[0];
  // One number that is not rounded makes the whole operation one in float32, whose result is.
  const std::optional<size_t> number = unrounded_operand(op, kinds, dtype);
  const bool is_wide = number && is_one_number(operands[*number], dtype);
  const auto wanted = [&](size_t i) { return op == Op::select && i == 0 ? DType::Bool : is_wide ? DType::F32 : dtype; };
  std::vector<Av> tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (kinds[i].level == Level::Number) continue;
    if (op == Op::select && i == 0 && kinds[i].dtype != DType::Bool)
      break_here(BreakReason::raises, "where: condition is no bool tensor");
    const bool rounds = is_wide && i != *number;
    tensors.push_back(cast_to(rounds ? cast_to(operands[i], dtype) : operands[i], wanted(i)));
  }
  if (tensors.size() > 1) shapes_.broadcast_together(tensors);
  // A number becomes a tensor of the others' sizes.
  std::vector<Av> arguments;
  for (size_t i = 0, next = 0; i < operands.size(); ++i)
    arguments.push_back(kinds[i].level == Level::Number ? number_like(operands[i], tensors, wanted(i))
                                                        : tensors[next++]);
  const Av result = emit(op, arguments, {}, {});
  return is_wide ? cast_to(result, dtype) : result;
}

// It goes where the tensors lie, and numbers among themselves are the CPU's.
Av Tensors::number_like(const Av& number, std::span<const Av> tensors, DType dtype) {
  if (tensors.empty() && !inputs_.lies_with_others(Place()))
    break_here(BreakReason::two_devices, "a new tensor of another one");
  std::vector<ValueId> scalars = {numbers_.number_id(number)};
  if (!tensors.empty()) {
    const jit::ValueList& sizes = region_.type(tensor_of(tensors[0])->id).sizes;
    scalars.insert(scalars.end(), sizes.begin(), sizes.end());
  }
  OpAttributes attributes;
  attributes.dtype = dtype;
  return emit_placed(Op::full, {}, scalars, attributes);
}

// Whether the operand is one number that the dtype would round, or may do so.
bool Tensors::is_one_number(const Av& operand, DType dtype) {
  if (VTensor* tensor = tensor_of(operand)) return has_one_element(*tensor);
  Scalar known;
  return !operand.is_constant() || !number_of(operand.value, &known) || !holds_exactly(dtype, known);
}

// It has as many at every entry: one, or an axis that is not 1.
bool Tensors::has_one_element(VTensor& tensor) {
  const jit::ValueList sizes = region_.type(current(tensor)).sizes;
  const auto now = [&](ValueId size) {
    const std::optional<Scalar> found = conditions_.hint(size);
    if (!found) break_here(BreakReason::unknown_number, "the number of a tensor's elements");
    return found->i;
  };
  for (ValueId size : sizes) {
    if (now(size) == 1) continue;
    const ValueId operands[] = {size, builder_.constant(int64_t{1})};
    if (!builder_.known_int(size) && !conditions_.assume_at_entry(builder_.scalar(jit::ScalarOp::ne, operands)))
      break_here(BreakReason::unknown_number, "the number of a tensor's elements");
    return false;
  }
  for (ValueId size : sizes)
    if (builder_.known_int(size) != 1) shapes_.assume_size_one(size, kNoValue);
  return true;
}

Av Tensors::cast_to(const Av& tensor, DType dtype) {
  if (region_.type(share_tensor(tensor)->id).dtype == dtype) return tensor;
  OpAttributes attributes;
  attributes.dtype = dtype;
  return emit(Op::cast, {&tensor, 1}, {}, attributes);
}

Av Numbers::find_int(ValueId id) {
  if (std::optional<int64_t> known = builder_.known_int(id)) return Av::integer(*known);
  std::optional<Scalar> now = conditions_.hint(id);
  return Av::number(jit::ValueKind::Int, id, now ? Value::integer(now->i) : Value());
}

Av Tensors::read_item(VTensor& tensor) {
  const jit::Type type = region_.type(current(tensor));
  if (is_complex(type.dtype)) break_here(BreakReason::complex_numbers, "item()");
  for (ValueId size : type.sizes) {
    if (builder_.known_int(size) == 1) continue;
    std::optional<Scalar> now = conditions_.hint(size);
    if (!now || now->i != 1) break_here(BreakReason::raises, "item() of several elements");
    shapes_.assume_size_one(size, kNoValue);
  }
  jit::ValueKind kind = is_floating(type.dtype)     ? jit::ValueKind::Float
                        : type.dtype == DType::Bool ? jit::ValueKind::Bool
                                                    : jit::ValueKind::Int;
  return Av::number(kind, builder_.read(current(tensor), kind), Value());
}

std::pair<ValueId, ValueId> Tensors::advance_rng() { return builder_.rng_advance(builder_.constant(int64_t{1})); }

// The value of full and pad (its first number) may be any number; the other numbers of pad are ints.
ValueId Tensors::fill_value(const Av& av, size_t position, Op op) {
  bool is_value = op == Op::full || position == 2;
  if (!is_value) return numbers_.int_id(av);
  if (VTensor* tensor = tensor_of(av)) return read_item(*tensor).id;
  return numbers_.number_id(av);
}

}  // namespace tsc::interp
