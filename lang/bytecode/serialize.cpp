#include "lang/bytecode/serialize.h"

#include <cstring>
#include <utility>

#include "lang/ast.h"  // kMaxDepth: codes and constants nest as deep as a tree may
#include "lang/bytecode/disassemble.h"
#include "runtime/base/byte_stream.h"

namespace tsc::lang {
namespace {

constexpr std::string_view kMagic = "TSCB";
// Raised with every change of the layout below.
constexpr uint64_t kFormatVersion = 5;
// Magic, format, hash of the source, hash of the rest.
constexpr size_t kHeaderBytes = 4 + 8 + 16 + 16;
// Longer texts that stand in the source, as docstrings do, are a place there.
constexpr size_t kShortText = 12;

// Instructions are numbers into bytecode.def: a change of a row makes another format.
constexpr uint64_t instruction_set() {
  constexpr std::string_view rows =
#define OPCODE(name, a, b, c, effects, semantics) #name " " #a " " #b " " #c "\n"
#include "lang/bytecode/bytecode.def"
#undef OPCODE
      ;
  uint64_t hash = 0xCBF29CE484222325ull;  // FNV-1a
  for (char c : rows) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3ull;
  return hash;
}
constexpr uint64_t kFormat = instruction_set() + kFormatVersion;

class Writer {
 public:
  // The signature, then the rest behind its length, so that a reader may come back for it.
  void code(const CodeObject& code) {
    code.whole();
    signature(code);
    ByteWriter outer = std::exchange(out_, ByteWriter());
    body(code);
    ByteWriter inner = std::exchange(out_, std::move(outer));
    out_.number(inner.bytes().size());
    out_.raw(inner.bytes());
    last_ = code.span.begin;
  }

  std::string payload(std::string_view source) const {
    ByteWriter head;
    head.number(texts_.texts().size());
    for (const std::string& text : texts_.texts()) {
      size_t place = text.size() > kShortText ? source.find(text) : std::string_view::npos;
      const bool stands_in_source = place != std::string_view::npos;
      head.number(text.size() << 1 | stands_in_source);
      if (stands_in_source) head.number(place);
      else head.raw(text);
    }
    return head.bytes() + out_.bytes();
  }

 private:
  void body(const CodeObject& code) {
    last_ = code.span.begin;
    frame(code);
    names(code.names);
    instructions(code);
    out_.number(code.constants.size());
    for (const Literal& constant : code.constants) literal(constant);
    tables(code);
    out_.number(code.codes.size());
    for (const CodeRef& inner : code.codes) this->code(*inner);
    out_.byte(code.annotations != nullptr);
    if (code.annotations) this->code(*code.annotations);
  }

  void text(const std::string& value) { out_.number(texts_.number_of(value)); }
  void names(const std::vector<std::string>& values) {
    out_.number(values.size());
    for (const std::string& value : values) text(value);
  }

  // Spans lie close to the one before.
  void span(Span value) {
    out_.difference(int64_t{value.begin} - int64_t{last_});
    out_.difference(int64_t{value.end} - int64_t{value.begin});
    last_ = value.begin;
  }

  void signature(const CodeObject& code) {
    out_.byte(static_cast<uint8_t>(code.kind));
    out_.byte(static_cast<uint8_t>(code.is_generator | code.has_docstring << 1 | code.parameters.has_varargs << 2 |
                                   code.parameters.has_varkwargs << 3 | code.postpones_annotations << 4));
    text(code.name);
    text(code.qualname);
    if (code.has_docstring) text(std::string(code.docstring));
    span(code.span);
    out_.number(code.first_line);
    out_.number(code.parameters.positional_only);
    out_.number(code.parameters.positional);
    out_.number(code.parameters.keyword_only);
    names(code.parameters.names);
  }

  void frame(const CodeObject& code) {
    out_.number(code.register_count);
    names(code.register_names);
    out_.number(code.cell_begin);
    out_.number(code.cell_end);
    names(code.free_names);
  }

  void instructions(const CodeObject& code) {
    out_.number(code.instructions.size());
    for (const Instruction& instruction : code.instructions) {
      out_.byte(static_cast<uint8_t>(instruction.op));
      out_.byte(instruction.flags);
      for (uint16_t operand : {instruction.a, instruction.b, instruction.c}) out_.number(operand);
    }
    for (const InstructionSpan& place : code.spans) {
      span(place.whole);
      const bool has_anchor = !(place.anchor == Span{});
      out_.byte(has_anchor);
      if (!has_anchor) continue;
      span(place.anchor);
      last_ = place.whole.begin;
    }
  }

