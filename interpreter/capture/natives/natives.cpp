// Symbolic forms of the builtin functions and types: what asks for the kind of a value, or has an instruction for it. A
// form receives the arguments bound to the native's signature, or as they stand for natives without one.
#include <algorithm>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/capture/outside/structures.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/values/texts.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/vm/shown_class.h"
#include "lang/library_file.h"

namespace tsc::interp {

bool is_instance_of_class(Capture& capture, const Av& av, const Av& classes) {
  if (!classes.is_constant()) {
    for (const Av& one : capture.iterators().items_of(classes))
      if (is_instance_of_class(capture, av, one)) return true;
    return false;
  }
  if (is_kind(classes.value, Kind::Tuple)) {
    for (const Value& one : cast<TupleObject>(classes.value)->span())
      if (is_instance_of_class(capture, av, Av::constant(one))) return true;
    return false;
  }
  Type* wanted = try_cast<Type>(classes.value);
  if (!wanted) break_here(BreakReason::raises, "TypeError: isinstance");
  Vm& vm = capture.vm();
  Type* type = capture.attributes().type_of_av(av);
  capture.attributes().assume_class(av);
  if (type == wanted) return true;
  Type* owner = nullptr;
  const Value* hook = lookup_in_type(wanted->type, intern(vm, "__instancecheck__"), &owner);
  const bool is_asked = hook && owner != vm.types().type;
  // That of abstract classes knows more classes than inherit, and none fewer.
  const auto* function = is_asked ? try_cast<FunctionObject>(*hook) : nullptr;
  const bool adds_to_subclasses = function && lang::is_library_file(function->code->code.signature().file());
  if (type->is_subtype_of(wanted) && (!is_asked || adds_to_subclasses)) return true;
  if (is_asked) break_here(BreakReason::unknown_call, "__instancecheck__ of " + wanted->name);
  // What stands for another object, as a weak proxy does, says so by its __class__.
  const bool is_proxy = av.is_constant() && is_kind(av.value, Kind::Native) && type->slots.get_attribute;
  if (is_proxy || defines_shown_class(vm, type))
    break_here(BreakReason::unknown_object, "isinstance() of a " + type->name);
  return false;
}

namespace {

using Arguments = CallArguments;

// Other counts of arguments, and keywords, are the interpreter's to take or refuse.
void expect_at_most(const Arguments& arguments, size_t most, const char* name, bool keywords = false) {
  if (arguments.positional.size() > most || (!keywords && !arguments.keywords.empty()))
    break_here(BreakReason::unknown_call, std::string(name) + "() with these arguments");
}

Av checked_length(Capture& capture, const Av& count) {
  const bool good = count.is_constant() ? count.value.is_int() && count.value.as_int() >= 0
                                        : count.is_number() && count.scalar_kind == jit::ValueKind::Int &&
                                              capture.conditions().assume_nonnegative(count.id);
  if (!good) break_here(BreakReason::raises, "__len__() of another kind");
  return count;
}

}  // namespace

Av Containers::length_of(const Av& av) {
  Capture& capture = capture_;
  if (is_virtual(av, VirtualKind::List) && av.object->unread)
    return capture.structures().length_of_unread(static_cast<VList&>(*av.object));
  if (as<VIterator>(av)) break_here(BreakReason::raises, "TypeError: len() of an iterator");
  if (std::optional<Av> own = capture.calls().call_own("__len__", {av})) return checked_length(capture, *own);
  if (VTensor* tensor = capture.tensors().tensor_of(av)) {
    const jit::Type& type = capture.builder().region().type(capture.tensors().current(*tensor));
    if (type.sizes.empty()) break_here(BreakReason::raises, "len() of a 0-d tensor");
    return capture.numbers().int_av(type.sizes[0]);
  }
  if (av.is_constant() && capture.numbers().is_plain_data(av.value)) return Av::integer(length(capture.vm(), av.value));
  if (capture.operators().is_script_instance(av)) break_here(BreakReason::raises, "TypeError: it has no len()");
  if (VSet* set = as<VSet>(av)) return Av::integer(static_cast<int64_t>(set->items.size()));
  return Av::integer(static_cast<int64_t>(capture.iterators().items_of(av).size()));
}

namespace {

Av call_len(Capture& capture, Arguments& arguments) { return capture.containers().length_of(arguments.positional[0]); }

Av call_isinstance(Capture& capture, Arguments& arguments) {
  return Av::boolean(is_instance_of_class(capture, at(arguments, 0), at(arguments, 1)));
}

Av call_issubclass(Capture& capture, Arguments& arguments) {
  Type* type = at(arguments, 0).is_constant() ? try_cast<Type>(at(arguments, 0).value) : nullptr;
  Type* wanted = at(arguments, 1).is_constant() ? try_cast<Type>(at(arguments, 1).value) : nullptr;
  if (!type || !wanted) break_here(BreakReason::unknown_call, "issubclass() with these arguments");
  Type* owner = nullptr;
  if (lookup_in_type(wanted->type, intern(capture.vm(), "__subclasscheck__").get(), &owner) &&
      owner != capture.vm().types().type)
    break_here(BreakReason::unknown_call, "__subclasscheck__ of " + wanted->name);
  return Av::boolean(type->is_subtype_of(wanted));
}

Av call_range(Capture& capture, Arguments& arguments) {
  auto range = capture.make<VRange>();
  size_t n = arguments.positional.size();
  expect_at_most(arguments, 3, "range");
  for (const Av& av : arguments.positional)
    if (!av.is_constant_int() && !(av.is_number() && av.scalar_kind == jit::ValueKind::Int))
      break_here(BreakReason::raises, "range() of what is no int");
  if (n == 0 || (n > 2 && !capture.numbers().truth(at(arguments, 2)))) break_here(BreakReason::raises, "range()");
  range->start = n > 1 ? at(arguments, 0) : Av::integer(0);
  range->stop = n > 1 ? at(arguments, 1) : at(arguments, 0);
  range->step = n > 2 ? at(arguments, 2) : Av::integer(1);
  return Av::of(range);
}

Av call_iter(Capture& capture, Arguments& arguments) {
  return at(arguments, 1).is_undefined() ? capture.iterators().iterate(at(arguments, 0)) : capture.calls().decline();
}

Av call_next(Capture& capture, Arguments& arguments) {
  expect_at_most(arguments, 2, "next");
  VIterator* iterator = as<VIterator>(at(arguments, 0));
  if (!iterator) break_here(BreakReason::unknown_object, "next() of an unknown iterator");
  Av out;
  if (capture.iterators().next(*iterator, &out)) return out;
  if (at(arguments, 1).is_undefined()) break_here(BreakReason::raises, "StopIteration");
  return at(arguments, 1);
}

Av call_reversed(Capture& capture, Arguments& arguments) {
  const Av& av = at(arguments, 0);
  if (std::optional<Av> own = capture.calls().call_own("__reversed__", {av})) return *own;
  const bool has_native =
      lookup_in_type(capture.attributes().type_of_av(av), intern(capture.vm(), "__reversed__").get()) != nullptr;
  if (!has_native && capture.calls().own_method(av, "__len__") && capture.calls().own_method(av, "__getitem__"))
    return capture.calls().decline();
  capture.calls().refuse_override(av, {"__len__"});
  if (!capture.containers().is_sequence(av) && !as<VRange>(av) && !as<VDictView>(av) &&
      !capture.containers().is_dict(av) && !capture.tensors().tensor_of(av))
    break_here(BreakReason::unknown_call, "reversed()");
  if (as<VRange>(av)) return capture.iterators().iterate_later(av, true);
  std::shared_ptr<VIterator> iterator = capture.iterators().make_lazy(VIterator::Form::Items);
  capture.iterators().begin(*iterator, at(arguments, 0), true);
  return Av::of(iterator);
}

Av call_tuple(Capture& capture, Arguments& arguments) {
  expect_at_most(arguments, 1, "tuple");
  if (arguments.positional.size() == 1 && capture.containers().is_sequence_of(arguments.positional[0], Kind::Tuple) &&
      capture.attributes().type_of_av(arguments.positional[0]) == capture.vm().types().tuple)
    return arguments.positional[0];
  return capture.containers().make_tuple_av(
      arguments.positional.empty() ? std::vector<Av>() : capture.iterators().items_of(at(arguments, 0)));
}

Av call_list(Capture& capture, Arguments& arguments) {
  expect_at_most(arguments, 1, "list");
  return capture.containers().make_list_av(
      arguments.positional.empty() ? std::vector<Av>() : capture.iterators().items_of(at(arguments, 0)));
}

Av call_size(Capture& capture, Arguments& arguments) {
  expect_at_most(arguments, 1, "Size");
  Av tuple = capture.containers().make_tuple_av(
      arguments.positional.empty() ? std::vector<Av>() : capture.iterators().items_of(at(arguments, 0)));
  for (const Av& size : as<VTuple>(tuple)->items)
    if (capture.attributes().type_of_av(size) != capture.vm().types().integer)
      break_here(BreakReason::unknown_object, "a size that is no int");
  as<VTuple>(tuple)->type = Local<Type>(tensor_state(capture.vm()).size_type);
  return tuple;
}

Av call_int(Capture& capture, Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.keywords.empty()) return capture.calls().decline();
  Av av = at(arguments, 0);
  if (VTensor* tensor = capture.tensors().tensor_of(av)) av = capture.tensors().read_item(*tensor);
  if (const Av plain = capture.operators().without_class(av, {"__int__", "__index__", "__trunc__"});
      plain.is_constant() && plain.value.is_int() && !is_same(plain, av))
    return plain;
  if (!av.is_number()) return capture.calls().decline();
  if (av.scalar_kind == jit::ValueKind::Int) return av;
  if (av.scalar_kind == jit::ValueKind::Bool) return capture.numbers().scalar(jit::ScalarOp::add, {av, Av::integer(0)});
  return capture.numbers().scalar(jit::ScalarOp::float_to_int, {av});
}

Av call_float(Capture& capture, Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.keywords.empty()) return capture.calls().decline();
  Av av = at(arguments, 0);
  if (VTensor* tensor = capture.tensors().tensor_of(av)) av = capture.tensors().read_item(*tensor);
  if (!av.is_number()) return capture.calls().decline();
  if (av.scalar_kind == jit::ValueKind::Float) return av;
  return capture.numbers().scalar(jit::ScalarOp::mul, {av, Av::constant(Value::real(1.0))});
}

