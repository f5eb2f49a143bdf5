// Natives that take a function or an iterable apart: map, filter, sorted, any, all, round.
#include <cmath>

#include "interpreter/capture/native_table.h"

namespace tsc::interp {
namespace {

using Arguments = Capture::CallArguments;

Av at(const Arguments& arguments, size_t i) {
  return i < arguments.positional.size() ? arguments.positional[i] : Av();
}

Av call_map(Capture& capture, Arguments& arguments) {
  if (arguments.positional.size() < 2 || !arguments.keywords.empty())
    capture.break_here(BreakReason::unknown_call, "map()");
  std::shared_ptr<VIterator> iterator = capture.make_lazy(VIterator::Form::Map);
  iterator->function = arguments.positional[0];
  for (size_t i = 1; i < arguments.positional.size(); ++i)
    iterator->inner.push_back(capture.iterate(arguments.positional[i]));
  return Av::of(iterator);
}

Av call_filter(Capture& capture, Arguments& arguments) {
  if (arguments.positional.size() != 2 || !arguments.keywords.empty())
    capture.break_here(BreakReason::unknown_call, "filter()");
  std::shared_ptr<VIterator> iterator = capture.make_lazy(VIterator::Form::Filter);
  iterator->function = arguments.positional[0];
  iterator->inner = {capture.iterate(arguments.positional[1])};
  return Av::of(iterator);
}

// Stops at the first item that decides, as a generator's later items must not run.
template <bool decisive>
Av call_quantifier(Capture& capture, Arguments& arguments) {
  Av iterator = capture.iterate(at(arguments, 0));
  Av item;
  while (capture.next(*as<VIterator>(iterator), &item))
    if (capture.truth(item) == decisive) return Av::boolean(decisive);
  return Av::boolean(!decisive);
}

// A stable sort by `<` of the keys alone, as Python's; keys must be numbers or constants.
std::vector<Av> sorted_items(Capture& capture, const Av& iterable, const Av& key, const Av& reverse) {
  std::vector<Av> items = capture.items_of(iterable), keys = items;
  if (!key.is_undefined() && !key.is_none())
    for (Av& one : keys) {
      Arguments arguments;
      arguments.positional = {one};
      one = capture.call_now(key, std::move(arguments));
    }
  // What an order without an order gives depends on how the sort goes.
  for (const Av& one : keys)
    if (one.value.is_float() && std::isnan(one.value.as_float())) capture.break_here(BreakReason::unknown_call, "a sort of nan");
  const bool down = !reverse.is_undefined() && capture.truth(reverse);
  // Insertion keeps equal items in order: one moves in front of what is strictly larger (or smaller).
  for (size_t i = 1; i < items.size(); ++i) {
    Av item = items[i], by = keys[i];
    size_t place = i;
    while (place > 0) {
      const Av& other = keys[place - 1];
      if (!capture.truth(down ? capture.compare(CompareOp::Lt, other, by)
                              : capture.compare(CompareOp::Lt, by, other)))
        break;
      items[place] = items[place - 1];
      keys[place] = keys[place - 1];
      --place;
    }
    items[place] = item;
    keys[place] = by;
  }
  return items;
}

Av call_sorted(Capture& capture, Arguments& arguments) {
  return capture.make_list_av(
      sorted_items(capture, at(arguments, 0), at(arguments, 1), at(arguments, 2)));
}

Av list_sort(Capture& capture, Arguments& arguments) {
  VList* list = as<VList>(at(arguments, 0));
  if (!list || list->source != Virtual::kMadeHere)
    capture.break_here(BreakReason::escape, "a list from outside the region is sorted");
  capture.will_change(*list);
  // The key sees an empty list, and one that it changes raises.
  if (!at(arguments, 1).is_none() && !at(arguments, 1).is_undefined()) capture.break_here(BreakReason::unknown_call, "list.sort(key=)");
  list->items = sorted_items(capture, at(arguments, 0), at(arguments, 1), at(arguments, 2));
  return Av::none();
}

Av call_round(Capture& capture, Arguments& arguments) {
  const Av number = at(arguments, 0), digits = at(arguments, 1);
  const Value round = dict_get(capture.vm(), capture.vm().builtins()->globals.get(), "round");
  if (number.is_constant() && capture.is_plain_data(number.value) && digits.is_constant())
    return Av::constant(call(capture.vm(), round, {number.value, digits.value}));
  if (!number.is_number()) capture.break_here(BreakReason::unknown_call, "round()");
  if (number.scalar_kind != jit::ValueKind::Float) {
    if (digits.is_none() && number.scalar_kind == jit::ValueKind::Int) return number;
    capture.break_here(BreakReason::unknown_call, "round() of an int");
  }
  if (digits.is_none())
    return capture.scalar(jit::ScalarOp::float_to_int,
                          {capture.scalar(jit::ScalarOp::round, {number})});
  // Rounding to decimal digits goes through the number's text: the interpreter does it.
  HostAction action;
  action.reason = BreakReason::host_call;
  action.has_result = true;
  action.result = jit::ValueKind::Float;
  return capture.host_action_with_result(std::move(action), {Av::constant(round), number, digits});
}

constexpr NativeRow kIteration[] = {
    {"map", call_map},
    {"filter", call_filter},
    {"any", call_quantifier<true>},
    {"all", call_quantifier<false>},
    {"sorted", call_sorted},
    {"list.sort", list_sort},
    {"round", call_round},
};

}  // namespace

std::span<const NativeRow> iteration_natives() { return kIteration; }

}  // namespace tsc::interp
