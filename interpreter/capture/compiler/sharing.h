#pragma once
// Variants for other objects of the same form, over the code of one that there is (rebind.h); and variants that only
// the compiler still holds, which are dropped. A strict engine captures besides and compares. Defined in sharing.cpp.
#include "interpreter/capture/compiler/compiler_parts.h"

namespace tsc::interp {

class VariantSharing : private CompilerPart {
 public:
  explicit VariantSharing(const CompilerParts& parts) : CompilerPart(parts) {}
  // sharing.cpp: variants for other objects of the same form, over the code of one that there is.
  bool enter_shared(Frame& frame, Site& site, EnterResult* outcome, Value& result);
  std::string entry_numbers(const RegionPlan& plan, const Frame& frame, const CaptureMemory& memory) const;
  static std::string text_of(const jit::Region& region);
  void check_repeats(const Frame& frame, const CaptureMemory& memory, const CaptureResult& repeated);
  void add_variant(Site& site, const std::shared_ptr<Variant>& variant);

  // Objects that only variants, and what is remembered for them, still hold.
  std::unordered_set<Object*> abandoned_objects() const;

 private:
  std::shared_ptr<Variant> share_variant(const Variant& old, Frame& frame, const Site& site);
  std::string difference_to_capture(const Variant& variant, Frame& frame, const Site& site);
  void drop_abandoned(Site& site);
};

}  // namespace tsc::interp
