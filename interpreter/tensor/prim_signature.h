#pragma once
// The script signature of every primitive, derived from its row of the op table: which arguments
// `_prims.<name>` takes, in which order. Capture reads the same list for its abstract arguments.
//   order: tensors; axis or axes; scalars (a `sizes` scalar is one sequence argument); dtype; mode
#include <string>

#include "runtime/ops/op.h"

namespace tsc::interp {

enum class PrimParameter : uint8_t { Tensor, TensorList, Axis, Axes, Number, Sizes, DType, Mode, Bounds };

struct PrimSignature {
  SmallVector<PrimParameter, 8> parameters;
  std::string text;    // "x, axis, start, length, step"
  bool fills = false;  // the first number becomes elements of the dtype
};

PrimSignature prim_signature(Op op);

// Parts of the `scalars` column: "start,length,step" -> its names.
std::vector<std::string_view> scalar_names(Op op);

}  // namespace tsc::interp
