#pragma once
// What the program asks for: the settings of torch.compile that are in force at a place, and the errors where it does
// not get what it wants (a limit of variants that raises, fullgraph=True with a break). Defined in demands.cpp.
#include "interpreter/capture/compiler/compiler_parts.h"

namespace tsc::interp {

class Requests : private CompilerPart {
 public:
  explicit Requests(const CompilerParts& parts) : CompilerPart(parts) {}
  // The one object for equal settings.
  const CompileSettings* intern_settings(CompileSettings settings);
  // The engine's options as the settings change them.
  jit::CompileOptions jit_options(const CompileSettings& settings, bool background) const;
  const CompileSettings* settings_at(const Frame& frame, bool at_start);
  static void begin_disabled(Frame& frame, const CompiledMark& mark);
  bool may_make_variant(const Site& site, const Frame& frame) const;
  void check_limit(const Site& site, const Frame& frame) const;
  void check_captured(const Frame& frame, const CaptureMemory& memory, const CaptureResult& captured) const;

 private:
  // demands.cpp: what the program asks for, and the errors where it does not get it.
  static const CompiledMark* asking_mark(const Frame& frame);
  std::string breaks_text(const Frame& frame, const CaptureMemory& memory) const;
  [[noreturn]] void raise_named(const char* module, const char* name, const std::string& text) const;

  std::vector<std::unique_ptr<const CompileSettings>> settings_;  // all different ones
};

}  // namespace tsc::interp
