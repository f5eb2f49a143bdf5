// What a program asks of compilation as a whole, and the errors where it does not get it: one region for a function
// (fullgraph), stances, limits, marks on sizes; functions that the compiler is to leave alone, and backends that leave
// running to the interpreter.
#include <algorithm>

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/program/break_finder.h"
#include "interpreter/vm/traceback_text.h"

namespace tsc::interp {

const std::string* refusal_of(const FunctionObject* function) {
  const CompiledMark* mark = mark_of(function);
  return mark && mark->never ? &mark->reason : nullptr;
}

const CompileSettings* Requests::intern_settings(CompileSettings settings) {
  const auto same = [&](const auto& known) {
    return known->backend == settings.backend && known->called.is(settings.called) &&
           known->specialise == settings.specialise && known->only_calls == settings.only_calls &&
           known->disabled == settings.disabled && known->recompile_limit == settings.recompile_limit;
  };
  const auto found = std::find_if(settings_.begin(), settings_.end(), same);
  if (found != settings_.end()) return found->get();
  settings_.push_back(std::make_unique<const CompileSettings>(std::move(settings)));
  return settings_.back().get();
}

jit::CompileOptions Requests::jit_options(const CompileSettings& settings, bool background) const {
  jit::CompileOptions options = options_.jit;
  options.background = background;
  options.disabled.insert(options.disabled.end(), settings.disabled.begin(), settings.disabled.end());
  if (settings.backend == Backend::Unfused) options.disabled.emplace_back("fuse");
  if (settings.backend < Backend::Unfused)
    for (std::string_view pass : jit::pass_names()) options.disabled.emplace_back(pass);
  return options;
}

// ---- whose settings hold ----

// Of the innermost function in progress that is compiled; null: a frame that outlives the one it was made in.
const CompiledMark* Requests::asking_mark(const Frame& frame) {
  for (const Frame* at = &frame; at; at = at->back) {
    const CompiledMark* mark = mark_of(at->function);
    if (mark && !mark->never) return mark;
  }
  return nullptr;
}

namespace {

bool is_call(lang::Op op) {
  return op == lang::Op::Call || op == lang::Op::CallKw || op == lang::Op::CallEx || op == lang::Op::CallMethod ||
         op == lang::Op::CallMethodKw;
}

}  // namespace

// Null: nothing is captured there.
const CompileSettings* Requests::settings_at(const Frame& frame, bool at_start) {
  const CompiledMark* own = mark_of(frame.function);
  if (at_start) return own->settings;
  const bool only_calls = own && own->never;
  if (only_calls && !is_call(frame.code->code->instructions[frame.pc].op)) return nullptr;
  const CompiledMark* asking = asking_mark(frame);
  if (asking && !only_calls) return asking->settings;
  CompileSettings settings = asking ? *asking->settings : CompileSettings();
  settings.only_calls = only_calls;
  return intern_settings(std::move(settings));
}

// torch.compiler.disable(recursive=False): inside a compiled function the calls that it makes are captured.
void Requests::begin_disabled(Frame& frame, const CompiledMark& mark) {
  if (!mark.recursive && asking_mark(frame)) frame.stepping = true;
}

// ---- Backend::Eager ----

// The frame is interpreted to where the region ends, and from there on other regions are looked for.
void RegionRuns::run_eagerly(const Variant& variant, Frame& frame) {
  std::erase_if(eager_frames_, [&](const EagerFrame& one) { return one.frame == &frame; });
  const ExitPlan& exit = variant.plan.exits.back();
  const bool goes_on = exit.form == ExitPlan::Form::Resume;
  if (!goes_on && !frame.stepping) return;
  eager_frames_.push_back({&frame, frame.code, goes_on ? exit.frames[0].pc : ~0u});
  frame.stepping = true;
}

bool RegionRuns::goes_on_eagerly(const Frame& frame) {
  if (eager_frames_.empty()) return false;
  const auto found = std::find_if(eager_frames_.begin(), eager_frames_.end(),
                                  [&](const EagerFrame& one) { return one.frame == &frame && one.code == frame.code; });
  if (found == eager_frames_.end()) return false;
  if (frame.pc == found->until) eager_frames_.erase(found);
  return true;
}

// ---- what is refused ----

void Requests::raise_named(const char* module, const char* name, const std::string& text) const {
  const Local<ModuleObject> found = vm_.import_module(module);
  raise(vm_, cast<Type>(dict_get(vm_, found->globals.get(), name)), text);
}

// A call that no variant fits.
bool Requests::may_make_variant(const Site& site, const Frame& frame) const {
  if (demands_.stance == Stance::EagerOnRecompile) return false;
  const std::string place = "filename: '" + std::string(frame.code->code->file()) + "', function name: '" +
                            frame.code->code->name +
                            "', line number: " + std::to_string(frame.code->code->line_of(frame.pc));
  if (demands_.stance == Stance::FailOnRecompile)
    raise(vm_, vm_.exceptions().RuntimeError,
          "Detected recompile when torch.compile stance is 'fail_on_recompile'. " + place);
  if (demands_.error_on_recompile && site.captures)
    raise_named(
        "torch._dynamo.exc", "RecompileError",
        "Recompiling function " + frame.code->code->name + " in " + place_text(frame.code, frame.pc) + ": " +
            (site.variants.empty() ? site.last_change : entry_checks_.difference(*site.variants.front(), frame)));
  return true;
}

void Requests::check_limit(const Site& site, const Frame& frame) const {
  const CompiledMark* asking = asking_mark(frame);
  const bool whole = asking && asking->fullgraph;
  if (!demands_.fail_on_limit && !whole) return;
  raise_named("torch._dynamo.exc", "FailOnRecompileLimitHit",
              "recompile_limit reached with " +
                  std::string(whole ? "fullgraph=True" : "fail_on_recompile_limit_hit=True") + " at " +
                  place_text(frame.code, frame.pc) + " (" + std::to_string(site.captures) + " variants)");
}

namespace {

const lang::CodeObject* code_of(const RegionPlan& plan, const ExitPlan& exit, size_t depth) {
  if (depth == 0) return &*plan.entry_code->code;
  const Recipe& recipe = exit.frames[depth].function_recipe;
  if (recipe.form == Recipe::Form::Object) return &*exit.materials.objects[recipe.index].code->code;
  return is_kind(recipe.constant, Kind::Function) ? &*cast<FunctionObject>(recipe.constant)->code->code : nullptr;
}

// An exception of the program's own, which nothing in it handles: it is raised as such.
bool raises_out(const RegionPlan& plan, const ExitPlan& exit) {
  if (exit.reason != BreakReason::raises) return false;
  for (size_t depth = 0; depth < exit.frames.size(); ++depth) {
    const lang::CodeObject* code = code_of(plan, exit, depth);
    if (!code || lang::find_handler(*code, exit.frames[depth].pc)) return false;
  }
  return true;
}

// What PyTorch calls it.
std::string title_of(const FoundBreak& found) {
  switch (found.reason) {
    case BreakReason::tensor_branch: return "Data-dependent branching";
    case BreakReason::unknown_number: return "Unsupported Tensor.item() result in a branch or size";
    case BreakReason::raises: return "Observed exception";
    case BreakReason::unknown_call: return "Unsupported function call";
    case BreakReason::instruction: return "Missing bytecode handler";
    case BreakReason::asked:
      return found.detail.rfind("torch._dynamo.graph_break", 0) == 0
                 ? "Call to `torch._dynamo.graph_break()`"
                 : "Skip calling `torch.compiler.disable()`d function";
    default: return "Unsupported operation";
  }
}

std::string text_of_break(const FoundBreak& found) {
  const BreakRow& row = break_row(found.reason);
  std::string text = title_of(found) + "\n  Explanation: " + row.explanation;
  if (!found.detail.empty()) text += " (" + found.detail + ")";
  if (*row.hint) text += "\n  Hint: " + std::string(row.hint);
  text += "\n\nfrom user code:\n";
  for (const TracebackEntry& place : found.places) {
    text += "  File \"" + std::string(place.file()) + "\", line " + std::to_string(place.line()) + ", in " +
            place.name() + "\n    " + place.source_line() + "\n";
    const std::string carets = caret_line(place);
    if (!carets.empty()) text += "    " + carets + "\n";
  }
  return text + "\n";
}

}  // namespace

namespace {

bool handles_exception(const Frame& frame) {
  for (const Frame* at = &frame; at; at = at->back)
    if (!at->handled.is_undefined()) return true;
  return false;
}

// The region is left to take the demand back: error_on_graph_break.__exit__.
bool ends_the_block(const ExitPlan& exit) {
  return exit.reason == BreakReason::unknown_call && exit.detail == "_compiler.demand()";
}

}  // namespace

std::string Requests::breaks_text(const Frame& frame, const CaptureMemory& memory) const {
  const std::vector<FoundBreak> breaks = find_breaks(vm_, frame, memory);
  std::string text;
  for (const FoundBreak& found : breaks) text += text_of_break(found);
  const std::string count = breaks.size() == 1 ? "1 graph break" : std::to_string(breaks.size()) + " graph breaks";
  return text + count + " in " + std::string(frame.function->name->view()) +
         "(), which must be one region (fullgraph=True or error_on_graph_break)";
}

// In a test world every statement leaves its region, whatever the program asks for.
void Requests::check_captured(const Frame& frame, const CaptureMemory& memory, const CaptureResult& captured) const {
  if (!captured.violations.empty()) {
    std::string text = captured.violations.front();
    if (text.rfind("You marked", 0) == 0) text = "Constraints violated! " + text;
    raise_named("torch._dynamo.exc", "ConstraintViolationError", text);
  }
  const CompiledMark* asking = asking_mark(frame);
  const bool whole = asking && asking->fullgraph;
  if (options_.break_everywhere || (!demands_.error_on_graph_break && !whole)) return;
  const ExitPlan& last = captured.plan.exits.back();
  if (last.form != ExitPlan::Form::Resume || raises_out(captured.plan, last)) return;
  // The error that leaves a block with error_on_graph_break is on its way through what is captured.
  if (!whole && ends_the_block(last)) return;
  if (!whole && (captured.empty || last.reason == BreakReason::exception_state || handles_exception(frame))) return;
  raise_named("torch._dynamo.exc", "Unsupported", breaks_text(frame, memory));
}

}  // namespace tsc::interp
