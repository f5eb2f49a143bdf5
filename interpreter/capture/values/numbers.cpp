// Numbers while capturing: constants are computed at once with the interpreter's own operations, registers
// become scalar instructions. Branches on registers become entry conditions when the value follows from
// entry values alone.
#include "interpreter/capture/values/numbers.h"

#include <algorithm>
#include <cmath>

#include "interpreter/builtins/builtins.h"
#include "interpreter/capture/house.h"
#include "interpreter/capture/natives/stand_ins.h"
#include "interpreter/tensor/elementwise.h"
#include "jit/region/scalar_eval.h"

namespace tsc::interp {
namespace {

using jit::ScalarOp;
using jit::ValueKind;

constexpr int64_t kMostRepeated = 100000;

bool is_plain_number(const Av& av) {
  return av.is_number() || (av.is_constant() && (av.value.is_int() || av.value.is_float() || av.value.is_bool()));
}

std::optional<ScalarOp> scalar_op_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add: return ScalarOp::add;
    case BinaryOp::Sub: return ScalarOp::sub;
    case BinaryOp::Mul: return ScalarOp::mul;
    case BinaryOp::TrueDiv: return ScalarOp::true_div;
    case BinaryOp::FloorDiv: return ScalarOp::floor_div;
    case BinaryOp::Mod: return ScalarOp::mod;
    case BinaryOp::Pow: return ScalarOp::pow;
    default: return std::nullopt;
  }
}

struct CompareRow {
  ScalarOp op;
  bool swapped;
};
constexpr CompareRow kCompareRows[] = {{ScalarOp::lt, false}, {ScalarOp::le, false}, {ScalarOp::eq, false},
                                       {ScalarOp::ne, false}, {ScalarOp::lt, true},  {ScalarOp::le, true}};

}  // namespace

ValueId Numbers::number_id(const Av& av) {
  if (av.is_number()) return av.id;
  if (!is_plain_number(av)) break_here(BreakReason::unknown_object, "expected a number");
  if (av.value.is_bool()) return builder_.constant_bool(av.value.as_bool());
  if (av.value.is_int()) return builder_.constant(av.value.as_int());
  return builder_.constant(av.value.as_float());
}

ValueId Numbers::int_id(const Av& av) {
  if (VTensor* tensor = tensors_.tensor_of(av)) {
    Av item = tensors_.read_item(*tensor);
    if (item.scalar_kind == ValueKind::Float) break_here(BreakReason::raises, "a float as index");
    return int_id(item);
  }
  if (const Av plain = operators_.without_class(av, {"__index__"}); !is_same(plain, av)) return int_id(plain);
  if (!is_plain_number(av)) break_here(BreakReason::raises, "expected an int");
  ValueKind kind = av.number_kind();
  if (kind == ValueKind::Float) break_here(BreakReason::raises, "a float where an int is needed");
  if (av.is_constant()) return builder_.constant(int64_t{av.value.as_int()});
  if (kind == ValueKind::Int) return av.id;
  return builder_.scalar(ScalarOp::bool_to_int, {&av.id, 1});
}

// A constant when everything is known for ever, a register otherwise.
Av Numbers::find_number(ValueId id) {
  ValueKind kind = region_.type(id).kind;
  if (std::optional<Scalar> known = builder_.known(id)) {
    if (kind == ValueKind::Bool) return Av::boolean(known->i != 0);
    return Av::constant(kind == ValueKind::Int ? Value::integer(known->i) : Value::real(known->f));
  }
  std::optional<Scalar> now = conditions_.hint(id);
  if (!now) return Av::number(kind, id, Value());
  Value value = kind == ValueKind::Bool  ? Value::boolean(now->i != 0)
                : kind == ValueKind::Int ? Value::integer(now->i)
                                         : Value::real(now->f);
  return Av::number(kind, id, value);
}

// Operands of one kind: bools count as ints, ints become floats beside a float.
std::vector<ValueId> Numbers::matched(std::span<const Av> operands, bool force_float) {
  bool any_float = force_float;
  for (const Av& av : operands) any_float |= av.number_kind() == ValueKind::Float;
  std::vector<ValueId> ids;
  for (const Av& av : operands) {
    ValueId id = number_id(av);
    ValueKind kind = av.number_kind();
    if (kind == ValueKind::Bool) {
      id = builder_.scalar(ScalarOp::bool_to_int, {&id, 1});
      kind = ValueKind::Int;
    }
    if (any_float && kind == ValueKind::Int) id = builder_.scalar(ScalarOp::int_to_float, {&id, 1});
    ids.push_back(id);
  }
  return ids;
}

