// _unicode: what unicodedata tells of characters, from the tables of utf8proc and of Debian's unicode-data.
#include <utf8proc.h>

#include <cstdlib>

#include "interpreter/modules/native_modules.h"
#include "interpreter/value/surrogates.h"
#include "lang/character_names.h"
#include "lang/character_properties.h"

namespace tsc::interp {
namespace {

utf8proc_int32_t character(Vm& vm, const Value& v, const char* argument) {
  const auto* text = try_cast<StrObject>(v);
  if (!text || text->length != 1)
    raise_type_error(vm, std::string(argument) + " must be a unicode character, not " + type_name(vm, v));
  size_t offset = 0;
  return static_cast<utf8proc_int32_t>(decode_utf8(text->view(), offset));
}

Value category(Vm& vm, Args& a) {
  const auto c = character(vm, a[0], "category() argument");
  return str_value(vm, utf8proc_category_string(c));
}
Value combining(Vm& vm, Args& a) {
  return Value::integer(utf8proc_get_property(character(vm, a[0], "combining() argument"))->combining_class);
}
Value mirrored(Vm& vm, Args& a) {
  return Value::integer(utf8proc_get_property(character(vm, a[0], "mirrored() argument"))->bidi_mirrored);
}
Value bidirectional(Vm& vm, Args& a) {
  // In the order of utf8proc_bidi_class_t.
  constexpr const char* kNames[] = {"",   "L",  "LRE", "LRO", "R", "AL", "RLE", "RLO", "PDF", "EN",  "ES",  "ET",
                                    "AN", "CS", "NSM", "BN",  "B", "S",  "WS",  "ON",  "LRI", "RLI", "FSI", "PDI"};
  const auto bidi = utf8proc_get_property(character(vm, a[0], "bidirectional() argument"))->bidi_class;
  return str_value(vm, kNames[bidi]);
}

Value normalize(Vm& vm, Args& a) {
  const std::string_view form = text_of(vm, a[0], "normalize() argument 1");
  const std::string_view text = text_of(vm, a[1], "normalize() argument 2");
  constexpr int kCompose = UTF8PROC_STABLE | UTF8PROC_COMPOSE, kDecompose = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
  int options;
  if (form == "NFC") options = kCompose;
  else if (form == "NFKC") options = kCompose | UTF8PROC_COMPAT;
  else if (form == "NFD") options = kDecompose;
  else if (form == "NFKD") options = kDecompose | UTF8PROC_COMPAT;
  else raise_value_error(vm, "invalid normalization form");
  std::string result;
  const auto append = [&](std::string_view piece) {
    utf8proc_uint8_t* made = nullptr;
    const auto length =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(piece.data()),
                     static_cast<utf8proc_ssize_t>(piece.size()), &made, static_cast<utf8proc_option_t>(options));
    if (length < 0) raise_value_error(vm, utf8proc_errmsg(length));
    result.append(reinterpret_cast<const char*>(made), static_cast<size_t>(length));
    std::free(made);
  };
  // U+11A7 stands in front of the last parts of Hangul syllables and is none, which utf8proc does not know: it composes
  // with nothing.
  constexpr std::string_view kNoLastPart = "\xe1\x86\xa7";
  each_half(
      text, [&](uint32_t half) { append_utf8(result, half); },
      [&](std::string_view piece) {
        for (size_t next; (next = piece.find(kNoLastPart)) != std::string_view::npos;) {
          append(piece.substr(0, next));
          result += kNoLastPart;
          piece.remove_prefix(next + kNoLastPart.size());
        }
        append(piece);
      });
  return str_value(vm, result);
}

void need_names(Vm& vm) {
  if (!lang::has_character_names())
    raise(vm, vm.exceptions().NotImplementedError,
          "this build has no names of characters: Debian's package unicode-data was missing");
}

// name(chr): None where it has none.
Value name(Vm& vm, Args& a) {
  const auto c = character(vm, a[0], "name() argument 1");
  need_names(vm);
  const std::string found = lang::name_of_character(static_cast<uint32_t>(c));
  return found.empty() ? Value::none() : str_value(vm, found);
}
Value lookup(Vm& vm, Args& a) {
  const std::string_view wanted = text_of(vm, a[0], "lookup() argument");
  need_names(vm);
  const auto one = lang::character_named(wanted);
  const std::vector<uint32_t> characters = one ? std::vector<uint32_t>{*one} : lang::sequence_named(wanted);
  if (characters.empty()) raise(vm, vm.exceptions().KeyError, "undefined character name '" + std::string(wanted) + "'");
  std::string text;
  for (uint32_t c : characters) append_utf8(text, c);
  return str_value(vm, text);
}

uint32_t character_with_tables(Vm& vm, const Value& v, const char* argument) {
  const auto c = character(vm, v, argument);
  if (!lang::has_character_properties())
    raise(vm, vm.exceptions().NotImplementedError,
          "this build has no tables of characters: Debian's package unicode-data was missing");
  return static_cast<uint32_t>(c);
}
Value decomposition(Vm& vm, Args& a) {
  return str_value(vm, lang::decomposition_of(character_with_tables(vm, a[0], "decomposition() argument")));
}
// CPython 3.11 calls what is not assigned "F".
Value east_asian_width(Vm& vm, Args& a) {
  const uint32_t c = character_with_tables(vm, a[0], "east_asian_width() argument");
  const bool is_assigned = utf8proc_category(static_cast<utf8proc_int32_t>(c)) != UTF8PROC_CATEGORY_CN;
  return str_value(vm, is_assigned ? lang::east_asian_width_of(c) : "F");
}
// digit(chr), numeric(chr): None where there is no value.
Value digit(Vm& vm, Args& a) {
  const auto value = lang::digit_value_of(character_with_tables(vm, a[0], "digit() argument 1"));
  return value ? Value::integer(*value) : Value::none();
}
Value numeric(Vm& vm, Args& a) {
  const auto value = lang::numeric_value_of(character_with_tables(vm, a[0], "numeric() argument 1"));
  return value ? Value::real(*value) : Value::none();
}

}  // namespace

Local<ModuleObject> make_unicode_module(Vm& vm) {
  ModuleBuilder m(vm, "_unicode");
  m.function("category", "chr, /", category);
  m.function("combining", "chr, /", combining);
  m.function("mirrored", "chr, /", mirrored);
  m.function("bidirectional", "chr, /", bidirectional);
  m.function("name", "chr, /", name);
  m.function("lookup", "name, /", lookup);
  m.function("decomposition", "chr, /", decomposition);
  m.function("east_asian_width", "chr, /", east_asian_width);
  m.function("digit", "chr, /", digit);
  m.function("numeric", "chr, /", numeric);
  m.function("normalize", "form, unistr, /", normalize);
  m.value("version", str_value(vm, utf8proc_unicode_version()));
  return m.finish();
}

}  // namespace tsc::interp
