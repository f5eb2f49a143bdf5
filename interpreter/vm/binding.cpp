// Argument binding of script functions. What does not fit is no throw: its error waits in the Vm, and the answer is
// false.
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/iteration.h"
#include "lang/bytecode/bytecode.h"
#include "lang/diagnostic.h"

namespace tsc::interp {

namespace {

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += names.size() == 2 ? " and " : i + 1 == names.size() ? ", and " : ", ";
    out += "'" + names[i] + "'";
  }
  return out;
}

struct Binder {
  Vm& vm;
  FunctionObject* function;
  const lang::ParameterList& parameters;
  Value* registers;

  std::string called() const { return std::string(function->qualified_name->view()) + "()"; }
  uint32_t positional() const { return parameters.positional; }
  uint32_t rest_register() const { return parameters.positional + parameters.keyword_only; }

  bool fail(const std::string& message) {
    return vm.return_raised(make_exception(vm, vm.exceptions().TypeError, message)), false;
  }

  bool too_many(const Args& args) {
    size_t defaults = function->defaults.size();
    std::string takes = defaults
                            ? "from " + std::to_string(positional() - defaults) + " to " + std::to_string(positional())
                            : std::to_string(positional());
    uint32_t keyword_only_given = 0;
    for (uint32_t i = 0; i < parameters.keyword_only; ++i)
      if (registers[positional() + i]) ++keyword_only_given;
    bool plural = defaults || positional() != 1;
    std::string message = called() + " takes " + takes + " positional argument" + (plural ? "s" : "") + " but " +
                          std::to_string(args.count);
    if (keyword_only_given)
      message += std::string(" positional argument") + (args.count != 1 ? "s" : "") + " (and " +
                 std::to_string(keyword_only_given) + " keyword-only argument" + (keyword_only_given != 1 ? "s" : "") +
                 ") were given";
    else message += args.count == 1 ? " was given" : " were given";
    Local<ExceptionObject> e = make_exception(vm, vm.exceptions().TypeError, message);
    if (args.count == positional() + 1 && lacks_self(args.positional[0]))
      e->hint = "Is 'self' missing as its first parameter?";
    return vm.return_raised(std::move(e)), false;
  }

  // Whether the function stands in a class of `first`, and its first parameter is not there for the object.
  bool lacks_self(const Value& first) const {
    std::string_view name = function->qualified_name->view();
    const size_t dot = name.rfind('.');
    if (dot == name.npos || (positional() > 0 && parameters.names[0] == "self")) return false;
    name = name.substr(0, dot);
    if (const size_t outer = name.rfind('.'); outer != name.npos) name.remove_prefix(outer + 1);
    for (const Type* type : type_of(vm, first)->mro)
      if (own_name(type) == name && type != vm.types().object) return true;
    return false;
  }

  bool unexpected_keyword(StrObject* name) {
    std::vector<std::string_view> names;
    for (uint32_t i = parameters.positional_only; i < rest_register(); ++i) {
      if (parameters.names[i] == name->view()) continue;
      names.push_back(parameters.names[i]);
    }
    std::string message = called() + " got an unexpected keyword argument '" + std::string(name->view()) + "'";
    Local<ExceptionObject> e = make_exception(vm, vm.exceptions().TypeError, message);
    std::string_view near = lang::nearest_word(name->view(), names);
    if (!near.empty()) e->hint = "Did you mean: '" + std::string(near) + "'?";
    return vm.return_raised(std::move(e)), false;
  }

  // Parameters before / that a call without ** to take them gives by keyword.
  void collect_positional_only(const Args& args, std::vector<std::string>& wrong) const {
    for (uint32_t i = 0; i < parameters.positional_only; ++i)
      for (uint32_t k = 0; k < args.keyword_count; ++k)
        if (parameters.names[i] == args.keyword_names[k]->view()) wrong.push_back(parameters.names[i]);
  }

  bool bind_keyword(StrObject* name, const Value& value, DictObject* rest, std::vector<std::string>& wrong_positional) {
    const auto& interned = function->code->parameter_names;
    const bool is_name = name->interned();  // two such are equal only where they are one
    for (uint32_t i = parameters.positional_only; i < rest_register(); ++i) {
      if (interned[i].get() != name && (is_name || !str_equal(interned[i], name))) continue;
      if (registers[i]) return fail(called() + " got multiple values for argument '" + std::string(name->view()) + "'");
      registers[i] = value;
      return true;
    }
    if (rest) {
      rest->table.insert(vm, Value(name), value);
      return true;
    }
    for (uint32_t i = 0; i < parameters.positional_only; ++i)
      if (parameters.names[i] == name->view()) {
        wrong_positional.push_back(parameters.names[i]);
        return true;
      }
    if (StrObject* parameter = other_spelling(vm, function->module.get(), parameters, name))
      return bind_keyword(intern(vm, parameter->view()).get(), value, rest, wrong_positional);
    if (!names_the_row(vm, function->module.get(), parameters, name)) return unexpected_keyword(name);
    Value& row = registers[rest_register()];
    if (!cast<TupleObject>(row)->span().empty())
      return fail(called() + " got multiple values for argument '" + std::string(name->view()) + "'");
    row = make_tuple(vm, std::span<const Value>(&value, 1)).take();
    return true;
  }

