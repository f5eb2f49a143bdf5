#pragma once
// The instructions that need no place in the dispatch loop: one function each, called with the frame
// and the instruction. They may raise; released operands are the loop's business.
#include "interpreter/vm/frames.h"
#include "lang/bytecode/bytecode.h"

namespace tsc::interp::ops {

using lang::Instruction;

// What an object of a layout is for `match`, in the bits that Python gives its types: a sequence matches
// [first, *rest], a mapping {key: value}, texts and bytes neither. Classes of the library and the program say it with
// an attribute of the name kPatternFlags, which collections.abc gives to what is inherited or registered there.
constexpr int64_t kSequencePattern = 1 << 5, kMappingPattern = 1 << 6;
constexpr std::string_view kPatternFlags = "__abc_tpflags__";
inline int64_t pattern_flags(Kind layout) {
  if (layout == Kind::Dict) return kMappingPattern;
  const bool is_sequence = layout == Kind::List || layout == Kind::Tuple || layout == Kind::Range ||
                           layout == Kind::Array || layout == Kind::MemoryView;
  return is_sequence ? kSequencePattern : 0;
}
// Types whose single positional pattern is the subject itself.
inline bool matches_itself(const Types& t, Type* type) {
  for (Type* own : {t.integer, t.real, t.str, t.bytes, t.byte_array, t.list, t.tuple, t.dict, t.set, t.frozenset})
    if (type->is_subtype_of(own)) return true;
  return false;
}

// clang-format off
#define TSC_PLAIN_OPS(X)                                                                          \
  X(CheckBound) X(DeleteCell) X(DeleteFree) X(DeleteGlobal) X(LoadName)   \
  X(LoadNameOrFree) X(StoreName) X(DeleteName) X(LoadNamespace) X(MatMul) X(LShift) X(RShift)     \
  X(BitAnd) X(BitOr) X(BitXor) X(InplaceTrueDiv) X(InplaceFloorDiv) X(InplaceMod) X(InplacePow)   \
  X(InplaceMatMul) X(InplaceLShift) X(InplaceRShift) X(InplaceBitAnd) X(InplaceBitOr)             \
  X(InplaceBitXor) X(Pow) X(PowK) X(Negative) X(Positive) X(Invert) X(GetIter)     \
  X(DeleteAttr) X(DeleteSubscr) X(BuildList) X(BuildSet) X(BuildMap) X(BuildSlice)  \
  X(BuildString) X(FormatValue) X(ListAppend) X(ListExtend) X(ListToTuple) X(SetAdd) X(SetUpdate) \
  X(MapAdd) X(MapUpdate) X(MapMerge) X(UnpackSequence) X(UnpackEx) X(MakeFunction) X(MakeClass)   \
  X(KeepAnnotations)                                                                              \
  X(MakeClassEx) X(PushHandled) X(PopHandled) X(MatchException) X(ExceptionInfo) X(MatchGroup)    \
  X(GatherRaised)                                                                                 \
  X(LoadAssertionError) X(LoadContext) X(GetYieldFromIter) X(ImportName) X(ImportFrom)            \
  X(ImportStar) X(MatchSequence) X(MatchMapping) X(Length) X(MatchKeys) X(MatchClass)             \
  X(PrintExpr)
// clang-format on

#define X(name) void name(Vm& vm, Frame& frame, Instruction i);
TSC_PLAIN_OPS(X)
#undef X

// Slow paths of instructions that the loop has fast paths for.
void LoadCell(Vm& vm, Frame& frame, Instruction i);
void LoadFree(Vm& vm, Frame& frame, Instruction i);
void In(Vm& vm, Frame& frame, Instruction i);
void NotIn(Vm& vm, Frame& frame, Instruction i);
void binary_slow(Vm& vm, Frame& frame, Instruction i, BinaryOp op, bool constant, bool in_place);
void compare_slow(Vm& vm, Frame& frame, Instruction i, CompareOp op, bool constant);
void load_global_slow(Vm& vm, Frame& frame, Instruction i);
void store_global_slow(Vm& vm, Frame& frame, Instruction i);
void load_attr_slow(Vm& vm, Frame& frame, Instruction i);
void store_attr_slow(Vm& vm, Frame& frame, Instruction i);
void load_method_slow(Vm& vm, Frame& frame, Instruction i);
// Makes the exception that Raise raises out of R[a].
Local<ExceptionObject> exception_to_raise(Vm& vm, const Value& raised, const char* what = "exceptions");
// The class that stands behind `except`; TypeError of what is none.
Type* class_to_catch(Vm& vm, const Value& v);
// What ends a script goes on when the clean-up of a generator wants to give values.
void refuse_yield_in_cleanup(Frame& frame);
// The * and ** arguments of a call, which may be any iterable and any mapping.
Local<TupleObject> unpacked_arguments(Vm& vm, const Value& callee, Value items);
void unpacked_keywords(Vm& vm, const Value& callee, Value mapping, std::vector<Local<StrObject>>& names,
                       std::vector<Value>& values);
void release_operands(Value* registers, Instruction i);
// A tuple of what it takes out of these registers. It throws only where there is no memory.
Value build_tuple(Vm& vm, Value* items, uint32_t count);

}  // namespace tsc::interp::ops

namespace tsc::interp {

// What InlineCache::kind means.
enum CacheKind : uint32_t {
  kCacheEmpty = 0,
  kCacheModuleEntry,   // key: the dict; index: place of the entry; target: the name; version of a global: its layout
  kCacheBuiltinEntry,  // key: the module's dict, version: its layout; index: place in the builtins; target
  kCacheSlot,          // key: shape; index: slot
  kCacheAddSlot,       // key: shape before; target: shape after; index: slot; version of the type
  kCacheClassValue,    // key: shape; target: const Value* in the class; version of the type
  kCacheClassMethod,   // as kCacheClassValue, a function to be bound
  kCacheProperty,      // as kCacheClassValue, a property whose getter is a script function
  kCacheNativeGetter,  // key: type of an object; target: a property of it that C++ reads; version of the type
  kCacheTypeMethod,    // key: type of an object without own attributes; target, version as above
};

}  // namespace tsc::interp
