// The instructions of `match` on values whose type capture knows: what the interpreter decides by looking
// at a type or a key is decided while capturing, under the facts that reading them records.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/steps.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/vm/slow_ops.h"

namespace tsc::interp {
namespace {

using lang::Instruction;

bool has_pattern_flag(Capture& c, const Av& subject, int64_t flag) {
  Type* type = c.attributes().type_of_av(subject);
  if (const int64_t flags = ops::pattern_flags(type->layout)) return flags & flag;
  const Value* given = c.attributes().class_attribute(type, intern(c.vm(), ops::kPatternFlags).get(), nullptr);
  return given && given->is_int() && (given->as_int() & flag);
}

void step_match_sequence(Capture& c, const Instruction& i) {
  c.frames().write(i.a, Av::boolean(has_pattern_flag(c, c.frames().read(i.b), ops::kSequencePattern)));
}

void step_match_mapping(Capture& c, const Instruction& i) {
  c.frames().write(i.a, Av::boolean(has_pattern_flag(c, c.frames().read(i.b), ops::kMappingPattern)));
}

void step_match_keys(Capture& c, const Instruction& i) {
  Av mapping = c.frames().read(i.b);
  if (!c.containers().is_dict(mapping)) break_here(BreakReason::unknown_object, "match of a mapping that is no dict");
  if (Type* type = c.attributes().type_of_av(mapping); type != c.vm().types().dict) {
    const Value* get = c.attributes().class_attribute(type, intern(c.vm(), "get").get(), nullptr);
    if (!get || !is_kind(*get, Kind::NativeFunction))
      break_here(BreakReason::unknown_object, "match of a dict with a get() of its own");
  }
  const std::vector<Av> keys = c.iterators().items_of(c.frames().read(i.c));
  const auto is_plain = [](const Av& key) {
    return key.is_constant() && (!key.value.is_object() || is_kind(key.value, Kind::Str));
  };
  for (size_t k = 1; k < keys.size(); ++k)
    for (size_t before = 0; before < k; ++before)
      if (is_plain(keys[k]) && is_plain(keys[before]) && equal(c.vm(), keys[before].value, keys[k].value))
        break_here(BreakReason::raises, "ValueError: a mapping pattern checks a key twice");
  std::vector<Av> values;
  for (const Av& key : keys) {
    Av value = c.containers().dict_find(mapping, key);
    if (value.is_undefined()) return c.frames().write(i.a, Av::constant(Value::none()));
    values.push_back(value);
  }
  c.frames().write(i.a, c.containers().make_tuple_av(std::move(values)));
}

// The names that sub-patterns of a class pattern have asked for.
using SeenNames = std::vector<std::string_view>;

// False: the subject has no such attribute.
bool take_attribute(Capture& c, const Av& subject, StrObject* name, SeenNames& seen, std::vector<Av>& out) {
  if (std::ranges::count(seen, name->view()))
    break_here(BreakReason::raises, "TypeError: multiple sub-patterns for one attribute");
  seen.push_back(name->view());
  std::optional<Av> value = c.attributes().attribute_if_there(subject, name);
  if (value) out.push_back(std::move(*value));
  return value.has_value();
}

bool take_positional(Capture& c, const Av& subject, const Av& type, uint32_t count, SeenNames& seen,
                     std::vector<Av>& out) {
  Local<StrObject> match_args = intern(c.vm(), "__match_args__");
  if (!c.attributes().has_attribute(type, match_args.get())) {
    if (!ops::matches_itself(c.vm().types(), cast<Type>(type.value)))
      break_here(BreakReason::raises, "TypeError: no __match_args__");
    if (count > 1) break_here(BreakReason::raises, "TypeError: too many positional sub-patterns");
    out.push_back(subject);
    return true;
  }
  const Av listed = c.attributes().get_attribute(type, match_args.get());
  if (c.attributes().type_of_av(listed) != c.vm().types().tuple)
    break_here(BreakReason::raises, "TypeError: __match_args__ must be a tuple");
  const std::vector<Av> names = c.iterators().items_of(listed);
  if (count > names.size()) break_here(BreakReason::raises, "TypeError: too many positional sub-patterns");
  for (uint32_t k = 0; k < count; ++k) {
    StrObject* name = names[k].is_constant() ? try_cast<StrObject>(names[k].value) : nullptr;
    if (!name) break_here(BreakReason::unknown_object, "a name in __match_args__");
    if (!take_attribute(c, subject, intern(c.vm(), name->view()).get(), seen, out)) return false;
  }
  return true;
}

void step_match_class(Capture& c, const Instruction& i) {
  const lang::CallShape& shape = c.frames().frame().code->code->call_shapes[i.c];
  Av subject = c.frames().read(i.b), type = c.frames().read(static_cast<uint16_t>(i.b + 1));
  if (!type.is_constant() || !try_cast<Type>(type.value))
    break_here(BreakReason::unknown_object, "the class of a pattern");
  SeenNames seen;
  std::vector<Av> values;
  bool match = is_instance_of_class(c, subject, type);
  if (match && shape.positional) match = take_positional(c, subject, type, shape.positional, seen, values);
  for (size_t k = 0; match && k < shape.keywords.size(); ++k)
    match = take_attribute(c, subject, c.frames().frame().code->names[shape.keywords[k]], seen, values);
  c.frames().write(i.a, match ? c.containers().make_tuple_av(std::move(values)) : Av::constant(Value::none()));
}

constexpr StepRow kRows[] = {
    {lang::Op::MatchSequence, step_match_sequence},
    {lang::Op::MatchMapping, step_match_mapping},
    {lang::Op::MatchKeys, step_match_keys},
    {lang::Op::MatchClass, step_match_class},
};

}  // namespace

static_assert(std::size(kRows) == kMatchSteps);

std::span<const StepRow> match_step_rows() { return kRows; }

}  // namespace tsc::interp
