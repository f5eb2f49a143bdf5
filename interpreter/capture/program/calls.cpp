// Calls while capturing: of primitives, natives, classes, functions and objects. What is not known breaks the region.
#include "interpreter/capture/program/calls.h"

#include <algorithm>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/capture/natives/stand_ins.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/program/call_record.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/raising.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/shapes.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/values/texts.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/modules/partial.h"
#include "interpreter/tensor/data.h"
#include "interpreter/tensor/prim_signature.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/frames.h"

namespace tsc::interp {
namespace {

// Arguments in the order of the native's signature, as the interpreter binds objects that stand for them.
std::vector<Av> bind_native(Capture& capture, NativeFunction* function, CallArguments& arguments) {
  const Signature& signature = *function->signature;
  if (!signature.is_plain()) break_here(BreakReason::unknown_call, function->name + "() takes any arguments");
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
    Av result = capture.tensors().elementwise(op, arguments);
    if (result.is_undefined()) break_here(BreakReason::raises, "TypeError: operand");
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
      case PrimParameter::TensorList: tensors = capture.iterators().items_of(av); break;
      case PrimParameter::Axis: attributes.axes = Sizes{capture.numbers().concrete_int(av)}; break;
      case PrimParameter::Axes:
        for (const Av& axis : capture.iterators().items_of(av))
          attributes.axes.push_back(capture.numbers().concrete_int(axis));
        break;
      case PrimParameter::Number:
        scalars.push_back(op == Op::full || op == Op::pad ? capture.tensors().fill_value(av, i, op)
                                                          : capture.numbers().int_id(av));
        break;
      case PrimParameter::Sizes:
        for (const Av& size : capture.iterators().items_of(av)) scalars.push_back(capture.numbers().int_id(size));
        break;
      case PrimParameter::DType:
        if (!av.is_constant()) break_here(BreakReason::unknown_object, "dtype");
        attributes.dtype = expect_dtype(capture.vm(), av.value, "dtype");
        break;
      case PrimParameter::Mode: attributes.mode = capture.numbers().truth(av); break;
      case PrimParameter::Bounds: attributes.mode = capture.numbers().concrete_int(av); break;
    }
  }
  const bool is_single = std::all_of(scalars.begin() + !scalars.empty(), scalars.end(),
                                     [&](jit::ValueId size) { return capture.builder().known_int(size) == 1; });
  if (signature.fills && !(is_single && is_small_float(attributes.dtype)) && !capture.tensors().tensor_of(arguments[0]))
    capture.tensors().check_written(arguments[0], attributes.dtype);
  if (op_result_count(op) == 2) {
    auto [values, indices] = capture.tensors().emit_pair(op, tensors[0], attributes);
    return capture.containers().make_tuple_av({values, indices});
  }
  // What grows now is assumed to be of size 1, as where operands broadcast by themselves.
  if (op == Op::broadcast)
    if (VTensor* tensor = capture.tensors().tensor_of(tensors[0]))
      if (scalars.size() >= capture.builder().region().type(tensor->id).sizes.size())
        return capture.shapes().expand(tensors[0], scalars);
  return capture.tensors().emit(op, tensors, scalars, attributes);
}

}  // namespace

