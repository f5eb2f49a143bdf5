// _functools: the parts of functools that are called often: partial, reduce, cmp_to_key and the object
// that lru_cache makes. functools.tsc holds the rest.
#include "interpreter/modules/itertools_types.h"
#include "interpreter/modules/partial.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {
namespace {

// --- partial ----------------------------------------------------------------------------------------

Partial* partial_of(const Value& v) { return static_cast<Partial*>(v.object()); }

void partial_traverse(Object* o, Visitor& visit) {
  auto* p = static_cast<Partial*>(o);
  visit(p->function);
  for (const Value& v : p->positional) visit(v);
  for (const auto& [name, value] : p->keywords) visit(value);
  traverse_instance(o, visit);
}
void set_keyword(Partial& p, StrObject* name, const Value& value) {
  for (auto& [known, old] : p.keywords)
    if (known.get() == name) {
      old = value;
      return;
    }
  p.keywords.emplace_back(Local<StrObject>(name), value);
}
Value partial_construct(Vm& vm, Type* type, Args& args) {
  if (!args.count) raise_type_error(vm, "type 'partial' takes at least one argument");
  if (!args[0].is_object() || !type_of(vm, args[0])->slots.call) {
    Kind kind = args[0].is_object() ? args[0].object()->kind : Kind::Str;
    if (kind != Kind::Function && kind != Kind::NativeFunction && kind != Kind::BoundMethod)
      raise_type_error(vm, "the first argument must be callable");
  }
  Local<Partial> p = vm.heap().make<Partial>(type);
  p->state.shape = type->root();
  p->function = args[0];
  if (args[0].object()->type == type) {  // a partial of a partial is one partial
    Partial* inner = partial_of(args[0]);
    p->function = inner->function;
    p->positional = inner->positional;
    p->keywords = inner->keywords;
  }
  p->positional.insert(p->positional.end(), args.positional + 1, args.positional + args.count);
  for (uint32_t i = 0; i < args.keyword_count; ++i)
    set_keyword(*p, intern(vm, args.keyword_names[i]).get(), args.keyword_values[i]);
  return p.take();
}
Value partial_call(Vm& vm, const Value& self, Args& args) {
  Partial* p = partial_of(self);
  std::vector<Value> positional = p->positional;
  positional.insert(positional.end(), args.positional, args.positional + args.count);
  Args full;
  full.positional = positional.data();
  full.count = static_cast<uint32_t>(positional.size());
  std::vector<StrObject*> names;
  std::vector<Value> values;
  for (const auto& [name, value] : p->keywords) {
    names.push_back(name);
    values.push_back(value);
  }
  for (uint32_t i = 0; i < args.keyword_count; ++i) {
    StrObject* name = intern(vm, args.keyword_names[i]).get();
    auto known = std::find(names.begin(), names.end(), name);
    if (known != names.end()) values[static_cast<size_t>(known - names.begin())] = args.keyword_values[i];
    else names.push_back(name), values.push_back(args.keyword_values[i]);
  }
  full.keyword_count = static_cast<uint32_t>(names.size());
  full.keyword_names = names.data();
  full.keyword_values = values.data();
  Value function = p->function;
  return call(vm, function, full);
}
Value partial_repr(Vm& vm, const Value& self) {
  Partial* p = partial_of(self);
  std::string name = own_name(self.object()->type);
  std::string text = (name == "partial" ? "functools." : "") + name + "(" + repr(vm, p->function);
  for (const Value& v : p->positional) text += ", " + repr(vm, v);
  for (const auto& [key, value] : p->keywords) text += ", " + std::string(key->view()) + "=" + repr(vm, value);
  return str_value(vm, text + ")");
}
Value partial_function(Vm&, const Value& self) { return partial_of(self)->function; }
Value partial_args(Vm& vm, const Value& self) { return make_tuple(vm, partial_of(self)->positional).take(); }
Value partial_keywords(Vm& vm, const Value& self) {
  Local<DictObject> dict = make_dict(vm);
  for (const auto& [name, value] : partial_of(self)->keywords) dict_set(vm, dict, name.value(), value);
  return dict.take();
}
Type* make_partial_type(Vm& vm) {
  TypeBuilder b(vm, "partial", Kind::Native);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<Partial>;
  s.traverse = partial_traverse;
  s.construct = partial_construct;
  s.call = partial_call;
  s.repr = partial_repr;
  b.with_attributes(offset_of(&Partial::state)).allow_subclasses();
  b.module("functools")
      .attribute("__doc__", str_value(vm, "partial(func, *args, **keywords): a function with arguments already given."))
      .getter("func", partial_function)
      .getter("args", partial_args)
      .getter("keywords", partial_keywords);
  return b.finish();
}

}  // namespace

