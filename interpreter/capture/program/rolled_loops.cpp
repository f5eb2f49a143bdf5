#include "interpreter/capture/program/rolled_loops.h"

#include <algorithm>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/exits/exits.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loop.h"
#include "interpreter/capture/program/turn_conditions.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/writes.h"

namespace tsc::interp {

using jit::ScalarOp;
using jit::ValueKind;

namespace {

// A loop of fewer turns is followed turn by turn: that is the fastest code, and takes little time.
constexpr int64_t kFewestTurns = 16;
// Turns that are followed in front of the one that stands for the rest.
constexpr uint32_t kFirstTurns = 2;
// A loop that gradients come back to has so many turns, and more: the last ones are written out
// (jit/autodiff/loop_gradient.h), and two at least are left.
constexpr int64_t kFewestTurnsBack = 4;
// After so many loops that could not be rolled no more are tried: each costs a capture.
constexpr size_t kMostFailures = 8;

bool is_made_here(const Av& av) { return av.kind == Av::Kind::Virtual && av.object->source == Virtual::kMadeHere; }

bool has_views(const VTensor& tensor) {
  return std::any_of(tensor.views.begin(), tensor.views.end(), [](const auto& view) { return !view.expired(); });
}

// A counter: how much it grows in each turn.
std::optional<int64_t> step_of(const Av& before, const Av& now) {
  if (!before.is_constant() || !now.is_constant() || !before.value.is_int() || !now.value.is_int()) return std::nullopt;
  int64_t step = 0;
  constexpr int64_t kLarge = int64_t{1} << 31;
  if (__builtin_sub_overflow(now.value.as_int(), before.value.as_int(), &step) || std::abs(now.value.as_int()) > kLarge)
    return std::nullopt;
  return step != 0 && std::abs(step) < kLarge ? std::optional(step) : std::nullopt;
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

}  // namespace

// ---- which loops ----

// An iterator that somebody else may ask for its items, too: the program has it in a variable that is read again, or in
// an object.
bool RolledLoops::is_kept(const Av& iterable, const lang::Instruction& get_iter) const {
  if (!is_virtual(iterable, VirtualKind::Iterator)) return false;
  const AFrame& frame = frames_.frame();
  const bool is_read_again =
      get_iter.a != get_iter.b && (lang::live_registers(*frame.code->code, frame.pc + 1).contains(get_iter.b) ||
                                   shows_variables(*frame.code->code));
  return is_read_again || iterable.object.use_count() > 2;  // in the register, and here
}

Av RolledLoops::counted(const Av& iterable, const lang::Instruction& get_iter) {
  AFrame& frame = frames_.frame();
  const lang::Instruction& next = frame.code->code->instructions[frame.pc + 1];
  const LoopPlace place{frame.code.get(), frame.pc + 1};
  const bool is_for =
      next.op == lang::Op::ForIter && next.b == get_iter.a && !frame.generator && !is_kept(iterable, get_iter);
  if (!is_for || forks_.is_open() || vm_.sees_ends() || memory_.only_call || memory_.breaks_everywhere ||
      memory_.follows_loops || memory_.followed_loops.size() >= kMostFailures)
    return Av();
  if (std::find(memory_.followed_loops.begin(), memory_.followed_loops.end(), place) != memory_.followed_loops.end())
    return Av();
  forget_left();
  auto loop = std::make_shared<Loop>();
  loop->place = place;
  loop->code = frame.code;
  loop->depth = frames_.frame_count();
  if (!turn_items_.take(loop->sources, iterable)) return Av();
  const std::optional<Scalar> turns = conditions_.hint(loop->sources.count);
  if (!turns || turns->i < kFewestTurns) return Av();
  loop->last_turns =
      std::find(memory_.different_ends.begin(), memory_.different_ends.end(), place) != memory_.different_ends.end();
  const ValueId fewest[] = {builder_.constant(int64_t{kFirstTurns + 1 + loop->last_turns}), loop->sources.count};
  const ValueId enough = builder_.scalar(ScalarOp::le, fewest);
  if (!builder_.known(enough) && !conditions_.assume_at_entry(enough)) return Av();
  repeats_.spoil_record();
  loop->iterator = make<VIterator>();
  loop->iterator->form = VIterator::Form::Counted;
  loops_.push_back(std::move(loop));
  return Av::of(loops_.back()->iterator);
}

// ---- turns ----

void RolledLoops::turn(const lang::Instruction& for_iter, const std::shared_ptr<VIterator>& iterator) {
  while (!loops_.empty() && loops_.back()->iterator != iterator) {
    if (loops_.back()->rolling) abandon();
    loops_.pop_back();
  }
  TSC_CHECK(!loops_.empty(), "the iterator of a rolled loop outlives it");
  Loop& loop = *loops_.back();
  clear_dead(for_iter.b);
  if (loop.rolling) close(loop);
  if (loop.is_behind) return turn_behind(for_iter, loop);
  ValueId number = builder_.constant(int64_t{loop.turns});
  if (loop.turns == kFirstTurns) {
    open(loop);
    number = conditions_.combined(ScalarOp::add, loop.number, number);
  }
  ++loop.turns;
  loop.before = frames_.frame().registers;
  loop.changed.clear();
  loop.had.clear();
  loop.objects = objects_made_;
  frames_.write(for_iter.a, turn_items_.item(loop.sources, number));
}

// A last turn, or the end of the loop.
void RolledLoops::turn_behind(const lang::Instruction& for_iter, Loop& loop) {
  if (loop.last_turns > 0) {
    const ValueId left = builder_.constant(int64_t{loop.last_turns--});
    frames_.write(for_iter.a,
                  turn_items_.item(loop.sources, conditions_.combined(ScalarOp::sub, loop.sources.count, left)));
    return;
  }
  loops_.pop_back();
  frames_.write(for_iter.b, Av());
  frames_.frame().pc = lang::jump_target(for_iter, frames_.frame().pc);
}

// A loop that the program has left by break or return, or by an exception.
void RolledLoops::forget_left() {
  const auto is_left = [&](const Loop& loop) {
    if (loop.depth > frames_.frame_count()) return true;
    const std::vector<Av>& registers = frames_.frame_at(loop.depth - 1).registers;
    return std::none_of(registers.begin(), registers.end(),
                        [&](const Av& av) { return av.kind == Av::Kind::Virtual && av.object == loop.iterator; });
  };
  while (!loops_.empty() && is_left(*loops_.back())) loops_.pop_back();
}

bool RolledLoops::is_rolling() const { return builder_.open_blocks() != 0 && !forks_.is_open(); }

void RolledLoops::take_gradient() {
  if (builder_.open_blocks() > 1) abandon();
}

void RolledLoops::check_inside() {
  const Loop& loop = **std::find_if(loops_.rbegin(), loops_.rend(), [](const auto& one) { return one->rolling; });
  if (frames_.frame_count() < loop.depth) abandon(loop);
  if (frames_.frame_count() > loop.depth) return;
  const AFrame& frame = frames_.frame();
  const uint32_t end = lang::jump_target(loop.code->code->instructions[loop.place.head], loop.place.head);
  if (frame.code.get() != loop.place.code || frame.pc < loop.place.head || frame.pc >= end) abandon(loop);
}

void RolledLoops::abandon() {
  if (forks_.is_open()) forks_.abandon("one of its ways does more than compute");
  const auto innermost = std::find_if(loops_.rbegin(), loops_.rend(), [](const auto& one) { return one->rolling; });
  if (innermost == loops_.rend()) follow(rolled_places_);  // the loop is one of a backward
  abandon(**innermost);
}

// Where only the last turn decides something else, it is followed behind the others.
void RolledLoops::abandon(const Loop& loop) {
  size_t level = 0;
  for (const auto& one : loops_) {
    level += one->rolling;
    if (one.get() == &loop) break;
  }
  if (loop.rolling && loop.last_turns == 0 && turn_conditions_.ends_differ(level)) {
    memory_.different_ends.push_back(loop.place);
    memory_.keep_alive.push_back(Value(const_cast<CodeObject*>(loop.place.code)));
    throw CaptureRestart{};
  }
  follow({loop.place});
}

void RolledLoops::follow(const VIterator& iterator) {
  for (const auto& loop : loops_)
    if (loop->iterator.get() == &iterator) abandon(*loop);
  TSC_CHECK(false, "the iterator of a rolled loop outlives it");
}

void RolledLoops::number_is_missing() {
  if (!numbered_.empty()) follow(numbered_);
}

void RolledLoops::follow_all() {
  leave_out();
  forks_.give_up("what one of its ways has found is used behind it");
  follow(rolled_places_);
}

void RolledLoops::follow(const std::vector<LoopPlace>& places) {
  for (const LoopPlace& place : places) {
    memory_.followed_loops.push_back(place);
    memory_.keep_alive.push_back(Value(const_cast<CodeObject*>(place.code)));
  }
  throw CaptureRestart{};
}

// An object that a turn finds and changes.
void RolledLoops::note(const Virtual& object, bool appends) {
  const auto is_changed = [&](const VirtualRef& one) { return one.get() == &object; };
  if (std::any_of(seen_in_rows_.begin(), seen_in_rows_.end(), is_changed)) follow_all();
  if (object.kind == VirtualKind::List && !static_cast<const VList&>(object).rows.is_undefined() && !appends)
    follow_all();
  for (const auto& loop : loops_) {
    if (object.number > loop->objects || &object == loop->iterator.get()) continue;
    if (object.kind == VirtualKind::Tensor && static_cast<const VTensor&>(object).view)
      continue;  // its root is told too
    const VirtualRef changed = const_cast<Virtual&>(object).shared_from_this();
    if (std::find(loop->changed.begin(), loop->changed.end(), changed) != loop->changed.end()) continue;
    if (loop->rolling && !loop->is_slot(object)) abandon(*loop);
    if (object.kind == VirtualKind::List && !object.unread)
      loop->had.emplace(&object, static_cast<const VList&>(object).items);
    loop->changed.push_back(changed);
  }
}

// ---- what goes from turn to turn ----

void RolledLoops::clear_dead(uint32_t iterator_register) {
  AFrame& frame = frames_.frame();
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg)
    if (reg != iterator_register && !is_tracked(frame, reg) && !is_generator_from_outside(frame.registers[reg]))
      frame.registers[reg] = Av();
}

void RolledLoops::open(Loop& loop) {
  AFrame& frame = frames_.frame();
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg) {
    const Av &before = loop.before[reg], &now = frame.registers[reg];
    if (is_same(before, now) || (now.kind == Av::Kind::Virtual && now.object == loop.iterator)) continue;
    loop.registers.push_back(reg);
    collect(loop, before, now, false);
  }
  take_changed(loop);
  std::vector<jit::Type> types;
  for (const CarriedValue& value : loop.carried) types.push_back(value.type);
  const ValueId apart = builder_.constant(int64_t{kFirstTurns + loop.last_turns});
  loop.trips = conditions_.combined(ScalarOp::sub, loop.sources.count, apart);
  loop.inputs = builder_.begin_loop(types);
  loop.number = loop.inputs[0];
  loop.next_input = 1;
  loop.rolling = true;
  turn_conditions_.open(loop.number, loop.trips);
  conditions_.set_nonnegative(loop.number);
  for (uint32_t reg : loop.registers) {
    loop.began.push_back(unknown(loop, loop.before[reg], frame.registers[reg], false));
    frame.registers[reg] = loop.began.back();
  }
  for (const auto& cell : loop.cells) {
    loop.began.push_back(unknown(loop, cell->content, cell->content, true));
    cell->content = loop.began.back();
  }
  for (const auto& tensor : loop.elements) {
    tensor->id = loop.inputs[loop.next_input++];
    ++tensor->version;
    loop.writes.push_back(tensor->writes);
    loop.writes_of_loops.push_back(std::exchange(tensor->writes_of_loops, kNoValue));
  }
  for (const auto& list : loop.lists) list->unread = true;
  loop.history = gradients_.history_size();
  loop.modes = modes_;
  loop.handlers = frame.handlers;
}

