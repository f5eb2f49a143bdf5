#include "jit/region/executor.h"

#include <algorithm>
#include <unordered_map>

#include "jit/region/liveness.h"
#include "jit/region/scalar_eval.h"
#include "runtime/kernels/run_op.h"

namespace tsc::jit {
namespace {

// The registers of one run.
struct Registers {
  explicit Registers(size_t count) : tensors(count), scalars(count), objects(count) {}
  std::vector<Tensor> tensors;
  std::vector<Scalar> scalars;
  std::vector<void*> objects;
};

// For every write_back: the values that may share the input's memory and are used after it. They keep
// their contents, so they move out before the memory changes.
using OldViews = std::unordered_map<const Instruction*, std::vector<ValueId>>;

void find_old_views(const Block& block, std::unordered_map<ValueId, ValueId>& bases,
                    OldViews& writes) {
  for (const Instruction& instruction : block.instructions) {
    for_each_use(instruction, [&](ValueId used) {
      const auto base = bases.find(used);
      if (base == bases.end() || instruction.code == Code::WriteBack) return;
      for (auto& [write, values] : writes) {
        if (write->operands[0] != base->second) continue;
        if (std::find(values.begin(), values.end(), used) == values.end()) values.push_back(used);
      }
    });
    if (instruction.code == Code::WriteBack) writes[&instruction];
    const bool view = instruction.code == Code::Op && op_row(instruction.op).flags & kView;
    if (view) {
      const auto base = bases.find(instruction.operands[0]);
      if (base != bases.end()) bases[instruction.results[0]] = base->second;
    }
    for (const auto& nested : instruction.blocks) find_old_views(*nested, bases, writes);
  }
}

OldViews find_old_views(const Region& region) {
  std::unordered_map<ValueId, ValueId> bases;
  for (ValueId input : region.body.parameters)
    if (region.type(input).kind == ValueKind::Tensor) bases[input] = input;
  OldViews writes;
  find_old_views(region.body, bases, writes);
  return writes;
}

class RegionExecutor final : public Executable {
 public:
  RegionExecutor(Region region, std::unique_ptr<KernelRunner> kernels)
      : region_(std::move(region)),
        last_uses_(find_last_uses(region_)),
        old_views_(find_old_views(region_)),
        kernels_(std::move(kernels)) {}
  RunExit run(std::span<const RunInput> inputs, RunContext& context) override;

  const Region& region() const { return region_; }
  const LastUses& last_uses() const { return last_uses_; }
  const OldViews& old_views() const { return old_views_; }
  KernelRunner* kernels() const { return kernels_.get(); }

 private:
  Region region_;
  LastUses last_uses_;
  OldViews old_views_;
  std::unique_ptr<KernelRunner> kernels_;
};

class Run {
 public:
  Run(const RegionExecutor& executor, std::span<const RunInput> inputs, RunContext& context)
      : region_(executor.region()),
        last_uses_(executor.last_uses()),
        old_views_(executor.old_views()),
        kernels_(executor.kernels()),
        context_(context),
        registers_(region_.value_count()) {
    bind_inputs(inputs);
  }

  RunExit run() {
    if (!shared_sizes_agree()) {
      leave_through_entry_guard();
      return std::move(exit_);
    }
    run_block(region_.body);
    TSC_CHECK(left_, "region " + region_.name + " ended without an exit");
    return std::move(exit_);
  }

 private:
  const Type& type(ValueId value) const { return region_.type(value); }

  void bind_inputs(std::span<const RunInput> inputs) {
    const auto& parameters = region_.body.parameters;
    TSC_CHECK(inputs.size() == parameters.size(), "region " + region_.name + ": input count");
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Type& wanted = type(parameters[i]);
      if (wanted.kind == ValueKind::Tensor) {
        TSC_CHECK(inputs[i].tensor != nullptr, "a tensor input is missing");
        bind_tensor(parameters[i], *inputs[i].tensor);
        targets_.emplace(parameters[i], *inputs[i].tensor);
      } else if (wanted.kind == ValueKind::Object) {
        registers_.objects[parameters[i]] = inputs[i].object;
      } else {
        TSC_CHECK(kind_of(inputs[i].scalar) == wanted.kind, "the kind of a scalar input");
        registers_.scalars[parameters[i]] = inputs[i].scalar;
      }
    }
  }

