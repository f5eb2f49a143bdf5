// str.format and %-formatting.
#include <charconv>
#include <cmath>
#include <limits>

#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/value/buffer.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {
namespace {

// --- str.format -----------------------------------------------------------------------------------------

struct Formatter {
  Vm& vm;
  Args& args;
  int64_t next = 0;
  bool manual = false;
  int depth = 0;
  Value mapping;  // of format_map: where names are looked up

  Value by_name(std::string_view name) {
    bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
    if (mapping) {
      if (name.empty() || number) raise_value_error(vm, "Format string contains positional fields");
      return get_item(vm, mapping, str_value(vm, name));
    }
    if (name.empty() || number) {
      if (name.empty() ? manual : next > 0)
        raise_value_error(vm, name.empty() ? "cannot switch from manual field specification to "
                                             "automatic field numbering"
                                           : "cannot switch from automatic field numbering to "
                                             "manual field specification");
      int64_t i = name.empty() ? next++ : 0;
      if (!name.empty() && std::from_chars(name.data(), name.data() + name.size(), i).ec != std::errc())
        raise_value_error(vm, "Too many decimal digits in format string");
      if (!name.empty()) manual = true;
      if (i + 1 >= args.count)
        raise_index_error(vm, "Replacement index " + std::to_string(i) + " out of range for positional args tuple");
      return args[static_cast<size_t>(i) + 1];
    }
    for (uint32_t k = 0; k < args.keyword_count; ++k)
      if (args.keyword_names[k]->view() == name) return args.keyword_values[k];
    raise_key_error(vm, str_value(vm, name));
  }

  // name.attribute[key]...
  Value field(std::string_view text) {
    size_t end = std::min(text.find_first_of(".["), text.size());
    Value v = by_name(text.substr(0, end));
    while (end < text.size()) {
      if (text[end] == '.') {
        size_t stop = std::min(text.find_first_of(".[", end + 1), text.size());
        if (stop == end + 1) raise_value_error(vm, "Empty attribute in format string");
        v = get_attribute(vm, v, text.substr(end + 1, stop - end - 1));
        end = stop;
      } else {
        size_t stop = text.find(']', end);
        if (stop == std::string_view::npos) raise_value_error(vm, "expected '}' before end of string");
        std::string key(text.substr(end + 1, stop - end - 1));
        if (key.empty()) raise_value_error(vm, "Empty attribute in format string");
        bool number = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
        v = get_item(vm, v, number ? Value::integer(std::stoll(key.substr(0, 18))) : str_value(vm, key));
        end = stop + 1;
      }
    }
    return v;
  }

  // The text of one {...}, without the braces.
  std::string replacement(std::string_view text) {
    size_t colon = std::string_view::npos;
    int brackets = 0;
    for (size_t i = 0; i < text.size() && colon == std::string_view::npos; ++i) {
      if (text[i] == '[') ++brackets;
      if (text[i] == ']') --brackets;
      if (text[i] == ':' && brackets <= 0) colon = i;
    }
    std::string_view name = text.substr(0, colon);
    char conversion = 0;
    if (size_t bang = name.find('!'); bang != std::string_view::npos) {
      // The brace is the conversion then, and nothing closes the field.
      if (bang + 1 == name.size()) raise_value_error(vm, "unmatched '{' in format spec");
      if (bang + 2 != name.size()) raise_value_error(vm, "expected ':' after conversion specifier");
      conversion = name[bang + 1];
      name = name.substr(0, bang);
    }
    Value v = field(name);
    std::string spec;
    if (colon != std::string_view::npos) {
      spec = text.substr(colon + 1);
      if (spec.find_first_of("{}") != std::string::npos) spec = run(spec);
    }
    if (conversion == 'r') v = str_value(vm, repr(vm, v));
    else if (conversion == 's') v = str_value(vm, to_string(vm, v));
    else if (conversion == 'a') v = str_value(vm, ascii(vm, v));
    else if (conversion) raise_value_error(vm, std::string("Unknown conversion specifier ") + conversion);
    return format(vm, v, spec);
  }