// An int is compared with a float as a float, which holds every int up to 2**53.
void Numbers::compares_exactly(std::span<const Av> operands) {
  const auto is_float = [](const Av& av) { return av.number_kind() == ValueKind::Float; };
  if (std::none_of(operands.begin(), operands.end(), is_float)) return;
  for (const Av& av : operands)
    if (av.number_kind() == ValueKind::Int && !conditions_.assume_within(number_id(av), int64_t{1} << 53))
      break_here(BreakReason::unknown_number, "comparison of an int that may be beyond 2**53 with a float");
}

Av Numbers::emit_scalar(ScalarOp op, std::vector<Av> operands) {
  bool as_float = op == ScalarOp::pow || op >= ScalarOp::sqrt;
  if (op == ScalarOp::select) break_here(BreakReason::unknown_number, "select");
  if (op == ScalarOp::eq || op == ScalarOp::ne || op == ScalarOp::lt || op == ScalarOp::le) compares_exactly(operands);
  const std::vector<ValueId> ids = matched(operands, as_float);
  scalar_may_raise(op, ids);
  size_checks_.check_overflow(op, ids);
  const ValueId id = turn_conditions_.is_open() ? turn_conditions_.in_all_turns(op, ids) : builder_.scalar(op, ids);
  Av result = scalar_av(id);
  // What does not fold to a constant raises.
  if (result.is_number() &&
      std::all_of(operands.begin(), operands.end(), [](const Av& av) { return av.is_constant(); }))
    break_here(BreakReason::raises, "arithmetic of constants");
  return result;
}

void Numbers::scalar_may_raise(ScalarOp op, std::span<const ValueId> operands) {
  const auto is_known = [&](ValueId operand) { return builder_.known(operand).has_value(); };
  const bool on_values = jit::scalar_may_raise(op, ValueKind::Float);  // not where integers overflow
  if (!on_values || std::all_of(operands.begin(), operands.end(), is_known)) return;
  // Beyond 64 bits there is an int too, which the interpreter makes.
  if (op == ScalarOp::float_to_int && !cannot_raise(op, operands)) effects_.may_need_big_int();
  // What is written stands where the program wrote it, unless gradients wait, which may never leave the region.
  if (!frames_.is_protected() && !effects_.writes_wait() && !writes_.has_waiting_gradients())
    return writes_.flush_writes();
  if (!cannot_raise(op, operands)) effects_.operation_may_raise();
}

// What of the operands keeps it from raising, assumed at entry where that is so now.
bool Numbers::cannot_raise(ScalarOp op, std::span<const ValueId> operands) {
  const auto number = [&](double value) {
    return region_.type(operands[0]).kind == ValueKind::Int ? builder_.constant(static_cast<int64_t>(value))
                                                            : builder_.constant(value);
  };
  const auto holds = [&](ValueId left, ScalarOp relation, ValueId right) {
    const ValueId sides[] = {left, right};
    const ValueId condition = builder_.scalar(relation, sides);
    const std::optional<Scalar> known = builder_.known(condition);
    return known ? known->i != 0 : conditions_.assume_at_entry(condition);
  };
  const auto within = [&](ValueId value, double least, double most) {
    return holds(number(least), ScalarOp::le, value) && holds(value, ScalarOp::le, number(most));
  };
  const ValueId x = operands[0];
  switch (op) {
    case ScalarOp::true_div:
    case ScalarOp::floor_div:
    case ScalarOp::mod: return holds(operands[1], ScalarOp::ne, number(0));
    case ScalarOp::pow: {
      constexpr double kDigits = 300;  // the result's, before its point or behind
      if (const std::optional<Scalar> base = builder_.known(x); base && base->f > 0) {
        const double most = kDigits / std::max(std::abs(std::log10(base->f)), 1e-3);
        return within(operands[1], -most, most);
      }
      const std::optional<Scalar> exponent = builder_.known(operands[1]);
      if (!exponent)  // a decay: beta ** step
        return holds(number(0), ScalarOp::lt, x) && within(operands[1], 0, HUGE_VAL) &&
               holds(x, ScalarOp::le, number(1));
      const double most = std::pow(10.0, kDigits / std::max(std::abs(exponent->f), 1.0));
      const bool takes_all = exponent->f >= 0 && exponent->f == std::floor(exponent->f);
      return within(x, takes_all ? -most : 1 / most, most);
    }
    case ScalarOp::sqrt: return holds(number(0), ScalarOp::le, x);
    case ScalarOp::log: return holds(number(0), ScalarOp::lt, x);
    case ScalarOp::exp: return holds(x, ScalarOp::le, number(700));
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::float_to_int: return within(x, -0x1p62, 0x1p62);
    default: return false;
  }
}