Av call_bool(Capture& capture, Arguments& arguments) {
  expect_at_most(arguments, 1, "bool");
  if (arguments.positional.empty()) return Av::boolean(false);
  const Av& av = arguments.positional[0];
  if (!capture.numbers().only_run_knows(av)) return Av::boolean(capture.numbers().truth(av));
  return Av::number(jit::ValueKind::Bool, capture.numbers().truth_in_region(av), Value());
}

Av call_abs(Capture& capture, Arguments& arguments) {
  return capture.operators().unary(UnaryOp::Absolute, at(arguments, 0));
}

// Of numbers that only running can tell, or that may differ: one instruction and no condition.
Av fold_extreme(Capture& capture, Arguments& arguments, jit::ScalarOp op) {
  const std::vector<Av>& items = arguments.positional;
  const auto is_whole = [&](const Av& av) {
    return av.is_number() ? av.scalar_kind == jit::ValueKind::Int : av.is_constant() && av.value.is_int();
  };
  if (items.size() < 2 || !arguments.keywords.empty() || !std::all_of(items.begin(), items.end(), is_whole) ||
      std::none_of(items.begin(), items.end(), [](const Av& av) { return av.is_number(); }))
    return capture.calls().decline();
  Av best = items[0];
  for (size_t i = 1; i < items.size(); ++i) best = capture.numbers().scalar(op, {best, items[i]});
  return best;
}

