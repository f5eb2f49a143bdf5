// Completion of names at a prompt. Reads namespaces, class dictionaries and instance slots as data
// and runs no script code: no property is evaluated, no __getattr__ is called.
#include "interpreter/embed/complete.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>

#include "interpreter/embed/describe.h"
#include "interpreter/modules/importer.h"
#include "interpreter/vm/inspect.h"
#include "lang/token.h"

namespace tsc::embed {
namespace {

using namespace interp;
using NameSet = std::set<std::string, std::less<>>;

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0;
}

void add_keys(DictObject* dict, NameSet& names) {
  if (dict == nullptr) return;
  for (uint32_t place = 0; place < dict->table.used(); ++place) {
    const Value& key = dict->table.entry(place).key;
    if (const auto* text = try_cast<StrObject>(key)) names.emplace(text->view());
  }
}

void add_type(Type* type, NameSet& names) {
  for (Type* base : type->mro) add_keys(base->attributes, names);
}

void add_slots(Object* object, NameSet& names) {
  const InstanceState* state = instance_state(object);
  if (state == nullptr || state->shape == nullptr) return;
  if (state->shape->dictionary_mode()) {
    add_keys(try_cast<DictObject>(state->slots[0]), names);
    return;
  }
  for (uint32_t slot = 0; slot < state->shape->size(); ++slot)
    names.emplace(state->shape->name(slot)->view());
}

void add_attributes(Vm& vm, const Value& value, NameSet& names) {
  if (auto* module = try_cast<ModuleObject>(value)) {
    add_keys(module->globals, names);
    return;
  }
  if (auto* type = try_cast<Type>(value)) add_type(type, names);
  add_type(type_of(vm, value), names);
  if (value.is_object()) add_slots(value.object(), names);
}

// The value of one step of a dotted name, or Undefined where reading it could run code.
Value plain_attribute(Vm& vm, const Value& value, std::string_view name) {
  const Local<StrObject> interned = intern(vm, name);
  if (auto* module = try_cast<ModuleObject>(value)) return dict_get(vm, module->globals, name);
  const AttributeSite site = inspect_attribute(vm, value, interned);
  const bool is_plain = site.found == Found::InstanceSlot ||
                        (site.found == Found::ClassAttribute && !site.data_descriptor);
  return is_plain ? site.value : Value();
}

void add_keywords(NameSet& names) {
  static constexpr std::string_view kKeywords[] = {
#define TSC_TOKEN(name, text)
#define TSC_KEYWORD(name, text) text,
#include "lang/tokens.def"
#undef TSC_TOKEN
#undef TSC_KEYWORD
  };
  for (std::string_view keyword : kKeywords) names.emplace(keyword);
}

std::string_view dotted_name_before(std::string_view text, std::size_t cursor) {
  std::size_t begin = cursor;
  while (begin > 0 && (is_name_character(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  return text.substr(begin, cursor - begin);
}

// What a dotted name means, as far as reading it runs no code; Undefined otherwise.
Value plain_value(Vm& vm, ModuleObject* module, std::string_view dotted) {
  Value value;
  for (std::size_t at = 0; at < dotted.size();) {
    const std::size_t end = std::min(dotted.find('.', at), dotted.size());
    const std::string_view part = dotted.substr(at, end - at);
    if (at == 0) {
      value = dict_get(vm, module->globals, part);
      if (value.is_undefined()) value = dict_get(vm, vm.builtins()->globals, part);
    } else {
      value = plain_attribute(vm, value, part);
    }
    if (value.is_undefined()) return value;
    at = end + 1;
  }
  return value;
}

// ---- Arguments of the call around the cursor

// Walks over the text's strings, comments and brackets. `open`: where the brackets that are open at
// the end begin.
struct Surroundings {
  std::vector<std::size_t> open;
  bool in_string = false;
};

Surroundings surroundings_of(std::string_view text) {
  Surroundings found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"' || c == '\'') {
      const std::string quotes(text.compare(i, 3, std::string(3, c)) == 0 ? 3 : 1, c);
      for (i += quotes.size(); i < text.size() && text.compare(i, quotes.size(), quotes) != 0; ++i)
        if (text[i] == '\\') ++i;
      found.in_string = i >= text.size();
      i += quotes.size() - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      found.open.push_back(i);
    } else if ((c == ')' || c == ']' || c == '}') && !found.open.empty()) {
      found.open.pop_back();
    }
  }
  return found;
}

void add_keyword_arguments(Vm& vm, ModuleObject* module, std::string_view text,
                           std::string_view prefix, NameSet& names) {
  const Surroundings around = surroundings_of(text.substr(0, text.size() - prefix.size()));
  if (around.in_string || around.open.empty() || text[around.open.back()] != '(') return;
  const std::string_view callee = dotted_name_before(text, around.open.back());
  // A keyword begins an argument.
  std::size_t before = text.size() - prefix.size();
  while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\n')) --before;
  if (before == 0 || (text[before - 1] != '(' && text[before - 1] != ',')) return;
  const Value value = plain_value(vm, module, callee);
  if (value.is_undefined()) return;
  for (const std::string& name : keyword_names(value)) names.insert(name + "=");
}

// ---- Modules

bool is_import_position(std::string_view text) {
  const std::size_t line = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
  const std::string_view statement =
      text.substr(std::min(text.find_first_not_of(' ', line), text.size()));
  if (statement.starts_with("import ")) return true;
  return statement.starts_with("from ") && statement.find(" import ") == std::string_view::npos;
}

// Adds the part of a module's file name that follows `package` ("torch/nn/"), without ending.
void add_module_file(std::string_view file, const std::string& package, NameSet& names) {
  if (!file.starts_with(package)) return;
  std::string_view rest = file.substr(package.size());
  const std::size_t slash = rest.find('/');
  if (slash == std::string_view::npos && !rest.ends_with(".tsc")) return;
  rest = slash == std::string_view::npos ? rest.substr(0, rest.size() - 4) : rest.substr(0, slash);
  if (!rest.empty() && rest != "__init__" && rest != "__main__") names.emplace(rest);
}

void add_modules(Vm& vm, std::string_view parent, NameSet& names) {
  namespace fs = std::filesystem;
  std::string package(parent);
  std::replace(package.begin(), package.end(), '.', '/');
  if (!package.empty()) package += '/';
  for (std::size_t i = 0; i < vm.config().embedded_count; ++i)
    add_module_file(vm.config().embedded[i].name, package, names);
  std::vector<std::string> folders = vm.config().module_path;
  folders.emplace_back(".");
  for (const std::string& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator at(folder + "/" + package, error), end; !error && at != end;
         at.increment(error)) {
      const bool is_package = fs::exists(at->path() / "__init__.tsc", error);
      if (is_package)
        names.insert(at->path().filename().string());
      else
        add_module_file(at->path().filename().string(), "", names);
    }
  }
  for (const auto& [name, make] : vm.importer().natives()) {
    const std::string prefix = parent.empty() ? "" : std::string(parent) + ".";
    if (name.compare(0, prefix.size(), prefix) == 0)
      names.insert(name.substr(prefix.size(), name.find('.', prefix.size()) - prefix.size()));
  }
}

}  // namespace

Completion complete(Vm& vm, ModuleObject* module, std::string_view text, std::size_t cursor) {
  const std::string_view dotted = dotted_name_before(text, cursor);
  const std::size_t dot = dotted.rfind('.');
  const std::string_view prefix = dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
  Completion completion{cursor - prefix.size(), {}};
  NameSet names;
  const std::string_view parent = dot == std::string_view::npos ? "" : dotted.substr(0, dot);
  if (is_import_position(text)) {
    add_modules(vm, parent, names);
  } else if (parent.empty() && dot == std::string_view::npos) {
    add_keyword_arguments(vm, module, text, prefix, names);
    add_keywords(names);
    add_keys(module->globals, names);
    add_keys(vm.builtins()->globals, names);
  } else {
    const Value value = plain_value(vm, module, parent);
    if (value.is_undefined()) return completion;
    add_attributes(vm, value, names);
  }
  for (const std::string& name : names) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    // Private names show only when they are asked for.
    if (name[0] == '_' && (prefix.empty() || prefix[0] != '_')) continue;
    completion.names.push_back(name);
  }
  return completion;
}

}  // namespace tsc::embed