// A number of a class of the script is a number to a tensor, unless the class has an operator of its own.
void Operators::refuse_own_operator(BinaryOp op, const Av& av) {
  if (!av.is_constant() || !is_kind(av.value, Kind::BoxedNumber)) return;
  const BinaryOpInfo& info = kBinaryOps[static_cast<int>(op)];
  for (const char* name : {info.method, info.reflected}) {
    const Value* found = attributes_.class_attribute(av.value.object()->type, intern(vm_, name).get(), nullptr);
    if (found && !is_kind(*found, Kind::NativeFunction)) break_here(BreakReason::unknown_call, name);
  }
}

Av Operators::without_class(const Av& av, std::initializer_list<const char*> methods) {
  const bool is_text = av.is_constant() && is_kind(av.value, Kind::Str);
  if (!is_text && !(av.is_constant() && is_kind(av.value, Kind::BoxedNumber))) return av;
  Type* type = av.value.object()->type;
  if (!(type->type_flags & kScriptClass)) return av;
  for (const char* name : methods)
    if (const Value* own = attributes_.class_attribute(type, intern(vm_, name).get(), nullptr);
        own && !is_kind(*own, Kind::NativeFunction))
      return av;
  return Av::constant(is_text ? str_value(vm_, cast<StrObject>(av.value)->view()) : unboxed_number(av.value));
}

Av Operators::binary(BinaryOp op, const Av& left, const Av& right) {
  if (tensors_.tensor_of(left) || tensors_.tensor_of(right)) {
    refuse_own_operator(op, left);
    refuse_own_operator(op, right);
    const OperatorPrimitive primitive = primitive_of(op, !tensors_.tensor_of(left));
    const Av operands[] = {left, primitive.reciprocal ? tensors_.elementwise(Op::reciprocal, {&right, 1}) : right};
    const Av result = primitive.exists ? tensors_.elementwise(primitive.op, operands) : Av();
    if (result.is_undefined()) break_here(BreakReason::unknown_object, "operand of a tensor operator");
    return result;
  }
  if (left.is_constant() && right.is_constant() && numbers_.is_plain_data(left.value) &&
      numbers_.is_plain_data(right.value))
    return Av::constant(interp::binary(vm_, op, left.value, right.value));
  const BinaryOpInfo& info = kBinaryOps[static_cast<int>(op)];
  const bool formats = op == BinaryOp::Mod && left.is_constant() &&  // asks its operand for a text
                       (is_kind(left.value, Kind::Str) || is_kind(left.value, Kind::Bytes));
  if (!formats) {
    const Av a = without_class(left, {info.method, info.reflected}),
             b = without_class(right, {info.method, info.reflected});
    if (!is_same(a, left) || !is_same(b, right)) return binary(op, a, b);
  }
  if (is_plain_number(left) && is_plain_number(right)) {
    std::optional<ScalarOp> scalar_op = scalar_op_of(op);
    bool ints = left.number_kind() != ValueKind::Float && right.number_kind() != ValueKind::Float;
    if (scalar_op && op == BinaryOp::Pow && ints) {
      if (right.is_constant_int() && right.value.as_int() == 2) return numbers_.scalar(ScalarOp::mul, {left, left});
      return binary(op, Av::integer(numbers_.concrete_int(left)), Av::integer(numbers_.concrete_int(right)));
    }
    if (scalar_op) return numbers_.scalar(*scalar_op, {left, right});
    const auto decided = [&](const Av& av) {
      return av.number_kind() == ValueKind::Bool ? Av::boolean(numbers_.truth(av))
                                                 : Av::integer(numbers_.concrete_int(av));
    };
    return binary(op, decided(left), decided(right));
  }
  return binary_sequence(op, left, right);
}

