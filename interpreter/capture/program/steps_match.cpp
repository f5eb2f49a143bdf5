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

void step_match_sequence(Capture& c, const Instruction& i) {
  const Type* type = c.attributes().type_of_av(c.frames().read(i.b));
  c.frames().write(i.a, Av::boolean(ops::matches_as_sequence(type->layout)));
}

void step_match_mapping(Capture& c, const Instruction& i) {
  c.frames().write(i.a,
                   Av::boolean(c.attributes().type_of_av(c.frames().read(i.b))->is_subtype_of(c.vm().types().dict)));
}

void step_match_keys(Capture& c, const Instruction& i) {
  Av mapping = c.frames().read(i.b);
  if (!c.containers().is_dict(mapping)) break_here(BreakReason::unknown_object, "match of a mapping that is no dict");
  std::vector<Av> values;
  for (const Av& key : c.iterators().items_of(c.frames().read(i.c))) {
    Av value = c.containers().dict_find(mapping, key);
    if (value.is_undefined()) return c.frames().write(i.a, Av::constant(Value::none()));
    values.push_back(value);
  }
  c.frames().write(i.a, c.containers().make_tuple_av(std::move(values)));
}

// Types whose single positional pattern is the subject itself.
bool matches_itself(const Types& t, Type* type) {
  for (Type* own : {t.boolean, t.integer, t.real, t.str, t.bytes, t.list, t.tuple, t.dict, t.set, t.frozenset})
    if (type == own) return true;
  return false;
}

// False: the subject has no such attribute.
bool take_attribute(Capture& c, const Av& subject, StrObject* name, std::vector<Av>& out) {
  std::optional<Av> value = c.attributes().attribute_if_there(subject, name);
  if (value) out.push_back(std::move(*value));
  return value.has_value();
}

bool take_positional(Capture& c, const Av& subject, const Av& type, uint32_t count, std::vector<Av>& out) {
  if (matches_itself(c.vm().types(), cast<Type>(type.value))) {
    if (count > 1) break_here(BreakReason::raises, "TypeError: too many positional sub-patterns");
    out.push_back(subject);
    return true;
  }
  Local<StrObject> match_args = intern(c.vm(), "__match_args__");
  if (!c.attributes().has_attribute(type, match_args.get()))
    break_here(BreakReason::raises, "TypeError: no __match_args__");
  const Av listed = c.attributes().get_attribute(type, match_args.get());
  if (c.attributes().type_of_av(listed) != c.vm().types().tuple)
    break_here(BreakReason::raises, "TypeError: __match_args__ must be a tuple");
  const std::vector<Av> names = c.iterators().items_of(listed);
  if (count > names.size()) break_here(BreakReason::raises, "TypeError: too many positional sub-patterns");
  for (uint32_t k = 0; k < count; ++k) {
    StrObject* name = names[k].is_constant() ? try_cast<StrObject>(names[k].value) : nullptr;
    if (!name) break_here(BreakReason::unknown_object, "a name in __match_args__");
    if (!take_attribute(c, subject, intern(c.vm(), name->view()).get(), out)) return false;
  }
  return true;
}

void step_match_class(Capture& c, const Instruction& i) {
  const lang::CallShape& shape = c.frames().frame().code->code->call_shapes[i.c];
  Av subject = c.frames().read(i.b), type = c.frames().read(static_cast<uint16_t>(i.b + 1));
  if (!type.is_constant() || !try_cast<Type>(type.value))
    break_here(BreakReason::unknown_object, "the class of a pattern");
  std::vector<Av> values;
  bool match = is_instance_of_class(c, subject, type);
  if (match && shape.positional) match = take_positional(c, subject, type, shape.positional, values);
  for (size_t k = 0; match && k < shape.keywords.size(); ++k)
    match = take_attribute(c, subject, c.frames().frame().code->names[shape.keywords[k]], values);
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