namespace {

// Natives that do not ask of which class their first argument, a dict, is.
bool is_for_any_dict(const NativeFunction* function) {
  constexpr std::string_view kMethods[] = {"__init__",    "update",       "get",    "setdefault", "pop",
                                           "popitem",     "clear",        "copy",   "__eq__",     "__setitem__",
                                           "__delitem__", "__contains__", "__len__"};
  if (function && function->owner == "_collections" && function->name == "count_elements") return true;
  return function && function->is_method && function->owner == "dict" &&
         std::find(std::begin(kMethods), std::end(kMethods), function->name) != std::end(kMethods);
}

Av call_on_stand_ins(Capture& capture, const Value& callee, CallArguments& arguments, StandIns::Sees sees) {
  std::vector<Av> all = arguments.positional;
  StandIns::Repeat repeat{callee, {}};
  std::vector<StrObject*> names;
  for (const auto& [name, value] : arguments.keywords) {
    all.push_back(value);
    repeat.keywords.push_back(name);
    names.push_back(name.get());
  }
  const size_t positional = arguments.positional.size();
  // A class method has a class as its first argument, and no token of one.
  const NativeFunction* function = try_cast<NativeFunction>(callee);
  const bool is_class_method = function && function->signature && !function->signature->parameters().empty() &&
                               function->signature->parameters()[0].name == "cls";
  if (is_class_method && (!all[0].is_constant() || cast<Type>(all[0].value)->type_flags & kScriptClass))
    break_here(BreakReason::unknown_call, function->name + "() of a class of the script");
  // A text that only running can make is no str to a native.
  for (const Av& av : all)
    if (as<VText>(av) && !(is_kind(callee, Kind::NativeFunction) && cast<NativeFunction>(callee)->is_method))
      break_here(BreakReason::unknown_object, "a text that only running can tell");
  const auto native = [&](std::span<const Value> values) {
    Args args;
    args.positional = values.data();
    args.count = static_cast<uint32_t>(positional);
    args.keyword_count = static_cast<uint32_t>(names.size());
    args.keyword_names = names.data();
    args.keyword_values = values.data() + positional;
    return interp::call(capture.vm(), callee, args);
  };
  const auto run = std::make_shared<StandIns>(capture, sees);
  if ((is_for_any_dict(function) || callee.is(Value(capture.vm().types().dict))) && !all.empty())
    run->show_as_dict(all[0]);
  return run->run(all, native, repeat);
}

// Where the script has put an object of its own in the place of standard output, print runs that object's code.
void refuse_own_output(Capture& capture) {
  const Value sys = dict_get(capture.vm(), capture.vm().modules(), std::string("sys"));
  if (!is_kind(sys, Kind::Module)) return;
  const Av output = capture.attributes().get_attribute(Av::constant(sys), intern(capture.vm(), "stdout").get());
  if (capture.attributes().type_of_av(output)->type_flags & kScriptClass)
    break_here(BreakReason::unknown_call, "print() into an object of the script");
}

// Which may do anything: write what the region holds, raise, print.
Av call_in_host(Capture& capture, const NativeRow& row, const Value& callee, const std::string& name,
                CallArguments& arguments) {
  for (const auto& [keyword, value] : arguments.keywords)
    if (!value.is_constant() || !capture.numbers().is_plain_data(value.value))
      break_here(BreakReason::unknown_call, name + "() with an object as " + std::string(keyword->view()));
  for (const Av& av : arguments.positional)
    if (capture.texts().text_is_script_code(av))
      break_here(BreakReason::unknown_call, name + "() of an object whose text script code makes");
  if (row.reason == BreakReason::print_call) refuse_own_output(capture);
  capture.effects().effect_may_raise();
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
  if (row.has_result) return capture.effects().host_action_with_result(std::move(action), std::move(values));
  capture.effects().host_action(std::move(action), std::move(values));
  return Av::none();
}

// A number that this call decides, as it is now, which every other entry has to agree with. Zeros have two signs, and
// are equal.
Av settled(Capture& capture, const Av& av) {
  const std::optional<Scalar> now = av.is_number() ? capture.conditions().hint(av.id) : std::nullopt;
  if (!now || av.scalar_kind == jit::ValueKind::Bool) return av;
  if (av.scalar_kind == jit::ValueKind::Int) return Av::integer(capture.numbers().concrete_int(av));
  if (now->f == 0) return av;
  const jit::ValueId is_it =
      capture.conditions().combined(jit::ScalarOp::eq, av.id, capture.builder().constant(now->f));
  const std::optional<Scalar> known = capture.builder().known(is_it);
  return (known ? known->i != 0 : capture.conditions().assume_at_entry(is_it)) ? Av::constant(Value::real(now->f)) : av;
}

Av call_by_row(Capture& capture, const NativeRow& row, const Value& callee, const std::string& name,
               CallArguments& arguments) {
  switch (row.runs) {
    case NativeRow::Runs::OnSettledNumbers:
      for (Av& av : arguments.positional) av = settled(capture, av);
      [[fallthrough]];
    case NativeRow::Runs::OnValues: return call_on_stand_ins(capture, callee, arguments, StandIns::Sees::Values);
    case NativeRow::Runs::OnStandIns: return call_on_stand_ins(capture, callee, arguments, StandIns::Sees::Tokens);
    case NativeRow::Runs::Lazily: return call_on_stand_ins(capture, callee, arguments, StandIns::Sees::Later);
    case NativeRow::Runs::InTheHost: return call_in_host(capture, row, callee, name, arguments);
    case NativeRow::Runs::Never: break;
  }
  break_here(BreakReason::unknown_call, name + "() with these arguments");
}

}  // namespace

