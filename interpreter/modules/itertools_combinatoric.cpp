// itertools: product, permutations, combinations, combinations_with_replacement. All walk a row of
// indices into pools in lexicographic order.
#include <numeric>

#include "interpreter/heap/patience.h"
#include "interpreter/modules/itertools_types.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {
namespace {

struct Product final : NativeIterator {
  InstanceState state;       // of script classes
  std::vector<Value> pools;  // tuples
  std::vector<size_t, Counted<size_t>> indices;
  bool started = false, done = false;
  bool next(Vm& vm, Value& out) override {
    if (done) return false;
    if (started) step();
    else start();
    started = true;
    if (done) return false;
    Local<TupleObject> t = make_tuple(vm, pools.size());
    for (size_t i = 0; i < pools.size(); ++i) t->items[i] = pool(i)->items[indices[i]];
    out = t.take();
    return true;
  }
  void start() {
    indices.assign(pools.size(), 0);
    for (size_t i = 0; i < pools.size(); ++i) done |= pool(i)->size == 0;
  }
  const TupleObject* pool(size_t i) const { return cast<TupleObject>(pools[i]); }
  void step() {
    for (size_t i = pools.size(); i-- > 0;) {
      if (++indices[i] < pool(i)->size) return;
      indices[i] = 0;
    }
    done = true;
  }
  void traverse(Visitor& visit) override {
    for (const Value& pool : pools) visit(pool);
  }
  auto members() { return std::tie(pools, indices, started, done); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
Value product_construct(Vm& vm, Type* type, Args& args) {
  int64_t repeat = 1;
  for (uint32_t i = 0; i < args.keyword_count; ++i) {
    if (args.keyword_names[i]->view() != "repeat")
      raise_type_error(
          vm, "'" + std::string(args.keyword_names[i]->view()) + "' is an invalid keyword argument for product()");
    repeat = to_index(vm, args.keyword_values[i]);
  }
  if (repeat < 0) raise_value_error(vm, "repeat argument cannot be negative");
  Local<Product> it = make_iterator<Product>(vm, type);
  for (const Value& v : args.span()) it->pools.push_back(to_tuple(vm, v).take());
  size_t once = it->pools.size();
  if (once) vm.heap().check_room(once * static_cast<size_t>(std::min(repeat, int64_t{1} << 40)) * sizeof(Value));
  Patience patience;
  for (int64_t r = 1; r < repeat && once; ++r)
    for (size_t i = 0; i < once; ++i) patience.step(), it->pools.push_back(Value(it->pools[i]));
  if (repeat == 0) it->pools.clear();
  return it.take();
}

// The rows of indices of the other three.
enum class Selection { Permutations, Combinations, WithReplacement };

template <Selection selection>
struct Selector final : NativeIterator {
  InstanceState state;  // of script classes
  Values pool;
  std::vector<size_t, Counted<size_t>> indices, cycles;
  size_t chosen = 0;
  bool started = false, done = false;
  bool next(Vm& vm, Value& out) override {
    if (done) return false;
    if (started) done = !step();
    else start();
    started = true;
    if (done) return false;
    Local<TupleObject> t = make_tuple(vm, chosen);
    for (size_t i = 0; i < chosen; ++i) t->items[i] = pool[indices[i]];
    out = t.take();
    return true;
  }
  void start() {
    size_t n = pool.size();
    if (selection == Selection::WithReplacement) {
      indices.assign(chosen, 0);
      done = n == 0 && chosen > 0;
      return;
    }
    done = chosen > n;
    indices.resize(n);
    std::iota(indices.begin(), indices.end(), size_t{0});
    if (selection == Selection::Permutations)
      for (size_t i = 0; i < chosen && !done; ++i) cycles.push_back(n - i);
  }
  bool step() { return selection == Selection::Permutations ? step_permutation() : step_combination(); }
  bool step_permutation() {
    size_t n = pool.size();
    for (size_t i = chosen; i-- > 0;) {
      if (--cycles[i] == 0) {
        std::rotate(indices.begin() + static_cast<long>(i), indices.begin() + static_cast<long>(i) + 1, indices.end());
        cycles[i] = n - i;
      } else {
        std::swap(indices[i], indices[n - cycles[i]]);
        return true;
      }
    }
    return false;
  }
  bool step_combination() {
    constexpr bool again = selection == Selection::WithReplacement;
    size_t n = pool.size();
    for (size_t i = chosen; i-- > 0;) {
      size_t last = again ? n - 1 : i + n - chosen;
      if (indices[i] == last) continue;
      size_t value = ++indices[i];
      for (size_t j = i + 1; j < chosen; ++j) indices[j] = again ? value : ++value;
      return true;
    }
    return false;
  }
  void traverse(Visitor& visit) override {
    for (const Value& v : pool) visit(v);
  }
  auto members() { return std::tie(pool, indices, cycles, chosen, started, done); }
  Value rebuilt(Vm& vm, const CopiedPart& part) const override { return rebuild(vm, *this, part); }
};
template <Selection selection>
Value selector_construct(Vm& vm, Type* type, Args& args) {
  static const Signature kOptional("iterable, r=None");
  static const Signature kRequired("iterable, r");
  constexpr bool optional = selection == Selection::Permutations;
  std::vector<Value> v = bind_arguments(vm, optional ? kOptional : kRequired, own_name(type), args);
  auto it = make_iterator<Selector<selection>>(vm, type);
  it->pool = std::move(to_list(vm, v[0])->items);
  int64_t r = v[1].is_none() && optional ? static_cast<int64_t>(it->pool.size()) : to_index(vm, v[1]);
  if (r < 0) raise_value_error(vm, "r must be non-negative");
  it->chosen = static_cast<size_t>(r);
  return it.take();
}

template <Selection selection>
void add(Vm& vm, ModuleBuilder& m, std::string_view name) {
  itertools_type<Selector<selection>>(vm, m, name, selector_construct<selection>);
}

}  // namespace

void add_combinatoric_types(Vm& vm, ModuleBuilder& m) {
  itertools_type<Product>(vm, m, "product", product_construct);
  add<Selection::Permutations>(vm, m, "permutations");
  add<Selection::Combinations>(vm, m, "combinations");
  add<Selection::WithReplacement>(vm, m, "combinations_with_replacement");
}

}  // namespace tsc::interp
