#include "runtime/backends/simulated.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "runtime/device/device.h"
#include "runtime/kernels/families.h"

namespace tsc {
namespace {

class SimulatedBackend final : public Backend {
 public:
  SimulatedBackend(Device& engine, int index, const SimulatedSettings& settings, std::shared_ptr<QueueSignals> signals)
      : place_(Place::device(index)), poison_(settings.poison), memory_(place_, settings.memory, engine.budget),
        queue_(engine, std::move(signals), settings.queue) {}

  Place place() const override { return place_; }
  DeviceProperties properties() const override { return {"Tenscript simulated device", memory_.total(), 0, 0, 1}; }

  DeviceBlock allocate(int64_t bytes, const char* maker) override;
  void free(DeviceBlock block) noexcept override;
  void record_stream(const DeviceBlock& block, StreamId stream) override {
    (void)queue_.is_idle(stream);  // refuses a number that names no stream
    use(piece_of(block), stream);
  }
  void release_cached() override {
    queue_.synchronize();
    memory_.release_cached();
  }
  DeviceStatistics statistics() const override { return memory_.statistics(); }
  void reset_peaks() override { memory_.reset_peaks(); }
  std::string holders() const override { return memory_.holders(); }
  int64_t free_memory() const override { return memory_.total() - memory_.statistics().reserved_bytes.current; }

  StreamId make_stream() override { return queue_.make_stream(); }
  Ref<DeviceEvent> record(StreamId stream) override { return queue_.record(stream); }
  void wait(StreamId stream, const Ref<DeviceEvent>& event) override { queue_.wait(stream, event); }
  bool is_idle(StreamId stream) const override { return queue_.is_idle(stream); }
  void synchronize(StreamId stream) override { queue_.synchronize(stream); }
  void synchronize() override { queue_.synchronize(); }

  void run(const OpCall& call, std::span<const Tensor> results) override;
  void copy(const Tensor& target, const Tensor& source) override;
  std::byte* host_address(const DeviceBlock& block) const override { return piece_of(block)->kernel; }
  void close() noexcept override { queue_.close(); }

 private:
  static MemoryPiece* piece_of(const DeviceBlock& block) { return static_cast<MemoryPiece*>(block.own); }
  static void use(MemoryPiece* piece, StreamId stream);
  // The tensor as a kernel sees it: over the same bytes where it may read them, which stay as long as it does.
  static Tensor as_kernel_sees(const Tensor& x, StreamId stream);
  void copy_from_device(const Tensor& target, const Tensor& source);

