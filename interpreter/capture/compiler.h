#pragma once
// The running side of capture: which function is compiled, its variants, the check at entry, the run, the
// exits back into frames; and the watchers that invalidate a variant when something it assumed is stored.
// One Compiler per Vm. The interpreter reaches it only through CompilerHooks and Watchers.
#include <chrono>
#include <optional>
#include <set>
#include <unordered_map>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/compile_settings.h"
#include "interpreter/capture/entry.h"
#include "interpreter/capture/materialize.h"
#include "jit/compile.h"
#include "jit/report.h"

namespace tsc::interp {

struct CompileOptions {
  bool enabled = true;           // --no-jit
  bool break_everywhere = false; // TENSCRIPT_STRESS_BREAK: every statement leaves its region
  bool strict = false;           // TENSCRIPT_STRICT_COMPILER: an internal fault is an error
  // The first call of a function is interpreted; kernels are compiled beside the program.
  bool background = false;
  bool trials = true;           // places where the interpreter is faster are found out
  uint32_t verify_percent = 0;  // --verify: so many of 100 calls are interpreted too and compared
  jit::DiskCacheOptions disk_cache;  // no folder: nothing is kept on disk
  jit::CompileOptions jit;       // passes, code generation
};

struct Variant {
  std::string name;
  RegionPlan plan;
  EntryState entry;
  std::unique_ptr<jit::Executable> executable;
  bool valid = true;
  bool running = false;
  bool background = false;  // its kernels, and those of its backward, are compiled beside the program
  uint64_t capture = 0;     // the number of the capture that it, or the one whose code it shares, was made by
  bool shares_code = false; // a rebound plan over the code of another variant
  const CompileSettings* settings = nullptr;
  std::string captured, captured_of;  // in a strict engine: the captured region, and the numbers that came in
  std::string invalidated_by;              // "'scale' of 'Block'"
  const Object* invalidated_in = nullptr;  // where that was stored; may be gone
  uint64_t runs = 0;
};

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
  // The one object for equal settings.
  const CompileSettings* intern_settings(CompileSettings settings);
  jit::Report& report() { return report_; }
  // With all that is being compiled now: what a reader sees does not depend on how fast that is.
  jit::Report& finished_report();
  // The compiled backward of a region whose results left with a history.
  jit::Executable& backward_executable(const std::shared_ptr<jit::SplitBackward>& split,
                                       const CompileSettings& settings, bool background);
  // The engine's options as the settings change them.
  jit::CompileOptions jit_options(const CompileSettings& settings, bool background) const;
  void report_taped_backward(const std::string& region, bool create_graph);
  // Forgets every variant.
  void reset();
  // Events of these kinds are printed as they come.
  Type* region_type() const { return region_type_; }
  void log(std::set<jit::EventKind> kinds) { logged_ = std::move(kinds); }

 private:
  // Whether the interpreter is faster (second_opinion.cpp).
  struct Trial {
    uint32_t runs = 0;  // since the last capture
    bool settled = false, slower = false, running = false;
    double compiled = 0, interpreted = 0;  // the shortest, in microseconds
  };
  struct Site {
    Trial trial;
    std::vector<std::shared_ptr<Variant>> variants;
    CaptureMemory memory;
    size_t last = 0;            // among the variants: where the one that ran last was
    bool hopeless = false;      // nothing can be compiled here
    uint32_t captures = 0;
    bool limit_reported = false;
    size_t held_last = 0;       // variants and objects when abandoned ones were looked for
    std::string last_change;    // what made the variant invalid that went last, and where that was stored
    const Object* last_changed = nullptr;
  };
  // A split that died may leave its address to another one.
  struct CompiledBackward {
    std::weak_ptr<const jit::SplitBackward> of;
    std::unique_ptr<jit::Executable> code;
  };
  struct SiteKey {
    const CodeObject* code;
    uint32_t pc;
    const CompileSettings* settings;
    bool operator==(const SiteKey&) const = default;
  };
  struct SiteHash {
    size_t operator()(const SiteKey& k) const {
      return hash_mix(reinterpret_cast<uint64_t>(k.code), k.pc) ^ reinterpret_cast<uint64_t>(k.settings);
    }
  };
  // A frame that is interpreted until it begins a loop anew.
  struct FirstCall {
    const Frame* frame;
    const CodeObject* code;
    uint32_t pc;  // the farthest so far
    std::chrono::steady_clock::time_point began;
  };
  // A frame that is interpreted up to where a captured region ends (Backend::Eager).
  struct EagerFrame {
    const Frame* frame;
    const CodeObject* code;
    uint32_t until;
  };
  struct WatchEntry {
    Value key;
    std::weak_ptr<Variant> variant;
    uint32_t held = EntryState::kNone;  // the source that is this tensor
  };