// Objects that the last turn has found and changed: elements of tensors, and closure cells.
void RolledLoops::take_changed(Loop& loop) {
  for (const VirtualRef& object : loop.changed) {
    if (object->source != Virtual::kMadeHere && object->kind != VirtualKind::Tensor) abandon(loop);
    if (object->kind == VirtualKind::Cell) {
      loop.cells.push_back(std::static_pointer_cast<VCell>(object));
      collect(loop, loop.cells.back()->content, loop.cells.back()->content, true);
    } else if (object->kind == VirtualKind::Tensor) {
      const auto tensor = std::static_pointer_cast<VTensor>(object);
      if (tensor->requires_grad || tensor->hooked || tensor->unrecorded ||
          (tensor->input != kNoValue && !tensor->dirty))
        abandon(loop);
      loop.elements.push_back(tensor);
      loop.carried.push_back({region_.type(tensor->id), tensor->id});
    } else if (object->kind == VirtualKind::List) {
      take_list(loop, std::static_pointer_cast<VList>(object));
    } else {
      abandon(loop);
    }
  }
}

void RolledLoops::collect(Loop& loop, const Av& before, const Av& now, bool changes) {
  if (!changes && is_same(before, now)) return;
  if (before.holds_number() && now.holds_number() && before.number_kind() == now.number_kind()) {
    if (step_of(before, now)) return;
    const ValueKind kind = now.number_kind();
    return loop.carried.push_back({{kind, {}, {}}, numbers_.number_id(now)});
  }
  const VTensor* tensor = is_virtual(now, VirtualKind::Tensor) ? as<VTensor>(now) : nullptr;
  if (tensor && is_virtual(before, VirtualKind::Tensor)) {
    if (loop.made.emplace(now.object.get(), Av()).second) collect_tensor(loop, *as<VTensor>(before), *as<VTensor>(now));
    return;
  }
  const std::vector<Av>* others = nullptr;
  const std::vector<Av>* items = items_of_both(before, now, &others);
  if (!items || others->size() != items->size() || !loop.made.emplace(now.object.get(), Av()).second) abandon(loop);
  for (size_t i = 0; i < items->size(); ++i) collect(loop, (*others)[i], (*items)[i], changes);
}

