#include "interpreter/vm/big_numbers.h"

#include <gmp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "interpreter/vm/numbers.h"
#include "interpreter/vm/vm.h"

namespace tsc::interp {
namespace {

static_assert(sizeof(mp_limb_t) == sizeof(uint64_t) && GMP_NUMB_BITS == 64);

// A number to read, in its own memory or in the value's.
class Operand {
 public:
  explicit Operand(const Value& v) {
    if (is_big(v)) {
      auto* big = static_cast<BigInt*>(v.object());
      mpz_roinit_n(z_, reinterpret_cast<const mp_limb_t*>(big->limbs()), big->size);
      return;
    }
    const int64_t i = v.as_int();
    limb_ = i < 0 ? 0 - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
    mpz_roinit_n(z_, &limb_, i < 0 ? -1 : i > 0);
  }
  Operand(const Operand&) = delete;
  operator mpz_srcptr() const { return z_; }
  mpz_srcptr operator->() const { return z_; }  // what GMP's macros read

 private:
  mpz_t z_;
  mp_limb_t limb_ = 0;
};

class Result {
 public:
  Result() { mpz_init(z_); }
  explicit Result(mpz_srcptr other) { mpz_init_set(z_, other); }
  ~Result() { mpz_clear(z_); }
  Result(const Result&) = delete;
  operator mpz_ptr() { return z_; }
  mpz_ptr operator->() { return z_; }

