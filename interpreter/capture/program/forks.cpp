#include "interpreter/capture/program/forks.h"

#include <algorithm>
#include <map>
#include <set>

#include "interpreter/capture/compiler/branches.h"
#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/exits/exits.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/program/shared_memory.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/shapes.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/writes.h"

namespace tsc::interp {

// A tensor from in front of the branch whose elements a way writes: what they were there, and how often they had been
// written; what they are behind the first way, and how often that has written them.
struct Forks::Written {
  std::shared_ptr<VTensor> tensor;
  ValueId before = kNoValue;
  uint32_t writes = 0;
  ValueId writes_of_loops = kNoValue;
  ValueId first = kNoValue, first_count = kNoValue;
  std::optional<size_t> place{}, count_place{};  // among the results of the If
};

struct Forks::Fork {
  LoopPlace place;
  uint32_t join = kReturn;  // where the ways meet
  uint32_t other = 0;       // where the second one begins
  size_t blocks = 0;        // of the region that are open
  size_t depth = 0;         // of its frame, from 1
  AFrame before;
  Modes modes;
  uint32_t objects = 0;  // numbers of those that existed before are at most this
  ValueId condition = kNoValue;
  bool is_second = false;  // the other way is followed
  bool is_turn = false;    // the first way goes on in a loop
  // Of the first way, at its end.
  std::vector<Av> registers;
  Av result;
  std::map<const Virtual*, ValueId> elements;  // of its tensors
  std::vector<Written> written;                // tensors from in front of the branch, that either way writes
  size_t history = 0;                          // entries of the gradient history in front of the branch
  // While the two are joined.
  std::vector<ValueId> yielded[2];
  std::vector<size_t> recorded;  // places of those that have a gradient history
  std::map<std::pair<const Virtual*, const Virtual*>, Av> joined;
  std::map<const Virtual*, const Virtual*> partners[2];
  std::map<const VTensor*, const VTensor*> roots;  // of the tensors, and of those that they may be
  std::set<const VTensor*> of_several;             // whose memory several of them have
};

namespace {

// After so many branches that could not be Ifs no more are tried: each costs a capture.
constexpr size_t kMostFailures = 8;
constexpr size_t kMostOpen = 16;  // both ways of each are followed: branches in branches

// How a way may go on from `from` without passing `join`.
struct Ways {
  bool returns = false;
  bool goes_back = false;  // to an instruction in front of `first`
  bool yields = false;
};
Ways ways_around(const lang::CodeObject& code, uint32_t first, uint32_t from, uint32_t join) {
  Ways found;
  std::vector<bool> seen(code.instructions.size());
  std::vector<uint32_t> work = {from};
  while (!work.empty()) {
    const uint32_t pc = work.back();
    work.pop_back();
    if (pc == join || pc >= code.instructions.size() || seen[pc]) continue;
    found.goes_back |= pc < first;
    if (pc < first) continue;
    seen[pc] = true;
    const lang::Instruction& i = code.instructions[pc];
    found.returns |= i.op == lang::Op::Return || i.op == lang::Op::ReturnNone;
    found.yields |= i.op == lang::Op::Yield || i.op == lang::Op::YieldFrom;
    if (lang::is_jump(i.op)) work.push_back(lang::jump_target(i, pc));
    if (!lang::ends_block(i.op)) work.push_back(pc + 1);
  }
  return found;
}

// Where all ways from both sides meet first, at `first` and behind it or at the head of a loop around that; kReturn:
// where the function returns; empty: nowhere.
std::optional<uint32_t> place_of_join(const lang::CodeObject& code, uint32_t first, std::array<uint32_t, 2> sides,
                                      uint32_t at_return) {
  const auto meet_at = [&](uint32_t join) {
    return std::all_of(sides.begin(), sides.end(), [&](uint32_t side) {
      const Ways ways = ways_around(code, first, side, join);
      return !ways.goes_back && !ways.yields && (join == at_return || !ways.returns);
    });
  };
  std::vector<uint32_t> places(sides.begin(), sides.end()), heads;
  for (uint32_t pc = first; pc < code.instructions.size(); ++pc)
    if (lang::is_jump(code.instructions[pc].op)) {
      const uint32_t target = lang::jump_target(code.instructions[pc], pc);
      (target >= first ? places : heads).push_back(target);
    }
  std::sort(places.begin(), places.end());
  places.insert(places.end(), heads.begin(), heads.end());  // the next turn of a loop around the branch
  for (uint32_t place : places)
    if (meet_at(place)) return place;
  return meet_at(at_return) ? std::optional(at_return) : std::nullopt;
}

}  // namespace

// ---- which branches ----

const std::string* Forks::refusal(const CodeObject* code, uint32_t pc) const {
  for (const CaptureMemory::RefusedFork& one : memory_.refused_forks)
    if (one.place == LoopPlace{code, pc}) return &one.why;
  return nullptr;
}

bool Forks::may_begin(const LoopPlace& place) const {
  if (!memory_.branches || memory_.breaks_everywhere || memory_.only_call || memory_.follows_loops || vm_.sees_ends() ||
      rolled_.is_rolling() || open_.size() >= kMostOpen || memory_.refused_forks.size() >= kMostFailures)
    return false;
  return !refusal(place.code, place.head);
}

bool Forks::begin(const Av& condition) {
  const AFrame& frame = frames_.frame();
  const LoopPlace place{frame.code.get(), frame.pc};
  if (!may_begin(place) || frame.generator) return false;
  for (const auto& open : open_)
    if (open->place == place && open->depth == frames_.frame_count()) refuse(place, "it stands in a loop");
  const lang::CodeObject& code = *frame.code->code;
  const uint32_t next = frame.pc + 1, target = lang::jump_target(code.instructions[frame.pc], frame.pc);
  if (target <= next) return false;
  const std::optional<uint32_t> join = place_of_join(code, next, {next, target}, kReturn);
  if (!join) return false;
  open(place, numbers_.truth_in_region(condition), *join, way_of_branch(code, frame.pc, false));
  return true;
}

std::optional<uint32_t> Forks::join_of_loop(const CodeObject& code, uint32_t head, std::array<uint32_t, 2> sides) {
  return place_of_join(*code.code, head, sides, kReturn);
}

bool Forks::begin_turn(const LoopPlace& place, ValueId goes_on, uint32_t join, uint32_t exit) {
  if (!may_begin(place)) return false;
  open(place, goes_on, join, exit);
  open_.back()->is_turn = true;
  return true;
}

void Forks::open(const LoopPlace& place, ValueId holds, uint32_t join, uint32_t other) {
  const AFrame& frame = frames_.frame();
  repeats_.spoil_record();
  auto fork = std::make_shared<Fork>();
  fork->place = place;
  fork->join = join;
  fork->other = other;
  fork->depth = frames_.frame_count();
  fork->before = frame;
  fork->modes = modes_;
  fork->objects = objects_made_;
  fork->history = gradients_.history_size();
  fork->condition = holds;
  builder_.begin_branch();
  fork->blocks = builder_.open_blocks();
  open_.push_back(std::move(fork));
}

void Forks::refuse(const LoopPlace& place, std::string why) {
  memory_.refused_forks.push_back({place, std::move(why)});
  memory_.keep(place);
  throw CaptureRestart{};
}

void Forks::abandon(std::string why) { refuse(open_.back()->place, std::move(why)); }

void Forks::give_up(std::string why) {
  if (is_open()) abandon(std::move(why));
  if (!closed_.empty()) refuse(closed_.back(), std::move(why));
}

// ---- what must stay as it is ----

void Forks::note_written(VTensor& tensor) {
  for (const auto& fork : open_) {
    if (tensor.view || tensor.number > fork->objects) continue;
    if (tensor.requires_grad || tensor.hooked || tensor.unrecorded || tensor.in_history || tensor.has_grad_overlay)
      abandon("one of its ways writes a tensor that a gradient may need");
    const auto is_known = [&](const Written& one) { return one.tensor.get() == &tensor; };
    if (std::any_of(fork->written.begin(), fork->written.end(), is_known)) continue;
    fork->written.push_back({std::static_pointer_cast<VTensor>(tensor.shared_from_this()), tensor.id, tensor.writes,
                             tensor.writes_of_loops});
    fork->written.back().first = tensor.id;
  }
}

// Of the way that ends.
ValueId Forks::count_writes(const Written& one) const {
  ValueId count = builder_.constant(int64_t{one.tensor->writes - one.writes});
  const ValueId loops = one.tensor->writes_of_loops;
  if (loops == one.writes_of_loops) return count;
  count = conditions_.combined(jit::ScalarOp::add, count, loops);
  return one.writes_of_loops == kNoValue ? count : conditions_.combined(jit::ScalarOp::sub, count, one.writes_of_loops);
}

// Behind the first way they are again what they were in front of it.
void Forks::put_back_written(Fork& fork) {
  for (Written& one : fork.written) {
    VTensor& tensor = *one.tensor;
    if (tensor.requires_grad || tensor.unrecorded) abandon("a tensor gets a gradient history on one of its ways");
    one.first = tensor.id;
    one.first_count = count_writes(one);
    tensor.id = one.before;
    ++tensor.version;
    tensor.writes = one.writes;
    tensor.writes_of_loops = one.writes_of_loops;
  }
}

void Forks::collect_written(Fork& fork) {
  for (Written& one : fork.written) {
    const VTensor& tensor = *one.tensor;
    if (tensor.requires_grad || tensor.unrecorded) abandon("a tensor gets a gradient history on one of its ways");
    if (one.first_count == kNoValue) one.first_count = builder_.constant(int64_t{0});  // the second way alone writes it
    const ValueId count = count_writes(one);
    const auto yield = [&](ValueId first, ValueId second) {
      fork.yielded[0].push_back(first);
      fork.yielded[1].push_back(second);
      return fork.yielded[0].size() - 1;
    };
    if (one.first != tensor.id) one.place = yield(one.first, tensor.id);
    if (one.first_count != count) one.count_place = yield(one.first_count, count);
  }
}

void Forks::join_written(const Fork& fork, std::span<const ValueId> results) {
  for (const Written& one : fork.written) {
    VTensor& tensor = *one.tensor;
    if (one.place) tensor.id = results[*one.place];
    ++tensor.version;
    writes_.note_version(tensor);
    if (!one.count_place) continue;
    tensor.writes = one.writes;
    tensor.writes_of_loops = results[*one.count_place];
    if (one.writes_of_loops != kNoValue)
      tensor.writes_of_loops = conditions_.combined(jit::ScalarOp::add, one.writes_of_loops, tensor.writes_of_loops);
  }
}

void Forks::note(const Virtual& object) {
  if (object.number <= open_.back()->objects) abandon("one of its ways changes an object");
}

// ---- the ends of the ways ----

void Forks::check_ends() {
  while (is_open()) {
    const Fork& fork = *open_.back();
    if (frames_.frame_count() > fork.depth) return;
    const AFrame& frame = frames_.frame();
    if (frames_.frame_count() < fork.depth || frame.code.get() != fork.place.code)
      abandon("one of its ways leaves the function");
    if (frame.pc != fork.join) return;
    end_way(Av());
  }
}

bool Forks::take_ends(Av* result) {
  while (is_open() && open_.back()->depth >= frames_.frame_count()) {
    const Fork& fork = *open_.back();
    if (fork.depth > frames_.frame_count() || fork.join != kReturn) abandon("one of its ways leaves the function");
    const bool is_first = !fork.is_second;
    if (is_first) {
      end_way(*result);
      return false;
    }
    *result = join(*result);
  }
  return true;
}

void Forks::end_way(const Av& result) {
  Fork& fork = *open_.back();
  if (builder_.open_blocks() != fork.blocks) abandon("a loop in it is left in the middle");
  if (fork.is_second) {
    join(result);
    return;
  }
  keep_first(fork, result);
  put_back_written(fork);
  builder_.next_branch();
  AFrame& frame = frames_.frame();
  frame = fork.before;
  frame.pc = fork.other;
  fork.is_second = true;
}

void Forks::keep_first(Fork& fork, const Av& result) {
  const AFrame& frame = frames_.frame();
  if (!(modes_ == fork.modes) || frame.handlers != fork.before.handlers) abandon("its ways end in different modes");
  fork.result = result;
  note_elements(fork, result);
  if (fork.join == kReturn) return;
  fork.registers = frame.registers;
  for (uint32_t reg = 0; reg < fork.registers.size(); ++reg)
    if (is_tracked(frame, reg)) note_elements(fork, fork.registers[reg]);
}

// Of what this way has made.
void Forks::note_elements(Fork& fork, const Av& av) {
  if (const std::vector<Av>* items = items_of(fork, av)) {
    for (const Av& item : *items) note_elements(fork, item);
  } else if (is_virtual(av, VirtualKind::Tensor) && av.object->number > fork.objects) {
    fork.elements.emplace(av.object.get(), tensors_.current(static_cast<VTensor&>(*av.object)));
  }
}

// Of a tuple or list that one of the ways has made.
const std::vector<Av>* Forks::items_of(const Fork& fork, const Av& av) const {
  if (av.kind != Av::Kind::Virtual || av.object->source != Virtual::kMadeHere || av.object->unread ||
      av.object->number <= fork.objects)
    return nullptr;
  if (av.object->kind == VirtualKind::Tuple) return &static_cast<const VTuple&>(*av.object).items;
  if (av.object->kind == VirtualKind::List) return &static_cast<const VList&>(*av.object).items;
  return nullptr;
}

// ---- joining them ----

Av Forks::join(const Av& result) {
  const std::shared_ptr<Fork> joining = open_.back();
  Fork& fork = *joining;
  AFrame& frame = frames_.frame();
  const auto each = [&](const auto& visit) {
    for (uint32_t reg = 0; fork.join != kReturn && reg < frame.registers.size(); ++reg)
      if (is_tracked(frame, reg)) visit(fork.registers[reg], frame.registers[reg]);
  };
  if (!(modes_ == fork.modes) || frame.handlers != fork.before.handlers) abandon("its ways end in different modes");
  each([&](const Av& a, const Av& b) { collect(fork, a, b); });
  collect(fork, fork.result, result);
  const size_t of_variables = fork.yielded[0].size();
  collect_written(fork);
  builder_.origin = frames_.origin_at(fork.place.head);
  const std::vector<ValueId> results = builder_.end_branch(fork.condition, fork.yielded[0], fork.yielded[1]);
  for (ValueId id : results)
    for (ValueId size : region_.type(id).sizes)
      if (!conditions_.is_never_negative(size)) {
        conditions_.set_nonnegative(size);
        conditions_.set_found_size(size);
      }
  open_.pop_back();
  closed_.push_back(fork.place);
  end_histories(fork, results);
  size_t next = 0;
  each([&](const Av& a, Av& b) { b = joined(fork, a, b, results, &next); });
  const Av returned = joined(fork, fork.result, result, results, &next);
  TSC_CHECK(next == of_variables, "a branch gives another number of values");
  join_written(fork, results);
  return returned;
}

void Forks::end_histories(const Fork& fork, std::span<const ValueId> results) {
  std::vector<ValueId> recorded;
  for (size_t i = 0; i < results.size(); ++i)
    if (std::find(fork.recorded.begin(), fork.recorded.end(), i) != fork.recorded.end()) recorded.push_back(results[i]);
    else if (region_.type(results[i]).kind == jit::ValueKind::Tensor) gradients_.end_history(results[i]);
  gradients_.close_block(fork.history, recorded);
  if (recorded.empty()) return;
  if (std::string why; !gradients_.prepare_block_backward(recorded, &why)) refuse(fork.place, std::move(why));
}

void Forks::collect(Fork& fork, const Av& a, const Av& b) {
  if (is_same(a, b)) return;
  if (a.holds_number() && b.holds_number()) {
    if (a.number_kind() != b.number_kind()) abandon("a variable is an int on one of its ways and a float on the other");
    fork.yielded[0].push_back(numbers_.number_id(a));
    fork.yielded[1].push_back(numbers_.number_id(b));
    return;
  }
  if (a.kind != Av::Kind::Virtual || b.kind != Av::Kind::Virtual || a.object->kind != b.object->kind)
    abandon("a variable is of one kind on one of its ways and of another on the other");
  // What is one object on one way is one on the other, and what is two is two.
  const Virtual *one = a.object.get(), *other = b.object.get();
  const bool is_pair = fork.partners[0].emplace(one, other).first->second == other &&
                       fork.partners[1].emplace(other, one).first->second == one;
  if (!is_pair) abandon("two variables are one object on one of its ways alone");
  if (!fork.joined.emplace(std::pair(one, other), Av()).second) return;
  if (a.object->kind == VirtualKind::Tensor)
    return collect_tensor(fork, static_cast<VTensor&>(*a.object), static_cast<VTensor&>(*b.object));
  const std::vector<Av>*items = items_of(fork, a), *others = items_of(fork, b);
  if (!items || !others || items->size() != others->size() ||
      (a.object->kind == VirtualKind::Tuple && as<VTuple>(a)->type.get() != as<VTuple>(b)->type.get()))
    abandon("a variable is another object on one of its ways");
  for (size_t i = 0; i < items->size(); ++i) collect(fork, (*items)[i], (*others)[i]);
}

void Forks::collect_tensor(Fork& fork, VTensor& a, VTensor& b) {
  for (const VTensor* tensor : {&a, &b})
    if (tensor->hooked || tensor->has_grad_overlay || tensor->has_ambiguous() || tensor->unrecorded || tensor->built ||
        !tensor->contiguous || tensor->writes_of_loops != kNoValue || tensor->is_inference != a.is_inference ||
        tensor->is_data)
      abandon("a tensor that its ways give is more than its elements");
  const auto found = fork.elements.find(&a);
  const ValueId first = found == fork.elements.end() ? tensors_.current(a) : found->second;
  if (found == fork.elements.end() && is_inside(first)) abandon("a variable is a view of what was written before");
  const ValueId second = tensors_.current(b);
  const jit::Type &type = region_.type(first), &other = region_.type(second);
  if (type.dtype != other.dtype || type.sizes.size() != other.sizes.size())
    abandon("a tensor has another dtype or number of dimensions on one of its ways");
  shapes_.assume_same_sizes(first, second);
  for (VTensor* tensor : {&a, &b}) {
    note_root(fork, *tensor, *tensor);
    for (const VTensor::SameAs& one : tensor->same_as) note_root(fork, *tensor, static_cast<VTensor&>(*one.tensor));
  }
  // Its gradient reads what the write has left, and so does the one on the other way what it would have left.
  for (VTensor* side : {&a, &b})
    if (side->requires_grad && side->number <= fork.objects && root_of(*side)->writes > 0)
      abandon("on one of its ways a variable is a tensor with a gradient history that was written before");
  if (a.requires_grad != b.requires_grad) {
    // Where a loop without a turn is the way that has none, that there is one may be guessed.
    const auto& certain = memory_.certain_turns;
    if (fork.is_turn && open_.size() == 1 && std::find(certain.begin(), certain.end(), fork.place) == certain.end()) {
      memory_.add(memory_.certain_turns, fork.place);
      throw CaptureRestart{};
    }
    abandon("a tensor has a gradient history on one of its ways alone");
  }
  if (a.requires_grad) fork.recorded.push_back(fork.yielded[0].size());
  fork.yielded[0].push_back(first);
  fork.yielded[1].push_back(second);
  // What decided on a way which tensor it is.
  for (int way : {0, 1})
    for (const VTensor::SameAs& one : own_choice(fork, way ? b : a)) {
      fork.yielded[way].push_back(one.condition);
      fork.yielded[1 - way].push_back(builder_.constant_bool(false));
    }
}

// The tensor has the memory of `its`, or may have.
void Forks::note_root(Fork& fork, const VTensor& tensor, VTensor& its) {
  const auto first = fork.roots.emplace(root_of(its), &tensor).first;
  if (first->second != &tensor) fork.of_several.insert(first->first);
}

// Of one that the way has made, or joined from others.
std::span<const VTensor::SameAs> Forks::own_choice(const Fork& fork, const VTensor& tensor) {
  return tensor.number > fork.objects ? std::span(tensor.same_as) : std::span<const VTensor::SameAs>();
}

// Of the innermost branch.
bool Forks::is_inside(ValueId id) const { return builder_.depth_of(id) >= builder_.open_blocks(); }

Av Forks::joined(Fork& fork, const Av& a, const Av& b, std::span<const ValueId> results, size_t* next) {
  if (is_same(a, b)) return b;
  if (a.holds_number()) return Av::number(a.number_kind(), results[(*next)++], Value());
  Av& known = fork.joined.at({a.object.get(), b.object.get()});
  if (!known.is_undefined()) return known;
  if (a.object->kind == VirtualKind::Tensor)
    return known = Av::of(
               joined_tensor(fork, static_cast<VTensor&>(*a.object), static_cast<VTensor&>(*b.object), results, next));
  const std::vector<Av>&items = *items_of(fork, a), &others = *items_of(fork, b);
  std::vector<Av> both;
  for (size_t i = 0; i < items.size(); ++i) both.push_back(joined(fork, items[i], others[i], results, next));
  if (const VTuple* tuple = as<VTuple>(a)) {
    auto made = make<VTuple>();
    made->type = tuple->type;
    made->items = std::move(both);
    return known = Av::of(made);
  }
  auto made = make<VList>();
  made->items = std::move(both);
  return known = Av::of(made);
}

// Whether the way has made it, with memory that no other variable has.
bool Forks::is_own(const Fork& fork, VTensor& tensor) {
  const VTensor& root = *root_of(tensor);
  const auto is_one_of_others = [](const VTensor& one) { return one.unnamed || !one.same_as.empty(); };
  for (const VTensor* its = &tensor; its->view; its = its->view->parent.get())
    if (its->view->op != Op::reshape) return false;  // other views know their base
  return root.number > fork.objects && root.input == kNoValue && !is_one_of_others(tensor) && !is_one_of_others(root) &&
         !fork.of_several.count(&root);
}

// Whether a recipe behind the branch can name it: it was there before, or is a view of such a one.
bool Forks::is_known_outside(const Fork& fork, const VTensor& tensor) const {
  const auto is_outside = [&](ValueId id) { return builder_.depth_of(id) <= builder_.open_blocks(); };
  const VTensor* root = &tensor;
  for (; root->view && root->number > fork.objects; root = root->view->parent.get())
    if (!std::all_of(root->view->scalars.begin(), root->view->scalars.end(), is_outside)) return false;
  return root->number <= fork.objects && !root->unnamed;
}

// Which tensors it is on that way. False: a recipe cannot say it.
bool Forks::name_outside(const Fork& fork, VTensor& side, ValueId condition, std::span<const ValueId> conditions,
                         std::vector<VTensor::SameAs>* names) const {
  if (is_own(fork, side)) return root_of(side)->writes == 0;
  if (side.unnamed) return false;
  if (conditions.empty()) names->push_back({condition, side.shared_from_this()});
  for (size_t i = 0; i < conditions.size(); ++i) {
    VTensor& one = static_cast<VTensor&>(*side.same_as[i].tensor);
    if (!is_own(fork, one)) names->push_back({conditions[i], side.same_as[i].tensor});
    else if (root_of(one)->writes > 0) return false;
  }
  return std::all_of(names->begin(), names->end(), [&](const VTensor::SameAs& one) {
    return is_known_outside(fork, static_cast<const VTensor&>(*one.tensor));
  });
}

std::shared_ptr<VTensor> Forks::joined_tensor(const Fork& fork, VTensor& a, VTensor& b,
                                              std::span<const ValueId> results, size_t* next) {
  auto made = make<VTensor>();
  made->id = results[(*next)++];
  made->is_inference = a.is_inference;
  made->requires_grad = a.requires_grad;
  made->leaf = !a.requires_grad;
  const Av given = Av::of(made);
  if (made->requires_grad) gradients_.remember_history({&given, 1}, made->id);
  VTensor* const sides[] = {&a, &b};
  std::span<const ValueId> conditions[2];
  for (int way : {0, 1}) {
    conditions[way] = results.subspan(*next, own_choice(fork, *sides[way]).size());
    *next += conditions[way].size();
  }
  made->in_history |= root_of(a)->in_history || root_of(b)->in_history;
  if (is_own(fork, a) && is_own(fork, b) && root_of(a)->writes == root_of(b)->writes) {
    made->writes = root_of(a)->writes;
    return made;
  }
  const ValueId holds[] = {fork.condition, builder_.scalar(jit::ScalarOp::logical_not, {&fork.condition, 1})};
  bool known = true;
  for (int way : {0, 1}) {
    known = known && name_outside(fork, *sides[way], holds[way], conditions[way], &made->same_as);
    for (VTensor* its = sides[way]; its; its = its->view ? its->view->parent.get() : nullptr)
      shared_memory_.note_pair(fork.place, *made, *its);
  }
  if (known) return made;
  made->same_as.clear();
  made->unnamed = true;
  return made;
}

}  // namespace tsc::interp
