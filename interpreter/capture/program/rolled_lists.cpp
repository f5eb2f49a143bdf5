// Lists that a rolled loop appends to: behind it they are the rows of a tensor.
#include <algorithm>

#include "interpreter/capture/program/rolled_loop.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/tensors.h"

namespace tsc::interp {

using jit::ScalarOp;

namespace {

// The library function checks each item and the axis: only what it finds in order is joined as rows.
bool are_joined(const CaptureBuilder& builder, const jit::Region& region, const VList& list, const CallArguments& arguments, bool adds_axis) {
  const bool has_keyword = arguments.keywords.size() == 1 && arguments.keywords[0].first->view() == "dim";
  if (arguments.positional.size() > 2 || arguments.positional.size() + arguments.keywords.size() > 2 || (!arguments.keywords.empty() && !has_keyword)) return false;
  const Av dim = arguments.positional.size() > 1 ? arguments.positional[1] : has_keyword ? arguments.keywords[0].second : Av::integer(0);
  const jit::Type rows = region.type(as<VTensor>(list.rows)->id);
  const int64_t rank = static_cast<int64_t>(rows.sizes.size()) - 1;  // of an item
  const int64_t axes = rank + adds_axis;
  if (!dim.is_constant() || !dim.value.is_int() || dim.value.as_int() >= axes || dim.value.as_int() < -axes) return false;
  const auto fits = [&](const Av& item) {
    if (!is_virtual(item, VirtualKind::Tensor)) return false;
    const jit::Type& type = region.type(as<VTensor>(item)->id);
    bool same = type.dtype == rows.dtype && static_cast<int64_t>(type.sizes.size()) == rank;
    for (size_t k = 0; same && k < type.sizes.size(); ++k) same = builder.known_equal(type.sizes[k], rows.sizes[k + 1]);
    return same;
  };
  return std::all_of(list.items.begin(), list.items.end(), fits) && std::all_of(list.tail.begin(), list.tail.end(), fits);
}

}  // namespace

// What a turn appends to it is read back by torch.stack and torch.cat alone, as rows of one tensor.
void RolledLoops::take_list(Loop& loop, const std::shared_ptr<VList>& list) {
  const std::vector<Av>& had = loop.had[list.get()];
  const bool grows = !list->unread && !list->built && list->items.size() == had.size() + 1 && std::equal(had.begin(), had.end(), list->items.begin(), is_same);
  if (!grows || !is_virtual(list->items.back(), VirtualKind::Tensor)) abandon(loop);
  loop.lists.push_back(list);
}

// The one tensor that each list has got, which the turn has made, or a view. A write behind the loop to memory that it shares would
// show in it.
void RolledLoops::collect_appended(Loop& loop, std::vector<ValueId>* stacked) {
  for (const auto& list : loop.lists) {
    const VTensor* tensor = list->tail.size() == 1 && is_virtual(list->tail[0], VirtualKind::Tensor) ? as<VTensor>(list->tail[0]) : nullptr;
    if (!tensor || tensor->requires_grad || tensor->has_grad_overlay || tensor->is_inference != modes_.inference) abandon(loop);
    const std::shared_ptr<VTensor> part = std::static_pointer_cast<VTensor>(list->tail[0].object);
    const VTensor* root = root_of(*part);
    const bool is_written = std::any_of(loop.elements.begin(), loop.elements.end(), [&](const auto& one) { return one.get() == root; });
    if (is_written) abandon(loop);
    const ValueId id = tensors_.current(*part);
    const VTensor* last = as<VTensor>(list->items.back());
    const jit::Type &type = region_.type(id), &before = region_.type(last->id);
    bool fits = type.dtype == before.dtype && type.sizes.size() == before.sizes.size();
    for (size_t k = 0; fits && k < type.sizes.size(); ++k)
      fits = builder_.depth_of(type.sizes[k]) < builder_.open_loops() && builder_.known_equal(type.sizes[k], before.sizes[k]);
    if (!fits) abandon(loop);
    stacked->push_back(id);
    seen_in_rows_.push_back(const_cast<VTensor*>(root)->shared_from_this());
    for (const auto& [began, now] : loop.ended)
      if (now->kind == VirtualKind::Tensor && root_of(*const_cast<VTensor*>(static_cast<const VTensor*>(now))) == root) loop.shown.push_back(began);
  }
}

// ---- lists that have grown ----

Av RolledLoops::length_of(const VList& list) {
  if (list.rows.is_undefined()) follow_all();
  const ValueId rows = region_.type(as<VTensor>(list.rows)->id).sizes[0];
  return numbers_.scalar(ScalarOp::add, {numbers_.int_av(rows), Av::integer(static_cast<int64_t>(list.items.size() + list.tail.size()))});
}

void RolledLoops::append(VList& list, const Av& item) {
  appending_ = true;
  note_change(list);
  appending_ = false;
  list.tail.push_back(item);
}

std::optional<Av> RolledLoops::joining(const FunctionObject& function, CallArguments* arguments) {
  if (arguments->positional.empty() || rolled_places_.empty() || !is_virtual(arguments->positional[0], VirtualKind::List)) return std::nullopt;
  const VList& list = static_cast<const VList&>(*arguments->positional[0].object);
  const bool joins = function.module && function.module->name == "torch._joining" && (function.name->view() == "stack" || function.name->view() == "cat");
  if (list.rows.is_undefined() || !joins || !are_joined(builder_, region_, list, *arguments, function.name->view() == "stack")) return std::nullopt;
  const Value found = dict_get(vm_, function.module->globals.get(), intern(vm_, function.name->view() == "stack" ? "_stack_with_rows" : "_cat_with_rows").value());
  if (found.is_undefined()) return std::nullopt;
  const Av first = containers_.make_list_av(list.items), rows = list.rows, last = containers_.make_list_av(list.tail);
  arguments->positional[0] = first;
  arguments->positional.insert(arguments->positional.begin() + 1, {rows, last});
  return Av::constant(found);
}

}  // namespace tsc::interp
