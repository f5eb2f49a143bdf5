// What foresee() tells of a run's kernels is what the run then shows them.
#include "jit/runner/foresee.h"

#include <sys/mman.h>

#include "jit/passes/fuse.h"
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

// Of one kernel: its number, and sizes and strides of the tensors it reads.
struct Seen {
  uint32_t kernel;
  std::vector<Sizes> layouts;
  bool operator==(const Seen&) const = default;
};

struct Log {
  std::vector<Seen> foreseen, ran;
};

// A kernel reads what its block does not make.
Seen look(const Instruction& kernel, const Registers& registers) {
  Seen seen{kernel.id, {}};
  for (const Instruction& op : kernel.blocks[0]->instructions)
    for (ValueId operand : op.operands) {
      const Tensor& tensor = registers.tensor(operand);
      if (!tensor.defined()) continue;
      seen.layouts.push_back(tensor.sizes());
      seen.layouts.push_back(tensor.strides());
    }
  return seen;
}

class Watcher final : public KernelRunner {
 public:
  explicit Watcher(Log& log) : log_(log) {}
  bool run(const Instruction& kernel, Registers& registers) override {
    log_.ran.push_back(look(kernel, registers));
    return false;
  }
  bool foresee(const Region& region, const Registers& bound) override {
    jit::foresee(region, bound, [&](const Instruction& kernel, Registers& registers) {
      log_.foreseen.push_back(look(kernel, registers));
      for (ValueId result : kernel.results) {
        Sizes sizes;
        for (ValueId size : region.type(result).sizes) sizes.push_back(registers.scalars[size].i);
        registers.put(result, Tensor::empty(region.type(result).dtype, sizes));
      }
      return true;
    });
    return true;
  }

 private:
  Log& log_;
};

class Silent final : public Host {
 public:
  void host(uint32_t, std::span<const RunValue>, std::span<RunValue>) override { ++calls; }
  int calls = 0;
};

// exp, a product, a view of it and a softmax's parts around each other; the host is shown the product on the way.
Region some_region() {
  Region region;
  TrustingBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F64, 3), w = region.add_tensor_input(DType::F64, 3);
  auto op = [&](Op code, std::vector<ValueId> inputs, OpAttributes attributes = {}) {
    return b.op(code, inputs, {}, std::move(attributes));
  };
  const ValueId product = op(Op::dot, {op(Op::exp, {x}), w});
  const ValueId turned = op(Op::permute, {product}, axes({0, 2, 1}));
  b.host(0, std::vector{product}, {});
  const ValueId power = op(Op::exp, {op(Op::mul, {turned, turned})});
  const ValueId mixed = op(Op::dot, {op(Op::add, {power, op(Op::sin, {turned})}), product});
  b.exit(0, std::vector<ValueId>{op(Op::tanh, {mixed})});
  fuse(region);
  return region;
}

Tensor numbers(const Sizes& sizes) {
  return doubles(sizes, std::vector<double>(static_cast<size_t>(numel_of(sizes)), 0.5));
}

}  // namespace

TEST_CASE("a run asks its kernels for what was foreseen, once") {
  for (int64_t n : {0, 1, 3}) {
    Log log;
    const auto executable = make_region_executor(some_region(), std::make_unique<Watcher>(log));
    const std::vector<Tensor> inputs{numbers({2, n, 4}), numbers({2, 4, 5})};
    Silent host;
    run_with(*executable, inputs, &host);
    CHECK(log.ran.size() >= 3);
    CHECK(log.foreseen == log.ran);
    run_with(*executable, inputs, &host);
    CHECK(log.foreseen.size() * 2 == log.ran.size());
    CHECK(host.calls == 2);
  }
}

TEST_CASE("what is foreseen reads no element, also where a view would need a copy") {
  Region region;
  TrustingBuilder b(region);
  const ValueId x = region.add_tensor_input(DType::F64, 2);
  const ValueList sizes = region.type(x).sizes;
  const ValueId turned = b.op(Op::permute, std::vector{x}, {}, axes({1, 0}));
  const ValueId count = b.scalar(ScalarOp::mul, std::vector{sizes[0], sizes[1]});
  const ValueId flat = b.op(Op::reshape, std::vector{turned}, std::vector{count}, {});
  b.exit(0, std::vector<ValueId>{b.op(Op::exp, std::vector{flat}, {}, {})});
  fuse(region);

  // Whoever reads this memory is stopped by the processor.
  constexpr int64_t kRows = 300, kColumns = 200, kBytes = kRows * kColumns * 8;
  void* memory = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  const Tensor unreadable(Storage::borrow(memory, kBytes, [&] { munmap(memory, kBytes); }), DType::F64,
                          {kRows, kColumns}, {kColumns, 1}, 0);
  Registers bound(region);
  bound.lend(x, unreadable);
  bound.scalars[sizes[0]] = Scalar::of_int(kRows);
  bound.scalars[sizes[1]] = Scalar::of_int(kColumns);
  std::vector<Seen> seen;
  foresee(region, bound, [&](const Instruction& kernel, Registers& registers) {
    seen.push_back(look(kernel, registers));
    return true;
  });
  CHECK(seen == std::vector<Seen>{{0, {{kRows * kColumns}, {1}}}});
}