// One that the turn has made, row by row in memory of its own: what a view shows of another tensor, and its strides,
// the region's loop does not carry.
void RolledLoops::collect_tensor(Loop& loop, const VTensor& before, VTensor& now) {
  const bool is_plain = now.source == Virtual::kMadeHere && now.input == kNoValue && !now.hooked && !now.built &&
                        !now.has_grad_overlay && !now.has_ambiguous() && !now.unrecorded && now.host.is_undefined() &&
                        now.is_inference == before.is_inference && now.contiguous && !now.view && !has_views(now);
  if (!is_plain ||
      std::any_of(loop.changed.begin(), loop.changed.end(), [&](const VirtualRef& one) { return one.get() == &now; }))
    abandon(loop);
  const ValueId id = tensors_.current(now);
  const jit::Type &type = region_.type(id), &earlier = region_.type(before.id);
  if (type.dtype != earlier.dtype || type.sizes.size() != earlier.sizes.size()) abandon(loop);
  for (size_t i = 0; i < type.sizes.size(); ++i)
    if (!builder_.known_equal(type.sizes[i], earlier.sizes[i])) abandon(loop);
  loop.carried.push_back({type, id});
}

Av RolledLoops::counter(const Av& first, int64_t step, ValueId number) {
  const ValueId by = conditions_.combined(ScalarOp::mul, number, builder_.constant(step));
  return numbers_.int_av(conditions_.combined(ScalarOp::add, builder_.constant(first.value.as_int()), by));
}

