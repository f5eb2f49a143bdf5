// Calls while capturing: primitives are emitted, known natives handled, classes constructed as virtual
// instances, objects called through __call__. What is not known breaks the region.
#include <algorithm>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/exits.h"
#include "interpreter/capture/native_table.h"
#include "interpreter/capture/stand_ins.h"
#include "interpreter/modules/partial.h"
#include "interpreter/tensor/data.h"
#include "interpreter/tensor/prim_signature.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {
namespace {

// Arguments in the order of the native's signature, as the interpreter binds them: objects that stand for the arguments
// are bound in their place.
std::vector<Av> bind_native(Capture& capture, NativeFunction* function, Capture::CallArguments& arguments) {
  const Signature& signature = *function->signature;
  if (!signature.is_plain()) capture.break_here(BreakReason::unknown_call, function->name + "() takes any arguments");
  const size_t given = arguments.positional.size() + arguments.keywords.size();
  std::vector<Value> stand_ins;
  for (size_t i = 0; i < given; ++i) stand_ins.push_back(interp::make_cell(capture.vm(), Value()).take());
  std::vector<StrObject*> names;
  for (const auto& [name, value] : arguments.keywords) names.push_back(name.get());
  Args args;
  args.positional = stand_ins.data();
  args.count = static_cast<uint32_t>(arguments.positional.size());
  args.keyword_names = names.data();
  args.keyword_values = stand_ins.data() + args.count;
  args.keyword_count = static_cast<uint32_t>(names.size());
  std::vector<Value> bound;
  signature.bind(capture.vm(), function->name, args, bound);
  std::vector<Av> out;
  for (const Value& value : bound) {
    size_t i = 0;
    while (i < given && !stand_ins[i].is(value)) ++i;
    if (i == given) out.push_back(Av::constant(value));
    else out.push_back(i < args.count ? arguments.positional[i] : arguments.keywords[i - args.count].second);
  }
  return out;
}

Av call_primitive(Capture& capture, Op op, const std::vector<Av>& arguments) {
  if (is_elementwise(op) && op != Op::cast && op != Op::bitcast) {
    Av result = capture.elementwise(op, arguments);
    if (result.is_undefined()) capture.break_here(BreakReason::raises, "TypeError: operand");
    return result;
  }
  PrimSignature signature = prim_signature(op);
  std::vector<Av> tensors;
  std::vector<ValueId> scalars;
  OpAttributes attributes;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const Av& av = arguments[i];
    switch (signature.parameters[i]) {
      case PrimParameter::Tensor: tensors.push_back(av); break;
      case PrimParameter::TensorList: tensors = capture.items_of(av); break;
      case PrimParameter::Axis: attributes.axes = Sizes{capture.concrete_int(av)}; break;
      case PrimParameter::Axes:
        for (const Av& axis : capture.items_of(av)) attributes.axes.push_back(capture.concrete_int(axis));
        break;
      case PrimParameter::Number:
        scalars.push_back(op == Op::full || op == Op::pad ? capture.fill_value(av, i, op)
                                                          : capture.int_id(av));
        break;
      case PrimParameter::Sizes:
        for (const Av& size : capture.items_of(av)) scalars.push_back(capture.int_id(size));
        break;
      case PrimParameter::DType:
        if (!av.is_constant()) capture.break_here(BreakReason::unknown_object, "dtype");
        attributes.dtype = expect_dtype(capture.vm(), av.value, "dtype");
        break;
      case PrimParameter::Mode: attributes.mode = capture.truth(av); break;
    }
  }
  if (signature.fills && !capture.tensor_of(arguments[0])) capture.check_written(arguments[0], attributes.dtype);
  if (op == Op::sort) {
    auto [values, indices] = capture.emit_pair(op, tensors[0], attributes);
    return capture.make_tuple_av({values, indices});
  }
  // What grows now is assumed to be of size 1, as where operands broadcast by themselves.
  if (op == Op::broadcast)
    if (VTensor* tensor = capture.tensor_of(tensors[0]))
      if (scalars.size() >= capture.builder().region().type(tensor->id).sizes.size())
        return capture.expand(tensors[0], scalars);
  return capture.emit(op, tensors, scalars, attributes);
}

}  // namespace

// The value of full and pad (its first number) may be any number; the other numbers of pad are ints.
ValueId Capture::fill_value(const Av& av, size_t position, Op op) {
  bool is_value = op == Op::full || position == 2;
  if (!is_value) return int_id(av);
  if (VTensor* tensor = tensor_of(av)) return read_item(*tensor).id;
  return number_id(av);
}

