#pragma once
// How a program reaches an object: "self.blocks[1]", from the variables of a frame. For reports only: the search looks
// at many objects, and runs no script code. Knows: values. Must not know: regions.
#include <string>

#include "interpreter/vm/frame.h"

namespace tsc::interp {

// Empty: it was not found, or is the value of a variable itself. Only the address of `object` is compared: it may be
// gone.
std::string object_path(const Frame& frame, const Object* object);

}  // namespace tsc::interp