  void literal(const Literal& value) {
    out_.byte(static_cast<uint8_t>(value.kind));
    if (value.kind == LiteralKind::Int) out_.difference(value.integer);
    if (value.kind == LiteralKind::Float || value.kind == LiteralKind::Imaginary) {
      uint64_t bits;
      std::memcpy(&bits, &value.real, sizeof bits);
      out_.fixed64(bits);
    }
    if (value.kind == LiteralKind::Str || value.kind == LiteralKind::Bytes || value.kind == LiteralKind::BigInt)
      text(value.text);
    if (value.kind == LiteralKind::Tuple || value.kind == LiteralKind::Slice) {
      out_.number(value.items.size());
      for (const Literal& item : value.items) literal(item);
    }
  }

  void tables(const CodeObject& code) {
    out_.number(code.sites.size());
    for (const Site& site : code.sites) {
      out_.byte(static_cast<uint8_t>(site.kind));
      out_.number(site.name);
    }
    out_.number(code.call_shapes.size());
    for (const CallShape& shape : code.call_shapes) {
      out_.number(shape.positional);
      out_.number(shape.keywords.size());
      for (uint32_t name : shape.keywords) out_.number(name);
    }
    out_.number(code.exceptions.size());
    for (const ExceptionEntry& entry : code.exceptions) {
      for (uint32_t value : {entry.begin, entry.end, entry.handler}) out_.number(value);
      out_.number(entry.reg);
      out_.number(entry.temporaries);
      out_.number(entry.is_cleanup);
    }
    out_.number(code.statements.size());
    for (const Statement& statement : code.statements) {
      out_.number(statement.begin);
      out_.number(statement.end);
      span(statement.span);
      out_.difference(statement.parent);
    }
  }

  ByteWriter out_;
  TextNumbers texts_;
  uint32_t last_ = 0;
};

// What all codes of a module share.
struct StoredModule {
  std::shared_ptr<const Source> source;
  std::vector<std::string_view> texts;
  // Made by this program's build: not verified, inner codes decoded on demand.
  bool own = false;
};

class Reader {
 public:
  Reader(std::string_view bytes, std::shared_ptr<const StoredModule> module) : in_(bytes), module_(std::move(module)) {}

  // The whole payload: the table of texts, then the module's code.
  static Reader of_payload(std::string_view payload, std::shared_ptr<const Source> source, bool own) {
    auto module = std::make_shared<StoredModule>();
    module->source = std::move(source);
    module->own = own;
    Reader reader(payload, module);
    size_t count = reader.in_.count(1);
    module->texts.reserve(count);
    for (size_t i = 0; i < count; ++i) module->texts.push_back(reader.listed_text());
    return reader;
  }

  CodeRef module() {
    std::shared_ptr<CodeObject> made = code(0);
    if (in_.left() != 0) in_.fail("bytes follow its end");
    return in_.failed() ? nullptr : made;
  }
  std::string fault() const { return in_.fault() ? in_.fault() : ""; }

  // The tables behind the signature, which are all of the bytes.
  void body(CodeObject& code, uint32_t depth) {
    last_ = code.span.begin;
    frame(code);
    names(code.names);
    instructions(code);
    size_t constants = in_.count(1);
    code.constants.reserve(constants);
    for (size_t i = 0; i < constants; ++i) code.constants.push_back(literal(0));
    calls(code);
    ranges(code);
    size_t codes = in_.count(1);
    code.codes.reserve(codes);
    for (size_t i = 0; i < codes && !in_.failed(); ++i) code.codes.push_back(this->code(depth + 1));
    if (in_.byte() && !in_.failed()) code.annotations = this->code(depth + 1);
    if (in_.left() != 0) in_.fail("bytes follow the end of a code");
    if (!module_->own && !in_.failed() && !verify_references(code).empty())
      in_.fail("an instruction refers to what is not there");
  }

 private:
  std::shared_ptr<CodeObject> code(uint32_t depth) {
    auto made = std::make_shared<CodeObject>();
    made->source = module_->source;
    if (depth > kMaxDepth) in_.fail("codes are nested too deeply");
    signature(*made);
    std::string_view bytes = in_.raw(in_.count(1));
    if (in_.failed()) return made;
    if (module_->own && depth > 0) {
      made->set_body(std::make_unique<Body>(module_, bytes));
      return made;
    }
    Reader inner(bytes, module_);
    inner.body(*made, depth);
    if (inner.in_.failed()) in_.fail(inner.in_.fault());
    return made;
  }

  class Body final : public StoredBody {
   public:
    Body(std::shared_ptr<const StoredModule> module, std::string_view bytes)
        : module_(std::move(module)), bytes_(bytes) {}
    void fill(CodeObject& code) const override {
      empty(code);  // an earlier try may have run out of memory half way
      Reader reader(bytes_, module_);
      reader.body(code, 1);
      TSC_CHECK(!reader.in_.failed(), "the stored library is damaged");
    }

