#include "interpreter/modules/calendar.h"

#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/call.h"

namespace tsc::interp {
namespace {

constexpr int64_t kBefore[] = {0, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
const char kTypes = 0;

bool is_leap(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int64_t days_before(int64_t year, int64_t month) { return kBefore[month] + (month > 2 && is_leap(year)); }

}  // namespace

int64_t days_in_month(int64_t year, int64_t month) {
  constexpr uint8_t kDays[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : kDays[month];
}

int64_t ordinal_of(const Day& d) {
  const int64_t y = d.year - 1;
  return y * 365 + y / 4 - y / 100 + y / 400 + days_before(d.year, d.month) + d.day;
}

Day day_of_ordinal(int64_t ordinal) {
  int64_t n = ordinal - 1;
  const int64_t n400 = n / 146097, n100 = (n %= 146097) / 36524, n4 = (n %= 36524) / 1461, n1 = (n %= 1461) / 365;
  n %= 365;
  const int64_t year = n400 * 400 + n100 * 100 + n4 * 4 + n1 + 1;
  if (n1 == 4 || n100 == 4) return {year - 1, 12, 31};
  int64_t month = (n + 50) >> 5;  // or one too many
  if (days_before(year, month) > n) --month;
  return {year, month, n - days_before(year, month) + 1};
}

CalendarTypes& calendar_types(Vm& vm) {
  std::shared_ptr<void>& kept = vm.extension(&kTypes);
  if (!kept) kept = std::make_shared<CalendarTypes>();
  return *static_cast<CalendarTypes*>(kept.get());
}

void bind_names(Vm& vm, const CallNames& what, const Args& args, std::span<Value> out) {
  const std::string called = what.is_new ? "__new__()" : "function";
  const size_t given = args.count + args.keyword_count;
  if (given > what.names.size())
    raise_type_error(vm, called + " takes at most " + std::to_string(what.names.size()) + " arguments (" +
                             std::to_string(given) + " given)");
  if (args.count > what.positional)
    raise_type_error(vm, called + " takes at most " + std::to_string(what.positional) + " positional arguments (" +
                             std::to_string(args.count) + " given)");
  uint32_t found = 0;
  for (uint32_t i = 0; i < what.names.size(); ++i) {
    if (i < args.count) out[i] = args[i];
    for (uint32_t k = 0; k < args.keyword_count; ++k) {
      if (args.keyword_names[k]->view() != what.names[i]) continue;
      if (i < args.count)
        raise_type_error(vm, "argument for " + called + " given by name ('" + what.names[i] + "') and position (" +
                                 std::to_string(i + 1) + ")");
      out[i] = args.keyword_values[k];
      ++found;
    }
    if (out[i].is_undefined() && i < what.required)
      raise_type_error(
          vm, called + " missing required argument '" + what.names[i] + "' (pos " + std::to_string(i + 1) + ")");
    if (i < what.required) c_int(vm, out[i]);
  }
  for (uint32_t k = 0; found < args.keyword_count && k < args.keyword_count; ++k) {
    const std::string_view name = args.keyword_names[k]->view();
    if (std::find(what.names.begin(), what.names.end(), name) == what.names.end())
      raise_type_error(vm, "'" + std::string(name) + "' is an invalid keyword argument for " +
                               (what.is_new ? "__new__()" : "this function"));
  }
}

int64_t c_int(Vm& vm, const Value& v) {
  if (v.is_int() && v.as_int() == static_cast<int32_t>(v.as_int())) return v.as_int();
  const Value whole = whole_of(vm, v);
  if (is_big(whole)) raise_too_large(vm, "C long");
  const int64_t n = int_value(whole);
  if (n > INT32_MAX) raise(vm, vm.exceptions().OverflowError, "signed integer is greater than maximum");
  if (n < INT32_MIN) raise(vm, vm.exceptions().OverflowError, "signed integer is less than minimum");
  return n;
}

namespace {

Value ordinal(Vm& vm, Args& a) {
  return Value::integer(ordinal_of({c_int(vm, a[0]), c_int(vm, a[1]), c_int(vm, a[2])}));
}
Value from_ordinal(Vm& vm, Args& a) {
  const Day day = day_of_ordinal(to_index(vm, a[0]));
  const Value parts[] = {Value::integer(day.year), Value::integer(day.month), Value::integer(day.day)};
  return make_tuple(vm, parts).take();
}
Value month_days(Vm& vm, Args& a) { return Value::integer(days_in_month(c_int(vm, a[0]), c_int(vm, a[1]))); }

// extend(native, cls): the methods that a class of the library adds to a native type; the native type.
Value extend(Vm& vm, Args& a) {
  Type* native = cast<Type>(a[0]);
  const Local<ListObject> names = to_list(vm, Value(cast<Type>(a[1])->attributes));
  for (const Value& name : names->items) {
    const std::string_view text = cast<StrObject>(name)->view();
    if (text == "__module__" || text == "__dict__" || text == "__weakref__" || text == "__qualname__") continue;
    const Local<StrObject> key = intern(vm, text);
    set_type_attribute(vm, native, key.get(), dict_get(vm, cast<Type>(a[1])->attributes, name));
  }
  return a[0];
}
// limits(native, min, max, resolution)
Value limits(Vm& vm, Args& a) {
  for (const auto& [place, name] : {std::pair{1, "min"}, {2, "max"}, {3, "resolution"}})
    set_type_attribute(vm, cast<Type>(a[0]), intern(vm, name).get(), a[static_cast<size_t>(place)]);
  return Value::none();
}
Value duration_from(Vm& vm, Args& a) { return make_duration(vm, whole_of(vm, a[0]).as_int()); }

}  // namespace

Local<ModuleObject> make_datetime_module(Vm& vm) {
  CalendarTypes& types = calendar_types(vm);
  types.timedelta = make_timedelta_type(vm);
  make_moment_types(vm, types);
  make_zone_types(vm, types);
  ModuleBuilder m(vm, "_datetime");
  m.value("timedelta", Value(types.timedelta))
      .value("date", Value(types.date))
      .value("datetime", Value(types.datetime))
      .value("time", Value(types.time))
      .value("tzinfo", Value(types.tzinfo))
      .value("timezone", Value(types.timezone))
      .function("ordinal", "year, month, day, /", ordinal)
      .function("from_ordinal", "n, /", from_ordinal)
      .function("days_in_month", "year, month, /", month_days)
      .function("delta", "microseconds, /", duration_from)
      .function("limits", "native, min, max, resolution, /", limits)
      .function("extend", "native, cls, /", extend);
  return m.finish();
}

}  // namespace tsc::interp