  // Inputs share a size value where an entry guard said that the two sizes are equal; the pass that gave
  // them one name kept the guard, whose exit is taken when they are not.
  bool shared_sizes_agree() const {
    for (ValueId input : region_.body.parameters) {
      const ValueList& sizes = type(input).sizes;
      for (size_t k = 0; k < sizes.size(); ++k)
        if (registers_.scalars[sizes[k]].i != registers_.tensors[input].size(static_cast<int64_t>(k)))
          return false;
    }
    return true;
  }

  bool guard_follows(const Instruction& instruction) const {
    const std::vector<Instruction>& all = region_.body.instructions;
    const size_t index = static_cast<size_t>(&instruction - all.data());
    for (size_t i = 0; i < all.size(); ++i) {
      const Code code = all[i].code;
      if (i > index && code == Code::Guard) return true;
      if (code != Code::Scalar && code != Code::Const && code != Code::Guard) return false;
    }
    return false;
  }

  void leave_through_entry_guard() {
    for (const Instruction& instruction : region_.body.instructions)
      if (instruction.code == Code::Guard) return leave(instruction, 1);
    TSC_CHECK(false, "region " + region_.name + ": two inputs that must agree in a size do not");
  }

  // A tensor that may define sizes: its size registers follow it.
  void bind_tensor(ValueId value, Tensor tensor) {
    const Type& wanted = type(value);
    TSC_CHECK(tensor.defined() && tensor.dtype() == wanted.dtype &&
                  tensor.sizes().size() == wanted.sizes.size(),
              "region " + region_.name + ": a tensor has another dtype or rank than declared");
    for (size_t k = 0; k < wanted.sizes.size(); ++k)
      registers_.scalars[wanted.sizes[k]] = Scalar::of_int(tensor.size(static_cast<int64_t>(k)));
    registers_.tensors[value] = std::move(tensor);
  }

  RunValue value_of(ValueId value) const {
    RunValue out;
    out.kind = type(value).kind;
    out.tensor = registers_.tensors[value];
    out.scalar = registers_.scalars[value];
    out.object = registers_.objects[value];
    return out;
  }
  void set_value(ValueId value, RunValue from) {
    TSC_CHECK(from.kind == type(value).kind, "a value arrives with another kind than declared");
    if (from.kind == ValueKind::Tensor) {
      bind_tensor(value, std::move(from.tensor));
    } else if (from.kind == ValueKind::Object) {
      registers_.objects[value] = from.object;
    } else {
      registers_.scalars[value] = from.scalar;
    }
  }

  void leave(const Instruction& instruction, size_t first) {
    exit_.id = instruction.id;
    exit_.origin = instruction.origin;
    exit_.live.clear();
    for (size_t i = first; i < instruction.operands.size(); ++i)
      exit_.live.push_back(value_of(instruction.operands[i]));
    left_ = true;
  }

  void run_block(const Block& block) {
    for (const Instruction& instruction : block.instructions) {
      try {
        run_instruction(instruction);
      } catch (const Error& error) {
        // In front of an entry guard stand the scalars of all conditions, also of those that the program
        // would not have reached with these inputs: the region does not fit, nothing has happened yet.
        if (&block == &region_.body && instruction.code == Code::Scalar && guard_follows(instruction))
          return leave_through_entry_guard();
        throw RunError{error, instruction.origin};
      }
      if (left_) return;
      for (ValueId value : last_uses_.after(instruction)) registers_.tensors[value] = Tensor();
    }
  }

