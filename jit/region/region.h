#pragma once
// The region: a captured piece of a script as a program in SSA form. Values are tensors, scalar
// registers (int, float, bool) and opaque host objects. A tensor's sizes are Int VALUES of the region,
// so one region serves every size; constants are Int constants. Effects (host, guard, exit, read,
// write_back, rng_advance) keep their program order; everything else is pure and may be moved.
// Knows the op table. Must not know the AST, bytecode or interpreter: `origin`, host ids and exit ids
// are opaque numbers that the embedding layer chose.
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/small_vector.h"
#include "runtime/ops/op.h"

namespace tsc::jit {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = ~0u;
using ValueList = SmallVector<ValueId, 6>;

enum class ValueKind : uint8_t { Tensor, Int, Float, Bool, Object };

struct Type {
  ValueKind kind = ValueKind::Int;
  DType dtype = DType::F32;  // Tensor only
  ValueList sizes;           // Tensor only: one Int value per axis
};

enum class Code : uint8_t {
  Op,          // primitive `op`: operands = its tensors, then its scalars
  Const,       // Int, Float or Bool constant (`number`)
  Scalar,      // `scalar_op` over scalar operands
  Read,        // tensor of one element -> Int, Float or Bool register (waits for the value)
  Host,        // host #id(operands) -> results: the embedder's callback runs it, in program order
  Guard,       // operand 0 (Bool) must be true, else leave through exit #id with the other operands
  Exit,        // terminator: leave through exit #id with the operands
  WriteBack,   // operand 0: an input tensor; operand 1: the value its memory holds from here on; `id`: how many
               // writes of the program that were, and operand 2, where there is one, how many more
  RngAdvance,  // operand: number of draws (Int) -> results: seed, offset before the draws (Int, Int)
  If,          // operand 0 Bool; blocks: then, else; results = what the taken block yields. Without blocks: `id` is
               // the number of the plan of the first, the one behind it that of the second (jit/passes/outline.h), and
  // both are given the other operands. Once it is known what its backward reads, the axes are the places of
  // those results, and mode is one more than how many of them the first block gives
  Loop,    // operands: trip count (Int), then initial carried values; block parameters: the
           // iteration number, then the carried values; the block yields the next carried values, then
           // tensors of which each iteration gives one; results = the carried values after the last
           // iteration, then those tensors stacked along a new first axis. Without a block: `id` is the
           // number of a plan of its own, which is given the other operands too.
           // The mode is a LoopMode. The axes are the places of the results that its backward reads, once that
           // is known; of one that holds a number of each iteration, the place's complement (~)
  Yield,   // terminator of a nested block: operands = the block's results
  Kernel,  // a fused group: block 0 says what it computes, results = what the block yields; `id` is
           // its number among the kernels of the region
};

// How a Loop goes from turn to turn.
enum LoopMode : int {
  kCountsUp,
  kCountsDown,  // the iteration number counts down to 0; rows are stacked by it
  // The first carried value is a Bool: the loop ends in front of a turn for which it does not hold, or after as many
  // turns as the trip count says. The second one, an Int, begins with 0 and is how many turns there were: the first
  // size of what is stacked. Where the condition begins as the constant true there is one. A block may end with Ifs
  // inside of each other, the last instruction of each first block, whose second blocks give false and end the turn in
  // the middle; then the third one, an Int, begins with 0 and is the number of the If, from 1 and the outermost, that
  // has ended the last turn.
  kWhile,
};

// clang-format off
enum class ScalarOp : uint8_t {
  add, sub, mul,               // Int x Int (OverflowError) or Float x Float
  true_div, floor_div, mod,    // Python's; ZeroDivisionError
  pow,                         // Float x Float
  neg, abs, minimum, maximum,
  eq, ne, lt, le,              // -> Bool
  logical_and, logical_or, logical_not,
  int_to_float, float_to_int,  // float_to_int truncates; ValueError/OverflowError as Python's int()
  bool_to_int,
  sqrt, exp, log, sin, cos, tanh, floor, ceil, round,  // Float -> Float (math module's domain errors)
  select,                      // Bool, a, b
};
// clang-format on
std::string_view scalar_op_name(ScalarOp op);

struct Block;

struct Instruction {
  Code code = Code::Const;
  Op op = Op::neg;
  ScalarOp scalar_op = ScalarOp::add;
  ValueList operands;
  SmallVector<ValueId, 2> results;
  OpAttributes attributes;
  Scalar number;                               // Const
  uint32_t id = 0;                             // Host and exit number
  uint32_t origin = 0;                         // opaque place in the source, carried to kernels, errors and events
  std::vector<std::unique_ptr<Block>> blocks;  // If: then, else; Loop: body; until they are outlined
};

struct Block {
  std::vector<ValueId> parameters;
  std::vector<Instruction> instructions;
};

struct ValueInfo {
  Type type;
};

Instruction clone_instruction(const Instruction& source);

// The inputs are the parameters of the body block.
//
// Where a size comes from: the sizes of an op's result are values that exist before the op. But a
// tensor that arrives from outside or whose size depends on data (an input, a host result, a result of
// nonzero, a block parameter, a result of If or Loop) DEFINES those of its sizes that no earlier
// instruction defined: they are fresh Int values, bound together with the tensor.
//
// WriteBack and SSA: a value never changes. A value that was read from the input's memory before the
// write (the input itself, a view of it) still means the old contents after it.
class Region {
 public:
  std::string name;
  Block body;
  // Pairs of Int values that the embedder promises to be equal (it checked them before the call, or a
  // guard in the region does). Text: `assume %1 == %4`.
  std::vector<std::pair<ValueId, ValueId>> assumptions;

