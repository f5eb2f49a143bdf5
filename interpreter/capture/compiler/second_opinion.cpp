// Calls of compiled functions that are run the other way too, by the interpreter: some to find out whether a region is
// worth entering (a function where it is not is interpreted from then on): those are made once, in turns the one way
// and the other. With --verify a share of all is run twice, and the results must have the same bits: only calls without
// effects, whose whole function is one region, so that nobody can tell.
#include <algorithm>
#include <bit>
#include <cstring>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/compiler/device_runs.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/placement.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/stops.h"
#include "jit/runner/kernel_cache.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

constexpr uint32_t kRunsBefore = 24;    // in a row, without another capture
constexpr uint32_t kFewRunsBefore = 4;  // where these take kWarm together
constexpr std::chrono::milliseconds kWarm{20};
constexpr uint32_t kTimedRuns = 16;  // half of them interpreted, beginning with a compiled one; a power of two
// Interpreted calls, until it is tried again: what comes in may be larger by then. Twice as many each time that it is
// not.
constexpr uint32_t kFirstRest = 1000, kLongestRest = 256000;
// Microseconds. Of longer calls a few each way are enough to tell; one beyond the second number would be long to wait
// for.
constexpr double kShort = 1000, kLong = 250000;
// Of the time of a compiled call, what the interpreter must be below: of the shortest ones where the medians do not say
// the contrary (calls differ in what they compute), or of the medians, which see what some calls alone pay for.
constexpr double kSlower = 0.95, kSlowerInMedian = 0.8;
constexpr double kMuchSlower = 2;  // of longer calls: an interpreter that needs so much more is slower
constexpr size_t kFewTimed = 3;    // of longer calls so many each way, where that does not say it

using Clock = std::chrono::steady_clock;

// A call of it returns, and does nothing else that anybody could see.
bool has_no_effect(const RegionPlan& plan) {
  return plan.actions.empty() && plan.written_sources.empty() && plan.graded_sources.empty() && plan.walked.empty() &&
         std::all_of(plan.exits.begin(), plan.exits.end(), [](const ExitPlan& exit) {
           return exit.form == ExitPlan::Form::Miss || exit.form == ExitPlan::Form::Anew ||
                  (exit.form == ExitPlan::Form::Return && exit.stores.empty());
         });
}

bool has_history(const RegionPlan& plan) {
  return std::any_of(plan.exits.begin(), plan.exits.end(),
                     [](const ExitPlan& exit) { return exit.backward != nullptr; });
}

bool same_elements(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
  const Tensor left = run_op(Op::copy, {&a, 1}, {}, {}).first, right = run_op(Op::copy, {&b, 1}, {}, {}).first;
  const size_t bytes = static_cast<size_t>(left.numel()) * dtype_size(left.dtype());
  return bytes == 0 || std::memcmp(left.data(), right.data(), bytes) == 0;
}

double shortest(const std::vector<double>& times) { return *std::min_element(times.begin(), times.end()); }

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

bool interpreter_is_faster(const Trial& trial) {
  const double compiled = median(trial.compiled), interpreted = median(trial.interpreted);
  return interpreted < kSlowerInMedian * compiled ||
         (interpreted < compiled && shortest(trial.interpreted) < kSlower * shortest(trial.compiled));
}

// Whether some longer calls are enough to tell.
bool tells(const Trial& trial) {
  const size_t timed = std::min(trial.compiled.size(), trial.interpreted.size());
  return timed >= kFewTimed || median(trial.interpreted) > kMuchSlower * median(trial.compiled);
}

// Where two results differ, as "[1].loss"; nothing: they are the same, or of a kind that is not looked into.
class Comparison {
 public:
  explicit Comparison(Vm& vm) : vm_(vm), state_(tensor_state(vm)) {}

  std::optional<std::string> difference(const Value& a, const Value& b, int depth = 0) {
    if (TensorObject* left = as_tensor(state_, a)) {
      TensorObject* right = as_tensor(state_, b);
      return right && same_elements(left->tensor, right->tensor) ? std::nullopt : std::optional<std::string>("");
    }
    if (!a.is_object() || !b.is_object()) return same_number(a, b) ? std::nullopt : std::optional<std::string>("");
    if (a.object()->type != b.object()->type) return "";
    if (depth > 8) return std::nullopt;
    if (is_kind(a, Kind::Str) && !str_equal(cast<StrObject>(a), cast<StrObject>(b))) return "";
    if (is_kind(a, Kind::Tuple)) return of_items(cast<TupleObject>(a)->span(), cast<TupleObject>(b)->span(), depth);
    if (is_kind(a, Kind::List)) return of_items(cast<ListObject>(a)->items, cast<ListObject>(b)->items, depth);
    if (is_kind(a, Kind::Dict)) return of_entries(cast<DictObject>(a), cast<DictObject>(b), depth);
    return std::nullopt;
  }

