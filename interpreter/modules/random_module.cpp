// random: the Mersenne Twister with CPython's seeding and algorithms, so that a seed gives the same
// numbers here and there.
#include <cmath>

#include "interpreter/modules/native_modules.h"

namespace tsc::interp {
namespace {

class Twister {
 public:
  Twister() { seed(static_cast<uint64_t>(5489)); }
  void seed(uint64_t value) {
    std::vector<uint32_t> key{static_cast<uint32_t>(value)};
    if (value >> 32) key.push_back(static_cast<uint32_t>(value >> 32));
    init(19650218);
    size_t i = 1, j = 0;
    for (size_t k = std::max(kSize, key.size()); k; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] +
                  static_cast<uint32_t>(j);
      if (++i >= kSize) state_[0] = state_[kSize - 1], i = 1;
      if (++j >= key.size()) j = 0;
    }
    for (size_t k = kSize - 1; k; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) -
                  static_cast<uint32_t>(i);
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
    double angle = uniform() * 2 * M_PI, radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    gauss_ = std::sin(angle) * radius;
    has_gauss_ = true;
    return std::cos(angle) * radius;
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

const char kExtension = 0;
Twister& twister(Vm& vm) { return *static_cast<Twister*>(vm.extension(&kExtension).get()); }

Value random_(Vm& vm, Args&) { return Value::real(twister(vm).uniform()); }
Value seed(Vm& vm, Args& a) {
  uint64_t s = vm.hash_key(0);
  if (is_integer_like(a[0])) s = static_cast<uint64_t>(std::abs(a[0].as_int()));
  else if (!a[0].is_none()) s = hash(vm, a[0]);
  twister(vm).seed(s);
  return Value::none();
}
Value getrandbits(Vm& vm, Args& a) {
  int64_t k = to_index(vm, a[0]);
  if (k < 0) raise_value_error(vm, "number of bits must be non-negative");
  if (k > 63) raise(vm, vm.exceptions().OverflowError, "getrandbits() of more than 63 bits does not fit in an int");
  return Value::integer(static_cast<int64_t>(twister(vm).bits(k)));
}
Value randrange(Vm& vm, Args& a) {
  int64_t start = to_index(vm, a[0]), step = to_index(vm, a[2]), stop;
  if (a[1].is_none()) stop = start, start = 0;
  else stop = to_index(vm, a[1]);
  if (step == 0) raise_value_error(vm, "zero step for randrange()");
  Local<RangeObject> range = make_range(vm, start, stop, step);
  if (range->length <= 0)
    raise_value_error(vm, a[1].is_none() ? "empty range for randrange()"
                                         : "empty range for randrange() (" + std::to_string(start) + ", " +
                                               std::to_string(stop) + ", " + std::to_string(stop - start) + ")");
  return Value::integer(start + step * static_cast<int64_t>(twister(vm).below(static_cast<uint64_t>(range->length))));
}
Value randint(Vm& vm, Args& a) {
  Value args[] = {a[0], binary(vm, BinaryOp::Add, a[1], Value::integer(1)), Value::integer(1)};
  Args inner;
  inner.positional = args;
  inner.count = 3;
  return randrange(vm, inner);
}
Value choice(Vm& vm, Args& a) {
  int64_t n = length(vm, a[0]);
  if (n == 0) raise_index_error(vm, "Cannot choose from an empty sequence");
  return get_item(vm, a[0], Value::integer(static_cast<int64_t>(twister(vm).below(static_cast<uint64_t>(n)))));
}
Value shuffle(Vm& vm, Args& a) {
  for (int64_t i = length(vm, a[0]) - 1; i > 0; --i) {
    int64_t j = static_cast<int64_t>(twister(vm).below(static_cast<uint64_t>(i) + 1));
    Value x = get_item(vm, a[0], Value::integer(i)), y = get_item(vm, a[0], Value::integer(j));
    set_item(vm, a[0], Value::integer(i), y);
    set_item(vm, a[0], Value::integer(j), x);
  }
  return Value::none();
}
Value uniform(Vm& vm, Args& a) {
  double x = to_double(vm, a[0]), y = to_double(vm, a[1]);
  return Value::real(x + (y - x) * twister(vm).uniform());
}
Value gauss(Vm& vm, Args& a) {
  return Value::real(to_double(vm, a[0]) + twister(vm).gauss() * to_double(vm, a[1]));
}
Value normalvariate(Vm& vm, Args& a) {
  const double magic = 4 * std::exp(-0.5) / std::sqrt(2.0);
  Twister& t = twister(vm);
  for (;;) {
    double u1 = t.uniform(), u2 = 1.0 - t.uniform(), z = magic * (u1 - 0.5) / u2;
    if (z * z / 4.0 <= -std::log(u2)) return Value::real(to_double(vm, a[0]) + z * to_double(vm, a[1]));
  }
}
Value expovariate(Vm& vm, Args& a) {
  return Value::real(-std::log(1.0 - twister(vm).uniform()) / to_double(vm, a[0]));
}
Value sample(Vm& vm, Args& a) {
  int64_t n = length(vm, a[0]), k = to_index(vm, a[1]);
  if (k < 0 || k > n) raise_value_error(vm, "Sample larger than population or is negative");
  Local<ListObject> result = make_list(vm);
  double set_size = 21;
  if (k > 5) set_size += std::pow(4, std::ceil(std::log(k * 3.0) / std::log(4.0)));
  Twister& t = twister(vm);
  if (static_cast<double>(n) <= set_size) {
    std::vector<Value> pool = to_list(vm, a[0])->items;
    for (int64_t i = 0; i < k; ++i) {
      size_t j = t.below(static_cast<uint64_t>(n - i));
      result->items.push_back(pool[j]);
      pool[j] = pool[static_cast<size_t>(n - i - 1)];
    }
    return result.take();
  }
  std::vector<uint64_t> selected;
  for (int64_t i = 0; i < k; ++i) {
    uint64_t j = t.below(static_cast<uint64_t>(n));
    while (std::find(selected.begin(), selected.end(), j) != selected.end()) j = t.below(static_cast<uint64_t>(n));
    selected.push_back(j);
    result->items.push_back(get_item(vm, a[0], Value::integer(static_cast<int64_t>(j))));
  }
  return result.take();
}
Value choices(Vm& vm, Args& a) {
  int64_t n = length(vm, a[0]), k = to_index(vm, a[2]);
  if (n == 0) raise_index_error(vm, "Cannot choose from an empty sequence");
  std::vector<double> cumulative;
  if (!a[1].is_none()) {
    double total = 0;
    for_each(vm, a[1], [&](const Value& w) {
      cumulative.push_back(total += to_double(vm, w));
      return true;
    });
    if (static_cast<int64_t>(cumulative.size()) != n)
      raise_value_error(vm, "The number of weights does not match the population");
    if (!(total > 0)) raise_value_error(vm, "Total of weights must be greater than zero");
  }
  Local<ListObject> result = make_list(vm);
  for (int64_t i = 0; i < k; ++i) {
    double u = twister(vm).uniform();
    int64_t at = static_cast<int64_t>(u * static_cast<double>(n));
    if (!cumulative.empty()) {
      auto it = std::upper_bound(cumulative.begin(), cumulative.end() - 1, u * cumulative.back());
      at = it - cumulative.begin();
    }
    result->items.push_back(get_item(vm, a[0], Value::integer(at)));
  }
  return result.take();
}

}  // namespace

Local<ModuleObject> make_random_module(Vm& vm) {
  auto state = std::make_shared<Twister>();
  state->seed(vm.hash_key(0));
  vm.extension(&kExtension) = state;
  ModuleBuilder m(vm, "random");
  m.function("random", "", random_)
      .function("seed", "a=None, version=2", seed)
      .function("getrandbits", "k, /", getrandbits)
      .function("randrange", "start, stop=None, step=1", randrange)
      .function("randint", "a, b", randint)
      .function("choice", "seq", choice)
      .function("shuffle", "x", shuffle)
      .function("uniform", "a, b", uniform)
      .function("gauss", "mu=0.0, sigma=1.0", gauss)
      .function("normalvariate", "mu=0.0, sigma=1.0", normalvariate)
      .function("expovariate", "lambd=1.0", expovariate)
      .function("sample", "population, k", sample)
      .function("choices", "population, weights=None, *, k=1", choices);
  return m.finish();
}

}  // namespace tsc::interp
