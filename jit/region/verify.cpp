// The rules of a region, checked.
#include <algorithm>
#include <optional>

#include "jit/region/equal_sizes.h"
#include "jit/region/infer.h"
#include "jit/region/region.h"
#include "jit/region/scalar_eval.h"
#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

// Numbers that inference computes are not in the region: they get ids above its values when known and
// the wildcard kNoValue when not.
class CheckingAlgebra final : public SizeAlgebra {
 public:
  CheckingAlgebra(const Region& region, const EqualSizes& facts) : region_(region), facts_(facts) {}

  ValueId constant(int64_t value) override {
    computed_.push_back(value);
    return static_cast<ValueId>(region_.value_count() + computed_.size() - 1);
  }
  ValueId scalar(ScalarOp op, ValueId a, ValueId b) override {
    const auto x = known_int(a), y = known_int(b);
    if (!x || !y) return kNoValue;
    const Scalar operands[] = {Scalar::of_int(*x), Scalar::of_int(*y)};
    return constant(eval_scalar(op, operands).i);
  }
  std::optional<int64_t> known_int(ValueId value) override {
    if (value == kNoValue) return std::nullopt;
    if (value >= region_.value_count()) return computed_[value - region_.value_count()];
    return facts_.constant(value);
  }
  bool equal(ValueId a, ValueId b) override {
    if (a == kNoValue || b == kNoValue) return true;
    const auto x = known_int(a), y = known_int(b);
    if (x && y) return *x == *y;
    if (a >= region_.value_count() || b >= region_.value_count()) return true;
    return facts_.equal(a, b);
  }
  void factors(ValueId size, std::vector<ValueId>* out) override { out->push_back(size); }
  ValueId fresh() override { return kNoValue; }

 private:
  const Region& region_;
  const EqualSizes& facts_;
  std::vector<int64_t> computed_;
};

class Verifier {
 public:
  explicit Verifier(const Region& region)
      : region_(region), facts_(region), algebra_(region, facts_), defined_(region.value_count()) {}

  void run() {
    for (ValueId input : region_.body.parameters) define_open(input);
    inputs_.insert(region_.body.parameters.begin(), region_.body.parameters.end());
    check_block(region_.body, nullptr);
    instruction_ = nullptr;
    for (const auto& [a, b] : region_.assumptions) {
      check(a < region_.value_count() && b < region_.value_count(), "a value does not exist");
      check(region_.type(a).kind == ValueKind::Int && region_.type(b).kind == ValueKind::Int,
            "assumptions are about Int values");
    }
  }

 private:
  void check(bool ok, std::string_view rule) {
    if (!ok) [[unlikely]]
      throw_internal_fault(__FILE__, __LINE__, "region rule", region_.name + ", " + where() + ": " + std::string(rule));
  }

  void define(ValueId value) {
    check(value < region_.value_count(), "a result value does not exist");
    if (defined_[value]) check(false, "value %" + std::to_string(value) + " is defined twice");
    defined_[value] = true;
    scope_.push_back(value);
    const Type& type = region_.type(value);
    check(type.kind == ValueKind::Tensor || type.sizes.empty(), "only tensors have sizes");
  }
  void check_sizes(ValueId value) {
    for (ValueId size : region_.type(value).sizes) {
      use(size);
      check(region_.type(size).kind == ValueKind::Int, "a size is not an Int value");
    }
  }
  // A tensor from outside: it defines those of its sizes that nothing has defined.
  void define_open(ValueId value) {
    define(value);
    for (ValueId size : region_.type(value).sizes) {
      check(size < region_.value_count(), "a size value does not exist");
      if (!defined_[size]) define(size);
    }
    check_sizes(value);
  }
  void use(ValueId value) {
    check(value < region_.value_count(), "an operand does not exist");
    if (!defined_[value]) check(false, "value %" + std::to_string(value) + " is used before its definition");
  }
  ValueKind kind(ValueId value) const { return region_.type(value).kind; }
  bool is_scalar(ValueId value) const { return kind(value) != ValueKind::Tensor && kind(value) != ValueKind::Object; }
  bool same_type(ValueId a, ValueId b) {
    const Type &x = region_.type(a), &y = region_.type(b);
    if (x.kind != y.kind) return false;
    if (x.kind != ValueKind::Tensor) return true;
    return x.dtype == y.dtype && x.sizes.size() == y.sizes.size();
  }

  bool is_stack_of(ValueId stack, ValueId part) {
    const Type &whole = region_.type(stack), &one = region_.type(part);
    return whole.kind == ValueKind::Tensor && one.kind == ValueKind::Tensor && whole.dtype == one.dtype &&
           whole.sizes.size() == one.sizes.size() + 1;
  }