bool is_partial_type(const Type* type) {
  return type->slots.construct == partial_construct && !(type->type_flags & kScriptClass);
}

const Partial* as_plain_partial(const Value& v) {
  return is_kind(v, Kind::Native) && is_partial_type(v.object()->type) ? partial_of(v) : nullptr;
}

namespace {

// --- cmp_to_key -------------------------------------------------------------------------------------

struct Key : Object {
  Value function, object;
  Key() : Object(Kind::Native) {}
};
const char kKeyType = 0;
Type* extension_type(Vm& vm, const char* key) { return *std::static_pointer_cast<Type*>(vm.extension(key)); }
Value key_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  Type* type = extension_type(vm, &kKeyType);
  if (!b.is_object() || b.object()->type != type) raise_type_error(vm, "other argument must be K instance");
  auto *x = static_cast<Key*>(a.object()), *y = static_cast<Key*>(b.object());
  if (x->object.is_undefined() || y->object.is_undefined()) raise(vm, vm.exceptions().AttributeError, "object");
  Value order = call(vm, x->function, {x->object, y->object});
  return compare(vm, op, order, Value::integer(0));
}
Value key_call(Vm& vm, const Value& self, Args& args) {
  const bool by_keyword = !args.count && args.keyword_count == 1 && args.keyword_names[0]->view() == "obj";
  if (!by_keyword) expect_count(vm, "K", args, 1);
  auto* maker = static_cast<Key*>(self.object());
  Local<Key> key = vm.heap().make<Key>(self.object()->type);
  key->function = maker->function;
  key->object = by_keyword ? args.keyword_values[0] : args[0];
  return key.take();
}
Value cmp_to_key(Vm& vm, Args& a) {
  Local<Key> maker = vm.heap().make<Key>(extension_type(vm, &kKeyType));
  maker->function = a[0];
  return maker.take();
}
void init_key_type(Vm& vm) {
  TypeBuilder b(vm, "KeyWrapper", Kind::Native);
  b.slots().destroy = destroy_as<Key>;
  b.slots().traverse = [](Object* o, Visitor& visit) {
    visit(static_cast<Key*>(o)->function);
    visit(static_cast<Key*>(o)->object);
  };
  b.slots().compare = key_compare;
  b.slots().call = key_call;
  b.slots().hash = nullptr;
  b.attribute("__hash__", Value::none());
  b.module("functools").getter("obj", [](Vm&, const Value& v) {
    const Value& object = static_cast<Key*>(v.object())->object;
    return object ? object : Value::none();
  });
  vm.extension(&kKeyType) = std::make_shared<Type*>(b.finish());
}

Value reduce(Vm& vm, Args& a) {
  Value total = a.has(2) ? a[2] : Value();
  Value function = a[0];
  if (!type_of(vm, a[1])->slots.iterate && !type_of(vm, a[1])->slots.get_item)
    raise_type_error(vm, "reduce() arg 2 must support iteration");
  for_each(vm, a[1], [&](const Value& item) {
    total = total ? call(vm, function, {total, item}) : item;
    return true;
  });
  if (!total) raise_type_error(vm, "reduce() of empty iterable with no initial value");
  return total;
}

