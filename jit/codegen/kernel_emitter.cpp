#include "jit/codegen/kernel_emitter.h"

#include <map>
#include <utility>

#include "jit/codegen/philox_emitter.h"
#include "jit/loops/nan_flow.h"
#include "runtime/base/error.h"

namespace tsc::jit {
KernelEmitter::KernelEmitter(llvm::Module& module, const KernelProgram& program, const VectorTraits& traits)
    : module_(module), program_(program), traits_(traits), b_(module.getContext()), access_(b_, program, traits),
      wide_(b_, traits.lanes), scalar_(b_, 1), bindings_(program.values), uniform_(program.values, false) {}

llvm::Function* KernelEmitter::emit(const std::string& symbol) {
  open_function(symbol);
  access_.enter(function_->getArg(0));
  prepare_scratch();
  emit_uniform_values();
  if (traits_.masked_memory) lane_numbers_ = wide_.in_memory(wide_.iota(32));
  if (traits_.grid) emit_grid();
  else if (program_.kind == KernelProgram::Kind::Row) emit_rows();
  else emit_column_program();
  access_.leave();
  b_.CreateRetVoid();
  return function_;
}

// void kernel(const OperandArgument*, const int64_t*, int64_t rows, int64_t cols, void* scratch)
void KernelEmitter::open_function(const std::string& symbol) {
  llvm::Type* pointer = b_.getPtrTy();
  llvm::Type* integer = b_.getInt64Ty();
  auto* type = llvm::FunctionType::get(b_.getVoidTy(), {pointer, pointer, integer, integer, pointer}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module_);
  function_->setDoesNotThrow();
  parameters_ = function_->getArg(1);
  rows_ = function_->getArg(2);
  cols_ = function_->getArg(3);
  scratch_ = function_->getArg(4);
  b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function_));
}

void KernelEmitter::prepare_scratch() {
  std::map<int, Ir> row_bytes;  // by the bytes of an element
  for (DType dtype : program_.scratch) {
    const int size = memory_bytes(dtype);
    Ir& bytes = row_bytes[size];
    if (!bytes) {
      bytes = b_.CreateMul(cols_, b_.getInt64(static_cast<uint64_t>(size)));
      bytes = b_.CreateAdd(bytes, b_.getInt64(kScratchUnit - 1));
      bytes = b_.CreateAnd(bytes, b_.getInt64(~uint64_t{kScratchUnit - 1}));
    }
    scratch_rows_.push_back(scratch_end_ ? b_.CreateGEP(b_.getInt8Ty(), scratch_, scratch_end_) : scratch_);
    scratch_end_ = scratch_end_ ? b_.CreateAdd(scratch_end_, bytes) : bytes;
  }
  if (!scratch_end_) scratch_end_ = b_.getInt64(0);
}

// ---- values ----

void KernelEmitter::find_uniform(const std::vector<NestInstruction>& part) {
  for (const NestInstruction& in : part) {
    if (defines_value(in) && uniform_[in.result]) continue;
    bool uniform = in.code == NestCode::Constant || in.code == NestCode::Parameter;
    if (in.code == NestCode::Apply) {
      uniform = true;
      for (NestValue input : in.inputs) uniform = uniform && uniform_[input];
    }
    if (!uniform) continue;
    uniform_[in.result] = true;
    emit_instruction(in, Point{scalar_, nullptr, nullptr}, true);
  }
}

// Whatever depends on constants and parameters only is computed once, before the rows.
void KernelEmitter::emit_uniform_values() {
  const bool column = program_.kind == KernelProgram::Kind::Column;
  for (const NestStage& stage : program_.stages) {
    find_uniform(stage.row);
    find_uniform(stage.element);
    find_uniform(stage.row);  // a column program's row part stands after its element part
  }
  for (const NestStage& stage : program_.stages) {
    prepare_splats(stage.element, true);
    if (column) prepare_splats(stage.row, true);
  }
}

// Scalars that a loop's lanes will need, spread before the loop.
void KernelEmitter::prepare_splats(const std::vector<NestInstruction>& part, bool uniform) {
  for (const NestInstruction& in : part) {
    if (defines_value(in) && uniform_[in.result]) continue;
    for (NestValue input : in.inputs) {
      Binding& binding = bindings_[input];
      if (binding.value && !binding.lanes && !binding.splat && uniform_[input] == uniform)
        binding.splat = wide_.splat(binding.value);
      const bool divisor = divides_by_shared(in) && input == in.inputs[1];
      if (divisor && binding.splat && uniform_[input] == uniform) prepare_divisor(&binding);
    }
  }
}

Ir KernelEmitter::in_lanes(NestValue value, const Lanes& lanes) {
  const Binding& binding = bindings_[value];
  if (binding.lanes || lanes.count() == 1) return binding.value;
  if (is_floating(binding.dtype) && llvm::isa<llvm::Constant>(binding.value))
    return lanes.in_memory(lanes.splat(binding.value));
  return binding.splat && lanes.count() == wide_.count() ? binding.splat : lanes.splat(binding.value);
}

