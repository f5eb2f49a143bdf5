#pragma once
// The tables behind resolve(): one symbol for every name of every scope, and from them the slots,
// cells and inherited cells of every frame. Knows: scopes and names. Must not know: which syntax
// mentions a name (resolve_walk.cpp does). Keeps: `scopes` in order of creation, so a parent always
// comes before its children.
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "lang/resolve.h"

namespace tsc::lang {

struct ScopeTable;

struct Symbol {
  Identifier name;
  ScopeTable* scope = nullptr;
  Span span;      // of its first mention
  Span declared;  // of its global or nonlocal statement
  bool parameter = false;
  bool bound = false;  // assigned somewhere in the scope
  bool used = false;
  bool is_global = false;  // declared so
  bool is_nonlocal = false;
  bool iterates = false;    // a comprehension's own variable
  bool by_walrus = false;   // mentioned by ':=' inside the comprehension
  bool captured = false;    // lives in a cell
  uint32_t slot = 0;        // in its host's locals
  uint32_t cell = 0;        // in its host's cells
  Symbol* owner = nullptr;  // the variable it means: itself, or one of an enclosing function
};

struct ScopeTable {
  Scope* scope = nullptr;
  ScopeTable* parent = nullptr;
  ScopeTable* host = nullptr;
  Identifier class_name;  // of the innermost class around, for private names
  std::vector<Symbol*> symbols;
  std::unordered_map<Identifier, Symbol*> by_name;
  std::vector<Symbol*> parameters;
  // Of a host: variables in slot order, captured ones in cell order, inherited ones.
  std::vector<Symbol*> locals, cells, frees;
  std::unordered_map<const Symbol*, uint32_t> free_index;
  Symbol* class_cell = nullptr;       // a class's implicit __class__
  Symbol* reached_cell = nullptr;     // Scope::kReached
  ScopeTable* annotations = nullptr;  // Scope::annotations

  ScopeKind kind() const { return scope->kind; }
  bool is_function() const { return kind() == ScopeKind::Function || kind() == ScopeKind::Lambda; }
  Symbol* find(Identifier name) const {
    auto it = by_name.find(name);
    return it == by_name.end() ? nullptr : it->second;
  }
};

class SymbolTables {
 public:
  SymbolTables(Arena& arena, Diagnostics& diagnostics) : arena_(arena), diagnostics_(diagnostics) {}

  ScopeTable* open(ScopeKind kind, Identifier name, ScopeTable* parent);
  Symbol* symbol(ScopeTable* scope, Identifier name, Span span);
  // A mention whose answer goes to `out` once finish() has run.
  void refer(Symbol* symbol, Binding* out) { references_.push_back({symbol, out}); }
  void finish();
  // In order of creation.
  List<Scope*> scopes();

  Symbol* add_class_cell(ScopeTable* scope);
  // The cell that `user` finds in the scope around: which annotations were reached.
  Symbol* add_reached_cell(ScopeTable* scope);

 private:
  struct Reference {
    Symbol* symbol;
    Binding* out;
  };

  Symbol* hidden_cell(ScopeTable* scope, Identifier name);
  void name_scope(ScopeTable& table);
  void find_owner(Symbol& symbol);
  Symbol* enclosing_variable(const Symbol& symbol);
  void capture(Symbol& user, Symbol& owner);
  void report_missing_nonlocal(const Symbol& symbol);
  void place(ScopeTable& table);
  void publish(ScopeTable& table);
  Binding binding_of(const Symbol& symbol) const;

  Arena& arena_;
  Diagnostics& diagnostics_;
  std::deque<ScopeTable> scopes_;
  std::deque<Symbol> symbols_;
  std::vector<Reference> references_;
};

}  // namespace tsc::lang
