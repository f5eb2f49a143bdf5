// The backward pass over the tape: nodes in the reverse of program order, so that gradients add up in the
// same order as in a compiled region.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "jit/autodiff/tape.h"

namespace tsc::jit {
namespace {

struct ValueKey {
  const void* owner;  // a node or a leaf
  uint32_t output;
  bool operator==(const ValueKey&) const = default;
};
struct ValueKeyHash {
  size_t operator()(const ValueKey& key) const {
    return std::hash<const void*>()(key.owner) * 31 + key.output;
  }
};

class Pass final : TapeNode::Arrivals {
 public:
  explicit Pass(const BackwardOptions& options) : options_(options) {}

  bool has(const TapeNode::Edge& edge) const override {
    return edge.wanted() && gradients_.count(key(edge.to, edge.leaf)) != 0;
  }

  void seed(const TapeTensor& root, const TapeTensor& gradient) {
    if (!root.needs_grad()) {
      throw Error(ErrorKind::RuntimeError,
                  "element 0 of tensors does not require grad and does not have a grad_fn");
    }
    add(root.history, root.leaf, gradient.tensor.defined() ? checked(root, gradient) : one(root));
    if (root.history.node) collect(root.history.node);
  }

  // Gradients are wanted for these alone: nodes that lead to none of them are skipped.
  void want(const TapeTensor& input) {
    if (!input.needs_grad()) {
      throw Error(ErrorKind::RuntimeError,
                  "One of the differentiated Tensors does not require grad");
    }
    only_inputs_ = true;
    wanted_.insert(key(input.history, input.leaf));
  }

  void run(bool into_leaves) {
    std::sort(nodes_.begin(), nodes_.end(), [](const Ref<TapeNode>& a, const Ref<TapeNode>& b) {
      return a->order() < b->order();
    });
    if (only_inputs_) find_useful();
    while (!nodes_.empty()) {
      const Ref<TapeNode> node = std::move(nodes_.back());
      nodes_.pop_back();
      if (!only_inputs_ || useful_.count(node.get())) run_node(*node);
    }
    if (!into_leaves) return;
    for (const auto& leaf : leaves_) leaf->accumulate(gradients_.at({leaf.get(), 0}));
  }

  TapeTensor gradient_of(const TapeTensor& input) const {
    const auto found = gradients_.find(key(input.history, input.leaf));
    return found == gradients_.end() ? TapeTensor() : found->second;
  }

 private:
  static ValueKey key(const TapeValue& value, const std::shared_ptr<LeafSink>& leaf) {
    if (value.node) return {value.node.get(), value.output};
    return {leaf.get(), 0};
  }

  static TapeTensor one(const TapeTensor& root) {
    if (root.tensor.numel() != 1) {
      throw Error(ErrorKind::RuntimeError,
                  "grad can be implicitly created only for scalar outputs");
    }
    std::vector<Scalar> scalars = {Scalar::of_float(1.0)};
    for (int64_t size : root.tensor.sizes()) scalars.push_back(Scalar::of_int(size));
    OpAttributes attributes;
    attributes.dtype = root.tensor.dtype();
    return {run_op(Op::full, {}, scalars, attributes).first, {}, nullptr};
  }
  static const TapeTensor& checked(const TapeTensor& root, const TapeTensor& gradient) {
    if (!(root.tensor.sizes() == gradient.tensor.sizes())) {
      throw Error(ErrorKind::RuntimeError,
                  "Mismatch in shape: grad_output[0] has a shape of " +
                      shape_text(gradient.tensor.sizes()) + " and output[0] has a shape of " +
                      shape_text(root.tensor.sizes()) + ".");
    }
    if (gradient.tensor.dtype() != root.tensor.dtype()) {
      throw Error(ErrorKind::RuntimeError,
                  "the gradient's dtype " + std::string(dtype_name(gradient.tensor.dtype())) +
                      " differs from the output's, " +
                      std::string(dtype_name(root.tensor.dtype())));
    }
    return gradient;
  }

