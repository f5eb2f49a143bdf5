#include "runtime/backends/work_queue.h"

#include <algorithm>
#include <chrono>
#include <new>

#include "runtime/device/device.h"

namespace tsc {
namespace {

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool QueueEvent::is_done() const {
  const std::lock_guard lock(signals_->mutex);
  return done_;
}

void QueueEvent::synchronize() {
  std::unique_lock lock(signals_->mutex);
  signals_->changed.wait(lock, [&] { return done_; });
  state_->report(engine_.stop, blocking_, number_);
}

int64_t QueueEvent::nanoseconds() const {
  const std::lock_guard lock(signals_->mutex);
  return at_;
}

void QueueState::stopped() {
  is_stopped = true;
  dropped = next;
}

// A stop is no failure: the call that it ends is told by whoever asked for it, and the next one has nothing to do with
// it.
void QueueState::report(const StopFlag& stop, bool blocking, uint64_t before) {
  if (is_stopped && stop.requested()) throw Stopped{};
  is_stopped = false;
  if (!failure || failure->number >= before) return;
  const Failure found = *std::exchange(failure, std::nullopt);
  dropped = next;
  const bool keeps_kind = found.kind == ErrorKind::LimitError || found.kind == ErrorKind::MemoryError;
  if (blocking || keeps_kind) throw Error(found.kind, found.message);
  const std::string place = found.place ? found.place() : "";
  throw Error(ErrorKind::RuntimeError, "CUDA error: device-side assert triggered: " + found.message + " (in '" +
                                           found.what + "', which runs later than it is called" +
                                           (place.empty() ? "" : ", by " + place) +
                                           "; where the device is made to be waited for, "
                                           "TENSCRIPT_CUDA=simulated:blocking, the traceback shows the call)");
}

WorkQueue::WorkQueue(Device& engine, std::shared_ptr<QueueSignals> signals, QueueSettings settings)
    : engine_(engine), signals_(std::move(signals)), settings_(std::move(settings)), streams_(1),
      chance_(settings_.delays.value_or(0)) {}

StreamId WorkQueue::make_stream() {
  const std::lock_guard lock(signals_->mutex);
  streams_.emplace_back();
  return static_cast<StreamId>(streams_.size() - 1);
}

size_t WorkQueue::index_of(StreamId stream) const {
  const auto index = static_cast<size_t>(stream);
  if (stream < 0 || index >= streams_.size())
    throw Error(ErrorKind::RuntimeError, "CUDA error: invalid resource handle");
  return index;
}

void WorkQueue::put(StreamId stream, Piece piece) {
  {
    constexpr int kMostPending = 1024;
    std::unique_lock lock(signals_->mutex);
    TSC_CHECK(!closed_, "work for a device whose engine is gone");
    Stream& there = streams_[index_of(stream)];
    signals_->changed.wait(lock, [&] { return pending_ < kMostPending; });
    ++pending_;
    piece.number = state_->next++;
    if (piece.passed) piece.passed->number_ = piece.number;
    there.pieces.push_back(std::move(piece));
    if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  }
  signals_->changed.notify_all();
}

void WorkQueue::add(StreamId stream, const char* what, std::function<void()> work) {
  Piece piece;
  piece.what = what;
  piece.work = std::move(work);
  if (settings_.launched_at) piece.place = settings_.launched_at();
  put(stream, std::move(piece));
  if (settings_.blocking) synchronize(stream);
}

Ref<DeviceEvent> WorkQueue::record(StreamId stream) {
  Piece piece;
  piece.passed = make_ref<QueueEvent>(signals_, state_, engine_, settings_.blocking);
  Ref<DeviceEvent> event = piece.passed;
  put(stream, std::move(piece));
  return event;
}

void WorkQueue::wait(StreamId stream, const Ref<DeviceEvent>& event) {
  Piece piece;
  piece.awaited = Ref<QueueEvent>(static_cast<QueueEvent*>(event.get()));
  put(stream, std::move(piece));
}

bool WorkQueue::idle() const {
  for (const Stream& one : streams_)
    if (!one.idle()) return false;
  return true;
}

bool WorkQueue::is_idle(StreamId stream) const {
  const std::lock_guard lock(signals_->mutex);
  return streams_[index_of(stream)].idle();
}

void WorkQueue::synchronize(std::optional<StreamId> stream) {
  std::unique_lock lock(signals_->mutex);
  const Stream* one = stream ? &streams_[index_of(*stream)] : nullptr;
  signals_->changed.wait(lock, [&] { return one ? one->idle() : idle(); });
  state_->report(engine_.stop, settings_.blocking);
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
    if (!state_->failure)
      state_->failure = QueueState::Failure{kind, std::move(message), piece.what, std::move(piece.place), piece.number};
  };
  try {
    engine_.stop.poll();
    piece.work();
  } catch (const Error& error) {
    fail(error.kind(), error.message());
  } catch (const Stopped&) {
    const std::lock_guard lock(signals_->mutex);
    state_->stopped();
  } catch (const std::bad_alloc&) {
    fail(ErrorKind::MemoryError, "out of memory");
  } catch (const std::exception& error) {
    fail(ErrorKind::RuntimeError, error.what());
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
  const bool drops = state_->failure || piece.number < state_->dropped;
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
