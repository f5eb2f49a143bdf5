// Module `_files`: tensors in files. safetensors.torch, npy and torch.save/torch.load are written
// over it. Knows: the formats of runtime/io, the host's grants, tensors. Keeps: a file that is
// written appears whole or not at all; what a file says is checked before memory is taken for it;
// long reads and writes hear a stop.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "interpreter/heap/counted_memory.h"
#include "interpreter/tensor/data.h"
#include "interpreter/tensor/eager.h"
#include "interpreter/value/buffer.h"
#include "interpreter/vm/grants.h"
#include "runtime/io/crc32.h"
#include "runtime/io/npy.h"
#include "runtime/io/safetensors.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {
namespace {

constexpr int64_t kPiece = int64_t{8} << 20;  // between two looks at whether the script is to stop

// --- reading
// --------------------------------------------------------------------------------------------

// Bytes at places: of a file, or of a bytes-like object.
class Source {
 public:
  Source(Vm& vm, const Value& from) : vm_(vm) {
    if (Buffer::is_bytes_like(from)) {
      kept_.emplace(vm, from);
      bytes_ = static_cast<int64_t>(kept_->bytes().size());
      return;
    }
    path_ = std::string(text_of(vm, from, "path"));
    // Non-blocking: a pipe is refused below, not waited for.
    file_ = open_granted(vm, path_, O_RDONLY | O_NONBLOCK);
    struct stat about{};
    if (file_ < 0 || ::fstat(file_, &about) != 0) fail(errno);
    if (S_ISDIR(about.st_mode)) fail(EISDIR);
    if (!S_ISREG(about.st_mode)) {
      close();
      raise(vm, vm.exceptions().OSError, "'" + path_ + "' is no regular file");
    }
    bytes_ = about.st_size;
  }
  ~Source() { close(); }
  Source(const Source&) = delete;

  int64_t bytes() const { return bytes_; }

