// The walk of resolve(): which scope every name of the tree belongs to, and what is out of place.
#include "lang/resolve.h"

#include <algorithm>
#include <unordered_set>

#include "lang/resolve_walk.h"

namespace tsc::lang {

Resolution resolve(Module& module, Arena& arena, Diagnostics& diagnostics) {
  Resolution result;
  SymbolTables tables(arena, diagnostics);
  Walker walker(tables, arena, diagnostics);
  ScopeTable* top = walker.module(module);
  tables.finish();
  result.module = module.scope;
  result.scopes = tables.scopes();
  std::unordered_set<Identifier> globals(walker.declared_globals().begin(), walker.declared_globals().end());
  for (Symbol* symbol : top->symbols)
    if (symbol->bound) globals.insert(symbol->name);
  result.globals.assign(globals.begin(), globals.end());
  std::sort(result.globals.begin(), result.globals.end());
  for (Name* name : walker.loads())
    if (name->binding.access == Access::Global && !globals.count(name->id)) result.unbound_globals.push_back(name);
  diagnostics.sort();
  return result;
}

}  // namespace tsc::lang
