#include "interpreter/tensor/storage_prims.h"

#include <algorithm>
#include <numeric>

#include "interpreter/heap/patience.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/host_access.h"
#include "interpreter/tensor/transforms.h"
#include "interpreter/value/buffer.h"
#include "interpreter/vm/ends.h"

namespace tsc::interp {
namespace {

// strided(x, sizes, strides, offset): another map over the storage of x, checked against its end.
Value prim_strided(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  return make_tensor(vm, view_as_strided(x->tensor, expect_sizes(vm, args[1], "sizes"),
                                         expect_sizes(vm, args[2], "strides"), to_index(vm, args[3], "offset")))
      .take();
}

// storage_bytes(x): all bytes of the storage of x, as a vector of uint8 that shares them.
Value prim_storage_bytes(Vm& vm, Args& args) {
  const Ref<Storage>& storage = expect_tensor(vm, args[0], "x")->tensor.storage();
  return make_tensor(vm, Tensor(storage, DType::U8, {storage->bytes()}, {1}, 0)).take();
}

// of_bytes(bytes, dtype, sizes, strides, offset): the storage of `bytes` seen as elements of a dtype.
Value prim_of_bytes(Vm& vm, Args& args) {
  TensorObject* bytes = expect_tensor(vm, args[0], "bytes");
  const Tensor whole(bytes->tensor.storage(), expect_dtype(vm, args[1], "dtype"), {0}, {1}, 0);
  return make_tensor(vm, view_as_strided(whole, expect_sizes(vm, args[2], "sizes"),
                                         expect_sizes(vm, args[3], "strides"), to_index(vm, args[4], "offset")))
      .take();
}

// The storage over the memory of a bytearray or an array, which holds the block on whatever thread it dies.
Ref<Storage> storage_over(SharedBytes& memory) {
  if (!memory.storage()) {
    const auto size = static_cast<int64_t>(memory.size());
    memory.set_storage(Storage::borrow(memory.data(), size, [block = memory.block()] {}));
  }
  return Ref<Storage>(static_cast<Storage*>(memory.storage().get()));
}

// of_buffer(buffer, dtype, count, offset): a vector of the elements that lie in a bytes-like object from that byte on.
// It shares the memory and keeps it from moving; where that is not possible (bytes, which nobody may change, and
// elements that lie across their natural places) it has a copy.
Value prim_of_buffer(Vm& vm, Args& args) {
  const Buffer buffer(vm, args[0]);
  const DType dtype = expect_dtype(vm, args[1], "dtype");
  const int64_t count = to_index(vm, args[2], "count"), offset = to_index(vm, args[3], "offset");
  const int64_t width = dtype_size(dtype), bytes = checked_mul(count, width);
  const auto size = static_cast<int64_t>(buffer.bytes().size());
  if (count < 0 || offset < 0 || offset > size || bytes > size - offset)
    raise_value_error(vm, "the elements lie beyond the buffer");
  const char* data = buffer.data() + offset;
  const Ref<SharedBytes>& memory = buffer.exported().memory();
  const int64_t place = memory ? data - memory->data() : 0;
  if (memory && bytes > 0 && place % width == 0) {
    prepare_ends(vm);  // a tensor that dies lets the object change its size
    return make_tensor(vm, Tensor(storage_over(*memory), dtype, {count}, {1}, place / width)).take();
  }
  Tensor made = Tensor::empty(dtype, {count});
  if (bytes > 0) copy_bytes(reinterpret_cast<char*>(made.data()), data, static_cast<size_t>(bytes));
  return make_tensor(vm, std::move(made)).take();
}

// buffer_facts(buffer): how many bytes, and whether they are read-only.
Value prim_buffer_facts(Vm& vm, Args& args) {
  const Buffer buffer(vm, args[0]);
  const auto size = static_cast<int64_t>(buffer.bytes().size());
  return make_tuple(vm, std::vector<Value>{Value::integer(size), Value::boolean(buffer.read_only())}).take();
}

// resized(x, sizes): row-major over the storage of x from its offset on, or over a larger storage that begins with
// the same bytes.
Value prim_resized(Vm& vm, Args& args) {
  const Tensor& x = expect_tensor(vm, args[0], "x")->tensor;
  const HostAccess access(x);
  const Sizes sizes = expect_sizes(vm, args[1], "sizes");
  const int64_t count = checked_add(x.offset(), numel_of(sizes));
  const int64_t bytes = checked_mul(count, dtype_size(x.dtype()));
  Ref<Storage> storage = x.storage();
  if (bytes > storage->bytes()) {
    if (x.is_meta())
      return make_tensor(
                 vm, Tensor(Storage::without_memory(bytes), x.dtype(), sizes, contiguous_strides(sizes), x.offset()))
          .take();
    storage = Tensor::empty(DType::U8, {bytes}).storage();
    std::copy_n(x.storage()->data(), x.storage()->bytes(), storage->data());
    std::fill_n(storage->data() + x.storage()->bytes(), bytes - x.storage()->bytes(), std::byte{0});
  }
  return make_tensor(vm, Tensor(std::move(storage), x.dtype(), sizes, contiguous_strides(sizes), x.offset())).take();
}

// former(x): an object of its own for what x is now: elements, history and the view that it is.
Value prim_former(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  refresh_history(vm, x);
  Local<TensorObject> out = make_tensor(vm, x->tensor);
  out->history = x->history;
  out->history_version = x->history_version;
  out->history_written = x->history_written;
  out->requires_grad = x->requires_grad;
  out->is_data = x->is_data;
  if (x->view) out->view = std::make_unique<ViewOrigin>(*x->view);
  return out.take();
}

// become(x, y): x is from now on what y is. y must not be a view of x itself, but may be one of former(x).
Value prim_become(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  TensorObject* y = expect_tensor(vm, args[1], "y");
  note_tensor_store(vm, x, kTensorData);
  note_tensor_store(vm, x, kTensorGradientClass);
  refresh_history(vm, y);
  const bool is_view_of_view = y->view && y->view->parent->view;
  x->tensor = y->tensor;
  x->history = y->history;
  ++x->history_version;
  x->history_written = jit::next_sequence();
  x->view = is_view_of_view ? std::make_unique<ViewOrigin>(*y->view) : nullptr;
  return args[0];
}

// The axes from the outermost to the innermost. Axes that a tensor repeats and those of one element have no place of
// their own and stay where they are; of equal strides the axis with more elements is outside.
Sizes order_of_axes(const Tensor& x) {
  Sizes order(x.sizes());
  std::iota(order.begin(), order.end(), 0);
  const auto has_place = [&](int64_t axis) { return x.stride(axis) != 0 && x.size(axis) > 1; };
  for (size_t next = order.size(); next-- > 0;)  // inserted from the innermost on
    for (size_t at = next, below = next + 1; below < order.size(); ++below) {
      const int64_t outer = x.stride(order[at]), inner = x.stride(order[below]);
      if (!has_place(order[at]) || !has_place(order[below])) continue;
      if (outer > inner || (outer == inner && x.size(order[at]) >= x.size(order[below]))) {
        if (outer > inner) break;
        continue;
      }
      std::swap(order[at], order[below]);
      at = below;
    }
  return order;
}

// memory_order(x): the axes of x from the outermost to the innermost, None where they are in this order already.
Value prim_memory_order(Vm& vm, Args& args) {
  TensorObject* x = expect_tensor(vm, args[0], "x");
  if (is_batched(x) || x->tensor.is_contiguous()) return Value::none();
  const Sizes order = order_of_axes(x->tensor);
  if (std::is_sorted(order.begin(), order.end())) return Value::none();
  std::vector<Value> axes;
  for (int64_t axis : order) axes.push_back(Value::integer(axis));
  return make_tuple(vm, axes).take();
}

constexpr StoragePrim kStoragePrims[] = {
    {"strided", "x, sizes, strides, offset", prim_strided},
    {"storage_bytes", "x", prim_storage_bytes},
    {"of_bytes", "bytes, dtype, sizes, strides, offset", prim_of_bytes},
    {"buffer_facts", "buffer", prim_buffer_facts},
    {"of_buffer", "buffer, dtype, count, offset", prim_of_buffer},
    {"resized", "x, sizes", prim_resized},
    {"memory_order", "x", prim_memory_order},
    {"former", "x", prim_former},
    {"become", "x, y", prim_become},
};

}  // namespace

std::span<const StoragePrim> storage_prims() { return kStoragePrims; }

}  // namespace tsc::interp
