#include "lang/bytecode/disassemble.h"

#include <charconv>
#include <cmath>

namespace tsc::lang {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (c == '\r') out += "\\r";
    else if (c == '\'' || c == '\\') (out += '\\') += c;
    else if (static_cast<unsigned char>(c) < 32) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "\\x";
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[c & 15];
    } else out += c;
  }
  return out + "'";
}

std::string real_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[40];
  auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, result.ptr);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string items_text(const std::vector<Literal>& items, const char* separator) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i) out += separator;
    out += literal_text(items[i]);
  }
  return out;
}

// The name a register has in the source, or rN.
std::string register_text(const CodeObject& code, uint32_t reg) {
  std::string out = "r" + std::to_string(reg);
  if (reg < code.register_names.size() && !code.register_names[reg].empty()) {
    out += ":" + code.register_names[reg];
  }
  return out;
}

std::string shape_text(const CodeObject& code, const CallShape& shape) {
  std::string out = "(" + std::to_string(shape.positional);
  for (uint32_t name : shape.keywords) out += " " + code.names[name] + "=";
  return out + ")";
}

std::string operand_text(const CodeObject& code, const Instruction& instruction, OperandKind kind, uint32_t value,
                         bool released, uint32_t pc) {
  switch (kind) {
    case OperandKind::None: return "";
    case OperandKind::Dst:
    case OperandKind::Upd: return register_text(code, value);
    case OperandKind::Src: return register_text(code, value) + (released ? "!" : "");
    case OperandKind::Out: return register_text(code, value) + ".." + std::to_string(out_count(instruction));
    case OperandKind::Win: return register_text(code, value) + ".." + std::to_string(window_count(code, instruction));
    case OperandKind::Const: return literal_text(code.constants[value]);
    case OperandKind::Wide: return literal_text(code.constants[instruction.wide()]);
    case OperandKind::Name: return "'" + code.names[value] + "'";
    case OperandKind::Site: return "'" + code.site_name(value) + "'";
    case OperandKind::Code: return "<" + code.codes[value]->qualname + ">";
    case OperandKind::Shape: return shape_text(code, code.call_shapes[value]);
    case OperandKind::Free: return "free:" + code.free_names[value];
    case OperandKind::Imm: return "#" + std::to_string(value);
    case OperandKind::Jump:
    case OperandKind::Far: return "-> " + std::to_string(jump_target(instruction, pc));
  }
  return "";
}

void append_code(std::string& out, const CodeObject& code) {
  out += "code " + code.qualname + " (" + std::string(code.file()) + ":" + std::to_string(code.first_line) + ")" +
         (code.is_generator ? " generator" : "") + ", " + std::to_string(code.register_count) + " registers\n";
  uint32_t line = 0;
  for (uint32_t pc = 0; pc < code.instructions.size(); ++pc) {
    uint32_t here = code.line_of(pc);
    std::string margin = here && here != line ? std::to_string(here) : "";
    if (here) line = here;
    std::string number = std::to_string(pc);
    out += std::string(margin.size() < 5 ? 5 - margin.size() : 0, ' ') + margin +
           std::string(number.size() < 6 ? 6 - number.size() : 0, ' ') + number + "  " +
           disassemble_instruction(code, pc) + "\n";
  }
  for (const ExceptionEntry& entry : code.exceptions) {
    out += "  except [" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + ") -> " +
           std::to_string(entry.handler) + ", exception in " + register_text(code, entry.reg) + ", temporaries from r" +
           std::to_string(entry.temporaries) + "\n";
  }
  for (const auto& inner : code.codes) {
    out += "\n";
    append_code(out, inner->whole());
  }
}

}  // namespace

std::string literal_text(const Literal& literal) {
  switch (literal.kind) {
    case LiteralKind::None: return "None";
    case LiteralKind::False: return "False";
    case LiteralKind::True: return "True";
    case LiteralKind::Ellipsis: return "...";
    case LiteralKind::Int: return std::to_string(literal.integer);
    case LiteralKind::BigInt: return literal.text;
    case LiteralKind::Float: return real_text(literal.real);
    case LiteralKind::Imaginary: return real_text(literal.real) + "j";
    case LiteralKind::Str: return quoted(literal.text);
    case LiteralKind::Bytes: return "b" + quoted(literal.text);
    case LiteralKind::Tuple: return "(" + items_text(literal.items, ", ") + (literal.items.size() == 1 ? ",)" : ")");
    case LiteralKind::Slice: return "slice(" + items_text(literal.items, ", ") + ")";
  }
  return "";
}

std::string disassemble_instruction(const CodeObject& code, uint32_t pc) {
  const Instruction& instruction = code.instructions[pc];
  const OpInfo& info = op_info(instruction.op);
  std::string out(info.name);
  if (instruction.mode()) out += "." + std::to_string(instruction.mode());
  out.append(out.size() < 18 ? 18 - out.size() : 1, ' ');
  const OperandKind kinds[] = {info.a, info.b, info.c};
  const uint32_t values[] = {instruction.a, instruction.b, instruction.c};
  bool first = true;
  for (int i = 0; i < 3; ++i) {
    if (kinds[i] == OperandKind::None) continue;
    if (!first) out += ", ";
    first = false;
    out += operand_text(code, instruction, kinds[i], values[i], instruction.flags >> i & 1, pc);
  }
  return out;
}

std::string disassemble(const CodeObject& code) {
  std::string out;
  append_code(out, code);
  return out;
}

}  // namespace tsc::lang
