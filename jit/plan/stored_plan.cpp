#include <tuple>
#include <unordered_map>

#include "jit/plan/execution_plan.h"
#include "jit/plan/stored_program.h"
#include "jit/region/stored.h"
#include "runtime/base/error.h"

// The structures are taken apart by name: one that gets another field does not compile here.

namespace tsc::jit {
namespace {

class Writer {
 public:
  void kernel(const LoweredKernel& kernel) {
    const auto& [program, program_number, bindings, parameters, shape, empty_raises, product, strips, row_reductions,
                 in_place] = kernel;
    if (program_number >= programs_.size()) programs_.resize(program_number + 1);
    if (!programs_[program_number]) programs_[program_number] = &program;
    kernels_.number(program_number);
    kernels_.number(bindings.size());
    for (const KernelBinding& one : bindings) binding(one);
    write_values(parameters, kernels_);
    write_shape(shape);
    kernels_.byte(empty_raises);
    write_product(product);
    write_strips(strips);
    kernels_.number(row_reductions.size());
    for (const auto& [op, dtype] : row_reductions) {
      kernels_.byte(static_cast<uint8_t>(op));
      kernels_.byte(static_cast<uint8_t>(dtype));
    }
    kernels_.number(in_place.size());
    for (ValueId value : in_place) write_value(value, kernels_);
  }

  void write(ByteWriter& out, size_t kernel_count) const {
    out.number(programs_.size());
    for (const KernelProgram* program : programs_) write_program(program ? *program : KernelProgram(), out);
    out.number(kernel_count);
    out.raw(kernels_.bytes());
  }

 private:
  void binding(const KernelBinding& binding) {
    const auto& [value, space, sizes] = binding;
    write_value(value, kernels_);
    kernels_.byte(static_cast<uint8_t>(space));
    write_values(sizes, kernels_);
  }
  void write_shape(const KernelShape& shape) {
    const auto& [sizes, split, column] = shape;
    write_values(sizes, kernels_);
    kernels_.difference(split);
    kernels_.byte(column);
  }
  void write_product(const TileProduct& product) {
    const auto& [left, right, value, output] = product;
    for (ValueId one : {left, right, value}) write_value(one, kernels_);
    kernels_.difference(output);
  }
  void write_strips(const StripProducts& strips) {
    const auto& [left, right, products, weights, stored, writes_memory, values, result, across_left, across, mask,
                 softmax, fill, factor] = strips;
    for (ValueId one : {left, right, values, result, across_left, across, fill, factor}) write_value(one, kernels_);
    for (int operand : {products, weights, mask}) kernels_.difference(operand);
    for (bool flag : {stored, writes_memory, softmax}) kernels_.byte(flag);
  }

  std::vector<const KernelProgram*> programs_;  // by number; null: no kernel of the region has it any more
  ByteWriter kernels_;
};

class Reader {
 public:
  Reader(ByteReader& in, const Region& region) : in_(in), region_(region) {
    for (size_t left = in_.count(8); left > 0; --left) programs_.push_back(read_program(in_));
    if (in_.failed()) return;
    for (const KernelProgram& program : programs_)
      if (!program.stages.empty()) verify(program);
  }

  LoweredKernel kernel() {
    LoweredKernel kernel;
    kernel.program_number = in_.number_as<uint32_t>();
    if (kernel.program_number < programs_.size()) kernel.program = programs_[kernel.program_number];
    else in_.fail("there is no such kernel program");
    if (kernel.program.stages.empty()) in_.fail("a kernel has no program");
    for (size_t left = in_.count(3); left > 0; --left) kernel.bindings.push_back(binding());
    kernel.parameters = read_values<std::vector<ValueId>>(in_, region_.value_count());
    kernel.shape.sizes = sizes();
    kernel.shape.split = place(kernel.shape.sizes.size() + 1);
    kernel.shape.column = read_enum(in_, true);
    kernel.empty_raises = read_enum(in_, true);
    const size_t operands = kernel.program.operands.size();
    read_product(operands, &kernel.product);
    read_strips(operands, &kernel.strips);
    for (size_t left = in_.count(2); left > 0; --left) {
      const Op op = read_enum(in_, static_cast<Op>(op_rows().size() - 1));
      kernel.row_reductions.push_back({op, read_enum(in_, kLastDType)});
    }
    for (size_t left = in_.count(1); left > 0; --left) kernel.in_place.push_back(tensor(true));
    check_counts(kernel);
    return kernel;
  }

 private:
  ValueId value_of(ValueKind kind, bool or_none) {
    const ValueId value = read_value(in_, region_.value_count(), or_none);
    if (in_.failed()) return kNoValue;
    if (value != kNoValue && region_.type(value).kind != kind) in_.fail("a value is of another kind");
    return value;
  }
  ValueId tensor(bool or_none) { return value_of(ValueKind::Tensor, or_none); }
  ValueList sizes() {
    ValueList sizes;
    for (size_t left = in_.count(1); left > 0; --left) sizes.push_back(value_of(ValueKind::Int, false));
    return sizes;
  }
  // A number below `count`, or -1.
  int place(size_t count) {
    const int64_t place = in_.difference();
    if (place < -1 || place >= static_cast<int64_t>(count)) in_.fail("there is no such operand");
    return in_.failed() ? -1 : static_cast<int>(place);
  }