  bool fill_positional_defaults() {
    uint32_t first_default = positional() - static_cast<uint32_t>(function->defaults.size());
    std::vector<std::string> missing;
    for (uint32_t i = 0; i < positional(); ++i) {
      if (registers[i]) continue;
      if (i >= first_default) registers[i] = function->defaults[i - first_default];
      else missing.push_back(parameters.names[i]);
    }
    return report_missing(missing, "positional");
  }

  bool fill_keyword_defaults() {
    std::vector<std::string> missing;
    for (uint32_t i = 0; i < parameters.keyword_only; ++i) {
      Value& target = registers[positional() + i];
      if (target) continue;
      if (i < function->keyword_defaults.size() && function->keyword_defaults[i])
        target = function->keyword_defaults[i];
      else missing.push_back(parameters.names[positional() + i]);
    }
    return report_missing(missing, "keyword-only");
  }

  bool report_missing(const std::vector<std::string>& missing, const char* kind) {
    if (missing.empty()) return true;
    return fail(called() + " missing " + std::to_string(missing.size()) + " required " + kind + " argument" +
                (missing.size() == 1 ? "" : "s") + ": " + quoted_list(missing));
  }
};

}  // namespace

StrObject* other_spelling(Vm& vm, ModuleObject* module, const lang::ParameterList& parameters, StrObject* name) {
  const Value table = dict_get(vm, module->globals.get(), "__keyword_aliases__");
  if (!is_kind(table, Kind::Dict)) return nullptr;
  const Value found = dict_get(vm, cast<DictObject>(table), Value(name));
  if (!is_kind(found, Kind::Str)) return nullptr;
  const std::string_view wanted = cast<StrObject>(found)->view();
  const auto& names = parameters.names;
  for (uint32_t i = parameters.positional_only; i < parameters.positional + parameters.keyword_only; ++i)
    if (wanted.empty() ? i == 0 : names[i] == wanted) return intern(vm, names[i]).get();
  return nullptr;
}

bool names_the_row(Vm& vm, ModuleObject* module, const lang::ParameterList& parameters, StrObject* name) {
  return parameters.has_varargs && parameters.names[parameters.positional + parameters.keyword_only] == name->view() &&
         is_kind(dict_get(vm, module->globals.get(), "__keyword_aliases__"), Kind::Dict);
}

bool bind_arguments(Vm& vm, FunctionObject* function, const Args& args, Value* registers) {
  if (args.keyword_count == 0 && lacks_defaults_only(function, args.count)) {
    for (uint32_t i = 0; i < args.count; ++i) registers[i] = args.positional[i];
    fill_last_defaults(function, args.count, registers);
    return true;
  }
  const lang::ParameterList& parameters = function->code->code.signature().parameters;
  Binder binder{vm, function, parameters, registers};
  uint32_t positional = parameters.positional;
  uint32_t direct = std::min(args.count, positional);
  for (uint32_t i = 0; i < direct; ++i) registers[i] = args.positional[i];
  uint32_t next = binder.rest_register();
  if (parameters.has_varargs) {
    uint32_t extra = args.count - direct;
    registers[next++] = make_tuple(vm, std::span<const Value>(args.positional + direct, extra)).take();
  }
  DictObject* rest = nullptr;
  if (parameters.has_varkwargs) {
    Local<DictObject> dict = make_dict(vm);
    rest = dict.get();
    registers[next] = dict.take();
  }
  std::vector<std::string> wrong_positional;
  if (!rest) binder.collect_positional_only(args, wrong_positional);
  for (uint32_t i = 0; wrong_positional.empty() && i < args.keyword_count; ++i)
    if (!binder.bind_keyword(args.keyword_names[i], args.keyword_values[i], rest, wrong_positional)) return false;
  if (!wrong_positional.empty()) {
    std::string names;
    for (const std::string& name : wrong_positional) names += (names.empty() ? "" : ", ") + name;
    return binder.fail(binder.called() + " got some positional-only arguments passed as keyword arguments: '" + names +
                       "'");
  }
  if (args.count > positional && !parameters.has_varargs) return binder.too_many(args);
  return binder.fill_positional_defaults() && (!parameters.keyword_only || binder.fill_keyword_defaults());
}

bool bind_frame(Vm& vm, Frame* frame, const Args& args, Value& result) {
  FunctionObject* function = frame->function;
  try {
    const bool fits = bind_arguments(vm, function, args, frame->registers);
    if (fits && !function->code->code.signature().is_generator) return true;
    result = fits ? make_generator(vm, function, frame->registers).take() : Value();
  } catch (...) {
    drop_unlinked_frame(vm, frame);
    throw;
  }
  drop_unlinked_frame(vm, frame);
  return false;
}

}  // namespace tsc::interp
