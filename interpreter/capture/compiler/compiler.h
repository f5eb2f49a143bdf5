#pragma once
// The running side of capture: which function is compiled, its variants, the check at entry, the run, the
// exits back into frames; and the watchers that invalidate a variant when something it assumed is stored.
// One Compiler per Vm. The interpreter reaches it only through CompilerHooks and Watchers. It finds the variant for a
// call or has capture make one (capture.h); its parts, which compiler_parts.h lists, do the rest.
#include <chrono>
#include <optional>
#include <set>
#include <unordered_map>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/compiler/accounts.h"
#include "interpreter/capture/compiler/branches.h"
#include "interpreter/capture/compiler/demands.h"
#include "interpreter/capture/compiler/entry_checks.h"
#include "interpreter/capture/compiler/loop_turns.h"
#include "interpreter/capture/compiler/materialize.h"
#include "interpreter/capture/compiler/region_runs.h"
#include "interpreter/capture/compiler/reporting.h"
#include "interpreter/capture/compiler/second_opinion.h"
#include "interpreter/capture/compiler/sharing.h"
#include "interpreter/capture/compiler/variant_watches.h"

namespace tsc::interp {

class Compiler : public CompilerHooks, public Watchers {
 public:
  Compiler(Vm& vm, CompileOptions options);
  ~Compiler() override;

  EnterResult enter_function(Vm& vm, Frame& frame, Value& result) override;
  EnterResult enter_at(Vm& vm, Frame& frame, Value& result) override;
  void on_ends() override;
  void let_go(Object* object) override;
  void on_store(Object* holder, const Value& key) override;

  CompileOptions& options() { return options_; }
  CompileDemands& demands() { return demands_; }
  jit::Report& report() { return report_; }
  // With all that is being compiled now: what a reader sees does not depend on how fast that is.
  jit::Report& finished_report();
  // Forgets every variant.
  void reset();

  // Its parts, for those outside.
  Requests& requests() { return requests_; }
  RegionRuns& runs() { return runs_; }
  Branches& branches() { return branches_; }
  CompilerReports& reports() { return reports_; }

  // For the parts.
  // Starts again as often as `memory` grows; nothing when that does not end.
  std::optional<CaptureResult> capture_region(const Frame& frame, CaptureMemory& memory);
  bool try_variant(const std::shared_ptr<Variant>& variant, Frame& frame, EnterResult* outcome, Value& result);
  uint32_t captures_of(const CodeObject* code) const { return accounts_.captures(code); }
  bool has_missed_captures(const CodeObject* code) const { return accounts_.has_missed(code); }
  // What is remembered of a frame that was at this place in memory.
  void forget_frame(const Frame* frame);
  // Looked up once: every operand of every call is asked whether it is a tensor.
  TensorState& tensors() const {
    if (!tensors_) tensors_ = &tensor_state(vm_);
    return *tensors_;
  }

 private:
  // A frame that is interpreted until it begins a loop anew.
  struct FirstCall {
    const Frame* frame;
    const CodeObject* code;
    uint32_t pc;  // the farthest so far
    std::chrono::steady_clock::time_point began;
  };

  EnterResult enter(Frame& frame, Value& result, bool at_start);
  bool is_blocked(const Frame& frame) const;
  bool has_other_operators() const;
  bool stands_back(const Frame& frame) const;  // the frame is interpreted
  static bool holds_end(const Frame& frame);
  std::optional<uint32_t> captures_of_a_place(const CompileSettings& settings) const;
  bool may_capture(const Site& site, const CodeObject* code, const CompileSettings& settings) const;
  bool may_come_later(const Frame& frame) const;
  bool works_in_background(const Frame& frame) const;
  void begin_first_call(Frame& frame);
  bool goes_on_first_call(const Frame& frame);
  void refuse_capture(Frame& frame, Site& site, const CompileSettings& settings);
  CaptureMemory take_memory(const Frame& frame, Site& site, const CompileSettings& settings) const;
  std::shared_ptr<Variant> make_variant(Frame& frame, Site& site, const CompileSettings& settings);

  // The parts hold references to each other, which are taken before the parts are there. Variants go before the
  // settings that they were made with.
  Vm& vm_;
  mutable TensorState* tensors_ = nullptr;
  bool class_of_tensors_changed_ = false;  // by a script
  CompileOptions options_;
  CompileDemands demands_;
  CompilerParts parts_;
  Requests requests_;
  jit::Report report_;
  Sites sites_;
  std::vector<Local<CodeObject>> codes_;  // keep the keys of sites_ alive
  std::vector<FirstCall> first_calls_;
  uint64_t captures_ = 0;
  CaptureAccounts accounts_;
  LoopTurns loop_turns_;
  Branches branches_;
  EntryChecks entry_checks_;
  RegionRuns runs_;
  VariantWatches watches_;
  VariantSharing sharing_;
  SecondOpinions opinions_;
  CompilerReports reports_;
};

// "train.tsc:17" of an instruction.
std::string place_text(const CodeObject* code, uint32_t pc);

// Module `_compiler`: what torch.compile, torch.compiler and torch._dynamo call.
void register_compiler_module(Vm& vm);

// Installs hooks, watchers and the functions of module `_compiler`.
void install_compiler(Vm& vm, CompileOptions options);
Compiler* compiler_of(Vm& vm);

}  // namespace tsc::interp