  void collect(const Ref<TapeNode>& root) {
    std::vector<Ref<TapeNode>> pending = {root};
    while (!pending.empty()) {
      const Ref<TapeNode> node = std::move(pending.back());
      pending.pop_back();
      if (!seen_.insert(node.get()).second) continue;
      nodes_.push_back(node);
      for (const TapeNode::Edge& edge : node->edges)
        if (edge.to.node) pending.push_back(edge.to.node);
    }
  }

  // In ascending order a node's producers come before it.
  void find_useful() {
    for (const Ref<TapeNode>& node : nodes_) {
      for (const TapeNode::Edge& edge : node->edges) {
        if (!edge.wanted()) continue;
        if (wanted_.count(key(edge.to, edge.leaf)) ||
            (edge.to.node && useful_.count(edge.to.node.get()))) {
          useful_.insert(node.get());
          break;
        }
      }
    }
  }

  void add(const TapeValue& to, const std::shared_ptr<LeafSink>& leaf, const TapeTensor& gradient) {
    const auto [place, fresh] = gradients_.emplace(key(to, leaf), gradient);
    if (fresh) {
      if (!to.node) leaves_.push_back(leaf);
      return;
    }
    const TapeTensor both[] = {place->second, gradient};
    place->second = run_taped(Op::add, both, {}, {}, options_.create_graph).first;
  }

  // The gradients that have arrived at the node's outputs, after its hooks.
  std::vector<TapeTensor> arrived(TapeNode& node, bool* any) {
    std::vector<TapeTensor> gradients(node.outputs());
    for (uint32_t i = 0; i < node.outputs(); ++i) {
      const auto found = gradients_.find({&node, i});
      if (found == gradients_.end()) continue;
      for (const TapeNode::Hook& hook : node.hooks)
        if (hook.output == i) found->second = hook.hook->on_gradient(found->second);
      gradients[i] = found->second;
      *any = true;
      if (!wanted_.count({&node, i})) gradients_.erase(found);
    }
    return gradients;
  }

  void run_node(TapeNode& node) {
    bool any = false;
    const std::vector<TapeTensor> gradients = arrived(node, &any);
    if (!any) return;
    node.see_arrivals(*this);
    std::vector<TapeTensor> inputs(node.edges.size());
    node.backward(gradients, inputs, options_.create_graph);
    if (!options_.retain_graph) node.release_saved();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].tensor.defined() && node.edges[i].wanted())
        add(node.edges[i].to, node.edges[i].leaf, inputs[i]);
  }

  BackwardOptions options_;
  std::vector<Ref<TapeNode>> nodes_;
  std::unordered_set<const TapeNode*> seen_, useful_;
  std::unordered_map<ValueKey, TapeTensor, ValueKeyHash> gradients_;
  std::unordered_set<ValueKey, ValueKeyHash> wanted_;
  std::vector<std::shared_ptr<LeafSink>> leaves_;
  bool only_inputs_ = false;
};

void seed_all(Pass& pass, std::span<const TapeTensor> roots,
              std::span<const TapeTensor> gradients) {
  for (size_t i = 0; i < roots.size(); ++i)
    pass.seed(roots[i], i < gradients.size() ? gradients[i] : TapeTensor());
}

}  // namespace

void run_backward(std::span<const TapeTensor> roots, std::span<const TapeTensor> gradients,
                  const BackwardOptions& options) {
  Pass pass(options);
  seed_all(pass, roots, gradients);
  pass.run(true);
}

std::vector<TapeTensor> gradients_of(std::span<const TapeTensor> roots,
                                     std::span<const TapeTensor> gradients,
                                     std::span<const TapeTensor> inputs,
                                     const BackwardOptions& options) {
  Pass pass(options);
  for (const TapeTensor& input : inputs) pass.want(input);
  seed_all(pass, roots, gradients);
  pass.run(false);
  std::vector<TapeTensor> results;
  for (const TapeTensor& input : inputs) results.push_back(pass.gradient_of(input));
  return results;
}

}  // namespace tsc::jit
