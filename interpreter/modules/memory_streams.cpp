// The streams in memory of io: what StringIO and BytesIO inherit, with the text or the bytes and the position in them.
#include "interpreter/builtins/builtins.h"
#include "interpreter/builtins/bytearray.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/attempt.h"

namespace tsc::interp {
namespace {

struct MemoryStream : Instance {
  // A str; or a bytes object, until something is written, then a bytearray.
  Value data;
  int64_t at = 0;  // in characters or bytes; it may stand behind the end
  bool closed = false;
  Value line_break;   // of a text stream: what `newline` was
  bool seen[3] = {};  // of one that takes every kind of line break: "\r", "\n" and "\r\n" so far
  MemoryStream() : Instance(Kind::Native) {}
};
MemoryStream* stream_of(const Value& v) { return static_cast<MemoryStream*>(v.object()); }

MemoryStream* open_stream(Vm& vm, const Value& v) {
  MemoryStream* stream = stream_of(v);
  if (stream->closed)
    raise_value_error(
        vm, is_kind(stream->data, Kind::Str) ? "I/O operation on closed file" : "I/O operation on closed file.");
  return stream;
}

// The size that a reader is given; negative: everything.
int64_t size_limit(Vm& vm, const Value& v) {
  if (v.is_int()) return v.as_int();
  if (v.is_none()) return -1;
  if (!is_integer_like(v) && !type_of(vm, v)->slots.to_index)
    raise_type_error(vm, "argument should be integer or None, not '" + type_name(vm, v) + "'");
  return to_index(vm, v);
}

// Where so many behind the position end, of `length` in all.
int64_t end_of(const MemoryStream* stream, int64_t size, int64_t length) {
  const int64_t left = std::max<int64_t>(length - stream->at, 0);
  return std::min(stream->at, length) + (size < 0 ? left : std::min(size, left));
}

Value stream_tell(Vm& vm, Args& a) { return Value::integer(open_stream(vm, a[0])->at); }
Value stream_flush(Vm&, Args&) { return Value::none(); }
Value stream_true(Vm& vm, Args& a) { return open_stream(vm, a[0]), Value::boolean(true); }
Value get_closed(Vm&, const Value& v) { return Value::boolean(stream_of(v)->closed); }

// The next line through the method that the class has; false: there is none.
bool next_line(Vm& vm, const Value& self, Value& line, NativeCode own) {
  Type* type = self.object()->type;
  const Value* method = lookup_in_type(type, intern(vm, "readline"));
  const auto* native = method ? try_cast<NativeFunction>(*method) : nullptr;
  if (native && native->code == own) {
    const Value values[2] = {self, Value::integer(-1)};
    Args args;
    args.positional = values;
    args.count = 2;
    line = own(vm, args);
  } else {
    line = call_method(vm, self, "readline");
  }
  return truth(vm, line);
}

int64_t checked_whence(Vm& vm, const Value& v, const char* word) {
  const int64_t whence = to_index(vm, v);
  if (whence < 0 || whence > 2)
    raise_value_error(vm, std::string(word) + " whence (" + std::to_string(whence) + ", should be 0, 1 or 2)");
  return whence;
}

Value attributes_of(Vm& vm, const Value& self) {
  const Shape* shape = stream_of(self)->state.shape;
  if (!shape || (!shape->dictionary_mode() && shape->size() == 0)) return Value::none();
  return call_method(vm, attribute_dict(vm, self.object()).value(), "copy");
}

const TupleObject* state_parts(Vm& vm, Args& a, uint32_t size) {
  const auto* parts = try_cast<TupleObject>(a[1]);
  if (!parts || parts->size != size)
    raise_type_error(vm, type_name(vm, a[0]) + ".__setstate__ argument should be " + std::to_string(size) +
                             "-tuple, got " + type_name(vm, a[1]));
  return parts;
}

void take_position(Vm& vm, const Value& self, const Value& at, const Value& attributes) {
  const int64_t place = to_index(vm, at);
  if (place < 0) raise_value_error(vm, "position value cannot be negative");
  stream_of(self)->at = place;
  if (!attributes.is_none()) call_method(vm, attribute_dict(vm, self.object()).value(), "update", {attributes});
}

// --- text -----------------------------------------------------------------------------------------------------

StrObject* text_in(const MemoryStream* stream) { return cast<StrObject>(stream->data); }

std::string_view line_break_of(const MemoryStream* stream) {
  return stream->line_break.is_none() ? "\n" : cast<StrObject>(stream->line_break)->view();
}

void note_line_breaks(MemoryStream* stream, std::string_view text) {
  for (size_t at = 0; (at = text.find_first_of("\r\n", at)) != std::string_view::npos; ++at) {
    const bool both = text.substr(at, 2) == "\r\n";
    stream->seen[both ? 2 : text[at] == '\n'] = true;
    at += both;
  }
}
Value get_newlines(Vm& vm, const Value& v) {
  constexpr const char* kBreaks[] = {"\r", "\n", "\r\n"};
  std::vector<Value> found;
  for (int i = 0; i < 3; ++i)
    if (stream_of(v)->seen[i]) found.push_back(str_value(vm, kBreaks[i]));
  if (found.size() > 1) return make_tuple(vm, found).take();
  return found.empty() ? Value::none() : found[0];
}

// What a stream keeps of a text that is written to it.
Value translated(Vm& vm, MemoryStream* stream, const Value& text) {
  const std::string_view view = cast<StrObject>(text)->view(), line_break = line_break_of(stream);
  const bool reads_all = stream->line_break.is_none();
  if (reads_all || line_break.empty()) note_line_breaks(stream, view);
  const bool as_it_is = reads_all
                            ? view.find('\r') == std::string_view::npos
                            : line_break.empty() || line_break == "\n" || view.find('\n') == std::string_view::npos;
  if (as_it_is) return text;
  TextBuilder out(vm);
  for (size_t at = 0; at < view.size();) {
    const size_t end = std::min(view.find(reads_all ? '\r' : '\n', at), view.size());
    out += view.substr(at, end - at);
    if (end < view.size()) out += line_break;
    at = end + 1;
    if (reads_all && end < view.size() && at < view.size() && view[at] == '\n') ++at;
  }
  return out.str();
}

// The same characters as an object of str itself.
Value plain_text(Vm& vm, const Value& text) {
  StrObject* s = cast<StrObject>(text);
  return substring(vm, s, 0, s->length).take();
}

Value text_read(Vm& vm, Args& a) {
  MemoryStream* stream = open_stream(vm, a[0]);
  const int64_t size = size_limit(vm, a[1]);
  StrObject* text = text_in(stream);
  const int64_t end = end_of(stream, size, text->length);
  Local<StrObject> piece = substring(vm, text, stream->at, end);
  stream->at += piece->length;
  return piece.take();
}

// How many bytes of what is left belong to the first line.
size_t line_size(const MemoryStream* stream, std::string_view left) {
  const std::string_view line_break = line_break_of(stream);
  size_t at, size = line_break.size();
  if (size == 1) {
    at = left.find(line_break[0]);
  } else if (size > 1) {
    at = left.find(line_break);
  } else {
    at = left.find_first_of("\r\n");
    size = at != std::string_view::npos && left.substr(at, 2) == "\r\n" ? 2 : 1;
  }
  return at == std::string_view::npos ? left.size() : at + size;
}

Value text_readline(Vm& vm, Args& a) {
  MemoryStream* stream = open_stream(vm, a[0]);
  const int64_t limit = size_limit(vm, a[1]);
  StrObject* text = text_in(stream);
  if (stream->at >= text->length || limit == 0) return vm.names().empty.value();
  const std::string_view left = text->view().substr(byte_offset(text, stream->at));
  const std::string_view line = left.substr(0, line_size(stream, left));
  Local<StrObject> piece = text->ascii && line.size() != 1 ? make_ascii_str(vm, line) : make_str(vm, line);
  if (limit > 0 && piece->length > limit) piece = substring(vm, piece, 0, limit);
  stream->at += piece->length;
  return piece.take();
}

// Puts a text in the place of what stands at the position.
void overwrite(Vm& vm, MemoryStream* stream, StrObject* written) {
  StrObject* text = text_in(stream);
  const int64_t end = stream->at + written->length;
  if (text->ascii && written->ascii && text->reference_count == 1 && end <= text->length) {
    std::memcpy(const_cast<char*>(text->text) + stream->at, written->text, written->size);
    text->hash = 0;
    return;
  }
  TextBuilder out(vm);
  out += substring(vm, text, 0, stream->at)->view();
  for (int64_t i = text->length; i < stream->at; ++i) out += '\0';
  out += written->view();
  if (end < text->length) out += substring(vm, text, end, text->length)->view();
  stream->data = out.str();
}

Value text_write(Vm& vm, Args& a) {
  MemoryStream* stream = open_stream(vm, a[0]);
  if (!is_kind(a[1], Kind::Str)) raise_type_error(vm, "string argument expected, got '" + type_name(vm, a[1]) + "'");
  const Value kept = translated(vm, stream, a[1]);
  StrObject* written = cast<StrObject>(kept);
  StrObject* text = text_in(stream);
  if (written->size == 0) return Value::integer(cast<StrObject>(a[1])->length);
  if (stream->at != text->length) overwrite(vm, stream, written);
  else if (text->reference_count == 1 && text->type == vm.types().str) append(vm, stream->data, written);
  else stream->data = concatenate(vm, text, written).take();
  stream->at += written->length;
  return Value::integer(cast<StrObject>(a[1])->length);
}

Value text_getvalue(Vm& vm, Args& a) { return open_stream(vm, a[0])->data; }

Value text_truncate(Vm& vm, Args& a) {
  MemoryStream* stream = open_stream(vm, a[0]);
  const int64_t size = a[1].is_none() ? stream->at : to_index(vm, a[1]);
  if (size < 0) raise_value_error(vm, "Negative size value " + std::to_string(size));
  stream->data = substring(vm, text_in(stream), 0, std::min(size, text_in(stream)->length)).take();
  return Value::integer(size);
}

Value text_seek(Vm& vm, Args& a) {
  MemoryStream* stream = open_stream(vm, a[0]);
  const int64_t whence = checked_whence(vm, a[2], "Invalid"), offset = to_index(vm, a[1]);
  if (whence && offset) raise(vm, vm.exceptions().OSError, "Can't do nonzero cur-relative seeks");
  if (offset < 0) raise_value_error(vm, "Negative seek position " + std::to_string(offset));
  if (whence != 1) stream->at = whence ? text_in(stream)->length : offset;
  return Value::integer(stream->at);
}

Value text_close(Vm& vm, Args& a) {
  stream_of(a[0])->closed = true;
  stream_of(a[0])->data = vm.names().empty.value();
  return Value::none();
}

void text_initialize(Vm& vm, const Value& self, Args& args) {
  static const Signature kSignature("initial_value=None, newline=?");
  std::vector<Value> v;
  kSignature.bind(vm, "StringIO", args, v);
  if (!v[1]) v[1] = str_value(vm, "\n");
  if (!v[0].is_none() && !is_kind(v[0], Kind::Str))
    raise_type_error(vm, "initial_value must be str or None, not " + type_name(vm, v[0]));
  if (!v[1].is_none() && !is_kind(v[1], Kind::Str))
    raise_type_error(vm, "newline must be str or None, not " + type_name(vm, v[1]));
  const std::string_view line_break = v[1].is_none() ? "\n" : cast<StrObject>(v[1])->view();
  if (!line_break.empty() && line_break != "\n" && line_break != "\r" && line_break != "\r\n")
    raise_value_error(vm, "illegal newline value: " + repr(vm, v[1]));
  MemoryStream* stream = stream_of(self);
  stream->line_break = v[1];
  std::fill(std::begin(stream->seen), std::end(stream->seen), false);
  stream->data = v[0].is_none() ? vm.names().empty.value() : plain_text(vm, translated(vm, stream, v[0]));
  stream->at = 0;
  stream->closed = false;
}

// __getstate__() and __setstate__(state): the text, the line break, the position, and the attributes or None.
Value text_state(Vm& vm, Args& a) {
  const MemoryStream* stream = open_stream(vm, a[0]);
  const Value parts[] = {stream->data, stream->line_break, Value::integer(stream->at), attributes_of(vm, a[0])};
  return make_tuple(vm, parts).take();
}
Value text_set_state(Vm& vm, Args& a) {
  const TupleObject* parts = state_parts(vm, a, 4);
  if (!is_kind(parts->items[0], Kind::Str) || !(parts->items[1].is_none() || is_kind(parts->items[1], Kind::Str)))
    raise_type_error(vm, "a state has a text and a line break");
  MemoryStream* stream = stream_of(a[0]);
  stream->data = plain_text(vm, parts->items[0]);
  stream->line_break = parts->items[1];
  take_position(vm, a[0], parts->items[2], parts->items[3]);
  return Value::none();
}

// --- bytes ------------------------------------------------------------------------------------------------------

std::string_view bytes_in(const MemoryStream* stream) { return byte_string(stream->data); }

// The bytes as they may be changed.
ByteArrayObject* own_bytes(Vm& vm, MemoryStream* stream) {
  if (is_kind(stream->data, Kind::Bytes)) stream->data = make_byte_array(vm, bytes_in(stream)).take();
  return cast<ByteArrayObject>(stream->data);
}

// An open stream that nobody has a view of.
MemoryStream* unviewed(Vm& vm, const Value& v) {
  MemoryStream* stream = open_stream(vm, v);
  if (is_kind(stream->data, Kind::ByteArray)) must_not_be_exported(vm, cast<ByteArrayObject>(stream->data));
  return stream;
}

Value bytes_between(Vm& vm, MemoryStream* stream, int64_t end) {
  const std::string_view all = bytes_in(stream);
  const auto begin = static_cast<size_t>(std::min<int64_t>(stream->at, static_cast<int64_t>(all.size())));
  const std::string_view piece = all.substr(begin, static_cast<size_t>(end) - begin);
  stream->at += static_cast<int64_t>(piece.size());
  if (piece.size() == all.size() && is_kind(stream->data, Kind::Bytes)) return stream->data;
  return make_bytes(vm, std::string(piece)).take();
}

Value bytes_read(Vm& vm, Args& a) {
  MemoryStream* stream = open_stream(vm, a[0]);
  const int64_t size = size_limit(vm, a[1]);
  return bytes_between(vm, stream, end_of(stream, size, static_cast<int64_t>(bytes_in(stream).size())));
}

Value bytes_readline(Vm& vm, Args& a) {
  MemoryStream* stream = open_stream(vm, a[0]);
  const int64_t limit = size_limit(vm, a[1]);
  const std::string_view all = bytes_in(stream);
  const auto begin = static_cast<size_t>(std::min<int64_t>(stream->at, static_cast<int64_t>(all.size())));
  const size_t found = all.find('\n', begin);
  auto end = static_cast<int64_t>(found == std::string_view::npos ? all.size() : found + 1);
  if (limit >= 0) end = std::min(end, end_of(stream, limit, static_cast<int64_t>(all.size())));
  return bytes_between(vm, stream, end);
}

Value bytes_write(Vm& vm, Args& a) {
  MemoryStream* stream = unviewed(vm, a[0]);
  const Buffer given(vm, a[1]);
  const std::string_view written = given;
  if (!written.empty()) {
    const Local<ByteArrayObject> own(own_bytes(vm, stream));
    const auto at = static_cast<size_t>(stream->at);
    const size_t size = own->memory->size();
    if (at > size) replace_range(vm, own, size, size, std::string(at - size, '\0'));
    replace_range(vm, own, at, std::min(at + written.size(), std::max(size, at)), written);
    stream->at += static_cast<int64_t>(written.size());
  }
  return Value::integer(static_cast<int64_t>(written.size()));
}

Value bytes_getvalue(Vm& vm, Args& a) {
  const MemoryStream* stream = open_stream(vm, a[0]);
  return is_kind(stream->data, Kind::Bytes) ? stream->data : make_bytes(vm, std::string(bytes_in(stream))).take();
}

Value bytes_getbuffer(Vm& vm, Args& a) {
  return make_memory_view(vm, Local<ByteArrayObject>(own_bytes(vm, open_stream(vm, a[0]))).value()).take();
}

Value bytes_truncate(Vm& vm, Args& a) {
  MemoryStream* stream = unviewed(vm, a[0]);
  const int64_t size = a[1].is_none() ? stream->at : to_index(vm, a[1]);
  if (size < 0) raise_value_error(vm, "negative size value " + std::to_string(size));
  const size_t now = bytes_in(stream).size();
  if (static_cast<size_t>(size) < now) replace_range(vm, own_bytes(vm, stream), static_cast<size_t>(size), now, "");
  return Value::integer(size);
}

Value bytes_seek(Vm& vm, Args& a) {
  MemoryStream* stream = open_stream(vm, a[0]);
  const int64_t whence = checked_whence(vm, a[2], "invalid"), offset = to_index(vm, a[1]);
  if (offset < 0 && whence == 0) raise_value_error(vm, "negative seek value " + std::to_string(offset));
  const int64_t from[] = {0, stream->at, static_cast<int64_t>(bytes_in(stream).size())};
  stream->at = std::max<int64_t>(offset + from[whence], 0);
  return Value::integer(stream->at);
}

// The next bytes into something that can be written to; how many there were.
Value bytes_readinto(Vm& vm, Args& a) {
  MemoryStream* stream = open_stream(vm, a[0]);
  const Buffer to = writable_buffer(vm, a[1], "readinto() argument");
  const std::string_view all = bytes_in(stream);
  const size_t at = std::min(static_cast<size_t>(stream->at), all.size());
  const size_t count = std::min(to.bytes().size(), all.size() - at);
  note_store(vm, a[1].object(), Value());
  if (count) std::memmove(to.data(), all.data() + at, count);
  stream->at += static_cast<int64_t>(count);
  return Value::integer(static_cast<int64_t>(count));
}

Value bytes_close(Vm& vm, Args& a) {
  MemoryStream* stream = stream_of(a[0]);
  if (stream->closed) return Value::none();
  unviewed(vm, a[0]);
  stream->closed = true;
  stream->data = make_bytes(vm, "").take();
  return Value::none();
}

void bytes_initialize(Vm& vm, const Value& self, Args& args) {
  static const Signature kSignature("initial_bytes=None");
  std::vector<Value> v;
  kSignature.bind(vm, "BytesIO", args, v);
  Value data = v[0].is_none() ? make_bytes(vm, "").take() : Value();
  if (!data) {
    const Buffer held(vm, v[0]);  // which refuses a view with gaps
    data = as_bytes(vm, v[0]);
  }
  MemoryStream* stream = stream_of(self);
  if (is_kind(stream->data, Kind::ByteArray)) must_not_be_exported(vm, cast<ByteArrayObject>(stream->data));
  if (data.object()->type != vm.types().bytes) data = make_bytes(vm, std::string(byte_string(data))).take();
  stream->data = std::move(data);
  stream->at = 0;
  stream->closed = false;
}

// The bytes, the position, and the attributes or None.
Value bytes_state(Vm& vm, Args& a) {
  const Value parts[] = {bytes_getvalue(vm, a), Value::integer(stream_of(a[0])->at), attributes_of(vm, a[0])};
  return make_tuple(vm, parts).take();
}
Value bytes_set_state(Vm& vm, Args& a) {
  const TupleObject* parts = state_parts(vm, a, 3);
  MemoryStream* stream = unviewed(vm, a[0]);
  stream->data = make_bytes(vm, copied_bytes(vm, parts->items[0])).take();
  take_position(vm, a[0], parts->items[1], parts->items[2]);
  return Value::none();
}

// --- the types -----------------------------------------------------------------------------------------------------

Value new_stream(Vm& vm, Type* type, const Value& data) {
  Local<MemoryStream> made = vm.heap().make<MemoryStream>(type);
  made->state.shape = type->root();
  made->data = data;
  made->line_break = str_value(vm, "\n");
  return made.take();
}

void begin_stream_type(TypeBuilder& b) {
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<MemoryStream>;
  s.traverse = [](Object* o, Visitor& visit) {
    visit(static_cast<MemoryStream*>(o)->data);
    traverse_instance(o, visit);
  };
  s.clear = clear_instance;
  s.iterate = [](Vm& vm, const Value& self) {
    if (stream_of(self)->closed) raise_value_error(vm, "I/O operation on closed file.");
    return self;
  };
  b.with_attributes(offset_of(&MemoryStream::state)).allow_subclasses();
  b.module("_io")
      .getter("closed", get_closed)
      .getter("_closed", get_closed)
      .method("flush", "self", stream_flush)
      .method("tell", "self", stream_tell)
      .method("readable", "self", stream_true)
      .method("writable", "self", stream_true)
      .method("seekable", "self", stream_true);
}

Type* make_text_type(Vm& vm) {
  TypeBuilder b(vm, "_TextMemory", Kind::Native);
  begin_stream_type(b);
  b.slots().construct = [](Vm& vm, Type* type, Args&) { return new_stream(vm, type, vm.names().empty.value()); };
  b.slots().initialize = text_initialize;
  b.slots().next = [](Vm& vm, const Value& self, Value& out) { return next_line(vm, self, out, text_readline); };
  b.getter("newlines", get_newlines)
      .method("read", "self, size=-1, /", text_read)
      .method("readline", "self, size=-1, /", text_readline)
      .method("write", "self, text, /", text_write)
      .method("getvalue", "self", text_getvalue)
      .method("truncate", "self, size=None, /", text_truncate)
      .method("seek", "self, offset, whence=0, /", text_seek)
      .method("close", "self", text_close)
      .method("__getstate__", "self", text_state)
      .method("__setstate__", "self, state, /", text_set_state);
  return b.finish();
}

Type* make_bytes_type(Vm& vm) {
  TypeBuilder b(vm, "_ByteMemory", Kind::Native);
  begin_stream_type(b);
  b.slots().construct = [](Vm& vm, Type* type, Args&) { return new_stream(vm, type, make_bytes(vm, "").take()); };
  b.slots().initialize = bytes_initialize;
  b.slots().next = [](Vm& vm, const Value& self, Value& out) { return next_line(vm, self, out, bytes_readline); };
  b.method("read", "self, size=-1, /", bytes_read)
      .method("read1", "self, size=-1, /", bytes_read)
      .method("readline", "self, size=-1, /", bytes_readline)
      .method("readinto", "self, buffer, /", bytes_readinto)
      .method("readinto1", "self, buffer, /", bytes_readinto)
      .method("write", "self, data, /", bytes_write)
      .method("getvalue", "self", bytes_getvalue)
      .method("getbuffer", "self", bytes_getbuffer)
      .method("truncate", "self, size=None, /", bytes_truncate)
      .method("seek", "self, offset, whence=0, /", bytes_seek)
      .method("close", "self", bytes_close)
      .method("__getstate__", "self", bytes_state)
      .method("__setstate__", "self, state, /", bytes_set_state);
  return b.finish();
}

}  // namespace

Local<ModuleObject> make_memory_module(Vm& vm) {
  ModuleBuilder m(vm, "_memory");
  m.value("TextMemory", Value(make_text_type(vm))).value("ByteMemory", Value(make_bytes_type(vm)));
  return m.finish();
}

}  // namespace tsc::interp