  EnterResult enter(Frame& frame, Value& result, bool at_start);
  bool is_blocked() const;
  bool may_capture(const Site& site, const CompileSettings& settings) const;
  // demands.cpp: what the program asks for, and the errors where it does not get it.
  static const CompiledMark* asking_mark(const Frame& frame);
  const CompileSettings* settings_at(const Frame& frame, bool at_start);
  static void begin_disabled(Frame& frame, const CompiledMark& mark);
  bool may_make_variant(const Site& site, const Frame& frame) const;
  void check_limit(const Site& site, const Frame& frame) const;
  void check_captured(const Frame& frame, const CaptureMemory& memory, const CaptureResult& captured) const;
  std::string breaks_text(const Frame& frame, const CaptureMemory& memory) const;
  [[noreturn]] void raise_named(const char* module, const char* name, const std::string& text) const;
  // second_opinion.cpp
  Value run_aside(Frame& frame, bool compiled);
  bool has_second_opinion(const SiteKey& key, Frame& frame, Value* result);
  bool wants_trial(const Site& site, const Frame& frame);
  Value run_trial(const SiteKey& key, Frame& frame);
  void report_slower(const Trial& trial, const Frame& frame);
  bool wants_check();
  std::optional<Value> run_checked(const SiteKey& key, Frame& frame);
  std::optional<Value> run_without_effects(const Site& site, Frame& frame);
  std::string find_culprit(const Frame& frame, const Site& site);
  void report_mismatch(const Frame& frame, const Site& site, const std::string& difference);
  void run_eagerly(const Variant& variant, Frame& frame);
  bool goes_on_eagerly(const Frame& frame);
  bool may_come_later(const Frame& frame) const;
  bool works_in_background(const Frame& frame) const;
  void begin_first_call(Frame& frame);
  bool goes_on_first_call(const Frame& frame);
  bool try_variant(const std::shared_ptr<Variant>& variant, Frame& frame, EnterResult* outcome,
                   Value& result);
  bool fits(Variant& variant, const Frame& frame, EntryOfCall& call);
  bool check_source(const EntrySource& source, const Value& v) const;
  Value fetch(const EntrySource& source, const Frame& frame, const std::vector<Value>& entry) const;
  void take_apart(const Variant& old, const Frame& frame, Site& site) const;
  static bool are_distinct(const RegionPlan& plan, const std::vector<Value>& entry);
  // False: an entry condition failed and nothing happened.
  bool run(const std::shared_ptr<Variant>& variant, Frame& frame, EntryOfCall& call,
           EnterResult* outcome, Value& result);
  void resume(const Variant& variant, const ExitPlan& exit, Frame& frame, Materializer& materializer,
              std::span<const jit::RunValue> live);
  // The tape node of a region's call, when its results need one.
  void prepare_history(const Variant& variant, const ExitPlan& exit, Materializer& materializer,
                       std::span<const jit::RunValue> live, const std::vector<Value>& entry);
  // After the results are built: gradients reach the leaves among them.
  void connect_leaves(const ExitPlan& exit, Materializer& materializer);
  [[noreturn]] void raise_from_region(const Variant& variant, Frame& frame, const jit::RunError& error);
  void place_error(const RegionPlan& plan, Frame& frame, uint32_t origin, ExceptionObject& exception);
  // Starts again as often as `memory` grows; nothing when that does not end.
  std::optional<CaptureResult> capture_region(const Frame& frame, CaptureMemory& memory);
  std::shared_ptr<Variant> make_variant(Frame& frame, Site& site, const CompileSettings& settings);
  std::unique_ptr<jit::Executable> make_executable(const Variant& variant, const Frame& frame, jit::Region region);
  // sharing.cpp: variants for other objects of the same form, over the code of one that there is.
  bool enter_shared(Frame& frame, Site& site, EnterResult* outcome, Value& result);
  std::shared_ptr<Variant> share_variant(const Variant& old, Frame& frame, const Site& site);
  std::string entry_numbers(const RegionPlan& plan, const Frame& frame, const CaptureMemory& memory) const;
  static std::string text_of(const jit::Region& region);
  void check_repeats(const Frame& frame, const CaptureMemory& memory, const CaptureResult& repeated);
  std::string difference_to_capture(const Variant& variant, Frame& frame, const Site& site);
  void add_variant(Site& site, const std::shared_ptr<Variant>& variant);
  void drop_abandoned(Site& site);
  void drop_abandoned(Site& site, const std::unordered_set<Object*>& abandoned);
  std::unordered_set<Object*> abandoned_objects() const;
  void watch(const std::shared_ptr<Variant>& variant);
  void unwatch(const Variant& variant);
  static bool tell_entry(const WatchEntry& entry, Variant& variant, const Value& key);
  void sweep();
  void note_invalid(Variant& variant, Object* holder, const Value& key);
  void remember_dynamic(const Variant& variant, Object* holder, const Value& key);
  // reporting.cpp
  void report_variant(const Variant& variant, const Frame& frame, double capture_ms);
  void report_recompile(const Variant& variant, Site& site, const Frame& frame);
  void report_variant_limit(Site& site, const Frame& frame);
  // recompile_reason.cpp: every fact of an older variant that does not hold now, as text.
  std::string difference(const Variant& old, const Frame& frame) const;
  void report_fallback(const Frame& frame, const std::string& reason);
  void warn(const jit::Event& event);

