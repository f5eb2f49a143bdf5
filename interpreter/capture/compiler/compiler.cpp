#include "interpreter/capture/compiler/compiler.h"

#include <algorithm>
#include <exception>
#include <unordered_set>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/compiler/region_host.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/vm/vm_access.h"
#include "jit/autodiff/split.h"
#include "jit/runner/kernel_cache.h"
#include "runtime/device/device.h"

namespace tsc::interp {
namespace {

constexpr uint32_t kStringVariants = 8;

// Whoever asks for another backend wants to see what it does from the first call on.
bool wants_all_now(const CompileSettings& settings) { return settings.backend != Backend::Native; }
constexpr char kCompilerKey = 0;
#ifdef NDEBUG
constexpr bool kVerifyPasses = false;
#else
constexpr bool kVerifyPasses = true;
#endif

}  // namespace

Compiler::Compiler(Vm& vm, CompileOptions options)
    : vm_(vm), options_(std::move(options)),
      parts_{*this,         vm,    options_, demands_, report_,   sites_,  requests_,
             entry_checks_, runs_, watches_, sharing_, opinions_, reports_},
      requests_(parts_), accounts_(options_.timed), entry_checks_(parts_), runs_(parts_), watches_(parts_),
      sharing_(parts_), opinions_(parts_), reports_(parts_) {
  if (!options_.jit.cache) options_.jit.cache = jit::make_kernel_cache(options_.disk_cache, options_.strict);
  options_.jit.verify = options_.strict || kVerifyPasses;
  report_.add_sink([this](const jit::Event& event) { reports_.warn(event); });
}

Compiler::~Compiler() = default;

void Compiler::reset() {
  // Goes when nothing is left of it here: objects die with it, whose __del__ may come back.
  const Sites gone = std::exchange(sites_, {});
  runs_.forget_frames();
  watches_.reset();
  accounts_.reset();
  loop_turns_.reset();
  branches_.reset();
  codes_.clear();
}

bool Compiler::stands_back(const Frame& frame) const {
  return !options_.enabled || demands_.stance == Stance::ForceEager || is_blocked(frame) ||
         (class_of_tensors_changed_ && has_other_operators());
}

void Compiler::forget_frame(const Frame* frame) {
  std::erase_if(first_calls_, [&](const FirstCall& call) { return call.frame == frame; });
  branches_.forget_frame(frame);
}

// ---- entry ----

// Inside vmap, forward mode, anomaly mode and hooks of saved tensors every operation is interpreted, and where new
// tensors have no memory.
bool Compiler::is_blocked(const Frame& frame) const {
  const AutogradState* state = tensors().autograd.get();
  return (state && state->blocks_regions()) || place_of_new(vm_, &frame).is_meta();
}

EnterResult Compiler::enter_function(Vm&, Frame& frame, Value& result) {
  const CompiledMark& mark = *mark_of(frame.function);
  if (stands_back(frame)) return EnterResult::Interpret;
  if (!mark.never) return enter(frame, result, true);
  Requests::begin_disabled(frame, mark);
  return EnterResult::Interpret;
}

EnterResult Compiler::enter_at(Vm&, Frame& frame, Value& result) {
  // The next capture follows the branch.
  if (const std::shared_ptr<Variant> ended = branches_.arrive_at(frame))
    watches_.drop(*ended, "what is known of a branch");
  if (stands_back(frame)) return EnterResult::Interpret;
  if (runs_.goes_on_eagerly(frame) || goes_on_first_call(frame)) return EnterResult::Interpret;
  return enter(frame, result, false);
}

// Who wants to see a stage wants to see it now.
bool Compiler::may_come_later(const Frame& frame) const {
  if (options_.jit.emitted) return false;
  const CompiledMark* mark = mark_of(frame.function);
  return mark ? mark->background.value_or(options_.background) : options_.background;
}

// Whoever gives an engine one thread gets one.
bool Compiler::works_in_background(const Frame& frame) const {
  return current_device().threads.count() > 1 && may_come_later(frame);
}

// The first call is interpreted: its result comes as soon as without a compiler, and what is called once is
// not compiled for nothing. A loop in it is worth compiling from its second turn on; where the call would have to wait
// for that, when it has run so long that the wait makes it no more than a tenth longer.
void Compiler::begin_first_call(Frame& frame) {
  std::erase_if(first_calls_, [&](const FirstCall& call) { return call.frame == &frame; });
  first_calls_.push_back({&frame, frame.code, 0, std::chrono::steady_clock::now()});
  frame.stepping = true;
}

bool Compiler::goes_on_first_call(const Frame& frame) {
  const auto call =
      std::find_if(first_calls_.begin(), first_calls_.end(), [&](const FirstCall& c) { return c.frame == &frame; });
  if (call == first_calls_.end()) return false;
  constexpr std::chrono::seconds kPatience{2};  // ten times what a model's kernels take
  const bool forward = call->code == frame.code && frame.pc >= call->pc;
  const auto is_patient = [&] { return !options_.timed || std::chrono::steady_clock::now() - call->began < kPatience; };
  const bool goes_on = forward || (!works_in_background(frame) && is_patient());
  if (goes_on) call->pc = frame.pc;
  else first_calls_.erase(call);
  return goes_on;
}

jit::Report& Compiler::finished_report() {
  options_.jit.cache->finish(report_);
  return report_;
}

namespace {

// Nothing is left but to leave the frame.
bool is_at_end(const Frame& frame) {
  const lang::Op op = frame.code->code->instructions[frame.pc].op;
  return op == lang::Op::Return || op == lang::Op::ReturnNone;
}

// A region is one step of the history: who looks at the steps wants those of the interpreter.
bool reads_steps(const CodeObject& code) {
  const auto& all = code.code->instructions;
  return std::any_of(all.begin(), all.end(), [&](const lang::Instruction& i) {
    return i.op == lang::Op::LoadAttr && code.code->site_name(i.c) == "grad_fn";
  });
}

}  // namespace

EnterResult Compiler::enter(Frame& frame, Value& result, bool at_start) {
  if (accounts_.rests(frame.code)) [[unlikely]]
    return EnterResult::Interpret;
  if (watches_.has_invalid()) [[unlikely]]
    watches_.sweep();
  if (vm_.sees_ends() && holds_end(frame)) return EnterResult::Interpret;
  const CompileSettings* settings = requests_.settings_at(frame, at_start);
  if (!settings) return EnterResult::Interpret;
  const SiteKey key{frame.code, frame.pc, settings};
  auto found = sites_.find(key);
  if (found == sites_.end()) {
    codes_.push_back(Local<CodeObject>(frame.code));
    found = sites_.try_emplace(key).first;
    const CompiledMark* mark = mark_of(frame.function);
    found->second.hopeless =
        (reads_steps(*frame.code) && !(mark && mark->fullgraph)) || (!at_start && is_at_end(frame));
    // What must be one region is to say so at its first call.
    if (at_start && !mark_of(frame.function)->fullgraph && may_come_later(frame) && !wants_all_now(*settings)) {
      begin_first_call(frame);
      return EnterResult::Interpret;
    }
  }
  if (found->second.hopeless) return EnterResult::Interpret;
  if (at_start && opinions_.has_second_opinion(key, frame, &result)) return EnterResult::Returned;
  if (at_start && found->second.trial.slower && demands_.stance == Stance::Default) return EnterResult::Interpret;
  found = sites_.find(key);
  if (found == sites_.end()) return EnterResult::Interpret;
  EnterResult outcome = EnterResult::Interpret;
  // From the one that ran last: calls come again, and what comes after one of many layers is in front of it.
  size_t at = found->second.last;
  for (size_t left = found->second.variants.size(); left > 0; --left) {
    const std::vector<std::shared_ptr<Variant>>& variants = found->second.variants;
    if (variants.empty()) break;
    at = std::min(at, variants.size() - 1);
    const std::shared_ptr<Variant> variant = variants[at];
    found->second.last = at;
    if (variant->valid && try_variant(variant, frame, &outcome, result)) {
      accounts_.fitted(key.code);
      return outcome;
    }
    // The map may have grown while the region ran.
    found = sites_.find(key);
    at = at == 0 ? found->second.variants.size() - 1 : at - 1;
  }
  if (sharing_.enter_shared(frame, found->second, &outcome, result)) return outcome;
  if (!requests_.may_make_variant(sites_.find(key)->second, frame)) return EnterResult::Interpret;
  std::shared_ptr<Variant> variant = make_variant(frame, sites_.find(key)->second, *settings);
  found = sites_.find(key);  // a backend of the script's may have called reset()
  if (!variant || found == sites_.end()) return EnterResult::Interpret;
  sharing_.add_variant(found->second, variant);
  if (try_variant(variant, frame, &outcome, result)) return outcome;
  return EnterResult::Interpret;
}

bool Compiler::try_variant(const std::shared_ptr<Variant>& variant, Frame& frame, EnterResult* outcome, Value& result) {
  EntryOfCall call(variant->entry, variant->plan);
  if (!entry_checks_.fits(*variant, frame, call)) return false;
  if (variant->settings->backend != Backend::Eager) return runs_.run(variant, frame, call, outcome, result);
  runs_.run_eagerly(*variant, frame);
  *outcome = EnterResult::Interpret;
  return true;
}

// ---- capture ----

namespace {

// Whether the one may come in place of the other where only what they are made of counts.
bool have_one_structure(const Value& old, const Value& now) {
  if (!old.is_object() || !now.is_object() || old.object()->type != now.object()->type) return false;
  if (is_kind(now, Kind::Function))
    return cast<FunctionObject>(old)->code.get() == cast<FunctionObject>(now)->code.get();
  return may_be_handed_on(now);
}

}  // namespace

// An object in whose place another one of its structure has come is no fact any more; nor is a string when
// there have been many. True: nothing else differs from the call that the variant was made for.
bool EntryChecks::take_apart(const Variant& old, const Frame& frame, Site& site) const {
  if (!old.plan.is_for(tensor_state(vm_).modes)) return false;
  if (old.plan.function.get() && old.plan.function.get() != frame.function) site.memory.any_closure = true;
  const std::vector<EntrySource>& sources = old.plan.sources;
  std::vector<Value> entry;
  for (const EntrySource& source : sources) {
    entry.push_back(fetch(source, frame, entry));
    const Value& now = entry.back();
    if (source.check == EntrySource::Check::Alias && !now.is(entry[source.length]) && as_tensor(tensor_state(vm_), now))
      site.memory.separate.insert(source_place(sources, source));
    if (check_source(source, now)) continue;
    const bool strings = source.check == EntrySource::Check::Same && is_kind(now, Kind::Str) &&
                         is_kind(source.expected, Kind::Str) && now.object()->type == vm_.types().str;
    if (strings) {
      if (site.captures >= kStringVariants) site.memory.text.insert(source_place(sources, source));
      continue;
    }
    if (source.check == EntrySource::Check::Tuple && frame.pc != 0 && now.is_object() &&
        now.object()->type == vm_.types().tuple)
      site.hopeless |= site.memory.is_of_many_lengths(source_place(sources, source), cast<TupleObject>(now)->size);
    if (source.check == EntrySource::Check::List && is_kind(now, Kind::List))
      site.memory.another_length(source_place(sources, source), cast<ListObject>(now)->items.size());
    if (source.check != EntrySource::Check::Same || !have_one_structure(source.expected, now)) return false;
    const std::string place = source_place(sources, source);
    const bool plain = is_kind(now, Kind::Function) && is_plain_function(*cast<FunctionObject>(now));
    if (!is_kind(now, Kind::Instance) && !plain)
      site.memory.another_whole(place,
                                [&] { return sharing_.abandoned_objects().count(source.expected.object()) != 0; });
    site.memory.apart.insert(place);
  }
  return true;
}

// Of calls that take turns, some variant was made for one like this.
void EntryChecks::take_apart(const Frame& frame, Site& site) const {
  const std::shared_ptr<Variant> changed = std::exchange(site.changed, nullptr);
  for (const std::shared_ptr<Variant>& old : site.variants)
    if (take_apart(*old, frame, site)) return;
  if (changed) take_apart(*changed, frame, site);
}

std::optional<CaptureResult> Compiler::capture_region(const Frame& frame, CaptureMemory& memory) {
  memory.breaks_everywhere = options_.break_everywhere;
  for (int attempt = 0; attempt < 64; ++attempt) {
    try {
      Capture capture(vm_, frame, memory);
      CaptureResult result = capture.run();
      if (options_.strict && result.plan.repeats) sharing_.check_repeats(frame, memory, result);
      return result;
    } catch (const CaptureRestart&) {
    } catch (const BreakHere&) {  // of what a container holds that the region begins with
      return std::nullopt;
    } catch (const Error& error) {
      // The gradient of a loop that was thought to have one when it was closed: its turns are followed.
      const bool is_of_loop = error.kind() == ErrorKind::NotImplementedError && !memory.follows_loops;
      if (!is_of_loop || options_.strict) throw;
      memory.follows_loops = true;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> Compiler::captures_of_a_place(const CompileSettings& settings) const {
  return settings.recompile_limit ? settings.recompile_limit : demands_.recompile_limit;
}

// Within what the program has said a place may have, or else with what its function has left.
bool Compiler::may_capture(const Site& site, const CodeObject* code, const CompileSettings& settings) const {
  const std::optional<uint32_t> limit = captures_of_a_place(settings);
  return limit ? site.captures < *limit : accounts_.may_capture(code);
}

void Compiler::refuse_capture(Frame& frame, Site& site, const CompileSettings& settings) {
  requests_.check_limit(site, frame);
  const bool of_place = captures_of_a_place(settings).has_value();
  const bool first = of_place ? !std::exchange(site.limit_reported, true) : accounts_.missed(frame.code);
  if (first) reports_.report_variant_limit(site, frame);
  frame.stepping |= !of_place;  // what comes behind this statement may have a variant
}

CaptureMemory Compiler::take_memory(const Frame& frame, Site& site, const CompileSettings& settings) const {
  CaptureMemory memory = std::move(site.memory);
  memory.specialises = settings.specialise;
  memory.only_call = settings.only_calls;
  // A backend of the script's gets a region without questions in its middle.
  const bool is_called = settings.backend == Backend::Called || settings.backend == Backend::Eager;
  memory.branches = is_called ? nullptr : &branches_;
  memory.lacks_memory = runs_.lacked_memory(frame.code);
  const CompiledMark* mark = mark_of(frame.function);
  const bool follows_whole_loops = settings.specialise || demands_.error_on_graph_break || (mark && mark->fullgraph);
  // What a function that leaves its loops turn by turn has refused says nothing of one that may not.
  if (follows_whole_loops && !memory.varied.empty()) memory.refused.clear();
  memory.follows_whole_loops = follows_whole_loops;
  memory.varied = follows_whole_loops ? std::vector<LoopPlace>() : loop_turns_.varied();
  return memory;
}

std::shared_ptr<Variant> Compiler::make_variant(Frame& frame, Site& site, const CompileSettings& settings) {
  if (!may_capture(site, frame.code, settings)) {
    refuse_capture(frame, site, settings);
    return nullptr;
  }
  ++site.captures;
  entry_checks_.take_apart(frame, site);
  if (site.hopeless) return nullptr;
  const SiteKey key{frame.code, frame.pc, &settings};
  CaptureMemory memory = take_memory(frame, site, settings);
  const auto began = std::chrono::steady_clock::now();
  std::optional<CaptureResult> captured;
  try {
    captured = capture_region(frame, memory);
  } catch (const InternalFault& fault) {
    reports_.report_fallback(frame, fault.what());
  }
  Site& again = sites_.find(key)->second;
  again.memory = std::move(memory);
  if (captured) loop_turns_.captured(frame.code, captured->loops);
  if (captured) requests_.check_captured(frame, again.memory, *captured);
  if (!captured || captured->empty) {
    // A function that has no region because tensors of two devices meet in its first statement says so.
    if (captured && frame.pc == 0 && captured->plan.exits.back().reason == BreakReason::two_devices)
      reports_.report_exits(captured->plan, captured->region.name);
    again.hopeless = true;
    return nullptr;
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  auto variant = std::make_shared<Variant>();
  variant->settings = &settings;
  variant->name = captured->region.name;
  variant->plan = std::move(captured->plan);
  if (!frame.code->code->free_names.empty() && !again.memory.any_closure)
    variant->plan.function = Local<FunctionObject>(frame.function);
  if (again.captures > 1) reports_.report_recompile(*variant, again, frame);
  reports_.report_variant(*variant, frame, took.count());
  variant->capture = ++captures_;
  if (options_.strict) {
    variant->captured = VariantSharing::text_of(captured->region);
    variant->captured_of = sharing_.entry_numbers(variant->plan, frame, again.memory);
  }
  try {
    variant->background = works_in_background(frame);
    variant->executable = runs_.make_executable(*variant, frame, std::move(captured->region));
  } catch (const InternalFault& fault) {
    reports_.report_fallback(frame, fault.what());
    again.hopeless = true;
    return nullptr;
  }
  variant->entry.build(variant->plan);
  // What lies on a device is opened for each run, and bound then.
  if (!variant->plan.place || variant->plan.place->is_host()) variant->executable->hold(variant->entry.held_inputs());
  watches_.watch(variant);
  accounts_.captured(frame.code, std::chrono::steady_clock::now() - began);
  if (options_.jit.emitted && options_.jit.emit == "backward")
    for (const ExitPlan& exit : variant->plan.exits)
      if (exit.backward && !exit.history_freed) *options_.jit.emitted += jit::print(exit.backward->backward) + "\n";
  return variant;
}

// ---- running ----

namespace {

// "train_step, line 12": the function and where the region begins in it.
std::string region_name(const RegionPlan& plan) {
  const lang::CodeObject& code = *plan.entry_code->code;
  return std::string(code.name) + ", line " + std::to_string(code.line_of(plan.entry_pc));
}

// Whether a handler in the frames that the region runs would take what an operation raises there.
bool is_protected(const RegionPlan& plan, uint32_t origin) {
  for (; origin; origin = plan.origins[origin].caller) {
    const Origin& place = plan.origins[origin];
    if (!place.skips_handlers && lang::find_handler(*place.code->code, place.pc)) return true;
  }
  return false;
}

struct RunningScope {
  Variant& variant;
  explicit RunningScope(Variant& v) : variant(v) { variant.running = true; }
  ~RunningScope() { variant.running = false; }
};

void fill_inputs(const Variant& variant, const std::vector<Value>& entry, std::vector<jit::RunInput>& inputs) {
  for (uint32_t i : variant.entry.open_inputs()) {
    const uint32_t source = variant.plan.inputs[i].second;
    const Value& v = entry[source];
    if (variant.plan.sources[source].check == EntrySource::Check::Tensor)
      inputs[i].tensor = &cast<TensorObject>(v)->tensor;
    else number_of(v, &inputs[i].scalar);
  }
}

}  // namespace

bool RegionRuns::run(const std::shared_ptr<Variant>& variant, Frame& frame, EntryOfCall& call, EnterResult* outcome,
                     Value& result) {
  const RegionPlan& plan = variant->plan;
  *outcome = EnterResult::Interpret;
  if (VmAccess::depth(vm_) + plan.deepest >
      vm_.config().recursion_limit) {  // the interpreter finds the call that is one too many
    return true;
  }
  TensorState& state = compiler_.tensors();
  const std::vector<Value>& entry = call.values();
  std::vector<jit::RunInput>& inputs = call.inputs();
  fill_inputs(*variant, entry, inputs);
  Materializer materializer(vm_, entry, plan.object_count);
  RegionHost host(vm_, *variant, materializer);
  jit::RunContext context;
  context.host = &host;
  jit::RngState& rng = rng_of(state, plan.place.value_or(Place()));
  context.rng = &rng;
  const jit::RngState random = rng;
  std::optional<jit::RunExit> exit;
  {
    RunningScope running(*variant);
    const std::string name = state.profile ? region_name(plan) : std::string();
    const ProfileScope event(state.profile, name, Profile::Kind::Region);
    try {
      exit = variant->executable->run(inputs, context);
    } catch (const jit::RunError& error) {
      if (!raises_in_interpreter(plan, host, error.origin)) raise_from_region(*variant, frame, error);
      rng = random;
      return true;
    } catch (const ScriptException& raised) {
      if (host.origin()) place_error(plan, frame, host.origin(), *raised.exception());
      throw;
    }
  }
  ++variant->runs;
  const ExitPlan& leaving = plan.exits[exit->id];
  if (leaving.form == ExitPlan::Form::Miss) return false;
  if (leaving.form == ExitPlan::Form::Anew) {
    rng = random;
    give_up(*variant, leaving, frame);
    return true;
  }
  state.modes = leaving.modes;
  materializer.count_writes(leaving.materials, exit->live);
  if (leaving.backward) prepare_history(*variant, leaving, materializer, exit->live, entry);
  make_stores(leaving, materializer, exit->live);
  if (leaving.form == ExitPlan::Form::Return) {
    result = materializer.build(leaving.result, leaving.materials, exit->live);
    connect_leaves(leaving, materializer);
    *outcome = EnterResult::Returned;
    return true;
  }
  resume(leaving, frame, materializer, exit->live);
  const bool waits = leaving.reason == BreakReason::tensor_branch || leaving.reason == BreakReason::unknown_number;
  if (waits && !plan.lacks_guess) compiler_.branches().leave_at(*vm_.current_frame(), variant);
  *outcome = EnterResult::Resume;
  return true;
}

// A guess was wrong: nothing has happened, and the interpreter goes on from the entry.
void RegionRuns::give_up(Variant& variant, const ExitPlan& exit, Frame& frame) {
  if (compiler_.branches().was_wrong(exit.branch.code.get(), exit.branch.pc, variant.runs, exit.branch.is_turn))
    watches_.drop(variant, "what is known of a branch");
  run_eagerly(variant, frame);
}

void RegionRuns::make_stores(const ExitPlan& exit, Materializer& materializer, std::span<const jit::RunValue> live) {
  for (const HostAction& store : exit.stores) {
    std::vector<Value> values;
    for (const Recipe& recipe : store.values) values.push_back(materializer.build(recipe, exit.materials, live));
    perform(vm_, store, values);
  }
}

void RegionRuns::resume(const ExitPlan& exit, Frame& frame, Materializer& materializer,
                        std::span<const jit::RunValue> live) {
  // Everything is built before the first frame changes: building may raise.
  std::vector<FrameState> states;
  for (const ExitFrame& plan : exit.frames) {
    FrameState state;
    state.pc = plan.pc;
    if (&plan != &exit.frames[0]) {
      Value function = materializer.build(plan.function_recipe, exit.materials, live);
      state.function = Local<FunctionObject>(cast<FunctionObject>(function));
      state.extra = materializer.build(plan.constructed, exit.materials, live);
      state.on_return = state.extra            ? FrameReturn::Construct
                        : plan.discards_result ? FrameReturn::Ignore
                                               : FrameReturn::Store;
    }
    for (const auto& [reg, recipe] : plan.registers) {
      if (state.registers.size() <= reg) state.registers.resize(reg + 1);
      state.registers[reg] = materializer.build(recipe, exit.materials, live);
    }
    states.push_back(std::move(state));
  }
  connect_leaves(exit, materializer);
  states[0].registers.resize(frame.register_count);
  frame.pc = states[0].pc;
  // A variable that nothing reads again keeps what it holds to the end of its function, where the program may see it
  // die.
  const lang::CodeObject& code = *frame.code->code;
  const size_t kept = vm_.sees_ends() ? code.register_names.size() : 0;
  const lang::RegisterSet& needed = lang::live_registers(code, frame.pc);
  for (uint32_t reg = 0; reg < frame.register_count; ++reg) {
    if (reg < kept && !needed.contains(reg) && states[0].registers[reg].is_undefined()) continue;
    frame.registers[reg] = std::move(states[0].registers[reg]);
  }
  frame.stepping = true;
  for (size_t i = 1; i < states.size(); ++i) vm_.push_frame(states[i])->stepping = true;
  vm_.current_frame()->skip_step = true;
}

void RegionRuns::raise_from_region(const Variant& variant, Frame& frame, const jit::RunError& error) {
  Type* type = vm_.exceptions().RuntimeError;
  std::string name(error_kind_name(error.error.kind()));
  Value found = dict_get(vm_, vm_.builtins()->globals.get(), name);
  if (found && is_kind(found, Kind::Type)) type = cast<Type>(found);
  if (error.error.kind() == ErrorKind::LimitError) type = vm_.exceptions().LimitError;
  if (error.error.kind() == ErrorKind::DeviceMemoryError) type = vm_.exceptions().OutOfMemoryError;
  Heap::Exempt exempt(vm_.heap());
  Local<ExceptionObject> exception = make_exception(vm_, type, error.error.message());
  exception->is_limit = error.error.kind() == ErrorKind::LimitError;
  place_error(variant.plan, frame, error.origin, *exception);
  // Unforeseen, after an effect: the frame's registers are those of the entry.
  if (is_protected(variant.plan, error.origin)) frame.skip_handlers = true;
  throw ScriptException(exception);
}

// Where the handler may be in these frames, which have no registers then.
bool RegionRuns::raises_in_interpreter(const RegionPlan& plan, const RegionHost& host, uint32_t origin) {
  if (plan.run_again || plan.starts_again.count(origin)) return true;
  if (!is_protected(plan, origin)) return false;
  note_lack(plan, origin);
  return !host.performed() && plan.written_sources.empty();
}

// Capture takes memory to be there. Where it was not, inside try or with, regions of these functions are captured anew.
void RegionRuns::note_lack(const RegionPlan& plan, uint32_t origin) {
  for (; origin; origin = plan.origins[origin].caller) {
    const Local<CodeObject>& code = plan.origins[origin].code;
    if (lacked_memory(code.get())) continue;
    lacked_memory_.push_back(code);
    for (auto& [key, site] : sites_)
      for (const std::shared_ptr<Variant>& variant : site.variants)
        if (key.code == code.get()) watches_.drop(*variant, "memory that was not there");
  }
}

bool RegionRuns::lacked_memory(const CodeObject* code) const {
  const auto is_it = [&](const Local<CodeObject>& one) { return one.get() == code; };
  return std::any_of(lacked_memory_.begin(), lacked_memory_.end(), is_it);
}

// The frames that the region has none of, the line of the one that it runs in, and the modes.
void RegionRuns::place_error(const RegionPlan& plan, Frame& frame, uint32_t origin, ExceptionObject& exception) {
  if (origin) compiler_.tensors().modes = plan.origins[origin].modes;
  std::vector<uint32_t> chain;
  for (; origin; origin = plan.origins[origin].caller) chain.push_back(origin);
  for (size_t i = 0; i + 1 < chain.size(); ++i)
    exception.traceback.push_back({plan.origins[chain[i]].code->code, plan.origins[chain[i]].pc});
  if (chain.empty()) return;
  frame.pc = plan.origins[chain.back()].pc;
  frame.skip_handlers = plan.origins[chain.back()].skips_handlers;
}

Compiler* compiler_of(Vm& vm) { return static_cast<Compiler*>(vm.extension(&kCompilerKey).get()); }

void install_compiler(Vm& vm, CompileOptions options) {
  auto compiler = std::make_shared<Compiler>(vm, std::move(options));
  vm.extension(&kCompilerKey) = compiler;
  vm.set_hooks(compiler.get());
  vm.set_watchers(compiler.get());
  register_compiler_module(vm);
}

}  // namespace tsc::interp
