#pragma once
// Annotations are evaluated when somebody asks for them, once, in the scope they stand in, and then kept in a dict.
// Until then a function's lie in its code; a class has an AnnotationsObject in the place of its `__annotations__`, a
// module beside its namespace. Knows: codes of kind Annotations (lang/bytecode). Must not know: what annotations mean.
// Keeps: evaluating runs code of the script, so whoever asks must be where that may run.
#include "interpreter/vm/vm.h"

namespace tsc::interp {

struct AnnotationsObject : Object {
  Local<CodeObject> code;  // null: that of the function that has it
  Local<ModuleObject> module;
  std::vector<Local<CellObject>> closure;
  Value names;  // the namespace of the class body, or of the code of exec; Undefined: it is not read
  // Of a module: what was found before, of this text while it runs, of other texts that ran in the module, and those of
  // them that nobody has asked for yet.
  Local<DictObject> found;
  std::vector<bool> is_found;
  Local<AnnotationsObject> before;
  AnnotationsObject() : Object(Kind::Native) {}
};

// `cells` is a tuple, or Undefined.
Local<AnnotationsObject> make_annotations(Vm& vm, CodeObject* code, ModuleObject* module, const Value& cells,
                                          const Value& names);
AnnotationsObject* as_annotations(Vm& vm, const Value& v);  // null for other values

// What `__annotations__` is, evaluated now if it was not yet.
Value annotations_of_function(Vm& vm, FunctionObject* function);
Value annotations_of_class(Vm& vm, Type* type);
Value annotations_of_module(Vm& vm, ModuleObject* module);
// A text says what its module's annotations are, beside those of texts before it.
void keep_annotations(Vm& vm, ModuleObject* module, const Value& annotations);

// Those of a function, a class alone, a module or a namespace in a dict of its own; the text of one that cannot be
// evaluated stands for it, as if it had been written in quotes.
Local<DictObject> readable_annotations(Vm& vm, const Value& object);
// The same where they are not evaluated in a namespace that a metaclass is about to see.
void settle_annotations(Vm& vm, DictObject* names);
// The same for a mapping that is not simply a dict: the dict that it holds is filled with what the body annotated.
void settle_annotations(Vm& vm, const Value& mapping, FunctionObject* body);

// Both have the annotations of `from`, which stay unevaluated.
void share_annotations(FunctionObject* to, FunctionObject* from);

}  // namespace tsc::interp
