#pragma once
// Gradient history of the uncompiled path: a graph of nodes, one per recorded primitive, that runs the
// same gradient rules as compiled regions (rules.h) through a builder that executes at once.
// Knows tensors, the op table and the rules. Must not know script objects: leaves are LeafSinks.
// Keeps: no recursion over the graph (a chain of 10^6 nodes is legal); nodes hold saved tensors with the
// storage version they had, and a changed version is RuntimeError at backward, as in PyTorch.
#include <compare>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "jit/region/region.h"
#include "runtime/base/memory_budget.h"
#include "runtime/base/ref.h"
#include "runtime/kernels/run_op.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/tensor.h"

namespace tsc::jit {

class TapeNode;
struct NodeNotes;  // node_notes.h

// Which result of which node made a value; empty for leaves and constants.
struct TapeValue {
  Ref<TapeNode> node;
  uint32_t output = 0;
};

struct TapeTensor;

// A leaf that collects a gradient (the script tensor's `.grad`).
class LeafSink {
 public:
  virtual ~LeafSink() = default;
  virtual void accumulate(const TapeTensor& gradient) = 0;
};

// A tensor with its place in the history. Neither history nor leaf: a constant.
struct TapeTensor {
  Tensor tensor;  // undefined: no gradient
  TapeValue history;
  std::shared_ptr<LeafSink> leaf;
  bool needs_grad() const { return history.node || leaf; }
};

// Sees a gradient on its way; returns it, or what takes its place.
class GradientHook {
 public:
  virtual ~GradientHook() = default;
  virtual TapeTensor on_gradient(const TapeTensor& gradient) = 0;
};

// The place of a step in the program, which decides the order of the backward pass: later steps first, and
// the terms of a gradient are added in the order in which they arrive. A step takes the next number when it
// is made; a step that stands for an earlier place (the view of a tensor, seen anew because its base was
// written) names that place, so that the order does not depend on when it was needed first.
struct TapeOrder {
  uint64_t major = 0, minor = 0;
  auto operator<=>(const TapeOrder&) const = default;
};
// The next number; `count` of them, the first of which is returned.
uint64_t next_sequence(uint64_t count = 1);

// One step of the history. Recorded primitives are nodes of tape.cpp's own kind; a compiled region's call
// is a node of the embedder's kind. `edges[i]` says where the gradient of input i goes (neither node nor
// leaf: nowhere).
class TapeNode : public RefCounted {
 public:
  struct Edge {
    TapeValue to;
    std::shared_ptr<LeafSink> leaf;
    bool wanted() const { return to.node || leaf; }
  };
  std::vector<Edge> edges;
  // Called with the whole gradient of an output before the node runs; may replace it (Tensor.register_hook,
  // retain_grad).
  struct Hook {
    uint32_t output;
    std::shared_ptr<GradientHook> hook;
  };
  std::vector<Hook> hooks;
  // What scripts see of the node beside its own name, and what watches it; null: nothing.
  std::shared_ptr<NodeNotes> notes;

