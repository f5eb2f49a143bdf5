#include "jit/region/op_cost.h"

namespace tsc::jit {

bool is_cheap(Op op) {
  switch (op) {
    case Op::neg:
    case Op::abs:
    case Op::sign:
    case Op::logical_not:
    case Op::bitwise_not:
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::maximum:
    case Op::minimum:
    case Op::bitwise_and:
    case Op::bitwise_or:
    case Op::bitwise_xor:
    case Op::eq:
    case Op::ne:
    case Op::lt:
    case Op::le:
    case Op::select:
    case Op::cast: return true;
    default: return false;
  }
}

}  // namespace tsc::jit
