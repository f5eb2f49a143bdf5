// Functions, builtin functions, bound methods, code, cells, modules.
#include "interpreter/builtins/builtins.h"
#include "interpreter/vm/annotations.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/threads.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {

Local<CellObject> make_cell(Vm& vm, const Value& content) {
  Local<CellObject> cell = vm.heap().make<CellObject>(vm.types().cell);
  cell->content = content;
  return cell;
}

Local<ModuleObject> make_module(Vm& vm, std::string_view name) {
  Local<ModuleObject> module = vm.heap().make<ModuleObject>(vm.types().module);
  module->name = std::string(name);
  module->globals = make_dict(vm);
  dict_set(vm, module->globals, "__name__", str_value(vm, name));
  return module;
}

Value make_bound_method(Vm& vm, const Value& function, const Value& self) {
  Local<BoundMethod> method = vm.heap().make<BoundMethod>(vm.types().bound_method);
  method->function = function;
  method->self = self;
  return method.take();
}

std::string address_of(const Object* o) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", static_cast<const void*>(o));
  return text;
}

namespace {

// --- function ---------------------------------------------------------------------------------------

void function_traverse(Object* o, Visitor& visit) {
  auto* f = static_cast<FunctionObject*>(o);
  visit(f->code.get());
  visit(f->module.get());
  for (const Value& v : f->defaults) visit(v);
  for (const Value& v : f->keyword_defaults) visit(v);
  for (const auto& cell : f->closure) visit(cell.get());
  visit(f->annotations);
  visit(f->attributes.get());
}
void function_clear(Vm&, Object* o) {
  auto* f = static_cast<FunctionObject*>(o);
  std::vector<Value> defaults = std::move(f->defaults);
  std::vector<Value> keyword_defaults = std::move(f->keyword_defaults);
  auto closure = std::move(f->closure);
  f->attributes = nullptr;
  f->annotations.reset();
}
Value bind_function(Vm& vm, const Value& self, const Value& instance, Type*) {
  return instance ? make_bound_method(vm, self, instance) : self;
}
Value function_repr(Vm& vm, const Value& self) {
  auto* f = cast<FunctionObject>(self);
  return str_value(vm, "<function " + std::string(f->qualified_name->view()) + " at " + address_of(f) + ">");
}
Value function_get(Vm& vm, const Value& self, StrObject* name) {
  auto* f = cast<FunctionObject>(self);
  if (f->attributes)
    if (Value v = dict_get(vm, f->attributes, Value(name))) return v;
  return generic_get_attribute(vm, self, name);
}
void function_set(Vm& vm, const Value& self, StrObject* name, const Value& value) {
  auto* f = cast<FunctionObject>(self);
  const Value* found = lookup_in_type(f->type, name);
  if (found && is_kind(*found, Kind::NativeProperty)) return generic_set_attribute(vm, self, name, value);
  note_store(vm, f, Value(name));
  if (!f->attributes) f->attributes = make_dict(vm);
  dict_set(vm, f->attributes, intern(vm, name).take(), value);
}
void function_delete(Vm& vm, const Value& self, StrObject* name) {
  auto* f = cast<FunctionObject>(self);
  const Value* found = lookup_in_type(f->type, name);
  if (found && is_kind(*found, Kind::NativeProperty)) return generic_delete_attribute(vm, self, name);
  note_store(vm, f, Value(name));
  if (!f->attributes || !dict_remove(vm, f->attributes, Value(name))) raise_attribute_error(vm, self, name);
}

Value function_name(Vm&, const Value& v) { return cast<FunctionObject>(v)->name.value(); }
void function_set_name(Vm& vm, const Value& v, const Value& name) {
  if (!is_kind(name, Kind::Str)) raise_type_error(vm, "__name__ must be set to a string object");
  note_store(vm, v.object(), Value());
  cast<FunctionObject>(v)->name = Local<StrObject>(cast<StrObject>(name));
}
Value function_qualname(Vm&, const Value& v) { return cast<FunctionObject>(v)->qualified_name.value(); }
void function_set_qualname(Vm& vm, const Value& v, const Value& name) {
  if (!is_kind(name, Kind::Str)) raise_type_error(vm, "__qualname__ must be set to a string object");
  note_store(vm, v.object(), Value());
  cast<FunctionObject>(v)->qualified_name = Local<StrObject>(cast<StrObject>(name));
}
Value function_doc(Vm& vm, const Value& v) { return doc_of(vm, cast<FunctionObject>(v)); }
void function_set_doc(Vm& vm, const Value& v, const Value& doc) {
  note_store(vm, v.object(), Value());
  cast<FunctionObject>(v)->doc = doc ? doc : Value::none();
}
Value function_module(Vm& vm, const Value& v) {
  auto* f = cast<FunctionObject>(v);
  if (f->attributes)
    if (Value own = dict_get(vm, f->attributes, Value(vm.names().module.get()))) return own;
  Value name = dict_get(vm, f->module->globals, "__name__");
  return name ? name : Value::none();
}
void function_set_module(Vm& vm, const Value& v, const Value& value) {
  auto* f = cast<FunctionObject>(v);
  note_store(vm, f, Value());
  if (!f->attributes) f->attributes = make_dict(vm);
  dict_set(vm, f->attributes, Value(vm.names().module.get()), value ? value : Value::none());
}
Value function_dict(Vm& vm, const Value& v) {
  auto* f = cast<FunctionObject>(v);
  if (!f->attributes) {
    note_store(vm, f, Value());  // from here on attributes may come by the dict
    f->attributes = make_dict(vm);
  }
  return f->attributes.value();
}
void function_set_dict(Vm& vm, const Value& v, const Value& value) {
  if (!value) raise_type_error(vm, "cannot delete __dict__");
  if (!is_kind(value, Kind::Dict))
    raise_type_error(vm, "__dict__ must be set to a dictionary, not a '" + type_name(vm, value) + "'");
  auto* f = cast<FunctionObject>(v);
  note_store(vm, f, Value());
  f->attributes = Local<DictObject>(cast<DictObject>(value));
}
Value function_annotations(Vm& vm, const Value& v) { return annotations_of_function(vm, cast<FunctionObject>(v)); }
void function_set_annotations(Vm& vm, const Value& v, const Value& value) {
  const bool none = !value || value.is_none();
  if (!none && !is_kind(value, Kind::Dict)) raise_type_error(vm, "__annotations__ must be set to a dict object");
  note_store(vm, v.object(), Value());
  cast<FunctionObject>(v)->annotations = none ? make_dict(vm).take() : value;
}
Value function_code(Vm&, const Value& v) { return cast<FunctionObject>(v)->code.value(); }
void function_set_code(Vm& vm, const Value& v, const Value& value) {
  auto* f = cast<FunctionObject>(v);
  auto* code = try_cast<CodeObject>(value);
  if (!code) raise_type_error(vm, "__code__ must be set to a code object");
  const size_t wanted = code->code->free_names.size();
  if (wanted != f->closure.size())
    raise_value_error(vm, std::string(f->name->view()) + "() requires a code object with " +
                              std::to_string(f->closure.size()) + " free vars, not " + std::to_string(wanted));
  note_store(vm, f, Value());
  f->code = Local<CodeObject>(code);
}
// The cells for the free variables of a code.
std::vector<Local<CellObject>> closure_from(Vm& vm, const Value& given, const lang::CodeObject& code) {
  const size_t wanted = code.free_names.size();
  if (given.is_none() && wanted) raise_type_error(vm, "arg 5 (closure) must be tuple");
  if (!given.is_none() && !is_kind(given, Kind::Tuple)) raise_type_error(vm, "arg 5 (closure) must be None or tuple");
  std::vector<Local<CellObject>> cells;
  if (given.is_none()) return cells;
  for (const Value& v : cast<TupleObject>(given)->span()) {
    if (!is_kind(v, Kind::Cell)) raise_type_error(vm, "arg 5 (closure) expected cell, found " + type_name(vm, v));
    cells.emplace_back(cast<CellObject>(v));
  }
  if (cells.size() != wanted)
    raise_value_error(vm, code.name + " requires closure of length " + std::to_string(wanted) + ", not " +
                              std::to_string(cells.size()));
  return cells;
}

// FunctionType(code, globals, name=None, argdefs=None, closure=None): the code once more, in another place.
Value function_construct(Vm& vm, Type*, Args& args) {
  static const Signature kSignature("code, globals, name=None, argdefs=None, closure=None");
  std::vector<Value> given;
  kSignature.bind(vm, "function", args, given);
  auto* code = try_cast<CodeObject>(given[0]);
  if (!code) raise_type_error(vm, "function() argument 'code' must be code, not " + type_name(vm, given[0]));
  auto* globals = try_cast<DictObject>(given[1]);
  if (!globals) raise_type_error(vm, "function() argument 'globals' must be dict, not " + type_name(vm, given[1]));
  if (!given[2].is_none() && !is_kind(given[2], Kind::Str)) raise_type_error(vm, "arg 3 (name) must be None or string");
  if (!given[3].is_none() && !is_kind(given[3], Kind::Tuple))
    raise_type_error(vm, "arg 4 (defaults) must be None or tuple");
  const Value module_name = dict_get(vm, globals, "__name__");
  Local<ModuleObject> module =
      make_module(vm, is_kind(module_name, Kind::Str) ? cast<StrObject>(module_name)->view() : "builtins");
  module->globals = Local<DictObject>(globals);
  Local<FunctionObject> function = make_function(vm, code, module);
  function->closure = closure_from(vm, given[4], code->code->whole());
  if (!given[2].is_none()) function->name = Local<StrObject>(cast<StrObject>(given[2]));
  if (!given[3].is_none())
    function->defaults.assign(cast<TupleObject>(given[3])->span().begin(), cast<TupleObject>(given[3])->span().end());
  return function.take();
}

Value function_defaults(Vm& vm, const Value& v) {
  auto* f = cast<FunctionObject>(v);
  if (f->defaults.empty()) return Value::none();
  return make_tuple(vm, std::span<const Value>(f->defaults)).take();
}
Value function_kwdefaults(Vm& vm, const Value& v) {
  auto* f = cast<FunctionObject>(v);
  prepare_code(vm, f->code);
  const lang::ParameterList& parameters = f->code->code->parameters;
  Local<DictObject> dict = make_dict(vm);
  for (size_t i = 0; i < f->keyword_defaults.size(); ++i)
    if (f->keyword_defaults[i])
      dict_set(vm, dict, Value(f->code->parameter_names[parameters.positional + i].get()), f->keyword_defaults[i]);
  return dict->table.size() ? dict.take() : Value::none();
}
void function_set_defaults(Vm& vm, const Value& v, const Value& value) {
  auto* f = cast<FunctionObject>(v);
  const bool none = !value || value.is_none();
  if (!none && !is_kind(value, Kind::Tuple)) raise_type_error(vm, "__defaults__ must be set to a tuple object");
  note_store(vm, f, Value());
  std::vector<Value> old = std::move(f->defaults);
  f->defaults.clear();
  if (!none) f->defaults.assign(cast<TupleObject>(value)->span().begin(), cast<TupleObject>(value)->span().end());
}
void function_set_kwdefaults(Vm& vm, const Value& v, const Value& value) {
  auto* f = cast<FunctionObject>(v);
  const bool none = !value || value.is_none();
  if (!none && !is_kind(value, Kind::Dict)) raise_type_error(vm, "__kwdefaults__ must be set to a dict object");
  note_store(vm, f, Value());
  prepare_code(vm, f->code);
  const lang::ParameterList& parameters = f->code->code->parameters;
  std::vector<Value> fresh(parameters.keyword_only);
  for (uint32_t i = 0; !none && i < parameters.keyword_only; ++i)
    fresh[i] = dict_get(vm, cast<DictObject>(value), Value(f->code->parameter_names[parameters.positional + i].get()));
  std::swap(f->keyword_defaults, fresh);
}
Value function_globals(Vm&, const Value& v) { return cast<FunctionObject>(v)->module->globals.value(); }
Value function_closure(Vm& vm, const Value& v) {
  auto* f = cast<FunctionObject>(v);
  if (f->closure.empty()) return Value::none();
  std::vector<Value> cells;
  for (const auto& cell : f->closure) cells.push_back(cell.value());
  return make_tuple(vm, cells).take();
}

// --- native functions, bound methods ----------------------------------------------------------------

Value bind_native(Vm& vm, const Value& self, const Value& instance, Type*) {
  return instance && cast<NativeFunction>(self)->is_method ? make_bound_method(vm, self, instance) : self;
}
Value native_repr(Vm& vm, const Value& self) {
  auto* f = cast<NativeFunction>(self);
  return str_value(vm, f->is_method ? "<method '" + f->name + "' of '" + f->owner + "' objects>"
                                    : "<built-in function " + f->name + ">");
}
Value native_name(Vm& vm, const Value& v) { return str_value(vm, cast<NativeFunction>(v)->name); }
Value native_doc(Vm& vm, const Value& v) {
  auto* f = cast<NativeFunction>(v);
  return f->doc.empty() ? Value::none() : str_value(vm, f->doc);
}
Value native_module(Vm& vm, const Value& v) {
  auto* f = cast<NativeFunction>(v);
  return str_value(vm, f->owner.empty() ? "builtins" : f->owner);
}
void native_traverse(Object* o, Visitor& visit) { visit(static_cast<NativeFunction*>(o)->data); }

void method_traverse(Object* o, Visitor& visit) {
  visit(static_cast<BoundMethod*>(o)->function);
  visit(static_cast<BoundMethod*>(o)->self);
}
void method_clear(Vm&, Object* o) {
  static_cast<BoundMethod*>(o)->function.reset();
  static_cast<BoundMethod*>(o)->self.reset();
}
Value method_repr(Vm& vm, const Value& self) {
  auto* m = cast<BoundMethod>(self);
  if (auto* native = try_cast<NativeFunction>(m->function))
    return str_value(vm, "<built-in method " + native->name + " of " + type_name(vm, m->self) + " object at " +
                             (m->self.is_object() ? address_of(m->self.object()) : std::string("0x0")) + ">");
  std::string name = "?";
  if (auto* f = try_cast<FunctionObject>(m->function)) name = std::string(f->qualified_name->view());
  return str_value(vm, "<bound method " + name + " of " + repr(vm, m->self) + ">");
}
Value method_get(Vm& vm, const Value& self, StrObject* name) {
  Type* owner = nullptr;
  const Value* own = lookup_in_type(vm.types().bound_method, name, &owner);
  bool of_function = name == vm.names().doc.get() || name == vm.names().module.get();
  if (own && !of_function) return bind_attribute(vm, *own, self, vm.types().bound_method);
  return get_attribute(vm, cast<BoundMethod>(self)->function, name);
}
Value method_construct(Vm& vm, Type*, Args& args) {
  if (args.count != 2) raise_type_error(vm, "method expected 2 arguments, got " + std::to_string(args.count));
  if (args[1].is_none()) raise_type_error(vm, "self must not be None");
  return make_bound_method(vm, args[0], args[1]);
}
Value method_self(Vm&, const Value& v) { return cast<BoundMethod>(v)->self; }
Value method_function(Vm&, const Value& v) { return cast<BoundMethod>(v)->function; }
Value method_compare(Vm& vm, CompareOp op, const Value& a, const Value& b) {
  auto* x = try_cast<BoundMethod>(a);
  auto* y = try_cast<BoundMethod>(b);
  if (!x || !y || (op != CompareOp::Eq && op != CompareOp::Ne)) return vm.not_implemented();
  bool same = x->self.is(y->self) && x->function.is(y->function);
  return Value::boolean(same == (op == CompareOp::Eq));
}
int64_t method_hash(Vm&, const Value& v) {
  auto* m = cast<BoundMethod>(v);
  return m->self.raw().integer * 31 + m->function.raw().integer;
}

// --- code, cell, module ---------------------------------------------------------------------------------

void code_traverse(Object* o, Visitor& visit) {
  auto* c = static_cast<CodeObject*>(o);
  for (const Value& v : c->constants) visit(v);
  for (const auto& nested : c->nested) visit(nested.get());
}
Value code_repr(Vm& vm, const Value& v) {
  auto* c = cast<CodeObject>(v);
  return str_value(vm, "<code object " + c->code->name + " at " + address_of(c) + ", file \"" +
                           std::string(c->code->file()) + "\", line " + std::to_string(c->code->first_line) + ">");
}
Value code_name(Vm&, const Value& v) { return cast<CodeObject>(v)->name.value(); }
Value code_argcount(Vm&, const Value& v) { return Value::integer(cast<CodeObject>(v)->code->parameters.positional); }
Value code_varnames(Vm& vm, const Value& v) {
  std::vector<Value> names;
  prepare_code(vm, cast<CodeObject>(v));
  const lang::CodeObject& code = *cast<CodeObject>(v)->code;
  for (const auto& name : cast<CodeObject>(v)->parameter_names) names.push_back(name.value());
  for (size_t r = names.size(); r < code.register_names.size(); ++r) {
    const std::string& name = code.register_names[r];
    bool cell = r >= code.cell_begin && r < code.cell_end;
    if (!cell && !name.empty() && name[0] != '.') names.push_back(str_value(vm, name));
  }
  return make_tuple(vm, names).take();
}
Value code_consts(Vm& vm, const Value& v) {
  prepare_code(vm, cast<CodeObject>(v));
  return make_tuple(vm, std::span<const Value>(cast<CodeObject>(v)->constants)).take();
}
Value code_cellvars(Vm& vm, const Value& v) {
  std::vector<Value> names;
  const lang::CodeObject& code = cast<CodeObject>(v)->code->whole();
  for (uint32_t r = code.cell_begin; r < code.cell_end; ++r) names.push_back(str_value(vm, code.register_names[r]));
  return make_tuple(vm, names).take();
}
Value code_names(Vm& vm, const Value& v) {
  std::vector<Value> names;
  for (const std::string& name : cast<CodeObject>(v)->code->whole().names) names.push_back(str_value(vm, name));
  return make_tuple(vm, names).take();
}
Value code_nlocals(Vm& vm, const Value& v) { return Value::integer(cast<TupleObject>(code_varnames(vm, v))->size); }
Value code_qualname(Vm& vm, const Value& v) { return str_value(vm, cast<CodeObject>(v)->code->qualname); }
Value code_posonly(Vm&, const Value& v) {
  return Value::integer(cast<CodeObject>(v)->code->parameters.positional_only);
}
Value code_freevars(Vm& vm, const Value& v) {
  std::vector<Value> names;
  for (const std::string& name : cast<CodeObject>(v)->code->free_names) names.push_back(str_value(vm, name));
  return make_tuple(vm, names).take();
}
Value code_filename(Vm& vm, const Value& v) { return str_value(vm, cast<CodeObject>(v)->code->file()); }
Value code_firstline(Vm&, const Value& v) { return Value::integer(cast<CodeObject>(v)->code->first_line); }
Value code_flags(Vm&, const Value& v) {
  const lang::CodeObject& c = *cast<CodeObject>(v)->code;
  return Value::integer((c.parameters.has_varargs ? 4 : 0) | (c.parameters.has_varkwargs ? 8 : 0) |
                        (c.is_generator ? 32 : 0));
}
Value code_kwonly(Vm&, const Value& v) { return Value::integer(cast<CodeObject>(v)->code->parameters.keyword_only); }

void cell_traverse(Object* o, Visitor& visit) { visit(static_cast<CellObject*>(o)->content); }
void cell_clear(Vm&, Object* o) { static_cast<CellObject*>(o)->content.reset(); }
Value cell_contents(Vm& vm, const Value& v) {
  const Value& content = cast<CellObject>(v)->content;
  if (!content) raise_value_error(vm, "Cell is empty");
  return content;
}
void cell_set_contents(Vm& vm, const Value& v, const Value& value) {
  note_store(vm, v.object(), Value());
  const Value old = std::exchange(cast<CellObject>(v)->content, value);
}

ModuleObject* module_of(const Value& v) { return static_cast<ModuleObject*>(v.object()); }

// types.ModuleType(name, doc=None): a module that no import knows. One of a class of the script is of kind Native, as
// the class may do something else where an attribute is read; its attributes are its globals as well.
Value module_construct(Vm& vm, Type* type, Args&) {
  Local<ModuleObject> module = vm.heap().make<ModuleObject>(type);
  if (type->type_flags & kScriptClass) module->kind = Kind::Native;
  module->globals = make_dict(vm);
  return module.take();
}
void module_initialize(Vm& vm, const Value& self, Args& args) {
  static const Signature kSignature("name, doc=None");
  std::vector<Value> given;
  kSignature.bind(vm, "module", args, given);
  if (!is_kind(given[0], Kind::Str))
    raise_type_error(vm, "module() argument 'name' must be str, not " + type_name(vm, given[0]));
  ModuleObject* module = module_of(self);
  module->name = std::string(cast<StrObject>(given[0])->view());
  dict_set(vm, module->globals, "__name__", given[0]);
  dict_set(vm, module->globals, "__doc__", given[1]);
  for (const char* name : {"__package__", "__loader__", "__spec__"}) dict_set(vm, module->globals, name, Value::none());
}
void module_traverse(Object* o, Visitor& visit) {
  visit(static_cast<ModuleObject*>(o)->globals.get());
  visit(static_cast<ModuleObject*>(o)->annotations);
}
void module_clear(Vm&, Object* o) {
  static_cast<ModuleObject*>(o)->annotations.reset();
  static_cast<ModuleObject*>(o)->globals->table.clear();
}
// Whether a class of the script says itself what happens to an attribute of this name.
const Value* class_descriptor(const Value& self, StrObject* name) {
  if (self.object()->kind == Kind::Module) return nullptr;
  const Value* found = lookup_in_type(self.object()->type, name);
  return found && found->is_object() && found->object()->type->slots.bind_set ? found : nullptr;
}
Value module_get(Vm& vm, const Value& self, StrObject* name) {
  ModuleObject* m = module_of(self);
  if (class_descriptor(self, name)) return generic_get_attribute(vm, self, name);
  if (Value v = dict_get(vm, m->globals, Value(name))) return v;
  if (Value v = generic_get_attribute(vm, self, name)) return v;
  if (Value hook = dict_get(vm, m->globals, Value(vm.names().getattr.get()))) return call(vm, hook, {Value(name)});
  return Value();
}
void module_set(Vm& vm, const Value& self, StrObject* name, const Value& value) {
  if (class_descriptor(self, name)) return generic_set_attribute(vm, self, name, value);
  dict_set(vm, module_of(self)->globals, intern(vm, name).take(), value);
}
void module_delete(Vm& vm, const Value& self, StrObject* name) {
  if (class_descriptor(self, name)) return generic_delete_attribute(vm, self, name);
  ModuleObject* m = module_of(self);
  const bool were_pending = name == vm.names().annotations.get() && as_annotations(vm, m->annotations);
  if (were_pending) m->annotations.reset();
  if (!dict_remove(vm, m->globals, Value(name)) && !were_pending) raise_attribute_error(vm, self, name);
}
Value module_repr(Vm& vm, const Value& self) {
  ModuleObject* m = module_of(self);
  if (!m->file.empty()) return str_value(vm, "<module '" + m->name + "' from '" + m->file + "'>");
  const bool is_made = bool(dict_get(vm, m->globals, "__spec__"));  // by the program
  return str_value(vm, "<module '" + m->name + (is_made ? "'>" : "' (built-in)>"));
}
Value module_dict(Vm&, const Value& v) { return module_of(v)->globals.value(); }
Value module_annotations(Vm& vm, const Value& v) { return annotations_of_module(vm, module_of(v)); }

}  // namespace

