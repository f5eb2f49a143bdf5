#include "jit/loops/evaluate.h"

#include <cstring>
#include <limits>

#include "runtime/base/error.h"
#include "runtime/kernels/kernel_table.h"
#include "runtime/random/philox.h"
#include "runtime/tensor/small_floats.h"

namespace tsc::jit {
namespace {

// One element in its memory form; kernels hold no complex numbers.
struct Cell {
  alignas(8) std::byte bytes[8] = {};
  template <class T>
  T get() const {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  template <class T>
  static Cell of(T value) {
    Cell cell;
    std::memcpy(cell.bytes, &value, sizeof value);
    return cell;
  }
};

Cell apply(Op op, DType from, DType to, const Cell& x, const Cell& y, const Cell& z) {
  const KernelTable& table = kernel_table(Isa::Baseline);
  Cell out;
  if (op == Op::bitcast) {
    if (to == DType::Bool) return Cell::of<uint8_t>(x.get<uint8_t>() != 0);
    return x;
  }
  ElementLoop loop = op == Op::cast ? table.cast[static_cast<int>(from)][static_cast<int>(to)]
                                    : table.element[static_cast<int>(op)][static_cast<int>(from)];
  TSC_CHECK(loop, "no reference kernel for op " + std::string(op_name(op)));
  loop(out.bytes, x.bytes, y.bytes, z.bytes, 1);
  return out;
}

Cell cast(DType from, DType to, const Cell& x) { return from == to ? x : apply(Op::cast, from, to, x, {}, {}); }

Cell number(const Scalar& value, DType dtype) {
  if (value.kind == Scalar::Kind::Float) return cast(DType::F64, dtype, Cell::of(value.f));
  return cast(DType::I64, dtype, Cell::of(value.i));
}

// What every number of the dtype is above, or below.
Cell extreme(DType dtype, bool largest) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (is_floating(dtype)) return number(Scalar::of_float(largest ? infinity : -infinity), dtype);
  if (is_unsigned(dtype)) return number(Scalar::of_int(largest ? -1 : 0), dtype);
  const int64_t lowest = std::numeric_limits<int64_t>::min() >> (64 - dtype_info(dtype).bits);
  return number(Scalar::of_int(largest ? ~lowest : lowest), dtype);
}

Cell identity(Reduction reduction, DType dtype) {
  switch (reduction) {
    case Reduction::sum: return {};
    case Reduction::prod: return number(Scalar::of_int(1), dtype);
    case Reduction::amax:
    case Reduction::amin:
      if (dtype == DType::Bool) return Cell::of<uint8_t>(reduction == Reduction::amin);
      return extreme(dtype, reduction == Reduction::amin);
  }
  return {};
}

Op op_of(Reduction reduction) {
  constexpr Op kOps[] = {Op::add, Op::mul, Op::maximum, Op::minimum};
  return kOps[static_cast<int>(reduction)];
}

// A reduction under way: the canonical order, spelled out.
struct Fold {
  DType accumulator;
  std::vector<Cell> lanes;
  Cell total;
  int64_t count = 0;
};

class Evaluator {
 public:
  Evaluator(const KernelProgram& program, const OperandArgument* operands, const int64_t* parameters, int64_t rows,
            int64_t cols)
      : program_(program), operands_(operands), parameters_(parameters), rows_(rows), cols_(cols),
        values_(program.values), dtypes_(program.values), uniform_(program.values, false) {
    scratch_.assign(program.scratch.size(), std::vector<Cell>(cols));
  }

  void run() {
    if (program_.kind == KernelProgram::Kind::Row)
      for (int64_t row = 0; row < rows_; ++row) run_row(row);
    else
      for (int64_t col = 0; col < cols_; ++col) run_column(col);
  }

 private:
  void run_row(int64_t row) {
    for (const NestStage& stage : program_.stages) {
      run_part(stage.row, row, 0);
      folds_.clear();
      prepare(stage.element);
      for (int64_t col = 0; col < cols_; ++col) run_part(stage.element, row, col);
      finish(stage.element);
    }
  }

  void run_column(int64_t col) {
    const NestStage& stage = program_.stages[0];
    prepare_uniform(stage.row);
    folds_.clear();
    prepare(stage.element);
    for (int64_t row = 0; row < rows_; ++row) run_part(stage.element, row, col);
    finish(stage.element);
    run_part(stage.row, 0, col);
  }

  // dtypes and folds must exist even when no element does.
  void prepare(const std::vector<NestInstruction>& part) {
    for (const NestInstruction& in : part) {
      if (!defines_value(in)) continue;
      dtypes_[in.result] = in.dtype;
      if (in.code != NestCode::Reduce) continue;
      Fold fold;
      const DType from = dtypes_[in.inputs[0]];
      fold.accumulator = accumulator_dtype(in.reduction, from);
      fold.total = identity(in.reduction, fold.accumulator);
      folds_.emplace_back(std::move(fold));
    }
    prepare_uniform(part);
  }
  void prepare_uniform(const std::vector<NestInstruction>& part) {
    for (const NestInstruction& in : part) {
      bool uniform = in.code == NestCode::Constant || in.code == NestCode::Parameter;
      if (in.code == NestCode::Apply) {
        uniform = true;
        for (NestValue input : in.inputs) uniform = uniform && uniform_[input];
      }
      if (!uniform) continue;
      uniform_[in.result] = true;
      run_instruction(in, 0, 0);
    }
  }

  void run_part(const std::vector<NestInstruction>& part, int64_t row, int64_t col) {
    next_fold_ = 0;
    for (const NestInstruction& in : part) run_instruction(in, row, col);
  }

  void set(const NestInstruction& in, const Cell& value) {
    values_[in.result] = value;
    dtypes_[in.result] = in.dtype;
  }

