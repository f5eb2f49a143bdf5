// Completion of names at a prompt. Reads namespaces, class dictionaries and instance slots as data
// and runs no script code: no property is evaluated, no __getattr__ is called.
#include "interpreter/embed/complete.h"

#include <algorithm>
#include <cctype>
#include <set>

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

}  // namespace

Completion complete(Vm& vm, ModuleObject* module, std::string_view text, std::size_t cursor) {
  const std::string_view dotted = dotted_name_before(text, cursor);
  const std::size_t dot = dotted.rfind('.');
  const std::string_view prefix = dot == std::string_view::npos ? dotted : dotted.substr(dot + 1);
  Completion completion{cursor - prefix.size(), {}};
  NameSet names;
  if (dot == std::string_view::npos) {
    add_keywords(names);
    add_keys(module->globals, names);
    add_keys(vm.builtins()->globals, names);
  } else {
    Value value;
    for (std::size_t at = 0; at <= dot;) {
      const std::size_t end = dotted.find('.', at);
      const std::string_view part = dotted.substr(at, end - at);
      if (at == 0) {
        value = dict_get(vm, module->globals, part);
        if (value.is_undefined()) value = dict_get(vm, vm.builtins()->globals, part);
      } else {
        value = plain_attribute(vm, value, part);
      }
      if (value.is_undefined()) return completion;
      at = end + 1;
    }
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
