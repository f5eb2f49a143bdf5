#pragma once
// functools.partial, for those that take one apart.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

struct Partial : Instance {
  Value function;
  std::vector<Value> positional;
  std::vector<std::pair<Local<StrObject>, Value>> keywords;  // in order, names interned
  Partial() : Instance(Kind::Native) {}
};

// Of the class itself: a class derived from it may do anything. Null: it is none.
const Partial* as_plain_partial(const Value& v);
bool is_partial_type(const Type* type);

}  // namespace tsc::interp
