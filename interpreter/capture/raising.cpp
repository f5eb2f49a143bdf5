#include "interpreter/capture/raising.h"

#include "interpreter/capture/call_record.h"
#include "interpreter/capture/stand_ins.h"

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

void Capture::break_raising(Type* type, std::string detail) {
  throw RaisesHere{{BreakReason::raises, type->name + ": " + std::move(detail)}, type};
}

bool Raising::is_handled() const {
  for (size_t depth = capture_.frames_.size(); depth > floor.depth; --depth) {
    const AFrame& frame = capture_.frames_[depth - 1];
    if (lang::find_handler(*frame.code->code, frame.pc)) return true;
  }
  return floor.tells_absence;
}

Av Raising::make(Type* type, const Capture::CallArguments& arguments) {
  const Local<StrObject> constructor = intern(capture_.vm_, "__new__");
  for (StrObject* name : {capture_.vm_.names().init.get(), constructor.get()})
    if (const Value* method = capture_.class_attribute(type, name, nullptr); method && !is_kind(*method, Kind::NativeFunction))
      return Av();
  std::vector<Av> all = arguments.positional;
  std::vector<StrObject*> names;
  for (const auto& [name, value] : arguments.keywords) {
    all.push_back(value);
    names.push_back(name.get());
  }
  auto made = capture_.make<VException>();
  run_on_stand_ins(capture_, all, [&](std::span<const Value> values) {
    made->type = Local<Type>(construct_exception(capture_.vm_, type, values, names).object()->type);
    return Value::none();
  });
  made->made_in = capture_.frame().code;
  made->made_at = capture_.frame().pc;
  return Av::of(made);
}

void Raising::raise(const Av& raised) {
  if (!is_handled()) capture_.break_here(BreakReason::raises, "raise");
  if (is_virtual(raised, VirtualKind::Exception)) return unwind(raised);
  if (!raised.is_constant() || !is_exception_class(capture_.vm_, raised.value)) capture_.break_here(BreakReason::raises, "raise");
  const Av made = make(cast<Type>(raised.value), {});
  if (made.is_undefined()) capture_.break_here(BreakReason::raises, "raise");
  unwind(made);
}

void Raising::run(const std::function<void()>& instruction) {
  Av exception;
  try {
    return instruction();
  } catch (const RaisesHere& raises) {
    if (!is_handled()) throw;
    exception = make(raises.type, {});
    if (exception.is_undefined()) throw;
  }
  capture_.spoil_record();  // why it was raised is no read
  unwind(exception);
}

void Raising::unwind(Av exception) {
  const lang::ExceptionEntry* handler = nullptr;
  size_t depth = capture_.frames_.size();
  for (; depth > floor.depth; --depth) {
    const AFrame& frame = capture_.frames_[depth - 1];
    handler = lang::find_handler(*frame.code->code, frame.pc);
    if (handler) break;
  }
  const Type* type = as<VException>(exception)->type.get();
  if (!handler) {
    const bool answers = floor.tells_absence && type && type->is_subtype_of(capture_.vm_.exceptions().AttributeError);
    if (!answers) capture_.break_here(BreakReason::raises, type ? type->name : "raise");
    drop_frames(depth);
    throw NoAttribute{};
  }
  std::vector<Av>& registers = capture_.frames_[depth - 1].registers;
  for (size_t reg = handler->temporaries; reg < registers.size(); ++reg)
    if (is_generator_from_outside(registers[reg])) capture_.break_here(BreakReason::instruction, "a generator from outside is dropped");
  drop_frames(depth);
  for (size_t reg = handler->temporaries; reg < registers.size(); ++reg) registers[reg] = Av();
  registers[handler->reg] = exception;
  capture_.frame().pc = handler->handler;
  capture_.origin_pc_ = ~0u;
}

void Raising::drop_frames(size_t depth) {
  for (; capture_.frames_.size() > depth; capture_.frames_.pop_back()) {
    if (!capture_.frames_.back().recorded) continue;
    capture_.recorder_.reset();
    capture_.frames_.back().seen->spoiled = true;
  }
  capture_.origin_pc_ = ~0u;
}

std::optional<Av> Raising::call_unless_absent(const Av& callee, Capture::CallArguments arguments) {
  const size_t base = capture_.frames_.size();
  capture_.nested_result_ = Av();
  try {
    capture_.run_above(base, [&] {
      floor.tells_absence = true;
      capture_.call(callee, std::move(arguments), kNestedDestination);
    });
  } catch (const NoAttribute&) {
    return std::nullopt;
  }
  return std::move(capture_.nested_result_);
}

// ---- handlers ----

void Raising::push_handled(uint16_t before, const Av& exception) {
  if (!is_virtual(exception, VirtualKind::Exception)) capture_.break_here(BreakReason::exception_state);
  AFrame& here = capture_.frame();
  Av last = std::exchange(here.handled, exception);
  ++here.handlers;
  capture_.write(before, std::move(last));
}

void Raising::pop_handled(uint16_t before) {
  AFrame& here = capture_.frame();
  if (!here.handlers) capture_.break_here(BreakReason::exception_state);
  --here.handlers;
  here.handled = here.registers[before];
}

// Of the handlers that the interpreter has entered it knows.
Av Raising::handled() {
  if (!capture_.frame().handlers) capture_.break_here(BreakReason::exception_state);
  return capture_.frame().handled;
}

bool Raising::matches(const Av& exception, const Av& classes) {
  const VException* raised = as<VException>(exception);
  if (!raised || !raised->type) capture_.break_here(BreakReason::exception_state);
  const bool is_tuple = capture_.type_of_av(classes) == capture_.vm_.types().tuple;
  bool matches = false;
  for (const Av& one : is_tuple ? capture_.items_of(classes) : std::vector<Av>{classes}) {
    if (!one.is_constant() || !is_exception_class(capture_.vm_, one.value)) capture_.break_here(BreakReason::raises, "TypeError: except");
    matches |= raised->type->is_subtype_of(cast<Type>(one.value));
  }
  return matches;
}

void Raising::info(uint16_t first, const Av& exception) {
  const VException* raised = as<VException>(exception);
  if (!raised || !raised->type) capture_.break_here(BreakReason::exception_state);
  auto traceback = capture_.make<VException>();
  traceback->made_in = raised->made_in;
  traceback->made_at = raised->made_at;
  capture_.write(first, Av::constant(raised->type.value()));
  capture_.write(static_cast<uint16_t>(first + 1), exception);
  capture_.write(static_cast<uint16_t>(first + 2), Av::of(traceback));
}

void Raising::refuse(const VException& exception) {
  capture_.refuse(exception.made_in.get(), exception.made_at, {BreakReason::exception_state, "an exception that is used after the region"});
}

void Raising::refuse_handling() {
  for (const AFrame& one : capture_.frames_)
    if (one.handlers) refuse(*as<VException>(one.handled));
}

}  // namespace tsc::interp