 private:
  static bool same_number(const Value& a, const Value& b) {
    if (!a.is_float() || !b.is_float()) return a.is(b);
    const double left = a.as_float(), right = b.as_float();
    return std::memcmp(&left, &right, sizeof left) == 0;
  }
  std::optional<std::string> of_items(std::span<const Value> a, std::span<const Value> b, int depth) {
    if (a.size() != b.size()) return "";
    for (size_t i = 0; i < a.size(); ++i)
      if (const auto inside = difference(a[i], b[i], depth + 1)) return "[" + std::to_string(i) + "]" + *inside;
    return std::nullopt;
  }
  std::optional<std::string> of_entries(DictObject* a, DictObject* b, int depth) {
    if (a->table.size() != b->table.size()) return "";
    for (uint32_t i = 0; i < a->table.used(); ++i) {
      const Value& key = a->table.entry(i).key;
      if (!is_kind(key, Kind::Str)) continue;
      const std::string name(cast<StrObject>(key)->view());
      const Value other = dict_get(vm_, b, name);
      if (other.is_undefined()) return "['" + name + "']";
      if (const auto inside = difference(a->table.entry(i).value, other, depth + 1))
        return "['" + name + "']" + *inside;
    }
    return std::nullopt;
  }

  Vm& vm_;
  TensorState& state_;
};

}  // namespace

// The call in a frame of its own above `frame`: the interpreter's, or from its first instruction on the compiler's.
Value SecondOpinions::run_aside(Frame& frame, bool compiled) {
  FrameState state;
  state.function = Local<FunctionObject>(frame.function);
  state.registers.assign(frame.registers, frame.registers + frame.register_count);
  Frame* inner = vm_.push_frame(state);
  compiler_.forget_frame(inner);
  runs_.forget_frame(inner);
  inner->on_return = FrameReturn::Leave;
  inner->runs_aside = true;
  inner->stepping = compiled;
  try {
    return run_loop(vm_);
  } catch (const ScriptException& raised) {
    // `frame` adds the place itself, and none of its handlers is asked again.
    auto& places = raised.exception()->traceback;
    if (!places.empty()) {
      frame.pc = places.back().pc;
      places.pop_back();
    }
    frame.skip_handlers = true;
    throw;
  }
}

// Whether the call was run here, for one of the two.
bool SecondOpinions::has_second_opinion(const SiteKey& key, Frame& frame, Value* result) {
  Site& site = sites_.find(key)->second;
  if (site.trial.slower && site.trial.runs > kRunsBefore + kTimedRuns + site.trial.rest)
    site.trial = site.trial.begun_anew(kRunsBefore - 1, site.trial.captures);
  ++site.trial.runs;
  if (wants_trial(site, frame)) {
    *result = run_trial(key, frame);
    return true;
  }
  if (!wants_check()) return false;
  std::optional<Value> checked = run_checked(key, frame);
  if (checked) *result = std::move(*checked);
  return checked.has_value();
}

// ---- is it worth it ----

// Whether what the function computes may leave it with a history: then the time of a call is not all that it costs.
bool SecondOpinions::leaves_history(const CodeObject* code) const {
  const auto has_one = [](const std::shared_ptr<Variant>& variant) { return has_history(variant->plan); };
  return std::any_of(sites_.begin(), sites_.end(), [&](const auto& entry) {
    const auto& variants = entry.second.variants;
    return entry.first.code == code && std::any_of(variants.begin(), variants.end(), has_one);
  });
}

