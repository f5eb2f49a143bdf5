// The builtin functions.
#include <cmath>

#include "interpreter/builtins/builtins.h"
#include "interpreter/value/buffer.h"

#include <algorithm>
#include "interpreter/builtins/streams.h"
#include "interpreter/modules/importer.h"
#include "interpreter/value/surrogates.h"
#include "interpreter/vm/big_numbers.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/numbers.h"
#include "interpreter/vm/shown_class.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {

Value make_call_iterator(Vm& vm, const Value& function, const Value& sentinel);
void add_text_functions(Vm& vm);  // exec, eval, compile: run_text.cpp

std::string callable_name(Vm& vm, const Value& v) {
  if (auto* f = try_cast<FunctionObject>(v)) return std::string(f->qualified_name->view()) + "()";
  if (auto* f = try_cast<NativeFunction>(v)) return f->name + "()";
  if (auto* m = try_cast<BoundMethod>(v)) return callable_name(vm, m->function);
  if (auto* t = try_cast<Type>(v)) return t->name + "()";
  return type_name(vm, v) + " object";
}

namespace {

// A hook of the metaclass; false when there is none.
bool ask_class(Vm& vm, Type* type, std::string_view name, const Value& asked) {
  Local<StrObject> interned = intern(vm, name);
  if (type->type == vm.types().type) return false;
  const Value* hook = lookup_in_type(type->type, interned);
  return hook && truth(vm, call(vm, bind_attribute(vm, *hook, Value(type), type->type), {asked}));
}

}  // namespace

namespace {

// What is no class counts as one where it shows a tuple as its bases; null: it does not.
Local<TupleObject> shown_bases(Vm& vm, const Value& v) {
  const Value bases = find_attribute(vm, v, intern(vm, "__bases__").get());
  return Local<TupleObject>(try_cast<TupleObject>(bases));
}
bool derives_from(Vm& vm, const Value& derived, const Value& base) {
  if (derived.is(base)) return true;
  vm.check_native_stack();
  const Local<TupleObject> bases = shown_bases(vm, derived);
  if (!bases) return false;
  for (const Value& one : bases->span())
    if (derives_from(vm, one, base)) return true;
  return false;
}

}  // namespace

bool is_instance_of(Vm& vm, const Value& v, const Value& classes) {
  if (auto* type = try_cast<Type>(classes)) {
    if (is_instance(vm, v, type)) return true;
    if (v.is_object() && (v.object()->type->slots.get_attribute || defines_shown_class(vm, v.object()->type)))
      if (auto* shown = try_cast<Type>(find_attribute(vm, v, vm.names().class_)); shown && shown->is_subtype_of(type))
        return true;
    return ask_class(vm, type, "__instancecheck__", v);
  }
  if (auto* tuple = try_cast<TupleObject>(classes)) {
    for (const Value& c : tuple->span())
      if (is_instance_of(vm, v, c)) return true;
    return false;
  }
  Type* own = type_of(vm, classes);
  if (const Value* hook = lookup_in_type(own, intern(vm, "__instancecheck__")))
    return truth(vm, call(vm, bind_attribute(vm, *hook, classes, own), {v}));
  if (shown_bases(vm, classes)) {
    const Value shown = find_attribute(vm, v, vm.names().class_);
    return shown && derives_from(vm, shown, classes);
  }
  raise_type_error(vm, "isinstance() arg 2 must be a type, a tuple of types, or a union");
}

