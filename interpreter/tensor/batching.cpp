// A batch rule for every primitive: what torch.vmap does with one. The operands' batch is axis 0 of their physical
// tensors; the rule is the same primitive on these with its axes moved on by one, or, where the batch decides which
// elements are read (an index that is batched), one example after the other.
#include "interpreter/tensor/placement.h"
#include "interpreter/tensor/transforms.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

using Held = Local<TensorObject>;

class BatchRule {
 public:
  BatchRule(Vm& vm, int level, Op op, std::span<TensorObject* const> tensors, std::span<const Scalar> scalars,
            const OpAttributes& attributes)
      : vm_(vm), level_(level), size_(autograd_state(vm).levels.at(static_cast<size_t>(level - 1)).size), op_(op),
        tensors_(tensors.begin(), tensors.end()), scalars_(scalars.begin(), scalars.end()), attributes_(attributes) {}

  EagerResults run() {
    switch (op_row(op_).family) {
      case Family::View: return view();
      case Family::Index: return index();
      case Family::Contract: return wrap(contract());
      case Family::Window: return wrap(op_ == Op::convolve ? convolve() : window_argmax());
      case Family::Create: TSC_CHECK(false, "a primitive without operands has no batch");
      default: break;
    }
    if (op_ == Op::store) refuse("an in-place write of this kind");
    move_axes();
    return everywhere();
  }

 private:
  [[noreturn]] void refuse(const char* what) const {
    throw Error(ErrorKind::RuntimeError, std::string("vmap: ") + what + " (" + std::string(op_name(op_)) +
                                             ") depends on the elements of one example and has no batched form");
  }

  bool has_batch(const TensorObject* x) const { return x->extra && x->extra->level == level_; }
  Held physical(TensorObject* x) const { return x->extra->physical; }
  // With the batch as axis 0, repeated where the operand has none.
  Held with_batch(TensorObject* x) const {
    if (has_batch(x)) return physical(x);
    SmallVector<Scalar, 6> sizes = {Scalar::of_int(size_)};
    for (int64_t size : x->tensor.sizes()) sizes.push_back(Scalar::of_int(size));
    TensorObject* operands[] = {x};
    return run_eager(vm_, Op::broadcast, operands, sizes, {}).first;
  }

  EagerResults wrap(EagerResults results) const {
    EagerResults out;
    out.first = make_batched(vm_, results.first, level_);
    if (results.second) out.second = make_batched(vm_, results.second, level_);
    return out;
  }
  EagerResults wrap(Held result) const { return wrap(EagerResults{std::move(result), {}}); }
  EagerResults apply(Op op, std::initializer_list<Held> operands, std::span<const Scalar> scalars,
                     const OpAttributes& attributes) const {
    SmallVector<TensorObject*, 4> pointers;
    for (const Held& operand : operands) pointers.push_back(operand.get());
    return run_eager(vm_, op, {pointers.data(), pointers.size()}, scalars, attributes);
  }
  Held reshaped(const Held& x, const Sizes& sizes) const {
    SmallVector<Scalar, 6> scalars;
    for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
    return apply(Op::reshape, {x}, scalars, {}).first;
  }
  Held permuted(const Held& x, std::initializer_list<int64_t> axes) const {
    OpAttributes attributes;
    for (int64_t axis : axes) attributes.axes.push_back(axis);
    return apply(Op::permute, {x}, {}, attributes).first;
  }

  void move_axes() {
    if (is_elementwise(op_)) return;
    for (int64_t& axis : attributes_.axes) ++axis;
  }

  // The primitive on the physical operands.
  EagerResults everywhere() const {
    std::vector<Held> held;
    std::vector<TensorObject*> operands;
    for (TensorObject* x : tensors_) {
      held.push_back(with_batch(x));
      operands.push_back(held.back().get());
    }
    return wrap(run_eager(vm_, op_, operands, scalars_, attributes_));
  }

  EagerResults view() {
    Held x = physical(tensors_[0]);
    if (op_ == Op::reshape) scalars_.insert(scalars_.begin(), Scalar::of_int(size_));
    if (op_ == Op::broadcast) {
      const size_t missing = scalars_.size() - static_cast<size_t>(tensors_[0]->tensor.rank());
      if (missing > 0) {
        Sizes sizes = {size_};
        for (size_t i = 0; i < missing; ++i) sizes.push_back(1);
        for (int64_t size : tensors_[0]->tensor.sizes()) sizes.push_back(size);
        x = reshaped(x, sizes);
      }
      scalars_.insert(scalars_.begin(), Scalar::of_int(size_));
    }
    move_axes();
    if (op_ == Op::permute) attributes_.axes.insert(0, 0);
    return wrap(apply(op_, {x}, scalars_, attributes_));
  }

