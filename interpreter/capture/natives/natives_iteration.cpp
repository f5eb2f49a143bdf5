// Symbolic forms of map and filter, whose items are made when they are asked for, and of round.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/written/effects.h"

namespace tsc::interp {
namespace {

using Arguments = CallArguments;

Av call_round(Capture& capture, Arguments& arguments) {
  const Av number = at(arguments, 0), digits = at(arguments, 1);
  if (!number.is_number()) return capture.calls().decline();
  if (number.scalar_kind != jit::ValueKind::Float) {
    if (digits.is_none() && number.scalar_kind == jit::ValueKind::Int) return number;
    break_here(BreakReason::unknown_call, "round() of an int");
  }
  if (digits.is_none())
    return capture.numbers().scalar(jit::ScalarOp::float_to_int,
                          {capture.numbers().scalar(jit::ScalarOp::round, {number})});
  // Rounding to decimal digits goes through the number's text: the interpreter does it.
  const Value round = dict_get(capture.vm(), capture.vm().builtins()->globals.get(), "round");
  HostAction action;
  action.reason = BreakReason::host_call;
  action.has_result = true;
  action.is_effect = false;
  action.result = jit::ValueKind::Float;
  return capture.effects().host_action_with_result(std::move(action), {Av::constant(round), number, digits});
}

constexpr NativeRow kIteration[] = {
    {"round", call_round, NativeRow::Runs::OnValues},
};

}  // namespace

std::span<const NativeRow> iteration_forms() { return kIteration; }

}  // namespace tsc::interp
