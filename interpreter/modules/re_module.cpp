// _re: the pattern and match types. re.tsc adds the flags' names and the error class.
#include "interpreter/modules/re_objects.h"
#include "interpreter/value/buffer.h"
#include "interpreter/vm/iteration.h"

namespace tsc::interp {
namespace {

const char kState = 0;
constexpr size_t kCacheSize = 512;

PatternObject* pattern_of(const Value& v) { return static_cast<PatternObject*>(v.object()); }
MatchObject* match_of(const Value& v) { return static_cast<MatchObject*>(v.object()); }
bool is_pattern(Vm& vm, const Value& v) { return v.is_object() && v.object()->type == re_state(vm).pattern_type; }

// --- compiling --------------------------------------------------------------------------------------

// About what a program takes.
size_t bytes_of(const regex::Program& program) {
  size_t bytes = sizeof program + program.code.capacity() * sizeof(regex::Instruction) +
                 program.sets.capacity() * sizeof(regex::CharSet) + program.prefix.capacity() * sizeof(uint32_t);
  for (const std::string& name : program.group_names) bytes += 4 * sizeof name + 2 * name.capacity();
  return bytes;
}

// Those that were given and those in the pattern together.
void check_flags(Vm& vm, uint32_t flags, bool bytes) {
  if (bytes && (flags & regex::kUnicode)) raise_value_error(vm, "cannot use UNICODE flag with a bytes pattern");
  if (!bytes && (flags & regex::kLocale)) raise_value_error(vm, "cannot use LOCALE flag with a str pattern");
  if (!(flags & regex::kAscii)) return;
  if (flags & regex::kUnicode) raise_value_error(vm, "ASCII and UNICODE flags are incompatible");
  if (flags & regex::kLocale) raise_value_error(vm, "ASCII and LOCALE flags are incompatible");
}

Value compile_new(Vm& vm, const Value& source, uint32_t flags) {
  const bool bytes = is_kind(source, Kind::Bytes);
  if (!bytes && !is_kind(source, Kind::Str)) {
    hash(vm, source);  // a bytearray is refused as what cannot be kept
    raise_type_error(vm, "first argument must be string or compiled pattern");
  }
  std::vector<uint32_t> units;
  std::string_view text = bytes ? byte_string(source) : cast<StrObject>(source)->view();
  for (size_t at = 0; at < text.size();)
    units.push_back(bytes ? static_cast<uint8_t>(text[at++]) : decode_utf8(text, at));
  Local<PatternObject> pattern = vm.heap().make<PatternObject>(re_state(vm).pattern_type);
  try {
    regex::Tree tree = regex::parse(units, flags, bytes);
    check_flags(vm, tree.flags, bytes);
    pattern->program = std::make_shared<regex::Program>(regex::compile(std::move(tree)));
  } catch (const regex::PatternError& error) {
    raise_pattern_error(vm, error, source);
  }
  pattern->charge = MemoryCharge(vm.heap(), bytes_of(*pattern->program));
  pattern->pattern = source;
  pattern->bytes = bytes;
  return pattern.take();
}

Value compile_cached(Vm& vm, const Value& source, const Value& flags_value) {
  int64_t flags = to_index(vm, flags_value);
  if (is_pattern(vm, source)) {
    if (flags) raise_value_error(vm, "cannot process flags argument with a compiled pattern");
    return source;
  }
  DictObject* cache = re_state(vm).cache;
  bool hashable = is_kind(source, Kind::Str) || is_kind(source, Kind::Bytes);
  Value key = source;
  if (flags || !is_kind(source, Kind::Str))
    key = make_tuple(vm, std::vector<Value>{source, Value::integer(flags)}).take();
  if (hashable)
    if (Value known = dict_get(vm, cache, key)) return known;
  Value made = compile_new(vm, source, static_cast<uint32_t>(flags));
  if (cache->table.size() >= kCacheSize) cache->table.clear();
  dict_set(vm, cache, key, made);
  return made;
}
Value compile(Vm& vm, Args& a) { return compile_cached(vm, a[0], a[1]); }
Value purge(Vm& vm, Args&) { return re_state(vm).cache->table.clear(), Value::none(); }
Value set_error(Vm& vm, Args& a) {
  re_state(vm).error = a[0];
  return Value::none();
}

// --- searching: methods of patterns, and functions that compile first -------------------------------

int64_t end_argument(Vm& vm, const Value& v) { return v ? to_index(vm, v) : INT64_MAX; }
Value search_with(Vm& vm, const Value& pattern, const Value& text, int64_t start, int64_t end, regex::Mode mode) {
  Local<PatternObject> kept(pattern_of(pattern));
  auto subject = make_text(vm, kept, text);
  Local<MatchObject> match = find_match(vm, kept, subject, start, end, mode);
  return match ? match.take() : Value::none();
}
template <regex::Mode mode>
Value method_search(Vm& vm, Args& a) {
  return search_with(vm, a[0], a[1], to_index(vm, a[2]), end_argument(vm, a[3]), mode);
}
template <regex::Mode mode>
Value function_search(Vm& vm, Args& a) {
  return search_with(vm, compile_cached(vm, a[0], a[2]), a[1], 0, INT64_MAX, mode);
}
Value method_findall(Vm& vm, Args& a) {
  Local<PatternObject> kept(pattern_of(a[0]));
  return find_all(vm, kept, a[1], to_index(vm, a[2]), end_argument(vm, a[3]));
}
Value function_findall(Vm& vm, Args& a) {
  Value pattern = compile_cached(vm, a[0], a[2]);
  return find_all(vm, pattern_of(pattern), a[1], 0, INT64_MAX);
}
Value pair_or_text(Vm& vm, std::pair<Value, int64_t> result, bool with_count) {
  if (!with_count) return result.first;
  return make_tuple(vm, std::vector<Value>{result.first, Value::integer(result.second)}).take();
}
template <bool with_count>
Value method_sub(Vm& vm, Args& a) {
  Local<PatternObject> kept(pattern_of(a[0]));
  return pair_or_text(vm, substitute(vm, kept, a[1], a[2], to_index(vm, a[3])), with_count);
}
template <bool with_count>
Value function_sub(Vm& vm, Args& a) {
  Value pattern = compile_cached(vm, a[0], a[4]);
  return pair_or_text(vm, substitute(vm, pattern_of(pattern), a[1], a[2], to_index(vm, a[3])), with_count);
}
Value method_split(Vm& vm, Args& a) {
  Local<PatternObject> kept(pattern_of(a[0]));
  return split_text(vm, kept, a[1], to_index(vm, a[2]));
}
Value function_split(Vm& vm, Args& a) {
  Value pattern = compile_cached(vm, a[0], a[3]);
  return split_text(vm, pattern_of(pattern), a[1], to_index(vm, a[2]));
}

struct MatchIterator final : NativeIterator {
  Local<PatternObject> pattern;
  std::shared_ptr<const RegexText> text;
  int64_t at = 0, end = 0, not_empty_at = -1;
  bool next(Vm& vm, Value& out) override {
    if (at > end) return false;
    Local<MatchObject> match = find_match(vm, pattern, text, at, end, regex::Mode::Search, not_empty_at);
    if (!match) {
      at = end + 1;
      return false;
    }
    at = match->end(0);
    not_empty_at = match->begin(0) == at ? at : -1;
    out = match.take();
    return true;
  }
  void traverse(Visitor& visit) override { visit(pattern.get()); }
};
const char kIteratorType = 0;
Value iterate_matches(Vm& vm, const Value& pattern, const Value& text, int64_t start, int64_t end) {
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kIteratorType));
  Local<MatchIterator> it = vm.heap().make<MatchIterator>(type);
  it->pattern = Local<PatternObject>(pattern_of(pattern));
  it->text = make_text(vm, it->pattern, text);
  it->end = std::clamp<int64_t>(end, 0, it->text->subject.length);
  it->at = std::max<int64_t>(0, start);
  return it.take();
}
Value method_finditer(Vm& vm, Args& a) {
  return iterate_matches(vm, a[0], a[1], to_index(vm, a[2]), end_argument(vm, a[3]));
}
Value function_finditer(Vm& vm, Args& a) {
  return iterate_matches(vm, compile_cached(vm, a[0], a[2]), a[1], 0, INT64_MAX);
}

