#include "jit/region/stored.h"

#include <bit>

namespace tsc::jit {
namespace {

// Blocks in blocks: what a region of a script never reaches.
constexpr int kMaxDepth = 1000;

class Writer {
 public:
  explicit Writer(ByteWriter& out) : out_(out) {}

  void type(const Type& type) {
    out_.byte(static_cast<uint8_t>(type.kind));
    if (type.kind != ValueKind::Tensor) return;
    out_.byte(static_cast<uint8_t>(type.dtype));
    write_values(type.sizes, out_);
  }

  void block(const Block& block) {
    write_values(block.parameters, out_);
    out_.number(block.instructions.size());
    for (const Instruction& one : block.instructions) instruction(one);
  }

 private:
  void instruction(const Instruction& one) {
    out_.byte(static_cast<uint8_t>(one.code));
    if (one.code == Code::Op) attributes(one);
    if (one.code == Code::Scalar) out_.byte(static_cast<uint8_t>(one.scalar_op));
    if (one.code == Code::Const) write_number(one.number, out_);
    if (one.code == Code::Loop) out_.difference(one.attributes.mode);
    write_values(one.operands, out_);
    write_values(one.results, out_);
    out_.number(one.id);
    out_.number(one.origin);
    out_.number(one.blocks.size());
    for (const auto& nested : one.blocks) block(*nested);
  }

  void attributes(const Instruction& one) {
    out_.byte(static_cast<uint8_t>(one.op));
    out_.byte(static_cast<uint8_t>(one.attributes.dtype));
    out_.difference(one.attributes.mode);
    out_.number(one.attributes.axes.size());
    for (int64_t axis : one.attributes.axes) out_.difference(axis);
  }

  ByteWriter& out_;
};

class Reader {
 public:
  Reader(ByteReader& in, size_t value_count) : in_(in), value_count_(value_count) {}

  Type type() {
    Type type;
    type.kind = read_enum(in_, ValueKind::Object);
    if (type.kind != ValueKind::Tensor) return type;
    type.dtype = read_enum(in_, kLastDType);
    type.sizes = read_values<ValueList>(in_, value_count_);
    return type;
  }

  void block(Block& block, int depth) {
    if (depth > kMaxDepth) return in_.fail("blocks are nested too deeply");
    block.parameters = read_values<std::vector<ValueId>>(in_, value_count_);
    block.instructions.resize(in_.count(kInstructionBytes));
    for (Instruction& one : block.instructions) instruction(one, depth);
  }

 private:
  static constexpr size_t kInstructionBytes = 6;  // the least one takes

  void instruction(Instruction& one, int depth) {
    one.code = read_enum(in_, Code::Kernel);
    if (one.code == Code::Op) attributes(one);
    if (one.code == Code::Scalar) one.scalar_op = read_enum(in_, ScalarOp::select);
    if (one.code == Code::Const) one.number = read_number(in_);
    if (one.code == Code::Loop) one.attributes.mode = in_.difference();
    one.operands = read_values<ValueList>(in_, value_count_);
    one.results = read_values<SmallVector<ValueId, 2>>(in_, value_count_);
    one.id = in_.number_as<uint32_t>();
    one.origin = in_.number_as<uint32_t>();
    for (size_t left = in_.count(2); left > 0; --left) {
      one.blocks.push_back(std::make_unique<Block>());
      block(*one.blocks.back(), depth + 1);
    }
  }

  void attributes(Instruction& one) {
    one.op = read_enum(in_, static_cast<Op>(op_rows().size() - 1));
    one.attributes.dtype = read_enum(in_, kLastDType);
    one.attributes.mode = in_.difference();
    for (size_t left = in_.count(1); left > 0; --left) one.attributes.axes.push_back(in_.difference());
  }

  ByteReader& in_;
  const size_t value_count_;
};

}  // namespace

void write_value(ValueId value, ByteWriter& out) { out.number(static_cast<ValueId>(value + 1)); }

ValueId read_value(ByteReader& in, size_t value_count, bool or_none) {
  const uint64_t number = in.number();
  if (number > value_count || (number == 0 && !or_none)) in.fail("there is no such value");
  return static_cast<ValueId>(number - 1);
}

void write_number(const Scalar& scalar, ByteWriter& out) {
  out.byte(static_cast<uint8_t>(scalar.kind));
  if (scalar.kind == Scalar::Kind::Float) out.fixed64(std::bit_cast<uint64_t>(scalar.f));
  else out.difference(scalar.i);
}

Scalar read_number(ByteReader& in) {
  Scalar scalar;
  scalar.kind = read_enum(in, Scalar::Kind::Bool);
  if (scalar.kind == Scalar::Kind::Float) scalar.f = std::bit_cast<double>(in.fixed64());
  else scalar.i = in.difference();
  return scalar;
}

void write_region(const Region& region, ByteWriter& out) {
  out.number(region.name.size());
  out.raw(region.name);
  Writer writer(out);
  out.number(region.value_count());
  for (ValueId value = 0; value < region.value_count(); ++value) writer.type(region.type(value));
  out.number(region.assumptions.size());
  for (const auto& [a, b] : region.assumptions) {
    write_value(a, out);
    write_value(b, out);
  }
  writer.block(region.body);
}

Region read_region(ByteReader& in) {
  Region region;
  region.name = in.raw(in.count(1));
  const size_t value_count = in.count(1);
  Reader reader(in, value_count);
  for (size_t i = 0; i < value_count; ++i) region.add_value(reader.type());
  for (size_t left = in.count(2); left > 0; --left) {
    const ValueId a = read_value(in, value_count), b = read_value(in, value_count);
    region.assumptions.push_back({a, b});
  }
  reader.block(region.body, 0);
  return region;
}

}  // namespace tsc::jit