  ValueId add_value(Type type);
  const Type& type(ValueId value) const { return values_[value].type; }
  Type& type(ValueId value) { return values_[value].type; }
  size_t value_count() const { return values_.size(); }

  // The type of a tensor whose sizes are all fresh Int values.
  Type fresh_tensor_type(DType dtype, int rank);
  // A tensor input of that rank with fresh size values; a scalar or object input.
  ValueId add_tensor_input(DType dtype, int rank);
  ValueId add_input(ValueKind kind);

  Region() = default;
  Region(Region&&) = default;
  Region& operator=(Region&&) = default;
  Region clone() const;

 private:
  std::vector<ValueInfo> values_;
};

// How many leading operands of an Op instruction are tensors (the others are its scalars).
size_t tensor_count(const Instruction& instruction);
// True when the instruction must stay and keep its place: effects, terminators, nested blocks.
bool has_effect(const Instruction& instruction);
// The number of scalar operands an op takes, given the ranks of its tensors and of its result.
size_t scalar_count(Op op, size_t result_rank, size_t last_tensor_rank);

// The text form. print(parse(print(r))) == print(r). Values are renumbered in order of definition.
//
//   region step(%0: f32[%1, %2], %3: f32[%4, %5], %6: float) {
//     %7 = const int 1
//     %8 = dot %0, %3 : f32[%7, %1, %5]
//     %9 = sum %8 axes=[1] : f32[%7, %5]
//     %10 = scalar add %1, %7 : int
//     %11 = scalar lt %1, %10 : bool
//     guard %11 else exit #3(%1) @12
//     %12 = host #2(%8) : int
//     write_back %0, %8
//     exit #0(%9)
//   }
std::string print(const Region& region);
// On bad text: Error(ValueError) with line number and reason.
Region parse_region(std::string_view text);

// Raises InternalFault naming the instruction when a rule is broken: one definition before every use,
// operand kinds and counts, dtypes by the op table, sizes agreeing where the op demands it (same value
// or both constants equal), terminators, block parameters.
void verify(const Region& region);

}  // namespace tsc::jit