// --- scanners: one match after the other, each where it is asked for or further on ---------------------

struct ScannerObject : Object {
  Local<PatternObject> pattern;
  std::shared_ptr<const RegexText> text;
  int64_t at = 0, end = 0, not_empty_at = -1;
  bool is_over = false;
  ScannerObject() : Object(Kind::Native) {}
};
ScannerObject* scanner_of(const Value& v) { return static_cast<ScannerObject*>(v.object()); }
const char kScannerType = 0;
template <regex::Mode kMode>
Value scanner_step(Vm& vm, Args& a) {
  const Local<ScannerObject> s(scanner_of(a[0]));
  if (s->is_over) return Value::none();
  Local<MatchObject> match = find_match(vm, s->pattern, s->text, s->at, s->end, kMode, s->not_empty_at);
  if (!match) {
    s->is_over = true;
    return Value::none();
  }
  s->at = match->end(0);
  s->not_empty_at = match->begin(0) == s->at ? s->at : -1;
  return match.take();
}
Value method_scanner(Vm& vm, Args& a) {
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kScannerType));
  Local<ScannerObject> s = vm.heap().make<ScannerObject>(type);
  s->pattern = Local<PatternObject>(pattern_of(a[0]));
  s->text = make_text(vm, s->pattern, a[1]);
  s->end = std::clamp<int64_t>(end_argument(vm, a[3]), 0, s->text->subject.length);
  s->at = std::max<int64_t>(0, to_index(vm, a[2]));
  s->is_over = s->at > s->end;
  return s.take();
}
Type* make_scanner_type(Vm& vm) {
  TypeBuilder b(vm, "SRE_Scanner", Kind::Native);
  b.slots().destroy = destroy_as<ScannerObject>;
  b.slots().traverse = [](Object* o, Visitor& visit) { visit(static_cast<ScannerObject*>(o)->pattern.get()); };
  b.module("_sre")
      .method("match", "self", scanner_step<regex::Mode::Match>)
      .method("search", "self", scanner_step<regex::Mode::Search>)
      .getter("pattern", [](Vm&, const Value& v) { return scanner_of(v)->pattern.value(); });
  return b.finish();
}

