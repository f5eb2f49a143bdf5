// Writes while capturing: a write makes a new version of the base, host tensors are brought up to date where
// somebody may look at them.
#include "interpreter/capture/written/writes.h"

#include <algorithm>

#include "interpreter/capture/capture.h"
#include "interpreter/capture/outside/inputs.h"
#include "interpreter/capture/program/frames.h"
#include "interpreter/capture/program/repeated_calls.h"
#include "interpreter/capture/program/rolled_loops.h"
#include "interpreter/capture/values/gradients.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/shapes.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/capture/written/effects.h"
#include "jit/autodiff/rules.h"

namespace tsc::interp {

namespace {

// The strided map of a view inside its row-major root, followed from the root down.
struct StridedMap {
  ValueId offset;
  std::vector<ValueId> sizes, strides;
  bool contiguous = true;
};

}  // namespace

class MapBuilder {
 public:
  explicit MapBuilder(jit::RegionBuilder& builder) : builder_(builder) {}

  StridedMap map_of(VTensor& tensor) {
    if (!tensor.view) return root_map(tensor);
    StridedMap map = map_of(*tensor.view->parent);
    const VirtualView& view = *tensor.view;
    switch (view.op) {
      case Op::detach:
      case Op::save_for_backward: return map;
      case Op::slice: return slice(std::move(map), view);
      case Op::permute: return permute(std::move(map), view);
      case Op::reshape:
        if (!map.contiguous) return move_ones(map, view.scalars);
        map.sizes = view.scalars;
        map.strides = row_major(map.sizes);
        return map;
      default: refuse();
    }
  }

 private:
  [[noreturn]] void refuse() { break_here(BreakReason::write, "write through this view"); }

  // Axes of size 1 come and go in every layout.
  StridedMap move_ones(const StridedMap& map, const std::vector<ValueId>& to) {
    StridedMap out = map;
    out.sizes = to;
    out.strides.assign(to.size(), builder_.constant(int64_t{1}));
    size_t i = 0, j = 0;
    while (i < map.sizes.size() || j < to.size()) {
      if (i < map.sizes.size() && builder_.known_int(map.sizes[i]) == 1) ++i;
      else if (j < to.size() && builder_.known_int(to[j]) == 1) ++j;
      else if (i < map.sizes.size() && j < to.size() && builder_.known_equal(map.sizes[i], to[j]))
        out.strides[j++] = map.strides[i++];
      else refuse();
    }
    return out;
  }

  std::vector<ValueId> row_major(const std::vector<ValueId>& sizes) {
    std::vector<ValueId> strides(sizes.size());
    ValueId stride = builder_.constant(int64_t{1});
    for (size_t i = sizes.size(); i-- > 0;) {
      strides[i] = stride;
      const ValueId factors[] = {stride, sizes[i]};
      stride = builder_.scalar(jit::ScalarOp::mul, factors);
    }
    return strides;
  }

  StridedMap root_map(VTensor& root) {
    StridedMap map;
    map.offset = builder_.constant(int64_t{0});
    for (ValueId size : builder_.region().type(root.id).sizes) map.sizes.push_back(size);
    map.strides = row_major(map.sizes);
    map.contiguous = root.contiguous;
    return map;
  }

  StridedMap slice(StridedMap map, const VirtualView& view) {
    size_t axis = static_cast<size_t>(view.attributes.axes[0]);
    const ValueId skip[] = {view.scalars[0], map.strides[axis]};
    const ValueId sum[] = {map.offset, builder_.scalar(jit::ScalarOp::mul, skip)};
    map.offset = builder_.scalar(jit::ScalarOp::add, sum);
    const ValueId step[] = {view.scalars[2], map.strides[axis]};
    map.strides[axis] = builder_.scalar(jit::ScalarOp::mul, step);
    map.sizes[axis] = view.scalars[1];
    map.contiguous = map.contiguous && axis == 0 && builder_.known_int(view.scalars[2]) == 1;
    return map;
  }

  StridedMap permute(StridedMap map, const VirtualView& view) {
    StridedMap out = map;
    for (size_t i = 0; i < view.attributes.axes.size(); ++i) {
      out.sizes[i] = map.sizes[static_cast<size_t>(view.attributes.axes[i])];
      out.strides[i] = map.strides[static_cast<size_t>(view.attributes.axes[i])];
    }
    out.contiguous = false;
    return out;
  }

