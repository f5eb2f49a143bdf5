#pragma once
// Which instruction each operator of the language becomes. Op::Nop: there is none.
#include "lang/ast.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::lang {

struct BinaryOps {
  Op plain, inplace, constant, inplace_constant;
};

const BinaryOps& binary_ops(Operator op);

struct CompareOps {
  Op value, value_constant, jump, jump_constant;
};

const CompareOps& compare_ops(CompareOperator op);

}  // namespace tsc::lang
