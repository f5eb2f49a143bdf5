#pragma once
// The objects of the re module: compiled patterns and matches, and the text they work on.
#include <memory>

#include "interpreter/heap/patience.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/modules/regex.h"
#include "interpreter/value/text_builder.h"

namespace tsc::interp {

// A str or bytes as the matcher reads it. Positions are code points (bytes of a bytes object).
struct RegexText {
  Value object;
  Value copy;  // of what is bytes-like: the bytes that are searched, which do not change
  bool bytes = false;
  std::basic_string<char32_t, std::char_traits<char32_t>, Counted<char32_t>> wide;  // of a str beyond ASCII
  regex::Subject subject;
  // The units [begin, end) as a value of the text's own type.
  Value piece(Vm& vm, int64_t begin, int64_t end) const;
  void append(TextBuilder& out, int64_t begin, int64_t end) const;  // as UTF-8 (or bytes)
};

struct PatternObject : Object {
  std::shared_ptr<const regex::Program> program;
  MemoryCharge charge;  // of the program
  Value pattern;
  bool bytes = false;
  PatternObject() : Object(Kind::Native) {}
};

struct MatchObject : Object {
  Local<PatternObject> pattern;
  std::shared_ptr<const RegexText> text;
  int64_t position = 0, end_position = 0;
  std::vector<int64_t> registers;
  MatchObject() : Object(Kind::Native) {}
  int64_t begin(uint32_t group) const { return registers[2 * group]; }
  int64_t end(uint32_t group) const { return registers[2 * group] < 0 ? -1 : registers[2 * group + 1]; }
};

// A piece of a replacement: text, or (group >= 0) what a group matched.
struct TemplatePart {
  std::string text;
  int64_t group = -1;
};

// The types and the cache of one Vm's re module.
struct ReState {
  Type* pattern_type = nullptr;
  Type* match_type = nullptr;
  Value error;              // the exception class, defined by re.tsc
  Local<DictObject> cache;  // (type, pattern, flags) -> PatternObject
  // The last longer text beyond ASCII: a program that goes through it match by match has it taken apart once.
  std::shared_ptr<const RegexText> last_text;
};
ReState& re_state(Vm& vm);

[[noreturn]] void raise_pattern_error(Vm& vm, const regex::PatternError& error, const Value& pattern);
std::shared_ptr<const RegexText> make_text(Vm& vm, const PatternObject* pattern, const Value& text);
// The next match, or null.
Local<MatchObject> find_match(Vm& vm, PatternObject* pattern, const std::shared_ptr<const RegexText>& text,
                              int64_t start, int64_t end, regex::Mode mode, int64_t not_empty_at = -1);
// Group number of an argument (an int or a name); IndexError "no such group".
uint32_t group_number(Vm& vm, const MatchObject* match, const Value& v);
Value group_value(Vm& vm, const MatchObject* match, uint32_t group, const Value& if_absent);

std::vector<TemplatePart> parse_template(Vm& vm, const PatternObject* pattern, const Value& text);
Value expand_template(Vm& vm, const MatchObject* match, const std::vector<TemplatePart>& parts);
// sub and subn: the new text and the number of replacements.
std::pair<Value, int64_t> substitute(Vm& vm, PatternObject* pattern, const Value& replacement, const Value& text,
                                     int64_t limit);
Value split_text(Vm& vm, PatternObject* pattern, const Value& text, int64_t limit);
Value find_all(Vm& vm, PatternObject* pattern, const Value& text, int64_t start, int64_t end);

}  // namespace tsc::interp
