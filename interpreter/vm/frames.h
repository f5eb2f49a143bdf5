#pragma once
// Entering and leaving frames: argument binding, the stack, unwinding. Used by the dispatch loop, by
// calls from C++ and by generators.
#include "interpreter/vm/vm_access.h"

namespace tsc::interp {

// A frame on the Vm's stack, linked as the current one; registers unbound. The caller binds arguments
// first into `registers` of the unlinked frame where it can fail.
Frame* new_frame(Vm& vm, FunctionObject* function);
void link_frame(Vm& vm, Frame* frame, FrameReturn on_return);
void drop_unlinked_frame(Vm& vm, Frame* frame);
// Unlinks the current frame and frees it (a generator's frame stays with its generator, finished).
void leave_frame(Vm& vm);
// Fills parameter registers from a call, or raises TypeError as CPython words it.
void bind_arguments(Vm& vm, FunctionObject* function, const Args& args, Value* registers);
// Looks for a handler from the current frame outwards. True: the current frame stands at the handler.
// False: a Leave frame was left; the exception belongs to the C++ caller.
bool unwind(Vm& vm, const Local<ExceptionObject>& exception, bool add_entry);
// Runs from the current frame until the nearest Leave frame returns.
Value run_loop(Vm& vm);
// The same, after offering the current frame to the compiler's hooks.
Value run_loop_entering(Vm& vm);
Value call_native(Vm& vm, NativeFunction* function, Args& args);
Value call_function(Vm& vm, FunctionObject* function, const Args& args);
// The same, beginning with an exception raised at the current frame's pc.
Value run_loop_raising(Vm& vm, Local<ExceptionObject> exception);
// Context of a new exception: the nearest handled one.
void set_context(Vm& vm, ExceptionObject* exception);
void enter_recursion(Vm& vm);  // RecursionError beyond the limit

}  // namespace tsc::interp
