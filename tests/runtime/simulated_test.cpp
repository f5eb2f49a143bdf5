// The simulated device: memory that lies apart, streams, events, errors that come late, and how blocks are used again.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "runtime/backends/simulated.h"
#include "runtime/device/device.h"
#include "runtime/kernels/run_op.h"
#include "tensor_testing.h"

namespace tsc {
namespace {

using testing::message_of;

struct World {
  explicit World(const char* text = "simulated") : scope(engine) {
    engine.backends = make_simulated(engine, *parse_simulated(text));
  }
  Backend& at(int index) { return *engine.backends[index]; }
  Device engine{1};
  DeviceScope scope;
};

Tensor on(int device, const std::vector<double>& values) {
  return moved_to(testing::tensor(DType::F32, {static_cast<int64_t>(values.size())}, values), Place::device(device));
}

std::vector<float> read(const Tensor& x) {
  const Tensor here = moved_to(x, Place::host());
  return {here.data_as<float>(), here.data_as<float>() + here.numel()};
}

Tensor add(const Tensor& x, const Tensor& y) {
  const Tensor both[] = {x, y};
  return run_op(Op::add, both, {}, {}).first;
}

Tensor taken(const Tensor& x, const Tensor& index) {
  const Tensor both[] = {x, index};
  OpAttributes attributes;
  attributes.axes = {0};
  return run_op(Op::take, both, {}, attributes).first;
}

// Whether the kernel could read a byte there for us.
bool is_readable(const void* at) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const bool read = write(ends[1], at, 1) == 1;
  if (!read) REQUIRE(errno == EFAULT);
  close(ends[0]);
  close(ends[1]);
  return read;
}

TEST_CASE("a tensor goes to the device and back") {
  World world;
  const Tensor x = on(0, {1, 2, 3});
  CHECK(x.place() == Place::device(0));
  CHECK(x.is_elsewhere());
  CHECK(read(add(x, x)) == std::vector<float>{2, 4, 6});
  CHECK(read(view_slice(x, 0, 1, 2, 1)) == std::vector<float>{2, 3});
  const Tensor empty = on(0, {});
  CHECK(read(add(empty, empty)).empty());
  const Tensor scalar = moved_to(testing::tensor(DType::F32, {}, {5}), Place::device(0));
  CHECK(read(add(scalar, scalar)) == std::vector<float>{10});
}

TEST_CASE("the host cannot read the device's memory, unless it is opened") {
  World world;
  const Tensor x = on(0, {1, 2, 3});
  world.at(0).synchronize();
  CHECK_FALSE(is_readable(x.data()));
  {
    DeviceAccess access(world.at(0));
    access.open(x);
    CHECK_FALSE(x.is_elsewhere());
    CHECK(x.place() == Place::device(0));
    CHECK(x.data_as<float>()[2] == 3);
    const Tensor made = add(x, x);  // computed by the host, and lies there
    CHECK(made.place() == Place::device(0));
    access.pause();
    CHECK_FALSE(is_readable(made.data()));
    access.resume();
    CHECK(made.data_as<float>()[2] == 6);
  }
  CHECK(x.is_elsewhere());
  CHECK_FALSE(is_readable(x.data()));
}

TEST_CASE("errors of kernels come with the call that waits, once") {
  World world;
  const Tensor x = on(0, {1, 2, 3});
  const Tensor index = moved_to(testing::tensor(DType::I64, {1}, {7}), Place::device(0));
  Tensor result = taken(x, index);  // no error here
  result = add(result, result);
  const std::string message = message_of([&] { world.at(0).synchronize(); });
  CHECK(message.starts_with("RuntimeError: CUDA error: device-side assert triggered: index 7 is out of bounds"));
  CHECK(message.find("(in 'take'") != std::string::npos);
  CHECK(message_of([&] { world.at(0).synchronize(); }) == "no error");
  CHECK(read(add(x, x)) == std::vector<float>{2, 4, 6});
}

TEST_CASE("a device that is waited for raises where the call is") {
  World world("simulated:blocking");
  const Tensor x = on(0, {1, 2, 3});
  const Tensor index = moved_to(testing::tensor(DType::I64, {1}, {7}), Place::device(0));
  CHECK(message_of([&] { taken(x, index); }).starts_with("IndexError: index 7 is out of bounds"));
}

TEST_CASE("streams are in order, and meet by events") {
  for (const char* seed : {"simulated:delays=1", "simulated:delays=2", "simulated:delays=3"}) {
    World world(seed);
    Backend& device = world.at(0);
    const StreamId side = device.make_stream();
    for (int turn = 0; turn < 50; ++turn) {
      Tensor x = on(0, {1});
      for (int i = 0; i < 5; ++i) x = add(x, x);
      const Ref<DeviceEvent> made = device.record(kDefaultStream);
      device.set_current_stream(side);
      device.wait(side, made);
      const Tensor y = add(x, x);
      x = Tensor();  // its block is not used again while the other stream reads it
      device.set_current_stream(kDefaultStream);
      const Tensor other = on(0, {1000});
      device.set_current_stream(side);
      CHECK(read(y) == std::vector<float>{64});
      device.set_current_stream(kDefaultStream);
      CHECK(made->is_done());
    }
  }
}

TEST_CASE("a block is not used again before the work that reads it is done") {
  World world("simulated:delays=5");
  for (int turn = 0; turn < 200; ++turn) {
    Tensor x = on(0, {1, 2, 3});
    const Tensor y = add(x, x);
    x = on(0, {7, 7, 7});
    const Tensor z = add(x, x);
    x = Tensor();
    CHECK(read(y) == std::vector<float>{2, 4, 6});
    CHECK(read(z) == std::vector<float>{14, 14, 14});
  }
}

TEST_CASE("devices copy to each other, and do not meet in one operation") {
  World world("simulated:devices=3:delays=4");
  Tensor x = on(0, {1, 2});
  for (int i = 0; i < 30; ++i)
    x = add(moved_to(x, Place::device(i % 3)), moved_to(on((i + 1) % 3, {1, 1}), Place::device(i % 3)));
  CHECK(read(x) == std::vector<float>{31, 32});
  CHECK(message_of([] { add(on(0, {1}), on(1, {1})); }) ==
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:1 and "
        "cuda:0!");
  CHECK(message_of([] { on(3, {1}); }) == "RuntimeError: CUDA error: invalid device ordinal");
}

TEST_CASE("memory is counted, kept, given back, and ends") {
  World world("simulated:memory=8M");
  Backend& device = world.at(0);
  const Tensor small = on(0, {1});
  CHECK(device.statistics().allocated_bytes.current == 512);
  CHECK(device.statistics().reserved_bytes.current == int64_t{2} << 20);
  {
    const Tensor large = Tensor::on_device(device, DType::F32, {1 << 20}, "large");
    CHECK(device.statistics().allocated_bytes.current == 512 + (4 << 20));
    const std::string message = message_of([&] { Tensor::on_device(device, DType::F32, {1 << 20}); });
    CHECK(message.starts_with(
        "OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 MiB. GPU 0 has a total capacity of 8.00 MiB"));
    CHECK(message.find("Tensors hold 1 block of 4.00 MiB from 'large'") != std::string::npos);
  }
  CHECK(device.statistics().allocated_bytes.current == 512);
  CHECK(device.statistics().reserved_bytes.current == int64_t{6} << 20);
  device.release_cached();
  CHECK(device.statistics().reserved_bytes.current == int64_t{2} << 20);
  CHECK(read(small) == std::vector<float>{1});
  CHECK(device.statistics().out_of_memory == 1);
  const Tensor again = Tensor::on_device(device, DType::F32, {1 << 20});  // there is room again
}

TEST_CASE("new memory is poisoned in the order of the stream") {
  World world;
  SimulatedSettings settings;
  settings.poison = true;
  world.engine.backends = make_simulated(world.engine, settings);
  for (int turn = 0; turn < 20; ++turn) {
    CHECK(read(add(on(0, {1}), on(0, {2}))) == std::vector<float>{3});
    const Tensor nothing = Tensor::on_device(world.at(0), DType::F32, {2});
    CHECK(read(nothing)[0] != read(nothing)[0]);
  }
}

TEST_CASE("settings are read, and others refused") {
  CHECK(parse_simulated("simulated")->devices == 2);
  const auto settings = parse_simulated("simulated:devices=4:memory=64M:delays=7:blocking:default");
  REQUIRE(settings);
  CHECK(settings->devices == 4);
  CHECK(settings->memory == int64_t{64} << 20);
  CHECK(settings->queue.delays == 7u);
  CHECK(settings->queue.blocking);
  CHECK(settings->is_default);
  for (const char* text :
       {"", "cuda", "simulatedx", "simulated:", "simulated:devices=0", "simulated:memory=x", "simulated:what"})
    CHECK_FALSE(parse_simulated(text));
}

TEST_CASE("tensors outlive the engine") {
  Tensor left;
  {
    World world("simulated:delays=9");
    Tensor x = on(0, {1, 2, 3});
    for (int i = 0; i < 100; ++i) left = add(x, x);
  }
  CHECK(left.place() == Place::device(0));
  left = Tensor();
}

}  // namespace
}  // namespace tsc
