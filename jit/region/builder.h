#pragma once
// Two ways to emit primitives behind one interface. Gradient rules are written once against OpBuilder;
// RegionBuilder appends them to a region, the eager tape's builder runs them at once.
// All ids are the builder's own: only pass back what this builder returned.
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "jit/region/region.h"

namespace tsc::jit {

// What makes two scalar instructions the same.
struct ScalarKey {
  ScalarOp op;
  ValueId operands[3];
  bool operator==(const ScalarKey&) const = default;
};

class OpBuilder {
 public:
  virtual ~OpBuilder() = default;
  // Emits a primitive; result 0 (or `result` for sort). Raises tsc::Error for a wrong dtype or shape.
  virtual ValueId op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                     const OpAttributes& attributes, int result = 0) = 0;
  virtual ValueId constant(int64_t value) = 0;
  virtual ValueId constant(double value) = 0;
  virtual ValueId scalar(ScalarOp op, std::span<const ValueId> operands) = 0;
  virtual ValueId size(ValueId tensor, int axis) = 0;
  virtual int rank(ValueId tensor) const = 0;
  virtual DType dtype(ValueId tensor) const = 0;
  // A tensor of those sizes whose every element is `value` (a scalar id). The eager builder makes a view
  // of one element instead of a full buffer; the values are the same.
  virtual ValueId fill(ValueId value, std::span<const ValueId> sizes, DType dtype);
  // The integer behind a scalar value when it is known now (always, for the eager builder).
  virtual std::optional<int64_t> known_int(ValueId scalar) const = 0;
};

// Appends to the region's body. Infers result types; equal scalar expressions and constants share one
// value, so that equality of sizes is mostly equality of ids. Constant scalar expressions fold, unless
// they raise: then the instruction stays and raises at its own time.
class RegionBuilder : public OpBuilder {
 public:
  // Goes on at the end of the region's body, knowing the scalars that are there.
  explicit RegionBuilder(Region& region);
  ~RegionBuilder() override;