  void run_instruction(const Instruction& instruction) {
    switch (instruction.code) {
      case Code::Op: return run_primitive(instruction);
      case Code::Const:
        registers_.scalars[instruction.results[0]] = instruction.number;
        return;
      case Code::Scalar: return run_scalar(instruction);
      case Code::Read: return run_read(instruction);
      case Code::Host: return run_host(instruction);
      case Code::Guard:
        if (!registers_.scalars[instruction.operands[0]].i) leave(instruction, 1);
        return;
      case Code::Exit: return leave(instruction, 0);
      case Code::WriteBack: return run_write_back(instruction);
      case Code::RngAdvance: return run_rng_advance(instruction);
      case Code::If: return run_if(instruction);
      case Code::Loop: return run_loop(instruction);
      case Code::Kernel: return run_kernel(instruction);
      case Code::Yield:
        yielded_.clear();
        for (ValueId operand : instruction.operands) yielded_.push_back(value_of(operand));
        return;
    }
  }

  void run_primitive(const Instruction& instruction) {
    if (context_.host) context_.host->poll();
    const size_t count = tensor_count(instruction);
    tensors_.clear();
    scalars_.clear();
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const ValueId operand = instruction.operands[i];
      if (i < count) {
        tensors_.push_back(registers_.tensors[operand]);
      } else {
        scalars_.push_back(registers_.scalars[operand]);
      }
    }
    OpResults results = run_op(instruction.op, tensors_, scalars_, instruction.attributes);
    tensors_.clear();  // operands die here, not at the next op
    bind_result(instruction, 0, std::move(results.first));
    if (instruction.results.size() > 1) bind_result(instruction, 1, std::move(results.second));
  }
  void bind_result(const Instruction& instruction, size_t index, Tensor tensor) {
    const ValueId value = instruction.results[index];
    if (op_row(instruction.op).flags & kDynamicSize) return bind_tensor(value, std::move(tensor));
    const Type& declared = type(value);
    for (size_t k = 0; k < declared.sizes.size(); ++k)
      TSC_CHECK(registers_.scalars[declared.sizes[k]].i == tensor.size(static_cast<int64_t>(k)),
                std::string(op_name(instruction.op)) + ": a size differs from the region's");
    registers_.tensors[value] = std::move(tensor);
  }

  void run_scalar(const Instruction& instruction) {
    Scalar operands[3];
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      operands[i] = registers_.scalars[instruction.operands[i]];
    registers_.scalars[instruction.results[0]] =
        eval_scalar(instruction.scalar_op, {operands, instruction.operands.size()});
  }

  void run_read(const Instruction& instruction) {
    const Tensor& source = registers_.tensors[instruction.operands[0]];
    registers_.scalars[instruction.results[0]] =
        read_scalar(source, type(instruction.results[0]).kind);
  }

  void run_host(const Instruction& instruction) {
    TSC_CHECK(context_.host != nullptr, "a host instruction without a host");
    std::vector<RunValue> arguments, results(instruction.results.size());
    for (ValueId operand : instruction.operands) arguments.push_back(value_of(operand));
    for (size_t i = 0; i < results.size(); ++i)
      results[i].kind = type(instruction.results[i]).kind;
    context_.host->host(instruction.id, arguments, results);
    for (size_t i = 0; i < results.size(); ++i)
      set_value(instruction.results[i], std::move(results[i]));
  }

  // Values that were read from this memory before keep their contents: those still needed move out.
  void run_write_back(const Instruction& instruction) {
    const Tensor target = targets_.at(instruction.operands[0]);
    const Tensor source = registers_.tensors[instruction.operands[1]];
    // A kernel may have written the memory already: then there is nothing to copy.
    const bool in_place = source.storage() == target.storage() &&
                          source.offset() == target.offset() &&
                          source.strides() == target.strides();
    if (!in_place) {
      for (ValueId value : old_views_.at(&instruction)) {
        Tensor& other = registers_.tensors[value];
        if (other.defined() && other.storage() == target.storage())
          other = run_op(Op::copy, {&other, 1}, {}, {}).first;
      }
      copy_into(target, source);
    }
    ++target.storage()->version;
  }

