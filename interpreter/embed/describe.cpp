#include "interpreter/embed/describe.h"
#include "interpreter/vm/class_builder.h"

#include <algorithm>

#include "interpreter/vm/call.h"
#include "interpreter/vm/native.h"
#include "interpreter/vm/operations.h"
#include "lang/bytecode/bytecode.h"
#include "lang/parse.h"

namespace tsc::embed {
namespace {

using namespace interp;

// ---- Signatures

// The function behind a callable, and whether its first parameter is given already.
struct Target {
  const FunctionObject* function = nullptr;
  const NativeFunction* native = nullptr;
  bool bound = false;
};

Value in_class(Type* type, std::string_view name) {
  for (Type* base : type->mro)
    for (uint32_t place = 0; place < base->attributes->table.used(); ++place) {
      const auto& entry = base->attributes->table.entry(place);
      const auto* key = try_cast<StrObject>(entry.key);
      if (key != nullptr && key->view() == name) return entry.value;
    }
  return Value();
}

Target target_of(const Value& value, bool bound = false) {
  if (auto* function = try_cast<FunctionObject>(value)) return {function, nullptr, bound};
  if (auto* native = try_cast<NativeFunction>(value)) return {nullptr, native, false};
  if (auto* method = try_cast<BoundMethod>(value)) return target_of(method->function, true);
  if (auto* type = try_cast<Type>(value)) {
    const Value init = in_class(type, "__init__");
    return try_cast<FunctionObject>(init) ? target_of(init, true) : Target{};
  }
  if (value.is_object() && value.object()->kind == Kind::Instance) {
    Type* type = value.object()->type;
    for (const char* name : {"forward", "__call__"}) {
      const Value method = in_class(type, name);
      if (try_cast<FunctionObject>(method)) return target_of(method, true);
    }
  }
  return {};
}

std::string signature_text(Vm& vm, const Target& target) {
  if (target.native != nullptr) {
    if (target.native->signature == nullptr) return "(...)";
    std::string text = target.native->signature->text();
    for (size_t at; (at = text.find("=?")) != std::string::npos;) text.replace(at, 2, "=...");
    return "(" + text + ")";
  }
  if (target.function == nullptr) return "";
  const FunctionObject& f = *target.function;
  const lang::ParameterList& p = f.code->code->parameters;
  std::string out;
  const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
  const size_t plain = p.positional - f.defaults.size();
  for (size_t i = target.bound ? 1 : 0; i < p.positional; ++i) {
    add(p.names[i] + (i >= plain ? "=" + repr(vm, f.defaults[i - plain]) : ""));
    if (i + 1 == p.positional_only) add("/");
  }
  size_t at = p.positional + p.keyword_only;
  if (p.has_varargs) add("*" + p.names[at++]);
  else if (p.keyword_only != 0) add("*");
  for (size_t i = 0; i < p.keyword_only; ++i) {
    const bool has_default = i < f.keyword_defaults.size() && !f.keyword_defaults[i].is_undefined();
    add(p.names[p.positional + i] + (has_default ? "=" + repr(vm, f.keyword_defaults[i]) : ""));
  }
  if (p.has_varkwargs) add("**" + p.names[at]);
  return "(" + out + ")";
}

// ---- Documentation

std::string text_attribute(Vm& vm, const Value& value, std::string_view name) {
  try {
    const Value found = get_attribute(vm, value, name);
    const auto* text = try_cast<StrObject>(found);
    return text != nullptr ? std::string(text->view()) : "";
  } catch (const ScriptException&) {
    return "";
  }
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

// The common indentation of all lines but the first goes, and empty lines at both ends.
std::string indented_doc(const std::string& doc) {
  std::vector<std::string> lines = lines_of(doc);
  size_t common = std::string::npos;
  for (size_t i = 1; i < lines.size(); ++i) common = std::min(common, lines[i].find_first_not_of(' '));
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    const size_t from =
        i == 0 ? std::min(lines[0].find_first_not_of(' '), lines[0].size()) : std::min(common, lines[i].size());
    const std::string line = lines[i].substr(from);
    out += line.find_first_not_of(' ') == std::string::npos ? "\n" : "    " + line + "\n";
  }
  out.resize(out.find_last_not_of(" \n") + 1);
  out.erase(0, std::min(out.find_first_not_of('\n'), out.size()));
  return out.empty() ? out : out + "\n";
}

// What the library's module _docs says of a name: functions that C++ implements have their text there.
std::string noted_doc(Vm& vm, const Value& value) {
  std::string module = text_attribute(vm, value, "__module__");
  const std::string name = text_attribute(vm, value, "__qualname__");
  if (name.empty()) module = try_cast<ModuleObject>(value) ? cast<ModuleObject>(value)->name : "";
  if (module.empty()) return "";
  module.erase(0, module.find_first_not_of('_'));
  if (module == "builtins") module = "torch";  // where the primitives are public
  if (module == "Tensor") module = "torch.Tensor";
  try {
    const Value table = get_attribute(vm, vm.import_module("_docs").value(), "DOCS");
    const std::string key = name.empty() ? module : module + "." + name;
    const Value found = dict_get(vm, cast<DictObject>(table), str_value(vm, key));
    const auto* text = try_cast<StrObject>(found);
    return text != nullptr ? std::string(text->view()) : "";
  } catch (const ScriptException&) {
    return "";
  }
}

std::string documentation(Vm& vm, const Value& value) {
  std::string doc = indented_doc(text_attribute(vm, value, "__doc__"));
  const std::string noted = indented_doc(noted_doc(vm, value));
  if (!doc.empty() && !noted.empty()) doc += "\n";
  return doc + noted;
}

// ---- Source

struct Place {
  std::shared_ptr<const lang::Source> source;
  lang::Span span;
};

lang::ClassDef* find_class(lang::List<lang::Stmt*> block, std::string_view name) {
  for (lang::Stmt* s : block) {
    auto* c = lang::try_as<lang::ClassDef>(s);
    if (c != nullptr && c->name == name) return c;
    if (c != nullptr)
      if (lang::ClassDef* inner = find_class(c->body, name)) return inner;
  }
  return nullptr;
}

// A class has no place of its own: it is looked for in the file of one of its methods.
Place class_place(Type* type) {
  for (uint32_t place = 0; place < type->attributes->table.used(); ++place) {
    const auto* f = try_cast<FunctionObject>(type->attributes->table.entry(place).value);
    if (f == nullptr || !f->code->code->source) continue;
    lang::Arena arena;
    const lang::ParseResult parsed = lang::parse_module(*f->code->code->source, arena);
    const lang::ClassDef* c = parsed.module ? find_class(parsed.module->body, own_name(type)) : nullptr;
    if (c != nullptr) return {f->code->code->source, c->span};
  }
  return {};
}

Place place_of(const Value& value) {
  if (auto* type = try_cast<Type>(value)) return class_place(type);
  const Target target = target_of(value);
  if (target.function == nullptr) return {};
  return {target.function->code->code->source, target.function->code->code->span};
}

// ---- The page

std::string title_of(Vm& vm, const Value& value) {
  if (auto* module = try_cast<ModuleObject>(value)) return "module " + module->name;
  const Target target = target_of(value);
  if (auto* type = try_cast<Type>(value)) {
    std::string bases;
    for (Type* base : type->bases)
      if (base->name != "object") bases += (bases.empty() ? "" : ", ") + own_name(base);
    const std::string signature = signature_text(vm, target);
    return "class " + own_name(type) + (bases.empty() ? "" : "(" + bases + ")") +
           (signature.empty() ? "" : "\n" + own_name(type) + signature);
  }
  const std::string name = text_attribute(vm, value, "__name__");
  if (!name.empty()) return name + signature_text(vm, target);
  std::string shown = repr(vm, value);
  if (shown.size() > 400) shown = shown.substr(0, 400) + "...";
  return type_of(vm, value)->name + " " + shown;
}

// What a module or class offers, one name a line with the first line of its documentation.
std::string members_of(Vm& vm, const Value& value) {
  DictObject* names = nullptr;
  if (auto* module = try_cast<ModuleObject>(value)) names = module->globals;
  if (auto* type = try_cast<Type>(value)) names = type->attributes;
  std::string out;
  for (uint32_t place = 0; names != nullptr && place < names->table.used(); ++place) {
    const auto& entry = names->table.entry(place);
    const auto* key = try_cast<StrObject>(entry.key);
    if (key == nullptr || key->view().empty() || key->view()[0] == '_') continue;
    if (try_cast<ModuleObject>(entry.value)) continue;
    const Target target = target_of(entry.value);
    std::string doc = text_attribute(vm, entry.value, "__doc__");
    if (target.function == nullptr && target.native == nullptr && !try_cast<Type>(entry.value)) doc.clear();
    doc = doc.substr(0, doc.find('\n'));
    out += "    " + std::string(key->view()) + signature_text(vm, target) + (doc.empty() ? "" : " - " + doc) + "\n";
  }
  return out.empty() ? out : "\n" + out;
}

// The function inside what functools.wraps and its like have dressed.
Value unwrapped(Vm& vm, Value value) {
  const Local<StrObject> name = intern(vm, "__wrapped__");
  while (is_kind(value, Kind::Function)) {
    const Value inner = find_attribute(vm, value, name.get());
    if (inner.is_undefined()) break;
    value = inner;
  }
  return value;
}

Value help(Vm& vm, Args& args) {
  std::string text = "help(x) tells what x is: its signature, documentation and place.\n";
  if (args.has(0)) text = describe(vm, args[0], false);
  vm.write(Stream::Out, text);
  return Value::none();
}

}  // namespace

std::string describe(Vm& vm, const Value& value, bool with_source) {
  std::string out = title_of(vm, value) + "\n";
  const auto* method = try_cast<BoundMethod>(value);
  out += documentation(vm, method ? method->function : value);
  const Place place = place_of(unwrapped(vm, value));
  if (!with_source || !place.source) out += members_of(vm, value);
  if (!place.source) return out;
  const uint32_t first = place.source->line_of(place.span.begin);
  out += "defined in " + place.source->name() + ":" + std::to_string(first) + "\n";
  if (!with_source) return out;
  const uint32_t last = place.source->line_of(std::max(place.span.begin + 1, place.span.end) - 1);
  out += "\n";
  for (uint32_t line = first; line <= last; ++line) out += std::string(place.source->line_text(line)) + "\n";
  return out;
}

std::vector<std::string> keyword_names(const Value& value) {
  const Target target = target_of(value);
  std::vector<std::string> names;
  if (target.function != nullptr) {
    const lang::ParameterList& p = target.function->code->code->parameters;
    const size_t first = std::max<size_t>(p.positional_only, target.bound ? 1 : 0);
    for (size_t i = first; i < size_t{p.positional} + p.keyword_only; ++i) names.push_back(p.names[i]);
  } else if (target.native != nullptr && target.native->signature != nullptr) {
    const std::string& text = target.native->signature->text();
    const size_t slash = text.find('/');
    for (const auto& parameter : target.native->signature->parameters()) {
      const size_t at = text.find(parameter.name);
      const bool positional_only = slash != std::string::npos && at < slash;
      if (!positional_only && parameter.name != "self") names.push_back(parameter.name);
    }
  }
  return names;
}

void install_help(Vm& vm) {
  Local<NativeFunction> native = make_native(vm, "help", "object=?, /", help);
  dict_set(vm, vm.builtins()->globals, "help", native.value());
}

}  // namespace tsc::embed
