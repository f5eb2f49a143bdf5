// _json: reading and writing JSON text. json.tsc holds the classes and the options.
#include <charconv>
#include <cmath>

#include "interpreter/heap/patience.h"
#include "interpreter/modules/native_modules.h"
#include "interpreter/value/text_builder.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/numbers.h"

namespace tsc::interp {
namespace {

constexpr int kDeepest = 990;

// Hooks of a decoder: None when not asked for.
struct Hooks {
  Value object, pairs, real, integer, constant;
  bool strict = true;
};

class Reader {
 public:
  Reader(Vm& vm, const Value& source, const Hooks& hooks)
      : vm_(vm), source_(source), text_(cast<StrObject>(source)->view()), hooks_(hooks) {}

  Value value() {
    vm_.hear_stop();
    if (++depth_ > kDeepest)
      raise(vm_, vm_.exceptions().RecursionError, "maximum recursion depth exceeded while decoding a JSON document");
    Value v = value_here();
    --depth_;
    return v;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  size_t place() const { return at_; }
  void set_place(size_t at) { at_ = at; }
  size_t size() const { return text_.size(); }
  [[noreturn]] void fail(const char* message, size_t at) {
    bool ascii;
    int64_t position = count_code_points(text_.substr(0, at), ascii);
    Value module = dict_get(vm_, vm_.modules(), "json.decoder");
    Value type = get_attribute(vm_, module, "JSONDecodeError");
    Value made = call(vm_, type, {str_value(vm_, message), source_, Value::integer(position)});
    throw ScriptException(Local<ExceptionObject>(cast<ExceptionObject>(made)));
  }

 private:
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  Value value_here() {
    if (at_ >= text_.size()) fail("Expecting value", at_);
    // clang-format off
    switch (text_[at_]) {
      case '"': return string();
      case '{': return object();
      case '[': return array();
      case 't': if (take("true")) return Value::boolean(true); break;
      case 'f': if (take("false")) return Value::boolean(false); break;
      case 'n': if (take("null")) return Value::none(); break;
      case 'N': if (take("NaN")) return constant("NaN", NAN); break;
      case 'I': if (take("Infinity")) return constant("Infinity", INFINITY); break;
      case '-': if (take("-Infinity")) return constant("-Infinity", -INFINITY); return number();
      default: if (text_[at_] >= '0' && text_[at_] <= '9') return number();
    }
    // clang-format on
    fail("Expecting value", at_);
  }
  Value constant(const char* name, double value) {
    return hooks_.constant.is_none() ? Value::real(value) : call(vm_, hooks_.constant, {str_value(vm_, name)});
  }
  bool digit(size_t at) const { return at < text_.size() && text_[at] >= '0' && text_[at] <= '9'; }
  Value number() {
    size_t begin = at_, end = at_;
    if (text_[end] == '-') ++end;
    if (!digit(end)) fail("Expecting value", begin);
    if (text_[end] == '0') ++end;
    else
      while (digit(end)) ++end;
    bool real = false;
    if (end < text_.size() && text_[end] == '.' && digit(end + 1)) {
      real = true;
      for (++end; digit(end);) ++end;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t e = end + 1;
      if (e < text_.size() && (text_[e] == '+' || text_[e] == '-')) ++e;
      if (digit(e)) {
        real = true;
        while (digit(e)) ++e;
        end = e;
      }
    }
    at_ = end;
    std::string_view digits = text_.substr(begin, end - begin);
    const Value& hook = real ? hooks_.real : hooks_.integer;
    if (!hook.is_none()) return call(vm_, hook, {str_value(vm_, digits)});
    return real ? Value::real(to_real(digits)) : to_integer(digits);
  }
  double to_real(std::string_view digits) {
    double value = 0;
    auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);
    return value;
  }
  Value to_integer(std::string_view digits) {
    int64_t value = 0;
    auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (result.ec == std::errc()) return Value::integer(value);
    const bool negative = digits[0] == '-';
    return int_of_digits(vm_, digits.substr(negative), 10, negative);
  }