  ValueId op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars, const OpAttributes& attributes,
             int result = 0) override;
  // All results of an op (sort has two).
  std::vector<ValueId> op_results(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                                  const OpAttributes& attributes);
  ValueId constant(int64_t value) override;
  ValueId constant(double value) override;
  ValueId constant_bool(bool value);
  ValueId scalar(ScalarOp op, std::span<const ValueId> operands) override;
  ValueId size(ValueId tensor, int axis) override { return region_.type(tensor).sizes[axis]; }
  int rank(ValueId tensor) const override { return static_cast<int>(region_.type(tensor).sizes.size()); }
  DType dtype(ValueId tensor) const override { return region_.type(tensor).dtype; }
  std::optional<int64_t> known_int(ValueId scalar) const override;
  bool is_constant(ValueId scalar) const;
  // The constant behind a scalar of any kind.
  std::optional<Scalar> known(ValueId scalar) const;
  // True when the two Int values are known to be equal (same value, equal constants, or assumed).
  bool known_equal(ValueId a, ValueId b) const;
  // From here on the two are taken to be equal, and the region says so.
  void assume_equal(ValueId a, ValueId b);
  // Called when an op needs two sizes to be equal and they are not known to be: the embedder records a
  // guard and returns true (the builder then assumes them equal), or returns false (the op raises its
  // shape error). Default: false.
  virtual bool require_equal(ValueId a, ValueId b);

  // Effects.
  ValueId read(ValueId tensor, ValueKind kind);
  // A tensor among `results` may leave its sizes kNoValue: they become fresh values.
  std::vector<ValueId> host(uint32_t id, std::span<const ValueId> operands, std::span<const Type> results);
  void guard(ValueId condition, uint32_t exit, std::span<const ValueId> live);
  void exit(uint32_t id, std::span<const ValueId> live);
  void write_back(ValueId input, ValueId value, uint32_t writes = 1, ValueId more_writes = kNoValue);
  std::pair<ValueId, ValueId> rng_advance(ValueId draws);

  // Control flow. The functions emit a nested block and return what it yields; values that they define
  // are not visible outside. A block of a branch may leave the region instead: it ends with exit() and returns {}.
  using Branch = std::function<std::vector<ValueId>()>;
  std::vector<ValueId> branch(ValueId condition, const Branch& then, const Branch& otherwise);
  // body(iteration, carried) -> next carried values, which keep their types.
  using LoopBody = std::function<std::vector<ValueId>(ValueId iteration, std::span<const ValueId> carried)>;
  std::vector<ValueId> loop(ValueId trips, std::span<const ValueId> initial, const LoopBody& body);
  // The same in two steps: what is appended between them is the body. begin_loop gives the iteration number and the
  // carried values of these types; end_loop takes their next values, and tensors that are stacked, whose sizes exist
  // outside. Constants, and numbers made of what exists outside alone, are appended there: those that may raise not
  // beyond the branch that they stand in.
  std::vector<ValueId> begin_loop(std::span<const Type> carried);
  std::vector<ValueId> end_loop(ValueId trips, std::span<const ValueId> initial, std::span<const ValueId> next,
                                std::span<const ValueId> stacked, LoopMode mode = kCountsUp);
  // A branch in three steps: what is appended behind begin_branch is its first block, what is appended behind
  // next_branch its second; end_branch takes what each of them yields.
  void begin_branch();
  void next_branch();
  std::vector<ValueId> end_branch(ValueId condition, std::span<const ValueId> first, std::span<const ValueId> second);
  // How many open blocks, of loops and branches, the value is inside of.
  size_t depth_of(ValueId value) const { return value < depths_.size() ? depths_[value] : 0; }
  size_t open_blocks() const { return open_.size(); }
  // What makes a scalar of the region; null: no operation on scalars.
  const ScalarKey* made_by(ValueId scalar) const;

  // While set, numbers that may raise are appended beyond a branch too: a condition at entry asks for them, and not the
  // program.
  bool appends_questions = false;
  // Stamped on every instruction appended; kAskOrigin: find_origin() is asked when one is.
  static constexpr uint32_t kAskOrigin = ~0u;
  uint32_t origin = 0;
  uint32_t known_origin() {
    if (origin == kAskOrigin) origin = find_origin();
    return origin;
  }
  Region& region() { return region_; }

 protected:
  virtual uint32_t find_origin() { return 0; }
  // A value of a block that has ended is used.
  [[noreturn]] virtual void value_is_gone();

 private:
  class Algebra;
  struct Tables;
  struct OpenBlock {
    Block* outer;
    std::unique_ptr<Block> body, first;  // `first`: of a branch, when the second is open
    bool is_branch = false;
    size_t assumed = 0;  // assumptions of the region in front of it
  };
  Instruction& append_op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                         const OpAttributes& attributes);
  Instruction& append(Code code, std::span<const ValueId> operands, bool may_raise = false);
  ValueId add_result(Type type, size_t depth);
  ValueId add_scalar_result(Instruction& instruction, ValueKind kind);
  ValueId constant_of(Scalar number);
  ValueId simplified(ScalarOp op, std::span<const ValueId> operands);
  Type joined_type(ValueId a, ValueId b);
  void open_block();
  std::unique_ptr<Block> close_block();
  bool may_raise(ScalarOp op, std::span<const ValueId> operands) const;

  Region& region_;
  Block* block_;                 // where instructions go
  std::vector<OpenBlock> open_;  // outermost first
  std::vector<uint8_t> depths_;  // by value: the open blocks that it is inside of, kGone: of one that has ended
  size_t depth_ = 0;             // of the instruction that was appended last
  static constexpr uint8_t kGone = 255;
  std::unique_ptr<Tables> tables_;
};

}  // namespace tsc::jit
