#include "interpreter/capture/program/turn_values.h"

#include <algorithm>

#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/shared_memory.h"
#include "interpreter/capture/program/turn_conditions.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/shapes.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/writes.h"

namespace tsc::interp {

using jit::ScalarOp;

namespace {

[[noreturn]] void refuse(const char* why) { throw NotCarried{why}; }

bool is_made_here(const Av& av) { return av.kind == Av::Kind::Virtual && av.object->source == Virtual::kMadeHere; }

bool has_views(const VTensor& tensor) {
  return std::any_of(tensor.views.begin(), tensor.views.end(), [](const auto& view) { return !view.expired(); });
}

// A counter: how much it grows in each turn.
std::optional<int64_t> step_of(const TurnState& state, const Av& before, const Av& now) {
  if (state.number == kNoValue || !before.is_constant() || !now.is_constant() || !before.value.is_int() ||
      !now.value.is_int())
    return std::nullopt;
  int64_t step = 0;
  constexpr int64_t kLarge = int64_t{1} << 31;
  if (__builtin_sub_overflow(now.value.as_int(), before.value.as_int(), &step) || std::abs(now.value.as_int()) > kLarge)
    return std::nullopt;
  return step != 0 && std::abs(step) < kLarge ? std::optional(step) : std::nullopt;
}

// An int that changes by so little in each turn needs more turns to become larger than that than a run of years has.
constexpr int64_t kLittle = int64_t{1} << 10, kMostOfSteady = int64_t{1} << 62;
bool changes_little(const Av& before, const Av& now) {
  const auto is_small = [](const Av& av) {
    return av.is_constant() && av.value.is_int() && std::abs(av.value.as_int()) <= int64_t{1} << 31;
  };
  return is_small(before) && is_small(now) && std::abs(now.value.as_int() - before.value.as_int()) <= kLittle;
}

// The items of what is a new tuple or list in each turn; null: it is something else.
const std::vector<Av>* items_of_both(const Av& before, const Av& now, const std::vector<Av>** others) {
  if (!is_made_here(now) || before.kind != Av::Kind::Virtual || before.object->kind != now.object->kind ||
      before.object->unread)
    return nullptr;
  if (const VTuple* tuple = as<VTuple>(now)) {
    if (as<VTuple>(before)->type.get() != tuple->type.get()) return nullptr;
    *others = &as<VTuple>(before)->items;
    return &tuple->items;
  }
  if (now.object->kind != VirtualKind::List || now.object->unread) return nullptr;
  *others = &as<VList>(before)->items;
  return &as<VList>(now)->items;
}

constexpr const char* kAnotherObject = "a variable is another object in each turn, and no tensor, number or tuple";
constexpr const char* kMoreThanElements = "a tensor that goes from turn to turn is more than its elements";
constexpr const char* kAnotherType = "what goes from turn to turn changes its type or its size";
constexpr const char* kOneOrTwo = "two variables are one object in some turns alone";

}  // namespace

// ---- the turn in front ----

void TurnValues::forget_dead(const std::function<bool(uint32_t)>& is_read) {
  AFrame& frame = frames_.frame();
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg)
    if (!is_read(reg) && !is_generator_from_outside(frame.registers[reg])) frame.registers[reg] = Av();
}

Av TurnValues::stand_in(const Av& av, bool is_before) {
  if (av.holds_number()) return Av::number(av.number_kind(), is_before ? kNoValue : numbers_.number_id(av), Value());
  if (!is_made_here(av)) return av;
  if (VTensor* tensor = as<VTensor>(av)) {
    auto made = make<VTensor>();
    made->id = tensors_.current(*tensor);
    made->writes = tensor->writes;
    made->is_inference = tensor->is_inference;
    return Av::of(made);
  }
  const bool has_items =
      (av.object->kind == VirtualKind::Tuple || av.object->kind == VirtualKind::List) && !av.object->unread;
  if (!has_items) return av;
  std::vector<Av> items = as<VTuple>(av) ? as<VTuple>(av)->items : as<VList>(av)->items;
  for (Av& item : items) item = stand_in(item, is_before);
  return with_items(av, std::move(items));
}