  uint32_t four_digits(size_t at) {
    uint32_t value = 0;
    if (at + 4 >= text_.size()) fail("Invalid \\uXXXX escape", at - 1);
    for (size_t i = at; i < at + 4; ++i) {
      const char c = text_[i];
      int digit = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
      if (digit < 0) fail("Invalid \\uXXXX escape", at - 1);
      value = value * 16 + static_cast<uint32_t>(digit);
    }
    return value;
  }
  void escape(std::string& out) {
    char c = at_ < text_.size() ? text_[at_] : '\0';
    static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    size_t known = kFrom.find(c);
    if (c && known != std::string_view::npos) {
      out += kTo[known];
      ++at_;
      return;
    }
    if (c != 'u') fail("Invalid \\escape", at_ - 1);
    uint32_t unit = four_digits(at_ + 1);
    at_ += 5;
    if (unit >= 0xd800 && unit < 0xdc00 && at_ + 6 < text_.size() && text_.substr(at_, 2) == "\\u") {
      uint32_t low = four_digits(at_ + 2);
      if (low >= 0xdc00 && low < 0xe000) {
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
        at_ += 6;
      }
    }
    append_utf8(out, unit);
  }
  Value string() {
    size_t begin = at_++;
    std::string out;
    for (;;) {
      size_t run = at_;
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' && static_cast<uint8_t>(text_[at_]) >= 32)
        patience_.step(), ++at_;
      if (at_ >= text_.size()) fail("Unterminated string starting at", begin);
      std::string_view plain = text_.substr(run, at_ - run);
      char c = text_[at_++];
      if (c == '"' && out.empty()) return str_value(vm_, plain);
      out += plain;
      if (c == '"') return str_value(vm_, out);
      if (c == '\\') escape(out);
      else if (hooks_.strict) fail("Invalid control character at", at_ - 1);
      else out += c;
    }
  }
  Value array() {
    Local<ListObject> list = make_list(vm_);
    ++at_;
    skip_space();
    if (at_ < text_.size() && text_[at_] == ']') return ++at_, list.take();
    for (;;) {
      list->items.push_back(value());
      skip_space();
      if (at_ < text_.size() && text_[at_] == ']') return ++at_, list.take();
      if (at_ >= text_.size() || text_[at_] != ',') fail("Expecting ',' delimiter", at_);
      ++at_;
      skip_space();
    }
  }
  Value object() {
    bool as_pairs = !hooks_.pairs.is_none();
    Local<DictObject> dict = make_dict(vm_);
    Local<ListObject> pairs = make_list(vm_);
    ++at_;
    skip_space();
    while (at_ >= text_.size() || text_[at_] != '}') {
      if (at_ >= text_.size() || text_[at_] != '"') fail("Expecting property name enclosed in double quotes", at_);
      Value key = string();
      skip_space();
      if (at_ >= text_.size() || text_[at_] != ':') fail("Expecting ':' delimiter", at_);
      ++at_;
      skip_space();
      Value item = value();
      if (as_pairs) pairs->items.push_back(make_tuple(vm_, std::vector<Value>{key, item}).take());
      else dict_set(vm_, dict, key, item);
      skip_space();
      if (at_ < text_.size() && text_[at_] == '}') break;
      if (at_ >= text_.size() || text_[at_] != ',') fail("Expecting ',' delimiter", at_);
      ++at_;
      skip_space();
      if (at_ < text_.size() && text_[at_] == '}') fail("Expecting property name enclosed in double quotes", at_);
    }
    ++at_;
    if (as_pairs) return call(vm_, hooks_.pairs, {pairs.value()});
    return hooks_.object.is_none() ? dict.take() : call(vm_, hooks_.object, {dict.value()});
  }