Av RolledLoops::unknown(Loop& loop, const Av& before, const Av& now, bool changes) {
  if (!changes && is_same(before, now)) return now;
  if (now.holds_number()) {
    if (const auto step = step_of(before, now)) {
      const Av made = counter(now, *step, loop.number);
      loop.counters.push_back({made.id, now, *step});
      return made;
    }
    return Av::number(now.number_kind(), loop.inputs[loop.next_input++], Value());
  }
  Av& known = loop.made.at(now.object.get());
  if (!known.is_undefined()) return known;
  if (const VTensor* tensor = as<VTensor>(now)) {
    auto made = make<VTensor>();
    made->id = loop.inputs[loop.next_input++];
    made->writes = tensor->writes;
    made->requires_grad = tensor->requires_grad;
    made->leaf = !tensor->requires_grad;
    made->is_inference = tensor->is_inference;
    return known = Av::of(made);
  }
  const std::vector<Av>* others = nullptr;
  std::vector<Av> items = *items_of_both(before, now, &others);
  for (size_t i = 0; i < items.size(); ++i) items[i] = unknown(loop, (*others)[i], items[i], changes);
  return known = with_items(now, std::move(items));
}

// One like it with other items.
Av RolledLoops::with_items(const Av& like, std::vector<Av> items) {
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

// ---- the end of the turn ----

void RolledLoops::close(Loop& loop) {
  AFrame& frame = frames_.frame();
  if (frames_.frame_count() != loop.depth || !(modes_ == loop.modes) || frame.handlers != loop.handlers) abandon(loop);
  std::vector<ValueId> next;
  loop.ended.clear();
  for (uint32_t reg = 0; reg < frame.registers.size(); ++reg) {
    const auto slot = std::find(loop.registers.begin(), loop.registers.end(), reg);
    if (slot != loop.registers.end())
      collect_next(loop, loop.began[static_cast<size_t>(slot - loop.registers.begin())], frame.registers[reg], &next);
    else if (is_tracked(frame, reg) && !is_same(loop.before[reg], frame.registers[reg])) abandon(loop);
  }
  for (size_t i = 0; i < loop.cells.size(); ++i)
    collect_next(loop, loop.began[loop.registers.size() + i], loop.cells[i]->content, &next);
  for (size_t i = 0; i < loop.elements.size(); ++i) {
    const VTensor& tensor = *loop.elements[i];
    if (tensor.requires_grad || tensor.unrecorded || tensor.view || (tensor.input != kNoValue && !tensor.dirty))
      abandon(loop);
    if (tensor.writes_of_loops != kNoValue && builder_.depth_of(tensor.writes_of_loops) >= builder_.open_blocks())
      abandon(loop);
    next.push_back(tensor.id);
  }
  std::vector<ValueId> stacked;
  collect_appended(loop, &stacked);
  check_types(loop, next);
  std::vector<ValueId> initial;
  for (const CarriedValue& value : loop.carried) initial.push_back(value.initial);
  builder_.origin = frames_.origin_at(loop.place.head);
  const std::vector<ValueId> results = builder_.end_loop(loop.trips, initial, next, stacked);
  turn_conditions_.close();
  loop.rolling = false;
  next.insert(next.end(), stacked.begin(), stacked.end());
  end_histories(loop, next, results);
  leave_behind(loop, results);
  rolled_places_.push_back(loop.place);
  loop.is_behind = true;
}

// Of the results those have a history whose values in the turn have one.
void RolledLoops::end_histories(const Loop& loop, std::span<const ValueId> next, std::span<const ValueId> results) {
  std::vector<ValueId> recorded;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool has_history =
        std::find(loop.with_gradients.begin(), loop.with_gradients.end(), next[i]) != loop.with_gradients.end();
    if (has_history) recorded.push_back(results[i]);
    else if (region_.type(results[i]).kind == ValueKind::Tensor) gradients_.end_history(results[i]);
  }
  gradients_.close_block(loop.history, recorded);
  if (recorded.empty()) return;
  const ValueId enough = conditions_.combined(ScalarOp::le, builder_.constant(kFewestTurnsBack), loop.trips);
  const bool has_turns = builder_.known(enough) ? builder_.known(enough)->i != 0 : conditions_.assume_at_entry(enough);
  if (!has_turns || !gradients_.prepare_block_backward(recorded)) follow({loop.place});
}

