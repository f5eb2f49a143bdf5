// dict and its views.
#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/mapping.h"

namespace tsc::interp {
namespace {

DictObject* dict_of(const Value& v) { return cast<DictObject>(v); }

void table_traverse(Table& table, Visitor& visit) {
  for (uint32_t i = 0; i < table.used(); ++i) {
    visit(table.entry(i).key);
    visit(table.entry(i).value);
  }
}
void dict_traverse(Object* o, Visitor& visit) {
  table_traverse(static_cast<DictObject*>(o)->table, visit);
  traverse_instance(o, visit);
}
void dict_clear_slot(Vm& vm, Object* o) {
  static_cast<DictObject*>(o)->table.clear();
  clear_instance(vm, o);
}
Value dict_construct(Vm& vm, Type* type, Args&) { return vm.heap().make<DictObject>(type).take(); }

void update_from_pairs(Vm& vm, DictObject* dict, const Value& pairs) {
  int64_t n = 0;
  for_each(vm, pairs, [&](const Value& pair) {
    const TypeSlots& slots = type_of(vm, pair)->slots;
    if (!slots.iterate && !slots.get_item)
      raise_type_error(vm,
                       "cannot convert dictionary update sequence element #" + std::to_string(n) + " to a sequence");
    Local<TupleObject> items = to_tuple(vm, pair);
    if (items->size != 2)
      raise_value_error(vm, "dictionary update sequence element #" + std::to_string(n) + " has length " +
                                std::to_string(items->size) + "; 2 is required");
    dict_set(vm, dict, items->items[0], items->items[1]);
    ++n;
    return true;
  });
}
void update_dict(Vm& vm, DictObject* dict, const Value& source) {
  const DictObject* table = plain_dict(vm, source);
  const uint32_t version = table ? table->table.layout_version() : 0;
  const auto set = [&](const Value& key, const Value& value) {
    dict_set(vm, dict, key, value);
    if (table && table != dict && table->table.layout_version() != version)
      raise(vm, vm.exceptions().RuntimeError, "dict mutated during update");
  };
  if (!for_each_pair(vm, source, set)) update_from_pairs(vm, dict, source);
}
// An OrderedDict whose class stores items in a way of its own hears of each; a plain dict's class does not, as in
// Python.
bool hears_of_items(Vm& vm, const Type* type) {
  return (type->type_flags & kScriptClass) && type->slots.set_item != vm.types().dict->slots.set_item &&
         lookup_in_type(const_cast<Type*>(type), intern(vm, "_hears_of_items"));
}
void update_with_call(Vm& vm, const Value& self, const Value* source, uint32_t count, Args& args, const char* name) {
  if (count > 1) raise_type_error(vm, std::string(name) + " expected at most 1 argument, got " + std::to_string(count));
  if (hears_of_items(vm, type_of(vm, self))) {
    Local<DictObject> all = make_dict(vm);
    if (count) update_dict(vm, all, *source);
    for (uint32_t i = 0; i < args.keyword_count; ++i)
      dict_set(vm, all, Value(args.keyword_names[i]), args.keyword_values[i]);
    for (uint32_t i = 0; i < all->table.used(); ++i)
      set_item(vm, self, all->table.entry(i).key, all->table.entry(i).value);
    return;
  }
  if (count) update_dict(vm, dict_of(self), *source);
  for (uint32_t i = 0; i < args.keyword_count; ++i)
    dict_set(vm, dict_of(self), Value(args.keyword_names[i]), args.keyword_values[i]);
}
void dict_initialize(Vm& vm, const Value& self, Args& args) {
  update_with_call(vm, self, args.positional, args.count, args, "dict");
}
Value dict_repr(Vm& vm, const Value& self) {
  ReprGuard guard(self.object());
  if (guard.recursive()) return str_value(vm, "{...}");
  Local<DictObject> dict(dict_of(self));
  TextBuilder out(vm);
  out += '{';
  for (uint32_t i = 0; i < dict->table.used(); ++i) {
    vm.hear_stop();
    if (!dict->table.entry(i).key) continue;
    Value key = dict->table.entry(i).key, value = dict->table.entry(i).value;
    if (out.size() > 1) out += ", ";
    out += repr(vm, key);
    out += ": ";
    out += repr(vm, value);
  }
  out += '}';
  return out.str();
}
Value dict_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(a, Kind::Dict) || !is_kind(b, Kind::Dict) || (op != CompareOp::Eq && op != CompareOp::Ne))
    return vm.not_implemented();
  vm.check_native_stack();
  Local<DictObject> x(dict_of(a)), y(dict_of(b));
  bool same = x->table.size() == y->table.size();
  for (uint32_t i = 0; same && i < x->table.used(); ++i) {
    vm.hear_stop();
    if (!x->table.entry(i).key) continue;
    Value key = x->table.entry(i).key, value = x->table.entry(i).value;
    Value other = dict_get(vm, y, key);
    same = other && equal(vm, value, other);
  }
  return Value::boolean(same == (op == CompareOp::Eq));
}
int64_t dict_length(Vm&, const Value& v) { return static_cast<int64_t>(dict_of(v)->table.size()); }
// What __missing__ gives; what it raises is left in the Vm.
Value missing_item(Vm& vm, const Value& method, const Value& self, const Value& key) {
  if (!is_kind(method, Kind::Function)) return call(vm, bind_attribute(vm, method, self, self.object()->type), {key});
  const Value kept = method, values[2] = {self, key};
  Args args;
  args.positional = values;
  args.count = 2;
  return call_softly(vm, kept, args);
}
Value dict_item(Vm& vm, const Value& self, const Value& key) {
  Value v = dict_get(vm, dict_of(self), key);
  if (v) return v;
  if (self.object()->type != vm.types().dict)
    if (const Value* missing = lookup_in_type(self.object()->type, vm.names().missing))
      return missing_item(vm, *missing, self, key);
  return return_key_error(vm, key);
}
void dict_set_item(Vm& vm, const Value& self, const Value& key, const Value& value) {
  dict_set(vm, dict_of(self), key, value);
}
void dict_delete_item(Vm& vm, const Value& self, const Value& key) {
  if (!dict_remove(vm, dict_of(self), key)) raise_key_error(vm, key);
}
bool dict_contains(Vm& vm, const Value& self, const Value& key) { return dict_of(self)->table.find(vm, key) >= 0; }
Value dict_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool) {
  if (op != BinaryOp::BitOr || !is_kind(a, Kind::Dict) || !is_kind(b, Kind::Dict)) return vm.not_implemented();
  Local<DictObject> r = make_dict(vm);
  r->table.copy_from(dict_of(a)->table);
  update_dict(vm, r, b);
  return r.take();
}
Value dict_in_place(Vm& vm, BinaryOp op, const Value& self, const Value& other) {
  if (op != BinaryOp::BitOr) return vm.not_implemented();
  update_dict(vm, dict_of(self), other);
  return self;
}

