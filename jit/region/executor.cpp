#include "jit/region/executor.h"

#include <algorithm>
#include <new>
#include <utility>

#include "jit/region/run_memory.h"
#include "jit/region/scalar_eval.h"
#include "jit/region/stores.h"
#include "jit/region/turns.h"
#include "runtime/kernels/run_op.h"

namespace tsc::jit {
namespace {

class RegionExecutor final : public Executable {
 public:
  RegionExecutor(std::shared_ptr<const Region> region, std::shared_ptr<KernelRunner> kernels,
                 std::vector<BlockRun> blocks)
      : shared_region_(std::move(region)), steps_(region_), kernels_(std::move(kernels)), blocks_(std::move(blocks)) {
    const auto& parameters = region_.body.parameters;
    input_number_.resize(region_.value_count());
    for (size_t i = 0; i < parameters.size(); ++i) input_number_[parameters[i]] = i;
    held_.resize(parameters.size());
    find_open_inputs();
  }
  RunExit run(std::span<const RunInput> inputs, RunContext& context) override;
  void hold(std::span<const uint32_t> inputs) override {
    TSC_CHECK(memories_.empty(), "inputs are held before the first run");
    for (uint32_t input : inputs) held_[input] = region_.type(region_.body.parameters[input]).kind == ValueKind::Tensor;
    steps_.hold(held_);
    find_open_inputs();
  }
  void changed(uint32_t input) override;
  std::unique_ptr<Executable> another() const override {
    std::vector<BlockRun> blocks;
    for (const BlockRun& block : blocks_) blocks.push_back({block.body->another(), block.carried});
    auto other = std::make_unique<RegionExecutor>(shared_region_, kernels_, std::move(blocks));
    other->prepared_ = prepared_;
    return other;
  }

  const Region& region() const { return region_; }
  const RegionSteps& steps() const { return steps_; }
  size_t input_number(ValueId input) const { return input_number_[input]; }
  bool is_held(size_t input) const { return held_[input]; }
  const std::vector<uint32_t>& open_inputs() const { return open_inputs_; }
  KernelRunner* kernels() const { return kernels_.get(); }
  const BlockRun& block(uint32_t id) const { return blocks_[id]; }
  // In front of a run.
  void prepare(const Registers& bound) {
    if (kernels_ && !prepared_) prepared_ = kernels_->foresee(region_, bound);
  }

 private:
  friend class MemoryOfRun;
  void find_open_inputs() {
    open_inputs_.clear();
    for (uint32_t i = 0; i < held_.size(); ++i)
      if (!held_[i]) open_inputs_.push_back(i);
  }
  RunMemory* make_memory();

  const std::shared_ptr<const Region> shared_region_;
  const Region& region_ = *shared_region_;
  RegionSteps steps_;
  std::vector<size_t> input_number_;  // by value
  std::vector<bool> held_;
  std::vector<uint32_t> open_inputs_;
  bool prepared_ = false;
  std::shared_ptr<KernelRunner> kernels_;
  std::vector<BlockRun> blocks_;
  std::vector<std::unique_ptr<RunMemory>> memories_;  // more than one after a region ran inside itself
  std::vector<RunMemory*> idle_;
};

RunMemory* RegionExecutor::make_memory() {
  idle_.reserve(memories_.size() + 1);  // the way back must not fail
  auto memory = std::make_unique<RunMemory>(region_, steps_);
  for (const auto& [value, number] : steps_.constants()) memory->registers.scalars[value] = number;
  for (uint32_t i = 0; i < held_.size(); ++i)
    if (held_[i]) memory->mark_stale(i);
  memories_.push_back(std::move(memory));
  return memories_.back().get();
}

// A run that is going on goes on with what it has.
void RegionExecutor::changed(uint32_t input) {
  if (!held_[input]) return;
  const ValueId value = region_.body.parameters[input];
  for (const auto& memory : memories_) {
    const bool bound = !memory->is_stale[input];
    memory->mark_stale(input);
    if (memory->inputs.empty()) {
      memory->registers.drop(value);
      continue;
    }
    const Tensor& now = *memory->inputs[input].tensor;
    if (bound) memory->registers.put(value, now);
    const bool known =
        std::any_of(memory->kept.begin(), memory->kept.end(), [&](const auto& entry) { return entry.first == input; });
    if (!known) memory->kept.push_back({input, now});
  }
}

class MemoryOfRun {
 public:
  MemoryOfRun(RegionExecutor& executor, std::span<const RunInput> inputs) : executor_(executor) {
    if (executor.idle_.empty()) {
      memory_ = executor.make_memory();
    } else {
      memory_ = executor.idle_.back();
      executor.idle_.pop_back();
    }
    memory_->inputs = inputs;
  }
  ~MemoryOfRun() {
    memory_->registers.drop_all();
    for (uint32_t input : memory_->stale) memory_->registers.drop(executor_.region_.body.parameters[input]);
    memory_->kept.clear();
    memory_->inputs = {};
    executor_.idle_.push_back(memory_);
  }
  MemoryOfRun(const MemoryOfRun&) = delete;
  RunMemory& get() { return *memory_; }