  const Place place_;
  const bool poison_;
  SimulatedMemory memory_;
  WorkQueue queue_;
};

void SimulatedBackend::use(MemoryPiece* piece, StreamId stream) {
  if (piece && piece->stream != stream &&
      std::find(piece->users.begin(), piece->users.end(), stream) == piece->users.end())
    piece->users.push_back(stream);
}

DeviceBlock SimulatedBackend::allocate(int64_t bytes, const char* maker) {
  const StreamId stream = current_stream();
  MemoryPiece* piece = memory_.allocate(bytes, stream, maker);
  if (!piece) {
    memory_.note_retry();
    release_cached();
    piece = memory_.allocate(bytes, stream, maker);
  }
  if (!piece) memory_.refuse(bytes);
  const auto fill = [segment = piece->segment, at = piece->kernel, size = static_cast<size_t>(piece->wanted)] {
    std::memset(at, 0xFF, size);
  };
  if (poison_ && DeviceAccess::current()) fill();
  else if (poison_) queue_.add(stream, "allocation", fill);
  return {piece->device, piece->capacity, piece};
}

void SimulatedBackend::free(DeviceBlock block) noexcept {
  MemoryPiece* piece = piece_of(block);
  try {
    for (StreamId user : piece->users) piece->awaited.push_back(queue_.record(user));
    piece->users.clear();
  } catch (...) {  // the queue is closed, and nothing runs any more; or there is no memory, and the block stays
  }
  memory_.free(piece);
}

Tensor SimulatedBackend::as_kernel_sees(const Tensor& x, StreamId stream) {
  const Storage& storage = *x.storage();
  MemoryPiece* piece = piece_of(storage.block());
  if (!piece) return Tensor(Storage::borrow(nullptr, 0, {}), x.dtype(), x.sizes(), x.strides(), x.offset());
  use(piece, stream);
  auto seen = Storage::borrow(piece->kernel, storage.bytes(), [segment = piece->segment] { (void)segment; });
  return Tensor(std::move(seen), x.dtype(), x.sizes(), x.strides(), x.offset());
}

void SimulatedBackend::run(const OpCall& call, std::span<const Tensor> results) {
  struct Work {
    Op op;
    std::vector<Tensor> operands, results;
    std::vector<Scalar> scalars;
    OpAttributes attributes;
  };
  const StreamId stream = current_stream();
  auto work = std::make_shared<Work>();
  work->op = call.op;
  work->scalars.assign(call.scalars.begin(), call.scalars.end());
  work->attributes = call.attributes;
  for (const Tensor& x : call.tensors)
    work->operands.push_back(x.is_elsewhere() ? as_kernel_sees(x, stream) : copy_of(x));
  for (const Tensor& x : results) work->results.push_back(as_kernel_sees(x, stream));
  queue_.add(stream, op_name(call.op).data(), [work] {
    const OpResults found = run_op(work->op, work->operands, work->scalars, work->attributes);
    copy_into(work->results[0], found.first);
    if (work->results.size() > 1) copy_into(work->results[1], found.second);
  });
}

// From another device: its queue is in front of ours, and goes on when the copy is made.
void SimulatedBackend::copy_from_device(const Tensor& target, const Tensor& source) {
  Backend& other = source.storage()->backend();
  const StreamId stream = current_stream(), there = other.current_stream();
  if (&other != this) queue_.wait(stream, other.record(there));
  queue_.add(stream, "copy",
             [to = as_kernel_sees(target, stream), from = as_kernel_sees(source, &other == this ? stream : there)] {
               copy_into(to, from);
             });
  if (&other != this) other.wait(there, queue_.record(stream));
}

void SimulatedBackend::copy(const Tensor& target, const Tensor& source) {
  const StreamId stream = current_stream();
  if (!target.is_elsewhere()) {
    queue_.synchronize(stream);
    return copy_into(target, as_kernel_sees(source, stream));
  }
  if (source.is_elsewhere()) return copy_from_device(target, source);
  queue_.add(stream, "copy", [to = as_kernel_sees(target, stream), from = copy_of(source)] { copy_into(to, from); });
}

std::optional<int64_t> parse_size(std::string_view text) {
  int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (error != std::errc() || size < 0) return {};
  static constexpr std::string_view kUnits[] = {"", "K", "M", "G"};
  for (int i = 0; i < 4; ++i)
    if (unit == kUnits[i] && size <= (INT64_MAX >> (10 * i))) return size << (10 * i);
  return {};
}

bool apply_setting(SimulatedSettings& settings, std::string_view item) {
  if (item == "blocking") return settings.queue.blocking = true;
  if (item == "default") return settings.is_default = true;
  const size_t equals = item.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = item.substr(0, equals);
  const std::optional<int64_t> number = parse_size(item.substr(equals + 1));
  if (!number) return false;
  if (name == "devices" && *number >= 1 && *number <= Place::kMostDevices) settings.devices = static_cast<int>(*number);
  else if (name == "memory" && *number > 0) settings.memory = *number;
  else if (name == "delays") settings.queue.delays = static_cast<uint32_t>(*number);
  else return false;
  return true;
}

}  // namespace

std::optional<SimulatedSettings> parse_simulated(std::string_view text) {
  SimulatedSettings settings;
  constexpr std::string_view kName = "simulated";
  if (!text.starts_with(kName)) return {};
  text.remove_prefix(kName.size());
  while (!text.empty()) {
    if (text.front() != ':') return {};
    text.remove_prefix(1);
    const size_t end = std::min(text.find(':'), text.size());
    if (!apply_setting(settings, text.substr(0, end))) return {};
    text.remove_prefix(end);
  }
  return settings;
}

std::vector<Ref<Backend>> make_simulated(Device& engine, const SimulatedSettings& settings) {
  auto signals = std::make_shared<QueueSignals>();
  std::vector<Ref<Backend>> devices;
  for (int i = 0; i < settings.devices; ++i)
    devices.push_back(make_ref<SimulatedBackend>(engine, i, settings, signals));
  return devices;
}

}  // namespace tsc