  Vm& vm_;
  const Value& source_;
  std::string_view text_;
  const Hooks& hooks_;
  size_t at_ = 0;
  int depth_ = 0;
  Patience patience_;
};

// decode(text, object_hook, pairs_hook, parse_float, parse_int, parse_constant, strict, start):
// (value, end); start < 0: the whole text, and nothing but space behind the value.
Value decode(Vm& vm, Args& a) {
  text_of(vm, a[0], "the JSON object");
  Hooks hooks{a[1], a[2], a[3], a[4], a[5], truth(vm, a[6])};
  Value source = a[0];
  Reader reader(vm, source, hooks);
  StrObject* text = cast<StrObject>(source);
  int64_t start = to_index(vm, a[7]);
  if (start >= 0) {
    reader.set_place(byte_offset(text, std::min(start, text->length)));
  } else {
    reader.skip_space();
  }
  Value value = reader.value();
  bool ascii;
  if (start < 0) {
    reader.skip_space();
    if (reader.place() != reader.size()) reader.fail("Extra data", reader.place());
    return value;
  }
  int64_t end = count_code_points(text->view().substr(0, reader.place()), ascii);
  return make_tuple(vm, std::vector<Value>{value, Value::integer(end)}).take();
}

// --- writing ----------------------------------------------------------------------------------------

struct Writer {
  explicit Writer(Vm& v) : vm(v), out(v) {}
  Vm& vm;
  std::string item_separator, key_separator, indent;
  bool pretty = false, ascii = true, sort_keys = false, skip_keys = false, allow_nan = true, check_circular = true;
  Value fallback;  // called for what JSON has no form for
  TextBuilder out;
  Patience patience;
  std::vector<Object*> open;  // being written, those that the fallback stands for among them
  size_t level = 0;           // of brackets

