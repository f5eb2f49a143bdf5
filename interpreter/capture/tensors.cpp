// Tensors while capturing: primitives are appended to the region, views remember how they were made.
#include <algorithm>
#include <array>

#include "interpreter/capture/call_record.h"
#include "interpreter/tensor/elementwise.h"

namespace tsc::interp {
namespace {

bool makes_view(Op op) { return op_row(op).flags & kView; }

}  // namespace

VTensor* Capture::tensor_of(const Av& av) {
  if (VTensor* tensor = as<VTensor>(av)) return tensor;
  if (av.is_constant() && as_tensor(tensors_, av.value)) {
    spoil_record();
    auto found = tensor_objects_.find(av.value.object());
    if (found != tensor_objects_.end()) return as<VTensor>(found->second);
    EntrySource source;
    source.form = EntrySource::Form::Pinned;
    source.holder = av.value;
    plan_.watched.push_back({av.value, Value()});
    Av input = tensor_input(as_tensor(tensors_, av.value), add_source(std::move(source)));
    return as<VTensor>(input);
  }
  return nullptr;
}

std::shared_ptr<VTensor> Capture::share_tensor(const Av& av) {
  VTensor* tensor = tensor_of(av);
  if (!tensor) break_here(BreakReason::unknown_object, "expected a tensor");
  if (av.kind == Av::Kind::Virtual) return std::static_pointer_cast<VTensor>(av.object);
  return std::static_pointer_cast<VTensor>(tensor_objects_[av.value.object()].object);
}

ValueId Capture::current(VTensor& tensor) {
  VTensor* root = root_of(tensor);
  if (root->unrecorded && modes.grad_enabled) {
    root->id = builder_.op(Op::copy, {&root->id, 1}, {}, {});
    no_grad_values_.push_back(root->id);
    ++root->version;
    root->unrecorded = false;
  }
  if (!tensor.view || tensor.view->root_version == root->version) return tensor.id;
  const VTensor& parent = *tensor.view->parent;
  const ValueId viewed = current(*tensor.view->parent);
  const bool no_grad = std::find(no_grad_values_.begin(), no_grad_values_.end(), tensor.id) != no_grad_values_.end();
  tensor.id = builder_.op(tensor.view->op, {&viewed, 1}, tensor.view->scalars, tensor.view->attributes);
  tensor.view->root_version = root->version;
  if (no_grad) no_grad_values_.push_back(tensor.id);
  if (parent.requires_grad && !parent.leaf && tensor.view->op != Op::detach && !no_grad) {
    tensor.requires_grad = true;
    tensor.leaf = false;
  }
  return tensor.id;
}

// From here on the tensor needs a gradient: what was computed of it before, its views among them, has no part in that.
void Capture::begin_gradient(VTensor& tensor) {
  spoil_record();
  current(tensor);
  tensor.id = builder_.op(Op::copy, {&tensor.id, 1}, {}, {});
  no_grad_values_.push_back(tensor.id);
  for (const std::weak_ptr<VTensor>& view : tensor.views)
    if (const std::shared_ptr<VTensor> alive = view.lock()) no_grad_values_.push_back(alive->id);
}

// The value whose gradient is that of a tensor which needs one, kNoValue while nothing has used its elements.
ValueId Capture::gradient_place(const VTensor& tensor) { return tensor.unrecorded ? kNoValue : tensor.id; }

// Where a reduced axis is empty.
void Capture::reduction_may_raise(ValueId tensor, const OpAttributes& attributes) {
  const jit::ValueList sizes = region_.type(tensor).sizes;
  for (int64_t axis : attributes.axes) {
    const ValueId size = sizes[static_cast<size_t>(axis)];
    if (builder_.known_int(size).value_or(0) > 0) continue;
    if (!is_protected()) return flush_writes();
    const ValueId sides[] = {size, builder_.constant(int64_t{0})};
    if (!assume_at_entry(builder_.scalar(jit::ScalarOp::ne, sides))) return operation_may_raise();
  }
}

// On element values.
bool Capture::may_raise(Op op, std::span<const ValueId> tensors) const {
  if (!(op_row(op).flags & kMayRaise) || op_row(op).family == Family::Reduce) return false;
  return !is_elementwise(op) || !is_floating(region_.type(tensors[0]).dtype);
}

Av Capture::new_tensor(ValueId id, bool requires_grad) {
  auto tensor = make<VTensor>();
  tensor->id = id;
  tensor->requires_grad = requires_grad;
  tensor->leaf = !requires_grad;
  return Av::of(tensor);
}

Av Capture::emit_op(Op op, std::span<const Av> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes,
                    int result) {
  std::vector<ValueId> ids;
  bool any_grad = false;
  for (const Av& av : tensors) {
    std::shared_ptr<VTensor> tensor = share_tensor(av);
    ids.push_back(current(*tensor));
    any_grad |= tensor->requires_grad;
  }
  const bool makes_complex = op_row(op).dtype_rule == DTypeRule::Attribute && is_complex(attributes.dtype);
  const bool takes_complex = std::any_of(ids.begin(), ids.end(), [&](ValueId id) { return is_complex(region_.type(id).dtype); });
  if (makes_complex || takes_complex || op == Op::view_as_complex) break_here(BreakReason::complex_numbers, std::string(op_name(op)));
  if (may_raise(op, ids)) operation_may_raise();
  else if (op_row(op).domain == Domain::NonEmpty) reduction_may_raise(ids[0], attributes);
  if (op_row(op).flags & kDynamicSize) break_here(BreakReason::data_size, std::string(op_name(op)));
  check_sizes(op, ids, scalars, attributes);
  ValueId id = builder_.op(op, ids, scalars, attributes, result);
  for (ValueId size : region_.type(id).sizes) nonnegative_.insert(size);
  bool floating = is_differentiable(region_.type(id).dtype);
  if (any_grad && !modes.grad_enabled) no_grad_values_.push_back(id);
  Av out = new_tensor(id, any_grad && modes.grad_enabled && floating && op != Op::detach);
  if (as<VTensor>(out)->requires_grad) {
    remember_history(tensors, id);
    remember_history({&out, 1}, id);
  }
  const bool is_same_object = op == Op::save_for_backward && attributes.mode != 0;
  if (!makes_view(op) || is_same_object) return out;
  VTensor* made = as<VTensor>(out);
  std::shared_ptr<VTensor> parent = share_tensor(tensors[0]);
  made->view = std::make_unique<VirtualView>();
  made->view->parent = parent;
  made->view->op = op;
  made->view->scalars.assign(scalars.begin(), scalars.end());
  made->view->attributes = attributes;
  made->view->root_version = root_of(*parent)->version;
  root_of(*parent)->views.push_back(std::static_pointer_cast<VTensor>(out.object));
  const bool leading = op == Op::slice && attributes.axes[0] == 0 && builder_.known_int(scalars[2]) == 1;
  made->contiguous =
      parent->contiguous && (op == Op::reshape || op == Op::detach || op == Op::save_for_backward || leading);
  if (op == Op::reshape && !parent->contiguous && !reshape_is_view(region_.type(parent->id).sizes, scalars))
    root_of(*parent)->ambiguous.push_back(std::static_pointer_cast<VTensor>(out.object));
  return out;
}

Av Capture::copied(const Av& av) {
  spoil_record();  // it belongs to its instruction
  std::shared_ptr<VTensor> tensor = share_tensor(av);
  Av out = emit(Op::copy, {&av, 1}, {}, {});
  if (tensor->view) {
    root_of(*tensor)->ambiguous.push_back(std::static_pointer_cast<VTensor>(out.object));
    VTensor& copy = static_cast<VTensor&>(*out.object);
    copy.copied_in = frame().code;
    copy.copied_at = frame().pc;
  }
  return out;
}

// A reshape that splits at most one axis, and adds or drops axes of size 1, is a view in every layout.
bool Capture::reshape_is_view(const jit::ValueList& from, std::span<const ValueId> to) {
  auto is_one = [&](ValueId size) { return builder_.known_int(size) == 1; };
  size_t i = 0, j = 0, from_end = from.size(), to_end = to.size();
  while (i < from_end || j < to_end) {
    if (i < from_end && is_one(from[i])) ++i;
    else if (j < to_end && is_one(to[j])) ++j;
    else if (i < from_end && j < to_end && builder_.known_equal(from[i], to[j])) ++i, ++j;
    else break;
  }
  while (from_end > i && to_end > j) {
    if (is_one(from[from_end - 1])) --from_end;
    else if (is_one(to[to_end - 1])) --to_end;
    else if (builder_.known_equal(from[from_end - 1], to[to_end - 1])) --from_end, --to_end;
    else break;
  }
  size_t left = 0;
  for (; i < from_end; ++i) left += !is_one(from[i]);
  return left <= 1;
}

bool Capture::is_reshaped_view(const VTensor& view, const VTensor& of) {
  if (!view.view || view.view->op != Op::reshape || view.view->parent.get() != &of) return false;
  const jit::ValueList from = region_.type(of.id).sizes;
  const std::vector<ValueId>& to = view.view->scalars;
  if (of.contiguous || reshape_is_view(from, to)) return true;
  // Leading sizes that agree now, as those of view(2, 5, heads, -1), are assumed to agree at every entry.
  for (size_t i = 0; i + 1 < from.size() && i < to.size(); ++i) {
    if (builder_.known_equal(from[i], to[i])) continue;
    if (!builder_.require_equal(from[i], to[i])) break;
    builder_.assume_equal(from[i], to[i]);
  }
  return reshape_is_view(from, to);
}

// What a recorded operation read may be saved for its gradient: until backward() has run, writing it in
// place is the interpreter's business, which knows the rules and the errors.
void Capture::remember_history(std::span<const Av> tensors, ValueId result) {
  for (const Av& av : tensors) {
    std::shared_ptr<VTensor> tensor = share_tensor(av);
    while (tensor->view) tensor = tensor->view->parent;
    tensor->in_history = true;
    in_history_.push_back({std::move(tensor), result});
  }
}

std::pair<Av, Av> Capture::emit_op_pair(Op op, const Av& tensor, const OpAttributes& attributes) {
  std::shared_ptr<VTensor> operand = share_tensor(tensor);
  ValueId id = current(*operand);
  std::vector<ValueId> ids = builder_.op_results(op, {&id, 1}, {}, attributes);
  const bool grad = operand->requires_grad && modes.grad_enabled;
  if (operand->requires_grad && !modes.grad_enabled) no_grad_values_.push_back(ids[0]);
  std::pair<Av, Av> out = {new_tensor(ids[0], grad), new_tensor(ids[1], false)};
  if (grad) remember_history(std::array{tensor, out.first}, ids[0]);
  return out;
}

namespace {

// The handler of a `with` block begins by asking for the exception, and calls the manager's __exit__.
const lang::Instruction* exit_call(const lang::CodeObject& code, const lang::ExceptionEntry& entry) {
  const bool is_with = entry.is_cleanup && code.instructions[entry.handler + 1].op == lang::Op::ExceptionInfo;
  return is_with ? &code.instructions[entry.handler + 2] : nullptr;
}

}  // namespace

// A gradient mode that the region itself has entered was never set outside: nothing is to be restored there.
const Av* Capture::mode_of_region(const AFrame& frame, const lang::ExceptionEntry& entry) {
  const lang::Instruction* call = exit_call(*frame.code->code, entry);
  if (!call || call->op != lang::Op::CallMethod) return nullptr;
  const Av &exit = frame.registers[call->b], &manager = frame.registers[call->b + 1u];
  VInstance* mode = as<VInstance>(manager);
  if (!mode || mode->source != Virtual::kMadeHere || !exit.is_constant() || !is_kind(exit.value, Kind::Function))
    return nullptr;
  const ModuleObject* module = cast<FunctionObject>(exit.value)->module.get();
  return module && module->name == "torch._gradients" ? find_field(*mode, intern(vm_, "before").get()) : nullptr;
}

bool Capture::is_protected() {
  const auto protects = [&](const AFrame& frame) {
    const auto& entries = frame.code->code->exceptions;
    return std::any_of(entries.begin(), entries.end(), [&](const lang::ExceptionEntry& entry) {
      return entry.begin <= frame.pc && frame.pc < entry.end && !mode_of_region(frame, entry);
    });
  };
  const bool now = std::any_of(frames_.begin(), frames_.end(), protects);
  if (recorder_ && now != recorder_->is_protected()) spoil_record();
  return now;
}

void Capture::set_mode(bool enabled) {
  modes.grad_enabled = set_grad_enabled_ = enabled;
  origin_pc_ = ~0u;  // the next origin is another one, though it be at the same place
}

// The last block that an exception leaves is the outermost: it puts back what was there before it.
bool Capture::grad_enabled_after_raise() {
  for (const AFrame& frame : frames_) {
    const auto& entries = frame.code->code->exceptions;  // inner ones first
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      const bool inside = entry->begin <= frame.pc && frame.pc < entry->end;
      if (const Av* before = inside ? mode_of_region(frame, *entry) : nullptr) return truth(*before);
    }
  }
  return set_grad_enabled_;
}

