#pragma once
// One run of a variant: the region over the values that the entry check has fetched, then its exit, which builds frames
// and results from recipes. An error of the region becomes an exception of the script at its place. Results with a
// gradient history get a node on the tape (region_node.cpp), whose backward is compiled here too. Defined in
// compiler.cpp, region_node.cpp, demands.cpp, called_backend.cpp.
#include "interpreter/capture/compiler/compiler_parts.h"

namespace tsc::interp {

// A frame that is interpreted up to where a captured region ends (Backend::Eager).
struct EagerFrame {
  const Frame* frame;
  const CodeObject* code;
  uint32_t until;
};

// A split that died may leave its address to another one.
struct CompiledBackward {
  std::weak_ptr<const jit::SplitBackward> of;
  std::unique_ptr<jit::Executable> code;
};

class RegionRuns : private CompilerPart {
 public:
  explicit RegionRuns(const CompilerParts& parts) : CompilerPart(parts) {}
  // The compiled backward of a region whose results left with a history; null: the compiler fails at it.
  jit::Executable* backward_executable(const std::shared_ptr<jit::SplitBackward>& split,
                                       const CompileSettings& settings, bool background);
  Type* region_type() const { return region_type_; }
  void forget_dead_backwards() {
    std::erase_if(backwards_, [](const auto& entry) { return entry.second.of.expired(); });
  }
  // Whether an operation inside try or with, in a region of this function, did not find its memory.
  bool lacked_memory(const CodeObject* code) const;
  void forget_frames() { eager_frames_.clear(); }
  void forget_frame(const Frame* frame) {
    std::erase_if(eager_frames_, [&](const EagerFrame& one) { return one.frame == frame; });
  }
  void run_eagerly(const Variant& variant, Frame& frame);
  bool goes_on_eagerly(const Frame& frame);
  // False: an entry condition failed and nothing happened.
  bool run(const std::shared_ptr<Variant>& variant, Frame& frame, EntryOfCall& call, EnterResult* outcome,
           Value& result);
  std::unique_ptr<jit::Executable> make_executable(const Variant& variant, const Frame& frame, jit::Region region);

 private:
  void resume(const ExitPlan& exit, Frame& frame, Materializer& materializer, std::span<const jit::RunValue> live);
  void give_up(Variant& variant, const ExitPlan& exit, Frame& frame);
  // Those that have waited for the exit.
  void make_stores(const ExitPlan& exit, Materializer& materializer, std::span<const jit::RunValue> live);
  // The tape node of a region's call, when its results need one.
  void prepare_history(const Variant& variant, const ExitPlan& exit, Materializer& materializer,
                       std::span<const jit::RunValue> live, const std::vector<Value>& entry);
  // After the results are built: gradients reach the leaves among them.
  void connect_leaves(const ExitPlan& exit, Materializer& materializer);
  bool raises_in_interpreter(const RegionPlan& plan, const RegionHost& host, uint32_t origin);
  void note_lack(const RegionPlan& plan, uint32_t origin);
  [[noreturn]] void raise_from_region(const Variant& variant, Frame& frame, const jit::RunError& error);
  void place_error(const RegionPlan& plan, Frame& frame, uint32_t origin, ExceptionObject& exception);

  std::vector<EagerFrame> eager_frames_;
  std::vector<Local<CodeObject>> lacked_memory_;  // few: functions that failed so
  std::unordered_map<const jit::SplitBackward*, CompiledBackward> backwards_;
  Type* region_type_ = nullptr;  // of what a script's backend gets; made for the first one
};

}  // namespace tsc::interp
