#pragma once
// Exception groups: what split(), subgroup() and except* make of them. Knows: exception objects, calls of
// `derive`. Must not know: the instructions. Keeps: the exceptions of a group never change, its parts are new
// groups with its place, cause, context and notes.
#include <functional>

#include "interpreter/vm/vm.h"

namespace tsc::interp {

bool is_group(Vm& vm, const Value& v);
const Value& group_message(const ExceptionObject* group);
std::span<const Value> group_exceptions(const ExceptionObject* group);  // none of what is no group

struct GroupParts {
  Value match, rest;  // groups, single exceptions, or None
};
using TakesException = std::function<bool(ExceptionObject*)>;
// A group that `takes` takes is taken whole; of another one what it holds is looked at.
GroupParts split_group(Vm& vm, ExceptionObject* exception, const TakesException& takes, bool with_rest);
// What split() and subgroup() are given: a class, a tuple of classes, or a function; TypeError.
TakesException group_condition(Vm& vm, const Value& condition);
Value make_group(Vm& vm, std::string_view message, const Value& exceptions);  // an ExceptionGroup if it can be one
// except*: what of `exception` (None: nothing is left) is of the classes, in a group, and what is not.
GroupParts match_group(Vm& vm, const Value& exception, const Value& classes);
// What is raised behind the except* of `original`, out of what they raised or left over; or None.
Value gather_raised(Vm& vm, ExceptionObject* original, std::span<const Value> raised);

}  // namespace tsc::interp
