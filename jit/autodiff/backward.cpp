// The backward pass over the tape: nodes in the reverse of program order, so that gradients add up in the
// same order as in a compiled region.
#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "jit/autodiff/backward_into.h"
#include "jit/autodiff/node_notes.h"

namespace tsc::jit {
namespace {

struct ValueKey {
  const void* owner;  // a node or a leaf
  uint32_t output;
  bool operator==(const ValueKey&) const = default;
};
struct ValueKeyHash {
  size_t operator()(const ValueKey& key) const { return std::hash<const void*>()(key.owner) * 31 + key.output; }
};

class Pass final : TapeNode::Pass {
 public:
  explicit Pass(const BackwardOptions& options) : options_(options) {}

  bool create_graph() const override { return options_.create_graph; }
  bool has_arrived(const TapeNode::Edge& edge) const override {
    return edge.wanted() && gradients_.count(key(edge.to, edge.leaf)) != 0;
  }
  TapeTensor take(const TapeNode::Edge& edge) override {
    auto taken = gradients_.extract(key(edge.to, edge.leaf));
    return taken.empty() ? TapeTensor() : std::move(taken.mapped());
  }
  std::span<const Inspected> inspected() const override { return inspected_; }
  TapeTensor inspect(uint32_t output, const TapeTensor& whole) override {
    TapeTensor gradient = whole;
    const std::vector<TapeNode::Hook> hooks =  // one may take itself away
        shown_.insert(output).second ? running_->hooks : std::vector<TapeNode::Hook>();
    for (const TapeNode::Hook& hook : hooks)
      if (hook.output == output) gradient = hook.hook->on_gradient(gradient);
    if (wanted_.count({running_, output})) gradients_[{running_, output}] = gradient;
    return gradient;
  }
  bool leads_on(const TapeNode::Edge& edge) const override {
    if (!only_inputs_ || !edge.wanted()) return edge.wanted();
    return wanted_.count(key(edge.to, edge.leaf)) || useful_.count(key(edge.to, edge.leaf));
  }

  void seed(const TapeTensor& root, const TapeTensor& gradient) {
    add(root.history, root.leaf, gradient.tensor.defined() ? checked(root, gradient) : one(root));
    if (root.history.node) collect(root.history);
    else seeded_.push_back(root.leaf);
  }

  // Gradients are wanted for these alone: nodes that lead to none of them are skipped.
  void want(const TapeTensor& input) {
    if (!input.needs_grad()) {
      throw Error(ErrorKind::RuntimeError, "One of the differentiated Tensors does not require grad");
    }
    only_inputs_ = true;
    wanted_.insert(key(input.history, input.leaf));
  }

  // Of the pass that runs on this thread; null: none.
  static thread_local const Pass* current;
  const uint64_t number = next_sequence();
  bool reaches(const TapeTensor& x) const {
    const ValueKey place = key(x.history, x.leaf);
    return reached_.count(place) && (!only_inputs_ || useful_.count(place) || wanted_.count(place));
  }

