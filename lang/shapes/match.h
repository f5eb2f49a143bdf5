#pragma once
// Compares what is known of arguments and results with their annotations. One matcher for the three who ask:
// the machine (sizes are numbers), capture (sizes are registers of a region), `check` (sizes may be
// unknown). Knows: annotations. Must not know: tensors, values, where facts come from.
// Keeps: what is unknown fits everything.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/shapes/annotation.h"

namespace tsc::lang {

// A size in somebody's terms: `number` is what messages show, `handle` is the owner's.
struct Size {
  static constexpr uint32_t kNoHandle = ~0u;
  int64_t number = 0;
  bool is_known = true;
  uint32_t handle = kNoHandle;
};

// What is known of a value.
struct ShapeFact {
  enum class Kind : uint8_t { Unknown, None, Other, Tensor, Tuple, List, Dict } kind = Kind::Unknown;
  std::string type;              // Other: the name of its type. Tensor: the short dtype; empty: unknown
  bool is_rank_known = true;     // Tensor
  std::vector<Size> sizes;       // Tensor
  std::vector<ShapeFact> items;  // Tuple, List; of a Dict its values
};
std::string fact_text(const ShapeFact& fact);  // Tensor[f32, "2 3"]

class SizeLogic {
 public:
  virtual ~SizeLogic() = default;
  // Nullopt: nobody can tell.
  virtual std::optional<bool> equal(const Size& a, const Size& b);
  // An operation that fails (a division by zero, an overflow) gives an unknown size.
  virtual Size compute(SizeTerm::Kind operation, const Size& a, const Size& b);
};

// The sizes that names stand for, in the order in which they were bound.
struct BoundSize {
  std::string name;
  bool is_rest = false;
  std::vector<Size> sizes;
  std::string from;  // the parameter
};
using BoundSizes = std::vector<BoundSize>;

struct ShapeMismatch {
  bool is_result = false;
  size_t parameter = 0;  // index in the signature
  std::string what;      // "argument 'x'", "item 1 of argument 'xs'", "the result"
  std::string annotation, actual, reason;
  BoundSizes bound;
};

// `arguments`: a fact for each parameter of the signature. The sizes they bind go to `bound`.
std::optional<ShapeMismatch> match_arguments(const ShapeSignature& signature, const std::vector<ShapeFact>& arguments,
                                             SizeLogic& logic, BoundSizes& bound);
// With what the arguments bound.
std::optional<ShapeMismatch> match_result(const ShapeSignature& signature, const ShapeFact& result, SizeLogic& logic,
                                          BoundSizes& bound);

// "argument 'w' does not fit its annotation" with both, the reason, the sizes bound so far and the call.
std::string mismatch_text(const std::string& function, const ShapeSignature& signature,
                          const std::vector<ShapeFact>& arguments, const ShapeMismatch& mismatch);

// What is certain of a value that fits: of a parameter inside its function, or of a call's result.
// Sizes that `bound` holds are known.
ShapeFact fact_of(const Annotation& annotation, const BoundSizes& bound, SizeLogic& logic);

}  // namespace tsc::lang
