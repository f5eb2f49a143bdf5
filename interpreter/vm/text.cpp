// repr, str and the iteration protocol over the slots.
#include <algorithm>

#include "interpreter/heap/patience.h"
#include "interpreter/vm/attempt.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {

std::string repr(Vm& vm, const Value& v) {
  switch (v.tag()) {
    case Tag::Undefined: return "<unbound>";
    case Tag::None: return "None";
    case Tag::Bool: return v.as_bool() ? "True" : "False";
    case Tag::Int: return std::to_string(v.as_int());
    case Tag::Float: return float_repr(v.as_float());
    case Tag::Object: break;
  }
  vm.check_native_stack();
  Value text = v.object()->type->slots.repr(vm, v);
  if (!is_kind(text, Kind::Str))
    raise_type_error(vm, "__repr__ returned non-string (type " + type_name(vm, text) + ")");
  return std::string(cast<StrObject>(text)->view());
}

std::string to_string(Vm& vm, const Value& v) {
  if (!v.is_object()) return repr(vm, v);
  if (v.object()->type == vm.types().str) return std::string(cast<StrObject>(v)->view());
  auto slot = v.object()->type->slots.to_str;
  if (!slot) return repr(vm, v);
  vm.check_native_stack();
  Value text = slot(vm, v);
  if (!is_kind(text, Kind::Str)) raise_type_error(vm, "__str__ returned non-string (type " + type_name(vm, text) + ")");
  return std::string(cast<StrObject>(text)->view());
}

Value to_str(Vm& vm, const Value& v) {
  if (v.is_int()) return integer_str(vm, v.as_int());
  if (v.is_object() && v.object()->type == vm.types().str) return v;
  return str_value(vm, to_string(vm, v));
}

namespace {

const char kIndexIterator = 0;

// Old-style iteration: __getitem__ with 0, 1, 2... until IndexError.
struct IndexIterator final : NativeIterator {
  Value sequence;
  int64_t index = 0;
  bool next(Vm& vm, Value& out) override {
    if (!sequence) return false;
    try {
      out = get_item(vm, sequence, Value::integer(index));
    } catch (const ScriptException& e) {
      const ExceptionTypes& types = vm.exceptions();
      Type* type = e.exception()->type;
      if (!type->is_subtype_of(types.IndexError) && !type->is_subtype_of(types.StopIteration)) throw;
      sequence.reset();
      return false;
    }
    ++index;
    return true;
  }
  void traverse(Visitor& visit) override { visit(sequence); }
  auto members() { return std::tie(sequence, index); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};

}  // namespace

void init_index_iterator(Vm& vm) {
  vm.extension(&kIndexIterator) = std::make_shared<Type*>(make_iterator_type<IndexIterator>(vm, "iterator"));
}

Value iterate(Vm& vm, const Value& v) { return or_throw(vm, iterate_softly(vm, v)); }

Value iterate_softly(Vm& vm, const Value& v) {
  Type* type = type_of(vm, v);
  if (type->slots.iterate) {
    Value iterator = type->slots.iterate(vm, v);
    if (!type_of(vm, iterator)->slots.next)
      raise_type_error(vm, "iter() returned non-iterator of type '" + type_name(vm, iterator) + "'");
    return iterator;
  }
  if (type->slots.get_item && (type->type_flags & kScriptClass)) {
    Type* iterator_type = *std::static_pointer_cast<Type*>(vm.extension(&kIndexIterator));
    Local<IndexIterator> iterator = vm.heap().make<IndexIterator>(iterator_type);
    iterator->sequence = v;
    return iterator.take();
  }
  return return_error(vm, vm.exceptions().TypeError, "'" + type->name + "' object is not iterable");
}

bool iterate_next(Vm& vm, const Value& iterator, Value& out) {
  auto next = type_of(vm, iterator)->slots.next;
  if (!next) raise_type_error(vm, "'" + type_name(vm, iterator) + "' object is not an iterator");
  // Native loops (sum, max, in, list) go through here: Ctrl-C and limits stop them too.
  if (vm.interrupts().load(std::memory_order_relaxed)) [[unlikely]]
    vm.handle_interrupts();
  vm.check_native_stack();  // a map over a map over a map...
  return next(vm, iterator, out);
}

void for_each(Vm& vm, const Value& iterable, const std::function<bool(const Value&)>& f) {
  if (is_kind(iterable, Kind::List) && iterable.object()->type == vm.types().list) {
    Local<ListObject> list(cast<ListObject>(iterable));
    for (size_t i = 0; i < list->items.size(); ++i) {
      vm.poll();
      Value item = list->items[i];
      if (!f(item)) return;
    }
    return;
  }
  Value iterator = iterate(vm, iterable);
  Value item;
  while (iterate_next(vm, iterator, item))
    if (!f(item)) return;
}

Local<ListObject> to_list(Vm& vm, const Value& iterable) {
  if (is_kind(iterable, Kind::Tuple) && iterable.object()->type == vm.types().tuple)
    return make_list(vm, cast<TupleObject>(iterable)->span());
  if (is_kind(iterable, Kind::Range)) {
    const RangeObject* range = cast<RangeObject>(iterable);
    Local<ListObject> list = make_list(vm, static_cast<size_t>(std::min<int64_t>(range->length, 4096)));
    Patience patience;
    auto next = static_cast<uint64_t>(range->start);
    for (int64_t left = range->length; left > 0; --left, next += static_cast<uint64_t>(range->step)) {
      patience.step();
      list->items.push_back(Value::integer(static_cast<int64_t>(next)));
    }
    return list;
  }
  Local<ListObject> list = make_list(vm);
  for_each(vm, iterable, [&](const Value& v) {
    list->items.push_back(v);
    return true;
  });
  return list;
}

Local<TupleObject> to_tuple(Vm& vm, const Value& iterable) {
  if (is_kind(iterable, Kind::Tuple) && iterable.object()->type == vm.types().tuple)
    return Local<TupleObject>(cast<TupleObject>(iterable));
  if (is_kind(iterable, Kind::List) && iterable.object()->type == vm.types().list)
    return make_tuple(vm, std::span<const Value>(cast<ListObject>(iterable)->items));
  Local<ListObject> list = to_list(vm, iterable);
  return make_tuple(vm, std::span<const Value>(list->items));
}

}  // namespace tsc::interp
