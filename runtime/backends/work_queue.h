#pragma once
// The queue of a simulated device: streams of work that one thread of its own does, a piece at a time, each stream in order.
// Which stream comes next is chance where `delays` is set, and there are pauses between pieces: whoever relies on an order
// that no event makes sees other values. Knows no memory and no tensors.
// Keeps: whoever queues waits while there are very many pieces, so that what they hold has a bound; work behind a failed piece is dropped until the failure was reported by a call that waits.
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "runtime/base/error.h"
#include "runtime/device/backend.h"

namespace tsc {

struct Device;

// What the queues of one engine share, so that events cross from one to another.
struct QueueSignals {
  std::mutex mutex;
  std::condition_variable changed;
};

class QueueEvent final : public DeviceEvent {
 public:
  explicit QueueEvent(std::shared_ptr<QueueSignals> signals) : signals_(std::move(signals)) {}
  bool is_done() const override;
  void synchronize() override;
  int64_t nanoseconds() const override;

 private:
  friend class WorkQueue;
  std::shared_ptr<QueueSignals> signals_;
  bool done_ = false;
  int64_t at_ = 0;
};

struct QueueSettings {
  bool blocking = false;             // every call waits for what it has queued
  std::optional<uint32_t> delays;    // the seed of chance; empty: in the order of the program, without pauses
};

class WorkQueue {
 public:
  // `engine`: what the pieces compute with; it outlives close().
  WorkQueue(Device& engine, std::shared_ptr<QueueSignals> signals, QueueSettings settings);
  ~WorkQueue() { close(); }
  StreamId make_stream();
  // `what` of static lifetime names the piece in a report.
  void add(StreamId stream, const char* what, std::function<void()> work);
  Ref<DeviceEvent> record(StreamId stream);
  void wait(StreamId stream, const Ref<DeviceEvent>& event);
  bool is_idle(StreamId stream) const;
  void synchronize(std::optional<StreamId> stream = {});
  void close() noexcept;

 private:
  struct Piece {
    const char* what = nullptr;
    std::function<void()> work;   // or
    Ref<QueueEvent> passed;       // an event that is here, or
    Ref<QueueEvent> awaited;      // one that the stream waits for
    uint64_t number = 0;
  };
  struct Stream {
    std::deque<Piece> pieces;
    bool busy = false;
    bool idle() const { return pieces.empty() && !busy; }
  };
  struct Failure {
    ErrorKind kind;
    std::string message, what;
  };
  void put(StreamId stream, Piece piece);
  void serve();
  Stream* next_ready();
  void do_piece(std::unique_lock<std::mutex>& lock, Stream& stream);
  void pause();
  void do_work(Piece& piece);
  void report(std::unique_lock<std::mutex>& lock);
  bool idle(std::optional<StreamId> stream) const;

  Device& engine_;
  std::shared_ptr<QueueSignals> signals_;
  QueueSettings settings_;
  std::deque<Stream> streams_;  // addresses stay
  std::optional<Failure> failure_;
  std::mt19937 chance_;
  uint64_t numbers_ = 0;
  int pending_ = 0;  // pieces that are not done
  bool leaving_ = false, closed_ = false;
  std::thread thread_;
};

}  // namespace tsc
