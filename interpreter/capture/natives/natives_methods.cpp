// Symbolic forms of methods: what must not look at the whole container, and functions of numbers.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/capture/outside/cells.h"
#include "interpreter/capture/program/calls.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/effects.h"

namespace tsc::interp {
namespace {

using Arguments = CallArguments;

VList& virtual_list(const Arguments& arguments) {
  VList* list = as<VList>(at(arguments, 0));
  if (!list) break_here(BreakReason::escape, "a list from outside the region is changed");
  return *list;
}

Av host_method(Capture& capture, const char* name, Arguments& arguments) {
  // A list of the host: the interpreter does it in place, in order; later reads here would be stale.
  const Av& self = arguments.positional[0];
  if (!self.is_constant()) break_here(BreakReason::unknown_object, name);
  capture.effects().effect_may_raise();
  HostAction action;
  action.reason = BreakReason::host_call;
  // The list's own, whatever a class made of list calls so.
  const Value* method = lookup_in_type(capture.vm().types().list, intern(capture.vm(), name).get());
  std::vector<Av> values = {Av::constant(*method)};
  values.insert(values.end(), arguments.positional.begin(), arguments.positional.end());
  capture.cells().forbid_reads(self.value);
  capture.effects().host_action(std::move(action), std::move(values));
  return Av::none();
}

Av list_append(Capture& capture, Arguments& arguments) {
  const Av list = at(arguments, 0);
  if (!is_virtual(list, VirtualKind::List)) return host_method(capture, "append", arguments);
  capture.containers().append(list, at(arguments, 1));
  return Av::none();
}

Av list_extend(Capture& capture, Arguments& arguments) {
  std::vector<Av> items = capture.iterators().items_of(at(arguments, 1));
  VList& list = virtual_list(arguments);
  capture.effects().write_through(at(arguments, 0), "extend", {capture.containers().make_tuple_av(items)});
  list.items.insert(list.items.end(), items.begin(), items.end());
  return Av::none();
}

Av dict_get(Capture& capture, Arguments& arguments) {
  Av found = capture.containers().dict_find(at(arguments, 0), at(arguments, 1));
  if (!found.is_undefined()) return found;
  return at(arguments, 2).is_undefined() ? Av::none() : at(arguments, 2);
}

template <VDictView::Form form>
Av dict_view(Capture& capture, Arguments& arguments) {
  if (!capture.containers().is_dict(at(arguments, 0))) break_here(BreakReason::unknown_object, "a view of a dict");
  auto view = capture.make<VDictView>();
  view->form = form;
  view->dict = at(arguments, 0);
  return Av::of(view);
}

// ---- math ----

template <jit::ScalarOp op>
Av math_function(Capture& capture, Arguments& arguments) {
  Av av = at(arguments, 0);
  if (av.is_constant() && capture.numbers().is_plain_data(av.value)) return capture.calls().decline();
  if (VTensor* tensor = capture.tensors().tensor_of(av)) av = capture.tensors().read_item(*tensor);
  if (!av.holds_number()) break_here(BreakReason::raises, "TypeError: a function of numbers");
  return capture.numbers().scalar(op, {av});
}

template <jit::ScalarOp op>
Av math_rounding(Capture& capture, Arguments& arguments) {
  const Av& av = at(arguments, 0);
  if (av.is_number() && av.scalar_kind != jit::ValueKind::Float)
    return capture.numbers().scalar(jit::ScalarOp::add, {av, Av::integer(0)});
  Av rounded = math_function<op>(capture, arguments);
  if (rounded.is_undefined()) return rounded;
  return capture.numbers().scalar(jit::ScalarOp::float_to_int, {rounded});
}

Av math_pow(Capture& capture, Arguments& arguments) {
  if (at(arguments, 0).is_constant() && at(arguments, 1).is_constant()) return capture.calls().decline();
  for (const Av& av : arguments.positional)
    if (!av.holds_number()) break_here(BreakReason::raises, "TypeError: a function of numbers");
  // Its errors are not those of the operator.
  const Av operands[] = {at(arguments, 0), at(arguments, 1)};
  if (!capture.numbers().cannot_raise(jit::ScalarOp::pow, capture.numbers().matched(operands, true)))
    break_here(BreakReason::unknown_number, "math.pow() that may raise");
  return capture.numbers().scalar(jit::ScalarOp::pow, {operands[0], operands[1]});
}

using Runs = NativeRow::Runs;

constexpr NativeRow kMethods[] = {
    {"list.append", list_append},
    {"list.extend", list_extend},
    {"dict.get", dict_get},
    {"dict.keys", dict_view<VDictView::Form::Keys>},
    {"dict.values", dict_view<VDictView::Form::Values>},
    {"dict.items", dict_view<VDictView::Form::Items>},
    {"math.sqrt", math_function<jit::ScalarOp::sqrt>, Runs::OnValues},
    {"math.exp", math_function<jit::ScalarOp::exp>, Runs::OnValues},
    {"math.sin", math_function<jit::ScalarOp::sin>, Runs::OnValues},
    {"math.cos", math_function<jit::ScalarOp::cos>, Runs::OnValues},
    {"math.tanh", math_function<jit::ScalarOp::tanh>, Runs::OnValues},
    {"math.floor", math_rounding<jit::ScalarOp::floor>, Runs::OnValues},
    {"math.ceil", math_rounding<jit::ScalarOp::ceil>, Runs::OnValues},
    {"math.pow", math_pow, Runs::OnValues},
};

}  // namespace

std::span<const NativeRow> method_forms() { return kMethods; }

}  // namespace tsc::interp