Av Calls::call_native(NativeFunction* function, CallArguments& arguments, uint16_t destination) {
  if (function->code == prim_native_code())
    return call_primitive(capture_, prim_op(function), bind_native(capture_, function, arguments));
  const NativeRow* row = native_row(function);
  if (!row)
    break_here(BreakReason::unknown_call,
               (function->owner.empty() ? "" : function->owner + ".") + function->name + "()");
  if (row->symbolic) {
    CallArguments bound;
    const bool binds = function->signature && !row->takes_unbound;
    if (binds) bound.positional = bind_native(capture_, function, arguments);
    call_destination_ = destination;
    declined_ = false;
    const Av result = row->symbolic(capture_, binds ? bound : arguments);
    if (!std::exchange(declined_, false)) return result;
  }
  return call_by_row(capture_, *row, Value(function), function->name, arguments);
}

// A script class that only adds names to a tuple.
bool Calls::is_tuple_class(Type* type) {
  if (!(type->type_flags & kScriptClass) || type->layout != Kind::Tuple) return false;
  const Value* init = attributes_.class_attribute(type, vm_.names().init.get(), nullptr);
  const Value* make = attributes_.class_attribute(type, intern(vm_, "__new__").get(), nullptr);
  return !(init && is_kind(*init, Kind::Function)) && !(make && is_kind(*make, Kind::Function)) &&
         !(make && is_kind(*make, Kind::StaticMethod));
}

// A class that adds methods to a dict, as OrderedDict: one that is made like a dict, or by an __init__ of its own, and
// finds and keeps what a dict does.
bool Calls::is_dict_class(Type* type, bool has_init) {
  if (!(type->type_flags & kScriptClass) || type->layout != Kind::Dict || (type->type_flags & kHasFinalizer))
    return false;
  if (type->type->slots.call != vm_.types().type->slots.call) return false;
  for (const char* name : {"__init__", "__new__", "__setitem__", "__getattribute__"}) {
    const Value* found = attributes_.class_attribute(type, intern(vm_, name).get(), nullptr);
    const bool is_own_init = has_init && std::string_view(name) == "__init__";
    if (found && !is_kind(*found, is_own_init ? Kind::Function : Kind::NativeFunction)) return false;
  }
  return true;
}

Av Calls::make_dict_of(Type* type, CallArguments& arguments) {
  auto made = make<VDict>();
  if (!arguments.positional.empty() || !arguments.keywords.empty()) {
    Type* plain = vm_.types().dict;
    const Av content = call_by_row(capture_, *native_row(vm_, plain), Value(plain), plain->name, arguments);
    made->items = as<VDict>(content)->items;
  }
  made->type = Local<Type>(type);
  return Av::of(made);
}

// ---- functools.partial ----

