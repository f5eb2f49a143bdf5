// Script code that an instruction runs before it is done: the function of a map, the body of a generator
// between two items, an operator's method. Their frames stand on top of the instruction's frame until the
// result is there. A region cannot be left in the middle of an instruction, so when that code has to leave,
// the whole capture starts again and leaves in front of the instruction.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/raising.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/vm/stops.h"

namespace tsc::interp {

const CaptureMemory::Refusal* CaptureMemory::refusal(const CodeObject* code, uint32_t pc) const {
  for (const Refusal& one : refused)
    if (one.code == code && one.pc == pc) return &one;
  return nullptr;
}

void CaptureMemory::another_whole(const std::string& place, const std::function<bool()>& is_abandoned) {
  constexpr uint32_t kMostOthers = 4;
  if (++others[place] < kMostOthers || !whole.count(place) || !is_abandoned()) return;
  if (refuse_looks(place, "more than the class of an object that is another one in each call")) whole.erase(place);
}

bool CaptureMemory::is_of_many_lengths(const std::string& place, size_t length) {
  constexpr size_t kMostLengths = 16;
  lengths[place].insert(length);
  return lengths[place].size() >= kMostLengths;
}

void CaptureMemory::another_length(const std::string& place, size_t length) {
  if (!is_of_many_lengths(place, length)) return;
  for (Look& look : looks) {
    if (look.place != place) continue;
    look.code = look.caller;
    look.pc = look.call;
  }
  if (refuse_looks(place, "the items of a list that has another length in each call")) read.erase(place);
}

void CaptureMemory::add(std::vector<LoopPlace>& places, const LoopPlace& place) {
  places.push_back(place);
  keep(place);
}

void CaptureMemory::keep(const LoopPlace& place) { keep_alive.push_back(Value(const_cast<CodeObject*>(place.code))); }

bool CaptureMemory::refuse_looks(const std::string& place, const char* detail) {
  const size_t known = looks.size();
  std::erase_if(looks, [&](const Look& look) {
    if (look.place != place) return false;
    refused.push_back({look.code, look.pc, BreakReason::unknown_object, detail});
    keep({look.code, look.pc});
    return true;
  });
  return looks.size() != known;
}

void Frames::refuse(CodeObject* code, uint32_t pc, const BreakHere& reason) {
  rolled_.leave_out();
  memory_.refused.push_back({code, pc, reason.reason, reason.detail});
  memory_.keep_alive.push_back(Value(code));
  throw CaptureRestart{};
}

// Runs until no frame stands above the first `base` ones.
void Frames::run_above(size_t base, const std::function<void()>& start) {
  struct Above {
    Above(Frames& frames, size_t base) : frames(frames), floor(frames.raising_.set_floor({base})) { ++frames.nested_; }
    ~Above() {
      --frames.nested_;
      frames.raising_.set_floor(floor);
      frames.advanced_ = true;  // what the code has done, the instruction cannot be left as if it had not begun
      frames.builder_.origin = origin;
      frames.origin_pc_ = ~0u;
    }
    Frames& frames;
    const Raising::Floor floor;
    const uint32_t origin = frames.builder_.known_origin();
  } const above(*this, base);
  const bool outermost = nested_ == 1;
  const auto leave = [&](const BreakHere& reason) { refuse(stack_[base - 1].code.get(), stack_[base - 1].pc, reason); };
  try {
    start();
    while (stack_.size() > base) step();
  } catch (const BreakHere& reason) {
    if (!outermost) throw;
    leave(reason);
  } catch (const Error& error) {
    if (!outermost) throw;
    leave({BreakReason::raises, error.message()});
  } catch (const ScriptException& raised) {
    if (!outermost) throw;
    pass_on_stops(vm_, raised);
    leave({BreakReason::raises, exception_line(vm_, raised.exception())});
  }
}

Av Frames::call_now(const Av& callee, CallArguments arguments, bool tells_absence) {
  nested_result_ = Av();
  const size_t base = stack_.size();
  run_above(base, [&] {
    if (tells_absence) raising_.set_floor({base, true});
    calls_.call(callee, std::move(arguments), kNestedDestination);
  });
  return std::move(nested_result_);
}

void Frames::drop_frames(size_t depth) {
  for (; stack_.size() > depth; stack_.pop_back()) repeats_.end_unfinished(stack_.back());
  origin_pc_ = ~0u;
}

// ---- generators and other lazy iterators ----

// They can be built nowhere but here: when one is alive where the region ends, the instruction that makes it
// leaves the region instead.
std::shared_ptr<VIterator> Iterators::make_lazy(VIterator::Form form) {
  auto iterator = make<VIterator>();
  iterator->form = form;
  iterator->made_in = frames_.frame().code;
  iterator->made_at = frames_.frame().pc;
  return iterator;
}

void Iterators::refuse_making(const VIterator& iterator) {
  frames_.refuse(iterator.made_in.get(), iterator.made_at,
                 {BreakReason::instruction, "an iterator that is used after the region"});
}

bool Frames::resume(VIterator& generator, Av* out) {
  if (generator.running) break_here(BreakReason::raises, "ValueError: generator already executing");
  if (!generator.suspended) return false;
  AFrame body = std::move(*generator.suspended);
  generator.suspended.reset();
  generator.running = true;
  body.generator = &generator;
  body.destination = kNestedDestination;
  body.call_origin = current_origin();
  run_above(stack_.size(), [&] { push_frame(std::move(body)); });
  generator.running = false;
  *out = std::move(nested_result_);
  return generator.suspended != nullptr;
}

void Frames::yield_value(uint16_t sent, Av value) {
  if (!frame().generator) break_here(BreakReason::instruction, "yield");
  write(sent, Av::none());
  ++frame().pc;
  nested_result_ = std::move(value);
  VIterator& generator = *frame().generator;
  generator.suspended = std::make_shared<AFrame>(std::move(stack_.back()));
  stack_.pop_back();
  origin_pc_ = ~0u;
}

// ---- operators of script classes ----

namespace {

Type* script_type_of(const Av& av) {
  if (VInstance* instance = as<VInstance>(av)) return instance->type.get();
  if (av.is_constant() && is_kind(av.value, Kind::Instance)) return av.value.object()->type;
  return nullptr;
}

}  // namespace

bool Operators::is_script_instance(const Av& av) const { return script_type_of(av) != nullptr; }

// The method's result; Undefined when there is none or it answers NotImplemented.
Av Operators::try_operator(const Av& self, const char* name, const Av& other) {
  Type* type = script_type_of(self);
  if (!type) return Av();
  Local<StrObject> key = intern(vm_, name);
  const Value* method = attributes_.class_attribute(type, key.get(), nullptr);
  if (!method) return Av();
  if (!is_kind(*method, Kind::Function)) break_here(BreakReason::unknown_call, name);
  CallArguments arguments;
  arguments.positional = {self, other};
  Av result = frames_.call_now(Av::constant(*method), std::move(arguments));
  if (result.is_constant() && result.value.is(vm_.not_implemented())) return Av();
  return result;
}

// Undefined: neither operand is of a script class.
Av Operators::binary_dunder(BinaryOp op, bool in_place, const Av& left, const Av& right) {
  Type* left_type = script_type_of(left);
  Type* right_type = script_type_of(right);
  if (!left_type && !right_type) return Av();
  // What a native left operand does with an object of a script class is the interpreter's to know, but for
  // numbers and tensors, which leave it to the right one.
  if (!left_type && !tensors_.tensor_of(left) && !left.is_number() && !(left.is_constant() && !left.value.is_object()))
    break_here(BreakReason::unknown_call, "reflected operator");
  const BinaryOpInfo& info = kBinaryOps[static_cast<int>(op)];
  if (in_place)
    if (Av result = try_operator(left, info.in_place, right); !result.is_undefined()) return result;
  const bool is_derived = left_type && right_type && right_type != left_type && right_type->is_subtype_of(left_type);
  const Local<StrObject> reflected = intern(vm_, info.reflected);
  const Value* own = is_derived ? attributes_.class_attribute(right_type, reflected.get(), nullptr) : nullptr;
  const Value* inherited = is_derived ? attributes_.class_attribute(left_type, reflected.get(), nullptr) : nullptr;
  const bool right_first = own && !(inherited && own->is(*inherited));
  if (right_first)
    if (Av result = try_operator(right, info.reflected, left); !result.is_undefined()) return result;
  if (Av result = try_operator(left, info.method, right); !result.is_undefined()) return result;
  if (!right_first && right_type != left_type)
    if (Av result = try_operator(right, info.reflected, left); !result.is_undefined()) return result;
  break_here(BreakReason::raises, std::string("TypeError: operand types of ") + info.symbol);
}

// Undefined: neither side is of a script class.
Av Operators::compare_dunder(CompareOp op, const Av& left, const Av& right) {
  Type* left_type = script_type_of(left);
  Type* right_type = script_type_of(right);
  if (!left_type && !right_type) return Av();
  const bool is_derived = left_type && right_type && right_type != left_type && right_type->is_subtype_of(left_type);
  Av result = is_derived ? try_compare(right, reflected(op), left) : Av();
  if (result.is_undefined()) result = try_compare(left, op, right);
  if (result.is_undefined() && !is_derived) result = try_compare(right, reflected(op), left);
  if (!result.is_undefined()) return result;
  if (op != CompareOp::Eq && op != CompareOp::Ne)
    break_here(BreakReason::raises,
               std::string("TypeError: operand types of ") + kCompareSymbols[static_cast<int>(op)]);
  return Av::boolean(is_identical(left, right) == (op == CompareOp::Eq));
}

// Undefined: it has no method for that, or does not know the other.
Av Operators::try_compare(const Av& self, CompareOp op, const Av& other) {
  Type* type = script_type_of(self);
  if (!type) return Av();
  const char* name = kCompareMethods[static_cast<int>(op)];
  const Value* method = attributes_.class_attribute(type, intern(vm_, name).get(), nullptr);
  if (method && !is_kind(*method, Kind::NativeFunction)) return try_operator(self, name, other);
  if (method && cast<NativeFunction>(*method)->owner != "object") break_here(BreakReason::unknown_call, name);
  if (op != CompareOp::Ne) return Av();
  const Av equal = try_compare(self, CompareOp::Eq, other);  // what object.__ne__ asks
  return equal.is_undefined() ? Av() : Av::boolean(!numbers_.truth(equal));
}

bool Operators::has_identity_hash(const Av& av) {
  if (is_virtual(av, VirtualKind::Tensor)) return true;
  if (av.is_constant() && av.value.is_object()) {
    const Kind kind = av.value.object()->kind;
    if (kind == Kind::Function || kind == Kind::NativeFunction || kind == Kind::Module) return true;
    if (kind == Kind::Type) return av.value.object()->type == vm_.types().type;
  }
  Type* type = script_type_of(av);
  if (!type) return false;
  for (const char* name : {"__hash__", "__eq__"}) {
    const Value* method = attributes_.class_attribute(type, intern(vm_, name).get(), nullptr);
    if (!method || !is_kind(*method, Kind::NativeFunction) || cast<NativeFunction>(*method)->owner != "object")
      return false;
  }
  return true;
}

}  // namespace tsc::interp