  [[noreturn]] void unclosed(std::string_view field) {
    const size_t sign = field.find_first_of(":!");
    raise_value_error(vm, field.empty()                    ? "Single '{' encountered in format string"
                          : sign == std::string_view::npos ? "expected '}' before end of string"
                          : field[sign] == '!' && sign + 1 == field.size()
                              ? "end of string while looking for conversion specifier"
                              : "unmatched '{' in format spec");
  }

  std::string run(std::string_view text) {
    if (++depth > 2) raise_value_error(vm, "Max string recursion exceeded");
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c != '{' && c != '}') {
        out += c;
        continue;
      }
      if (i + 1 < text.size() && text[i + 1] == c && depth == 1) {
        out += c;
        ++i;
        continue;
      }
      if (c == '}') raise_value_error(vm, "Single '}' encountered in format string");
      int open = 1;
      size_t end = i + 1;
      for (; end < text.size() && open; ++end) open += text[end] == '{' ? 1 : text[end] == '}' ? -1 : 0;
      if (open) unclosed(text.substr(i + 1));
      out += replacement(text.substr(i + 1, end - i - 2));
      i = end - 1;
    }
    --depth;
    return out;
  }
};

Value format_method(Vm& vm, Args& a) {
  Formatter formatter{vm, a, 0, false, 0, {}};
  return str_value(vm, formatter.run(cast<StrObject>(a[0])->view()));
}

Value format_map(Vm& vm, Args& a) {
  Formatter formatter{vm, a, 0, false, 0, a[1]};
  return str_value(vm, formatter.run(cast<StrObject>(a[0])->view()));
}

// --- % ------------------------------------------------------------------------------------------------------

// What pads a field. The widest one is as long as the longest text.
std::string filler(int64_t count, char c) {
  constexpr int64_t kMost = int64_t{1} << 38;
  if (count > kMost) throw std::bad_alloc();
  check_text_room(2 * static_cast<size_t>(count));
  std::string out;
  out.reserve(static_cast<size_t>(count));
  in_pieces(static_cast<size_t>(count), [&](size_t begin, size_t end) { out.append(end - begin, c); });
  return out;
}

struct PercentFormatter {
  PercentFormatter(Vm& v, std::string_view t, const Value& a, bool b) : vm(v), text(t), argument(a), bytes(b) {}
  Vm& vm;
  std::string_view text;
  const Value& argument;
  bool bytes;  // b"..." % values
  size_t i = 0;
  uint32_t used = 0;
  std::string out;

  Value take() {
    if (auto* tuple = try_cast<TupleObject>(argument)) {
      if (used >= tuple->size) raise_type_error(vm, "not enough arguments for format string");
      return tuple->items[used++];
    }
    if (used++) raise_type_error(vm, "not enough arguments for format string");
    return argument;
  }

  Value by_key() {
    if (!type_of(vm, argument)->slots.get_item || is_kind(argument, Kind::Tuple) || is_kind(argument, Kind::Str))
      raise_type_error(vm, "format requires a mapping");
    size_t end = i + 1;  // of the bracket that closes the key, which may hold pairs of them
    for (size_t open = 1; end < text.size(); ++end) {
      if (text[end] == '(') ++open;
      if (text[end] == ')' && --open == 0) break;
    }
    if (end == text.size()) raise_value_error(vm, "incomplete format key");
    std::string_view key = text.substr(i + 1, end - i - 1);
    i = end + 1;
    used = 1;
    return get_item(vm, argument, bytes ? make_bytes(vm, std::string(key)).value() : str_value(vm, key));
  }

