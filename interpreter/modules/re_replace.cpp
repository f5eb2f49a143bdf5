// re: replacement templates, sub, split, findall.
#include "interpreter/modules/re_objects.h"
#include "interpreter/value/buffer.h"

namespace tsc::interp {
namespace {

// Reads a replacement such as r"\1-\g<name>\n". Positions in messages are code points.
class TemplateReader {
 public:
  TemplateReader(Vm& vm, const PatternObject* pattern, const Value& source, std::string_view text)
      : vm_(vm), pattern_(pattern), source_(source), text_(text) {}

  std::vector<TemplatePart> read() {
    while (at_ < text_.size()) {
      char c = text_[at_++];
      if (c != '\\') literal_ += c;
      else escape(at_ - 1);
    }
    flush();
    return std::move(parts_);
  }

 private:
  [[noreturn]] void fail(const std::string& message, size_t at) {
    bool ascii;
    raise_pattern_error(vm_, {message, count_code_points(text_.substr(0, at), ascii)}, source_);
  }
  void flush() {
    if (literal_.empty()) return;
    parts_.push_back({std::move(literal_), -1});
    literal_.clear();
  }
  void add_group(uint32_t number, size_t at) {
    if (number > pattern_->program->groups) fail("invalid group reference " + std::to_string(number), at);
    flush();
    parts_.push_back({"", number});
  }
  void named(size_t start) {
    if (at_ >= text_.size() || text_[at_] != '<') fail("missing <", at_);
    size_t begin = ++at_;
    size_t end = text_.find('>', begin);
    if (end == std::string_view::npos)
      fail(begin == text_.size() ? "missing group name" : "missing >, unterminated name", begin);
    std::string name(text_.substr(begin, end - begin));
    at_ = end + 1;
    (void)start;
    if (name.empty()) fail("missing group name", begin);
    if (name.find_first_not_of("0123456789") == std::string::npos)
      return add_group(static_cast<uint32_t>(std::min(std::stoul(name.substr(0, 9)), 1000000ul)), begin);
    auto known = pattern_->program->names.find(name);
    if (known == pattern_->program->names.end()) {
      bool identifier = regex::is_word(static_cast<uint8_t>(name[0]), true) &&
                        name.find_first_of(" -+*/.,;:!?()[]{}") == std::string::npos;
      if (!identifier) fail("bad character in group name '" + name + "'", begin);
      raise_index_error(vm_, "unknown group name '" + name + "'");
    }
    add_group(known->second, begin);
  }
  bool octal_digit(size_t at) const { return at < text_.size() && text_[at] >= '0' && text_[at] <= '7'; }
  void number(char first, size_t start) {
    uint32_t value = static_cast<uint32_t>(first - '0');
    if (first == '0' || (octal_digit(start + 1) && octal_digit(at_) && octal_digit(at_ + 1))) {
      for (int i = 0; i < 2 && octal_digit(at_); ++i) value = value * 8 + static_cast<uint32_t>(text_[at_++] - '0');
      if (value > 0377)
        fail("octal escape value " + std::string(text_.substr(start, at_ - start)) + " outside of range 0-0o377",
             start);
      append_utf8(literal_, value);
      return;
    }
    if (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9')
      value = value * 10 + static_cast<uint32_t>(text_[at_++] - '0');
    add_group(value, start + 1);
  }
  void escape(size_t start) {
    if (at_ >= text_.size()) fail("bad escape (end of pattern)", start);
    char c = text_[at_++];
    if (c == 'g') return named(start);
    if (c >= '0' && c <= '9') return number(c, start);
    static constexpr std::string_view kLetters = "abfnrtv\\", kUnits = "\a\b\f\n\r\t\v\\";
    size_t known = kLetters.find(c);
    if (known != std::string_view::npos) {
      literal_ += kUnits[known];
      return;
    }
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) fail(std::string("bad escape \\") + c, start);
    literal_ += '\\';
    literal_ += c;
  }

