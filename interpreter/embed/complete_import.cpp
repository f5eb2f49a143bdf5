// Completion inside import statements: names of modules, and what a module has to give. A module that nobody
// imported yet is read and not run.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "interpreter/embed/complete.h"
#include "interpreter/modules/importer.h"
#include "lang/parse.h"
#include "lang/resolve.h"

namespace tsc::embed {
namespace {

using namespace interp;

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
    for (fs::directory_iterator at(folder + "/" + package, error), end; !error && at != end; at.increment(error)) {
      const bool is_package = fs::exists(at->path() / "__init__.tsc", error);
      if (is_package) names.insert(at->path().filename().string());
      else add_module_file(at->path().filename().string(), "", names);
    }
  }
  for (const auto& [name, make] : vm.importer().natives()) {
    const std::string prefix = parent.empty() ? "" : std::string(parent) + ".";
    if (name.compare(0, prefix.size(), prefix) == 0)
      names.insert(name.substr(prefix.size(), name.find('.', prefix.size()) - prefix.size()));
  }
}

// ---- What a module has to give

struct ModuleText {
  std::string text;
  bool is_package = false;
};

std::optional<ModuleText> text_of_module(Vm& vm, std::string_view dotted) {
  std::string path(dotted);
  std::replace(path.begin(), path.end(), '.', '/');
  std::vector<std::string> folders = vm.config().module_path;
  folders.emplace_back(".");
  for (const bool is_package : {true, false}) {
    const std::string name = path + (is_package ? "/__init__.tsc" : ".tsc");
    for (const std::string& folder : folders) {
      std::ifstream file(folder + "/" + name, std::ios::binary);
      std::ostringstream text;
      if (file && text << file.rdbuf()) return ModuleText{text.str(), is_package};
    }
    for (std::size_t i = 0; i < vm.config().embedded_count; ++i)
      if (vm.config().embedded[i].name == name)
        return ModuleText{std::string(vm.config().embedded[i].text), is_package};
  }
  return std::nullopt;
}

// The absolute name behind `from <dots>module` in the module `from`; empty above its first package.
std::string absolute_name(std::string_view from, bool is_package, const lang::ImportFrom& statement) {
  std::string name(from);
  for (unsigned up = is_package ? 1 : 0; up < statement.level; ++up) {
    const std::size_t dot = name.rfind('.');
    name.resize(dot == std::string::npos ? 0 : dot);
  }
  if (statement.level == 0) name.clear();
  if (!name.empty() && !statement.module.empty()) name += '.';
  return name + std::string(statement.module);
}

void add_module_names(Vm& vm, const std::string& dotted, std::set<std::string>& visited, NameSet& names) {
  if (!visited.insert(dotted).second) return;
  const Value loaded = dict_get(vm, vm.modules(), dotted);
  if (auto* module = try_cast<ModuleObject>(loaded)) return add_keys(module->globals, names);
  if (vm.importer().is_native(dotted)) {
    const Value made = vm.importer().import_native(dotted);  // C++ alone runs
    if (auto* module = try_cast<ModuleObject>(made)) add_keys(module->globals, names);
    return;
  }
  const auto found = text_of_module(vm, dotted);
  if (!found) return;
  const lang::Source source(dotted, found->text);
  lang::Arena arena;
  lang::ParseResult parsed = lang::parse_module(source, arena);
  if (parsed.module == nullptr) return;
  const lang::Resolution resolution = lang::resolve(*parsed.module, arena, parsed.diagnostics);
  for (lang::Identifier name : resolution.globals)
    if (name != "*") names.emplace(name);
  for (lang::Stmt* statement : parsed.module->body) {
    const auto* star = lang::try_as<lang::ImportFrom>(statement);
    if (star != nullptr && star->names.size() == 1 && star->names[0]->name == "*")
      add_module_names(vm, absolute_name(dotted, found->is_package, *star), visited, names);
  }
}

}  // namespace

bool complete_import(Vm& vm, std::string_view text, std::string_view parent, NameSet& names) {
  const std::size_t line = text.rfind('\n') == std::string_view::npos ? 0 : text.rfind('\n') + 1;
  const std::string_view statement = text.substr(std::min(text.find_first_not_of(' ', line), text.size()));
  if (!statement.starts_with("import ") && !statement.starts_with("from ")) return false;
  constexpr std::string_view kImport = " import ";
  const std::size_t import = statement.find(kImport);
  if (import == std::string_view::npos || statement.starts_with("import ")) {
    add_modules(vm, parent, names);
    return true;
  }
  // Behind a name and a blank comes `as`, or nothing.
  std::string_view item = statement.substr(import + kImport.size());
  item.remove_prefix(std::min(item.find_last_of(",(") + 1, item.size()));
  item.remove_prefix(std::min(item.find_first_not_of(' '), item.size()));
  if (item.find(' ') != std::string_view::npos) return true;
  std::string_view module = statement.substr(5, import - 5);
  module.remove_prefix(std::min(module.find_first_not_of(' '), module.size()));
  module = module.substr(0, module.find_last_not_of(' ') + 1);
  std::set<std::string> visited;
  add_module_names(vm, std::string(module), visited, names);
  add_modules(vm, module, names);
  return true;
}

}  // namespace tsc::embed
