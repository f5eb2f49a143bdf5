#pragma once
// What the files of memoryview share: reading and writing one item of a view.
// Keeps: every use of a released view is ValueError.
#include "interpreter/value/buffer.h"
#include "interpreter/vm/native.h"

namespace tsc::interp {

// The view, unless it is released.
MemoryViewObject* usable_view(Vm& vm, const Value& v);
// The item at a place; NotImplementedError for a format that has no Python value ("w").
Value view_item(Vm& vm, const MemoryViewObject* view, const char* at);
// TypeError and ValueError that name the format.
void store_view_item(Vm& vm, MemoryViewObject* view, char* at, const Value& value);
// Nested lists, one level an axis; the item itself of a view without axes.
Value view_list(Vm& vm, const MemoryViewObject* view);
void add_memoryview_methods(TypeBuilder& type);

}  // namespace tsc::interp
