// The backward pass over the tape: nodes in the reverse of program order, so that gradients add up in the
// same order as in a compiled region.
#include <algorithm>
#include <numeric>
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

class Pass final : TapeNode::Pass {
 public:
  explicit Pass(const BackwardOptions& options) : options_(options) {}

  bool create_graph() const override { return options_.create_graph; }
  bool has_arrived(const TapeNode::Edge& edge) const override {
    return edge.wanted() && gradients_.count(key(edge.to, edge.leaf)) != 0;
  }
  std::span<const Inspected> inspected() const override { return inspected_; }
  TapeTensor inspect(uint32_t output, const TapeTensor& whole) override {
    TapeTensor gradient = whole;
    const std::vector<TapeNode::Hook> hooks = running_->hooks;  // one may take itself away
    for (const TapeNode::Hook& hook : hooks)
      if (hook.output == output) gradient = hook.hook->on_gradient(gradient);
    if (wanted_.count({running_, output})) gradients_[{running_, output}] = gradient;
    return gradient;
  }
  bool leads_on(const TapeNode::Edge& edge) const override {
    if (!only_inputs_ || !edge.wanted()) return edge.wanted();
    return wanted_.count(key(edge.to, edge.leaf)) || (edge.to.node && useful_.count(edge.to.node.get()));
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
      run_node(*node);
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

  bool leads_on(const TapeNode& node) const {
    return std::any_of(node.edges.begin(), node.edges.end(), [&](const auto& edge) { return leads_on(edge); });
  }
  // In ascending order a node's producers come before it.
  void find_useful() {
    for (const Ref<TapeNode>& node : nodes_)
      if (leads_on(*node) || flows_into_others(*node)) useful_.insert(node.get());
  }
  bool flows_into_others(const TapeNode& node) const {
    for (uint32_t from = 0; from < node.outputs(); ++from)
      for (uint32_t to = 0; wanted_.count({&node, from}) && to < node.outputs(); ++to)
        if (from != to && node.flows_within(from, to)) return true;
    return false;
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

  // Those outputs of the running node that somebody looks at and whose gradient is more than what has arrived, and beside
  // them, for the order, all others that somebody looks at.
  void find_inspected() {
    inspected_.clear();
    bool within = false;
    for (uint32_t from = 0; from < running_->outputs(); ++from) {
      const bool is_wanted = wanted_.count({running_, from}) != 0;
      const bool is_hooked = std::any_of(running_->hooks.begin(), running_->hooks.end(),
                                         [from](const TapeNode::Hook& hook) { return hook.output == from; });
      if (!is_wanted && !is_hooked) continue;
      const bool flows = flows_into_arrived(from);
      within |= flows;
      if (flows || gradients_.count({running_, from})) inspected_.push_back({from, is_wanted});
    }
    if (!within) inspected_.clear();
  }
  bool flows_into_arrived(uint32_t from) const {
    for (uint32_t to = 0; to < running_->outputs(); ++to)
      if (to != from && gradients_.count({running_, to}) && running_->flows_within(from, to)) return true;
    return false;
  }

  // The gradients that have arrived at the running node's outputs, after its hooks.
  std::vector<TapeTensor> arrived(bool leads_on, bool* any) {
    std::vector<uint32_t> order(running_->outputs());
    std::iota(order.begin(), order.end(), 0);
    if (!running_->hooks.empty())
      std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return running_->place_within(a) > running_->place_within(b);
      });
    std::vector<TapeTensor> gradients(order.size());
    for (uint32_t i : order) {
      const auto found = gradients_.find({running_, i});
      const bool is_wanted = wanted_.count({running_, i}) != 0;
      if (found == gradients_.end() || (!leads_on && !is_wanted)) continue;
      *any = true;
      gradients[i] = inspected_.empty() ? inspect(i, found->second) : found->second;
      if (!is_wanted) gradients_.erase({running_, i});
    }
    return gradients;
  }

  void run_node(TapeNode& node) {
    running_ = &node;
    bool any = false;
    find_inspected();
    const bool goes_on = leads_on(node) || !inspected_.empty();
    const std::vector<TapeTensor> gradients = arrived(goes_on, &any);
    if (!any || !goes_on) return;
    std::vector<TapeTensor> inputs(node.edges.size());
    node.backward(gradients, inputs, *this);
    if (!options_.retain_graph) node.release_saved();
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].tensor.defined() && node.edges[i].wanted())
        add(node.edges[i].to, node.edges[i].leaf, inputs[i]);
  }

  BackwardOptions options_;
  std::vector<Ref<TapeNode>> nodes_;
  TapeNode* running_ = nullptr;
  std::vector<Inspected> inspected_;
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
