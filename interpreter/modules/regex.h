#pragma once
// Regular expressions with Python's syntax: pattern text -> tree -> program -> match.
// For: the re module. Knows: code points, nothing of the Vm (but a callback to be interrupted by).
// Keeps: matching backtracks in the order that Perl's and Python's engines do; once a match has taken
// many steps, states that failed are remembered, so that it ends in time proportional to
// pattern size x text length (patterns with back references excepted).
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tsc::interp::regex {

// The bits of Python's re flags.
enum Flag : uint32_t {
  kIgnoreCase = 2,
  kLocale = 4,
  kMultiLine = 8,
  kDotAll = 16,
  kUnicode = 32,
  kVerbose = 64,
  kAscii = 256,
};

// A pattern that is wrong: the message and the offset in code points.
struct PatternError {
  std::string message;
  int64_t position;
};

// A set of code points. Membership below 256 is a table that already holds case and negation.
struct CharSet {
  struct Range {
    uint32_t low, high;
  };
  std::vector<Range> ranges;
  std::string categories;  // of d D w W s S
  bool negated = false, ignore_case = false, ascii = false;
  std::bitset<256> low;
  bool contains(uint32_t c) const { return c < 256 ? low[c] : contains_slow(c); }
  bool contains_slow(uint32_t c) const;
  void finish();  // fills `low`
};

// clang-format off
enum class NodeKind : uint8_t {
  Empty, Char, Any, Set, Sequence, Alternation, Repeat, Group, Assertion, BackReference, Look, Atomic,
  Conditional,
};
// clang-format on
enum class Greed : uint8_t { Greedy, Lazy, Possessive };

struct Node {
  NodeKind kind = NodeKind::Empty;
  uint32_t value = 0;                 // Char: code point; Group: number (0: none); Set: index; Assertion: letter
  uint32_t flags = 0;                 // in force at this place
  uint32_t minimum = 0, maximum = 0;  // Repeat; kUnlimited
  Greed greed = Greed::Greedy;
  bool negated = false, behind = false;  // Look
  std::vector<std::unique_ptr<Node>> children;
};
constexpr uint32_t kUnlimited = 0xffffffffu;

struct Tree {
  std::unique_ptr<Node> root;
  std::vector<CharSet> sets;
  uint32_t groups = 0;  // without group 0
  std::map<std::string, uint32_t> names;
  uint32_t flags = 0;
  bool has_references = false;
};
// Throws PatternError. `bytes`: the pattern is bytes, one unit each.
Tree parse(const std::vector<uint32_t>& pattern, uint32_t flags, bool bytes);

enum class Op : uint8_t {
  Char,      // a: code point
  CharFold,  // a: lower-case code point
  Any,       // all but newline
  AnyAll,
  Set,          // a: index
  Split,        // tries a, then b
  Jump,         // a
  Save,         // register a
  LoopEnter,    // register a := position
  LoopCheck,    // register a == position: goes to b (out of the loop), else on
  Assert,       // a: letter
  Reference,    // a: group; b: fold case
  Look,         // body at pc + 1, ends with Accept; goes on at a. b: 1 negated; c: width + 1 when behind
  Atomic,       // body at pc + 1, ends with Accept; goes on at a
  Conditional,  // group a matched: on, else b
  Repeat,       // the next instruction (one unit) c times at least...; a: maximum, b: Greed
  Accept,
  Fail,
};
struct Instruction {
  Op op;
  uint32_t a = 0, b = 0, c = 0;
};

struct Program {
  std::vector<Instruction> code;
  std::vector<CharSet> sets;
  uint32_t groups = 0;
  uint32_t registers = 0;  // two per group (0 included), then the last group, then loops
  std::map<std::string, uint32_t> names;
  std::vector<std::string> group_names;  // by number, empty when none
  uint32_t flags = 0;
  bool has_references = false;
  std::vector<uint32_t> prefix;  // what every match begins with
  bool has_first = false;        // `first` says how a match may begin (below 256)
  std::bitset<256> first;
  uint32_t last_group_register() const { return 2 * (groups + 1); }
};
Program compile(Tree tree);

// A text of one-byte units (ASCII and bytes) or of code points.
struct Subject {
  const uint8_t* narrow = nullptr;
  const char32_t* wide = nullptr;
  int64_t length = 0;
};
enum class Mode { Match, FullMatch, Search };
// Registers of the first match in [start, end), or false. `interrupt` is called now and then and may
// throw. `not_empty_at`: a match that is empty at this place does not count (-1: none).
bool execute(const Program& program, const Subject& subject, int64_t start, int64_t end, Mode mode,
             int64_t not_empty_at, const std::function<void()>& interrupt, std::vector<int64_t>& registers);

// Character classes of str, shared by parser and matcher.
bool is_word(uint32_t c, bool ascii);
bool is_digit(uint32_t c, bool ascii);
bool is_space(uint32_t c, bool ascii);
uint32_t fold(uint32_t c, bool ascii);  // one for all that are the same where case does not count

}  // namespace tsc::interp::regex
