#include "jit/region/builder.h"

#include <algorithm>

#include "jit/region/builder_tables.h"
#include "jit/region/infer.h"
#include "jit/region/scalar_eval.h"

namespace tsc::jit {
ValueId OpBuilder::fill(ValueId value, std::span<const ValueId> sizes, DType dtype) {
  std::vector<ValueId> scalars = {value};
  scalars.insert(scalars.end(), sizes.begin(), sizes.end());
  OpAttributes attributes;
  attributes.dtype = dtype;
  return op(Op::full, {}, scalars, attributes);
}

class RegionBuilder::Algebra final : public SizeAlgebra {
 public:
  explicit Algebra(RegionBuilder& builder) : builder_(builder) {}
  ValueId constant(int64_t value) override { return builder_.constant(value); }
  ValueId scalar(ScalarOp op, ValueId a, ValueId b) override {
    const ValueId operands[] = {a, b};
    return builder_.scalar(op, operands);
  }
  std::optional<int64_t> known_int(ValueId value) override { return builder_.known_int(value); }
  bool equal(ValueId a, ValueId b) override {
    if (builder_.known_equal(a, b)) return true;
    if (builder_.known_int(a) && builder_.known_int(b)) return false;
    if (!builder_.require_equal(a, b)) return false;
    builder_.assume_equal(a, b);
    return true;
  }
  void factors(ValueId size, std::vector<ValueId>* out) override {
    const auto& definitions = builder_.tables_->definitions;
    const auto found = definitions.find(size);
    if (found != definitions.end() && found->second.op == ScalarOp::mul) {
      factors(found->second.operands[0], out);
      factors(found->second.operands[1], out);
    } else if (builder_.known_int(size) != 1) {
      out->push_back(builder_.tables_->equal.representative(size));
    }
  }
  ValueId fresh() override { return builder_.add_result({ValueKind::Int, {}, {}}, builder_.open_.size()); }

 private:
  RegionBuilder& builder_;
};

RegionBuilder::RegionBuilder(Region& region)
    : region_(region), block_(&region.body), tables_(std::make_unique<Tables>()) {
  for (const Instruction& instruction : region.body.instructions) {
    if (instruction.code == Code::Const) tables_->add_number(instruction.number, instruction.results[0]);
    if (instruction.code == Code::Scalar)
      tables_->add_scalar(key_of(instruction.scalar_op, instruction.operands), instruction.results[0]);
  }
  tables_->equal = EqualSizes(region);
}

RegionBuilder::~RegionBuilder() = default;

Instruction& RegionBuilder::append(Code code, std::span<const ValueId> operands, bool may_raise) {
  size_t inside = 0;
  for (size_t i = 0; may_raise && !appends_questions && i < open_.size(); ++i)
    if (open_[i].is_branch) inside = i + 1;
  for (ValueId operand : operands) {
    const size_t depth = depth_of(operand);
    if (depth == kGone) value_is_gone();
    inside = std::max(inside, depth);
  }
  const bool is_number = code == Code::Const || code == Code::Scalar;
  depth_ = is_number ? inside : open_.size();
  Block& block = depth_ == open_.size() ? *block_ : *open_[depth_].outer;
  Instruction& instruction = block.instructions.emplace_back();
  instruction.code = code;
  instruction.operands = ValueList(operands);
  instruction.origin = known_origin();
  return instruction;
}

void RegionBuilder::value_is_gone() { TSC_CHECK(false, "a value of a block that has ended is used"); }

// What the instruction that was appended last, or the one that is about to be, makes.
ValueId RegionBuilder::add_result(Type type, size_t depth) {
  for (ValueId size : type.sizes)
    if (depth_of(size) == kGone) value_is_gone();
  const ValueId value = region_.add_value(std::move(type));
  if (depth > 0) {
    depths_.resize(std::max<size_t>(depths_.size(), value + 1));
    depths_[value] = static_cast<uint8_t>(depth);
  }
  return value;
}

ValueId RegionBuilder::add_scalar_result(Instruction& instruction, ValueKind kind) {
  const ValueId value = add_result({kind, {}, {}}, depth_);
  instruction.results.push_back(value);
  return value;
}

namespace {

bool share_sizes(std::span<const Type* const> types) {
  return std::all_of(types.begin(), types.end(), [&](const Type* type) { return type->sizes == types[0]->sizes; });
}

}  // namespace

Instruction& RegionBuilder::append_op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                                      const OpAttributes& attributes) {
  Algebra algebra(*this);
  SmallVector<const Type*, 6> pointers;
  for (ValueId tensor : tensors) {
    TSC_CHECK(region_.type(tensor).kind == ValueKind::Tensor, op_name(op));
    pointers.push_back(&region_.type(tensor));
  }
  // Emitting size arithmetic adds values, which moves the types: those of operands are copies then.
  std::vector<Type> operand_types;
  if (!is_elementwise(op) || !share_sizes(pointers)) {
    operand_types.reserve(tensors.size());
    for (ValueId tensor : tensors) operand_types.push_back(region_.type(tensor));
    for (size_t k = 0; k < tensors.size(); ++k) pointers[k] = &operand_types[k];
  }
  Type first = infer_type(algebra, op, pointers, scalars, attributes, 0);
  std::vector<Type> others;
  for (int i = 1; i < op_result_count(op); ++i)
    others.push_back(infer_type(algebra, op, pointers, scalars, attributes, i));
  Instruction& instruction = append(Code::Op, tensors);
  instruction.op = op;
  instruction.attributes = normal_attributes(op, attributes);
  for (ValueId scalar : scalars) instruction.operands.push_back(scalar);
  instruction.results.push_back(add_result(std::move(first), depth_));
  for (Type& type : others) instruction.results.push_back(add_result(std::move(type), depth_));
  return instruction;
}

