#include "interpreter/capture/written/overlay.h"

#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/written/effects.h"

namespace tsc::interp {

const Av* Overlay::stored_at(const OverlayKey& place) const {
  const auto found = stored_.find(place);
  return found == stored_.end() ? nullptr : &found->second;
}

bool Overlay::has_stored(const Value& holder, const Value& key) const {
  if (stored_.empty()) return false;
  if (is_kind(holder, Kind::Module)) return has_stored(Value(cast<ModuleObject>(holder)->globals.get()), key);
  if (is_kind(key, Kind::Str)) return stored_.count({holder.object(), cast<StrObject>(key), 0}) != 0;
  if (key.is_int()) return stored_.count({holder.object(), nullptr, key.as_int() + 1}) != 0;
  return std::any_of(stored_.begin(), stored_.end(),
                     [&](const auto& entry) { return entry.first.holder == holder.object(); });
}

void Overlay::store_cell(const Av& cell, const Av& value) {
  if (VCell* made = as<VCell>(cell)) {
    effects_.will_change(*made);
    if (made->source != Virtual::kMadeHere) {
      plan_.distinct.push_back(made->source);
      HostAction action;
      action.form = HostAction::Form::SetContent;
      effects_.host_action(std::move(action), {cell, value});
    }
    made->content = value;
    return;
  }
  OverlayKey place{cell.value.object(), nullptr, 0};
  cells_.written_by_region(place, cell.value);
  HostAction action;
  action.form = HostAction::Form::SetContent;
  effects_.host_action(std::move(action), {cell, value});
  note_stored(place, value);
}

void Overlay::store_global(StrObject* name, const Av& value) {
  Value globals(frames_.frame().module->globals.get());
  OverlayKey place{globals.object(), name, 0};
  cells_.written_by_region(place, globals);
  HostAction action;
  action.form = HostAction::Form::SetGlobal;
  action.name = Local<StrObject>(name);
  effects_.host_action(std::move(action), {Av::constant(globals), value});
  note_stored(place, value);
}

}  // namespace tsc::interp
