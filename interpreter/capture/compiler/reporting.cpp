// Events of capture: regions, host statements, exits, facts, recompiles, fallbacks.
#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/outside/object_path.h"
#include "jit/autodiff/split.h"
#include "jit/cache/identity.h"

namespace tsc::interp {

std::string place_text(const CodeObject* code, uint32_t pc) {
  return std::string(code->code->file()) + ":" + std::to_string(code->code->line_of(pc));
}

namespace {

// The line of the program that led there: of the library's own lines the one that called it.
uint32_t users_origin(const RegionPlan& plan, uint32_t origin) {
  for (uint32_t at = origin; at; at = plan.origins[at].caller)
    if (plan.origins[at].code && !is_library(plan.origins[at].code.get())) return at;
  return origin;
}

std::string origin_place(const RegionPlan& plan, uint32_t origin) {
  const Origin& place = plan.origins[users_origin(plan, origin)];
  return place.code ? place_text(place.code.get(), place.pc) : std::string();
}

// Where the library does it, when it is not the program's own line.
std::string library_place(const RegionPlan& plan, uint32_t origin) {
  const Origin& place = plan.origins[origin];
  if (users_origin(plan, origin) == origin || !place.code) return "";
  return " in " + place_text(place.code.get(), place.pc);
}

// Where a region begins, or the first line of the program that it holds.
std::string region_place(const RegionPlan& plan, const Frame& frame) {
  if (is_library(frame.code))
    for (const Origin& origin : plan.origins)
      if (origin.code && !is_library(origin.code.get())) return place_text(origin.code.get(), origin.pc);
  return place_text(frame.code, frame.pc);
}

std::string reason_text(BreakReason reason, const std::string& detail) {
  std::string text = break_row(reason).explanation;
  if (!detail.empty()) text += " (" + detail + ")";
  return text;
}

}  // namespace

void CompilerReports::report_exits(const RegionPlan& plan, const std::string& region) {
  for (const ExitPlan& exit : plan.exits) {
    if (exit.form != ExitPlan::Form::Resume) continue;
    jit::Event event;
    event.kind = jit::EventKind::Exit;
    event.region = region;
    event.id = break_row(exit.reason).id;
    event.place = origin_place(plan, exit.origin);
    event.reason = reason_text(exit.reason, exit.detail) + library_place(plan, exit.origin);
    event.hint = break_row(exit.reason).hint;
    report_.add(std::move(event));
  }
}

void CompilerReports::report_variant(const Variant& variant, const Frame& frame, double capture_ms) {
  const RegionPlan& plan = variant.plan;
  jit::Event region;
  region.kind = jit::EventKind::Region;
  region.region = variant.name;
  region.id = "region";
  region.place = region_place(plan, frame);
  region.subject = std::to_string(plan.instructions) + " instructions";
  if (plan.repeats) region.subject += ", " + std::to_string(plan.repeats) + " calls as ones before";
  report_.add(region);
  jit::Event took;
  took.kind = jit::EventKind::CompileTime;
  took.region = variant.name;
  took.id = "capture";
  took.place = region.place;
  took.ms = capture_ms;
  report_.add(std::move(took));
  for (const HostAction& action : plan.actions) {
    // Stores are operations of the region, not statements that the interpreter runs.
    if (action.form != HostAction::Form::Call || action.is_store) continue;
    jit::Event event;
    event.kind = jit::EventKind::HostStatement;
    event.region = variant.name;
    event.id = break_row(action.reason).id;
    event.place = origin_place(plan, action.origin);
    event.reason = break_row(action.reason).explanation + library_place(plan, action.origin);
    event.hint = break_row(action.reason).hint;
    report_.add(std::move(event));
  }
  report_exits(plan, variant.name);
  for (const std::string& fact : plan.facts) {
    jit::Event event;
    event.kind = jit::EventKind::Fact;
    event.region = variant.name;
    event.id = "fact";
    event.subject = fact;
    report_.add(std::move(event));
  }
}

namespace {

std::string path_to(const Frame& frame, const Object* object) {
  const std::string path = object_path(frame, object);
  return path.empty() ? "" : " (" + path + ")";
}

}  // namespace

// Compared with the newest variant of the place, or with the one that a store has made invalid.
void CompilerReports::report_recompile(const Variant& variant, Site& site, const Frame& frame) {
  jit::Event event;
  event.kind = jit::EventKind::Recompile;
  event.region = variant.name;
  event.id = "recompile";
  event.place = region_place(variant.plan, frame);
  event.reason = "variant " + std::to_string(site.captures) + ": ";
  if (!site.last_change.empty())
    event.reason += std::exchange(site.last_change, {}) + path_to(frame, site.last_changed) + " changed";
  else if (!site.variants.empty()) event.reason += entry_checks_.difference(*site.variants.front(), frame);
  else event.reason += "the one before is gone";
  report_.add(std::move(event));
}

// The variants stay in use; what fits none of them is interpreted.
void CompilerReports::report_variant_limit(const Site& site, const Frame& frame) {
  jit::Event event;
  event.kind = jit::EventKind::Exit;
  event.region = frame.code->code->name;
  event.id = break_row(BreakReason::variant_limit).id;
  event.place = place_text(frame.code, frame.pc);
  const std::string last =
      site.variants.empty() ? site.last_change : entry_checks_.difference(*site.variants.front(), frame);
  event.reason = reason_text(BreakReason::variant_limit, std::to_string(site.captures) + " so far; last: " + last);
  event.hint = break_row(BreakReason::variant_limit).hint;
  vm_.write(Stream::Error, "warning: " + event.region + " (" + event.place + "): " + event.reason +
                               "; the interpreter runs this statement where none of the newest fits\n");
  report_.add(std::move(event));
}

// A backward through a compiled call that runs op by op.
void CompilerReports::report_taped_backward(const std::string& region, bool create_graph) {
  jit::Event event;
  event.kind = jit::EventKind::Fallback;
  event.region = region;
  event.id = create_graph ? "create_graph" : "inspected_gradient";
  event.reason = create_graph ? "the gradient of a gradient is recorded: the backward of the call runs op by op"
                              : "a hook, retain_grad or autograd.grad looks at a gradient in the middle of the call: "
                                "its backward runs op by op";
  event.hint = create_graph ? "take both gradients inside the compiled function"
                            : "compile what comes before that tensor and what comes after it as two functions";
  report_.add(std::move(event));
}

void CompilerReports::report_fallback(const Frame& frame, const std::string& reason) {
  report_fault(frame.code->code->name, place_text(frame.code, frame.pc), reason);
}

void CompilerReports::report_fallback(const jit::Region& backward, const std::string& reason) {
  report_fault(backward.name, backward.name, reason);
}

void CompilerReports::report_fault(const std::string& region, const std::string& place, const std::string& reason) {
  jit::Event event;
  event.kind = jit::EventKind::Fallback;
  event.region = region;
  event.id = "internal";
  event.place = place;
  event.reason = reason;
  report_.add(event);
  if (options_.strict)
    raise(vm_, vm_.exceptions().RuntimeError, "internal compiler error at " + event.place + ": " + reason);
  if (fallback_printed_) return;
  fallback_printed_ = true;
  vm_.write(Stream::Error,
            "warning: the compiler failed at " + event.place + "; the interpreter goes on (" + reason + ")\n");
}

// What costs time without changing a result is said once: a compiler that cannot be opened, a kernel that could
// not be compiled, and a disk cache that cannot be used or written.
void CompilerReports::warn(const jit::Event& event) {
  if (logged_.count(event.kind))
    vm_.write(Stream::Error, "[" + std::string(jit::event_kind_name(event.kind)) + "] " + jit::describe(event) + "\n");
  const auto say = [&](bool& said, const std::string& text) {
    if (!std::exchange(said, true)) vm_.write(Stream::Error, "warning: " + text + "\n");
  };
  if (event.kind == jit::EventKind::Fallback && event.id == jit::kNoCompiler && jit::is_built_with_llvm())
    say(fallback_printed_, "nothing is compiled; the interpreter goes on (" + event.reason + ")");
  if (event.kind == jit::EventKind::Fallback && event.id == jit::kKernelFallback)
    say(fallback_printed_,
        "the compiler failed at the " + event.subject + "; the reference kernels go on (" + event.reason + ")");
  if (event.kind == jit::EventKind::CacheProblem && event.id == "disk") say(disk_warning_printed_, event.reason);
}

}  // namespace tsc::interp
