#pragma once
// Calls compared with the shape annotations of what they call: __check_arguments__(signature, arguments...)
// and __check_result__(signature, state, result), which lang/emit/shape_checks.cpp calls. What the arguments
// were to their annotations is kept in a register of the frame, as plain values that capture can make too: of
// a tensor (dtype, size, size, ...), of a tuple, list or dict (DescribedForm, item, item, ...), of anything else
// the name of its type, of None None.
// Knows: lang's annotations, tensors. Must not know: who runs.
#include "interpreter/vm/shape_checking.h"
#include "lang/shapes/match.h"

namespace tsc::interp {

// Adds the two functions to the builtins, and has programs compiled for them from now on.
void install_shape_checks(Vm& vm, ShapeChecking checking);

// The signature that a constant of the code holds; read once.
const lang::ShapeSignature& shape_signature(Vm& vm, const Value& constant);

enum DescribedForm : int64_t { kDescribedTuple, kDescribedList, kDescribedDict };
lang::ShapeFact::Kind described_kind(int64_t form);
// The part of an annotation that looks inside a tuple or list, or inside a dict; null: none does.
const lang::Annotation* container_of(const lang::Annotation& annotation, bool of_dict);
// What such a part says of the item at `index`.
const lang::Annotation& part_of(const lang::Annotation& container, size_t index);

}  // namespace tsc::interp
