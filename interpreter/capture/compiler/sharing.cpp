// Variants that share the code of another one: what a call brings in place of the objects that a region knows by
// identity has the same form (rebind.h), as the layers of a model that are compiled one by one.
#include <algorithm>
#include <map>
#include <set>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/compiler/rebind.h"
#include "interpreter/tensor/eager.h"
#include "jit/passes/dce.h"

namespace tsc::interp {

namespace {

constexpr size_t kVariantLimit = 16;  // of a place, each with code of its own
constexpr size_t kSharedLimit = 256;  // beside them, which cost a plan each: more than models have layers
constexpr size_t kFewHeld = 32;       // beyond these, objects that nobody else holds are looked for

using Check = EntrySource::Check;

// Whether the region knows more of the object than that it is the one.
bool is_looked_at(const RegionPlan& plan, const Value& v) {
  const auto holds = [&](const auto& read) { return read.holder.is(v); };
  return std::any_of(plan.watched.begin(), plan.watched.end(), holds) ||
         std::any_of(plan.sources.begin(), plan.sources.end(), holds);
}

}  // namespace

std::shared_ptr<Variant> VariantSharing::share_variant(const Variant& old, Frame& frame, const Site& site) {
  const RegionPlan& plan = old.plan;
  EntryLook look;
  look.fetch = [&](const EntrySource& source, const std::vector<Value>& entry) {
    return entry_checks_.fetch(source, frame, entry);
  };
  look.check = [&](const EntrySource& source, const Value& now) { return entry_checks_.check_source(source, now); };
  // What would come apart, or is only handed on, has one variant for all its like.
  look.may_move = [&](const EntrySource& source, const Value& now) {
    if (!is_kind(now, Kind::Instance)) return false;
    return site.memory.whole.count(source_place(plan.sources, source)) != 0 ||
           (!holds_data(vm_, now) && is_looked_at(plan, source.expected));
  };
  std::optional<RegionPlan> rebound = Rebinding(vm_, plan, std::move(look)).apply();
  if (!rebound) return nullptr;
  auto variant = std::make_shared<Variant>();
  variant->name = old.name;
  variant->settings = old.settings;
  variant->plan = std::move(*rebound);
  variant->background = old.background;
  variant->capture = old.capture;
  variant->shares_code = true;
  variant->captured = old.captured;
  variant->captured_of = old.captured_of;
  variant->executable = old.executable->another();
  variant->entry.build(variant->plan);
  variant->executable->hold(variant->entry.held_inputs());
  return variant;
}

namespace {

using Cells = std::set<std::pair<Object*, std::string>>;

// What a plan assumes or reads at every entry.
Cells cells_read(const RegionPlan& plan) {
  Cells cells;
  for (const Watched& watched : plan.watched) {
    std::string key = watched.key.is_int() ? std::to_string(watched.key.as_int()) : "";
    if (is_kind(watched.key, Kind::Str)) key = "." + std::string(cast<StrObject>(watched.key)->view());
    cells.insert({watched.holder.object(), std::move(key)});
  }
  for (const EntrySource& source : plan.sources) {
    if (!source.holder.is_object() || source.form == EntrySource::Form::Pinned) continue;
    std::string key = source.form == EntrySource::Form::Element ? std::to_string(source.index) : "";
    if (source.name) key = "." + std::string(source.name->view());
    cells.insert({source.holder.object(), std::move(key)});
  }
  return cells;
}

bool is_read_at_entry(const EntrySource& source) {
  return source.holder.is_object() && source.form != EntrySource::Form::Pinned;
}

// The same input. Which of the cells that no input comes from are assumed and which are read at every entry depends on
// the stores that were seen, of the one object and of the other.
bool reads_alike(const EntrySource& shared, const EntrySource& made) {
  if (is_read_at_entry(shared) != is_read_at_entry(made)) return shared.check == made.check;
  return shared.form == made.form && shared.index == made.index &&
         (shared.holder.is(made.holder) || (shared.is_literal && made.is_literal)) && shared.check == made.check &&
         shared.tensor_key == made.tensor_key;
}

// Texts and tuples may have been made while capturing.
bool builds_alike(const Recipe& a, const Recipe& b) {
  const Value &one = a.constant, &other = b.constant;
  const bool known_by_identity = is_kind(one, Kind::Instance) || is_kind(one, Kind::List) || is_kind(one, Kind::Dict);
  return a.form == b.form && (one.is(other) || (one.is_object() && other.is_object() && !known_by_identity));
}

bool leave_alike(const ExitPlan& a, const ExitPlan& b) {
  const auto same_register = [](const auto& one, const auto& other) {
    return one.first == other.first && builds_alike(one.second, other.second);
  };
  const auto same_place = [&](const ExitFrame& one, const ExitFrame& other) {
    return one.pc == other.pc && std::equal(one.registers.begin(), one.registers.end(), other.registers.begin(),
                                            other.registers.end(), same_register);
  };
  const auto same_object = [](const ObjectRecipe& one, const ObjectRecipe& other) {
    return one.kind == other.kind &&
           std::equal(one.parts.begin(), one.parts.end(), other.parts.begin(), other.parts.end(), builds_alike);
  };
  return a.form == b.form && builds_alike(a.result, b.result) && a.wrt_sources == b.wrt_sources &&
         a.history_live == b.history_live && a.saved_live == b.saved_live &&
         std::equal(a.materials.objects.begin(), a.materials.objects.end(), b.materials.objects.begin(),
                    b.materials.objects.end(), same_object) &&
         std::equal(a.frames.begin(), a.frames.end(), b.frames.begin(), b.frames.end(), same_place);
}

// What differs. In `plan` more may be watched than has to be.
std::string plan_difference(const RegionPlan& plan, const RegionPlan& made) {
  const Cells needed = cells_read(made), read = cells_read(plan);
  const auto alike = [&](const auto& input, const auto& its) {
    return input.first == its.first && reads_alike(plan.sources[input.second], made.sources[its.second]);
  };
  const bool same = std::equal(plan.inputs.begin(), plan.inputs.end(), made.inputs.begin(), made.inputs.end(), alike) &&
                    made.written_sources.size() == plan.written_sources.size() &&
                    std::includes(read.begin(), read.end(), needed.begin(), needed.end());
  return same ? "" : "plan";
}

// What is compared at entry and said of it, and what the exits build: of the same objects.
bool ask_and_leave_alike(const RegionPlan& a, const RegionPlan& b) {
  return a.actions.size() == b.actions.size() &&
         std::equal(a.exits.begin(), a.exits.end(), b.exits.begin(), b.exits.end(), leave_alike) &&
         a.different.size() == b.different.size() && a.distinct.size() == b.distinct.size() &&
         a.foreign.size() == b.foreign.size() && a.facts.size() == b.facts.size() && a.run_again == b.run_again;
}

// Without what nobody reads, which capture may have met on the way.
jit::Region without_dead_code(const jit::Region& region) {
  jit::Region alive = region.clone();
  jit::eliminate_dead_code(alive);
  return alive;
}

// The places of the source that the instructions come from, through the calls that led to them.
bool come_from_same_places(const CaptureResult& a, const CaptureResult& b) {
  const jit::Region of_a = without_dead_code(a.region), of_b = without_dead_code(b.region);
  const auto same_place = [&](uint32_t one, uint32_t other) {
    while (one && other) {
      const Origin &left = a.plan.origins[one], &right = b.plan.origins[other];
      if (left.code.get() != right.code.get() || left.pc != right.pc || !(left.modes == right.modes)) return false;
      one = left.caller;
      other = right.caller;
    }
    return one == other;
  };
  const auto &left = of_a.body.instructions, &right = of_b.body.instructions;
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [&](const auto& one, const auto& other) { return same_place(one.origin, other.origin); });
}

}  // namespace