  Vm& vm_;
  const PatternObject* pattern_;
  const Value& source_;
  std::string_view text_;
  size_t at_ = 0;
  std::string literal_;
  std::vector<TemplatePart> parts_;
};

void append_expanded(TextBuilder& out, const MatchObject* match, const std::vector<TemplatePart>& parts) {
  for (const TemplatePart& part : parts) {
    if (part.group < 0) {
      out += part.text;
      continue;
    }
    uint32_t group = static_cast<uint32_t>(part.group);
    if (match->begin(group) >= 0) match->text->append(out, match->begin(group), match->end(group));
  }
}
Value text_like(const RegexText& text, TextBuilder& data) { return text.bytes ? data.bytes() : data.str(); }
std::string raw_text(Vm& vm, const PatternObject* pattern, const Value& v) {
  if (pattern->bytes) {
    return copied_bytes(vm, v);
  }
  if (!is_kind(v, Kind::Str)) raise_type_error(vm, "expected str instance, " + type_name(vm, v) + " found");
  return std::string(cast<StrObject>(v)->view());
}

// Calls f for the matches one after the other; f returns false to stop.
template <class F>
void each_match(Vm& vm, PatternObject* pattern, const std::shared_ptr<const RegexText>& text, int64_t start,
                int64_t end, F f) {
  int64_t at = start, not_empty_at = -1;
  while (at <= end) {
    Local<MatchObject> match = find_match(vm, pattern, text, at, end, regex::Mode::Search, not_empty_at);
    if (!match || !f(match)) return;
    at = match->end(0);
    not_empty_at = match->begin(0) == at ? at : -1;
  }
}

}  // namespace

std::vector<TemplatePart> parse_template(Vm& vm, const PatternObject* pattern, const Value& text) {
  const std::string raw = raw_text(vm, pattern, text);
  if (raw.find('\\') == std::string::npos) return {{raw, -1}};
  return TemplateReader(vm, pattern, text, raw).read();
}

Value expand_template(Vm& vm, const MatchObject* match, const std::vector<TemplatePart>& parts) {
  TextBuilder out(vm);
  append_expanded(out, match, parts);
  return text_like(*match->text, out);
}

std::pair<Value, int64_t> substitute(Vm& vm, PatternObject* pattern, const Value& replacement, const Value& value,
                                     int64_t limit) {
  auto text = make_text(vm, pattern, value);
  bool is_text = is_kind(replacement, Kind::Str) || Buffer::is_bytes_like(replacement);
  std::vector<TemplatePart> parts;
  if (!is_text && !truth(vm, call(vm, dict_get(vm, vm.builtins()->globals, "callable"), {replacement})))
    raise_type_error(vm, "decoding to str: need a bytes-like object, " + type_name(vm, replacement) + " found");
  if (is_text) parts = parse_template(vm, pattern, replacement);
  TextBuilder out(vm);
  int64_t count = 0, copied = 0;
  each_match(vm, pattern, text, 0, text->subject.length, [&](MatchObject* match) {
    text->append(out, copied, match->begin(0));
    copied = match->end(0);
    ++count;
    if (is_text) {
      append_expanded(out, match, parts);
    } else {
      Value made = call(vm, replacement, {Value(match)});
      if (!made.is_none()) out += raw_text(vm, pattern, made);
    }
    return count != limit;
  });
  if (!count && (value.object()->type == vm.types().str || text->bytes)) return {text->bytes ? text->copy : value, 0};
  text->append(out, copied, text->subject.length);
  return {text_like(*text, out), count};
}

Value split_text(Vm& vm, PatternObject* pattern, const Value& value, int64_t limit) {
  auto text = make_text(vm, pattern, value);
  Local<ListObject> list = make_list(vm);
  int64_t last = 0, count = 0;
  each_match(vm, pattern, text, 0, text->subject.length, [&](MatchObject* match) {
    list->items.push_back(text->piece(vm, last, match->begin(0)));
    for (uint32_t g = 1; g <= pattern->program->groups; ++g)
      list->items.push_back(group_value(vm, match, g, Value::none()));
    last = match->end(0);
    return ++count != limit;
  });
  list->items.push_back(text->piece(vm, last, text->subject.length));
  return list.take();
}

Value find_all(Vm& vm, PatternObject* pattern, const Value& value, int64_t start, int64_t end) {
  auto text = make_text(vm, pattern, value);
  Local<ListObject> list = make_list(vm);
  Value empty = text->piece(vm, 0, 0);
  uint32_t groups = pattern->program->groups;
  end = std::clamp<int64_t>(end, 0, text->subject.length);
  start = std::max<int64_t>(0, start);
  each_match(vm, pattern, text, start, end, [&](MatchObject* match) {
    if (groups <= 1) {
      list->items.push_back(group_value(vm, match, groups, empty));
      return true;
    }
    std::vector<Value> row;
    for (uint32_t g = 1; g <= groups; ++g) row.push_back(group_value(vm, match, g, empty));
    list->items.push_back(make_tuple(vm, row).take());
    return true;
  });
  return list.take();
}

}  // namespace tsc::interp