  KernelBinding binding() {
    KernelBinding binding;
    const ValueId value = tensor(true);
    binding.value = value;
    binding.space = read_enum(in_, KernelBinding::Space::Index);
    binding.sizes = sizes();
    const bool is_index = binding.space == KernelBinding::Space::Index;
    if ((value == kNoValue) != is_index) in_.fail("an operand without a tensor");
    return binding;
  }

  void read_product(size_t operands, TileProduct* product) {
    product->left = tensor(true);
    product->right = tensor(true);
    product->value = tensor(true);
    product->output = place(operands);
    const bool is_none = product->left == kNoValue;
    if (is_none != (product->right == kNoValue) || is_none != (product->value == kNoValue))
      in_.fail("half a matrix product");
    check_matrices({product->left, product->right});
  }

  void read_strips(size_t operands, StripProducts* strips) {
    for (ValueId* one :
         {&strips->left, &strips->right, &strips->values, &strips->result, &strips->across_left, &strips->across})
      *one = tensor(true);
    for (ValueId* one : {&strips->fill, &strips->factor}) {
      *one = read_value(in_, region_.value_count(), true);
      check_scalar(*one);
    }
    for (int* one : {&strips->products, &strips->weights, &strips->mask}) *one = place(operands);
    for (bool* flag : {&strips->stored, &strips->writes_memory, &strips->softmax}) *flag = read_enum(in_, true);
    const bool is_none = strips->left == kNoValue;
    for (ValueId one : {strips->right, strips->values, strips->result})
      if (is_none != (one == kNoValue)) in_.fail("half a pair of matrix products");
    if ((strips->across_left == kNoValue) != (strips->across == kNoValue) || (is_none && strips->across != kNoValue))
      in_.fail("half a third matrix product");
    if (is_none != (strips->products < 0) || is_none != (strips->weights < 0) ||
        (strips->mask >= 0) != (strips->fill != kNoValue))
      in_.fail("strips without their operands");
    check_matrices({strips->left, strips->right, strips->values, strips->result, strips->across_left, strips->across});
  }

  void check_matrices(std::initializer_list<ValueId> values) {
    if (in_.failed()) return;
    for (ValueId value : values)
      if (value != kNoValue && region_.type(value).sizes.size() != 3) in_.fail("a matrix product of another rank");
  }

  void check_counts(const LoweredKernel& kernel) {
    size_t accumulators = 0;
    for (const Operand& operand : kernel.program.operands) accumulators += operand.kind == Operand::Kind::Accumulator;
    if (kernel.bindings.size() != kernel.program.operands.size() || kernel.in_place.size() != kernel.bindings.size() ||
        kernel.parameters.size() != kernel.program.parameters || kernel.row_reductions.size() != accumulators)
      return in_.fail("a kernel is bound to other operands than its program has");
    for (ValueId parameter : kernel.parameters) check_scalar(parameter);
    check_bindings(kernel);
  }

  void check_scalar(ValueId value) {
    if (in_.failed() || value == kNoValue) return;
    const ValueKind kind = region_.type(value).kind;
    if (kind == ValueKind::Tensor || kind == ValueKind::Object) in_.fail("a value is no scalar");
  }

  void check_bindings(const LoweredKernel& kernel) {
    for (size_t o = 0; o < kernel.bindings.size(); ++o) {
      const KernelBinding& binding = kernel.bindings[o];
      const Operand& operand = kernel.program.operands[o];
      const bool is_index = operand.kind == Operand::Kind::Index;
      if (is_index != (binding.space == KernelBinding::Space::Index))
        return in_.fail("an operand is bound to another space");
      if (is_index || operand.kind == Operand::Kind::Accumulator) continue;
      if (region_.type(binding.value).dtype != operand.dtype)
        return in_.fail("a tensor has another dtype than its kernel uses");
    }
  }

