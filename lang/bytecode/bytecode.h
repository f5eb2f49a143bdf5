#pragma once
// The compiled form of a script: one CodeObject per module, function, lambda, class body and
// generator expression; instructions over registers, described row by row in bytecode.def. Knows:
// instructions, constants, spans. Must not know: the syntax tree, values, frames. Keeps: a
// CodeObject never changes once the emitter has handed it out (the analyses computed on first
// demand are cached in it, thread-safely); inline caches are arrays that the VM keeps for itself.
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lang/source.h"
#include "runtime/base/error.h"
#include "runtime/base/hash.h"
#include "runtime/base/once.h"

namespace tsc::lang {

enum class Op : uint8_t {
#define OPCODE(name, a, b, c, effects, semantics) name,
#include "lang/bytecode/bytecode.def"
#undef OPCODE
};

inline constexpr size_t kOpCount = 0
#define OPCODE(name, a, b, c, effects, semantics) +1
#include "lang/bytecode/bytecode.def"
#undef OPCODE
    ;
static_assert(kOpCount <= 256);

// What bytecode.def says an operand is.
enum class OperandKind : uint8_t {
  None,
  Dst,
  Src,
  Upd,
  Out,
  Win,
  Const,
  Wide,
  Name,
  Site,
  Code,
  Shape,
  Free,
  Imm,
  Jump,
  Far
};

// Bits of an instruction's effect mask; the head of bytecode.def explains them.
enum Effect : uint8_t { kHost = 1, kWrite = 2, kIo = 4, kRaise = 8, kRandom = 16, kSync = 32, kCall = 64 };

struct OpInfo {
  std::string_view name;
  OperandKind a, b, c;
  uint8_t effects;
  std::string_view semantics;
};

const OpInfo& op_info(Op op);

enum InstructionFlag : uint8_t { kReleaseA = 1, kReleaseB = 2, kReleaseC = 4 };

struct Instruction {
  Op op = Op::Nop;
  uint8_t flags = 0;
  uint16_t a = 0, b = 0, c = 0;

  uint32_t mode() const { return flags >> 3; }
  // The Wide operand, and the Far one.
  uint32_t wide() const { return b | uint32_t{c} << 16; }
  int32_t far_distance() const { return static_cast<int32_t>(wide()); }
  int32_t near_distance() const { return static_cast<int16_t>(c); }
  bool operator==(const Instruction&) const = default;
};
static_assert(sizeof(Instruction) == 8);

enum class LiteralKind : uint8_t {
  None,
  False,
  True,
  Ellipsis,
  Int,
  Float,
  Imaginary,
  Str,
  Bytes,
  Tuple,
  Slice,
  BigInt
};

// A constant of the program. Equal literals of one CodeObject are one entry (1, 1.0 and True
// differ, and so do 0.0 and -0.0).
struct Literal {
  LiteralKind kind = LiteralKind::None;
  int64_t integer = 0;
  double real = 0;             // Float; of an Imaginary the part before its j
  std::string text;            // Str (UTF-8) and Bytes; of a BigInt the literal as it is written, without underscores
  std::vector<Literal> items;  // Tuple; of a Slice: start, stop, step, each None or an Int

  bool operator==(const Literal& other) const;
};

struct ParameterList {
  uint16_t positional_only = 0;  // the first of `positional`
  uint16_t positional = 0;       // all that a position may fill
  uint16_t keyword_only = 0;
  bool has_varargs = false;    // *args
  bool has_varkwargs = false;  // **kwargs
  // In the order of their registers: positional, keyword-only, *args, **kwargs.
  std::vector<std::string> names;
  uint32_t count() const { return static_cast<uint32_t>(names.size()); }
};

// A place that looks a name up: the VM keeps one inline cache per site, indexed as `sites`.
enum class SiteKind : uint8_t { Global, Name, Attribute, Method };
struct Site {
  SiteKind kind;
  uint32_t name;  // index into names
  bool operator==(const Site&) const = default;
};

// Values of a call: `positional` of them, then one for each keyword.
struct CallShape {
  uint16_t positional = 0;
  std::vector<uint32_t> keywords;  // indices into names
  uint32_t count() const { return positional + static_cast<uint32_t>(keywords.size()); }
  bool operator==(const CallShape&) const = default;
};

struct ExceptionEntry {
  uint32_t begin, end;   // instructions it protects, [begin, end)
  uint32_t handler;      // pc
  uint16_t reg;          // receives the exception
  uint16_t temporaries;  // this register and all above it become unbound (but `reg`)
  // The handler of a `finally` or a `with`, which runs whatever was raised and raises it again.
  bool is_cleanup = false;
};

// One statement of the source as emitted: instructions [begin, end), inner statements nested
// inside. A `finally` body is emitted once per way out, so one source statement may have several
// entries.
struct Statement {
  uint32_t begin, end;
  Span span;
  int32_t parent;  // index of the enclosing statement, or -1
};

// Where an instruction stands in the source; `anchor` is the part that gets ^^^ while the rest of
// `whole` gets ~~~ (empty: all of it gets ^^^).
struct InstructionSpan {
  Span whole, anchor;
};

// Annotations: called with a number it gives the value of one annotation. The first of its constants is the tuple of
// their names, that of one which may be passed by in a tuple of its own; `statements` has one entry for each.
enum class CodeKind : uint8_t { Module, Function, Lambda, ClassBody, GeneratorExpression, Annotations };

class ControlFlow;    // control_flow.h: basic blocks
class LivenessTable;  // liveness.h: live registers

struct CodeObject;

// The tables of a code that were not decoded yet: where they stand, and how to fill them in.
class StoredBody {
 public:
  virtual ~StoredBody() = default;
  virtual void fill(CodeObject& code) const = 0;
};

struct CodeObject {
  CodeKind kind = CodeKind::Module;
  bool is_generator = false;           // calling it makes a generator
  bool postpones_annotations = false;  // the text that it stands in imports that from __future__
  std::string name;                    // "f", "<lambda>", "<module>"
  std::string qualname;                // "Outer.method.<locals>.f"
  std::shared_ptr<const Source> source;
  Span span;  // of the whole definition
  uint32_t first_line = 1;
  bool has_docstring = false;
  // In `docstring_text`, or, of the program's own library, in bytes that outlive the code.
  std::string_view docstring;
  std::string docstring_text;
  void set_docstring(std::string_view text) {
    has_docstring = true;
    docstring_text = text;
    docstring = docstring_text;
  }

