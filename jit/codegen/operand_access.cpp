#include "jit/codegen/operand_access.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Metadata.h>

#include <algorithm>

namespace tsc::jit {
namespace {

// A column program walks down a narrow block: its next cache lines are whole rows away, in other
// pages, where no hardware looks ahead. Rows asked for early cover the latency of memory.
constexpr uint64_t kRowsAhead = 16;
// A pointwise program reads several tensors at once and computes between the loads: hardware that looks a few lines
// ahead in each comes late, on the processors that `asks_ahead` names.
constexpr uint64_t kBytesAhead = 2048;

bool is_pointwise(const KernelProgram& program) {
  if (program.kind != KernelProgram::Kind::Row || program.stages.size() != 1) return false;
  const auto& part = program.stages[0].element;
  return std::none_of(part.begin(), part.end(), [](const NestInstruction& in) { return in.code == NestCode::Reduce; });
}

// Whole registers only: a narrower store past the caches would write half a line to memory.
bool lanes_fill_lines(const Lanes& lanes, DType dtype) { return lanes.count() * memory_bytes(dtype) >= 32; }

llvm::Align alignment(DType dtype) { return llvm::Align(static_cast<uint64_t>(memory_bytes(dtype))); }

}  // namespace

void OperandAccess::enter(Ir arguments) {
  auto field = [&](size_t operand, int64_t word, llvm::Type* type) {
    const uint64_t place = operand * (sizeof(OperandArgument) / 8) + static_cast<uint64_t>(word);
    Ir pointer = place ? b_.CreateConstInBoundsGEP1_64(b_.getInt64Ty(), arguments, place) : arguments;
    return b_.CreateAlignedLoad(type, pointer, llvm::Align(8));
  };
  static_assert(sizeof(OperandArgument) == 24);
  asks_ahead_ = traits_.asks_ahead && is_pointwise(program_);
  for (size_t i = 0; i < program_.operands.size(); ++i) {
    const Operand& operand = program_.operands[i];
    Place place;
    const bool index = operand.kind == Operand::Kind::Index;
    place.base = field(i, 0, index ? static_cast<llvm::Type*>(b_.getInt64Ty()) : b_.getPtrTy());
    place.row_stride = field(i, 1, b_.getInt64Ty());
    if (operand.access == Access::Strided) place.col_stride = field(i, 2, b_.getInt64Ty());
    if (program_.kind == KernelProgram::Kind::Column && operand.kind == Operand::Kind::Input &&
        operand.access == Access::Contiguous)
      place.ahead = b_.CreateMul(place.row_stride, b_.getInt64(kRowsAhead));
    places_.push_back(place);
  }
}

// What a column program stores has no rows.
void OperandAccess::enter_row(Ir row) {
  for (size_t i = 0; i < places_.size(); ++i) {
    const Operand& operand = program_.operands[i];
    if (program_.kind == KernelProgram::Kind::Column && operand.kind == Operand::Kind::Output) continue;
    Place& place = places_[i];
    Ir offset = b_.CreateMul(row, place.row_stride);
    if (operand.kind == Operand::Kind::Index) place.row = b_.CreateAdd(place.base, offset);
    else place.row = element_pointer(operand.dtype, place.base, offset);
    if (place.ahead) place.row_ahead = element_pointer(operand.dtype, place.row, place.ahead);
  }
}

void OperandAccess::enter_first_row() {
  for (Place& place : places_) place.row = place.base;
}

Ir OperandAccess::element_pointer(DType dtype, Ir base, Ir index) const {
  return b_.CreateGEP(Lanes(b_, 1).scalar_memory_type(dtype), base, index);
}

Ir OperandAccess::load_broadcast(uint32_t slot) {
  const Operand& operand = program_.operands[slot];
  if (operand.kind == Operand::Kind::Index) return places_[slot].row;
  const Lanes scalar(b_, 1);
  Ir raw = b_.CreateAlignedLoad(scalar.memory_type(operand.dtype), places_[slot].row, alignment(operand.dtype));
  return scalar.from_memory(operand.dtype, raw);
}

void OperandAccess::store_broadcast(uint32_t slot, Ir scalar) {
  const DType dtype = program_.operands[slot].dtype;
  b_.CreateAlignedStore(Lanes(b_, 1).to_memory(dtype, scalar), places_[slot].row, alignment(dtype));
}

Ir OperandAccess::load(uint32_t slot, const Point& point) {
  const Operand& operand = program_.operands[slot];
  const Place& place = places_[slot];
  const Lanes& lanes = point.lanes;
  if (operand.access == Access::Broadcast) return load_broadcast(slot);
  if (operand.kind == Operand::Kind::Index) {
    Ir column = b_.CreateAdd(lanes.splat(point.col), lanes.iota(64));
    if (operand.access == Access::Strided) column = b_.CreateMul(column, lanes.splat(place.col_stride));
    return b_.CreateAdd(lanes.splat(place.row), column);
  }
  if (operand.access == Access::Strided) return load_strided(operand, place, point);
  const uint64_t bytes = static_cast<uint64_t>(memory_bytes(operand.dtype));
  if (place.ahead) prefetch(operand.dtype, place.row_ahead, point.col);
  else if (asks_ahead_ && lanes.count() > 1)
    prefetch(operand.dtype, place.row, b_.CreateAdd(point.col, b_.getInt64(kBytesAhead / bytes)));
  return load_row(operand.dtype, element_pointer(operand.dtype, place.row, point.col), point);
}

void OperandAccess::prefetch(DType dtype, Ir row, Ir col) {
  Ir line = element_pointer(dtype, row, col);
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {line->getType()},
                     {line, b_.getInt32(0), b_.getInt32(3), b_.getInt32(1)});
}

