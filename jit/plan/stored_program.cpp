#include "jit/plan/stored_program.h"

#include "jit/region/stored.h"

// The structures are taken apart by name: one that gets another field does not compile here.

namespace tsc::jit {
namespace {

void write_instruction(const NestInstruction& instruction, ByteWriter& out) {
  const auto& [code, op, reduction, dtype, inputs, slot, number, result] = instruction;
  out.byte(static_cast<uint8_t>(code));
  out.byte(static_cast<uint8_t>(op));
  out.byte(static_cast<uint8_t>(reduction));
  out.byte(static_cast<uint8_t>(dtype));
  out.number(inputs.size());
  for (NestValue input : inputs) out.number(input);
  out.number(slot);
  if (code == NestCode::Constant) write_number(number, out);
  out.number(result);
}

constexpr size_t kInstructionBytes = 7;  // the least one takes

NestValue read_nest_value(ByteReader& in, uint32_t values) {
  const auto value = in.number_as<NestValue>();
  if (value >= values) in.fail("a program has no such value");
  return value;
}

NestInstruction read_instruction(ByteReader& in, uint32_t values) {
  NestInstruction instruction;
  instruction.code = read_enum(in, NestCode::ScratchLoad);
  instruction.op = read_enum(in, static_cast<Op>(op_rows().size() - 1));
  instruction.reduction = read_enum(in, Reduction::amin);
  instruction.dtype = read_enum(in, kLastDType);
  for (size_t left = in.count(1); left > 0; --left) instruction.inputs.push_back(read_nest_value(in, values));
  instruction.slot = in.number_as<uint32_t>();
  if (instruction.code == NestCode::Constant) instruction.number = read_number(in);
  instruction.result = in.number_as<NestValue>();
  if (defines_value(instruction) && instruction.result >= values) in.fail("a program has no such value");
  return instruction;
}

void write_part(const std::vector<NestInstruction>& part, ByteWriter& out) {
  out.number(part.size());
  for (const NestInstruction& instruction : part) write_instruction(instruction, out);
}

std::vector<NestInstruction> read_part(ByteReader& in, uint32_t values) {
  std::vector<NestInstruction> part;
  const size_t count = in.count(kInstructionBytes);
  part.reserve(count);
  for (size_t i = 0; i < count; ++i) part.push_back(read_instruction(in, values));
  return part;
}

void write_dtypes(const std::vector<DType>& dtypes, ByteWriter& out) {
  out.number(dtypes.size());
  for (DType dtype : dtypes) out.byte(static_cast<uint8_t>(dtype));
}

std::vector<DType> read_dtypes(ByteReader& in) {
  std::vector<DType> dtypes;
  for (size_t left = in.count(1); left > 0; --left) dtypes.push_back(read_enum(in, kLastDType));
  return dtypes;
}

void write_operand(const Operand& operand, ByteWriter& out) {
  const auto& [kind, dtype, access, streamed] = operand;
  out.byte(static_cast<uint8_t>(kind));
  out.byte(static_cast<uint8_t>(dtype));
  out.byte(static_cast<uint8_t>(access));
  out.byte(streamed);
}

Operand read_operand(ByteReader& in) {
  Operand operand;
  operand.kind = read_enum(in, Operand::Kind::Index);
  operand.dtype = read_enum(in, kLastDType);
  operand.access = read_enum(in, Access::Strided);
  operand.streamed = read_enum(in, true);
  return operand;
}

}  // namespace

void write_program(const KernelProgram& program, ByteWriter& out) {
  const auto& [kind, operands, parameters, parameter_dtypes, scratch, stages, values, cost, two_rows] = program;
  out.byte(static_cast<uint8_t>(kind));
  out.number(values);
  out.number(operands.size());
  for (const Operand& operand : operands) write_operand(operand, out);
  out.number(parameters);
  write_dtypes(parameter_dtypes, out);
  write_dtypes(scratch, out);
  out.number(stages.size());
  for (const NestStage& stage : stages) {
    write_part(stage.row, out);
    write_part(stage.element, out);
  }
  out.number(cost);
  out.byte(two_rows);
}

KernelProgram read_program(ByteReader& in) {
  KernelProgram program;
  program.kind = read_enum(in, KernelProgram::Kind::Column);
  // Numbers that defining instructions share out: there are no more than bytes.
  program.values = static_cast<uint32_t>(in.count(1));
  for (size_t left = in.count(4); left > 0; --left) program.operands.push_back(read_operand(in));
  program.parameters = in.number_as<uint32_t>();
  program.parameter_dtypes = read_dtypes(in);
  program.scratch = read_dtypes(in);
  for (size_t left = in.count(2); left > 0; --left) {
    NestStage stage;
    stage.row = read_part(in, program.values);
    stage.element = read_part(in, program.values);
    program.stages.push_back(std::move(stage));
  }
  program.cost = in.number_as<uint32_t>();
  program.two_rows = read_enum(in, true);
  return program;
}

}  // namespace tsc::jit
