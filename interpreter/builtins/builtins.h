#pragma once
// Boot code of the builtin types, functions and exceptions. Called once per Vm, in this order.
#include "interpreter/vm/native.h"
#include "interpreter/vm/vm_access.h"
#include "runtime/base/error.h"

namespace tsc::interp {

class TextBuilder;

void init_core_types(Vm& vm);  // object, type, dict and what TypeBuilder itself needs
void init_object_methods(Vm& vm);
void init_function_types(Vm& vm);
void init_annotations_type(Vm& vm);
void init_descriptor_types(Vm& vm);
void init_number_types(Vm& vm);
void init_complex_type(Vm& vm);
void init_str_type(Vm& vm);
void init_bytes_type(Vm& vm);
void init_bytearray_type(Vm& vm);
void init_memoryview_type(Vm& vm);
void init_list_type(Vm& vm);
void init_tuple_type(Vm& vm);
void init_dict_type(Vm& vm);
void init_dict_views(Vm& vm);
void init_set_types(Vm& vm);
void init_range_types(Vm& vm);
void init_iterators(Vm& vm);
void init_index_iterator(Vm& vm);
void init_generator_type(Vm& vm);
void init_exception_types(Vm& vm);
void add_group_members(TypeBuilder& type);  // of BaseExceptionGroup
void init_file_type(Vm& vm);
void init_alias_types(Vm& vm);
void init_builtin_functions(Vm& vm);
void init_native_modules(Vm& vm);
Value make_standard_stream(Vm& vm, Stream stream);

// Of an object of a script subclass of int or float (Kind::BoxedNumber): its number.
Value unboxed_number(const Value& v);
// Makes a builtin name visible everywhere.
void add_builtin(Vm& vm, std::string_view name, const Value& value);
// A built-in name of Python that raises NotImplementedError with what to use instead.
bool is_refused_builtin(std::string_view name);
// The str methods, split over files by purpose.
void add_str_search_methods(TypeBuilder& type);
void add_str_case_methods(TypeBuilder& type);
void add_str_format_methods(TypeBuilder& type);
// Classes of characters, as Python's str sees them.
bool is_printable(uint32_t code_point);
bool is_space(uint32_t code_point);
int decimal_digit(uint32_t code_point);  // 0 to 9; -1: no decimal
void add_bytes_methods(TypeBuilder& type);
void add_bytearray_methods(TypeBuilder& type);  // those that change it
// What bytes and bytearray share (bytes_type.cpp, bytes_methods.cpp).
char byte_of(Vm& vm, const Value& v);     // ValueError "byte must be in range(0, 256)"
enum class Quoting { Bytes, ByteArray };  // a bytearray's repr escapes every single quote
void add_bytes_repr(TextBuilder& out, std::string_view data, Quoting quoting);
bool byte_string_contains(Vm& vm, const Value& self, const Value& item);
Value byte_string_item(Vm& vm, const Value& self, const Value& key);
Value byte_string_binary(Vm& vm, BinaryOp op, const Value& a, const Value& b, bool reflected);
Value iterate_byte_string(Vm& vm, const Value& self);
// A piece over and over; MemoryError beyond 64 GiB.
std::string repeated_bytes(Vm& vm, std::string_view piece, int64_t count);
// What a constructor makes of source, encoding and errors; `type` names it.
std::string bytes_of_source(Vm& vm, std::span<const Value> given, const std::string& type);
std::string bytes_of_iterable(Vm& vm, const Value& source, const std::string& type);
std::string hex_separator(Vm& vm, const Value& v);  // of one ASCII character, as text or bytes; "" for Undefined
Value hex_text(Vm& vm, std::string_view data, std::string_view separator, int64_t group);
// Raise UnicodeEncodeError, UnicodeDecodeError, or LookupError for an unknown encoding.
std::string encode_text(Vm& vm, const Value& text, std::string_view encoding, std::string_view errors);
std::string decode_bytes(Vm& vm, const Value& bytes, std::string_view encoding, std::string_view errors);

// Layouts with text or items behind them; needed before their types are complete.
void str_destroy(Vm& vm, Object* o);
void tuple_destroy(Vm& vm, Object* o);
Value dir_of(Vm& vm, const Value& v);
std::string address_of(const Object* o);  // as repr() shows it
// What a traceback or generator shows as its frame: the code and the line.
Value make_frame_view(Vm& vm, const Value& code, int64_t line);
Value view_of_frame(Vm& vm, const Frame& frame);  // with its variables, as they are now
// That of the call `depth` calls below the one that runs; ValueError beyond the outermost.
Value frame_at(Vm& vm, int64_t depth);
// What locals() gives in a frame: a new dict of a function's variables, the namespace itself of anything else.
Value locals_of(Vm& vm, const Frame& frame);
void init_frame_view(Vm& vm);
Value make_mapping_proxy(Vm& vm, const Value& mapping,
                         Type* owner = nullptr);  // a view that refuses writing; of a class's own
Value make_generic_alias(Vm& vm, const Value& origin, const Value& parameters);  // list[int]
// int | None: Undefined when one of them cannot stand in a union.
Value make_union(Vm& vm, const Value& left, const Value& right);
// Stable; `key` Undefined or a callable.
void sort_list(Vm& vm, ListObject* list, const Value& key, bool reverse);

// Helpers shared by sequence types.
int64_t sequence_index(Vm& vm, const Value& key, int64_t length, const char* type_name);
Value repeat_count(Vm& vm, const Value& v);
// The slice with its bounds as ints: what resolve_slice makes of it runs no code of the script.
Local<SliceObject> settled_slice(Vm& vm, const SliceObject* slice);
int64_t size_argument(Vm& vm, const Value& v);  // OverflowError beyond 64 bits
// A guard for repr of containers that contain themselves. Another thread must not take the mark for its own.
class ReprGuard {
 public:
  explicit ReprGuard(Object* o) : object_(o), entered_(!(o->flags & kReprGuard)) {
    if (!entered_) return;
    o->flags |= kReprGuard;
    ++o->type->vm->keeps_turn();
  }
  ~ReprGuard() {
    if (!entered_) return;
    object_->flags &= static_cast<uint8_t>(~kReprGuard);
    --object_->type->vm->keeps_turn();
  }
  ReprGuard(const ReprGuard&) = delete;
  bool recursive() const { return !entered_; }

 private:
  Object* object_;
  bool entered_;
};
// "a, b" with reprs.
void add_reprs(Vm& vm, TextBuilder& out, std::span<const Value> items);
bool sequences_compare(Vm& vm, CompareOp op, std::span<const Value> a, std::span<const Value> b);
// %-formatting and str.format.
std::string percent_format(Vm& vm, std::string_view text, const Value& args, bool bytes = false);
std::string str_format(Vm& vm, std::string_view text, Args& args);
// The mini-language for the basic types.
std::string format_int(Vm& vm, int64_t value, std::string_view spec, const char* type_name);
std::string format_float(Vm& vm, double value, std::string_view spec);
std::string format_text(std::string_view text, std::string_view spec);
std::string repr_text(std::string_view text, bool ascii_only);
// A copy of a text of any size.
std::string copy_text(std::string_view text);

}  // namespace tsc::interp