  int64_t number_or_star() {
    if (i < text.size() && text[i] == '*') {
      ++i;
      Value star = take();
      if (is_big(star)) raise(vm, vm.exceptions().OverflowError, "Python int too large to convert to C ssize_t");
      if (!is_integer_like(star)) raise_type_error(vm, "* wants int");
      return star.as_int();
    }
    int64_t n = 0;
    while (i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) && n < 1000000)
      n = n * 10 + (text[i++] - '0');
    return n;
  }

  void directive() {
    if (i < text.size() && text[i] == '%') {
      out += text[i++];
      return;
    }
    Value v;
    bool keyed = i < text.size() && text[i] == '(';
    if (keyed) v = by_key();
    std::string flags;
    while (i < text.size() && std::string_view("-+ #0").find(text[i]) != std::string_view::npos) flags += text[i++];
    int64_t width = number_or_star();
    if (width < 0) flags += '-', width = -width;
    int64_t precision = -1;
    if (i < text.size() && text[i] == '.') {
      ++i;
      precision = std::max<int64_t>(0, number_or_star());
      if (precision > std::numeric_limits<int32_t>::max()) raise_too_large(vm, "C int");
    }
    while (i < text.size() && (text[i] == 'l' || text[i] == 'h' || text[i] == 'L')) ++i;
    if (i >= text.size()) raise_value_error(vm, "incomplete format");
    char kind = text[i++];
    if (!keyed) v = take();
    convert(kind, v, flags, width, precision);
  }

  // %s, %b and %c of bytes take bytes as they are.
  void convert_bytes(char kind, const Value& v, bool left, int64_t width, int64_t precision) {
    std::string body;
    if (kind == 'c' && type_of(vm, v)->slots.to_index) {
      const Value whole = whole_of(vm, v);
      if (is_big(whole) || whole.as_int() < 0 || whole.as_int() > 255)
        raise(vm, vm.exceptions().OverflowError, "%c arg not in range(256)");
      body = std::string(1, static_cast<char>(whole.as_int()));
    } else if (kind == 'c' ? is_byte_string(v) && byte_string(v).size() == 1 : Buffer::is_bytes_like(v))
      body = copied_bytes(vm, v);
    else if (kind != 'c' && lookup_in_type(type_of(vm, v), intern(vm, "__bytes__")))
      body = cast<BytesObject>(call(vm, Value(vm.types().bytes), {v}))->data;
    else
      raise_type_error(vm, kind == 'c' ? "%c requires an integer in range(256) or a single byte"
                                       : "%b requires a bytes-like object, or an object that implements "
                                         "__bytes__, not '" +
                                             type_name(vm, v) + "'");
    if (precision >= 0 && kind != 'c') body.resize(std::min(body.size(), static_cast<size_t>(precision)));
    std::string padding = filler(std::max<int64_t>(0, width - static_cast<int64_t>(body.size())), ' ');
    out += left ? body + padding : padding + body;
  }

  std::string character(const Value& v) {
    std::string point;
    if (is_kind(v, Kind::Str)) {
      if (cast<StrObject>(v)->length != 1) raise_type_error(vm, "%c requires int or char");
      return std::string(text_of(vm, v, "%c argument"));
    }
    if (!type_of(vm, v)->slots.to_index) raise_type_error(vm, "%c requires int or char");
    const Value whole = whole_of(vm, v);
    const int64_t n = is_big(whole) ? -1 : whole.as_int();
    if (n < 0 || n > 0x10FFFF) raise(vm, vm.exceptions().OverflowError, "%c arg not in range(0x110000)");
    append_utf8(point, static_cast<uint32_t>(n));
    return point;
  }

  void convert(char kind, const Value& v, const std::string& flags, int64_t width, int64_t precision) {
    if (bytes && (kind == 's' || kind == 'b' || kind == 'c'))
      return convert_bytes(kind, v, flags.find('-') != std::string::npos, width, precision);
    auto has = [&](char c) { return flags.find(c) != std::string::npos; };
    bool textual = kind == 's' || kind == 'r' || kind == 'a' || kind == 'c';
    std::string spec(1, has('-') ? '<' : has('0') && !textual ? '=' : '>');
    if (has('0') && !has('-') && !textual) spec = "0" + spec;
    if (!textual) spec += has('+') ? "+" : has(' ') ? " " : "";
    if (!textual && has('#')) spec += "#";
    if (width) spec += std::to_string(width);
    switch (kind) {
      case 's':
      case 'r':
      case 'a': {
        if (precision >= 0) spec += "." + std::to_string(precision);
        std::string body = kind == 's' ? to_string(vm, v) : kind == 'r' && !bytes ? repr(vm, v) : ascii(vm, v);
        out += format_text(body, spec);
        return;
      }
      case 'c': out += format_text(character(v), spec); return;
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o': return integer(kind, v, flags, width, precision);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': {
        if (!is_number(v) && !type_of(vm, v)->slots.to_float)
          raise_type_error(vm,
                           (bytes ? "float argument required, not " : "must be real number, not ") + type_name(vm, v));
        out += format_float(vm, to_double(vm, v), spec + "." + std::to_string(precision < 0 ? 6 : precision) + kind);
        return;
      }
    }
    char code[8];
    std::snprintf(code, sizeof code, "0x%x", static_cast<unsigned char>(kind));
    raise_value_error(vm, std::string("unsupported format character '") + kind + "' (" + code + ") at index " +
                              std::to_string(i - 1));
  }

  void integer(char kind, const Value& v, const std::string& flags, int64_t width, int64_t precision) {
    Value n;
    bool decimal = kind == 'd' || kind == 'i' || kind == 'u';
    const TypeSlots& slots = type_of(vm, v)->slots;
    const bool derived = type_of(vm, v)->is_subtype_of(vm.types().integer);
    if (decimal && slots.to_int && !derived) n = slots.to_int(vm, v);
    else if (slots.to_index) n = whole_of(vm, v);
    else
      raise_type_error(vm, std::string("%") + kind + " format: " + (decimal ? "a real number" : "an integer") +
                               " is required, not " + type_name(vm, v));
    auto has = [&](char c) { return flags.find(c) != std::string::npos; };
    const std::string shown(1, decimal ? 'd' : kind);
    std::string head, digits = is_big(n) ? format_big(vm, n, shown) : format_int(vm, n.as_int(), shown, "int");
    if (digits[0] == '-') digits.erase(0, 1), head = "-";
    else if (has('+') || has(' ')) head = has('+') ? "+" : " ";
    if (has('#') && !decimal) head += std::string("0") + kind;
    auto missing = [&](int64_t size) { return std::max<int64_t>(0, size - static_cast<int64_t>(digits.size())); };
    if (missing(precision)) digits = filler(missing(precision), '0') + digits;
    const int64_t room = width - static_cast<int64_t>(head.size());
    if (has('-')) out += head + digits + filler(missing(room), ' ');
    else if (has('0')) out += head + filler(missing(room), '0') + digits;
    else out += filler(missing(room), ' ') + head + digits;
  }

  std::string run() {
    while (i < text.size()) {
      size_t percent = std::min(text.find('%', i), text.size());
      out += text.substr(i, percent - i);
      i = percent;
      if (i >= text.size()) break;
      ++i;
      directive();
    }
    bool all = !is_kind(argument, Kind::Tuple) ? used > 0 || type_of(vm, argument)->slots.get_item
                                               : used >= cast<TupleObject>(argument)->size;
    if ((is_kind(argument, Kind::Str) || (bytes && is_byte_string(argument))) && used == 0) all = false;
    if (!all)
      raise_type_error(
          vm, std::string("not all arguments converted during ") + (bytes ? "bytes" : "string") + " formatting");
    return out;
  }
};

}  // namespace

std::string percent_format(Vm& vm, std::string_view text, const Value& argument, bool bytes) {
  try {
    return PercentFormatter(vm, text, argument, bytes).run();
  } catch (const Error&) {
    rethrow_as_script_exception(vm);
  }
}

void add_str_format_methods(TypeBuilder& type) {
  type.raw_method("format", format_method).method("format_map", "self, mapping, /", format_map);
}

}  // namespace tsc::interp
