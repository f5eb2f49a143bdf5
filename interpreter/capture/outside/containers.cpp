// Lists and dicts that come in from outside are taken apart: their items are entry values, so that the
// next call may bring another container of the same form. So are instances of script classes, once a call
// has brought another one. What the region stores into one is stored into the real object at its place in
// program order, and into what capture knows of it.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/outside/structures.h"
#include "interpreter/capture/program/call_record.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/modules/partial.h"
#include "interpreter/vm/inspect.h"

namespace tsc::interp {

using Check = EntrySource::Check;
using Form = EntrySource::Form;

namespace {

// Beyond this many items a container is taken by identity, its items watched where they are read; once a call has
// brought another one in its place, only beyond the second number.
constexpr size_t kLargestContainer = 64;
constexpr size_t kLargestOfAll = 4096;

// Numbers, texts and classes, which are themselves.
bool is_plain_key(const Value& key) {
  return !key.is_object() ||
         ((is_kind(key, Kind::Str) || is_kind(key, Kind::Type)) && !(key.object()->type->type_flags & kScriptClass));
}

constexpr size_t kLargestSet = 64;

// What is in it is known, and no operation on it runs code of a script.
bool is_set_of_plain_items(Vm& vm, const Value& v) {
  const Type* type = v.object()->type;
  if (type != vm.types().set && type != vm.types().frozenset) return false;
  const Table& table = cast<SetObject>(v)->table;
  if (table.size() > kLargestSet) return false;
  for (uint32_t i = 0; i < table.used(); ++i)
    if (const Value& key = table.entry(i).key; !key.is_undefined() && !is_plain_key(key)) return false;
  return true;
}

}  // namespace

// One that is called (a module, an optimizer) stays a fact: its attributes are many, and watching them costs
// nothing.
bool holds_data(Vm& vm, const Value& v) {
  if (!is_kind(v, Kind::Instance) || !(v.object()->type->type_flags & kPlainSetAttribute)) return false;
  // A metaclass that decides which object a call gives makes few of them: the members of an enumeration.
  Type* meta = v.object()->type->type;
  if (const Value* call = lookup_in_type(meta, vm.names().call.get()); call && is_kind(*call, Kind::Function))
    return false;
  for (const char* hook : {"__call__", "__getattr__", "__getattribute__"})
    if (const Value* found = lookup_in_type(v.object()->type, intern(vm, hook).get());
        found && !is_kind(*found, Kind::NativeFunction))
      return false;
  return true;
}

bool may_be_handed_on(const Value& v) {
  switch (v.object()->kind) {
    case Kind::Instance:
    case Kind::Exception:
    case Kind::BoxedNumber:
    case Kind::List:
    case Kind::Dict:
    case Kind::Set:
    case Kind::Tuple:
    case Kind::Bytes:
    case Kind::File:
    case Kind::Native: return true;
    case Kind::Function: return !is_plain_function(*cast<FunctionObject>(v));
    default: return false;
  }
}

std::string source_place(const std::vector<EntrySource>& sources, const EntrySource& source) {
  std::string text = std::to_string(static_cast<int>(source.form)) + ":" + std::to_string(source.index);
  if (source.name) text += "." + std::string(source.name->view());
  if (source.holder.is_object())
    return text + "@" + std::to_string(reinterpret_cast<uintptr_t>(source.holder.object()));
  return source.form == Form::Register || source.form == Form::Closure
             ? text
             : source_place(sources, sources[source.parent]) + "/" + text;
}

// A list or dict whose items are sources of their own when something reads them.
bool Structures::has_items(const Value& v, bool apart) const {
  const size_t most = apart ? kLargestOfAll : kLargestContainer;
  if (is_kind(v, Kind::List) && v.object()->type == vm_.types().list) return cast<ListObject>(v)->items.size() <= most;
  if (!is_kind(v, Kind::Dict) || v.object()->type != vm_.types().dict) return false;
  const DictObject* dict = cast<DictObject>(v);
  if (dict->table.size() > most) return false;
  for (uint32_t i = 0; i < dict->table.used(); ++i)
    if (const Value& key = dict->table.entry(i).key; !key.is_undefined() && !is_plain_key(key)) return false;
  return true;
}

// Of an object whose attributes lie in a dict that is known already, of another object or by itself, and of such a
// dict.
bool Structures::is_known_otherwise(const Value& v) const {
  if (attribute_dicts_.count(v.object())) return true;
  DictObject* attributes = attribute_dict_of(v.object());
  if (!attributes) return false;
  if (constants_.count(attributes) || taken_apart_.count(attributes) || attributes == v.object()) return true;
  const auto found = attribute_dicts_.find(attributes);
  return found != attribute_dicts_.end() && found->second != v.object();
}

bool Structures::comes_apart(const Value& v, uint32_t source) const {
  if (!v.is_object() || v.object()->watched() || constants_.count(v.object())) return false;
  if (is_known_otherwise(v)) return false;
  const std::string place = source_place(plan_.sources, plan_.sources[source]);
  if (memory_.whole.count(place)) return false;
  const bool apart = memory_.apart.count(place) != 0;
  switch (v.object()->kind) {
    case Kind::BoundMethod:
    case Kind::Generator:
    case Kind::Cell: return true;
    case Kind::Iterator:
      if (!(v.object()->type->type_flags & kScriptClass)) return true;
      break;
    case Kind::Function:
      if (apart && is_plain_function(*cast<FunctionObject>(v))) return true;
      break;
    case Kind::Native:
      if (as_plain_partial(v)) return true;
      break;
    case Kind::Set:
      if (is_set_of_plain_items(vm_, v)) return true;
      break;
    default:
      if (has_items(v, apart)) return true;
      break;
  }
  return apart && may_be_handed_on(v);
}

// Its items are sources of their own only when something reads them: a list that is only appended to may
// have any length.
Av Structures::container_input(const Value& v, uint32_t source) {
  if (auto found = taken_apart_.find(v.object()); found != taken_apart_.end()) {
    plan_.sources[source].check = Check::Alias;
    plan_.sources[source].length = found->second.object->source;
    return found->second;
  }
  switch (v.object()->kind) {
    case Kind::BoundMethod: return method_input(v, source);
    case Kind::Function:
      return is_plain_function(*cast<FunctionObject>(v)) ? function_input(v, source) : instance_input(v, source);
    case Kind::Cell: return cell_input(v, source);
    case Kind::Set: return is_set_of_plain_items(vm_, v) ? set_input(v, source) : instance_input(v, source);
    case Kind::Native: return as_plain_partial(v) ? partial_input(v, source) : instance_input(v, source);
    case Kind::Iterator:
      return v.object()->type->type_flags & kScriptClass ? instance_input(v, source) : iterator_input(v, source);
    case Kind::Generator: return iterator_input(v, source);
    default: break;
  }
  const std::string place = source_place(plan_.sources, plan_.sources[source]);
  if (!has_items(v, memory_.apart.count(place) != 0)) return instance_input(v, source);
  const bool list = is_kind(v, Kind::List);
  plan_.sources[source].check = list ? Check::List : Check::Dict;
  plan_.sources[source].length = EntrySource::kAnyLength;
  plan_.containers.push_back(source);
  VirtualRef object;
  if (list) {
    auto made = make<VList>();
    made->host = v;
    object = std::move(made);
  } else {
    object = make<VDict>();
  }
  object->source = source;
  object->unread = !memory_.read.count(place);
  container_places_[object.get()] = place;
  taken_apart_[v.object()] = Av::of(object);
  if (!object->unread) read_container(v, source, *object);
  return Av::of(object);
}

Av Structures::instance_input(const Value& v, uint32_t source) {
  plan_.sources[source].check = Check::Instance;
  plan_.sources[source].expected = Value(v.object()->type);
  plan_.containers.push_back(source);
  auto object = make<VInstance>();
  object->type = Local<Type>(v.object()->type);
  object->source = source;
  object->host = v;
  object->unread = !holds_data(vm_, v);
  container_places_[object.get()] = source_place(plan_.sources, plan_.sources[source]);
  Av av = Av::of(object);
  taken_apart_[v.object()] = av;
  if (DictObject* attributes = attribute_dict_of(v.object())) attribute_dicts_[attributes] = v.object();
  return av;
}

// Of a list whose items nothing reads: a number of the region.
Av Structures::length_of_unread(VList& list) {
  repeats_.spoil_record();
  if (list.source == Virtual::kMadeHere) return rolled_.length_of(list);
  if (list.length.is_undefined()) {
    EntrySource source;
    source.form = Form::Length;
    source.parent = list.source;
    list.length = inputs_.load_value(Value::integer(static_cast<int64_t>(cast<ListObject>(list.host)->items.size())),
                                     std::move(source));
  }
  if (list.tail.empty()) return list.length;
  return numbers_.scalar(jit::ScalarOp::add, {list.length, Av::integer(static_cast<int64_t>(list.tail.size()))});
}

// An item that the region has appended to a list of any length, counted from its end.
const Av* Structures::appended_item(const Av& container, const Av& key) const {
  if (!is_virtual(container, VirtualKind::List) || !container.object->unread || !key.is_constant_int()) return nullptr;
  if (container.object->source == Virtual::kMadeHere) return nullptr;
  const std::vector<Av>& tail = static_cast<const VList&>(*container.object).tail;
  const int64_t from_end = -key.value.as_int();
  return from_end >= 1 && from_end <= static_cast<int64_t>(tail.size())
             ? &tail[tail.size() - static_cast<size_t>(from_end)]
             : nullptr;
}

void Structures::read_container(const Value& v, uint32_t source, Virtual& object) {
  auto item = [&](uint32_t index, const Value& key, const Value& now) {
    EntrySource part;
    part.form = Form::Item;
    part.parent = source;
    part.index = index;
    part.key = key;
    return inputs_.load_value(now, std::move(part));
  };
  if (object.kind == VirtualKind::List) {
    const std::vector<Value> items(cast<ListObject>(v)->items.begin(), cast<ListObject>(v)->items.end());
    plan_.sources[source].length = static_cast<uint32_t>(items.size());
    for (uint32_t i = 0; i < items.size(); ++i) static_cast<VList&>(object).items.push_back(item(i, Value(), items[i]));
    return;
  }
  DictObject* dict = cast<DictObject>(v);
  plan_.sources[source].length = static_cast<uint32_t>(dict->table.size());
  for (uint32_t i = 0; i < dict->table.used(); ++i) {
    const Value key = dict->table.entry(i).key;
    if (key.is_undefined()) continue;
    plan_.sources[source].keys.push_back(key);
    const uint32_t index = static_cast<uint32_t>(plan_.sources[source].keys.size() - 1);
    Av value = item(index, key, dict->table.entry(i).value);
    static_cast<VDict&>(object).items.push_back({Av::constant(key), std::move(value)});
  }
}

// Something needs the items of a container that was taken as it is: capture starts again and reads them. Of an object
// that was to be handed on it needs more than the class: it is known by identity.
void Structures::read_from_now_on(const Virtual& object) {
  if (object.source == Virtual::kMadeHere) rolled_.follow_all();
  const std::string& place = container_places_.at(&object);
  const AFrame& caller = program_frame(frames_);
  memory_.looks.push_back({place, frames_.frame().code.get(), frames_.frame().pc, caller.code.get(), caller.pc});
  (object.kind == VirtualKind::Instance ? memory_.whole : memory_.read).insert(place);
  throw CaptureRestart{};
}

// A host object that holds itself is a circle of shared pointers here.
Structures::~Structures() {
  for (auto& [holder, container] : structures_.taken_apart_) {
    Virtual& object = *container.object;
    switch (object.kind) {
      case VirtualKind::List:
        static_cast<VList&>(object).items.clear();
        static_cast<VList&>(object).tail.clear();
        break;
      case VirtualKind::Set: static_cast<VSet&>(object).items.clear(); break;
      case VirtualKind::Dict: static_cast<VDict&>(object).items.clear(); break;
      case VirtualKind::Instance: static_cast<VInstance&>(object).fields.clear(); break;
      case VirtualKind::Cell: static_cast<VCell&>(object).content = Av(); break;
      case VirtualKind::BoundMethod: static_cast<VBoundMethod&>(object).self = Av(); break;
      case VirtualKind::Partial: static_cast<VPartial&>(object).positional.clear(); break;
      default: break;
    }
  }
}

// The object was reached by a way that needs it by identity.
void Structures::keep_whole(Object* holder) {
  constants_.insert(holder);
  if (const auto owner = attribute_dicts_.find(holder); owner != attribute_dicts_.end()) holder = owner->second;
  auto found = taken_apart_.find(holder);
  if (found == taken_apart_.end()) return;
  memory_.whole.insert(container_places_.at(found->second.object.get()));
  throw CaptureRestart{};
}

// What a text is decides the program: the next capture takes it by identity. One of the region's own has no place.
void Structures::keep_text_whole(const VText& text) {
  const auto found = container_places_.find(&text);
  if (found == container_places_.end()) return;
  memory_.whole.insert(found->second);
  throw CaptureRestart{};
}

// An object known by identity whose content the region changes, or that it compares with others.
void Structures::keep_apart_from(const Value& holder) {
  repeats_.spoil_record();
  keep_whole(holder.object());
  plan_.foreign.push_back(holder);
}

}  // namespace tsc::interp