  void run_rng_advance(const Instruction& instruction) {
    TSC_CHECK(context_.rng != nullptr, "random numbers without a generator");
    RngState& rng = *context_.rng;
    registers_.scalars[instruction.results[0]] = Scalar::of_int(static_cast<int64_t>(rng.seed));
    registers_.scalars[instruction.results[1]] = Scalar::of_int(static_cast<int64_t>(rng.offset));
    rng.offset += static_cast<uint64_t>(registers_.scalars[instruction.operands[0]].i);
  }

  void take_yielded(std::span<const ValueId> results) {
    std::vector<RunValue> values = std::move(yielded_);
    yielded_.clear();
    for (size_t i = 0; i < results.size(); ++i) set_value(results[i], std::move(values[i]));
  }

  void run_if(const Instruction& instruction) {
    const bool taken = registers_.scalars[instruction.operands[0]].i;
    run_block(*instruction.blocks[taken ? 0 : 1]);
    if (!left_) take_yielded(instruction.results);
  }

  void run_kernel(const Instruction& instruction) {
    if (context_.host) context_.host->poll();
    if (kernels_ && kernels_->run(instruction, registers_.tensors, registers_.scalars)) return;
    run_block(*instruction.blocks[0]);
    take_yielded(instruction.results);
  }

  void run_loop(const Instruction& instruction) {
    const int64_t trips = registers_.scalars[instruction.operands[0]].i;
    const Block& body = *instruction.blocks[0];
    const std::span<const ValueId> parameters = body.parameters;
    yielded_.clear();
    for (size_t i = 1; i < instruction.operands.size(); ++i)
      yielded_.push_back(value_of(instruction.operands[i]));
    for (int64_t trip = 0; trip < trips; ++trip) {
      if (context_.host) context_.host->poll();
      take_yielded(parameters.subspan(1));
      registers_.scalars[parameters[0]] = Scalar::of_int(trip);
      run_block(body);
      if (left_) return;
    }
    take_yielded(instruction.results);
  }

  const Region& region_;
  const LastUses& last_uses_;
  const OldViews& old_views_;
  KernelRunner* kernels_;
  RunContext& context_;
  Registers registers_;
  std::unordered_map<ValueId, Tensor> targets_;  // the inputs' own memory
  std::vector<Tensor> tensors_;
  std::vector<Scalar> scalars_;
  std::vector<RunValue> yielded_;
  RunExit exit_;
  bool left_ = false;
};

RunExit RegionExecutor::run(std::span<const RunInput> inputs, RunContext& context) {
  return Run(*this, inputs, context).run();
}

}  // namespace

Scalar read_scalar(const Tensor& tensor, ValueKind kind) {
  if (tensor.numel() != 1) {
    throw Error(ErrorKind::RuntimeError, "a Tensor with " + std::to_string(tensor.numel()) +
                                             " elements cannot be converted to Scalar");
  }
  OpAttributes to;
  to.dtype = kind == ValueKind::Float  ? DType::F64
             : kind == ValueKind::Bool ? DType::Bool
                                       : DType::I64;
  const Tensor item = run_op(Op::cast, {&tensor, 1}, {}, to).first;
  if (kind == ValueKind::Float) return Scalar::of_float(*item.data_as<double>());
  if (kind == ValueKind::Bool) return Scalar::of_bool(*item.data_as<uint8_t>() != 0);
  return Scalar::of_int(*item.data_as<int64_t>());
}

std::unique_ptr<Executable> make_region_executor(Region region,
                                                 std::unique_ptr<KernelRunner> kernels) {
  verify(region);
  return std::make_unique<RegionExecutor>(std::move(region), std::move(kernels));
}

}  // namespace tsc::jit
