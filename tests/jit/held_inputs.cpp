// Inputs that an executable holds: bound once, and anew when the embedder says that they change.
#include "support.h"

using namespace tsc;
using namespace tsc::jit;
using namespace tsc::jit::test;

namespace {

std::vector<ValueId> list(std::initializer_list<ValueId> values) { return values; }
using Doubles = std::vector<double>;

// What an embedder has: tensors at fixed places, told of before they change.
struct Embedder {
  std::vector<Tensor> tensors;
  std::unique_ptr<Executable> executable;
  Embedder(Region region, std::vector<Tensor> given, std::vector<uint32_t> held)
      : tensors(std::move(given)), executable(make_region_executor(std::move(region))) {
    executable->hold(held);
  }
  void set(uint32_t input, Tensor tensor) {
    executable->changed(input);
    tensors[input] = std::move(tensor);
  }
  RunExit run(Host* host = nullptr) { return run_with(*executable, tensors, host); }
};

class Calls final : public Host {
 public:
  std::function<void()> call;
  void host(uint32_t, std::span<const RunValue>, std::span<RunValue>) override { call(); }
};

// held * open, and the number of elements of `held` plus 10, which must not be 13.
Region product_and_count() {
  Region region;
  TrustingBuilder b(region);
  const ValueId held = region.add_tensor_input(DType::F64, 1), open = region.add_tensor_input(DType::F64, 1);
  const ValueId size = region.type(held).sizes[0];
  const ValueId count = b.scalar(ScalarOp::add, list({size, b.constant(int64_t{10})}));
  b.guard(b.scalar(ScalarOp::ne, list({count, b.constant(int64_t{13})})), 7, {});
  b.exit(0, list({b.op(Op::mul, list({held, open}), {}, {}), count}));
  return region;
}

}  // namespace

TEST_CASE("a held input is bound anew when it changes, with what follows from its sizes") {
  Embedder e(product_and_count(), {doubles({2}, {1, 2}), doubles({2}, {3, 4})}, {0});
  for (int i = 0; i < 3; ++i) {
    const RunExit exit = e.run();
    CHECK(exit.id == 0);
    CHECK(list_of<double>(exit.live[0].tensor) == Doubles{3, 8});
    CHECK(exit.live[1].scalar.i == 12);
  }
  e.tensors[1] = doubles({2}, {5, 6});  // an open one needs no word
  CHECK(list_of<double>(e.run().live[0].tensor) == Doubles{5, 12});
  e.set(0, doubles({4}, {1, 1, 1, 2}));
  e.set(0, doubles({4}, {1, 1, 1, 3}));
  e.tensors[1] = doubles({4}, {1, 2, 3, 4});
  const RunExit exit = e.run();
  CHECK(list_of<double>(exit.live[0].tensor) == Doubles{1, 2, 3, 12});
  CHECK(exit.live[1].scalar.i == 14);
  e.set(0, doubles({3}, {1, 1, 1}));
  e.tensors[1] = doubles({3}, {1, 2, 3});
  for (int i = 0; i < 2; ++i) CHECK(e.run().id == 7);
  e.set(0, doubles({0}, {}));
  e.tensors[1] = doubles({0}, {});
  CHECK(e.run().live[1].scalar.i == 10);
}

TEST_CASE("a settled scalar that raises does so at its place, every time") {
  Region region;
  RegionBuilder b(region);
  const ValueId held = region.add_tensor_input(DType::F64, 1);
  const ValueId hundred = b.constant(int64_t{100});
  const ValueId copy = b.op(Op::neg, list({held}), {}, {});
  const ValueId share = b.scalar(ScalarOp::floor_div, list({hundred, region.type(held).sizes[0]}));
  b.exit(0, list({copy, share}));
  Embedder e(std::move(region), {doubles({4}, {1, 2, 3, 4})}, {0});
  CHECK(e.run().live[1].scalar.i == 25);
  e.set(0, doubles({0}, {}));
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(e.run(), RunError);
  e.set(0, doubles({5}, {1, 2, 3, 4, 5}));
  CHECK(e.run().live[1].scalar.i == 20);
}

