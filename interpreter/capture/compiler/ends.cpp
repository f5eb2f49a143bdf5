// What the running side does about objects whose end the program sees (interpreter/vm/ends.h): nothing that it
// remembers may keep one alive.
#include <algorithm>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/compiler/rebind.h"
#include "lang/bytecode/liveness.h"

namespace tsc::interp {

// A plan would keep what the frame's variables hold alive.
bool Compiler::holds_end(const Frame& frame) {
  const lang::RegisterSet& live = lang::live_registers(*frame.code->code, frame.pc);
  for (uint32_t reg = 0; reg < frame.register_count; ++reg) {
    const Value& v = frame.registers[reg];
    if (v.is_object() && v.object()->flags & kHasEnd && live.contains(reg)) return true;
  }
  return false;
}

// What was captured before took no care of when objects die.
void Compiler::on_ends() {
  watches_.invalidate_all();
  const auto runs = [](const auto& entry) {
    const auto& variants = entry.second.variants;
    return std::any_of(variants.begin(), variants.end(), [](const auto& variant) { return variant->running; });
  };
  if (std::none_of(sites_.begin(), sites_.end(), runs)) reset();
}

void Compiler::let_go(Object* object) {
  if (sites_.empty()) return;
  watches_.let_go(object ? std::unordered_set<Object*>{object} : sharing_.abandoned_objects());
}

void VariantWatches::invalidate_all() {
  for (auto& [key, site] : sites_)
    for (const std::shared_ptr<Variant>& variant : site.variants) variant->valid = false;
  has_invalid_ = true;
}

void VariantWatches::let_go(const std::unordered_set<Object*>& objects) {
  std::vector<Value> gone;  // die when all lists are in order
  std::vector<Object*> references;
  const auto is_one = [&](Object* object) { return objects.count(object) != 0; };
  for (auto& [key, site] : sites_) {
    site.changed.reset();
    std::erase_if(site.memory.dynamic, [&](const CaptureMemory::Cell& cell) { return is_one(cell.holder); });
    for (Value& kept : std::exchange(site.memory.keep_alive, {}))
      (is_one(kept.object()) ? gone : site.memory.keep_alive).push_back(std::move(kept));
    for (const std::shared_ptr<Variant>& variant : site.variants) {
      references.clear();
      add_references(variant->plan, references);
      if (std::none_of(references.begin(), references.end(), is_one)) continue;
      variant->valid = false;
      has_invalid_ = true;
    }
  }
  if (has_invalid_) sweep();
}

}  // namespace tsc::interp
