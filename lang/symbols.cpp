#include "lang/symbols.h"

namespace tsc::lang {

namespace {

constexpr Identifier kClassCell = "__class__";

uint32_t add(std::vector<Symbol*>& symbols, Symbol* symbol) {
  symbols.push_back(symbol);
  return static_cast<uint32_t>(symbols.size() - 1);
}

// An annotation's name that the class around it binds.
bool is_of_class_around(const Symbol& symbol) {
  const ScopeTable& scope = *symbol.scope;
  if (scope.kind() != ScopeKind::Annotation || scope.parent->kind() != ScopeKind::Class) return false;
  const Symbol* found = scope.parent->find(symbol.name);
  return found && found->bound && !found->is_global && !found->is_nonlocal;
}

List<Identifier> names_of(Arena& arena, const std::vector<Symbol*>& symbols) {
  List<Identifier> out = arena.list<Identifier>(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) out[i] = symbols[i]->name;
  return out;
}

}  // namespace

ScopeTable* SymbolTables::open(ScopeKind kind, Identifier name, ScopeTable* parent) {
  ScopeTable& table = scopes_.emplace_back();
  table.scope = arena_.make<Scope>();
  table.scope->kind = kind;
  table.scope->name = name;
  table.scope->is_generator = kind == ScopeKind::Generator;
  table.parent = parent;
  table.host = kind == ScopeKind::Comprehension ? parent->host : &table;
  table.scope->parent = parent ? parent->scope : nullptr;
  table.scope->host = table.host->scope;
  if (parent) table.class_name = parent->class_name;
  return &table;
}

Symbol* SymbolTables::symbol(ScopeTable* scope, Identifier name, Span span) {
  Symbol*& slot = scope->by_name[name];
  if (!slot) {
    slot = &symbols_.emplace_back();
    slot->name = name;
    slot->scope = scope;
    slot->span = span;
    scope->symbols.push_back(slot);
  }
  return slot;
}

Symbol* SymbolTables::add_class_cell(ScopeTable* scope) {
  if (!scope->class_cell) {
    scope->class_cell = hidden_cell(scope, kClassCell);
    scope->scope->needs_class_cell = true;
  }
  return scope->class_cell;
}

Symbol* SymbolTables::add_reached_cell(ScopeTable* scope) {
  if (!scope->reached_cell) scope->reached_cell = hidden_cell(scope, Scope::kReached);
  return scope->reached_cell;
}

Symbol* SymbolTables::hidden_cell(ScopeTable* scope, Identifier name) {
  Symbol* cell = &symbols_.emplace_back();
  cell->name = name;
  cell->scope = scope;
  cell->bound = cell->captured = true;
  cell->owner = cell;
  return cell;
}

void SymbolTables::finish() {
  for (ScopeTable& table : scopes_) {
    name_scope(table);
    for (Symbol* symbol : table.symbols) find_owner(*symbol);
  }
  for (ScopeTable& table : scopes_) place(table);
  for (ScopeTable& table : scopes_) publish(table);
  for (const Reference& reference : references_) *reference.out = binding_of(*reference.symbol);
}

List<Scope*> SymbolTables::scopes() {
  List<Scope*> out = arena_.list<Scope*>(scopes_.size());
  for (size_t i = 0; i < scopes_.size(); ++i) out[i] = scopes_[i].scope;
  return out;
}

void SymbolTables::name_scope(ScopeTable& table) {
  Scope& scope = *table.scope;
  scope.qualname = scope.name;
  if (!table.parent) return;
  ScopeTable& around = *table.parent->host;
  Symbol* own = around.find(scope.name);
  if (around.kind() == ScopeKind::Module || (own && own->is_global)) return;
  std::string text(around.scope->qualname);
  text += around.kind() == ScopeKind::Class ? "." : ".<locals>.";
  scope.qualname = arena_.text(text += scope.name);
}

// ---- Which variable a symbol means

void SymbolTables::find_owner(Symbol& symbol) {
  ScopeTable& scope = *symbol.scope;
  if (scope.kind() == ScopeKind::Module || symbol.is_global) return;
  if (symbol.bound && !symbol.is_nonlocal) {
    if (scope.kind() != ScopeKind::Class) symbol.owner = &symbol;
    return;
  }
  symbol.owner = enclosing_variable(symbol);
  if (symbol.owner) capture(symbol, *symbol.owner);
  else if (symbol.is_nonlocal) report_missing_nonlocal(symbol);
}

// Null: a global, or a name of the class that an annotation stands in.
Symbol* SymbolTables::enclosing_variable(const Symbol& symbol) {
  if (symbol.name == Scope::kReached) return add_reached_cell(symbol.scope->parent);
  if (is_of_class_around(symbol)) return nullptr;
  for (ScopeTable* scope = symbol.scope->parent; scope; scope = scope->parent) {
    if (scope->kind() == ScopeKind::Module) return nullptr;
    if (scope->kind() == ScopeKind::Class) {
      if (symbol.name == kClassCell) return add_class_cell(scope);
      continue;  // a class body's names are not seen by the functions in it
    }
    Symbol* found = scope->find(symbol.name);
    if (!found) continue;
    if (found->is_global) return nullptr;
    if (found->bound && !found->is_nonlocal) return found;
  }
  return nullptr;
}

// The cell passes through every frame between its owner's and its user's.
void SymbolTables::capture(Symbol& user, Symbol& owner) {
  ScopeTable* home = owner.scope->host;
  ScopeTable* host = user.scope->host;
  if (host == home) return;
  owner.captured = true;
  for (; host != home; host = host->parent->host)
    if (host->free_index.try_emplace(&owner, host->frees.size()).second) host->frees.push_back(&owner);
}

void SymbolTables::report_missing_nonlocal(const Symbol& symbol) {
  std::vector<std::string_view> candidates;
  for (ScopeTable* scope = symbol.scope->parent; scope; scope = scope->parent) {
    if (!scope->is_function()) continue;
    for (Symbol* other : scope->symbols)
      if (other->bound) candidates.push_back(other->name);
  }
  Diagnostic& d =
      diagnostics_.error(Code::NonlocalNotFound, symbol.declared,
                         "no variable '" + std::string(symbol.name) + "' in an enclosing function for nonlocal");
  std::string_view guess = nearest_word(symbol.name, candidates);
  if (!guess.empty()) d.did_you_mean(symbol.declared, guess);
  else d.help("assign it in the enclosing function first, or declare it global");
}

// ---- Frames

void SymbolTables::place(ScopeTable& table) {
  ScopeTable& host = *table.host;
  for (Symbol* parameter : table.parameters) parameter->slot = add(host.locals, parameter);
  table.scope->parameter_count = static_cast<uint32_t>(table.parameters.size());
  for (Symbol* hidden : {table.class_cell, table.reached_cell})
    if (hidden) hidden->cell = add(host.cells, hidden);
  std::vector<uint32_t> slots, cells;
  for (Symbol* symbol : table.symbols) {
    if (symbol->owner != symbol) continue;
    if (symbol->captured) cells.push_back(symbol->cell = add(host.cells, symbol));
    else if (!symbol->parameter) slots.push_back(symbol->slot = add(host.locals, symbol));
  }
  if (table.kind() == ScopeKind::Comprehension) {
    table.scope->own_slots = arena_.copy(slots);
    table.scope->own_cells = arena_.copy(cells);
  }
}

void SymbolTables::publish(ScopeTable& table) {
  if (table.host != &table) return;
  Scope& scope = *table.scope;
  scope.locals = names_of(arena_, table.locals);
  scope.cells = arena_.list<CellVariable>(table.cells.size());
  for (size_t i = 0; i < table.cells.size(); ++i) {
    Symbol* symbol = table.cells[i];
    int32_t slot = symbol->parameter ? static_cast<int32_t>(symbol->slot) : -1;
    scope.cells[i] = {symbol->name, slot};
  }
  scope.frees = arena_.list<FreeVariable>(table.frees.size());
  for (size_t i = 0; i < table.frees.size(); ++i) {
    Symbol* owner = table.frees[i];
    const ScopeTable& around = *table.parent->host;
    bool from_cell = owner->scope->host == &around;
    uint32_t index = from_cell ? owner->cell : around.free_index.at(owner);
    scope.frees[i] = {owner->name, from_cell, index};
  }
}

Binding SymbolTables::binding_of(const Symbol& symbol) const {
  const ScopeTable& scope = *symbol.scope;
  if (!symbol.owner) {
    bool in_class =
        (scope.kind() == ScopeKind::Class && symbol.bound && !symbol.is_global) || is_of_class_around(symbol);
    return {in_class ? Access::Class : Access::Global, 0};
  }
  const Symbol& owner = *symbol.owner;
  const ScopeTable& host = *scope.host;
  if (!owner.captured) return {Access::Local, owner.slot};
  if (owner.scope->host == &host) return {Access::Cell, owner.cell};
  return {Access::Free, host.free_index.at(&owner)};
}

}  // namespace tsc::lang