bool is_container(const Av& av) {
  for (VirtualKind kind :
       {VirtualKind::List, VirtualKind::Tuple, VirtualKind::Dict, VirtualKind::Set, VirtualKind::DictView})
    if (is_virtual(av, kind)) return true;
  for (Kind kind : {Kind::List, Kind::Tuple, Kind::Dict, Kind::Set, Kind::DictView})
    if (av.is_constant() && is_kind(av.value, kind)) return true;
  return false;
}

// What an operator of containers may meet: any other value would only be asked by the operator for its own opinion.
bool Operators::is_operand(const Av& av) const {
  return is_container(av) || is_plain_number(av) ||
         (av.is_constant() && numbers_.is_plain_data(av.value) && !is_kind(av.value, Kind::Type));
}

// A tuple of a class is one to the operators of tuples.
Av Operators::as_container(const Av& av) {
  if (containers_.is_sequence_of(av, Kind::Tuple) && attributes_.type_of_av(av) != vm_.types().tuple)
    return containers_.make_tuple_av(iterators_.items_of(av));
  const bool is_foreign = av.is_constant() && is_container(av) &&
                          (attributes_.type_of_av(av)->type_flags & kScriptClass || is_kind(av.value, Kind::DictView));
  if (is_foreign) break_here(BreakReason::unknown_object, "operator of a " + attributes_.type_of_av(av)->name);
  return av;
}

Av Operators::binary_sequence(BinaryOp op, const Av& left, const Av& right) {
  for (const Av* side : {&left, &right})
    calls_.refuse_override(*side, {"__add__", "__radd__", "__iadd__", "__mul__", "__rmul__", "__imul__"});
  const bool is_size = attributes_.type_of_av(left) == tensor_state_.size_type ||
                       attributes_.type_of_av(right) == tensor_state_.size_type;
  if (is_size && op == BinaryOp::Add && containers_.is_sequence_of(left, Kind::Tuple) &&
      containers_.is_sequence_of(right, Kind::Tuple)) {
    std::vector<Av> items = iterators_.items_of(left), more = iterators_.items_of(right);
    items.insert(items.end(), more.begin(), more.end());
    return containers_.make_tuple_like(attributes_.type_of_av(right) == tensor_state_.size_type ? right : left,
                                       std::move(items));
  }
  const bool is_text = left.is_constant() && (is_kind(left.value, Kind::Str) || is_kind(left.value, Kind::Bytes));
  if (is_size || !is_operand(left) || !is_operand(right) || (!is_container(left) && !is_container(right)))
    break_here(BreakReason::unknown_object, "operator on values the compiler does not know");
  const bool repeats = op == BinaryOp::Mul && (is_plain_number(left) || is_plain_number(right));
  const bool is_large = repeats && numbers_.concrete_int(is_plain_number(left) ? left : right) > kMostRepeated;
  if (is_large) break_here(BreakReason::too_large);
  // A text asks what kind of value stands at its right.
  return run_on_stand_ins(
      capture_, {as_container(left), as_container(right)},
      [&](std::span<const Value> v) { return interp::binary(vm_, op, v[0], v[1]); }, {},
      is_text && !repeats ? StandIns::Sees::Values : StandIns::Sees::Tokens);
}

// As the instruction does it: operators of script classes and of the tensor library too.
Av Operators::operate(BinaryOp op, const Av& left, const Av& right) {
  const bool is_tensor = tensors_.tensor_of(left) || tensors_.tensor_of(right);
  if (Av result = binary_dunder(op, false, left, right); !result.is_undefined()) return result;
  if (!is_tensor || (op != BinaryOp::MatMul && op != BinaryOp::Pow)) return binary(op, left, right);
  const char* name = op == BinaryOp::MatMul ? "_matmul" : "_pow";
  CallArguments arguments;
  arguments.positional = {left, right};
  return frames_.call_now(Av::constant(*lookup_in_type(tensor_state_.tensor_type, intern(vm_, name).get())),
                          std::move(arguments));
}

