#pragma once
// What a region becomes: something that runs. The plan executable runs compiled kernels; the region
// executor (jit/region/executor.h) runs the same region over the reference kernels and is its oracle,
// and the fallback without LLVM. Both return the same bits.
#include <memory>
#include <span>
#include <vector>

#include "jit/region/region.h"
#include "runtime/tensor/tensor.h"

namespace tsc::jit {

// A run-time value crossing the border of a region. `object` is the embedder's, never touched here.
struct RunValue {
  ValueKind kind = ValueKind::Int;
  Scalar scalar;
  void* object = nullptr;
  Tensor tensor;
};

struct RunInput {
  const Tensor* tensor = nullptr;
  Scalar scalar;
  void* object = nullptr;
  // In place of `tensor`: the run takes it, and may write its memory where no other tensor has that.
  Tensor* given = nullptr;
};

struct RngState {
  uint64_t seed = 0;
  uint64_t offset = 0;
};

// The embedder's side of host instructions. May throw; the run is abandoned with the effects so far
// done and in order.
class Host {
 public:
  virtual ~Host() = default;
  virtual void host(uint32_t id, std::span<const RunValue> arguments, std::span<RunValue> results) = 0;
  // Polled between kernels; throws to stop.
  virtual void poll() {}
};

struct RunContext {
  Host* host = nullptr;
  RngState* rng = nullptr;
};

struct RunExit {
  uint32_t id = 0;
  std::vector<RunValue> live;
  uint32_t origin = 0;
};

// Raised in place of a tsc::Error that an instruction caused, so that the embedder can place it.
struct RunError {
  Error error;
  uint32_t origin;
};

class Executable {
 public:
  virtual ~Executable() = default;
  virtual RunExit run(std::span<const RunInput> inputs, RunContext& context) = 0;
  // Tensor inputs, by number, that are the same objects with the same tensors in every run: they are bound
  // once, so that a run does not become slower the more there are. Before the first run.
  virtual void hold(std::span<const uint32_t> /*inputs*/) {}
  // The tensor behind a held input is about to change, possibly in the middle of a run, which goes on with
  // what it had.
  virtual void changed(uint32_t /*input*/) {}
  // The same code for other inputs, none of which is held yet. The two share their kernels and what these know of
  // the sizes that they have met.
  virtual std::unique_ptr<Executable> another() const = 0;
};

}  // namespace tsc::jit