bool TurnValues::note_change(TurnState& state, const Virtual& object) const {
  if (object.kind == VirtualKind::Tensor && static_cast<const VTensor&>(object).view)
    return false;  // its root is told too
  const VirtualRef changed = const_cast<Virtual&>(object).shared_from_this();
  if (std::find(state.changed.begin(), state.changed.end(), changed) != state.changed.end()) return false;
  if (object.kind == VirtualKind::List && !object.unread)
    state.had.emplace(&object, static_cast<const VList&>(object).items);
  state.changed.push_back(changed);
  return true;
}

void TurnValues::take(TurnState& state, const Virtual* iterator,
                      const std::function<void(const std::shared_ptr<VList>&)>& take_list) {
  const AFrame& frame = frames_.frame();
  state.at_end.clear();
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg) {
    const Av &before = state.before[reg], &now = frame.registers[reg];
    if (is_same(before, now) || (now.kind == Av::Kind::Virtual && now.object.get() == iterator)) continue;
    state.registers.push_back(reg);
    collect(state, before, now, false);
  }
  take_changed(state, take_list);
}

// Whether a variable that the last turn has left alone has it, or may have it inside of another object.
bool TurnValues::is_held_elsewhere(const TurnState& state, const Virtual& object) const {
  if (object.number > state.objects) return false;
  if (object.number <= state.objects_before) return true;
  const AFrame& frame = frames_.frame();
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg) {
    const Av& now = frame.registers[reg];
    if (now.kind != Av::Kind::Virtual || !is_same(state.before[reg], now) || !is_tracked(frame, reg)) continue;
    const bool holds_others = now.object->kind != VirtualKind::Tensor && now.object->number > state.objects_before;
    if (now.object.get() == &object || holds_others) return true;
  }
  return false;
}

// Objects that the last turn has found and changed: elements of tensors, and closure cells.
void TurnValues::take_changed(TurnState& state, const std::function<void(const std::shared_ptr<VList>&)>& take_list) {
  for (const VirtualRef& object : state.changed) {
    if (object->source != Virtual::kMadeHere && object->kind != VirtualKind::Tensor)
      refuse("a turn changes an object that came in");
    if (object->kind == VirtualKind::Cell) {
      state.cells.push_back(std::static_pointer_cast<VCell>(object));
      collect(state, state.cells.back()->content, state.cells.back()->content, true);
    } else if (object->kind == VirtualKind::Tensor) {
      const auto tensor = std::static_pointer_cast<VTensor>(object);
      if (tensor->requires_grad || tensor->hooked || tensor->unrecorded ||
          (tensor->input != kNoValue && !tensor->dirty))
        refuse("a turn changes a tensor, and more than its elements");
      state.elements.push_back(tensor);
      state.carried.push_back({region_.type(tensor->id), tensor->id});
    } else if (object->kind == VirtualKind::List) {
      take_list(std::static_pointer_cast<VList>(object));
    } else {
      refuse("a turn changes an object");
    }
  }
}

void TurnValues::collect(TurnState& state, const Av& before, const Av& now, bool changes) {
  if (!changes && is_same(before, now)) return;
  if (before.holds_number() && now.holds_number() && before.number_kind() == now.number_kind()) {
    if (step_of(state, before, now)) return;
    return state.carried.push_back({{now.number_kind(), {}, {}}, numbers_.number_id(now)});
  }
  const VTensor* tensor = is_virtual(now, VirtualKind::Tensor) ? as<VTensor>(now) : nullptr;
  if (tensor && is_virtual(before, VirtualKind::Tensor)) {
    if (state.made.emplace(now.object.get(), Av()).second)
      collect_tensor(state, *as<VTensor>(before), *as<VTensor>(now));
    return;
  }
  const std::vector<Av>* others = nullptr;
  const std::vector<Av>* items = items_of_both(before, now, &others);
  if (!items || others->size() != items->size() || !state.made.emplace(now.object.get(), Av()).second)
    refuse(kAnotherObject);
  if (!changes && is_held_elsewhere(state, *now.object)) refuse(kOneOrTwo);
  for (size_t i = 0; i < items->size(); ++i) collect(state, (*others)[i], (*items)[i], changes);
}

