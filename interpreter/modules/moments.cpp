// datetime.date and datetime.datetime: fields, sums, differences, comparisons. Times and zones stand in zones.cpp, what
// is asked less often in stdlib/datetime.tsc.
#include "interpreter/modules/calendar.h"
#include "interpreter/vm/call.h"
#include "interpreter/vm/class_builder.h"

namespace tsc::interp {
namespace {

Day day_of(const Moment* m) { return {m->year, m->month, m->day}; }
int64_t ordinal_of(const Moment* m) { return interp::ordinal_of(day_of(m)); }
int64_t microseconds_of(const Moment* m) { return ordinal_of(m) * kDay + time_of(m); }

[[noreturn]] void out_of_range(Vm& vm) { raise(vm, vm.exceptions().OverflowError, "date value out of range"); }

// --- construction ---------------------------------------------------------------------------------------------

void set_day(Vm& vm, Moment* m, const Day& d) {
  if (d.year < 1 || d.year > 9999) raise_value_error(vm, "year " + std::to_string(d.year) + " is out of range");
  if (d.month < 1 || d.month > 12) raise_value_error(vm, "month must be in 1..12");
  if (d.day < 1 || d.day > days_in_month(d.year, d.month)) raise_value_error(vm, "day is out of range for month");
  m->year = static_cast<int16_t>(d.year);
  m->month = static_cast<uint8_t>(d.month);
  m->day = static_cast<uint8_t>(d.day);
}

void set_time(Moment* m, int64_t time) {
  m->microsecond = static_cast<int32_t>(time % 1'000'000);
  const int64_t seconds = time / 1'000'000;
  m->hour = static_cast<uint8_t>(seconds / 3600);
  m->minute = static_cast<uint8_t>(seconds / 60 % 60);
  m->second = static_cast<uint8_t>(seconds % 60);
}

Day whole_day(Vm& vm, const Value* parts) { return {c_int(vm, parts[0]), c_int(vm, parts[1]), c_int(vm, parts[2])}; }

Value construct_date(Vm& vm, Type* type, Args& args) {
  static constexpr const char* kNames[] = {"year", "month", "day"};
  Value parts[3];
  if (args.count == 3 && args.keyword_count == 0) std::copy(args.positional, args.positional + 3, parts);
  else bind_names(vm, {kNames, 3, 3}, args, parts);
  const Day day = whole_day(vm, parts);
  Local<Moment> made = vm.heap().make<Moment>(type);
  set_day(vm, made.get(), day);
  return made.take();
}

Value construct_datetime(Vm& vm, Type* type, Args& args) {
  static constexpr const char* kNames[] = {"year",   "month",       "day",    "hour", "minute",
                                           "second", "microsecond", "tzinfo", "fold"};
  Value parts[9];
  if (args.count >= 3 && args.count <= 8 && args.keyword_count == 0)
    std::copy(args.positional, args.positional + args.count, parts);
  else bind_names(vm, {kNames, 3, 8}, args, parts);
  const Day day = whole_day(vm, parts);
  Local<Moment> made = vm.heap().make<Moment>(type);
  set_day(vm, made.get(), day);
  set_time_parts(vm, made.get(), std::span(parts).subspan(3));
  return made.take();
}

// A date of the type of `like`. A class of a program is called, as by the program.
Value make_date(Vm& vm, const Value& like, int64_t ordinal) {
  if (ordinal < 1 || ordinal > kLastOrdinal) out_of_range(vm);
  const Day day = day_of_ordinal(ordinal);
  Type* type = like.object()->type;
  if (type != calendar_types(vm).date)
    return call(vm, Value(type), {Value::integer(day.year), Value::integer(day.month), Value::integer(day.day)});
  Local<Moment> made = vm.heap().make<Moment>(type);
  set_day(vm, made.get(), day);
  return made.take();
}

Value make_datetime(Vm& vm, const Value& like, Wide microseconds) {
  if (microseconds < kDay || microseconds >= Wide{kLastOrdinal + 1} * kDay) out_of_range(vm);
  const auto all = static_cast<int64_t>(microseconds);
  Local<Moment> made = vm.heap().make<Moment>(calendar_types(vm).datetime);
  set_day(vm, made.get(), day_of_ordinal(all / kDay));
  set_time(made.get(), all % kDay);
  made->zone = moment_of(like)->zone;
  Type* type = like.object()->type;
  if (type == made->type) return made.take();
  const Moment* m = made.get();
  return call(vm, Value(type),
              {Value::integer(m->year), Value::integer(m->month), Value::integer(m->day), Value::integer(m->hour),
               Value::integer(m->minute), Value::integer(m->second), Value::integer(m->microsecond), m->zone});
}

// --- zones ----------------------------------------------------------------------------------------------------

Value utcoffset(Vm& vm, Args& a) {
  Value kept;
  return offset_of_zone(vm, a[0], a[0], kept) ? kept : Value::none();
}

// How two moments can be compared: both naive or of one zone, both aware, or not.
struct Pair {
  int64_t left, right;  // microseconds, of aware ones in UTC
  bool mixed;           // one is naive
};
Pair pair_of(Vm& vm, const Value& left, const Value& right) {
  Pair pair{microseconds_of(moment_of(left)), microseconds_of(moment_of(right)), false};
  if (moment_of(left)->zone.is(moment_of(right)->zone)) return pair;
  Value kept[2];
  const Duration *a = offset_of_zone(vm, left, left, kept[0]), *b = offset_of_zone(vm, right, right, kept[1]);
  if ((a == nullptr) != (b == nullptr)) return pair.mixed = true, pair;
  if (a) pair.left -= static_cast<int64_t>(a->total()), pair.right -= static_cast<int64_t>(b->total());
  return pair;
}

// --- operators ------------------------------------------------------------------------------------------------

bool is_date(Vm& vm, const Value& v) { return is_of(v, calendar_types(vm).date); }
bool is_datetime(Vm& vm, const Value& v) { return is_of(v, calendar_types(vm).datetime); }

// The same moment with another fold.
Local<Moment> folded(Vm& vm, const Value& v, int fold) {
  const Moment* from = moment_of(v);
  Local<Moment> made = vm.heap().make<Moment>(calendar_types(vm).datetime);
  set_day(vm, made.get(), {from->year, from->month, from->day});
  set_time(made.get(), microseconds_of(from) % kDay);
  made->fold = fold;
  made->zone = from->zone;
  return made;
}

// Whether one of two moments of different zones stands where its zone repeats or skips time: such ones equal none.
bool depends_on_fold(Vm& vm, const Value& left, const Value& right) {
  if (moment_of(left)->zone.is(moment_of(right)->zone)) return false;
  for (const Value& v : {left, right}) {
    Value kept[2];
    const Value other = folded(vm, v, !moment_of(v)->fold).take();
    const Duration *a = offset_of_zone(vm, v, v, kept[0]), *b = offset_of_zone(vm, other, other, kept[1]);
    if ((a == nullptr) != (b == nullptr) || (a && a->total() != b->total())) return true;
  }
  return false;
}

// A date and a datetime are never equal and have no order.
Value compare_unlike(Vm& vm, CompareOp op, const Value& moment, const Value& date) {
  if (op == CompareOp::Eq || op == CompareOp::Ne) return Value::boolean(op == CompareOp::Ne);
  raise_type_error(vm, "can't compare " + shown_name(vm, moment) + " to " + shown_name(vm, date));
}

Value compare_date(Vm& vm, CompareOp op, const Value& self, const Value& other) {
  if (!is_date(vm, other)) return vm.not_implemented();
  // A datetime answers itself where it is asked first, as a subclass is; here only its day counts.
  auto packed = [](const Moment* m) { return (m->year << 16) + (m->month << 8) + m->day; };
  return compared(op, packed(moment_of(self)), packed(moment_of(other)));
}

Value compare_datetime(Vm& vm, CompareOp op, const Value& self, const Value& other) {
  if (!is_datetime(vm, other)) return is_date(vm, other) ? compare_unlike(vm, op, self, other) : vm.not_implemented();
  const Pair pair = pair_of(vm, self, other);
  const bool asks_equality = op == CompareOp::Eq || op == CompareOp::Ne;
  if (asks_equality && (pair.mixed || (pair.left == pair.right && depends_on_fold(vm, self, other))))
    return Value::boolean(op == CompareOp::Ne);
  if (!pair.mixed) return compared(op, pair.left, pair.right);
  raise_type_error(vm, "can't compare offset-naive and offset-aware datetimes");
}

Value date_binary(Vm& vm, BinaryOp op, const Value& left, const Value& right, bool) {
  const Type* delta = calendar_types(vm).timedelta;
  const bool is_left = is_date(vm, left);
  if (op == BinaryOp::Sub && is_left && is_date(vm, right)) {
    if (is_datetime(vm, left) || is_datetime(vm, right)) return vm.not_implemented();
    return make_duration(vm, Wide{ordinal_of(moment_of(left)) - ordinal_of(moment_of(right))} * kDay);
  }
  const Value& other = is_left ? right : left;
  const bool known = op == BinaryOp::Add || (op == BinaryOp::Sub && is_left);
  if (!known || !is_of(other, delta)) return vm.not_implemented();
  const Value& date = is_left ? left : right;
  const int64_t days = duration_of(other)->days;
  return make_date(vm, date, ordinal_of(moment_of(date)) + (op == BinaryOp::Add ? days : -days));
}

Value datetime_binary(Vm& vm, BinaryOp op, const Value& left, const Value& right, bool) {
  const Type* delta = calendar_types(vm).timedelta;
  const bool is_left = is_datetime(vm, left);
  if (op == BinaryOp::Sub && is_left && is_datetime(vm, right)) {
    const Pair pair = pair_of(vm, left, right);
    if (pair.mixed) raise_type_error(vm, "can't subtract offset-naive and offset-aware datetimes");
    return make_duration(vm, Wide{pair.left} - pair.right);
  }
  const Value& other = is_left ? right : left;
  const bool known = op == BinaryOp::Add || (op == BinaryOp::Sub && is_left);
  if (!known || !is_of(other, delta)) return vm.not_implemented();
  const Value& moment = is_left ? left : right;
  const Wide total = duration_of(other)->total();
  return make_datetime(vm, moment, microseconds_of(moment_of(moment)) + (op == BinaryOp::Add ? total : -total));
}

int64_t hash_date(Vm&, const Value& self) { return mixed(ordinal_of(moment_of(self))); }
int64_t hash_datetime(Vm& vm, const Value& self) {
  Value kept;
  const Value plain = moment_of(self)->fold ? folded(vm, self, 0).take() : self;
  const Duration* offset = offset_of_zone(vm, plain, plain, kept);
  return mixed(microseconds_of(moment_of(self)) - (offset ? static_cast<int64_t>(offset->total()) : 0));
}

// --- attributes and methods -----------------------------------------------------------------------------------

Value get_zone(Vm&, const Value& v) { return moment_of(v)->zone; }
Value get_us(Vm&, const Value& v) { return Value::integer(microseconds_of(moment_of(v))); }
Value toordinal(Vm&, Args& a) { return Value::integer(ordinal_of(moment_of(a[0]))); }
Value weekday(Vm&, Args& a) { return Value::integer((ordinal_of(moment_of(a[0])) + 6) % 7); }
Value isoweekday(Vm&, Args& a) { return Value::integer((ordinal_of(moment_of(a[0])) + 6) % 7 + 1); }

std::string date_text(const Moment* m) {
  char text[24];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d", m->year, m->month, m->day);
  return text;
}
Value isoformat(Vm& vm, Args& a) { return str_value(vm, date_text(moment_of(a[0]))); }
Value date_str(Vm& vm, const Value& self) { return str_value(vm, date_text(moment_of(self))); }

Value date_repr(Vm& vm, const Value& self) {
  const Moment* m = moment_of(self);
  return str_value(vm, shown_name(vm, self) + "(" + std::to_string(m->year) + ", " + std::to_string(m->month) + ", " +
                           std::to_string(m->day) + ")");
}

Value datetime_repr(Vm& vm, const Value& self) {
  const Moment* m = moment_of(self);
  std::string out = shown_name(vm, self) + "(";
  std::vector<int> parts = {m->year, m->month, m->day, m->hour, m->minute};
  if (m->second || m->microsecond) parts.push_back(m->second);
  if (m->microsecond) parts.push_back(m->microsecond);
  for (size_t i = 0; i < parts.size(); ++i) out += (i ? ", " : "") + std::to_string(parts[i]);
  if (m->fold) out += ", fold=1";
  if (!m->zone.is_none()) out += ", tzinfo=" + repr(vm, m->zone);
  return str_value(vm, out + ")");
}

Value date_reduce(Vm& vm, Args& a) {
  const Moment* m = moment_of(a[0]);
  const Value parts[] = {Value::integer(m->year), Value::integer(m->month), Value::integer(m->day)};
  const Value made[] = {Value(a[0].object()->type), make_tuple(vm, parts).take()};
  return make_tuple(vm, made).take();
}

// with_fold(moment): the same with fold 1, which no argument by position gives.
Value with_fold(Vm& vm, Args& a) {
  Args args;
  std::vector<Value> parts(a.positional + 1, a.positional + a.count);
  const Local<StrObject> name = intern(vm, "fold");
  StrObject* names[] = {name.get()};
  const Value one = Value::integer(1);
  args.positional = parts.data();
  args.count = static_cast<uint32_t>(parts.size());
  args.keyword_count = 1;
  args.keyword_names = names;
  args.keyword_values = &one;
  return call(vm, a[0], args);
}

Value datetime_reduce(Vm& vm, Args& a) {
  const Moment* m = moment_of(a[0]);
  std::vector<Value> parts = {
      Value::integer(m->year),   Value::integer(m->month),  Value::integer(m->day),         Value::integer(m->hour),
      Value::integer(m->minute), Value::integer(m->second), Value::integer(m->microsecond), m->zone};
  Value maker(a[0].object()->type);
  if (m->fold) {
    parts.insert(parts.begin(), maker);
    maker = make_raw_native(vm, "with_fold", with_fold).take();
  }
  const Value made[] = {maker, make_tuple(vm, parts).take()};
  return make_tuple(vm, made).take();
}

void traverse_moment(Object* o, Visitor& visit) {
  visit(static_cast<Moment*>(o)->zone);
  traverse_instance(o, visit);
}
void clear_moment(Vm& vm, Object* o) {
  static_cast<Moment*>(o)->zone = Value::none();
  clear_instance(vm, o);
}

Type* make_date_type(Vm& vm) {
  TypeBuilder b(vm, "date", Kind::Native);
  begin_moment_type(b);
  TypeSlots& s = b.slots();
  s.construct = construct_date;
  s.binary = date_binary;
  s.compare = compare_date;
  s.hash = hash_date;
  s.repr = date_repr;
  s.to_str = date_str;
  b.getter("year", field<&Moment::year>)
      .getter("month", field<&Moment::month>)
      .getter("day", field<&Moment::day>)
      .method("toordinal", "self", toordinal)
      .method("weekday", "self", weekday)
      .method("isoweekday", "self", isoweekday)
      .method("isoformat", "self", isoformat)
      .method("__reduce__", "self", date_reduce);
  return b.finish();
}

Type* make_datetime_type(Vm& vm, Type* date) {
  TypeBuilder b(vm, "datetime", Kind::Native, date);
  TypeSlots& s = b.slots();
  s.construct = construct_datetime;
  s.binary = datetime_binary;
  s.compare = compare_datetime;
  s.hash = hash_datetime;
  s.repr = datetime_repr;
  b.allow_subclasses(offset_of(&Moment::state));
  add_time_getters(b);
  b.module("datetime")
      .getter("_us", get_us)
      .method("utcoffset", "self", utcoffset)
      .method("__reduce__", "self", datetime_reduce);
  return b.finish();
}

}  // namespace

std::string shown_name(Vm& vm, const Value& v) {
  const Type* type = v.object()->type;
  const CalendarTypes& types = calendar_types(vm);
  return (type == types.date || type == types.datetime || type == types.time ? "datetime." : "") + own_name(type);
}

int64_t mixed(int64_t n) {
  const auto bits = static_cast<uint64_t>(n);
  return static_cast<int64_t>((bits ^ bits >> 31) * 0x94d049bb133111ebu >> 1);
}

void begin_moment_type(TypeBuilder& b) {
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<Moment>;
  s.traverse = traverse_moment;
  s.clear = clear_moment;
  b.module("datetime").allow_subclasses(offset_of(&Moment::state));
}

void add_time_getters(TypeBuilder& b) {
  b.getter("hour", field<&Moment::hour>)
      .getter("minute", field<&Moment::minute>)
      .getter("second", field<&Moment::second>)
      .getter("microsecond", field<&Moment::microsecond>)
      .getter("fold", field<&Moment::fold>)
      .getter("tzinfo", get_zone);
}

void make_moment_types(Vm& vm, CalendarTypes& types) {
  types.date = make_date_type(vm);
  types.datetime = make_datetime_type(vm, types.date);
}

}  // namespace tsc::interp
