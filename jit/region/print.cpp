// The text form of a region, written. Grammar: see parse.cpp.
#include <charconv>
#include <cmath>

#include "jit/region/value_map.h"

namespace tsc::jit {
namespace {

constexpr std::string_view kKindNames[] = {"tensor", "int", "float", "bool", "object"};

class Printer {
 public:
  explicit Printer(const Region& region) : region_(region) {}

  std::string run() {
    out_ = "region " + (region_.name.empty() ? std::string("_") : region_.name) + "(";
    parameters(region_.body.parameters);
    out_ += ") {\n";
    depth_ = 1;
    for (const auto& [a, b] : region_.assumptions) pending_.push_back({a, b});
    print_assumptions();
    print_block(region_.body);
    return out_ + "}\n";
  }

 private:
  // Numbers are given in order of definition, so equal regions print equally.
  std::string define(ValueId value) {
    numbers_.emplace(value, numbers_.size());
    return use(value);
  }
  std::string use(ValueId value) {
    const auto found = numbers_.find(value);
    return found == numbers_.end() ? "%?" + std::to_string(value) : "%" + std::to_string(found->second);
  }
  std::string uses(std::span<const ValueId> values) {
    std::string text;
    for (ValueId value : values) text += (text.empty() ? "" : ", ") + use(value);
    return text;
  }
  // Printing a type names those sizes that it defines.
  std::string type(ValueId value) {
    const Type& type = region_.type(value);
    if (type.kind != ValueKind::Tensor) return std::string(kKindNames[int(type.kind)]);
    std::string sizes;
    for (ValueId size : type.sizes) {
      sizes += (sizes.empty() ? "" : ", ");
      sizes += numbers_.count(size) ? use(size) : define(size);
    }
    return std::string(dtype_short_name(type.dtype)) + "[" + sizes + "]";
  }
  std::string types(std::span<const ValueId> values) {
    std::string text;
    for (ValueId value : values) text += (text.empty() ? "" : ", ") + type(value);
    return text;
  }
  void parameters(std::span<const ValueId> values) {
    bool first = true;
    for (ValueId value : values) {
      out_ += first ? "" : ", ";
      first = false;
      const std::string name = define(value);
      out_ += name + ": " + type(value);
    }
  }
  void indent() { out_.append(2 * depth_, ' '); }

  // An assumption appears as soon as both of its values do.
  void print_assumptions() {
    std::erase_if(pending_, [&](const auto& pair) {
      if (!numbers_.count(pair.first) || !numbers_.count(pair.second)) return false;
      indent();
      out_ += "assume " + use(pair.first) + " == " + use(pair.second) + "\n";
      return true;
    });
  }

  static std::string number(const Scalar& scalar) {
    if (scalar.kind == Scalar::Kind::Int) return "int " + std::to_string(scalar.i);
    if (scalar.kind == Scalar::Kind::Bool) return scalar.i ? "bool true" : "bool false";
    if (std::isnan(scalar.f)) return std::signbit(scalar.f) ? "float -nan" : "float nan";
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, scalar.f).ptr;
    return "float " + std::string(digits, end);
  }

  std::string attributes(const Instruction& instruction) {
    std::string text;
    if (!instruction.attributes.axes.empty()) {
      text = " axes=[";
      for (size_t i = 0; i < instruction.attributes.axes.size(); ++i)
        text += (i ? ", " : "") + std::to_string(instruction.attributes.axes[i]);
      text += "]";
    }
    if (instruction.attributes.mode) text += " mode=" + std::to_string(instruction.attributes.mode);
    return text;
  }

  std::string head(const Instruction& instruction) {
    const auto arguments = uses(instruction.operands);
    const auto spaced = arguments.empty() ? arguments : " " + arguments;
    const std::string id = "#" + std::to_string(instruction.id);
    const std::span<const ValueId> operands = instruction.operands;
    switch (instruction.code) {
      case Code::Op: return std::string(op_name(instruction.op)) + spaced + attributes(instruction);
      case Code::Const: return "const " + number(instruction.number);
      case Code::Scalar: return "scalar " + std::string(scalar_op_name(instruction.scalar_op)) + spaced;
      case Code::Read: return "read" + spaced;
      case Code::Host: return "host " + id + "(" + arguments + ")";
      case Code::Guard: return "guard " + use(operands[0]) + " else exit " + id + "(" + uses(operands.subspan(1)) + ")";
      case Code::Exit: return "exit " + id + "(" + arguments + ")";
      case Code::WriteBack: return "write_back" + spaced + (instruction.id != 1 ? " " + id : "");
      case Code::RngAdvance: return "rng_advance" + spaced;
      case Code::If: return instruction.blocks.empty() ? "if " + id + "(" + arguments + ")" : "if" + spaced;
      case Code::Loop:
        return (instruction.blocks.empty() ? "loop " + id + "(" + arguments + ")" : "loop" + spaced) +
               attributes(instruction);
      case Code::Yield: return "yield" + spaced;
      case Code::Kernel: return "kernel " + id + "(" + arguments + ")";
    }
    return "?";
  }

  void print_nested(const Instruction& instruction) {
    bool first = true;
    for (const auto& block : instruction.blocks) {
      out_ += first ? " {" : "} else {";
      if (!block->parameters.empty()) {
        out_ += " (";
        parameters(block->parameters);
        out_ += ")";
      }
      out_ += "\n";
      first = false;
      ++depth_;
      print_block(*block);
      --depth_;
      indent();
    }
    out_ += "}";
  }

  void print_block(const Block& block) {
    for (const Instruction& instruction : block.instructions) {
      indent();
      const std::string text = head(instruction);
      for (size_t i = 0; i < instruction.results.size(); ++i) out_ += (i ? ", " : "") + define(instruction.results[i]);
      if (!instruction.results.empty()) out_ += " = ";
      out_ += text;
      const bool typed =
          !instruction.results.empty() && instruction.code != Code::Const && instruction.code != Code::RngAdvance;
      if (typed) out_ += " : " + types(instruction.results);
      if (instruction.origin) out_ += " @" + std::to_string(instruction.origin);
      if (!instruction.blocks.empty()) print_nested(instruction);
      out_ += "\n";
      print_assumptions();
    }
  }

  const Region& region_;
  std::string out_;
  size_t depth_ = 0;
  ValueMap<size_t> numbers_;
  std::vector<std::pair<ValueId, ValueId>> pending_;
};

}  // namespace

std::string print(const Region& region) { return Printer(region).run(); }

}  // namespace tsc::jit