Av Operators::compare(CompareOp op, const Av& left, const Av& right) {
  OperatorPrimitive primitive = primitive_of(op);
  if (tensors_.tensor_of(left) || tensors_.tensor_of(right)) {
    const Av operands[] = {primitive.swapped ? right : left, primitive.swapped ? left : right};
    Av result = tensors_.elementwise(primitive.op, operands);
    if (!result.is_undefined()) return result;
    for (const Av& side : operands)  // a complex number, or one of a script's class
      if (side.is_constant() && is_script_number(side.value))
        break_here(BreakReason::unknown_number, "comparison of a tensor with such a number");
    if (op == CompareOp::Eq) return Av::boolean(false);
    if (op == CompareOp::Ne) return Av::boolean(true);
    break_here(BreakReason::raises, "comparison of a tensor");
  }
  if (left.is_constant() && right.is_constant() && numbers_.is_plain_data(left.value) &&
      numbers_.is_plain_data(right.value))
    return Av::constant(interp::compare(vm_, op, left.value, right.value));
  const std::initializer_list<const char*> methods = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"};
  if (const Av a = without_class(left, methods), b = without_class(right, methods);
      !is_same(a, left) || !is_same(b, right))
    return compare(op, a, b);
  if (is_plain_number(left) && is_plain_number(right)) {
    const CompareRow& row = kCompareRows[static_cast<int>(op)];
    return row.swapped ? numbers_.scalar(row.op, {right, left}) : numbers_.scalar(row.op, {left, right});
  }
  if (Av result = compare_dunder(op, left, right); !result.is_undefined()) return result;
  for (const Av* side : {&left, &right}) calls_.refuse_override(*side, methods);
  bool equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if ((is_container(left) || is_container(right)) && is_operand(left) && is_operand(right))
    return run_on_stand_ins(capture_, {as_container(left), as_container(right)},
                            [&](std::span<const Value> v) { return interp::compare(vm_, op, v[0], v[1]); });
  if (equality && (left.is_none() || right.is_none()))
    return Av::boolean((left.is_none() && right.is_none()) == (op == CompareOp::Eq));
  // A string that is compared is not only carried along: what it is decides the program.
  for (const Av* side : {&left, &right})
    if (VText* text = as<VText>(*side)) structures_.keep_text_whole(*text);
  break_here(BreakReason::unknown_object, "comparison of values the compiler does not know");
}

Av Operators::unary(UnaryOp op, const Av& operand) {
  static constexpr Op kTensorOps[] = {Op::neg, Op::neg, Op::bitwise_not, Op::abs};
  if (tensors_.tensor_of(operand))
    return op == UnaryOp::Positive ? operand : tensors_.elementwise(kTensorOps[static_cast<int>(op)], {&operand, 1});
  if (operand.is_constant() && numbers_.is_plain_data(operand.value))
    return Av::constant(interp::unary(vm_, op, operand.value));
  if (const Av plain = without_class(operand, {"__neg__", "__pos__", "__invert__", "__abs__"});
      !is_same(plain, operand))
    return unary(op, plain);
  if (is_plain_number(operand)) {
    switch (op) {
      case UnaryOp::Negative: return numbers_.scalar(ScalarOp::neg, {operand});
      case UnaryOp::Absolute: return numbers_.scalar(ScalarOp::abs, {operand});
      case UnaryOp::Positive: return numbers_.scalar(ScalarOp::add, {operand, Av::integer(0)});
      default: return unary(op, Av::integer(numbers_.concrete_int(operand)));
    }
  }
  break_here(BreakReason::unknown_object, "operator on a value the compiler does not know");
}

std::optional<bool> Numbers::own_truth(const Av& av) {
  std::optional<Av> own = calls_.call_own("__bool__", {av});
  const bool is_length = !own;
  if (is_length) own = calls_.call_own("__len__", {av});
  if (!own) return std::nullopt;
  const bool fits = is_length ? own->is_constant() && own->value.is_int() && own->value.as_int() >= 0
                              : own->holds_number() && attributes_.type_of_av(*own) == vm_.types().boolean;
  if (!fits)
    break_here(BreakReason::unknown_call,
               is_length ? "__len__ decides a truth" : "TypeError: __bool__ should return bool");
  return truth(*own);
}

