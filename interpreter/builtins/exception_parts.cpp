#include "interpreter/builtins/exception_parts.h"

#include <cstdio>

#include "interpreter/builtins/builtins.h"
#include "interpreter/value/buffer.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {
namespace {

ExceptionObject* exception_of(const Value& v) { return cast<ExceptionObject>(v); }

// What is kept beside args, by place; Undefined where nothing is.
Value part(const ExceptionObject* e, uint32_t place) {
  return e->group && place < e->group->size ? e->group->items[place] : Value();
}
void set_part(Vm& vm, ExceptionObject* e, uint32_t place, const Value& value) {
  Local<TupleObject> parts = make_tuple(vm, std::max<size_t>(e->group ? e->group->size : 0, place + 1));
  for (uint32_t i = 0; i < parts->size; ++i) parts->items[i] = i == place ? value : part(e, i);
  e->group = parts;
}
Value argument(const ExceptionObject* e, uint32_t i) { return i < e->args->size ? e->args->items[i] : Value::none(); }

// --- OSError ----------------------------------------------------------------------------------------------

enum OsPart : uint32_t { kNumber, kText, kWritten };

// Undefined where the number or the text was deleted, or never given.
Value os_part(const ExceptionObject* e, uint32_t i) {
  if (e->group) return part(e, i);
  const bool has_arguments = e->args->size >= 2 && e->args->size <= 5;
  return has_arguments ? argument(e, i) : Value();
}
void set_os_part_to(Vm& vm, ExceptionObject* e, uint32_t place, const Value& value) {
  Local<TupleObject> parts = make_tuple(vm, size_t{kWritten + 1});
  for (const uint32_t i : {kNumber, kText}) parts->items[i] = os_part(e, i);
  parts->items[kWritten] = part(e, kWritten);
  parts->items[place] = value;
  e->group = parts;
}
template <uint32_t kPart>
Value get_os_part(Vm&, const Value& v) {
  const Value found = os_part(exception_of(v), kPart);
  return found ? found : Value::none();
}
template <uint32_t kPart>
void set_os_part(Vm& vm, const Value& v, const Value& value) {
  set_os_part_to(vm, exception_of(v), kPart, value);
}
Value get_written(Vm& vm, const Value& v) {
  const Value written = part(exception_of(v), kWritten);
  if (!written) raise(vm, vm.exceptions().AttributeError, "characters_written");
  return written;
}
void set_written(Vm& vm, const Value& v, const Value& value) {
  if (!value) get_written(vm, v);  // which there must be
  set_os_part_to(vm, exception_of(v), kWritten, value ? Value::integer(to_index(vm, value)) : Value());
}

// Whether __init__ reads the arguments, and not __new__ already.
bool reads_in_init(Vm& vm, Type* type) {
  return is_scripted(type, vm.names().init) && !is_scripted(type, vm.names().new_);
}

bool is_number(Vm& vm, const Value& v) {
  const TypeSlots& slots = type_of(vm, v)->slots;
  return v.is_int() || v.is_float() || slots.to_index || slots.to_int || slots.to_float;
}
// (number, text, file, Windows' number, second file): the files are no part of args, unless there is none.
void settle_os_error(Vm& vm, ExceptionObject* e) {
  if (e->args->size < 3 || e->args->size > 5 || e->args->items[2].is_none()) return;
  const Value third = e->args->items[2];
  if (e->type->is_subtype_of(vm.exceptions().BlockingIOError) && is_number(vm, third))
    return set_os_part_to(vm, e, kWritten, Value::integer(to_index(vm, third)));
  e->subject = third;
  if (e->args->size == 5 && !e->args->items[4].is_none()) e->name = e->args->items[4];
  e->args = make_tuple(vm, e->args->span().first(2));
}
void refuse_keywords(Vm& vm, const Type* type, const Args& args) {
  if (args.keyword_count) raise_type_error(vm, type->name + "() takes no keyword arguments");
}

// --- UnicodeError -------------------------------------------------------------------------------------------

// The places of the parts, as of the arguments.
struct UnicodeForm {
  uint32_t object, start, end, reason;  // `encoding` is in front where `object` is not 0
};
constexpr UnicodeForm kWithEncoding{1, 2, 3, 4}, kWithout{0, 1, 2, 3};

bool is_translation(Vm& vm, const Type* type) { return type->is_subtype_of(vm.exceptions().UnicodeTranslateError); }
const UnicodeForm& form_of(Vm& vm, const ExceptionObject* e) {
  return is_translation(vm, e->type) ? kWithout : kWithEncoding;
}
// Those that C++ made have only arguments.
Value unicode_part(const ExceptionObject* e, uint32_t place) { return e->group ? part(e, place) : argument(e, place); }

template <uint32_t UnicodeForm::* kPlace>
Value get_unicode_part(Vm& vm, const Value& v) {
  const ExceptionObject* e = exception_of(v);
  return unicode_part(e, form_of(vm, e).*kPlace);
}
Value get_encoding(Vm&, const Value& v) { return unicode_part(exception_of(v), 0); }

void set_in_unicode(Vm& vm, const Value& v, uint32_t place, const Value& value, bool counts) {
  ExceptionObject* e = exception_of(v);
  if (!value && counts) raise_type_error(vm, "can't delete numeric/char attribute");
  if (counts && !type_of(vm, value)->is_subtype_of(vm.types().integer)) raise_type_error(vm, "an integer is required");
  if (!e->group) e->group = make_tuple(vm, e->args->span());
  set_part(vm, e, place, counts ? Value::integer(to_index(vm, value)) : value ? value : Value::none());
}
template <uint32_t UnicodeForm::* kPlace, bool kCounts>
void set_unicode_part(Vm& vm, const Value& v, const Value& value) {
  set_in_unicode(vm, v, form_of(vm, exception_of(v)).*kPlace, value, kCounts);
}
void set_encoding(Vm& vm, const Value& v, const Value& value) { set_in_unicode(vm, v, 0, value, false); }

// The character or byte at `start`, as the text shows it; empty where there is none.
std::string fault_text(const Value& object, int64_t start) {
  char text[16] = "";
  if (auto* bytes = try_cast<BytesObject>(object)) {
    if (start < 0 || start >= static_cast<int64_t>(bytes->data.size())) return "";
    std::snprintf(text, sizeof text, "0x%02x", static_cast<uint8_t>(bytes->data[static_cast<size_t>(start)]));
  } else if (auto* s = try_cast<StrObject>(object)) {
    if (start < 0 || start >= s->length) return "";
    size_t offset = byte_offset(s, start);
    const uint32_t c = decode_utf8(s->view(), offset);
    std::snprintf(text, sizeof text, c < 0x100 ? "'\\x%02x'" : c < 0x10000 ? "'\\u%04x'" : "'\\U%08x'", c);
  }
  return text;
}

}  // namespace

