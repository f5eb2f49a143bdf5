#include "runtime/backends/work_queue.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "runtime/device/device.h"

namespace tsc {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

bool QueueEvent::is_done() const {
  const std::lock_guard lock(signals_->mutex);
  return done_;
}

void QueueEvent::synchronize() {
  std::unique_lock lock(signals_->mutex);
  signals_->changed.wait(lock, [&] { return done_; });
}

int64_t QueueEvent::nanoseconds() const {
  const std::lock_guard lock(signals_->mutex);
  return at_;
}

WorkQueue::WorkQueue(Device& engine, std::shared_ptr<QueueSignals> signals, QueueSettings settings)
    : engine_(engine), signals_(std::move(signals)), settings_(settings), streams_(1), chance_(settings.delays.value_or(0)) {}

StreamId WorkQueue::make_stream() {
  const std::lock_guard lock(signals_->mutex);
  streams_.emplace_back();
  return static_cast<StreamId>(streams_.size() - 1);
}

void WorkQueue::put(StreamId stream, Piece piece) {
  {
    constexpr int kMostPending = 1024;
    std::unique_lock lock(signals_->mutex);
    TSC_CHECK(!closed_, "work for a device whose engine is gone");
    signals_->changed.wait(lock, [&] { return pending_ < kMostPending; });
    ++pending_;
    piece.number = numbers_++;
    streams_[stream].pieces.push_back(std::move(piece));
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  }
  signals_->changed.notify_all();
}

void WorkQueue::add(StreamId stream, const char* what, std::function<void()> work) {
  Piece piece;
  piece.what = what;
  piece.work = std::move(work);
  put(stream, std::move(piece));
  if (settings_.blocking) synchronize(stream);
}

Ref<DeviceEvent> WorkQueue::record(StreamId stream) {
  Piece piece;
  piece.passed = make_ref<QueueEvent>(signals_);
  Ref<DeviceEvent> event = piece.passed;
  put(stream, std::move(piece));
  return event;
}

void WorkQueue::wait(StreamId stream, const Ref<DeviceEvent>& event) {
  Piece piece;
  piece.awaited = Ref<QueueEvent>(static_cast<QueueEvent*>(event.get()));
  put(stream, std::move(piece));
}

bool WorkQueue::idle(std::optional<StreamId> stream) const {
  if (stream) return streams_[*stream].idle();
  for (const Stream& one : streams_)
    if (!one.idle()) return false;
  return true;
}

bool WorkQueue::is_idle(StreamId stream) const {
  const std::lock_guard lock(signals_->mutex);
  return idle(stream);
}

void WorkQueue::synchronize(std::optional<StreamId> stream) {
  std::unique_lock lock(signals_->mutex);
  signals_->changed.wait(lock, [&] { return idle(stream); });
  if (failure_) report(lock);
}

void WorkQueue::report(std::unique_lock<std::mutex>& lock) {
  signals_->changed.wait(lock, [&] { return idle({}); });  // what stands behind it is dropped
  const Failure failure = *std::exchange(failure_, std::nullopt);
  if (settings_.blocking) throw Error(failure.kind, failure.message);
  throw Error(ErrorKind::RuntimeError,
              "CUDA error: device-side assert triggered: " + failure.message + " (in '" + failure.what +
                  "', which runs later than it is called; where the device is made to be waited for, "
                  "TENSCRIPT_CUDA=simulated:blocking, the traceback shows the call)");
}

// The one that has waited longest, or any.
WorkQueue::Stream* WorkQueue::next_ready() {
  std::vector<Stream*> ready;
  for (Stream& stream : streams_) {
    if (stream.pieces.empty()) continue;
    const Piece& head = stream.pieces.front();
    if (!head.awaited || head.awaited->done_) ready.push_back(&stream);
  }
  if (ready.empty()) return nullptr;
  if (settings_.delays) return ready[chance_() % ready.size()];
  return *std::min_element(ready.begin(), ready.end(),
                           [](Stream* a, Stream* b) { return a->pieces.front().number < b->pieces.front().number; });
}

void WorkQueue::pause() {
  if (settings_.delays && chance_() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(chance_() % 200));
}

void WorkQueue::do_work(Piece& piece) {
  const auto fail = [&](ErrorKind kind, std::string message) {
    const std::lock_guard lock(signals_->mutex);
    if (!failure_) failure_ = Failure{kind, std::move(message), piece.what};
  };
  try {
    piece.work();
  } catch (const Error& error) {
    fail(error.kind(), error.message());
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::MemoryError, "out of memory");
  } catch (const std::exception& error) {
    fail(ErrorKind::RuntimeError, error.what());
  } catch (...) {
    fail(ErrorKind::RuntimeError, "the work was interrupted");
  }
  piece.work = nullptr;  // what it holds goes before anybody sees it done
}

void WorkQueue::do_piece(std::unique_lock<std::mutex>& lock, Stream& stream) {
  Piece piece = std::move(stream.pieces.front());
  stream.pieces.pop_front();
  if (piece.passed) {
    piece.passed->at_ = now();
    piece.passed->done_ = true;
  }
  stream.busy = true;
  const bool drops = failure_.has_value();
  lock.unlock();
  if (piece.work && !drops) {
    pause();
    do_work(piece);
  }
  piece = {};
  lock.lock();
  stream.busy = false;
  --pending_;
}

void WorkQueue::serve() {
  const DeviceScope scope(engine_);
  std::unique_lock lock(signals_->mutex);
  while (true) {
    Stream* ready = next_ready();
    if (!ready) {
      if (leaving_) return;
      signals_->changed.wait(lock);
      continue;
    }
    do_piece(lock, *ready);
    signals_->changed.notify_all();
  }
}

void WorkQueue::close() noexcept {
  {
    const std::lock_guard lock(signals_->mutex);
    closed_ = leaving_ = true;
  }
  signals_->changed.notify_all();
  if (thread_.joinable()) thread_.join();
}

}  // namespace tsc