// --- the pattern type -------------------------------------------------------------------------------

struct FlagName {
  uint32_t flag;
  const char* name;
};
constexpr FlagName kFlagNames[] = {{regex::kIgnoreCase, "re.IGNORECASE"}, {regex::kLocale, "re.LOCALE"},
                                   {regex::kMultiLine, "re.MULTILINE"},   {regex::kDotAll, "re.DOTALL"},
                                   {regex::kVerbose, "re.VERBOSE"},       {regex::kAscii, "re.ASCII"}};
Value pattern_repr(Vm& vm, const Value& self) {
  PatternObject* p = pattern_of(self);
  std::string source = repr(vm, p->pattern), flags;
  if (source.size() > 200) source.resize(200);
  for (const FlagName& row : kFlagNames)
    if (p->program->flags & row.flag) flags += (flags.empty() ? "" : "|") + std::string(row.name);
  return str_value(vm, "re.compile(" + source + (flags.empty() ? "" : ", " + flags) + ")");
}
Value pattern_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  if (!is_pattern(vm, a) || !is_pattern(vm, b) || (op != CompareOp::Eq && op != CompareOp::Ne))
    return vm.not_implemented();
  bool same = pattern_of(a)->program->flags == pattern_of(b)->program->flags &&
              equal(vm, pattern_of(a)->pattern, pattern_of(b)->pattern);
  return Value::boolean(same == (op == CompareOp::Eq));
}
Value names_dict(Vm& vm, const Value& self) {
  Local<DictObject> dict = make_dict(vm);
  const auto& names = pattern_of(self)->program->group_names;
  for (size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty()) dict_set(vm, dict, names[i], Value::integer(static_cast<int64_t>(i)));
  return dict.take();
}
Value itself(Vm&, Args& a) { return a[0]; }

