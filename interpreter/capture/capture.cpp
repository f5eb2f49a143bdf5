#include "interpreter/capture/capture.h"

#include "interpreter/capture/call_record.h"
#include "interpreter/capture/exits.h"
#include "interpreter/modules/partial.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/inspect.h"
#include "jit/region/scalar_eval.h"

namespace tsc::interp {
namespace {

// A region beyond this is cut; the interpreter goes on and may enter a next region.
constexpr size_t kMaxRegionInstructions = 60000;
constexpr uint32_t kMaxSteps = 2000000;
constexpr size_t kMaxDepth = 200;

constexpr BreakRow kBreakRows[] = {
#define BREAK(id, grade, explanation, hint) {#id, #grade, explanation, hint},
#include "interpreter/capture/breaks.def"
#undef BREAK
};

}  // namespace

const BreakRow& break_row(BreakReason reason) { return kBreakRows[static_cast<int>(reason)]; }

uint32_t CaptureBuilder::find_origin() { return capture_.origin_at(capture_.step_pc_); }

Capture::Capture(Vm& vm, const Frame& frame, CaptureMemory& memory)
    : vm_(vm),
      tensors_(tensor_state(vm)),
      memory_(memory),
      builder_(region_, *this) {
  modes = tensors_.modes;
  plan_.modes = modes;
  set_grad_enabled_ = modes.grad_enabled;
  plan_.origins.emplace_back();
  enter_frame(frame);
}

void Capture::enter_frame(const Frame& frame) {
  AFrame entered;
  entered.code = Local<CodeObject>(frame.code);
  entered.module = frame.function->module;
  entered.host_function = Local<FunctionObject>(frame.function);
  entered.pc = frame.pc;
  plan_.entry_code = entered.code;
  plan_.entry_pc = frame.pc;
  entered.registers.resize(frame.register_count);
  for (const Local<CellObject>& cell : frame.function->closure)
    entered.closure.push_back(Av::constant(cell.value()));
  region_.name = frame.function->name ? std::string(frame.function->name->view()) : "region";
  frames_.push_back(std::move(entered));
  const lang::RegisterSet& live = lang::live_registers(*frame.code->code, frame.pc);
  const size_t shown = shows_variables(*frame.code->code) ? frame.code->code->register_names.size() : 0;
  // A variable that is not read any more holds anything, and so does what a call left for its next instructions.
  const lang::CodeObject& code = *frame.code->code;
  const auto may_hold = [&](uint32_t reg) {
    const bool is_variable = reg < code.register_names.size();
    return vm_.sees_ends() && (frame.pc != 0 || reg < code.parameters.count()) && (is_variable || live.contains(reg));
  };
  held_at_entry_.resize(frame.register_count);
  for (uint32_t reg = 0; reg < frame.register_count; ++reg) {
    const Value& v = frame.registers[reg];
    held_at_entry_[reg] = may_hold(reg);
    if (!live.contains(reg) && reg >= shown && !is_kind(v, Kind::Generator)) continue;
    if (v.is_undefined() && (frame.pc == 0 || reg >= frame.code->code->register_names.size())) continue;
    EntrySource source;
    source.form = EntrySource::Form::Register;
    source.index = reg;
    frames_[0].registers[reg] = load_value(v, std::move(source));
    // What it is is known of every entry.
    if (!v.is_object() || is_kind(v, Kind::Str) || as_tensor(tensors_, v)) held_at_entry_[reg] = false;
  }
}

void Capture::run_to_the_end() {
  while (!done_) {
    try {
      step();
    } catch (const BreakHere& reason) {
      leave_or_refuse(reason);
    } catch (const Error& error) {
      leave_or_refuse({BreakReason::raises, error.message()});
    } catch (const ScriptException& raised) {
      leave_or_refuse({BreakReason::raises, exception_line(vm_, raised.exception())});
    }
  }
}

CaptureResult Capture::run() {
  uint32_t first_pc = frames_[0].pc;
  try {
    run_to_the_end();
  } catch (const UnreadContainer& unread) {
    read_from_now_on(*unread.object);
  }
  CaptureResult result = finish();
  const ExitPlan& last = result.plan.exits.back();
  result.empty = last.form == ExitPlan::Form::Resume && last.frames.size() == 1 &&
                 last.frames[0].pc == first_pc && result.plan.actions.empty();
  return result;
}

void Capture::step() {
  AFrame& frame = frames_.back();
  const lang::Instruction& instruction = frame.code->code->instructions[frame.pc];
  const uint32_t pc = frame.pc;
  step_pc_ = pc;
  builder_.origin = jit::RegionBuilder::kAskOrigin;  // most instructions append nothing
  if (++steps_ > kMaxSteps || region_.body.instructions.size() > kMaxRegionInstructions)
    break_here(BreakReason::too_large);
  if (break_everywhere && plan_.instructions && frames_.size() == 1 && begins_statement(frame))
    break_here(BreakReason::instruction, "every statement breaks");
  if (memory_.only_call && plan_.instructions && frames_.size() == 1)
    break_here(BreakReason::asked, "torch.compiler.disable(recursive=False)");
  if (const CaptureMemory::Refusal* refusal = memory_.refusal(frame.code.get(), pc))
    break_here(refusal->reason, refusal->detail);
  advanced_ = false;
  size_t depth = frames_.size();
  step_handler(instruction.op)(*this, instruction);
  ++plan_.instructions;
  // Handlers that jump set pc themselves and leave it at the target; calls push a frame.
  if (!done_ && frames_.size() == depth && frames_.back().pc == pc) ++frames_.back().pc;
}

bool Capture::begins_statement(const AFrame& frame) const {
  int32_t index = lang::statement_at(*frame.code->code, frame.pc);
  return index >= 0 && frame.code->code->statements[static_cast<size_t>(index)].begin == frame.pc;
}

bool Capture::has_room_for(size_t instructions, uint32_t steps) const {
  return region_.body.instructions.size() + instructions <= kMaxRegionInstructions && steps_ + steps <= kMaxSteps;
}

void Capture::break_here(BreakReason reason, std::string detail) {
  throw BreakHere{reason, std::move(detail)};
}

const Av& Capture::read(uint16_t reg) {
  const Av& av = frame().registers[reg];
  if (av.is_undefined()) break_here(BreakReason::unknown_object, "unbound variable");
  return av;
}

void Capture::write(uint16_t reg, Av value) {
  if (reg == kNestedDestination) {
    nested_result_ = std::move(value);
    return;
  }
  Av& place = frame().registers[reg];
  if (is_generator_from_outside(place))
    break_here(BreakReason::instruction, "a generator from outside is dropped, which runs its handlers");
  if (frames_.size() == 1 && reg < held_at_entry_.size() && held_at_entry_[reg]) {
    if (vm_.sees_ends())
      break_here(BreakReason::escape, "a variable lets go of an object while the program sees objects die");
    held_at_entry_[reg] = false;
  }
  place = std::move(value);
}

uint32_t Capture::origin_at(uint32_t pc) {
  AFrame& frame = frames_.back();
  if (origin_pc_ == pc && origin_depth_ == frames_.size() && origin_ &&
      plan_.origins[origin_].code.get() == frame.code.get() &&
      plan_.origins[origin_].caller == frame.call_origin)
    return origin_;
  Origin origin;
  origin.caller = frame.call_origin;
  origin.code = frame.code;
  origin.pc = pc;
  origin.skips_handlers = frames_.size() == 1 && lang::find_handler(*frame.code->code, pc) && !is_protected();
  origin.grad_enabled = grad_enabled_after_raise();
  plan_.origins.push_back(std::move(origin));
  origin_ = static_cast<uint32_t>(plan_.origins.size() - 1);
  origin_pc_ = pc;
  origin_depth_ = frames_.size();
  return origin_;
}

// ---- calls of script functions ----

namespace {

const Av* find_keyword(Capture::CallArguments& arguments, const std::string& name) {
  for (auto& [key, value] : arguments.keywords)
    if (key->view() == name) return &value;
  return nullptr;
}

}  // namespace

// Errors of binding are the interpreter's to raise: capture only leaves.
void Capture::bind_arguments(const lang::CodeObject& code, AFrame& frame, CallArguments& arguments,
                             const std::vector<Av>& defaults,
                             const std::vector<Av>& keyword_defaults, const std::string& name) {
  const lang::ParameterList& list = code.parameters;
  for (size_t i = 0; i < arguments.keywords.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (arguments.keywords[i].first->view() == arguments.keywords[k].first->view())
        break_here(BreakReason::raises, "TypeError: a keyword argument twice");
  auto fail = [&] { break_here(BreakReason::raises, "TypeError: arguments of " + name + "()"); };
  for (auto& [key, value] : arguments.keywords) {
    if (list.has_varkwargs || std::find(list.names.begin(), list.names.end(), key->view()) != list.names.end()) continue;
    if (StrObject* parameter = other_spelling(vm_, frame.module.get(), list, key.get()))
      key = Local<StrObject>(parameter);
  }
  size_t used_keywords = 0;
  for (uint32_t i = 0; i < list.positional; ++i) {
    const Av* keyword = i >= list.positional_only ? find_keyword(arguments, list.names[i]) : nullptr;
    if (i < arguments.positional.size()) {
      if (keyword) fail();
      frame.registers[i] = arguments.positional[i];
    } else if (keyword) {
      frame.registers[i] = *keyword;
      ++used_keywords;
    } else {
      size_t first = list.positional - defaults.size();
      if (i < first) fail();
      frame.registers[i] = defaults[i - first];
    }
  }
  uint32_t reg = list.positional;
  for (uint32_t i = 0; i < list.keyword_only; ++i, ++reg) {
    if (const Av* keyword = find_keyword(arguments, list.names[reg])) {
      frame.registers[reg] = *keyword;
      ++used_keywords;
    } else {
      if (i >= keyword_defaults.size() || keyword_defaults[i].is_undefined()) fail();
      frame.registers[reg] = keyword_defaults[i];
    }
  }
  if (list.has_varargs) {
    std::vector<Av> rest;
    for (size_t i = list.positional; i < arguments.positional.size(); ++i)
      rest.push_back(arguments.positional[i]);
    frame.registers[reg++] = make_tuple_av(std::move(rest));
  } else if (arguments.positional.size() > list.positional) {
    fail();
  }
  if (list.has_varkwargs) {
    auto dict = make<VDict>();
    for (auto& [key, value] : arguments.keywords) {
      bool named = false;
      for (uint32_t i = list.positional_only; i < list.positional + list.keyword_only; ++i)
        named |= list.names[i] == key->view();
      if (!named) dict->items.push_back({Av::constant(key.value()), value});
    }
    frame.registers[reg] = Av::of(dict);
  } else if (used_keywords != arguments.keywords.size()) {
    fail();
  }
}

void Capture::push_call(const Av& function, AFrame frame, CallArguments& arguments,
                        uint16_t destination, bool discard_result) {
  if (frames_.size() >= kMaxDepth) break_here(BreakReason::too_large, "call depth");
  prepare_code(vm_, frame.code);
  const lang::CodeObject& code = *frame.code->code;
  // One that is dropped half way runs its handlers then; capture does not know when.
  if (code.is_generator && !code.exceptions.empty())
    break_here(BreakReason::instruction, "a generator with try or with");
  frame.function = function;
  frame.registers.resize(code.register_count);
  frame.destination = destination;
  frame.discard_result = discard_result;
  frame.call_origin = builder_.origin = current_origin();
  std::vector<Av> defaults, keyword_defaults;
  if (VFunction* made = as<VFunction>(function)) {
    defaults = made->defaults;
    keyword_defaults = made->keyword_defaults;
    frame.closure = made->closure;
  } else {
    FunctionObject* host = frame.host_function.get();
    for (const Value& v : host->defaults) defaults.push_back(Av::constant(v));
    for (const Value& v : host->keyword_defaults) keyword_defaults.push_back(Av::constant(v));
    for (const Local<CellObject>& cell : host->closure)
      frame.closure.push_back(Av::constant(cell.value()));
  }
  bind_arguments(code, frame, arguments, defaults, keyword_defaults, code.name);
  if (code.is_generator) {
    std::shared_ptr<VIterator> generator = make_lazy(VIterator::Form::Generator);
    generator->suspended = std::make_shared<AFrame>(std::move(frame));
    if (!discard_result) write(destination, Av::of(generator));
    return;
  }
  frames_.push_back(std::move(frame));
}

void Capture::call(const Av& callee, CallArguments arguments, uint16_t destination,
                   bool discard_result) {
  if (VBoundMethod* bound = as<VBoundMethod>(callee)) {
    Av function = bound->function;
    arguments.positional.insert(arguments.positional.begin(), bound->self);
    return call(function, std::move(arguments), destination, discard_result);
  }
  if (VFunction* made = as<VFunction>(callee)) {
    AFrame frame;
    frame.code = made->code;
    frame.module = made->module;
    return push_call(callee, std::move(frame), arguments, destination, discard_result);
  }
  if (is_virtual(callee, VirtualKind::Partial) || (callee.is_constant() && as_plain_partial(callee.value)))
    return call_partial(callee, std::move(arguments), destination, discard_result);
  if (is_virtual(callee, VirtualKind::Instance)) return call_object(callee, std::move(arguments), destination, discard_result);
  if (!callee.is_constant() || !callee.value.is_object())
    break_here(BreakReason::unknown_call, "the callee is not known");
  Object* object = callee.value.object();
  if (object->kind == Kind::BoundMethod) {
    BoundMethod* bound = cast<BoundMethod>(callee.value);
    arguments.positional.insert(arguments.positional.begin(), Av::constant(bound->self));
    return call(Av::constant(bound->function), std::move(arguments), destination, discard_result);
  }
  if (object->kind == Kind::Function) {
    FunctionObject* function = cast<FunctionObject>(callee.value);
    if (const std::string* refusal = refusal_of(function)) break_here(BreakReason::asked, *refusal);
    assume_unchanged(function, Value());
    AFrame frame;
    frame.code = function->code;
    frame.module = function->module;
    frame.host_function = Local<FunctionObject>(function);
    prepare_code(vm_, frame.code);
    const bool returns = !discard_result && !frame.code->code->is_generator;
    SeenCall* seen = returns ? seen_call(function, arguments) : nullptr;
    if (!seen) return push_call(callee, std::move(frame), arguments, destination, discard_result);
    if (repeat_call(*seen, function, arguments, destination)) return;
    std::unique_ptr<CallRecorder> recorder = recorder_for(*seen, function, arguments);
    push_call(callee, std::move(frame), arguments, destination, discard_result);
    return begin_call(*seen, std::move(recorder));
  }
  if (object->kind == Kind::NativeFunction) {
    Av result = call_native(cast<NativeFunction>(callee.value), arguments, destination);
    if (!discard_result && !result.is_undefined()) write(destination, result);
    return;
  }
  if (object->kind == Kind::Type) return construct(cast<Type>(callee.value), arguments, destination);
  call_object(callee, std::move(arguments), destination, discard_result);
}

void Capture::return_from(const Av& result) {
  AFrame finished = std::move(frames_.back());
  frames_.pop_back();
  origin_pc_ = ~0u;
  if (finished.seen) end_call(finished, result);
  if (finished.generator) {
    nested_result_ = Av();
    return;
  }
  if (!finished.constructed.is_undefined()) write(finished.destination, finished.constructed);
  else if (!finished.discard_result) write(finished.destination, result);
  if (finished.destination != kNestedDestination) ++frames_.back().pc;
}

void Capture::leave_with_return(const Av& result) {
  if (!frame().constructed.is_undefined() && !result.is_none()) break_here(BreakReason::raises, "TypeError: __init__()");
  if (frames_.size() > 1) return return_from(result);
  builder_.origin = current_origin();
  flush_writes();
  ExitBuilder(*this).leave_returning(result);
  done_ = true;
}

// An instruction that took items from an iterator cannot be left as if it had not begun.
void Capture::leave_or_refuse(const BreakHere& reason) {
  if (advanced_) refuse(frame().code.get(), frame().pc, reason);
  leave_with_break(reason);
}

void Capture::leave_with_break(const BreakHere& reason) {
  builder_.origin = current_origin();
  flush_writes();
  ExitBuilder(*this).leave_resuming(reason);
  done_ = true;
}

// ---- conditions ----

std::optional<Scalar> Capture::find_hint(ValueId id) {
  std::vector<jit::Instruction>& all = region_.body.instructions;
  for (; hints_seen_ < all.size(); ++hints_seen_) {
    const jit::Instruction& i = all[hints_seen_];
    if (i.code == jit::Code::Const) hints_[i.results[0]] = i.number;
    if (i.code != jit::Code::Scalar) continue;
    if (stays_nonnegative(i)) nonnegative_.insert(i.results[0]);
    SmallVector<Scalar, 3> operands;
    bool known = true;
    for (ValueId operand : i.operands) {
      auto found = hints_.find(operand);
      if (found == hints_.end()) {
        known = false;
        break;
      }
      operands.push_back(found->second);
    }
    if (!known) continue;
    try {
      hints_[i.results[0]] = jit::eval_scalar(i.scalar_op, operands);
    } catch (const Error&) {
      // Raises at run time; it has no value to assume.
    }
  }
  auto found = hints_.find(id);
  if (found == hints_.end()) return std::nullopt;
  return found->second;
}

bool Capture::condition_holds(ValueId condition) {
  std::optional<Scalar> now = hint(condition);
  if (!now || now->i == 0) return false;
  if (!builder_.known(condition)) conditions_.insert(condition);
  return true;
}

bool Capture::are_input_sizes(ValueId a, ValueId b) const {
  return input_sizes_.count(a) && input_sizes_.count(b);
}

}  // namespace tsc::interp