namespace {

Av call_on_stand_ins(Capture& capture, const Value& callee, Capture::CallArguments& arguments, StandIns::Sees sees) {
  std::vector<Av> all = arguments.positional;
  StandIns::Repeat repeat{callee, {}};
  std::vector<StrObject*> names;
  for (const auto& [name, value] : arguments.keywords) {
    all.push_back(value);
    repeat.keywords.push_back(name);
    names.push_back(name.get());
  }
  const size_t positional = arguments.positional.size();
  // A text that only running can make is no str to a native.
  for (const Av& av : all)
    if (as<VText>(av) && !(is_kind(callee, Kind::NativeFunction) && cast<NativeFunction>(callee)->is_method))
      capture.break_here(BreakReason::unknown_object, "a text that only running can tell");
  const auto native = [&](std::span<const Value> values) {
    Args args;
    args.positional = values.data();
    args.count = static_cast<uint32_t>(positional);
    args.keyword_count = static_cast<uint32_t>(names.size());
    args.keyword_names = names.data();
    args.keyword_values = values.data() + positional;
    return interp::call(capture.vm(), callee, args);
  };
  return run_on_stand_ins(capture, all, native, repeat, sees);
}

// Which may do anything: write what the region holds, raise, print.
Av call_in_host(Capture& capture, const NativeRow& row, const Value& callee, const std::string& name,
                Capture::CallArguments& arguments) {
  for (const auto& [keyword, value] : arguments.keywords)
    if (!value.is_constant() || !capture.is_plain_data(value.value))
      capture.break_here(BreakReason::unknown_call, name + "() with an object as " + std::string(keyword->view()));
  for (const Av& av : arguments.positional)
    if (capture.text_is_script_code(av)) capture.break_here(BreakReason::unknown_call, name + "() of an object whose text script code makes");
  capture.effect_may_raise();
  HostAction action;
  action.reason = row.reason;
  action.has_result = row.has_result;
  action.result = row.result;
  std::vector<Av> values = {Av::constant(callee)};
  values.insert(values.end(), arguments.positional.begin(), arguments.positional.end());
  for (auto& [keyword, value] : arguments.keywords) {
    action.keywords.push_back(keyword);
    values.push_back(value);
  }
  if (row.has_result) return capture.host_action_with_result(std::move(action), std::move(values));
  capture.host_action(std::move(action), std::move(values));
  return Av::none();
}

Av call_by_row(Capture& capture, const NativeRow& row, const Value& callee, const std::string& name,
               Capture::CallArguments& arguments) {
  switch (row.runs) {
    case NativeRow::Runs::OnValues:
    case NativeRow::Runs::OnStandIns: {
      const bool sees_all = row.runs == NativeRow::Runs::OnStandIns;
      return call_on_stand_ins(capture, callee, arguments, sees_all ? StandIns::Sees::Tokens : StandIns::Sees::Values);
    }
    case NativeRow::Runs::InTheHost: return call_in_host(capture, row, callee, name, arguments);
    case NativeRow::Runs::Never: break;
  }
  capture.break_here(BreakReason::unknown_call, name + "() with these arguments");
}

}  // namespace

Av Capture::call_native(NativeFunction* function, CallArguments& arguments, uint16_t destination) {
  if (function->code == prim_native_code())
    return call_primitive(*this, prim_op(function), bind_native(*this, function, arguments));
  const NativeRow* row = native_row(function);
  if (!row)
    break_here(BreakReason::unknown_call, (function->owner.empty() ? "" : function->owner + ".") + function->name + "()");
  if (row->symbolic) {
    CallArguments bound;
    const bool binds = function->signature && !row->takes_unbound;
    if (binds) bound.positional = bind_native(*this, function, arguments);
    call_destination_ = destination;
    declined_ = false;
    const Av result = row->symbolic(*this, binds ? bound : arguments);
    if (!std::exchange(declined_, false)) return result;
  }
  return call_by_row(*this, *row, Value(function), function->name, arguments);
}

