#include "interpreter/vm/annotations.h"

#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/native.h"
#include "interpreter/vm/vm_access.h"
#include "lang/bytecode/bytecode.h"
#include "lang/resolve.h"

namespace tsc::interp {
namespace {

constexpr const char* kName = "__annotations__";

// So many texts of a module that nobody asked for its annotations (an interactive session, a module that is reloaded)
// wait to be evaluated; then they are.
constexpr size_t kMostTextsKept = 64;

// An annotation that raises this can be read as text.
bool may_be_text(Vm& vm, const ScriptException& e) {
  return !e.exception()->is_limit && e.exception()->type->is_subtype_of(vm.exceptions().Exception);
}

// One code of kind Annotations with what it is evaluated in.
class Evaluator {
 public:
  Evaluator(Vm& vm, CodeObject* code, ModuleObject* module, AnnotationsObject* around) : vm_(vm), code_(code) {
    prepare_code(vm, code);
    state_.function = make_function(vm, code, module);
    if (!around) return;
    state_.function->closure = around->closure;
    state_.extra = around->names;
  }

  uint32_t count() const { return names()->size; }

  Value name(uint32_t i) const {
    const Value& name = names()->items[i];
    return may_be_passed_by(i) ? cast<TupleObject>(name)->items[0] : name;
  }

  // Whether the body came past it: up to `position` in the text, and to those that noted it.
  bool was_reached(uint32_t i, uint32_t position) const {
    if (!may_be_passed_by(i)) return code_->code->statements[i].span.begin < position;
    const auto& frees = code_->code->free_names;
    const auto place = std::find(frees.begin(), frees.end(), lang::Scope::kReached) - frees.begin();
    SetObject* reached = try_cast<SetObject>(state_.function->closure[static_cast<size_t>(place)]->content);
    return reached && reached->table.find(vm_, Value::integer(i)) >= 0;
  }

  Value value(uint32_t i) {
    state_.registers = {Value::integer(i)};
    return vm_.run_frames({&state_, 1});
  }

  Value value_or_text(uint32_t i) {
    try {
      return value(i);
    } catch (const ScriptException& e) {
      if (!may_be_text(vm_, e)) throw;
    }
    return str_value(vm_, code_->code->source->slice(code_->code->statements[i].span));
  }

  Local<DictObject> all(bool readable) {
    Local<DictObject> dict = make_dict(vm_);
    for (uint32_t i = 0; i < count(); ++i)
      if (was_reached(i, UINT32_MAX)) dict_set(vm_, dict, name(i), readable ? value_or_text(i) : value(i));
    return dict;
  }

 private:
  TupleObject* names() const { return cast<TupleObject>(code_->constants[0]); }
  bool may_be_passed_by(uint32_t i) const { return is_kind(names()->items[i], Kind::Tuple); }

