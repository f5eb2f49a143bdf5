#pragma once
// Ints beyond 64 bits. Every int that fits lives in the value itself and is computed there; what does not fit is a
// BigInt object of type int, whose arithmetic is GMP's. A result is normalized: an int that fits is never a BigInt,
// so two ints are equal only in one form. Knows values and the heap. Must not be asked where 64 bits do.
#include <string>
#include <string_view>

#include "interpreter/value/object.h"
#include "interpreter/value/operators.h"

namespace tsc::interp {

// Sign and magnitude; the limbs, of 64 bits and the least first, lie behind the object.
struct BigInt : Object {
  static constexpr Kind kKind = Kind::BigInt;
  int32_t size = 0;  // of limbs; negative: so is the number
  BigInt() : Object(Kind::BigInt) {}
  uint64_t* limbs() { return reinterpret_cast<uint64_t*>(this + 1); }
};

inline bool is_big(const Value& v) { return is_kind(v, Kind::BigInt); }
void destroy_big(Vm& vm, Object* object);

// In all that follows an operand is an int, a bool or a BigInt.
Value big_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b);
Value big_unary(Vm& vm, UnaryOp op, const Value& v);
int compare_ints(const Value& a, const Value& b);             // -1, 0, 1
int compare_big_float(const Value& big, double d);            // the float is not NaN
uint64_t big_hash(const Value& big);                          // Python's: modulo 2^61 - 1
double big_to_double(Vm& vm, const Value& big);               // rounded to nearest; OverflowError beyond a float
Value ratio_of_ints(Vm& vm, const Value& a, const Value& b);  // a / b, rounded once
Value int_of_unsigned(Vm& vm, uint64_t u);
Value int_of_double(Vm& vm, double whole);  // of a finite float without fraction
int64_t bit_length_of(const Value& v);
int64_t bit_count_of(const Value& v);

// Digits of the magnitude with the sign in front, lower case, without prefix. Decimal ones are limited in number as in
// Python (sys.set_int_max_str_digits): ValueError.
std::string digits_of(Vm& vm, const Value& v, int base);
// Of digits of the base that are well formed and without underscores.
Value int_of_digits(Vm& vm, std::string_view digits, int base, bool negative);
// An int literal of the program's text that needs more than 64 bits.
Value int_of_literal(Vm& vm, std::string_view text);
int64_t& most_digits(Vm& vm);  // 0: no limit

// Two's complement, the least byte first. False: it does not fit into so many.
bool bytes_of_int(const Value& v, int64_t length, bool has_sign, std::string& out);
Value int_of_bytes(Vm& vm, std::string_view little_endian, bool has_sign);

Value power_modulo(Vm& vm, const Value& base, const Value& exponent, const Value& modulus);
Value gcd_of(Vm& vm, const Value& a, const Value& b);
Value root_of(Vm& vm, const Value& v);  // isqrt
Value factorial_of(Vm& vm, int64_t n);
Value combinations_of(Vm& vm, const Value& n, int64_t k);  // 0 <= k
// round(v, -digits): to a multiple of ten to that power, half to even.
Value round_int(Vm& vm, const Value& v, int64_t digits);
// The mini-language of format().
std::string format_big(Vm& vm, const Value& big, std::string_view spec);
// operator.index: an int of any size out of what has __index__; TypeError naming `what`.
Value whole_of(Vm& vm, const Value& v, const char* what = nullptr);
[[noreturn]] void raise_too_large(Vm& vm, const char* type);  // "Python int too large to convert to C ..."

}  // namespace tsc::interp