TEST_CASE("an open input must agree with the sizes of the held ones, and they with one another") {
  Region region;
  TrustingBuilder b(region);
  const ValueId first = region.add_tensor_input(DType::F64, 1), second = region.add_tensor_input(DType::F64, 1),
                open = region.add_tensor_input(DType::F64, 1);
  const ValueId size = region.type(first).sizes[0];
  b.guard(b.scalar(ScalarOp::ne, list({size, b.constant(int64_t{-1})})), 9, {});
  b.exit(0, list({b.op(Op::add, list({b.op(Op::add, list({first, second}), {}, {}), open}), {}, {})}));
  region.type(second).sizes[0] = size;  // as the pass that unifies sizes does
  region.type(open).sizes[0] = size;
  const Tensor two = doubles({2}, {1, 2}), three = doubles({3}, {1, 2, 3});
  Embedder e(std::move(region), {two, two, two}, {0, 1});
  CHECK(list_of<double>(e.run().live[0].tensor) == Doubles{3, 6});
  e.tensors[2] = three;
  CHECK(e.run().id == 9);
  e.set(1, three);
  CHECK(e.run().id == 9);
  e.set(0, three);
  CHECK(list_of<double>(e.run().live[0].tensor) == Doubles{3, 6, 9});
  e.tensors[2] = two;
  CHECK(e.run().id == 9);
  e.tensors[2] = three;
  CHECK(e.run().id == 0);
}

TEST_CASE("a held input that is written keeps its old value for those who read it before") {
  Region region;
  RegionBuilder b(region);
  const ValueId held = region.add_tensor_input(DType::F64, 1);
  const ValueId doubled = b.op(Op::add, list({held, held}), {}, {});
  b.write_back(held, doubled);
  b.exit(0, list({b.op(Op::neg, list({held}), {}, {})}));
  Embedder e(std::move(region), {doubles({2}, {1, 2})}, {0});
  CHECK(list_of<double>(e.run().live[0].tensor) == Doubles{-1, -2});
  CHECK(list_of<double>(e.run().live[0].tensor) == Doubles{-2, -4});
  CHECK(list_of<double>(e.tensors[0]) == Doubles{4, 8});
  CHECK(e.tensors[0].storage()->use_count() == 1);
}

TEST_CASE("a run goes on with the held inputs it began with") {
  Region region;
  RegionBuilder b(region);
  const ValueId held = region.add_tensor_input(DType::F64, 1);
  const ValueId before = b.op(Op::neg, list({held}), {}, {});
  b.host(0, {}, {});
  const ValueId after = b.op(Op::add, list({held, held}), {}, {});
  b.write_back(held, after);
  b.exit(0, list({before, after}));
  const Tensor old = doubles({2}, {1, 2}), other = doubles({3}, {5, 6, 7});
  Embedder e(std::move(region), {old}, {0});
  Calls calls;
  int depth = 0;
  calls.call = [&] {
    if (depth++ > 0) return;
    e.set(0, other);
    const RunExit inner = e.run(&calls);  // the region inside itself sees the new one
    CHECK(list_of<double>(inner.live[1].tensor) == Doubles{10, 12, 14});
    e.set(0, doubles({1}, {0}));
    e.set(0, doubles({1}, {9}));
  };
  const RunExit exit = e.run(&calls);
  CHECK(list_of<double>(exit.live[0].tensor) == Doubles{-1, -2});
  CHECK(list_of<double>(exit.live[1].tensor) == Doubles{2, 4});
  CHECK(list_of<double>(old) == Doubles{2, 4});
  CHECK(list_of<double>(other) == Doubles{10, 12, 14});
  CHECK(list_of<double>(e.tensors[0]) == Doubles{9});
  CHECK(list_of<double>(e.run(&calls).live[1].tensor) == Doubles{18});
  CHECK(old.storage()->use_count() == 1);  // nothing keeps what has gone
}