namespace {

void give_keyword(std::vector<std::pair<Local<StrObject>, Av>>& keywords, const Local<StrObject>& name,
                  const Av& value) {
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

Av Calls::make_partial(Type* type, CallArguments& arguments) {
  if (arguments.positional.empty()) break_here(BreakReason::raises, "TypeError: partial()");
  auto partial = make<VPartial>();
  partial->type = Local<Type>(type);
  const Av& function = arguments.positional[0];
  const std::shared_ptr<VPartial> inner = parts_of(capture_, function);
  const bool is_callable = inner || as<VFunction>(function) || as<VBoundMethod>(function) ||
                           (function.is_constant() &&
                            (is_kind(function.value, Kind::Function) || is_kind(function.value, Kind::NativeFunction) ||
                             is_kind(function.value, Kind::Type))) ||
                           attributes_.type_of_av(function)->slots.call;
  if (!is_callable) break_here(BreakReason::raises, "TypeError: the first argument must be callable");
  partial->function = inner ? inner->function : function;
  if (inner) partial->positional = inner->positional;
  if (inner) partial->keywords = inner->keywords;
  partial->positional.insert(partial->positional.end(), arguments.positional.begin() + 1, arguments.positional.end());
  for (const auto& [name, value] : arguments.keywords) give_keyword(partial->keywords, name, value);
  return Av::of(partial);
}

void Calls::call_partial(const Av& callee, CallArguments arguments, uint16_t destination, bool discard_result) {
  const std::shared_ptr<VPartial> partial = parts_of(capture_, callee);
  CallArguments all;
  all.positional = partial->positional;
  all.positional.insert(all.positional.end(), arguments.positional.begin(), arguments.positional.end());
  all.keywords = partial->keywords;
  for (const auto& [name, value] : arguments.keywords) give_keyword(all.keywords, name, value);
  call(partial->function, std::move(all), destination, discard_result);
}

// By a __new__ of the script. Where it gives an object of the class and there is an __init__ too, that is called as
// type's call does; what it raises or leaves there, the whole call leaves.
void Calls::construct_by_new(Type* type, CallArguments arguments, uint16_t destination) {
  const auto method = [&](const char* name) -> Value {
    const Value* found = attributes_.class_attribute(type, intern(vm_, name).get(), nullptr);
    if (!found) return Value();
    return is_kind(*found, Kind::StaticMethod) ? static_cast<WrappedMethod*>(found->object())->function : *found;
  };
  const Value make = method("__new__"), init = method("__init__");
  if (!is_kind(make, Kind::Function)) break_here(BreakReason::unknown_call, type->name + "()");
  CallArguments given = arguments;
  given.positional.insert(given.positional.begin(), Av::constant(Value(type)));
  const Av made = frames_.call_now(Av::constant(make), std::move(given));
  if (is_kind(init, Kind::Function) && attributes_.type_of_av(made)->is_subtype_of(type)) {
    if (attributes_.type_of_av(made) != type) break_here(BreakReason::unknown_call, type->name + "()");
    arguments.positional.insert(arguments.positional.begin(), made);
    if (!frames_.call_now(Av::constant(init), std::move(arguments)).is_none())
      break_here(BreakReason::raises, "TypeError: __init__()");
  }
  frames_.write(destination, made);
}

void Calls::construct(Type* type, CallArguments& arguments, uint16_t destination) {
  if (const NativeRow* row = native_row(vm_, type)) {
    call_destination_ = destination;
    declined_ = !row->symbolic;
    Av result = row->symbolic ? row->symbolic(capture_, arguments) : Av();
    if (std::exchange(declined_, false)) result = call_by_row(capture_, *row, Value(type), type->name, arguments);
    if (!result.is_undefined()) frames_.write(destination, result);
    return;
  }
  if (construct_by_metaclass(type, arguments, destination)) return;
  if (type->is_subtype_of(vm_.exceptions().BaseException) && raising_.is_handled())
    if (Av made = raising_.make_exception(type, arguments); !made.is_undefined())
      return frames_.write(destination, made);
  if (is_partial_type(type)) return frames_.write(destination, make_partial(type, arguments));
  if (is_tuple_class(type) && arguments.keywords.empty() && arguments.positional.size() == 1) {
    Av tuple = containers_.make_tuple_av(iterators_.items_of(arguments.positional[0]));
    as<VTuple>(tuple)->type = Local<Type>(type);
    return frames_.write(destination, tuple);
  }
  if (is_dict_class(type, false)) return frames_.write(destination, make_dict_of(type, arguments));
  if (type->type_flags & kHasFinalizer) break_here(BreakReason::unknown_call, type->name + "(), which has __del__");
  const bool has_script_layout =
      type->layout == Kind::Instance || type->layout == Kind::Tuple || type->layout == Kind::BoxedNumber;
  const bool by_script =
      (type->type_flags & kScriptClass) && has_script_layout && type->type->slots.call == vm_.types().type->slots.call;
  if (by_script && type->slots.construct) return construct_by_new(type, std::move(arguments), destination);
  const bool is_dict = is_dict_class(type, true);
  if (!is_dict && (!by_script || type->layout != Kind::Instance || (type->type_flags & kAbstractClass)))
    break_here(BreakReason::unknown_call, type->name + "()");
  const Value* init = attributes_.class_attribute(type, vm_.names().init.get(), nullptr);
  CallArguments none;
  Av self;
  if (is_dict) {
    self = make_dict_of(type, none);
  } else {
    auto instance = make<VInstance>();
    instance->type = Local<Type>(type);
    self = Av::of(instance);
  }
  if (!init || !is_kind(*init, Kind::Function)) {
    if (!arguments.positional.empty() || !arguments.keywords.empty())
      break_here(BreakReason::unknown_call, type->name + "()");
    return frames_.write(destination, self);
  }
  arguments.positional.insert(arguments.positional.begin(), self);
  size_t depth = frames_.frame_count();
  call(Av::constant(*init), std::move(arguments), destination, true);
  frames_.frame_at(depth).constructed = self;
}

void Calls::call_object(const Av& callee, CallArguments arguments, uint16_t destination, bool discard_result) {
  Type* type = attributes_.type_of_av(callee);
  const Value* method = attributes_.class_attribute(type, vm_.names().call.get(), nullptr);
  if (!method || !is_kind(*method, Kind::Function)) break_here(BreakReason::unknown_call, "call of a " + type->name);
  arguments.positional.insert(arguments.positional.begin(), callee);
  call(Av::constant(*method), std::move(arguments), destination, discard_result);
}

// ---- calls of script functions ----

namespace {

constexpr size_t kMaxDepth = 200;

const Av* find_keyword(const CallArguments& arguments, const std::string& name) {
  for (const auto& [key, value] : arguments.keywords)
    if (key->view() == name) return &value;
  return nullptr;
}

// What a parameter *row gets: the positional arguments that are left, or the value that is given by its name.
std::vector<Av> row_of_items(Vm& vm, const AFrame& frame, const lang::ParameterList& list,
                             const CallArguments& arguments, size_t& used_keywords) {
  const std::string& name = list.names[list.positional + list.keyword_only];
  const Av* named = list.has_varkwargs ? nullptr : find_keyword(arguments, name);
  if (named && arguments.positional.size() <= list.positional &&
      names_the_row(vm, frame.module.get(), list, intern(vm, name).get())) {
    ++used_keywords;
    return {*named};
  }
  if (arguments.positional.size() <= list.positional) return {};
  return {arguments.positional.begin() + list.positional, arguments.positional.end()};
}

}  // namespace

// Errors of binding are the interpreter's to raise: capture only leaves.
void Calls::bind_arguments(const lang::CodeObject& code, AFrame& frame, CallArguments& arguments,
                           const std::vector<Av>& defaults, const std::vector<Av>& keyword_defaults,
                           const std::string& name) {
  const lang::ParameterList& list = code.parameters;
  for (size_t i = 0; i < arguments.keywords.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (arguments.keywords[i].first->view() == arguments.keywords[k].first->view())
        break_here(BreakReason::raises, "TypeError: a keyword argument twice");
  auto fail = [&] { break_here(BreakReason::raises, "TypeError: arguments of " + name + "()"); };
  for (auto& [key, value] : arguments.keywords) {
    if (list.has_varkwargs || std::find(list.names.begin(), list.names.end(), key->view()) != list.names.end())
      continue;
    if (StrObject* parameter = other_spelling(vm_, frame.module.get(), list, key.get()))
      key = Local<StrObject>(parameter);
  }
  size_t used_keywords = 0;
  for (uint32_t i = 0; i < list.positional; ++i) {
    const Av* keyword = i >= list.positional_only ? find_keyword(arguments, list.names[i]) : nullptr;
    if (i < arguments.positional.size()) {
      if (keyword) fail();
      frame.registers[i] = arguments.positional[i];
    } else if (keyword) {
      frame.registers[i] = *keyword;
      ++used_keywords;
    } else {
      size_t first = list.positional - defaults.size();
      if (i < first) fail();
      frame.registers[i] = defaults[i - first];
    }
  }
  uint32_t reg = list.positional;
  for (uint32_t i = 0; i < list.keyword_only; ++i, ++reg) {
    if (const Av* keyword = find_keyword(arguments, list.names[reg])) {
      frame.registers[reg] = *keyword;
      ++used_keywords;
    } else {
      if (i >= keyword_defaults.size() || keyword_defaults[i].is_undefined()) fail();
      frame.registers[reg] = keyword_defaults[i];
    }
  }
  if (list.has_varargs) {
    std::vector<Av> rest = row_of_items(vm_, frame, list, arguments, used_keywords);
    frame.registers[reg++] = containers_.make_tuple_av(std::move(rest));
  } else if (arguments.positional.size() > list.positional) {
    fail();
  }
  if (list.has_varkwargs) {
    auto dict = make<VDict>();
    for (auto& [key, value] : arguments.keywords) {
      bool named = false;
      for (uint32_t i = list.positional_only; i < list.positional + list.keyword_only; ++i)
        named |= list.names[i] == key->view();
      if (!named) dict->items.push_back({Av::constant(key.value()), value});
    }
    frame.registers[reg] = Av::of(dict);
  } else if (used_keywords != arguments.keywords.size()) {
    fail();
  }
}

void Calls::push_call(const Av& function, AFrame frame, CallArguments& arguments, uint16_t destination,
                      bool discard_result) {
  if (frames_.frame_count() >= kMaxDepth) break_here(BreakReason::too_large, "call depth");
  prepare_code(vm_, frame.code);
  const lang::CodeObject& code = *frame.code->code;
  // One that is dropped half way runs its handlers then; capture does not know when.
  if (code.is_generator && !code.exceptions.empty())
    break_here(BreakReason::instruction, "a generator with try or with");
  frame.function = function;
  frame.registers.resize(code.register_count);
  frame.destination = destination;
  frame.discard_result = discard_result;
  frame.call_origin = builder_.origin = frames_.current_origin();
  std::vector<Av> defaults, keyword_defaults;
  if (VFunction* made = as<VFunction>(function)) {
    defaults = made->defaults;
    keyword_defaults = made->keyword_defaults;
    frame.closure = made->closure;
  } else {
    FunctionObject* host = frame.host_function.get();
    for (const Value& v : host->defaults) defaults.push_back(Av::constant(v));
    for (const Value& v : host->keyword_defaults) keyword_defaults.push_back(Av::constant(v));
    for (const Local<CellObject>& cell : host->closure) frame.closure.push_back(Av::constant(cell.value()));
  }
  bind_arguments(code, frame, arguments, defaults, keyword_defaults, code.name);
  if (code.is_generator) {
    std::shared_ptr<VIterator> generator = iterators_.make_lazy(VIterator::Form::Generator);
    generator->suspended = std::make_shared<AFrame>(std::move(frame));
    if (!discard_result) frames_.write(destination, Av::of(generator));
    return;
  }
  frames_.push_frame(std::move(frame));
}

void Calls::call(const Av& callee, CallArguments arguments, uint16_t destination, bool discard_result) {
  if (VBoundMethod* bound = as<VBoundMethod>(callee)) {
    Av function = bound->function;
    arguments.positional.insert(arguments.positional.begin(), bound->self);
    return call(function, std::move(arguments), destination, discard_result);
  }
  if (VFunction* made = as<VFunction>(callee)) {
    AFrame frame;
    frame.code = made->code;
    frame.module = made->module;
    return push_call(callee, std::move(frame), arguments, destination, discard_result);
  }
  if (is_virtual(callee, VirtualKind::Partial) || (callee.is_constant() && as_plain_partial(callee.value)))
    return call_partial(callee, std::move(arguments), destination, discard_result);
  if (is_virtual(callee, VirtualKind::Instance))
    return call_object(callee, std::move(arguments), destination, discard_result);
  if (!callee.is_constant() || !callee.value.is_object())
    break_here(BreakReason::unknown_call, "the callee is not known");
  Object* object = callee.value.object();
  if (object->kind == Kind::BoundMethod) {
    BoundMethod* bound = cast<BoundMethod>(callee.value);
    arguments.positional.insert(arguments.positional.begin(), Av::constant(bound->self));
    return call(Av::constant(bound->function), std::move(arguments), destination, discard_result);
  }
  if (object->kind == Kind::Function) {
    FunctionObject* function = cast<FunctionObject>(callee.value);
    if (const std::string* refusal = refusal_of(function)) break_here(BreakReason::asked, *refusal);
    cells_.assume_unchanged(function, Value());
    AFrame frame;
    frame.code = function->code;
    frame.module = function->module;
    frame.host_function = Local<FunctionObject>(function);
    prepare_code(vm_, frame.code);
    const bool returns = !discard_result && !frame.code->code->is_generator;
    SeenCall* seen = returns && builder_.open_blocks() == 0 ? repeats_.seen_call(function, arguments) : nullptr;
    if (!seen) return push_call(callee, std::move(frame), arguments, destination, discard_result);
    if (repeats_.repeat_call(*seen, function, arguments, destination)) return;
    std::unique_ptr<CallRecorder> recorder = repeats_.recorder_for(*seen, function, arguments);
    push_call(callee, std::move(frame), arguments, destination, discard_result);
    return repeats_.begin_call(*seen, std::move(recorder));
  }
  if (object->kind == Kind::NativeFunction) {
    Av result = call_native(cast<NativeFunction>(callee.value), arguments, destination);
    if (!discard_result && !result.is_undefined()) frames_.write(destination, result);
    return;
  }
  if (object->kind == Kind::Type) return construct(cast<Type>(callee.value), arguments, destination);
  call_object(callee, std::move(arguments), destination, discard_result);
}

// Tensor operators that are library functions: the installed script function is called inline.
void Calls::call_library(const char* name, std::vector<Av> arguments, uint16_t destination) {
  Local<StrObject> key = intern(vm_, name);
  const Value* method = lookup_in_type(tensor_state_.tensor_type, key.get());
  if (!method) break_here(BreakReason::raises, "torch is not imported");
  CallArguments call_arguments;
  call_arguments.positional = std::move(arguments);
  call(Av::constant(*method), std::move(call_arguments), destination, destination == kNoDestination);
}

}  // namespace tsc::interp