static void init_code_and_modules(Vm& vm) {
  Types& t = VmAccess::types(vm);
  TypeBuilder c(vm, "code", Kind::Code);
  c.slots().destroy = destroy_as<CodeObject>;
  c.slots().traverse = code_traverse;
  c.slots().repr = code_repr;
  c.getter("co_name", code_name)
      .getter("co_argcount", code_argcount)
      .getter("co_kwonlyargcount", code_kwonly)
      .getter("co_posonlyargcount", code_posonly)
      .getter("co_varnames", code_varnames)
      .getter("co_nlocals", code_nlocals)
      .getter("co_cellvars", code_cellvars)
      .getter("co_consts", code_consts)
      .getter("co_names", code_names)
      .getter("co_qualname", code_qualname)
      .getter("co_freevars", code_freevars)
      .getter("co_filename", code_filename)
      .getter("co_firstlineno", code_firstline)
      .getter("co_flags", code_flags);
  t.code = c.finish();

  TypeBuilder cell(vm, "cell", Kind::Cell);
  cell.slots().destroy = destroy_as<CellObject>;
  cell.slots().traverse = cell_traverse;
  cell.slots().clear = cell_clear;
  cell.getter("cell_contents", cell_contents, cell_set_contents);
  t.cell = cell.finish();

  TypeBuilder module(vm, "module", Kind::Module);
  module.slots().destroy = destroy_as<ModuleObject>;
  module.slots().traverse = module_traverse;
  module.slots().clear = module_clear;
  module.slots().get_attribute = module_get;
  module.slots().set_attribute = module_set;
  module.slots().delete_attribute = module_delete;
  module.slots().repr = module_repr;
  module.slots().construct = module_construct;
  module.slots().initialize = module_initialize;
  module.allow_subclasses();
  module.getter("__dict__", module_dict).getter("__annotations__", module_annotations);
  t.module = module.finish();
}