  TapeNode() : TapeNode({next_sequence(), 0}) {}
  // Charged to the memory of the engine that records.
  explicit TapeNode(TapeOrder order);
  ~TapeNode() override;
  const TapeOrder& order() const { return order_; }
  // What made an output: "MulBackward0".
  virtual std::string_view name(uint32_t output) const = 0;
  virtual uint32_t outputs() const = 0;
  // Whether output `to` is computed from output `from` within the node. Then the gradient of `from` is whole only in
  // the middle of backward().
  virtual bool flows_within(uint32_t, uint32_t) const { return false; }
  // Whether an output is computed from the input of an edge.
  virtual bool comes_from(uint32_t, size_t) const { return true; }
  // Where within the node an output is made: hooks see the gradients of later ones first.
  virtual uint32_t place_within(uint32_t) const { return 0; }
  // What a node may ask while its backward() runs.
  class Pass {
   public:
    virtual ~Pass() = default;
    virtual bool create_graph() const = 0;  // the gradients carry their own history
    // A gradient has arrived already where the edge leads. The terms of one place are added in the order of the
    // edges; a node that is the first to contribute there may hand over their sum in the place of the first of them.
    virtual bool has_arrived(const Edge& edge) const = 0;
    // What has arrived there (undefined: nothing), for a node whose term for this edge is to hold it.
    virtual TapeTensor take(const Edge& edge) = 0;
    // Where somebody looks at a gradient that is whole only within the node: the outputs that have one and lead on, or
    // are asked for. The node hands over each whole gradient, those of later outputs first, and goes on with what it
    // gets back.
    struct Inspected {
      uint32_t output;
      bool is_wanted;  // the gradient is asked for
      auto operator<=>(const Inspected&) const = default;
    };
    virtual std::span<const Inspected> inspected() const = 0;
    virtual TapeTensor inspect(uint32_t output, const TapeTensor& whole) = 0;
    // Whether the edge leads to a gradient that is asked for. No others are computed.
    virtual bool leads_on(const Edge& edge) const = 0;
  };
  // Gradients of the outputs (undefined tensor: none) to gradients of the inputs with a wanted edge.
  virtual void backward(std::span<const TapeTensor> output_gradients, std::span<TapeTensor> input_gradients,
                        Pass& pass) = 0;
  // An in-place operation has put the elements of the result `from` into `to`, which is the result from now on: where
  // the step has saved it, a write to `to` is a write to what it saved.
  virtual void move_result(const Tensor& /*from*/, const Tensor& /*to*/) {}
  // Frees saved tensors (after a backward without retain_graph); a second backward is RuntimeError.
  virtual void release_saved() = 0;
  // After an error in the middle of backward(): of the ops that it had gone through.
  virtual void release_walked() {}

 private:
  // About what a step takes without the tensors that it keeps: the node, its edges and its inputs.
  static constexpr int64_t kBytes = 768;
  TapeOrder order_;
  Ref<MemoryBudget> budget_;
};

// RuntimeError of a backward through a history whose saved tensors are freed.
[[noreturn]] void throw_history_freed();
// "MulBackward0" and so on.
std::string_view node_name(Op op);

struct TapeResults {
  TapeTensor first, second;  // `second` of ops with two results
};

// Runs a primitive with its reference kernel and, if `record` and an input needs a gradient, records it.
TapeResults run_taped(Op op, std::span<const TapeTensor> inputs, std::span<const Scalar> scalars,
                      const OpAttributes& attributes, bool record);

// Records a primitive whose results exist already (an in-place write seen as `store`, a view whose base
// has a new version). Empty when no input needs a gradient. `order`: its place, if it is not here and now.
TapeValue record(Op op, std::span<const TapeTensor> inputs, std::span<const Scalar> scalars,
                 const OpAttributes& attributes, std::span<const Tensor> results, const TapeOrder* order = nullptr);

bool is_in_row_order(const Tensor& tensor);
// The gradient in row-major memory, which is how gradients are handed to scripts: how the computation left it there
// depends on what was compiled. With its history, if it has one.
TapeTensor in_row_order(const TapeTensor& gradient);

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool detect_anomaly = false;  // a gradient that is nan is an error which names the step of the program
};

// Accumulates into every reachable leaf. `gradients[i]` undefined: root i must have one element and gets 1
// (RuntimeError "grad can be implicitly created only for scalar outputs" otherwise).
void run_backward(std::span<const TapeTensor> roots, std::span<const TapeTensor> gradients,
                  const BackwardOptions& options);

// torch.autograd.grad: the gradients of `inputs` (undefined where unconnected), leaves untouched.
std::vector<TapeTensor> gradients_of(std::span<const TapeTensor> roots, std::span<const TapeTensor> gradients,
                                     std::span<const TapeTensor> inputs, const BackwardOptions& options);

}  // namespace tsc::jit
