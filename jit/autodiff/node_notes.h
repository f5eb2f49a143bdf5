#pragma once
// What a step of the gradient history carries beside its gradient: the name and the inputs of the library function
// that it ends, the tensors that this function needs unchanged, hooks of the node, and where it was recorded.
// Knows the tape. Must not know script objects.
#include <string>
#include <vector>

#include "jit/autodiff/tape.h"

namespace tsc::jit {

// Sees the gradients of a node's outputs in front of it (`inputs` is empty then) and may replace them, or those of its
// inputs behind it.
class NodeHook {
 public:
  virtual ~NodeHook() = default;
  virtual void before(std::vector<TapeTensor>& output_gradients) = 0;
  virtual void after(std::vector<TapeTensor>& input_gradients, std::span<const TapeTensor> output_gradients) = 0;
};

struct NodeNotes {
  // A tensor that must be at this version when the gradient passes.
  struct Check {
    Tensor tensor;
    uint32_t version;
    std::string made_by;  // name of the step that made it; empty: a leaf or a constant
    uint32_t output = 0;
  };
  std::string name;  // empty: the node's own
  bool has_next = false;
  std::vector<TapeNode::Edge> next;  // of the function: where the gradients of its arguments go
  std::vector<Check> checks;
  std::vector<std::shared_ptr<NodeHook>> hooks;
  std::string trace;               // anomaly mode: the places of the program that recorded the step
  void* script_object = nullptr;   // the object that scripts see, while one lives
  std::shared_ptr<void> metadata;  // what scripts have put there
};

NodeNotes& notes_of(TapeNode& node);
// The name that scripts see: of the function, else of the primitive.
std::string_view shown_name(const TapeNode& node, uint32_t output);
std::span<const TapeNode::Edge> shown_edges(const TapeNode& node);

// A tensor that is to be saved goes through these while they are set for the thread (torch.autograd.graph.
// saved_tensors_hooks): what pack() gives is kept in its place.
class PackedTensor {
 public:
  virtual ~PackedTensor() = default;
  virtual Tensor unpack() = 0;
};
class SavedTensorHooks {
 public:
  virtual ~SavedTensorHooks() = default;
  virtual std::shared_ptr<PackedTensor> pack(const Tensor& tensor) = 0;
};
class SavedHooksScope {
 public:
  explicit SavedHooksScope(SavedTensorHooks* hooks);
  ~SavedHooksScope();
  static SavedTensorHooks* current();

 private:
  SavedTensorHooks* before_;
};

// The number of the backward pass that runs on this thread, 0 for none; whether it reaches a tensor.
uint64_t running_pass();
bool running_pass_reaches(const TapeTensor& x);

// The error of a saved tensor that was written: RuntimeError.
[[noreturn]] void throw_written(DType dtype, const Sizes& sizes, std::string_view made_by, uint32_t output,
                                uint32_t now, uint32_t expected);

}  // namespace tsc::jit
