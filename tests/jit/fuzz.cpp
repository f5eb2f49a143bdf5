// Random programs: the tape, the region, the region after its passes, and the split backward must agree
// bit for bit; the text form must be a fixed point.
#include "jit/autodiff/gradient.h"
#include "jit/autodiff/split.h"
#include "jit/compile.h"
#include "jit/passes/pipeline.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

class Leaf final : public LeafSink {
 public:
  void accumulate(const TapeTensor& gradient) override { grad = gradient.tensor; }
  Tensor grad;
};

// Every step is done twice: at once on the tape, and as an instruction.
struct Pair {
  TapeTensor tape;
  ValueId id;
  const Sizes& sizes() const { return tape.tensor.sizes(); }
  int64_t rank() const { return tape.tensor.rank(); }
};

class Program {
 public:
  explicit Program(uint64_t seed) : rng_(seed), builder_(region_) {
    region_.name = "fuzz";
    const int inputs = 1 + pick(3);
    for (int i = 0; i < inputs; ++i) {
      Sizes sizes;
      for (int rank = pick(4); rank > 0; --rank) sizes.push_back(pick(4));
      add_input(random_doubles(sizes, -1.5, 1.5, rng_));
    }
    for (int i = 0; i < 14; ++i) step();
    outputs_ = {values_.back()};
    outputs_.push_back(values_[pick(values_.size())]);
  }

  void check() {
    std::vector<Tensor> expected = tape_gradients();
    const size_t forward_size = region_.body.instructions.size();
    check_split(expected);
    REQUIRE(region_.body.instructions.size() == forward_size);
    check_joint(expected);
  }