Local<ExceptionObject> make_os_error(Vm& vm, Type* type, const Args& args) {
  if (reads_in_init(vm, type)) return make_exception(vm, type, std::span<const Value>());
  refuse_keywords(vm, type, args);
  // OSError(number, text, file) becomes the subclass for the number.
  const bool is_whole = args.count >= 2 && args.count <= 5;
  if (is_whole && type == vm.exceptions().OSError && is_integer_like(args[0]))
    type = os_error_type(vm, args[0].as_int());
  Local<ExceptionObject> e = make_exception(vm, type, args.span());
  settle_os_error(vm, e);
  return e;
}

void initialize_os_error(Vm& vm, ExceptionObject* e, const Args& args) {
  if (!reads_in_init(vm, e->type)) return;
  refuse_keywords(vm, e->type, args);
  e->args = make_tuple(vm, args.span());
  settle_os_error(vm, e);
}

std::string os_error_text(Vm& vm, const ExceptionObject* e) {
  const auto shown = [&](const Value& v) { return v ? to_string(vm, v) : std::string("None"); };
  const Value number = os_part(e, kNumber), words = os_part(e, kText);
  const bool has_file = !e->subject.is_undefined();
  if (!has_file && (!number || !words)) return "";
  std::string text = "[Errno " + shown(number) + "] " + shown(words);
  if (has_file) text += ": " + repr(vm, e->subject);
  if (has_file && e->name) text += " -> " + repr(vm, e->name);
  return text;
}

