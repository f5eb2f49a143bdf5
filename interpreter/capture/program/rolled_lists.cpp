// Lists that a rolled loop appends to: behind it they are the rows of a tensor.
#include <algorithm>

#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loop.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/tensors.h"

namespace tsc::interp {

using jit::ScalarOp;

// What a turn appends to it is read back by torch.stack and torch.cat alone, as rows of one tensor.
void RolledLoops::take_list(Loop& loop, const std::shared_ptr<VList>& list) {
  const std::vector<Av>& had = loop.had[list.get()];
  const bool grows = !list->unread && !list->built && list->items.size() == had.size() + 1 &&
                     std::equal(had.begin(), had.end(), list->items.begin(), is_same);
  if (!grows || !is_virtual(list->items.back(), VirtualKind::Tensor)) abandon(loop);
  loop.lists.push_back(list);
}

// The one tensor that each list has got, which the turn has made, or a view. A write behind the loop to memory that it
// shares would show in it.
void RolledLoops::collect_appended(Loop& loop, std::vector<ValueId>* stacked) {
  for (const auto& list : loop.lists) {
    const VTensor* tensor =
        list->tail.size() == 1 && is_virtual(list->tail[0], VirtualKind::Tensor) ? as<VTensor>(list->tail[0]) : nullptr;
    if (!tensor || tensor->has_grad_overlay || tensor->is_inference != modes_.inference) abandon(loop);
    const std::shared_ptr<VTensor> part = std::static_pointer_cast<VTensor>(list->tail[0].object);
    const VTensor* root = root_of(*part);
    const bool is_written =
        std::any_of(loop.elements.begin(), loop.elements.end(), [&](const auto& one) { return one.get() == root; });
    if (is_written) abandon(loop);
    const ValueId id = tensors_.current(*part);
    const VTensor* last = as<VTensor>(list->items.back());
    const jit::Type &type = region_.type(id), &before = region_.type(last->id);
    bool fits = tensor->requires_grad == last->requires_grad && !tensor->hooked && type.dtype == before.dtype &&
                type.sizes.size() == before.sizes.size();
    for (size_t k = 0; fits && k < type.sizes.size(); ++k)
      fits = builder_.depth_of(type.sizes[k]) < builder_.open_blocks() &&
             builder_.known_equal(type.sizes[k], before.sizes[k]);
    if (!fits) abandon(loop);
    if (tensor->requires_grad) loop.with_gradients.push_back(id);
    stacked->push_back(id);
    seen_in_rows_.push_back(const_cast<VTensor*>(root)->shared_from_this());
    for (const auto& [began, now] : loop.ended)
      if (now->kind == VirtualKind::Tensor && root_of(*const_cast<VTensor*>(static_cast<const VTensor*>(now))) == root)
        loop.shown.push_back(began);
  }
}

// ---- lists that have grown ----

void RolledLoops::leave_lists(Loop& loop, std::span<const ValueId> rows) {
  // A tensor whose memory an item has too is not written any more.
  for (const Virtual* began : loop.shown)
    if (const auto now = loop.made.find(began); now != loop.made.end()) seen_in_rows_.push_back(now->second.object);
  for (size_t i = 0; i < loop.lists.size(); ++i) {
    loop.lists[i]->tail.clear();
    loop.lists[i]->rows = tensors_.new_tensor(rows[i], !gradients_.is_without_history(rows[i]));
  }
}

Av RolledLoops::length_of(const VList& list) {
  if (list.rows.is_undefined()) follow_all();
  const ValueId rows = region_.type(as<VTensor>(list.rows)->id).sizes[0];
  return numbers_.scalar(
      ScalarOp::add, {numbers_.int_av(rows), Av::integer(static_cast<int64_t>(list.items.size() + list.tail.size()))});
}

void RolledLoops::append(VList& list, const Av& item) {
  note(list, true);
  list.tail.push_back(item);
}

Av RolledLoops::filled_rows(const Av& av) {
  if (!is_virtual(av, VirtualKind::List)) return Av::none();
  const VList& list = static_cast<const VList&>(*av.object);
  if (list.rows.is_undefined()) return Av::none();
  const jit::Type rows = region_.type(as<VTensor>(list.rows)->id);
  const auto is_like_rows = [&](const Av& item) {
    if (!is_virtual(item, VirtualKind::Tensor)) return false;
    const jit::Type& type = region_.type(as<VTensor>(item)->id);
    bool same = type.dtype == rows.dtype && type.sizes.size() + 1 == rows.sizes.size();
    for (size_t k = 0; same && k < type.sizes.size(); ++k)
      same = builder_.known_equal(type.sizes[k], rows.sizes[k + 1]);
    return same;
  };
  for (const auto* items : {&list.items, &list.tail})
    if (!std::all_of(items->begin(), items->end(), is_like_rows)) return Av::none();
  repeats_.spoil_record();
  return containers_.make_tuple_av(
      {containers_.make_list_av(list.items), list.rows, containers_.make_list_av(list.tail)});
}

}  // namespace tsc::interp