 private:
  int64_t pick(int64_t count) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(count)); }
  const Pair& any() { return values_[pick(values_.size())]; }

  void add_input(const Tensor& tensor) {
    inputs_.push_back(tensor);
    leaves_.push_back(std::make_shared<Leaf>());
    const ValueId id = region_.add_tensor_input(DType::F64, static_cast<int>(tensor.rank()));
    // The embedder's facts: sizes are what they are in this call.
    for (int axis = 0; axis < tensor.rank(); ++axis)
      if (pick(2) || tensor.size(axis) == 1)
        builder_.assume_equal(builder_.size(id, axis), builder_.constant(tensor.size(axis)));
    values_.push_back({{tensor, {}, leaves_.back()}, id});
    wrt_.push_back(id);
  }

  Pair apply(Op op, const std::vector<Pair>& operands, const std::vector<Scalar>& scalars = {},
             const OpAttributes& attributes = {}) {
    std::vector<TapeTensor> tensors;
    std::vector<ValueId> ids, numbers;
    for (const Pair& operand : operands) {
      tensors.push_back(operand.tape);
      ids.push_back(operand.id);
    }
    for (const Scalar& scalar : scalars)
      numbers.push_back(scalar.kind == Scalar::Kind::Float ? builder_.constant(scalar.f) : builder_.constant(scalar.i));
    TapeTensor result = run_taped(op, tensors, scalars, attributes, true).first;
    return {result, builder_.op(op, ids, numbers, attributes)};
  }
  std::vector<Scalar> size_scalars(const Sizes& sizes) {
    std::vector<Scalar> scalars;
    for (int64_t size : sizes) scalars.push_back(Scalar::of_int(size));
    return scalars;
  }
  Pair broadcast_to(const Pair& x, const Sizes& sizes) { return apply(Op::broadcast, {x}, size_scalars(sizes)); }
  Pair total(const Pair& x) {
    Sizes all;
    for (int64_t axis = 0; axis < x.rank(); ++axis) all.push_back(axis);
    return apply(Op::sum, {x}, {}, axes(all));
  }

  void step() {
    const Pair x = any();
    switch (pick(7)) {
      case 0: return values_.push_back(unary(x));
      case 1: return values_.push_back(binary(x));
      case 2: return values_.push_back(shape(x));
      case 3: return values_.push_back(reduce(x));
      case 4: return values_.push_back(pieces(x));
      case 5: return values_.push_back(product(x));
      default: return values_.push_back(move(x));
    }
  }

  Pair unary(const Pair& x) {
    static constexpr Op kOps[] = {Op::neg, Op::abs, Op::tanh, Op::exp,  Op::sin,
                                  Op::cos, Op::erf, Op::atan, Op::copy, Op::floor};
    return apply(kOps[pick(std::size(kOps))], {x});
  }

  // The other operand has the same sizes: x itself, a broadcast scalar, or an earlier one that fits.
  Pair binary(const Pair& x) {
    static constexpr Op kOps[] = {Op::add, Op::sub, Op::mul, Op::maximum, Op::minimum, Op::div};
    Pair y = x;
    for (const Pair& other : values_)
      if (other.sizes() == x.sizes() && pick(2)) y = other;
    if (pick(4) == 0) y = broadcast_to(total(any()), x.sizes());
    if (pick(5) == 0) return apply(Op::select, {apply(Op::lt, {x, y}), x, y});
    return apply(kOps[pick(std::size(kOps))], {x, y});
  }

  Pair shape(const Pair& x) {
    Sizes order, flat = {x.tape.tensor.numel()};
    for (int64_t axis = 0; axis < x.rank(); ++axis) order.insert(pick(axis + 1), axis);
    switch (pick(4)) {
      case 0: return apply(Op::reshape, {x}, size_scalars(flat));
      case 1: return apply(Op::permute, {x}, {}, axes(order));
      case 2: {
        Sizes wide = x.sizes();
        wide.insert(0, 1 + pick(2));
        return broadcast_to(x, wide);
      }
      default: {
        if (x.rank() == 0) return apply(Op::detach, {x});
        const int64_t axis = pick(x.rank()), size = x.sizes()[axis];
        if (size == 0) return apply(Op::reshape, {x}, size_scalars(x.sizes()));
        const int64_t start = pick(size), step = 1 + pick(2);
        return apply(Op::slice, {x}, ints({start, (size - start + step - 1) / step, step}), axes({axis}));
      }
    }
  }

  Pair reduce(const Pair& x) {
    if (x.rank() == 0) return apply(Op::neg, {x});
    const int64_t axis = pick(x.rank());
    const bool empty = x.sizes()[axis] == 0;
    switch (pick(5)) {
      case 0: return apply(Op::sum, {x}, {}, axes({axis}));
      case 1: return apply(empty ? Op::sum : Op::amax, {x}, {}, axes({axis}));
      case 2: return apply(Op::cumsum, {x}, {}, axes({axis}));
      case 3: return apply(Op::cummax, {x}, {}, axes({axis}));
      default: return apply(Op::sort, {x}, {}, axes({axis}));
    }
  }

  Pair move(const Pair& x) {
    if (x.rank() == 0) return apply(Op::exp, {x});
    const int64_t axis = pick(x.rank());
    if (pick(2)) return apply(Op::concat, {x, x}, {}, axes({axis}));
    std::vector<Scalar> scalars = {Scalar::of_float(0.25), Scalar::of_int(pick(3)), Scalar::of_int(pick(2))};
    return apply(Op::pad, {x}, scalars, axes({axis}));
  }

  // Slices side by side, mostly: some are empty, left out or begin in the one before; put together in any order.
  Pair pieces(const Pair& x) {
    if (x.rank() == 0) return apply(Op::sin, {x});
    const int64_t axis = pick(x.rank()), size = x.sizes()[axis];
    std::vector<Pair> parts;
    for (int64_t start = 0; start < size;) {
      const int64_t length = pick(size - start + 1);
      if (pick(4)) {
        const Pair part = apply(Op::slice, {x}, ints({start, length, 1}), axes({axis}));
        parts.insert(parts.begin() + pick(parts.size() + 1), pick(2) ? part : unary(part));
      }
      start += std::max<int64_t>(1, length - (pick(4) == 0));
    }
    if (parts.empty()) return apply(Op::cos, {x});
    return apply(Op::concat, parts, {}, axes({axis}));
  }

  // Weights transposed in front of a product and behind it, as a linear layer and its gradient have them.
  Pair product(const Pair& x) {
    const int64_t rows = x.rank() ? x.sizes()[0] : 1, all = x.tape.tensor.numel();
    const int64_t columns = rows ? all / rows : 1;
    const Pair matrix = apply(Op::reshape, {x}, ints({1, rows, columns}));
    const Pair left = apply(Op::permute, {pick(2) ? matrix : unary(matrix)}, {}, axes({0, 2, 1}));
    const Pair flat = apply(Op::reshape, {apply(Op::dot, {left, matrix})}, ints({columns, columns}));
    if (pick(4) == 0) values_.push_back(flat);
    return apply(Op::permute, {flat}, {}, axes({1, 0}));
  }

  std::vector<Tensor> tape_gradients() {
    std::vector<TapeTensor> roots;
    std::vector<TapeTensor> seeds;
    for (const Pair& output : outputs_) {
      if (!output.tape.needs_grad()) continue;
      roots.push_back(output.tape);
      seeds_.push_back(random_doubles(output.sizes(), -1, 1, rng_));
      seeds.push_back({seeds_.back(), {}, nullptr});
      seeded_.push_back(output.id);
    }
    run_backward(roots, seeds, {});
    std::vector<Tensor> gradients;
    for (const auto& leaf : leaves_) gradients.push_back(leaf->grad);
    return gradients;
  }

  void compare(const RunExit& exit, std::span<const int> places, const std::vector<Tensor>& expected,
               const char* what) {
    INFO(what);
    for (size_t i = 0; i < expected.size(); ++i) {
      REQUIRE((places[i] >= 0) == expected[i].defined());
      if (places[i] >= 0) CHECK(same_bits(exit.live[places[i]].tensor, expected[i]));
    }
  }

  void check_joint(const std::vector<Tensor>& expected) {
    std::vector<Tensor> tensors = inputs_;
    std::vector<GradientSeed> seeds;
    for (size_t i = 0; i < seeded_.size(); ++i) {
      const ValueId seed = region_.add_value(Type(region_.type(seeded_[i])));
      // The seed arrives as an input of fresh sizes; the builder learns that they are the output's.
      Type type{ValueKind::Tensor, DType::F64, {}};
      const ValueList sizes = region_.type(seeded_[i]).sizes;  // adding values moves the types
      for (ValueId size : sizes) {
        type.sizes.push_back(region_.add_value({ValueKind::Int, {}, {}}));
        builder_.assume_equal(type.sizes.back(), size);
      }
      region_.type(seed) = type;
      region_.body.parameters.push_back(seed);
      seeds.push_back({seeded_[i], seed});
      tensors.push_back(seeds_[i]);
    }
    const auto gradients = append_backward(builder_, seeds, wrt_);
    std::vector<ValueId> live;
    std::vector<int> places;
    for (ValueId gradient : gradients) {
      places.push_back(gradient == kNoValue ? -1 : static_cast<int>(live.size()));
      if (gradient != kNoValue) live.push_back(gradient);
    }
    builder_.exit(0, live);
    const std::string text = print(region_);
    INFO(text);
    CHECK(print(parse_region(text)) == text);
    check_kept_plan();
    compare(run_region(region_, tensors), places, expected, "region");
    run_pipeline(region_, {});
    compare(run_region(region_, tensors), places, expected, "after the passes");
    compare(run_region(parse_region(print(region_)), tensors), places, expected, "read again");
  }

  // The second time the plan is read and compared with what the passes make.
  void check_kept_plan() const {
    CompileOptions options;
    options.cache = make_kernel_cache();
    Report report;
    for (int64_t hits : {0, 1}) {
      compile(region_.clone(), options, report);
      CHECK(report.of_kind(EventKind::CacheProblem).empty());
      CHECK(report.total(EventKind::PlanHit) == hits);
    }
  }

  void check_split(const std::vector<Tensor>& expected) {
    SplitBackward split = split_backward(region_, seeded_, wrt_);
    Region forward = region_.clone();
    RegionBuilder(forward).exit(0, split.saved);
    INFO(print(forward) + print(split.backward));
    const RunExit ran = run_region(forward, inputs_);
    std::vector<RunInput> given;
    for (const RunValue& value : ran.live) given.push_back({&value.tensor, value.scalar, nullptr});
    for (const Tensor& seed : seeds_) given.push_back({&seed, {}, nullptr});
    RunContext context;
    const auto run = [&] { return make_region_executor(split.backward.clone())->run(given, context); };
    compare(run(), split.gradients, expected, "split");
    run_pipeline(split.backward, {});
    compare(run(), split.gradients, expected, "split after the passes");
  }

  std::mt19937_64 rng_;
  Region region_;
  TrustingBuilder builder_;
  std::vector<Tensor> inputs_, seeds_;
  std::vector<std::shared_ptr<Leaf>> leaves_;
  std::vector<ValueId> wrt_, seeded_;
  std::vector<Pair> values_, outputs_;
};

}  // namespace

TEST_CASE("random programs: tape, region, passes and split agree") {
  for (uint64_t seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed);
    Program(seed).check();
  }
}