bool KernelEmitter::any_lanes(const NestInstruction& in) const {
  for (NestValue input : in.inputs)
    if (bindings_[input].lanes) return true;
  return false;
}

void KernelEmitter::define(const NestInstruction& in, Ir value, bool lanes) {
  bindings_[in.result] = Binding{value, in.dtype, lanes};
}

Ir KernelEmitter::constant(const NestInstruction& in) {
  const Scalar& number = in.number;
  if (is_floating(in.dtype)) {
    double exact = number.as_float();
    if (number.kind != Scalar::Kind::Float && in.dtype != DType::F64)
      exact = static_cast<float>(number.i);  // rounded once, not through double
    Ir value = scalar_.number(in.dtype, exact);
    return scalar_.round_to(in.dtype, value);
  }
  if (number.kind == Scalar::Kind::Float) {
    const Ir exact = scalar_.number(DType::F64, number.f);
    return apply_op(scalar_, Op::cast, DType::F64, in.dtype, {&exact, 1});
  }
  if (in.dtype == DType::Bool) return b_.getInt1(number.i != 0);
  return llvm::ConstantInt::get(scalar_.value_type(in.dtype),
                                llvm::APInt(64, static_cast<uint64_t>(number.i)).trunc(memory_bytes(in.dtype) * 8));
}

Ir KernelEmitter::parameter(const NestInstruction& in) {
  Ir pointer = b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), parameters_, in.slot);
  return b_.CreateAlignedLoad(scalar_.value_type(in.dtype), pointer, llvm::Align(8));
}

// ---- instructions ----

void KernelEmitter::emit_part(const std::vector<NestInstruction>& part, const Point& point, bool per_row) {
  if (!per_row)
    for (uint32_t slot : next_rows_) access_.ask_for_next_row(slot, point);
  emit_instructions(part, point, per_row);
  flush_stores();
}

void KernelEmitter::emit_instructions(const std::vector<NestInstruction>& part, const Point& point, bool per_row) {
  for (const NestInstruction& in : part)
    if (!defines_value(in) || !uniform_[in.result]) emit_instruction(in, point, per_row);
}

void KernelEmitter::flush_stores() {
  for (const auto& store : std::exchange(stores_, {})) store();
}

void KernelEmitter::emit_instruction(const NestInstruction& in, const Point& point, bool per_row) {
  const Lanes& lanes = point.lanes;
  switch (in.code) {
    case NestCode::Load: emit_load(in, point); break;
    case NestCode::Store:
      stores_.push_back([this, &in, point, per_row] {
        if (per_row) access_.store_broadcast(in.slot, bindings_[in.inputs[0]].value);
        else access_.store(in.slot, point, in_lanes(in.inputs[0], point.lanes));
      });
      break;
    case NestCode::Constant: define(in, constant(in), false); break;
    case NestCode::Parameter: define(in, parameter(in), false); break;
    case NestCode::Apply: emit_apply(in, point); break;
    case NestCode::Philox: emit_random(in, point); break;
    case NestCode::Reduce: accumulate(in, point); break;
    case NestCode::Accumulate: accumulate_row(in, point); break;
    case NestCode::ScratchStore: {
      const DType dtype = program_.scratch[in.slot];
      stores_.push_back([this, &in, point, dtype] {
        Ir pointer = access_.element_pointer(dtype, scratch_rows_[in.slot], point.col);
        access_.store_row(dtype, pointer, {point.lanes, point.col, point.limit}, in_lanes(in.inputs[0], point.lanes));
      });
      break;
    }
    case NestCode::ScratchLoad: {
      Ir pointer = access_.element_pointer(in.dtype, scratch_rows_[in.slot], point.col);
      define(in, access_.load_row(in.dtype, pointer, {lanes, point.col, point.limit}), true);
      break;
    }
  }
}

void KernelEmitter::emit_load(const NestInstruction& in, const Point& point) {
  const Operand& operand = program_.operands[in.slot];
  if (operand.access == Access::Broadcast) return define(in, access_.load_broadcast(in.slot), false);
  define(in, access_.load(in.slot, point), true);
  if (operand.kind == Operand::Kind::Index && operand.access == Access::Contiguous)
    bindings_[in.result].first = b_.CreateAdd(access_.load_broadcast(in.slot), point.col);
}

