#include "jit/region/executor.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "jit/region/liveness.h"
#include "jit/region/scalar_eval.h"
#include "runtime/kernels/run_op.h"

namespace tsc::jit {
namespace {

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

// What a block does, without what every run would only repeat: constants stand in the registers already,
// and of equal guards the first decides.
struct Step {
  const Instruction* instruction;
  std::vector<ValueId> dying;
  // A tensor leaves with at most one operand: of those of `instruction`, an exit, no two are the same.
  bool operands_differ = false;
};
using Steps = std::vector<Step>;
using StepsOfBlocks = std::unordered_map<const Block*, Steps>;

bool operands_differ(const Instruction& instruction) {
  if (instruction.code != Code::Exit) return false;
  std::vector<ValueId> operands(instruction.operands.begin(), instruction.operands.end());
  std::sort(operands.begin(), operands.end());
  return std::adjacent_find(operands.begin(), operands.end()) == operands.end();
}

void find_steps(const Block& block, const LastUses& last_uses, StepsOfBlocks& all) {
  Steps steps;
  std::vector<std::pair<ValueId, uint32_t>> guarded;
  for (const Instruction& instruction : block.instructions) {
    for (const auto& nested : instruction.blocks) find_steps(*nested, last_uses, all);
    if (instruction.code == Code::Const) continue;
    const auto dying = last_uses.after(instruction);
    if (instruction.code == Code::Guard && dying.empty()) {
      const std::pair<ValueId, uint32_t> guard{instruction.operands[0], instruction.id};
      if (std::find(guarded.begin(), guarded.end(), guard) != guarded.end()) continue;
      guarded.push_back(guard);
    }
    steps.push_back({&instruction, {dying.begin(), dying.end()}, operands_differ(instruction)});
  }
  all.emplace(&block, std::move(steps));
}

class RegionExecutor final : public Executable {
 public:
  RegionExecutor(Region region, std::unique_ptr<KernelRunner> kernels)
      : region_(std::move(region)),
        old_views_(find_old_views(region_)),
        kernels_(std::move(kernels)) {
    find_steps(region_.body, find_last_uses(region_), steps_);
    body_ = &steps_.at(&region_.body);
    look_through(region_.body);
    input_number_.resize(region_.value_count());
    for (size_t i = 0; i < region_.body.parameters.size(); ++i)
      input_number_[region_.body.parameters[i]] = i;
  }
  RunExit run(std::span<const RunInput> inputs, RunContext& context) override;

  const Region& region() const { return region_; }
  const Steps& steps(const Block& block) const {
    return &block == &region_.body ? *body_ : steps_.at(&block);
  }
  const OldViews& old_views() const { return old_views_; }
  size_t input_number(ValueId input) const { return input_number_[input]; }
  // The embedder's code runs inside a run: it may put other memory behind an input's object.
  bool has_host() const { return has_host_; }
  KernelRunner* kernels() const { return kernels_.get(); }
  bool starts_first_run() { return !std::exchange(started_, true); }

 private:
  friend class RegistersOfRun;
  void look_through(const Block& block) {
    for (const Instruction& instruction : block.instructions) {
      has_host_ |= instruction.code == Code::Host;
      if (instruction.code == Code::Const)
        constants_.push_back({instruction.results[0], instruction.number});
      for (const auto& nested : instruction.blocks) look_through(*nested);
    }
  }

  Region region_;
  StepsOfBlocks steps_;
  const Steps* body_ = nullptr;
  OldViews old_views_;
  std::vector<size_t> input_number_;  // by value
  std::vector<std::pair<ValueId, Scalar>> constants_;
  bool has_host_ = false;
  bool started_ = false;
  std::unique_ptr<KernelRunner> kernels_;
  std::vector<std::unique_ptr<Registers>> idle_;  // more than one after a region ran inside itself
  size_t running_ = 0;
};

// Registers from the executable's idle ones, and back to them.
class RegistersOfRun {
 public:
  explicit RegistersOfRun(RegionExecutor& executor) : executor_(executor) {
    executor_.idle_.reserve(executor_.running_ + 1);  // the way back must not fail
    ++executor_.running_;
    if (!executor.idle_.empty()) {
      registers_ = std::move(executor.idle_.back());
      executor.idle_.pop_back();
      return;
    }
    registers_ = std::make_unique<Registers>(executor.region_);
    for (const auto& [value, number] : executor.constants_) registers_->scalars[value] = number;
  }
  ~RegistersOfRun() {
    --executor_.running_;
    if (!registers_) return;
    registers_->drop_all();
    executor_.idle_.push_back(std::move(registers_));
  }
  RegistersOfRun(const RegistersOfRun&) = delete;
  Registers& get() { return *registers_; }

 private:
  RegionExecutor& executor_;
  std::unique_ptr<Registers> registers_;
};

class Run {
 public:
  Run(RegionExecutor& executor, Registers& registers, std::span<const RunInput> inputs,
      RunContext& context)
      : executor_(executor),
        region_(executor.region()),
        kernels_(executor.kernels()),
        context_(context),
        registers_(registers),
        inputs_(inputs) {}

  RunExit run() {
    bind_inputs();
    if (!shared_sizes_agree()) {
      leave_through_entry_guard();
      return std::move(exit_);
    }
    if (kernels_ && executor_.starts_first_run()) kernels_->foresee(region_, registers_);
    run_block(region_.body);
    TSC_CHECK(left_, "region " + region_.name + " ended without an exit");
    return std::move(exit_);
  }

 private:
  const Type& type(ValueId value) const { return region_.type(value); }

