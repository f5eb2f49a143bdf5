// The bytecode loop. Registers live in the frame; `pc` and `r` are the loop's copies. SAVE() stores the
// pc before anything that can raise, call or look at frames. Calls between script functions push a
// frame and go on: the C++ stack does not grow. An exception of the script waits in the Vm while the loop unwinds to a
// handler; what C++ throws is caught outside the loop, which then starts again.
#include "interpreter/vm/attempt.h"
#include "interpreter/vm/fast_lookups.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/numbers.h"
#include "interpreter/vm/slow_ops.h"
#include "interpreter/vm/threads.h"
#include "runtime/base/error.h"
#include "runtime/base/small_vector.h"

namespace tsc::interp {

using lang::Instruction;
using lang::Op;

namespace {

inline double number_as_double(const Value& v) { return v.is_float() ? v.as_float() : static_cast<double>(v.as_int()); }
inline bool int_or_float(const Value& v) { return v.is_int() || v.is_float(); }

}  // namespace

#include "interpreter/vm/dispatch_macros.inc"

class Interpreter {
 public:
  static Value run(Vm& vm, Local<ExceptionObject> pending, bool add_entry, bool enter);

 private:
  static Value loop(Vm& vm);
  static bool call_window(Vm& vm, Value& callee, Value* args, uint32_t count, Value& result);
  static bool is_made_at_once(Vm& vm, const Value& callee);
  static bool make_at_once(Vm& vm, Type* type, Value* args, uint32_t count, Value& result);
  static bool call_fast(Vm& vm, const Value& callee, Value* args, uint32_t count, Value& result);
  static const CodeObject* enter_plain(Vm& vm, Value& callee, Value* args, uint32_t count);
  static bool enter_function(Vm& vm, FunctionObject* function, Value* args, uint32_t count, FrameReturn on_return,
                             Value extra, Value& result);
  static bool enter_with(Vm& vm, const Value& callee, Args& args, Value& result);
  static bool enter_keywords(Vm& vm, Frame& frame, Instruction i, bool method, Value& result);
  static bool enter_unpacked(Vm& vm, Frame& frame, Instruction i, Value& result);
  static bool enter_property(Vm& vm, const Value& getter, const Value& self, Value& result);
  static bool enter_hooks(Vm& vm, Value& result);
  static EnterResult ask_hooks(Vm& vm, Frame& frame, Value& result);
  static bool raise_register(Vm& vm, Frame& frame, Instruction i);
  static bool raise_from(Vm& vm, Frame& frame, Instruction i);
  static bool raise_handled(Vm& vm, Frame& frame);
  static bool reraise(Vm& vm, const Value& exception, bool add_entry);
  static bool raise_returned(Vm& vm);
  static bool finish_return(Vm& vm, Value& value);
  static Frame* resume_generator(Vm& vm, GeneratorObject* generator);
  static void suspend_to_loop(Vm& vm, Frame* frame);
  static bool class_init(Vm& vm, Type* type, FunctionObject*& init);
  static Value yield_from(Vm& vm, Frame& frame, Instruction i, bool& ended);
};

Value run_loop(Vm& vm) { return or_throw(vm, run_loop_softly(vm)); }
Value run_loop_softly(Vm& vm) { return Interpreter::run(vm, nullptr, true, false); }
Value run_loop_entering(Vm& vm) { return Interpreter::run(vm, nullptr, true, true); }
Value run_loop_raising(Vm& vm, Local<ExceptionObject> e) {
  return or_throw(vm, Interpreter::run(vm, std::move(e), true, false));
}

Value Interpreter::run(Vm& vm, Local<ExceptionObject> pending, bool add_entry, bool enter) {
  for (;;) {
    if (pending) {
      if (!unwind(vm, pending, add_entry)) return vm.return_raised(std::exchange(vm.unwinding_, nullptr));
      pending = nullptr;
    }
    add_entry = true;
    try {
      if (enter) {
        enter = false;
        Value result;
        if (enter_hooks(vm, result)) {
          leave_frame(vm);  // the bottom frame is a Leave frame
          return result;
        }
      }
      Value result = loop(vm);
      if (vm.unwinding_) [[unlikely]]
        return vm.return_raised(std::exchange(vm.unwinding_, nullptr));
      return result;
    } catch (const ScriptException& e) {
      pending = e.local();
    } catch (const Error&) {
      try {
        rethrow_as_script_exception(vm);
      } catch (const ScriptException& e) {
        pending = e.local();
      }
    } catch (const Stopped&) {
      pending = vm.limit_exception();
    } catch (const std::bad_alloc&) {
      pending = vm.memory_error();
    } catch (const std::length_error&) {  // of a container that cannot be so long
      pending = vm.memory_error();
    }
    if (!pending->context && pending->traceback.empty()) set_context(vm, pending);
  }
}

// Offers the current frame to the compiler. True: it is done, `result` is its value, the frame is
// still there.
bool Interpreter::enter_hooks(Vm& vm, Value& result) {
  Frame* frame = vm.frame_;
  const KeepTurn keeps(vm);
  EnterResult outcome = vm.hooks_->enter_function(vm, *frame, result);
  return outcome == EnterResult::Returned;
}

// The same in the midst of a frame. What a region has looked at stays as it is until it is left. One region after the
// other might never come to where the turn is handed over.
EnterResult Interpreter::ask_hooks(Vm& vm, Frame& frame, Value& result) {
  if (is_to_hand_over(vm, frame)) [[unlikely]]
    return EnterResult::Interpret;
  const KeepTurn keeps(vm);
  return vm.hooks_->enter_at(vm, frame, result);
}

// --- calls ---------------------------------------------------------------------------------------
// The enter_ functions either push a frame (false) or finish the call (true, `result` is its value).

bool Interpreter::enter_function(Vm& vm, FunctionObject* function, Value* args, uint32_t count, FrameReturn on_return,
                                 Value extra, Value& result) {
  CodeObject* code = function->code;
  prepare_code(vm, code);
  if (lacks_defaults_only(function, count)) [[likely]] {
    if (vm.depth_ >= vm.config_.recursion_limit) enter_recursion(vm);
    Frame* frame = new_frame(vm, function);
    for (uint32_t k = 0; k < count; ++k) new (&frame->registers[k]) Value(std::move(args[k]));
    if (count != code->plain_arguments) fill_last_defaults(function, count, frame->registers);
    frame->extra = std::move(extra);
    link_frame(vm, frame, on_return);
  } else {
    enter_recursion(vm);
    Frame* frame = new_frame(vm, function);
    Args call_args;
    call_args.positional = args;
    call_args.count = count;
    const bool runs = bind_frame(vm, frame, call_args, result);
    for (uint32_t k = 0; k < count; ++k) args[k].reset();
    if (!runs) return true;
    frame->extra = std::move(extra);
    link_frame(vm, frame, on_return);
  }
  if (function->compiled && vm.hooks_) [[unlikely]] {
    Frame* frame = vm.frame_;
    FrameReturn kind = frame->on_return;
    if (enter_hooks(vm, result)) {
      if (kind == FrameReturn::Construct) result = frame->extra;
      leave_frame(vm);
      return true;
    }
  }
  return false;
}

// The call that needs no binding: a script function, its positional parameters and nothing else. The
// frame takes the function and the arguments out of the caller's registers. The answer is its code, or null: not so.
[[gnu::always_inline]] inline const CodeObject* Interpreter::enter_plain(Vm& vm, Value& callee, Value* args,
                                                                         uint32_t count) {
  if (!EXPECT(is_kind(callee, Kind::Function))) return nullptr;
  FunctionObject* function = cast<FunctionObject>(callee);
  CodeObject* code = function->code;
  if (!EXPECT(code->plain_arguments == count) || !EXPECT(!function->compiled) ||
      !EXPECT(vm.depth_ < vm.config_.recursion_limit))
    return nullptr;
  Frame* frame = vm.stack_.push(function, vm.frame_, count);
  vm.frame_ = frame;
  ++vm.depth_;
  callee.release_raw();
  Value* to = frame->registers;
  for (Value* end = args + count; args != end; ++args, ++to) new (to) Value(std::move(*args));
  return code;
}

// The script-defined __init__ of a class whose instances are plain; false when there is none such.
bool Interpreter::class_init(Vm& vm, Type* type, FunctionObject*& init) {
  if (!(type->type_flags & kPlainInstances) || type->slots.construct) return false;
  if (type->call_cache_version != type->version) {
    type->call_cache_version = type->version;
    const Value* found = lookup_in_type(type, vm.names().init);
    bool usual_call = type->type->slots.call == vm.types().type->slots.call;
    type->cached_init = usual_call && found && is_kind(*found, Kind::Function) ? found->object() : nullptr;
    found = lookup_in_type(type, vm.names().call);
    type->cached_call = found && is_kind(*found, Kind::Function) ? found->object() : nullptr;
  }
  init = static_cast<FunctionObject*>(type->cached_init);
  return init != nullptr;
}

// args[-1] is a free register (the callee's own, or the unbound self of a method call).
bool Interpreter::call_fast(Vm& vm, const Value& callee, Value* args, uint32_t count, Value& result) {
  if (callee.is_object()) [[likely]] {
    Object* object = callee.object();
    switch (object->kind) {
      case Kind::Function: {
        FunctionObject* function = static_cast<FunctionObject*>(object);
        return enter_function(vm, function, args, count, FrameReturn::Store, Value(), result);
      }
      case Kind::BoundMethod: {
        BoundMethod* method = static_cast<BoundMethod*>(object);
        if (is_kind(method->function, Kind::NativeFunction)) {
          args[-1] = method->self;
          call_native_window(vm, cast<NativeFunction>(method->function), args - 1, count + 1, result);
          return true;
        }
        if (!is_kind(method->function, Kind::Function)) break;
        Local<FunctionObject> function(cast<FunctionObject>(method->function));
        args[-1] = method->self;
        return enter_function(vm, function, args - 1, count + 1, FrameReturn::Store, Value(), result);
      }
      case Kind::NativeFunction: call_native_window(vm, cast<NativeFunction>(callee), args, count, result); return true;
      case Kind::Type: {
        FunctionObject* init = nullptr;
        Type* type = static_cast<Type*>(object);
        if (!class_init(vm, type, init)) break;
        Local<FunctionObject> kept(init);
        Value instance = allocate_instance(vm, type);
        args[-1] = instance;
        return enter_function(vm, kept, args - 1, count + 1, FrameReturn::Construct, std::move(instance), result);
      }
      case Kind::Instance: {
        FunctionObject* ignored = nullptr;
        class_init(vm, object->type, ignored);
        Object* method =
            object->type->call_cache_version == object->type->version ? object->type->cached_call : nullptr;
        if (!method) break;
        Local<FunctionObject> kept(static_cast<FunctionObject*>(method));
        args[-1] = callee;
        return enter_function(vm, kept, args - 1, count + 1, FrameReturn::Store, Value(), result);
      }
      default: break;
    }
  }
  Args call_args;
  call_args.positional = args;
  call_args.count = count;
  result = call_softly(vm, callee, call_args);
  for (uint32_t k = 0; k < count; ++k) args[k].reset();
  return true;
}

// Whether a call of it is its construct slot and nothing else: range(n), str(x), int(x).
inline bool Interpreter::is_made_at_once(Vm& vm, const Value& callee) {
  const Types& types = vm.types_;
  const Object* object = callee.is_object() ? callee.object() : nullptr;
  return object && (object == types.range || object == types.str || object == types.integer || object == types.real);
}
inline bool Interpreter::make_at_once(Vm& vm, Type* type, Value* args, uint32_t count, Value& result) {
  Args call_args;
  call_args.positional = args;
  call_args.count = count;
  result = type->slots.construct(vm, type, call_args);
  for (uint32_t k = 0; k < count; ++k) args[k].reset();
  return true;
}

// Takes the callee out of its register: args[-1] may be that register.
[[gnu::noinline]] bool Interpreter::call_window(Vm& vm, Value& callee_register, Value* args, uint32_t count,
                                                Value& result) {
  Value callee = std::move(callee_register);
  if (is_kind(callee, Kind::NativeFunction)) {
    call_native_window(vm, cast<NativeFunction>(callee), args, count, result);
    return true;
  }
  try {
    return is_made_at_once(vm, callee) ? make_at_once(vm, cast<Type>(callee), args, count, result)
                                       : call_fast(vm, callee, args, count, result);
  } catch (const ScriptException& e) {
    result = vm.return_raised(e.local());
    return true;
  }
}

// Calls with keywords or unpacked arguments, nothing moved.
bool Interpreter::enter_with(Vm& vm, const Value& callee, Args& args, Value& result) {
  FunctionObject* function = try_cast<FunctionObject>(callee);
  Value instance;
  std::vector<Value> shifted;
  auto shift = [&](const Value& self) {
    shifted.reserve(args.count + 1);
    shifted.push_back(self);
    shifted.insert(shifted.end(), args.positional, args.positional + args.count);
    args.positional = shifted.data();
    ++args.count;
  };
  FrameReturn on_return = FrameReturn::Store;
  if (auto* method = try_cast<BoundMethod>(callee); method && is_kind(method->function, Kind::Function)) {
    shift(method->self);
    function = cast<FunctionObject>(method->function);
  } else if (is_kind(callee, Kind::Type) && class_init(vm, cast<Type>(callee), function)) {
    instance = allocate_instance(vm, cast<Type>(callee));
    on_return = FrameReturn::Construct;
    shift(instance);
  } else if (is_kind(callee, Kind::Instance)) {
    FunctionObject* ignored = nullptr;
    Type* type = callee.object()->type;
    class_init(vm, type, ignored);
    if (type->call_cache_version == type->version && type->cached_call) {
      shift(callee);
      function = static_cast<FunctionObject*>(type->cached_call);
    }
  }
  if (!function) {
    result = call_softly(vm, callee, args);
    return true;
  }
  Local<FunctionObject> kept(function);
  enter_recursion(vm);
  Frame* frame = new_frame(vm, function);
  if (!bind_frame(vm, frame, args, result)) return true;
  frame->extra = std::move(instance);
  link_frame(vm, frame, on_return);
  if (function->compiled && vm.hooks_ && enter_hooks(vm, result)) {
    if (on_return == FrameReturn::Construct) result = frame->extra;
    leave_frame(vm);
    return true;
  }
  return false;
}

bool Interpreter::enter_keywords(Vm& vm, Frame& frame, Instruction i, bool method, Value& result) {
  const lang::CallShape& shape = frame.code->code->call_shapes[i.c];
  Value* r = frame.registers + i.b;
  bool bound = method && r[1];
  Value* first = method ? r + 2 : r + 1;
  SmallVector<StrObject*, 8> names;
  for (uint32_t name : shape.keywords) names.push_back(frame.code->names[name]);
  Args args;
  args.positional = bound ? first - 1 : first;
  args.count = shape.positional + bound;
  args.keyword_count = static_cast<uint32_t>(names.size());
  args.keyword_names = names.data();
  args.keyword_values = first + shape.positional;
  Value callee = r[0];
  bool done;
  try {
    done = enter_with(vm, callee, args, result);
  } catch (const ScriptException& e) {
    result = vm.return_raised(e.local());
    return true;
  }
  for (Value* p = r; p < first + shape.count(); ++p) p->reset();
  return done;
}

bool Interpreter::enter_unpacked(Vm& vm, Frame& frame, Instruction i, Value& result) {
  Value* r = frame.registers + i.b;
  Value callee = std::move(r[0]);
  Local<TupleObject> positional = ops::unpacked_arguments(vm, callee, std::move(r[1]));
  std::vector<Local<StrObject>> names;
  SmallVector<StrObject*, 8> name_pointers;
  std::vector<Value> values;
  if (i.c) ops::unpacked_keywords(vm, callee, std::move(r[2]), names, values);
  for (const auto& name : names) name_pointers.push_back(name.get());
  Args args;
  args.positional = positional->items;
  args.count = positional->size;
  args.keyword_count = static_cast<uint32_t>(values.size());
  args.keyword_names = name_pointers.data();
  args.keyword_values = values.data();
  return enter_with(vm, callee, args, result);
}

bool Interpreter::enter_property(Vm& vm, const Value& getter, const Value& self, Value& result) {
  Local<FunctionObject> function(cast<FunctionObject>(getter));
  Value args[1] = {self};
  return enter_function(vm, function, args, 1, FrameReturn::Store, Value(), result);
}

// --- raising: true where the current frame stands at a handler; false: every frame of the loop was left
// ---------------------

bool Interpreter::raise_register(Vm& vm, Frame& frame, Instruction i) {
  Local<ExceptionObject> e = ops::exception_to_raise(vm, frame.registers[i.a]);
  if (i.flags & 7) ops::release_operands(frame.registers, i);
  set_context(vm, e);
  return unwind(vm, e, true);
}

bool Interpreter::raise_from(Vm& vm, Frame& frame, Instruction i) {
  Local<ExceptionObject> e = ops::exception_to_raise(vm, frame.registers[i.a]);
  Value cause = frame.registers[i.b];
  if (!cause.is_none()) cause = ops::exception_to_raise(vm, cause, "exception causes").take();
  e->cause = std::move(cause);
  e->suppress_context = true;
  if (i.flags & 7) ops::release_operands(frame.registers, i);
  set_context(vm, e);
  return unwind(vm, e, true);
}

bool Interpreter::raise_handled(Vm& vm, Frame& frame) {
  for (Frame* f = &frame; f; f = f->back)
    if (f->handled) return reraise(vm, f->handled, f != &frame);
  raise(vm, vm.exceptions_.RuntimeError, "No active exception to reraise");
}

bool Interpreter::reraise(Vm& vm, const Value& exception, bool add_entry) {
  Local<ExceptionObject> kept(cast<ExceptionObject>(exception));
  return unwind(vm, kept, add_entry);
}

// What an attempt left in the Vm. One that came out of other frames has its context from there.
bool Interpreter::raise_returned(Vm& vm) {
  const Local<ExceptionObject> e = vm.take_returned();
  if (!e->context && e->traceback.empty()) set_context(vm, e);
  return unwind(vm, e, true);
}

// --- returns and yields -----------------------------------------------------------------------------

// Leaves the current frame with a value. True: the loop is to be left with it.
bool Interpreter::finish_return(Vm& vm, Value& value) {
  Frame* frame = vm.frame_;
  FrameReturn kind = frame->on_return;
  if (kind == FrameReturn::Construct) {
    if (!value.is_none()) raise_type_error(vm, "__init__() should return None, not '" + type_name(vm, value) + "'");
    value = std::move(frame->extra);
  }
  leave_frame(vm);
  if (kind == FrameReturn::Leave) return true;
  Frame* caller = vm.frame_;
  const Instruction i = caller->code->instructions[caller->pc];
  switch (kind) {
    case FrameReturn::Ignore: ++caller->pc; break;
    case FrameReturn::Iterate:  // the generator is exhausted
      caller->registers[i.b].reset();
      caller->pc += static_cast<uint32_t>(i.near_distance());
      return false;
    default: caller->registers[i.a] = std::move(value); ++caller->pc;
  }
  if (i.flags & 7) ops::release_operands(caller->registers, i);
  return false;
}

// Goes on in the frame of a generator for a for loop of the current frame. Null: it has ended.
inline Frame* Interpreter::resume_generator(Vm& vm, GeneratorObject* generator) {
  using State = GeneratorObject::State;
  if (generator->state == State::Finished) return nullptr;
  if (vm.depth_ >= vm.config_.recursion_limit) [[unlikely]]
    enter_recursion(vm);
  Frame* inner = &generator->frame;
  if (generator->state == State::Suspended) [[likely]] {
    const Instruction* at = inner->instructions + inner->pc;
    if (at->op == Op::Yield) [[likely]] {
      inner->registers[at->a].set_none();
      ++inner->pc;
    } else {
      resume_with(generator, Value::none());
    }
  } else if (generator->state == State::Running) {
    raise_value_error(vm, "generator already executing");
  }
  generator->state = State::Running;
  link_frame(vm, inner, FrameReturn::Iterate);
  return inner;
}

// Suspends the current frame, a generator's, whose caller is a for loop: that takes the value.
inline void Interpreter::suspend_to_loop(Vm& vm, Frame* frame) {
  frame->generator->state = GeneratorObject::State::Suspended;
  vm.frame_ = frame->back;
  frame->back = nullptr;
  --vm.depth_;
}

Value Interpreter::yield_from(Vm& vm, Frame& frame, Instruction i, bool& ended) {
  Value iterator = frame.registers[i.b];
  Value sent = std::move(frame.registers[i.c]);
  Value out;
  ended = false;
  if (auto* generator = try_cast<GeneratorObject>(iterator)) {
    ended = !generator_send(vm, generator, sent.is_none() ? Value() : sent, out);
    return out;
  }
  const bool next = sent.is_none() || sent.is_undefined();
  try {
    if (!next) {
      out = call_method(vm, iterator, "send", {sent});
    } else if (type_of(vm, iterator)->type_flags & kScriptClass) {
      out = call_method(vm, iterator, "__next__");  // its StopIteration carries the result
    } else {
      ended = !iterate_next(vm, iterator, out);
      if (ended) out = Value::none();
    }
  } catch (const ScriptException& e) {
    if (!e.exception()->type->is_subtype_of(vm.exceptions().StopIteration)) throw;
    ended = true;
    out = e.exception()->args->size ? e.exception()->args->items[0] : Value::none();
  }
  return out;
}

// --- the loop ---------------------------------------------------------------------------------------------

// The pieces that Attempt takes, with their answer in the last argument.
static void compare_is_true(Vm& vm, CompareOp op, const Value& x, const Value& y, bool& holds) {
  if (op == CompareOp::Eq && is_kind(x, Kind::Str) && is_kind(y, Kind::Str))
    holds = str_equal(cast<StrObject>(x), cast<StrObject>(y));
  else holds = truth(vm, compare(vm, op, x, y));
}
static void subscript(Vm& vm, const Value& container, const Value& key, Value& item) {
  const Type* type = key.is_int() && container.is_object() ? container.object()->type : nullptr;
  if (type == vm.types().list || type == vm.types().tuple) {  // the loop has looked at its items
    const char* message = type == vm.types().list ? "list index out of range" : "tuple index out of range";
    return_error(vm, vm.exceptions().IndexError, message);
  } else {
    item = get_item_softly(vm, container, key);
  }
}
static void advance(Vm& vm, const Value& iterator, Value& out, bool& more) { more = iterate_next(vm, iterator, out); }

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

Value Interpreter::loop(Vm& vm) {
  static const void* const kLabels[] = {
#define OPCODE(name, a, b, c, effects, semantics) &&L_##name,
#include "lang/bytecode/bytecode.def"
#undef OPCODE
  };
  // The same table for frames that a compiled region left: every instruction asks the hooks first.
  static const void* const kStepLabels[] = {
#define OPCODE(name, a, b, c, effects, semantics) &&L_Step,
#include "lang/bytecode/bytecode.def"
#undef OPCODE
  };
  const void* const* labels;
  Frame* frame;
  Value* r;
  const Instruction* pc;
  Value result;
  RELOAD();
  DISPATCH();

#include "interpreter/vm/dispatch_ops.inc"

L_Step: {
  SAVE();
  if (frame->skip_step) {
    frame->skip_step = false;
    goto* kLabels[static_cast<uint8_t>(pc->op)];
  }
  EnterResult outcome = ask_hooks(vm, *frame, result);
  if (outcome == EnterResult::Interpret) goto* kLabels[static_cast<uint8_t>(pc->op)];
  if (outcome == EnterResult::Returned) goto leave;
  RELOAD();
  DISPATCH();
}
}

#pragma GCC diagnostic pop

}  // namespace tsc::interp
