#include "interpreter/capture/program/raising.h"

#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/stand_ins.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/iterators.h"

namespace tsc::interp {
namespace {

// An AttributeError has ended the script code of call_unless_absent().
struct NoAttribute {};

bool is_exception_class(Vm& vm, const Value& v) {
  const Type* type = try_cast<Type>(v);
  return type && type->is_subtype_of(vm.exceptions().BaseException);
}

// The constructor checks the arguments; what it makes of them only the interpreter asks for.
Value construct_exception(Vm& vm, Type* type, std::span<const Value> values, std::span<StrObject* const> names) {
  Args args;
  args.positional = values.data();
  args.count = static_cast<uint32_t>(values.size() - names.size());
  args.keyword_count = static_cast<uint32_t>(names.size());
  args.keyword_names = names.data();
  args.keyword_values = values.data() + args.count;
  return interp::call(vm, Value(type), args);
}

}  // namespace

void raise_here(Type* type, std::string detail) {
  throw RaisesHere{{BreakReason::raises, type->name + ": " + std::move(detail)}, type};
}

bool Raising::is_handled() const {
  for (size_t depth = frames_.frame_count(); depth > floor_.depth; --depth) {
    const AFrame& frame = frames_.frame_at(depth - 1);
    if (lang::find_handler(*frame.code->code, frame.pc)) return true;
  }
  return floor_.tells_absence;
}

Av Raising::make_exception(Type* type, const CallArguments& arguments) {
  // A group looks at its exceptions, and some classes become another by them.
  if (type->is_subtype_of(vm_.exceptions().BaseExceptionGroup)) return Av();
  const Local<StrObject> constructor = intern(vm_, "__new__");
  for (StrObject* name : {vm_.names().init.get(), constructor.get()})
    if (const Value* method = attributes_.class_attribute(type, name, nullptr);
        method && !is_kind(*method, Kind::NativeFunction))
      return Av();
  std::vector<Av> all = arguments.positional;
  std::vector<StrObject*> names;
  for (const auto& [name, value] : arguments.keywords) {
    all.push_back(value);
    names.push_back(name.get());
  }
  auto made = make<VException>();
  run_on_stand_ins(capture_, all, [&](std::span<const Value> values) {
    made->type = Local<Type>(construct_exception(vm_, type, values, names).object()->type);
    return Value::none();
  });
  made->made_in = frames_.frame().code;
  made->made_at = frames_.frame().pc;
  return Av::of(made);
}

void Raising::raise(const Av& raised) {
  if (!is_handled()) break_here(BreakReason::raises, "raise");
  if (is_virtual(raised, VirtualKind::Exception)) return unwind(raised);
  if (!raised.is_constant() || !is_exception_class(vm_, raised.value)) break_here(BreakReason::raises, "raise");
  const Av made = make_exception(cast<Type>(raised.value), {});
  if (made.is_undefined()) break_here(BreakReason::raises, "raise");
  unwind(made);
}

void Raising::run(const std::function<void()>& instruction) {
  Av exception;
  try {
    return instruction();
  } catch (const RaisesHere& raises) {
    if (!is_handled()) throw;
    exception = make_exception(raises.type, {});
    if (exception.is_undefined()) throw;
  }
  repeats_.spoil_record();  // why it was raised is no read
  unwind(exception);
}

void Raising::unwind(Av exception) {
  const lang::ExceptionEntry* handler = nullptr;
  size_t depth = frames_.frame_count();
  for (; depth > floor_.depth; --depth) {
    const AFrame& frame = frames_.frame_at(depth - 1);
    handler = lang::find_handler(*frame.code->code, frame.pc);
    if (handler) break;
  }
  const Type* type = as<VException>(exception)->type.get();
  if (!handler) {
    const bool answers = floor_.tells_absence && type && type->is_subtype_of(vm_.exceptions().AttributeError);
    if (!answers) break_here(BreakReason::raises, type ? type->name : "raise");
    frames_.drop_frames(depth);
    throw NoAttribute{};
  }
  std::vector<Av>& registers = frames_.frame_at(depth - 1).registers;
  for (size_t reg = handler->temporaries; reg < registers.size(); ++reg)
    if (is_generator_from_outside(registers[reg]))
      break_here(BreakReason::instruction, "a generator from outside is dropped");
  frames_.drop_frames(depth);
  for (size_t reg = handler->temporaries; reg < registers.size(); ++reg) registers[reg] = Av();
  registers[handler->reg] = exception;
  frames_.frame().pc = handler->handler;
}

std::optional<Av> Raising::call_unless_absent(const Av& callee, CallArguments arguments) {
  try {
    return frames_.call_now(callee, std::move(arguments), true);
  } catch (const NoAttribute&) {
    return std::nullopt;
  }
}

// ---- handlers ----

void Raising::push_handled(uint16_t before, const Av& exception) {
  if (!is_virtual(exception, VirtualKind::Exception)) break_here(BreakReason::exception_state);
  AFrame& here = frames_.frame();
  Av last = std::exchange(here.handled, exception);
  ++here.handlers;
  frames_.write(before, std::move(last));
}

void Raising::pop_handled(uint16_t before) {
  AFrame& here = frames_.frame();
  if (!here.handlers) break_here(BreakReason::exception_state);
  --here.handlers;
  here.handled = here.registers[before];
}

// Of the handlers that the interpreter has entered it knows.
Av Raising::handled() {
  if (!frames_.frame().handlers) break_here(BreakReason::exception_state);
  return frames_.frame().handled;
}

bool Raising::matches(const Av& exception, const Av& classes) {
  const VException* raised = as<VException>(exception);
  if (!raised || !raised->type) break_here(BreakReason::exception_state);
  const bool is_tuple = attributes_.type_of_av(classes) == vm_.types().tuple;
  bool matches = false;
  for (const Av& one : is_tuple ? iterators_.items_of(classes) : std::vector<Av>{classes}) {
    if (!one.is_constant() || !is_exception_class(vm_, one.value)) break_here(BreakReason::raises, "TypeError: except");
    matches |= raised->type->is_subtype_of(cast<Type>(one.value));
  }
  return matches;
}

void Raising::info(uint16_t first, const Av& exception) {
  const VException* raised = as<VException>(exception);
  if (!raised || !raised->type) break_here(BreakReason::exception_state);
  auto traceback = make<VException>();
  traceback->made_in = raised->made_in;
  traceback->made_at = raised->made_at;
  frames_.write(first, Av::constant(raised->type.value()));
  frames_.write(static_cast<uint16_t>(first + 1), exception);
  frames_.write(static_cast<uint16_t>(first + 2), Av::of(traceback));
}

void Raising::refuse(const VException& exception) {
  frames_.refuse(exception.made_in.get(), exception.made_at,
                 {BreakReason::exception_state, "an exception that is used after the region"});
}

void Raising::refuse_handling() {
  for (size_t depth = 0; depth < frames_.frame_count(); ++depth)
    if (const AFrame& one = frames_.frame_at(depth); one.handlers) refuse(*as<VException>(one.handled));
}

}  // namespace tsc::interp
