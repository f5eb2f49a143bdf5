#pragma once
// Callables and the objects around them: code, functions, native functions, bound methods, cells,
// modules, properties. A CodeObject is lang's CodeObject made runnable: constants as values, names
// interned, one inline cache per site and per call.
#include <memory>
#include <string>
#include <vector>

#include "interpreter/value/containers.h"

namespace tsc::lang {
struct CodeObject;
struct Instruction;
}  // namespace tsc::lang

namespace tsc::interp {

struct Args;
struct ModuleObject;
struct FunctionObject;
class Signature;

// What the compiler attached to a function or code; made by interpreter/capture, owned by the code.
struct CompiledEntry {
  virtual ~CompiledEntry() = default;
};

// Two per site of the code, side by side. What the fields mean is private to the dispatch loop.
struct InlineCache {
  const void* key = nullptr;
  const void* target = nullptr;
  uint32_t version = 0;
  uint32_t index = 0;
  uint32_t kind = 0;
  uint32_t misses = 0;
};

// lang's code object; its tables are decoded when somebody looks into them.
class LangCode {
 public:
  LangCode() = default;
  LangCode(std::shared_ptr<const lang::CodeObject> code) : code_(std::move(code)) {}
  const lang::CodeObject* operator->() const { return &whole(); }
  const lang::CodeObject& operator*() const { return whole(); }
  operator const std::shared_ptr<const lang::CodeObject>&() const { return whole(), code_; }
  // What a definition needs (see lang::CodeObject), and no more: decodes nothing.
  const lang::CodeObject& signature() const { return *code_; }

 private:
  const lang::CodeObject& whole() const;
  std::shared_ptr<const lang::CodeObject> code_;
};

// `code`, `name` and `qualified_name` are there from the beginning, the rest after prepare_code:
// most functions of a module are never called. The code of a frame is prepared.
struct CodeObject : Object {
  static constexpr Kind kKind = Kind::Code;
  LangCode code;
  Local<StrObject> name, qualified_name;
  std::vector<Value> constants;
  std::vector<Local<StrObject>> names;
  std::vector<Local<StrObject>> parameter_names;
  // What a call needs.
  static constexpr uint32_t kNotPlain = UINT32_MAX;
  uint32_t plain_arguments = kNotPlain;  // positional parameters when there are no others, no generator
  uint32_t register_count = 0;
  std::vector<Local<CodeObject>> nested;
  std::unique_ptr<InlineCache[]> caches;
  const lang::Instruction* instructions = nullptr;
  const Value* first_constant = nullptr;
  InlineCache* first_cache = nullptr;
  CodeObject() : Object(Kind::Code) {}
};

struct CellObject : Object {
  static constexpr Kind kKind = Kind::Cell;
  Value content;  // Undefined: unbound
  CellObject() : Object(Kind::Cell) {}
};

struct FunctionObject : Object {
  static constexpr Kind kKind = Kind::Function;
  Local<CodeObject> code;
  Local<ModuleObject> module;           // its globals
  std::vector<Value> defaults;          // of the last positional parameters
  std::vector<Value> keyword_defaults;  // one per keyword-only parameter, Undefined: none
  std::vector<Local<CellObject>> closure;
  Local<StrObject> name, qualified_name;
  Value doc;  // Undefined: the docstring of its code, which few ask for (doc_of)
  // The dict of annotations; a function whose annotations it shares; else they were not asked for (vm/annotations.h).
  Value annotations;
  Local<DictObject> attributes;  // made on the first store
  // Set by the compiler (torch.compile): calls go to CompilerHooks::enter_function first.
  std::shared_ptr<CompiledEntry> compiled;
  FunctionObject() : Object(Kind::Function) {}
};

// A C++ function. Exceptions: ScriptException, or tsc::Error, which becomes the script's exception of
// its kind. `signature` null: the function reads Args itself.
using NativeCode = Value (*)(Vm& vm, Args& args);
struct NativeFunction : Object {
  static constexpr Kind kKind = Kind::NativeFunction;
  NativeCode code = nullptr;
  std::string name;
  std::string owner;  // type or module, for messages and repr
  std::shared_ptr<const Signature> signature;
  std::string doc;
  Value data;  // what the maker wants to find again (Args::callee->data)
  void* pointer = nullptr;
  bool is_method = false;  // binds self when found in a class
  NativeFunction() : Object(Kind::NativeFunction) {}
};

struct BoundMethod : Object {
  static constexpr Kind kKind = Kind::BoundMethod;
  Value function, self;
  BoundMethod() : Object(Kind::BoundMethod) {}
};

struct ModuleObject : Object {
  static constexpr Kind kKind = Kind::Module;
  std::string name;
  std::string file;               // empty: native
  std::vector<std::string> path;  // of a package: where its modules are searched
  bool is_package = false;
  bool initializing = false;
  Local<DictObject> globals;  // the watch bit of a module is the one of this dict
  Value annotations;          // of its variables, not evaluated yet (vm/annotations.h)
  ModuleObject() : Object(Kind::Module) {}
};

struct PropertyObject : Object {
  static constexpr Kind kKind = Kind::Property;
  Value getter, setter, deleter, doc;
  Value name;  // of the class attribute, for messages
  PropertyObject() : Object(Kind::Property) {}
};

// Of a script class: of kind Native, as the class may do something else where it is read.
struct PropertyInstance : PropertyObject {
  InstanceState state;
  PropertyInstance() { kind = Kind::Native; }
};

struct NativeProperty : Object {
  static constexpr Kind kKind = Kind::NativeProperty;
  std::string name;
  Value (*get)(Vm&, const Value& self) = nullptr;
  void (*set)(Vm&, const Value& self, const Value& value) = nullptr;  // value Undefined: delete
  NativeProperty() : Object(Kind::NativeProperty) {}
};

// staticmethod and classmethod.
struct WrappedMethod : Object {
  Value function;
  explicit WrappedMethod(Kind k) : Object(k) {}
};
// Of a script class, as with properties.
struct WrappedInstance : WrappedMethod {
  InstanceState state;
  WrappedInstance() : WrappedMethod(Kind::Native) {}
};

struct SuperObject : Object {
  static constexpr Kind kKind = Kind::Super;
  Local<Type> start;  // lookup begins behind it in the MRO of `self`
  Value self;         // an instance, or a class
  Type* self_type = nullptr;
  SuperObject() : Object(Kind::Super) {}
};

Local<CodeObject> make_code(Vm& vm, std::shared_ptr<const lang::CodeObject> code);
void fill_code(Vm& vm, CodeObject* code);
// The docstring, or None.
Value doc_of(Vm& vm, const CodeObject* code);
Value doc_of(Vm& vm, FunctionObject* function);
inline void prepare_code(Vm& vm, CodeObject* code) {
  if (!code->instructions) [[unlikely]]
    fill_code(vm, code);
}
Local<CellObject> make_cell(Vm& vm, const Value& content);
Local<ModuleObject> make_module(Vm& vm, std::string_view name);
Value make_bound_method(Vm& vm, const Value& function, const Value& self);

}  // namespace tsc::interp
