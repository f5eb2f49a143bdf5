// The identity of what a code object does: everything but spans, file name and docstrings' places.
#include <cstring>

#include "lang/bytecode/bytecode.h"

namespace tsc::lang {
namespace {

// Serialises into one byte string; every variable-length part carries its length.
class Writer {
 public:
  void number(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  void literal(const Literal& value) {
    number(static_cast<uint64_t>(value.kind));
    number(static_cast<uint64_t>(value.integer));
    uint64_t bits;
    std::memcpy(&bits, &value.real, sizeof bits);
    number(bits);
    text(value.text);
    number(value.items.size());
    for (const Literal& item : value.items) literal(item);
  }
  void instruction(const Instruction& value) {
    uint64_t word = 0;
    word |= static_cast<uint64_t>(value.op) | static_cast<uint64_t>(value.flags) << 8;
    word |= static_cast<uint64_t>(value.a) << 16 | static_cast<uint64_t>(value.b) << 32;
    word |= static_cast<uint64_t>(value.c) << 48;
    number(word);
  }
  std::string_view bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

void write_signature(Writer& out, const CodeObject& code) {
  out.number(static_cast<uint64_t>(code.kind));
  out.number(code.is_generator);
  out.text(code.qualname);
  out.text(code.docstring);
  const ParameterList& parameters = code.parameters;
  out.number(parameters.positional_only);
  out.number(parameters.positional);
  out.number(parameters.keyword_only);
  out.number(parameters.has_varargs);
  out.number(parameters.has_varkwargs);
  for (const std::string& name : parameters.names) out.text(name);
  out.number(code.register_count);
  out.number(code.cell_begin);
  out.number(code.cell_end);
  for (const std::string& name : code.free_names) out.text(name);
}

void write_body(Writer& out, const CodeObject& code) {
  out.number(code.instructions.size());
  for (const Instruction& instruction : code.instructions) out.instruction(instruction);
  out.number(code.constants.size());
  for (const Literal& constant : code.constants) out.literal(constant);
  for (const std::string& name : code.names) out.text(name);
  for (const Site& site : code.sites) {
    out.number(static_cast<uint64_t>(site.kind));
    out.number(site.name);
  }
  for (const CallShape& shape : code.call_shapes) {
    out.number(shape.positional);
    out.number(shape.keywords.size());
    for (uint32_t name : shape.keywords) out.number(name);
  }
  for (const ExceptionEntry& entry : code.exceptions) {
    out.number(entry.begin);
    out.number(entry.end);
    out.number(entry.handler);
    out.number(entry.reg);
    out.number(entry.temporaries);
    out.number(entry.is_cleanup);
  }
}

}  // namespace

Hash128 CodeObject::content_hash() const {
  hash_once_.call([this] {
    Writer out;
    whole();
    write_signature(out, *this);
    write_body(out, *this);
    for (const auto& inner : codes) {
      Hash128 hash = inner->content_hash();
      out.number(hash.high);
      out.number(hash.low);
    }
    hash_ = hash_bytes(out.bytes());
  });
  return hash_;
}

}  // namespace tsc::lang
