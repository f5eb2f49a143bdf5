// Handlers of the instructions on objects: iteration, attributes, items, building, calls, functions, with.
#include <utility>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/stand_ins.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/raising.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/program/steps.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/values/texts.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/vm/mapping.h"

namespace tsc::interp {
namespace {

using lang::Instruction;
using Arguments = CallArguments;

// The values of a window. The registers are emptied while the instruction runs and restored if it breaks,
// so that the exit finds them as they were in front of the instruction.
class Window {
 public:
  Window(Capture& c, uint32_t first, uint32_t count) : c_(c), frame_(c.frames().frame_count() - 1), first_(first) {
    std::vector<Av>& registers = c.frames().frame().registers;
    values.reserve(count);
    for (uint32_t i = 0; i < count; ++i) values.push_back(std::exchange(registers[first + i], Av()));
  }
  ~Window() {
    if (done_) return;
    std::vector<Av>& registers = c_.frames().frame_at(frame_).registers;
    for (size_t i = 0; i < values.size(); ++i) registers[first_ + i] = values[i];
  }
  void done() { done_ = true; }
  std::vector<Av> values;

 private:
  Capture& c_;
  size_t frame_;
  uint32_t first_;
  bool done_ = false;
};

void step_get_iter(Capture& c, const Instruction& i) {
  const Av iterable = c.frames().read(i.b);
  const Av counted = c.rolled().counted(iterable, i);
  c.frames().write(i.a, counted.is_undefined() ? c.iterators().iterate(iterable) : counted);
}

void step_for_iter(Capture& c, const Instruction& i) {
  VIterator* iterator = as<VIterator>(c.frames().read(i.b));
  if (!iterator) break_here(BreakReason::unknown_object, "an iterator from outside the region");
  if (iterator->form == VIterator::Form::Counted)
    return c.rolled().turn(i, std::static_pointer_cast<VIterator>(c.frames().read(i.b).object));
  if (c.loops().is_open(*iterator)) c.loops().note_open_test();
  Av item;
  if (c.iterators().next(*iterator, &item)) return c.frames().write(i.a, item);
  c.frames().write(i.b, Av());
  c.frames().frame().pc = lang::jump_target(i, c.frames().frame().pc);
}

// ---- attributes and items ----

void step_load_attr(Capture& c, const Instruction& i) {
  const Av object = c.frames().read(i.b);
  c.raising().run([&] {
    const Av value = c.attributes().get_attribute(object, site_name(c, i.c));
    if (value.is_undefined()) c.attributes().call_getter(object, site_name(c, i.c), i.a);
    else c.frames().write(i.a, value);
  });
}

void step_store_attr(Capture& c, const Instruction& i) {
  const Av object = c.frames().read(i.a), value = c.frames().read(i.b);
  const Value* own = c.calls().own_method(object, "__setattr__");
  if (!own) return c.attributes().set_attribute(object, site_name(c, i.c), value);
  Arguments arguments;
  arguments.positional = {object, Av::constant(Value(site_name(c, i.c))), value};
  c.calls().call(Av::constant(*own), std::move(arguments), kNoDestination, true);
}

void load_item(Capture& c, uint16_t destination, const Av& container, const Av& key) {
  if (c.tensors().tensor_of(container)) return c.calls().call_library("_getitem", {container, key}, destination);
  const Value* own = c.calls().own_method(container, "__getitem__");
  if (!own) return c.frames().write(destination, c.containers().get_item(container, key));
  Arguments arguments;
  arguments.positional = {container, key};
  c.calls().call(Av::constant(*own), std::move(arguments), destination);
}

void step_load_subscr(Capture& c, const Instruction& i) {
  Av container = c.frames().read(i.b), key = c.frames().read(i.c);
  load_item(c, i.a, container, key);
}

void step_load_subscr_k(Capture& c, const Instruction& i) {
  Av container = c.frames().read(i.b);
  load_item(c, i.a, container, Av::constant(c.frames().frame().code->constants[i.c]));
}

void step_store_subscr(Capture& c, const Instruction& i) {
  Av container = c.frames().read(i.a), key = c.frames().read(i.b), value = c.frames().read(i.c);
  if (c.tensors().tensor_of(container))
    return c.calls().call_library("_setitem", {container, key, value}, kNoDestination);
  c.containers().set_item(container, key, value);
}

void step_delete_subscr(Capture& c, const Instruction& i) {
  c.containers().delete_item(c.frames().read(i.a), c.frames().read(i.b));
}

void step_yield(Capture& c, const Instruction& i) { c.frames().yield_value(i.a, c.frames().read(i.b)); }

// ---- building ----

void step_build_tuple(Capture& c, const Instruction& i) {
  Window window(c, i.b, i.c);
  window.done();
  c.frames().write(i.a, c.containers().make_tuple_av(std::move(window.values)));
}

void step_build_list(Capture& c, const Instruction& i) {
  Window window(c, i.b, i.c);
  window.done();
  c.frames().write(i.a, c.containers().make_list_av(std::move(window.values)));
}

void step_build_map(Capture& c, const Instruction& i) {
  Window window(c, i.b, 2u * i.c);
  auto dict = c.make<VDict>();
  Av made = Av::of(dict);
  for (size_t k = 0; k < window.values.size(); k += 2)
    c.containers().set_item(made, window.values[k], window.values[k + 1]);
  window.done();
  c.frames().write(i.a, made);
}

// What is no constant has no place in a set yet.
Av make_set_of(Capture& c, std::span<const Av> items) {
  const auto native = [&](std::span<const Value> values) {
    Local<SetObject> set = make_set(c.vm());
    for (const Value& item : values) set_add(c.vm(), set.get(), item);
    return set.take();
  };
  return run_on_stand_ins(c, items, native, {}, StandIns::Sees::Values);
}

void step_build_set(Capture& c, const Instruction& i) {
  Window window(c, i.b, i.c);
  const Av set = make_set_of(c, window.values);
  window.done();
  c.frames().write(i.a, set);
}

void step_set_add(Capture& c, const Instruction& i) {
  const Av set = c.frames().read(i.a);
  if (!is_virtual(set, VirtualKind::Set))
    break_here(BreakReason::unknown_object, "a set that was begun outside the region");
  const auto native = [&](std::span<const Value> values) {
    set_add(c.vm(), cast<SetObject>(values[0]), values[1]);
    return Value::none();
  };
  run_on_stand_ins(c, {set, c.frames().read(i.b)}, native, repeat_by(c, set, "add"), StandIns::Sees::Values);
}

void step_build_slice(Capture& c, const Instruction& i) {
  Window window(c, i.b, 3);
  auto slice = c.make<VSlice>();
  slice->start = window.values[0];
  slice->stop = window.values[1];
  slice->step = window.values[2];
  window.done();
  c.frames().write(i.a, Av::of(slice));
}

void append_text(VText& text, const Av& av) {
  if (VText* more = as<VText>(av)) {
    text.parts.insert(text.parts.end(), more->parts.begin(), more->parts.end());
    return;
  }
  VText::Part part;
  part.text = std::string(cast<StrObject>(av.value)->view());
  text.parts.push_back(std::move(part));
}

bool is_text(const Av& av) { return as<VText>(av) || (av.is_constant() && is_kind(av.value, interp::Kind::Str)); }

// The list that an instruction of a display or comprehension grows. One that the interpreter began
// (the region was entered inside the comprehension) came in from outside.
VList& growing_list(Capture& c, uint16_t reg) {
  VList* list = as<VList>(c.frames().read(reg));
  if (!list) break_here(BreakReason::unknown_object, "a list that was begun outside the region");
  return *list;
}

void step_build_string(Capture& c, const Instruction& i) {
  Window window(c, i.b, i.c);
  auto text = c.make<VText>();
  bool constant = true;
  std::string joined;
  for (const Av& av : window.values) {
    if (!is_text(av)) break_here(BreakReason::unknown_object, "a part of an f-string");
    append_text(*text, av);
    constant &= av.is_constant();
    if (av.is_constant()) joined += cast<StrObject>(av.value)->view();
  }
  window.done();
  c.frames().write(i.a, constant ? Av::constant(str_value(c.vm(), joined)) : Av::of(text));
}

void step_format_value(Capture& c, const Instruction& i) {
  std::string spec;
  if (i.mode() & 4) {
    const Av& av = c.frames().read(i.c);
    if (!av.is_constant()) break_here(BreakReason::unknown_number, "format specification");
    spec = std::string(cast<StrObject>(av.value)->view());
  }
  c.frames().write(i.a, c.texts().text_of_value(c.frames().read(i.b), static_cast<int>(i.mode() & 3), std::move(spec)));
}

void step_list_append(Capture& c, const Instruction& i) {
  const Av list = c.frames().read(i.a);
  if (!is_virtual(list, VirtualKind::List) || list.object->source != Virtual::kMadeHere) growing_list(c, i.a);
  c.containers().append(list, c.frames().read(i.b));
}

void step_list_extend(Capture& c, const Instruction& i) {
  std::vector<Av> items = c.iterators().items_of(c.frames().read(i.b));
  VList& list = growing_list(c, i.a);
  c.effects().write_through(c.frames().read(i.a), "extend", {c.containers().make_tuple_av(items)});
  list.items.insert(list.items.end(), items.begin(), items.end());
}

void step_list_to_tuple(Capture& c, const Instruction& i) {
  c.frames().write(i.a, c.containers().make_tuple_av(c.iterators().items_of(c.frames().read(i.b))));
}

void step_map_add(Capture& c, const Instruction& i) {
  c.containers().set_item(c.frames().read(i.a), c.frames().read(i.b), c.frames().read(i.c));
}

void step_map_update(Capture& c, const Instruction& i) {
  Av source = c.frames().read(i.b);
  if (!c.containers().is_dict(source) || !gives_its_table(c.vm(), c.attributes().type_of_av(source)))
    break_here(BreakReason::unknown_object, "** of a value that is no dict");
  for (const Av& key : c.containers().dict_keys(source))
    c.containers().set_item(c.frames().read(i.a), key, c.containers().dict_find(source, key));
}

// ** in a call: a name may come once.
void step_map_merge(Capture& c, const Instruction& i) {
  Av source = c.frames().read(i.b), made = c.frames().read(i.a);
  for (const Av& key : c.containers().dict_keys(source))
    if (!c.containers().dict_find(made, key).is_undefined())
      break_here(BreakReason::raises, "TypeError: a keyword argument twice");
  step_map_update(c, i);
}

void step_unpack(Capture& c, const Instruction& i) {
  const Av unpacked = c.frames().read(i.b);
  std::vector<Av> items;
  if (VIterator* iterator = as<VIterator>(unpacked)) {  // which may have no end
    for (Av item; items.size() <= i.c && c.iterators().next(*iterator, &item);) items.push_back(item);
  } else {
    items = c.iterators().items_of(unpacked);
  }
  if (items.size() != i.c) break_here(BreakReason::raises, "ValueError: unpacking");
  for (size_t k = 0; k < items.size(); ++k) c.frames().write(static_cast<uint16_t>(i.a + k), items[k]);
}

void step_unpack_ex(Capture& c, const Instruction& i) {
  std::vector<Av> items = c.iterators().items_of(c.frames().read(i.b));
  size_t before = i.c & 255u, after = i.c >> 8;
  if (items.size() < before + after) break_here(BreakReason::raises, "ValueError: unpacking");
  for (size_t k = 0; k < before; ++k) c.frames().write(static_cast<uint16_t>(i.a + k), items[k]);
  std::vector<Av> middle(items.begin() + static_cast<long>(before), items.end() - static_cast<long>(after));
  c.frames().write(static_cast<uint16_t>(i.a + before), c.containers().make_list_av(std::move(middle)));
  for (size_t k = 0; k < after; ++k)
    c.frames().write(static_cast<uint16_t>(i.a + before + 1 + k), items[items.size() - after + k]);
}

// ---- calls ----

void add_values(Capture& c, Arguments& arguments, std::span<const Av> values, const lang::CallShape& shape) {
  for (uint32_t k = 0; k < shape.positional; ++k) arguments.positional.push_back(values[k]);
  for (size_t k = 0; k < shape.keywords.size(); ++k)
    arguments.keywords.push_back({c.frames().frame().code->names[shape.keywords[k]], values[shape.positional + k]});
}

void step_call(Capture& c, const Instruction& i) {
  Window window(c, i.b, 1u + i.c);
  Arguments arguments;
  arguments.positional.assign(window.values.begin() + 1, window.values.end());
  c.calls().call(window.values[0], std::move(arguments), i.a);
  window.done();
}

void step_call_kw(Capture& c, const Instruction& i) {
  const lang::CallShape& shape = c.frames().frame().code->code->call_shapes[i.c];
  Window window(c, i.b, 1u + shape.count());
  Arguments arguments;
  add_values(c, arguments, std::span(window.values).subspan(1), shape);
  c.calls().call(window.values[0], std::move(arguments), i.a);
  window.done();
}

void step_call_ex(Capture& c, const Instruction& i) {
  Window window(c, i.b, 2u + i.c);
  Arguments arguments;
  arguments.positional = c.iterators().items_of(window.values[1]);
  if (i.c) {
    for (const Av& key : c.containers().dict_keys(window.values[2])) {
      if (!key.is_constant() || !is_kind(key.value, interp::Kind::Str))
        break_here(BreakReason::raises, "TypeError: keywords must be strings");
      arguments.keywords.push_back(
          {intern(c.vm(), cast<StrObject>(key.value)), c.containers().dict_find(window.values[2], key)});
    }
  }
  c.calls().call(window.values[0], std::move(arguments), i.a);
  window.done();
}

void step_load_method(Capture& c, const Instruction& i) {
  const Av object = c.frames().read(i.b);
  c.raising().run([&] {
    auto [function, self] = c.attributes().load_method(object, site_name(c, i.c));
    c.frames().write(i.a, function);
    c.frames().write(static_cast<uint16_t>(i.a + 1), self);
  });
}

void call_method(Capture& c, const Instruction& i, const lang::CallShape& shape) {
  Window window(c, i.b, 2u + shape.count());
  Arguments arguments;
  if (!window.values[1].is_undefined()) arguments.positional.push_back(window.values[1]);
  add_values(c, arguments, std::span(window.values).subspan(2), shape);
  c.calls().call(window.values[0], std::move(arguments), i.a);
  window.done();
}

void step_call_method(Capture& c, const Instruction& i) {
  lang::CallShape shape;
  shape.positional = i.c;
  call_method(c, i, shape);
}

void step_call_method_kw(Capture& c, const Instruction& i) {
  call_method(c, i, c.frames().frame().code->code->call_shapes[i.c]);
}

void step_return(Capture& c, const Instruction& i) { c.frames().leave_with_return(c.frames().read(i.a)); }
void step_return_none(Capture& c, const Instruction&) { c.frames().leave_with_return(Av::none()); }

void step_make_function(Capture& c, const Instruction& i) {
  uint32_t mode = i.mode(), count = 0;
  if (mode & (8 | 16))
    break_here(BreakReason::instruction, "a function whose annotations read variables around it is made");
  for (uint32_t bit = 1; bit <= 4; bit *= 2) count += mode & bit ? 1 : 0;
  Window window(c, i.c, count);
  auto function = c.make<VFunction>();
  function->code = c.frames().frame().code->nested[i.b];
  function->module = c.frames().frame().module;
  size_t part = 0;
  if (mode & 1) function->defaults = c.iterators().items_of(window.values[part++]);
  if (mode & 2) {
    const Av& dict = window.values[part++];
    const lang::ParameterList& list = function->code->code->parameters;
    for (uint32_t k = 0; k < list.keyword_only; ++k)
      function->keyword_defaults.push_back(
          c.containers().dict_find(dict, Av::constant(str_value(c.vm(), list.names[list.positional + k]))));
  }
  if (mode & 4) function->closure = c.iterators().items_of(window.values[part++]);
  window.done();
  c.frames().write(i.a, Av::of(function));
}

// with x: __exit__ and __enter__ as LoadMethod gives them.
void step_load_context(Capture& c, const Instruction& i) {
  Av object = c.frames().read(i.b);
  auto [exit, exit_self] = c.attributes().load_method(object, intern(c.vm(), "__exit__").get());
  auto [enter, enter_self] = c.attributes().load_method(object, intern(c.vm(), "__enter__").get());
  c.frames().write(i.a, exit);
  c.frames().write(static_cast<uint16_t>(i.a + 1), exit_self);
  c.frames().write(static_cast<uint16_t>(i.a + 2), enter);
  c.frames().write(static_cast<uint16_t>(i.a + 3), enter_self);
}

void step_length(Capture& c, const Instruction& i) {
  c.frames().write(i.a, Av::integer(static_cast<int64_t>(c.iterators().items_of(c.frames().read(i.b)).size())));
}

void step_push_handled(Capture& c, const Instruction& i) { c.raising().push_handled(i.a, c.frames().read(i.b)); }
void step_pop_handled(Capture& c, const Instruction& i) { c.raising().pop_handled(i.a); }
void step_exception_info(Capture& c, const Instruction& i) { c.raising().info(i.a, c.frames().read(i.b)); }
void step_raise(Capture& c, const Instruction& i) { c.raising().raise(c.frames().read(i.a)); }
void step_raise_handled(Capture& c, const Instruction&) { c.raising().raise(c.raising().handled()); }

void step_match_exception(Capture& c, const Instruction& i) {
  const Av exception = c.frames().read(i.b);
  c.frames().write(i.a, Av::boolean(c.raising().matches(exception, c.frames().read(i.c))));
}

constexpr StepRow kRows[] = {
    {lang::Op::GetIter, step_get_iter},
    {lang::Op::ForIter, step_for_iter},
    {lang::Op::LoadAttr, step_load_attr},
    {lang::Op::StoreAttr, step_store_attr},
    {lang::Op::LoadSubscr, step_load_subscr},
    {lang::Op::LoadSubscrK, step_load_subscr_k},
    {lang::Op::StoreSubscr, step_store_subscr},
    {lang::Op::BuildTuple, step_build_tuple},
    {lang::Op::BuildList, step_build_list},
    {lang::Op::BuildMap, step_build_map},
    {lang::Op::BuildSet, step_build_set},
    {lang::Op::SetAdd, step_set_add},
    {lang::Op::DeleteSubscr, step_delete_subscr},
    {lang::Op::Yield, step_yield},
    {lang::Op::BuildSlice, step_build_slice},
    {lang::Op::BuildString, step_build_string},
    {lang::Op::FormatValue, step_format_value},
    {lang::Op::ListAppend, step_list_append},
    {lang::Op::ListExtend, step_list_extend},
    {lang::Op::ListToTuple, step_list_to_tuple},
    {lang::Op::MapAdd, step_map_add},
    {lang::Op::MapUpdate, step_map_update},
    {lang::Op::MapMerge, step_map_merge},
    {lang::Op::UnpackSequence, step_unpack},
    {lang::Op::UnpackEx, step_unpack_ex},
    {lang::Op::Call, step_call},
    {lang::Op::CallKw, step_call_kw},
    {lang::Op::CallEx, step_call_ex},
    {lang::Op::LoadMethod, step_load_method},
    {lang::Op::CallMethod, step_call_method},
    {lang::Op::CallMethodKw, step_call_method_kw},
    {lang::Op::Return, step_return},
    {lang::Op::ReturnNone, step_return_none},
    {lang::Op::MakeFunction, step_make_function},
    {lang::Op::LoadContext, step_load_context},
    {lang::Op::Length, step_length},
    {lang::Op::PushHandled, step_push_handled},
    {lang::Op::PopHandled, step_pop_handled},
    {lang::Op::MatchException, step_match_exception},
    {lang::Op::ExceptionInfo, step_exception_info},
    {lang::Op::Raise, step_raise},
    {lang::Op::RaiseFrom, step_raise},  // the cause is what only the exception knows
    {lang::Op::RaiseHandled, step_raise_handled},
    {lang::Op::Reraise, step_raise},
};

}  // namespace

static_assert(std::size(kRows) == kObjectSteps);

std::span<const StepRow> object_step_rows() { return kRows; }

}  // namespace tsc::interp
