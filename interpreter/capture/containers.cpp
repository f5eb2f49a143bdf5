// Lists and dicts that come in from outside are taken apart: their items are entry values, so that the
// next call may bring another container of the same form. So are instances of script classes, once a call
// has brought another one. What the region stores into one is stored into the real object at its place in
// program order, and into what capture knows of it.
#include "interpreter/capture/call_record.h"
#include "interpreter/modules/partial.h"
#include "interpreter/capture/raising.h"

namespace tsc::interp {

using Check = EntrySource::Check;
using Form = EntrySource::Form;

namespace {

// Beyond this many items a container is taken by identity, its items watched where they are read; once a call has
// brought another one in its place, only beyond the second number.
constexpr size_t kLargestContainer = 64;
constexpr size_t kLargestOfAll = 4096;

bool is_plain_key(const Value& key) {
  return !key.is_object() || (is_kind(key, Kind::Str) && !(key.object()->type->type_flags & kScriptClass));
}

constexpr size_t kLargestSet = 64;

// Numbers and texts: what is in it is known, and no operation on it runs code of a script.
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
  for (const char* hook : {"__call__", "__getattr__", "__getattribute__"})
    if (const Value* found = lookup_in_type(v.object()->type, intern(vm, hook).get());
        found && !is_kind(*found, Kind::NativeFunction))
      return false;
  return true;
}

std::string source_place(const std::vector<EntrySource>& sources, const EntrySource& source) {
  std::string text = std::to_string(static_cast<int>(source.form)) + ":" + std::to_string(source.index);
  if (source.name) text += "." + std::string(source.name->view());
  if (source.holder.is_object())
    return text + "@" + std::to_string(reinterpret_cast<uintptr_t>(source.holder.object()));
  return source.form == Form::Register ? text : source_place(sources, sources[source.parent]) + "/" + text;
}

bool Capture::comes_apart(const Value& v, uint32_t source) const {
  if (!v.is_object() || v.object()->watched() || constants_.count(v.object())) return false;
  const std::string place = source_place(plan_.sources, plan_.sources[source]);
  if (memory_.whole.count(place)) return false;
  switch (v.object()->kind) {
    case Kind::BoundMethod:
    case Kind::Iterator:
    case Kind::Generator:
    case Kind::Cell: return true;
    case Kind::Native: return as_plain_partial(v) != nullptr;
    case Kind::Set: return is_set_of_plain_items(vm_, v);
    case Kind::Function: return memory_.apart.count(place) && is_plain_function(*cast<FunctionObject>(v));
    case Kind::Instance: return memory_.apart.count(place) && holds_data(vm_, v);
    default: break;
  }
  const size_t most = memory_.apart.count(place) ? kLargestOfAll : kLargestContainer;
  if (is_kind(v, Kind::List) && v.object()->type == vm_.types().list)
    return cast<ListObject>(v)->items.size() <= most;
  if (!is_kind(v, Kind::Dict) || v.object()->type != vm_.types().dict) return false;
  const DictObject* dict = cast<DictObject>(v);
  if (dict->table.size() > most) return false;
  for (uint32_t i = 0; i < dict->table.used(); ++i)
    if (const Value& key = dict->table.entry(i).key; !key.is_undefined() && !is_plain_key(key)) return false;
  return true;
}

// Its items are sources of their own only when something reads them: a list that is only appended to may
// have any length.
Av Capture::container_input(const Value& v, uint32_t source) {
  if (auto found = containers_.find(v.object()); found != containers_.end()) {
    plan_.sources[source].check = Check::Alias;
    plan_.sources[source].length = found->second.object->source;
    return found->second;
  }
  switch (v.object()->kind) {
    case Kind::Instance: return instance_input(v, source);
    case Kind::BoundMethod: return method_input(v, source);
    case Kind::Function: return function_input(v, source);
    case Kind::Cell: return cell_input(v, source);
    case Kind::Set: return set_input(v, source);
    case Kind::Native: return partial_input(v, source);
    case Kind::Iterator:
    case Kind::Generator: return iterator_input(v, source);
    default: break;
  }
  const bool list = is_kind(v, Kind::List);
  const std::string place = source_place(plan_.sources, plan_.sources[source]);
  plan_.sources[source].check = list ? Check::List : Check::Dict;
  plan_.sources[source].length = EntrySource::kAnyLength;
  plan_.containers.push_back(source);
  VirtualRef object;
  if (list) object = make<VList>();
  else object = make<VDict>();
  object->source = source;
  object->unread = !memory_.read.count(place);
  container_places_[object.get()] = place;
  containers_[v.object()] = Av::of(object);
  if (!object->unread) read_container(v, source, *object);
  return Av::of(object);
}

Av Capture::instance_input(const Value& v, uint32_t source) {
  plan_.sources[source].check = Check::Instance;
  plan_.sources[source].expected = Value(v.object()->type);
  plan_.containers.push_back(source);
  auto object = make<VInstance>();
  object->type = Local<Type>(v.object()->type);
  object->source = source;
  object->host = v;
  container_places_[object.get()] = source_place(plan_.sources, plan_.sources[source]);
  Av av = Av::of(object);
  containers_[v.object()] = av;
  return av;
}

const Av* Capture::find_field(VInstance& instance, StrObject* name) {
  for (auto& [field, value] : instance.fields)
    if (field.get() == name) return value.is_undefined() ? nullptr : &value;
  if (instance.source == Virtual::kMadeHere) return nullptr;
  EntrySource source;
  source.form = Form::Attribute;
  source.parent = instance.source;
  source.name = Local<StrObject>(name);
  const Value now = get_own_attribute(vm_, instance.host.object(), name);
  Av value;
  if (!now.is_undefined()) {
    value = load_value(now, std::move(source));
  } else {
    // It must stay absent: what is found on the class would be hidden.
    source.check = Check::Same;
    add_source(std::move(source));
  }
  instance.fields.push_back({Local<StrObject>(name), std::move(value)});
  return now.is_undefined() ? nullptr : &instance.fields.back().second;
}

void Capture::read_container(const Value& v, uint32_t source, Virtual& object) {
  auto item = [&](uint32_t index, const Value& key, const Value& now) {
    EntrySource part;
    part.form = Form::Item;
    part.parent = source;
    part.index = index;
    part.key = key;
    return load_value(now, std::move(part));
  };
  if (object.kind == VirtualKind::List) {
    const std::vector<Value> items(cast<ListObject>(v)->items.begin(), cast<ListObject>(v)->items.end());
    plan_.sources[source].length = static_cast<uint32_t>(items.size());
    for (uint32_t i = 0; i < items.size(); ++i)
      static_cast<VList&>(object).items.push_back(item(i, Value(), items[i]));
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

// Something needs the items of a container that was taken as it is: capture starts again and reads them.
void Capture::read_from_now_on(const Virtual& object) {
  memory_.read.insert(container_places_.at(&object));
  throw CaptureRestart{};
}

// The same object was reached by a way that needs it by identity.
// A host object that holds itself is a circle of shared pointers here.
Capture::~Capture() {
  for (auto& [holder, container] : containers_) {
    Virtual& object = *container.object;
    switch (object.kind) {
      case VirtualKind::List: static_cast<VList&>(object).items.clear(); break;
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

void Capture::keep_whole(Object* holder) {
  constants_.insert(holder);
  auto found = containers_.find(holder);
  if (found == containers_.end()) return;
  memory_.whole.insert(container_places_.at(found->second.object.get()));
  throw CaptureRestart{};
}

// An object known by identity whose content the region changes, or that it compares with others.
void Capture::keep_apart_from(const Value& holder) {
  spoil_record();
  keep_whole(holder.object());
  plan_.foreign.push_back(holder);
}

// What the region is about to do to the object itself: method(container, ...) in program order.
void Capture::write_through(const Av& container, const char* method, std::vector<Av> arguments) {
  if (container.kind != Av::Kind::Virtual) return;
  will_change(*container.object);
  if (container.object->source == Virtual::kMadeHere) return;
  effect_may_raise();
  HostAction action;
  action.is_store = true;
  const Value* function = lookup_in_type(type_of_av(container), intern(vm_, method).get());
  arguments.insert(arguments.begin(), {Av::constant(*function), container});
  plan_.distinct.push_back(container.object->source);
  host_action(std::move(action), std::move(arguments));
}

}  // namespace tsc::interp