  EagerResults index() {
    if (op_ == Op::nonzero) refuse("an operation whose result has a size of its own");
    const bool elementwise = op_ == Op::gather || op_ == Op::scatter || op_ == Op::scatter_add;
    if (elementwise || !has_batch(tensors_[1])) {
      if (op_ == Op::take || op_ == Op::index_add) return with_shared_index();
      move_axes();
      return everywhere();
    }
    return one_by_one();
  }

  EagerResults with_shared_index() {
    move_axes();
    const Held x = with_batch(tensors_[0]), places(tensors_[1]);
    if (op_ == Op::take) return wrap(apply(op_, {x, places}, scalars_, attributes_));
    return wrap(apply(op_, {x, places, with_batch(tensors_[2])}, scalars_, attributes_));
  }

  Held example(TensorObject* x, int64_t number) const {
    if (!has_batch(x)) return Held(x);
    OpAttributes attributes;
    attributes.axes = {0};
    const Scalar where[] = {Scalar::of_int(number), Scalar::of_int(1), Scalar::of_int(1)};
    return reshaped(apply(Op::slice, {physical(x)}, where, attributes).first, x->tensor.sizes());
  }

  EagerResults one_by_one() const {
    std::vector<Held> results;
    for (int64_t i = 0; i < size_; ++i) {
      std::vector<Held> held;
      std::vector<TensorObject*> operands;
      for (TensorObject* x : tensors_) {
        held.push_back(example(x, i));
        operands.push_back(held.back().get());
      }
      const Held result = run_eager(vm_, op_, operands, scalars_, attributes_).first;
      Sizes sizes = {1};
      for (int64_t size : result->tensor.sizes()) sizes.push_back(size);
      results.push_back(reshaped(result, sizes));
    }
    std::vector<TensorObject*> parts;
    for (const Held& result : results) parts.push_back(result.get());
    OpAttributes attributes;
    attributes.axes = {0};
    return wrap(run_eager(vm_, Op::concat, parts, {}, attributes).first);
  }

  // Axis `axis` and the one behind it as one.
  Held merged(const Held& x, int64_t axis) const {
    Sizes sizes;
    for (int64_t i = 0; i < x->tensor.rank(); ++i)
      if (i == axis + 1) sizes.back() *= x->tensor.size(i);
      else sizes.push_back(x->tensor.size(i));
    return reshaped(x, sizes);
  }
  // The inverse, with the batch as the first of the two.
  Held parted(const Held& x, int64_t axis) const {
    Sizes sizes;
    for (int64_t i = 0; i < x->tensor.rank(); ++i) {
      if (i == axis) sizes.push_back(size_);
      sizes.push_back(i == axis ? x->tensor.size(i) / size_ : x->tensor.size(i));
    }
    return reshaped(x, sizes);
  }
  Held moved(const Held& x, int64_t from, int64_t to) const {
    OpAttributes attributes;
    for (int64_t i = 0; i < x->tensor.rank(); ++i)
      if (i != from) attributes.axes.push_back(i);
    attributes.axes.insert(static_cast<size_t>(to), from);
    return apply(Op::permute, {x}, {}, attributes).first;
  }

  // (n, g, c, *space) and (g, o, c, *taps): examples that share the weights are rows of one call, others are groups.
  Held convolve() const {
    const bool swapped = attributes_.mode == 1;  // (g, o, n, *places), else (n, g, o, *places)
    if (!has_batch(tensors_[1])) {
      const Held rows = merged(physical(tensors_[0]), 0);
      const Held found = apply(op_, {rows, Held(tensors_[1])}, scalars_, attributes_).first;
      return swapped ? moved(parted(found, 2), 2, 0) : parted(found, 0);
    }
    const Held x = merged(moved(with_batch(tensors_[0]), 0, 1), 1), y = merged(physical(tensors_[1]), 0);
    const Held found = apply(op_, {x, y}, scalars_, attributes_).first;
    return swapped ? parted(found, 0) : moved(parted(found, 1), 1, 0);
  }
  Held window_argmax() const {
    return parted(apply(op_, {merged(physical(tensors_[0]), 0)}, scalars_, attributes_).first, 0);
  }

  // (b, m, k) x (b, k, n). A right operand that all examples share takes their rows as one matrix.
  Held contract() const {
    TensorObject *x = tensors_[0], *y = tensors_[1];
    const int64_t b = x->tensor.size(0), m = x->tensor.size(1), k = x->tensor.size(2), n = y->tensor.size(2);
    if (!has_batch(y) && b == 1) {
      const Held rows = reshaped(physical(x), {1, size_ * m, k});
      return reshaped(apply(op_, {rows, Held(y)}, {}, attributes_).first, {size_, b, m, n});
    }
    if (!has_batch(x) && b == 1) {
      const Held columns = reshaped(permuted(physical(y), {1, 2, 0, 3}), {1, k, size_ * n});
      const Held found = apply(op_, {Held(x), columns}, {}, attributes_).first;
      return permuted(reshaped(found, {b, m, size_, n}), {2, 0, 1, 3});
    }
    const Held left = reshaped(with_batch(x), {size_ * b, m, k});
    const Held right = reshaped(with_batch(y), {size_ * b, k, n});
    return reshaped(apply(op_, {left, right}, {}, attributes_).first, {size_, b, m, n});
  }

