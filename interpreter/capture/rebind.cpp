#include "interpreter/capture/rebind.h"

#include "interpreter/tensor/eager.h"
#include "interpreter/vm/inspect.h"
#include "interpreter/vm/operations.h"

namespace tsc::interp {

using Form = EntrySource::Form;
using Check = EntrySource::Check;

namespace {

template <class Materials, class Visit>
void visit_materials(Materials& materials, Visit&& visit) {
  for (auto& object : materials.objects) {
    for (auto& part : object.parts) visit(part.constant);
    visit(object.gradient.constant);
  }
}

// Every value of a plan that may be an object of the program other than a class, a function or code.
template <class Plan, class Visit>
void visit_values(Plan& plan, Visit&& visit) {
  for (auto& source : plan.sources) {
    visit(source.holder);
    visit(source.expected);
  }
  for (auto& watched : plan.watched) visit(watched.holder);
  for (auto& value : plan.foreign) visit(value);
  for (auto& value : plan.read_anew) visit(value);
  for (auto& action : plan.actions) {
    for (auto& recipe : action.values) visit(recipe.constant);
    visit_materials(action.materials, visit);
  }
  for (auto& exit : plan.exits) {
    for (auto& frame : exit.frames) {
      visit(frame.function_recipe.constant);
      visit(frame.constructed.constant);
      for (auto& [number, recipe] : frame.registers) visit(recipe.constant);
    }
    visit(exit.result.constant);
    visit_materials(exit.materials, visit);
  }
}

}  // namespace

void add_references(const RegionPlan& plan, std::vector<Object*>& references) {
  visit_values(plan, [&](const Value& v) {
    if (v.is_object()) references.push_back(v.object());
  });
}

Value Rebinding::counterpart(const Value& old) {
  const auto found = counterparts_.find(old.object());
  if (found != counterparts_.end()) return found->second;
  return others_stay_ && match(old, old) ? old : Value();
}

// Objects whose content capture reads through what it lists. Any other kind is its own counterpart only.
bool Rebinding::have_one_form(const Value& old, const Value& now) const {
  if (old.object()->type != now.object()->type || old.object()->kind != now.object()->kind) return false;
  switch (old.object()->kind) {
    case Kind::Instance:
    case Kind::List:
    case Kind::Dict:
    case Kind::Tuple:
    case Kind::Cell:
    case Kind::BoundMethod: return true;
    case Kind::Native: return as_tensor(tensor_state(vm_), old) != nullptr;
    default: return false;
  }
}

bool Rebinding::match(const Value& old, const Value& now) {
  if (!old.is_object() || !now.is_object()) return old.is(now);
  if (is_kind(old, Kind::Str))
    return is_kind(now, Kind::Str) && old.object()->type == now.object()->type &&
           str_equal(cast<StrObject>(old), cast<StrObject>(now));
  if (const auto found = counterparts_.find(old.object()); found != counterparts_.end()) return found->second.is(now);
  const bool moves = !old.is(now);
  if (origins_.count(now.object()) || (moves && !have_one_form(old, now))) return false;
  counterparts_.emplace(old.object(), now);
  origins_.emplace(now.object(), old.object());
  moved_ += moves;
  if (is_kind(old, Kind::Tuple)) return match_items(cast<TupleObject>(old)->span(), cast<TupleObject>(now)->span());
  if (is_kind(old, Kind::BoundMethod)) {
    const BoundMethod *a = cast<BoundMethod>(old), *b = cast<BoundMethod>(now);
    return match(a->function, b->function) && match(a->self, b->self);
  }
  return true;
}

bool Rebinding::match_items(std::span<const Value> old, std::span<const Value> now) {
  if (old.size() != now.size()) return false;
  for (size_t i = 0; i < old.size(); ++i)
    if (!match(old[i], now[i])) return false;
  return true;
}

bool Rebinding::match_named(const Value& old, const Value& now, StrObject* name) {
  const auto entry = [&](const Value& holder) -> Value {
    if (is_kind(holder, Kind::Type)) return dict_get(vm_, cast<Type>(holder)->attributes, Value(name));
    if (is_kind(holder, Kind::Module)) return dict_get(vm_, cast<ModuleObject>(holder)->globals, Value(name));
    return is_kind(holder, Kind::Dict) ? dict_get(vm_, cast<DictObject>(holder), Value(name)) : Value();
  };
  if (!match(entry(old), entry(now))) return false;
  if (!instance_state(old.object())) return true;
  return match(get_own_attribute(vm_, old.object(), name), get_own_attribute(vm_, now.object(), name));
}

// Of a holder of which any change counts.
bool Rebinding::match_all(const Value& old, const Value& now) {
  const auto match_table = [&](const Table& a, const Table& b) {
    std::vector<Value> left, right;
    for (const auto& [table, values] : {std::pair{&a, &left}, std::pair{&b, &right}})
      for (uint32_t i = 0; i < table->used(); ++i) {
        if (table->entry(i).key.is_undefined()) continue;
        values->push_back(table->entry(i).key);
        values->push_back(table->entry(i).value);
      }
    return match_items(left, right);
  };
  switch (old.object()->kind) {
    case Kind::List: return match_items(cast<ListObject>(old)->items, cast<ListObject>(now)->items);
    case Kind::Dict: return match_table(cast<DictObject>(old)->table, cast<DictObject>(now)->table);
    case Kind::Set: return match_table(cast<SetObject>(old)->table, cast<SetObject>(now)->table);
    case Kind::Cell: return match(cast<CellObject>(old)->content, cast<CellObject>(now)->content);
    case Kind::Function: {
      const FunctionObject* function = cast<FunctionObject>(old);
      return match_items(function->defaults, function->defaults) &&
             match_items(function->keyword_defaults, function->keyword_defaults);
    }
    case Kind::Instance: return old.is(now);
    default: return true;  // a tensor: the entry checks look at it
  }
}

bool Rebinding::match_content(const Value& old, const Value& now, const Value& key) {
  if (is_kind(key, Kind::Str)) return match_named(old, now, cast<StrObject>(key));
  if (!key.is_int() || !is_kind(old, Kind::List)) return match_all(old, now);
  const auto &a = cast<ListObject>(old)->items, &b = cast<ListObject>(now)->items;
  const auto index = static_cast<size_t>(key.as_int());
  return index < a.size() && index < b.size() ? match(a[index], b[index]) : a.size() == b.size();
}

bool Rebinding::match_watched() {
  for (const Watched& watched : plan_.watched) {
    const Value now = counterpart(watched.holder);
    if (now.is_undefined() ? others_stay_ : !match_content(watched.holder, now, watched.key)) return false;
  }
  return true;
}

bool Rebinding::match_sources() {
  std::vector<Value> entry;
  std::vector<bool> known;
  for (const EntrySource& source : plan_.sources) {
    EntrySource place = source;
    const bool inside = source.form == Form::Item || source.form == Form::Gradient ||
                        (source.form == Form::Attribute && !source.holder.is_object());
    const bool held = source.holder.is_object();
    if (held) place.holder = counterpart(source.holder);
    const bool found = !held || !place.holder.is_undefined();
    if (!found && others_stay_) return false;
    known.push_back(inside ? known[source.parent] : found);
    entry.push_back(known.back() ? look_.fetch(place, entry) : Value());
    if (!known.back()) continue;
    const Value& now = entry.back();
    if (source.check == Check::Alias && known[source.length] && !now.is(entry[source.length])) return false;
    if (source.check != Check::Same) {
      if (!look_.check(source, now)) return false;
      continue;
    }
    const bool moves = source.expected.is_object() && !is_kind(source.expected, Kind::Str) && !now.is(source.expected);
    if ((moves && !look_.may_move(source, now)) || !match(source.expected, now)) return false;
  }
  return true;
}

// Where an attribute of an object that has moved is found decides what else must be watched.
bool Rebinding::match_lookups() {
  for (const Watched& watched : plan_.watched) {
    const Value now = counterpart(watched.holder);
    if (now.is(watched.holder) || !is_kind(watched.key, Kind::Str) || is_kind(now, Kind::Dict)) continue;
    StrObject* name = cast<StrObject>(watched.key);
    const AttributeSite before = inspect_attribute(vm_, watched.holder, name), site = inspect_attribute(vm_, now, name);
    if (before.found != site.found || before.owner != site.owner) return false;
    if (site.found == Found::ClassAttribute) watch_attribute(vm_, now, name, site);
  }
  return true;
}

// False: a constant that nothing listed led to is the counterpart of another object.
bool Rebinding::exchange(RegionPlan& plan) const {
  bool agrees = true;
  visit_values(plan, [&](Value& v) {
    if (!v.is_object()) return;
    if (const auto found = counterparts_.find(v.object()); found != counterparts_.end()) v = found->second;
    else agrees = agrees && !origins_.count(v.object());
  });
  return agrees;
}

std::optional<RegionPlan> Rebinding::apply() {
  // First what the objects that have moved lead to; then all others, which have not.
  for (;;) {
    const size_t before = counterparts_.size();
    if (!match_sources() || !match_watched()) return std::nullopt;
    if (counterparts_.size() == before && std::exchange(others_stay_, true)) break;
  }
  if (!moved_ || !match_lookups()) return std::nullopt;
  RegionPlan plan = plan_;
  if (!exchange(plan)) return std::nullopt;
  return plan;
}

}  // namespace tsc::interp