void Capture::effect_may_raise() {
  if (is_protected()) break_here(BreakReason::protected_raise);
}

void Capture::may_raise_here() {
  if (!is_protected()) {
    stores_must_not_wait();
    return flush_writes();
  }
  if (memory_.has_effects) break_here(BreakReason::protected_raise);
  plan_.run_again = true;
}

// A region without effects finds such an int out when it runs, and then the interpreter begins anew.
void Capture::may_need_big_int() {
  if (memory_.has_effects) break_here(BreakReason::unknown_number, "an int that may need more than 64 bits");
  plan_.run_again = true;
}

namespace {

using Level = ElementwiseOperand::Level;

jit::ValueKind number_kind(const Av& av) {
  if (av.is_number()) return av.scalar_kind;
  if (av.value.is_bool()) return jit::ValueKind::Bool;
  return av.value.is_int() ? jit::ValueKind::Int : jit::ValueKind::Float;
}

}  // namespace

void Capture::check_written(const Av& number, DType dtype) {
  if (!is_integral(dtype)) return;
  Scalar known;
  if (number.is_constant() ? number_of(number.value, &known) && fits_dtype(dtype, known)
                           : dtype == DType::I64 && number_kind(number) != jit::ValueKind::Float)
    return;
  break_here(BreakReason::raises, "a number beyond the dtype");
}

