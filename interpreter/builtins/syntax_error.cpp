#include "interpreter/builtins/syntax_error.h"

#include <algorithm>

#include "interpreter/builtins/builtins.h"
#include "lang/source.h"

namespace tsc::interp {
namespace {

// Where the attributes lie in the list that `subject` of the exception holds.
enum Detail : uint32_t { kMsg, kFilename, kLine, kOffset, kText, kEndLine, kEndOffset, kPrint, kDetails };
constexpr const char* kDetailNames[kDetails] = {"msg",  "filename",   "lineno",     "offset",
                                                "text", "end_lineno", "end_offset", "print_file_and_line"};

Values& details(Vm& vm, ExceptionObject* e) {
  if (!is_kind(e->subject, Kind::List)) {
    Local<ListObject> list = make_list(vm);
    for (uint32_t i = 0; i < kDetails; ++i) list->items.push_back(Value::none());
    e->subject = list.take();
  }
  return cast<ListObject>(e->subject)->items;
}
const Value& detail(Vm& vm, ExceptionObject* e, Detail which) { return details(vm, e)[which]; }

template <Detail which>
Value get_detail(Vm& vm, const Value& v) {
  return detail(vm, cast<ExceptionObject>(v), which);
}
template <Detail which>
void set_detail(Vm& vm, const Value& v, const Value& value) {
  details(vm, cast<ExceptionObject>(v))[which] = value ? value : Value::none();
}
template <uint32_t... which>
void add_getters(TypeBuilder& type, std::integer_sequence<uint32_t, which...>) {
  (type.getter(kDetailNames[which], get_detail<Detail(which)>, set_detail<Detail(which)>), ...);
}

// The last part of a path.
std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1));
}

// The number of a line or column; 0 when it is none.
int64_t number_or_zero(const Value& v) { return is_integer_like(v) ? v.as_int() : 0; }

// The source line without its indentation, and below it the carets.
void add_source(Vm& vm, ExceptionObject* e, std::vector<std::string>& lines) {
  std::string text(cast<StrObject>(detail(vm, e, kText))->view());
  while (!text.empty() && text.back() == '\n') text.pop_back();
  const size_t indent = std::min(text.find_first_not_of(" \n\f"), text.size());
  text.erase(0, indent);
  lines.push_back("    " + text + "\n");
  if (!is_integer_like(detail(vm, e, kOffset))) return;
  const int64_t offset = number_or_zero(detail(vm, e, kOffset));
  int64_t end = number_or_zero(detail(vm, e, kEndOffset));
  if (end == 0) end = offset;
  if (end == offset || end == -1) end = offset + 1;
  const int64_t column = offset - 1 - static_cast<int64_t>(indent);
  if (column < 0) return;
  std::string blanks;
  size_t at = 0;
  for (int64_t i = 0; i < column && at < text.size(); ++i) {  // blanks of the text stay what they are
    const uint32_t c = decode_utf8(text, at);
    blanks += is_space(c) && c < 128 ? static_cast<char>(c) : ' ';
  }
  const auto count = static_cast<size_t>(std::max<int64_t>(end - offset, 0));
  lines.push_back("    " + blanks + std::string(count, '^') + "\n");
}

}  // namespace

void settle_syntax_error(Vm& vm, ExceptionObject* e) {
  const Value held = e->args.value();
  const std::span<const Value> args = e->args->span();
  if (!args.empty()) details(vm, e)[kMsg] = args[0];
  if (args.size() != 2) return;
  Local<TupleObject> place = to_tuple(vm, args[1]);
  const uint32_t count = place->size;
  if (count < 4 || count > 6)
    raise_type_error(vm, std::string("function takes at ") + (count < 4 ? "least 4" : "most 6") + " arguments (" +
                             std::to_string(count) + " given)");
  if (count == 5) raise_type_error(vm, "end_offset must be provided when end_lineno is provided");
  Values& into = details(vm, e);
  std::copy(place->items, place->items + count, into.begin() + kFilename);
}

std::string syntax_error_text(Vm& vm, ExceptionObject* e) {
  const std::string message = to_string(vm, detail(vm, e, kMsg));
  const Value &file = detail(vm, e, kFilename), &line = detail(vm, e, kLine);
  const bool has_line = is_integer_like(line);
  const std::string at = has_line ? "line " + std::to_string(line.as_int()) : "";
  if (!is_kind(file, Kind::Str)) return has_line ? message + " (" + at + ")" : message;
  return message + " (" + base_name(cast<StrObject>(file)->view()) + (has_line ? ", " + at : "") + ")";
}

std::vector<std::string> syntax_error_lines(Vm& vm, ExceptionObject* e, const std::string& type_name) {
  std::vector<std::string> lines;
  const Value &file = detail(vm, e, kFilename), &line = detail(vm, e, kLine);
  std::string suffix;
  if (!line.is_none()) {
    const std::string name = file.is_none() ? "<string>" : to_string(vm, file);
    lines.push_back("  File \"" + name + "\", line " + to_string(vm, line) + "\n");
    if (is_kind(detail(vm, e, kText), Kind::Str)) add_source(vm, e, lines);
  } else if (!file.is_none()) {
    suffix = " (" + to_string(vm, file) + ")";
  }
  const Value& message = detail(vm, e, kMsg);
  lines.push_back(type_name + ": " + (truth(vm, message) ? to_string(vm, message) : "<no detail available>") + suffix +
                  "\n");
  return lines;
}

void add_syntax_error_members(TypeBuilder& type) {
  add_getters(type, std::make_integer_sequence<uint32_t, kDetails>());
}

Local<ExceptionObject> make_syntax_error(Vm& vm, std::string_view message, std::string_view file,
                                         lang::LineColumn begin, lang::LineColumn end, std::string_view text) {
  Value place[] = {str_value(vm, file),          Value::integer(begin.line),
                   Value::integer(begin.column), str_value(vm, std::string(text) + "\n"),
                   Value::integer(end.line),     Value::integer(end.column)};
  Value args[] = {str_value(vm, message), make_tuple(vm, place).take()};
  Local<ExceptionObject> e = make_exception(vm, vm.exceptions().SyntaxError, args);
  settle_syntax_error(vm, e);
  return e;
}

}  // namespace tsc::interp
