#include "interpreter/capture/compiler/variant_watches.h"

#include <algorithm>
#include <unordered_set>

#include "interpreter/capture/compiler/region_runs.h"
#include "interpreter/capture/compiler/variant.h"
#include "interpreter/vm/inspect.h"

namespace tsc::interp {

namespace {

// Whether what made it invalid was stored into an instance that it was called with, or found from there.
bool came_with_a_call(const Variant& variant) {
  if (!variant.invalidated_in) return false;
  return std::ranges::any_of(variant.plan.sources, [&](const EntrySource& source) {
    if (source.check != EntrySource::Check::Same || !is_kind(source.expected, Kind::Instance)) return false;
    const Object* one = source.expected.object();
    return one == variant.invalidated_in || attribute_dict_of(one) == variant.invalidated_in;
  });
}

// Stores are told of before they happen, a removal afterwards too. A key that only a script can compare may be any.
bool changes_keys(Vm& vm, Object* dict, const Value& key) {
  const bool is_plain = is_kind(key, Kind::Str) || (!key.is_undefined() && !key.is_object());
  return !is_plain || dict_get(vm, cast<DictObject>(Value(dict)), key).is_undefined();
}

}  // namespace

// Invalid variants go, and with them what they kept alive: a model that the script has replaced.
void VariantWatches::sweep() {
  std::vector<std::shared_ptr<Variant>> gone;  // go when the lists are in order: objects die with them
  for (auto& [key, site] : sites_)
    for (size_t i = 0; i < site.variants.size();) {
      const std::shared_ptr<Variant> variant = site.variants[i];
      if (variant->valid) {
        ++i;
        continue;
      }
      gone.push_back(variant);
      unwatch(*variant);
      site.last_change = variant->invalidated_by;
      site.last_changed = variant->invalidated_in;
      if (came_with_a_call(*variant)) site.changed = variant;
      site.variants.erase(site.variants.begin() + static_cast<std::ptrdiff_t>(i));
    }
  runs_.forget_dead_backwards();
  has_invalid_ = false;
}

void VariantWatches::unwatch(const Variant& variant) {
  const auto forget = [&](Object* holder) {
    auto found = watched_.find(holder);
    if (found == watched_.end()) return;
    std::erase_if(found->second, [&](const WatchEntry& entry) {
      const std::shared_ptr<Variant> watching = entry.variant.lock();
      return !watching || watching.get() == &variant;
    });
    if (!found->second.empty()) return;
    watched_.erase(found);
    // Only a list's own stores ask: then the next capture may take it apart.
    if (holder->kind == Kind::List) holder->stop_watching();
  };
  std::unordered_set<Object*> holders;  // many are watched under several names
  for (const Watched& watched : variant.plan.watched) holders.insert(watched.holder.object());
  for (const EntrySource& source : variant.plan.sources)
    if (source.form == EntrySource::Form::Pinned) holders.insert(source.holder.object());
  for (Object* holder : holders) forget(holder);
}

void VariantWatches::watch(const std::shared_ptr<Variant>& variant) {
  for (const Watched& watched : variant->plan.watched) {
    Object* holder = watched.holder.object();
    holder->watch();
    watched_[holder].push_back({watched.key, variant});
  }
  for (uint32_t i = 0; i < variant->plan.sources.size(); ++i) {
    const EntrySource& source = variant->plan.sources[i];
    if (source.form != EntrySource::Form::Pinned || source.check != EntrySource::Check::Tensor) continue;
    source.holder.object()->watch();
    const uint32_t held = variant->entry.is_held(i) ? i : EntryState::kNone;
    watched_[source.holder.object()].push_back({Value(), variant, held});
  }
}

// A store that changes what entry looks at: a held tensor's elements, its gradient class.
bool VariantWatches::tell_entry(const WatchEntry& entry, Variant& variant, const Value& key) {
  if (entry.held == EntryState::kNone || !is_kind(key, Kind::Str)) return false;
  const std::string_view name = cast<StrObject>(key)->view();
  const bool elements = name == kTensorData;
  if (!elements && name != kTensorGradientClass) return false;
  variant.entry.note_change(entry.held);
  if (elements && variant.entry.input_of(entry.held) != EntryState::kNone)
    variant.executable->changed(variant.entry.input_of(entry.held));
  return true;
}

void VariantWatches::on_store(Object* holder, const Value& key) {
  auto found = watched_.find(holder);
  if (found == watched_.end()) return;
  // A list that is appended to keeps its methods: what is watched by name is not its content.
  const bool items_only = key.is_undefined() && is_kind(Value(holder), Kind::List);
  // Every variant hears of it, also when telling one of them fails.
  std::exception_ptr failure;
  for (WatchEntry& entry : found->second) {
    const std::shared_ptr<Variant> variant = entry.variant.lock();
    if (!variant || !variant->valid) continue;
    const bool by_name = is_kind(entry.key, Kind::Str);
    const bool same =
        entry.key.is_undefined() || (key.is_undefined() && !(items_only && by_name)) ||
        (entry.key.is(kKeysOnly) && changes_keys(vm_, holder, key)) || entry.key.is(key) ||
        (by_name && is_kind(key, Kind::Str) && str_equal(cast<StrObject>(entry.key), cast<StrObject>(key)));
    try {
      if (tell_entry(entry, *variant, key) || !same) continue;
      variant->valid = false;
      has_invalid_ = true;
      note_invalid(*variant, holder, key);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  std::erase_if(found->second, [](const WatchEntry& entry) {
    const std::shared_ptr<Variant> variant = entry.variant.lock();
    return !variant || !variant->valid;
  });
  if (failure) std::rethrow_exception(failure);
}

// For the next capture and the report. Neither needs it: a lack of memory costs no more than that.
void VariantWatches::note_invalid(Variant& variant, Object* holder, const Value& key) {
  try {
    const bool named = is_kind(key, Kind::Str);
    variant.invalidated_by =
        named ? "'" + std::string(cast<StrObject>(key)->view()) + "'" : "content of a " + holder->type->name;
    if (named && holder->kind == Kind::Instance) variant.invalidated_by += " of '" + holder->type->name + "'";
    variant.invalidated_in = holder;
    remember_dynamic(variant, holder, key);
  } catch (const std::bad_alloc&) {
  }
}

// A cell that changed once is read at every entry from now on.
void VariantWatches::remember_dynamic(const Variant& variant, Object* holder, const Value& key) {
  auto site = sites_.find({variant.plan.entry_code.get(), variant.plan.entry_pc, variant.settings});
  if (site == sites_.end()) return;
  if (is_kind(key, Kind::Str)) {
    Local<StrObject> name = intern(vm_, cast<StrObject>(key));
    site->second.memory.make_dynamic({holder, name.get(), 0}, Value(holder));
    site->second.memory.keep_alive.push_back(name.value());
  } else if (key.is_int()) {
    site->second.memory.make_dynamic({holder, nullptr, key.as_int() + 1}, Value(holder));
  } else if (holder->kind == Kind::Cell || holder->kind == Kind::List) {
    site->second.memory.make_dynamic({holder, nullptr, 0}, Value(holder));
  }
}

}  // namespace tsc::interp