  Vm& vm_;
  const int level_;
  const int64_t size_;
  const Op op_;
  std::vector<TensorObject*> tensors_;
  std::vector<Scalar> scalars_;
  OpAttributes attributes_;
};

}  // namespace

EagerResults run_batched(Vm& vm, int level, Op op, std::span<TensorObject* const> tensors,
                         std::span<const Scalar> scalars, const OpAttributes& attributes) {
  return BatchRule(vm, level, op, tensors, scalars, attributes).run();
}

Local<TensorObject> make_batched(Vm& vm, Local<TensorObject> physical, int level) {
  const Tensor& all = physical->tensor;
  Sizes sizes(all.sizes().begin() + 1, all.sizes().end()), strides(all.strides().begin() + 1, all.strides().end());
  Held object = make_tensor(vm, Tensor(all.storage(), all.dtype(), std::move(sizes), std::move(strides), all.offset()));
  TensorExtra& extra = own_extra(object.get());
  extra.level = level;
  extra.physical = std::move(physical);
  return object;
}

Local<TensorObject> batched_everywhere(Vm& vm, Local<TensorObject> x, int levels) {
  if (levels == 0) return x;
  Held physical;
  if (is_batched(x.get()) && x->extra->level == levels) {
    physical = x->extra->physical;
  } else {
    SmallVector<Scalar, 6> sizes = {Scalar::of_int(autograd_state(vm).levels.at(static_cast<size_t>(levels - 1)).size)};
    for (int64_t size : x->tensor.sizes()) sizes.push_back(Scalar::of_int(size));
    TensorObject* operands[] = {x.get()};
    physical = run_eager(vm, Op::broadcast, operands, sizes, {}).first;
  }
  return make_batched(vm, batched_everywhere(vm, physical, levels - 1), levels);
}

void assign_batched(Vm& vm, TensorObject* x, TensorObject* value, WriteHistory history) {
  const int level = is_batched(value) ? value->extra->level : 0;
  if (!is_batched(x) || x->extra->level < level)
    throw Error(ErrorKind::RuntimeError,
                "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in "
                "extra_args that has more elements than `self`. This happened due to `other` being vmapped over but "
                "`self` not being vmapped over in a vmap. Please try to use out-of-place operators instead of inplace "
                "arithmetic.");
  TensorObject* to = x->extra->physical.get();
  if (level < x->extra->level) return assign(vm, to, Value(value), history);
  Held from = value->extra->physical;
  // The value's axes are the last of x's, behind the batch.
  Sizes sizes = {from->tensor.size(0)};
  for (int64_t i = value->tensor.rank(); i < x->tensor.rank(); ++i) sizes.push_back(1);
  for (int64_t size : value->tensor.sizes()) sizes.push_back(size);
  if (!(sizes == from->tensor.sizes())) {
    SmallVector<Scalar, 6> scalars;
    for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
    TensorObject* operands[] = {from.get()};
    from = run_eager(vm, Op::reshape, operands, scalars, {}).first;
  }
  assign(vm, to, from.value(), history);
}

Local<TensorObject> random_bits(Vm& vm, const Sizes& sizes, DType dtype) {
  TensorState& state = tensor_state(vm);
  OpAttributes attributes;
  attributes.dtype = dtype;
  jit::RngState& rng = rng_of(state, place_of_new(vm));
  std::vector<Scalar> scalars = {Scalar::of_int(static_cast<int64_t>(rng.seed)),
                                 Scalar::of_int(static_cast<int64_t>(rng.offset))};
  std::vector<int> different;
  if (state.autograd)
    for (size_t i = 0; i < state.autograd->levels.size(); ++i) {
      const BatchLevel& level = state.autograd->levels[i];
      if (level.randomness == Randomness::Error)
        throw Error(ErrorKind::RuntimeError,
                    "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                    "'different' randomness flags on vmap or perform the randomness operation out of vmap");
      if (level.randomness != Randomness::Different) continue;
      different.push_back(static_cast<int>(i) + 1);
      scalars.push_back(Scalar::of_int(level.size));
    }
  for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
  Held bits = run_eager(vm, Op::rng_bits, {}, scalars, attributes).first;
  ++rng.offset;
  for (int level : different) bits = make_batched(vm, bits, level);
  return bits;
}

}  // namespace tsc::interp
