// Random programs against the evaluator.
#include <random>

#include "catch2/catch.hpp"
#include "kernel_case.h"

using namespace tsc;
using namespace tsc::jit;

namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) {}

  KernelProgram make() {
    const bool column = random_() % 5 == 0;
    if (column) b_.program.kind = KernelProgram::Kind::Column;
    const size_t stages = column ? 1 : 1 + random_() % 3;
    rate_ = b_.add_parameter(DType::F64);
    for (size_t i = 0; i < 2 + random_() % 3; ++i)
      inputs_.push_back(b_.input(any_dtype(), i == 0 ? Access::Contiguous : any_access()));
    for (size_t stage = 0; stage < stages; ++stage) {
      if (stage) b_.stage();
      make_stage(stage + 1 == stages, column);
    }
    return b_.program;
  }

 private:
  DType any_dtype() {
    constexpr DType kDTypes[] = {DType::F32, DType::F32,  DType::F32, DType::F64, DType::BF16, DType::I64,
                                 DType::I32, DType::Bool, DType::U8,  DType::F16, DType::I8,   DType::I16};
    return kDTypes[random_() % std::size(kDTypes)];
  }
  Access any_access() {
    constexpr Access kAccesses[] = {Access::Contiguous, Access::Contiguous, Access::Broadcast, Access::Strided};
    return kAccesses[random_() % 4];
  }

  void make_stage(bool last, bool column) {
    std::vector<NestValue> values = results_;
    if (!column) {
      b_.row();
      values.push_back(b_.cast(DType::F32, b_.parameter(rate_)));
      b_.element();
    }
    for (uint32_t input : inputs_) values.push_back(b_.load(input));
    for (size_t i = 0; i < 3 + random_() % 10; ++i) grow(values);
    std::vector<NestValue> reduced;
    if (!last || column) {
      constexpr Reduction kReductions[] = {Reduction::sum, Reduction::amax, Reduction::amin};
      reduced.push_back(b_.reduce(kReductions[random_() % 3], values.back()));
      results_.push_back(reduced[0]);
    }
    if (column) {
      b_.row();
      b_.store(b_.output(b_.dtype(reduced[0])), reduced[0]);
    } else if (last || random_() % 2) {
      b_.store(b_.output(b_.dtype(values.back()), random_() % 4 ? Access::Contiguous : Access::Strided), values.back());
    }
  }

  // Appends one random instruction over the values so far, converting where dtypes differ.
  void grow(std::vector<NestValue>& values) {
    const NestValue x = values[random_() % values.size()];
    NestValue y = values[random_() % values.size()];
    if (random_() % 6 == 0) {
      values.push_back(b_.cast(any_dtype(), x));
      return;
    }
    if (b_.dtype(y) != b_.dtype(x)) y = b_.cast(b_.dtype(x), y);
    constexpr Op kFloat[] = {Op::add, Op::sub, Op::mul,  Op::div, Op::maximum, Op::minimum, Op::lt,
                             Op::eq,  Op::exp, Op::tanh, Op::neg, Op::abs,     Op::sqrt};
    constexpr Op kInteger[] = {Op::add,     Op::mul, Op::bitwise_and, Op::shift_left,
                               Op::maximum, Op::ne,  Op::le,          Op::bitwise_xor};
    const bool floating = is_floating(b_.dtype(x));
    const Op op = floating ? kFloat[random_() % std::size(kFloat)] : kInteger[random_() % std::size(kInteger)];
    values.push_back(op_row(op).tensors == 1 ? b_.apply(op, {x}) : b_.apply(op, {x, y}));
    if (b_.dtype(values.back()) == DType::Bool && random_() % 2)
      values.push_back(b_.apply(Op::select, {values.back(), x, y}));
  }

  std::mt19937_64 random_;
  ProgramBuilder b_;
  uint32_t rate_ = 0;
  std::vector<uint32_t> inputs_;
  std::vector<NestValue> results_;
};

}  // namespace

TEST_CASE("random programs") {
  std::vector<KernelProgram> programs;
  for (uint64_t seed = 1; seed <= 60; ++seed) programs.push_back(Maker(seed).make());
  auto layouts = sizes({1, 15, 64, 131}, {1, 5});
  const double number = 0.3;
  for (Layout& layout : layouts) layout.parameters = {std::bit_cast<int64_t>(number)};
  check_programs(programs, layouts);
}