  ParameterList parameters;

  // Stored bytecode may be decoded in two steps: the members above are what a definition needs, those
  // below are there after whole() (see set_body).
  uint32_t register_count = 0;
  // Names of registers 0..; those beyond are temporaries. A name appears twice when a parameter
  // moves into a cell. Registers [cell_begin, cell_end) hold cells once the prologue has run.
  std::vector<std::string> register_names;
  uint32_t cell_begin = 0, cell_end = 0;
  std::vector<std::string> free_names;  // of the closure's cells, in order

  std::vector<Instruction> instructions;
  std::vector<InstructionSpan> spans;  // one per instruction
  std::vector<Literal> constants;
  std::vector<std::string> names;
  std::vector<Site> sites;
  std::vector<CallShape> call_shapes;
  std::vector<std::shared_ptr<const CodeObject>> codes;
  // Of a function: of kind Annotations, or null where it has none.
  std::shared_ptr<const CodeObject> annotations;
  std::vector<ExceptionEntry> exceptions;  // innermost first
  std::vector<Statement> statements;       // by begin; an outer statement before its inner ones

  CodeObject();
  ~CodeObject();
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;

  std::string_view file() const { return source ? source->name() : std::string_view("<unknown>"); }
  // 1-based line of an instruction; 0 when there is no source.
  uint32_t line_of(uint32_t pc) const;
  const std::string& site_name(uint32_t site) const { return names[sites[site].name]; }

  // The code, with every table. `body` is what still fills them in; without one nothing is missing.
  const CodeObject& whole() const {
    if (lacks_body_.load(std::memory_order_acquire)) fill_body();
    return *this;
  }
  void set_body(std::unique_ptr<const StoredBody> body) {
    body_ = std::move(body);
    lacks_body_ = body_ != nullptr;
  }

  // Analyses, made on first use and kept. They ask for the whole.
  const ControlFlow& control_flow() const;
  const LivenessTable& liveness() const;
  // Identity of what the code does: no spans, no file name, no annotations; nested codes included.
  Hash128 content_hash() const;

 private:
  mutable Once flow_once_, liveness_once_, hash_once_;
  mutable std::unique_ptr<const ControlFlow> flow_;
  mutable std::unique_ptr<const LivenessTable> liveness_;
  mutable Hash128 hash_;
  void fill_body() const;
  mutable Once body_once_;
  mutable std::atomic<bool> lacks_body_ = false;
  std::unique_ptr<const StoredBody> body_;
};

using CodeRef = std::shared_ptr<const CodeObject>;

// Number of registers that an Out operand writes and a Win operand consumes.
uint32_t out_count(const Instruction& instruction);
uint32_t window_count(const CodeObject& code, const Instruction& instruction);

// True when the instruction may continue elsewhere than at pc + 1, and then where (not for
// Return...).
bool is_jump(Op op);
uint32_t jump_target(const Instruction& instruction, uint32_t pc);
// The instruction never continues at pc + 1: Jump, JumpBack, Return, ReturnNone and the raising
// ones.
bool ends_block(Op op);

// The innermost entry that protects pc, or null.
const ExceptionEntry* find_handler(const CodeObject& code, uint32_t pc);
// The innermost one among those of `finally` and `with`.
const ExceptionEntry* find_cleanup(const CodeObject& code, uint32_t pc);
// Index of the innermost statement that holds pc, or -1 (prologue).
int32_t statement_at(const CodeObject& code, uint32_t pc);

}  // namespace tsc::lang