// One that the turn has made, row by row in memory of its own: what a view shows of another tensor, and its strides,
// the region's loop does not carry.
void TurnValues::collect_tensor(TurnState& state, const VTensor& before, VTensor& now) {
  const bool is_plain = now.source == Virtual::kMadeHere && now.input == kNoValue && !now.hooked && !now.built &&
                        !now.has_grad_overlay && !now.has_ambiguous() && !now.unrecorded && now.host.is_undefined() &&
                        now.is_inference == before.is_inference && now.contiguous && !now.view && !has_views(now) &&
                        !now.unnamed;
  const auto is_changed = [&](const VirtualRef& one) { return one.get() == &now; };
  if (!is_plain || std::any_of(state.changed.begin(), state.changed.end(), is_changed)) refuse(kMoreThanElements);
  if (is_held_elsewhere(state, now)) refuse(kOneOrTwo);
  note_first_choices(state, now);
  const ValueId id = tensors_.current(now);
  const jit::Type &type = region_.type(id), &earlier = region_.type(before.id);
  if (type.dtype != earlier.dtype || !shapes_.assume_same_sizes(id, before.id)) refuse(kAnotherType);
  state.carried.push_back({type, id});
  if (!now.same_as.empty()) state.carried.push_back({{jit::ValueKind::Bool, {}, {}}, builder_.constant_bool(true)});
}

// No other variable may be the tensor, nor one that the turns in front have made, which it may be.
void TurnValues::note_first_choices(TurnState& state, const VTensor& now) {
  if (!state.at_end.insert(&now).second) refuse(kOneOrTwo);
  for (const VTensor::SameAs& one : now.same_as)
    if (one.tensor->number > state.objects_before) note_first_choices(state, static_cast<const VTensor&>(*one.tensor));
}

// ---- where the turn begins ----

void TurnValues::begin(TurnState& state) {
  AFrame& frame = frames_.frame();
  state.next_value = 0;
  for (uint32_t reg : state.registers) {
    state.began.push_back(unknown(state, state.before[reg], frame.registers[reg], false));
    frame.registers[reg] = state.began.back();
  }
  for (const auto& cell : state.cells) {
    state.began.push_back(unknown(state, cell->content, cell->content, true));
    cell->content = state.began.back();
  }
  for (const auto& tensor : state.elements) {
    tensor->id = next_input(state);
    ++tensor->version;
    state.writes.push_back(tensor->writes);
    state.writes_of_loops.push_back(std::exchange(tensor->writes_of_loops, kNoValue));
  }
}

// Of the carried values, which are the last of the block's parameters.
ValueId TurnValues::next_input(TurnState& state) const {
  return state.inputs[state.inputs.size() - state.carried.size() + state.next_value++];
}

Av TurnValues::counter(const Av& first, int64_t step, ValueId number) {
  const ValueId by = conditions_.combined(ScalarOp::mul, number, builder_.constant(step));
  return numbers_.int_av(conditions_.combined(ScalarOp::add, builder_.constant(first.value.as_int()), by));
}

Av TurnValues::unknown(TurnState& state, const Av& before, const Av& now, bool changes) {
  if (!changes && is_same(before, now)) return now;
  if (now.holds_number()) {
    if (const auto step = step_of(state, before, now)) {
      const Av made = counter(now, *step, state.number);
      state.counters.push_back({made.id, now, *step});
      return made;
    }
    const ValueId id = next_input(state);
    if (state.may_be_steady && changes_little(before, now)) {
      conditions_.set_bound(id, kMostOfSteady);
      state.steady.push_back(id);
    }
    return Av::number(now.number_kind(), id, Value());
  }
  Av& known = state.made.at(now.object.get());
  if (!known.is_undefined()) return known;
  if (const VTensor* tensor = as<VTensor>(now)) {
    auto made = make<VTensor>();
    made->id = next_input(state);
    made->writes = tensor->writes;
    made->requires_grad = tensor->requires_grad;
    made->leaf = !tensor->requires_grad;
    made->is_inference = tensor->is_inference;
    if (!tensor->same_as.empty()) {
      state.kept[made.get()] = {next_input(state), std::static_pointer_cast<VTensor>(now.object)};
      shared_memory_.note_stand_in(*made, *now.object);
    }
    return known = Av::of(made);
  }
  const std::vector<Av>* others = nullptr;
  std::vector<Av> items = *items_of_both(before, now, &others);
  for (size_t i = 0; i < items.size(); ++i) items[i] = unknown(state, (*others)[i], items[i], changes);
  return known = with_items(now, std::move(items));
}