   private:
    static void empty(CodeObject& code) {
      for (std::vector<std::string>* texts : {&code.register_names, &code.free_names, &code.names}) texts->clear();
      code.instructions.clear();
      code.spans.clear();
      code.constants.clear();
      code.sites.clear();
      code.call_shapes.clear();
      code.codes.clear();
      code.annotations.reset();
      code.exceptions.clear();
      code.statements.clear();
    }

    std::shared_ptr<const StoredModule> module_;
    std::string_view bytes_;
  };

  std::string_view listed_text() {
    uint64_t number = in_.number();
    const size_t size = number >> 1;
    if (!(number & 1)) return in_.raw(size);
    std::string_view source = module_->source->text();
    const size_t place = in_.number();
    if (place <= source.size() && size <= source.size() - place) return source.substr(place, size);
    in_.fail("a text lies outside the source");
    return {};
  }

  std::string_view text() {
    size_t index = in_.number();
    if (index < module_->texts.size()) return module_->texts[index];
    in_.fail("a text is missing");
    return {};
  }

  void names(std::vector<std::string>& out) {
    size_t count = in_.count(1);
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) out.emplace_back(text());
  }

  Span span() {
    int64_t begin = static_cast<int64_t>(last_ + static_cast<uint64_t>(in_.difference()));
    uint64_t end = static_cast<uint64_t>(begin) + static_cast<uint64_t>(in_.difference());
    bool fits = begin >= 0 && begin <= int64_t{UINT32_MAX} && end <= UINT32_MAX;
    if (!fits) return in_.fail("a place lies outside any source"), Span{};
    last_ = static_cast<uint32_t>(begin);
    return {last_, static_cast<uint32_t>(end)};
  }

  void signature(CodeObject& code) {
    uint8_t kind = in_.byte(), flags = in_.byte();
    if (kind > static_cast<uint8_t>(CodeKind::Annotations) || flags > 31) in_.fail("an unknown kind of code");
    code.kind = static_cast<CodeKind>(kind);
    code.is_generator = flags & 1;
    code.has_docstring = flags & 2;
    code.postpones_annotations = flags & 16;
    code.name = text();
    code.qualname = text();
    if (code.has_docstring && module_->own) code.docstring = text();
    else if (code.has_docstring) code.set_docstring(text());
    code.span = span();
    code.first_line = in_.number_as<uint32_t>();
    ParameterList& parameters = code.parameters;
    parameters.has_varargs = flags & 4;
    parameters.has_varkwargs = flags & 8;
    parameters.positional_only = in_.number_as<uint16_t>();
    parameters.positional = in_.number_as<uint16_t>();
    parameters.keyword_only = in_.number_as<uint16_t>();
    names(parameters.names);
    last_ = code.span.begin;
  }

  void frame(CodeObject& code) {
    code.register_count = in_.number_as<uint32_t>();
    names(code.register_names);
    code.cell_begin = in_.number_as<uint32_t>();
    code.cell_end = in_.number_as<uint32_t>();
    names(code.free_names);
  }

  void instructions(CodeObject& code) {
    // Five bytes of its own, three of its place.
    size_t count = in_.count(8);
    code.instructions.resize(count);
    for (Instruction& instruction : code.instructions) {
      instruction.op = static_cast<Op>(in_.byte());
      instruction.flags = in_.byte();
      instruction.a = in_.number_as<uint16_t>();
      instruction.b = in_.number_as<uint16_t>();
      instruction.c = in_.number_as<uint16_t>();
    }
    code.spans.resize(count);
    for (InstructionSpan& place : code.spans) {
      place.whole = span();
      if (!in_.byte()) continue;
      place.anchor = span();
      last_ = place.whole.begin;
    }
  }

  Literal literal(uint32_t depth) {
    Literal value;
    uint8_t kind = in_.byte();
    if (kind > static_cast<uint8_t>(LiteralKind::BigInt)) in_.fail("an unknown kind of constant");
    if (depth > kMaxDepth) in_.fail("constants are nested too deeply");
    if (in_.failed()) return value;
    value.kind = static_cast<LiteralKind>(kind);
    if (value.kind == LiteralKind::Int) value.integer = in_.difference();
    if (value.kind == LiteralKind::Float || value.kind == LiteralKind::Imaginary) {
      uint64_t bits = in_.fixed64();
      std::memcpy(&value.real, &bits, sizeof bits);
    }
    if (value.kind == LiteralKind::Str || value.kind == LiteralKind::Bytes || value.kind == LiteralKind::BigInt)
      value.text = text();
    if (value.kind == LiteralKind::Tuple || value.kind == LiteralKind::Slice) {
      size_t count = in_.count(1);
      if (value.kind == LiteralKind::Slice && count != 3) in_.fail("a slice has three parts");
      for (size_t i = 0; i < count && !in_.failed(); ++i) value.items.push_back(literal(depth + 1));
    }
    return value;
  }