bool Numbers::truth(const Av& av) {
  if (std::optional<bool> own = own_truth(av)) return *own;
  if (av.is_constant()) {
    if (as_tensor(tensor_state_, av.value)) break_here(BreakReason::tensor_branch);
    return truth_of_constant(av.value);
  }
  if (av.is_number()) {
    if (av.value.is_undefined()) break_here(BreakReason::unknown_number);
    bool now = interp::truth(vm_, av.value);
    assume_truth(av, now);
    return now;
  }
  if (VTensor* tensor = as<VTensor>(av)) {
    (void)tensor;
    break_here(BreakReason::tensor_branch);
  }
  if (VInstance* instance = as<VInstance>(av)) return truth_of_instance(instance->type.get());
  if (is_virtual(av, VirtualKind::List) && av.object->unread) {
    VList& list = static_cast<VList&>(*av.object);
    return !list.tail.empty() || truth(structures_.length_of_unread(list));
  }
  if (containers_.is_sequence(av) || as<VDict>(av) || as<VSet>(av) || as<VRange>(av) || as<VDictView>(av))
    return !iterators_.items_of(av).empty();
  if (as<VText>(av) || av.kind == Av::Kind::Opaque) break_here(BreakReason::unknown_object);
  return true;
}

bool Numbers::only_run_knows(const Av& av) const {
  return av.is_number() ? av.value.is_undefined() : tensors_.tensor_of(av) != nullptr;
}

ValueId Numbers::truth_in_region(const Av& av) {
  if (VTensor* tensor = tensors_.tensor_of(av)) return truth_in_region(tensors_.read_item(*tensor));
  if (av.scalar_kind == ValueKind::Bool) return av.id;
  const ValueId zero = av.scalar_kind == ValueKind::Int ? builder_.constant(int64_t{0}) : builder_.constant(0.0);
  const ValueId operands[] = {av.id, zero};
  return builder_.scalar(ScalarOp::ne, operands);
}

Av Numbers::negated(const Av& av) {
  if (!only_run_knows(av)) return Av::boolean(!truth(av));
  const ValueId holds = truth_in_region(av);
  return Av::number(ValueKind::Bool, builder_.scalar(ScalarOp::logical_not, {&holds, 1}), Value());
}

bool Numbers::truth_of_constant(const Value& v) {
  if (is_plain_data(v)) return interp::truth(vm_, v);
  if (is_kind(v, Kind::List) || is_kind(v, Kind::Dict) || is_kind(v, Kind::Set)) {
    cells_.assume_length(v);
    return length(vm_, v) != 0;
  }
  return truth_of_instance(v.object()->type);
}

bool Numbers::truth_of_instance(Type* type) {
  if (type->slots.truth || type->slots.length) break_here(BreakReason::unknown_call, "__bool__");
  return true;
}

void Numbers::assume_truth(const Av& number, bool now) {
  ValueId condition = number.id;
  if (number.scalar_kind != ValueKind::Bool) {
    const ValueId operands[] = {
        number.id, number.scalar_kind == ValueKind::Int ? builder_.constant(int64_t{0}) : builder_.constant(0.0)};
    condition = builder_.scalar(now ? ScalarOp::ne : ScalarOp::eq, operands);
  } else if (!now) {
    condition = builder_.scalar(ScalarOp::logical_not, {&condition, 1});
  }
  if (!conditions_.assume_at_entry(condition)) break_here(BreakReason::unknown_number);
}

int64_t Numbers::concrete_int(const Av& av) {
  if (av.is_constant_int()) return av.value.as_int();
  if (VTensor* tensor = tensors_.tensor_of(av)) return concrete_int(tensors_.read_item(*tensor));
  if (const Av plain = operators_.without_class(av, {"__index__"}); !is_same(plain, av)) return concrete_int(plain);
  if (!av.is_number() || av.scalar_kind == ValueKind::Float) break_here(BreakReason::raises, "expected an int");
  if (av.value.is_undefined()) break_here(BreakReason::unknown_number);
  ValueId id = int_id(av);
  const ValueId operands[] = {id, builder_.constant(av.value.as_int())};
  if (!conditions_.assume_at_entry(builder_.scalar(ScalarOp::eq, operands))) break_here(BreakReason::unknown_number);
  cells_.note_fact("a number is " + std::to_string(av.value.as_int()) + " (it decides a loop or a structure)");
  return av.value.as_int();
}

namespace {

// Taken apart by position: of two it is not known whether they are one.
bool is_foreign_tuple(const Av& av) {
  return is_virtual(av, VirtualKind::Tuple) && av.object->source != Virtual::kMadeHere;
}

}  // namespace