 private:
  RegionExecutor& executor_;
  RunMemory* memory_ = nullptr;
};

class Run {
 public:
  Run(RegionExecutor& executor, RunMemory& memory, std::span<const RunInput> inputs, RunContext& context)
      : executor_(executor), region_(executor.region()), kernels_(executor.kernels()), context_(context),
        memory_(memory), registers_(memory.registers), inputs_(inputs) {}

  RunExit run() {
    TSC_CHECK(inputs_.size() == region_.body.parameters.size(), "region " + region_.name + ": input count");
    if (!memory_.stale.empty()) bind_held();
    const bool fit = memory_.agree && bind_open() && open_sizes_agree();
    if (!fit) {
      leave_through_entry_guard();
    } else if (memory_.fails) {
      leave(*memory_.fails, 1);
    } else {
      executor_.prepare(registers_);
      const RegionSteps& steps = executor_.steps();
      run_steps(memory_.settles ? steps.body() : steps.of(region_.body), true);
    }
    TSC_CHECK(left_, "region " + region_.name + " ended without an exit");
    return std::move(exit_);
  }

 private:
  const Type& type(ValueId value) const { return region_.type(value); }

  // Inputs that are the same as long as nobody says otherwise, and all that follows from them.
  void bind_held() {
    const auto& parameters = region_.body.parameters;
    for (uint32_t input : memory_.stale) {
      TSC_CHECK(inputs_[input].tensor != nullptr, "a tensor input is missing");
      bind_sizes(parameters[input], *inputs_[input].tensor);
      registers_.lend(parameters[input], *inputs_[input].tensor);
      memory_.is_stale[input] = false;
    }
    memory_.stale.clear();
    memory_.agree = true;
    for (size_t i = 0; i < parameters.size() && memory_.agree; ++i)
      memory_.agree = !executor_.is_held(i) || sizes_agree(parameters[i]);
    settle();
  }

  void settle() {
    memory_.settles = true;
    memory_.fails = nullptr;
    try {
      for (const Step& step : executor_.steps().settled()) {
        const Instruction& instruction = *step.instruction;
        if (instruction.code == Code::Scalar) run_scalar(instruction);
        else if (!registers_.scalars[instruction.operands[0]].i && !memory_.fails) memory_.fails = &instruction;
      }
    } catch (const Error&) {  // raises again at its place
      memory_.settles = false;
      memory_.fails = nullptr;
    }
  }

  // False: a size is not that of a held input with which it shares a name.
  bool bind_open() {
    const auto& parameters = region_.body.parameters;
    if (executor_.steps().has_host()) keep_inputs();
    bool agree = true;
    for (uint32_t i : executor_.open_inputs()) {
      const ValueId parameter = parameters[i];
      const Type& wanted = type(parameter);
      if (wanted.kind == ValueKind::Tensor) {
        if (inputs_[i].given) {
          agree &= bind_open_sizes(parameter, *inputs_[i].given);
          registers_.put(parameter, std::move(*inputs_[i].given));
          continue;
        }
        TSC_CHECK(inputs_[i].tensor != nullptr, "a tensor input is missing");
        agree &= bind_open_sizes(parameter, input_tensor(i));
        registers_.lend(parameter, input_tensor(i));
      } else if (wanted.kind == ValueKind::Object) {
        registers_.objects[parameter] = inputs_[i].object;
      } else {
        TSC_CHECK(kind_of(inputs_[i].scalar) == wanted.kind, "the kind of a scalar input");
        registers_.scalars[parameter] = inputs_[i].scalar;
      }
    }
    return agree;
  }
  // The embedder's code runs inside the run: it may put other memory behind an input's object.
  void keep_inputs() {
    kept_.resize(inputs_.size());
    for (uint32_t i : executor_.open_inputs())
      if (inputs_[i].tensor) kept_[i] = *inputs_[i].tensor;
  }
  const Tensor& input_tensor(size_t number) const {
    if (!executor_.is_held(number)) return kept_.empty() ? *inputs_[number].tensor : kept_[number];
    for (const auto& [input, tensor] : memory_.kept)
      if (input == number) return tensor;
    return *inputs_[number].tensor;
  }