  void read(int64_t at, void* to, int64_t count) {
    if (file_ < 0) {
      if (count > 0) std::memcpy(to, kept_->data() + at, static_cast<size_t>(count));
      return;
    }
    for (int64_t done = 0; done < count;) {
      vm_.poll();
      const int64_t piece = std::min(kPiece, count - done);
      const ssize_t got = ::pread(file_, static_cast<char*>(to) + done, static_cast<size_t>(piece), at + done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(errno);
      if (got == 0) throw Error(ErrorKind::ValueError, "'" + path_ + "' became shorter while it was read");
      done += got;
    }
  }
  std::string text(int64_t at, int64_t count) {
    check_text_room(static_cast<size_t>(count));
    std::string out(static_cast<size_t>(count), '\0');
    read(at, out.data(), count);
    return out;
  }

 private:
  void close() {
    if (file_ >= 0) ::close(file_);
    file_ = -1;
  }
  [[noreturn]] void fail(int error) {
    close();
    raise_os_error(vm_, error, path_);
  }

  Vm& vm_;
  std::optional<Buffer> kept_;
  std::string path_;
  int file_ = -1;
  int64_t bytes_ = 0;
};

void turn_round(std::byte* data, int64_t bytes, int64_t width) {
  for (int64_t at = 0; at < bytes; at += width) std::reverse(data + at, data + at + width);
}

// What a foreign file calls true may be any byte; here it is 1.
void make_bools(std::byte* data, int64_t count) {
  for (int64_t i = 0; i < count; ++i) data[i] = std::byte{data[i] != std::byte{0}};
}

Tensor read_tensor(Source& source, DType dtype, const Sizes& sizes, int64_t begin, int64_t end) {
  Tensor tensor = Tensor::empty(dtype, sizes);
  if (end > begin) source.read(begin, tensor.data(), end - begin);
  if (dtype == DType::Bool) make_bools(tensor.data(), end - begin);
  return tensor;
}

io::SafetensorsHeader read_header(Source& source) {
  const int64_t bytes = source.bytes();
  const std::string prefix = source.text(0, std::min(bytes, io::kSafetensorsPrefix));
  const int64_t length = io::safetensors_header_bytes(prefix, bytes);
  return io::parse_safetensors_header(source.text(io::kSafetensorsPrefix, length), bytes);
}

Value metadata_of(Vm& vm, const io::SafetensorsHeader& header) {
  Local<DictObject> dict = make_dict(vm);
  for (const auto& [key, value] : header.metadata) dict_set(vm, dict, key, str_value(vm, value));
  return dict.take();
}

Value pair_of(Vm& vm, const Value& first, const Value& second) {
  const Value both[] = {first, second};
  return make_tuple(vm, both).take();
}

// safetensors_info(source): ([(name, dtype, shape)], metadata); no tensor is read.
Value safetensors_info(Vm& vm, Args& a) {
  Source source(vm, a[0]);
  const io::SafetensorsHeader header = read_header(source);
  Local<ListObject> rows = make_list(vm);
  for (const io::TensorRecord& record : header.tensors) {
    const Value row[] = {str_value(vm, record.name), dtype_value(tensor_state(vm), record.dtype),
                         size_tuple(vm, record.sizes)};
    rows->items.push_back(make_tuple(vm, row).take());
  }
  return pair_of(vm, rows.take(), metadata_of(vm, header));
}

// read_safetensors(source, name=None): ({name: tensor}, metadata), of one tensor or of all.
Value read_safetensors(Vm& vm, Args& a) {
  Source source(vm, a[0]);
  const io::SafetensorsHeader header = read_header(source);
  Local<DictObject> tensors = make_dict(vm);
  for (const io::TensorRecord& record : header.tensors) {
    if (!a[1].is_none() && record.name != text_of(vm, a[1], "name")) continue;
    Tensor tensor = read_tensor(source, record.dtype, record.sizes, record.begin, record.end);
    dict_set(vm, tensors, record.name, make_tensor(vm, std::move(tensor)).take());
  }
  return pair_of(vm, tensors.take(), metadata_of(vm, header));
}

Value read_npy(Vm& vm, Args& a) {
  Source source(vm, a[0]);
  const std::string prefix = source.text(0, std::min(source.bytes(), io::kNpyPrefix));
  const int64_t begin = io::npy_header_bytes(prefix, source.bytes());
  const io::NpyHeader header = io::parse_npy_header(source.text(0, begin), source.bytes());
  Sizes sizes = header.sizes;
  if (header.fortran_order) std::reverse(sizes.begin(), sizes.end());
  Tensor tensor = read_tensor(source, header.dtype, sizes, header.begin, header.end);
  if (header.big_endian) turn_round(tensor.data(), header.end - header.begin, dtype_size(header.dtype));
  if (header.fortran_order) {
    Sizes axes;
    for (int64_t axis = tensor.rank(); axis-- > 0;) axes.push_back(axis);
    tensor = view_permute(tensor, axes);
  }
  return make_tensor(vm, std::move(tensor)).take();
}

// --- writing
// --------------------------------------------------------------------------------------------

// Where bytes go: a text, or a file that takes its name when it is whole.
class Sink {
 public:
  // `path` None: a text.
  Sink(Vm& vm, const Value& path) : vm_(vm), is_text_(path.is_none()) {
    if (is_text_) return;
    path_ = std::string(text_of(vm, path, "path"));
    target_ = check_write(vm, path_);
    struct stat about{};
    const bool exists = ::stat(target_.c_str(), &about) == 0;
    if (exists && S_ISDIR(about.st_mode)) raise_os_error(vm, EISDIR, path_);
    // A pipe or a socket could keep the script waiting without end.
    if (exists && !S_ISREG(about.st_mode) && !S_ISCHR(about.st_mode))
      raise(vm, vm.exceptions().OSError, "'" + path_ + "' is no regular file");
    if (exists && S_ISCHR(about.st_mode)) {
      file_ = open_granted(vm, target_, O_WRONLY);  // a device keeps its name
      if (file_ < 0) raise_os_error(vm, errno, path_);
      return;
    }
    if (exists) follow_links();
    open_partial();
  }
  ~Sink() {
    if (file_ >= 0) ::close(file_);
    if (!partial_.empty()) ::unlink(partial_.c_str());
  }
  Sink(const Sink&) = delete;

  void write(const void* from, int64_t count) {
    if (is_text_) {
      check_text_room(text_.size() + static_cast<size_t>(count));
      text_.append(static_cast<const char*>(from), static_cast<size_t>(count));
      return;
    }
    for (int64_t done = 0; done < count;) {
      vm_.poll();
      const int64_t piece = std::min(kPiece, count - done);
      const ssize_t put = ::write(file_, static_cast<const char*>(from) + done, static_cast<size_t>(piece));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) raise_os_error(vm_, errno, path_);
      done += put;
    }
  }
  // The text, or None once the file is where it belongs.
  Value finish() {
    if (is_text_) return make_bytes(vm_, std::move(text_)).take();
    const bool is_partial = !partial_.empty();
    if (is_partial && ::fsync(file_) != 0) raise_os_error(vm_, errno, path_);
    if (::close(std::exchange(file_, -1)) != 0) raise_os_error(vm_, errno, path_);
    if (is_partial && ::rename(partial_.c_str(), target_.c_str()) != 0) raise_os_error(vm_, errno, path_);
    partial_.clear();
    return Value::none();
  }

