// BaseExceptionGroup and ExceptionGroup.
#include "interpreter/vm/exception_groups.h"

#include "interpreter/builtins/builtins.h"

namespace tsc::interp {
namespace {

bool holds_only_exceptions(Vm& vm, std::span<const Value> all) {
  for (const Value& one : all)
    if (!one.object()->type->is_subtype_of(vm.exceptions().Exception)) return false;
  return true;
}

Local<TupleObject> checked_exceptions(Vm& vm, const Value& given) {
  const std::string what = "second argument (exceptions) ";
  if (!type_of(vm, given)->slots.get_item || is_kind(given, Kind::Dict))
    raise_type_error(vm, what + "must be a sequence");
  Local<TupleObject> all = to_tuple(vm, given);
  if (all->size == 0) raise_value_error(vm, what + "must be a non-empty sequence");
  for (uint32_t i = 0; i < all->size; ++i)
    if (!is_kind(all->items[i], Kind::Exception))
      raise_value_error(vm, "Item " + std::to_string(i) + " of " + what + "is not an exception");
  return all;
}

// What is made of BaseExceptionGroup is an ExceptionGroup where all are Exceptions.
Type* group_class(Vm& vm, Type* type, std::span<const Value> exceptions) {
  const ExceptionTypes& types = vm.exceptions();
  if (holds_only_exceptions(vm, exceptions)) return type == types.BaseExceptionGroup ? types.ExceptionGroup : type;
  if (type == types.ExceptionGroup) raise_type_error(vm, "Cannot nest BaseExceptions in an ExceptionGroup");
  if (type->is_subtype_of(types.Exception)) raise_type_error(vm, "Cannot nest BaseExceptions in '" + type->name + "'");
  return type;
}

Value construct_group(Vm& vm, Type* type, Args& args) {
  const std::string function = "BaseExceptionGroup.__new__() ";
  if (args.count != 2)
    raise_type_error(vm, function + "takes exactly 2 arguments (" + std::to_string(args.count) + " given)");
  if (!is_kind(args[0], Kind::Str))
    raise_type_error(vm, function + "argument 1 must be str, not " + type_name(vm, args[0]));
  Local<TupleObject> exceptions = checked_exceptions(vm, args[1]);
  Local<ExceptionObject> made = make_exception(vm, group_class(vm, type, exceptions->span()), args.span());
  const Value parts[] = {args[0], exceptions.value()};
  made->group = make_tuple(vm, parts);
  return made.take();
}

Value text(Vm& vm, const Value& self) {
  const auto* group = cast<ExceptionObject>(self);
  if (!group->group) return str_value(vm, "");
  const size_t count = group_exceptions(group).size();
  return str_value(vm, to_string(vm, group_message(group)) + " (" + std::to_string(count) + " sub-exception" +
                           (count == 1 ? ")" : "s)"));
}

Value message(Vm&, const Value& self) {
  const auto* group = cast<ExceptionObject>(self);
  return group->group ? group_message(group) : Value::none();
}
Value exceptions(Vm&, const Value& self) {
  const auto* group = cast<ExceptionObject>(self);
  return group->group ? group->group->items[1] : Value::none();
}
void read_only(Vm& vm, const Value&, const Value&) { raise(vm, vm.exceptions().AttributeError, "readonly attribute"); }

Value derive(Vm& vm, Args& a) { return call(vm, Value(vm.exceptions().BaseExceptionGroup), {message(vm, a[0]), a[1]}); }
Value split(Vm& vm, Args& a) {
  const GroupParts parts = split_group(vm, cast<ExceptionObject>(a[0]), group_condition(vm, a[1]), true);
  const Value pair[] = {parts.match, parts.rest};
  return make_tuple(vm, pair).take();
}
Value subgroup(Vm& vm, Args& a) {
  return split_group(vm, cast<ExceptionObject>(a[0]), group_condition(vm, a[1]), false).match;
}
Value class_item(Vm& vm, Args& a) { return make_generic_alias(vm, a[0], a[1]); }

}  // namespace

void add_group_members(TypeBuilder& type) {
  type.slots().construct = construct_group;
  type.slots().to_str = text;
  type.getter("message", message, read_only)
      .getter("exceptions", exceptions, read_only)
      .method("derive", "self, excs, /", derive)
      .method("split", "self, condition, /", split)
      .method("subgroup", "self, condition, /", subgroup)
      .class_method("__class_getitem__", "cls, item, /", class_item);
}

}  // namespace tsc::interp
