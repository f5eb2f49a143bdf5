// datetime.time, tzinfo and timezone: what has no day. What is asked less often stands in stdlib/_timedelta.tsc and
// stdlib/datetime.tsc.
#include "interpreter/modules/calendar.h"
#include "interpreter/vm/call.h"

namespace tsc::interp {
namespace {

// --- timezone -------------------------------------------------------------------------------------------------

struct Zone : Instance {
  Value offset, name;  // a timedelta; a text, or None
  Zone() : Instance(Kind::Native) {}
};
Zone* zone_of(const Value& v) { return static_cast<Zone*>(v.object()); }

bool is_below_a_day(const Value& offset) {
  const Wide total = duration_of(offset)->total();
  return total > -kDay && total < kDay;
}

Value construct_timezone(Vm& vm, Type* type, Args& args) {
  static constexpr const char* kNames[] = {"offset", "name"};
  Value parts[2];
  bind_names(vm, {kNames, 0, 2}, args, parts);  // none is required: bind_names takes what is for a number
  if (parts[0].is_undefined()) raise_type_error(vm, "timezone() missing required argument 'offset' (pos 1)");
  const CalendarTypes& types = calendar_types(vm);
  if (!is_of(parts[0], types.timedelta))
    raise_type_error(vm, "timezone() argument 1 must be datetime.timedelta, not " + type_name(vm, parts[0]));
  if (!parts[1].is_undefined() && !is_kind(parts[1], Kind::Str))
    raise_type_error(vm, "timezone() argument 2 must be str, not " +
                             (parts[1].is_none() ? std::string("None") : type_name(vm, parts[1])));
  if (!is_below_a_day(parts[0]))
    raise_value_error(vm,
                      "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24), not " +
                          repr(vm, parts[0]) + ".");
  if (parts[1].is_undefined() && duration_of(parts[0])->total() == 0)
    if (const Value utc = dict_get(vm, type->attributes, "utc")) return utc;
  Local<Zone> made = vm.heap().make<Zone>(type);
  made->offset = parts[0];
  made->name = parts[1].is_undefined() ? Value::none() : parts[1];
  return made.take();
}

Value get_offset(Vm&, const Value& v) { return zone_of(v)->offset; }
Value get_name(Vm&, const Value& v) { return zone_of(v)->name; }

Value compare_timezone(Vm& vm, CompareOp op, const Value& self, const Value& other) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !is_of(other, calendar_types(vm).timezone))
    return vm.not_implemented();
  return compared(op, duration_of(zone_of(self)->offset)->total(), duration_of(zone_of(other)->offset)->total());
}
int64_t hash_timezone(Vm&, const Value& self) {
  return mixed(static_cast<int64_t>(duration_of(zone_of(self)->offset)->total()));
}

Type* make_tzinfo_type(Vm& vm) {
  TypeBuilder b(vm, "tzinfo", Kind::Native);
  TypeSlots& s = b.slots();
  s.destroy = destroy_as<Zone>;
  s.traverse = [](Object* o, Visitor& visit) {
    visit(static_cast<Zone*>(o)->offset);
    visit(static_cast<Zone*>(o)->name);
    traverse_instance(o, visit);
  };
  s.clear = [](Vm& of, Object* o) {
    static_cast<Zone*>(o)->name = Value::none();
    clear_instance(of, o);
  };
  // The arguments are those of a program's class.
  s.construct = [](Vm& of, Type* type, Args&) -> Value { return of.heap().make<Zone>(type).take(); };
  b.allow_subclasses(offset_of(&Zone::state));
  b.module("datetime");
  return b.finish();
}

Type* make_timezone_type(Vm& vm, Type* tzinfo) {
  TypeBuilder b(vm, "timezone", Kind::Native, tzinfo);
  b.slots().construct = construct_timezone;
  b.slots().compare = compare_timezone;
  b.slots().hash = hash_timezone;
  b.module("datetime").getter("_offset", get_offset).getter("_name", get_name);
  return b.finish();
}

// --- time -----------------------------------------------------------------------------------------------------

Value construct_time(Vm& vm, Type* type, Args& args) {
  static constexpr const char* kNames[] = {"hour", "minute", "second", "microsecond", "tzinfo", "fold"};
  Value parts[6];
  if (args.count <= 5 && args.keyword_count == 0) std::copy(args.positional, args.positional + args.count, parts);
  else bind_names(vm, {kNames, 0, 5}, args, parts);
  Local<Moment> made = vm.heap().make<Moment>(type);
  set_time_parts(vm, made.get(), parts);
  return made.take();
}

Value utcoffset(Vm& vm, Args& a) {
  Value kept;
  return offset_of_zone(vm, a[0], Value::none(), kept) ? kept : Value::none();
}

