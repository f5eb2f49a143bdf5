#include "interpreter/tensor/devices.h"

#include <algorithm>

#include "interpreter/tensor/tensor_object.h"
#include "interpreter/vm/frame.h"
#include "interpreter/vm/native.h"
#include "lang/library_file.h"
#include "runtime/device/device.h"

namespace tsc::interp {
namespace {

struct EventObject : Object {
  static constexpr Kind kKind = Kind::Native;
  Ref<DeviceEvent> event;
  explicit EventObject(Ref<DeviceEvent> e) : Object(Kind::Native), event(std::move(e)) {}
};

// Found by every call through its key.
struct EventType {
  Type* type = nullptr;
};
constexpr char kEventKey = 0;

Type* event_type(Vm& vm) { return static_cast<EventType*>(vm.extension(&kEventKey).get())->type; }

Backend& backend_at(Vm& vm, const Value& index) {
  const int64_t number = to_index(vm, index, "device");
  if (number < 0 || number >= Place::kMostDevices)
    throw Error(ErrorKind::RuntimeError, "CUDA error: invalid device ordinal");
  return current_device().backend(Place::device(static_cast<int>(number)));
}

// The backend refuses what is a number and names no stream.
StreamId stream_of(Vm& vm, const Value& stream) {
  return static_cast<StreamId>(std::clamp<int64_t>(to_index(vm, stream, "stream"), -1, INT32_MAX));
}

Ref<DeviceEvent> event_of(Vm& vm, const Value& v) {
  if (!v.is_object() || v.object()->type != event_type(vm)) raise_type_error(vm, "expected an event");
  return static_cast<EventObject*>(v.object())->event;
}

Value count(Vm&, Args&) { return Value::integer(static_cast<int64_t>(current_device().backends.size())); }

Value current(Vm&, Args&) { return Value::integer(current_device().current_backend); }

Value set_current(Vm& vm, Args& args) {
  current_device().current_backend = backend_at(vm, args[0]).place().index();
  return Value::none();
}

// properties(device): (name, bytes of memory, major, minor, multiprocessors).
Value properties(Vm& vm, Args& args) {
  const DeviceProperties found = backend_at(vm, args[0]).properties();
  const Value parts[] = {str_value(vm, found.name), Value::integer(found.total_memory), Value::integer(found.major),
                         Value::integer(found.minor), Value::integer(found.multi_processors)};
  return make_tuple(vm, parts).take();
}

Value make_stream(Vm& vm, Args& args) { return Value::integer(backend_at(vm, args[0]).make_stream()); }

Value current_stream(Vm& vm, Args& args) { return Value::integer(backend_at(vm, args[0]).current_stream()); }

Value set_current_stream(Vm& vm, Args& args) {
  Backend& backend = backend_at(vm, args[0]);
  const StreamId stream = stream_of(vm, args[1]);
  (void)backend.is_idle(stream);  // refuses a number that names no stream
  backend.set_current_stream(stream);
  return Value::none();
}

Value record(Vm& vm, Args& args) {
  return Value(
      vm.heap().make<EventObject>(event_type(vm), backend_at(vm, args[0]).record(stream_of(vm, args[1]))).take());
}

Value wait(Vm& vm, Args& args) {
  backend_at(vm, args[0]).wait(stream_of(vm, args[1]), event_of(vm, args[2]));
  return Value::none();
}

// What was found wrong is raised by whoever finds the work done, whether it has waited or asked.
Value is_idle(Vm& vm, Args& args) {
  Backend& backend = backend_at(vm, args[0]);
  const StreamId stream = stream_of(vm, args[1]);
  if (!backend.is_idle(stream)) return Value::boolean(false);
  backend.synchronize(stream);
  return Value::boolean(true);
}

// synchronize(device, stream=None): None for all of its streams.
Value synchronize(Vm& vm, Args& args) {
  Backend& backend = backend_at(vm, args[0]);
  if (args[1].is_none()) backend.synchronize();
  else backend.synchronize(stream_of(vm, args[1]));
  return Value::none();
}

Value is_done(Vm& vm, Args& args) {
  const Ref<DeviceEvent> event = event_of(vm, args[0]);
  if (!event->is_done()) return Value::boolean(false);
  event->synchronize();
  return Value::boolean(true);
}

Value wait_for(Vm& vm, Args& args) {
  event_of(vm, args[0])->synchronize();
  return Value::none();
}

Value nanoseconds(Vm& vm, Args& args) { return Value::integer(event_of(vm, args[0])->nanoseconds()); }

void append_count(Vm& vm, ListObject* list, const DeviceCount& count) {
  for (int64_t number : {count.current, count.peak, count.allocated, count.freed})
    list_append(vm, list, Value::integer(number));
}

// statistics(device): current, peak, all of time and given back of the bytes allocated, bytes reserved, allocations and
// segments, one behind the other; then how often there was no memory, and how often kept memory was given up for some.
Value statistics(Vm& vm, Args& args) {
  const DeviceStatistics found = backend_at(vm, args[0]).statistics();
  Local<ListObject> list = make_list(vm);
  for (const DeviceCount* count : {&found.allocated_bytes, &found.reserved_bytes, &found.allocations, &found.segments})
    append_count(vm, list.get(), *count);
  list_append(vm, list.get(), Value::integer(found.out_of_memory));
  list_append(vm, list.get(), Value::integer(found.retries));
  return list.take();
}

Value reset_peaks(Vm& vm, Args& args) {
  backend_at(vm, args[0]).reset_peaks();
  return Value::none();
}

Value release_cached(Vm& vm, Args& args) {
  backend_at(vm, args[0]).release_cached();
  return Value::none();
}

Value free_memory(Vm& vm, Args& args) { return Value::integer(backend_at(vm, args[0]).free_memory()); }

Value holders(Vm& vm, Args& args) { return str_value(vm, backend_at(vm, args[0]).holders()); }

Value record_stream(Vm& vm, Args& args) {
  const Tensor& x = expect_tensor(vm, args[0], "x")->tensor;
  if (x.place().is_device()) x.storage()->backend().record_stream(x.storage()->block(), stream_of(vm, args[1]));
  return Value::none();
}

Local<ModuleObject> make_devices(Vm& vm) {
  TypeBuilder event(vm, "_event", Kind::Native);
  event.slots().destroy = destroy_as<EventObject>;
  vm.extension(&kEventKey) = std::make_shared<EventType>(EventType{event.finish()});
  ModuleBuilder module(vm, "_devices");
  module.function("count", "", count)
      .function("current", "", current)
      .function("set_current", "device", set_current)
      .function("properties", "device", properties)
      .function("make_stream", "device", make_stream)
      .function("current_stream", "device", current_stream)
      .function("set_current_stream", "device, stream", set_current_stream)
      .function("record", "device, stream", record)
      .function("wait", "device, stream, event", wait)
      .function("is_idle", "device, stream", is_idle)
      .function("synchronize", "device, stream=None", synchronize)
      .function("is_done", "event", is_done)
      .function("wait_for", "event", wait_for)
      .function("nanoseconds", "event", nanoseconds)
      .function("statistics", "device", statistics)
      .function("reset_peaks", "device", reset_peaks)
      .function("release_cached", "device", release_cached)
      .function("free_memory", "device", free_memory)
      .function("holders", "device", holders)
      .function("record_stream", "x, stream", record_stream)
      .value("OutOfMemoryError", Value(vm.exceptions().OutOfMemoryError));
  return module.finish();
}

}  // namespace

std::function<std::string()> launch_place(Vm& vm) {
  for (const Frame* frame = vm.current_frame(); frame; frame = frame->caller()) {
    const TracebackEntry place{frame->code->code, frame->pc};
    if (lang::is_library_file(place.file())) continue;
    return [place] {
      return "File \"" + std::string(place.file()) + "\", line " + std::to_string(place.line()) + ", in " +
             place.name();
    };
  }
  return {};
}

void register_devices(Vm& vm) { register_native_module(vm, "_devices", make_devices); }

}  // namespace tsc::interp
