#include "interpreter/capture/written/effects.h"

#include "interpreter/capture/capture.h"
#include "interpreter/capture/exits/exits.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/program/shared_memory.h"
#include "interpreter/capture/program/while_loops.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/written/writes.h"

namespace tsc::interp {

static void refuse_built(const Virtual& object) {
  if (object.built) break_here(BreakReason::escape, "an object is changed after it was stored outside");
}

void Effects::will_change(const Virtual& object) {
  refuse_built(object);
  rolled_.note_change(object);
  whiles_.note_change(object);
  forks_.note_change(object);
  shared_memory_.note_change(object);
}

void Effects::will_write(VTensor& tensor) {
  refuse_built(tensor);
  rolled_.note_change(tensor);
  whiles_.note_change(tensor);
  forks_.note_write(tensor);
  shared_memory_.note_change(tensor);
}

// The history of a tensor is made when the region is left: what is printed before would lack it, and what is stored
// is stored then.
static void write_values(RecipeWriter& writer, HostAction& action, const std::vector<Av>& values) {
  for (const Av& av : values) action.values.push_back(writer.write(av));
}

static bool is_store(const HostAction& action) { return action.is_store || action.form != HostAction::Form::Call; }

void Effects::host_action(HostAction action, std::vector<Av> values) {
  rolled_.leave_out();
  repeats_.spoil_record();
  action.origin = builder_.known_origin();
  if (!is_store(action)) stores_must_not_wait();
  // What a store lets go of may die before the program's eyes, who then must find all as it left it.
  if (vm_.sees_ends() && is_store(action))
    break_here(BreakReason::escape, "a store lets go of an object while the program sees objects die");
  if (!waiting_stores_.empty()) return waiting_stores_.push_back({std::move(action), std::move(values)});
  const bool may_wait = is_store(action) && !frames_.is_protected(), waits = may_wait && all_wait();
  if (action.form == HostAction::Form::Call && !waits) writes_.flush_writes();
  perform(std::move(action), std::move(values), may_wait);
}

void Effects::set_gradient(const Av& tensor, const Av& gradient, bool leaving) {
  rolled_.leave_out();
  repeats_.spoil_record();
  HostAction action;
  action.form = HostAction::Form::SetGradient;
  action.origin = builder_.known_origin();
  perform(std::move(action), {tensor, gradient}, leaving);
}

void Effects::perform(HostAction action, std::vector<Av> values, bool may_wait) {
  RecipeWriter writer(capture_, action.materials);
  write_values(writer, action, values);
  const bool has_history = !writer.history_values.empty();
  if (has_history || (may_wait && all_wait())) {
    if (!may_wait) break_here(BreakReason::history, "a tensor with gradient history is printed, or kept by a call");
    action.values.clear();
    action.materials = {};
    return waiting_stores_.push_back({std::move(action), std::move(values)});
  }
  std::vector<jit::Type> results;
  uint32_t id = static_cast<uint32_t>(plan_.actions.size());
  builder_.host(id, action.materials.live, results);
  plan_.actions.push_back(std::move(action));
}

Av Effects::host_action_with_result(HostAction action, std::vector<Av> values) {
  rolled_.leave_out();
  repeats_.spoil_record();
  stores_must_not_wait();
  writes_.flush_writes();
  RecipeWriter writer(capture_, action.materials);
  write_values(writer, action, values);
  if (!writer.history_values.empty())
    break_here(BreakReason::history, "a call is given a tensor with gradient history");
  action.origin = builder_.known_origin();
  jit::Type type;
  type.kind = action.result;
  uint32_t id = static_cast<uint32_t>(plan_.actions.size());
  std::vector<ValueId> results = builder_.host(id, action.materials.live, {&type, 1});
  jit::ValueKind kind = action.result;
  plan_.actions.push_back(std::move(action));
  if (kind == jit::ValueKind::Object) return Av::opaque(results[0]);
  return Av::number(kind, results[0], Value());
}

// What the region is about to do to the object itself: method(container, ...) in program order.
void Effects::write_through(const Av& container, const char* method, std::vector<Av> arguments) {
  if (container.kind != Av::Kind::Virtual) return;
  will_change(*container.object);
  if (container.object->source == Virtual::kMadeHere) return;
  effect_may_raise();
  HostAction action;
  action.is_store = true;
  const Value* function = lookup_in_type(attributes_.type_of_av(container), intern(vm_, method).get());
  arguments.insert(arguments.begin(), {Av::constant(*function), container});
  plan_.distinct.push_back(container.object->source);
  host_action(std::move(action), std::move(arguments));
}

void Effects::effect_may_raise() {
  if (frames_.is_protected()) break_here(BreakReason::protected_raise);
}

void Effects::stores_must_not_wait() {
  if (waiting_stores_.empty()) return;
  if (!all_wait()) break_here(BreakReason::history, "a tensor with gradient history was stored");
  memory_.stores = CaptureMemory::Stores::InFrontOfCalls;
  throw CaptureRestart{};
}

// Nothing that the region does to the host stands in front of here, or would if its stores waited: then capture begins
// again, and they do.
bool Effects::has_written_back() const {
  const auto& code = region_.body.instructions;
  return std::any_of(code.begin(), code.end(),
                     [](const jit::Instruction& one) { return one.code == jit::Code::WriteBack; });
}

bool Effects::has_done_nothing() const {
  const auto acts = [](const HostAction& action) { return action.is_effect; };
  return !has_written_back() && std::none_of(plan_.actions.begin(), plan_.actions.end(), acts);
}

bool Effects::can_begin_anew() {
  if (has_done_nothing()) return true;
  const auto is_more = [](const HostAction& action) { return action.is_effect && !is_store(action); };
  if (has_written_back() || std::any_of(plan_.actions.begin(), plan_.actions.end(), is_more)) return false;
  if (memory_.stores != CaptureMemory::Stores::AsTheyCome) return false;
  memory_.stores = CaptureMemory::Stores::Behind;
  throw CaptureRestart{};
}

// Stores that wait are no hindrance as long as the region has done nothing: what raises then has the interpreter begin
// anew.
void Effects::may_raise_here() {
  if (!frames_.is_protected()) {
    if (writes_wait() && builder_.known_origin() && can_begin_anew()) {
      plan_.starts_again.insert(builder_.known_origin());
      return;
    }
    stores_must_not_wait();
    return writes_.flush_writes();
  }
  if (memory_.has_effects) break_here(BreakReason::protected_raise);
  plan_.run_again = true;
}

// A region without effects in front finds such an int out when it runs, and then the interpreter begins anew.
void Effects::may_need_big_int() {
  if (!memory_.has_effects) {
    plan_.run_again = true;
    return;
  }
  if (!has_done_nothing()) break_here(BreakReason::unknown_number, "an int that may need more than 64 bits");
  plan_.starts_again.insert(builder_.known_origin());
}

}  // namespace tsc::interp