bool has_unicode_parts(Vm& vm, const Type* type) {
  return type->is_subtype_of(vm.exceptions().UnicodeEncodeError) ||
         type->is_subtype_of(vm.exceptions().UnicodeDecodeError) || is_translation(vm, type);
}

void initialize_unicode_error(Vm& vm, ExceptionObject* e, const Args& args) {
  const UnicodeForm& form = form_of(vm, e);
  const bool decodes = e->type->is_subtype_of(vm.exceptions().UnicodeDecodeError);
  const uint32_t wanted = form.reason + 1;
  if (args.count != wanted)
    raise_type_error(vm, "function takes exactly " + std::to_string(wanted) + " arguments (" +
                             std::to_string(args.count) + " given)");
  const Local<TupleObject> parts = make_tuple(vm, args.span());
  for (uint32_t i = 0; i < wanted; ++i) {
    const Value& given = args[i];
    if (i == form.object && decodes) {
      if (!Buffer::is_bytes_like(given))
        raise_type_error(vm, "a bytes-like object is required, not '" + type_name(vm, given) + "'");
      if (!is_kind(given, Kind::Bytes)) parts->items[i] = as_bytes(vm, given);
    } else if (i == form.start || i == form.end) {
      parts->items[i] = Value::integer(to_index(vm, given));
    } else if (!is_kind(given, Kind::Str)) {
      raise_type_error(vm, "argument " + std::to_string(i + 1) + " must be str, not " + type_name(vm, given));
    }
  }
  e->group = parts;
}

std::string unicode_error_text(Vm& vm, const ExceptionObject* e) {
  const UnicodeForm& form = form_of(vm, e);
  if (!e->group && e->args->size <= form.reason) return "";  // no __init__ has run
  const bool decodes = e->type->is_subtype_of(vm.exceptions().UnicodeDecodeError);
  const int64_t start = to_index(vm, unicode_part(e, form.start)), end = to_index(vm, unicode_part(e, form.end));
  const std::string reason = to_string(vm, unicode_part(e, form.reason));
  std::string text = "can't translate character";
  if (form.object)
    text = "'" + to_string(vm, unicode_part(e, 0)) + "' codec can't " + (decodes ? "decode byte" : "encode character");
  const std::string fault = end == start + 1 ? fault_text(unicode_part(e, form.object), start) : "";
  if (!fault.empty()) return text + " " + fault + " in position " + std::to_string(start) + ": " + reason;
  return text + "s in position " + std::to_string(start) + "-" + std::to_string(end - 1) + ": " + reason;
}

void add_part_members(TypeBuilder& b, std::string_view name) {
  if (name == "OSError")
    b.getter("errno", get_os_part<kNumber>, set_os_part<kNumber>)
        .getter("strerror", get_os_part<kText>, set_os_part<kText>)
        .getter("characters_written", get_written, set_written);
  const bool translates = name == "UnicodeTranslateError";
  if (!translates && name != "UnicodeDecodeError" && name != "UnicodeEncodeError") return;
  if (!translates) b.getter("encoding", get_encoding, set_encoding);
  b.getter("object", get_unicode_part<&UnicodeForm::object>, set_unicode_part<&UnicodeForm::object, false>)
      .getter("start", get_unicode_part<&UnicodeForm::start>, set_unicode_part<&UnicodeForm::start, true>)
      .getter("end", get_unicode_part<&UnicodeForm::end>, set_unicode_part<&UnicodeForm::end, true>)
      .getter("reason", get_unicode_part<&UnicodeForm::reason>, set_unicode_part<&UnicodeForm::reason, false>);
}

}  // namespace tsc::interp