Type* make_pattern_type(Vm& vm) {
  TypeBuilder b(vm, "Pattern", Kind::Native);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<PatternObject>;
  s.repr = pattern_repr;
  s.compare = pattern_compare;
  s.hash = [](Vm& vm, const Value& v) { return static_cast<int64_t>(hash(vm, pattern_of(v)->pattern)); };
  const char* search = "self, string, pos=0, endpos=?";
  b.module("re")
      .method("match", search, method_search<regex::Mode::Match>)
      .method("fullmatch", search, method_search<regex::Mode::FullMatch>)
      .method("search", search, method_search<regex::Mode::Search>)
      .method("findall", search, method_findall)
      .method("finditer", search, method_finditer)
      .method("scanner", search, method_scanner)
      .method("sub", "self, repl, string, count=0", method_sub<false>)
      .method("subn", "self, repl, string, count=0", method_sub<true>)
      .method("split", "self, string, maxsplit=0", method_split)
      .method("__copy__", "self", itself)
      .method("__deepcopy__", "self, memo", itself)
      .getter("pattern", [](Vm&, const Value& v) { return pattern_of(v)->pattern; })
      .getter("flags", [](Vm&, const Value& v) { return Value::integer(pattern_of(v)->program->flags); })
      .getter("groups", [](Vm&, const Value& v) { return Value::integer(pattern_of(v)->program->groups); })
      .getter("groupindex", names_dict);
  return b.finish();
}

// --- the match type ---------------------------------------------------------------------------------

Value match_group(Vm& vm, Args& a) {
  MatchObject* m = match_of(a[0]);
  auto wanted = cast<TupleObject>(a[1])->span();
  if (wanted.empty()) return group_value(vm, m, 0, Value::none());
  if (wanted.size() == 1) return group_value(vm, m, group_number(vm, m, wanted[0]), Value::none());
  std::vector<Value> values;
  for (const Value& v : wanted) values.push_back(group_value(vm, m, group_number(vm, m, v), Value::none()));
  return make_tuple(vm, values).take();
}
Value match_groups(Vm& vm, Args& a) {
  MatchObject* m = match_of(a[0]);
  std::vector<Value> values;
  for (uint32_t g = 1; g <= m->pattern->program->groups; ++g) values.push_back(group_value(vm, m, g, a[1]));
  return make_tuple(vm, values).take();
}
Value match_groupdict(Vm& vm, Args& a) {
  MatchObject* m = match_of(a[0]);
  Local<DictObject> dict = make_dict(vm);
  const auto& names = m->pattern->program->group_names;
  for (uint32_t g = 1; g < names.size(); ++g)
    if (!names[g].empty()) dict_set(vm, dict, names[g], group_value(vm, m, g, a[1]));
  return dict.take();
}
Value match_start(Vm& vm, Args& a) {
  return Value::integer(match_of(a[0])->begin(group_number(vm, match_of(a[0]), a[1])));
}
Value match_end(Vm& vm, Args& a) { return Value::integer(match_of(a[0])->end(group_number(vm, match_of(a[0]), a[1]))); }
Value span_of(Vm& vm, const MatchObject* m, uint32_t g) {
  return make_tuple(vm, std::vector<Value>{Value::integer(m->begin(g)), Value::integer(m->end(g))}).take();
}
Value match_span(Vm& vm, Args& a) { return span_of(vm, match_of(a[0]), group_number(vm, match_of(a[0]), a[1])); }
Value match_expand(Vm& vm, Args& a) {
  MatchObject* m = match_of(a[0]);
  return expand_template(vm, m, parse_template(vm, m->pattern, a[1]));
}
Value match_item(Vm& vm, const Value& self, const Value& key) {
  return group_value(vm, match_of(self), group_number(vm, match_of(self), key), Value::none());
}
Value match_repr(Vm& vm, const Value& self) {
  MatchObject* m = match_of(self);
  std::string shown = repr(vm, group_value(vm, m, 0, Value::none()));
  return str_value(vm, "<re.Match object; span=(" + std::to_string(m->begin(0)) + ", " + std::to_string(m->end(0)) +
                           "), match=" + shown.substr(0, 50) + ">");
}
int64_t last_group(const Value& v) {
  MatchObject* m = match_of(v);
  return m->registers[m->pattern->program->last_group_register()];
}
Value last_index(Vm&, const Value& v) { return last_group(v) > 0 ? Value::integer(last_group(v)) : Value::none(); }
Value last_name(Vm& vm, const Value& v) {
  int64_t g = last_group(v);
  if (g <= 0) return Value::none();
  const std::string& name = match_of(v)->pattern->program->group_names[static_cast<size_t>(g)];
  return name.empty() ? Value::none() : str_value(vm, name);
}
Value match_regs(Vm& vm, const Value& v) {
  std::vector<Value> spans;
  for (uint32_t g = 0; g <= match_of(v)->pattern->program->groups; ++g) spans.push_back(span_of(vm, match_of(v), g));
  return make_tuple(vm, spans).take();
}