  void run_instruction(const NestInstruction& in, int64_t row, int64_t col) {
    switch (in.code) {
      case NestCode::Load: set(in, load(in, row, col)); break;
      case NestCode::Store: {
        const DType dtype = program_.operands[in.slot].dtype;
        std::memcpy(address(in.slot, row, col), values_[in.inputs[0]].bytes, dtype_size(dtype));
        break;
      }
      case NestCode::Constant: set(in, number(in.number, in.dtype)); break;
      case NestCode::Parameter: set(in, Cell::of(parameters_[in.slot])); break;
      case NestCode::Apply: {
        Cell inputs[3];
        for (size_t i = 0; i < in.inputs.size(); ++i) inputs[i] = values_[in.inputs[i]];
        const DType from = dtypes_[in.inputs[in.op == Op::select ? 1 : 0]];
        set(in, apply(in.op, from, in.dtype, inputs[0], inputs[1], inputs[2]));
        break;
      }
      case NestCode::Philox: set(in, philox(in)); break;
      case NestCode::Reduce: accumulate(in); break;
      case NestCode::Accumulate: {
        Cell lane;
        std::memcpy(lane.bytes, address(in.slot, row, col), dtype_size(in.dtype));
        const Cell x = cast(dtypes_[in.inputs[0]], in.dtype, values_[in.inputs[0]]);
        lane = combine(in.reduction, in.dtype, lane, x);
        std::memcpy(address(in.slot, row, col), lane.bytes, dtype_size(in.dtype));
        break;
      }
      case NestCode::ScratchStore: scratch_[in.slot][col] = values_[in.inputs[0]]; break;
      case NestCode::ScratchLoad: set(in, scratch_[in.slot][col]); break;
    }
  }

  int64_t offset(uint32_t slot, int64_t row, int64_t col) const {
    const OperandArgument& argument = operands_[slot];
    const Access access = program_.operands[slot].access;
    const int64_t col_stride = access == Access::Contiguous ? 1 : access == Access::Broadcast ? 0 : argument.col_stride;
    return row * argument.row_stride + col * col_stride;
  }
  std::byte* address(uint32_t slot, int64_t row, int64_t col) const {
    const DType dtype = program_.operands[slot].dtype;
    return static_cast<std::byte*>(operands_[slot].base) + offset(slot, row, col) * dtype_size(dtype);
  }
  Cell load(const NestInstruction& in, int64_t row, int64_t col) const {
    if (program_.operands[in.slot].kind == Operand::Kind::Index)
      return Cell::of(reinterpret_cast<int64_t>(operands_[in.slot].base) + offset(in.slot, row, col));
    Cell cell;
    std::memcpy(cell.bytes, address(in.slot, row, col), dtype_size(in.dtype));
    return cell;
  }

  Cell philox(const NestInstruction& in) const {
    const auto seed = values_[in.inputs[0]].get<uint64_t>();
    const auto offset = values_[in.inputs[1]].get<uint64_t>();
    const auto index = values_[in.inputs[2]].get<uint64_t>();
    if (in.dtype == DType::F64) {
      const PhiloxBlock words = philox_block(seed, offset, index / 2);
      return Cell::of(philox_uniform(words[index % 2 * 2], words[index % 2 * 2 + 1]));
    }
    const uint32_t word = philox_word(seed, offset, index);
    if (in.dtype == DType::F32) return Cell::of(philox_uniform(word));
    if (in.dtype == DType::I32) return Cell::of(word);
    return Cell::of<uint64_t>(word);
  }

  Cell combine(Reduction reduction, DType dtype, const Cell& x, const Cell& y) const {
    return apply(op_of(reduction), dtype, dtype, x, y, {});
  }

  void accumulate(const NestInstruction& in) {
    Fold& fold = folds_[next_fold_++];
    if (fold.count == kReductionChunk) close_chunk(fold, in.reduction);
    if (fold.lanes.empty()) fold.lanes.assign(kReductionLanes, identity(in.reduction, fold.accumulator));
    Cell& lane = fold.lanes[fold.count++ % kReductionLanes];
    const Cell x = cast(dtypes_[in.inputs[0]], fold.accumulator, values_[in.inputs[0]]);
    lane = combine(in.reduction, fold.accumulator, lane, x);
  }

  void close_chunk(Fold& fold, Reduction reduction) {
    for (int64_t distance = kReductionLanes / 2; distance >= 1; distance /= 2)
      for (int64_t lane = 0; lane < distance; ++lane)
        fold.lanes[lane] = combine(reduction, fold.accumulator, fold.lanes[lane], fold.lanes[lane + distance]);
    fold.total = combine(reduction, fold.accumulator, fold.total, fold.lanes[0]);
    fold.lanes.clear();
    fold.count = 0;
  }

  void finish(const std::vector<NestInstruction>& part) {
    next_fold_ = 0;
    for (const NestInstruction& in : part) {
      if (in.code != NestCode::Reduce) continue;
      Fold& fold = folds_[next_fold_++];
      if (!fold.lanes.empty()) close_chunk(fold, in.reduction);
      set(in, cast(fold.accumulator, in.dtype, fold.total));
    }
  }

  const KernelProgram& program_;
  const OperandArgument* operands_;
  const int64_t* parameters_;
  int64_t rows_, cols_;
  std::vector<Cell> values_;
  std::vector<DType> dtypes_;
  std::vector<bool> uniform_;
  std::vector<std::vector<Cell>> scratch_;
  std::vector<Fold> folds_;
  size_t next_fold_ = 0;
};

}  // namespace

void evaluate(const KernelProgram& program, const OperandArgument* operands, const int64_t* parameters, int64_t rows,
              int64_t cols) {
  Evaluator(program, operands, parameters, rows, cols).run();
}

}  // namespace tsc::jit