  void run(bool into_leaves) {
    struct Running {
      const Pass* before = current;
      explicit Running(const Pass* now) { current = now; }
      ~Running() { current = before; }
    } running(this);
    std::sort(nodes_.begin(), nodes_.end(),
              [](const Ref<TapeNode>& a, const Ref<TapeNode>& b) { return a->order() < b->order(); });
    if (only_inputs_) find_useful();
    if (into_leaves)
      for (const auto& leaf : seeded_)
        if (!expected_.count(leaf.get())) give(*leaf);
    while (!nodes_.empty()) {
      const Ref<TapeNode> node = std::move(nodes_.back());
      nodes_.pop_back();
      run_node(*node);
      if (into_leaves) give_finished(*node);
    }
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
      throw Error(ErrorKind::RuntimeError, "grad can be implicitly created only for scalar outputs");
    }
    if (is_complex(root.tensor.dtype())) {
      throw Error(ErrorKind::RuntimeError,
                  "grad can be implicitly created only for real scalar outputs but got torch." +
                      std::string(dtype_name(root.tensor.dtype())));
    }
    std::vector<Scalar> scalars = {Scalar::of_float(1.0)};
    for (int64_t size : root.tensor.sizes()) scalars.push_back(Scalar::of_int(size));
    OpAttributes attributes;
    attributes.dtype = root.tensor.dtype();
    return {create_at(root.tensor.place(), Op::full, scalars, attributes), {}, nullptr};
  }
  static TapeTensor checked(const TapeTensor& root, const TapeTensor& gradient) {
    if (!(root.tensor.sizes() == gradient.tensor.sizes())) {
      throw Error(ErrorKind::RuntimeError,
                  "Mismatch in shape: grad_output[0] has a shape of torch.Size(" + sizes_text(gradient.tensor.sizes()) +
                      ") and output[0] has a shape of torch.Size(" + sizes_text(root.tensor.sizes()) + ").");
    }
    if (gradient.tensor.dtype() != root.tensor.dtype()) {
      throw Error(ErrorKind::RuntimeError,
                  "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
                  "dtype: grad_output[0] has a dtype of torch." +
                      std::string(dtype_name(gradient.tensor.dtype())) + " and output[0] has a dtype of torch." +
                      std::string(dtype_name(root.tensor.dtype())) + ".");
    }
    if (root.tensor.is_meta() && !gradient.tensor.is_meta())
      return {Tensor::meta(gradient.tensor.dtype(), gradient.tensor.sizes()), gradient.history, gradient.leaf};
    if (!root.tensor.is_meta()) refuse_meta_copy(gradient.tensor);
    return gradient;
  }

  void collect(const TapeValue& root) {
    std::vector<Ref<TapeNode>> pending = {root.node};
    reached_.insert(key(root, nullptr));
    while (!pending.empty()) {
      const Ref<TapeNode> node = std::move(pending.back());
      pending.pop_back();
      if (!seen_.insert(node.get()).second) continue;
      nodes_.push_back(node);
      for (const TapeNode::Edge& edge : node->edges) {
        if (edge.wanted()) reached_.insert(key(edge.to, edge.leaf));
        if (!edge.to.node) {
          if (edge.leaf) ++expected_[edge.leaf.get()];
          continue;
        }
        pending.push_back(edge.to.node);
      }
      for (const TapeNode::Hook& hook : node->hooks) reached_.insert({node.get(), hook.output});
    }
  }

  // In ascending order a node's producers come before it.
  void find_useful() {
    for (const Ref<TapeNode>& node : nodes_)
      for (uint32_t i = 0; i < node->outputs(); ++i)
        if (reached_.count({node.get(), i}) && output_leads_on(*node, i)) useful_.insert({node.get(), i});
  }

  void add(const TapeValue& to, const std::shared_ptr<LeafSink>& leaf, const TapeTensor& gradient) {
    const auto [place, fresh] = gradients_.emplace(key(to, leaf), gradient);
    if (fresh) return;
    const TapeTensor both[] = {place->second, gradient};
    place->second = run_taped(Op::add, both, {}, {}, options_.create_graph).first;
  }

  // A leaf gets its gradient as soon as the last step that adds to it has run: its hooks may then free the gradient, or
  // step an optimizer, before the next one is there.
  void give_finished(const TapeNode& node) {
    for (const TapeNode::Edge& edge : node.edges)
      if (!edge.to.node && edge.leaf && --expected_[edge.leaf.get()] == 0) give(*edge.leaf);
  }
  void give(LeafSink& leaf) {
    if (only_inputs_ && !wanted_.count({&leaf, 0})) return;
    auto whole = gradients_.extract({&leaf, 0});
    if (!whole.empty()) leaf.accumulate(whole.mapped());
  }

  // Whether the gradient of an output is on the way to one that is asked for.
  bool output_leads_on(const TapeNode& node, uint32_t output) const {
    for (size_t i = 0; i < node.edges.size(); ++i)
      if (leads_on(node.edges[i]) && node.comes_from(output, i)) return true;
    for (uint32_t from = 0; from < node.outputs(); ++from)
      if (wanted_.count({&node, from}) && from != output && node.flows_within(from, output)) return true;
    return false;
  }
  bool output_leads_on(uint32_t output) const { return !only_inputs_ || useful_.count({running_, output}) != 0; }
  bool flows_into_arrived(uint32_t from) const {
    for (uint32_t to = 0; to < running_->outputs(); ++to)
      if (to != from && gradients_.count({running_, to}) && running_->flows_within(from, to)) return true;
    return false;
  }