bool is_subclass_of(Vm& vm, const Value& type, const Value& classes) {
  const bool is_type = is_kind(type, Kind::Type);
  if (!is_type && !shown_bases(vm, type)) raise_type_error(vm, "issubclass() arg 1 must be a class");
  if (!is_type && is_kind(classes, Kind::Type)) return derives_from(vm, type, classes);
  if (auto* other = try_cast<Type>(classes))
    return cast<Type>(type)->is_subtype_of(other) || ask_class(vm, other, "__subclasscheck__", type);
  if (auto* tuple = try_cast<TupleObject>(classes)) {
    for (const Value& c : tuple->span())
      if (is_subclass_of(vm, type, c)) return true;
    return false;
  }
  Type* own = type_of(vm, classes);
  if (const Value* hook = lookup_in_type(own, intern(vm, "__subclasscheck__")))
    return truth(vm, call(vm, bind_attribute(vm, *hook, classes, own), {type}));
  if (shown_bases(vm, classes)) return derives_from(vm, type, classes);
  raise_type_error(vm, "issubclass() arg 2 must be a class, a tuple of classes, or a union");
}

namespace {

// Where print writes without `file`: sys.stdout once sys is imported, as a script may replace it.
Value standard_output(Vm& vm) {
  auto* sys = try_cast<ModuleObject>(dict_get(vm, vm.modules(), "sys"));
  return sys ? dict_get(vm, sys->globals, "stdout") : Value();
}

// What print's pieces become: one text for the engine's own streams and files; a script's own stream hears
// of each piece by itself, as in Python.
class Printer {
 public:
  Printer(Vm& vm, const Value& asked)
      : vm_(vm), file_(asked && !asked.is_none() ? asked : standard_output(vm)),
        own_(file_ && !file_.is_none() && !is_kind(file_, Kind::File)) {}
  void add(const std::string& piece) {
    if (own_ && !write_) write_ = get_attribute(vm_, file_, "write");
    if (own_) return void(call(vm_, write_, {str_value(vm_, piece)}));
    if (find_surrogate(piece) == piece.npos) return void(text_ += piece);
    // What stands in front of it is written, and then its error comes.
    finish(false);
    text_.clear();
    call_method(vm_, output(), "write", {str_value(vm_, piece)});
  }
  void finish(bool flush) {
    const bool standard = !file_ || is_standard_stream(file_, Stream::Out);
    if (standard) vm_.write(Stream::Out, text_);
    else if (!own_ && !file_.is_none()) call_method(vm_, file_, "write", {str_value(vm_, text_)});
    if (!flush || (file_ && file_.is_none())) return;
    if (file_) call_method(vm_, file_, "flush");
    else std::fflush(stdout);
  }

 private:
  Value output() { return file_ ? file_ : make_standard_stream(vm_, Stream::Out); }
  Vm& vm_;
  Value file_, write_;
  bool own_;
  std::string text_;
};

Value print(Vm& vm, Args& a) {
  auto piece = [&](const Value& v, const char* fallback, const char* name) {
    if (v.is_none()) return std::string(fallback);
    if (!is_kind(v, Kind::Str))
      raise_type_error(vm, std::string(name) + " must be None or a string, not " + type_name(vm, v));
    return std::string(cast<StrObject>(v)->view());
  };
  std::string separator = piece(a[0], " ", "sep"), end = piece(a[1], "\n", "end");
  Printer printer(vm, a[2]);
  bool first = true;
  for (const Value& v : cast<TupleObject>(a[4])->span()) {
    if (!first) printer.add(separator);
    first = false;
    printer.add(to_string(vm, v));
  }
  printer.add(end);
  printer.finish(truth(vm, a[3]));
  return Value::none();
}

Value len(Vm& vm, Args& a) { return Value::integer(length(vm, a[0])); }
Value abs_(Vm& vm, Args& a) { return unary(vm, UnaryOp::Absolute, a[0]); }
Value repr_(Vm& vm, Args& a) { return str_value(vm, repr(vm, a[0])); }
Value ascii_(Vm& vm, Args& a) { return str_value(vm, ascii(vm, a[0])); }
Value hash_(Vm& vm, Args& a) { return Value::integer(static_cast<int64_t>(hash(vm, a[0]))); }
Value id(Vm&, Args& a) {
  if (a[0].is_object()) return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(a[0].object())));
  // A number is no object: what it is and its kind, as bits.
  return Value::integer(
      static_cast<int64_t>(static_cast<uint64_t>(a[0].as_int()) * 16 + static_cast<uint64_t>(a[0].tag())));
}
Value callable(Vm& vm, Args& a) {
  if (!a[0].is_object()) return Value::boolean(false);
  switch (a[0].object()->kind) {
    case Kind::Function:
    case Kind::NativeFunction:
    case Kind::BoundMethod:
    case Kind::Type: return Value::boolean(true);
    default: return Value::boolean(type_of(vm, a[0])->slots.call != nullptr);
  }
}
Value isinstance(Vm& vm, Args& a) { return Value::boolean(is_instance_of(vm, a[0], a[1])); }
Value issubclass(Vm& vm, Args& a) { return Value::boolean(is_subclass_of(vm, a[0], a[1])); }