namespace {

// f.__call__(...) is f(...).
Value call_first(Vm& vm, Args& a) {
  Args rest = a;
  ++rest.positional;
  --rest.count;
  return call(vm, a[0], rest);
}

}  // namespace

void init_function_types(Vm& vm) {
  Types& t = VmAccess::types(vm);
  t.native_function->slots.destroy = destroy_as<NativeFunction>;
  t.native_function->slots.traverse = native_traverse;
  t.native_function->slots.bind = bind_native;
  t.native_function->slots.repr = native_repr;
  TypeBuilder n = TypeBuilder::existing(vm, t.native_function);
  n.getter("__name__", native_name)
      .getter("__qualname__", native_name)
      .getter("__doc__", native_doc)
      .getter("__module__", native_module)
      .raw_method("__call__", call_first);

  TypeBuilder f(vm, "function", Kind::Function);
  f.slots().destroy = destroy_as<FunctionObject>;
  f.slots().traverse = function_traverse;
  f.slots().clear = function_clear;
  f.slots().bind = bind_function;
  f.slots().construct = function_construct;
  f.slots().repr = function_repr;
  f.slots().get_attribute = function_get;
  f.slots().set_attribute = function_set;
  f.slots().delete_attribute = function_delete;
  f.getter("__name__", function_name, function_set_name)
      .getter("__qualname__", function_qualname, function_set_qualname)
      .getter("__doc__", function_doc, function_set_doc)
      .getter("__module__", function_module, function_set_module)
      .getter("__dict__", function_dict, function_set_dict)
      .getter("__annotations__", function_annotations, function_set_annotations)
      .getter("__code__", function_code, function_set_code)
      .getter("__defaults__", function_defaults, function_set_defaults)
      .getter("__kwdefaults__", function_kwdefaults, function_set_kwdefaults)
      .getter("__globals__", function_globals)
      .getter("__closure__", function_closure)
      .raw_method("__call__", call_first);
  t.function = f.finish();

  TypeBuilder m(vm, "method", Kind::BoundMethod);
  m.slots().destroy = destroy_as<BoundMethod>;
  m.slots().traverse = method_traverse;
  m.slots().clear = method_clear;
  m.slots().construct = method_construct;
  m.slots().repr = method_repr;
  m.slots().get_attribute = method_get;
  m.slots().compare = method_compare;
  m.slots().hash = method_hash;
  m.getter("__self__", method_self).getter("__func__", method_function).raw_method("__call__", call_first);
  t.bound_method = m.finish();

  init_code_and_modules(vm);
}

}  // namespace tsc::interp