Type* make_match_type(Vm& vm) {
  TypeBuilder b(vm, "Match", Kind::Native);
  b.slots().destroy = destroy_as<MatchObject>;
  b.slots().repr = match_repr;
  b.slots().get_item = match_item;
  b.module("re")
      .method("group", "self, *groups", match_group)
      .method("groups", "self, default=None", match_groups)
      .method("groupdict", "self, default=None", match_groupdict)
      .method("start", "self, group=0, /", match_start)
      .method("end", "self, group=0, /", match_end)
      .method("span", "self, group=0, /", match_span)
      .method("expand", "self, template", match_expand)
      .method("__copy__", "self", itself)
      .method("__deepcopy__", "self, memo", itself)
      .getter("re", [](Vm&, const Value& v) { return match_of(v)->pattern.value(); })
      .getter("string", [](Vm&, const Value& v) { return match_of(v)->text->object; })
      .getter("pos", [](Vm&, const Value& v) { return Value::integer(match_of(v)->position); })
      .getter("endpos", [](Vm&, const Value& v) { return Value::integer(match_of(v)->end_position); })
      .getter("lastindex", last_index)
      .getter("lastgroup", last_name)
      .getter("regs", match_regs);
  return b.finish();
}

}  // namespace

ReState& re_state(Vm& vm) { return *static_cast<ReState*>(vm.extension(&kState).get()); }

void raise_pattern_error(Vm& vm, const regex::PatternError& error, const Value& pattern) {
  Value position = error.position < 0 ? Value::none() : Value::integer(error.position);
  Value made = call(vm, re_state(vm).error, {str_value(vm, error.message), pattern, position});
  throw ScriptException(Local<ExceptionObject>(cast<ExceptionObject>(made)));
}

Value RegexText::piece(Vm& vm, int64_t begin, int64_t end) const {
  if (begin == 0 && end == subject.length && (bytes || object.object()->type == vm.types().str))
    return bytes ? copy : object;
  if (!bytes && subject.narrow)
    return str_value(vm, {reinterpret_cast<const char*>(subject.narrow) + begin, static_cast<size_t>(end - begin)});
  TextBuilder out(vm);
  append(out, begin, end);
  return bytes ? out.bytes() : out.str();
}

void RegexText::append(TextBuilder& out, int64_t begin, int64_t end) const {
  if (subject.narrow) {
    out += std::string_view(reinterpret_cast<const char*>(subject.narrow) + begin, static_cast<size_t>(end - begin));
    return;
  }
  std::string one;
  Patience patience;
  for (int64_t i = begin; i < end; ++i) {
    patience.step();
    one.clear();
    append_utf8(one, subject.wide[i]);
    out += one;
  }
}