Av Capture::emit_elementwise(Op op, std::span<const Av> operands) {
  SmallVector<ElementwiseOperand, 3> kinds;
  for (const Av& av : operands) {
    if (VTensor* tensor = tensor_of(av)) {
      const jit::Type& type = region_.type(tensor->id);
      kinds.push_back({type.sizes.empty() ? Level::ZeroDim : Level::Dimensioned, type.dtype});
    } else if (av.holds_number()) {
      jit::ValueKind kind = number_kind(av);
      kinds.push_back({Level::Number, kind == jit::ValueKind::Float  ? modes.default_dtype
                                      : kind == jit::ValueKind::Bool ? DType::Bool
                                                                     : DType::I64});
    } else {
      return Av();
    }
  }
  bool identity = false;
  DType dtype = compute_dtype(op, kinds, modes.default_dtype, &identity);
  if (identity) return operands[0];
  const auto wanted = [&](size_t i) { return op == Op::select && i == 0 ? DType::Bool : dtype; };
  std::vector<Av> tensors;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (kinds[i].level == Level::Number) continue;
    if (op == Op::select && i == 0 && kinds[i].dtype != DType::Bool)
      break_here(BreakReason::raises, "where: condition is no bool tensor");
    tensors.push_back(cast_to(operands[i], wanted(i)));
  }
  if (tensors.size() > 1) broadcast_together(tensors);
  if (tensors.size() == operands.size()) return emit(op, tensors, {}, {});
  // A number becomes a tensor of the others' sizes.
  std::vector<Av> arguments;
  for (size_t i = 0, next = 0; i < operands.size(); ++i) {
    if (kinds[i].level != Level::Number) {
      arguments.push_back(tensors[next++]);
      continue;
    }
    std::vector<ValueId> scalars = {number_id(operands[i])};
    if (!tensors.empty()) {
      const jit::ValueList& sizes = region_.type(tensor_of(tensors[0])->id).sizes;
      scalars.insert(scalars.end(), sizes.begin(), sizes.end());
    }
    OpAttributes attributes;
    attributes.dtype = wanted(i);
    arguments.push_back(emit(Op::full, {}, scalars, attributes));
  }
  return emit(op, arguments, {}, {});
}

