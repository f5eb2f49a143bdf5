#include "runtime/base/error.h"
#include "runtime/device/device.h"
#include "runtime/tensor/tensor.h"

namespace tsc {
namespace {

thread_local DeviceAccess* access_of_thread = nullptr;

}  // namespace

DeviceAccess* DeviceAccess::current() { return access_of_thread; }

DeviceAccess::DeviceAccess(Backend& backend) : backend_(backend), around_(access_of_thread) {
  TSC_CHECK(!around_ || &around_->backend_ == &backend, "memory of two devices is open at once");
  if (around_) return;
  backend.synchronize(backend.current_stream());
  enter();
}

DeviceAccess::~DeviceAccess() {
  if (access_of_thread == this) leave();
}

void DeviceAccess::enter() {
  access_of_thread = this;
  ++current_device().access_count;
}

void DeviceAccess::leave() noexcept {
  for (Storage* storage : open_) storage->close();
  open_.clear();
  access_of_thread = nullptr;
  --current_device().access_count;
}

void DeviceAccess::open(const Tensor& tensor) {
  if (tensor.place() == backend_.place()) tensor.storage()->open(around_ ? around_ : this);
}

void DeviceAccess::pause() {
  TSC_CHECK(!around_, "a pause inside of another access");
  for (Storage* storage : open_) paused_.emplace_back(storage);
  leave();
}

void DeviceAccess::resume() {
  backend_.synchronize(backend_.current_stream());
  enter();
  for (const Ref<Storage>& storage : paused_) storage->open(this);
  paused_.clear();
}

}  // namespace tsc
