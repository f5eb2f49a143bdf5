// Making functions and classes; with-statements; exceptions; imports; match patterns.
#include "interpreter/modules/importer.h"
#include "interpreter/vm/annotations.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/exception_groups.h"
#include "interpreter/vm/inspect.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/slow_ops.h"
#include "interpreter/vm/system_hooks.h"

namespace tsc::interp {

Local<FunctionObject> make_function(Vm& vm, CodeObject* code, ModuleObject* module) {
  Local<FunctionObject> function = vm.heap().make<FunctionObject>(vm.types().function);
  function->code = Local<CodeObject>(code);
  function->module = Local<ModuleObject>(module);
  function->name = code->name;
  function->qualified_name = code->qualified_name;
  return function;
}

namespace ops {

void MakeFunction(Vm& vm, Frame& f, Instruction i) {
  CodeObject* code = f.code->nested[i.b];
  Value* part = f.registers + i.c;
  const Value names = i.mode() & 16 ? f.extra : Value();
  if (code->code.signature().kind == lang::CodeKind::Annotations) {
    f.registers[i.a] = make_annotations(vm, code, f.function->module, i.mode() & 4 ? *part : Value(), names).take();
    if (i.mode() & 4 && part != f.registers + i.a) part->reset();
    return;
  }
  Local<FunctionObject> function = make_function(vm, code, f.function->module);
  if (i.mode() & 1) {
    auto span = cast<TupleObject>(*part)->span();
    function->defaults.assign(span.begin(), span.end());
    (part++)->reset();
  }
  if (i.mode() & 2) {
    const lang::ParameterList& parameters = code->code.signature().parameters;
    for (uint32_t k = 0; k < parameters.keyword_only; ++k)
      function->keyword_defaults.push_back(
          dict_get(vm, cast<DictObject>(*part), parameters.names[parameters.positional + k]));
    (part++)->reset();
  }
  if (i.mode() & 4) {
    for (const Value& cell : cast<TupleObject>(*part)->span()) function->closure.emplace_back(cast<CellObject>(cell));
    (part++)->reset();
  }
  if (i.mode() & (8 | 16))
    function->annotations =
        make_annotations(vm, nullptr, f.function->module, i.mode() & 8 ? *part : Value(), names).take();
  if (i.mode() & 8) part->reset();
  f.registers[i.a] = function.take();
}

void KeepAnnotations(Vm& vm, Frame& f, Instruction i) {
  const Value name(vm.names().annotations.get());
  const Value names = f.extra ? f.extra : Value(f.globals);
  const bool is_plain = names.object()->type == vm.types().dict;
  if (i.mode() == 1 || !is_plain) {
    if (!contains(vm, names, name))
      set_item(vm, names, name,
               f.extra ? make_dict(vm).take() : readable_annotations(vm, Value(f.function->module.get())).take());
    // The mapping that a metaclass prepared sees a dict, which is filled behind the body (settle_annotations).
    if (i.mode() == 0) f.function->annotations = f.registers[i.a];
  } else if (f.code->code->kind == lang::CodeKind::ClassBody) {
    dict_set(vm, cast<DictObject>(names), name, f.registers[i.a]);
  } else {
    keep_annotations(vm, f.function->module, f.registers[i.a]);
  }
}

namespace {

// Whether text with a `__builtins__` of its own was left this one. What it has in its place is not asked.
bool has_builtin(Vm& vm, const Frame& f, const char* name) {
  DictObject* names = builtins_of(vm, f.globals);
  return names == vm.builtins()->globals.get() || !dict_get(vm, names, name).is_undefined();
}

void require_classes(Vm& vm, const Frame& f) {
  if (!has_builtin(vm, f, "__build_class__")) raise(vm, vm.exceptions().NameError, "__build_class__ not found");
}

}  // namespace

void MakeClass(Vm& vm, Frame& f, Instruction i) {
  require_classes(vm, f);
  const lang::CallShape& shape = f.code->code->call_shapes[i.c];
  Value* r = f.registers + i.b;
  ClassRequest request;
  request.name = Local<StrObject>(cast<StrObject>(r[0]));
  request.body = Local<FunctionObject>(cast<FunctionObject>(r[1]));
  for (uint32_t k = 0; k < shape.positional; ++k) request.bases.push_back(r[2 + k]);
  for (size_t k = 0; k < shape.keywords.size(); ++k)
    request.keywords.emplace_back(f.code->names[shape.keywords[k]], r[2 + shape.positional + k]);
  for (uint32_t k = 0; k < 2 + shape.count(); ++k) r[k].reset();
  f.registers[i.a] = build_class(vm, request);
}

void MakeClassEx(Vm& vm, Frame& f, Instruction i) {
  require_classes(vm, f);
  Value* r = f.registers + i.b;
  ClassRequest request;
  request.name = Local<StrObject>(cast<StrObject>(r[0]));
  request.body = Local<FunctionObject>(cast<FunctionObject>(r[1]));
  for (const Value& base : cast<TupleObject>(r[2])->span()) request.bases.push_back(base);
  Table& keywords = cast<DictObject>(r[3])->table;
  for (uint32_t k = 0; k < keywords.used(); ++k)
    if (keywords.entry(k).key)
      request.keywords.emplace_back(intern(vm, cast<StrObject>(keywords.entry(k).key)), keywords.entry(k).value);
  for (int k = 0; k < 4; ++k) r[k].reset();
  f.registers[i.a] = build_class(vm, request);
}

void PushHandled(Vm&, Frame& f, Instruction i) {
  Value exception = f.registers[i.b];
  f.registers[i.a] = std::move(f.handled);
  f.handled = std::move(exception);
}

// What ends a script goes on when its clean-up is over, whatever the clean-up did: here every way out of
// a handler passes, and the usual one raises it again itself.
void PopHandled(Vm&, Frame& f, Instruction i) {
  const Value handled = std::move(f.handled);
  f.handled = f.registers[i.a];
  auto* exception = try_cast<ExceptionObject>(handled);
  if (!exception || !exception->is_limit) return;
  const Instruction next = f.code->instructions[f.pc + 1];
  if (next.op == lang::Op::Reraise && f.registers[next.a].is(handled)) return;
  throw ScriptException(Local<ExceptionObject>(exception));
}

void refuse_yield_in_cleanup(Frame& f) {
  if (auto* exception = try_cast<ExceptionObject>(f.handled); exception && exception->is_limit)
    throw ScriptException(Local<ExceptionObject>(exception));
}

Type* class_to_catch(Vm& vm, const Value& v) {
  Type* type = try_cast<Type>(v);
  if (!type || !type->is_subtype_of(vm.exceptions().BaseException))
    raise_type_error(vm, "catching classes that do not inherit from BaseException is not allowed");
  return type;
}

void MatchException(Vm& vm, Frame& f, Instruction i) {
  const Value& classes = f.registers[i.c];
  auto check = [&](const Value& v) { return f.registers[i.b].object()->type->is_subtype_of(class_to_catch(vm, v)); };
  bool match = false;
  if (auto* tuple = try_cast<TupleObject>(classes)) {
    for (const Value& v : tuple->span()) match = check(v) || match;
  } else {
    match = check(classes);
  }
  f.registers[i.a] = Value::boolean(match);
}

void MatchGroup(Vm& vm, Frame& f, Instruction i) {
  GroupParts parts = match_group(vm, f.registers[i.b], f.registers[i.c]);
  if (!parts.match.is_none()) f.handled = parts.match;
  f.registers[i.a] = std::move(parts.match);
  f.registers[i.b] = std::move(parts.rest);
}

void GatherRaised(Vm& vm, Frame& f, Instruction i) {
  const Value raised = f.registers[i.c];
  f.registers[i.a] = gather_raised(vm, cast<ExceptionObject>(f.registers[i.b]), cast<ListObject>(raised)->items);
}

Local<ExceptionObject> exception_to_raise(Vm& vm, const Value& raised, const char* what) {
  Value v = raised;
  if (Type* type = try_cast<Type>(v); type && type->is_subtype_of(vm.exceptions().BaseException)) {
    v = call(vm, v);
    if (!is_kind(v, Kind::Exception))
      raise_type_error(vm, "calling " + repr(vm, raised) + " should have returned an instance of BaseException, not " +
                               repr(vm, Value(type_of(vm, v))));
  }
  if (!is_kind(v, Kind::Exception)) raise_type_error(vm, std::string(what) + " must derive from BaseException");
  // One that was kept since a call that a limit ended says nothing about this one.
  if (!vm.stop_flag().requested()) cast<ExceptionObject>(v)->is_limit = false;
  return Local<ExceptionObject>(cast<ExceptionObject>(v));
}

void ExceptionInfo(Vm& vm, Frame& f, Instruction i) {
  Value e = f.registers[i.b];
  f.registers[i.a] = Value(e.object()->type);
  f.registers[i.a + 1] = e;
  f.registers[i.a + 2] = get_attribute(vm, e, vm.names().traceback);
}

void LoadAssertionError(Vm& vm, Frame& f, Instruction i) { f.registers[i.a] = Value(vm.exceptions().AssertionError); }

void LoadContext(Vm& vm, Frame& f, Instruction i) {
  Value manager = f.registers[i.b];
  Type* type = type_of(vm, manager);
  auto take = [&](StrObject* name, uint32_t reg) {
    const Value* found = lookup_in_type(type, name);
    if (!found)
      raise_type_error(vm, "'" + type->name + "' object does not support the context manager protocol" +
                               (name == vm.names().exit.get() ? " (missed __exit__ method)" : ""));
    bool native = is_kind(*found, Kind::NativeFunction) && cast<NativeFunction>(*found)->is_method;
    if (is_kind(*found, Kind::Function) || native) {
      f.registers[reg] = *found;
      f.registers[reg + 1] = manager;
    } else {
      f.registers[reg] = bind_attribute(vm, *found, manager, type);
      f.registers[reg + 1].reset();
    }
  };
  if (!lookup_in_type(type, vm.names().enter))
    raise_type_error(vm, "'" + type->name + "' object does not support the context manager protocol");
  take(vm.names().exit, i.a);
  take(vm.names().enter, i.a + 2u);
}

void GetYieldFromIter(Vm& vm, Frame& f, Instruction i) {
  Value source = f.registers[i.b];
  f.registers[i.a] = is_kind(source, Kind::Generator) ? source : iterate(vm, source);
}

void ImportName(Vm& vm, Frame& f, Instruction i) {
  if (!has_builtin(vm, f, "__import__")) raise(vm, vm.exceptions().ImportError, "__import__ not found");
  f.registers[i.a] = vm.importer().import_statement(f.function->module, f.code->names[i.b]->view(), i.c, i.mode() == 1);
}

void ImportFrom(Vm& vm, Frame& f, Instruction i) {
  f.registers[i.a] = vm.importer().import_from(f.registers[i.b], f.code->names[i.c]);
}

void ImportStar(Vm& vm, Frame& f, Instruction i) { vm.importer().import_star(f.registers[i.a], f.globals); }

namespace {

bool has_pattern_flag(Vm& vm, const Value& subject, int64_t flag) {
  Type* type = type_of(vm, subject);
  if (const int64_t flags = pattern_flags(type->layout)) return flags & flag;
  const Value* given = lookup_in_type(type, intern(vm, kPatternFlags).get());
  return given && given->is_int() && (given->as_int() & flag);
}

}  // namespace

void MatchSequence(Vm& vm, Frame& f, Instruction i) {
  f.registers[i.a] = Value::boolean(has_pattern_flag(vm, f.registers[i.b], kSequencePattern));
}

void MatchMapping(Vm& vm, Frame& f, Instruction i) {
  f.registers[i.a] = Value::boolean(has_pattern_flag(vm, f.registers[i.b], kMappingPattern));
}

void MatchKeys(Vm& vm, Frame& f, Instruction i) {
  Value mapping = f.registers[i.b];
  Value keys = f.registers[i.c];
  const bool is_dict = mapping.is_object() && mapping.object()->type == vm.types().dict;
  const std::span<const Value> wanted = cast<TupleObject>(keys)->span();
  if (static_cast<size_t>(length(vm, mapping)) < wanted.size()) {
    f.registers[i.a] = Value::none();
    return;
  }
  for (size_t k = 1; k < wanted.size(); ++k)
    for (size_t before = 0; before < k; ++before)
      if (equal(vm, wanted[before], wanted[k]))
        raise(vm, vm.exceptions().ValueError, "mapping pattern checks duplicate key (" + repr(vm, wanted[k]) + ")");
  const Value nothing = is_dict ? Value() : call(vm, Value(vm.types().object));
  std::vector<Value> values;
  for (const Value& key : wanted) {
    Value v = is_dict ? dict_get(vm, cast<DictObject>(mapping), key)
                      : call_method(vm, mapping, "get", {Value(key), Value(nothing)});
    if (!v || (!is_dict && v.is(nothing))) {
      f.registers[i.a] = Value::none();
      return;
    }
    values.push_back(std::move(v));
  }
  f.registers[i.a] = make_tuple(vm, values).take();
}

namespace {

// The names that sub-patterns of a class pattern have asked for.
using SeenNames = std::vector<Local<StrObject>>;

void see_name(Vm& vm, Type* type, StrObject* name, SeenNames& seen) {
  for (const Local<StrObject>& before : seen)
    if (before->view() == name->view())
      raise_type_error(vm, type->name + "() got multiple sub-patterns for attribute " + repr(vm, Value(name)));
  seen.emplace_back(name);
}

bool match_positional(Vm& vm, const Value& subject, Type* type, uint32_t count, SeenNames& seen,
                      std::vector<Value>& out) {
  Value names = find_attribute(vm, Value(type), intern(vm, "__match_args__").get());
  if (!names && matches_itself(vm.types(), type)) {
    if (count > 1)
      raise_type_error(vm, type->name + "() accepts 1 positional sub-pattern (" + std::to_string(count) + " given)");
    out.push_back(subject);
    return true;
  }
  if (names && !is_kind(names, Kind::Tuple))
    raise_type_error(vm, type->name + ".__match_args__ must be a tuple (got " + type_name(vm, names) + ")");
  Local<TupleObject> tuple = names ? to_tuple(vm, names) : make_tuple(vm, size_t{0});
  if (count > tuple->size)
    raise_type_error(vm, type->name + "() accepts " + std::to_string(tuple->size) + " positional sub-pattern" +
                             (tuple->size == 1 ? "" : "s") + " (" + std::to_string(count) + " given)");
  for (uint32_t k = 0; k < count; ++k) {
    const Value& name = tuple->items[k];
    if (!name.is_object() || name.object()->type != vm.types().str)
      raise_type_error(vm, "__match_args__ elements must be strings (got " + type_name(vm, name) + ")");
    see_name(vm, type, cast<StrObject>(name), seen);
    Value v = find_attribute(vm, subject, cast<StrObject>(name));
    if (!v) return false;
    out.push_back(std::move(v));
  }
  return true;
}

}  // namespace

void MatchClass(Vm& vm, Frame& f, Instruction i) {
  const lang::CallShape& shape = f.code->code->call_shapes[i.c];
  Value subject = std::move(f.registers[i.b]);
  Value klass = std::move(f.registers[i.b + 1]);
  Type* type = try_cast<Type>(klass);
  if (!type) raise_type_error(vm, "called match pattern must be a type");
  Value result = Value::none();
  std::vector<Value> values;
  SeenNames seen;
  bool match = is_instance(vm, subject, type);
  if (match && shape.positional) match = match_positional(vm, subject, type, shape.positional, seen, values);
  for (size_t k = 0; match && k < shape.keywords.size(); ++k) {
    StrObject* name = f.code->names[shape.keywords[k]];
    if (shape.positional) see_name(vm, type, name, seen);
    Value v = find_attribute(vm, subject, name);
    if (!v) match = false;
    else values.push_back(std::move(v));
  }
  if (match) result = make_tuple(vm, values).take();
  f.registers[i.a] = std::move(result);
}

void PrintExpr(Vm& vm, Frame& f, Instruction i) {
  const Value& v = f.registers[i.a];
  const bool is_prompt = !f.extra;  // and not exec() of code for one
  if (const Value hook = own_hook(vm, "displayhook")) {
    call(vm, hook, {Value(v)});
    return;
  }
  if (is_prompt && vm.config().display) return vm.config().display(v);
  if (v.is_none() || !v) return;
  dict_set(vm, vm.builtins()->globals, "_", v);
  vm.write(Stream::Out, repr(vm, v) + "\n");
}

}  // namespace ops
}  // namespace tsc::interp
