#pragma once
// Two ways to emit primitives behind one interface. Gradient rules are written once against OpBuilder;
// RegionBuilder appends them to a region, the eager tape's builder runs them at once.
// All ids are the builder's own: only pass back what this builder returned.
#include <span>

#include "jit/region/region.h"

namespace tsc::jit {

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
  // The integer behind a scalar value when it is known now (always, for the eager builder).
  virtual std::optional<int64_t> known_int(ValueId scalar) const = 0;
};

// Appends to the region's body. Infers result types; equal scalar expressions and constants share one
// value, so that equality of sizes is mostly equality of ids.
class RegionBuilder : public OpBuilder {
 public:
  explicit RegionBuilder(Region& region) : region_(region) {}

  ValueId op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
             const OpAttributes& attributes, int result = 0) override;
  ValueId constant(int64_t value) override;
  ValueId constant(double value) override;
  ValueId constant_bool(bool value);
  ValueId scalar(ScalarOp op, std::span<const ValueId> operands) override;
  ValueId size(ValueId tensor, int axis) override { return region_.type(tensor).sizes[axis]; }
  int rank(ValueId tensor) const override {
    return static_cast<int>(region_.type(tensor).sizes.size());
  }
  DType dtype(ValueId tensor) const override { return region_.type(tensor).dtype; }
  std::optional<int64_t> known_int(ValueId scalar) const override;
  // True when the two Int values are known to be equal (same value, or equal constants).
  bool known_equal(ValueId a, ValueId b) const;
  // Called when an op needs two sizes to be equal and they are not known to be: the embedder records a
  // guard and returns true, or returns false (then the op raises its shape error). Default: raises.
  virtual bool require_equal(ValueId a, ValueId b);

  // Effects.
  ValueId read(ValueId tensor, ValueKind kind);
  std::vector<ValueId> host(uint32_t id, std::span<const ValueId> operands,
                            std::span<const Type> results);
  void guard(ValueId condition, uint32_t exit, std::span<const ValueId> live);
  void exit(uint32_t id, std::span<const ValueId> live);
  void write_back(ValueId input, ValueId value);
  std::pair<ValueId, ValueId> rng_advance(ValueId draws);

  uint32_t origin = 0;  // stamped on every instruction appended
  Region& region() { return region_; }

 private:
  Region& region_;
  struct Key;
  std::vector<std::pair<uint64_t, ValueId>> constants_;  // replaced by hash tables in builder.cpp
};

}  // namespace tsc::jit