// Carried values keep their types, up to the sizes.
void RolledLoops::check_types(const Loop& loop, std::span<const ValueId> next) {
  if (next.size() != loop.carried.size()) abandon(loop);
  for (size_t i = 0; i < next.size(); ++i) {
    const jit::Type &began = loop.carried[i].type, &ends = region_.type(next[i]);
    bool fits = began.kind == ends.kind && began.dtype == ends.dtype && began.sizes.size() == ends.sizes.size();
    for (size_t k = 0; fits && k < began.sizes.size(); ++k) fits = builder_.known_equal(began.sizes[k], ends.sizes[k]);
    if (!fits) abandon(loop);
  }
}

void RolledLoops::collect_next(Loop& loop, const Av& began, const Av& now, std::vector<ValueId>* next) {
  if (began.holds_number()) {
    if (!now.holds_number() || began.number_kind() != now.number_kind()) abandon(loop);
    const ValueId id = numbers_.number_id(now);
    const auto counter = std::find_if(loop.counters.begin(), loop.counters.end(),
                                      [&](const Counter& one) { return began.is_number() && one.id == began.id; });
    if (counter == loop.counters.end()) {
      if (began.is_number() && loop.is_input(began.id)) next->push_back(id);
      else if (!is_same(began, now)) abandon(loop);
      return;
    }
    const auto form = turn_conditions_.linear_form(id, loop.number);
    if (!form || form->first != counter->step || form->second != counter->first.value.as_int() + counter->step)
      abandon(loop);
    return;
  }
  if (began.kind != Av::Kind::Virtual || now.kind != Av::Kind::Virtual || began.object->kind != now.object->kind) {
    if (!is_same(began, now)) abandon(loop);
    return;
  }
  // What was one object at the beginning is one at the end, and what was two is two.
  const auto [known, fresh] = loop.ended.emplace(began.object.get(), now.object.get());
  if (known->second != now.object.get()) abandon(loop);
  if (!fresh) return;
  for (const auto& [other, its] : loop.ended)
    if (other != began.object.get() && its == now.object.get()) abandon(loop);
  if (const VTensor* tensor = as<VTensor>(began)) {
    if (!loop.is_input(tensor->id)) {
      if (!is_same(began, now)) abandon(loop);
      return;
    }
    return next->push_back(next_tensor(loop, *tensor, now));
  }
  const std::vector<Av>* others = nullptr;
  const std::vector<Av>* items = items_of_both(began, now, &others);
  if (!items || items->size() != others->size()) {
    if (!is_same(began, now)) abandon(loop);
    return;
  }
  for (size_t i = 0; i < items->size(); ++i) collect_next(loop, (*others)[i], (*items)[i], next);
}

