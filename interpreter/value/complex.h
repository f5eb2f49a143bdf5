#pragma once
// Python's complex numbers: two doubles, immutable. The type is in builtins/complex_type.cpp.
#include <optional>
#include <string>

#include "interpreter/value/object.h"

namespace tsc::interp {

struct ComplexNumber {
  double re = 0, im = 0;
};

struct ComplexObject : Object {
  static constexpr Kind kKind = Kind::Complex;
  ComplexNumber number;
  ComplexObject() : Object(Kind::Complex) {}
};

Value make_complex(Vm& vm, ComplexNumber z);
// A complex number, or any other number as one; empty for what is no number.
std::optional<ComplexNumber> as_complex(const Value& v);
// What complex() makes of an object: its __complex__, __float__ or __index__ count. Empty for others.
std::optional<ComplexNumber> to_complex(Vm& vm, const Value& v);
// "(1+2j)", "2j".
std::string complex_repr(ComplexNumber z);

// CPython's formulas. The ones that can fail raise ZeroDivisionError or OverflowError.
ComplexNumber complex_product(ComplexNumber a, ComplexNumber b);
ComplexNumber complex_quotient(Vm& vm, ComplexNumber a, ComplexNumber b);
ComplexNumber complex_power(Vm& vm, ComplexNumber a, ComplexNumber b);

}  // namespace tsc::interp