void KernelEmitter::emit_random(const NestInstruction& in, const Point& point) {
  const bool lanes = any_lanes(in);
  const Lanes& used = lanes ? point.lanes : scalar_;
  Ir seed = bindings_[in.inputs[0]].value, offset = bindings_[in.inputs[1]].value;
  if (Ir first = bindings_[in.inputs[2]].first; lanes && first && shares_philox_blocks(used, in.dtype)) {
    if (!philox_words_) philox_words_ = stack_array(DType::I32, 2 * used.count());
    return define(in, emit_philox_run(used, in.dtype, seed, offset, first, philox_words_), true);
  }
  define(in, emit_philox(used, in.dtype, seed, offset, in_lanes(in.inputs[2], used)), lanes);
}

void KernelEmitter::emit_apply(const NestInstruction& in, const Point& point) {
  const bool lanes = any_lanes(in);
  const Lanes& used = lanes ? point.lanes : scalar_;
  SmallVector<Ir, 3> inputs;
  for (NestValue input : in.inputs) inputs.push_back(in_lanes(input, used));
  const Binding& last = bindings_[in.inputs.back()];
  if (lanes && divides_by_shared(in) && last.inverse && !last.lanes && used.count() == wide_.count())
    return define(in, divide_by_shared(inputs[0], last), true);
  const DType from = bindings_[in.inputs[in.op == Op::select ? 1 : 0]].dtype;
  define(in, apply_op(used, in.op, from, in.dtype, {inputs.data(), inputs.size()}), lanes);
}

// ---- reductions ----

KernelEmitter::Reducer& KernelEmitter::reducer_of(const NestInstruction& in) {
  for (Reducer& reducer : reducers_)
    if (reducer.instruction == &in) return reducer;
  TSC_CHECK(false, "reduction outside its stage");
}

Ir KernelEmitter::accumulator_pointer(const Reducer& reducer, const Point& point) {
  const DType dtype = reducer.how.dtype();
  if (program_.kind == KernelProgram::Kind::Column) return access_.element_pointer(dtype, reducer.row, point.col);
  Ir lane = b_.CreateAnd(point.col, b_.getInt64(kReductionLanes - 1));
  return access_.element_pointer(dtype, reducer.lanes, lane);
}

// The accumulators are our own memory: reading and writing lanes that do not exist is harmless as
// long as those keep their value.
void KernelEmitter::accumulate(const NestInstruction& in, const Point& point) {
  Reducer& reducer = reducer_of(in);
  const Lanes& lanes = point.lanes;
  Ir x = reducer.how.enter(lanes, in_lanes(in.inputs[0], lanes));
  if (!reducer.registers.empty()) {
    Ir& lane = reducer.registers[reducer.turn++];
    Ir sum = reducer.how.combine(lanes, lane, x);
    lane = point.mask ? b_.CreateSelect(point.mask, sum, lane) : sum;
    return;
  }
  Ir pointer = accumulator_pointer(reducer, point);
  const Point whole{lanes, point.col, point.limit};
  Ir old = access_.load_row(reducer.how.dtype(), pointer, whole);
  Ir sum = reducer.how.combine(lanes, old, x);
  if (point.mask) sum = b_.CreateSelect(point.mask, sum, old);
  access_.store_row(reducer.how.dtype(), pointer, whole, sum);
}

// One step of a reduction over rows; the lane that the row belongs to is the caller's choice.
void KernelEmitter::accumulate_row(const NestInstruction& in, const Point& point) {
  constexpr Op kOps[] = {Op::add, Op::mul, Op::maximum, Op::minimum};
  const Lanes& lanes = point.lanes;
  const Ir x[] = {in_lanes(in.inputs[0], lanes)};
  const DType from = bindings_[in.inputs[0]].dtype;
  const Ir inputs[] = {access_.load(in.slot, point), apply_op(lanes, Op::cast, from, in.dtype, x)};
  const Op op = kOps[static_cast<int>(in.reduction)];
  stores_.push_back([this, &in, point, sum = apply_op(lanes, op, in.dtype, in.dtype, inputs)] {
    access_.store(in.slot, point, sum);
  });
}

Ir KernelEmitter::stack_array(DType dtype, int64_t count) {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  auto* type = llvm::ArrayType::get(scalar_.scalar_memory_type(dtype), static_cast<uint64_t>(count));
  llvm::AllocaInst* memory = at_entry.CreateAlloca(type);
  memory->setAlignment(llvm::Align(64));
  return memory;
}

void KernelEmitter::collect_reducers(const NestStage& stage) {
  reducers_.clear();
  for (const NestInstruction& in : stage.element) {
    if (in.code != NestCode::Reduce) continue;
    // The dtype of the input is known where it is defined, in this part or before it.
    DType input = bindings_[in.inputs[0]].dtype;
    for (const NestInstruction& other : stage.element)
      if (defines_value(other) && other.result == in.inputs[0]) input = other.dtype;
    reducers_.push_back(
        {&in, {in.reduction, input, is_softmax_maximum(program_, in)}, nullptr, nullptr, nullptr, {}, 0});
  }
}

}  // namespace tsc::jit
