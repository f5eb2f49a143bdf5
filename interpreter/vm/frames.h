#pragma once
// Entering and leaving frames: argument binding, the stack, unwinding. Used by the dispatch loop, by
// calls from C++ and by generators.
#include <new>

#include "interpreter/vm/vm_access.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {

inline Frame* FrameStack::push(FunctionObject* function, Frame* back, uint32_t taken) {
  CodeObject* code = function->code;
  const uint32_t registers = code->register_count;
  const size_t bytes = sizeof(Frame) + registers * sizeof(Value);
  char* place = top_;
  if (static_cast<size_t>(end_ - place) < bytes) [[unlikely]]
    return push_in_next_chunk(function, back, taken, bytes);
  top_ = place + bytes;
  Value* first = reinterpret_cast<Value*>(place + sizeof(Frame));
  // Two at a time: most frames have a handful.
  Value *v = first + taken, *last = first + registers - 1;
  for (; v < last; v += 2) v[0].begin_unbound(), v[1].begin_unbound();
  if (v == last) v->begin_unbound();
  Frame* frame = new (place) Frame;
  frame->back = back;
  frame->function = function;
  frame->code = code;
  frame->globals = function->module->globals;
  frame->registers = first;
  frame->instructions = code->instructions;
  frame->constants = code->first_constant;
  frame->caches = code->first_cache;
  frame->register_count = registers;
  return frame;
}

inline void FrameStack::pop(Frame* frame) {
  Value *v = frame->registers, *last = v + frame->register_count - 1;
  for (; v < last; v += 2) v[0].~Value(), v[1].~Value();
  if (v == last) v->~Value();
  const bool opens_chunk = frame->opens_chunk;
  frame->~Frame();
  top_ = reinterpret_cast<char*>(frame);
  if (opens_chunk) [[unlikely]]
    pop_chunk();
}

// A frame on the Vm's stack, not yet linked; registers unbound. The caller binds arguments first, where
// that can fail.
inline Frame* new_frame(Vm& vm, FunctionObject* function) {
  prepare_code(vm, function->code);
  Frame* frame = VmAccess::stack(vm).push(function, nullptr);
  ++function->reference_count;
  return frame;
}

// Makes it the current one.
inline void link_frame(Vm& vm, Frame* frame, FrameReturn on_return) {
  frame->back = VmAccess::frame(vm);
  frame->on_return = on_return;
  VmAccess::frame(vm) = frame;
  ++VmAccess::depth(vm);
}

inline void drop_unlinked_frame(Vm& vm, Frame* frame) {
  FunctionObject* function = frame->function;
  VmAccess::stack(vm).pop(frame);
  if (--function->reference_count == 0) destroy_object(function);
}

// Unlinks the current frame and frees it (a generator's frame stays with its generator, finished).
void leave_frame(Vm& vm);
// Fills parameter registers from a call. False: they do not fit, and a TypeError as CPython words it waits in the Vm.
bool bind_arguments(Vm& vm, FunctionObject* function, const Args& args, Value* registers);
// The same for a new frame. False: nothing is to run, and the frame is gone; `result` is the generator, or Undefined
// where the arguments do not fit.
bool bind_frame(Vm& vm, Frame* frame, const Args& args, Value& result);
// A module of the library may let its functions take keywords by other names: its dict `__keyword_aliases__` maps them
// to a parameter's name, or to "", the first parameter. The parameter that a name stands for, or null.
StrObject* other_spelling(Vm& vm, ModuleObject* module, const lang::ParameterList& parameters, StrObject* name);
// Whether the keyword names the items that such a module's function takes in a row, as in zeros(size=(2, 3)): then its
// value is their one item.
bool names_the_row(Vm& vm, ModuleObject* module, const lang::ParameterList& parameters, StrObject* name);
// Whether a call with so many arguments by position, and no others, gives all parameters but some that have defaults.
inline bool lacks_defaults_only(const FunctionObject* function, uint32_t count) {
  // Wraps around where there are too many; a code that is not plain has more parameters than anyone has defaults.
  return function->code->plain_arguments - count <= function->defaults.size();
}
inline void fill_last_defaults(const FunctionObject* function, uint32_t count, Value* registers) {
  const uint32_t all = function->code->plain_arguments;
  const Value* defaults = function->defaults.data() + function->defaults.size();
  for (uint32_t i = count; i < all; ++i) registers[i] = *(defaults - (all - i));
}
// Looks for a handler from the current frame outwards. True: the current frame stands at the handler.
// False: a Leave frame was left; the exception belongs to the C++ caller.
bool unwind(Vm& vm, const Local<ExceptionObject>& exception, bool add_entry);
// Runs from the current frame until the nearest Leave frame returns.
Value run_loop(Vm& vm);
// What is called softly throws no exception that leaves the frames: it waits in Vm::take_returned(), and the answer is
// Undefined.
Value run_loop_softly(Vm& vm);
// The same, after offering the current frame to the compiler's hooks.
Value run_loop_entering(Vm& vm);
Value call_native(Vm& vm, NativeFunction* function, Args& args);
Value call_native_softly(Vm& vm, NativeFunction* function, Args& args);
// The same with arguments that lie in registers, which are empty afterwards. `function` is kept alive by the caller.
void call_native_window(Vm& vm, NativeFunction* function, Value* args, uint32_t count, Value& result);
Value call_function_softly(Vm& vm, FunctionObject* function, const Args& args);
// These may throw what they have not left in the Vm.
Value call_softly(Vm& vm, const Value& callee, Args& args);
Value construct_softly(Vm& vm, Type* type, Args& args);
// The same, beginning with an exception raised at the current frame's pc.
Value run_loop_raising(Vm& vm, Local<ExceptionObject> exception);
// Context of a new exception: the nearest handled one.
void set_context(Vm& vm, ExceptionObject* exception);
void enter_recursion(Vm& vm);  // RecursionError beyond the limit

}  // namespace tsc::interp
