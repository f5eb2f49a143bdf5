#pragma once
// What invalidates a variant: each place that it assumes is watched, and a store there says so. A tensor that is known
// by identity makes the variant look at that tensor again, no more. Defined in variant_watches.cpp, ends.cpp.
#include "interpreter/capture/compiler/compiler_parts.h"

namespace tsc::interp {

struct WatchEntry {
  Value key;
  std::weak_ptr<Variant> variant;
  uint32_t held = EntryState::kNone;  // the source that is this tensor
};

class VariantWatches : private CompilerPart {
 public:
  explicit VariantWatches(const CompilerParts& parts) : CompilerPart(parts) {}
  void on_store(Object* holder, const Value& key);
  void watch(const std::shared_ptr<Variant>& variant);
  void unwatch(const Variant& variant);
  // It is entered no more.
  void drop(Variant& variant, const char* why) {
    variant.valid = false;
    variant.invalidated_by = why;
    has_invalid_ = true;
  }
  // All variants, and those that hold one of these objects (ends.cpp).
  void invalidate_all();
  void let_go(const std::unordered_set<Object*>& objects);
  // Drops the variants that became invalid.
  void sweep();
  bool has_invalid() const { return has_invalid_; }
  void reset() { watched_.clear(); }

 private:
  static bool tell_entry(const WatchEntry& entry, Variant& variant, const Value& key);
  void note_invalid(Variant& variant, Object* holder, const Value& key);
  void remember_dynamic(const Variant& variant, Object* holder, const Value& key);

  std::unordered_map<Object*, std::vector<WatchEntry>> watched_;
  bool has_invalid_ = false;  // some variant of some site
};

}  // namespace tsc::interp