Value compare_time(Vm& vm, CompareOp op, const Value& self, const Value& other) {
  if (!is_of(other, calendar_types(vm).time)) return vm.not_implemented();
  int64_t left = time_of(moment_of(self)), right = time_of(moment_of(other));
  if (moment_of(self)->zone.is(moment_of(other)->zone)) return compared(op, left, right);
  Value kept[2];
  const Duration *a = offset_of_zone(vm, self, Value::none(), kept[0]),
                 *b = offset_of_zone(vm, other, Value::none(), kept[1]);
  if ((a == nullptr) != (b == nullptr)) {
    if (op == CompareOp::Eq || op == CompareOp::Ne) return Value::boolean(op == CompareOp::Ne);
    raise_type_error(vm, "can't compare offset-naive and offset-aware times");
  }
  if (a) left -= static_cast<int64_t>(a->total()), right -= static_cast<int64_t>(b->total());
  return compared(op, left, right);
}

int64_t hash_time(Vm& vm, const Value& self) {
  Value kept;
  const Duration* offset = offset_of_zone(vm, self, Value::none(), kept);
  return mixed(time_of(moment_of(self)) - (offset ? static_cast<int64_t>(offset->total()) : 0));
}

Value time_repr(Vm& vm, const Value& self) {
  const Moment* m = moment_of(self);
  std::string out = shown_name(vm, self) + "(" + std::to_string(m->hour) + ", " + std::to_string(m->minute);
  if (m->second || m->microsecond) out += ", " + std::to_string(m->second);
  if (m->microsecond) out += ", " + std::to_string(m->microsecond);
  if (!m->zone.is_none()) out += ", tzinfo=" + repr(vm, m->zone);
  return str_value(vm, out + (m->fold ? ", fold=1)" : ")"));
}

Type* make_time_type(Vm& vm) {
  TypeBuilder b(vm, "time", Kind::Native);
  begin_moment_type(b);
  TypeSlots& s = b.slots();
  s.construct = construct_time;
  s.compare = compare_time;
  s.hash = hash_time;
  s.repr = time_repr;
  add_time_getters(b);
  b.method("utcoffset", "self", utcoffset);
  return b.finish();
}

uint8_t part(Vm& vm, const Value& given, int64_t most, const char* text) {
  const int64_t value = given.is_undefined() ? 0 : c_int(vm, given);
  if (value < 0 || value > most) raise_value_error(vm, text);
  return static_cast<uint8_t>(value);
}

}  // namespace

void set_time_parts(Vm& vm, Moment* m, std::span<const Value> parts) {
  for (const size_t i : {0, 1, 2, 3, 5})  // what is no number is found before what is too large
    if (!parts[i].is_undefined()) c_int(vm, parts[i]);
  m->hour = part(vm, parts[0], 23, "hour must be in 0..23");
  m->minute = part(vm, parts[1], 59, "minute must be in 0..59");
  m->second = part(vm, parts[2], 59, "second must be in 0..59");
  const int64_t microsecond = parts[3].is_undefined() ? 0 : c_int(vm, parts[3]);
  if (microsecond < 0 || microsecond > 999'999) raise_value_error(vm, "microsecond must be in 0..999999");
  m->microsecond = static_cast<int32_t>(microsecond);
  m->fold = part(vm, parts[5], 1, "fold must be either 0 or 1");
  m->zone = parts[4].is_undefined() ? Value::none() : parts[4];
  if (!m->zone.is_none() && !type_of(vm, m->zone)->is_subtype_of(calendar_types(vm).tzinfo))
    raise_type_error(vm,
                     "tzinfo argument must be None or of a tzinfo subclass, not type '" + type_name(vm, m->zone) + "'");
}

int64_t time_of(const Moment* m) {
  return ((m->hour * int64_t{60} + m->minute) * 60 + m->second) * 1'000'000 + m->microsecond;
}

const Duration* offset_of_zone(Vm& vm, const Value& self, const Value& asked, Value& kept) {
  const Value& zone = moment_of(self)->zone;
  if (zone.is_none()) return nullptr;
  const CalendarTypes& types = calendar_types(vm);
  if (zone.object()->type == types.timezone) return kept = zone_of(zone)->offset, duration_of(kept);
  kept = call_method(vm, zone, "utcoffset", {asked});
  if (kept.is_none()) return nullptr;
  if (!is_of(kept, types.timedelta))
    raise_type_error(vm, "tzinfo.utcoffset() must return None or timedelta, not '" + type_name(vm, kept) + "'");
  if (!is_below_a_day(kept))
    raise_value_error(vm, "offset must be a timedelta strictly between -timedelta(hours=24) and timedelta(hours=24).");
  return duration_of(kept);
}

void make_zone_types(Vm& vm, CalendarTypes& types) {
  types.tzinfo = make_tzinfo_type(vm);
  types.timezone = make_timezone_type(vm, types.tzinfo);
  types.time = make_time_type(vm);
}

}  // namespace tsc::interp