ValueId RolledLoops::next_tensor(Loop& loop, const VTensor& began, const Av& now) {
  VTensor& tensor = *as<VTensor>(now);
  const bool is_plain = tensor.source == Virtual::kMadeHere && tensor.input == kNoValue &&
                        tensor.requires_grad == began.requires_grad && !tensor.hooked && !tensor.has_grad_overlay &&
                        !tensor.has_ambiguous() && !tensor.unrecorded && tensor.is_inference == began.is_inference &&
                        tensor.contiguous && !tensor.view && (tensor.id == began.id || !has_views(tensor));
  if (!is_plain) abandon(loop);
  if (tensor.writes_of_loops != kNoValue) abandon(loop);
  loop.last_writes[&began] = tensor.writes;
  const ValueId id = tensors_.current(tensor);
  if (tensor.requires_grad) loop.with_gradients.push_back(id);
  return id;
}

// ---- behind the loop ----

void RolledLoops::leave_behind(Loop& loop, std::span<const ValueId> results) {
  AFrame& frame = frames_.frame();
  loop.made.clear();
  loop.next_input = 0;
  for (size_t i = 0; i < loop.registers.size(); ++i)
    frame.registers[loop.registers[i]] = behind(loop, loop.began[i], results);
  for (size_t i = 0; i < loop.cells.size(); ++i)
    loop.cells[i]->content = behind(loop, loop.began[loop.registers.size() + i], results);
  // One whose memory an item has too is not written any more.
  for (const Virtual* began : loop.shown)
    if (const auto now = loop.made.find(began); now != loop.made.end()) seen_in_rows_.push_back(now->second.object);
  for (size_t i = 0; i < loop.elements.size(); ++i) {
    const auto& tensor = loop.elements[i];
    tensor->id = results[loop.next_input++];
    ++tensor->version;
    writes_.note_version(*tensor);
    tensor->writes_of_loops = count_writes(loop, i, *tensor);
    tensor->writes = loop.writes[i];
  }
  for (const auto& list : loop.lists) {
    list->tail.clear();
    const ValueId rows = results[loop.next_input++];
    list->rows = tensors_.new_tensor(rows, !gradients_.is_without_history(rows));
  }
}

