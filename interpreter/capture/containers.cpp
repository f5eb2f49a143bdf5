// Lists and dicts that come in from outside are taken apart: their items are entry values, so that the
// next call may bring another container of the same form. What the region stores into one is stored into
// the real object at its place in program order, and into what capture knows of it.
#include "interpreter/capture/capture.h"

namespace tsc::interp {

using Check = EntrySource::Check;
using Form = EntrySource::Form;

namespace {

// Beyond this many items a container is taken by identity, its items watched where they are read.
constexpr size_t kLargestContainer = 64;

bool is_plain_key(const Value& key) { return !key.is_object() || is_kind(key, Kind::Str); }

std::string container_place(const std::vector<EntrySource>& sources, const EntrySource& source) {
  std::string text = std::to_string(static_cast<int>(source.form)) + ":" + std::to_string(source.index);
  if (source.name) text += "." + std::string(source.name->view());
  if (source.form == Form::Item) return container_place(sources, sources[source.parent]) + "/" + text;
  if (source.holder.is_object())
    text += "@" + std::to_string(reinterpret_cast<uintptr_t>(source.holder.object()));
  return text;
}

}  // namespace

bool Capture::comes_apart(const Value& v, uint32_t source) const {
  if (!v.is_object() || v.object()->watched()) return false;
  if (memory_.whole.count(container_place(plan_.sources, plan_.sources[source]))) return false;
  if (is_kind(v, Kind::List) && v.object()->type == vm_.types().list)
    return cast<ListObject>(v)->items.size() <= kLargestContainer;
  if (!is_kind(v, Kind::Dict) || v.object()->type != vm_.types().dict) return false;
  const DictObject* dict = cast<DictObject>(v);
  if (dict->table.size() > kLargestContainer) return false;
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
  const bool list = is_kind(v, Kind::List);
  const std::string place = container_place(plan_.sources, plan_.sources[source]);
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
void Capture::keep_whole(Object* holder) {
  auto found = containers_.find(holder);
  if (found == containers_.end()) return;
  memory_.whole.insert(container_places_.at(found->second.object.get()));
  throw CaptureRestart{};
}

// What the region is about to do to the object itself: method(container, ...) in program order.
void Capture::write_through(const Av& container, const char* method, std::vector<Av> arguments) {
  if (container.kind != Av::Kind::Virtual || container.object->source == Virtual::kMadeHere) return;
  effect_may_raise();
  HostAction action;
  action.reason = BreakReason::host_store;
  const Value* function = lookup_in_type(type_of_av(container), intern(vm_, method).get());
  arguments.insert(arguments.begin(), {Av::constant(*function), container});
  plan_.distinct.push_back(container.object->source);
  host_action(std::move(action), std::move(arguments));
}

}  // namespace tsc::interp