  void bind_inputs() {
    const auto& parameters = region_.body.parameters;
    TSC_CHECK(inputs_.size() == parameters.size(), "region " + region_.name + ": input count");
    if (executor_.has_host()) keep_inputs();
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const ValueId parameter = parameters[i];
      const Type& wanted = type(parameter);
      if (wanted.kind == ValueKind::Tensor) {
        TSC_CHECK(inputs_[i].tensor != nullptr, "a tensor input is missing");
        bind_sizes(parameter, input_tensor(i));
        registers_.lend(parameter, input_tensor(i));
      } else if (wanted.kind == ValueKind::Object) {
        registers_.objects[parameter] = inputs_[i].object;
      } else {
        TSC_CHECK(kind_of(inputs_[i].scalar) == wanted.kind, "the kind of a scalar input");
        registers_.scalars[parameter] = inputs_[i].scalar;
      }
    }
  }
  void keep_inputs() {
    kept_.resize(inputs_.size());
    for (size_t i = 0; i < inputs_.size(); ++i)
      if (inputs_[i].tensor) kept_[i] = *inputs_[i].tensor;
  }
  const Tensor& input_tensor(size_t number) const {
    return kept_.empty() ? *inputs_[number].tensor : kept_[number];
  }

  // Inputs share a size value where an entry guard said that the two sizes are equal; the pass that gave
  // them one name kept the guard, whose exit is taken when they are not.
  bool shared_sizes_agree() const {
    for (ValueId input : region_.body.parameters) {
      const ValueList& sizes = type(input).sizes;
      for (size_t k = 0; k < sizes.size(); ++k)
        if (registers_.scalars[sizes[k]].i != registers_.tensor(input).size(static_cast<int64_t>(k)))
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
  void bind_sizes(ValueId value, const Tensor& tensor) {
    const Type& wanted = type(value);
    TSC_CHECK(tensor.defined() && tensor.dtype() == wanted.dtype &&
                  tensor.sizes().size() == wanted.sizes.size(),
              "region " + region_.name + ": a tensor has another dtype or rank than declared");
    for (size_t k = 0; k < wanted.sizes.size(); ++k)
      registers_.scalars[wanted.sizes[k]] = Scalar::of_int(tensor.size(static_cast<int64_t>(k)));
  }
  void bind_tensor(ValueId value, Tensor tensor) {
    bind_sizes(value, tensor);
    registers_.put(value, std::move(tensor));
  }

  RunValue value_of(ValueId value) const {
    RunValue out;
    out.kind = type(value).kind;
    out.tensor = registers_.tensor(value);
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

  // Nothing runs after: the tensors move out.
  void leave_with_all(const Instruction& instruction) {
    exit_.id = instruction.id;
    exit_.origin = instruction.origin;
    exit_.live.resize(instruction.operands.size());
    for (size_t i = 0; i < exit_.live.size(); ++i) {
      const ValueId value = instruction.operands[i];
      RunValue& out = exit_.live[i];
      out.kind = type(value).kind;
      if (out.kind == ValueKind::Tensor) out.tensor = registers_.take(value);
      out.scalar = registers_.scalars[value];
      out.object = registers_.objects[value];
    }
    left_ = true;
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
    const Steps& steps = executor_.steps(block);
    size_t at = 0;
    try {
      for (; at < steps.size(); ++at) {
        const Step& step = steps[at];
        if (step.operands_differ) return leave_with_all(*step.instruction);
        run_instruction(*step.instruction);
        if (left_) return;
        for (ValueId value : steps[at].dying) registers_.drop(value);
      }
    } catch (const Error& error) {
      // In front of an entry guard stand the scalars of all conditions, also of those that the program
      // would not have reached with these inputs: the region does not fit, nothing has happened yet.
      const Instruction& instruction = *steps[at].instruction;
      if (&block == &region_.body && instruction.code == Code::Scalar && guard_follows(instruction))
        return leave_through_entry_guard();
      throw RunError{error, instruction.origin};
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
        tensors_.push_back(registers_.tensor(operand));
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
    registers_.put(value, std::move(tensor));
  }

  void run_scalar(const Instruction& instruction) {
    Scalar operands[3];
    for (size_t i = 0; i < instruction.operands.size(); ++i)
      operands[i] = registers_.scalars[instruction.operands[i]];
    registers_.scalars[instruction.results[0]] =
        eval_scalar(instruction.scalar_op, {operands, instruction.operands.size()});
  }

  void run_read(const Instruction& instruction) {
    const Tensor& source = registers_.tensor(instruction.operands[0]);
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
    const Tensor target = input_tensor(executor_.input_number(instruction.operands[0]));
    const Tensor source = registers_.tensor(instruction.operands[1]);
    // A kernel may have written the memory already: then there is nothing to copy.
    const bool in_place = source.storage() == target.storage() &&
                          source.offset() == target.offset() &&
                          source.strides() == target.strides();
    if (!in_place) {
      for (ValueId value : executor_.old_views().at(&instruction)) {
        const Tensor& other = registers_.tensor(value);
        if (other.defined() && other.storage() == target.storage())
          registers_.put(value, run_op(Op::copy, {&other, 1}, {}, {}).first);
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
    if (kernels_ && kernels_->run(instruction, registers_)) return;
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

  RegionExecutor& executor_;
  const Region& region_;
  KernelRunner* kernels_;
  RunContext& context_;
  Registers& registers_;
  std::span<const RunInput> inputs_;
  std::vector<Tensor> kept_;  // the inputs, when the embedder's code may change its own
  std::vector<Tensor> tensors_;
  std::vector<Scalar> scalars_;
  std::vector<RunValue> yielded_;
  RunExit exit_;
  bool left_ = false;
};

RunExit RegionExecutor::run(std::span<const RunInput> inputs, RunContext& context) {
  RegistersOfRun registers(*this);
  return Run(*this, registers.get(), inputs, context).run();
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
