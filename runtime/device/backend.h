#pragma once
// What a device with memory and queues of its own does for the engine: one Backend is one device. Storages hold its
// blocks; run_op and copy_into (runtime/kernels) hand it what concerns tensors that lie there. Work is queued on a
// stream and done later, in the stream's order; streams know nothing of each other but through events. What a kernel
// finds wrong comes with the next call that waits (`synchronize`), as an Error. Knows tensors by name only; must not
// know scripts. Keeps: memory that queued work reads or writes is not given to anything that could run before that
// work; no call but the waiting ones waits, unless the settings say so.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/ref.h"
#include "runtime/device/place.h"

namespace tsc {

class Storage;
class Tensor;
class Backend;
struct OpCall;

using StreamId = int32_t;
inline constexpr StreamId kDefaultStream = 0;

// A piece of a device's memory. `address` is the device's: the host must not follow it.
struct DeviceBlock {
  std::byte* address = nullptr;
  int64_t capacity = 0;
  void* own = nullptr;  // what the backend knows of it
};

// A place in a stream's work. Kept alive by who waits for it.
class DeviceEvent : public RefCounted {
 public:
  // Whether all work in front of the place is done; true before it was recorded.
  virtual bool is_done() const = 0;
  virtual void synchronize() = 0;
  // Nanoseconds on the device's clock when it was passed.
  virtual int64_t nanoseconds() const = 0;
};

struct DeviceProperties {
  std::string name;
  int64_t total_memory = 0;
  int major = 0, minor = 0;
  int multi_processors = 1;
};

struct DeviceCount {
  int64_t current = 0, peak = 0, allocated = 0, freed = 0;  // the last two: of all time
  void add(int64_t amount) {
    current += amount;
    allocated += amount;
    if (current > peak) peak = current;
  }
  void take(int64_t amount) {
    current -= amount;
    freed += amount;
  }
};

struct DeviceStatistics {
  DeviceCount allocated_bytes, reserved_bytes, allocations, segments;
  int64_t out_of_memory = 0, retries = 0;
};

class Backend : public RefCounted {
 public:
  virtual Place place() const = 0;
  virtual DeviceProperties properties() const = 0;

  // On the current stream. Error of the kind DeviceMemoryError beyond what the device has, which says what holds it.
  // `maker`, of static lifetime, is what that report calls the block.
  virtual DeviceBlock allocate(int64_t bytes, const char* maker) = 0;
  // The block may be given out again as soon as what is queued on it is done.
  virtual void free(DeviceBlock block) noexcept = 0;
  // Work of another stream than that of its allocation uses the block.
  virtual void record_stream(const DeviceBlock& block, StreamId stream) = 0;
  virtual void release_cached() = 0;
  virtual DeviceStatistics statistics() const = 0;
  virtual void reset_peaks() = 0;
  // "3 blocks of 1.00 MiB from dot", the largest first.
  virtual std::string holders() const = 0;
  virtual int64_t free_memory() const = 0;

  virtual StreamId make_stream() = 0;
  StreamId current_stream() const { return current_; }
  void set_current_stream(StreamId stream) { current_ = stream; }
  // The place behind what is queued now.
  virtual Ref<DeviceEvent> record(StreamId stream) = 0;
  // What is queued on the stream from now on waits for the event, of whichever device.
  virtual void wait(StreamId stream, const Ref<DeviceEvent>& event) = 0;
  virtual bool is_idle(StreamId stream) const = 0;
  // Both wait, and throw what kernels found wrong.
  virtual void synchronize(StreamId stream) = 0;
  virtual void synchronize() = 0;

  // Queues a primitive: `results` lie here, what `call` reads lies here or is a single element of the host's.
  virtual void run(const OpCall& call, std::span<const Tensor> results) = 0;
  // Queues a copy between tensors of one dtype and shape, one of which lies here; the other one here, in the process's
  // memory or on another device. Returns when the host may read the target, or write the source again, if they are its.
  virtual void copy(const Tensor& target, const Tensor& source) = 0;

  // Where the host finds a block's bytes, when nothing is queued; null: it cannot.
  virtual std::byte* host_address(const DeviceBlock& block) const = 0;
  // Finishes what is queued and stops: the engine goes. Blocks may still come back.
  virtual void close() noexcept = 0;

 private:
  StreamId current_ = kDefaultStream;
};

// Lets the host work on memory of a device, where the device allows it: waits for the current stream, and until its end
// the storages count as the host's and new storages of this thread lie on the device, open too. For what has no kernel
// there and for compiled regions. Inside of another one of the calling thread it only adds to that.
// Knows nothing of what is done meanwhile.
class DeviceAccess {
 public:
  explicit DeviceAccess(Backend& backend);
  ~DeviceAccess();
  DeviceAccess(const DeviceAccess&) = delete;
  void open(const Tensor& tensor);
  // Everything is the device's again for a while.
  void pause();
  // What was queued meanwhile is waited for.
  void resume();
  Backend& backend() const { return backend_; }
  // Of the calling thread; null: none.
  static DeviceAccess* current();

 private:
  friend class Storage;
  void enter();
  void leave() noexcept;
  void added(Storage* storage) { open_.push_back(storage); }
  void gone(Storage* storage) noexcept { std::erase(open_, storage); }

  Backend& backend_;
  DeviceAccess* around_;  // that this one adds to; null: it is one of its own
  std::vector<Storage*> open_;
  std::vector<Ref<Storage>> paused_;  // that were open
};

}  // namespace tsc
