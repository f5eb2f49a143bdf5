#include "jit/autodiff/tape.h"

#include <atomic>

#include "jit/autodiff/eager_builder.h"
#include "jit/autodiff/node_notes.h"
#include "jit/autodiff/rules.h"
#include "runtime/device/device.h"

namespace tsc::jit {
namespace {

constexpr const char* kFreed =
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already been freed). Saved intermediate values of the graph are freed when you call "
    ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
    "graph a second time or if you need to access saved tensors after calling backward.";

// A tensor kept for the backward pass: whole when its elements are read, else its shape alone. What hooks have packed
// is theirs, and no write to the tensor concerns it.
struct SavedTensor {
  DType dtype = DType::F32;
  Sizes sizes;
  Tensor tensor;
  std::shared_ptr<PackedTensor> packed;
  uint32_t version = 0;

  SavedTensor(const Tensor& from, bool keep) : dtype(from.dtype()), sizes(from.sizes()) {
    if (!keep) return;
    if (SavedTensorHooks* hooks = SavedHooksScope::current()) [[unlikely]] {
      packed = hooks->pack(from);
      return;
    }
    tensor = from;
    version = from.storage()->version;
  }
  void release() {
    tensor = Tensor();
    packed.reset();
  }
};

std::string camel_case(std::string_view name) {
  std::string text;
  bool upper = true;
  for (char c : name) {
    if (c == '_') {
      upper = true;
      continue;
    }
    text += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return text;
}

// PyTorch's names of the steps that it records for these primitives.
// clang-format off
constexpr std::pair<Op, std::string_view> kNamesOfTheirOwn[] = {
    {Op::reshape, "ViewBackward0"},        {Op::broadcast, "ExpandBackward0"},
    {Op::sign, "SignBackward0"},         {Op::log1p, "Log1PBackward0"},
    {Op::remainder, "RemainderBackward1"},   {Op::dot, "BmmBackward0"},
    {Op::select, "WhereBackward0"},        {Op::cast, "ToCopyBackward0"},
    {Op::copy, "CloneBackward0"},          {Op::concat, "CatBackward0"},
    {Op::store, "CopySlices"},             {Op::take, "IndexSelectBackward0"},
    {Op::amax, "AmaxBackward0"},           {Op::rem, "FmodBackward0"},
    {Op::pad, "ConstantPadNdBackward0"},   {Op::pow, "PowBackward1"},
    {Op::save_for_backward, "AliasBackward0"}, {Op::quot, "DivBackward1"},
};
// clang-format on

// Of every op, made once.
const std::vector<std::string>& node_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const OpRow& row : op_rows()) list.push_back(camel_case(row.name) + "Backward0");
    for (const auto& [op, name] : kNamesOfTheirOwn) list[static_cast<size_t>(op)] = name;
    return list;
  }();
  return names;
}

// A recorded primitive.
class OpNode final : public TapeNode {
 public:
  OpNode(Op op, std::span<const TapeTensor> inputs, std::span<const Scalar> scalars, const OpAttributes& attributes,
         std::span<const Tensor> results, TapeOrder order)
      : TapeNode(order), op_(op), scalars_(scalars.begin(), scalars.end()), attributes_(attributes) {
    SmallVector<bool, 8> wanted;
    for (const TapeTensor& input : inputs) {
      const bool flows = input.needs_grad() && is_differentiable(input.tensor.dtype());
      edges.push_back(flows ? Edge{input.history, input.leaf} : Edge{});
      wanted.push_back(flows);
    }
    const uint8_t set = saved_set(op, wanted);
    for (size_t i = 0; i < inputs.size(); ++i) operands_.emplace_back(inputs[i].tensor, i < 3 && set >> i & 1);
    for (size_t i = 0; i < results.size(); ++i) results_.emplace_back(results[i], set >> (3 + i) & 1);
    saves_ = set != 0;
  }

  std::string_view name(uint32_t) const override { return node_name(op_); }
  uint32_t outputs() const override { return static_cast<uint32_t>(results_.size()); }

  void backward(std::span<const TapeTensor> output_gradients, std::span<TapeTensor> input_gradients,
                Pass& pass) override {
    if (saves_ && released_) throw_history_freed();
    EagerBuilder builder(pass.create_graph());
    std::vector<ValueId> operands, scalars, results, gradients;
    for (size_t i = 0; i < operands_.size(); ++i)
      operands.push_back(add(builder, operands_[i], edges[i].to, edges[i].leaf));
    for (const Scalar& scalar : scalars_) scalars.push_back(builder.add(scalar));
    // A saved result comes back as this node's output; it holds no reference to the node meanwhile.
    for (uint32_t i = 0; i < results_.size(); ++i)
      results.push_back(add(builder, results_[i], {Ref<TapeNode>(this), i}, nullptr));
    for (const TapeTensor& gradient : output_gradients)
      gradients.push_back(gradient.tensor.defined() ? builder.add(gradient) : kNoValue);
    SmallVector<bool, 8> wanted;
    for (const Edge& edge : edges) wanted.push_back(edge.wanted());
    std::vector<ValueId> out(operands.size(), kNoValue);
    GradientCall call{builder, operands, scalars, results, gradients, attributes_, wanted.data(), out.data()};
    gradient_row(op_).rule(call);
    for (size_t i = 0; i < out.size(); ++i)
      if (wanted[i] && out[i] != kNoValue) input_gradients[i] = builder.tensor(out[i]);
  }