 private:
  // The file that a link names is replaced, not the link.
  void follow_links() {
    char resolved[PATH_MAX];
    if (::realpath(target_.c_str(), resolved) != nullptr) target_ = resolved;
  }
  void open_partial() {
    constexpr int kTries = 100;
    for (int i = 0; i < kTries && file_ < 0; ++i) {
      const std::string name = target_ + ".partial-" + std::to_string(::getpid()) + "-" + std::to_string(i);
      file_ = open_granted(vm_, name, O_WRONLY | O_CREAT | O_EXCL);
      if (file_ >= 0) partial_ = name;
      else if (errno != EEXIST) break;
    }
    if (file_ < 0) raise_os_error(vm_, errno, path_);
  }

  Vm& vm_;
  const bool is_text_;
  std::string text_, path_, target_, partial_;
  int file_ = -1;
};

Local<TensorObject> contiguous(Vm& vm, const Value& v) {
  TensorObject* x = expect_tensor(vm, v, "tensor");
  if (x->tensor.is_contiguous()) return Local<TensorObject>(x);
  TensorObject* operands[] = {x};
  return run_eager(vm, Op::copy, operands, {}, {}).first;
}

void write_tensor(Sink& sink, const Tensor& tensor) {
  const int64_t bytes = tensor.numel() * dtype_size(tensor.dtype());
  refuse_meta_copy(tensor);
  if (bytes > 0) sink.write(tensor.data(), bytes);
}

// write_safetensors(path or None, {name: tensor}, {key: text}).
Value write_safetensors(Vm& vm, Args& a) {
  auto* given = try_cast<DictObject>(a[1]);
  auto* metadata = try_cast<DictObject>(a[2]);
  if (!given || !metadata) raise_type_error(vm, "expected a dict of tensors and a dict of texts");
  io::SafetensorsHeader header;
  for (uint32_t i = 0; i < given->table.used(); ++i) {
    const Table::Entry& entry = given->table.entry(i);
    if (!entry.key) continue;
    const std::string name(text_of(vm, entry.key, "the name of a tensor"));
    const Tensor& tensor = expect_tensor(vm, entry.value, "a value of the dict")->tensor;
    header.tensors.push_back({name, tensor.dtype(), tensor.sizes(), 0, 0});
  }
  for (uint32_t i = 0; i < metadata->table.used(); ++i) {
    const Table::Entry& entry = metadata->table.entry(i);
    if (entry.key)
      header.metadata.emplace_back(text_of(vm, entry.key, "a key of the metadata"),
                                   text_of(vm, entry.value, "a value of the metadata"));
  }
  const std::string beginning = io::make_safetensors_header(header);
  Sink sink(vm, a[0]);
  sink.write(beginning.data(), static_cast<int64_t>(beginning.size()));
  for (const io::TensorRecord& record : header.tensors) {
    const Value tensor = dict_get(vm, given, record.name);
    write_tensor(sink, contiguous(vm, tensor)->tensor);
  }
  return sink.finish();
}

// write_npy(path or None, tensor).
Value write_npy(Vm& vm, Args& a) {
  const Local<TensorObject> tensor = contiguous(vm, a[1]);
  const std::string beginning = io::make_npy_header(tensor->tensor.dtype(), tensor->tensor.sizes());
  Sink sink(vm, a[0]);
  sink.write(beginning.data(), static_cast<int64_t>(beginning.size()));
  write_tensor(sink, tensor->tensor);
  return sink.finish();
}

// tensor_of_bytes(data, begin, end, dtype): a flat tensor of these bytes of a bytes object.
Value tensor_of_bytes(Vm& vm, Args& a) {
  Source source(vm, a[0]);
  const int64_t begin = to_index(vm, a[1], "begin"), end = to_index(vm, a[2], "end");
  const DType dtype = expect_dtype(vm, a[3], "dtype");
  if (begin < 0 || end < begin || end > source.bytes() || (end - begin) % dtype_size(dtype) != 0)
    raise_value_error(vm, "bytes " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                              std::to_string(source.bytes()) + " are no tensor of " + std::string(dtype_name(dtype)));
  const Sizes sizes{(end - begin) / dtype_size(dtype)};
  return make_tensor(vm, read_tensor(source, dtype, sizes, begin, end)).take();
}

// strided_view(tensor, sizes, strides, offset): a view of a flat tensor, inside its memory.
Value strided_view(Vm& vm, Args& a) {
  const Tensor& tensor = expect_tensor(vm, a[0], "tensor")->tensor;
  const Sizes sizes = expect_sizes(vm, a[1], "sizes"), strides = expect_sizes(vm, a[2], "strides");
  const int64_t offset = to_index(vm, a[3], "offset");
  if (static_cast<int64_t>(sizes.size()) > kMaxRank) raise_value_error(vm, "too many dimensions");
  return make_tensor(vm, view_as_strided(tensor, sizes, strides, offset)).take();
}

// storage(tensor): (identity, offset, flat tensor), the memory that the tensor's elements lie in, as a tensor of
// its dtype, and where in it the first of them is.
Value storage_of(Vm& vm, Args& a) {
  const Tensor& tensor = expect_tensor(vm, a[0], "tensor")->tensor;
  const Ref<Storage>& storage = tensor.storage();
  const Sizes sizes{storage->bytes() / dtype_size(tensor.dtype())};
  const Value parts[] = {Value::integer(static_cast<int64_t>(reinterpret_cast<intptr_t>(storage.get()))),
                         Value::integer(tensor.offset()),
                         make_tensor(vm, Tensor(storage, tensor.dtype(), sizes, Sizes{1}, 0)).take()};
  return make_tuple(vm, parts).take();
}

// A piece of a file: a bytes-like object, or a contiguous tensor's elements. No code of the script runs while it is
// used.
std::string_view bytes_of_piece(Vm& vm, const Value& piece) {
  if (Buffer::is_bytes_like(piece)) return Buffer(vm, piece);
  const Tensor& tensor = expect_tensor(vm, piece, "a piece")->tensor;
  if (!tensor.is_contiguous()) raise_value_error(vm, "a piece of a file must be contiguous");
  refuse_meta_copy(tensor);
  if (tensor.is_elsewhere()) raise_value_error(vm, "a piece of a file must lie in memory");
  const int64_t bytes = tensor.numel() * dtype_size(tensor.dtype());
  return bytes == 0 ? std::string_view()
                    : std::string_view(reinterpret_cast<const char*>(tensor.data()), static_cast<size_t>(bytes));
}

// checksum(piece): its CRC-32.
Value checksum(Vm& vm, Args& a) {
  const std::string_view data = bytes_of_piece(vm, a[0]);
  uint32_t crc = 0;
  for (size_t at = 0; at < data.size(); at += kPiece) {
    vm.poll();
    crc = io::crc32(crc, data.data() + at, std::min(static_cast<size_t>(kPiece), data.size() - at));
  }
  return Value::integer(crc);
}

// write_pieces(path or None, pieces): a file of these pieces, or their bytes.
Value write_pieces(Vm& vm, Args& a) {
  auto* pieces = try_cast<ListObject>(a[1]);
  if (!pieces) raise_type_error(vm, "expected a list of pieces");
  Sink sink(vm, a[0]);
  for (const Value& piece : pieces->items) {
    const std::string_view data = bytes_of_piece(vm, piece);
    sink.write(data.data(), static_cast<int64_t>(data.size()));
  }
  return sink.finish();
}

Value data_pointer(Vm& vm, Args& a) {
  const Tensor& tensor = expect_tensor(vm, a[0], "tensor")->tensor;
  return Value::integer(
      tensor.numel() && !tensor.is_meta() ? static_cast<int64_t>(reinterpret_cast<intptr_t>(tensor.data())) : 0);
}

Local<ModuleObject> make_files(Vm& vm) {
  ModuleBuilder module(vm, "_files");
  module.function("safetensors_info", "source", safetensors_info)
      .function("read_safetensors", "source, name=None", read_safetensors)
      .function("write_safetensors", "path, tensors, metadata", write_safetensors)
      .function("read_npy", "source", read_npy)
      .function("write_npy", "path, tensor", write_npy)
      .function("tensor_of_bytes", "data, begin, end, dtype", tensor_of_bytes)
      .function("strided_view", "tensor, sizes, strides, offset", strided_view)
      .function("storage", "tensor", storage_of)
      .function("checksum", "piece", checksum)
      .function("write_pieces", "path, pieces", write_pieces)
      .function("data_pointer", "tensor", data_pointer);
  return module.finish();
}

}  // namespace

void register_files(Vm& vm) { register_native_module(vm, "_files", make_files); }

}  // namespace tsc::interp
