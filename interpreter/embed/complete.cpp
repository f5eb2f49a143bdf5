// Completion of names at a prompt. Reads namespaces, class dictionaries and instance slots as data
// and runs no script code: no property is evaluated, no __getattr__ is called.
#include "interpreter/embed/complete.h"

#include <algorithm>
#include <cctype>

#include "interpreter/builtins/builtins.h"
#include "interpreter/embed/describe.h"
#include "interpreter/vm/inspect.h"
#include "lang/token.h"

namespace tsc::embed {
namespace {

using namespace interp;
bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }

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
  for (uint32_t slot = 0; slot < state->shape->size(); ++slot) names.emplace(state->shape->name(slot)->view());
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
  const bool is_plain =
      site.found == Found::InstanceSlot || (site.found == Found::ClassAttribute && !site.data_descriptor);
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

// ---- What stands around the cursor

// Walks over the text's strings, comments and brackets.
struct Surroundings {
  struct Bracket {
    std::size_t begin = std::string_view::npos;
    bool has_comma = false, has_colon = false;  // directly inside
  };
  std::vector<Bracket> open;  // at the end of the text
  Bracket last;               // the string or the brackets that ended last
  std::size_t end = 0;        // and where
  bool in_string = false;
};

// Behind the string that begins at `begin`; beyond the text when it does not end.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const std::string quotes(text.compare(begin, 3, std::string(3, text[begin])) == 0 ? 3 : 1, text[begin]);
  std::size_t at = begin + quotes.size();
  for (; at < text.size() && text.compare(at, quotes.size(), quotes) != 0; ++at)
    if (text[at] == '\\') ++at;
  return at < text.size() ? at + quotes.size() : text.size() + 1;
}

Surroundings surroundings_of(std::string_view text) {
  Surroundings found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
    } else if (c == '"' || c == '\'') {
      found.end = end_of_string(text, i);
      found.last = {i};
      found.in_string = found.end > text.size();
      i = found.end - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      found.open.push_back({i});
    } else if ((c == ')' || c == ']' || c == '}') && !found.open.empty()) {
      found.last = found.open.back();
      found.end = i + 1;
      found.open.pop_back();
    } else if (!found.open.empty()) {
      found.open.back().has_comma |= c == ',';
      found.open.back().has_colon |= c == ':';
    }
  }
  return found;
}

// ---- Literals

bool is_keyword(std::string_view word) {
  NameSet keywords;
  add_keywords(keywords);
  return keywords.count(word) != 0;
}

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

// The type of the literal that ends the text; null where something else does.
Type* literal_type(Vm& vm, std::string_view text) {
  const Surroundings around = surroundings_of(text);
  const std::size_t begin = around.last.begin;
  if (around.in_string || around.end != text.size() || begin == std::string_view::npos) return nullptr;
  const std::string_view word = dotted_name_before(text, begin);
  const char opening = text[begin];
  if (opening == '"' || opening == '\'') {
    const bool is_bytes = word.find_first_of("bB") != std::string_view::npos;
    return is_bytes ? vm.types().bytes : vm.types().str;
  }
  // Behind a name, a bracket or a string it is a call or an index.
  const std::string_view before = without_blanks(text.substr(0, begin));
  const std::string_view last = dotted_name_before(before, before.size());
  const bool is_behind = !before.empty() && std::string_view(")]}\"'").find(before.back()) != std::string_view::npos;
  if (is_behind || (!last.empty() && !is_keyword(last))) return nullptr;
  const std::string_view inside = without_blanks(text.substr(begin + 1, text.size() - begin - 2));
  if (opening == '[') return vm.types().list;
  if (opening == '{') {
    const bool is_dict = inside.empty() || around.last.has_colon || inside.starts_with("**");
    return is_dict ? vm.types().dict : vm.types().set;
  }
  return inside.empty() || around.last.has_comma ? vm.types().tuple : literal_type(vm, inside);
}

// ---- Arguments of the call around the cursor

void add_keyword_arguments(Vm& vm, ModuleObject* module, std::string_view text, std::string_view prefix,
                           NameSet& names) {
  const Surroundings around = surroundings_of(text.substr(0, text.size() - prefix.size()));
  if (around.in_string || around.open.empty() || text[around.open.back().begin] != '(') return;
  const std::string_view callee = dotted_name_before(text, around.open.back().begin);
  // A keyword begins an argument.
  std::size_t before = text.size() - prefix.size();
  while (before > 0 && (text[before - 1] == ' ' || text[before - 1] == '\n')) --before;
  if (before == 0 || (text[before - 1] != '(' && text[before - 1] != ',')) return;
  const Value value = plain_value(vm, module, callee);
  if (value.is_undefined()) return;
  for (const std::string& name : keyword_names(value)) names.insert(name + "=");
}

}  // namespace

void add_keys(DictObject* dict, NameSet& names) {
  if (dict == nullptr) return;
  for (uint32_t place = 0; place < dict->table.used(); ++place) {
    const Value& key = dict->table.entry(place).key;
    if (const auto* text = try_cast<StrObject>(key)) names.emplace(text->view());
  }
}

Completion complete(Vm& vm, ModuleObject* module, std::string_view text, std::size_t cursor) {
  const std::string_view dotted = dotted_name_before(text, cursor);
  const std::size_t dot = dotted.rfind('.');
  const std::string_view prefix = dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
  Completion completion{cursor - prefix.size(), {}};
  NameSet names;
  const std::string_view parent = dot == std::string_view::npos ? "" : dotted.substr(0, dot);
  if (complete_import(vm, text.substr(0, cursor), parent, names)) {
    // That is all that may stand there.
  } else if (parent.empty() && dot == std::string_view::npos) {
    add_keyword_arguments(vm, module, text, prefix, names);
    add_keywords(names);
    add_keys(module->globals, names);
    NameSet builtins;
    add_keys(vm.builtins()->globals, builtins);
    std::erase_if(builtins, is_refused_builtin);
    names.merge(builtins);
  } else if (Type* type = dot == 0 ? literal_type(vm, text.substr(0, cursor - dotted.size())) : nullptr) {
    add_type(type, names);
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