// Whether str() of it may call a function of a script.
bool Capture::text_is_script_code(const Av& av, int depth) {
  constexpr int kDeepest = 4;
  if (depth > kDeepest) return true;
  Type* type = type_of_av(av);
  if (!type) return false;
  for (const char* name : {"__str__", "__repr__"})
    if (const Value* method = class_attribute(type, intern(vm_, name).get(), nullptr); method && is_kind(*method, Kind::Function))
      return true;
  std::vector<Av> items;
  if (is_virtual(av, VirtualKind::Tuple) || is_virtual(av, VirtualKind::List)) items = items_of(av);
  std::span<const Value> values;
  if (av.is_constant() && is_kind(av.value, Kind::List)) values = cast<ListObject>(av.value)->items;
  if (av.is_constant() && is_kind(av.value, Kind::Tuple)) values = cast<TupleObject>(av.value)->span();
  for (const Value& value : values) items.push_back(Av::constant(value));
  return std::any_of(items.begin(), items.end(), [&](const Av& item) { return text_is_script_code(item, depth + 1); });
}

// A script class that only adds names to a tuple.
bool Capture::is_tuple_class(Type* type) {
  if (!(type->type_flags & kScriptClass) || type->layout != Kind::Tuple) return false;
  const Value* init = class_attribute(type, vm_.names().init.get(), nullptr);
  const Value* make = class_attribute(type, intern(vm_, "__new__").get(), nullptr);
  return !(init && is_kind(*init, Kind::Function)) && !(make && is_kind(*make, Kind::Function)) &&
         !(make && is_kind(*make, Kind::StaticMethod));
}

// ---- functools.partial ----

namespace {

void give_keyword(std::vector<std::pair<Local<StrObject>, Av>>& keywords, const Local<StrObject>& name, const Av& value) {
  for (auto& [known, old] : keywords)
    if (known.get() == name.get()) {
      old = value;
      return;
    }
  keywords.push_back({name, value});
}

}  // namespace

// One from outside as one made here: nothing of it changes.
static std::shared_ptr<VPartial> parts_of(Capture& capture, const Av& av) {
  if (is_virtual(av, VirtualKind::Partial)) return std::static_pointer_cast<VPartial>(av.object);
  const Partial* partial = av.is_constant() ? as_plain_partial(av.value) : nullptr;
  if (!partial) return nullptr;
  auto parts = capture.make<VPartial>();
  parts->type = Local<Type>(partial->type);
  parts->function = Av::constant(partial->function);
  for (const Value& value : partial->positional) parts->positional.push_back(Av::constant(value));
  for (const auto& [name, value] : partial->keywords) parts->keywords.push_back({name, Av::constant(value)});
  return parts;
}

Av Capture::make_partial(Type* type, CallArguments& arguments) {
  if (arguments.positional.empty()) break_here(BreakReason::raises, "TypeError: partial()");
  auto partial = make<VPartial>();
  partial->type = Local<Type>(type);
  const Av& function = arguments.positional[0];
  const std::shared_ptr<VPartial> inner = parts_of(*this, function);
  const bool is_callable = inner || as<VFunction>(function) || as<VBoundMethod>(function) ||
                           (function.is_constant() && (is_kind(function.value, Kind::Function) || is_kind(function.value, Kind::NativeFunction) ||
                                                       is_kind(function.value, Kind::Type))) ||
                           type_of_av(function)->slots.call;
  if (!is_callable) break_here(BreakReason::raises, "TypeError: the first argument must be callable");
  partial->function = inner ? inner->function : function;
  if (inner) partial->positional = inner->positional;
  if (inner) partial->keywords = inner->keywords;
  partial->positional.insert(partial->positional.end(), arguments.positional.begin() + 1, arguments.positional.end());
  for (const auto& [name, value] : arguments.keywords) give_keyword(partial->keywords, name, value);
  return Av::of(partial);
}

void Capture::call_partial(const Av& callee, CallArguments arguments, uint16_t destination, bool discard_result) {
  const std::shared_ptr<VPartial> partial = parts_of(*this, callee);
  CallArguments all;
  all.positional = partial->positional;
  all.positional.insert(all.positional.end(), arguments.positional.begin(), arguments.positional.end());
  all.keywords = partial->keywords;
  for (const auto& [name, value] : arguments.keywords) give_keyword(all.keywords, name, value);
  call(partial->function, std::move(all), destination, discard_result);
}