  // Looked up once: every operand of every call is asked whether it is a tensor.
  TensorState& tensors() const {
    if (!tensors_) tensors_ = &tensor_state(vm_);
    return *tensors_;
  }

  Vm& vm_;
  mutable TensorState* tensors_ = nullptr;
  CompileOptions options_;
  CompileDemands demands_;
  std::vector<std::unique_ptr<const CompileSettings>> settings_;  // all different ones
  std::vector<EagerFrame> eager_frames_;
  jit::Report report_;
  std::unordered_map<SiteKey, Site, SiteHash> sites_;
  std::vector<Local<CodeObject>> codes_;  // keep the keys of sites_ alive
  std::vector<FirstCall> first_calls_;
  std::unordered_map<Object*, std::vector<WatchEntry>> watches_;
  std::unordered_map<const jit::SplitBackward*, CompiledBackward> backwards_;
  mutable uint64_t epoch_ = 0;  // of the overlap test's marks
  bool has_invalid_ = false;  // some variant of some site
  uint64_t captures_ = 0;
  std::set<jit::EventKind> logged_;
  bool checking_ = false;        // a call that is being compared
  uint32_t share_checked_ = 0;   // in percent, since the last one that was compared
  Type* region_type_ = nullptr;  // of what a script's backend gets; made for the first one
  bool fallback_printed_ = false;
  bool disk_warning_printed_ = false;
};

// "train.tsc:17" of an instruction.
std::string place_text(const CodeObject* code, uint32_t pc);

// Module `_compiler`: what torch.compile, torch.compiler and torch._dynamo call.
void register_compiler_module(Vm& vm);

// Installs hooks, watchers and the functions of module `_compiler`.
void install_compiler(Vm& vm, CompileOptions options);
Compiler* compiler_of(Vm& vm);

}  // namespace tsc::interp
