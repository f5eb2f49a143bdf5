// The slots of tokens (stand_ins.h): each is an operation of capture on what the token stands for.
#include <cmath>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/capture/natives/stand_ins.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/vm/native.h"

namespace tsc::interp {
namespace {

const char kTokenType = 0;

Token& token_of(const Value& v) { return *static_cast<Token*>(v.object()); }

bool is_token(Vm& vm, const Value& v) { return v.is_object() && v.object()->type == token_type(vm); }

StandIns& run_of(const Value& token) {
  StandIns* owner = token_of(token).owner;
  if (!owner) throw BreakHere{BreakReason::unknown_call, "a value that a call has kept"};
  return *owner;
}

[[noreturn]] void refuse(const Value& token, const char* what) {
  run_of(token);  // whose run is not over
  break_here(BreakReason::unknown_object, what);
}

// Whether a method of a script may run.
bool runs_script(StandIns& run, const Av& av) { return run.capture().operators().is_script_instance(av); }

Value follow(StandIns& run, bool script, const std::function<Av()>& operation) {
  return run.value(script ? run.follow(operation) : operation());
}

// A number leaves it to what is none, as numbers do.
bool declines(Vm& vm, const Value& self, const Value& other) {
  const bool is_object = other.is_object() && !is_token(vm, other);
  return token_of(self).av.is_number() && (is_object || other.is_none());
}

Value token_binary(Vm& vm, BinaryOp op, const Value& left, const Value& right, bool) {
  const bool is_left = is_token(vm, left);
  if (declines(vm, is_left ? left : right, is_left ? right : left)) return vm.not_implemented();
  StandIns& run = run_of(is_left ? left : right);
  const Av a = run.back(left), b = run.back(right);
  return follow(run, runs_script(run, a) || runs_script(run, b),
                [&] { return run.capture().operators().operate(op, a, b); });
}

Value token_unary(Vm&, UnaryOp op, const Value& self) {
  StandIns& run = run_of(self);
  return run.value(run.capture().operators().unary(op, token_of(self).av));
}

// Two that are nan are one value to the interpreter, and not equal: none is.
void check_no_nan(Capture& capture, const Av& av) {
  if (!av.is_number() || av.scalar_kind != jit::ValueKind::Float) return;
  if (!capture.numbers().truth(capture.operators().compare(CompareOp::Le, av, Av::constant(Value::real(HUGE_VAL)))))
    break_here(BreakReason::unknown_number, "a nan among the values that are compared");
}

// What containers ask first: whether the two are one object. Their answer was no, or they would not ask here.
// (operator.eq does not ask first, and does not run on tokens.)
bool are_one(Capture& capture, const Av& a, const Av& b) {
  if (a.is_number() && b.is_number() && capture.numbers().is_same_number(a.id, b.id)) return true;
  if (a.holds_number() && b.holds_number()) {
    check_no_nan(capture, a);
    check_no_nan(capture, b);
    return false;
  }
  for (const Av* one : {&a, &b})
    if (one->holds_number() || is_virtual(*one, VirtualKind::Tuple) || is_virtual(*one, VirtualKind::Text))
      return false;
  return capture.operators().is_identical(a, b);
}

Value token_compare(Vm& vm, CompareOp op, const Value& self, const Value& other) {
  if (declines(vm, self, other)) return vm.not_implemented();
  StandIns& run = run_of(self);
  const Av a = token_of(self).av, b = run.back(other);
  if (op == CompareOp::Eq && are_one(run.capture(), a, b)) return Value::boolean(true);
  return follow(run, runs_script(run, a) || runs_script(run, b),
                [&] { return run.capture().operators().compare(op, a, b); });
}

bool token_truth(Vm&, const Value& self) {
  StandIns& run = run_of(self);
  const Av av = token_of(self).av;
  return runs_script(run, av) ? run.follow([&] { return run.capture().numbers().truth(av); })
                              : run.capture().numbers().truth(av);
}

// Of what is hashed by its identity, any number that is its own will do: sets and dicts keep the order of insertion.
int64_t token_hash(Vm& vm, const Value& self) {
  StandIns& run = run_of(self);
  Capture& capture = run.capture();
  const Av& av = token_of(self).av;
  if (av.is_number() || is_virtual(av, VirtualKind::Tuple)) {
    return static_cast<int64_t>(hash(vm, capture.containers().known_key(av)));
  }
  if (!capture.operators().has_identity_hash(av)) refuse(self, "the hash of a value the compiler does not know");
  run.looks_up(av);
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(self.object()) >> 4);
}

int64_t token_length(Vm&, const Value& self) {
  StandIns& run = run_of(self);
  const Av av = token_of(self).av;
  const auto count = [&] { return run.capture().containers().length_of(av); };
  return run.capture().numbers().concrete_int(runs_script(run, av) ? run.follow(count) : count());
}

Value token_to_index(Vm&, const Value& self) {
  return Value::integer(run_of(self).capture().numbers().concrete_int(token_of(self).av));
}

Value token_item(Vm&, const Value& self, const Value& key) {
  StandIns& run = run_of(self);
  const Av av = token_of(self).av, asked = run.back(key);
  const VDict* dict = as<VDict>(av);
  return follow(run, runs_script(run, av) || (dict && dict->type),
                [&] { return run.capture().containers().get_item(av, asked); });
}

bool token_holds(Vm&, const Value& self, const Value& item) {
  StandIns& run = run_of(self);
  const Av av = token_of(self).av, asked = run.back(item);
  return run.follow([&] { return run.capture().containers().contains(av, asked); });
}

Value token_iterate(Vm&, const Value& self) {
  StandIns& run = run_of(self);
  const Av av = token_of(self).av;
  return follow(run, runs_script(run, av), [&] { return run.capture().iterators().iterate_later(av); });
}

bool token_next(Vm&, const Value& self, Value& out) {
  StandIns& run = run_of(self);
  const Av av = token_of(self).av;
  VIterator* iterator = as<VIterator>(av);
  if (!iterator) refuse(self, "a value the compiler does not know is asked for its next item");
  Av item;
  const auto step = [&] { return run.capture().iterators().next(*iterator, &item); };
  const bool more = iterator->form == VIterator::Form::Items ? step() : run.follow(step);
  if (more) out = run.value(item);
  return more;
}

Value token_called(Vm&, const Value& self, Args& args) {
  StandIns& run = run_of(self);
  CallArguments arguments;
  for (const Value& v : args.span()) arguments.positional.push_back(run.back(v));
  for (uint32_t i = 0; i < args.keyword_count; ++i)
    arguments.keywords.push_back({Local<StrObject>(args.keyword_names[i]), run.back(args.keyword_values[i])});
  const Av callee = token_of(self).av;
  return run.value(run.follow([&] { return run.capture().frames().call_now(callee, std::move(arguments)); }));
}

// Undefined: it has none of that name, which decides whether dict() takes it for a mapping.
Value token_attribute(Vm& vm, const Value& self, StrObject* name) {
  StandIns& run = run_of(self);
  const Av& av = token_of(self).av;
  const bool is_iterator = is_virtual(av, VirtualKind::Iterator) && name->view() == "keys";
  if (is_iterator || !run.follow([&] { return run.capture().attributes().has_attribute(av, name); })) return Value();
  (void)vm;
  refuse(self, "an attribute of a value the compiler does not know");
}

Value token_text(Vm& vm, const Value& self) {
  if (!token_of(self).owner) return str_value(vm, "a value");  // of an error that ended the run
  refuse(self, "the text of a value that only running can tell");
}

}  // namespace