// Without the numbers of the places in the source, of which there are more where calls are followed; values are
// numbered as they come.
std::string VariantSharing::text_of(const jit::Region& region) {
  const std::string whole = jit::print(without_dead_code(region));
  std::map<std::string, size_t> names;
  std::string text;
  const auto digits_end = [&](size_t from) {
    return std::min(whole.find_first_not_of("0123456789", from), whole.size());
  };
  for (size_t i = 0; i < whole.size();) {
    if (whole.compare(i, 2, " @") == 0) {
      i = digits_end(i + 2);
    } else if (whole[i] == '%') {
      const size_t end = digits_end(i + 1);
      text += '%' + std::to_string(names.emplace(whole.substr(i, end - i), names.size()).first->second);
      i = end;
    } else {
      text += whole[i++];
    }
  }
  return text;
}

// The numbers and sizes that come in, what of it is watched, which tensors are one, and how much is remembered of the
// place: they decide how capture goes on.
std::string VariantSharing::entry_numbers(const RegionPlan& plan, const Frame& frame,
                                          const CaptureMemory& memory) const {
  std::string text;
  for (size_t size : {memory.branches ? memory.branches->version() : 0,
                      memory.dynamic.size(),
                      memory.refused.size(),
                      memory.read.size(),
                      memory.whole.size(),
                      memory.apart.size(),
                      memory.text.size(),
                      memory.shared.size(),
                      size_t{memory.has_effects},
                      static_cast<size_t>(memory.stores),
                      size_t{memory.any_closure},
                      memory.separate.size(),
                      memory.varied.size(),
                      memory.followed_loops.size(),
                      memory.different_ends.size(),
                      memory.refused_forks.size(),
                      memory.late_loops.size(),
                      memory.certain_turns.size(),
                      memory.left_loops.size(),
                      memory.loop_exits.size(),
                      memory.unsteady_loops.size()})
    text += std::to_string(size) + " ";
  std::vector<Value> entry;
  for (const EntrySource& source : plan.sources) {
    entry.push_back(entry_checks_.fetch(source, frame, entry));
    const Value& now = entry.back();
    if (!entry_checks_.check_source(source, now)) return "other";
    if (now.is_int() || now.is_float()) text += repr(vm_, now) + " ";
    // One that is watched would not be taken apart.
    const bool apart = source.check != Check::Same && source.check != Check::Tensor;
    if (apart && now.is_object() && now.object()->watched()) text += "watched ";
    const TensorObject* tensor = as_tensor(compiler_.tensors(), now);
    if (!tensor) continue;
    if (tensor->tensor.place().is_device()) text += tensor->tensor.place().name() + " ";
    if (tensor->extra || tensor->tensor.is_meta()) text += "handed on ";  // no input, as another tensor would be
    for (int axis = 0; axis < tensor->tensor.rank(); ++axis) text += std::to_string(tensor->tensor.size(axis)) + " ";
    const auto first = std::find_if(entry.begin(), entry.end(), [&](const Value& other) { return other.is(now); });
    text += "=" + std::to_string(first - entry.begin()) + " ";
  }
  return text;
}