std::vector<ValueId> RegionBuilder::op_results(Op op, std::span<const ValueId> tensors,
                                               std::span<const ValueId> scalars, const OpAttributes& attributes) {
  const Instruction& instruction = append_op(op, tensors, scalars, attributes);
  return {instruction.results.begin(), instruction.results.end()};
}

ValueId RegionBuilder::op(Op op, std::span<const ValueId> tensors, std::span<const ValueId> scalars,
                          const OpAttributes& attributes, int result) {
  return append_op(op, tensors, scalars, attributes).results[result];
}

ValueId RegionBuilder::constant_of(Scalar number) {
  const auto found = tables_->numbers.find({number.kind, number.i});
  if (found != tables_->numbers.end()) return found->second;
  Instruction& instruction = append(Code::Const, {});
  instruction.number = number;
  const ValueId value = add_scalar_result(instruction, kind_of(number));
  tables_->add_number(number, value);
  return value;
}

ValueId RegionBuilder::constant(int64_t value) { return constant_of(Scalar::of_int(value)); }
ValueId RegionBuilder::constant(double value) { return constant_of(Scalar::of_float(value)); }
ValueId RegionBuilder::constant_bool(bool value) { return constant_of(Scalar::of_bool(value)); }

std::optional<int64_t> RegionBuilder::known_int(ValueId scalar) const { return tables_->equal.constant(scalar); }

bool RegionBuilder::is_constant(ValueId scalar) const { return tables_->constants.count(scalar) != 0; }

std::optional<Scalar> RegionBuilder::known(ValueId scalar) const {
  const auto found = tables_->constants.find(scalar);
  if (found != tables_->constants.end()) return found->second;
  if (const auto number = known_int(scalar)) return Scalar::of_int(*number);
  return std::nullopt;
}

bool RegionBuilder::known_equal(ValueId a, ValueId b) const { return tables_->equal.equal(a, b); }

void RegionBuilder::assume_equal(ValueId a, ValueId b) {
  if (known_equal(a, b)) return;
  tables_->equal.unite(a, b);
  region_.assumptions.push_back({a, b});
}

bool RegionBuilder::require_equal(ValueId, ValueId) { return false; }

// Int identities that can neither raise nor change bits. kNoValue when none fits.
ValueId RegionBuilder::simplified(ScalarOp op, std::span<const ValueId> operands) {
  if (op == ScalarOp::select) {
    if (operands[1] == operands[2]) return operands[1];
    const auto condition = known(operands[0]);
    return !condition ? kNoValue : operands[condition->i ? 1 : 2];
  }
  if (operands.size() != 2 || region_.type(operands[0]).kind != ValueKind::Int) return kNoValue;
  const ValueId a = operands[0], b = operands[1];
  const auto x = known_int(a), y = known_int(b);
  switch (op) {
    case ScalarOp::add: return x == 0 ? b : y == 0 ? a : kNoValue;
    case ScalarOp::sub: return y == 0 ? a : a == b ? constant(int64_t{0}) : kNoValue;
    case ScalarOp::mul: return x == 1 || y == 0 ? b : y == 1 || x == 0 ? a : kNoValue;
    case ScalarOp::floor_div: return y == 1 ? a : kNoValue;
    case ScalarOp::minimum:
    case ScalarOp::maximum: return a == b ? a : kNoValue;
    case ScalarOp::eq: return known_equal(a, b) ? constant_bool(true) : kNoValue;
    case ScalarOp::ne: return known_equal(a, b) ? constant_bool(false) : kNoValue;
    default: return kNoValue;
  }
}

