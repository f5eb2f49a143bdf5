// Variants that share the code of another one: what a call brings in place of the objects that a region knows by
// identity has the same form (rebind.h), as the layers of a model that are compiled one by one.
#include <algorithm>
#include <bit>
#include <set>

#include "interpreter/capture/compiler.h"
#include "interpreter/capture/rebind.h"
#include "interpreter/tensor/eager.h"

namespace tsc::interp {

namespace {

constexpr size_t kVariantLimit = 16;   // of a place, each with code of its own
constexpr size_t kSharedLimit = 256;   // beside them, which cost a plan each: more than models have layers
constexpr size_t kFewShared = 16;      // beyond these, objects that nobody else holds are looked for

using Check = EntrySource::Check;

// The objects in whose place a call may bring others.
template <class Visit>
void visit_roots(const RegionPlan& plan, Visit&& visit) {
  for (const EntrySource& source : plan.sources)
    if (source.check == Check::Same && is_kind(source.expected, Kind::Instance)) visit(source.expected.object());
}

}  // namespace

std::shared_ptr<Variant> Compiler::share_variant(const Variant& old, Frame& frame, const Site& site) {
  const RegionPlan& plan = old.plan;
  EntryLook look;
  look.fetch = [&](const EntrySource& source, const std::vector<Value>& entry) { return fetch(source, frame, entry); };
  look.check = [&](const EntrySource& source, const Value& now) { return check_source(source, now); };
  // What would come apart has one variant for all its like.
  look.may_move = [&](const EntrySource& source, const Value& now) {
    return is_kind(now, Kind::Instance) &&
           (!holds_data(vm_, now) || site.memory.whole.count(source_place(plan.sources, source)));
  };
  std::optional<RegionPlan> rebound = Rebinding(vm_, plan, std::move(look)).apply();
  if (!rebound) return nullptr;
  auto variant = std::make_shared<Variant>();
  variant->name = old.name;
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

// Capture lists some of them twice.
std::set<std::pair<Object*, std::string>> watched_cells(const RegionPlan& plan) {
  std::set<std::pair<Object*, std::string>> cells;
  for (const Watched& watched : plan.watched) {
    std::string key = watched.key.is_int() ? std::to_string(watched.key.as_int()) : "";
    if (is_kind(watched.key, Kind::Str)) key = "." + std::string(cast<StrObject>(watched.key)->view());
    cells.insert({watched.holder.object(), std::move(key)});
  }
  return cells;
}

}  // namespace

// The numbers and sizes that come in: what capture finds of them decides how it goes on.
std::string Compiler::entry_numbers(const RegionPlan& plan, const Frame& frame) const {
  std::string text;
  std::vector<Value> entry;
  for (const EntrySource& source : plan.sources) {
    entry.push_back(fetch(source, frame, entry));
    const Value& now = entry.back();
    if (!check_source(source, now)) return "other";
    if (now.is_int() || now.is_float()) text += repr(vm_, now) + " ";
    else if (const TensorObject* tensor = as_tensor(tensors(), now))
      for (int axis = 0; axis < tensor->tensor.rank(); ++axis) text += std::to_string(tensor->tensor.size(axis)) + " ";
  }
  return text;
}

// What capture would find otherwise, of the same numbers.
std::string Compiler::difference_to_capture(const Variant& variant, Frame& frame, const Site& site) {
  if (entry_numbers(variant.plan, frame) != variant.captured_of) return "";
  CaptureMemory memory = site.memory;
  std::optional<CaptureResult> again;
  for (int attempt = 0; attempt < 64 && !again; ++attempt) {
    try {
      Capture capture(vm_, frame, memory);
      capture.break_everywhere = options_.break_everywhere;
      again = capture.run();
    } catch (const CaptureRestart&) {
    }
  }
  const RegionPlan &made = again->plan, &plan = variant.plan;
  if (jit::print(again->region) != variant.captured) return "region";
  bool same = made.sources.size() == plan.sources.size() && made.inputs == plan.inputs &&
              made.written_sources == plan.written_sources && watched_cells(made) == watched_cells(plan);
  for (size_t i = 0; same && i < plan.sources.size(); ++i) {
    const EntrySource &a = made.sources[i], &b = plan.sources[i];
    same = a.form == b.form && a.parent == b.parent && a.index == b.index && a.holder.is(b.holder) &&
           a.check == b.check && a.length == b.length && a.tensor_key == b.tensor_key &&
           (a.expected.is(b.expected) || is_kind(a.expected, Kind::Str));
  }
  return same ? "" : "plan";
}

bool Compiler::enter_shared(Frame& frame, Site& site, EnterResult* outcome, Value& result) {
  std::vector<uint64_t> tried;
  const std::vector<std::shared_ptr<Variant>> variants = site.variants;
  for (const std::shared_ptr<Variant>& old : variants) {
    const RegionPlan& plan = old->plan;
    if (!old->valid || !(plan.modes == tensors().modes)) continue;
    if (plan.function.get() && plan.function.get() != frame.function) continue;
    if (std::find(tried.begin(), tried.end(), old->capture) != tried.end()) continue;
    tried.push_back(old->capture);
    const std::shared_ptr<Variant> variant = share_variant(*old, frame, site);
    if (!variant) continue;
    const std::string difference = options_.strict ? difference_to_capture(*variant, frame, site) : "";
    watch(variant);
    add_variant(site, variant);
    if (try_variant(variant, frame, outcome, result)) {
      TSC_CHECK(difference.empty(), "the " + difference + " that is shared is not the one that capture makes");
      return true;
    }
    // Its sizes, or what was found of numbers, do not fit.
    unwatch(*variant);
    std::erase(site.variants, variant);
  }
  return false;
}

void Compiler::add_variant(Site& site, const std::shared_ptr<Variant>& variant) {
  std::vector<std::shared_ptr<Variant>>& variants = site.variants;
  const auto alike = [&](const std::shared_ptr<Variant>& other) { return other->shares_code == variant->shares_code; };
  const auto count = static_cast<size_t>(std::count_if(variants.begin(), variants.end(), alike));
  // Now and then, so that it costs little for each.
  if (variant->shares_code && count >= kFewShared && std::has_single_bit(count)) drop_abandoned(site);
  if (count >= (variant->shares_code ? kSharedLimit : kVariantLimit)) {
    const auto oldest = std::find_if(variants.rbegin(), variants.rend(), alike);
    unwatch(**oldest);
    variants.erase(std::next(oldest).base());
  }
  variants.insert(variants.begin(), variant);
}

// Variants whose module only variants hold: those of a program that makes one model after the other.
void Compiler::drop_abandoned(Site& site) {
  std::unordered_map<Object*, size_t> held;
  for (const std::shared_ptr<Variant>& variant : site.variants)
    visit_roots(variant->plan, [&](Object* root) { held.emplace(root, 0); });
  for (auto& [object, count] : held)
    for (const auto& [key, other] : sites_)
      for (const std::shared_ptr<Variant>& variant : other.variants) count += count_references(variant->plan, object);
  std::erase_if(site.variants, [&](const std::shared_ptr<Variant>& variant) {
    bool abandoned = false;
    visit_roots(variant->plan, [&](Object* root) { abandoned |= root->reference_count <= held[root]; });
    if (abandoned && !variant->running) unwatch(*variant);
    return abandoned && !variant->running;
  });
}

}  // namespace tsc::interp
