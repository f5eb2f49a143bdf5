#pragma once
// The part of the Vm that only the interpreter's own files touch: boot code, the frame stack, caches.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

// Room for at least `count` own attributes.
void reserve_slots(Vm& vm, InstanceState& state, uint32_t count, uint32_t hint);

struct VmAccess {
  static Types& types(Vm& vm) { return vm.types_; }
  static ExceptionTypes& exceptions(Vm& vm) { return vm.exceptions_; }
  static uint32_t new_type_version(Vm& vm) { return vm.next_type_version_++; }
  static Vm::LookupCacheEntry& lookup_cache(Vm& vm, uint32_t version, StrObject* name) {
    size_t slot = (version * 0x9E3779B1u) ^ (reinterpret_cast<uintptr_t>(name) >> 4);
    return vm.lookup_cache_[slot % Vm::kLookupCacheSize];
  }
  static std::vector<Type*>& native_types(Vm& vm) { return vm.native_types_; }
  static auto& interned(Vm& vm) { return vm.interned_; }
  static Frame*& frame(Vm& vm) { return vm.frame_; }
  static FrameStack& stack(Vm& vm) { return vm.stack_; }
  static Local<ExceptionObject>& unwinding(Vm& vm) { return vm.unwinding_; }
  static uint32_t& depth(Vm& vm) { return vm.depth_; }
  static bool shutting_down(Vm& vm) { return vm.shutting_down_; }
  static int64_t& fuel(Vm& vm) { return vm.fuel_; }
  static Local<ModuleObject>& builtins(Vm& vm) { return vm.builtins_; }
  static Value& not_implemented(Vm& vm) { return vm.not_implemented_; }
  static Value& ellipsis(Vm& vm) { return vm.ellipsis_; }
  // Everything but the heap, made and taken down; the latter also when it was made only in part.
  static void boot(Vm& vm);
  static void dismantle(Vm& vm);
};

}  // namespace tsc::interp