// --- iteration ------------------------------------------------------------------------------------------------

enum class Part { Keys, Values, Items };

Value part_of(Vm& vm, const Table::Entry& e, Part part) {
  if (part == Part::Keys) return e.key;
  if (part == Part::Values) return e.value;
  Local<TupleObject> pair = make_tuple(vm, size_t{2});
  pair->items[0] = e.key;
  pair->items[1] = e.value;
  return pair.take();
}

struct DictIterator final : NativeIterator {
  Local<DictObject> dict;
  Part part = Part::Keys;
  static constexpr size_t kChanged = SIZE_MAX;  // it stays an error
  uint32_t place = 0;                           // the next one; in reverse the one behind it
  size_t size = 0, left = 0;                    // entries at the beginning, and of those still to come
  bool reverse = false;
  bool next(Vm& vm, Value& out) override {
    if (!dict) return false;
    Table& table = dict->table;
    if (table.size() != size) {
      size = kChanged;
      raise(vm, vm.exceptions().RuntimeError, "dictionary changed size during iteration");
    }
    if (reverse) place = std::min(place, table.used());
    while (reverse ? place > 0 : place < table.used()) {
      const uint32_t at = reverse ? --place : place++;
      if (!table.entry(at).key) continue;
      if (!left--) {  // one was removed and another one added, again and again
        dict = nullptr;
        raise(vm, vm.exceptions().RuntimeError, "dictionary keys changed during iteration");
      }
      out = part_of(vm, table.entry(at), part);
      return true;
    }
    dict = nullptr;
    return false;
  }
  void traverse(Visitor& visit) override { visit(dict.get()); }
  Value copy(Vm& vm) const override {
    Local<DictIterator> made = vm.heap().make<DictIterator>(type);
    made->dict = dict;
    made->part = part;
    made->place = place;
    made->size = size;
    made->left = left;
    made->reverse = reverse;
    return made.take();
  }
  // Of a list of what is left.
  Value rebuilt(Vm& vm, const CopiedPart& part) const override {
    return iterate(vm, part(to_list(vm, copy(vm)).value()));
  }
};

