#include "interpreter/capture/outside/object_path.h"

#include <cctype>
#include <deque>
#include <unordered_set>

#include "interpreter/value/containers.h"
#include "interpreter/value/string.h"
#include "interpreter/value/type.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp {
namespace {

constexpr size_t kMostObjects = 20000;

bool is_number(std::string_view name) {
  for (char c : name)
    if (!std::isdigit(static_cast<unsigned char>(c))) return false;
  return !name.empty();
}

// Breadth first, so that the shortest path is found.
class Search {
 public:
  explicit Search(const Object* wanted) : wanted_(wanted) {}

  void add(const Value& v, const std::string& path) {
    if (!v.is_object() || !found_.empty()) return;
    if (v.object() == wanted_ && !is_variable_) found_ = path;
    if (seen_.size() < kMostObjects && seen_.insert(v.object()).second) work_.push_back({v.object(), path});
  }
  std::string run() {
    is_variable_ = false;
    while (!work_.empty() && found_.empty()) {
      const auto [object, path] = std::move(work_.front());
      work_.pop_front();
      if (object != wanted_) look_into(object, path);
    }
    return found_;
  }

 private:
  void look_into(Object* object, const std::string& path) {
    switch (object->kind) {
      case Kind::Instance: return look_into_attributes(object, path);
      case Kind::List: {
        const auto& items = static_cast<ListObject*>(object)->items;
        for (size_t i = 0; i < items.size(); ++i) add(items[i], path + "[" + std::to_string(i) + "]");
        return;
      }
      case Kind::Tuple: {
        const std::span<const Value> items = static_cast<TupleObject*>(object)->span();
        for (size_t i = 0; i < items.size(); ++i) add(items[i], path + "[" + std::to_string(i) + "]");
        return;
      }
      case Kind::Dict: {
        const auto& table = static_cast<DictObject*>(object)->table;
        for (uint32_t i = 0; i < table.used(); ++i)
          if (is_kind(table.entry(i).key, Kind::Str))
            add(table.entry(i).value, path + "['" + std::string(cast<StrObject>(table.entry(i).key)->view()) + "']");
        return;
      }
      case Kind::Cell: return add(static_cast<CellObject*>(object)->content, path);
      case Kind::BoundMethod: return add(static_cast<BoundMethod*>(object)->self, path + ".__self__");
      default: return;
    }
  }

  void look_into_attributes(Object* object, const std::string& path) {
    const InstanceState* state = instance_state(object);
    if (!state || !state->shape) return;
    if (state->shape->dictionary_mode()) return look_into_names(cast<DictObject>(state->slots[0])->table, path);
    for (uint32_t i = 0; i < state->shape->size(); ++i)
      add(state->slots[i], path + step(state->shape->name(i)->view()));
  }

  void look_into_names(const Table& table, const std::string& path) {
    for (uint32_t i = 0; i < table.used(); ++i)
      if (is_kind(table.entry(i).key, Kind::Str))
        add(table.entry(i).value, path + step(cast<StrObject>(table.entry(i).key)->view()));
  }

  // A module's child is known by its number too.
  static std::string step(std::string_view name) {
    return is_number(name) ? "[" + std::string(name) + "]" : "." + std::string(name);
  }

  const Object* wanted_;
  bool is_variable_ = true;  // what is added now
  std::string found_;
  std::unordered_set<const Object*> seen_;
  std::deque<std::pair<Object*, std::string>> work_;
};

}  // namespace

std::string object_path(const Frame& frame, const Object* object) {
  Search search(object);
  const lang::CodeObject& code = *frame.code->code;
  for (uint32_t reg = 0; reg < frame.register_count && reg < code.register_names.size(); ++reg)
    if (!code.register_names[reg].empty()) search.add(frame.registers[reg], code.register_names[reg]);
  if (!frame.function) return search.run();
  const auto& closure = frame.function->closure;
  for (size_t i = 0; i < closure.size() && i < code.free_names.size(); ++i)
    search.add(closure[i]->content, code.free_names[i]);
  const auto& globals = frame.function->module->globals->table;
  for (uint32_t i = 0; i < globals.used(); ++i)
    if (is_kind(globals.entry(i).key, Kind::Str) && is_kind(globals.entry(i).value, Kind::Instance))
      search.add(globals.entry(i).value, std::string(cast<StrObject>(globals.entry(i).key)->view()));
  return search.run();
}

}  // namespace tsc::interp
