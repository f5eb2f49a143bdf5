// random: the Mersenne Twister with CPython's seeding and algorithms, so that a seed gives the same
// numbers here and there.
#include <cmath>
#include <optional>
#include <unordered_set>
#include <utility>

#include "interpreter/modules/digests.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/buffer.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/numbers.h"
#include "interpreter/vm/system_hooks.h"

namespace tsc::interp {
namespace {

class Twister {
 public:
  Twister() { seed(static_cast<uint64_t>(5489)); }
  void seed(uint64_t value) {
    std::vector<uint32_t> key{static_cast<uint32_t>(value)};
    if (value >> 32) key.push_back(static_cast<uint32_t>(value >> 32));
    seed(key);
  }
  void seed(const std::vector<uint32_t>& key) {
    init(19650218);
    size_t i = 1, j = 0;
    for (size_t k = std::max(kSize, key.size()); k; --k) {
      state_[i] =
          (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] + static_cast<uint32_t>(j);
      if (++i >= kSize) state_[0] = state_[kSize - 1], i = 1;
      if (++j >= key.size()) j = 0;
    }
    for (size_t k = kSize - 1; k; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) - static_cast<uint32_t>(i);
      if (++i >= kSize) state_[0] = state_[kSize - 1], i = 1;
    }
    state_[0] = 0x80000000u;
    has_gauss_ = false;
  }
  uint32_t next() {
    if (index_ >= kSize) refill();
    uint32_t y = state_[index_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  double uniform() {
    uint32_t a = next() >> 5, b = next() >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
  }
  uint64_t bits(int64_t k) {
    if (k == 0) return 0;
    if (k <= 32) return next() >> (32 - k);
    uint64_t low = next();
    uint64_t high = next();
    if (k < 64) high >>= 64 - k;
    return low | high << 32;
  }
  uint64_t below(uint64_t n) {
    int64_t k = n ? 64 - __builtin_clzll(n) : 0;
    uint64_t r = bits(k);
    while (r >= n) r = bits(k);
    return r;
  }
  double gauss() {
    if (has_gauss_) {
      has_gauss_ = false;
      return gauss_;
    }
    const double turn = uniform();
    return pair_of(turn, uniform());
  }
  // The normal number that an earlier pair left.
  std::optional<double> take_kept() { return std::exchange(has_gauss_, false) ? std::optional(gauss_) : std::nullopt; }
  // A normal number of two uniform ones, which keeps another.
  double pair_of(double first, double second) {
    const double angle = first * 2 * M_PI, radius = std::sqrt(-2.0 * std::log(1.0 - second));
    gauss_ = std::sin(angle) * radius;
    has_gauss_ = true;
    return std::cos(angle) * radius;
  }

  // 624 words and the index of the next one.
  std::vector<uint32_t> words() const {
    std::vector<uint32_t> all(state_, state_ + kSize);
    all.push_back(static_cast<uint32_t>(index_));
    return all;
  }
  std::optional<double> kept_gauss() const { return has_gauss_ ? std::optional<double>(gauss_) : std::nullopt; }
  // False when these are not the words of a state.
  bool restore(const std::vector<uint32_t>& all, std::optional<double> kept) {
    if (all.size() != kSize + 1 || all[kSize] > kSize) return false;
    std::copy(all.begin(), all.end() - 1, state_);
    index_ = all[kSize];
    has_gauss_ = kept.has_value();
    gauss_ = kept.value_or(0);
    return true;
  }

 private:
  static constexpr size_t kSize = 624, kMiddle = 397;
  void init(uint32_t s) {
    state_[0] = s;
    for (size_t i = 1; i < kSize; ++i)
      state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
    index_ = kSize;
  }
  void refill() {
    for (size_t i = 0; i < kSize; ++i) {
      uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
      state_[i] = state_[(i + kMiddle) % kSize] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
    }
    index_ = 0;
  }
  uint32_t state_[kSize];
  size_t index_ = kSize;
  bool has_gauss_ = false;
  double gauss_ = 0;
};

struct RandomObject : Object {
  Twister twister;
  InstanceState state;
  RandomObject() : Object(Kind::Native) {}
};
Twister& twister(Args& a) { return static_cast<RandomObject*>(a[0].object())->twister; }

// What the methods draw from: the twister; or what a class of the program has in its place, which the first class of
// the method resolution order that defines one of `_randbelow`, `getrandbits` and `random` decides for whole numbers.
class Source {
 public:
  Source(Vm& vm, Args& a) : vm_(vm), self_(a[0]), own_(twister(a)) {
    Type* type = self_.object()->type;
    if (is_library_class(type)) return;
    for (Type* one : type->mro) {
      if (is_library_class(one)) break;
      draws_ = draws_ || defines(one, "random");
      if (below_ != Below::Twister) continue;
      if (defines(one, "_randbelow")) below_ = Below::Method;
      else if (defines(one, "getrandbits")) below_ = Below::Bits;
      else if (defines(one, "random")) below_ = Below::Draws;
    }
  }
  double uniform() { return draws_ ? to_double(vm_, call_method(vm_, self_, "random", {})) : own_.uniform(); }
  double gauss() {
    if (!draws_) return own_.gauss();
    if (const auto kept = own_.take_kept()) return *kept;
    const double first = uniform();
    return own_.pair_of(first, uniform());
  }
  // From 0 to n - 1.
  Value below(const Value& n) {
    switch (below_) {
      case Below::Twister: return n.is_int() ? Value::integer(small_below(n.as_int())) : by_bits(n);
      case Below::Method: return call_method(vm_, self_, "_randbelow", {n});
      case Below::Bits: return by_bits(n);
      default: return by_draws(n);
    }
  }
  int64_t below(int64_t n) {
    if (below_ == Below::Twister) return small_below(n);
    return to_index(vm_, below(Value::integer(n)));
  }

 private:
  enum class Below { Twister, Method, Bits, Draws };
  // random.Random, which stands directly above the native type.
  static bool is_library_class(const Type* type) {
    return type->base && type->base->slots.destroy == destroy_as<RandomObject> &&
           !(type->base->type_flags & kScriptClass);
  }
  bool defines(Type* type, const char* name) { return static_cast<bool>(dict_get(vm_, type->attributes, name)); }
  int64_t small_below(int64_t n) { return static_cast<int64_t>(own_.below(static_cast<uint64_t>(n))); }
  Value by_bits(const Value& n);
  Value by_draws(const Value& n);
  Vm& vm_;
  const Value& self_;
  Twister& own_;
  bool draws_ = false;
  Below below_ = Below::Twister;
};

Value random_(Vm&, Args& a) { return Value::real(twister(a).uniform()); }
// random.random, a plain function that compiled code knows: its generator is the data of the function.
Value shared_random(Vm&, Args& a) {
  return Value::real(static_cast<RandomObject*>(a.callee->data.object())->twister.uniform());
}
Value random_of(Vm& vm, Args& a) {
  if (!a[0].is_object() || a[0].object()->type->slots.destroy != destroy_as<RandomObject>)
    raise_type_error(vm, "a generator is needed, not " + type_name(vm, a[0]));
  Local<NativeFunction> function = make_native(vm, "random", "", shared_random);
  function->owner = "_random";
  function->data = a[0];
  return function.take();
}

const char kEntropyCounter = 0;
// Another number for each generator.
uint64_t entropy(Vm& vm) {
  auto& counter = vm.extension(&kEntropyCounter);
  if (!counter) counter = std::make_shared<uint64_t>(vm.hash_key(0));
  uint64_t& state = *static_cast<uint64_t*>(counter.get());
  uint64_t z = state += 0x9e3779b97f4a7c15u;  // splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The words of a text's bytes and their SHA-512, lowest word first: what CPython seeds with.
std::vector<uint32_t> words_of(const std::string& data) {
  const std::unique_ptr<Digest> digest = Digest::named("sha512");
  digest->update(data);
  const std::string bytes = data + digest->value();
  std::vector<uint32_t> words((bytes.size() + 3) / 4);
  for (size_t i = 0; i < bytes.size(); ++i)
    words[i / 4] |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[bytes.size() - 1 - i])) << (i % 4 * 8);
  while (words.size() > 1 && words.back() == 0) words.pop_back();
  return words;
}
Value seed(Vm& vm, Args& a) {
  const Value& given = a[1];
  Twister& t = twister(a);
  if (is_kind(given, Kind::Str)) return t.seed(words_of(std::string(cast<StrObject>(given)->view()))), Value::none();
  if (is_byte_string(given)) return t.seed(words_of(std::string(byte_string(given)))), Value::none();
  if (is_big(given)) {  // words of its magnitude, the lowest first
    const Value magnitude = unary(vm, UnaryOp::Absolute, given);
    const int64_t count = (bit_length_of(magnitude) + 31) / 32;
    std::string data;
    bytes_of_int(magnitude, 4 * count, false, data);
    std::vector<uint32_t> words(static_cast<size_t>(count));
    for (size_t i = 0; i < data.size(); ++i)
      words[i / 4] |= static_cast<uint32_t>(static_cast<uint8_t>(data[i])) << (i % 4 * 8);
    return t.seed(words), Value::none();
  }
  if (!given.is_none() && !is_integer_like(given) && !given.is_float())
    raise_type_error(vm, "The only supported seed types are: None,\nint, float, str, bytes, and bytearray.");
  uint64_t s = entropy(vm);
  if (is_integer_like(given)) s = static_cast<uint64_t>(std::abs(given.as_int()));
  else if (given.is_float()) s = hash(vm, given);
  t.seed(s);
  return Value::none();
}
// The state as CPython shows it: 624 words and the index of the next one, and the kept normal number.
Value getstate(Vm& vm, Args& a) {
  std::vector<Value> words;
  for (const uint32_t word : twister(a).words()) words.push_back(Value::integer(word));
  const std::optional<double> kept = twister(a).kept_gauss();
  Value parts[] = {Value::integer(3), make_tuple(vm, words).take(), kept ? Value::real(*kept) : Value::none()};
  return make_tuple(vm, parts).take();
}
Value setstate(Vm& vm, Args& a) {
  Local<TupleObject> parts = to_tuple(vm, a[1]);
  if (parts->size != 3) raise_value_error(vm, "state vector is the wrong size");
  if (!is_integer_like(parts->items[0]) || parts->items[0].as_int() != 3)
    raise_value_error(
        vm, "state with version " + to_string(vm, parts->items[0]) + " passed to Random.setstate() of version 3");
  std::vector<uint32_t> words;
  for_each(vm, parts->items[1], [&](const Value& word) {
    words.push_back(static_cast<uint32_t>(to_index(vm, word)));
    return true;
  });
  std::optional<double> kept;
  if (!parts->items[2].is_none()) kept = to_double(vm, parts->items[2]);
  if (!twister(a).restore(words, kept)) raise_value_error(vm, "state vector is the wrong size");
  return Value::none();
}
// Words of 32 bits, the least first; the last one gives its upper bits.
Value random_bits(Vm& vm, Twister& t, int64_t k) {
  if (k <= 64) return int_of_unsigned(vm, t.bits(k));
  check_text_room(static_cast<size_t>(k / 8));
  std::string data;
  for (; k > 0; k -= 32) {
    uint32_t word = t.next();
    if (k < 32) word >>= 32 - k;
    for (int i = 0; i < 4; ++i) data += static_cast<char>(word >> (8 * i));
  }
  return int_of_bytes(vm, data, false);
}
Value getrandbits(Vm& vm, Args& a) {
  int64_t k = to_index(vm, a[1]);
  if (k < 0) raise_value_error(vm, "number of bits must be non-negative");
  return random_bits(vm, twister(a), k);
}
// An int, or a float without a fraction.
Value range_bound(Vm& vm, const Value& v, const char* what) {
  if (!v.is_float()) return whole_of(vm, v);
  const Value n = float_to_int(vm, v.as_float());
  if (to_double(vm, n) != v.as_float()) raise_value_error(vm, std::string("non-integer ") + what + " for randrange()");
  return n;
}
Value Source::by_bits(const Value& n) {
  const int64_t k = bit_length_of(n);
  const auto bits = [&] {
    return below_ == Below::Twister ? random_bits(vm_, own_, k)
                                    : call_method(vm_, self_, "getrandbits", {Value::integer(k)});
  };
  Value r = bits();
  while (truth(vm_, compare(vm_, CompareOp::Ge, r, n))) {
    vm_.hear_stop();
    r = bits();
  }
  return r;
}
Value Source::by_draws(const Value& n) {
  constexpr int64_t kDraws = int64_t{1} << 53;  // as many values random() has
  if (!n.is_int() || n.as_int() >= kDraws) {
    warn(vm_, "UserWarning",
         "Underlying random() generator does not supply \n"
         "enough bits to choose from a population range this large.\n"
         "To remove the range limitation, add a getrandbits() method.");
    return float_to_int(vm_, std::floor(uniform() * to_double(vm_, n)));
  }
  const double limit = static_cast<double>(kDraws - kDraws % n.as_int()) / static_cast<double>(kDraws);
  double r = uniform();
  while (r >= limit) {
    vm_.hear_stop();
    r = uniform();
  }
  return Value::integer(static_cast<int64_t>(r * static_cast<double>(kDraws)) % n.as_int());
}
Value randrange(Vm& vm, Args& a) {
  const Value zero = Value::integer(0);
  Value start = range_bound(vm, a[1], "arg 1"), stop = start;
  if (a[2].is_none()) start = zero;
  else stop = range_bound(vm, a[2], "stop");
  const Value step = range_bound(vm, a[3], "step");
  if (compare_ints(step, zero) == 0) raise_value_error(vm, "zero step for randrange()");
  // Of the range's length as many are there: (stop - start + step -+ 1) // step.
  const int64_t towards = compare_ints(step, zero) > 0 ? -1 : 1;
  Value count = binary(vm, BinaryOp::Add, binary(vm, BinaryOp::Sub, stop, start),
                       binary(vm, BinaryOp::Add, step, Value::integer(towards)));
  count = binary(vm, BinaryOp::FloorDiv, count, step);
  if (compare_ints(count, zero) <= 0)
    raise_value_error(vm, a[2].is_none() ? std::string("empty range for randrange()")
                                         : "empty range for randrange() (" + repr(vm, start) + ", " + repr(vm, stop) +
                                               ", " + repr(vm, binary(vm, BinaryOp::Sub, stop, start)) + ")");
  return binary(vm, BinaryOp::Add, start, binary(vm, BinaryOp::Mul, step, Source(vm, a).below(count)));
}
Value randint(Vm& vm, Args& a) {
  Value args[] = {a[0], a[1], binary(vm, BinaryOp::Add, a[2], Value::integer(1)), Value::integer(1)};
  Args inner;
  inner.positional = args;
  inner.count = 4;
  return randrange(vm, inner);
}
Value choice(Vm& vm, Args& a) {
  int64_t n = length(vm, a[1]);
  if (n == 0) raise_index_error(vm, "Cannot choose from an empty sequence");
  return get_item(vm, a[1], Value::integer(Source(vm, a).below(n)));
}
Value shuffle(Vm& vm, Args& a) {
  Source source(vm, a);
  for (int64_t i = length(vm, a[1]) - 1; i > 0; --i) {
    vm.hear_stop();
    const int64_t j = source.below(i + 1);
    Value x = get_item(vm, a[1], Value::integer(i)), y = get_item(vm, a[1], Value::integer(j));
    set_item(vm, a[1], Value::integer(i), y);
    set_item(vm, a[1], Value::integer(j), x);
  }
  return Value::none();
}
Value uniform(Vm& vm, Args& a) {
  double x = to_double(vm, a[1]), y = to_double(vm, a[2]);
  return Value::real(x + (y - x) * Source(vm, a).uniform());
}
Value gauss(Vm& vm, Args& a) { return Value::real(to_double(vm, a[1]) + Source(vm, a).gauss() * to_double(vm, a[2])); }
Value normalvariate(Vm& vm, Args& a) {
  const double magic = 4 * std::exp(-0.5) / std::sqrt(2.0);
  Source source(vm, a);
  for (;;) {
    vm.hear_stop();
    double u1 = source.uniform(), u2 = 1.0 - source.uniform(), z = magic * (u1 - 0.5) / u2;
    if (z * z / 4.0 <= -std::log(u2)) return Value::real(to_double(vm, a[1]) + z * to_double(vm, a[2]));
  }
}
Value expovariate(Vm& vm, Args& a) {
  return Value::real(-std::log(1.0 - Source(vm, a).uniform()) / to_double(vm, a[1]));
}
Value sample(Vm& vm, Args& a);

// `counts`: each item stands for so many; the places of a sample of all those are mapped to items.
Value sample_counted(Vm& vm, Args& a) {
  std::vector<int64_t> ends;
  int64_t total = 0;
  for_each(vm, a[3], [&](const Value& count) {
    const int64_t n = to_index(vm, count);
    if (n < 0) raise_value_error(vm, "Counts must be non-negative");
    ends.push_back(total += n);
    return true;
  });
  if (static_cast<int64_t>(ends.size()) != length(vm, a[1]))
    raise_value_error(vm, "The number of counts does not match the population");
  if (total <= 0) raise_value_error(vm, "Total of counts must be greater than zero");
  Value shifted[] = {a[0], make_range(vm, 0, total, 1).take(), a[2], Value::none()};
  Args inner;
  inner.positional = shifted;
  inner.count = 4;
  Value places = sample(vm, inner);
  for (Value& place : cast<ListObject>(places)->items) {
    const auto at = std::upper_bound(ends.begin(), ends.end(), place.as_int()) - ends.begin();
    place = get_item(vm, a[1], Value::integer(at));
  }
  return places;
}
Value sample(Vm& vm, Args& a) {
  if (!a[3].is_none()) return sample_counted(vm, a);
  const Value& population = a[1];
  const TypeSlots& slots = type_of(vm, population)->slots;
  const bool is_sequence = slots.get_item && slots.length && !is_kind(population, Kind::Dict);
  if (!is_sequence) raise_type_error(vm, "Population must be a sequence.  For dicts or sets, use sorted(d).");
  int64_t n = length(vm, population), k = to_index(vm, a[2]);
  if (k < 0 || k > n) raise_value_error(vm, "Sample larger than population or is negative");
  Local<ListObject> result = make_list(vm);
  double set_size = 21;
  if (k > 5) set_size += std::pow(4, std::ceil(std::log(k * 3.0) / std::log(4.0)));
  Source source(vm, a);
  if (static_cast<double>(n) <= set_size) {
    Values pool = std::move(to_list(vm, population)->items);
    for (int64_t i = 0; i < k; ++i) {
      vm.hear_stop();
      const auto j = static_cast<size_t>(source.below(n - i));
      result->items.push_back(pool[j]);
      pool[j] = pool[static_cast<size_t>(n - i - 1)];
    }
    return result.take();
  }
  std::unordered_set<uint64_t, std::hash<uint64_t>, std::equal_to<uint64_t>, Counted<uint64_t>> selected;
  for (int64_t i = 0; i < k; ++i) {
    vm.hear_stop();
    auto j = static_cast<uint64_t>(source.below(n));
    while (!selected.insert(j).second) j = static_cast<uint64_t>(source.below(n));
    result->items.push_back(get_item(vm, population, Value::integer(static_cast<int64_t>(j))));
  }
  return result.take();
}
// The sums that choices() draws in: of `weights` or as given.
std::vector<double> cumulative_weights(Vm& vm, Args& a, int64_t n) {
  std::vector<double> sums;
  const bool summed = a[2].is_none();
  if (!summed && !a[3].is_none()) raise_type_error(vm, "Cannot specify both weights and cumulative weights");
  if (summed && a[3].is_none()) return sums;
  if (!summed && is_integer_like(a[2]))
    raise_type_error(vm, "The number of choices must be a keyword argument: k=" + repr(vm, a[2]));
  double total = 0;
  for_each(vm, summed ? a[3] : a[2], [&](const Value& w) {
    total = summed ? to_double(vm, w) : total + to_double(vm, w);
    sums.push_back(total);
    return true;
  });
  if (static_cast<int64_t>(sums.size()) != n)
    raise_value_error(vm, "The number of weights does not match the population");
  if (sums.empty()) raise_index_error(vm, "list index out of range");
  if (!(total > 0)) raise_value_error(vm, "Total of weights must be greater than zero");
  if (!std::isfinite(total)) raise_value_error(vm, "Total of weights must be finite");
  return sums;
}
Value choices(Vm& vm, Args& a) {
  const int64_t n = length(vm, a[1]), k = to_index(vm, a[4]);
  const std::vector<double> cumulative = cumulative_weights(vm, a, n);
  Local<ListObject> result = make_list(vm);
  Source source(vm, a);
  for (int64_t i = 0; i < k; ++i) {
    vm.hear_stop();
    double u = source.uniform();
    int64_t at = static_cast<int64_t>(u * static_cast<double>(n));
    if (!cumulative.empty()) {
      auto it = std::upper_bound(cumulative.begin(), cumulative.end() - 1, u * cumulative.back());
      at = it - cumulative.begin();
    }
    result->items.push_back(get_item(vm, a[1], Value::integer(at)));
  }
  return result.take();
}

Value random_construct(Vm& vm, Type* type, Args& args) {
  Local<RandomObject> random = vm.heap().make<RandomObject>(type);
  // Of a class of the program with other arguments no seed is known here.
  const bool is_seed = args.count == 1 && (is_integer_like(args[0]) || is_big(args[0]) || args[0].is_float() ||
                                           is_kind(args[0], Kind::Str) || is_byte_string(args[0]));
  Value shifted[] = {random.value(), is_seed ? args[0] : Value::none()};
  Args inner;
  inner.positional = shifted;
  inner.count = 2;
  seed(vm, inner);
  return random.take();
}

}  // namespace

Local<ModuleObject> make_random_module(Vm& vm) {
  TypeBuilder b(vm, "Random", Kind::Native);
  b.attribute("__module__", str_value(vm, "_random"));
  b.slots().destroy = destroy_as<RandomObject>;
  b.slots().traverse = [](Object* o, Visitor& visit) { traverse_instance(o, visit); };
  b.slots().construct = random_construct;
  b.allow_subclasses(offset_of(&RandomObject::state));
  b.method("random", "self", random_)
      .method("seed", "self, a=None, version=2", seed)
      .method("getstate", "self", getstate)
      .method("setstate", "self, state, /", setstate)
      .method("getrandbits", "self, k, /", getrandbits)
      .method("randrange", "self, start, stop=None, step=1", randrange)
      .method("randint", "self, a, b", randint)
      .method("choice", "self, seq", choice)
      .method("shuffle", "self, x", shuffle)
      .method("uniform", "self, a, b", uniform)
      .method("gauss", "self, mu=0.0, sigma=1.0", gauss)
      .method("normalvariate", "self, mu=0.0, sigma=1.0", normalvariate)
      .method("expovariate", "self, lambd=1.0", expovariate)
      .method("sample", "self, population, k, *, counts=None", sample)
      .method("choices", "self, population, weights=None, *, cum_weights=None, k=1", choices);
  ModuleBuilder m(vm, "_random");
  m.value("Random", Value(b.finish())).function("random_of", "generator, /", random_of);
  return m.finish();
}

}  // namespace tsc::interp
