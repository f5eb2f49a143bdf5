#include "jit/loops/kernel_program.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>

#include "runtime/base/checked.h"
#include "runtime/base/error.h"

namespace tsc::jit {
namespace {

constexpr std::string_view kAccessNames[] = {"row", "broadcast", "strided"};
constexpr std::string_view kOperandNames[] = {"in", "out", "accumulator", "index"};
constexpr std::string_view kReductionNames[] = {"sum", "prod", "amax", "amin"};

// Values are numbered by first appearance, so that two programs that differ only in their numbering
// have one text, and therefore one kernel.
class Printer {
 public:
  explicit Printer(const KernelProgram& program) : program_(program), names_(program.values, -1) {}

  std::string run() {
    text_ = title() + "\n";
    for (size_t i = 0; i < program_.stages.size(); ++i) {
      text_ += "stage " + std::to_string(i) + "\n";
      print_part("row", program_.stages[i].row, program_.kind == KernelProgram::Kind::Row);
      print_part("element", program_.stages[i].element, true);
      print_part("column", program_.stages[i].row, program_.kind == KernelProgram::Kind::Column);
    }
    return std::move(text_);
  }

  std::string title() {
    text_ = program_.kind == KernelProgram::Kind::Row ? "row kernel" : "column kernel";
    text_ += "(";
    for (size_t i = 0; i < program_.operands.size(); ++i) print_operand(i);
    text_ += ") parameters(";
    for (size_t i = 0; i < program_.parameter_dtypes.size(); ++i)
      text_ += (i ? ", " : "") + std::string(dtype_short_name(program_.parameter_dtypes[i]));
    text_ += ") scratch(";
    for (size_t i = 0; i < program_.scratch.size(); ++i)
      text_ += (i ? ", " : "") + std::string(dtype_short_name(program_.scratch[i]));
    return std::move(text_) + (program_.two_rows ? ") two rows" : ")");
  }

 private:
  void print_operand(size_t i) {
    const Operand& operand = program_.operands[i];
    text_ += i ? ", " : "";
    text_ += kOperandNames[static_cast<int>(operand.kind)];
    text_ += ' ';
    text_ += dtype_short_name(operand.dtype);
    text_ += ' ';
    text_ += kAccessNames[static_cast<int>(operand.access)];
    if (operand.streamed) text_ += " streamed";
  }

  void print_part(const char* title, const std::vector<NestInstruction>& part, bool wanted) {
    if (!wanted || part.empty()) return;
    text_ += std::string("  ") + title + "\n";
    for (const NestInstruction& instruction : part) print_instruction(instruction);
  }

  std::string name(NestValue value) {
    if (value >= names_.size()) return "%?" + std::to_string(value);
    if (names_[value] < 0) names_[value] = next_++;
    return "%" + std::to_string(names_[value]);
  }

  void print_instruction(const NestInstruction& in) {
    text_ += "    ";
    if (defines_value(in)) text_ += name(in.result) + " = ";
    switch (in.code) {
      case NestCode::Load: text_ += "load $" + std::to_string(in.slot); break;
      case NestCode::Store: text_ += "store $" + std::to_string(in.slot); break;
      case NestCode::Constant: text_ += "constant " + number_text(in.number); break;
      case NestCode::Parameter: text_ += "parameter " + std::to_string(in.slot); break;
      case NestCode::Apply: text_ += op_name(in.op); break;
      case NestCode::Philox: text_ += "philox"; break;
      case NestCode::Reduce:
        text_ += "reduce ";
        text_ += kReductionNames[static_cast<int>(in.reduction)];
        break;
      case NestCode::Accumulate:
        text_ += "accumulate ";
        text_ += kReductionNames[static_cast<int>(in.reduction)];
        text_ += " $" + std::to_string(in.slot);
        break;
      case NestCode::ScratchStore: text_ += "scratch_store #" + std::to_string(in.slot); break;
      case NestCode::ScratchLoad: text_ += "scratch_load #" + std::to_string(in.slot); break;
    }
    for (NestValue input : in.inputs) text_ += " " + name(input);
    text_ += " : ";
    text_ += dtype_short_name(in.dtype);
    text_ += '\n';
  }

  // Exact: the text is the identity of the kernel.
  static std::string number_text(const Scalar& number) {
    char buffer[64];
    if (number.kind == Scalar::Kind::Float && number.f != number.f)
      std::snprintf(buffer, sizeof buffer, "nan:%" PRIx64, std::bit_cast<uint64_t>(number.f));
    else if (number.kind == Scalar::Kind::Float) std::snprintf(buffer, sizeof buffer, "%a", number.f);
    else std::snprintf(buffer, sizeof buffer, "%" PRId64, number.i);
    return buffer;
  }

  const KernelProgram& program_;
  std::vector<int64_t> names_;
  int64_t next_ = 0;
  std::string text_;
};

}  // namespace

bool defines_value(const NestInstruction& in) {
  return in.code != NestCode::Store && in.code != NestCode::ScratchStore && in.code != NestCode::Accumulate;
}

std::string print(const KernelProgram& program) { return Printer(program).run(); }
std::string print_title(const KernelProgram& program) { return Printer(program).title(); }

DType accumulator_dtype(Reduction reduction, DType input) {
  if (reduction == Reduction::amax || reduction == Reduction::amin) return input;
  return accumulating_dtype(input);
}

DType row_accumulator_dtype(Reduction reduction, DType input) {
  return is_small_float(input) ? computing_dtype(input) : accumulator_dtype(reduction, input);
}

int64_t scratch_row_bytes(DType dtype, int64_t cols) {
  return checked_add(checked_mul(cols, dtype_size(dtype)), kScratchUnit - 1) / kScratchUnit * kScratchUnit;
}

bool may_join_rows(const KernelProgram& program, int64_t cols) {
  constexpr int64_t kMostColumns = 32768;
  if (program.kind != KernelProgram::Kind::Row || program.stages.size() < 2 || cols > kMostColumns) return false;
  const auto has = [](const NestStage& stage, NestCode code) {
    return std::any_of(stage.element.begin(), stage.element.end(),
                       [&](const NestInstruction& in) { return in.code == code; });
  };
  const NestStage& last = program.stages.back();
  if (has(last, NestCode::Reduce) || has(last, NestCode::ScratchStore)) return false;
  for (const NestStage& stage : program.stages)
    if (has(stage, NestCode::Accumulate)) return false;
  return has(program.stages[program.stages.size() - 2], NestCode::Reduce);
}

int64_t scratch_bytes(const KernelProgram& program, int64_t cols) {
  int64_t bytes = 0;
  for (DType dtype : program.scratch) bytes = checked_add(bytes, scratch_row_bytes(dtype, cols));
  if (may_join_rows(program, cols)) bytes = checked_add(bytes, bytes);
  // A column program keeps, for each reduction, 64 lane accumulators and a total for a block of
  // columns: its need does not grow with the problem.
  if (program.kind == KernelProgram::Kind::Column)
    for (const NestInstruction& in : program.stages.at(0).element)
      if (in.code == NestCode::Reduce) bytes += (kReductionLanes + 1) * kColumnBlock * 8;
  return bytes;
}

}  // namespace tsc::jit
