// Objects from outside that a call is known by in their structure: tuples of any class, bound methods, functions,
// closure cells, iterators, sets, partial functions. The next call may bring others of the same form. What they are
// made of are entry values; what the region changes of them it changes in the real ones, in program order. An iterator
// is copied at entry, and what the copy gives are the items that the region will take. The region takes each from the
// real iterator too, so that the interpreter goes on with it where the region has left it.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/outside/structures.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/effects.h"
#include "interpreter/modules/partial.h"
#include "interpreter/vm/iteration.h"
#include "lang/library_file.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {

using Check = EntrySource::Check;
using Form = EntrySource::Form;

namespace {

// What the classes of a namedtuple define, and what changes no meaning of a tuple's own operations.
constexpr std::string_view kHarmless[] = {"__new__",        "__init__",          "__repr__",         "__str__",
                                          "__getnewargs__", "__init_subclass__", "__class_getitem__"};

bool changes_operations(const Type& type) {
  const Table& table = type.attributes->table;
  for (uint32_t i = 0; i < table.used(); ++i) {
    const auto& entry = table.entry(i);
    if (!is_kind(entry.key, Kind::Str)) continue;
    const std::string_view name = cast<StrObject>(entry.key)->view();
    const bool is_hook = name.starts_with("__") && entry.value.is_object() && entry.value.object()->type->slots.call;
    const bool is_code = is_kind(entry.value, Kind::Function) || is_hook;
    if (name.starts_with("__") && is_code &&
        std::find(std::begin(kHarmless), std::end(kHarmless), name) == std::end(kHarmless))
      return true;
  }
  return false;
}

}  // namespace

// A tuple that is no more than its items and its class.
bool is_bare_tuple(const Value& v) {
  if (!is_kind(v, Kind::Tuple)) return false;
  const InstanceState* state = instance_state(v.object());
  return !state || !state->slots;
}

bool is_plain_function(const FunctionObject& function) { return !function.compiled; }

bool is_library(const CodeObject* code) { return lang::is_library_file(code->code->file()); }

size_t device_parameter(const CodeObject* code) {
  const std::vector<std::string>& names = code->code->parameters.names;
  if (!is_library(code)) return names.size();
  return static_cast<size_t>(std::find(names.begin(), names.end(), "device") - names.begin());
}

bool Structures::is_tuple_by_items(const Value& v) {
  if (!is_bare_tuple(v)) return false;
  Type* type = v.object()->type;
  if (type == vm_.types().tuple) return true;
  for (Type* base : type->mro)
    if ((base->type_flags & kScriptClass) && changes_operations(*base)) return false;
  for (Type* base : type->mro)
    if (base->type_flags & kScriptClass) cells_.assume_unchanged(base, Value());
  return true;
}

Av Structures::part_of(uint32_t parent, uint32_t index, const Value& now) {
  EntrySource source;
  source.form = Form::Part;
  source.parent = parent;
  source.index = index;
  return inputs_.load_value(now, std::move(source));
}

// Registers an object that is taken apart, before its parts are looked at: it may hold itself.
void Structures::know_by_structure(const Value& v, uint32_t source, const VirtualRef& object) {
  object->source = source;
  plan_.containers.push_back(source);
  container_places_[object.get()] = source_place(plan_.sources, plan_.sources[source]);
  taken_apart_[v.object()] = Av::of(object);
}

// fetch() in entry_checks.cpp numbers the parts in the same way.
Av Structures::method_input(const Value& v, uint32_t source) {
  plan_.sources[source].check = Check::Method;
  const BoundMethod* method = cast<BoundMethod>(v);
  auto object = make<VBoundMethod>();
  know_by_structure(v, source, object);
  object->function = part_of(source, 0, method->function);
  object->self = part_of(source, 1, method->self);
  return Av::of(object);
}

Av Structures::function_input(const Value& v, uint32_t source) {
  FunctionObject* function = cast<FunctionObject>(v);
  plan_.sources[source].check = Check::Function;
  plan_.sources[source].expected = function->code.value();
  plan_.sources[source].keys = {function->module.value()};
  auto object = make<VFunction>();
  object->code = function->code;
  object->module = function->module;
  know_by_structure(v, source, object);
  plan_.sources[source].length = static_cast<uint32_t>(function->defaults.size());
  uint32_t index = 0;
  for (const Value& value : function->defaults) object->defaults.push_back(part_of(source, index++, value));
  for (const Value& value : function->keyword_defaults)
    object->keyword_defaults.push_back(part_of(source, index++, value));
  for (const Local<CellObject>& cell : function->closure)
    object->closure.push_back(part_of(source, index++, cell.value()));
  return Av::of(object);
}

Av Structures::cell_input(const Value& v, uint32_t source) {
  plan_.sources[source].check = Check::Cell;
  auto object = make<VCell>();
  know_by_structure(v, source, object);
  object->content = part_of(source, 0, cast<CellObject>(v)->content);
  return Av::of(object);
}

Av Structures::iterator_input(const Value& v, uint32_t source) {
  plan_.sources[source].check = Check::Iterator;
  plan_.sources[source].expected = Value(v.object()->type);
  auto object = make<VIterator>();
  object->form = VIterator::Form::Outside;
  object->host = v;
  know_by_structure(v, source, object);
  return Av::of(object);
}