  void move_result(const Tensor& from, const Tensor& to) override {
    for (SavedTensor& saved : results_) {
      if (!saved.tensor.defined() || saved.tensor.storage() != from.storage()) continue;
      saved.tensor = to;
      saved.version = to.storage()->version;
    }
  }

  void release_saved() override {
    released_ = true;
    for (SavedTensor& saved : operands_) saved.release();
    for (SavedTensor& saved : results_) saved.release();
  }

 private:
  ValueId add(EagerBuilder& builder, const SavedTensor& saved, TapeValue history,
              std::shared_ptr<LeafSink> leaf) const {
    if (saved.packed) [[unlikely]]
      return builder.add({saved.packed->unpack(), std::move(history), std::move(leaf)});
    if (!saved.tensor.defined()) return builder.add_shape(saved.dtype, saved.sizes);
    const uint32_t now = saved.tensor.storage()->version;
    if (now != saved.version)
      throw_written(saved.dtype, saved.sizes, history.node ? shown_name(*history.node, history.output) : "",
                    history.output, now, saved.version);
    return builder.add({saved.tensor, std::move(history), std::move(leaf)});
  }

  Op op_;
  std::vector<SavedTensor> operands_, results_;
  std::vector<Scalar> scalars_;
  OpAttributes attributes_;
  bool saves_ = false, released_ = false;
};

// The operands as plain tensors, without the heap for the usual few.
class SmallTensors {
 public:
  explicit SmallTensors(std::span<const TapeTensor> inputs) : count_(inputs.size()) {
    if (count_ > std::size(few_)) many_.resize(count_);
    for (size_t i = 0; i < count_; ++i) data()[i] = inputs[i].tensor;
  }
  std::span<const Tensor> span() { return {data(), count_}; }

 private:
  Tensor* data() { return many_.empty() ? few_ : many_.data(); }
  size_t count_;
  Tensor few_[3];
  std::vector<Tensor> many_;
};

bool flows(Op op, std::span<const TapeTensor> inputs) {
  if (!is_differentiable(op)) return false;
  for (const TapeTensor& input : inputs)
    if (input.needs_grad() && is_differentiable(input.tensor.dtype())) return true;
  return false;
}

}  // namespace

// Only the order of these numbers is ever looked at, and only within one graph.
uint64_t next_sequence(uint64_t count) {
  static std::atomic<uint64_t> counter{0};
  return counter.fetch_add(count, std::memory_order_relaxed);
}

void throw_history_freed() { throw Error(ErrorKind::RuntimeError, kFreed); }

std::string_view node_name(Op op) { return node_names()[static_cast<size_t>(op)]; }

TapeNode::TapeNode(TapeOrder order) : order_(order), budget_(current_device().budget) {
  if (budget_->try_charge(kBytes)) return;
  budget_->reclaim();
  if (!budget_->try_charge(kBytes)) budget_->refuse(kBytes);
}

namespace {

// Moves the links of a dying node behind `pending`. Without the memory to put them off, those that are left go with the
// node.
void take_links(TapeNode& node, std::vector<TapeNode::Edge>& pending) {
  try {
    for (TapeNode::Edge& next : node.edges) pending.push_back(std::move(next));
    node.edges.clear();
    if (!node.notes) return;
    for (TapeNode::Edge& next : node.notes->next) pending.push_back(std::move(next));
    node.notes->next.clear();
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace

// A chain of nodes would free itself recursively: take the links of dying nodes out first.
TapeNode::~TapeNode() {
  budget_->give_back(kBytes);
  std::vector<Edge> pending;
  pending.swap(edges);
  if (notes) take_links(*this, pending);
  while (!pending.empty()) {
    Edge edge = std::move(pending.back());
    pending.pop_back();
    if (edge.to.node && edge.to.node->use_count() == 1) take_links(*edge.to.node, pending);
  }
}

TapeValue record(Op op, std::span<const TapeTensor> inputs, std::span<const Scalar> scalars,
                 const OpAttributes& attributes, std::span<const Tensor> results, const TapeOrder* order) {
  if (!flows(op, inputs) || !is_differentiable(results[0].dtype())) return {};
  const TapeOrder place = order ? *order : TapeOrder{next_sequence(), 0};
  return {Ref<TapeNode>(new OpNode(op, inputs, scalars, attributes, results, place)), 0};
}

TapeResults run_taped(Op op, std::span<const TapeTensor> inputs, std::span<const Scalar> scalars,
                      const OpAttributes& attributes, bool record_it) {
  SmallTensors tensors(inputs);
  OpResults results = run_op(op, tensors.span(), scalars, attributes);
  TapeResults out;
  if (record_it && flows(op, inputs)) {
    const Tensor both[] = {results.first, results.second};
    const size_t count = results.second.defined() ? 2 : 1;
    out.first.history = record(op, inputs, scalars, attributes, {both, count});
  }
  out.first.tensor = std::move(results.first);
  out.second.tensor = std::move(results.second);
  return out;
}

bool is_in_row_order(const Tensor& tensor) { return tensor.strides() == contiguous_strides(tensor.sizes()); }

TapeTensor in_row_order(const TapeTensor& gradient) {
  if (!gradient.tensor.defined() || is_in_row_order(gradient.tensor)) return gradient;
  return run_taped(Op::copy, {&gradient, 1}, {}, {}, gradient.needs_grad()).first;
}

}  // namespace tsc::jit