// --- lru_cache --------------------------------------------------------------------------------------

// A call cache. The entries are a list by age inside `nodes`; the table maps a key to its node.
struct CallCache : Instance {
  struct Node {
    Value key, result;
    int64_t newer = -1, older = -1;
  };
  Value function, make_info;
  Value annotations;   // Undefined: those of the function
  int64_t limit = -1;  // negative: none
  bool typed = false;
  int64_t hits = 0, misses = 0;
  Table table;
  std::vector<Node> nodes;
  std::vector<int64_t> unused;
  int64_t newest = -1, oldest = -1;
  CallCache() : Instance(Kind::Native) {}

  void unlink(int64_t i) {
    Node& n = nodes[static_cast<size_t>(i)];
    (n.newer >= 0 ? nodes[static_cast<size_t>(n.newer)].older : newest) = n.older;
    (n.older >= 0 ? nodes[static_cast<size_t>(n.older)].newer : oldest) = n.newer;
  }
  void link_newest(int64_t i) {
    Node& n = nodes[static_cast<size_t>(i)];
    n.newer = -1;
    n.older = newest;
    if (newest >= 0) nodes[static_cast<size_t>(newest)].newer = i;
    else oldest = i;
    newest = i;
  }
  void clear() {
    table.clear();
    nodes.clear();
    unused.clear();
    newest = oldest = -1;
    hits = misses = 0;
  }
};
CallCache* cache_of(const Value& v) { return static_cast<CallCache*>(v.object()); }
const char kCacheType = 0;

