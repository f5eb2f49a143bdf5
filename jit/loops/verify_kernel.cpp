#include "jit/loops/kernel_program.h"
#include "runtime/base/error.h"

namespace tsc::jit {

bool is_kernel_op(Op op, DType dtype) {
  return is_elementwise(op) && !is_complex(dtype) && ((op_row(op).flags & kMayRaise) == 0 || is_floating(dtype));
}

namespace {

enum class Part { Row, Element, Column };

// Where a value may be used: everywhere (uniform, per row, per column result) or in one stage only.
struct Definition {
  bool defined = false;
  bool element = false;
  size_t stage = 0;
  bool reduction = false;
  DType dtype = DType::F32;
  const NestInstruction* uniform = nullptr;  // defined ahead: a column program's uniform value
};

class Verifier {
 public:
  explicit Verifier(const KernelProgram& program) : program_(program), definitions_(program.values) {}

  void run() {
    const bool column = program_.kind == KernelProgram::Kind::Column;
    TSC_CHECK(!program_.stages.empty(), "a kernel program needs a stage");
    TSC_CHECK(!column || program_.stages.size() == 1, "a column program has exactly one stage");
    TSC_CHECK(!column || program_.scratch.empty(), "a column program has no scratch rows");
    TSC_CHECK(program_.parameters == program_.parameter_dtypes.size(), "parameters and their dtypes differ in number");
    for (DType dtype : program_.parameter_dtypes)
      TSC_CHECK(dtype == DType::F64 || dtype == DType::I64, "a parameter is f64 or i64");
    for (const Operand& operand : program_.operands)
      TSC_CHECK(operand.kind != Operand::Kind::Index || operand.dtype == DType::I64, "an index operand is i64");
    for (const Operand& operand : program_.operands)
      TSC_CHECK(!operand.streamed ||
                    (!column && operand.kind == Operand::Kind::Output && operand.access == Access::Contiguous),
                "only a row program's contiguous output is streamed");
    for (stage_ = 0; stage_ < program_.stages.size(); ++stage_) {
      const NestStage& stage = program_.stages[stage_];
      if (column) define_uniform(stage.row);
      if (!column) check_part(stage.row, Part::Row);
      check_part(stage.element, Part::Element);
      if (column) check_part(stage.row, Part::Column);
    }
  }

 private:
  void check_part(const std::vector<NestInstruction>& part, Part where) {
    for (const NestInstruction& in : part) {
      instruction_ = &in;
      where_ = where;
      for (NestValue input : in.inputs) check_use(input);
      check_instruction(in);
      if (!defines_value(in)) continue;
      fail_unless(in.result < definitions_.size(), "result number out of range");
      Definition& definition = definitions_[in.result];
      fail_unless(!definition.defined || definition.uniform == &in, "value defined twice");
      const bool varies = in.code != NestCode::Constant && in.code != NestCode::Parameter;
      if (definition.uniform) continue;
      definition = {true,     where == Part::Element && varies && in.code != NestCode::Reduce,
                    stage_,   in.code == NestCode::Reduce,
                    in.dtype, nullptr};
    }
  }

  // The row part of a column program runs after its element part, except for the uniform values in
  // it, which both parts may use.
  void define_uniform(const std::vector<NestInstruction>& part) {
    for (const NestInstruction& in : part) {
      bool uniform = in.code == NestCode::Constant || in.code == NestCode::Parameter;
      if (in.code == NestCode::Apply) {
        uniform = true;
        for (NestValue input : in.inputs)
          uniform = uniform && input < definitions_.size() && definitions_[input].uniform;
      }
      if (!uniform || in.result >= definitions_.size() || definitions_[in.result].defined) continue;
      definitions_[in.result] = {true, false, stage_, false, in.dtype, &in};
    }
  }

  void check_use(NestValue value) {
    fail_unless(value < definitions_.size() && definitions_[value].defined, "value used before its definition");
    const Definition& definition = definitions_[value];
    if (definition.element)
      fail_unless(where_ == Part::Element && definition.stage == stage_,
                  "element value used outside its stage's element part");
    if (definition.reduction)
      fail_unless(where_ == Part::Column || (where_ == Part::Row && definition.stage < stage_) ||
                      (where_ == Part::Element && definition.stage < stage_),
                  "reduction used before it is complete");
  }