 private:
  mpz_t z_;
};

// GMP ends the process where it finds no memory: what is large is asked for in front of it.
void check_bits(Vm& vm, double bits) {
  constexpr double kWorthAsking = 8e6;
  constexpr double kMost = 1e11;
  if (bits < kWorthAsking) return;
  if (bits > kMost) throw std::bad_alloc();
  const size_t bytes = static_cast<size_t>(bits / 4);  // the number and as much again to work with
  vm.heap().check_room(bytes);
  void* probe = std::malloc(bytes);
  if (!probe) throw std::bad_alloc();
  std::free(probe);
}

double bits_of(mpz_srcptr z) { return static_cast<double>(mpz_sizeinbase(z, 2)); }

Value to_value(Vm& vm, mpz_srcptr z) {
  if (mpz_fits_slong_p(z)) return Value::integer(mpz_get_si(z));
  const size_t count = mpz_size(z);
  if (count > INT32_MAX) throw std::bad_alloc();
  Local<BigInt> big = vm.heap().make_sized<BigInt>(vm.types().integer, count * sizeof(uint64_t));
  std::memcpy(big->limbs(), mpz_limbs_read(z), count * sizeof(uint64_t));
  big->size = mpz_sgn(z) < 0 ? -static_cast<int32_t>(count) : static_cast<int32_t>(count);
  return big.take();
}

// The nearest double of sign * (q + a part below one that `sticky` tells of) * 2^exponent; q below 2^64.
double nearest(uint64_t q, bool sticky, int64_t exponent) {
  // Room for the part: the rounding to 53 bits sees it in the last place.
  if (q >> 62) sticky |= q & 3, q >>= 2, exponent += 2;
  q = q << 1 | uint64_t{sticky};
  --exponent;
  const int64_t top = 64 - std::countl_zero(q) + exponent;  // the value is below 2^top
  if (top > 1024) return HUGE_VAL;
  const int64_t least = std::max<int64_t>(top - 53, -1074);  // what the last bit of the result is worth
  const int64_t dropped = least - exponent;
  if (dropped <= 0) return std::ldexp(static_cast<double>(q), static_cast<int>(exponent));
  if (dropped > 63) return 0;
  const uint64_t rest = q & ((uint64_t{1} << dropped) - 1), half = uint64_t{1} << (dropped - 1);
  uint64_t kept = q >> dropped;
  kept += rest > half || (rest == half && (kept & 1));
  return std::ldexp(static_cast<double>(kept), static_cast<int>(least));
}

double magnitude_as_double(mpz_srcptr z) {
  const auto length = static_cast<int64_t>(mpz_sizeinbase(z, 2));
  if (length > 1025) return HUGE_VAL;
  const int64_t shift = std::max<int64_t>(length - 62, 0);
  Result top;
  mpz_tdiv_q_2exp(top, z, static_cast<mp_bitcnt_t>(shift));
  mpz_abs(top, top);
  const bool sticky = shift > 0 && mpz_scan1(z, 0) < static_cast<mp_bitcnt_t>(shift);
  return nearest(mpz_get_ui(top), sticky, shift);
}

Value shifted(Vm& vm, BinaryOp op, mpz_srcptr a, const Value& count) {
  const Operand by(count);
  if (mpz_sgn(by) < 0) raise_value_error(vm, "negative shift count");
  if (mpz_sgn(a) == 0) return Value::integer(0);
  if (!mpz_fits_slong_p(by)) {
    if (op == BinaryOp::RShift) return Value::integer(mpz_sgn(a) < 0 ? -1 : 0);
    raise(vm, vm.exceptions().OverflowError, "too many digits in integer");
  }
  const auto bits = static_cast<mp_bitcnt_t>(mpz_get_si(by));
  Result r;
  if (op == BinaryOp::RShift) {
    mpz_fdiv_q_2exp(r, a, bits);
  } else {
    check_bits(vm, bits_of(a) + static_cast<double>(bits));
    mpz_mul_2exp(r, a, bits);
  }
  return to_value(vm, r);
}

Value power(Vm& vm, const Value& base, const Value& exponent) {
  const Operand a(base), b(exponent);
  if (mpz_sgn(b) < 0)
    return number_binary(vm, BinaryOp::Pow, Value::real(to_double(vm, base)), Value::real(to_double(vm, exponent)));
  if (mpz_cmpabs_ui(a, 1) <= 0) {
    const bool odd = mpz_odd_p(static_cast<mpz_srcptr>(b));
    if (mpz_sgn(b) == 0 || mpz_cmp_ui(a, 1) == 0) return Value::integer(1);
    return Value::integer(mpz_sgn(a) == 0 ? 0 : odd ? -1 : 1);
  }
  if (!mpz_fits_ulong_p(b)) throw std::bad_alloc();
  check_bits(vm, bits_of(a) * mpz_get_d(b));
  Result r;
  mpz_pow_ui(r, a, mpz_get_ui(b));
  return to_value(vm, r);
}

}  // namespace

void destroy_big(Vm& vm, Object* object) {
  auto* big = static_cast<BigInt*>(object);
  vm.heap().finish(big, static_cast<size_t>(std::abs(big->size)) * sizeof(uint64_t));
}

void raise_too_large(Vm& vm, const char* type) {
  raise(vm, vm.exceptions().OverflowError, std::string("Python int too large to convert to ") + type);
}

Value big_binary(Vm& vm, BinaryOp op, const Value& x, const Value& y) {
  if (op == BinaryOp::Pow) return power(vm, x, y);
  if (op == BinaryOp::TrueDiv) return ratio_of_ints(vm, x, y);
  const Operand a(x), b(y);
  if (op == BinaryOp::LShift || op == BinaryOp::RShift) return shifted(vm, op, a, y);
  if ((op == BinaryOp::FloorDiv || op == BinaryOp::Mod) && mpz_sgn(b) == 0)
    raise(vm, vm.exceptions().ZeroDivisionError,
          op == BinaryOp::Mod ? "integer modulo by zero" : "integer division or modulo by zero");
  check_bits(vm, op == BinaryOp::Mul ? bits_of(a) + bits_of(b) : std::max(bits_of(a), bits_of(b)));
  Result r;
  switch (op) {
    case BinaryOp::Add: mpz_add(r, a, b); break;
    case BinaryOp::Sub: mpz_sub(r, a, b); break;
    case BinaryOp::Mul: mpz_mul(r, a, b); break;
    case BinaryOp::FloorDiv: mpz_fdiv_q(r, a, b); break;
    case BinaryOp::Mod: mpz_fdiv_r(r, a, b); break;
    case BinaryOp::BitAnd: mpz_and(r, a, b); break;
    case BinaryOp::BitOr: mpz_ior(r, a, b); break;
    case BinaryOp::BitXor: mpz_xor(r, a, b); break;
    default: return vm.not_implemented();
  }
  return to_value(vm, r);
}

Value big_unary(Vm& vm, UnaryOp op, const Value& v) {
  const Operand a(v);
  if (op == UnaryOp::Positive || (op == UnaryOp::Absolute && mpz_sgn(a) >= 0)) return v;
  Result r;
  if (op == UnaryOp::Invert) mpz_com(r, a);
  else mpz_neg(r, a);
  return to_value(vm, r);
}

int compare_ints(const Value& x, const Value& y) {
  const Operand a(x), b(y);
  const int order = mpz_cmp(a, b);
  return (order > 0) - (order < 0);
}

int compare_big_float(const Value& big, double d) {
  const Operand a(big);
  if (std::isinf(d)) return d > 0 ? -1 : 1;
  const int order = mpz_cmp_d(a, d);
  return (order > 0) - (order < 0);
}

uint64_t big_hash(const Value& big) {
  constexpr uint64_t kModulus = (uint64_t{1} << 61) - 1;
  const Operand a(big);
  Result magnitude;
  mpz_abs(magnitude, a);
  const auto rest = static_cast<int64_t>(mpz_fdiv_ui(magnitude, kModulus));
  const int64_t h = mpz_sgn(a) < 0 ? -rest : rest;
  return static_cast<uint64_t>(h == -1 ? -2 : h);
}

double big_to_double(Vm& vm, const Value& big) {
  const Operand a(big);
  const double d = magnitude_as_double(a);
  if (std::isinf(d)) raise(vm, vm.exceptions().OverflowError, "int too large to convert to float");
  return mpz_sgn(a) < 0 ? -d : d;
}

Value ratio_of_ints(Vm& vm, const Value& x, const Value& y) {
  const Operand a(x), b(y);
  if (mpz_sgn(b) == 0) raise(vm, vm.exceptions().ZeroDivisionError, "division by zero");
  if (mpz_sgn(a) == 0) return Value::real(mpz_sgn(b) < 0 ? -0.0 : 0.0);
  // A quotient of some 60 bits, and whether anything is left.
  const int64_t shift = 60 - static_cast<int64_t>(mpz_sizeinbase(a, 2)) + static_cast<int64_t>(mpz_sizeinbase(b, 2));
  Result up, down, quotient, rest;
  mpz_abs(up, a);
  mpz_abs(down, b);
  if (shift > 0) mpz_mul_2exp(up, up, static_cast<mp_bitcnt_t>(shift));
  else mpz_mul_2exp(down, down, static_cast<mp_bitcnt_t>(-shift));
  mpz_tdiv_qr(quotient, rest, up, down);
  const double d = nearest(mpz_get_ui(quotient), mpz_sgn(static_cast<mpz_srcptr>(rest)) != 0, -shift);
  if (std::isinf(d)) raise(vm, vm.exceptions().OverflowError, "integer division result too large for a float");
  return Value::real((mpz_sgn(a) < 0) != (mpz_sgn(b) < 0) ? -d : d);
}

Value int_of_unsigned(Vm& vm, uint64_t u) {
  if (u <= INT64_MAX) return Value::integer(static_cast<int64_t>(u));
  Result r;
  mpz_set_ui(r, u);
  return to_value(vm, r);
}

Value int_of_double(Vm& vm, double whole) {
  Result r;
  mpz_set_d(r, whole);
  return to_value(vm, r);
}

int64_t bit_length_of(const Value& v) {
  const Operand a(v);
  return mpz_sgn(a) == 0 ? 0 : static_cast<int64_t>(mpz_sizeinbase(a, 2));
}

int64_t bit_count_of(const Value& v) {
  const Operand a(v);
  Result magnitude;
  mpz_abs(magnitude, a);
  return static_cast<int64_t>(mpz_popcount(magnitude));
}

// --- texts ------------------------------------------------------------------------------------------------

namespace {

const char kMostDigits = 0;

bool is_power_of_two(int base) { return (base & (base - 1)) == 0; }

std::string limit_text(int64_t limit) {
  return "Exceeds the limit (" + std::to_string(limit) + " digits) for integer string conversion";
}
constexpr char kRaiseLimit[] = "; use sys.set_int_max_str_digits() to increase the limit";

}  // namespace

int64_t& most_digits(Vm& vm) {
  constexpr int64_t kDefault = 4300;
  std::shared_ptr<void>& kept = vm.extension(&kMostDigits);
  if (!kept) kept = std::make_shared<int64_t>(kDefault);
  return *static_cast<int64_t*>(kept.get());
}

std::string digits_of(Vm& vm, const Value& v, int base) {
  const Operand a(v);
  const int64_t limit = most_digits(vm);
  const auto length = static_cast<int64_t>(mpz_sizeinbase(a, base));  // or one more than that
  const bool limited = limit > 0 && !is_power_of_two(base);
  if (limited && length > limit + 1) raise_value_error(vm, limit_text(limit) + kRaiseLimit);
  std::string text(static_cast<size_t>(length) + 2, '\0');
  mpz_get_str(text.data(), base, a);
  text.resize(std::strlen(text.c_str()));
  if (limited && static_cast<int64_t>(text.size()) - (text[0] == '-') > limit)
    raise_value_error(vm, limit_text(limit) + kRaiseLimit);
  return text;
}

Value int_of_digits(Vm& vm, std::string_view digits, int base, bool negative) {
  const int64_t limit = most_digits(vm);
  if (limit > 0 && !is_power_of_two(base) && static_cast<int64_t>(digits.size()) > limit)
    raise_value_error(vm, limit_text(limit) + ": value has " + std::to_string(digits.size()) + " digits" + kRaiseLimit);
  check_bits(vm, static_cast<double>(digits.size()) * std::log2(base));
  Result r;
  mpz_set_str(r, std::string(digits).c_str(), base);
  if (negative) mpz_neg(r, r);
  return to_value(vm, r);
}

Value int_of_literal(Vm& vm, std::string_view text) {
  const int base = text[0] != '0' ? 10 : text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : 2;
  Result r;
  mpz_set_str(r, std::string(text.substr(base == 10 ? 0 : 2)).c_str(), base);
  return to_value(vm, r);
}

// --- bytes ------------------------------------------------------------------------------------------------

bool bytes_of_int(const Value& v, int64_t length, bool has_sign, std::string& out) {
  const Operand a(v);
  const bool negative = mpz_sgn(a) < 0;
  // -2^(n-1) needs n bits, as 2^(n-1) - 1 does.
  Result magnitude;
  if (negative) mpz_com(magnitude, a);
  else mpz_set(magnitude, a);
  const int64_t bits = mpz_sgn(magnitude) == 0 ? 0 : static_cast<int64_t>(mpz_sizeinbase(magnitude, 2));
  if (bits > 8 * length - (has_sign && length > 0)) return false;
  out.assign(static_cast<size_t>(length), '\0');
  if (length > 0) mpz_export(out.data(), nullptr, -1, 1, -1, 0, magnitude);
  if (negative)
    for (char& c : out) c = static_cast<char>(~c);
  return true;
}

Value int_of_bytes(Vm& vm, std::string_view bytes, bool has_sign) {
  Result r;
  if (!bytes.empty()) mpz_import(r, bytes.size(), -1, 1, -1, 0, bytes.data());
  if (has_sign && !bytes.empty() && (bytes.back() & 0x80)) {
    Result all;
    mpz_setbit(all, 8 * bytes.size());
    mpz_sub(r, r, all);
  }
  return to_value(vm, r);
}

// --- functions --------------------------------------------------------------------------------------------

Value power_modulo(Vm& vm, const Value& x, const Value& y, const Value& z) {
  const Operand base(x), exponent(y), modulus(z);
  if (mpz_sgn(modulus) == 0) raise_value_error(vm, "pow() 3rd argument cannot be 0");
  Result magnitude, start(base), times(exponent), r;
  mpz_abs(magnitude, modulus);
  if (mpz_sgn(exponent) < 0) {
    // Modulo 1 everything is invertible, which GMP sees otherwise.
    if (mpz_cmp_ui(magnitude, 1) != 0 && mpz_invert(start, start, magnitude) == 0)
      raise_value_error(vm, "base is not invertible for the given modulus");
    mpz_neg(times, times);
  }
  mpz_powm(r, start, times, magnitude);
  if (mpz_sgn(modulus) < 0 && mpz_sgn(static_cast<mpz_srcptr>(r)) != 0) mpz_add(r, r, modulus);
  return to_value(vm, r);
}

Value gcd_of(Vm& vm, const Value& x, const Value& y) {
  const Operand a(x), b(y);
  Result r;
  mpz_gcd(r, a, b);
  return to_value(vm, r);
}

Value root_of(Vm& vm, const Value& v) {
  const Operand a(v);
  if (mpz_sgn(a) < 0) raise_value_error(vm, "isqrt() argument must be nonnegative");
  Result r;
  mpz_sqrt(r, a);
  return to_value(vm, r);
}

Value factorial_of(Vm& vm, int64_t n) {
  const auto real = static_cast<double>(n);
  check_bits(vm, real * std::log2(std::max(real, 2.0)));
  Result r;
  mpz_fac_ui(r, static_cast<unsigned long>(n));
  return to_value(vm, r);
}

Value combinations_of(Vm& vm, const Value& n, int64_t k) {
  const Operand a(n);
  check_bits(vm, static_cast<double>(k) * bits_of(a));
  Result r;
  mpz_bin_ui(r, a, static_cast<unsigned long>(k));
  return to_value(vm, r);
}

Value round_int(Vm& vm, const Value& v, int64_t digits) {
  const Operand a(v);
  // Beyond its own length nothing is left.
  if (static_cast<double>(digits) > bits_of(a)) return Value::integer(0);
  Result unit, quotient, rest;
  mpz_ui_pow_ui(unit, 10, static_cast<unsigned long>(digits));
  mpz_fdiv_qr(quotient, rest, a, unit);
  mpz_mul_2exp(rest, rest, 1);
  const int half = mpz_cmp(rest, unit);
  if (half > 0 || (half == 0 && mpz_odd_p(static_cast<mpz_srcptr>(quotient)))) mpz_add_ui(quotient, quotient, 1);
  mpz_mul(quotient, quotient, unit);
  return to_value(vm, quotient);
}

}  // namespace tsc::interp