  void string(std::string_view text) {
    static constexpr char kHex[] = "0123456789abcdef";
    auto unit = [&](uint32_t u) {
      out += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(u >> shift) & 15];
    };
    out += '"';
    for (size_t at = 0; at < text.size();) {
      patience.step();
      uint8_t c = static_cast<uint8_t>(text[at]);
      static constexpr std::string_view kFrom = "\"\\\b\f\n\r\t", kTo = "\"\\bfnrt";
      size_t known = kFrom.find(static_cast<char>(c));
      if (known != std::string_view::npos) {
        out += '\\';
        out += kTo[known];
        ++at;
      } else if (c < 32 || (c == 127 && ascii)) {
        unit(c);
        ++at;
      } else if (c < 128 || !ascii) {
        out += static_cast<char>(c);
        ++at;
      } else {
        uint32_t point = decode_utf8(text, at);
        if (point < 0x10000) unit(point);
        else unit(0xd800 + ((point - 0x10000) >> 10)), unit(0xdc00 + ((point - 0x10000) & 0x3ff));
      }
    }
    out += '"';
  }
  std::string real(double d) {
    if (std::isfinite(d)) return float_repr(d);
    if (!allow_nan) raise_value_error(vm, "Out of range float values are not JSON compliant");
    return std::isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity";
  }
  void new_line(size_t levels) {
    if (!pretty) return;
    out += '\n';
    for (size_t i = 0; i < levels; ++i) out += indent;
  }
  void enter(Object* object) {
    vm.check_native_stack();
    if (check_circular)
      for (Object* o : open)
        if (o == object) raise_value_error(vm, "Circular reference detected");
    if (open.size() > static_cast<size_t>(kDeepest))
      raise(vm, vm.exceptions().RecursionError, "maximum recursion depth exceeded while encoding a JSON object");
    open.push_back(object);
  }
  // The key as JSON text; false: it is left out.
  bool key_text(const Value& key, std::string& text) {
    if (auto* s = try_cast<StrObject>(key)) text = std::string(s->view());
    else if (key.is_none()) text = "null";
    else if (key.is_bool()) text = key.as_bool() ? "true" : "false";
    else if (key.is_int() || is_big(key)) text = repr(vm, key);
    else if (key.is_float()) text = real(key.as_float());
    else if (is_kind(key, Kind::BoxedNumber))
      text = is_instance(vm, key, vm.types().real) ? real(to_double(vm, key)) : repr(vm, whole_of(vm, key));
    else if (skip_keys) return false;
    else raise_type_error(vm, "keys must be str, int, float, bool or None, not " + type_name(vm, key));
    return true;
  }
  void dict(const Value& v) {
    enter(v.object());
    ++level;
    Local<ListObject> items = to_list(vm, call_method(vm, v, "items"));
    if (sort_keys) call_method(vm, items.value(), "sort");
    bool first = true;
    out += '{';
    for (const Value& item : items->items) {
      Local<TupleObject> pair = to_tuple(vm, item);
      std::string key;
      if (!key_text(pair->items[0], key)) continue;
      if (!first) out += item_separator;
      first = false;
      new_line(level);
      string(key);
      out += key_separator;
      value(pair->items[1]);
    }
    open.pop_back();
    --level;
    if (!first) new_line(level);
    out += '}';
  }
  void sequence(const Value& v) {
    enter(v.object());
    ++level;
    const Local<ListObject> list = is_kind(v, Kind::List) ? Local<ListObject>(cast<ListObject>(v)) : to_list(vm, v);
    out += '[';
    size_t i = 0;
    for (; i < list->items.size(); ++i) {
      if (i) out += item_separator;
      new_line(level);
      const Value item = list->items[i];  // `default` may change the very list
      value(item);
    }
    open.pop_back();
    --level;
    if (i) new_line(level);
    out += ']';
  }
  void value(const Value& v) {
    patience.step(8);
    if (v.is_none()) out += "null";
    else if (v.is_bool()) out += v.as_bool() ? "true" : "false";
    else if (v.is_int()) out += std::to_string(v.as_int());
    else if (v.is_float()) out += real(v.as_float());
    else if (is_big(v)) out += repr(vm, v);
    else if (auto* s = try_cast<StrObject>(v)) string(s->view());
    else if (is_kind(v, Kind::List) || is_kind(v, Kind::Tuple)) sequence(v);
    else if (is_kind(v, Kind::Dict)) dict(v);
    else if (is_kind(v, Kind::BoxedNumber))
      out += is_instance(vm, v, vm.types().real) ? real(to_double(vm, v)) : repr(vm, whole_of(vm, v));
    else {
      enter(v.object());
      value(call(vm, fallback, {v}));
      open.pop_back();
    }
  }
};

// encode(value, indent, item_separator, key_separator, ascii, sort_keys, skip_keys, allow_nan,
// check_circular, default)
Value encode(Vm& vm, Args& a) {
  Writer w(vm);
  w.pretty = !a[1].is_none();
  if (is_kind(a[1], Kind::Str)) w.indent = std::string(cast<StrObject>(a[1])->view());
  else if (w.pretty) w.indent = std::string(static_cast<size_t>(std::max<int64_t>(0, to_index(vm, a[1]))), ' ');
  w.item_separator = std::string(text_of(vm, a[2], "separator"));
  w.key_separator = std::string(text_of(vm, a[3], "separator"));
  w.ascii = truth(vm, a[4]);
  w.sort_keys = truth(vm, a[5]);
  w.skip_keys = truth(vm, a[6]);
  w.allow_nan = truth(vm, a[7]);
  w.check_circular = truth(vm, a[8]);
  w.fallback = a[9];
  w.value(a[0]);
  return w.out.str();
}

}  // namespace

Local<ModuleObject> make_json_module(Vm& vm) {
  ModuleBuilder m(vm, "_json");
  m.function("decode", "text, object_hook, pairs_hook, parse_float, parse_int, parse_constant, strict, start", decode)
      .function("encode",
                "value, indent, item_separator, key_separator, ascii, sort_keys, skip_keys, "
                "allow_nan, check_circular, default",
                encode);
  return m.finish();
}

}  // namespace tsc::interp