// One like it with other items.
Av TurnValues::with_items(const Av& like, std::vector<Av> items) {
  if (const VTuple* tuple = as<VTuple>(like)) {
    auto made = make<VTuple>();
    made->items = std::move(items);
    made->type = tuple->type;
    return Av::of(made);
  }
  auto made = make<VList>();
  made->items = std::move(items);
  return Av::of(made);
}

// ---- where it ends ----

std::vector<ValueId> TurnValues::ends(TurnState& state) {
  const AFrame& frame = frames_.frame();
  std::vector<ValueId> next;
  state.ended.clear();
  state.at_end.clear();
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg) {
    const auto slot = std::find(state.registers.begin(), state.registers.end(), reg);
    const bool is_read = is_tracked(frame, reg);
    if (slot != state.registers.end()) {
      const Av& began = state.began[static_cast<size_t>(slot - state.registers.begin())];
      collect_next(state, began, is_read ? frame.registers[reg] : began, &next);
    } else if (is_read && !is_same(state.before[reg], frame.registers[reg])) {
      refuse(kAnotherObject);
    }
  }
  for (size_t i = 0; i < state.cells.size(); ++i)
    collect_next(state, state.began[state.registers.size() + i], state.cells[i]->content, &next);
  for (const auto& element : state.elements) {
    const VTensor& tensor = *element;
    if (tensor.requires_grad || tensor.unrecorded || tensor.view || (tensor.input != kNoValue && !tensor.dirty))
      refuse(kMoreThanElements);
    if (tensor.writes_of_loops != kNoValue &&
        builder_.depth_of(tensor.writes_of_loops) >= builder_.depth_of(state.inputs[0]))
      refuse("a tensor is written by a loop in the loop");
    next.push_back(tensor.id);
  }
  check_types(state, next);
  return next;
}

// Carried values keep their types, up to the sizes.
void TurnValues::check_types(const TurnState& state, std::span<const ValueId> next) const {
  if (next.size() != state.carried.size()) refuse(kAnotherType);
  for (size_t i = 0; i < next.size(); ++i) {
    const jit::Type &began = state.carried[i].type, &ends = region_.type(next[i]);
    if (began.kind != ends.kind || began.dtype != ends.dtype ||
        !shapes_.assume_same_sizes(state.carried[i].initial, next[i]))
      refuse(kAnotherType);
  }
}