  jit::RegionBuilder& builder_;
};

// Whether one of the values is a result of a branch or loop, or used in it.
static bool has_part_in(const jit::Instruction& block, const jit::ValueSet& values) {
  const auto is_one = [&](ValueId value) { return values.count(value) != 0; };
  const auto is_used = [&](const jit::Instruction& inside) {
    return std::any_of(inside.operands.begin(), inside.operands.end(), is_one) || has_part_in(inside, values);
  };
  return std::any_of(block.results.begin(), block.results.end(), is_one) ||
         std::any_of(block.blocks.begin(), block.blocks.end(), [&](const auto& body) {
           return std::any_of(body->instructions.begin(), body->instructions.end(), is_used);
         });
}

// Whether the gradient of an operation may read the elements that the tensor has now: a write would be an error then.
// What a branch or a loop saves is not looked for one by one.
bool Writes::may_be_saved(ValueId elements) const {
  jit::ValueSet same = {elements};  // and the views of it, whose elements are its own, and what it is a view of
  const auto& code = region_.body.instructions;
  for (auto made = code.rbegin(); made != code.rend(); ++made)
    if (made->code == jit::Code::Op && op_row(made->op).flags & kView && same.count(made->results[0]))
      same.insert(made->operands[0]);
  const jit::ValueSet needed = gradients_.with_gradients();
  for (const jit::Instruction& instruction : region_.body.instructions) {
    const auto is_needed = [&](ValueId result) { return needed.count(result) != 0; };
    if (std::any_of(instruction.results.begin(), instruction.results.end(), is_needed) && !instruction.blocks.empty() &&
        has_part_in(instruction, same))
      return true;
    if (instruction.code != jit::Code::Op) continue;
    if (op_row(instruction.op).flags & kView && same.count(instruction.operands[0]))
      same.insert(instruction.results[0]);
    if (instruction.op == Op::save_for_backward && same.count(instruction.results[0])) return true;
    if (!jit::is_differentiable(instruction.op)) continue;
    const size_t count = jit::tensor_count(instruction);
    SmallVector<bool, 8> wanted;
    for (size_t i = 0; i < count; ++i) wanted.push_back(needed.count(instruction.operands[i]) != 0);
    const uint8_t set = jit::saved_set(instruction.op, {wanted.data(), count});
    for (size_t i = 0; i < count && i < 3; ++i)
      if (set >> i & 1 && same.count(instruction.operands[i])) return true;
    for (size_t i = 0; i < instruction.results.size(); ++i)
      if (set >> (3 + i) & 1 && same.count(instruction.results[i])) return true;
  }
  return false;
}

std::unordered_map<ValueId, uint32_t> Writes::versions_of_inputs() const {
  std::unordered_map<ValueId, uint32_t> versions = versions_of_inputs_;
  if (versions.empty()) return versions;
  for (const jit::Instruction& instruction : region_.body.instructions) {
    if (instruction.code != jit::Code::Op || !(op_row(instruction.op).flags & kView)) continue;
    if (const auto viewed = versions.find(instruction.operands[0]); viewed != versions.end())
      versions.emplace(instruction.results[0], viewed->second);
  }
  return versions;
}

// A view of a leaf that needs a gradient, or, where no entry asks for that because the tensor is always the same, of
// one that may begin to.
bool Writes::shows_leaf(const VTensor& root) const {
  const TensorObject& host = *cast<TensorObject>(root.host);
  const bool is_asked = plan_.sources[root.source].form != EntrySource::Form::Pinned;
  return host.viewed() != &host && (!is_asked || host.viewed()->is_leaf_with_gradient());
}

// In front of a write to the tensor's memory.
void Writes::check_writable(VTensor& root) {
  if (modes_.grad_enabled && root.leaf && root.requires_grad)
    break_here(BreakReason::raises, "in-place write to a leaf that requires grad");
  if (modes_.grad_enabled && root.input != kNoValue && shows_leaf(root))
    break_here(BreakReason::raises, "in-place write to a view of a leaf that requires grad");
  if (root.in_history && (root.input != kNoValue || may_be_saved(root.id)))
    break_here(BreakReason::write, "a tensor that a gradient may need is written in place");
  const auto refuse_copy = [&](const VTensor& copy) {
    if (!copy.copied_in) return;
    frames_.refuse(copy.copied_in.get(), copy.copied_at,
                   {BreakReason::unknown_call, "contiguous() of a view that is written"});
  };
  refuse_copy(root);
  for (const std::weak_ptr<VTensor>& ambiguous : root.ambiguous)
    if (const std::shared_ptr<VTensor> alive = ambiguous.lock()) refuse_copy(*alive);
  if (root.has_ambiguous()) break_here(BreakReason::write, "the tensor was reshaped");
  if (root.input != kNoValue && memory_.shared.count(source_place(plan_.sources, plan_.sources[root.source])))
    break_here(BreakReason::write, "its memory is that of another tensor too");
  effects_.will_write(root);
  for (const std::weak_ptr<VTensor>& view : root.views)
    if (const std::shared_ptr<VTensor> tensor = view.lock()) effects_.will_write(*tensor);
  if (!root.host.is_undefined() && cast<TensorObject>(root.host)->tensor.overlaps_itself())
    break_here(BreakReason::raises, "in-place write to an expanded tensor");
}

namespace {

// Whether the view is all of the tensor that it looks at, in its order.
bool covers_root(const VTensor& view) {
  for (const VTensor* at = &view; at->view; at = at->view->parent.get())
    if (at->view->op != Op::reshape || !at->view->parent->contiguous) return false;
  return true;
}

bool goes_through_data(const VTensor& target) {
  for (const VTensor* at = &target; at->view; at = at->view->parent.get())
    if (at->is_data) return true;
  return false;
}

}  // namespace

// A number as a tensor of that dtype, where the one lies that it is written to.
Av Tensors::filled(const Av& number, DType dtype) {
  if (!number.holds_number()) break_here(BreakReason::raises, "assignment of a non-number");
  check_written(number, dtype);
  const ValueId id = numbers_.number_id(number);
  OpAttributes attributes;
  attributes.dtype = dtype;
  return emit_placed(Op::full, {}, {&id, 1}, attributes);
}

// Breaks where the write would change histories in a way that a region has no form for.
void Writes::check_histories(VTensor& target, const VTensor& taken, bool is_part) {
  VTensor* root = root_of(target);
  // The elements are the base's too, the history is the detached tensor's alone, and that of the base stays.
  if (modes_.grad_enabled && (taken.requires_grad || root->requires_grad))
    for (const VTensor* view = &target; view->view; view = view->view->parent.get())
      if (view->view->op == Op::detach)
        break_here(BreakReason::write, "a detached tensor is written whose elements or new ones have a history");
  // What has no history takes that of the tensor away; a part of it keeps the rest.
  if (root->in_history && (!modes_.grad_enabled || (!is_part && !taken.requires_grad)))
    break_here(BreakReason::write, "a tensor that a gradient may need is written in place");
  if (!modes_.grad_enabled && root->input == kNoValue && root->requires_grad && !root->leaf)
    break_here(BreakReason::write, "a result that has a history is written without gradients");
  if (modes_.grad_enabled && root->input != kNoValue && (root->requires_grad || taken.requires_grad))
    break_here(BreakReason::history, "an in-place write changes the history of a tensor from outside");
}

void Writes::write_elements(const std::shared_ptr<VTensor>& target, const Av& value, WriteHistory history) {
  VTensor* root = root_of(*target);
  check_writable(*root);
  // A region's writes are noticed by the gradients that saved the memory outside.
  const bool is_data = goes_through_data(*target);
  if (is_data && (root->requires_grad || root->input != kNoValue || root->in_history))
    break_here(BreakReason::write, "a write through .data, which gradients do not notice");
  tensors_.current(*target);
  const jit::Type type = region_.type(target->id);
  Av source = tensors_.tensor_of(value) ? tensors_.cast_to(value, type.dtype) : tensors_.filled(value, type.dtype);
  std::vector<ValueId> sizes(type.sizes.begin(), type.sizes.end());
  if (region_.type(tensors_.tensor_of(source)->id).sizes.size() > sizes.size())
    break_here(BreakReason::write, "the value has more dimensions");
  source = shapes_.broadcast_to(source, sizes);
  std::shared_ptr<VTensor> taken = tensors_.share_tensor(source);
  const bool is_part = target->view && !covers_root(*target);
  check_histories(*target, *taken, is_part);
  ValueId id = tensors_.current(*taken);
  if (is_part) {
    // What an in-place operation gives, and saves, is the part from then on: a write to the rest would be an error.
    if (history == WriteHistory::Take && modes_.grad_enabled && taken->requires_grad && may_be_saved(id))
      break_here(BreakReason::write, "a tensor that a gradient may need is written in place");
    StridedMap map = MapBuilder(builder_).map_of(*target);
    std::vector<ValueId> scalars = {map.offset};
    scalars.insert(scalars.end(), map.sizes.begin(), map.sizes.end());
    scalars.insert(scalars.end(), map.strides.begin(), map.strides.end());
    const ValueId operands[] = {root->id, id};
    bool root_grad = root->requires_grad;
    root->id = builder_.op(Op::store, operands, scalars, {});
    if (!modes_.grad_enabled && (root_grad || taken->requires_grad)) gradients_.end_history(root->id);
  } else {
    const bool is_step =
        history == WriteHistory::Step && (root->input != kNoValue || (modes_.grad_enabled && taken->requires_grad));
    const jit::ValueList sizes = region_.type(root->id).sizes;
    // It is a step of the history of its own. An input that takes a copy has memory of its own: a gradient that saves
    // what was copied is not disturbed by a later write to the input.
    if (is_step) id = builder_.op(Op::copy, {&id, 1}, {}, {});
    root->id =
        target->view ? builder_.op(Op::reshape, {&id, 1}, std::vector<ValueId>(sizes.begin(), sizes.end()), {}) : id;
  }
  ++root->version;
  root->writes += !is_data;
  root->view.reset();
  root->unrecorded |= root->requires_grad && !modes_.grad_enabled;
  if (modes_.grad_enabled && taken->requires_grad) {
    root->requires_grad = true;
    root->leaf = false;
    take_views_anew(*root);
  }
  if (root->input == kNoValue) return;
  versions_of_inputs_[root->id] = root->source;
  if (root->dirty) return;
  root->dirty = true;
  dirty_.push_back(tensors_.share_tensor(*inputs_.input_of(root->host.object())));
  add_written(root->source);
}

// The place of a view in the history is right behind the write, as in the interpreter, and not where it is
// needed first: the order in which gradients add up depends on it.
void Writes::take_views_anew(VTensor& root) {
  if (!root.views.empty()) repeats_.spoil_record();
  std::vector<std::weak_ptr<VTensor>> alive;
  for (const std::weak_ptr<VTensor>& view : root.views) {
    const std::shared_ptr<VTensor> tensor = view.lock();
    if (!tensor) continue;
    tensors_.current(*tensor);
    alive.push_back(view);
  }
  root.views = std::move(alive);
}

void Writes::add_written(uint32_t source) {
  for (uint32_t known : plan_.written_sources)
    if (known == source) return;
  plan_.written_sources.push_back(source);
}

void Writes::replace_gradient(const std::shared_ptr<VTensor>& tensor, const Av& value) {
  rolled_.leave_out();
  VTensor* gradient = value.is_none() ? nullptr : tensors_.tensor_of(value);
  if (gradient && (gradient == tensor.get() || !shapes_.assume_same_sizes(tensor->id, gradient->id)))
    break_here(BreakReason::raises, "RuntimeError: a gradient of another size");
  tensor->has_grad_overlay = true;
  tensor->grad = value;
  if (tensor->host.is_undefined() && !tensor->built) return;  // its recipe will name the gradient
  for (const std::shared_ptr<VTensor>& t : grad_dirty_)
    if (t == tensor) return;
  grad_dirty_.push_back(tensor);
}

// Memory and `.grad` of host tensors are brought up to date; what follows may look at them. Where a gradient cannot be
// set here the region is left, which sets it: until then it is out of date.
void Writes::write_back_all(bool leaving) {
  if (!dirty_.empty() || !grad_dirty_.empty()) rolled_.leave_out();
  for (const std::shared_ptr<VTensor>& tensor : dirty_) {
    builder_.write_back(tensor->input, tensor->id, tensor->writes - tensor->writes_outside,
                        std::exchange(tensor->writes_of_loops, kNoValue));
    tensor->writes_outside = tensor->writes;
    tensor->dirty = false;
  }
  dirty_.clear();
  while (!grad_dirty_.empty()) {
    const std::shared_ptr<VTensor> tensor = grad_dirty_.front();
    std::vector<uint32_t>& graded = plan_.graded_sources;
    if (tensor->input != kNoValue && std::find(graded.begin(), graded.end(), tensor->source) == graded.end())
      graded.push_back(tensor->source);
    effects_.set_gradient(Av::of(tensor), tensor->grad, leaving);
    grad_dirty_.erase(grad_dirty_.begin());
  }
}

}  // namespace tsc::interp