  // Facts are copied only where a block adds to them: a region holds a thousand kernels.
  static bool has_guard(const Block& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(),
                       [](const Instruction& one) { return one.code == Code::Guard; });
  }

  // `owner`: the If or Loop around a nested block; null for the body.
  void check_block(const Block& block, const Instruction* owner) {
    const size_t scope = scope_.size();
    std::optional<EqualSizes> outer;
    if (owner && has_guard(block)) {
      outer = facts_;
      facts_.add_guards(block);
    }
    if (owner)
      for (ValueId parameter : block.parameters) define_open(parameter);
    for (size_t i = 0; i < block.instructions.size(); ++i) {
      const Instruction& instruction = block.instructions[i];
      instruction_ = &instruction;
      index_ = i;
      const bool terminator = instruction.code == Code::Exit || instruction.code == Code::Yield;
      check(terminator == (i + 1 == block.instructions.size()),
            terminator ? "a terminator stands before the end of its block" : "the block has no terminator");
      for (ValueId operand : instruction.operands) use(operand);
      check_instruction(instruction, owner);
    }
    check(!block.instructions.empty(), "the block has no terminator");
    for (size_t i = scope; i < scope_.size(); ++i) defined_[scope_[i]] = false;
    scope_.resize(scope);
    if (outer) facts_ = std::move(*outer);
  }

  std::string where() const {
    if (!instruction_) return "inputs and assumptions";
    std::string text = "instruction " + std::to_string(index_) + " (";
    text += instruction_->code == Code::Op ? std::string(op_name(instruction_->op))
                                           : "code " + std::to_string(static_cast<int>(instruction_->code));
    if (!instruction_->results.empty()) text += ", %" + std::to_string(instruction_->results[0]);
    return text + ")";
  }

  void check_instruction(const Instruction& instruction, const Instruction* owner) {
    const bool nests =
        instruction.code == Code::If || instruction.code == Code::Loop || instruction.code == Code::Kernel;
    check(nests || instruction.blocks.empty(), "only if, loop and kernel hold blocks");
    switch (instruction.code) {
      case Code::Op: return check_op(instruction);
      case Code::Const: return check_constant(instruction);
      case Code::Scalar: return check_scalar(instruction);
      case Code::Read: return check_read(instruction);
      case Code::Host:
        for (ValueId result : instruction.results) define_open(result);
        return;
      case Code::Guard:
        return check(!instruction.operands.empty() && instruction.results.empty() &&
                         kind(instruction.operands[0]) == ValueKind::Bool,
                     "a guard takes a Bool");
      case Code::Exit: return check(instruction.results.empty(), "an exit has no results");
      case Code::WriteBack: return check_write_back(instruction);
      case Code::RngAdvance: return check_rng(instruction);
      case Code::If: return check_if(instruction);
      case Code::Loop: return check_loop(instruction);
      case Code::Yield: return check_yield(instruction, owner);
      case Code::Kernel: return check_kernel(instruction);
    }
  }

  void check_op(const Instruction& instruction) {
    const size_t tensors = tensor_count(instruction);
    check(instruction.operands.size() >= tensors, "too few operands");
    SmallVector<const Type*, 6> types;
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const ValueId operand = instruction.operands[i];
      check(i < tensors ? kind(operand) == ValueKind::Tensor : is_scalar(operand), "an operand has the wrong kind");
      if (i < tensors) types.push_back(&region_.type(operand));
    }
    check(instruction.results.size() == static_cast<size_t>(op_result_count(instruction.op)),
          "wrong number of results");
    const std::span<const ValueId> operands = instruction.operands;
    for (size_t r = 0; r < instruction.results.size(); ++r) {
      const Type& declared = region_.type(instruction.results[r]);
      Type inferred;
      try {
        inferred = infer_type(algebra_, instruction.op, types, operands.subspan(tensors), instruction.attributes,
                              static_cast<int>(r));
      } catch (const Error& error) {
        check(false, error.message());
      }
      check(declared.kind == ValueKind::Tensor && declared.dtype == inferred.dtype,
            "the result's dtype is not what the op gives");
      check(declared.sizes.size() == inferred.sizes.size(), "the result's rank is not what the op gives");
      const bool dynamic = op_row(instruction.op).flags & kDynamicSize;
      dynamic ? define_open(instruction.results[r]) : define(instruction.results[r]);
      check_sizes(instruction.results[r]);
      for (size_t k = 0; k < inferred.sizes.size(); ++k)
        check(declared.sizes[k] == inferred.sizes[k] || algebra_.equal(declared.sizes[k], inferred.sizes[k]),
              "the result's sizes are not what the op gives");
    }
  }

  void check_constant(const Instruction& instruction) {
    check(instruction.operands.empty() && instruction.results.size() == 1, "a constant has one result");
    check(kind(instruction.results[0]) == kind_of(instruction.number), "the constant's kind is not its number's");
    define(instruction.results[0]);
  }

  void check_scalar(const Instruction& instruction) {
    std::vector<ValueKind> kinds;
    for (ValueId operand : instruction.operands) {
      check(is_scalar(operand), "an operand is not a scalar");
      kinds.push_back(kind(operand));
    }
    check(instruction.results.size() == 1, "a scalar operation has one result");
    check(!kinds.empty() && kind(instruction.results[0]) == scalar_result_kind(instruction.scalar_op, kinds),
          "the result's kind is not what the operation gives");
    define(instruction.results[0]);
  }

  void check_read(const Instruction& instruction) {
    check(instruction.operands.size() == 1 && kind(instruction.operands[0]) == ValueKind::Tensor &&
              instruction.results.size() == 1 && is_scalar(instruction.results[0]),
          "read takes a tensor and gives a scalar");
    define(instruction.results[0]);
  }

  void check_write_back(const Instruction& instruction) {
    const size_t count = instruction.operands.size();
    check(
        (count == 2 || (count == 3 && kind(instruction.operands[2]) == ValueKind::Int)) && instruction.results.empty(),
        "write_back takes an input, a value and a number of writes");
    const ValueId input = instruction.operands[0], value = instruction.operands[1];
    check(inputs_.count(input) && kind(input) == ValueKind::Tensor, "write_back goes to an input tensor");
    check(same_type(input, value), "write_back keeps dtype and rank");
    for (size_t k = 0; k < region_.type(input).sizes.size(); ++k)
      check(facts_.equal(region_.type(input).sizes[k], region_.type(value).sizes[k]), "write_back keeps the sizes");
  }

  void check_rng(const Instruction& instruction) {
    check(instruction.operands.size() == 1 && kind(instruction.operands[0]) == ValueKind::Int &&
              instruction.results.size() == 2,
          "rng_advance takes the number of draws and gives seed and offset");
    for (ValueId result : instruction.results) {
      check(kind(result) == ValueKind::Int, "seed and offset are Int values");
      define(result);
    }
  }

  void check_if(const Instruction& instruction) {
    check(!instruction.operands.empty() && kind(instruction.operands[0]) == ValueKind::Bool, "if takes a Bool");
    const bool is_outlined = instruction.blocks.empty();  // its plans are compared with it where they are read
    check(is_outlined || (instruction.blocks.size() == 2 && instruction.operands.size() == 1), "if has two blocks");
    for (const auto& block : instruction.blocks) {
      check(block->parameters.empty(), "the blocks of if have no parameters");
      check_block(*block, &instruction);
    }
    for (ValueId result : instruction.results) define_open(result);
  }

  // One without a block is outlined: its plan is compared with it where it is read.
  void check_loop(const Instruction& instruction) {
    check(!instruction.operands.empty() && kind(instruction.operands[0]) == ValueKind::Int, "loop takes a trip count");
    check(instruction.blocks.size() <= 1, "loop has one block");
    if (instruction.blocks.empty()) {
      for (ValueId result : instruction.results) define_open(result);
      return;
    }
    const size_t carried = instruction.operands.size() - 1;
    const Block& body = *instruction.blocks[0];
    if (instruction.attributes.mode == kWhile)
      check(carried > 1 && kind(instruction.operands[1]) == ValueKind::Bool &&
                kind(instruction.operands[2]) == ValueKind::Int,
            "a loop with a condition carries that first, and the number of turns behind it");
    check(instruction.results.size() >= carried && body.parameters.size() == carried + 1,
          "loop: operands, block parameters and results disagree");
    check(kind(body.parameters[0]) == ValueKind::Int, "the iteration number is an Int");
    for (size_t i = 0; i < carried; ++i)
      check(same_type(instruction.operands[i + 1], body.parameters[i + 1]) &&
                same_type(instruction.operands[i + 1], instruction.results[i]),
            "loop: a carried value changes its type");
    check_block(body, &instruction);
    for (ValueId result : instruction.results) define_open(result);
  }

  void check_kernel(const Instruction& instruction) {
    check(instruction.blocks.size() == 1 && instruction.blocks[0]->parameters.empty(),
          "kernel has one block without parameters");
    check_block(*instruction.blocks[0], &instruction);
    for (ValueId result : instruction.results) define_open(result);
  }

  void check_yield(const Instruction& instruction, const Instruction* owner) {
    check(owner != nullptr, "yield stands in a nested block only");
    check(instruction.operands.size() == owner->results.size() && instruction.results.empty(),
          "yield gives one value per result");
    // What comes behind the carried values of a loop is stacked.
    const bool is_loop = owner->code == Code::Loop;
    const size_t plain = is_loop ? owner->operands.size() - 1 : instruction.operands.size();
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      check(i < plain ? same_type(instruction.operands[i], owner->results[i])
                      : is_stack_of(owner->results[i], instruction.operands[i]),
            "yield: a value has another type than the result");
  }

  const Region& region_;
  EqualSizes facts_;
  CheckingAlgebra algebra_;
  std::vector<bool> defined_;
  ValueSet inputs_;
  std::vector<ValueId> scope_;
  const Instruction* instruction_ = nullptr;  // being checked
  size_t index_ = 0;
};

}  // namespace

void verify(const Region& region) { Verifier(region).run(); }

}  // namespace tsc::jit
