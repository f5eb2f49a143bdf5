#pragma once
// str and bytes. Text is UTF-8; indices are code points, and an ASCII string (the flag) indexes by
// byte. The hash is keyed per Vm and cached. Names (attribute names, globals, keywords) are interned,
// so that they compare by address.
#include <string>
#include <string_view>

#include "interpreter/value/object.h"
#include "interpreter/value/shape.h"

namespace tsc::interp {

struct StrObject : Object {
  static constexpr Kind kKind = Kind::Str;
  bool ascii = true;
  mutable uint32_t extra = 0;  // its entry in the Vm's TextPlaces; 0: none
  uint64_t hash = 0;           // 0: not computed
  int64_t length = 0;          // code points
  size_t size = 0;             // bytes
  const char* text = nullptr;  // points behind this object, zero-terminated
  StrObject() : Object(Kind::Str) {}
  std::string_view view() const { return {text, size}; }
  bool interned() const { return flags & kInterned; }
};

// An instance of a script subclass of str.
struct StrInstance : StrObject {
  InstanceState state;
};

struct BytesObject : Object {
  static constexpr Kind kKind = Kind::Bytes;
  std::string data;  // charged to the heap by make_bytes, released by the type's destroy slot
  BytesObject() : Object(Kind::Bytes) {}
};
// Of a script class.
struct BytesInstance : BytesObject {
  InstanceState state;
};

// Text is UTF-8 with halves of surrogate pairs among it (surrogates.h). Other bytes become U+FFFD: a str is whole
// sequences, and who walks over it need not look for its end.
Local<StrObject> make_str(Vm& vm, std::string_view utf8);
// The same for text that is known to be ASCII: what formats numbers.
Local<StrObject> make_ascii_str(Vm& vm, std::string_view text);
// A string of that many bytes, to be written at `text`; ASCII until the caller says otherwise.
Local<StrObject> make_blank_str(Vm& vm, size_t size, char*& text);
// A piece over and over.
Local<StrObject> repeat_str(Vm& vm, const StrObject* piece, size_t count);
// a + b, both of any str type; LimitError when there is no room.
Local<StrObject> concatenate(Vm& vm, const StrObject* a, const StrObject* b);
inline Value str_value(Vm& vm, std::string_view utf8) { return make_str(vm, utf8).take(); }
// The one object for this name.
Local<StrObject> intern(Vm& vm, std::string_view name);
Local<StrObject> intern(Vm& vm, StrObject* text);
// Adds a text at the end of a string that nobody else has (the register of `s += t`), in its own memory or in memory
// with room for more.
void append(Vm& vm, Value& s, const StrObject* more);
// Byte offset of code point `index` (0 <= index <= length), and the number of the code point at an offset.
size_t byte_offset(const StrObject* s, int64_t index);
int64_t code_point_index(const StrObject* s, size_t offset);
// How many bytes the string has behind its head.
size_t room_of(Vm& vm, const StrObject* s);
// Code points [start, stop).
Local<StrObject> substring(Vm& vm, StrObject* s, int64_t start, int64_t stop);
uint64_t str_hash(Vm& vm, StrObject* s);
bool str_equal(const StrObject* a, const StrObject* b);
// A fault of a byte sequence: where it ends, and what Python says about it.
struct Utf8Fault {
  size_t end;
  const char* reason;
};
// The length of the sequence at `offset`, or 0 and the fault.
size_t utf8_sequence(std::string_view text, size_t offset, Utf8Fault& fault);
// Where the first byte stands that is no UTF-8; npos: the text is whole.
size_t find_utf8_fault(std::string_view text);
// One code point of UTF-8 at `offset`; advances it.
uint32_t decode_utf8(std::string_view text, size_t& offset);
void append_utf8(std::string& out, uint32_t code_point);
int64_t count_code_points(std::string_view utf8, bool& ascii);
// The text if the value is a str, else raises TypeError naming `what`.
std::string_view text_of(Vm& vm, const Value& v, const char* what = "argument");
Local<BytesObject> make_bytes(Vm& vm, std::string data);

}  // namespace tsc::interp
