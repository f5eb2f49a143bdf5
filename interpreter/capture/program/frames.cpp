#include "interpreter/capture/program/frames.h"

#include "interpreter/capture/capture.h"
#include "interpreter/capture/exits/exits.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/program/call_record.h"
#include "interpreter/capture/program/forks.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/program/while_loops.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/written/writes.h"
#include "interpreter/modules/partial.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/inspect.h"
#include "interpreter/vm/stops.h"
#include "jit/region/scalar_eval.h"

namespace tsc::interp {
namespace {

// A region beyond this is cut; the interpreter goes on and may enter a next region.
constexpr size_t kMaxRegionValues = 60000;
constexpr uint32_t kMaxSteps = 2000000;

}  // namespace

// Something that was found in a turn that stood for many, or on one way of a branch, is used behind it.
void CaptureBuilder::value_is_gone() { capture_.rolled().follow_all(); }

uint32_t CaptureBuilder::find_origin() { return capture_.frames().origin_at(capture_.frames().step_pc()); }

void Frames::enter_frame(const Frame& frame) {
  set_grad_enabled_ = modes_.grad_enabled;
  AFrame entered;
  entered.code = Local<CodeObject>(frame.code);
  entered.module = frame.function->module;
  entered.host_function = Local<FunctionObject>(frame.function);
  entered.pc = frame.pc;
  plan_.entry_code = entered.code;
  plan_.entry_pc = frame.pc;
  entered.registers.resize(frame.register_count);
  region_.name = frame.function->name ? std::string(frame.function->name->view()) : "region";
  stack_.push_back(std::move(entered));
  for (uint32_t index = 0; index < frame.function->closure.size(); ++index) {
    const Value cell = frame.function->closure[index].value();
    EntrySource source;
    source.form = EntrySource::Form::Closure;
    source.index = index;
    stack_[0].closure.push_back(memory_.any_closure ? inputs_.load_value(cell, std::move(source)) : Av::constant(cell));
  }
  const lang::RegisterSet& live = lang::live_registers(*frame.code->code, frame.pc);
  const size_t shown = shows_variables(*frame.code->code) ? frame.code->code->register_names.size() : 0;
  const size_t device = device_parameter(frame.code), parameters = frame.code->code->parameters.count();
  for (uint32_t reg = 0; reg < frame.register_count; ++reg) {
    const Value& v = frame.registers[reg];
    const bool is_device = reg == device && device < parameters;
    if (!live.contains(reg) && reg >= shown && !is_device && !is_kind(v, Kind::Generator)) continue;
    if (v.is_undefined() && (frame.pc == 0 || reg >= frame.code->code->register_names.size())) continue;
    EntrySource source;
    source.form = EntrySource::Form::Register;
    source.index = reg;
    stack_[0].registers[reg] = inputs_.load_value(v, std::move(source));
  }
  if (vm_.sees_ends()) note_held(frame);
}

// A variable that is not read any more holds anything, and so does what a call left, for its next instructions or to be
// cleared.
void Frames::note_held(const Frame& frame) {
  const lang::CodeObject& code = *frame.code->code;
  const lang::RegisterSet& live = lang::live_registers(code, frame.pc);
  held_at_entry_.resize(frame.register_count);
  for (uint32_t reg = 0; reg < frame.register_count; ++reg) {
    if (frame.pc == 0 && reg >= code.parameters.count()) continue;
    const Value& v = frame.registers[reg];
    // What it is is known of every entry.
    const bool is_known =
        live.contains(reg) && (!v.is_object() || is_kind(v, Kind::Str) || as_tensor(tensor_state_, v));
    held_at_entry_[reg] = !is_known && (reg < code.register_names.size() || !v.is_undefined());
  }
}

// In front of the instruction, so that what it does is not done yet.
void Frames::check_held(const lang::Instruction& instruction) const {
  for (uint32_t reg : lang::register_use(*stack_[0].code->code, instruction).writes)
    if (held_at_entry_[reg])
      break_here(BreakReason::escape, "a variable lets go of an object while the program sees objects die");
}

void Frames::run_to_the_end() {
  while (!done_) {
    try {
      step();
    } catch (const BreakHere& reason) {
      leave_or_refuse(reason);
    } catch (const Error& error) {
      leave_or_refuse({BreakReason::raises, error.message()});
    } catch (const ScriptException& raised) {
      pass_on_stops(vm_, raised);
      leave_or_refuse({BreakReason::raises, exception_line(vm_, raised.exception())});
    }
  }
}

void Frames::step() {
  forks_.check_place();
  rolled_.check_place();
  whiles_.check_place();
  AFrame& frame = stack_.back();
  const lang::Instruction& instruction = frame.code->code->instructions[frame.pc];
  const uint32_t pc = frame.pc;
  step_pc_ = pc;
  builder_.origin = jit::RegionBuilder::kAskOrigin;  // most instructions append nothing
  if (++steps_ > kMaxSteps || region_.value_count() > kMaxRegionValues) break_here(BreakReason::too_large);
  if (memory_.breaks_everywhere && plan_.instructions && stack_.size() == 1 && begins_statement(frame))
    break_here(BreakReason::instruction, "every statement breaks");
  if (memory_.only_call && plan_.instructions && stack_.size() == 1)
    break_here(BreakReason::asked, "torch.compiler.disable(recursive=False)");
  if (const CaptureMemory::Refusal* refusal = memory_.refusal(frame.code.get(), pc))
    break_here(refusal->reason, refusal->detail);
  if (stack_.size() == 1 && !held_at_entry_.empty()) check_held(instruction);
  check_dropped(instruction);
  advanced_ = put_back_ = false;
  size_t depth = stack_.size();
  step_handler(instruction.op)(capture_, instruction);
  ++plan_.instructions;
  // Handlers that jump set pc themselves and leave it at the target; calls push a frame.
  if (!done_ && !put_back_ && stack_.size() == depth && stack_.back().pc == pc) ++stack_.back().pc;
}

AFrame& program_frame(Frames& frames) {
  size_t at = frames.frame_count() - 1;
  while (at > 0 && is_library(frames.frame_at(at).code.get())) --at;
  return frames.frame_at(at);
}

bool is_tracked(const AFrame& frame, uint32_t reg) {
  const lang::CodeObject& code = *frame.code->code;
  return lang::live_registers(code, frame.pc).contains(reg) ||
         (shows_variables(code) && reg < code.register_names.size()) ||
         (reg < code.parameters.count() && reg == device_parameter(frame.code.get()));
}

bool Frames::begins_statement(const AFrame& frame) const {
  int32_t index = lang::statement_at(*frame.code->code, frame.pc);
  return index >= 0 && frame.code->code->statements[static_cast<size_t>(index)].begin == frame.pc;
}

bool Frames::has_room_for(size_t instructions, uint32_t steps) const {
  return region_.value_count() + instructions <= kMaxRegionValues && steps_ + steps <= kMaxSteps;
}

const Av& Frames::read(uint16_t reg) {
  const Av& av = frame().registers[reg];
  if (av.is_undefined()) break_here(BreakReason::unknown_object, "unbound variable");
  return av;
}

namespace {

[[noreturn]] void break_at_dropped() {
  break_here(BreakReason::instruction, "a generator from outside is dropped, which runs its handlers");
}

}  // namespace

// In front of the instruction: once it has done something the region cannot end there.
void Frames::check_dropped(const lang::Instruction& instruction) {
  const lang::OpInfo& info = lang::op_info(instruction.op);
  const std::vector<Av>& registers = frame().registers;
  const std::pair<lang::OperandKind, uint32_t> operands[] = {
      {info.a, instruction.a}, {info.b, instruction.b}, {info.c, instruction.c}};
  for (const auto& [kind, first] : operands) {
    const bool is_one = kind == lang::OperandKind::Dst || kind == lang::OperandKind::Upd;
    const uint32_t count = is_one ? 1 : kind == lang::OperandKind::Out ? lang::out_count(instruction) : 0;
    for (uint32_t reg = first; reg < first + count; ++reg)
      if (is_generator_from_outside(registers[reg])) break_at_dropped();
  }
}

void Frames::write(uint16_t reg, Av value) {
  if (reg == kNestedDestination) {
    nested_result_ = std::move(value);
    return;
  }
  Av& place = frame().registers[reg];
  if (is_generator_from_outside(place)) break_at_dropped();
  place = std::move(value);
}

uint32_t Frames::origin_at(uint32_t pc) {
  AFrame& frame = stack_.back();
  if (origin_pc_ == pc && origin_depth_ == stack_.size() && origin_ &&
      plan_.origins[origin_].code.get() == frame.code.get() && plan_.origins[origin_].caller == frame.call_origin)
    return origin_;
  Origin origin;
  origin.caller = frame.call_origin;
  origin.code = frame.code;
  origin.pc = pc;
  origin.skips_handlers = stack_.size() == 1 && lang::find_handler(*frame.code->code, pc) && !is_protected();
  origin.modes = modes_after_raise();
  plan_.origins.push_back(std::move(origin));
  origin_ = static_cast<uint32_t>(plan_.origins.size() - 1);
  origin_pc_ = pc;
  origin_depth_ = stack_.size();
  return origin_;
}

void Frames::return_from(const Av& result) {
  AFrame finished = std::move(stack_.back());
  stack_.pop_back();
  origin_pc_ = ~0u;
  if (finished.seen) repeats_.end_call(finished, result);
  if (finished.generator) {
    nested_result_ = Av();
    return;
  }
  if (!finished.constructed.is_undefined()) write(finished.destination, finished.constructed);
  else if (!finished.discard_result) write(finished.destination, result);
  if (finished.destination != kNestedDestination) ++stack_.back().pc;
}

void Frames::leave_with_return(const Av& given) {
  Av result = given;
  whiles_.will_return();
  if (!forks_.take_return(&result)) {
    put_back_ = true;
    return;
  }
  if (!frame().constructed.is_undefined() && !result.is_none())
    break_here(BreakReason::raises, "TypeError: __init__()");
  if (stack_.size() > 1) return return_from(result);
  builder_.origin = current_origin();
  writes_.flush_leaving();
  exits_.leave_returning(result);
  done_ = true;
}

// Why a branch is no If.
static std::string on_one_way(const lang::CodeObject& code, uint32_t pc, const BreakHere& reason) {
  std::string text = "in line " + std::to_string(code.line_of(pc)) + " of " + code.name + ", on one of its ways, ";
  text += break_row(reason.reason).explanation;
  return reason.detail.empty() ? text : text + ": " + reason.detail;
}

// An instruction that took items from an iterator cannot be left as if it had not begun.
void Frames::leave_or_refuse(const BreakHere& reason) {
  if (builder_.open_blocks() != 0) {
    const std::string why = on_one_way(*frame().code->code, frame().pc, reason);
    whiles_.abandon(why);
    if (forks_.is_open()) forks_.abandon(why);
  }
  rolled_.leave_out();
  if (reason.reason == BreakReason::unknown_number) rolled_.number_is_missing();
  if (advanced_) refuse(frame().code.get(), frame().pc, reason);
  leave_with_break(reason);
}

void Frames::leave_with_break(const BreakHere& reason) {
  bool looked_in_vain = false;
  for (const CaptureMemory::Look& look : memory_.looks)
    if (look.code == frame().code.get() && look.pc == frame().pc)
      looked_in_vain |= memory_.whole.erase(look.place) != 0;
  if (looked_in_vain) refuse(frame().code.get(), frame().pc, reason);
  builder_.origin = current_origin();
  writes_.flush_leaving();
  exits_.leave_resuming(reason);
  done_ = true;
}

// The cell `__class__` that super() without arguments reads, and the method's self.
Av Frames::class_cell() {
  const lang::CodeObject& code = *frame().code->code;
  for (size_t i = 0; i < code.free_names.size(); ++i)
    if (code.free_names[i] == "__class__") return cells_.load_cell(frame().closure[i]);
  break_here(BreakReason::unknown_call, "super() outside a method");
}

Av Frames::first_argument() {
  if (frame().registers.empty()) break_here(BreakReason::raises, "super(): no arguments");
  Av self = frame().registers[0];
  if (VCell* cell = as<VCell>(self)) return cell->content;
  if (self.is_undefined()) {
    // The parameter moved into its cell.
    const lang::CodeObject& code = *frame().code->code;
    for (uint32_t reg = code.cell_begin; reg < code.cell_end; ++reg)
      if (code.register_names[reg] == code.register_names[0])
        if (VCell* cell = as<VCell>(frame().registers[reg])) return cell->content;
    break_here(BreakReason::unknown_call, "super()");
  }
  return self;
}

// ---- what a raise would find ----

namespace {

// Where the contexts of torch._gradients keep what they found.
constexpr const char *kGradBefore = "prev", *kInferenceBefore = "_inference";

// The handler of a `with` block begins by asking for the exception, and calls the manager's __exit__.
const lang::Instruction* exit_call(const lang::CodeObject& code, const lang::ExceptionEntry& entry) {
  const bool is_with = entry.is_cleanup && code.instructions[entry.handler + 1].op == lang::Op::ExceptionInfo;
  return is_with ? &code.instructions[entry.handler + 2] : nullptr;
}

}  // namespace

// A gradient mode that the region itself has entered was never set outside: nothing is to be restored there.
VInstance* Frames::mode_of_region(const AFrame& frame, const lang::ExceptionEntry& entry) {
  const lang::Instruction* call = exit_call(*frame.code->code, entry);
  if (!call || call->op != lang::Op::CallMethod) return nullptr;
  const Av &exit = frame.registers[call->b], &manager = frame.registers[call->b + 1u];
  const bool is_own = is_virtual(manager, VirtualKind::Instance) && manager.object->source == Virtual::kMadeHere;
  if (!is_own || !exit.is_constant() || !is_kind(exit.value, Kind::Function)) return nullptr;
  const ModuleObject* module = cast<FunctionObject>(exit.value)->module.get();
  const bool is_mode = module && module->name == "torch._gradients";
  VInstance* mode = is_mode ? as<VInstance>(manager) : nullptr;
  return mode && attributes_.find_field(*mode, intern(vm_, kGradBefore).get()) ? mode : nullptr;
}

bool Frames::is_protected() {
  const auto protects = [&](const AFrame& frame) {
    const auto& entries = frame.code->code->exceptions;
    return std::any_of(entries.begin(), entries.end(), [&](const lang::ExceptionEntry& entry) {
      return entry.begin <= frame.pc && frame.pc < entry.end && !mode_of_region(frame, entry);
    });
  };
  const bool now = std::any_of(stack_.begin(), stack_.end(), protects);
  repeats_.note_protection(now);
  return now;
}

void Frames::set_mode(bool enabled) {
  modes_.grad_enabled = set_grad_enabled_ = enabled;
  origin_pc_ = ~0u;  // the next origin is another one, though it be at the same place
}

void Frames::set_inference(bool on) {
  repeats_.spoil_record();
  modes_.inference = on;
  origin_pc_ = ~0u;
}

// The last block that an exception leaves is the outermost: it puts back what was there before it.
Modes Frames::modes_after_raise() {
  Modes after = modes_;
  after.grad_enabled = set_grad_enabled_;
  bool finds_grad = true, finds_inference = true;
  for (const AFrame& frame : stack_) {
    const auto& entries = frame.code->code->exceptions;  // inner ones first
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
      const bool inside = entry->begin <= frame.pc && frame.pc < entry->end;
      VInstance* mode = inside ? mode_of_region(frame, *entry) : nullptr;
      if (!mode) continue;
      if (finds_grad)
        after.grad_enabled = numbers_.truth(*attributes_.find_field(*mode, intern(vm_, kGradBefore).get()));
      finds_grad = false;
      const Av* inference = attributes_.find_field(*mode, intern(vm_, kInferenceBefore).get());
      if (inference && finds_inference) after.inference = numbers_.truth(*inference);
      finds_inference = finds_inference && !inference;
    }
  }
  return after;
}

}  // namespace tsc::interp