struct DictView : Object {
  static constexpr Kind kKind = Kind::DictView;
  Local<DictObject> dict;
  Part part = Part::Keys;
  DictView() : Object(Kind::DictView) {}
};

struct DictViewTypes {
  Type* iterator = nullptr;
};
const char kDictExtension = 0;
Type* dict_iterator_type(Vm& vm) {
  return std::static_pointer_cast<DictViewTypes>(vm.extension(&kDictExtension))->iterator;
}

Value make_dict_iterator(Vm& vm, DictObject* dict, Part part, bool reverse = false) {
  Local<DictIterator> it = vm.heap().make<DictIterator>(dict_iterator_type(vm));
  it->dict = Local<DictObject>(dict);
  it->part = part;
  it->size = it->left = dict->table.size();
  it->reverse = reverse;
  it->place = reverse ? dict->table.used() : dict->table.first();
  return it.take();
}
Value dict_iterate(Vm& vm, const Value& self) { return make_dict_iterator(vm, dict_of(self), Part::Keys); }
Value dict_reversed(Vm& vm, Args& a) { return make_dict_iterator(vm, dict_of(a[0]), Part::Keys, true); }

DictView* view_of(const Value& v) { return cast<DictView>(v); }
template <Part part>
Value make_view(Vm& vm, Args& a) {
  const Types& t = vm.types();
  Type* type = part == Part::Keys ? t.dict_keys : part == Part::Values ? t.dict_values : t.dict_items;
  Local<DictView> view = vm.heap().make<DictView>(type);
  view->dict = Local<DictObject>(dict_of(a[0]));
  view->part = part;
  return view.take();
}
Value view_iterate(Vm& vm, const Value& self) {
  return make_dict_iterator(vm, view_of(self)->dict, view_of(self)->part);
}
Value view_reversed(Vm& vm, Args& a) { return make_dict_iterator(vm, view_of(a[0])->dict, view_of(a[0])->part, true); }
int64_t view_length(Vm&, const Value& v) { return static_cast<int64_t>(view_of(v)->dict->table.size()); }
bool view_contains(Vm& vm, const Value& self, const Value& item) {
  DictView* view = view_of(self);
  if (view->part == Part::Keys) return view->dict->table.find(vm, item) >= 0;
  if (view->part == Part::Items) {
    auto* pair = try_cast<TupleObject>(item);
    if (!pair || pair->size != 2) return false;
    Value v = dict_get(vm, view->dict, pair->items[0]);
    return v && equal(vm, v, pair->items[1]);
  }
  bool found = false;
  for_each(vm, self, [&](const Value& v) { return !(found = equal(vm, v, item)); });
  return found;
}
Value view_repr(Vm& vm, const Value& self) {
  ReprGuard guard(self.object());
  if (guard.recursive()) return str_value(vm, "...");
  std::string name = self.object()->type->name;
  DictObject* dict = view_of(self)->dict;
  if (dict->type != vm.types().dict) {  // an OrderedDict's are odict_keys, and so on
    const Value* prefix = lookup_in_type(dict->type, intern(vm, "_view_prefix").get());
    if (auto* text = prefix ? try_cast<StrObject>(*prefix) : nullptr) name = std::string(text->view()) + name;
  }
  return str_value(vm, name + "(" + repr(vm, to_list(vm, self).value()) + ")");
}
Local<SetObject> set_from(Vm& vm, const Value& v) {
  Local<SetObject> set = make_set(vm);
  for_each(vm, v, [&](const Value& item) {
    set_add(vm, set, item);
    return true;
  });
  return set;
}
// Only what both hold is hashed: an item whose value has no hash may be in the view.
Value view_intersection(Vm& vm, const Value& a, const Value& b) {
  const bool left = is_kind(a, Kind::DictView);
  const bool swap = !left || (is_kind(b, Kind::DictView) && length(vm, b) > length(vm, a));
  const Value &view = swap ? b : a, &other = swap ? a : b;
  Local<SetObject> both = make_set(vm);
  for_each(vm, other, [&](const Value& item) {
    if (contains(vm, view, item)) set_add(vm, both, item);
    return true;
  });
  return both.take();
}
Value view_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool) {
  bool known = op == BinaryOp::BitAnd || op == BinaryOp::BitOr || op == BinaryOp::BitXor || op == BinaryOp::Sub;
  if (!known) return vm.not_implemented();
  if (op == BinaryOp::BitAnd) return view_intersection(vm, a, b);
  return binary(vm, op, set_from(vm, a).value(), set_from(vm, b).value());
}
bool all_in(Vm& vm, const Value& a, const Value& b) {
  bool inside = true;
  for_each(vm, a, [&](const Value& item) { return inside = contains(vm, b, item); });
  return inside;
}
Value view_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_kind(b, Kind::DictView) && !is_kind(b, Kind::Set)) return vm.not_implemented();
  if (view_of(a)->part == Part::Values) return vm.not_implemented();
  const int64_t left = length(vm, a), right = length(vm, b);
  switch (op) {
    case CompareOp::Eq: return Value::boolean(left == right && all_in(vm, a, b));
    case CompareOp::Ne: return Value::boolean(left != right || !all_in(vm, a, b));
    case CompareOp::Le: return Value::boolean(left <= right && all_in(vm, a, b));
    case CompareOp::Lt: return Value::boolean(left < right && all_in(vm, a, b));
    case CompareOp::Ge: return Value::boolean(left >= right && all_in(vm, b, a));
    case CompareOp::Gt: return Value::boolean(left > right && all_in(vm, b, a));
    default: return vm.not_implemented();
  }
}