  void find_inspected() {
    inspected_.clear();
    const auto is_hooked = [&](uint32_t output) {
      return std::any_of(running_->hooks.begin(), running_->hooks.end(),
                         [output](const TapeNode::Hook& hook) { return hook.output == output; });
    };
    const uint32_t count = running_->outputs();
    bool within = false;
    for (uint32_t i = 0; i < count && !within; ++i)
      within = (wanted_.count({running_, i}) || (is_hooked(i) && output_leads_on(i))) && flows_into_arrived(i);
    for (uint32_t i = 0; i < count && within; ++i) {
      const bool is_wanted = wanted_.count({running_, i}) != 0;
      if (!is_wanted && !output_leads_on(i)) continue;
      if (gradients_.count({running_, i}) || flows_into_arrived(i)) inspected_.push_back({i, is_wanted});
    }
  }

  // The gradients that have arrived at the running node's outputs and lead on, after its hooks.
  std::vector<TapeTensor> arrived(bool* any) {
    std::vector<uint32_t> order(running_->outputs());
    std::iota(order.begin(), order.end(), 0);
    if (!running_->hooks.empty())
      std::stable_sort(order.begin(), order.end(),
                       [&](uint32_t a, uint32_t b) { return running_->place_within(a) > running_->place_within(b); });
    std::vector<TapeTensor> gradients(order.size());
    for (uint32_t i : order) {
      const auto found = gradients_.find({running_, i});
      if (found == gradients_.end()) continue;
      const bool within = std::any_of(inspected_.begin(), inspected_.end(),
                                      [i](const Inspected& inspected) { return inspected.output == i; });
      const bool goes_on = within || output_leads_on(i);
      if (!goes_on && !wanted_.count({running_, i})) continue;
      TapeTensor gradient = within ? found->second : inspect(i, found->second);
      if (!goes_on) continue;
      gradients[i] = std::move(gradient);
      *any = true;
    }
    return gradients;
  }

  void run_node(TapeNode& node) {
    running_ = &node;
    shown_.clear();
    find_inspected();
    bool any = !inspected_.empty();
    const std::vector<TapeTensor> gradients = arrived(&any);
    if (any) run_backward(node, gradients);
    for (uint32_t i = 0; i < node.outputs(); ++i)
      if (!wanted_.count({&node, i})) gradients_.erase({&node, i});
  }

  static void check_unwritten(const NodeNotes& notes) {
    for (const NodeNotes::Check& check : notes.checks)
      if (const uint32_t now = check.tensor.storage()->version; now != check.version)
        throw_written(check.tensor.dtype(), check.tensor.sizes(), check.made_by, check.output, now, check.version);
  }

  static void check_numbers(const TapeNode& node, std::span<const TapeTensor> inputs) {
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor& x = inputs[i].tensor;
      if (!x.defined() || !is_floating(x.dtype()) || x.numel() == 0 || x.is_meta()) continue;
      const Tensor both[] = {x, x};
      const Tensor same = run_op(Op::eq, both, {}, {}).first;
      OpAttributes attributes;
      for (int64_t axis = 0; axis < x.rank(); ++axis) attributes.axes.push_back(axis);
      if (*moved_to(run_op(Op::all, {&same, 1}, {}, attributes).first, Place::host()).data_as<uint8_t>()) continue;
      throw Error(ErrorKind::RuntimeError, "Function '" + std::string(shown_name(node, 0)) +
                                               "' returned nan values in its " + std::to_string(i) + "th output.");
    }
  }

  // The node's own backward between its hooks; in anomaly mode an error says where the step was recorded.
  void apply(TapeNode& node, std::span<const TapeTensor> gradients, std::vector<TapeTensor>& inputs) {
    if (!node.notes) [[likely]] {
      node.backward(gradients, inputs, *this);
      if (options_.detect_anomaly) check_numbers(node, inputs);
      return;
    }
    const std::shared_ptr<NodeNotes> notes = node.notes;
    try {
      const std::vector<std::shared_ptr<NodeHook>> hooks = notes->hooks;
      std::vector<TapeTensor> given(gradients.begin(), gradients.end());
      for (const auto& hook : hooks) hook->before(given);
      check_unwritten(*notes);
      node.backward(given, inputs, *this);
      if (options_.detect_anomaly) check_numbers(node, inputs);
      for (const auto& hook : hooks) hook->after(inputs, given);
    } catch (Error& error) {
      if (!options_.detect_anomaly || notes->trace.empty()) throw;
      throw Error(error.kind(), std::string(error.message()) + "\nError detected in " +
                                    std::string(shown_name(node, 0)) +
                                    ". Traceback of forward call that caused the error:\n" + notes->trace);
    }
  }

