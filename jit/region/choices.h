#pragma once
// Which of several values the result of branches and loops is: a number that the region computes beside it.
#include <functional>
#include <set>

#include "jit/region/region.h"

namespace tsc::jit {

// The number of a value that no branch or loop hands on.
using NumberOf = std::function<int64_t(ValueId)>;

// Those that a value may be, as `number` tells them apart.
std::set<int64_t> choices_of(const Region& region, ValueId value, const NumberOf& number);

// Lets the region compute the number of that value, an Int of the body. The value is one of the body.
ValueId add_choice(Region& region, ValueId value, const NumberOf& number);

}  // namespace tsc::jit
