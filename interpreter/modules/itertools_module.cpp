// itertools: iterators over one stream (the combinatoric ones are in itertools_combinatoric.cpp).
// Each is a native type whose constructor takes what CPython's takes.
#include "interpreter/modules/itertools_types.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {
namespace {

struct Count final : NativeIterator {
  InstanceState state;  // of script classes
  Value value, step;
  bool next(Vm& vm, Value& out) override {
    out = value;
    value = binary(vm, BinaryOp::Add, value, step);
    return true;
  }
  void traverse(Visitor& visit) override { visit(value), visit(step); }
  Value arguments(Vm& vm) const override { return make_tuple(vm, {value, step}).take(); }
  auto members() { return std::tie(value, step); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value count_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("start=0, step=1");
  std::vector<Value> v = bind_arguments(vm, kSignature, "count", args);
  for (const Value& number : v)
    if (is_kind(number, Kind::Str) || !type_of(vm, number)->slots.binary) raise_type_error(vm, "a number is required");
  Local<Count> it = make_iterator<Count>(vm, type);
  it->value = v[0];
  it->step = v[1];
  return it.take();
}
Value count_repr(Vm& vm, const Value& self) {
  auto* it = static_cast<Count*>(self.object());
  bool unit = it->step.is_int() && it->step.as_int() == 1;
  return str_value(
      vm, own_name(self.object()->type) + "(" + repr(vm, it->value) + (unit ? "" : ", " + repr(vm, it->step)) + ")");
}

struct Cycle final : NativeIterator {
  InstanceState state;  // of script classes
  Value source;
  std::vector<Value> saved;
  size_t index = 0;
  bool next(Vm& vm, Value& out) override {
    if (source) {
      if (iterate_next(vm, source, out)) return saved.push_back(out), true;
      source.reset();
    }
    if (saved.empty()) return false;
    out = saved[index];
    index = (index + 1) % saved.size();
    return true;
  }
  void traverse(Visitor& visit) override {
    visit(source);
    for (const Value& v : saved) visit(v);
  }
  auto members() { return std::tie(source, saved, index); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};

struct Repeat final : NativeIterator {
  InstanceState state;  // of script classes
  Value value;
  int64_t left = -1;  // negative: for ever
  bool next(Vm&, Value& out) override {
    if (left == 0) return false;
    if (left > 0) --left;
    out = value;
    return true;
  }
  void traverse(Visitor& visit) override { visit(value); }
  Value arguments(Vm& vm) const override {
    return left < 0 ? make_tuple(vm, {value}).take() : make_tuple(vm, {value, Value::integer(left)}).take();
  }
  auto members() { return std::tie(value, left); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value repeat_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("object, times=?");
  std::vector<Value> v = bind_arguments(vm, kSignature, "repeat", args);
  Local<Repeat> it = make_iterator<Repeat>(vm, type);
  it->value = v[0];
  if (v[1]) it->left = std::max<int64_t>(0, to_index(vm, v[1]));
  return it.take();
}
Value repeat_repr(Vm& vm, const Value& self) {
  auto* it = static_cast<Repeat*>(self.object());
  return str_value(vm, own_name(self.object()->type) + "(" + repr(vm, it->value) +
                           (it->left < 0 ? "" : ", " + std::to_string(it->left)) + ")");
}

struct Chain final : NativeIterator {
  InstanceState state;     // of script classes
  Value sources, current;  // an iterator over iterables, and over the one at hand
  bool next(Vm& vm, Value& out) override {
    while (sources) {
      if (current && iterate_next(vm, current, out)) return true;
      Value iterable;
      if (!iterate_next(vm, sources, iterable)) {
        sources.reset();
        current.reset();
        return false;
      }
      current = iterate(vm, iterable);
    }
    return false;
  }
  void traverse(Visitor& visit) override { visit(sources), visit(current); }
  auto members() { return std::tie(sources, current); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value chain_construct(Vm& vm, Type* type, Args& args) {
  no_keywords_of(vm, type, args);
  Local<Chain> it = make_iterator<Chain>(vm, type);
  it->sources = iterate(vm, make_tuple(vm, args.span()).take());
  return it.take();
}
Value chain_from_iterable(Vm& vm, Args& a) {
  Local<Chain> it = make_iterator<Chain>(vm, cast<Type>(a[0]));
  it->sources = iterate(vm, a[1]);
  return it.take();
}

struct Slice final : NativeIterator {
  InstanceState state;  // of script classes
  Value source;
  int64_t position = 0, wanted = 0, stop = -1, step = 1;  // stop negative: none
  bool next(Vm& vm, Value& out) override {
    if (!source) return false;
    // The source is advanced up to the next wanted place, or up to `stop`, and no further.
    int64_t target = stop >= 0 && wanted >= stop ? stop : wanted + 1;
    while (position < target) {
      if (!iterate_next(vm, source, out)) return source.reset(), false;
      ++position;
    }
    if (stop >= 0 && wanted >= stop) return source.reset(), false;
    if (__builtin_add_overflow(wanted, step, &wanted)) wanted = INT64_MAX - 1;
    return true;
  }
  void traverse(Visitor& visit) override { visit(source); }
  Value arguments(Vm& vm) const override {
    if (!source) return make_tuple(vm, {make_tuple(vm, size_t{0}).value(), Value::integer(0)}).take();
    const Value end = stop < 0 ? Value::none() : Value::integer(stop - position);
    return make_tuple(vm, {source, Value::integer(wanted - position), end, Value::integer(step)}).take();
  }
  auto members() { return std::tie(source, position, wanted, stop, step); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
int64_t slice_argument(Vm& vm, const Value& v, int64_t if_none, const char* message) {
  if (v.is_none()) return if_none;
  if (!is_integer_like(v) && !type_of(vm, v)->slots.to_index) raise_value_error(vm, message);
  int64_t i = to_index(vm, v);
  if (i < 0) raise_value_error(vm, message);
  return i;
}
Value islice_construct(Vm& vm, Type* type, Args& args) {
  no_keywords_of(vm, type, args);
  if (args.count < 2 || args.count > 4)
    raise_type_error(vm, "islice expected at " + std::string(args.count < 2 ? "least 2" : "most 4") +
                             " arguments, got " + std::to_string(args.count));
  const char* stop_message = "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.";
  const char* both_message = "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.";
  Local<Slice> it = make_iterator<Slice>(vm, type);
  if (args.count == 2) {
    it->stop = slice_argument(vm, args[1], -1, stop_message);
  } else {
    it->wanted = slice_argument(vm, args[1], 0, both_message);
    it->stop = slice_argument(vm, args[2], -1, stop_message);
  }
  if (args.count == 4) {
    const char* message = "Step for islice() must be a positive integer or None.";
    it->step = slice_argument(vm, args[3], 1, message);
    if (it->step == 0) raise_value_error(vm, message);
  }
  if (it->stop >= 0 && it->wanted > it->stop) it->wanted = it->stop;
  it->source = iterate(vm, args[0]);
  return it.take();
}

// takewhile, dropwhile, filterfalse and starmap: a function and an iterator.
enum class Rule { TakeWhile, DropWhile, FilterFalse, StarMap };

template <Rule rule>
struct Ruled final : NativeIterator {
  InstanceState state;  // of script classes
  Value function, source;
  bool decided = false;  // dropwhile: the prefix is over; takewhile: the end was seen
  bool holds(Vm& vm, const Value& v) { return truth(vm, function.is_none() ? v : call(vm, function, {v})); }
  bool next(Vm& vm, Value& out) override {
    if (rule == Rule::TakeWhile) {
      if (decided || !iterate_next(vm, source, out)) return false;
      decided = !holds(vm, out);
      return !decided;
    }
    while (iterate_next(vm, source, out)) {
      if (rule == Rule::StarMap) {
        Local<TupleObject> arguments = to_tuple(vm, out);
        out = call(vm, function, arguments->span());
        return true;
      }
      if (rule == Rule::DropWhile && decided) return true;
      if (holds(vm, out)) continue;
      decided = true;
      return true;
    }
    return false;
  }
  void traverse(Visitor& visit) override { visit(function), visit(source); }
  // Where nothing has been decided yet.
  Value arguments(Vm& vm) const override {
    return decided && rule != Rule::FilterFalse ? Value() : make_tuple(vm, {function, source}).take();
  }
  auto members() { return std::tie(function, source, decided); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
template <Rule rule>
Value ruled_construct(Vm& vm, Type* type, Args& args) {
  no_keywords_of(vm, type, args);
  expect_count(vm, own_name(type), args, 2);
  auto it = make_iterator<Ruled<rule>>(vm, type);
  it->function = args[0];
  it->source = iterate(vm, args[1]);
  return it.take();
}

struct Compress final : NativeIterator {
  InstanceState state;  // of script classes
  Value data, selectors;
  bool next(Vm& vm, Value& out) override {
    Value selected;
    while (iterate_next(vm, data, out) && iterate_next(vm, selectors, selected))
      if (truth(vm, selected)) return true;
    return false;
  }
  void traverse(Visitor& visit) override { visit(data), visit(selectors); }
  Value arguments(Vm& vm) const override { return make_tuple(vm, {data, selectors}).take(); }
  auto members() { return std::tie(data, selectors); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value compress_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("data, selectors");
  std::vector<Value> v = bind_arguments(vm, kSignature, "compress", args);
  Local<Compress> it = make_iterator<Compress>(vm, type);
  it->data = iterate(vm, v[0]);
  it->selectors = iterate(vm, v[1]);
  return it.take();
}

struct Accumulate final : NativeIterator {
  InstanceState state;  // of script classes
  Value function, source, total;
  bool initial = false;  // the initial value is still to be given
  bool next(Vm& vm, Value& out) override {
    if (initial) {
      initial = false;
      out = total;
      return true;
    }
    Value item;
    if (!iterate_next(vm, source, item)) return false;
    if (!total) total = item;
    else if (function.is_none()) total = binary(vm, BinaryOp::Add, total, item);
    else total = call(vm, function, {total, item});
    out = total;
    return true;
  }
  void traverse(Visitor& visit) override { visit(function), visit(source), visit(total); }
  auto members() { return std::tie(function, source, total, initial); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value accumulate_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("iterable, func=None, *, initial=None");
  std::vector<Value> v = bind_arguments(vm, kSignature, "accumulate", args);
  Local<Accumulate> it = make_iterator<Accumulate>(vm, type);
  it->source = iterate(vm, v[0]);
  it->function = v[1];
  if (!v[2].is_none()) it->total = v[2], it->initial = true;
  return it.take();
}

struct Pairwise final : NativeIterator {
  InstanceState state;  // of script classes
  Value source, previous;
  bool next(Vm& vm, Value& out) override {
    if (!source) return false;
    // Whoever gives an item may ask this very iterator meanwhile.
    const Value from = source;
    Value item;
    if (!previous) {
      if (!iterate_next(vm, from, item)) return end();
      previous = item;
      if (!source) return end();
    }
    const Value before = previous;
    if (!iterate_next(vm, from, item)) return end();
    previous = item;
    out = make_tuple(vm, std::vector<Value>{before, item}).take();
    return true;
  }
  bool end() {
    source.reset();
    previous.reset();
    return false;
  }
  void traverse(Visitor& visit) override { visit(source), visit(previous); }
};
template <class T>
Value one_source_construct(Vm& vm, Type* type, Args& args) {
  no_keywords_of(vm, type, args);
  expect_count(vm, own_name(type), args, 1);
  Local<T> it = make_iterator<T>(vm, type);
  it->source = iterate(vm, args[0]);
  return it.take();
}

struct ZipLongest final : NativeIterator {
  InstanceState state;         // of script classes
  std::vector<Value> sources;  // Undefined once exhausted
  Value fill = Value::none();
  size_t active = 0;
  bool next(Vm& vm, Value& out) override {
    if (!active) return false;
    Local<TupleObject> t = make_tuple(vm, sources.size());
    for (size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] && iterate_next(vm, sources[i], t->items[i])) continue;
      if (sources[i]) {
        sources[i].reset();
        if (--active == 0) return false;
      }
      t->items[i] = fill;
    }
    out = t.take();
    return true;
  }
  void traverse(Visitor& visit) override {
    for (const Value& v : sources) visit(v);
    visit(fill);
  }
  auto members() { return std::tie(sources, fill, active); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value zip_longest_construct(Vm& vm, Type* type, Args& args) {
  Local<ZipLongest> it = make_iterator<ZipLongest>(vm, type);
  for (uint32_t i = 0; i < args.keyword_count; ++i) {
    if (args.keyword_names[i]->view() != "fillvalue")
      raise_type_error(vm, "zip_longest() got an unexpected keyword argument");
    it->fill = args.keyword_values[i];
  }
  for (const Value& v : args.span()) it->sources.push_back(iterate(vm, v));
  it->active = it->sources.size();
  return it.take();
}

struct GroupBy final : NativeIterator {
  InstanceState state;                    // of script classes
  Value source, key_function, key, item;  // `item` was read and belongs to the group of `key`
  Value current;                          // the key of the group that was handed out last
  uint64_t group = 0;                     // its number: an older group object is over
  Type* group_type = nullptr;
  bool advance(Vm& vm) {
    item.reset();
    if (!source || !iterate_next(vm, source, item)) return source.reset(), false;
    key = key_function.is_none() ? item : call(vm, key_function, {item});
    return true;
  }
  bool next(Vm& vm, Value& out) override;
  void traverse(Visitor& visit) override {
    for (const Value* v : {&source, &key_function, &key, &item, &current}) visit(*v);
  }
  auto members() { return std::tie(source, key_function, key, item, current, group, group_type); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
struct Group final : NativeIterator {
  Local<GroupBy> parent;
  uint64_t number = 0;
  bool next(Vm& vm, Value& out) override {
    if (parent->group != number) return false;
    if (!parent->item && !parent->advance(vm)) return false;
    if (!equal(vm, parent->key, parent->current)) return false;
    out = std::exchange(parent->item, Value());
    return true;
  }
  void traverse(Visitor& visit) override { visit(parent.get()); }
};
bool GroupBy::next(Vm& vm, Value& out) {
  ++group;
  do {
    if (!item && !advance(vm)) return false;
    if (!current || !equal(vm, key, current)) break;
    item.reset();
  } while (true);
  current = key;
  Local<Group> members = vm.heap().make<Group>(group_type);
  members->parent = Local<GroupBy>(this);
  members->number = group;
  out = make_tuple(vm, std::vector<Value>{key, members.value()}).take();
  return true;
}
const char kGroupType = 0;
Value groupby_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kSignature("iterable, key=None");
  std::vector<Value> v = bind_arguments(vm, kSignature, "groupby", args);
  Local<GroupBy> it = make_iterator<GroupBy>(vm, type);
  it->source = iterate(vm, v[0]);
  it->key_function = v[1];
  it->group_type = *std::static_pointer_cast<Type*>(vm.extension(&kGroupType));
  return it.take();
}

// What the iterators of one tee() share: a chain of items, read from the source on demand.
struct TeeNode {
  Value value;
  std::shared_ptr<TeeNode> next;
};
struct TeeSource {
  Value iterator;
  bool is_asked = false;  // it is giving an item
};
struct Tee final : NativeIterator {
  std::shared_ptr<TeeSource> source;
  std::shared_ptr<TeeNode> node;  // the last item given; an empty one before the first
  ~Tee() override {
    while (node && node.use_count() == 1) node = std::shared_ptr<TeeNode>(std::move(node->next));
  }
  bool next(Vm& vm, Value& out) override {
    if (!node->next) {
      if (source->is_asked) raise(vm, vm.exceptions().RuntimeError, "cannot re-enter the tee iterator");
      const std::shared_ptr<TeeSource> asked = source;
      const std::shared_ptr<TeeNode> last = node;
      struct Asking {
        TeeSource& of;
        explicit Asking(TeeSource& s) : of(s) { of.is_asked = true; }
        ~Asking() { of.is_asked = false; }
      } asking(*asked);
      Value item;
      if (!iterate_next(vm, asked->iterator, item)) return false;
      last->next = std::allocate_shared<TeeNode>(Counted<TeeNode>(), TeeNode{std::move(item), nullptr});
    }
    node = std::shared_ptr<TeeNode>(node->next);
    out = node->value;
    return true;
  }
  // With a chain of its own, of what is read already.
  Value rebuilt(Vm& vm, const CopiedPart& part) const override {
    Local<Tee> made = vm.heap().make<Tee>(type);
    const std::shared_ptr<TeeNode> from = node;
    made->source = std::make_shared<TeeSource>(TeeSource{part(source->iterator)});
    made->node = std::make_shared<TeeNode>();
    std::shared_ptr<TeeNode> last = made->node;
    for (std::shared_ptr<TeeNode> read = from->next; read; read = read->next) {
      last->next = std::allocate_shared<TeeNode>(Counted<TeeNode>(), TeeNode{part(read->value), nullptr});
      last = last->next;
    }
    return made.take();
  }
};
Value tee_copy(Vm& vm, Args& a) {
  auto* self = static_cast<Tee*>(a[0].object());
  Local<Tee> copy = vm.heap().make<Tee>(self->type);
  copy->source = self->source;
  copy->node = self->node;
  return copy.take();
}
const char kTeeType = 0;
Value tee(Vm& vm, Args& a) {
  int64_t n = to_index(vm, a[1]);
  if (n < 0) raise_value_error(vm, "n must be >= 0");
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kTeeType));
  auto source = std::make_shared<TeeSource>(TeeSource{iterate(vm, a[0])});
  auto start = std::make_shared<TeeNode>();
  std::vector<Value> copies;
  for (int64_t i = 0; i < n; ++i) {
    Local<Tee> it = vm.heap().make<Tee>(type);
    it->source = source;
    it->node = start;
    copies.push_back(it.take());
  }
  return make_tuple(vm, copies).take();
}

void add_special_types(Vm& vm, ModuleBuilder& m) {
  Type* count = itertools_type<Count>(vm, m, "count", count_construct);
  count->slots.repr = count_repr;
  itertools_type<Repeat>(vm, m, "repeat", repeat_construct)->slots.repr = repeat_repr;
  Type* chain = itertools_type<Chain>(vm, m, "chain", chain_construct);
  TypeBuilder::existing(vm, chain).class_method("from_iterable", "cls, iterable, /", chain_from_iterable);
  vm.extension(&kGroupType) = std::make_shared<Type*>(make_iterator_type<Group>(vm, "_grouper"));
  Type* tee_type = make_iterator_type<Tee>(vm, "_tee");
  TypeBuilder::existing(vm, tee_type).method("__copy__", "self", tee_copy);
  vm.extension(&kTeeType) = std::make_shared<Type*>(tee_type);
}

}  // namespace

Local<ModuleObject> make_itertools_module(Vm& vm) {
  ModuleBuilder m(vm, "itertools");
  add_special_types(vm, m);
  itertools_type<Cycle>(vm, m, "cycle", one_source_construct<Cycle>);
  itertools_type<Slice>(vm, m, "islice", islice_construct);
  itertools_type<Ruled<Rule::TakeWhile>>(vm, m, "takewhile", ruled_construct<Rule::TakeWhile>);
  itertools_type<Ruled<Rule::DropWhile>>(vm, m, "dropwhile", ruled_construct<Rule::DropWhile>);
  itertools_type<Ruled<Rule::FilterFalse>>(vm, m, "filterfalse", ruled_construct<Rule::FilterFalse>);
  itertools_type<Ruled<Rule::StarMap>>(vm, m, "starmap", ruled_construct<Rule::StarMap>);
  itertools_type<Compress>(vm, m, "compress", compress_construct);
  itertools_type<Accumulate>(vm, m, "accumulate", accumulate_construct);
  itertools_type<Pairwise>(vm, m, "pairwise", one_source_construct<Pairwise>);
  itertools_type<ZipLongest>(vm, m, "zip_longest", zip_longest_construct);
  itertools_type<GroupBy>(vm, m, "groupby", groupby_construct);
  add_combinatoric_types(vm, m);
  m.function("tee", "iterable, n=2, /", tee);
  return m.finish();
}

}  // namespace tsc::interp
