// Calls while capturing: primitives are emitted, known natives handled, classes constructed as virtual
// instances, objects called through __call__. What is not known breaks the region.
#include <algorithm>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/exits.h"
#include "interpreter/capture/native_table.h"
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

Av Capture::call_native(NativeFunction* function, CallArguments& arguments, uint16_t destination) {
  if (function->code == prim_native_code())
    return call_primitive(*this, prim_op(function), bind_native(*this, function, arguments));
  if (NativeHandler handler = find_native_handler(function)) {
    if (function->signature && !handles_own_arguments(function)) {
      CallArguments bound;
      bound.positional = bind_native(*this, function, arguments);
      call_destination_ = destination;
      return handler(*this, bound);
    }
    call_destination_ = destination;
    return handler(*this, arguments);
  }
  bool constant = arguments.keywords.empty();
  for (const Av& av : arguments.positional) constant &= av.is_constant() && is_plain_data(av.value);
  if (constant && is_pure_native(function)) {
    std::vector<Value> values;
    for (const Av& av : arguments.positional) values.push_back(av.value);
    const Value result = interp::call(vm_, Value(function), values);
    if (is_plain_data(result)) return Av::constant(result);
    if (is_kind(result, Kind::List)) return made_list(cast<ListObject>(result)->items);
    break_here(BreakReason::unknown_call, function->name + "() makes a new object");
  }
  KnownHostCall known = known_host_call(function);
  if (!known.known)
    break_here(BreakReason::unknown_call,
               (function->owner.empty() ? "" : function->owner + ".") + function->name + "()");
  // Which may do anything: write what the region holds, raise, print.
  for (const auto& [name, value] : arguments.keywords)
    if (!value.is_constant() || !is_plain_data(value.value))
      break_here(BreakReason::unknown_call, function->name + "() with an object as " + std::string(name->view()));
  for (const Av& av : arguments.positional)
    if (text_is_script_code(av))
      break_here(BreakReason::unknown_call, function->name + "() of an object whose text script code makes");
  effect_may_raise();
  HostAction action;
  action.reason = known.reason;
  action.has_result = known.has_result;
  action.result = known.result;
  std::vector<Av> values = {Av::constant(Value(function))};
  values.insert(values.end(), arguments.positional.begin(), arguments.positional.end());
  for (auto& [name, value] : arguments.keywords) {
    action.keywords.push_back(name);
    values.push_back(value);
  }
  if (known.has_result) return host_action_with_result(std::move(action), std::move(values));
  host_action(std::move(action), std::move(values));
  return Av::none();
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

void Capture::construct(Type* type, CallArguments& arguments, uint16_t destination) {
  if (NativeHandler handler = find_type_handler(vm_, type)) {
    call_destination_ = destination;
    Av result = handler(*this, arguments);
    if (!result.is_undefined()) write(destination, result);
    return;
  }
  if (is_tuple_class(type) && arguments.keywords.empty() && arguments.positional.size() == 1) {
    Av tuple = make_tuple_av(items_of(arguments.positional[0]));
    as<VTuple>(tuple)->type = Local<Type>(type);
    return write(destination, tuple);
  }
  bool plain = (type->type_flags & kScriptClass) && type->layout == Kind::Instance &&
               !type->slots.construct && !(type->type_flags & kAbstractClass) &&
               type->type->slots.call == vm_.types().type->slots.call;
  if (!plain) break_here(BreakReason::unknown_call, type->name + "()");
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
