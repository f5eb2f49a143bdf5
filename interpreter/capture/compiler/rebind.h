#pragma once
// A region that was captured for some objects, for others of the same form: the layers of a model that are compiled
// one by one share one capture and its machine code. Capture reads the program through what its plan lists and
// runs nothing, so the plan for the other objects follows from the old one if all that it lists reads the same with
// each object exchanged for its counterpart: equal numbers and strings, classes and functions themselves, and
// a counterpart for every module, list, dict and tensor, the same one wherever it is met. What the entry checks of a
// variant look at anyway (sizes, numbers that change) is left to them.
// Knows plans and script objects; must not know regions, variants or how a plan is run.
#include <functional>
#include <optional>

#include "interpreter/capture/plan.h"
#include "interpreter/capture/program/counterparts.h"
#include "interpreter/vm/vm.h"

namespace tsc::interp {

// How the call at hand is looked at.
struct EntryLook {
  // The value at an entry source; those of earlier sources are known.
  std::function<Value(const EntrySource& source, const std::vector<Value>& entry)> fetch;
  std::function<bool(const EntrySource& source, const Value& now)> check;
  // Whether the object is one to be known by identity, as the one in whose place it is.
  std::function<bool(const EntrySource& source, const Value& now)> may_move;
};

class Rebinding {
 public:
  Rebinding(Vm& vm, const RegionPlan& plan, EntryLook look)
      : vm_(vm), plan_(plan), look_(std::move(look)), objects_(vm) {}
  // The plan for what the call brings; nothing when no object has another one in its place, or when capture
  // might find something else there.
  std::optional<RegionPlan> apply();

 private:
  bool match_sources();
  bool match_watched();
  bool match_lookups();
  Value counterpart(const Value& old);  // Undefined: not known yet, or none
  bool exchange(RegionPlan& plan) const;

  Vm& vm_;
  const RegionPlan& plan_;
  EntryLook look_;
  Counterparts objects_;
  bool others_stay_ = false;  // an object without counterpart is its own
};

// The objects that a plan holds, each as often as it does.
void add_references(const RegionPlan& plan, std::vector<Object*>& references);

}  // namespace tsc::interp
