#pragma once
// Which variable every name means. resolve() walks a module once to collect the bindings of every
// scope and once to answer every use; the answers are Bindings in the nodes and one Scope per node
// that opens one (Module, FunctionDef, ClassDef, Lambda, comprehensions).
// Knows: the tree. Must not know: instructions, builtins, values.
// Keeps: every Binding in the tree is resolved when no error was reported.
//
// A list, set or dict comprehension is not a function: its variables get hidden slots of the
// function (class body, module) it stands in, its `host`. A generator expression is a function of
// one parameter (slot 0), the outermost iterable, which is evaluated outside.
#include <cstdint>
#include <vector>

#include "lang/ast.h"
#include "lang/diagnostic.h"

namespace tsc::lang {

// Annotation: a function of one parameter (slot 0), the number of the annotation that it evaluates. It sees the names
// of the class it stands in, which other functions do not.
enum class ScopeKind : uint8_t { Module, Class, Function, Lambda, Generator, Comprehension, Annotation };

struct CellVariable {
  Identifier name;
  int32_t parameter = -1;  // the parameter's slot, whose value moves into the cell on entry
};

// A cell inherited when the closure is made, found in the scope that encloses the host:
// its cells[index], or its frees[index].
struct FreeVariable {
  Identifier name;
  bool from_parent_cell = false;
  uint32_t index = 0;
};

struct Scope {
  ScopeKind kind = ScopeKind::Module;
  bool is_generator = false;      // the body yields (also every generator expression)
  bool needs_class_cell = false;  // class: a method uses super() or __class__; it is in `cells`
  bool has_star_import = false;   // module: its globals are not known before it runs
  bool deletes_first = false;     // function: the first parameter may be gone where super() asks for it
  // Class and module: a cell of this name in `cells` holds the set of those numbers among the annotations that may not
  // be reached and were.
  static constexpr Identifier kReached = ".reached";
  Scope* parent = nullptr;       // the lexically enclosing scope
  Scope* host = nullptr;         // the scope whose frame holds the variables: itself, or for an
                                 // inlined comprehension the nearest enclosing one that is not
  Scope* annotations = nullptr;  // class and module: what the annotations of its variables are evaluated in; null:
                                 // there are none, or they are evaluated where they stand
  Identifier name;               // "<module>", "f", "<lambda>", "<genexpr>"
  Identifier qualname;           // "Outer.method.<locals>.inner"
  // Slots of the frame. Parameters come first in the order posonlyargs, args, kwonlyargs, vararg,
  // kwarg (also those that are cells); then plain locals; then the variables of inlined
  // comprehensions. Empty for a Comprehension.
  List<Identifier> locals;
  uint32_t parameter_count = 0;
  List<CellVariable> cells;
  List<FreeVariable> frees;
  // Comprehension only: what of the host belongs to it. Each run of the comprehension starts with
  // these slots unbound and with new cells, so closures of two runs do not share.
  List<uint32_t> own_slots;
  List<uint32_t> own_cells;
};

struct Resolution {
  Scope* module = nullptr;
  // All scopes, each after the one that encloses it.
  List<Scope*> scopes;
  // Names read as globals that nothing in the module binds: builtins, or mistakes.
  std::vector<Name*> unbound_globals;
  // Names bound at module level or by a `global` declaration, sorted.
  std::vector<Identifier> globals;
};

// Reports into `diagnostics`; the result may be used when that has no errors.
// Also replaces private names inside classes (`__x` in class C becomes `_C__x`).
Resolution resolve(Module& module, Arena& arena, Diagnostics& diagnostics);

}  // namespace tsc::lang
