// A frame as the program sees it: the code and the line of a call at the moment when somebody asked. It keeps the
// calls below it in the same way, and no variables, so nothing lives longer for it.
#include "interpreter/builtins/builtins.h"
#include "interpreter/vm/frames.h"

namespace tsc::interp {
namespace {

struct FrameView : Object {
  Value code;
  int64_t line = 0;
  Value globals;  // Undefined for a frame of a traceback, which has ended
  Value back;     // Undefined for None
  FrameView() : Object(Kind::Native) {}
};
const char kFrameView = 0;

FrameView* view_of(const Value& v) { return static_cast<FrameView*>(v.object()); }
Value frame_code(Vm&, const Value& v) { return view_of(v)->code; }
Value frame_line(Vm&, const Value& v) { return Value::integer(view_of(v)->line); }
Value frame_globals(Vm& vm, const Value& v) {
  if (!view_of(v)->globals)
    raise(vm, vm.exceptions().AttributeError,
          "the frame has ended, and its globals are not kept; use the function's __globals__");
  return view_of(v)->globals;
}
Value frame_back(Vm&, const Value& v) { return view_of(v)->back ? view_of(v)->back : Value::none(); }
Value frame_builtins(Vm& vm, const Value&) { return vm.builtins()->globals.value(); }
Value frame_trace(Vm&, const Value&) { return Value::none(); }
Value frame_locals(Vm& vm, const Value&) {
  raise(vm, vm.exceptions().AttributeError, "a frame keeps no variables; call locals() in the function itself");
}
Value frame_repr(Vm& vm, const Value& v) {
  const lang::CodeObject& code = *cast<CodeObject>(view_of(v)->code)->code;
  return str_value(vm, "<frame at " + address_of(v.object()) + ", file '" + std::string(code.file()) + "', line " +
                           std::to_string(view_of(v)->line) + ", code " + code.name + ">");
}

}  // namespace

void init_frame_view(Vm& vm) {
  TypeBuilder f(vm, "frame", Kind::Native);
  f.slots().destroy = destroy_as<FrameView>;
  f.slots().traverse = [](Object* o, Visitor& visit) {
    visit(static_cast<FrameView*>(o)->globals);
    visit(static_cast<FrameView*>(o)->back);
  };
  f.slots().repr = frame_repr;
  f.getter("f_code", frame_code)
      .getter("f_lineno", frame_line)
      .getter("f_globals", frame_globals)
      .getter("f_builtins", frame_builtins)
      .getter("f_locals", frame_locals)
      .getter("f_trace", frame_trace)
      .getter("f_back", frame_back);
  vm.extension(&kFrameView) = std::make_shared<Type*>(f.finish());
}

Value make_frame_view(Vm& vm, const Value& code, int64_t line) {
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kFrameView));
  Local<FrameView> view = vm.heap().make<FrameView>(type);
  view->code = code;
  view->line = line;
  return view.take();
}

Value frame_at(Vm& vm, int64_t depth) {
  Frame* frame = vm.current_frame();
  for (; frame && depth > 0; --depth) frame = frame->caller();
  if (!frame) raise_value_error(vm, "call stack is not deep enough");
  Value first;
  FrameView* last = nullptr;
  for (; frame; frame = frame->caller()) {
    Value view = make_frame_view(vm, Value(frame->code), frame->code->code->line_of(frame->pc));
    view_of(view)->globals = Value(frame->globals);
    (last ? last->back : first) = view;
    last = view_of(view);
  }
  return first;
}

}  // namespace tsc::interp
