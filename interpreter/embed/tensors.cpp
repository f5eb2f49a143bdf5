// Tensors across the border: copies, borrowed memory, DLPack.
#include "interpreter/embed/dlpack.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "interpreter/embed/arguments.h"

namespace tsc::embed {

using namespace interp;

namespace {

static_assert(dtype_info(DType::Bool).c_code == TSC_BOOL8 && dtype_info(DType::F64).c_code == TSC_FLOAT64 &&
              dtype_info(DType::F16).c_code == TSC_FLOAT16 && dtype_info(DType::C128).c_code == TSC_COMPLEX128 &&
              dtype_info(DType::BF16).dlpack_code == kDLBfloat && dtype_info(DType::Bool).dlpack_code == kDLBool &&
              dtype_info(DType::C64).dlpack_code == kDLComplex);

}  // namespace

DType checked_dtype(tsc_dtype dtype) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kDTypes[i].c_code == static_cast<int>(dtype)) return static_cast<DType>(i);
  throw Error(ErrorKind::ValueError, "there is no dtype " + std::to_string(dtype));
}

tsc_dtype dtype_of(DType dtype) { return static_cast<tsc_dtype>(dtype_info(dtype).c_code); }

Sizes checked_sizes(const int64_t* sizes, uint32_t rank) {
  if (rank > kMaxRank)
    throw Error(ErrorKind::ValueError,
                "a tensor has at most " + std::to_string(kMaxRank) + " dimensions, not " + std::to_string(rank));
  if (rank > 0) required(sizes, "sizes");
  Sizes checked;
  for (uint32_t i = 0; i < rank; ++i) {
    if (sizes[i] < 0) throw Error(ErrorKind::ValueError, "a size cannot be " + std::to_string(sizes[i]));
    checked.push_back(sizes[i]);
  }
  return checked;
}

// A tensor's methods are script functions of the library: they must be there before a script sees one.
Local<TensorObject> make_tensor_value(tsc_engine& engine, Tensor tensor) {
  engine.vm->import_module("torch");
  return make_tensor(*engine.vm, std::move(tensor));
}

namespace {

void check_readable(const Tensor& tensor) {
  refuse_meta_copy(tensor);
  if (tensor.is_elsewhere())
    throw Error(ErrorKind::RuntimeError, "the tensor lies on device " + tensor.place().name() +
                                             ", which a host cannot read: copy it with cpu()");
}

}  // namespace

void fill_tensor_info(const Tensor& tensor, tsc_tensor_info& info) {
  check_readable(tensor);
  tsc_tensor_info full{};
  full.struct_size = info.struct_size;
  full.dtype = dtype_of(tensor.dtype());
  full.rank = static_cast<uint32_t>(tensor.rank());
  full.sizes = tensor.sizes().data();
  full.strides = tensor.strides().data();
  full.data = tensor.data();
  full.read_only = tensor.storage()->read_only();
  std::memcpy(&info, &full, std::min(info.struct_size, sizeof full));
}

namespace {

// A bool is 0 or 1 wherever a kernel reads it; for C any other byte is true too.
void copy_elements(Tensor& tensor, const void* data, size_t bytes) {
  if (tensor.dtype() != DType::Bool) {
    std::memcpy(tensor.data(), data, bytes);
    return;
  }
  const auto* from = static_cast<const uint8_t*>(data);
  std::transform(from, from + bytes, reinterpret_cast<uint8_t*>(tensor.data()),
                 [](uint8_t byte) { return static_cast<uint8_t>(byte != 0); });
}

tsc_status* tensor_new(tsc_engine* engine, tsc_dtype dtype, const int64_t* sizes, uint32_t rank, const void* data,
                       tsc_value** out) {
  return making(engine, out, "value", [&] {
    Tensor tensor = Tensor::empty(checked_dtype(dtype), checked_sizes(sizes, rank));
    const size_t bytes = static_cast<size_t>(tensor.numel() * dtype_size(tensor.dtype()));
    if (bytes > 0 && data != nullptr) copy_elements(tensor, data, bytes);
    if (bytes > 0 && data == nullptr) std::memset(tensor.data(), 0, bytes);
    return make_tensor_value(*engine, std::move(tensor)).take();
  });
}

// Elements from the first to the last that the strides reach.
int64_t extent_of(const Sizes& sizes, const Sizes& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return 0;
    last = checked_add(last, checked_mul(sizes[i] - 1, strides[i]));
  }
  return checked_add(last, 1);
}