void TurnValues::collect_next(TurnState& state, const Av& began, const Av& now, std::vector<ValueId>* next) {
  if (began.holds_number()) {
    if (!now.holds_number() || began.number_kind() != now.number_kind()) refuse(kAnotherType);
    const ValueId id = numbers_.number_id(now);
    const auto counter = std::find_if(state.counters.begin(), state.counters.end(),
                                      [&](const TurnCounter& one) { return began.is_number() && one.id == began.id; });
    if (counter == state.counters.end()) {
      const bool is_steady =
          began.is_number() && std::find(state.steady.begin(), state.steady.end(), began.id) != state.steady.end();
      if (is_steady) {
        const auto form = turn_conditions_.linear_form(id, began.id);
        state.is_unsteady |= !form || form->first > 1 || form->first < 0 || std::abs(form->second) > kLittle;
      }
      if (began.is_number() && state.is_input(began.id)) next->push_back(id);
      else if (!is_same(began, now)) refuse(kAnotherType);
      return;
    }
    const auto form = turn_conditions_.linear_form(id, state.number);
    if (!form || form->first != counter->step || form->second != counter->first.value.as_int() + counter->step)
      refuse(kAnotherType);
    return;
  }
  if (began.kind != Av::Kind::Virtual || now.kind != Av::Kind::Virtual || began.object->kind != now.object->kind) {
    if (!is_same(began, now)) refuse(kAnotherType);
    return;
  }
  // What was one object at the beginning is one at the end, and what was two is two.
  const auto [known, fresh] = state.ended.emplace(began.object.get(), now.object.get());
  if (known->second != now.object.get()) refuse(kOneOrTwo);
  if (!fresh) return;
  for (const auto& [other, its] : state.ended)
    if (other != began.object.get() && its == now.object.get()) refuse(kOneOrTwo);
  if (const VTensor* tensor = as<VTensor>(began)) {
    if (!state.is_input(tensor->id)) {
      if (!is_same(began, now)) refuse(kAnotherObject);
      return;
    }
    next->push_back(next_tensor(state, *tensor, now));
    const auto kept = state.kept.find(tensor);
    if (kept != state.kept.end()) next->push_back(is_kept(kept->second, *began.object, *as<VTensor>(now)));
    return;
  }
  const std::vector<Av>* others = nullptr;
  const std::vector<Av>* items = items_of_both(began, now, &others);
  if (!items || items->size() != others->size() || !is_of_turn(state, *now.object)) {
    if (!is_same(began, now)) refuse(kAnotherObject);
    return;
  }
  for (size_t i = 0; i < items->size(); ++i) collect_next(state, (*others)[i], (*items)[i], next);
}

// Whether the turn has made it, or began with it as one of the unknown.
bool TurnValues::is_of_turn(const TurnState& state, const Virtual& object) const {
  return object.number > state.objects || std::any_of(state.made.begin(), state.made.end(), [&](const auto& one) {
           return one.second.kind == Av::Kind::Virtual && one.second.object.get() == &object;
         });
}

// It is an object that no other variable has, or stays the one that it was.
void TurnValues::note_objects(TurnState& state, const VTensor& began, const VTensor& now) {
  if (!is_of_turn(state, now)) refuse(kAnotherObject);
  if (!state.at_end.insert(&now).second) refuse(kOneOrTwo);
  const bool may_be_kept = state.kept.count(&began) || !now.same_as.empty();
  if (may_be_kept && (began.writes > 0 || now.writes > 0)) refuse(kMoreThanElements);
  if (&now != &began && state.kept.count(&now)) refuse(kOneOrTwo);
  if (!now.same_as.empty() && !state.at_end.insert(&began).second) refuse(kOneOrTwo);
  note_choices(state, began, now);
}

// Those that it may be: what the turn began with, and others that the turn has made.
void TurnValues::note_choices(TurnState& state, const VTensor& began, const VTensor& now) {
  for (const VTensor::SameAs& one : now.same_as) {
    const VTensor& tensor = static_cast<const VTensor&>(*one.tensor);
    if (&tensor == &began) continue;
    if (tensor.number <= state.objects || tensor.writes > 0 || !state.at_end.insert(&tensor).second) refuse(kOneOrTwo);
    note_choices(state, began, tensor);
  }
}

ValueId TurnValues::next_tensor(TurnState& state, const VTensor& began, const Av& now) {
  VTensor& tensor = *as<VTensor>(now);
  const bool is_plain = tensor.source == Virtual::kMadeHere && tensor.input == kNoValue &&
                        tensor.requires_grad == began.requires_grad && !tensor.hooked && !tensor.has_grad_overlay &&
                        !tensor.has_ambiguous() && !tensor.unrecorded && tensor.is_inference == began.is_inference &&
                        tensor.contiguous && !tensor.view && (tensor.id == began.id || !has_views(tensor)) &&
                        !tensor.unnamed;
  if (!is_plain || tensor.writes_of_loops != kNoValue) refuse(kMoreThanElements);
  note_objects(state, began, tensor);
  state.last_writes[&began] = tensor.writes;
  const ValueId id = tensors_.current(tensor);
  if (tensor.requires_grad) state.with_gradients.push_back(id);
  return id;
}