// What capture would find otherwise, of the same numbers.
std::string VariantSharing::difference_to_capture(const Variant& variant, Frame& frame, const Site& site) {
  if (entry_numbers(variant.plan, frame, site.memory) != variant.captured_of) return "";
  CaptureMemory memory = site.memory;
  const std::optional<CaptureResult> again = compiler_.capture_region(frame, memory);
  if (!again || text_of(again->region) != variant.captured) return "region";
  return plan_difference(variant.plan, again->plan);
}

// What is captured where calls are repeated, and where all are followed.
void VariantSharing::check_repeats(const Frame& frame, const CaptureMemory& memory, const CaptureResult& repeated) {
  CaptureMemory following = memory;
  following.follows_calls = true;
  const std::optional<CaptureResult> again = compiler_.capture_region(frame, following);
  const bool same = again && text_of(again->region) == text_of(repeated.region);
  std::string found;
  if (!same) found = "region";
  else if (!come_from_same_places(repeated, *again)) found = "source places";
  else if (!ask_and_leave_alike(repeated.plan, again->plan)) found = "entry or an exit";
  else found = plan_difference(repeated.plan, again->plan);
  TSC_CHECK(found.empty(), "the " + found + " of repeated calls is not the one of calls that are followed");
}

bool VariantSharing::enter_shared(Frame& frame, Site& site, EnterResult* outcome, Value& result) {
  std::vector<uint64_t> tried;
  const std::vector<std::shared_ptr<Variant>> variants = site.variants;
  for (const std::shared_ptr<Variant>& old : variants) {
    const RegionPlan& plan = old->plan;
    if (!old->valid || !plan.is_for(compiler_.tensors().modes)) continue;
    if (plan.function.get() && plan.function.get() != frame.function) continue;
    if (std::find(tried.begin(), tried.end(), old->capture) != tried.end()) continue;
    tried.push_back(old->capture);
    const std::shared_ptr<Variant> variant = share_variant(*old, frame, site);
    if (!variant) continue;
    const std::string difference = options_.strict ? difference_to_capture(*variant, frame, site) : "";
    watches_.watch(variant);
    add_variant(site, variant);
    if (compiler_.try_variant(variant, frame, outcome, result)) {
      TSC_CHECK(difference.empty(), "the " + difference + " that is shared is not the one that capture makes");
      return true;
    }
    // Its sizes, or what was found of numbers, do not fit.
    watches_.unwatch(*variant);
    std::erase(site.variants, variant);
  }
  return false;
}

