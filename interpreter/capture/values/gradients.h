#pragma once
// Gradient histories of what the region makes: which results need a gradient, which have none because they were made
// without, backward() inside the region, and what an exit needs for a backward() outside.
// Defined in gradients.cpp, program/recorded.cpp.
#include "interpreter/capture/rooms.h"

namespace tsc::interp {

class RecipeWriter;

class Gradients : private Room {
 public:
  explicit Gradients(const Rooms& rooms) : Room(rooms) {}
  // `.grad`: read at every entry, because every step makes a new one.
  Av load_gradient(VTensor& tensor);
  // From here on the tensor needs a gradient; what was computed of it before has no part in that.
  void begin_gradient(VTensor& tensor);
  // The function that the tensor's last operation ends has this name among the steps of the gradient history.
  void name_step(const Av& av, std::string_view name);
  // These tensors are in the history of that result.
  void remember_history(std::span<const Av> tensors, ValueId result);
  // `x += y` keeps the dtype and shape of x, or raises.
  void check_in_place(VTensor& target, const Av& result);
  void backward(const Av& loss, const Av& gradient, bool retain_graph);
  // torch.autograd.grad: for each wanted tensor its gradient, None where the outputs do not depend on it.
  std::vector<Av> gradients(std::span<const Av> outputs, std::span<const Av> wanted, std::span<const Av> seeds,
                            bool retain_graph, bool create_graph);
  // A loop or a branch of the region has ended: what was recorded in it, from entry number `first` on, is in the
  // history of its results.
  size_t history_size() const { return in_history_.size(); }
  void close_block(size_t first, std::span<const ValueId> results);
  // The last loop or branch of the region keeps what backwards will read. False: gradients cannot go back through it,
  // and `why` says the reason.
  bool prepare_block_backward(std::span<const ValueId> results, std::string* why = nullptr);
  void add_leaf(std::shared_ptr<VTensor> tensor) { leaves_.push_back(std::move(tensor)); }
  // The value has no history, though what it was made of has one.
  void end_history(ValueId id) { no_grad_values_.push_back(id); }
  bool is_without_history(ValueId id) const {
    return std::find(no_grad_values_.begin(), no_grad_values_.end(), id) != no_grad_values_.end();
  }
  // Everything in the region that a gradient can flow to.
  jit::ValueSet with_gradients() const;
  // What backward() will need when it is called outside.
  void split_history(ExitPlan& plan, RecipeWriter& writer);
  void name_outputs(ExitPlan& plan, RecipeWriter& writer);
  void check_apart(const std::vector<ValueId>& outputs, const jit::ValueSet& stops) const;
  void check_each_alone(const std::vector<ValueId>& outputs, const std::vector<ValueId>& wrt,
                        const jit::ValueSet& stops) const;

 private:
  std::vector<ValueId> append_backward(std::span<const jit::GradientSeed> seeds, std::span<const ValueId> wrt,
                                       const jit::ValueSet& stops, std::vector<ValueId>* saving);
  std::vector<ValueId> gradient_places() const;
  static ValueId gradient_place(const VTensor& tensor);
  ValueId seed_of(ValueId value, const Av& gradient);
  ValueId wanted_place(const Av& av);
  void check_stays_inside(std::span<const Av> wanted, const jit::ValueSet& roots, const jit::ValueSet& stops);
  void forget_history(ValueId loss);
  void check_accumulates(VTensor& leaf);
  void accumulate(const std::shared_ptr<VTensor>& leaf, ValueId gradient);
  Av find_gradient(VTensor& tensor);
  bool all_freed(const std::vector<ValueId>& outputs, const std::vector<ValueId>& wrt,
                 const jit::ValueSet& stops) const;

  std::vector<std::pair<std::shared_ptr<VTensor>, ValueId>>
      in_history_;       // and the result that a recorded op made of it
  jit::ValueSet freed_;  // first results of the ops whose saved values a backward() in the region freed
  std::vector<std::shared_ptr<VTensor>> leaves_;         // made by requires_grad_ here
  std::vector<ValueId> no_grad_values_;                  // results of ops under no_grad
  std::unordered_map<ValueId, std::string> step_names_;  // name_step
};

}  // namespace tsc::interp
