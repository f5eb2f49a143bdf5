// Generators: a frame of their own that is linked while they run.
#include "interpreter/vm/ends.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/iteration.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {

using State = GeneratorObject::State;

Local<GeneratorObject> make_generator(Vm& vm, FunctionObject* function, Value* registers) {
  uint32_t count = function->code->register_count;
  Local<GeneratorObject> generator = vm.heap().make<GeneratorObject>(vm.types().generator);
  generator->storage = std::make_unique<Value[]>(count);
  for (uint32_t i = 0; i < count; ++i) generator->storage[i] = std::move(registers[i]);
  Frame& frame = generator->frame;
  frame.registers = generator->storage.get();
  frame.register_count = count;
  frame.function = function;
  ++function->reference_count;
  frame.code = function->code;
  frame.instructions = function->code->instructions;
  frame.constants = function->code->first_constant;
  frame.caches = function->code->first_cache;
  frame.globals = function->module->globals;
  frame.generator = generator.get();
  generator->name = function->name;
  generator->qualified_name = function->qualified_name;
  return generator;
}

void finish_generator(GeneratorObject* generator) {
  generator->state = State::Finished;
  Frame& frame = generator->frame;
  frame.back = nullptr;
  if (!frame.function) return;
  FunctionObject* function = frame.function;
  frame.function = nullptr;
  for (uint32_t i = 0; i < frame.register_count; ++i) generator->storage[i].reset();
  frame.handled.reset();
  frame.extra.reset();
  if (--function->reference_count == 0) destroy_object(function);
}

void resume_with(GeneratorObject* generator, const Value& sent) {
  Frame& frame = generator->frame;
  const lang::Instruction& i = frame.code->instructions[frame.pc];
  if (i.op == lang::Op::YieldFrom) {
    frame.registers[i.c] = sent;  // the same instruction again
  } else {
    frame.registers[i.a] = sent;
    ++frame.pc;
  }
}

void suspend_to_native(Vm& vm) {
  Frame* frame = VmAccess::frame(vm);
  frame->generator->state = State::Suspended;
  VmAccess::frame(vm) = frame->back;
  frame->back = nullptr;
  --VmAccess::depth(vm);
}

// throw() and close() go to it.
Value delegate_of(GeneratorObject* generator) {
  if (generator->state != State::Suspended) return Value();
  const lang::Instruction& i = generator->frame.code->instructions[generator->frame.pc];
  return i.op == lang::Op::YieldFrom ? generator->frame.registers[i.b] : Value();
}

namespace {

void check_resumable(Vm& vm, GeneratorObject* generator) {
  if (generator->state == State::Running) raise_value_error(vm, "generator already executing");
  vm.check_native_stack();
  enter_recursion(vm);
}

// The delegate ended with a value: the YieldFrom is done.
void finish_delegation(GeneratorObject* generator, const Value& value) {
  const lang::Instruction& i = generator->frame.code->instructions[generator->frame.pc];
  generator->frame.registers[i.a] = value;
  if (i.flags & lang::kReleaseB) generator->frame.registers[i.b].reset();
  ++generator->frame.pc;
}

Value stop_value(const ScriptException& e) {
  TupleObject* args = e.exception()->args;
  return args->size ? args->items[0] : Value::none();
}

}  // namespace

bool generator_send(Vm& vm, GeneratorObject* raw, const Value& sent, Value& out) {
  Local<GeneratorObject> generator(raw);
  check_resumable(vm, raw);
  if (generator->state == State::Finished) {
    out = Value::none();
    return false;
  }
  if (generator->state == State::Fresh) {
    if (sent && !sent.is_none()) raise_type_error(vm, "can't send non-None value to a just-started generator");
  } else {
    resume_with(generator, sent ? sent : Value::none());
  }
  generator->state = State::Running;
  link_frame(vm, &generator->frame, FrameReturn::Leave);
  out = run_loop(vm);
  return generator->state == State::Suspended;
}