Value cache_key(Vm& vm, const CallCache& cache, const Args& args) {
  bool plain = !args.keyword_count && !cache.typed;
  if (plain && args.count == 1 &&
      (args[0].is_int() || (args[0].is_object() && args[0].object()->type == vm.types().str)))
    return args[0];
  std::vector<Value> parts(args.positional, args.positional + args.count);
  if (args.keyword_count) parts.push_back(Value(vm.types().object));  // ends the positional ones
  for (uint32_t i = 0; i < args.keyword_count; ++i) {
    parts.push_back(Value(args.keyword_names[i]));
    parts.push_back(args.keyword_values[i]);
  }
  if (cache.typed) {
    for (const Value& v : args.span()) parts.push_back(Value(type_of(vm, v)));
    for (uint32_t i = 0; i < args.keyword_count; ++i) parts.push_back(Value(type_of(vm, args.keyword_values[i])));
  }
  return make_tuple(vm, parts).take();
}
void cache_store(Vm& vm, CallCache& cache, const Value& key, uint64_t hash, const Value& result) {
  if (cache.table.find(vm, key, hash) >= 0) return;  // a recursive call was faster
  Value evicted_key, evicted;
  if (cache.limit >= 0 && static_cast<int64_t>(cache.table.size()) >= cache.limit) {
    int64_t old = cache.oldest;
    CallCache::Node& node = cache.nodes[static_cast<size_t>(old)];
    evicted_key = node.key;
    evicted = std::exchange(node.result, Value());
    cache.unlink(old);
    cache.unused.push_back(old);
    int64_t place = cache.table.find(vm, evicted_key);
    if (place >= 0) cache.table.remove_at(static_cast<uint32_t>(place));
  }
  int64_t at;
  if (cache.unused.empty()) {
    at = static_cast<int64_t>(cache.nodes.size());
    cache.nodes.emplace_back();
  } else {
    at = cache.unused.back();
    cache.unused.pop_back();
  }
  cache.nodes[static_cast<size_t>(at)].key = key;
  cache.nodes[static_cast<size_t>(at)].result = result;
  cache.link_newest(at);
  cache.table.insert(vm, key, hash, Value::integer(at));
}
Value cache_call(Vm& vm, const Value& self, Args& args) {
  CallCache* cache = cache_of(self);
  Value function = cache->function;
  if (cache->limit == 0) {
    ++cache->misses;
    return call(vm, function, args);
  }
  Value key = cache_key(vm, *cache, args);
  uint64_t hashed = hash(vm, key);
  int64_t place = cache->table.find(vm, key, hashed);
  if (place >= 0) {
    ++cache->hits;
    int64_t at = cache->table.entry(static_cast<uint32_t>(place)).value.as_int();
    if (cache->limit > 0 && cache->newest != at) {
      cache->unlink(at);
      cache->link_newest(at);
    }
    return cache->nodes[static_cast<size_t>(at)].result;
  }
  ++cache->misses;
  Value result = call(vm, function, args);
  cache_store(vm, *cache, key, hashed, result);
  return result;
}
void cache_traverse(Object* o, Visitor& visit) {
  auto* cache = static_cast<CallCache*>(o);
  visit(cache->function);
  visit(cache->make_info);
  visit(cache->annotations);
  for (uint32_t i = 0; i < cache->table.used(); ++i) visit(cache->table.entry(i).key);
  for (const auto& node : cache->nodes) visit(node.key), visit(node.result);
  traverse_instance(o, visit);
}
Value cache_info(Vm& vm, Args& a) {
  CallCache* cache = cache_of(a[0]);
  return call(vm, cache->make_info,
              {Value::integer(cache->hits), Value::integer(cache->misses),
               cache->limit < 0 ? Value::none() : Value::integer(cache->limit),
               Value::integer(static_cast<int64_t>(cache->table.size()))});
}
Value cache_clear(Vm&, Args& a) {
  cache_of(a[0])->clear();
  return Value::none();
}
Value cache_copy(Vm&, Args& a) { return a[0]; }
Value cache_annotations(Vm& vm, const Value& self) {
  CallCache* cache = cache_of(self);
  return cache->annotations ? cache->annotations : get_attribute(vm, cache->function, vm.names().annotations);
}
void cache_set_annotations(Vm&, const Value& self, const Value& value) { cache_of(self)->annotations = value; }
Value cached_call(Vm& vm, Args& a) {
  Type* type = extension_type(vm, &kCacheType);
  Local<CallCache> cache = vm.heap().make<CallCache>(type);
  cache->state.shape = type->root();
  cache->function = a[0];
  cache->limit = a[1].is_none() ? -1 : std::max<int64_t>(0, to_index(vm, a[1]));
  cache->typed = truth(vm, a[2]);
  cache->make_info = a[3];
  return cache.take();
}
void init_cache_type(Vm& vm) {
  TypeBuilder b(vm, "_lru_cache_wrapper", Kind::Native);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<CallCache>;
  s.release = [](Heap& heap, Object* o) {
    auto* cache = static_cast<CallCache*>(o);
    while (!cache->nodes.empty() && !heap.is_late()) cache->nodes.pop_back();
    return cache->nodes.empty() && release_entries(heap, cache->table);
  };
  s.traverse = cache_traverse;
  s.call = cache_call;
  s.bind = [](Vm& vm, const Value& self, const Value& instance, Type*) {
    return instance ? make_bound_method(vm, self, instance) : self;
  };
  b.with_attributes(offset_of(&CallCache::state));
  b.module("functools")
      .getter("__annotations__", cache_annotations, cache_set_annotations)
      .method("cache_info", "self", cache_info)
      .method("cache_clear", "self", cache_clear)
      .method("__copy__", "self", cache_copy)
      .method("__deepcopy__", "self, memo", cache_copy);
  vm.extension(&kCacheType) = std::make_shared<Type*>(b.finish());
}

}  // namespace

Local<ModuleObject> make_functools_module(Vm& vm) {
  ModuleBuilder m(vm, "_functools");
  init_key_type(vm);
  init_cache_type(vm);
  m.value("partial", Value(make_partial_type(vm)))
      .function("reduce", "function, iterable, initial=?, /", reduce)
      .function("cmp_to_key", "mycmp", cmp_to_key)
      .function("cached_call", "function, maxsize, typed, make_info", cached_call);
  return m.finish();
}

}  // namespace tsc::interp
