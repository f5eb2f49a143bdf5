#include "interpreter/vm/exception_groups.h"

#include <unordered_set>

#include "interpreter/vm/call.h"
#include "interpreter/vm/slow_ops.h"

namespace tsc::interp {

bool is_group(Vm& vm, const Value& v) {
  return is_kind(v, Kind::Exception) && v.object()->type->is_subtype_of(vm.exceptions().BaseExceptionGroup);
}

const Value& group_message(const ExceptionObject* group) { return group->group->items[0]; }

std::span<const Value> group_exceptions(const ExceptionObject* group) {
  if (!group->group) return {};
  return cast<TupleObject>(group->group->items[1])->span();
}

Value make_group(Vm& vm, std::string_view message, const Value& exceptions) {
  return call(vm, Value(vm.exceptions().BaseExceptionGroup), {str_value(vm, message), exceptions});
}

namespace {

// The notes of a part are a list of its own: a note added to it is not one of the whole.
void copy_notes(Vm& vm, ExceptionObject* from, ExceptionObject* to) {
  const Local<StrObject> name = intern(vm, "__notes__");
  const Value notes = find_attribute(vm, Value(from), name.get());
  if (notes.is_undefined() || !type_of(vm, notes)->slots.get_item || is_kind(notes, Kind::Dict)) return;
  set_attribute(vm, Value(to), name.get(), to_list(vm, notes).take());
}

// A group of some exceptions of another; None of none.
Value part_of(Vm& vm, ExceptionObject* whole, Local<ListObject> exceptions) {
  if (exceptions->items.empty()) return Value::none();
  Value made = call_method(vm, Value(whole), "derive", {exceptions.take()});
  if (!is_group(vm, made)) raise_type_error(vm, "derive must return an instance of BaseExceptionGroup");
  auto* part = cast<ExceptionObject>(made);
  part->traceback = whole->traceback;
  part->context = whole->context;
  part->cause = whole->cause;
  part->suppress_context = true;
  copy_notes(vm, whole, part);
  return made;
}

bool is_exception_class(Vm& vm, const Value& v) {
  const Type* type = try_cast<Type>(v);
  return type && type->is_subtype_of(vm.exceptions().BaseException);
}

bool is_instance_of(const ExceptionObject* exception, std::span<const Value> classes) {
  for (const Value& one : classes)
    if (exception->type->is_subtype_of(cast<Type>(one))) return true;
  return false;
}

std::vector<Value> classes_of(const Value& condition) {
  if (auto* tuple = try_cast<TupleObject>(condition)) return {tuple->span().begin(), tuple->span().end()};
  return {condition};
}

TakesException of_classes(std::vector<Value> classes) {
  return [classes = std::move(classes)](ExceptionObject* e) { return is_instance_of(e, classes); };
}

}  // namespace

GroupParts split_group(Vm& vm, ExceptionObject* exception, const TakesException& takes, bool with_rest) {
  vm.check_native_stack();
  if (takes(exception)) return {Value(exception), Value::none()};
  if (!is_group(vm, Value(exception))) return {Value::none(), with_rest ? Value(exception) : Value::none()};
  Local<ListObject> match = make_list(vm), rest = make_list(vm);
  for (const Value& one : group_exceptions(exception)) {
    const GroupParts parts = split_group(vm, cast<ExceptionObject>(one), takes, with_rest);
    if (!parts.match.is_none()) list_append(vm, match.get(), parts.match);
    if (!parts.rest.is_none()) list_append(vm, rest.get(), parts.rest);
  }
  GroupParts result;
  result.match = part_of(vm, exception, std::move(match));
  result.rest = part_of(vm, exception, std::move(rest));
  return result;
}

TakesException group_condition(Vm& vm, const Value& condition) {
  if (is_kind(condition, Kind::Function))
    return [&vm, condition](ExceptionObject* e) { return truth(vm, call(vm, condition, {Value(e)})); };
  std::vector<Value> classes = classes_of(condition);
  const bool is_tuple = !is_kind(condition, Kind::Tuple) || condition.object()->type == vm.types().tuple;
  for (const Value& one : classes)
    if (!is_tuple || !is_exception_class(vm, one))
      raise_type_error(vm, "expected a function, exception type or tuple of exception types");
  return of_classes(std::move(classes));
}

namespace {

void check_star_classes(Vm& vm, std::span<const Value> classes) {
  for (const Value& one : classes) ops::class_to_catch(vm, one);
  for (const Value& one : classes)
    if (cast<Type>(one)->is_subtype_of(vm.exceptions().BaseExceptionGroup))
      raise_type_error(vm, "catching ExceptionGroup with except* is not allowed. Use except instead.");
}

// By the method `split`, which a class may have of its own.
GroupParts split_by_method(Vm& vm, const Value& group, const Value& classes) {
  const Value pair = call_method(vm, group, "split", {classes});
  const auto* parts = try_cast<TupleObject>(pair);
  const std::string name = type_name(vm, group);
  if (!parts) raise_type_error(vm, name + ".split must return a tuple, not " + type_name(vm, pair));
  if (parts->size < 2)
    raise_type_error(vm, name + ".split must return a 2-tuple, got tuple of size " + std::to_string(parts->size));
  for (const Value& part : parts->span().first(2))
    if (!part.is_none() && !is_kind(part, Kind::Exception))
      raise_type_error(vm, name + ".split must return exceptions or None, not " + type_name(vm, part));
  return {parts->items[0], parts->items[1]};
}

}  // namespace

GroupParts match_group(Vm& vm, const Value& exception, const Value& classes) {
  const std::vector<Value> all = classes_of(classes);
  check_star_classes(vm, all);
  if (exception.is_none()) return {Value::none(), Value::none()};
  if (is_instance_of(cast<ExceptionObject>(exception), all)) {
    if (is_group(vm, exception)) return {exception, Value::none()};
    return {make_group(vm, "", make_tuple(vm, std::span(&exception, 1)).take()), Value::none()};
  }
  if (is_group(vm, exception)) return split_by_method(vm, exception, classes);
  return {Value::none(), exception};
}

namespace {

bool is_same_place(const ExceptionObject* a, const ExceptionObject* b) {
  if (a->traceback.size() != b->traceback.size()) return false;
  for (size_t i = 0; i < a->traceback.size(); ++i)
    if (a->traceback[i].code != b->traceback[i].code || a->traceback[i].pc != b->traceback[i].pc) return false;
  return true;
}

bool is_same_link(const Value& a, const Value& b) {
  const bool none = a.is_undefined() || a.is_none();
  return none ? b.is_undefined() || b.is_none() : a.is(b);
}

// A part of the original, raised again as it was: it has not passed another `raise`.
bool is_part_of(Vm& vm, const Value& raised, ExceptionObject* original) {
  if (!is_group(vm, raised)) return false;
  auto* part = cast<ExceptionObject>(raised);
  return is_same_place(part, original) && is_same_link(part->cause, original->cause) &&
         is_same_link(part->context, original->context);
}

void collect_leaves(Vm& vm, ExceptionObject* exception, std::unordered_set<const ExceptionObject*>& leaves) {
  vm.check_native_stack();
  if (!is_group(vm, Value(exception))) leaves.insert(exception);
  for (const Value& one : group_exceptions(exception)) collect_leaves(vm, cast<ExceptionObject>(one), leaves);
}

}  // namespace

Value gather_raised(Vm& vm, ExceptionObject* original, std::span<const Value> raised) {
  if (!is_group(vm, Value(original))) return raised[0];
  Local<ListObject> fresh = make_list(vm);
  std::unordered_set<const ExceptionObject*> again;
  for (const Value& one : raised) {
    if (one.is_none()) continue;
    if (is_part_of(vm, one, original)) collect_leaves(vm, cast<ExceptionObject>(one), again);
    else list_append(vm, fresh.get(), one);
  }
  Value parts = Value::none();
  if (!again.empty())
    parts = split_group(vm, original, [&](ExceptionObject* e) { return again.contains(e); }, false).match;
  if (fresh->items.empty()) return parts;
  if (!parts.is_none()) list_append(vm, fresh.get(), parts);
  return fresh->items.size() > 1 ? make_group(vm, "", fresh.take()) : fresh->items[0];
}

}  // namespace tsc::interp