void VariantSharing::add_variant(Site& site, const std::shared_ptr<Variant>& variant) {
  if (!compiler_.has_missed_captures(variant->plan.entry_code.get())) site.trial.runs = 0;
  std::vector<std::shared_ptr<Variant>>& variants = site.variants;
  const auto held = [&] { return variants.size() + site.memory.keep_alive.size(); };
  if (held() >= std::max(kFewHeld, 2 * site.held_last)) {
    drop_abandoned(site);
    site.held_last = held();
  }
  std::shared_ptr<Variant> evicted;  // goes when the list is in order
  const auto alike = [&](const std::shared_ptr<Variant>& other) { return other->shares_code == variant->shares_code; };
  const auto count = static_cast<size_t>(std::count_if(variants.begin(), variants.end(), alike));
  if (count >= (variant->shares_code ? kSharedLimit : kVariantLimit)) {
    const auto oldest = std::find_if(variants.rbegin(), variants.rend(), alike);
    evicted = *oldest;
    watches_.unwatch(*evicted);
    variants.erase(std::next(oldest).base());
  }
  variants.insert(variants.begin(), variant);
  site.last = 0;
}

// What is known of a module that only the compiler still holds, as in a program that makes one model after the other.
std::unordered_set<Object*> VariantSharing::abandoned_objects() const {
  std::vector<Object*> references;
  for (const auto& [key, other] : sites_)
    for (const std::shared_ptr<Variant>& variant : other.variants) add_references(variant->plan, references);
  for (const auto& [key, other] : sites_)
    for (const Value& kept : other.memory.keep_alive) references.push_back(kept.object());
  return vm_.heap().kept_only_by(references);
}

void VariantSharing::drop_abandoned(Site& site) {
  site.changed.reset();
  const std::unordered_set<Object*> abandoned = abandoned_objects();
  std::vector<std::shared_ptr<Variant>> gone;  // go when the list is in order: objects die with them
  std::erase_if(site.variants, [&](const std::shared_ptr<Variant>& variant) {
    const auto& sources = variant->plan.sources;
    const bool drop = !variant->running && std::any_of(sources.begin(), sources.end(), [&](const EntrySource& source) {
      return source.check == Check::Same && source.expected.is_object() && abandoned.count(source.expected.object());
    });
    if (drop) gone.push_back(variant);
    return drop;
  });
  for (const std::shared_ptr<Variant>& variant : gone) watches_.unwatch(*variant);
  std::erase_if(site.memory.dynamic, [&](const CaptureMemory::Cell& cell) { return abandoned.count(cell.holder); });
  std::vector<Value> kept = std::exchange(site.memory.keep_alive, {});
  for (const Value& value : kept)
    if (!abandoned.count(value.object())) site.memory.keep_alive.push_back(value);
}

}  // namespace tsc::interp
