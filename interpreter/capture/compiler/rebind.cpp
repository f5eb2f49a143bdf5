#include "interpreter/capture/compiler/rebind.h"

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
    for (auto& store : exit.stores)
      for (auto& recipe : store.values) visit(recipe.constant);
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
  const Value found = objects_.of(old);
  return found.is_undefined() && others_stay_ && objects_.match(old, old) ? old : found;
}

bool Rebinding::match_watched() {
  for (const Watched& watched : plan_.watched) {
    const Value now = counterpart(watched.holder);
    if (now.is_undefined() ? others_stay_ : !objects_.match_content(watched.holder, now, watched.key)) return false;
  }
  return true;
}

bool Rebinding::match_sources() {
  std::vector<Value> entry;
  std::vector<bool> known;
  for (const EntrySource& source : plan_.sources) {
    EntrySource place = source;
    const bool held = source.holder.is_object();
    if (held) place.holder = counterpart(source.holder);
    const bool found = !held || !place.holder.is_undefined();
    if (!found && others_stay_) return false;
    known.push_back(source.is_inside() ? known[source.parent] : found);
    entry.push_back(known.back() ? look_.fetch(place, entry) : Value());
    if (!known.back()) continue;
    const Value& now = entry.back();
    if (source.check == Check::Alias && known[source.length] && !now.is(entry[source.length])) return false;
    if (source.check != Check::Same) {
      if (!look_.check(source, now)) return false;
      continue;
    }
    const bool moves = source.expected.is_object() && !is_kind(source.expected, Kind::Str) && !now.is(source.expected);
    if ((moves && !look_.may_move(source, now)) || !objects_.match(source.expected, now)) return false;
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
    if (Value now = objects_.of(v); !now.is_undefined()) v = std::move(now);
    else agrees = agrees && !objects_.is_taken(v);
  });
  return agrees;
}

std::optional<RegionPlan> Rebinding::apply() {
  // First what the objects that have moved lead to; then all others, which have not.
  for (;;) {
    const size_t before = objects_.size();
    if (!match_sources() || !match_watched()) return std::nullopt;
    if (objects_.size() == before && std::exchange(others_stay_, true)) break;
  }
  if (!objects_.moved() || !match_lookups()) return std::nullopt;
  RegionPlan plan = plan_;
  if (!exchange(plan)) return std::nullopt;
  return plan;
}

}  // namespace tsc::interp