// The generator is running while its delegate closes. What the delegate raises, if anything.
static Local<ExceptionObject> close_delegate(Vm& vm, GeneratorObject* generator, const Value& delegate) {
  Value close;
  try {
    close = find_attribute(vm, delegate, intern(vm, "close").get());
  } catch (const ScriptException& e) {
    if (e.exception()->is_limit) throw;
    report_ignored(vm, delegate, e.exception());
  }
  if (!close) return {};
  generator->state = State::Running;
  Local<ExceptionObject> raised;
  try {
    call(vm, close);
  } catch (const ScriptException& e) {
    raised = e.local();
  } catch (...) {
    generator->state = State::Suspended;
    throw;
  }
  generator->state = State::Suspended;
  return raised;
}

namespace {

// The frame of a generator that waits for another one, below what that one runs: who looks from there sees it.
class Waiting {
 public:
  Waiting(Vm& vm, Frame& frame) : vm_(vm), frame_(frame) { link_frame(vm, &frame, FrameReturn::Leave); }
  Waiting(const Waiting&) = delete;
  ~Waiting() {
    VmAccess::frame(vm_) = frame_.back;
    frame_.back = nullptr;
    --VmAccess::depth(vm_);
  }

 private:
  Vm& vm_;
  Frame& frame_;
};

// throw() of what a generator waits for. What it raises may be anything.
Value throw_into_delegate(Vm& vm, Frame& frame, const Value& delegate, const Value& method, const Value& exception) {
  if (!is_kind(delegate, Kind::Generator)) return call(vm, method, {exception});
  const Waiting waiting(vm, frame);
  return call(vm, method, {exception});
}

}  // namespace

bool generator_throw(Vm& vm, GeneratorObject* raw, Local<ExceptionObject> exception, Value& out) {
  Local<GeneratorObject> generator(raw);
  check_resumable(vm, raw);
  if (generator->state == State::Fresh) {  // it has entered no handler yet
    generator->frame.skip_handlers = true;
    generator->frame.pc = TracebackEntry::kDefinition;
  }
  if (generator->state == State::Finished) throw ScriptException(exception);
  if (Value delegate = delegate_of(raw)) {
    bool exits = exception->type->is_subtype_of(vm.exceptions().GeneratorExit);
    Value method = exits ? Value() : find_attribute(vm, delegate, intern(vm, "throw").get());
    if (exits) {
      if (const Local<ExceptionObject> raised = close_delegate(vm, raw, delegate)) exception = raised;
    } else if (method) {
      generator->state = State::Running;
      try {
        out = throw_into_delegate(vm, generator->frame, delegate, method, exception.value());
        generator->state = State::Suspended;
        return true;
      } catch (const ScriptException& e) {
        generator->state = State::Suspended;
        if (!e.exception()->type->is_subtype_of(vm.exceptions().StopIteration)) {
          exception = e.local();
        } else {
          finish_delegation(raw, stop_value(e));
          generator->state = State::Running;
          link_frame(vm, &generator->frame, FrameReturn::Leave);
          out = run_loop(vm);
          return generator->state == State::Suspended;
        }
      }
    }
  }
  generator->state = State::Running;
  link_frame(vm, &generator->frame, FrameReturn::Leave);
  // What the caller handles is no context of an exception that is thrown in.
  if (generator->frame.handled) set_context(vm, exception);
  out = run_loop_raising(vm, exception);
  return generator->state == State::Suspended;
}

void generator_close(Vm& vm, GeneratorObject* generator) {
  if (generator->state == State::Fresh) return finish_generator(generator);
  if (generator->state != State::Suspended) return;
  Value out;
  try {
    Local<ExceptionObject> exit = make_exception(vm, vm.exceptions().GeneratorExit, std::span<const Value>());
    if (generator_throw(vm, generator, exit, out))
      raise(vm, vm.exceptions().RuntimeError, "generator ignored GeneratorExit");
  } catch (const ScriptException& e) {
    Type* type = e.exception()->type;
    if (!type->is_subtype_of(vm.exceptions().GeneratorExit) && !type->is_subtype_of(vm.exceptions().StopIteration))
      throw;
  }
}

}  // namespace tsc::interp