  Vm& vm_;
  CodeObject* code_;
  FrameState state_;
};

Local<DictObject> evaluate(Vm& vm, AnnotationsObject* annotations, bool readable) {
  return Evaluator(vm, annotations->code, annotations->module, annotations).all(readable);
}

Local<DictObject> evaluate(Vm& vm, FunctionObject* function, bool readable) {
  const lang::CodeRef& code = function->code->code->annotations;
  if (!code) return make_dict(vm);
  return Evaluator(vm, make_code(vm, code), function->module, as_annotations(vm, function->annotations)).all(readable);
}

// Up to where a module's text has run.
uint32_t position_of(Vm& vm, const AnnotationsObject& later) {
  for (const Frame* frame = vm.current_frame(); frame; frame = frame->back)
    if (frame->code->code->kind == lang::CodeKind::Module && frame->code->code->source == later.code->code->source)
      return frame->code->code->spans[frame->pc].whole.begin;
  return UINT32_MAX;
}

Value* own_entry(Vm& vm, DictObject* names) {
  const int64_t place = names->table.find(vm, vm.names().annotations);
  return place < 0 ? nullptr : &names->table.entry(static_cast<uint32_t>(place)).value;
}

// Adds to `found` what one text annotated, up to a position in it. With `readable` the text of an annotation stands for
// one that cannot be evaluated.
void find_in_text(Vm& vm, AnnotationsObject* text, uint32_t position, DictObject* found, bool readable) {
  Evaluator evaluator(vm, text->code, text->module, text);
  text->is_found.resize(evaluator.count());
  for (uint32_t i = 0; i < evaluator.count(); ++i) {
    if (text->is_found[i] || !evaluator.was_reached(i, position)) continue;
    dict_set(vm, found, evaluator.name(i), readable ? evaluator.value_or_text(i) : evaluator.value(i));
    text->is_found[i] = true;
  }
}

// The texts that ran in the module before this one, oldest first.
std::vector<Local<AnnotationsObject>> texts_before(const AnnotationsObject* later) {
  std::vector<Local<AnnotationsObject>> texts;
  for (AnnotationsObject* text = later->before.get(); text; text = text->before.get()) texts.emplace_back(text);
  std::reverse(texts.begin(), texts.end());
  return texts;
}

// The same of a text and those before it, which ran to their ends.
void find_reached(Vm& vm, AnnotationsObject* later, uint32_t position, DictObject* found, bool readable) {
  for (const Local<AnnotationsObject>& text : texts_before(later))
    find_in_text(vm, text.get(), UINT32_MAX, found, readable);
  later->before = nullptr;
  find_in_text(vm, later, position, found, readable);
}

Value module_annotations(Vm& vm, ModuleObject* module, bool readable) {
  if (const Value* entry = own_entry(vm, module->globals)) return *entry;
  const Local<AnnotationsObject> later(as_annotations(vm, module->annotations));
  Local<DictObject> dict = later && later->found ? later->found : make_dict(vm);
  const uint32_t position = later ? position_of(vm, *later) : UINT32_MAX;
  if (later) {
    later->found = dict;
    find_reached(vm, later, position, dict, readable);
  }
  if (position == UINT32_MAX) {
    dict_set(vm, module->globals, kName, dict.value());
    module->annotations.reset();
  }
  return dict.value();
}

void traverse(Object* o, Visitor& visit) {
  auto* a = static_cast<AnnotationsObject*>(o);
  visit(a->code.get());
  visit(a->module.get());
  for (const auto& cell : a->closure) visit(cell.get());
  visit(a->names);
  visit(a->found.get());
  visit(a->before.get());
}

void clear(Vm&, Object* o) {
  auto* a = static_cast<AnnotationsObject*>(o);
  const auto closure = std::move(a->closure);
  a->names.reset();
}

// Found in a class, by itself or by an instance.
Value bind(Vm& vm, const Value& self, const Value&, Type* owner) {
  for (Type* type : owner->mro)
    if (const Value* entry = own_entry(vm, type->attributes); entry && entry->is(self))
      return annotations_of_class(vm, type);
  return evaluate(vm, as_annotations(vm, self), false).take();
}

}  // namespace

Local<AnnotationsObject> make_annotations(Vm& vm, CodeObject* code, ModuleObject* module, const Value& cells,
                                          const Value& names) {
  Local<AnnotationsObject> made = vm.heap().make<AnnotationsObject>(vm.types().annotations);
  made->code = Local<CodeObject>(code);
  made->module = Local<ModuleObject>(module);
  if (cells)
    for (const Value& cell : cast<TupleObject>(cells)->span()) made->closure.emplace_back(cast<CellObject>(cell));
  made->names = names;
  return made;
}

AnnotationsObject* as_annotations(Vm& vm, const Value& v) {
  const bool is_one = v.is_object() && v.object()->type == vm.types().annotations;
  return is_one ? static_cast<AnnotationsObject*>(v.object()) : nullptr;
}

Value annotations_of_function(Vm& vm, FunctionObject* function) {
  if (auto* from = try_cast<FunctionObject>(function->annotations)) return annotations_of_function(vm, from);
  if (!function->annotations || as_annotations(vm, function->annotations)) {
    const Value evaluated = evaluate(vm, function, false).take();
    function->annotations = evaluated;
  }
  return function->annotations;
}

Value annotations_of_class(Vm& vm, Type* type) {
  const Value* entry = own_entry(vm, type->attributes);
  AnnotationsObject* later = entry ? as_annotations(vm, *entry) : nullptr;
  if (entry && !later) return *entry;
  const Local<AnnotationsObject> held(later);
  const Value dict = later ? evaluate(vm, later, false).take() : make_dict(vm).take();
  set_type_attribute(vm, type, vm.names().annotations, dict);
  return dict;
}

Value annotations_of_module(Vm& vm, ModuleObject* module) { return module_annotations(vm, module, false); }

void keep_annotations(Vm& vm, ModuleObject* module, const Value& annotations) {
  AnnotationsObject* made = as_annotations(vm, annotations);
  if (const Value* entry = own_entry(vm, module->globals); entry && is_kind(*entry, Kind::Dict))
    made->found = Local<DictObject>(cast<DictObject>(*entry));
  dict_remove(vm, module->globals, Value(vm.names().annotations.get()));
  made->before = Local<AnnotationsObject>(as_annotations(vm, module->annotations));
  module->annotations = annotations;
  const std::vector<Local<AnnotationsObject>> texts = texts_before(made);
  if (texts.size() < kMostTextsKept) return;
  if (!made->found) made->found = texts.back()->found ? texts.back()->found : make_dict(vm);
  for (const Local<AnnotationsObject>& text : texts) find_in_text(vm, text.get(), UINT32_MAX, made->found.get(), true);
  made->before = nullptr;
}

Local<DictObject> readable_annotations(Vm& vm, const Value& object) {
  auto* function = try_cast<FunctionObject>(object);
  while (function && is_kind(function->annotations, Kind::Function))
    function = cast<FunctionObject>(function->annotations);
  if (auto* module = try_cast<ModuleObject>(object)) {
    Local<DictObject> copy = make_dict(vm);
    const Value known = module_annotations(vm, module, true);
    if (auto* dict = try_cast<DictObject>(known)) copy->table.copy_from(dict->table);
    return copy;
  }
  auto* names = try_cast<DictObject>(object);
  if (auto* type = try_cast<Type>(object)) names = type->attributes;
  Value known = names && own_entry(vm, names) ? *own_entry(vm, names) : Value();
  AnnotationsObject* later = as_annotations(vm, known);
  try {
    if (function) known = annotations_of_function(vm, function);
    else if (later && is_kind(object, Kind::Type)) known = annotations_of_class(vm, cast<Type>(object));
    else if (later) known = evaluate(vm, later, false).take();
    else if (!names) known = get_attribute(vm, object, vm.names().annotations);
  } catch (const ScriptException& e) {
    if (!may_be_text(vm, e) || (!function && !later)) throw;
    return function ? evaluate(vm, function, true) : evaluate(vm, later, true);
  }
  Local<DictObject> copy = make_dict(vm);
  if (auto* dict = try_cast<DictObject>(known)) copy->table.copy_from(dict->table);
  return copy;
}

void settle_annotations(Vm& vm, DictObject* names) {
  const Value* entry = own_entry(vm, names);
  const Local<AnnotationsObject> later(entry ? as_annotations(vm, *entry) : nullptr);
  if (later) dict_set(vm, names, kName, evaluate(vm, later, true).take());
}

void settle_annotations(Vm& vm, const Value& mapping, FunctionObject* body) {
  const Local<AnnotationsObject> later(as_annotations(vm, body->annotations));
  if (!later) return;
  const Value held = get_item(vm, mapping, Value(vm.names().annotations.get()));
  auto* dict = try_cast<DictObject>(held);
  const Local<DictObject> found = evaluate(vm, later, true);
  for (uint32_t i = 0; dict && i < found->table.used(); ++i)
    if (const Table::Entry e = found->table.entry(i); e.key) dict_set(vm, dict, e.key, e.value);
}

void share_annotations(FunctionObject* to, FunctionObject* from) {
  while (from != to && is_kind(from->annotations, Kind::Function)) from = cast<FunctionObject>(from->annotations);
  if (to == from) return;
  to->annotations = is_kind(from->annotations, Kind::Dict) ? from->annotations : Value(from);
}

void init_annotations_type(Vm& vm) {
  TypeBuilder b(vm, "annotations", Kind::Native);
  b.slots().destroy = destroy_as<AnnotationsObject>;
  b.slots().traverse = traverse;
  b.slots().clear = clear;
  b.slots().bind = bind;
  VmAccess::types(vm).annotations = b.finish();
}

}  // namespace tsc::interp
