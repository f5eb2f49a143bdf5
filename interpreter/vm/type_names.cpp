#include "interpreter/vm/type_names.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>

#include "interpreter/vm/vm.h"

namespace tsc::interp {
namespace {

// Those of whose types Python says so. What torch makes is written in Python.
constexpr std::string_view kModules[] = {"_io",       "_thread",  "array", "collections", "datetime", "functools",
                                         "itertools", "operator", "re",    "types",       "weakref",  "zlib"};

const char kNames = 0;

}  // namespace

const std::string& message_name(Vm& vm, const Type* type) {
  if (type->type_flags & kScriptClass) return type->name;
  const auto* module = try_cast<StrObject>(dict_get(vm, type->attributes, "__module__"));
  if (!module) return type->name;
  const std::string_view name = module->view() == "io" ? "_io" : module->view();
  if (std::find(std::begin(kModules), std::end(kModules), name) == std::end(kModules)) return type->name;
  using Names = std::unordered_map<const Type*, std::string>;
  auto& names = vm.extension(&kNames);
  if (!names) names = std::make_shared<Names>();
  std::string& full = (*static_cast<Names*>(names.get()))[type];
  if (full.empty()) full = std::string(name) + "." + type->name;
  return full;
}

}  // namespace tsc::interp