void Capture::construct(Type* type, CallArguments& arguments, uint16_t destination) {
  if (const NativeRow* row = native_row(vm_, type)) {
    call_destination_ = destination;
    declined_ = !row->symbolic;
    Av result = row->symbolic ? row->symbolic(*this, arguments) : Av();
    if (std::exchange(declined_, false)) result = call_by_row(*this, *row, Value(type), type->name, arguments);
    if (!result.is_undefined()) write(destination, result);
    return;
  }
  if (is_partial_type(type)) return write(destination, make_partial(type, arguments));
  if (is_tuple_class(type) && arguments.keywords.empty() && arguments.positional.size() == 1) {
    Av tuple = make_tuple_av(items_of(arguments.positional[0]));
    as<VTuple>(tuple)->type = Local<Type>(type);
    return write(destination, tuple);
  }
  bool plain = (type->type_flags & kScriptClass) && type->layout == Kind::Instance &&
               !type->slots.construct && !(type->type_flags & kAbstractClass) &&
               type->type->slots.call == vm_.types().type->slots.call;
  if (!plain) break_here(BreakReason::unknown_call, type->name + "()");
  if (type->type_flags & kHasFinalizer) break_here(BreakReason::unknown_call, type->name + "(), which has __del__");
  const Value* init = class_attribute(type, vm_.names().init.get(), nullptr);
  auto instance = make<VInstance>();
  instance->type = Local<Type>(type);
  Av self = Av::of(instance);
  if (!init || !is_kind(*init, Kind::Function)) {
    if (!arguments.positional.empty() || !arguments.keywords.empty())
      break_here(BreakReason::unknown_call, type->name + "()");
    return write(destination, self);
  }
  arguments.positional.insert(arguments.positional.begin(), self);
  Av function = Av::constant(*init);
  size_t depth = frames_.size();
  call(function, std::move(arguments), destination, true);
  frames_[depth].constructed = self;
}

void Capture::call_object(const Av& callee, CallArguments arguments, uint16_t destination, bool discard_result) {
  Type* type = type_of_av(callee);
  const Value* method = class_attribute(type, vm_.names().call.get(), nullptr);
  if (!method || !is_kind(*method, Kind::Function))
    break_here(BreakReason::unknown_call, "call of a " + type->name);
  arguments.positional.insert(arguments.positional.begin(), callee);
  call(Av::constant(*method), std::move(arguments), destination, discard_result);
}

// ---- host instructions ----

// The history of a tensor is made when the region is left: what is printed before would lack it, and what is stored
// is stored then.
static void write_values(RecipeWriter& writer, HostAction& action, const std::vector<Av>& values) {
  for (const Av& av : values) action.values.push_back(writer.write(av));
}

static bool is_store(const HostAction& action) { return action.is_store || action.form != HostAction::Form::Call; }

void Capture::host_action(HostAction action, std::vector<Av> values) {
  spoil_record();
  action.origin = builder_.known_origin();
  if (!is_store(action)) stores_must_not_wait();
  // What a store lets go of may die before the program's eyes, who then must find all as it left it.
  if (vm_.sees_ends() && is_store(action) && action.form != HostAction::Form::SetGradient)
    break_here(BreakReason::escape, "a store lets go of an object while the program sees objects die");
  const bool waits = !waiting_stores_.empty() && action.form != HostAction::Form::SetGradient;
  if (waits) return waiting_stores_.push_back({std::move(action), std::move(values)});
  if (action.form == HostAction::Form::Call) flush_writes();
  RecipeWriter writer(*this, action.materials);
  write_values(writer, action, values);
  if (!writer.history_values.empty()) {
    const bool may_wait = is_store(action) && action.form != HostAction::Form::SetGradient && !is_protected();
    if (!may_wait) break_here(BreakReason::history, "a tensor with gradient history is printed, or kept by a call");
    action.values.clear();
    action.materials = {};
    return waiting_stores_.push_back({std::move(action), std::move(values)});
  }
  std::vector<jit::Type> results;
  uint32_t id = static_cast<uint32_t>(plan_.actions.size());
  builder_.host(id, action.materials.live, results);
  plan_.actions.push_back(std::move(action));
}

Av Capture::host_action_with_result(HostAction action, std::vector<Av> values) {
  spoil_record();
  stores_must_not_wait();
  flush_writes();
  RecipeWriter writer(*this, action.materials);
  write_values(writer, action, values);
  if (!writer.history_values.empty()) break_here(BreakReason::history, "a call is given a tensor with gradient history");
  action.origin = builder_.known_origin();
  jit::Type type;
  type.kind = action.result;
  uint32_t id = static_cast<uint32_t>(plan_.actions.size());
  std::vector<ValueId> results = builder_.host(id, action.materials.live, {&type, 1});
  jit::ValueKind kind = action.result;
  plan_.actions.push_back(std::move(action));
  if (kind == jit::ValueKind::Object) return Av::opaque(results[0]);
  return Av::number(kind, results[0], Value());
}

}  // namespace tsc::interp