// --- methods -----------------------------------------------------------------------------------------------------

Value get(Vm& vm, Args& a) {
  Value v = dict_get(vm, dict_of(a[0]), a[1]);
  return v ? v : a[2];
}
Value setdefault(Vm& vm, Args& a) {
  Value v = dict_get(vm, dict_of(a[0]), a[1]);
  if (v) return v;
  dict_set(vm, dict_of(a[0]), a[1], a[2]);
  return a[2];
}
Value pop(Vm& vm, Args& a) {
  Value v = dict_get(vm, dict_of(a[0]), a[1]);
  if (v) {
    dict_remove(vm, dict_of(a[0]), a[1]);
    return v;
  }
  if (a.has(2)) return a[2];
  return return_key_error(vm, a[1]);
}
Value popitem(Vm& vm, Args& a) {
  DictObject* dict = dict_of(a[0]);
  if (!dict->table.size()) return return_key_error(vm, str_value(vm, "popitem(): dictionary is empty"));
  uint32_t place = dict->table.used() - 1;
  while (!dict->table.entry(place).key) --place;
  Value pair = part_of(vm, dict->table.entry(place), Part::Items);
  const Value key = dict->table.entry(place).key;
  note_store(vm, dict, key);
  dict->table.remove_at(place);
  dict->table.drop_tail();
  note_store(vm, dict, key);  // now it is known that the key has gone
  return pair;
}
Value update(Vm& vm, Args& a) {
  Value self = a[0];
  update_with_call(vm, self, a.positional + 1, a.count - 1, a, "update");
  return Value::none();
}
Value clear(Vm& vm, Args& a) {
  note_store(vm, a[0].object(), Value());
  dict_of(a[0])->table.clear();
  return Value::none();
}
Value copy(Vm& vm, Args& a) {
  Local<DictObject> r = make_dict(vm);
  r->table.copy_from(dict_of(a[0])->table);
  return r.take();
}
Value fromkeys(Vm& vm, Args& a) {
  Value dict = call(vm, a[0]);
  for_each(vm, a[1], [&](const Value& key) {
    set_item(vm, dict, key, a[2]);
    return true;
  });
  return dict;
}

