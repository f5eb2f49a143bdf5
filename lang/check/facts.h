#pragma once
// What one walk over a resolved module finds out for all checks: every variable with its bindings
// and uses, every call. Knows: the tree, scopes. Must not know: what is a mistake.
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lang/ast.h"
#include "lang/resolve.h"

namespace tsc::lang {

// What the code around a place is prepared for: a try that catches it, a `with raises(...)`.
struct Caught {
  bool names = false, calls = false;
};

enum class BindingKind : uint8_t {
  Assignment,  // of one plain name: `value` is known
  Target,      // part of an unpacking, a loop's or with's target, a pattern
  Augmented,
  Parameter,
  Function,
  Class,
  Import,
  Handler,  // except ... as name
};

struct BindingSite {
  BindingKind kind;
  Span span;
  uint32_t position = 0;  // in the text from where the binding is there
  uint32_t region = 0;    // see Use
  Expr* value = nullptr;  // Assignment
  Stmt* statement = nullptr;
  bool optional = false;  // inside a try: may be there for other systems
};

struct Use {
  Span span;
  // The outermost piece of the function whose order of evaluation is not that of the text (a loop,
  // a comprehension, a conditional expression); 0: none.
  uint32_t region = 0;
  Scope* host = nullptr;  // the frame it is in
  Caught caught;
  bool called = false;
};

struct Variable {
  Identifier name;
  Scope* owner = nullptr;          // null: a global of the module
  bool in_class = false;           // of a class's namespace
  bool iterates = false;           // a comprehension's own
  bool rebound_elsewhere = false;  // by an inner function's nonlocal or global
  std::vector<BindingSite> bindings;
  std::vector<Use> uses;
};

struct CallSite {
  Call* call;
  Variable* callee;                // of `f(...)`, else null
  ClassDef* self_class = nullptr;  // of `self.m(...)`: the class around
  Identifier method;
  Caught caught;
};

struct Facts {
  std::deque<Variable> variables;
  std::vector<CallSite> calls;
  std::unordered_map<Scope*, ClassDef*> classes;
  std::unordered_set<Scope*> uses_locals;  // frames that call locals(), vars() or the like
  // Attributes assigned on `self` anywhere in the module, whatever the class.
  std::unordered_set<std::string_view> assigned_attributes;
  std::unordered_set<std::string_view> exported;  // of __all__, and names inside text annotations
  bool dynamic_globals = false;                   // import *, globals()
  std::unordered_map<std::string_view, Variable*> globals;
};

Facts collect_facts(Module& module, const Resolution& resolution);

}  // namespace tsc::lang
