#include "interpreter/tensor/shape_check.h"

#include <algorithm>

#include "interpreter/tensor/tensor_object.h"
#include "interpreter/vm/frames.h"
#include "lang/bytecode/bytecode.h"
#include "runtime/tensor/dtype.h"

namespace tsc::interp {
namespace {

using lang::Annotation;
using lang::ShapeFact;

Value container_value(Vm& vm, int64_t form, std::span<const Value> items, const Annotation& each);

Value described(Vm& vm, const Value& v, const Annotation& annotation) {
  if (v.is_none()) return v;
  if (const TensorObject* tensor = as_tensor(tensor_state(vm), v)) {
    const Sizes& sizes = tensor->tensor.sizes();
    Local<TupleObject> tuple = make_tuple(vm, 1 + sizes.size());
    tuple->items[0] = intern(vm, dtype_short_name(tensor->tensor.dtype())).take();
    for (size_t i = 0; i < sizes.size(); ++i) tuple->items[1 + i] = Value::integer(sizes[i]);
    return tuple.take();
  }
  const Annotation* inner = container_of(annotation, is_kind(v, Kind::Dict));
  if (inner && is_kind(v, Kind::Tuple))
    return container_value(vm, kDescribedTuple, cast<TupleObject>(v)->span(), *inner);
  if (inner && is_kind(v, Kind::List)) return container_value(vm, kDescribedList, cast<ListObject>(v)->items, *inner);
  if (inner && is_kind(v, Kind::Dict)) {
    std::vector<Value> values;
    Table& table = cast<DictObject>(v)->table;
    for (uint32_t i = 0; i < table.used(); ++i)
      if (!table.entry(i).key.is_undefined()) values.push_back(table.entry(i).value);
    return container_value(vm, kDescribedDict, values, *inner);
  }
  return str_value(vm, type_name(vm, v));
}

Value container_value(Vm& vm, int64_t form, std::span<const Value> items, const Annotation& each) {
  vm.check_native_stack();
  Local<TupleObject> tuple = make_tuple(vm, 1 + items.size());
  tuple->items[0] = Value::integer(form);
  for (size_t i = 0; i < items.size(); ++i) tuple->items[1 + i] = described(vm, items[i], part_of(each, i));
  return tuple.take();
}

// Of what check_arguments made; anything else that a script passes is unknown.
ShapeFact fact_of_description(Vm& vm, const Value& v) {
  vm.check_native_stack();
  ShapeFact fact;
  if (v.is_none()) {
    fact.kind = ShapeFact::Kind::None;
  } else if (is_kind(v, Kind::Str)) {
    fact.kind = ShapeFact::Kind::Other;
    fact.type = cast<StrObject>(v)->view();
  } else if (const auto* tuple = try_cast<TupleObject>(v); tuple && tuple->size > 0) {
    const auto items = tuple->span();
    const bool is_tensor = is_kind(items[0], Kind::Str);
    if (!is_tensor && !items[0].is_int()) return fact;
    fact.kind = is_tensor ? ShapeFact::Kind::Tensor : described_kind(items[0].as_int());
    if (is_tensor) fact.type = cast<StrObject>(items[0])->view();
    for (const Value& item : items.subspan(1)) {
      if (!is_tensor) fact.items.push_back(fact_of_description(vm, item));
      else fact.sizes.push_back({item.is_int() ? item.as_int() : 0, item.is_int(), lang::Size::kNoHandle});
    }
  }
  return fact;
}

std::vector<ShapeFact> facts_of(Vm& vm, const Value& state) {
  const auto* tuple = try_cast<TupleObject>(state);
  if (!tuple) raise_type_error(vm, "the state of a call is a tuple");
  std::vector<ShapeFact> facts;
  for (const Value& one : tuple->span()) facts.push_back(fact_of_description(vm, one));
  return facts;
}

[[noreturn]] void raise_mismatch(Vm& vm, const lang::ShapeSignature& signature, const std::vector<ShapeFact>& arguments,
                                 const lang::ShapeMismatch& mismatch) {
  const Frame* frame = vm.current_frame();
  const std::string function = frame ? frame->code->code->qualname : std::string();
  raise_type_error(vm, lang::mismatch_text(function, signature, arguments, mismatch));
}

Value check_arguments(Vm& vm, Args& args) {
  if (args.count == 0) raise_type_error(vm, "a signature is missing");
  const lang::ShapeSignature& signature = shape_signature(vm, args[0]);
  const size_t count = std::min<size_t>(signature.parameters.size(), args.count - 1);
  Local<TupleObject> state = make_tuple(vm, count);
  for (size_t i = 0; i < count; ++i)
    state->items[i] = described(vm, args[static_cast<uint32_t>(i) + 1], signature.parameters[i].annotation);
  const std::vector<ShapeFact> facts = facts_of(vm, state.value());
  lang::SizeLogic logic;
  lang::BoundSizes bound;
  if (auto mismatch = lang::match_arguments(signature, facts, logic, bound))
    raise_mismatch(vm, signature, facts, *mismatch);
  return state.take();
}

Value check_result(Vm& vm, Args& args) {
  if (args.count != 3) raise_type_error(vm, "a signature, a state and a result are wanted");
  const lang::ShapeSignature& signature = shape_signature(vm, args[0]);
  const std::vector<ShapeFact> facts = facts_of(vm, args[1]);
  lang::SizeLogic logic;
  lang::BoundSizes bound;
  lang::match_arguments(signature, facts, logic, bound);
  const ShapeFact result = fact_of_description(vm, described(vm, args[2], signature.result));
  if (auto mismatch = lang::match_result(signature, result, logic, bound))
    raise_mismatch(vm, signature, facts, *mismatch);
  return Value::none();
}

struct SignatureCache {
  // The constant stays, so that no other object takes its place.
  std::unordered_map<const Object*, std::pair<Value, lang::ShapeSignature>> signatures;
};
const char kCacheKey = 0;

}  // namespace

void install_shape_checks(Vm& vm, ShapeChecking checking) {
  set_shape_checking(vm, std::move(checking));
  vm.extension(&kCacheKey) = std::make_shared<SignatureCache>();
  DictObject* builtins = vm.builtins()->globals.get();
  dict_set(vm, builtins, "__check_arguments__", make_raw_native(vm, "__check_arguments__", check_arguments).take());
  dict_set(vm, builtins, "__check_result__", make_raw_native(vm, "__check_result__", check_result).take());
}

const lang::ShapeSignature& shape_signature(Vm& vm, const Value& constant) {
  auto& cache = static_cast<SignatureCache*>(vm.extension(&kCacheKey).get())->signatures;
  const auto* tuple = try_cast<TupleObject>(constant);
  const auto is_text = [](const Value& v) { return is_kind(v, Kind::Str); };
  if (!tuple || !std::all_of(tuple->span().begin(), tuple->span().end(), is_text))
    raise_type_error(vm, "a signature is a tuple of names and annotations");
  const auto found = cache.find(constant.object());
  if (found != cache.end()) return found->second.second;
  std::vector<std::string> texts;
  for (const Value& text : tuple->span()) texts.emplace_back(cast<StrObject>(text)->view());
  return cache.emplace(constant.object(), std::pair(constant, lang::signature_of(texts))).first->second.second;
}

ShapeFact::Kind described_kind(int64_t form) {
  return form == kDescribedTuple  ? ShapeFact::Kind::Tuple
         : form == kDescribedList ? ShapeFact::Kind::List
                                  : ShapeFact::Kind::Dict;
}

const Annotation* container_of(const Annotation& annotation, bool of_dict) {
  using Form = Annotation::Kind;
  if (of_dict ? annotation.kind == Form::Values : annotation.kind == Form::Tuple || annotation.kind == Form::Items)
    return &annotation;
  if (annotation.kind != Form::Union) return nullptr;
  for (const Annotation& part : annotation.parts)
    if (const Annotation* found = container_of(part, of_dict)) return found;
  return nullptr;
}

const Annotation& part_of(const Annotation& container, size_t index) {
  static const Annotation unknown;
  if (container.kind != Annotation::Kind::Tuple) return container.parts[0];
  return index < container.parts.size() ? container.parts[index] : unknown;
}

}  // namespace tsc::interp