// A turn's writes, as often as there are turns, and those before.
ValueId RolledLoops::count_writes(const Loop& loop, size_t place, const VTensor& tensor) {
  ValueId each = builder_.constant(int64_t{tensor.writes - loop.writes[place]});
  if (tensor.writes_of_loops != kNoValue) each = conditions_.combined(ScalarOp::add, each, tensor.writes_of_loops);
  const ValueId all = conditions_.combined(ScalarOp::mul, loop.trips, each), before = loop.writes_of_loops[place];
  return before == kNoValue ? all : conditions_.combined(ScalarOp::add, before, all);
}

Av RolledLoops::behind(Loop& loop, const Av& began, std::span<const ValueId> results) {
  if (began.is_number()) {
    for (const Counter& one : loop.counters)
      if (one.id == began.id) return counter(one.first, one.step, loop.trips);
    if (!loop.is_input(began.id)) return began;
    if (numbered_.empty() || !(numbered_.back() == loop.place)) numbered_.push_back(loop.place);
    return Av::number(began.scalar_kind, results[loop.next_input++], Value());
  }
  if (began.kind != Av::Kind::Virtual) return began;
  if (const auto found = loop.made.find(began.object.get()); found != loop.made.end()) return found->second;
  if (const VTensor* tensor = as<VTensor>(began)) {
    if (!loop.is_input(tensor->id)) return began;
    auto made = make<VTensor>();
    made->id = results[loop.next_input++];
    made->writes = loop.last_writes[tensor];
    made->requires_grad = tensor->requires_grad;
    made->leaf = !tensor->requires_grad;
    made->is_inference = tensor->is_inference;
    const Av left = Av::of(made);
    if (made->requires_grad) gradients_.remember_history({&left, 1}, made->id);
    return loop.made[began.object.get()] = left;
  }
  if (!loop.ended.count(began.object.get())) return began;
  const VTuple* tuple = as<VTuple>(began);
  std::vector<Av> items = tuple ? tuple->items : as<VList>(began)->items;
  for (Av& item : items) item = behind(loop, item, results);
  return loop.made[began.object.get()] = with_items(began, std::move(items));
}

}  // namespace tsc::interp