  // Inputs share a size value where an entry guard said that the two sizes are equal; the pass that gave
  // them one name kept the guard, whose exit is taken when they are not.
  bool sizes_agree(ValueId input) const {
    const ValueList& sizes = type(input).sizes;
    for (size_t k = 0; k < sizes.size(); ++k)
      if (registers_.scalars[sizes[k]].i != registers_.tensor(input).size(static_cast<int64_t>(k))) return false;
    return true;
  }
  bool open_sizes_agree() const {
    for (uint32_t i : executor_.open_inputs())
      if (!sizes_agree(region_.body.parameters[i])) return false;
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

  void check_declared(ValueId value, const Tensor& tensor) const {
    const Type& wanted = type(value);
    TSC_CHECK(tensor.defined() && tensor.dtype() == wanted.dtype && tensor.sizes().size() == wanted.sizes.size(),
              "region " + region_.name + ": a tensor has another dtype or rank than declared");
  }
  bool bind_open_sizes(ValueId value, const Tensor& tensor) {
    check_declared(value, tensor);
    const ValueList& sizes = type(value).sizes;
    bool agree = true;
    for (size_t k = 0; k < sizes.size(); ++k) {
      const Scalar size = Scalar::of_int(tensor.size(static_cast<int64_t>(k)));
      if (executor_.steps().is_held_size(sizes[k])) agree &= registers_.scalars[sizes[k]].i == size.i;
      else registers_.scalars[sizes[k]] = size;
    }
    return agree;
  }
  // A tensor that may define sizes: its size registers follow it.
  void bind_sizes(ValueId value, const Tensor& tensor) {
    check_declared(value, tensor);
    const Type& wanted = type(value);
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

  void run_block(const Block& block) { run_steps(executor_.steps().of(block), false); }
  void run_steps(const Steps& steps, bool whole) {
    size_t at = 0;
    try {
      for (; at < steps.size(); ++at) {
        const Step& step = steps[at];
        if (step.operands_differ) return leave_with_all(*step.instruction);
        if (!stores_in_place(step)) run_instruction(*step.instruction);
        if (left_) return;
        for (ValueId value : steps[at].dying) registers_.drop(value);
      }
    } catch (const Error& error) {
      // In front of an entry guard stand the scalars of all conditions, also of those that the program
      // would not have reached with these inputs: the region does not fit, nothing has happened yet.
      const Instruction& instruction = *steps[at].instruction;
      if (whole && instruction.code == Code::Scalar && guard_follows(instruction)) return leave_through_entry_guard();
      throw RunError{error, instruction.origin};
    } catch (const std::bad_alloc&) {
      throw RunError{Error(ErrorKind::MemoryError, "out of memory"), steps[at].instruction->origin};
    }
  }

  void run_instruction(const Instruction& instruction) {
    switch (instruction.code) {
      case Code::Op: return run_primitive(instruction);
      case Code::Const: registers_.scalars[instruction.results[0]] = instruction.number; return;
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
  // An input that the run does not own: whoever gave it looks at its memory, though nobody else counts.
  bool is_lent(ValueId value) const {
    const size_t number = executor_.input_number(value);
    return number < inputs_.size() && region_.body.parameters[number] == value && !inputs_[number].given;
  }
  // A store writes the memory of the version before where nobody looks at that any more: memory that this value alone
  // has, or that of an input which the region is to write anyway. False: it makes a copy, as any operation.
  bool stores_in_place(const Step& step) {
    const Instruction& instruction = *step.instruction;
    if (instruction.code != Code::Op || instruction.op != Op::store) return false;
    const ValueId before = instruction.operands[0];
    const Tensor& target = registers_.tensor(before);
    const bool dies = std::find(step.dying.begin(), step.dying.end(), before) != step.dying.end();
    const bool is_alone = dies && target.storage()->use_count() == 1 && !is_lent(before);
    const bool is_input =
        step.into != kNoValue && target.storage() == input_tensor(executor_.input_number(step.into)).storage();
    if (!target.is_contiguous() || (!is_alone && !is_input)) return false;
    if (context_.host) context_.host->poll();
    scalars_.clear();
    for (size_t i = 2; i < instruction.operands.size(); ++i)
      scalars_.push_back(registers_.scalars[instruction.operands[i]]);
    const Tensor whole = target;
    store_in_place(whole, registers_.tensor(instruction.operands[1]), scalars_);
    bind_result(instruction, 0, whole);
    return true;
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
    for (size_t i = 0; i < instruction.operands.size(); ++i) operands[i] = registers_.scalars[instruction.operands[i]];
    registers_.scalars[instruction.results[0]] =
        eval_scalar(instruction.scalar_op, {operands, instruction.operands.size()});
  }

  void run_read(const Instruction& instruction) {
    const Tensor& source = registers_.tensor(instruction.operands[0]);
    registers_.scalars[instruction.results[0]] = read_scalar(source, type(instruction.results[0]).kind);
  }

  void run_host(const Instruction& instruction) {
    TSC_CHECK(context_.host != nullptr, "a host instruction without a host");
    std::vector<RunValue> arguments, results(instruction.results.size());
    for (ValueId operand : instruction.operands) arguments.push_back(value_of(operand));
    for (size_t i = 0; i < results.size(); ++i) results[i].kind = type(instruction.results[i]).kind;
    context_.host->host(instruction.id, arguments, results);
    for (size_t i = 0; i < results.size(); ++i) set_value(instruction.results[i], std::move(results[i]));
  }

  // Values that were read from this memory before keep their contents: those still needed move out.
  void run_write_back(const Instruction& instruction) {
    const Tensor target = input_tensor(executor_.input_number(instruction.operands[0]));
    const Tensor source = registers_.tensor(instruction.operands[1]);
    // A kernel may have written the memory already: then there is nothing to copy.
    const bool in_place = source.storage() == target.storage() && source.offset() == target.offset() &&
                          source.strides() == target.strides();
    if (!in_place) {
      for (ValueId value : executor_.steps().old_views(instruction)) {
        const Tensor& other = registers_.tensor(value);
        if (!other.defined() || other.storage() != target.storage()) continue;
        if (value == instruction.operands[0] && executor_.is_held(executor_.input_number(value)))
          memory_.mark_stale(static_cast<uint32_t>(executor_.input_number(value)));
        registers_.put(value, run_op(Op::copy, {&other, 1}, {}, {}).first);
      }
      copy_into(target, source);
    }
    target.storage()->version += instruction.id;
    if (instruction.operands.size() > 2)
      target.storage()->version += static_cast<uint32_t>(registers_.scalars[instruction.operands[2]].i);
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
    const uint32_t way = registers_.scalars[instruction.operands[0]].i ? 0 : 1;
    if (instruction.blocks.empty()) {
      std::vector<RunInput> inputs = inputs_of_block(instruction, 1);
      inputs.erase(inputs.begin());
      RunExit end = executor_.block(instruction.id + way).body->run(inputs, context_);
      for (size_t i = 0; i < end.live.size(); ++i) set_value(instruction.results[i], std::move(end.live[i]));
      return;
    }
    run_block(*instruction.blocks[way]);
    if (!left_) take_yielded(instruction.results);
  }

  void run_kernel(const Instruction& instruction) {
    if (context_.host) context_.host->poll();
    if (kernels_ && kernels_->run(instruction, registers_)) return;
    run_block(*instruction.blocks[0]);
    take_yielded(instruction.results);
  }

  void run_loop(const Instruction& instruction) {
    if (instruction.blocks.empty()) return run_outlined(instruction);
    const int64_t trips = registers_.scalars[instruction.operands[0]].i;
    const Block& body = *instruction.blocks[0];
    const std::span<const ValueId> parameters = body.parameters;
    const size_t carried = parameters.size() - 1;
    Stacks stacks = make_stacks(instruction, carried);
    yielded_.clear();
    for (size_t i = 1; i < instruction.operands.size(); ++i) yielded_.push_back(value_of(instruction.operands[i]));
    for (int64_t turn = 0; turn < trips; ++turn) {
      const int64_t trip = instruction.attributes.mode == kCountsDown ? trips - 1 - turn : turn;
      if (instruction.attributes.mode == kWhile && !yielded_[0].scalar.i) break;
      if (context_.host) context_.host->poll();
      take_yielded(parameters.subspan(1));
      registers_.scalars[parameters[0]] = Scalar::of_int(trip);
      run_block(body);
      if (left_) return;
      stacks.put(trip, std::span(yielded_).subspan(carried));
      yielded_.resize(carried);
    }
    const std::span<const ValueId> results = instruction.results;
    take_yielded(results.first(carried));
    take_stacks(results.subspan(carried), stacks);
  }

  // Of one that is outlined: its operands from number `first` on.
  std::vector<RunInput> inputs_of_block(const Instruction& instruction, size_t first) {
    std::vector<RunInput> inputs(instruction.operands.size());
    for (size_t i = first; i < inputs.size(); ++i) {
      const ValueId operand = instruction.operands[i];
      inputs[i] = {&registers_.tensor(operand), registers_.scalars[operand], registers_.objects[operand], nullptr};
    }
    return inputs;
  }

  void run_outlined(const Instruction& instruction) {
    const BlockRun& loop = executor_.block(instruction.id);
    const std::span<const ValueId> operands = instruction.operands, results = instruction.results;
    std::vector<RunInput> inputs = inputs_of_block(instruction, 1 + loop.carried);
    std::vector<RunValue> carried;
    for (size_t i = 1; i <= loop.carried; ++i) carried.push_back(value_of(operands[i]));
    Stacks stacks = make_stacks(instruction, loop.carried);
    carried = run_turns(loop, registers_.scalars[operands[0]].i, static_cast<LoopMode>(instruction.attributes.mode),
                        std::move(carried), std::move(inputs), stacks, context_);
    for (size_t i = 0; i < carried.size(); ++i) set_value(results[i], std::move(carried[i]));
    take_stacks(results.subspan(loop.carried), stacks);
  }

  Stacks make_stacks(const Instruction& loop, size_t carried) {
    Stacks stacks;
    const std::span<const ValueId> results = loop.results;
    for (ValueId result : results.subspan(carried)) {
      Sizes sizes;
      for (ValueId size : type(result).sizes) sizes.push_back(registers_.scalars[size].i);
      if (loop.attributes.mode == kWhile) sizes[0] = 0;
      stacks.add(type(result).dtype, sizes);
    }
    return stacks;
  }
  void take_stacks(std::span<const ValueId> results, Stacks& stacks) {
    for (size_t i = 0; i < results.size(); ++i)
      bind_tensor(results[i], stacks.take(i, registers_.scalars[type(results[i]).sizes[0]].i));
  }

  RegionExecutor& executor_;
  const Region& region_;
  KernelRunner* kernels_;
  RunContext& context_;
  RunMemory& memory_;
  Registers& registers_;
  std::span<const RunInput> inputs_;
  std::vector<Tensor> kept_;  // the open inputs, when the embedder's code may change its own
  std::vector<Tensor> tensors_;
  std::vector<Scalar> scalars_;
  std::vector<RunValue> yielded_;
  RunExit exit_;
  bool left_ = false;
};

RunExit RegionExecutor::run(std::span<const RunInput> inputs, RunContext& context) {
  MemoryOfRun memory(*this, inputs);
  return Run(*this, memory.get(), inputs, context).run();
}

}  // namespace

std::unique_ptr<Executable> make_region_executor(Region region, std::unique_ptr<KernelRunner> kernels, bool is_verified,
                                                 std::vector<BlockRun> blocks) {
  if (!is_verified) verify(region);
  return std::make_unique<RegionExecutor>(std::make_shared<const Region>(std::move(region)), std::move(kernels),
                                          std::move(blocks));
}

}  // namespace tsc::jit