// Sizes that are equal now are assumed equal; otherwise the one that is 1 now is assumed to be 1. So a
// batch of 1 and a batch of 64 share one region unless the program really broadcasts.
std::vector<ValueId> Capture::broadcast_sizes(std::span<const Av> operands) {
  std::vector<ValueId> sizes;
  for (const Av& av : operands) {
    const jit::ValueList other = region_.type(tensor_of(av)->id).sizes;
    while (sizes.size() < other.size()) sizes.insert(sizes.begin(), builder_.constant(int64_t{1}));
    size_t lead = sizes.size() - other.size();
    for (size_t axis = 0; axis < other.size(); ++axis) {
      ValueId& size = sizes[lead + axis];
      if (builder_.known_equal(size, other[axis])) continue;
      if (builder_.known_int(other[axis]) == 1) continue;
      if (builder_.known_int(size) == 1) {
        size = other[axis];
        continue;
      }
      std::optional<Scalar> a = hint(size), b = hint(other[axis]);
      if (!a || !b) break_here(BreakReason::unknown_number, "sizes to broadcast");
      if (a->i == b->i) {
        if (!builder_.require_equal(size, other[axis])) break_here(BreakReason::raises, "broadcast");
        builder_.assume_equal(size, other[axis]);
        continue;
      }
      if (a->i != 1 && b->i != 1) break_here(BreakReason::raises, "shapes do not broadcast");
      assume_size_one(a->i == 1 ? size : other[axis], a->i == 1 ? other[axis] : size);
      if (a->i == 1) size = other[axis];
    }
  }
  return sizes;
}