  void run_backward(TapeNode& node, std::span<const TapeTensor> gradients) {
    if (!shown_.empty() && inspected_.empty()) find_inspected();  // a hook may have added hooks
    std::vector<TapeTensor> inputs(node.edges.size());
    try {
      apply(node, gradients, inputs);
    } catch (...) {
      if (!options_.retain_graph) node.release_walked();
      throw;
    }
    if (!options_.retain_graph) {
      node.release_saved();
      if (node.notes) node.notes->checks.clear();
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].tensor.defined() && node.edges[i].wanted()) add(node.edges[i].to, node.edges[i].leaf, inputs[i]);
  }

  BackwardOptions options_;
  std::vector<Ref<TapeNode>> nodes_;
  TapeNode* running_ = nullptr;
  std::vector<Inspected> inspected_;
  std::unordered_set<uint32_t> shown_;  // outputs of the running node whose hooks have been called
  std::unordered_set<const TapeNode*> seen_;
  std::unordered_map<ValueKey, TapeTensor, ValueKeyHash> gradients_;
  std::unordered_set<ValueKey, ValueKeyHash> wanted_;
  std::unordered_set<ValueKey, ValueKeyHash> reached_;    // outputs that may get a gradient or have hooks
  std::unordered_set<ValueKey, ValueKeyHash> useful_;     // those of them on the way to a wanted gradient
  std::vector<std::shared_ptr<LeafSink>> seeded_;         // leaves that are roots
  std::unordered_map<const LeafSink*, size_t> expected_;  // of each leaf the edges whose steps have not run
  bool only_inputs_ = false;
};

thread_local const Pass* Pass::current = nullptr;

void check_roots(std::span<const TapeTensor> roots) {
  for (size_t i = 0; i < roots.size(); ++i)
    if (!roots[i].needs_grad())
      throw Error(ErrorKind::RuntimeError,
                  "element " + std::to_string(i) + " of tensors does not require grad and does not have a grad_fn");
}

void seed_all(Pass& pass, std::span<const TapeTensor> roots, std::span<const TapeTensor> gradients) {
  for (size_t i = 0; i < roots.size(); ++i) pass.seed(roots[i], i < gradients.size() ? gradients[i] : TapeTensor());
}

}  // namespace

uint64_t running_pass() { return Pass::current ? Pass::current->number : 0; }
bool running_pass_reaches(const TapeTensor& x) { return Pass::current && Pass::current->reaches(x); }

void run_backward(std::span<const TapeTensor> roots, std::span<const TapeTensor> gradients,
                  const BackwardOptions& options) {
  check_roots(roots);
  Pass pass(options);
  seed_all(pass, roots, gradients);
  pass.run(true);
}

void run_backward_into(std::span<const TapeTensor> roots, std::span<const TapeTensor> gradients,
                       std::span<const TapeTensor> inputs, const BackwardOptions& options) {
  check_roots(roots);
  Pass pass(options);
  for (const TapeTensor& input : inputs) pass.want(input);
  seed_all(pass, roots, gradients);
  pass.run(true);
}

std::vector<TapeTensor> gradients_of(std::span<const TapeTensor> roots, std::span<const TapeTensor> gradients,
                                     std::span<const TapeTensor> inputs, const BackwardOptions& options) {
  check_roots(roots);
  Pass pass(options);
  for (const TapeTensor& input : inputs) pass.want(input);
  seed_all(pass, roots, gradients);
  pass.run(false);
  std::vector<TapeTensor> results;
  for (const TapeTensor& input : inputs) results.push_back(pass.gradient_of(input));
  return results;
}

}  // namespace tsc::jit