Av call_min(Capture& capture, Arguments& arguments) { return fold_extreme(capture, arguments, jit::ScalarOp::minimum); }
Av call_max(Capture& capture, Arguments& arguments) { return fold_extreme(capture, arguments, jit::ScalarOp::maximum); }

StrObject* name_argument(Capture& capture, const Av& av, Local<StrObject>* held) {
  if (const VText* text = as<VText>(av)) capture.structures().keep_text_whole(*text);
  if (!av.is_constant() || !is_kind(av.value, Kind::Str)) break_here(BreakReason::unknown_number, "attribute name");
  *held = intern(capture.vm(), cast<StrObject>(av.value));
  return held->get();
}

Av call_getattr(Capture& capture, Arguments& arguments) {
  Local<StrObject> held;
  expect_at_most(arguments, 3, "getattr");
  StrObject* name = name_argument(capture, at(arguments, 1), &held);
  if (arguments.positional.size() > 2)
    return capture.attributes().attribute_if_there(at(arguments, 0), name).value_or(at(arguments, 2));
  Av result = capture.attributes().get_attribute(at(arguments, 0), name);
  if (result.is_undefined()) capture.attributes().call_getter(at(arguments, 0), name, capture.calls().destination());
  return result;
}

Av call_hasattr(Capture& capture, Arguments& arguments) {
  Local<StrObject> held;
  StrObject* name = name_argument(capture, at(arguments, 1), &held);
  return Av::boolean(capture.attributes().has_attribute(at(arguments, 0), name));
}

Av call_has_own(Capture& capture, Arguments& arguments) {
  Local<StrObject> held;
  StrObject* name = name_argument(capture, at(arguments, 1), &held);
  return Av::boolean(capture.attributes().has_own(at(arguments, 0), name));
}