// What is in it is a fact.
Av Structures::set_input(const Value& v, uint32_t source) {
  plan_.sources[source].check = Check::Set;
  plan_.sources[source].expected = Value(v.object()->type);
  auto object = make<VSet>();
  object->frozen = v.object()->type == vm_.types().frozenset;
  know_by_structure(v, source, object);
  const Table& table = cast<SetObject>(v)->table;
  plan_.sources[source].length = static_cast<uint32_t>(table.size());
  for (uint32_t i = 0; i < table.used(); ++i) {
    if (table.entry(i).key.is_undefined()) continue;
    plan_.sources[source].keys.push_back(table.entry(i).key);
    object->items.push_back(Av::constant(table.entry(i).key));
  }
  return Av::of(object);
}

// fetch() in entry_checks.cpp numbers the parts in the same way.
Av Structures::partial_input(const Value& v, uint32_t source) {
  const Partial& partial = *as_plain_partial(v);
  plan_.sources[source].check = Check::Partial;
  plan_.sources[source].expected = Value(partial.type);
  plan_.sources[source].length = static_cast<uint32_t>(partial.positional.size());
  for (const auto& [name, value] : partial.keywords) plan_.sources[source].keys.push_back(name.value());
  auto object = make<VPartial>();
  object->type = Local<Type>(partial.type);
  know_by_structure(v, source, object);
  uint32_t index = 0;
  object->function = part_of(source, index++, partial.function);
  for (const Value& value : partial.positional) object->positional.push_back(part_of(source, index++, value));
  for (const auto& [name, value] : partial.keywords)
    object->keywords.push_back({name, part_of(source, index++, value)});
  return Av::of(object);
}

Av Inputs::tensor_constant(const Tensor& tensor) {
  repeats_.spoil_record();
  EntrySource source;
  source.form = Form::Pinned;
  const Local<TensorObject> object = make_tensor(vm_, moved_to(tensor, tensors_.place_of_created()));
  source.holder = object.value();
  source.is_literal = true;
  const Av input = tensor_input(object.get(), add_source(std::move(source)));
  return tensors_.emit(Op::copy, {&input, 1}, {}, {});
}

// ---- walking over an iterator from outside ----

namespace {

struct InnerObjects : Visitor {
  explicit InnerObjects(std::vector<const Object*>& f) : found(f) {}
  void visit(Object* object) override {
    found.push_back(object);
    if (object->kind == Kind::Iterator && object->type->slots.traverse) object->type->slots.traverse(object, *this);
  }
  std::vector<const Object*>& found;
};

}  // namespace

bool walks_over(const Value& iterator, const Object* container) {
  if (!iterator.is_object() || !iterator.object()->type->slots.traverse) return false;
  std::vector<const Object*> found;
  InnerObjects visit(found);
  iterator.object()->type->slots.traverse(iterator.object(), visit);
  return std::find(found.begin(), found.end(), container) != found.end();
}

bool Structures::next_from_outside(VIterator& iterator, Av* out) {
  if (iterator.copy.is_undefined()) {
    iterator.copy = copy_iterator(vm_, iterator.host);
    if (iterator.copy.is_undefined()) break_here(BreakReason::unknown_object, "an iterator from outside the region");
    EntrySource source;
    source.form = Form::Copy;
    source.parent = iterator.source;
    source.check = Check::Iterator;
    source.expected = Value(iterator.copy.object()->type);
    iterator.copy_source = inputs_.add_source(std::move(source));
    plan_.walked.push_back(iterator.source);
    plan_.distinct.push_back(iterator.source);
  }
  const Types& types = vm_.types();
  Type* type = iterator.copy.object()->type;
  if (type != types.range_iterator && type != types.list_iterator && type != types.tuple_iterator)
    effects_.effect_may_raise();
  EntrySource source;
  source.form = Form::Next;
  source.parent = iterator.copy_source;
  source.index = static_cast<uint32_t>(iterator.position++);
  Value item;
  const bool more = iterate_next(vm_, iterator.copy, item);
  if (more) *out = inputs_.load_value(item, std::move(source));
  else inputs_.load_value(Value(), std::move(source));
  HostAction action;
  action.form = HostAction::Form::Advance;
  action.is_store = true;
  effects_.host_action(std::move(action), {taken_apart_.at(iterator.host.object())});
  return more;
}

// What the copies give was read at entry: nothing that an iterator walks over may be changed by the region.
void Structures::check_walks() {
  std::unordered_set<const Object*> changed;
  for (const Value& holder : plan_.foreign) changed.insert(holder.object());
  const std::unordered_set<uint32_t> distinct(plan_.distinct.begin(), plan_.distinct.end());
  for (const auto& [host, container] : taken_apart_)
    if (distinct.count(container.object->source)) changed.insert(host);
  for (const auto& [host, container] : taken_apart_) {
    const VIterator* iterator = as<VIterator>(container);
    if (!iterator || iterator->copy.is_undefined()) continue;
    const bool is_changed = std::any_of(changed.begin(), changed.end(), [&](const Object* object) {
      return object != host && walks_over(iterator->host, object);
    });
    if (!is_changed) continue;
    memory_.whole.insert(container_places_.at(container.object.get()));
    throw CaptureRestart{};
  }
}

}  // namespace tsc::interp