Value view_isdisjoint(Vm& vm, Args& a) {
  bool disjoint = true;
  for_each(vm, a[1], [&](const Value& v) { return disjoint = !contains(vm, a[0], v); });
  return Value::boolean(disjoint);
}

Type* make_view_type(Vm& vm, const char* name) {
  TypeBuilder b(vm, name, Kind::DictView);
  b.slots().destroy = destroy_as<DictView>;
  b.slots().traverse = [](Object* o, Visitor& visit) { visit(static_cast<DictView*>(o)->dict.get()); };
  b.slots().iterate = view_iterate;
  b.slots().length = view_length;
  b.slots().contains = view_contains;
  b.slots().repr = view_repr;
  b.slots().binary = view_binary;
  b.slots().compare = view_compare;
  b.slots().hash = nullptr;
  if (std::string_view(name) != "dict_values") b.attribute("__hash__", Value::none());
  b.method("__reversed__", "self", view_reversed);
  if (std::string_view(name) != "dict_values") b.method("isdisjoint", "self, other, /", view_isdisjoint);
  return b.finish();
}

}  // namespace

void init_dict_views(Vm& vm) {
  auto types = std::make_shared<DictViewTypes>();
  types->iterator = make_iterator_type<DictIterator>(vm, "dict_keyiterator");
  vm.extension(&kDictExtension) = types;
  Types& t = VmAccess::types(vm);
  t.dict_keys = make_view_type(vm, "dict_keys");
  t.dict_values = make_view_type(vm, "dict_values");
  t.dict_items = make_view_type(vm, "dict_items");
}

void init_dict_type(Vm& vm) {
  TypeBuilder b = TypeBuilder::existing(vm, vm.types().dict);
  TypeSlots& s = b.slots();
  s.release = [](Heap& heap, Object* o) { return release_entries(heap, static_cast<DictObject*>(o)->table); };
  s.traverse = dict_traverse;
  s.clear = dict_clear_slot;
  s.construct = dict_construct;
  s.initialize = dict_initialize;
  s.repr = dict_repr;
  s.compare = dict_compare;
  s.hash = nullptr;
  s.length = dict_length;
  s.get_item = dict_item;
  s.set_item = dict_set_item;
  s.delete_item = dict_delete_item;
  s.contains = dict_contains;
  s.iterate = dict_iterate;
  s.binary = dict_binary;
  s.in_place = dict_in_place;
  b.allow_subclasses(offset_of(&DictObject::state));
  b.attribute("__hash__", Value::none());
  b.method("get", "self, key, default=None, /", get)
      .method("setdefault", "self, key, default=None, /", setdefault)
      .method("pop", "self, key, default=?, /", pop)
      .method("popitem", "self", popitem)
      .raw_method("update", update)
      .method("clear", "self", clear)
      .method("copy", "self", copy)
      .method("keys", "self", make_view<Part::Keys>)
      .method("values", "self", make_view<Part::Values>)
      .method("items", "self", make_view<Part::Items>)
      .method("__reversed__", "self", dict_reversed)
      .class_method("fromkeys", "cls, iterable, value=None, /", fromkeys);
  publish_slots(vm, vm.types().dict);
  add_builtin(vm, "dict", Value(vm.types().dict));
}

}  // namespace tsc::interp