Av call_setattr(Capture& capture, Arguments& arguments) {
  Local<StrObject> held;
  StrObject* name = name_argument(capture, at(arguments, 1), &held);
  capture.attributes().set_attribute(at(arguments, 0), name, at(arguments, 2));
  return Av::none();
}

Av object_setattr(Capture& capture, Arguments& arguments) {
  Local<StrObject> held;
  StrObject* name = name_argument(capture, at(arguments, 1), &held);
  capture.attributes().set_plain_attribute(at(arguments, 0), name, at(arguments, 2));
  return Av::none();
}

Av object_new(Capture& capture, Arguments& arguments) {
  Type* type = arguments.positional.size() == 1 && at(arguments, 0).is_constant()
                   ? try_cast<Type>(at(arguments, 0).value)
                   : nullptr;
  const auto is_native = [&](const Type* t) {
    return !(t->type_flags & kScriptClass) && t != capture.vm().types().object;
  };
  if (!type || !arguments.keywords.empty() || type->layout != Kind::Instance ||
      (type->type_flags & (kAbstractClass | kHasFinalizer)) || !(type->type_flags & kScriptClass) ||
      std::any_of(type->mro.begin(), type->mro.end(), is_native))
    return capture.calls().decline();
  auto instance = capture.make<VInstance>();
  instance->type = Local<Type>(type);
  return Av::of(instance);
}

// What the __new__ of a named tuple calls: a tuple of that class, of known items.
Av tuple_new(Capture& capture, Arguments& arguments) {
  Type* type = arguments.positional.size() == 2 && at(arguments, 0).is_constant()
                   ? try_cast<Type>(at(arguments, 0).value)
                   : nullptr;
  if (!type || !arguments.keywords.empty() || type->layout != Kind::Tuple || !(type->type_flags & kScriptClass) ||
      (type->type_flags & kHasFinalizer))
    return capture.calls().decline();
  const Av tuple = capture.containers().make_tuple_av(capture.iterators().items_of(at(arguments, 1)));
  as<VTuple>(tuple)->type = Local<Type>(type);
  return tuple;
}

Av call_callable(Capture& capture, Arguments& arguments) {
  const Av& av = arguments.positional[0];
  if (as<VFunction>(av) || as<VBoundMethod>(av)) return Av::boolean(true);
  Type* type = capture.attributes().type_of_av(av);
  if (av.is_constant() && av.value.is_object()) switch (av.value.object()->kind) {
      case Kind::Function:
      case Kind::NativeFunction:
      case Kind::BoundMethod:
      case Kind::Type: return Av::boolean(true);
      default: break;
    }
  return Av::boolean(type->slots.call != nullptr);
}

Av call_type(Capture& capture, Arguments& arguments) {
  if (arguments.positional.size() != 1) break_here(BreakReason::unknown_call, "type()");
  capture.attributes().assume_class(arguments.positional[0]);
  return Av::constant(Value(capture.attributes().type_of_av(arguments.positional[0])));
}

Av call_super(Capture& capture, Arguments& arguments) {
  auto super = capture.make<VSuper>();
  if (arguments.positional.size() == 2) {
    Type* start = arguments.positional[0].is_constant() ? try_cast<Type>(arguments.positional[0].value) : nullptr;
    if (!start) break_here(BreakReason::unknown_call, "super()");
    super->start = Local<Type>(start);
    super->self = arguments.positional[1];
    const Av& self = super->self;
    const auto* type = self.is_constant() && is_kind(self.value, Kind::Type) ? cast<Type>(self.value) : nullptr;
    const Type* own = capture.attributes().type_of_av(self);
    if (!(own && own->is_subtype_of(start)) && !(type && type->is_subtype_of(start)))
      break_here(BreakReason::raises, "TypeError: super");
    return Av::of(super);
  }
  if (!arguments.positional.empty()) break_here(BreakReason::unknown_call, "super()");
  Av cell = capture.frames().class_cell();
  if (!cell.is_constant() || !is_kind(cell.value, Kind::Type)) break_here(BreakReason::unknown_call, "super()");
  super->start = Local<Type>(cast<Type>(cell.value));
  super->self = capture.frames().first_argument();
  return Av::of(super);
}

Av call_str(Capture& capture, Arguments& arguments) {
  expect_at_most(arguments, 1, "str");
  if (arguments.positional.empty()) return Av::constant(str_value(capture.vm(), ""));
  return capture.texts().text_of_value(at(arguments, 0), 1, "");
}