std::shared_ptr<const RegexText> make_text(Vm& vm, const PatternObject* pattern, const Value& value) {
  auto text = std::make_shared<RegexText>();
  text->object = value;
  text->bytes = Buffer::is_bytes_like(value);
  if (!text->bytes && !is_kind(value, Kind::Str))
    raise_type_error(vm, "expected string or bytes-like object, got '" + type_name(vm, value) + "'");
  if (pattern->bytes != text->bytes)
    raise_type_error(vm, text->bytes ? "cannot use a string pattern on a bytes-like object"
                                     : "cannot use a bytes pattern on a string-like object");
  if (text->bytes) {
    text->copy = as_bytes(vm, value);
    const std::string_view data = byte_string(text->copy);
    text->subject = {reinterpret_cast<const uint8_t*>(data.data()), nullptr, static_cast<int64_t>(data.size())};
    return text;
  }
  StrObject* s = cast<StrObject>(value);
  if (s->ascii) {
    text->subject = {reinterpret_cast<const uint8_t*>(s->text), nullptr, s->length};
    return text;
  }
  constexpr int64_t kLong = 64,
                    kLongest = 4 << 20;  // characters: shorter ones are quick, longer ones are not to be kept
  std::shared_ptr<const RegexText>& last = re_state(vm).last_text;
  if (last && last->object.is(value)) return last;
  text->wide.reserve(static_cast<size_t>(s->length));
  Patience patience;
  for (size_t at = 0; at < s->size;) patience.step(), text->wide += static_cast<char32_t>(decode_utf8(s->view(), at));
  text->subject = {nullptr, text->wide.data(), s->length};
  if (s->length >= kLong && s->length <= kLongest) last = text;
  return text;
}

Local<MatchObject> find_match(Vm& vm, PatternObject* pattern, const std::shared_ptr<const RegexText>& text,
                              int64_t start, int64_t end, regex::Mode mode, int64_t not_empty_at) {
  int64_t length = text->subject.length;
  end = std::clamp<int64_t>(end, 0, length);
  start = std::clamp<int64_t>(start, 0, length);
  std::vector<int64_t> registers;
  auto interrupt = [&vm] { vm.hear_stop(); };
  vm.hear_stop();
  if (start > end ||
      !regex::execute(*pattern->program, text->subject, start, end, mode, not_empty_at, interrupt, registers))
    return {};
  Local<MatchObject> match = vm.heap().make<MatchObject>(re_state(vm).match_type);
  match->pattern = Local<PatternObject>(pattern);
  match->text = text;
  match->position = start;
  match->end_position = end;
  match->registers = std::move(registers);
  return match;
}

uint32_t group_number(Vm& vm, const MatchObject* match, const Value& v) {
  const regex::Program& program = *match->pattern->program;
  int64_t number = -1;
  if (is_integer_like(v) || type_of(vm, v)->slots.to_index) {
    number = to_index(vm, v);
  } else if (is_kind(v, Kind::Str)) {
    auto known = program.names.find(std::string(cast<StrObject>(v)->view()));
    if (known != program.names.end()) number = known->second;
  }
  if (number < 0 || number > program.groups) raise_index_error(vm, "no such group");
  return static_cast<uint32_t>(number);
}

Value group_value(Vm& vm, const MatchObject* match, uint32_t group, const Value& if_absent) {
  int64_t begin = match->begin(group), end = match->end(group);
  return begin < 0 || end < begin ? if_absent : match->text->piece(vm, begin, end);
}

Local<ModuleObject> make_re_module(Vm& vm) {
  auto state = std::make_shared<ReState>();
  state->pattern_type = make_pattern_type(vm);
  state->match_type = make_match_type(vm);
  state->cache = make_dict(vm);
  vm.extension(&kState) = state;
  vm.extension(&kIteratorType) = std::make_shared<Type*>(make_iterator_type<MatchIterator>(vm, "callable_iterator"));
  vm.extension(&kScannerType) = std::make_shared<Type*>(make_scanner_type(vm));
  ModuleBuilder m(vm, "_re");
  const char* search = "pattern, string, flags=0";
  m.value("Pattern", Value(state->pattern_type))
      .value("Match", Value(state->match_type))
      .function("compile", "pattern, flags=0", compile)
      .function("purge", "", purge)
      .function("set_error", "error", set_error)
      .function("match", search, function_search<regex::Mode::Match>)
      .function("fullmatch", search, function_search<regex::Mode::FullMatch>)
      .function("search", search, function_search<regex::Mode::Search>)
      .function("findall", search, function_findall)
      .function("finditer", search, function_finditer)
      .function("sub", "pattern, repl, string, count=0, flags=0", function_sub<false>)
      .function("subn", "pattern, repl, string, count=0, flags=0", function_sub<true>)
      .function("split", "pattern, string, maxsplit=0, flags=0", function_split);
  return m.finish();
}

}  // namespace tsc::interp
