// The rows of natives that capture knows.
#include "interpreter/capture/natives/native_table.h"

#include <algorithm>
#include <unordered_map>

namespace tsc::interp {
namespace {

using Runs = NativeRow::Runs;

constexpr NativeRow values(const char* name) { return {name, nullptr, Runs::OnValues}; }
constexpr NativeRow settles(const char* name) { return {name, nullptr, Runs::OnSettledNumbers}; }
constexpr NativeRow pure(const char* name) { return {name, nullptr, Runs::OnStandIns}; }
constexpr NativeRow lazy(const char* name) { return {name, nullptr, Runs::Lazily}; }
constexpr NativeRow host(const char* name, BreakReason reason) {
  NativeRow row{name, nullptr, Runs::InTheHost};
  row.reason = reason;
  return row;
}
constexpr NativeRow host(const char* name, jit::ValueKind result) {
  NativeRow row{name, nullptr, Runs::InTheHost};
  row.has_result = true;
  row.result = result;
  return row;
}

// clang-format off
constexpr NativeRow kRows[] = {
    // Text and numbers.
    values("str.*"), values("bytes.*"), settles("int.*"), settles("float.*"), values("range.*"), values("slice.*"),
    settles("math.*"), values("ord"), values("chr"), values("hash"), values("pow"), values("bin"), values("oct"),
    values("hex"),
    values("bytes"), values("_prims.promote_types"),
    values("_devices.count"),
    // What no region is entered or made in (AutogradState::blocks_regions), so that the answer is always the same.
    values("_prims.vmap_levels"), values("_prims.in_dual_level"), values("_prims.saved_hooks"),
    // Containers.
    pure("list.*"), pure("tuple.*"), pure("dict.*"), pure("set.*"), pure("frozenset.*"), pure("dict_keys.*"),
    pure("dict_values.*"), pure("dict_items.*"), pure("any"), pure("all"), pure("sum"), pure("sorted"), pure("set"),
    pure("frozenset"), pure("_functools.reduce"), pure("math.prod"), pure("operator.*"), pure("_heapq.*"),
    pure("_collections.count_elements"), pure("bisect.*"),
    // It compares an object with itself too, which containers, whose text runs on tokens, do not.
    {"operator.eq"},
    lazy("chain.from_iterable"), lazy("itertools.tee"),
    // The world outside.
    host("print", BreakReason::print_call), host("sys.stdout.flush", BreakReason::host_call),
    host("_time.time", jit::ValueKind::Float), host("_time.perf_counter", jit::ValueKind::Float),
    host("_time.monotonic", jit::ValueKind::Float), host("_time.sleep", BreakReason::host_call),
    host("_random.random", jit::ValueKind::Float), host("_prims.profile_begin", BreakReason::host_call),
    host("_prims.profile_end", BreakReason::host_call),
};
// clang-format on

using Index = std::unordered_map<std::string_view, const NativeRow*>;

const Index& index() {
  static const Index all = [] {
    Index rows;
    for (std::span<const NativeRow> table :
         {builtin_forms(), method_forms(), tensor_forms(), shape_forms(), std::span<const NativeRow>(kRows)})
      for (const NativeRow& row : table) TSC_CHECK(rows.emplace(row.name, &row).second, "two rows of one native");
    return rows;
  }();
  return all;
}

const NativeRow* find(std::string_view name) {
  const auto found = index().find(name);
  return found == index().end() ? nullptr : found->second;
}

}  // namespace

const NativeRow* native_row(const NativeFunction* function) {
  // A function of the host program may have any name; the __new__ of a built-in type says whose it is.
  const bool is_published = function->name == "__new__" && !function->owner.empty();
  if (function->pointer && !function->is_method && !is_published) return nullptr;
  if (function->owner.empty() || function->owner == "builtins") return find(function->name);
  if (const NativeRow* row = find(function->owner + "." + function->name)) return row;
  return find(function->owner + ".*");
}

std::vector<const char*> names_of_symbolic_forms() {
  std::vector<const char*> names;
  for (const auto& [name, row] : index())
    if (row->symbolic) names.push_back(row->name);
  std::sort(names.begin(), names.end(), [](const char* a, const char* b) { return std::string_view(a) < b; });
  return names;
}

const NativeRow* native_row(Vm& vm, const Type* type) {
  if (type->type_flags & kScriptClass) return nullptr;
  const bool is_builtin = dict_get(vm, vm.builtins()->globals.get(), type->name).is(Value(const_cast<Type*>(type)));
  const TensorState& tensors = tensor_state(vm);
  const bool is_known = is_builtin || type == tensors.size_type || type == tensors.tensor_type;
  if (const NativeRow* row = is_known ? find(type->name) : nullptr) return row;
  static constexpr NativeRow kIterators = lazy("a class of iterators");
  return is_iterator_class(type) ? &kIterators : nullptr;
}

bool is_iterator_class(const Type* type) {
  return type->layout == Kind::Iterator && type->slots.construct && !(type->type_flags & kScriptClass);
}

}  // namespace tsc::interp
