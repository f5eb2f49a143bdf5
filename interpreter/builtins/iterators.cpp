// Iterators over sequences, and zip, map, filter, enumerate, reversed.
#include <algorithm>

#include "interpreter/builtins/builtins.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/iteration.h"

namespace tsc::interp {
namespace {

bool range_next(Vm&, const Value& self, Value& out) {
  auto* it = static_cast<RangeIterator*>(self.object());
  if (it->left <= 0) return false;
  --it->left;
  out = Value::integer(it->next);
  it->next = static_cast<int64_t>(static_cast<uint64_t>(it->next) + static_cast<uint64_t>(it->step));
  return true;
}
bool list_next(Vm&, const Value& self, Value& out) {
  auto* it = static_cast<ListIterator*>(self.object());
  if (!it->list) return false;
  if (it->index >= it->list->items.size()) {
    it->list = nullptr;
    return false;
  }
  out = it->list->items[it->index++];
  return true;
}
bool tuple_next(Vm&, const Value& self, Value& out) {
  auto* it = static_cast<TupleIterator*>(self.object());
  if (!it->tuple || it->index >= it->tuple->size) return false;
  out = it->tuple->items[it->index++];
  return true;
}

template <class T>
Type* sequence_iterator(Vm& vm, const char* name, bool (*next)(Vm&, const Value&, Value&),
                        void (*traverse)(Object*, Visitor&)) {
  TypeBuilder b(vm, name, Kind::Iterator);
  b.slots().destroy = destroy_as<T>;
  b.slots().traverse = traverse;
  b.slots().iterate = [](Vm&, const Value& self) { return self; };
  b.slots().next = next;
  return b.finish();
}

// Of an iterator that an outer one takes its items from: nobody else may hold it.
Value copy_inner(Vm& vm, const Value& inner) {
  return inner.object()->reference_count == 1 ? copy_iterator(vm, inner) : Value();
}

struct Zip final : NativeIterator {
  InstanceState state;  // of script classes
  std::vector<Value> iterators;
  bool strict = false, done = false;
  bool next(Vm& vm, Value& out) override {
    if (done || iterators.empty()) return false;
    Local<TupleObject> t = make_tuple(vm, iterators.size());
    for (size_t i = 0; i < iterators.size(); ++i) {
      if (iterate_next(vm, iterators[i], t->items[i])) continue;
      done = true;
      if (strict) check_lengths(vm, i);
      return false;
    }
    out = t.take();
    return true;
  }
  void check_lengths(Vm& vm, size_t ended) {
    auto arguments = [](size_t n) { return n == 1 ? std::string("argument 1") : "arguments 1-" + std::to_string(n); };
    if (ended > 0)
      raise_value_error(vm, "zip() argument " + std::to_string(ended + 1) + " is shorter than " + arguments(ended));
    Value item;
    for (size_t i = 1; i < iterators.size(); ++i)
      if (iterate_next(vm, iterators[i], item))
        raise_value_error(vm, "zip() argument " + std::to_string(i + 1) + " is longer than " + arguments(i));
  }
  void traverse(Visitor& visit) override {
    for (const Value& v : iterators) visit(v);
  }
  Value copy(Vm& vm) const override {
    Local<Zip> made = vm.heap().make<Zip>(type);
    made->strict = strict;
    made->done = done;
    for (const Value& inner : iterators) {
      made->iterators.push_back(copy_inner(vm, inner));
      if (made->iterators.back().is_undefined()) return Value();
    }
    return made.take();
  }
  Value arguments(Vm& vm) const override { return strict ? Value() : make_tuple(vm, iterators).take(); }
  std::optional<Rows> rows() const override {
    if (strict || iterators.empty()) return std::nullopt;
    return Rows{iterators, {}};
  }
  auto members() { return std::tie(iterators, strict, done); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value zip_construct(Vm& vm, Type* type, Args& args) {
  Local<Zip> z = make_iterator<Zip>(vm, type);
  for (uint32_t i = 0; i < args.keyword_count; ++i) {
    if (args.keyword_names[i]->view() != "strict")
      raise_type_error(vm,
                       "'" + std::string(args.keyword_names[i]->view()) + "' is an invalid keyword argument for zip()");
    z->strict = truth(vm, args.keyword_values[i]);
  }
  for (uint32_t i = 0; i < args.count; ++i) z->iterators.push_back(iterate(vm, args[i]));
  return z.take();
}

struct Map final : NativeIterator {
  InstanceState state;  // of script classes
  Value function;
  std::vector<Value> iterators;
  bool next(Vm& vm, Value& out) override {
    std::vector<Value> items(iterators.size());
    for (size_t i = 0; i < iterators.size(); ++i)
      if (!iterate_next(vm, iterators[i], items[i])) return false;
    out = call(vm, function, std::span<const Value>(items));
    return true;
  }
  void traverse(Visitor& visit) override {
    visit(function);
    for (const Value& v : iterators) visit(v);
  }
  Value arguments(Vm& vm) const override {
    std::vector<Value> all = {function};
    all.insert(all.end(), iterators.begin(), iterators.end());
    return make_tuple(vm, all).take();
  }
  auto members() { return std::tie(function, iterators); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value map_construct(Vm& vm, Type* type, Args& args) {
  no_keywords_of(vm, type, args);
  if (args.count < 2) raise_type_error(vm, "map() must have at least two arguments.");
  Local<Map> m = make_iterator<Map>(vm, type);
  m->function = args[0];
  for (uint32_t i = 1; i < args.count; ++i) m->iterators.push_back(iterate(vm, args[i]));
  return m.take();
}

struct Filter final : NativeIterator {
  InstanceState state;  // of script classes
  Value function, iterator;
  bool next(Vm& vm, Value& out) override {
    while (iterate_next(vm, iterator, out))
      if (truth(vm, function.is_none() ? out : call(vm, function, {out}))) return true;
    return false;
  }
  void traverse(Visitor& visit) override {
    visit(function);
    visit(iterator);
  }
  Value arguments(Vm& vm) const override { return make_tuple(vm, {function, iterator}).take(); }
  auto members() { return std::tie(function, iterator); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value filter_construct(Vm& vm, Type* type, Args& args) {
  no_keywords_of(vm, type, args);
  if (args.count != 2) raise_type_error(vm, "filter expected 2 arguments, got " + std::to_string(args.count));
  Local<Filter> f = make_iterator<Filter>(vm, type);
  f->function = args[0];
  f->iterator = iterate(vm, args[1]);
  return f.take();
}

struct Enumerate final : NativeIterator {
  InstanceState state;  // of script classes
  Value iterator;
  int64_t index = 0;
  bool next(Vm& vm, Value& out) override {
    Value item;
    if (!iterate_next(vm, iterator, item)) return false;
    Local<TupleObject> pair = make_tuple(vm, size_t{2});
    pair->items[0] = Value::integer(index++);
    pair->items[1] = std::move(item);
    out = pair.take();
    return true;
  }
  void traverse(Visitor& visit) override { visit(iterator); }
  Value copy(Vm& vm) const override {
    Local<Enumerate> made = vm.heap().make<Enumerate>(type);
    made->index = index;
    made->iterator = copy_inner(vm, iterator);
    return made->iterator.is_undefined() ? Value() : made.take();
  }
  Value arguments(Vm& vm) const override { return make_tuple(vm, {iterator, Value::integer(index)}).take(); }
  std::optional<Rows> rows() const override { return Rows{{iterator}, index}; }
  auto members() { return std::tie(iterator, index); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value enumerate_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("iterable, start=0");
  std::vector<Value> v;
  if (!args.count && !args.keyword_count) raise_type_error(vm, "enumerate() missing required argument 'iterable'");
  kSignature.bind(vm, "enumerate", args, v);
  Local<Enumerate> e = make_iterator<Enumerate>(vm, type);
  e->iterator = iterate(vm, v[0]);
  e->index = to_index(vm, v[1]);
  return e.take();
}

struct Reversed final : NativeIterator {
  InstanceState state;  // of script classes
  Value sequence;
  int64_t left = 0;
  bool next(Vm& vm, Value& out) override {
    if (left <= 0) return false;
    --left;
    auto* list = try_cast<ListObject>(sequence);
    if (list && left >= static_cast<int64_t>(list->items.size())) {
      left = 0;
      return false;
    }
    out = list ? list->items[left] : get_item(vm, sequence, Value::integer(left));
    return true;
  }
  void traverse(Visitor& visit) override { visit(sequence); }
  Value copy(Vm& vm) const override {
    if (type_of(vm, sequence)->type_flags & kScriptClass) return Value();
    Local<Reversed> made = vm.heap().make<Reversed>(type);
    made->sequence = sequence;
    made->left = left;
    return made.take();
  }
  auto members() { return std::tie(sequence, left); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value reversed_construct(Vm& vm, Type* type, Args& args) {
  no_keywords_of(vm, type, args);
  if (args.count != 1) raise_type_error(vm, "reversed expected 1 argument, got " + std::to_string(args.count));
  const Value& v = args[0];
  Type* of = type_of(vm, v);
  const Value* method = lookup_in_type(of, vm.names().reversed);
  bool own_list = is_kind(v, Kind::List) && method && is_kind(*method, Kind::NativeFunction);
  if (method && !method->is_none() && !own_list) return call(vm, bind_attribute(vm, *method, v, of));
  const bool sequence = !method && of->slots.get_item && (of->slots.length || (of->type_flags & kScriptClass));
  if (!own_list && (!sequence || is_kind(v, Kind::Dict)))
    raise_type_error(vm, "'" + of->name + "' object is not reversible");
  Local<Reversed> r = make_iterator<Reversed>(vm, type);
  r->sequence = v;
  r->left = own_list ? static_cast<int64_t>(cast<ListObject>(v)->items.size()) : length(vm, v);
  return r.take();
}

// iter(callable, sentinel)
struct CallIterator final : NativeIterator {
  Value function, sentinel;
  bool next(Vm& vm, Value& out) override {
    if (!function) return false;
    const Value called = function;
    out = call(vm, called);
    if (!function) return false;  // it has asked this iterator, to the end
    if (!equal(vm, out, sentinel)) return true;
    function.reset();
    return false;
  }
  void traverse(Visitor& visit) override {
    visit(function);
    visit(sentinel);
  }
  auto members() { return std::tie(function, sentinel); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
const char kCallIterator = 0;

}  // namespace

NativeIterator* as_native_iterator(const Vm& vm, const Value& v) {
  if (!is_kind(v, Kind::Iterator) || !v.object()->type->slots.next || v.object()->type->type_flags & kScriptClass)
    return nullptr;
  const Types& types = vm.types();
  const Type* type = v.object()->type;
  const bool is_simple = type == types.range_iterator || type == types.list_iterator || type == types.tuple_iterator;
  return is_simple ? nullptr : static_cast<NativeIterator*>(v.object());
}

void no_keywords_of(Vm& vm, Type* type, const Args& args) {
  if (!args.keyword_count || is_scripted(type, vm.names().init)) return;
  const auto native =
      std::find_if(type->mro.begin(), type->mro.end(), [](const Type* t) { return !(t->type_flags & kScriptClass); });
  raise_type_error(vm, own_name(*native) + "() takes no keyword arguments");
}

Value copy_iterator(Vm& vm, const Value& iterator) {
  if (const NativeIterator* native = as_native_iterator(vm, iterator)) return native->copy(vm);
  if (!is_kind(iterator, Kind::Iterator)) return Value();
  const Types& types = vm.types();
  Type* type = iterator.object()->type;
  if (type == types.range_iterator) {
    const auto* it = static_cast<const RangeIterator*>(iterator.object());
    Local<RangeIterator> made = vm.heap().make<RangeIterator>(type);
    made->next = it->next;
    made->step = it->step;
    made->left = it->left;
    return made.take();
  }
  if (type == types.list_iterator) {
    const auto* it = static_cast<const ListIterator*>(iterator.object());
    Local<ListIterator> made = vm.heap().make<ListIterator>(type);
    made->list = it->list;
    made->index = it->index;
    return made.take();
  }
  if (type == types.tuple_iterator) {
    const auto* it = static_cast<const TupleIterator*>(iterator.object());
    Local<TupleIterator> made = vm.heap().make<TupleIterator>(type);
    made->tuple = it->tuple;
    made->index = it->index;
    return made.take();
  }
  return Value();
}

Value rebuilt_iterator(Vm& vm, const Value& iterator, const CopiedPart& part) {
  if (!is_kind(iterator, Kind::Iterator) || !iterator.object()->type->slots.next) return Value();
  const Types& types = vm.types();
  const Type* type = iterator.object()->type;
  if (type == types.range_iterator) return copy_iterator(vm, iterator);
  if (type == types.list_iterator) {
    const Value made = copy_iterator(vm, iterator);
    const auto* from = static_cast<ListIterator*>(iterator.object());
    copy_member(vm, static_cast<ListIterator*>(made.object())->list, from->list, part);
    return made;
  }
  if (type == types.tuple_iterator) {
    const Value made = copy_iterator(vm, iterator);
    const auto* from = static_cast<TupleIterator*>(iterator.object());
    copy_member(vm, static_cast<TupleIterator*>(made.object())->tuple, from->tuple, part);
    return made;
  }
  return static_cast<NativeIterator*>(iterator.object())->rebuilt(vm, part);
}

Value make_call_iterator(Vm& vm, const Value& function, const Value& sentinel) {
  bool callable = is_kind(function, Kind::Function) || is_kind(function, Kind::NativeFunction) ||
                  is_kind(function, Kind::BoundMethod) || is_kind(function, Kind::Type) ||
                  type_of(vm, function)->slots.call;
  if (!callable) raise_type_error(vm, "iter(v, w): v must be callable");
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kCallIterator));
  Local<CallIterator> it = vm.heap().make<CallIterator>(type);
  it->function = function;
  it->sentinel = sentinel;
  return it.take();
}

void init_iterators(Vm& vm) {
  Types& t = VmAccess::types(vm);
  t.range_iterator = sequence_iterator<RangeIterator>(vm, "range_iterator", range_next, nullptr);
  t.list_iterator = sequence_iterator<ListIterator>(vm, "list_iterator", list_next, [](Object* o, Visitor& visit) {
    visit(static_cast<ListIterator*>(o)->list.get());
  });
  t.tuple_iterator = sequence_iterator<TupleIterator>(vm, "tuple_iterator", tuple_next, [](Object* o, Visitor& visit) {
    visit(static_cast<TupleIterator*>(o)->tuple.get());
  });
  vm.extension(&kCallIterator) = std::make_shared<Type*>(make_iterator_type<CallIterator>(vm, "callable_iterator"));
  t.iterator = *std::static_pointer_cast<Type*>(vm.extension(&kCallIterator));
  add_builtin(vm, "zip", Value(make_iterator_type<Zip>(vm, "zip", zip_construct)));
  add_builtin(vm, "map", Value(make_iterator_type<Map>(vm, "map", map_construct)));
  add_builtin(vm, "filter", Value(make_iterator_type<Filter>(vm, "filter", filter_construct)));
  add_builtin(vm, "enumerate", Value(make_iterator_type<Enumerate>(vm, "enumerate", enumerate_construct)));
  add_builtin(vm, "reversed", Value(make_iterator_type<Reversed>(vm, "reversed", reversed_construct)));
}

}  // namespace tsc::interp