Local<StrObject> attribute_name(Vm& vm, const Value& v) {
  if (!is_kind(v, Kind::Str)) raise_type_error(vm, "attribute name must be string, not '" + type_name(vm, v) + "'");
  return intern(vm, cast<StrObject>(v));
}
Value getattr(Vm& vm, Args& a) {
  Local<StrObject> name = attribute_name(vm, a[1]);
  if (!a.has(2)) return get_attribute_softly(vm, a[0], name.get());
  Value v = find_attribute(vm, a[0], name);
  return v ? v : a[2];
}
Value hasattr(Vm& vm, Args& a) { return Value::boolean(bool(find_attribute(vm, a[0], attribute_name(vm, a[1])))); }
Value setattr(Vm& vm, Args& a) {
  set_attribute(vm, a[0], attribute_name(vm, a[1]), a[2]);
  return Value::none();
}
Value delattr(Vm& vm, Args& a) {
  delete_attribute(vm, a[0], attribute_name(vm, a[1]));
  return Value::none();
}
Value iter(Vm& vm, Args& a) {
  if (!a.has(1)) return iterate_softly(vm, a[0]);
  return make_call_iterator(vm, a[0], a[1]);
}
Value next(Vm& vm, Args& a) {
  Value out;
  if (auto* g = try_cast<GeneratorObject>(a[0])) {
    bool fresh = g->state != GeneratorObject::State::Finished;
    if (generator_send(vm, g, Value(), out)) return out;
    if (a.has(1)) return a[1];
    std::span<const Value> args(&out, fresh && out && !out.is_none() ? 1 : 0);
    return vm.return_raised(make_exception(vm, vm.exceptions().StopIteration, args));
  }
  if (!a.has(1)) {
    // A script's own StopIteration goes out as it is.
    if (const Value* method = lookup_in_type(type_of(vm, a[0]), vm.names().next);
        method && is_kind(*method, Kind::Function))
      return call(vm, *method, {a[0]});
  }
  if (iterate_next(vm, a[0], out)) return out;
  if (a.has(1)) return a[1];
  return vm.return_raised(make_exception(vm, vm.exceptions().StopIteration, std::span<const Value>()));
}

Value extreme(Vm& vm, Args& args, const char* name, CompareOp op) {
  Value key = Value::none(), fallback;
  for (uint32_t i = 0; i < args.keyword_count; ++i) {
    std::string_view k = args.keyword_names[i]->view();
    if (k == "key") key = args.keyword_values[i];
    else if (k == "default") fallback = args.keyword_values[i];
    else raise_type_error(vm, std::string(name) + "() got an unexpected keyword argument '" + std::string(k) + "'");
  }
  if (args.count == 0) raise_type_error(vm, std::string(name) + " expected at least 1 argument, got 0");
  Value best, best_key;
  auto consider = [&](const Value& v) {
    Value k = key.is_none() ? v : call(vm, key, {v});
    if (!best || truth(vm, compare(vm, op, k, best_key))) {
      best = v;
      best_key = std::move(k);
    }
    return true;
  };
  if (args.count > 1) {
    if (fallback)
      raise_type_error(vm,
                       std::string("Cannot specify a default for ") + name + "() with multiple positional arguments");
    for (uint32_t i = 0; i < args.count; ++i) consider(args[i]);
  } else {
    for_each(vm, args[0], consider);
  }
  if (best) return best;
  if (fallback) return fallback;
  return return_error(vm, vm.exceptions().ValueError, std::string(name) + "() arg is an empty sequence");
}
Value min_(Vm& vm, Args& a) { return extreme(vm, a, "min", CompareOp::Lt); }
Value max_(Vm& vm, Args& a) { return extreme(vm, a, "max", CompareOp::Gt); }

