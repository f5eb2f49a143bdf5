#include "jit/autodiff/node_notes.h"

namespace tsc::jit {

NodeNotes& notes_of(TapeNode& node) {
  if (!node.notes) node.notes = std::make_shared<NodeNotes>();
  return *node.notes;
}

std::string_view shown_name(const TapeNode& node, uint32_t output) {
  return node.notes && !node.notes->name.empty() ? std::string_view(node.notes->name) : node.name(output);
}

std::span<const TapeNode::Edge> shown_edges(const TapeNode& node) {
  if (node.notes && node.notes->has_next) return node.notes->next;
  return node.edges;
}

namespace {
thread_local SavedTensorHooks* current_hooks = nullptr;
}

SavedHooksScope::SavedHooksScope(SavedTensorHooks* hooks) : before_(current_hooks) { current_hooks = hooks; }
SavedHooksScope::~SavedHooksScope() { current_hooks = before_; }
SavedTensorHooks* SavedHooksScope::current() { return current_hooks; }

void throw_written(DType dtype, const Sizes& sizes, std::string_view made_by, uint32_t output, uint32_t now,
                   uint32_t expected) {
  std::string shape;
  for (int64_t size : sizes) shape += (shape.empty() ? "" : ", ") + std::to_string(size);
  std::string text =
      "one of the variables needed for gradient computation has been modified by an inplace operation: [torch." +
      std::string(dtype_info(dtype).scalar_name) + "Tensor [" + shape + "]]";
  if (!made_by.empty()) text += ", which is output " + std::to_string(output) + " of " + std::string(made_by) + ",";
  text += " is at version " + std::to_string(now) + "; expected version " + std::to_string(expected) +
          " instead. Hint: write to a clone() instead, or write before the value is used.";
  throw Error(ErrorKind::RuntimeError, text);
}

}  // namespace tsc::jit
