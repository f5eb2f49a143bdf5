#include "interpreter/capture/program/counterparts.h"

#include "interpreter/tensor/eager.h"
#include "interpreter/vm/inspect.h"
#include "interpreter/vm/operations.h"

namespace tsc::interp {

bool is_bare_text(const Value& v) {
  if (!is_kind(v, Kind::Str)) return false;
  const InstanceState* state = instance_state(v.object());
  return !state || !state->slots;
}

bool are_one_text(const Value& a, const Value& b) {
  return is_bare_text(a) && is_bare_text(b) && a.object()->type == b.object()->type &&
         str_equal(cast<StrObject>(a), cast<StrObject>(b));
}

// Objects whose content capture reads through what it lists. Any other kind is its own counterpart only.
bool Counterparts::have_one_form(const Value& old, const Value& now) const {
  if (old.object()->type != now.object()->type || old.object()->kind != now.object()->kind) return false;
  const bool are_alike = !attribute_dict_of(old.object()) == !attribute_dict_of(now.object());
  if (!are_alike || shares_attributes(old.object()) || shares_attributes(now.object())) return false;
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

bool Counterparts::may_move(const Value& v) {
  const Kind kind = v.object()->kind;
  return kind != Kind::Type && kind != Kind::Function && kind != Kind::NativeFunction && kind != Kind::Module;
}

bool Counterparts::match(const Value& old, const Value& now) {
  if (!old.is_object() || !now.is_object()) return old.is(now);
  if (is_kind(old, Kind::Str)) return old.is(now) || are_one_text(old, now);
  if (const auto found = objects_.find(old.object()); found != objects_.end()) return found->second.is(now);
  const bool moves = !old.is(now);
  if (origins_.count(now.object()) || (moves && !have_one_form(old, now))) return false;
  objects_.emplace(old.object(), now);
  origins_.emplace(now.object(), old.object());
  moved_ += moves;
  // The dict that the attributes lie in is an object of its own to those who watch it.
  if (DictObject* attributes = moves ? attribute_dict_of(old.object()) : nullptr)
    if (!match(Value(attributes), Value(attribute_dict_of(now.object())))) return false;
  if (is_kind(old, Kind::Tuple)) return match_items(cast<TupleObject>(old)->span(), cast<TupleObject>(now)->span());
  if (is_kind(old, Kind::BoundMethod)) {
    const BoundMethod *a = cast<BoundMethod>(old), *b = cast<BoundMethod>(now);
    return match(a->function, b->function) && match(a->self, b->self);
  }
  return true;
}

bool Counterparts::match_items(std::span<const Value> old, std::span<const Value> now) {
  if (old.size() != now.size()) return false;
  for (size_t i = 0; i < old.size(); ++i)
    if (!match(old[i], now[i])) return false;
  return true;
}

bool Counterparts::match_named(const Value& old, const Value& now, StrObject* name) {
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
bool Counterparts::match_all(const Value& old, const Value& now) {
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

bool Counterparts::match_content(const Value& old, const Value& now, const Value& key) {
  if (is_kind(key, Kind::Str)) return match_named(old, now, cast<StrObject>(key));
  if (!key.is_int() || !is_kind(old, Kind::List)) return match_all(old, now);
  const auto &a = cast<ListObject>(old)->items, &b = cast<ListObject>(now)->items;
  const auto index = static_cast<size_t>(key.as_int());
  return index < a.size() && index < b.size() ? match(a[index], b[index]) : a.size() == b.size();
}

Value Counterparts::of(const Value& old) const {
  const auto found = objects_.find(old.object());
  return found == objects_.end() ? Value() : found->second;
}

}  // namespace tsc::interp
