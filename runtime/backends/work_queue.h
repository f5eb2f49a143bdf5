#pragma once
// The queue of a simulated device: streams of work that one thread of its own does, a piece at a time, each stream in
// order. Which stream comes next is chance where `delays` is set, and there are pauses between pieces: whoever relies
// on an order that no event makes sees other values. Knows no memory and no tensors. Keeps: whoever queues waits while
// there are very many pieces, so that what they hold has a bound; work behind a failed piece is dropped until the
// failure was reported by a call that waits. Numbers that name no stream are refused.
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
#include "runtime/base/stop.h"
#include "runtime/device/backend.h"

namespace tsc {

struct Device;

// What the queues of one engine share, so that events cross from one to another.
struct QueueSignals {
  std::mutex mutex;
  std::condition_variable changed;
};

// Where the program was when it queued a piece, as a text for the report of its failure.
using LaunchPlace = std::function<std::string()>;

struct QueueSettings {
  bool blocking = false;                     // every call waits for what it has queued
  std::optional<uint32_t> delays;            // the seed of chance; empty: in the order of the program, without pauses
  std::function<LaunchPlace()> launched_at;  // asked by who queues; empty: nobody knows
};

// What one queue has come to, which its events ask for too. Under the mutex of its signals.
struct QueueState {
  struct Failure {
    ErrorKind kind;
    std::string message;
    const char* what;
    LaunchPlace place;
    uint64_t number;  // of the piece
  };
  // Throws the failure of a piece in front of that number, once, and Stopped for work that a stop has ended.
  void report(const StopFlag& stop, bool blocking, uint64_t before = UINT64_MAX);
  void stopped();

  std::optional<Failure> failure;
  uint64_t next = 0;        // the number of the next piece
  uint64_t dropped = 0;     // pieces in front of that number are not done any more
  bool is_stopped = false;  // some of them by a stop, which has not been told
};

class QueueEvent final : public DeviceEvent {
 public:
  QueueEvent(std::shared_ptr<QueueSignals> signals, std::shared_ptr<QueueState> state, const Device& engine,
             bool blocking)
      : signals_(std::move(signals)), state_(std::move(state)), engine_(engine), blocking_(blocking) {}
  bool is_done() const override;
  // Throws what was found wrong in front of the event.
  void synchronize() override;
  int64_t nanoseconds() const override;

 private:
  friend class WorkQueue;
  std::shared_ptr<QueueSignals> signals_;
  std::shared_ptr<QueueState> state_;
  const Device& engine_;
  const bool blocking_;
  uint64_t number_ = 0;
  bool done_ = false;
  int64_t at_ = 0;
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
    std::function<void()> work;  // or
    Ref<QueueEvent> passed;      // an event that is here, or
    Ref<QueueEvent> awaited;     // one that the stream waits for
    LaunchPlace place;           // of work
    uint64_t number = 0;
  };
  struct Stream {
    std::deque<Piece> pieces;
    bool busy = false;
    bool idle() const { return pieces.empty() && !busy; }
  };
  // Where the stream stands among streams_; RuntimeError where there is none of that number.
  size_t index_of(StreamId stream) const;
  void put(StreamId stream, Piece piece);
  void serve();
  Stream* next_ready();
  void do_piece(std::unique_lock<std::mutex>& lock, Stream& stream);
  void pause();
  void do_work(Piece& piece);
  bool idle() const;

  Device& engine_;
  std::shared_ptr<QueueSignals> signals_;
  QueueSettings settings_;
  std::shared_ptr<QueueState> state_ = std::make_shared<QueueState>();
  std::deque<Stream> streams_;  // addresses stay
  std::mt19937 chance_;
  int pending_ = 0;  // pieces that are not done
  bool leaving_ = false, closed_ = false;
  std::thread thread_;
};

}  // namespace tsc
