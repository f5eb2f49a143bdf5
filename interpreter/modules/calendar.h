#pragma once
// Days of the calendar and lengths of time: the objects of datetime that C++ computes with. Knows numbers of days.
// Must not know: the methods of the types. Keeps: a Duration is normalized, as Python's timedelta: seconds from 0 to
// 86399, microseconds from 0 to 999999, and days carry the sign.
#include <cstdint>

#include "interpreter/builtins/builtins.h"

namespace tsc::interp {

using Wide = __int128;  // microseconds of the longest timedelta do not fit into 64 bits

inline constexpr int64_t kDay = 86'400'000'000;  // microseconds
inline constexpr int64_t kMostDays = 999'999'999, kLastOrdinal = 3'652'059;

struct Duration : Instance {
  int32_t days = 0, seconds = 0, microseconds = 0;
  Duration() : Instance(Kind::Native) {}
  Wide total() const { return Wide{days} * kDay + int64_t{seconds} * 1'000'000 + microseconds; }
};

// Of a date; of a datetime, which has a time of the day and a zone (None: naive); and of a time, which has those alone.
struct Moment : Instance {
  int16_t year = 1;
  uint8_t month = 1, day = 1, hour = 0, minute = 0, second = 0, fold = 0;
  int32_t microsecond = 0;
  Value zone;
  Moment() : Instance(Kind::Native) {}
};

struct Day {
  int64_t year, month, day;
};
int64_t ordinal_of(const Day& day);  // 1 is the first of January of year 1
Day day_of_ordinal(int64_t ordinal);
int64_t days_in_month(int64_t year, int64_t month);

// The native types of a Vm.
struct CalendarTypes {
  Type *timedelta = nullptr, *date = nullptr, *datetime = nullptr, *time = nullptr, *tzinfo = nullptr,
       *timezone = nullptr;
};
CalendarTypes& calendar_types(Vm& vm);
inline bool is_of(const Value& v, const Type* native) {
  return v.is_object() && v.object()->kind == Kind::Native &&
         (v.object()->type == native || v.object()->type->is_subtype_of(native));
}

// A timedelta; OverflowError beyond 999,999,999 days.
Value make_duration(Vm& vm, Wide microseconds, Type* type = nullptr);
Type* make_timedelta_type(Vm& vm);
void make_moment_types(Vm& vm, CalendarTypes& types);
void make_zone_types(Vm& vm, CalendarTypes& types);  // time, tzinfo and timezone
Duration* duration_of(const Value& v);
inline Moment* moment_of(const Value& v) { return static_cast<Moment*>(v.object()); }

// Fields of a moment from the arguments hour, minute, second, microsecond, tzinfo and fold, Undefined where absent.
void set_time_parts(Vm& vm, Moment* m, std::span<const Value> parts);
int64_t time_of(const Moment* m);  // microseconds since midnight
// What the moment's zone says of `asked`; null: the moment is naive. `kept` holds it.
const Duration* offset_of_zone(Vm& vm, const Value& self, const Value& asked, Value& kept);
// The class in texts: "datetime.date", and a program's own by its name alone.
std::string shown_name(Vm& vm, const Value& v);
int64_t mixed(int64_t n);  // for hashes
template <class T>
Value compared(CompareOp op, const T& a, const T& b) {
  switch (op) {
    case CompareOp::Lt: return Value::boolean(a < b);
    case CompareOp::Le: return Value::boolean(a <= b);
    case CompareOp::Eq: return Value::boolean(a == b);
    case CompareOp::Ne: return Value::boolean(a != b);
    case CompareOp::Gt: return Value::boolean(a > b);
    default: return Value::boolean(a >= b);
  }
}
template <auto member>
Value field(Vm&, const Value& v) {
  return Value::integer(moment_of(v)->*member);
}
// What date and time have in common: how a Moment is kept, and that a program may have subclasses.
void begin_moment_type(TypeBuilder& b);
void add_time_getters(TypeBuilder& b);  // of time and datetime

// The arguments of a constructor, as CPython's own parser takes them: in the order of `names`, Undefined where absent.
struct CallNames {
  std::span<const char* const> names;
  uint32_t required;
  uint32_t positional;
  bool is_new = false;  // messages name it __new__()
};
void bind_names(Vm& vm, const CallNames& what, const Args& args, std::span<Value> out);
int64_t c_int(Vm& vm, const Value& v);  // of an argument: OverflowError beyond 32 bits

}  // namespace tsc::interp