struct Lent {
  DType dtype;
  Sizes sizes, strides;
  void* data;
  bool read_only;
};

Lent checked_buffer(DType dtype, uint32_t rank, const int64_t* sizes, const int64_t* strides, void* data,
                    bool read_only) {
  Lent lent{dtype, checked_sizes(sizes, rank), {}, data, read_only};
  lent.strides = contiguous_strides(lent.sizes);
  if (strides != nullptr)
    for (uint32_t i = 0; i < rank; ++i) {
      if (strides[i] < 0)
        throw Error(ErrorKind::ValueError,
                    "a stride cannot be " + std::to_string(strides[i]) + ": lend the memory from its lowest address");
      lent.strides[i] = strides[i];
    }
  const auto address = reinterpret_cast<uintptr_t>(data);
  const int64_t size = dtype_size(dtype);
  if (extent_of(lent.sizes, lent.strides) > 0 && data == nullptr)
    throw Error(ErrorKind::ValueError, "the memory of a tensor " + shape_text(lent.sizes) + " is NULL");
  if (address % static_cast<uintptr_t>(size) != 0)
    throw Error(ErrorKind::ValueError,
                "the memory is not aligned to its elements of " + std::to_string(size) + " bytes: lend a copy");
  return lent;
}

// `release` becomes the storage's as the last step, so a failure before leaves it with the caller.
Value lend(tsc_engine& engine, const Lent& lent, std::function<void()> release) {
  engine.vm->import_module("torch");
  const int64_t bytes = checked_mul(extent_of(lent.sizes, lent.strides), dtype_size(lent.dtype));
  Local<TensorObject> object = make_tensor(*engine.vm, Tensor());
  object->tensor = Tensor(Storage::borrow(lent.data, bytes, std::move(release), lent.read_only), lent.dtype, lent.sizes,
                          lent.strides, 0);
  return object.take();
}

std::function<void()> releaser(void (*release)(void*), void* user) {
  if (release == nullptr) return {};
  return [release, user] { release(user); };
}

tsc_status* tensor_borrow(tsc_engine* engine, tsc_dtype dtype, const int64_t* sizes, uint32_t rank, void* data,
                          void (*release)(void*), void* user, tsc_value** out) {
  return making(engine, out, "value", [&] {
    return lend(*engine, checked_buffer(checked_dtype(dtype), rank, sizes, nullptr, data, false),
                releaser(release, user));
  });
}

tsc_status* tensor_lend(tsc_engine* engine, const tsc_buffer* given, tsc_value** out) {
  return making(engine, out, "value", [&] {
    const tsc_buffer buffer = copy_of(required(given, "buffer"));
    return lend(*engine,
                checked_buffer(checked_dtype(buffer.dtype), buffer.rank, buffer.sizes, buffer.strides, buffer.data,
                               buffer.read_only != 0),
                releaser(buffer.release, buffer.user));
  });
}

tsc_status* tensor_info(const tsc_value* value, tsc_tensor_info* info) {
  return reading(value, [&]() -> tsc_status* {
    if (!is_tensor(tensor_state(*value->engine->vm), value->value)) return wrong_kind(value, "Tensor");
    // A caller that left the size out is one of version 1, which had no read_only.
    if (required(info, "info")->struct_size == 0) info->struct_size = offsetof(tsc_tensor_info, read_only);
    fill_tensor_info(cast<TensorObject>(value->value)->tensor, *info);
    return nullptr;
  });
}

// ---- DLPack ------------------------------------------------------------------------------------