Av call_slice(Capture& capture, Arguments& arguments) {
  auto slice = capture.make<VSlice>();
  size_t n = arguments.positional.size();
  expect_at_most(arguments, 3, "slice");
  if (n == 0) break_here(BreakReason::raises, "TypeError: slice()");
  slice->start = n > 1 ? at(arguments, 0) : Av::none();
  slice->stop = n > 1 ? at(arguments, 1) : at(arguments, 0);
  slice->step = n > 2 ? at(arguments, 2) : Av::none();
  return Av::of(slice);
}

Av call_repr(Capture& capture, Arguments& arguments) {
  return capture.texts().text_of_value(arguments.positional[0], 2, "");
}

Av call_format(Capture& capture, Arguments& arguments) {
  const Av& spec = arguments.positional[1];
  if (!spec.is_constant() || !is_kind(spec.value, Kind::Str)) return capture.calls().decline();
  return capture.texts().text_of_value(arguments.positional[0], 0, std::string(cast<StrObject>(spec.value)->view()));
}

// Classes may have methods of their own for it.
Av call_divmod(Capture& capture, Arguments& arguments) {
  for (const Av& av : arguments.positional)
    if (!av.holds_number()) break_here(BreakReason::unknown_call, "divmod() of no numbers");
  // Its error is not that of the operators which it is made of.
  const Av& divisor = arguments.positional[1];
  const bool is_known = divisor.is_constant() && interp::truth(capture.vm(), divisor.value);
  const bool is_float = capture.attributes().type_of_av(arguments.positional[0]) == capture.vm().types().real ||
                        capture.attributes().type_of_av(divisor) == capture.vm().types().real;
  if (is_float && !is_known && !(arguments.positional[0].is_constant() && divisor.is_constant()))
    break_here(BreakReason::unknown_number, "divmod() by a float");
  return capture.calls().decline();
}

Av call_round(Capture& capture, Arguments& arguments) {
  const Av number = at(arguments, 0), digits = at(arguments, 1);
  if (!number.is_number()) return capture.calls().decline();
  if (number.scalar_kind != jit::ValueKind::Float) {
    if (digits.is_none() && number.scalar_kind == jit::ValueKind::Int) return number;
    break_here(BreakReason::unknown_call, "round() of an int");
  }
  if (digits.is_none())
    return capture.numbers().scalar(jit::ScalarOp::float_to_int,
                                    {capture.numbers().scalar(jit::ScalarOp::round, {number})});
  // Rounding to decimal digits goes through the number's text: the interpreter does it, and what becomes too large
  // raises.
  capture.effects().operation_may_raise();
  const Value round = dict_get(capture.vm(), capture.vm().builtins()->globals.get(), "round");
  HostAction action;
  action.reason = BreakReason::host_call;
  action.has_result = true;
  action.is_effect = false;
  action.result = jit::ValueKind::Float;
  return capture.effects().host_action_with_result(std::move(action), {Av::constant(round), number, digits});
}

using Runs = NativeRow::Runs;

constexpr NativeRow kBuiltins[] = {
    {"len", call_len},
    {"isinstance", call_isinstance},
    {"issubclass", call_issubclass},
    {"iter", call_iter, Runs::Lazily},
    {"next", call_next, Runs::Never, true},
    {"abs", call_abs},
    {"min", call_min, Runs::OnStandIns, true},
    {"max", call_max, Runs::OnStandIns, true},
    {"divmod", call_divmod, Runs::OnStandIns},
    {"round", call_round, Runs::OnValues},
    {"repr", call_repr},
    {"format", call_format},
    {"getattr", call_getattr, Runs::Never, true},
    {"hasattr", call_hasattr},
    {"_runtime.has_own", call_has_own},
    {"setattr", call_setattr},
    {"callable", call_callable},
    {"object.__setattr__", object_setattr},
    {"object.__new__", object_new, Runs::Never, true},
    {"tuple.__new__", tuple_new, Runs::Never, true},
    {"range", call_range},
    {"reversed", call_reversed, Runs::Lazily},
    {"tuple", call_tuple},
    {"list", call_list},
    {"dict", nullptr, Runs::OnStandIns},
    {"int", call_int, Runs::OnValues},
    {"float", call_float, Runs::OnValues},
    {"bool", call_bool},
    {"str", call_str},
    {"slice", call_slice},
    {"super", call_super},
    {"type", call_type},
    {"Size", call_size},
};

}  // namespace

std::span<const NativeRow> builtin_forms() { return kBuiltins; }

}  // namespace tsc::interp
