// The text form of a region, read:
//   region   = "region" NAME "(" params ")" "{" line* "}"
//   params   = [ value ":" type { "," value ":" type } ]
//   type     = DTYPE "[" [ value { "," value } ] "]" | "int" | "float" | "bool" | "object"
//   line     = [ results "=" ] head [ ":" type { "," type } ] [ "@" N ] [ nested ] | "assume" v "==" v
//   nested   = "{" [ "(" params ")" ] line* "}" [ "else" "{" line* "}" ]
#include <charconv>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "jit/region/region.h"

namespace tsc::jit {
namespace {

struct Token {
  enum class Kind { End, Word, Value, Number, Punctuation } kind = Kind::End;
  std::string_view text;
  int line = 1;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next() {
    skip_space();
    if (at_ == text_.size()) return {Token::Kind::End, "", line_};
    const size_t start = at_;
    const auto kind = scan();
    return {kind, text_.substr(start, at_ - start), line_};
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  void skip_space() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
      line_ += text_[at_] == '\n';
      ++at_;
    }
  }
  Token::Kind scan() {
    const char c = text_[at_++];
    const char after = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '%') {
      while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
      return Token::Kind::Value;
    }
    if (is_digit(c) || (c == '-' && is_word(after))) {
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.' ||
                                    ((text_[at_] == '+' || text_[at_] == '-') && text_[at_ - 1] == 'e')))
        ++at_;
      return Token::Kind::Number;
    }
    if (is_word(c)) {
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '.')) ++at_;
      return Token::Kind::Word;
    }
    if (c == '=' && after == '=') ++at_;
    return Token::Kind::Punctuation;
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text) { advance(); }

  Region run() {
    expect("region");
    if (token_.text != "_") region_.name = token_.text;
    take(Token::Kind::Word, "a name");
    expect("(");
    parameters(region_.body.parameters);
    expect(")");
    expect("{");
    block(region_.body);
    expect("}");
    if (token_.kind != Token::Kind::End) fail("text after the region");
    return std::move(region_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) {
    throw Error(ErrorKind::ValueError, "region text, line " + std::to_string(token_.line) + ": " + reason + " (at '" +
                                           std::string(token_.text) + "')");
  }
  void advance() { token_ = lexer_.next(); }
  bool accept(std::string_view text) {
    if (token_.text != text || token_.kind == Token::Kind::End) return false;
    advance();
    return true;
  }
  void expect(std::string_view text) {
    if (!accept(text)) fail("expected '" + std::string(text) + "'");
  }
  std::string_view take(Token::Kind kind, const char* what) {
    if (token_.kind != kind) fail(std::string("expected ") + what);
    const auto text = token_.text;
    advance();
    return text;
  }
  int64_t integer() {
    const auto text = take(Token::Kind::Number, "a number");
    int64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) fail("bad integer");
    return value;
  }
  uint32_t id() {
    const int64_t value = integer();
    if (value < 0 || value > std::numeric_limits<uint32_t>::max()) fail("number out of range");
    return static_cast<uint32_t>(value);
  }

  ValueId define(std::string_view name, Type type = {}) {
    const ValueId value = region_.add_value(std::move(type));
    if (name.size() < 2) fail("expected a value");
    if (!values_.emplace(name, value).second) fail("defined twice: " + std::string(name));
    return value;
  }
  ValueId value() {
    const auto name = take(Token::Kind::Value, "a value");
    const auto found = values_.find(std::string(name));
    if (found == values_.end()) fail("not defined: " + std::string(name));
    return found->second;
  }
  void value_list(ValueList& list) {
    if (token_.kind != Token::Kind::Value) return;
    do list.push_back(value());
    while (accept(","));
  }

  Type type() {
    const auto word = take(Token::Kind::Word, "a type");
    if (word == "int") return {ValueKind::Int, {}, {}};
    if (word == "float") return {ValueKind::Float, {}, {}};
    if (word == "bool" && token_.text != "[") return {ValueKind::Bool, {}, {}};
    if (word == "object") return {ValueKind::Object, {}, {}};
    const auto dtype = dtype_from_name(word);
    if (!dtype) fail("no such type");
    Type type{ValueKind::Tensor, *dtype, {}};
    expect("[");
    while (token_.kind == Token::Kind::Value) {
      // A size that is not defined yet is defined here.
      const auto found = values_.find(std::string(token_.text));
      type.sizes.push_back(found != values_.end() ? found->second : define(token_.text, {ValueKind::Int, {}, {}}));
      advance();
      if (!accept(",")) break;
    }
    expect("]");
    return type;
  }
  void parameters(std::vector<ValueId>& list) {
    if (token_.kind != Token::Kind::Value) return;
    do {
      const ValueId parameter = define(token_.text);
      advance();
      expect(":");
      region_.type(parameter) = type();
      list.push_back(parameter);
    } while (accept(","));
  }

  Scalar number() {
    const auto kind = take(Token::Kind::Word, "int, float or bool");
    if (kind == "int") return Scalar::of_int(integer());
    if (kind == "bool") return Scalar::of_bool(take(Token::Kind::Word, "true or false") == "true");
    if (kind != "float") fail("expected int, float or bool");
    const auto text = token_.text;
    advance();
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc() || result.ptr != text.data() + text.size()) fail("bad float");
    return Scalar::of_float(value);
  }

  void op_operands(Instruction& instruction, std::string_view name) {
    const auto op = op_from_name(name);
    if (!op) fail("no such instruction: " + std::string(name));
    instruction.code = Code::Op;
    instruction.op = *op;
    value_list(instruction.operands);
    attributes(instruction);
  }
  void attributes(Instruction& instruction) {
    if (accept("axes")) {
      expect("=");
      expect("[");
      while (token_.kind == Token::Kind::Number) {
        instruction.attributes.axes.push_back(integer());
        if (!accept(",")) break;
      }
      expect("]");
    }
    if (accept("mode")) {
      expect("=");
      instruction.attributes.mode = integer();
    }
  }
  void numbered_list(Instruction& instruction) {
    expect("#");
    instruction.id = id();
    expect("(");
    value_list(instruction.operands);
    expect(")");
  }
  void scalar_operation(Instruction& instruction) {
    const auto name = take(Token::Kind::Word, "a scalar operation");
    for (int i = 0; i <= static_cast<int>(ScalarOp::select); ++i) {
      if (scalar_op_name(static_cast<ScalarOp>(i)) != name) continue;
      instruction.scalar_op = static_cast<ScalarOp>(i);
      value_list(instruction.operands);
      return;
    }
    fail("no such scalar operation: " + std::string(name));
  }

  void head(Instruction& instruction) {
    static constexpr std::pair<std::string_view, Code> kCodes[] = {{"const", Code::Const},
                                                                   {"scalar", Code::Scalar},
                                                                   {"read", Code::Read},
                                                                   {"host", Code::Host},
                                                                   {"guard", Code::Guard},
                                                                   {"exit", Code::Exit},
                                                                   {"write_back", Code::WriteBack},
                                                                   {"rng_advance", Code::RngAdvance},
                                                                   {"if", Code::If},
                                                                   {"loop", Code::Loop},
                                                                   {"yield", Code::Yield},
                                                                   {"kernel", Code::Kernel}};
    const auto word = take(Token::Kind::Word, "an instruction");
    for (const auto& [name, code] : kCodes) {
      if (name != word) continue;
      instruction.code = code;
      if (code == Code::Const) {
        instruction.number = number();
      } else if (code == Code::Scalar) {
        scalar_operation(instruction);
      } else if (code == Code::Host || code == Code::Exit || code == Code::Kernel ||
                 ((code == Code::Loop || code == Code::If) && token_.text == "#")) {
        numbered_list(instruction);
        if (code == Code::Loop) attributes(instruction);
      } else if (code == Code::Guard) {
        instruction.operands.push_back(value());
        expect("else");
        expect("exit");
        numbered_list(instruction);
      } else {
        value_list(instruction.operands);
        if (code == Code::WriteBack) instruction.id = accept("#") ? this->id() : 1;
        if (code == Code::Loop) attributes(instruction);
      }
      return;
    }
    op_operands(instruction, word);
  }

  // Types after ":", or what the instruction itself says.
  std::vector<Type> result_types(const Instruction& instruction) {
    std::vector<Type> types;
    if (instruction.code == Code::RngAdvance) return std::vector<Type>(2);
    if (instruction.code == Code::Const) {
      const auto kind = instruction.number.kind;
      types.push_back({kind == Scalar::Kind::Int     ? ValueKind::Int
                       : kind == Scalar::Kind::Float ? ValueKind::Float
                                                     : ValueKind::Bool,
                       {},
                       {}});
      return types;
    }
    if (accept(":")) {
      do types.push_back(type());
      while (accept(","));
    }
    return types;
  }

  void nested(Instruction& instruction) {
    do {
      expect("{");
      instruction.blocks.push_back(std::make_unique<Block>());
      Block& inner = *instruction.blocks.back();
      if (accept("(")) {
        parameters(inner.parameters);
        expect(")");
      }
      block(inner);
      expect("}");
    } while (accept("else"));
  }

  void assumption() {
    const ValueId a = value();
    expect("==");
    const ValueId b = value();
    region_.assumptions.push_back({a, b});
  }

  void line(Block& block) {
    std::vector<std::string> names;
    if (token_.kind == Token::Kind::Value) {
      do names.emplace_back(take(Token::Kind::Value, "a value"));
      while (accept(","));
      expect("=");
    } else if (accept("assume")) {
      return assumption();
    }
    Instruction instruction;
    head(instruction);
    // Result names exist before their types, which may define sizes.
    for (const auto& name : names) instruction.results.push_back(define(name));
    std::vector<Type> types = result_types(instruction);
    if (types.size() != names.size()) fail("one type per result");
    if (!types.empty() && instruction.code == Code::Op && op_row(instruction.op).dtype_rule == DTypeRule::Attribute)
      instruction.attributes.dtype = types[0].dtype;
    for (size_t i = 0; i < types.size(); ++i) region_.type(instruction.results[i]) = std::move(types[i]);
    if (accept("@")) instruction.origin = id();
    if (token_.text == "{") nested(instruction);
    block.instructions.push_back(std::move(instruction));
  }

  void block(Block& block) {
    while (token_.text != "}" && token_.kind != Token::Kind::End) line(block);
  }

  Lexer lexer_;
  Token token_;
  Region region_;
  std::unordered_map<std::string, ValueId> values_;
};

}  // namespace

Region parse_region(std::string_view text) { return Parser(text).run(); }

}  // namespace tsc::jit