bool SecondOpinions::wants_trial(Site& site, const Frame& frame) {
  Trial& trial = site.trial;
  if (trial.running) return false;
  // With another capture the function is another one, unless captures have become part of its calls.
  if (const uint32_t captures = compiler_.captures_of(frame.code);
      captures != trial.captures && !(trial.captures && compiler_.has_missed_captures(frame.code))) {
    trial = trial.begun_anew(0, captures);
    return false;
  }
  if (trial.runs >= kFewRunsBefore && trial.runs < kRunsBefore && Clock::now() - trial.began > kWarm)
    trial.runs = kRunsBefore;
  if (trial.settled || trial.runs < kRunsBefore || site.last >= site.variants.size()) return false;
  if (vm_.sees_ends()) return false;  // the frame below holds the arguments to the end of the call
  Variant& variant = *site.variants[site.last];
  const CompiledMark& mark = *mark_of(frame.function);
  const bool asks = mark.settings->backend == Backend::Native && !mark.fullgraph &&
                    demands_.stance == Stance::Default && options_.timed && !options_.verify_percent &&
                    !options_.break_everywhere && !compiler_.tensors().profile && variant.valid &&
                    options_.jit.cache->is_idle();
  if (!asks) return false;
  if (trial.runs == kRunsBefore && leaves_history(frame.code)) {
    trial.settled = true;
    return false;
  }
  // A call that is about to be captured says nothing, unless captures have to wait.
  const std::vector<std::shared_ptr<Variant>> variants = site.variants;
  return compiler_.has_missed_captures(frame.code) ||
         std::any_of(variants.begin(), variants.end(), [&](const std::shared_ptr<Variant>& one) {
           EntryOfCall call(one->entry, one->plan);
           return one->valid && entry_checks_.fits(*one, frame, call);
         });
}

// One call, timed; every second one, about, is interpreted.
Value SecondOpinions::run_trial(const SiteKey& key, Frame& frame) {
  struct Running {
    Sites& sites;
    const SiteKey& key;
    Trial* trial() {
      const auto found = sites.find(key);
      return found == sites.end() ? nullptr : &found->second.trial;
    }
    ~Running() {
      if (Trial* now = trial()) now->running = false;
    }
  } running{sites_, key};
  Trial& trial = *running.trial();
  trial.running = true;
  // In the order of Thue and Morse: what every second or fourth call does comes as often the one way as the other.
  const bool compiled = std::popcount(trial.runs - kRunsBefore) % 2 == 0;
  const Clock::time_point began = Clock::now();
  Value result = run_aside(frame, compiled);
  const double took = std::chrono::duration<double, std::micro>(Clock::now() - began).count();
  Trial* now = running.trial();
  if (!now || now->runs < kRunsBefore) return result;  // forgotten, or captured anew
  (compiled ? now->compiled : now->interpreted).push_back(took);
  const bool both = !now->compiled.empty() && !now->interpreted.empty();
  now->settled =
      (took > kShort && both && tells(*now)) || (compiled && took > kLong) || now->runs >= kRunsBefore + kTimedRuns;
  if (!now->settled || !both) return result;
  now->slower = interpreter_is_faster(*now);
  if (!now->slower) return result;
  now->rest = std::clamp(2 * now->rest, kFirstRest, kLongestRest);
  if (!std::exchange(now->reported, true)) report_slower(*now, frame);
  return result;
}

void SecondOpinions::report_slower(const Trial& trial, const Frame& frame) {
  char figures[96];
  std::snprintf(figures, sizeof figures, " (%.2f us compiled, %.2f us interpreted)", median(trial.compiled),
                median(trial.interpreted));
  jit::Event event;
  event.kind = jit::EventKind::Exit;
  event.region = frame.function->name ? std::string(frame.function->name->view()) : frame.code->code->name;
  event.id = break_row(BreakReason::slower).id;
  event.place = place_text(frame.code, frame.pc);
  event.reason = break_row(BreakReason::slower).explanation + std::string(figures);
  event.hint = break_row(BreakReason::slower).hint;
  report_.add(std::move(event));
}

// ---- is it right ----

bool SecondOpinions::wants_check() {
  if (!options_.verify_percent || checking_) return false;
  share_checked_ += options_.verify_percent;
  if (share_checked_ < 100) return false;
  share_checked_ -= 100;
  return true;
}

