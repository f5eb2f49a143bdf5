#include "interpreter/tensor/host_access.h"

#include "interpreter/tensor/device_words.h"

namespace tsc::interp {
namespace {

template <class Visit>
void each_tensor(const TensorState& state, const Value& v, const Visit& visit) {
  if (const TensorObject* t = as_tensor(state, v)) visit(t->tensor);
  if (const ListObject* list = try_cast<ListObject>(v))
    for (const Value& item : list->items) each_tensor(state, item, visit);
  if (const TupleObject* tuple = try_cast<TupleObject>(v))
    for (const Value& item : tuple->span()) each_tensor(state, item, visit);
}

}  // namespace

HostAccess::HostAccess(Vm& vm, const Args& args) {
  const TensorState& state = tensor_state(vm);
  std::optional<Place> device, other;
  for (const Value& v : args.span())
    each_tensor(state, v, [&](const Tensor& x) {
      const Place place = x.place();
      if (place.is_device() && !device) device = place;
      else if (place != device && (place.is_device() || x.rank() > 0)) other = place;
    });
  if (!device) return;
  if (other && *other != *device) refuse_devices(vm, *device, *other);
  for (const Value& v : args.span())
    each_tensor(state, v, [&](const Tensor& x) {
      if (x.place().is_device()) open(x);
    });
}

void HostAccess::open(const Tensor& tensor) {
  if (!access_) access_.emplace(tensor.storage()->backend());
  access_->open(tensor);
}

}  // namespace tsc::interp