  void calls(CodeObject& code) {
    size_t sites = in_.count(2);
    code.sites.reserve(sites);
    for (size_t i = 0; i < sites; ++i) {
      uint8_t kind = in_.byte();
      if (kind > static_cast<uint8_t>(SiteKind::Method)) in_.fail("an unknown kind of site");
      code.sites.push_back({static_cast<SiteKind>(kind), in_.number_as<uint32_t>()});
    }
    size_t shapes = in_.count(2);
    code.call_shapes.resize(shapes);
    for (CallShape& shape : code.call_shapes) {
      shape.positional = in_.number_as<uint16_t>();
      size_t keywords = in_.count(1);
      for (size_t i = 0; i < keywords; ++i) shape.keywords.push_back(in_.number_as<uint32_t>());
    }
  }

  void ranges(CodeObject& code) {
    size_t exceptions = in_.count(6);
    code.exceptions.resize(exceptions);
    for (ExceptionEntry& entry : code.exceptions) {
      entry.begin = in_.number_as<uint32_t>();
      entry.end = in_.number_as<uint32_t>();
      entry.handler = in_.number_as<uint32_t>();
      entry.reg = in_.number_as<uint16_t>();
      entry.temporaries = in_.number_as<uint16_t>();
      entry.is_cleanup = in_.number_as<uint8_t>() != 0;
    }
    size_t statements = in_.count(5);
    code.statements.resize(statements);
    for (Statement& statement : code.statements) {
      statement.begin = in_.number_as<uint32_t>();
      statement.end = in_.number_as<uint32_t>();
      statement.span = span();
      int64_t parent = in_.difference();
      if (parent < -1 || parent >= int64_t{INT32_MAX}) in_.fail("a statement's parent is missing");
      statement.parent = in_.failed() ? -1 : static_cast<int32_t>(parent);
    }
  }

  ByteReader in_;
  std::shared_ptr<const StoredModule> module_;
  uint32_t last_ = 0;
};

void write_hash(ByteWriter& out, Hash128 hash) {
  out.fixed64(hash.high);
  out.fixed64(hash.low);
}

Hash128 read_hash(ByteReader& in) {
  uint64_t high = in.fixed64();
  return {high, in.fixed64()};
}

}  // namespace

std::string serialize(const CodeObject& module) {
  TSC_CHECK(module.source != nullptr, "code without a source cannot be stored");
  Writer writer;
  writer.code(module);
  std::string payload = writer.payload(module.source->text());
  ByteWriter out;
  out.raw(kMagic);
  out.fixed64(kFormat);
  write_hash(out, hash_bytes(module.source->text()));
  write_hash(out, hash_bytes(payload));
  out.raw(payload);
  return out.bytes();
}

DeserializeResult deserialize(std::string_view bytes, std::shared_ptr<const Source> source) {
  if (bytes.size() < kHeaderBytes || bytes.substr(0, kMagic.size()) != kMagic)
    return {nullptr, "these bytes are no bytecode"};
  ByteReader header(bytes.substr(kMagic.size()));
  if (header.fixed64() != kFormat) return {nullptr, "the bytecode has another format or another instruction set"};
  if (!(read_hash(header) == hash_bytes(source->text())))
    return {nullptr, "the bytecode was made from another text than '" + source->name() + "'"};
  Hash128 checksum = read_hash(header);
  std::string_view payload = bytes.substr(kHeaderBytes);
  if (!(checksum == hash_bytes(payload)))
    return {nullptr, "the bytecode of '" + source->name() + "' is damaged: wrong checksum"};
  Reader reader = Reader::of_payload(payload, source, false);
  CodeRef code = reader.module();
  if (code) return {std::move(code), ""};
  return {nullptr, "the bytecode of '" + source->name() + "' is damaged: " + reader.fault()};
}

DeserializeResult deserialize_own(std::string_view bytes, std::shared_ptr<const Source> source) {
  if (bytes.size() < kHeaderBytes || bytes.substr(0, kMagic.size()) != kMagic ||
      ByteReader(bytes.substr(kMagic.size())).fixed64() != kFormat)
    return {nullptr, "these bytes are no bytecode of this program"};
  Reader reader = Reader::of_payload(bytes.substr(kHeaderBytes), std::move(source), true);
  CodeRef code = reader.module();
  return {std::move(code), reader.fault()};
}

}  // namespace tsc::lang
