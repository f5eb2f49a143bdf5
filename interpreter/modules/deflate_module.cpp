// _deflate: streams of the deflate format (zlib's library), for zlib, gzip and zipfile.
#include <zlib.h>

#include "interpreter/heap/patience.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/buffer.h"
#include "interpreter/value/text_builder.h"

namespace tsc::interp {
namespace {

constexpr size_t kInputPiece = 256 << 10;  // between two of which a stop is heard
constexpr size_t kOutputPiece = 64 << 10;
// What a stream holds beside its object: zlib's windows and tables.
constexpr size_t kCompressorBytes = 268 << 10, kDecompressorBytes = 44 << 10;

struct StreamObject : Object {
  z_stream stream{};
  bool compresses = false;
  bool open = false;
  bool ended = false;
  MemoryCharge charge;
  Value unused, unconsumed;  // what came behind the end; what a limit left over
  std::string dictionary;
  StreamObject() : Object(Kind::Native) {}
  ~StreamObject() {
    if (!open) return;
    if (compresses) ::deflateEnd(&stream);
    else ::inflateEnd(&stream);
  }
};

StreamObject* stream_of(const Value& v) { return static_cast<StreamObject*>(v.object()); }

[[noreturn]] void fail(Vm& vm, const z_stream& stream, int code, const char* what) {
  std::string message = "Error " + std::to_string(code) + " " + what;
  if (stream.msg) message += std::string(": ") + stream.msg;
  else if (code == Z_BUF_ERROR) message += ": incomplete or truncated stream";
  else if (code == Z_STREAM_ERROR) message += ": inconsistent stream state";
  else if (code == Z_DATA_ERROR) message += ": invalid input data";
  const Value type = get_attribute(vm, dict_get(vm, vm.modules(), "zlib"), "error");
  const Value made = call(vm, type, {str_value(vm, message)});
  throw ScriptException(Local<ExceptionObject>(cast<ExceptionObject>(made)));
}

// Gives the stream a piece of input and takes what it makes of it, until the piece is used up, the stream ends or
// `most` bytes were made (0: no limit). The step is deflate or inflate.
template <class Step>
int run(StreamObject& s, TextBuilder& out, size_t most, Step step) {
  char piece[kOutputPiece];
  int code = Z_OK;
  do {
    size_t room = sizeof piece;
    if (most) room = std::min(room, most - out.size());
    s.stream.next_out = reinterpret_cast<Bytef*>(piece);
    s.stream.avail_out = static_cast<uInt>(room);
    code = step();
    out += std::string_view(piece, room - s.stream.avail_out);
    hear_stop();
    if (code != Z_OK) return code;
    if (most && out.size() == most) return code;
  } while (s.stream.avail_in > 0 || s.stream.avail_out == 0);
  return code;
}

void give(StreamObject& s, std::string_view input) {
  s.stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
  s.stream.avail_in = static_cast<uInt>(input.size());
}

void must_be_open(Vm& vm, const StreamObject& s) {
  if (!s.open || s.ended)
    fail(vm, s.stream, Z_STREAM_ERROR, s.compresses ? "while compressing data" : "while decompressing data");
}

Value compress(Vm& vm, Args& a) {
  const Local<StreamObject> kept(stream_of(a[0]));
  StreamObject& s = *kept;
  must_be_open(vm, s);
  const Buffer given(vm, a[1]);
  const std::string_view input = given;
  TextBuilder out(vm);
  for (size_t at = 0; at < input.size(); at += kInputPiece) {
    give(s, input.substr(at, kInputPiece));
    const int code = run(s, out, 0, [&] { return ::deflate(&s.stream, Z_NO_FLUSH); });
    if (code != Z_OK && code != Z_BUF_ERROR) fail(vm, s.stream, code, "while compressing data");
  }
  return out.bytes();
}

Value flush_compressor(Vm& vm, Args& a) {
  const Local<StreamObject> kept(stream_of(a[0]));
  StreamObject& s = *kept;
  const int mode = static_cast<int>(to_index(vm, a[1]));
  TextBuilder out(vm);
  if (mode == Z_NO_FLUSH) return out.bytes();
  must_be_open(vm, s);
  give(s, {});
  const int code = run(s, out, 0, [&] { return ::deflate(&s.stream, mode); });
  if (code == Z_STREAM_END) s.ended = true;
  else if (code != Z_OK && code != Z_BUF_ERROR) fail(vm, s.stream, code, "while flushing");
  return out.bytes();
}

int inflate_step(StreamObject& s) {
  int code = ::inflate(&s.stream, Z_SYNC_FLUSH);
  if (code == Z_NEED_DICT && !s.dictionary.empty()) {
    code = ::inflateSetDictionary(&s.stream, reinterpret_cast<const Bytef*>(s.dictionary.data()),
                                  static_cast<uInt>(s.dictionary.size()));
    if (code == Z_OK) code = ::inflate(&s.stream, Z_SYNC_FLUSH);
  }
  return code;
}

Value decompress(Vm& vm, Args& a) {
  const Local<StreamObject> kept(stream_of(a[0]));
  StreamObject& s = *kept;
  const Buffer given(vm, a[1]);
  const std::string_view input = given;
  const int64_t most = to_index(vm, a[2]);
  if (most < 0) raise_value_error(vm, "max_length must be non-negative");
  TextBuilder out(vm);
  size_t used = 0;
  while (!s.ended && used < input.size() && (most == 0 || out.size() < static_cast<size_t>(most))) {
    const std::string_view piece = input.substr(used, kInputPiece);
    give(s, piece);
    const int code = run(s, out, static_cast<size_t>(most), [&] { return inflate_step(s); });
    used += piece.size() - s.stream.avail_in;
    if (code == Z_STREAM_END) s.ended = true;
    else if (code == Z_BUF_ERROR) break;
    else if (code != Z_OK) fail(vm, s.stream, code, "while decompressing data");
  }
  const std::string_view rest = input.substr(used);
  if (s.ended) {
    const std::string_view before = cast<BytesObject>(s.unused)->data;
    if (!rest.empty()) s.unused = make_bytes(vm, std::string(before) + std::string(rest)).take();
    s.unconsumed = make_bytes(vm, "").take();
  } else {
    s.unconsumed = make_bytes(vm, std::string(rest)).take();
  }
  return out.bytes();
}

template <bool compresses>
Value make_stream(Vm& vm, Args& a, Type* type) {
  Local<StreamObject> made = vm.heap().make<StreamObject>(type);
  StreamObject& s = *made;
  s.charge = MemoryCharge(vm.heap(), compresses ? kCompressorBytes : kDecompressorBytes);
  s.compresses = compresses;
  s.unused = make_bytes(vm, "").take();
  s.unconsumed = make_bytes(vm, "").take();
  const int level = static_cast<int>(to_index(vm, a[0])), bits = static_cast<int>(to_index(vm, a[1]));
  if (!a[4].is_none()) s.dictionary = copied_bytes(vm, a[4]);
  int code;
  if constexpr (compresses)
    code = ::deflateInit2(&s.stream, level, Z_DEFLATED, bits, static_cast<int>(to_index(vm, a[2])),
                          static_cast<int>(to_index(vm, a[3])));
  else code = ::inflateInit2(&s.stream, bits);
  if (code == Z_STREAM_ERROR) raise_value_error(vm, "Invalid initialization option");
  if (code != Z_OK) fail(vm, s.stream, code, "while preparing a stream");
  s.open = true;
  // A stream without a header tells nobody which dictionary it needs.
  if (!s.dictionary.empty() && (compresses || bits < 0)) {
    const auto* text = reinterpret_cast<const Bytef*>(s.dictionary.data());
    const uInt size = static_cast<uInt>(s.dictionary.size());
    code = compresses ? ::deflateSetDictionary(&s.stream, text, size) : ::inflateSetDictionary(&s.stream, text, size);
    if (code != Z_OK) fail(vm, s.stream, code, "while setting zdict");
  }
  return made.take();
}

struct DeflateState {
  Type* compressor = nullptr;
  Type* decompressor = nullptr;
};
const char kState = 0;
DeflateState& state(Vm& vm) { return *static_cast<DeflateState*>(vm.extension(&kState).get()); }

Value compressor(Vm& vm, Args& a) { return make_stream<true>(vm, a, state(vm).compressor); }
Value decompressor(Vm& vm, Args& a) { return make_stream<false>(vm, a, state(vm).decompressor); }

Value adler32(Vm& vm, Args& a) {
  const Buffer given(vm, a[0]);
  const std::string_view data = given;
  uLong sum = static_cast<uLong>(to_index(vm, a[1]) & 0xFFFFFFFF);
  in_pieces(data.size(), [&](size_t begin, size_t end) {
    sum = ::adler32(sum, reinterpret_cast<const Bytef*>(data.data()) + begin, static_cast<uInt>(end - begin));
  });
  return Value::integer(static_cast<int64_t>(sum));
}

Type* make_type(Vm& vm, const char* name, bool compresses) {
  TypeBuilder b(vm, name, Kind::Native);
  b.slots().destroy = destroy_as<StreamObject>;
  b.module("zlib");
  if (compresses) {
    b.method("compress", "self, data, /", compress).method("flush", "self, mode=4, /", flush_compressor);
  } else {
    b.method("decompress", "self, data, /, max_length=0", decompress)
        .getter("unused_data", [](Vm&, const Value& v) { return stream_of(v)->unused; })
        .getter("unconsumed_tail", [](Vm&, const Value& v) { return stream_of(v)->unconsumed; })
        .getter("eof", [](Vm&, const Value& v) { return Value::boolean(stream_of(v)->ended); });
  }
  return b.finish();
}

}  // namespace

Local<ModuleObject> make_deflate_module(Vm& vm) {
  auto types = std::make_shared<DeflateState>();
  types->compressor = make_type(vm, "Compress", true);
  types->decompressor = make_type(vm, "Decompress", false);
  vm.extension(&kState) = types;
  ModuleBuilder m(vm, "_deflate");
  m.value("Compress", Value(types->compressor)).value("Decompress", Value(types->decompressor));
  m.function("compressor", "level, wbits, memLevel, strategy, zdict, /", compressor);
  m.function("decompressor", "level, wbits, memLevel, strategy, zdict, /", decompressor);
  m.function("adler32", "data, value=1, /", adler32);
  m.value("version", str_value(vm, ::zlibVersion()));
  return m.finish();
}

}  // namespace tsc::interp