  void check_instruction(const NestInstruction& in) {
    switch (in.code) {
      case NestCode::Load: check_load(in); break;
      case NestCode::Store: check_store(in); break;
      case NestCode::Constant: expect_inputs(0); break;
      case NestCode::Parameter:
        expect_inputs(0);
        fail_unless(in.slot < program_.parameters, "no such parameter");
        fail_unless(in.dtype == program_.parameter_dtypes[in.slot], "parameter of another dtype");
        break;
      case NestCode::Apply: check_apply(in); break;
      case NestCode::Philox:
        expect_inputs(3);
        for (NestValue input : in.inputs) fail_unless(dtype(input) == DType::I64, "philox takes i64 values");
        fail_unless(
            in.dtype == DType::I32 || in.dtype == DType::I64 || in.dtype == DType::F32 || in.dtype == DType::F64,
            "philox gives i32, i64, f32 or f64");
        break;
      case NestCode::Reduce: check_reduce(in); break;
      case NestCode::Accumulate: check_accumulate(in); break;
      case NestCode::ScratchStore:
      case NestCode::ScratchLoad: check_scratch(in); break;
    }
  }

  void check_load(const NestInstruction& in) {
    expect_inputs(0);
    const Operand& operand = operand_of(in);
    fail_unless(operand.kind == Operand::Kind::Input || operand.kind == Operand::Kind::Index, "load from an output");
    fail_unless(operand.dtype == in.dtype, "load of another dtype");
    if (where_ == Part::Row)
      fail_unless(operand.access == Access::Broadcast, "the row part loads broadcast operands only");
  }

  void check_store(const NestInstruction& in) {
    expect_inputs(1);
    const Operand& operand = operand_of(in);
    fail_unless(operand.kind == Operand::Kind::Output, "store to an input");
    fail_unless(operand.dtype == dtype(in.inputs[0]), "store of another dtype");
    fail_unless((operand.access == Access::Broadcast) == (where_ == Part::Row),
                "a row's own store goes to a broadcast operand, an element's to another");
  }

  void check_apply(const NestInstruction& in) {
    fail_unless(is_elementwise(in.op), "op is not elementwise");
    fail_unless(static_cast<int>(in.inputs.size()) == op_row(in.op).tensors, "wrong operand count");
    fail_unless(is_kernel_op(in.op, dtype(in.inputs[0])), "op can raise on integers");
    SmallVector<DType, 3> dtypes;
    for (NestValue input : in.inputs) dtypes.push_back(dtype(input));
    OpAttributes attributes;
    attributes.dtype = in.dtype;
    try {
      fail_unless(infer_dtype(in.op, dtypes, attributes) == in.dtype, "result of another dtype");
    } catch (const Error& error) {
      fail_unless(false, error.message());
    }
  }

  void check_reduce(const NestInstruction& in) {
    expect_inputs(1);
    fail_unless(where_ == Part::Element, "a reduction stands in an element part");
    const DType from = dtype(in.inputs[0]);
    const DType accumulator = accumulator_dtype(in.reduction, from);
    fail_unless(in.dtype == accumulator || in.dtype == from, "reduction to another dtype");
    fail_unless(in.dtype == accumulator || is_floating(from), "integers are reduced in i64");
  }

  void check_accumulate(const NestInstruction& in) {
    expect_inputs(1);
    fail_unless(program_.kind == KernelProgram::Kind::Row && where_ == Part::Element,
                "rows are accumulated in a row program's element part");
    const Operand& operand = operand_of(in);
    fail_unless(operand.kind == Operand::Kind::Accumulator && operand.access == Access::Contiguous,
                "rows are accumulated in a contiguous accumulator operand");
    fail_unless(operand.dtype == in.dtype, "accumulators of another dtype");
    fail_unless(
        is_floating(dtype(in.inputs[0])) && in.dtype == row_accumulator_dtype(in.reduction, dtype(in.inputs[0])),
        "rows of that dtype are not accumulated so");
  }

  void check_scratch(const NestInstruction& in) {
    fail_unless(where_ == Part::Element, "scratch rows belong to element parts");
    fail_unless(in.slot < program_.scratch.size(), "no such scratch row");
    const bool store = in.code == NestCode::ScratchStore;
    expect_inputs(store ? 1 : 0);
    fail_unless((store ? dtype(in.inputs[0]) : in.dtype) == program_.scratch[in.slot], "scratch row of another dtype");
  }

  const Operand& operand_of(const NestInstruction& in) {
    fail_unless(in.slot < program_.operands.size(), "no such operand");
    return program_.operands[in.slot];
  }
  DType dtype(NestValue value) const { return definitions_[value].dtype; }
  void expect_inputs(size_t count) { fail_unless(instruction_->inputs.size() == count, "wrong number of inputs"); }

  void fail_unless(bool condition, const std::string& what) {
    TSC_CHECK(condition, what + " (stage " + std::to_string(stage_) + ", value " +
                             std::to_string(instruction_->result) + ") in\n" + print(program_));
  }

  const KernelProgram& program_;
  std::vector<Definition> definitions_;
  const NestInstruction* instruction_ = nullptr;
  Part where_ = Part::Row;
  size_t stage_ = 0;
};

}  // namespace

void verify(const KernelProgram& program) { Verifier(program).run(); }

}  // namespace tsc::jit