Type* token_type(Vm& vm) {
  std::shared_ptr<void>& known = vm.extension(&kTokenType);
  if (known) return *std::static_pointer_cast<Type*>(known);
  TypeBuilder type(vm, "stand-in", Kind::Native);
  TypeSlots& slots = type.slots();
  slots.destroy = destroy_as<Token>;
  slots.binary = token_binary;
  slots.in_place = [](Vm&, BinaryOp, const Value& self, const Value&) -> Value {
    refuse(self, "a value that changes in place");
  };
  slots.unary = token_unary;
  slots.compare = token_compare;
  slots.hash = token_hash;
  slots.truth = token_truth;
  slots.length = token_length;
  slots.to_int = slots.to_index = token_to_index;
  slots.to_float = [](Vm&, const Value& self) -> Value { refuse(self, "a float that a call needs to know"); };
  slots.get_item = token_item;
  slots.set_item = [](Vm&, const Value& self, const Value&, const Value&) { refuse(self, "a store into a part"); };
  slots.delete_item = [](Vm&, const Value& self, const Value&) { refuse(self, "a deletion in a part"); };
  slots.contains = token_holds;
  slots.iterate = token_iterate;
  slots.next = token_next;
  slots.get_attribute = token_attribute;
  slots.set_attribute = [](Vm&, const Value& self, StrObject*, const Value&) {
    refuse(self, "an attribute that a call stores");
  };
  slots.call = token_called;
  slots.repr = slots.to_str = token_text;
  slots.format = [](Vm& vm, const Value& self, StrObject*) { return token_text(vm, self); };
  known = std::make_shared<Type*>(type.finish());
  return *std::static_pointer_cast<Type*>(known);
}

}  // namespace tsc::interp