Value sum(Vm& vm, Args& a) {
  Value total = a[1];
  if (is_kind(total, Kind::Str)) raise_type_error(vm, "sum() can't sum strings [use ''.join(seq) instead]");
  if (is_kind(total, Kind::Bytes)) raise_type_error(vm, "sum() can't sum bytes [use b''.join(seq) instead]");
  if (is_kind(total, Kind::ByteArray)) raise_type_error(vm, "sum() can't sum bytearray [use b''.join(seq) instead]");
  for_each(vm, a[0], [&](const Value& v) {
    total = binary(vm, BinaryOp::Add, total, v);
    return true;
  });
  return total;
}
Value any(Vm& vm, Args& a) {
  bool found = false;
  for_each(vm, a[0], [&](const Value& v) { return !(found = truth(vm, v)); });
  return Value::boolean(found);
}
Value all(Vm& vm, Args& a) {
  bool holds = true;
  for_each(vm, a[0], [&](const Value& v) { return holds = truth(vm, v); });
  return Value::boolean(holds);
}
Value sorted(Vm& vm, Args& a) {
  Local<ListObject> list = make_list(vm, std::span<const Value>(to_list(vm, a[0])->items));
  sort_list(vm, list, a[1].is_none() ? Value() : a[1], truth(vm, a[2]));
  return list.take();
}
// What __divmod__ or __rdivmod__ of a class says; Undefined: neither wants to.
Value divmod_method(Vm& vm, const Value& left, const Value& right) {
  auto ask = [&](const Value& self, const Value& other, const char* name) {
    Type* type = type_of(vm, self);
    const Value* method = lookup_in_type(type, intern(vm, name));
    if (!method) return Value();
    Value r = call(vm, bind_attribute(vm, *method, self, type), {other});
    return r.is(vm.not_implemented()) ? Value() : r;
  };
  Value r = ask(left, right, "__divmod__");
  return r ? r : ask(right, left, "__rdivmod__");
}
Value divmod(Vm& vm, Args& a) {
  const auto any_number = [](const Value& v) { return is_number(v) || is_big(v); };
  bool numbers = any_number(a[0]) && any_number(a[1]);
  if (numbers && (a[0].is_float() || a[1].is_float()) && to_double(vm, a[1]) == 0)
    raise(vm, vm.exceptions().ZeroDivisionError, "float divmod()");
  if (Value special = numbers ? Value() : divmod_method(vm, a[0], a[1])) return special;
  const auto may_divide = [](const Value& v) {
    return v.is_object() && !is_kind(v, Kind::Str) && !is_kind(v, Kind::Complex);
  };
  const auto has_method = [&](const Value& v, const char* name) {
    return lookup_in_type(type_of(vm, v), intern(vm, name));
  };
  const bool refused = !numbers && (has_method(a[0], "__divmod__") || has_method(a[1], "__rdivmod__"));
  const bool divisible = numbers || (!refused && (may_divide(a[0]) || may_divide(a[1])));
  if (!divisible)
    raise_type_error(vm, "unsupported operand type(s) for divmod(): '" + type_name(vm, a[0]) + "' and '" +
                             type_name(vm, a[1]) + "'");
  return make_tuple(
             vm, std::vector<Value>{binary(vm, BinaryOp::FloorDiv, a[0], a[1]), binary(vm, BinaryOp::Mod, a[0], a[1])})
      .take();
}
// With a modulus: of classes the first operand's alone is asked, as in Python.
Value power_with_modulus(Vm& vm, const Value& base, const Value& exponent, const Value& modulus) {
  Type *type = type_of(vm, base), *integer = vm.types().integer;
  const Value* method = lookup_in_type(type, intern(vm, "__pow__"));
  if (method && !is_kind(*method, Kind::NativeFunction)) {  // numbers have a native one, for two operands
    const Value r = call(vm, bind_attribute(vm, *method, base, type), {exponent, modulus});
    if (!r.is(vm.not_implemented())) return r;
  }
  const Value* const operands[] = {&base, &exponent, &modulus};
  for (const Value* v : operands)
    if (is_kind(*v, Kind::Complex)) raise_value_error(vm, "complex modulo");
  for (const Value* v : operands)
    if (v->is_float()) raise_type_error(vm, "pow() 3rd argument not allowed unless all arguments are integers");
  for (const Value* v : operands)
    if (!type_of(vm, *v)->is_subtype_of(integer))
      raise_type_error(vm, "unsupported operand type(s) for ** or pow(): '" + type_name(vm, base) + "', '" +
                               type_name(vm, exponent) + "', '" + type_name(vm, modulus) + "'");
  return power_modulo(vm, whole_of(vm, base), whole_of(vm, exponent), whole_of(vm, modulus));
}
Value pow_(Vm& vm, Args& a) {
  if (a[2].is_none()) return binary(vm, BinaryOp::Pow, a[0], a[1]);
  return power_with_modulus(vm, a[0], a[1], a[2]);
}
Value round_(Vm& vm, Args& a) {
  const Value& v = a[0];
  if (v.is_float()) {
    if (a[1].is_none()) return float_to_int(vm, std::nearbyint(v.as_float()));
    const Value digits = whole_of(vm, a[1]);
    const int64_t many = is_big(digits) ? (big_to_double(vm, digits) < 0 ? INT64_MIN : INT64_MAX) : digits.as_int();
    const double rounded = round_float(v.as_float(), many);
    if (std::isinf(rounded) && std::isfinite(v.as_float()))
      raise(vm, vm.exceptions().OverflowError, "rounded value too large to represent");
    return Value::real(rounded);
  }
  if (is_integer_like(v) || is_big(v)) {
    const int64_t digits = a[1].is_none() ? 0 : to_index(vm, a[1]);
    if (digits >= 0) return is_big(v) ? v : Value::integer(v.as_int());
    return round_int(vm, v, digits == INT64_MIN ? INT64_MAX : -digits);
  }
  Type* type = type_of(vm, v);
  const Value* method = lookup_in_type(type, intern(vm, "__round__"));
  if (!method) raise_type_error(vm, "type " + type->name + " doesn't define __round__ method");
  Value bound = bind_attribute(vm, *method, v, type);
  return a[1].is_none() ? call(vm, bound) : call(vm, bound, {a[1]});
}
Value ord(Vm& vm, Args& a) {
  if (is_byte_string(a[0])) {
    const std::string_view data = byte_string(a[0]);
    if (data.size() == 1) return Value::integer(static_cast<uint8_t>(data[0]));
    return return_error(vm, vm.exceptions().TypeError,
                        "ord() expected a character, but string of length " + std::to_string(data.size()) + " found");
  }
  if (!is_kind(a[0], Kind::Str))
    return return_error(vm, vm.exceptions().TypeError,
                        "ord() expected string of length 1, but " + type_name(vm, a[0]) + " found");
  auto* s = cast<StrObject>(a[0]);
  if (s->length != 1)
    return return_error(vm, vm.exceptions().TypeError,
                        "ord() expected a character, but string of length " + std::to_string(s->length) + " found");
  size_t offset = 0;
  return Value::integer(decode_utf8(s->view(), offset));
}
Value chr(Vm& vm, Args& a) {
  const Value whole = whole_of(vm, a[0]);
  if (is_big(whole)) raise_too_large(vm, "C int");
  int64_t c = whole.as_int();
  if (c != static_cast<int32_t>(c)) raise_too_large(vm, "C int");
  if (c < 0 || c >= 0x110000) return return_error(vm, vm.exceptions().ValueError, "chr() arg not in range(0x110000)");
  std::string text;
  append_utf8(text, static_cast<uint32_t>(c));
  return str_value(vm, text);
}
Value format_(Vm& vm, Args& a) { return str_value(vm, format(vm, a[0], text_of(vm, a[1], "format() argument 2"))); }
template <char kind>
Value in_base(Vm& vm, Args& a) {
  const Value v = whole_of(vm, a[0]);
  const std::string spec = std::string("#") + kind;
  return str_value(vm, is_big(v) ? format_big(vm, v, spec) : format_int(vm, v.as_int(), spec, "int"));
}
Value locals(Vm& vm, Args&) { return vm.current_frame() ? locals_of(vm, *vm.current_frame()) : make_dict(vm).take(); }