// What overflows 64 bits has the whole region run again, wherever it stands.
bool RegionBuilder::may_raise(ScalarOp op, std::span<const ValueId> operands) const {
  if (!scalar_may_raise(op, ValueKind::Float)) return false;
  const bool divides = op == ScalarOp::true_div || op == ScalarOp::floor_div || op == ScalarOp::mod;
  const std::optional<Scalar> divisor = divides ? known(operands[1]) : std::nullopt;
  return !divisor || divisor->i == 0;  // of a float, too: the bits of 0.0
}

ValueId RegionBuilder::scalar(ScalarOp op, std::span<const ValueId> given) {
  ValueList operands(given);
  SmallVector<ValueKind, 3> kinds;
  std::vector<Scalar> numbers;
  for (ValueId operand : operands) {
    kinds.push_back(region_.type(operand).kind);
    if (const auto number = known(operand)) numbers.push_back(*number);
  }
  const ValueKind kind = scalar_result_kind(op, kinds);
  if (numbers.size() == operands.size()) {
    try {
      return constant_of(eval_scalar(op, numbers));
    } catch (const Error&) {
      // It raises when it runs.
    }
  }
  const bool commutes =
      kinds[0] == ValueKind::Int && (op == ScalarOp::add || op == ScalarOp::mul || op == ScalarOp::eq);
  if (commutes && operands[1] < operands[0]) std::swap(operands[0], operands[1]);
  const ValueId simple = simplified(op, operands);
  if (simple != kNoValue) return simple;
  const ScalarKey key = key_of(op, operands);
  const auto found = tables_->scalars.find(key);
  if (found != tables_->scalars.end()) return found->second;
  Instruction& instruction = append(Code::Scalar, operands, may_raise(op, operands));
  instruction.scalar_op = op;
  const ValueId value = add_scalar_result(instruction, kind);
  tables_->add_scalar(key, value);
  return value;
}

ValueId RegionBuilder::read(ValueId tensor, ValueKind kind) {
  const ValueId operands[] = {tensor};
  return add_scalar_result(append(Code::Read, operands), kind);
}

std::vector<ValueId> RegionBuilder::host(uint32_t id, std::span<const ValueId> operands,
                                         std::span<const Type> results) {
  std::vector<ValueId> values;
  for (const Type& wanted : results) {
    Type type = wanted;
    for (ValueId& size : type.sizes)
      if (size == kNoValue) size = add_result({ValueKind::Int, {}, {}}, open_.size());
    values.push_back(add_result(std::move(type), open_.size()));
  }
  Instruction& instruction = append(Code::Host, operands);
  instruction.id = id;
  instruction.results = SmallVector<ValueId, 2>(values.begin(), values.end());
  return values;
}

void RegionBuilder::guard(ValueId condition, uint32_t exit, std::span<const ValueId> live) {
  Instruction& instruction = append(Code::Guard, {});
  instruction.id = exit;
  instruction.operands.push_back(condition);
  for (ValueId value : live) instruction.operands.push_back(value);
  const auto found = tables_->definitions.find(condition);
  if (found != tables_->definitions.end() && found->second.op == ScalarOp::eq &&
      region_.type(found->second.operands[0]).kind == ValueKind::Int)
    tables_->equal.unite(found->second.operands[0], found->second.operands[1]);
}

void RegionBuilder::exit(uint32_t id, std::span<const ValueId> live) { append(Code::Exit, live).id = id; }

void RegionBuilder::write_back(ValueId input, ValueId value, uint32_t writes, ValueId more_writes) {
  const ValueId operands[] = {input, value, more_writes};
  append(Code::WriteBack, std::span(operands).first(more_writes == kNoValue ? 2 : 3)).id = writes;
}

std::pair<ValueId, ValueId> RegionBuilder::rng_advance(ValueId draws) {
  const ValueId operands[] = {draws};
  Instruction& instruction = append(Code::RngAdvance, operands);
  const ValueId seed = add_scalar_result(instruction, ValueKind::Int);
  return {seed, add_scalar_result(instruction, ValueKind::Int)};
}

}  // namespace tsc::jit