// `other` is what it broadcasts to: not 1, or the program would be another one.
void Capture::assume_size_one(ValueId size, ValueId other) {
  ValueId one = builder_.constant(int64_t{1});
  if (other != kNoValue && !builder_.known_int(other)) {
    const ValueId operands[] = {other, one};
    if (!assume_at_entry(builder_.scalar(jit::ScalarOp::ne, operands)))
      break_here(BreakReason::unknown_number, "sizes to broadcast");
  }
  if (!builder_.require_equal(size, one)) break_here(BreakReason::raises, "broadcast");
  builder_.assume_equal(size, one);
}

void Capture::broadcast_together(std::vector<Av>& operands) {
  const auto sizes_of = [&](const Av& av) -> const jit::ValueList& {
    return region_.type(tensor_of(av)->id).sizes;
  };
  const jit::ValueList& first = sizes_of(operands[0]);
  if (std::all_of(operands.begin(), operands.end(), [&](const Av& av) { return sizes_of(av) == first; }))
    return;
  std::vector<ValueId> sizes = broadcast_sizes(operands);
  for (Av& av : operands) av = broadcast_to(av, sizes);
}

Av Capture::broadcast_to(const Av& av, const std::vector<ValueId>& sizes) {
  const jit::ValueList own = region_.type(tensor_of(av)->id).sizes;
  bool same = own.size() == sizes.size();
  for (size_t i = 0; same && i < sizes.size(); ++i) same = builder_.known_equal(own[i], sizes[i]);
  return same ? av : expand(av, sizes);
}

// A view, also where nothing is repeated.
Av Capture::expand(const Av& av, const std::vector<ValueId>& sizes) {
  const jit::ValueList own = region_.type(tensor_of(av)->id).sizes;
  size_t lead = sizes.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i) {
    if (builder_.known_equal(own[i], sizes[lead + i]) || builder_.known_int(own[i]) == 1) continue;
    std::optional<Scalar> a = hint(own[i]), b = hint(sizes[lead + i]);
    if (!a || !b) break_here(BreakReason::unknown_number, "sizes to broadcast");
    if (a->i == b->i) {
      if (!builder_.require_equal(own[i], sizes[lead + i])) break_here(BreakReason::raises, "broadcast");
      builder_.assume_equal(own[i], sizes[lead + i]);
    } else {
      if (a->i != 1) break_here(BreakReason::raises, "shapes do not broadcast");
      assume_size_one(own[i], sizes[lead + i]);
    }
  }
  return emit(Op::broadcast, {&av, 1}, sizes, {});
}

Av Capture::cast_to(const Av& tensor, DType dtype) {
  if (region_.type(share_tensor(tensor)->id).dtype == dtype) return tensor;
  OpAttributes attributes;
  attributes.dtype = dtype;
  return emit(Op::cast, {&tensor, 1}, {}, attributes);
}

Av Capture::shape_of(VTensor& tensor) {
  auto tuple = make<VTuple>();
  tuple->type = Local<Type>(tensors_.size_type);
  jit::ValueList sizes = region_.type(current(tensor)).sizes;
  for (ValueId size : sizes) tuple->items.push_back(int_av(size));
  return Av::of(tuple);
}

Av Capture::find_int(ValueId id) {
  if (std::optional<int64_t> known = builder_.known_int(id)) return Av::integer(*known);
  std::optional<Scalar> now = hint(id);
  return Av::number(jit::ValueKind::Int, id, now ? Value::integer(now->i) : Value());
}

Av Capture::read_item(VTensor& tensor) {
  const jit::Type type = region_.type(current(tensor));
  if (is_complex(type.dtype)) break_here(BreakReason::complex_numbers, "item()");
  for (ValueId size : type.sizes) {
    if (builder_.known_int(size) == 1) continue;
    std::optional<Scalar> now = hint(size);
    if (!now || now->i != 1) break_here(BreakReason::raises, "item() of several elements");
    assume_size_one(size, kNoValue);
  }
  jit::ValueKind kind = is_floating(type.dtype)      ? jit::ValueKind::Float
                        : type.dtype == DType::Bool ? jit::ValueKind::Bool
                                                    : jit::ValueKind::Int;
  return Av::number(kind, builder_.read(current(tensor), kind), Value());
}

std::pair<ValueId, ValueId> Capture::advance_rng() { return builder_.rng_advance(builder_.constant(int64_t{1})); }

}  // namespace tsc::interp