// The result of the interpreter, which raises its exceptions; nothing where no variant without effects fits: then
// nothing has happened.
std::optional<Value> SecondOpinions::run_checked(const SiteKey& key, Frame& frame) {
  struct Checking {
    bool& flag;
    explicit Checking(bool& f) : flag(f) { flag = true; }
    ~Checking() { flag = false; }
  } checking(checking_);
  jit::RngState& random = rng_of(compiler_.tensors(), place_of_new(vm_, &frame));
  const jit::RngState before = random;
  std::optional<Value> compiled;
  std::string raised_text;
  try {
    compiled = run_without_effects(sites_.find(key)->second, frame);
    if (!compiled) return std::nullopt;
  } catch (const ScriptException& raised) {
    pass_on_stops(vm_, raised);
    raised_text = exception_line(vm_, raised.exception());
  }
  frame.pc = 0;
  frame.skip_handlers = false;
  const jit::RngState after = std::exchange(random, before);
  const Value interpreted = run_aside(frame, false);
  std::optional<std::string> difference;
  if (!compiled) difference = "it raises " + raised_text;
  else if (const auto place = Comparison(vm_).difference(interpreted, *compiled))
    difference = "the result" + *place + " has other bits";
  else if (random.seed != after.seed || random.offset != after.offset) difference = "it draws other random numbers";
  const auto site = sites_.find(key);
  if (!difference || site == sites_.end()) return interpreted;
  site->second.hopeless = true;
  report_mismatch(frame, site->second, *difference);
  return interpreted;
}

std::optional<Value> SecondOpinions::run_without_effects(const Site& site, Frame& frame) {
  const std::vector<std::shared_ptr<Variant>> variants = site.variants;
  for (const std::shared_ptr<Variant>& variant : variants) {
    if (!variant->valid || variant->settings->backend == Backend::Eager || !has_no_effect(variant->plan)) continue;
    EntryOfCall call(variant->entry, variant->plan);
    EnterResult outcome = EnterResult::Interpret;
    Value result;
    if (entry_checks_.fits(*variant, frame, call) && runs_.run(variant, frame, call, &outcome, result) &&
        outcome == EnterResult::Returned)
      return result;
  }
  return std::nullopt;
}

// Which part of the compiler makes the difference: the region without any pass means what was captured.
std::string SecondOpinions::find_culprit(const Frame& frame, const Site& site) {
  if (mark_of(frame.function)->settings->backend == Backend::Called) return "the backend that torch.compile was given";
  CaptureMemory memory = site.memory;
  const std::optional<CaptureResult> captured = compiler_.capture_region(frame, memory);
  if (!captured) return "capture";
  std::vector<Value> entry;
  for (const EntrySource& source : captured->plan.sources) entry.push_back(entry_checks_.fetch(source, frame, entry));
  std::vector<jit::RunInput> inputs;
  for (const auto& [value, source] : captured->plan.inputs) {
    jit::RunInput input;
    if (TensorObject* tensor = as_tensor(compiler_.tensors(), entry[source])) input.tensor = &tensor->tensor;
    else number_of(entry[source], &input.scalar);
    inputs.push_back(input);
  }
  const auto results = [&](const std::vector<std::string_view>& disabled) {
    jit::CompileOptions options = options_.jit;
    options.verify = options.background = false;
    options.disabled.insert(options.disabled.end(), disabled.begin(), disabled.end());
    jit::Report unused;
    jit::RunContext context;
    jit::RngState random = compiler_.tensors().rng;
    context.rng = &random;
    return with_devices(jit::compile(captured->region.clone(), options, unused), captured->plan.place)
        ->run(inputs, context)
        .live;
  };
  const auto same = [](const std::vector<jit::RunValue>& a, const std::vector<jit::RunValue>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const jit::RunValue& x, const jit::RunValue& y) {
      if (x.kind == jit::ValueKind::Tensor) return same_elements(x.tensor, y.tensor);
      return std::memcmp(&x.scalar, &y.scalar, sizeof x.scalar) == 0;
    });
  };
  const std::vector<std::string_view> passes = jit::pass_names();
  const std::vector<jit::RunValue> plain = results(passes);
  if (same(results({}), plain)) return "capture (the region itself gives other bits)";
  for (std::string_view pass : passes)
    if (same(results({pass}), plain)) return "pass '" + std::string(pass) + "' (without it the bits are the same)";
  return "several passes together";
}

void SecondOpinions::report_mismatch(const Frame& frame, const Site& site, const std::string& difference) {
  std::string culprit;
  try {
    culprit = find_culprit(frame, site);
  } catch (const std::exception& failure) {
    culprit = std::string("not found: ") + failure.what();
  }
  jit::Event event;
  event.kind = jit::EventKind::Fallback;
  event.region = frame.function->name ? std::string(frame.function->name->view()) : frame.code->code->name;
  event.id = "verify";
  event.place = place_text(frame.code, frame.pc);
  event.reason = "compiled and interpreted differ: " + difference + "; culprit: " + culprit;
  vm_.write(Stream::Error, "warning: " + event.region + " (" + event.place + "): " + event.reason +
                               "; it is interpreted from now on\n");
  report_.add(std::move(event));
}

}  // namespace tsc::interp
