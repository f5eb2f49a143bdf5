// Loads: how host state enters a region. Each function records what it assumed: an identity or constant is
// watched, a number or tensor that may change becomes an input read at every entry.
#include <algorithm>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/outside/structures.h"
#include "interpreter/capture/program/counterparts.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/written/overlay.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/vm/inspect.h"

namespace tsc::interp {

using Check = EntrySource::Check;
using Form = EntrySource::Form;

uint64_t tensor_key(const TensorObject& t) {
  return static_cast<uint64_t>(t.tensor.dtype()) | static_cast<uint64_t>(t.tensor.rank()) << 8 |
         static_cast<uint64_t>(t.requires_grad) << 16 | static_cast<uint64_t>(static_cast<bool>(t.history.node)) << 17 |
         static_cast<uint64_t>(t.tensor.is_contiguous()) << 18 |
         static_cast<uint64_t>(static_cast<bool>(t.hooks)) << 19 |
         static_cast<uint64_t>(t.extra || t.tensor.is_meta()) << 20 |
         static_cast<uint64_t>(t.view && t.viewed()->is_leaf_with_gradient()) << 21 |
         static_cast<uint64_t>(t.tensor.place().code()) << 24 | uint64_t{1} << 63;
}

bool CaptureMemory::is_dynamic(const Cell& cell) const {
  return std::find(dynamic.begin(), dynamic.end(), cell) != dynamic.end();
}

void CaptureMemory::make_dynamic(const Cell& cell, const Value& holder) {
  if (is_dynamic(cell)) return;
  dynamic.push_back(cell);
  keep_alive.push_back(holder);
}

uint32_t Inputs::add_source(EntrySource source) {
  plan_.sources.push_back(std::move(source));
  return static_cast<uint32_t>(plan_.sources.size() - 1);
}

void Cells::watch(Object* holder, const Value& key) {
  structures_.keep_whole(holder);
  for (const Value& forbidden : forbidden_)
    if (forbidden.object() == holder && !is_kind(key, Kind::Str))
      break_here(BreakReason::escape, "a list from outside is changed and read");
  // Loops ask for the same again and again; which of two asked last is enough to know.
  const uint64_t hash =
      hash_mix(reinterpret_cast<uint64_t>(holder), key.is_object() ? reinterpret_cast<uint64_t>(key.object()) : 0);
  Watched& last = last_watched_[hash % last_watched_.size()];
  if (last.holder.is_object() && last.holder.object() == holder && last.key.is(key)) return;
  plan_.watched.push_back({Value(holder), key});
  last = plan_.watched.back();
}

// A number that changes between calls: an input register.
Av Inputs::add_input(uint32_t source, Check check, const Value& now) {
  plan_.sources[source].check = check;
  jit::ValueKind kind = check == Check::Int ? jit::ValueKind::Int : jit::ValueKind::Float;
  ValueId id = region_.add_input(kind);
  plan_.inputs.push_back({id, source});
  conditions_.set_hint(id, now.is_int() ? Scalar::of_int(now.as_int()) : Scalar::of_float(now.as_float()));
  return Av::number(kind, id, now);
}

namespace {

// Of inference mode, outside of it, or with a tangent: the interpreter refuses some of its operations. Or of device
// "meta".
bool is_for_the_interpreter(const TensorObject& tensor, const Modes& modes) {
  return tensor.tensor.is_meta() || (tensor.extra && !(is_inference(&tensor) && modes.inference));
}

}  // namespace

Av Inputs::known_by_identity(const Value& now) {
  TensorObject* tensor = as_tensor(tensor_state_, now);
  // What is in a list that changed once is read at every entry.
  const bool changing = is_kind(now, Kind::List) && memory_.is_dynamic({now.object(), nullptr, 0});
  if (!tensor) refuse_end(now);
  if (!tensor && !changing) return Av::constant(now);
  EntrySource source;
  source.form = Form::Pinned;
  source.holder = now;
  const uint32_t index = add_source(std::move(source));
  if (tensor) return tensor_input(tensor, index);
  if (structures_.comes_apart(now, index)) return structures_.container_input(now, index);
  plan_.sources.resize(index);
  return Av::constant(now);
}

bool Inputs::lies_with_others(Place place) {
  if (!plan_.place) plan_.place = place;
  return *plan_.place == place;
}

Av Inputs::tensor_input(TensorObject* tensor, uint32_t source) {
  if (is_for_the_interpreter(*tensor, modes_)) {
    plan_.sources.resize(source);  // it was added for this
    break_here(BreakReason::unknown_object, "a tensor of inference mode, with a tangent or of device meta");
  }
  if (!lies_with_others(tensor->tensor.place())) {
    plan_.sources.resize(source);
    break_here(BreakReason::two_devices, "a tensor of another one");
  }
  EntrySource& entry = plan_.sources[source];
  entry.check = Check::Tensor;
  entry.expected = Value(tensor->type);
  refresh_history(vm_, tensor);
  entry.tensor_key = tensor_key(*tensor);
  auto found = tensor_objects_.find(tensor);
  const bool is_separate = !memory_.tells_apart && !tensor->needs_grad() &&
                           memory_.separate.count(source_place(plan_.sources, plan_.sources[source])) != 0;
  if (found != tensor_objects_.end() && !is_separate) {
    // The same object by two ways: they must stay one object.
    entry.check = Check::Alias;
    entry.length = found->second.object->source;
    return found->second;
  }
  ValueId id = region_.add_tensor_input(tensor->tensor.dtype(), static_cast<int>(tensor->tensor.rank()));
  plan_.inputs.push_back({id, source});
  for (int axis = 0; axis < tensor->tensor.rank(); ++axis) {
    conditions_.add_input_size(region_.type(id).sizes[axis], tensor->tensor.size(axis));
  }
  conditions_.take_size_marks(tensor, id);
  auto object = make<VTensor>();
  object->come_in(*tensor, id);
  object->source = source;
  tensors_in_.push_back(object);
  Av av = Av::of(object);
  tensor_objects_.try_emplace(tensor, av);
  return av;
}

// Tuples are taken apart by position, not by identity.
Av Structures::structural_input(const Value& v, uint32_t source) {
  std::span<const Value> items = cast<TupleObject>(v)->span();
  plan_.sources[source].check = Check::Tuple;
  plan_.sources[source].expected = Value(v.object()->type);
  plan_.sources[source].length = static_cast<uint32_t>(items.size());
  std::vector<Av> parts;
  for (uint32_t i = 0; i < items.size(); ++i) {
    EntrySource item;
    item.form = Form::Item;
    item.parent = source;
    item.index = i;
    parts.push_back(inputs_.load_value(items[i], std::move(item)));
  }
  auto object = make<VTuple>();
  object->items = std::move(parts);
  object->source = source;
  if (v.object()->type != vm_.types().tuple) object->type = Local<Type>(v.object()->type);
  return Av::of(object);
}

// A string of which nothing is known but that it is one.
Av Structures::text_input(uint32_t source) {
  plan_.sources[source].check = Check::Text;
  auto given = make<VText>();
  given->source = source;
  auto text = make<VText>();
  VText::Part whole;
  whole.formatted = Av::of(given);
  whole.conversion = 1;
  text->parts.push_back(std::move(whole));
  container_places_[text.get()] = source_place(plan_.sources, plan_.sources[source]);
  return Av::of(text);
}

void Inputs::refuse_end(const Value& v) {
  if (!v.is_object() || !(v.object()->flags & kHasEnd)) return;
  repeats_.spoil_record();
  break_here(BreakReason::unknown_object, "an object whose end the program sees: __del__, or a weak reference");
}

// A value found at `source`, whose content may differ at the next entry.
Av Inputs::load_value(const Value& v, EntrySource source) {
  refuse_end(v);
  if (v.is_int() && !memory_.specialises) return add_input(add_source(std::move(source)), Check::Int, v);
  if (v.is_float()) return add_input(add_source(std::move(source)), Check::Float, v);
  if (v.is_undefined()) {  // a variable that has a value at another entry is another one
    source.check = Check::Same;
    add_source(std::move(source));
    return Av();
  }
  uint32_t index = add_source(std::move(source));
  TensorObject* tensor = as_tensor(tensor_state_, v);
  // What asks for more than the object leaves the region.
  if (tensor && (is_for_the_interpreter(*tensor, modes_) || !lies_with_others(tensor->tensor.place()))) {
    if (structures_.comes_apart(v, index)) return structures_.container_input(v, index);
    plan_.sources[index].check = Check::Same;
    plan_.sources[index].expected = v;
    return Av::constant(v);
  }
  if (tensor) return tensor_input(tensor, index);
  if (structures_.is_tuple_by_items(v)) return structures_.structural_input(v, index);
  if (structures_.comes_apart(v, index)) return structures_.container_input(v, index);
  if (is_kind(v, Kind::Str) && v.object()->type == vm_.types().str) {
    const std::string place = source_place(plan_.sources, plan_.sources[index]);
    if (memory_.text.count(place) && !memory_.whole.count(place)) return structures_.text_input(index);
  }
  EntrySource& entry = plan_.sources[index];
  entry.check = Check::Same;
  entry.expected = v;
  if (!is_bare_text(v)) return Av::constant(v);
  if (const uint32_t first = structures_.first_source_of_text(v.object(), index);
      first != index) {  // the same object by two ways
    entry.check = Check::Alias;
    entry.length = first;
  }
  return Av::constant(v);
}

namespace {

// Whether the code stores into an attribute, or perhaps an item, of that name.
bool stores_into(const CodeObject& code, const StrObject* name) {
  bool items = false;
  for (const lang::Instruction& i : code.code->instructions) {
    if (i.op == lang::Op::StoreAttr && code.code->site_name(i.c) == name->view()) return true;
    items |= i.op == lang::Op::StoreSubscr;
  }
  return items && std::any_of(code.constants.begin(), code.constants.end(), [&](const Value& one) {
           return is_kind(one, Kind::Str) && cast<StrObject>(one)->view() == name->view();
         });
}

}  // namespace

void Cells::read_anew(const Value& holder) {
  if (plan_.read_anew.empty() || !plan_.read_anew.back().is(holder)) plan_.read_anew.push_back(holder);
}

// Own attribute `name` of a host object, or an entry of a namespace dict.
Av Cells::find_attribute_cell(const Value& holder, StrObject* name, const Value& current) {
  structures_.keep_whole(holder.object());
  OverlayKey key{holder.object(), name, 0};
  if (const Av* stored = overlay_.stored_at(key)) return *stored;
  if (auto found = loaded_.find(key); found != loaded_.end()) return found->second;
  EntrySource source;
  source.form = is_kind(holder, Kind::Dict) ? Form::Namespace : Form::Attribute;
  source.holder = holder;
  source.name = Local<StrObject>(name);
  Av result;
  // An integer that this code stores too is a counter. Assuming it would end in a store to what was assumed, and
  // capture would start again.
  bool dynamic = memory_.is_dynamic({holder.object(), name, 0}) || current.is_float() ||
                 (current.is_int() && stores_into(*frames_.frame().code, name));
  if (dynamic) {
    read_anew(holder);
    result = inputs_.load_value(current, std::move(source));
  } else {
    assume_unchanged(holder.object(), Value(name));
    constant_cells_[key] = true;
    if (!current.is_object() || is_kind(current, Kind::Str))
      note_fact(std::string(name->view()) + " == " + repr(vm_, current));
    result = inputs_.known_by_identity(current);
  }
  loaded_[key] = result;
  return result;
}

Av Cells::load_global(StrObject* name) {
  ModuleObject* module = frames_.frame().module.get();
  OverlayKey key{module->globals.get(), name, 0};
  if (const Av* stored = overlay_.stored_at(key)) {
    repeats_.spoil_record();
    return *stored;
  }
  AttributeSite site = inspect_global(vm_, module, name);
  if (site.found == Found::Absent) break_here(BreakReason::raises, "NameError");
  if (site.found == Found::BuiltinGlobal) {
    if (site.holder != vm_.builtins()->globals.get()) break_here(BreakReason::unknown_object, "__builtins__ of exec()");
    watch_global(vm_, module, site);
    assume_unchanged(module->globals.get(), Value(name));
    assume_unchanged(site.holder, Value(name));
    return Av::constant(site.value);
  }
  return load_attribute_cell(Value(module->globals.get()), name, site.value);
}

Av Cells::find_cell(const Av& cell) {
  if (VCell* virtual_cell = as<VCell>(cell)) return virtual_cell->content;
  if (!cell.is_constant() || !is_kind(cell.value, Kind::Cell)) break_here(BreakReason::unknown_object, "closure cell");
  CellObject* host = cast<CellObject>(cell.value);
  OverlayKey key{host, nullptr, 0};
  if (const Av* stored = overlay_.stored_at(key)) return *stored;
  if (auto found = loaded_.find(key); found != loaded_.end()) return found->second;
  EntrySource source;
  source.form = Form::Content;
  source.holder = cell.value;
  Av result;
  const Value& now = host->content;
  if (memory_.is_dynamic({host, nullptr, 0}) || now.is_float()) {
    structures_.keep_whole(host);
    read_anew(cell.value);
    result = inputs_.load_value(now, std::move(source));
  } else {
    assume_unchanged(host, Value());
    constant_cells_[key] = true;
    result = inputs_.known_by_identity(now);
  }
  loaded_[key] = result;
  return result;
}

Av Cells::find_element(ListObject* list, int64_t index) {
  structures_.keep_whole(list);
  OverlayKey key{list, nullptr, index + 1};
  if (const Av* stored = overlay_.stored_at(key)) return *stored;
  if (auto found = loaded_.find(key); found != loaded_.end()) return found->second;
  const Value now = list->items[static_cast<size_t>(index)];
  EntrySource source;
  source.form = Form::Element;
  source.holder = Value(list);
  source.index = static_cast<uint32_t>(index);
  Av result;
  if (memory_.is_dynamic({list, nullptr, index + 1}) || now.is_float() || now.is_int()) {
    read_anew(Value(list));
    result = inputs_.load_value(now, std::move(source));
  } else {
    constant_cells_[key] = true;
    assume_unchanged(list, Value::integer(index));
    result = inputs_.known_by_identity(now);
  }
  loaded_[key] = result;
  return result;
}

Av Cells::find_dict_entry(DictObject* dict, const Value& key) {
  structures_.keep_whole(dict);
  if (!is_kind(key, Kind::Str)) {
    Value now = dict_get(vm_, dict, key);
    assume_unchanged(dict, Value());
    if (now.is_undefined()) return Av();
    return inputs_.known_by_identity(now);
  }
  Local<StrObject> name = intern(vm_, cast<StrObject>(key));
  OverlayKey place{dict, name.get(), 0};
  if (const Av* stored = overlay_.stored_at(place)) return *stored;
  Value now = dict_get(vm_, dict, key);
  if (now.is_undefined() && !memory_.is_dynamic({dict, name.get(), 0})) {
    assume_unchanged(dict, name.value());
    return Av();
  }
  return load_attribute_cell(Value(dict), name.get(), now);
}

void Cells::assume_length(const Value& container) {
  assume_unchanged(container.object(), is_kind(container, Kind::Dict) ? kKeysOnly : Value());
}

// A host list that the region appends to is not read again: its content here would be stale.
void Cells::forbid_reads(const Value& holder) {
  structures_.keep_apart_from(holder);
  for (const Watched& watched : plan_.watched)
    if (watched.holder.is(holder) && !is_kind(watched.key, Kind::Str))
      break_here(BreakReason::escape, "a list from outside is read and changed");
  forbidden_.push_back(holder);
}

}  // namespace tsc::interp
