// _csv: one row of text taken apart or put together. What is rare (errors, fields over several lines, numbers that are
// read) is the business of csv.tsc: here None stands for it.
#include "interpreter/builtins/builtins.h"
#include "interpreter/heap/patience.h"
#include "interpreter/modules/native_modules.h"

namespace tsc::interp {
namespace {

// A character of the dialect; empty: it has none.
std::string_view sign(Vm& vm, const Value& v) { return v.is_none() ? std::string_view() : text_of(vm, v); }

struct RowReader {
  std::string_view line, delimiter, quote, escape;
  bool double_quote, skip_space;
  std::string field;
  size_t at = 0;
  bool quoted = false, inside = false, start = true;

  bool stands(std::string_view character, size_t place) const {
    return !character.empty() && line.compare(place, character.size(), character) == 0;
  }
  void take(size_t bytes) {
    field.append(line, at, bytes);
    at += bytes;
    start = false;
  }
  void escaped() {
    at += escape.size();
    size_t next = at;
    if (at < line.size()) decode_utf8(line, next);
    take(next - at);
    start = false;
  }
  void in_quotes() {
    if (!stands(quote, at)) return take(1);
    at += quote.size();
    if (double_quote && stands(quote, at)) take(quote.size());
    else inside = false;
  }
  // One step; false: the row is over. `done`: a field is.
  bool step(bool& done) {
    const char c = line[at];
    if (stands(escape, at)) return escaped(), true;
    if (inside) return in_quotes(), true;
    if (start && stands(quote, at)) {
      at += quote.size();
      inside = quoted = true;
      start = false;
      return true;
    }
    if (stands(delimiter, at)) return at += delimiter.size(), done = true;
    if (c == '\r' || c == '\n') return false;
    if (start && skip_space && c == ' ') {
      ++at;
    } else {
      take(1);
    }
    return true;
  }
};

// split_row(line, delimiter, quotechar, escapechar, doublequote, skipinitialspace): the fields; None where a quoted one
// goes on in the next line.
Value split_row(Vm& vm, Args& a) {
  RowReader reader{
      text_of(vm, a[0]), sign(vm, a[1]), sign(vm, a[2]), sign(vm, a[3]), truth(vm, a[4]), truth(vm, a[5]), {}};
  Local<ListObject> row = make_list(vm);
  const auto finish_field = [&] {
    row->items.push_back(str_value(vm, reader.field));
    reader.field.clear();
    reader.quoted = false;
    reader.start = true;
  };
  Patience patience;
  while (reader.at < reader.line.size()) {
    patience.step();
    bool done = false;
    if (!reader.step(done)) break;
    if (done) finish_field();
  }
  if (reader.inside) return Value::none();
  if (!row->items.empty() || !reader.field.empty() || reader.quoted) finish_field();
  return row.take();
}

enum Quoting : int64_t { kMinimal, kAll, kNonNumeric, kNone };

struct RowWriter {
  std::string_view delimiter, quote, escape, line_end;
  bool double_quote;
  int64_t quoting;
  std::string special;  // all of these characters
  bool is_plain() const {
    bool ascii = true;
    count_code_points(special, ascii);
    return ascii && quoting != kNone;
  }
  // Adds a field; false: it is an error.
  bool add(std::string& out, std::string_view text, bool number, bool alone) const {
    bool quoted =
        quoting == kAll || (quoting == kNonNumeric && !number) || (quoting == kMinimal && alone && text.empty());
    std::string escaped;
    size_t from = 0;
    for (size_t at = 0; (at = text.find_first_of(special, at)) != std::string_view::npos; from = at++) {
      escaped.append(text, from, at - from);
      const std::string_view c = text.substr(at, 1);
      if (c == escape || (c == quote && !double_quote)) {
        if (escape.empty()) return false;
        escaped += escape;
      } else {
        quoted = true;
        if (c == quote) escaped += c;
      }
    }
    escaped.append(text, from);
    if (quoted) out += quote;
    out += escaped;
    if (quoted) out += quote;
    return true;
  }
};

// join_row(row, delimiter, quotechar, escapechar, doublequote, lineterminator, quoting): the line; None where it is not
// as plain as that.
Value join_row(Vm& vm, Args& a) {
  const Value row = a[0];
  if (!is_kind(row, Kind::List) && !is_kind(row, Kind::Tuple)) return Value::none();
  RowWriter writer{
      sign(vm, a[1]), sign(vm, a[2]), sign(vm, a[3]), sign(vm, a[5]), truth(vm, a[4]), to_index(vm, a[6]), ""};
  for (const std::string_view part : {writer.delimiter, writer.quote, writer.escape, writer.line_end})
    writer.special += part;
  if (!writer.is_plain()) return Value::none();
  const auto items = [&] {  // anew each time: str() of an item may change the list
    return is_kind(row, Kind::List) ? std::span<const Value>(cast<ListObject>(row)->items)
                                    : cast<TupleObject>(row)->span();
  };
  const bool alone = items().size() == 1;
  std::string out;
  for (size_t i = 0; i < items().size(); ++i) {
    vm.hear_stop();
    const Value item = items()[i];
    const Type* type = type_of(vm, item);
    const bool number = type->is_subtype_of(vm.types().real) || type->is_subtype_of(vm.types().integer);
    const std::string text = item.is_none() ? "" : to_string(vm, item);
    if (i) out += writer.delimiter;
    if (!writer.add(out, text, number, alone)) return Value::none();
  }
  out += writer.line_end;
  return str_value(vm, out);
}

}  // namespace

Local<ModuleObject> make_csv_module(Vm& vm) {
  ModuleBuilder m(vm, "_csv");
  m.function("split_row", "line, delimiter, quotechar, escapechar, doublequote, skipinitialspace, /", split_row)
      .function("join_row", "row, delimiter, quotechar, escapechar, doublequote, lineterminator, quoting, /", join_row);
  return m.finish();
}

}  // namespace tsc::interp