bool Operators::are_one_object(const Av& a, const Av& b) {
  // Of a text nothing is known but what it says.
  for (const Av* one : {&a, &b})
    if (is_virtual(*one, VirtualKind::Text) && attributes_.type_of_av(one == &a ? b : a) == vm_.types().str)
      break_here(BreakReason::unknown_object, "`is` on texts");
  if (a.kind == Av::Kind::Virtual && b.kind == Av::Kind::Virtual) {
    if (a.object->kind != VirtualKind::Tensor) repeats_.spoil_record();  // what a record makes anew may have been one
    const uint32_t left = a.object->source, right = b.object->source;
    if (a.object == b.object) return true;
    const VTensor *one = as<VTensor>(a), *other = as<VTensor>(b);
    if (one && other && one->host.is_object() && one->host.is(other->host)) {
      memory_.tells_apart = true;
      throw CaptureRestart{};
    }
    if (is_foreign_tuple(a) && is_foreign_tuple(b))
      break_here(BreakReason::unknown_object, "`is` on tuples from outside");
    // Two that are known by identity stay two.
    const auto is_known = [&](uint32_t source) { return plan_.sources[source].form == EntrySource::Form::Pinned; };
    const bool came_in = left != Virtual::kMadeHere && right != Virtual::kMadeHere;
    if (came_in && !(is_known(left) && is_known(right))) plan_.different.push_back({left, right});
    return false;
  }
  if (a.is_constant() && b.is_constant()) {
    for (const Av* one : {&a, &b})
      if (is_kind((one == &a ? b : a).value, Kind::Str) && is_kind(one->value, Kind::Str) &&
          structures_.source_of_text(one->value.object()))
        break_here(BreakReason::unknown_object, "`is` on texts");
    return a.value.is(b.value);
  }
  const Av& other = a.is_constant() ? b : a;
  if (is_foreign_tuple(other) && is_kind((a.is_constant() ? a : b).value, Kind::Tuple))
    break_here(BreakReason::unknown_object, "`is` on tuples from outside");
  if (other.kind == Av::Kind::Virtual && other.object->source != Virtual::kMadeHere &&
      other.object->kind != VirtualKind::Tensor)
    if (const Value& fixed = (a.is_constant() ? a : b).value; fixed.is_object()) structures_.keep_apart_from(fixed);
  if (VTensor* tensor = as<VTensor>(other)) {
    const Av& fixed = a.is_constant() ? a : b;
    if (fixed.value.is_object()) repeats_.spoil_record();  // which may be a script tensor
    return fixed.is_constant() && !tensor->host.is_undefined() && tensor->host.is(fixed.value);
  }
  if (a.is_none() || b.is_none()) {
    if (other.kind == Av::Kind::Opaque) break_here(BreakReason::unknown_object);
    return false;
  }
  if (other.is_number()) {  // two kinds of value are never one
    const Value& fixed = (a.is_constant() ? a : b).value;
    const bool is_one_kind = (a.is_number() && b.is_number()) || fixed.is_int() || fixed.is_float() || fixed.is_bool();
    if (is_one_kind) break_here(BreakReason::unknown_object, "`is` on a number");
    return false;
  }
  if (other.kind == Av::Kind::Opaque) break_here(BreakReason::unknown_object, "`is` on an unknown object");
  return false;
}

// Constants whose operations run no script code and have no effect.
bool Numbers::is_plain_data(const Value& v) const {
  if (!v.is_object()) return true;
  switch (v.object()->kind) {
    case Kind::Str:
    case Kind::Complex:
    case Kind::Bytes: return !(v.object()->type->type_flags & kScriptClass);
    case Kind::Tuple:
      for (const Value& item : cast<TupleObject>(v)->span())
        if (!is_plain_data(item)) return false;
      return true;
    case Kind::BigInt: return true;
    case Kind::Native: return v.object()->type == tensor_state_.dtype_type;
    case Kind::Type:
    case Kind::Function:
    case Kind::NativeFunction:
    case Kind::Module:
    case Kind::Range:
    case Kind::Slice: return true;
    default: return v.is(vm_.ellipsis()) || v.is(vm_.not_implemented());
  }
}

}  // namespace tsc::interp