// Whether what goes on to the next turn is what stood in front of the loop.
ValueId TurnValues::is_kept(const KeptValue& kept, const Virtual& began, const VTensor& now) {
  if (&now == &began) return kept.still;
  return conditions_.combined(ScalarOp::logical_and, is_one(now, began), kept.still);
}

// Whether the tensor is that one.
ValueId TurnValues::is_one(const VTensor& tensor, const Virtual& other) {
  if (&tensor == &other) return builder_.constant_bool(true);
  ValueId found = builder_.constant_bool(false);
  for (const VTensor::SameAs& one : tensor.same_as) {
    const ValueId through = is_one(static_cast<const VTensor&>(*one.tensor), other);
    found = conditions_.combined(ScalarOp::logical_or, found,
                                 conditions_.combined(ScalarOp::logical_and, one.condition, through));
  }
  return found;
}

// ---- behind the loop ----

void TurnValues::leave_behind(TurnState& state, std::span<const ValueId> results, ValueId trips) {
  AFrame& frame = frames_.frame();
  state.made.clear();
  state.next_value = 0;
  for (size_t i = 0; i < state.registers.size(); ++i)
    frame.registers[state.registers[i]] = behind(state, state.began[i], results, trips);
  for (size_t i = 0; i < state.cells.size(); ++i)
    state.cells[i]->content = behind(state, state.began[state.registers.size() + i], results, trips);
  for (size_t i = 0; i < state.elements.size(); ++i) {
    const auto& tensor = state.elements[i];
    tensor->id = results[state.next_value++];
    ++tensor->version;
    writes_.note_version(*tensor);
    tensor->writes_of_loops = count_writes(state, i, *tensor, trips);
    tensor->writes = state.writes[i];
  }
}

// A turn's writes, as often as there are turns, and those before.
ValueId TurnValues::count_writes(const TurnState& state, size_t place, const VTensor& tensor, ValueId trips) {
  ValueId each = builder_.constant(int64_t{tensor.writes - state.writes[place]});
  if (tensor.writes_of_loops != kNoValue) each = conditions_.combined(ScalarOp::add, each, tensor.writes_of_loops);
  const ValueId all = conditions_.combined(ScalarOp::mul, trips, each), before = state.writes_of_loops[place];
  return before == kNoValue ? all : conditions_.combined(ScalarOp::add, before, all);
}

Av TurnValues::behind(TurnState& state, const Av& began, std::span<const ValueId> results, ValueId trips) {
  if (began.is_number()) {
    for (const TurnCounter& one : state.counters)
      if (one.id == began.id) return counter(one.first, one.step, trips);
    if (!state.is_input(began.id)) return began;
    state.leaves_numbers = true;
    return Av::number(began.scalar_kind, results[state.next_value++], Value());
  }
  if (began.kind != Av::Kind::Virtual) return began;
  if (const auto found = state.made.find(began.object.get()); found != state.made.end()) return found->second;
  if (const VTensor* tensor = as<VTensor>(began)) {
    if (!state.is_input(tensor->id)) return began;
    auto made = make<VTensor>();
    made->id = results[state.next_value++];
    made->writes = state.last_writes[tensor];
    made->requires_grad = tensor->requires_grad;
    made->leaf = !tensor->requires_grad;
    made->is_inference = tensor->is_inference;
    if (const auto kept = state.kept.find(tensor); kept != state.kept.end()) {
      const ValueId still = results[state.next_value++];
      for (const VTensor::SameAs& one : kept->second.before->same_as)
        made->same_as.push_back({conditions_.combined(ScalarOp::logical_and, still, one.condition), one.tensor});
      shared_memory_.note_stand_in(*made, *kept->second.before);
    }
    const Av left = Av::of(made);
    if (made->requires_grad) gradients_.remember_history({&left, 1}, made->id);
    return state.made[began.object.get()] = left;
  }
  if (!state.ended.count(began.object.get())) return began;
  const VTuple* tuple = as<VTuple>(began);
  std::vector<Av> items = tuple ? tuple->items : as<VList>(began)->items;
  for (Av& item : items) item = behind(state, item, results, trips);
  return state.made[began.object.get()] = with_items(began, std::move(items));
}

}  // namespace tsc::interp
