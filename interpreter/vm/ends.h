#pragma once
// What the script sees of an object's end: __del__ of its class, and the weak references to it with their
// callbacks. Both run at once when the last reference goes, inside of whatever let go of it, as a generator's
// `finally` does; objects without either (flag kHasEnd) pay nothing. Errors of such code have nobody to go to:
// they are printed. A stop of the host, and the heap's hurry behind one, leave the code out.
// Knows: the heap's flags, calls. Keeps: a weak reference never outlives what it says of its target.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

// weakref.ref and the proxies: the target is not counted and null once it is gone. Those of one target are a list,
// newest first, whose head the table of the Vm knows by the target.
struct WeakReference : Instance {
  Object* target = nullptr;
  Value callback;  // Undefined: none
  WeakReference* newer = nullptr;
  WeakReference* older = nullptr;
  int64_t hash = 0;
  bool has_hash = false;  // of a target that may be gone by now
  WeakReference() : Instance(Kind::Native) {}
};

// The first class with __del__, or weak reference: makes room for what must need none later, and tells the compiler.
void prepare_ends(Vm& vm);

// Whether objects of this layout may be referred to weakly, as in Python: not int, str, tuple, list, dict and their
// like.
bool takes_weak_references(Vm& vm, const Object* object);
void refer_weakly(Vm& vm, WeakReference* reference, Object* target, const Value& callback);
void forget_reference(Vm& vm, WeakReference* reference) noexcept;
void destroy_reference(Vm& vm, Object* object);         // their destroy slot
WeakReference* weak_reference(Vm& vm, Object* object);  // null: it is none
WeakReference* newest_reference(Vm& vm, const Object* target);

// Calls __del__, once in an object's life. The caller holds the object.
void call_finalizer(Vm& vm, Object* object) noexcept;
// Empties the references to these objects first and calls then the callbacks of those that are alive.
void clear_references(Vm& vm, std::span<Object* const> targets) noexcept;
// "Exception ignored in: ..." on standard error; for catch blocks of code that has no caller to tell.
void report_ignored(Vm& vm, const Value& where, ExceptionObject* exception) noexcept;
// The program is over, as in Python: waits for its threads but the daemon ones, calls what it has registered with
// atexit. What ends the script goes through.
void finish_program(Vm& vm);
// Whether it has used what finish_program looks at.
bool has_much_to_finish(Vm& vm) noexcept;
// What is alive when the program is over meets its end while all else is there: the objects that variables of __main__
// name, in their order, then all others.
void end_program(Vm& vm) noexcept;

}  // namespace tsc::interp
