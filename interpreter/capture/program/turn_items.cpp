#include "interpreter/capture/program/turn_items.h"

#include <algorithm>

#include "interpreter/capture/entry/conditions.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/tensors.h"

namespace tsc::interp {

using jit::ScalarOp;

bool TurnItems::take(TurnSources& sources, const Av& iterable) {
  sources.iterable = iterable;
  return take(sources, iterable, false);
}

Av TurnItems::item(const TurnSources& sources, ValueId number) {
  size_t source = 0;
  return item(sources, sources.iterable, number, &source);
}

bool TurnItems::take(TurnSources& sources, const Av& iterable, bool reverse) {
  if (const VIterator* iterator = is_virtual(iterable, VirtualKind::Iterator) ? as<VIterator>(iterable) : nullptr) {
    if (iterator->position != 0 || reverse) return false;
    if (iterator->form == VIterator::Form::Items)
      return !iterator->pending.is_undefined() && take(sources, iterator->pending, iterator->reverse);
    const std::optional<Iterators::Rows> rows = iterators_.rows_of(*iterator);
    return rows && std::all_of(rows->iterators.begin(), rows->iterators.end(),
                               [&](const Av* inner) { return take(sources, *inner, false); });
  }
  TurnSource source;
  source.reverse = reverse;
  if (VTensor* tensor = is_virtual(iterable, VirtualKind::Tensor) ? as<VTensor>(iterable) : nullptr) {
    const jit::ValueList sizes = region_.type(tensors_.current(*tensor)).sizes;
    if (sizes.empty() || (tensor->requires_grad && modes_.grad_enabled)) return false;
    source.rows = iterable;
    source.count = sizes[0];
  } else if (!take_range(source, iterable)) {
    return false;
  }
  sources.count =
      sources.each.empty() ? source.count : conditions_.combined(ScalarOp::minimum, sources.count, source.count);
  sources.each.push_back(source);
  return true;
}

bool TurnItems::take_range(TurnSource& source, const Av& iterable) {
  Av stop, step;
  if (const VRange* range = as<VRange>(iterable)) {
    source.start = range->start, stop = range->stop, step = range->step;
  } else if (iterable.is_constant() && is_kind(iterable.value, Kind::Range)) {
    const RangeObject& range = *cast<RangeObject>(iterable.value);
    source.start = Av::integer(range.start), stop = Av::integer(range.stop), step = Av::integer(range.step);
  } else {
    return false;
  }
  const auto is_int = [](const Av& av) {
    return av.is_number() ? av.scalar_kind == jit::ValueKind::Int : av.is_constant() && av.value.is_int();
  };
  if (!is_int(source.start) || !is_int(stop) || !step.is_constant_int() || step.value.is_bool()) return false;
  source.step = step.value.as_int();
  constexpr int64_t kLargestStep = int64_t{1} << 31;
  if (source.step == 0 || std::abs(source.step) > kLargestStep) return false;
  const ValueId from = numbers_.number_id(source.start), to = numbers_.number_id(stop);
  const bool up = source.step > 0;
  ValueId distance = conditions_.combined(ScalarOp::sub, up ? to : from, up ? from : to);
  if (const int64_t by = std::abs(source.step); by > 1) {
    distance = conditions_.combined(ScalarOp::add, distance, builder_.constant(by - 1));
    distance = conditions_.combined(ScalarOp::floor_div, distance, builder_.constant(by));
  }
  source.count = distance;
  return true;
}

// What the turn is given.
Av TurnItems::item(const TurnSources& sources, const Av& iterable, ValueId number, size_t* source) {
  const VIterator* iterator = is_virtual(iterable, VirtualKind::Iterator) ? as<VIterator>(iterable) : nullptr;
  if (!iterator || iterator->form == VIterator::Form::Items) return item_of(sources.each[(*source)++], number);
  std::vector<Av> items;
  const Iterators::Rows rows = *iterators_.rows_of(*iterator);
  if (rows.count)
    items.push_back(numbers_.int_av(conditions_.combined(ScalarOp::add, number, builder_.constant(*rows.count))));
  for (const Av* inner : rows.iterators) items.push_back(item(sources, *inner, number, source));
  return containers_.make_tuple_av(std::move(items));
}

Av TurnItems::item_of(const TurnSource& source, ValueId number) {
  if (source.reverse)
    number = conditions_.combined(
        ScalarOp::sub, conditions_.combined(ScalarOp::sub, source.count, builder_.constant(int64_t{1})), number);
  if (source.rows.is_undefined()) {
    const ValueId by = conditions_.combined(ScalarOp::mul, number, builder_.constant(source.step));
    return numbers_.int_av(conditions_.combined(ScalarOp::add, numbers_.number_id(source.start), by));
  }
  const ValueId one = builder_.constant(int64_t{1});
  const ValueId scalars[] = {number, one, one};
  OpAttributes attributes;
  attributes.axes = Sizes{0};
  const jit::ValueList sizes = region_.type(tensors_.current(*tensors_.tensor_of(source.rows))).sizes;
  const Av part = tensors_.emit(Op::slice, {&source.rows, 1}, scalars, attributes);
  return tensors_.emit(Op::reshape, {&part, 1}, std::span<const ValueId>(sizes).subspan(1), {});
}

}  // namespace tsc::interp
