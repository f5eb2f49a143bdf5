#include "interpreter/vm/frames.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "interpreter/vm/iteration.h"
#include "interpreter/vm/threads.h"
#include "lang/bytecode/bytecode.h"
#include "runtime/base/error.h"

namespace tsc::interp {

FrameStack::~FrameStack() { drop_from(0); }

void FrameStack::drop_from(size_t first) noexcept {
  for (size_t i = first; i < chunks_.size(); ++i) {
    if (i > 0) heap_.release(static_cast<size_t>(chunks_[i].end - chunks_[i].begin));
    std::free(chunks_[i].begin);
  }
  chunks_.resize(std::min(first, chunks_.size()));
}

Frame* FrameStack::push_in_next_chunk(FunctionObject* function, Frame* back, uint32_t taken, size_t bytes) {
  size_t next = top_ ? current_ + 1 : 0;
  if (top_) chunks_[current_].top = top_;
  // A kept chunk that is too small is replaced; nothing lives in it.
  if (next < chunks_.size() && static_cast<size_t>(chunks_[next].end - chunks_[next].begin) < bytes) drop_from(next);
  if (next == chunks_.size()) {
    size_t size = bytes > kChunkBytes ? bytes : kChunkBytes;
    if (chunks_.size() == chunks_.capacity()) chunks_.reserve(2 * chunks_.size() + 4);
    if (next > 0) heap_.charge(size);
    char* memory = static_cast<char*>(std::malloc(size));
    if (!memory) {
      if (next > 0) heap_.release(size);
      throw std::bad_alloc();
    }
    chunks_.push_back({memory, memory + size, memory});
  }
  current_ = next;
  top_ = chunks_[next].begin;
  end_ = chunks_[next].end;
  Frame* frame = push(function, back, taken);
  frame->opens_chunk = next > 0;
  return frame;
}

void FrameStack::pop_chunk() {
  --current_;
  top_ = chunks_[current_].top;
  end_ = chunks_[current_].end;
}

void enter_recursion(Vm& vm) {
  if (VmAccess::depth(vm) < vm.config().recursion_limit) return;
  raise(vm, vm.exceptions().RecursionError, "maximum recursion depth exceeded");
}

void leave_frame(Vm& vm) {
  Frame* frame = VmAccess::frame(vm);
  VmAccess::frame(vm) = frame->back;
  --VmAccess::depth(vm);
  if (frame->generator) finish_generator(frame->generator);
  else drop_unlinked_frame(vm, frame);
}

void Vm::pop_frame() { leave_frame(*this); }

Frame* Vm::push_frame(const FrameState& state) {
  Frame* frame = new_frame(*this, state.function);
  size_t count = std::min<size_t>(state.registers.size(), frame->register_count);
  for (size_t i = 0; i < count; ++i) frame->registers[i] = state.registers[i];
  frame->pc = state.pc;
  frame->handled = state.handled;
  frame->extra = state.extra;
  link_frame(*this, frame, state.on_return);
  return frame;
}

Value Vm::run_frames(std::span<FrameState> frames) {
  check_native_stack();
  for (size_t i = 0; i < frames.size(); ++i) {
    Frame* frame = push_frame(frames[i]);
    if (i == 0) frame->on_return = FrameReturn::Leave;
  }
  return run_loop(*this);
}

namespace {

// Ends the chain of contexts of `handled` in front of `exception`. A script may have closed the chain to a ring without
// it: `behind` goes half as fast, and meets the search there.
void unlink_context(ExceptionObject* handled, const ExceptionObject* exception) {
  const ExceptionObject* behind = handled;
  bool is_even = false;
  for (ExceptionObject* e = handled; e; is_even = !is_even) {
    ExceptionObject* next = try_cast<ExceptionObject>(e->context);
    if (next == exception) return e->context.reset();
    if (is_even) behind = cast<ExceptionObject>(behind->context);
    if (next == behind) return;
    e = next;
  }
}

}  // namespace

void set_context(Vm& vm, ExceptionObject* exception) {
  for (Frame* frame = VmAccess::frame(vm); frame; frame = frame->back) {
    if (!frame->handled) continue;
    ExceptionObject* handled = try_cast<ExceptionObject>(frame->handled);
    if (!handled || handled == exception) return;
    unlink_context(handled, exception);
    exception->context = Value(handled);
    return;
  }
}

namespace {

// A StopIteration must not leave a generator: it would end a loop silently.
Local<ExceptionObject> stop_iteration_in_generator(Vm& vm, const Local<ExceptionObject>& e) {
  Local<ExceptionObject> error;
  try {
    error = make_exception(vm, vm.exceptions().RuntimeError, "generator raised StopIteration");
  } catch (const std::bad_alloc&) {
    return vm.memory_error();
  }
  error->cause = e.value();
  error->context = e.value();
  error->suppress_context = true;
  return error;
}

// A place that there is no memory for is left out; a limit is heard at the next safe point.
void add_place(Vm& vm, ExceptionObject* exception, const Frame* frame) noexcept {
  try {
    if (exception->traceback.empty()) exception->traceback.reserve(4);
    exception->traceback.push_back({frame->code->code, frame->pc});
  } catch (const std::bad_alloc&) {
  } catch (const Error&) {
    if (!exception->is_limit) vm.stop(StopCause::Memory);
  }
}

}  // namespace

bool unwind(Vm& vm, const Local<ExceptionObject>& raised, bool add_entry) {
  // Held here: what dies with a frame may run script code (a generator's finally), which unwinds too.
  Local<ExceptionObject> exception = raised;
  const bool uncatchable = exception->is_limit;
  const bool leaving = uncatchable && leaves(vm);
  if (uncatchable && !leaving) vm.begin_grace();
  for (;;) {
    Frame* frame = VmAccess::frame(vm);
    const lang::CodeObject& code = *frame->code->code;
    if (add_entry) add_place(vm, exception, frame);
    add_entry = true;
    const lang::ExceptionEntry* entry = frame->skip_handlers                    ? nullptr
                                        : !uncatchable                          ? lang::find_handler(code, frame->pc)
                                        : !leaving && vm.stop_flag().in_grace() ? lang::find_cleanup(code, frame->pc)
                                                                                : nullptr;
    if (entry) {
      for (uint32_t i = entry->temporaries; i < frame->register_count; ++i) frame->registers[i].reset();
      frame->registers[entry->reg] = exception.value();
      frame->pc = entry->handler;
      return true;
    }
    FrameReturn on_return = frame->on_return;
    bool generator = frame->generator != nullptr;
    leave_frame(vm);
    if (generator && exception->type->is_subtype_of(vm.exceptions().StopIteration))
      exception = stop_iteration_in_generator(vm, exception);
    if (on_return == FrameReturn::Leave) {
      VmAccess::unwinding(vm) = std::move(exception);
      return false;
    }
  }
}

}  // namespace tsc::interp