void OperandAccess::ask_for_next_row(uint32_t slot, const Point& point) {
  const Place& place = places_[slot];
  Ir line = element_pointer(program_.operands[slot].dtype, place.row, b_.CreateAdd(point.col, place.row_stride));
  b_.CreateIntrinsic(llvm::Intrinsic::prefetch, {line->getType()},
                     {line, b_.getInt32(0), b_.getInt32(2), b_.getInt32(1)});
}

void OperandAccess::store(uint32_t slot, const Point& point, Ir value) {
  const Operand& operand = program_.operands[slot];
  const Place& place = places_[slot];
  if (operand.access == Access::Strided) return store_strided(operand, place, point, value);
  Ir pointer = element_pointer(operand.dtype, place.row, point.col);
  if (operand.streamed && traits_.streams && !point.mask && lanes_fill_lines(point.lanes, operand.dtype))
    return stream_row(operand.dtype, pointer, point, value);
  store_row(operand.dtype, pointer, point, value);
}

void OperandAccess::stream_row(DType dtype, Ir pointer, const Point& point, Ir value) {
  Ir raw = point.lanes.to_memory(dtype, value);
  const int bytes = std::min(64, point.lanes.count() * memory_bytes(dtype));
  llvm::StoreInst* store = b_.CreateAlignedStore(raw, pointer, llvm::Align(static_cast<uint64_t>(bytes)));
  llvm::Metadata* one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(b_.getContext(), one));
}

// Stores past the caches are ordered by nothing else.
void OperandAccess::leave() {
  bool streamed = false;
  for (const Operand& operand : program_.operands) streamed |= operand.streamed;
  if (streamed && traits_.streams) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});
}

Ir OperandAccess::load_row(DType dtype, Ir pointer, const Point& point) {
  llvm::Type* type = point.lanes.memory_type(dtype);
  Ir raw = point.mask ? static_cast<Ir>(b_.CreateMaskedLoad(type, pointer, alignment(dtype), point.mask,
                                                            llvm::Constant::getNullValue(type)))
                      : b_.CreateAlignedLoad(type, pointer, alignment(dtype));
  return point.lanes.from_memory(dtype, raw);
}

void OperandAccess::store_row(DType dtype, Ir pointer, const Point& point, Ir value) {
  Ir raw = point.lanes.to_memory(dtype, value);
  if (point.mask) b_.CreateMaskedStore(raw, pointer, alignment(dtype), point.mask);
  else b_.CreateAlignedStore(raw, pointer, alignment(dtype));
}

// Lanes past the end are moved onto the last column, so that an unmasked load is safe.
Ir OperandAccess::lane_pointers(const Operand& operand, const Place& place, const Point& point) {
  const Lanes& lanes = point.lanes;
  Ir column = b_.CreateAdd(lanes.splat(point.col), lanes.iota(64));
  if (point.mask) {
    Ir last = lanes.splat(b_.CreateSub(point.limit, b_.getInt64(1)));
    column = lanes.call(llvm::Intrinsic::smin, {column, last});
  }
  Ir offset = b_.CreateMul(column, lanes.splat(place.col_stride));
  return b_.CreateGEP(lanes.scalar_memory_type(operand.dtype), place.row, offset);
}

Ir OperandAccess::lane_pointer(const Operand& operand, const Place& place, const Point& point, int lane) {
  const Lanes scalar(b_, 1);
  Ir column = b_.CreateAdd(point.col, b_.getInt64(static_cast<uint64_t>(lane)));
  if (point.mask) column = scalar.call(llvm::Intrinsic::smin, {column, b_.CreateSub(point.limit, b_.getInt64(1))});
  return element_pointer(operand.dtype, place.row, b_.CreateMul(column, place.col_stride));
}

Ir OperandAccess::load_strided(const Operand& operand, const Place& place, const Point& point) {
  const Lanes& lanes = point.lanes;
  llvm::Type* type = lanes.memory_type(operand.dtype);
  Ir raw = llvm::PoisonValue::get(type);
  if (lanes.count() > 1 && gathers(operand.dtype)) {
    raw = b_.CreateMaskedGather(type, lane_pointers(operand, place, point), alignment(operand.dtype));
    return lanes.from_memory(operand.dtype, raw);
  }
  for (int lane = 0; lane < lanes.count(); ++lane) {
    Ir item = b_.CreateAlignedLoad(lanes.scalar_memory_type(operand.dtype), lane_pointer(operand, place, point, lane),
                                   alignment(operand.dtype));
    raw = lanes.count() == 1 ? item : b_.CreateInsertElement(raw, item, static_cast<uint64_t>(lane));
  }
  return lanes.from_memory(operand.dtype, raw);
}

void OperandAccess::store_strided(const Operand& operand, const Place& place, const Point& point, Ir value) {
  const Lanes& lanes = point.lanes;
  Ir raw = lanes.to_memory(operand.dtype, value);
  if (lanes.count() > 1 && (point.mask || gathers(operand.dtype))) {
    b_.CreateMaskedScatter(raw, lane_pointers(operand, place, point), alignment(operand.dtype), point.mask);
    return;
  }
  for (int lane = 0; lane < lanes.count(); ++lane) {
    Ir item = lanes.count() == 1 ? raw : b_.CreateExtractElement(raw, static_cast<uint64_t>(lane));
    b_.CreateAlignedStore(item, lane_pointer(operand, place, point, lane), alignment(operand.dtype));
  }
}

}  // namespace tsc::jit
