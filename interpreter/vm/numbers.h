#pragma once
// Arithmetic of numbers that live in the value itself (bool, int of 64 bits, float) with Python's rules; what does not
// fit into 64 bits becomes a BigInt (big_numbers.h).
#include <string>

#include "interpreter/value/operators.h"
#include "interpreter/value/value.h"

namespace tsc::interp {

class Vm;

inline bool is_number(const Value& v) { return v.tag() == Tag::Int || v.tag() == Tag::Float || v.tag() == Tag::Bool; }
// Both operands are numbers.
Value number_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b);
// Of a division of ints, or one in which a float takes part; null: the operation is none.
const char* zero_division_message(BinaryOp op, bool floats);
Value number_unary(Vm& vm, UnaryOp op, const Value& v);
bool number_compare(CompareOp op, const Value& a, const Value& b);
uint64_t number_hash(const Value& v);

int64_t floor_divide(int64_t a, int64_t b);  // b != 0, no overflow
int64_t floor_modulo(int64_t a, int64_t b);
double float_modulo(double a, double b);
double float_floor_divide(double a, double b);
// The whole part of a float; raises for NaN and infinities.
Value float_to_int(Vm& vm, double d);
// str(i).
Value integer_str(Vm& vm, int64_t i);
// repr(float): the shortest text that reads back the same.
std::string float_repr(double d);
// round half to even at `digits` decimals.
double round_float(double d, int64_t digits);

}  // namespace tsc::interp