Value vars(Vm& vm, Args& a) {
  if (!a.has(0)) return locals(vm, a);
  if (Value dict = find_attribute(vm, a[0], vm.names().dict)) return dict;
  raise_type_error(vm, "vars() argument must have __dict__ attribute");
}

// Python's built-in names that the language leaves out: the reason and the replacement.
struct Refused {
  const char *name, *reason;
};
constexpr Refused kRefused[] = {
    {"breakpoint", "there is no debugger yet; use print, or run with -i to inspect names afterwards"},
    {"aiter", "there is no async and await; use iter"},
    {"anext", "there is no async and await; use next"},
};
Value refuse(Vm& vm, Args& a) {
  for (const Refused& row : kRefused)
    if (a.callee->name == row.name)
      raise(vm, vm.exceptions().NotImplementedError,
            std::string(row.name) + "() is not part of the language: " + row.reason);
  raise(vm, vm.exceptions().NotImplementedError, a.callee->name + "() is not part of the language");
}
Value globals(Vm& vm, Args&) {
  Frame* frame = vm.current_frame();
  return frame ? Value(frame->globals) : make_dict(vm).take();
}
// __import__(name, globals=None, locals=None, fromlist=(), level=0); `globals` and `locals` mean nothing:
// a relative name starts from the module that calls.
Value import_(Vm& vm, Args& a) {
  if (!is_kind(a[0], Kind::Str)) raise_type_error(vm, "module name must be a string");
  const std::string_view name = cast<StrObject>(a[0])->view();
  const int64_t level = to_index(vm, a[4]);
  if (level < 0) raise_value_error(vm, "level must be >= 0");
  if (name.empty() && level == 0) raise_value_error(vm, "Empty module name");
  Frame* frame = vm.current_frame();
  ModuleObject* from = frame ? frame->function->module.get() : nullptr;
  if (!from && level > 0)
    raise(vm, vm.exceptions().ImportError, "attempted relative import with no known parent package");
  return vm.importer().import_statement(from, name, static_cast<uint32_t>(level), truth(vm, a[3]));
}
Value dir(Vm& vm, Args& a) {
  if (!a.has(0)) {
    Local<ListObject> names = to_list(vm, locals(vm, a));
    sort_list(vm, names, Value(), false);
    return names.take();
  }
  Type* type = type_of(vm, a[0]);
  const Value* method = lookup_in_type(type, intern(vm, "__dir__"));
  Local<ListObject> names = to_list(vm, call(vm, bind_attribute(vm, *method, a[0], type)));
  sort_list(vm, names, Value(), false);
  return names.take();
}
// From sys.stdin once sys is imported: it may hold text already, or be a script's own object.
Value input(Vm& vm, Args& a) {
  if (a.has(0)) {
    Printer printer(vm, Value());
    printer.add(to_string(vm, a[0]));
    printer.finish(false);
  }
  auto* sys = try_cast<ModuleObject>(dict_get(vm, vm.modules(), "sys"));
  std::string line;
  if (sys) {
    Value text = call_method(vm, dict_get(vm, sys->globals, "stdin"), "readline");
    line = text_of(vm, text, "object.readline()");
  } else {
    line = decode_bytes(vm, make_bytes(vm, vm.read_line().value_or("")).take(), "utf-8", "strict");
  }
  if (line.empty()) raise(vm, vm.exceptions().EOFError, "EOF when reading a line");
  if (line.back() == '\n') line.pop_back();
  return str_value(vm, line);
}

