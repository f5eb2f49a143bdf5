// A frame as the program sees it: the code, the line and the variables of a call at the moment when somebody asked. It
// keeps the calls below it in the same way. The frames of a traceback keep no variables, so nothing lives longer for an
// exception.
#include "interpreter/builtins/builtins.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/inspect.h"

namespace tsc::interp {
namespace {

struct FrameView : Object {
  Value code;
  int64_t line = 0;
  Value globals;  // Undefined for a frame of a traceback, which has ended
  Value locals;   // the same
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
Value frame_builtins(Vm& vm, const Value& v) {
  const auto* globals = try_cast<DictObject>(view_of(v)->globals);
  return globals ? Value(builtins_of(vm, const_cast<DictObject*>(globals))) : vm.builtins()->globals.value();
}
Value frame_trace(Vm&, const Value&) { return Value::none(); }
Value frame_locals(Vm& vm, const Value& v) {
  if (!view_of(v)->locals)
    raise(vm, vm.exceptions().AttributeError, "the frame has ended, and its variables are not kept");
  return view_of(v)->locals;
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
    visit(static_cast<FrameView*>(o)->locals);
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

// A value that lies in a cell when a nested function uses the variable.
static Value variable_content(const Value& v) { return is_kind(v, Kind::Cell) ? cast<CellObject>(v)->content : v; }

Value locals_of(Vm& vm, const Frame& frame) {
  const lang::CodeObject& code = *frame.code->code;
  const bool is_function = code.kind != lang::CodeKind::ClassBody && code.kind != lang::CodeKind::Module;
  if (frame.extra && !is_function) return frame.extra;  // a class body's namespace, that of exec
  if (code.name == "<module>") return Value(frame.globals);
  Local<DictObject> dict = make_dict(vm);
  const auto add = [&](const std::string& name, const Value& v) {
    const Value content = variable_content(v);
    if (content && !name.empty() && name[0] != '.') dict_set(vm, dict, name, content);
  };
  for (size_t r = 0; r < code.register_names.size(); ++r) add(code.register_names[r], frame.registers[r]);
  for (size_t i = 0; i < code.free_names.size(); ++i)
    if (code.free_names[i] != "__class__") add(code.free_names[i], frame.function->closure[i].value());
  return dict.take();
}

Value make_frame_view(Vm& vm, const Value& code, int64_t line) {
  Type* type = *std::static_pointer_cast<Type*>(vm.extension(&kFrameView));
  Local<FrameView> view = vm.heap().make<FrameView>(type);
  view->code = code;
  view->line = line;
  return view.take();
}

Value view_of_frame(Vm& vm, const Frame& frame) {
  Value view = make_frame_view(vm, Value(frame.code), frame.code->code->line_of(frame.pc));
  view_of(view)->globals = Value(frame.globals);
  view_of(view)->locals = locals_of(vm, frame);
  return view;
}

Value frame_at(Vm& vm, int64_t depth) {
  Frame* frame = vm.current_frame();
  for (; frame && depth > 0; --depth) frame = frame->caller();
  if (!frame) raise_value_error(vm, "call stack is not deep enough");
  Value first;
  FrameView* last = nullptr;
  for (; frame; frame = frame->caller()) {
    Value view = view_of_frame(vm, *frame);
    (last ? last->back : first) = view;
    last = view_of(view);
  }
  return first;
}

}  // namespace tsc::interp
