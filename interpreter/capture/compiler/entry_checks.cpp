// The check at entry: whether the values of a call are what a variant was made for.
#include <algorithm>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/program/counterparts.h"
#include "interpreter/modules/partial.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/vm/inspect.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/stops.h"

namespace tsc::interp {

namespace {

// The keys of a dict or the items of a set, in their order.
bool has_keys(const EntrySource& source, const Table& table) {
  if (source.length == EntrySource::kAnyLength) return true;
  if (table.size() != source.length) return false;
  size_t next = 0;
  for (uint32_t i = 0; i < table.used(); ++i) {
    const Value& key = table.entry(i).key;
    if (key.is_undefined()) continue;
    const Value& wanted = source.keys[next++];
    if (!key.is(wanted) && !are_one_text(key, wanted)) return false;
  }
  return true;
}

bool is_alike_partial(const EntrySource& source, const Value& v) {
  const Partial* partial = as_plain_partial(v);
  if (!partial || partial->type != source.expected.object() || partial->positional.size() != source.length ||
      partial->keywords.size() != source.keys.size())
    return false;
  for (size_t i = 0; i < source.keys.size(); ++i)
    if (partial->keywords[i].first.get() != source.keys[i].object()) return false;
  return true;
}

}  // namespace

// As Capture takes the object apart.
static Value part_of(const Value& whole, uint32_t index) {
  if (is_kind(whole, Kind::Cell)) return cast<CellObject>(whole)->content;
  if (is_kind(whole, Kind::BoundMethod))
    return index ? cast<BoundMethod>(whole)->self : cast<BoundMethod>(whole)->function;
  if (const Partial* partial = as_plain_partial(whole)) {
    if (index == 0) return partial->function;
    const size_t place = index - 1, count = partial->positional.size();
    return place < count ? partial->positional[place] : partial->keywords[place - count].second;
  }
  const FunctionObject* function = cast<FunctionObject>(whole);
  for (const std::vector<Value>* values : {&function->defaults, &function->keyword_defaults}) {
    if (index < values->size()) return (*values)[index];
    index -= static_cast<uint32_t>(values->size());
  }
  return function->closure[index].value();
}

bool EntryChecks::check_source(const EntrySource& source, const Value& v) const {
  using Check = EntrySource::Check;
  switch (source.check) {
    case Check::Nothing:
    case Check::Alias: return true;
    case Check::Same: return v.is(source.expected) || are_one_text(v, source.expected);
    case Check::Text: return is_kind(v, Kind::Str) && v.object()->type == vm_.types().str;
    case Check::Int: return v.is_int();
    case Check::Float: return v.is_float();
    case Check::Tensor: {
      if (!v.is_object() || v.object()->type != source.expected.object()) return false;
      TensorObject* tensor = cast<TensorObject>(v);
      if (tensor->view) refresh_history(vm_, tensor);
      return tensor_key(*tensor) == source.tensor_key;
    }
    case Check::Tuple:
      return is_bare_tuple(v) && v.object()->type == source.expected.object() &&
             cast<TupleObject>(v)->size == source.length;
    case Check::Method: return is_kind(v, Kind::BoundMethod);
    case Check::Cell: return is_kind(v, Kind::Cell);
    case Check::Set:
      return is_kind(v, Kind::Set) && v.object()->type == source.expected.object() &&
             has_keys(source, cast<SetObject>(v)->table);
    case Check::Partial: return is_alike_partial(source, v);
    case Check::Iterator:
    case Check::Instance: return v.is_object() && v.object()->type == source.expected.object();
    case Check::Function: {
      const FunctionObject* function = try_cast<FunctionObject>(v);
      return function && function->code.get() == source.expected.object() && is_plain_function(*function) &&
             function->defaults.size() == source.length && function->module.get() == source.keys[0].object();
    }
    case Check::List:
      return is_kind(v, Kind::List) && v.object()->type == vm_.types().list &&
             (source.length == EntrySource::kAnyLength || cast<ListObject>(v)->items.size() == source.length);
    case Check::Dict:
      return is_kind(v, Kind::Dict) && v.object()->type == vm_.types().dict &&
             has_keys(source, cast<DictObject>(v)->table);
  }
  return false;
}

Value EntryChecks::fetch(const EntrySource& source, const Frame& frame, const std::vector<Value>& entry) const {
  using Form = EntrySource::Form;
  switch (source.form) {
    case Form::Register: return frame.registers[source.index];
    case Form::Closure: return frame.function->closure[source.index].value();
    case Form::Item: {
      const Value& parent = entry[source.parent];
      if (is_kind(parent, Kind::Dict)) return dict_get(vm_, cast<DictObject>(parent), source.key);
      if (is_kind(parent, Kind::Tuple)) return cast<TupleObject>(parent)->items[source.index];
      return cast<ListObject>(parent)->items[source.index];
    }
    case Form::Length:
      return Value::integer(static_cast<int64_t>(cast<ListObject>(entry[source.parent])->items.size()));
    case Form::Attribute: {
      const Value& holder = source.holder.is_object() ? source.holder : entry[source.parent];
      return get_own_attribute(vm_, holder.object(), source.name.get());
    }
    case Form::Content: return cast<CellObject>(source.holder)->content;
    case Form::Namespace: {
      DictObject* dict = cast<DictObject>(source.holder);
      int64_t place = dict->table.find(vm_, source.name.get());
      return place < 0 ? Value() : dict->table.entry(static_cast<uint32_t>(place)).value;
    }
    case Form::Element: {
      ListObject* list = cast<ListObject>(source.holder);
      return source.index < list->items.size() ? list->items[source.index] : Value();
    }
    case Form::Gradient: {
      const Value& grad = cast<TensorObject>(entry[source.parent])->grad;
      return grad.is_undefined() ? Value::none() : grad;
    }
    case Form::Pinned: return source.holder;
    case Form::Part: return part_of(entry[source.parent], source.index);
    case Form::Copy: return copy_iterator(vm_, entry[source.parent]);
    case Form::Next: {
      Value item;
      try {
        iterate_next(vm_, entry[source.parent], item);
      } catch (const ScriptException& raised) {
        pass_on_stops(vm_, raised);
        // The region raises it, when it comes to this item.
        item.reset();
      }
      return item;
    }
  }
  return Value();
}

bool EntryChecks::fits(Variant& variant, const Frame& frame, EntryOfCall& call) {
  const RegionPlan& plan = variant.plan;
  if (!plan.is_for(compiler_.tensors().modes)) return false;
  if (plan.function.get() && plan.function.get() != frame.function) return false;
  if (variant.running) return false;
  EntryState& state = variant.entry;
  if (state.has_changes()) [[unlikely]]
    state.look_again(plan,
                     [&](uint32_t source) { return check_source(plan.sources[source], plan.sources[source].holder); });
  if (!state.held_fit()) return false;
  std::vector<Value>& values = call.values();
  for (uint32_t i : state.open_sources()) {
    const EntrySource& source = plan.sources[i];
    values[i] = fetch(source, frame, values);
    if (source.check == EntrySource::Check::Alias ? !values[i].is(values[source.length])
                                                  : !check_source(source, values[i]))
      return false;
  }
  return are_distinct(plan, values) && !state.has_twins(plan, values) && !state.overlaps(plan, values, ++epoch_);
}

namespace {

// Whether the region may know the dict that holds the attributes of an object by another way than this object.
bool is_reached_otherwise(const RegionPlan& plan, const std::vector<Value>& entry, const Object& object) {
  DictObject* const attributes = attribute_dict_of(&object);
  const auto is_it = [&](const Value& holder) { return holder.object() == attributes; };
  if (attributes->watched() || std::ranges::any_of(plan.foreign, is_it) || std::ranges::any_of(plan.read_anew, is_it))
    return true;
  return std::ranges::any_of(plan.containers, [&](uint32_t other) {
    const Object* one = entry[other].object();
    return one == attributes || (one != &object && attribute_dict_of(one) == attributes);
  });
}

}  // namespace

// Objects that were two while capturing are two now where that matters: what the region stores into a
// container must reach no other one that it knows the content of.
bool EntryChecks::are_distinct(const RegionPlan& plan, const std::vector<Value>& entry) {
  for (const auto& [left, right] : plan.different)
    if (entry[left].is(entry[right])) return false;
  // An object whose attributes others share by now is not the only place where they change.
  const auto shares = [](const Value& holder) {
    return !is_kind(holder, Kind::Dict) && shares_attributes(holder.object());
  };
  if (std::ranges::any_of(plan.foreign, shares) || std::ranges::any_of(plan.read_anew, shares)) return false;
  for (uint32_t container : plan.containers)
    if (shares(entry[container]) && is_reached_otherwise(plan, entry, *entry[container].object())) return false;
  for (const Value& holder : plan.foreign)
    for (uint32_t walked : plan.walked)
      if (walks_over(entry[walked], holder.object())) return false;
  for (const Value& holder : plan.foreign)
    for (uint32_t container : plan.containers)
      if (entry[container].is(holder)) return false;
  for (uint32_t written : plan.distinct) {
    if (entry[written].object()->watched()) return false;
    for (const Value& holder : plan.read_anew)
      if (entry[written].is(holder)) return false;
    for (uint32_t other : plan.containers)
      if (other != written && entry[other].is(entry[written])) return false;
    for (uint32_t walked : plan.walked)
      if (walks_over(entry[walked], entry[written].object())) return false;
  }
  return true;
}

}  // namespace tsc::interp