Value exit(Vm& vm, Args& a) {
  std::span<const Value> args(a.positional, a[0].is_none() ? 0 : 1);
  throw ScriptException(make_exception(vm, vm.exceptions().SystemExit, args));
}

struct Row {
  const char* name;
  const char* signature;  // null: raw
  NativeCode code;
};

constexpr Row kFunctions[] = {
    {"print", "*args, sep=' ', end='\n', file=None, flush=False", print},
    {"len", "obj, /", len},
    {"abs", "x, /", abs_},
    {"repr", "obj, /", repr_},
    {"ascii", "obj, /", ascii_},
    {"hash", "obj, /", hash_},
    {"id", "obj, /", id},
    {"callable", "obj, /", callable},
    {"isinstance", "obj, class_or_tuple, /", isinstance},
    {"issubclass", "cls, class_or_tuple, /", issubclass},
    {"getattr", "object, name, default=?, /", getattr},
    {"hasattr", "obj, name, /", hasattr},
    {"setattr", "obj, name, value, /", setattr},
    {"delattr", "obj, name, /", delattr},
    {"iter", "object, sentinel=?, /", iter},
    {"next", "iterator, default=?, /", next},
    {"min", nullptr, min_},
    {"max", nullptr, max_},
    {"sum", "iterable, /, start=0", sum},
    {"any", "iterable, /", any},
    {"all", "iterable, /", all},
    {"sorted", "iterable, /, *, key=None, reverse=False", sorted},
    {"divmod", "x, y, /", divmod},
    {"pow", "base, exp, mod=None", pow_},
    {"round", "number, ndigits=None", round_},
    {"ord", "c, /", ord},
    {"chr", "i, /", chr},
    {"format", "value, format_spec='', /", format_},
    {"bin", "number, /", in_base<'b'>},
    {"oct", "number, /", in_base<'o'>},
    {"hex", "number, /", in_base<'x'>},
    {"vars", "object=?, /", vars},
    {"globals", "", globals},
    {"__import__", "name, globals=None, locals=None, fromlist=None, level=0", import_},
    {"locals", "", locals},
    {"dir", "object=?, /", dir},
    {"input", "prompt=?, /", input},
    {"exit", "code=None", exit},
    {"quit", "code=None", exit},
};

}  // namespace

void add_builtin(Vm& vm, std::string_view name, const Value& value) {
  dict_set(vm, vm.builtins()->globals, name, value);
}

bool is_refused_builtin(std::string_view name) {
  return std::any_of(std::begin(kRefused), std::end(kRefused), [&](const Refused& row) { return row.name == name; });
}

void init_builtin_functions(Vm& vm) {
  for (const Row& row : kFunctions) {
    Local<NativeFunction> f =
        row.signature ? make_native(vm, row.name, row.signature, row.code) : make_raw_native(vm, row.name, row.code);
    add_builtin(vm, row.name, f.take());
  }
  add_text_functions(vm);
  for (const Refused& row : kRefused) add_builtin(vm, row.name, make_raw_native(vm, row.name, refuse).take());
  add_builtin(vm, "__debug__", Value::boolean(true));
}

}  // namespace tsc::interp
