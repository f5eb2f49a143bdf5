#include "jit/autodiff/moved.h"

#include "jit/autodiff/node_notes.h"
#include "runtime/kernels/run_op.h"

namespace tsc::jit {
namespace {

class MoveNode final : public TapeNode {
 public:
  explicit MoveNode(Place from) : from_(from) {}
  std::string_view name(uint32_t) const override { return "ToCopyBackward0"; }
  uint32_t outputs() const override { return 1; }
  void backward(std::span<const TapeTensor> output_gradients, std::span<TapeTensor> input_gradients,
                Pass& pass) override {
    if (output_gradients[0].tensor.defined())
      input_gradients[0] = moved(output_gradients[0], from_, pass.create_graph());
  }
  void release_saved() override {}

 private:
  Place from_;
};

}  // namespace

TapeTensor moved(const TapeTensor& x, Place place, bool record) {
  if (x.tensor.place() == place) return x;
  TapeTensor out{moved_to(x.tensor, place), {}, nullptr};
  if (!record || !x.needs_grad()) return out;
  auto node = make_ref<MoveNode>(x.tensor.place());
  node->edges.push_back({x.history, x.leaf});
  out.history = {node, 0};
  return out;
}

}  // namespace tsc::jit