  ByteReader& in_;
  const Region& region_;
  std::vector<KernelProgram> programs_;
};

std::tuple<ValueKind, DType, size_t> kind_and_type(const Region& region, ValueId value) {
  const Type& type = region.type(value);
  const bool is_tensor = type.kind == ValueKind::Tensor;
  return {type.kind, is_tensor ? type.dtype : DType::F32, type.sizes.size()};
}

// The plan of a block takes the operands of its instruction from number `first` on.
void check_block(ByteReader& in, const ExecutionPlan& plan, const Instruction& instruction, size_t first,
                 const ExecutionPlan& block) {
  const std::vector<ValueId>& inputs = block.region.body.parameters;
  const Instruction& exit = block.region.body.instructions.back();
  if (inputs.size() + first != instruction.operands.size() || exit.code != Code::Exit ||
      exit.operands.size() != instruction.results.size())
    return in.fail("a block has other values than its plan");
  for (size_t i = 0; i < inputs.size(); ++i)
    if (kind_and_type(block.region, inputs[i]) != kind_and_type(plan.region, instruction.operands[first + i]))
      return in.fail("a block is given values of another type than its plan");
}

void check_loop(ByteReader& in, const ExecutionPlan& plan, const Instruction& loop) {
  if (loop.id >= plan.blocks.size()) return in.fail("there is no such loop");
  const ExecutionPlan& turn = plan.blocks[loop.id];
  check_block(in, plan, loop, 0, turn);
  if (in.failed()) return;
  const std::vector<ValueId>& inputs = turn.region.body.parameters;
  if (turn.carried >= inputs.size() || turn.carried > loop.results.size())
    return in.fail("a loop has other values than its plan");
  for (size_t i = 0; i < loop.results.size(); ++i) {
    auto made = kind_and_type(turn.region, turn.region.body.instructions.back().operands[i]);
    if (i >= turn.carried) ++std::get<2>(made);
    if (made != kind_and_type(plan.region, loop.results[i])) return in.fail("a loop makes values of another type");
    if (i < turn.carried && made != kind_and_type(turn.region, inputs[i + 1]))
      return in.fail("a carried value changes its type");
    if (i >= turn.carried && std::get<0>(made) != ValueKind::Tensor) return in.fail("a loop stacks what is no tensor");
  }
}

void check_if(ByteReader& in, const ExecutionPlan& plan, const Instruction& branch) {
  if (branch.id + size_t{1} >= plan.blocks.size()) return in.fail("there is no such branch");
  for (size_t way : {0, 1}) {
    const ExecutionPlan& block = plan.blocks[branch.id + way];
    check_block(in, plan, branch, 1, block);
    if (in.failed()) return;
    for (size_t i = 0; i < branch.results.size(); ++i)
      if (kind_and_type(block.region, block.region.body.instructions.back().operands[i]) !=
          kind_and_type(plan.region, branch.results[i]))
        return in.fail("a branch makes values of another type");
  }
}

void read_all(ByteReader& in, ExecutionPlan* plan, int depth) {
  constexpr int kMaxDepth = 100;  // blocks in blocks
  if (depth > kMaxDepth) return in.fail("blocks are nested too deeply");
  plan->region = read_region(in);
  if (in.failed()) return;
  verify(plan->region);
  Reader reader(in, plan->region);
  plan->kernels.resize(in.count(1));
  std::vector<bool> known(plan->kernels.size());
  for (Instruction& instruction : plan->region.body.instructions) {
    if (instruction.code != Code::Kernel) continue;
    if (instruction.id >= plan->kernels.size() || known[instruction.id]) return in.fail("there is no such kernel");
    known[instruction.id] = true;
    plan->kernels[instruction.id] = reader.kernel();
    if (in.failed()) return;
  }
  plan->carried = in.number_as<uint32_t>();
  plan->blocks.resize(in.count(1));
  for (ExecutionPlan& block : plan->blocks) {
    read_all(in, &block, depth + 1);
    if (in.failed()) return;
  }
  for (const Instruction& instruction : plan->region.body.instructions) {
    if (!instruction.blocks.empty()) continue;
    if (instruction.code == Code::Loop) check_loop(in, *plan, instruction);
    if (instruction.code == Code::If) check_if(in, *plan, instruction);
    if (in.failed()) return;
  }
}

void write_all(const ExecutionPlan& plan, ByteWriter& out) {
  write_region(plan.region, out);
  Writer writer;
  for (const Instruction& instruction : plan.region.body.instructions)
    if (instruction.code == Code::Kernel) writer.kernel(plan.kernels[instruction.id]);
  writer.write(out, plan.kernels.size());
  out.number(plan.carried);
  out.number(plan.blocks.size());
  for (const ExecutionPlan& block : plan.blocks) write_all(block, out);
}

}  // namespace

void number_programs(std::vector<LoweredKernel>* kernels) {
  std::unordered_map<std::string, uint32_t> numbers;
  for (LoweredKernel& kernel : *kernels) {
    ByteWriter bytes;
    write_program(kernel.program, bytes);
    const auto number = static_cast<uint32_t>(numbers.size());
    kernel.program_number = numbers.try_emplace(bytes.take(), number).first->second;
  }
}

std::string write_plan(const ExecutionPlan& plan) {
  ByteWriter out;
  write_all(plan, out);
  return out.take();
}

std::string read_plan(std::string_view bytes, ExecutionPlan* plan) {
  ByteReader in(bytes);
  try {
    read_all(in, plan, 0);
    if (!in.failed() && in.left() != 0) in.fail("bytes are left at the end");
  } catch (const InternalFault& fault) {
    return fault.what();
  }
  return in.failed() ? in.fault() : "";
}

std::string plan_key(const Region& captured, const std::vector<std::string>& disabled) {
  ByteWriter out;
  out.raw("plan of " + captured.name + "\n");
  for (const std::string& pass : disabled) out.raw("without " + pass + "\n");
  out.raw("\n");
  write_region(captured, out);
  return out.take();
}

}  // namespace tsc::jit
