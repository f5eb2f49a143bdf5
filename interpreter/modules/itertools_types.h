#pragma once
// Shared by the files of itertools: making its types, reading constructor arguments.
#include "interpreter/modules/native_modules.h"
#include "interpreter/vm/iteration.h"

namespace tsc::interp {

// A native iterator type of the module, published under its name.
template <class T>
Type* itertools_type(Vm& vm, ModuleBuilder& m, std::string_view name, Value (*construct)(Vm&, Type*, Args&)) {
  Type* type = make_iterator_type<T>(vm, name, construct);
  TypeBuilder::existing(vm, type).module("itertools");
  m.value(name, Value(type));
  return type;
}

inline std::vector<Value> bind_arguments(Vm& vm, const Signature& signature, std::string_view name, const Args& args) {
  std::vector<Value> values;
  signature.bind(vm, name, args, values);
  return values;
}
inline void no_keywords(Vm& vm, std::string_view name, const Args& args) {
  if (args.keyword_count) raise_type_error(vm, std::string(name) + "() takes no keyword arguments");
}
inline void expect_count(Vm& vm, std::string_view name, const Args& args, uint32_t count) {
  if (args.count == count) return;
  raise_type_error(vm, std::string(name) + " expected " + std::to_string(count) + " argument" +
                           (count == 1 ? "" : "s") + ", got " + std::to_string(args.count));
}

// product, permutations, combinations, combinations_with_replacement.
void add_combinatoric_types(Vm& vm, ModuleBuilder& m);

}  // namespace tsc::interp