DType dtype_of_dlpack(const DLDataType& type) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kDTypes[i].dlpack_code == type.code && kDTypes[i].bits == type.bits && type.lanes == 1)
      return static_cast<DType>(i);
  throw Error(ErrorKind::TypeError, "DLPack dtype (code " + std::to_string(type.code) + ", " +
                                        std::to_string(type.bits) + " bits, " + std::to_string(type.lanes) +
                                        " lanes) is not supported");
}

Lent checked_dlpack(const DLManagedTensorVersioned& managed) {
  if (managed.version.major != DLPACK_MAJOR_VERSION)
    throw Error(ErrorKind::ValueError, "the tensor is of DLPack " + std::to_string(managed.version.major) + "." +
                                           std::to_string(managed.version.minor) + "; 1.x is understood");
  const DLTensor& tensor = managed.dl_tensor;
  if (tensor.device.device_type != kDLCPU && tensor.device.device_type != kDLCUDAHost)
    throw Error(ErrorKind::ValueError, "the tensor lies on DLPack device type " +
                                           std::to_string(tensor.device.device_type) +
                                           ", not in the processor's memory");
  if (tensor.ndim < 0)
    throw Error(ErrorKind::ValueError, "a tensor cannot have " + std::to_string(tensor.ndim) + " dimensions");
  auto* data = static_cast<std::byte*>(tensor.data);
  if (data != nullptr) data += tensor.byte_offset;
  return checked_buffer(dtype_of_dlpack(tensor.dtype), static_cast<uint32_t>(tensor.ndim), tensor.shape, tensor.strides,
                        data, (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0);
}

tsc_status* dlpack_import(tsc_engine* engine, DLManagedTensorVersioned* managed, tsc_value** out) {
  if (managed == nullptr) return without_engine([]() -> tsc_status* { refuse_null("tensor"); });
  // The deleter runs with the last owner of this, whether or not it came to a tensor.
  std::shared_ptr<DLManagedTensorVersioned> owned(managed, [](DLManagedTensorVersioned* tensor) {
    if (tensor->deleter != nullptr) tensor->deleter(tensor);
  });
  return making(engine, out, "value", [&] { return lend(*engine, checked_dlpack(*managed), [owned] {}); });
}

// What an exported tensor points to; freed by its deleter.
struct Exported {
  DLManagedTensorVersioned managed{};
  Tensor tensor;
  std::vector<int64_t> sizes, strides;
};

tsc_status* dlpack_export(const tsc_value* value, DLManagedTensorVersioned** out) {
  if (out != nullptr) *out = nullptr;
  return reading(value, [&]() -> tsc_status* {
    required(out, "tensor");
    if (!is_tensor(tensor_state(*value->engine->vm), value->value)) return wrong_kind(value, "Tensor");
    auto exported = std::make_unique<Exported>();
    exported->tensor = cast<TensorObject>(value->value)->tensor;
    const Tensor& tensor = exported->tensor;
    check_readable(tensor);
    exported->sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
    exported->strides.assign(tensor.strides().begin(), tensor.strides().end());
    DLManagedTensorVersioned& managed = exported->managed;
    managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    managed.manager_ctx = exported.get();
    managed.deleter = [](DLManagedTensorVersioned* self) { delete static_cast<Exported*>(self->manager_ctx); };
    managed.flags = tensor.storage()->read_only() ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
    managed.dl_tensor.data = tensor.data();
    managed.dl_tensor.device = {kDLCPU, 0};
    managed.dl_tensor.ndim = static_cast<int32_t>(tensor.rank());
    const DTypeInfo& dtype = dtype_info(tensor.dtype());
    managed.dl_tensor.dtype = {dtype.dlpack_code, static_cast<uint8_t>(dtype.bits), 1};
    managed.dl_tensor.shape = exported->sizes.data();
    managed.dl_tensor.strides = exported->strides.data();
    *out = &exported.release()->managed;
    return nullptr;
  });
}

}  // namespace

void fill_tensor_functions(tsc_api& api) {
  api.tensor_new = tensor_new;
  api.tensor_borrow = tensor_borrow;
  api.tensor_lend = tensor_lend;
  api.tensor_info = tensor_info;
  api.dlpack_import = dlpack_import;
  api.dlpack_export = dlpack_export;
}

}  // namespace tsc::embed
