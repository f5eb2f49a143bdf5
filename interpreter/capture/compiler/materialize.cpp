#include "interpreter/capture/compiler/materialize.h"

#include <algorithm>
#include <utility>

#include "interpreter/tensor/eager.h"
#include "interpreter/tensor/print_tensor.h"
#include "interpreter/tensor/transforms.h"
#include "lang/bytecode/bytecode.h"
#include "runtime/kernels/run_op.h"

namespace tsc::interp {

namespace {

class WithoutGradient {
 public:
  explicit WithoutGradient(bool& enabled) : enabled_(enabled), before_(std::exchange(enabled, false)) {}
  ~WithoutGradient() { enabled_ = before_; }
  WithoutGradient(const WithoutGradient&) = delete;

 private:
  bool& enabled_;
  const bool before_;
};

}  // namespace

Value run_value_to_script(Vm& vm, const jit::RunValue& v) {
  switch (v.kind) {
    case jit::ValueKind::Int: return Value::integer(v.scalar.i);
    case jit::ValueKind::Float: return Value::real(v.scalar.f);
    case jit::ValueKind::Bool: return Value::boolean(v.scalar.i != 0);
    case jit::ValueKind::Tensor: return make_tensor(vm, v.tensor).take();
    case jit::ValueKind::Object: break;
  }
  return v.object ? Value(static_cast<Object*>(v.object)) : Value::none();
}

Value Materializer::build(const Recipe& recipe, const Materials& materials, std::span<const jit::RunValue> live) {
  switch (recipe.form) {
    case Recipe::Form::Undefined: return Value();
    case Recipe::Form::Constant: return recipe.constant;
    case Recipe::Form::Live: return run_value_to_script(vm_, live[recipe.index]);
    case Recipe::Form::Entry: return entry_[recipe.index];
    case Recipe::Form::Object: return build_object(recipe.index, materials, live);
  }
  return Value();
}

void Materializer::set_history(Ref<jit::TapeNode> node, const std::vector<uint32_t>& numbers) {
  node_ = std::move(node);
  for (uint32_t i = 0; i < numbers.size(); ++i) outputs_[numbers[i]] = i;
}

Value Materializer::build_object(uint32_t index, const Materials& materials, std::span<const jit::RunValue> live) {
  const ObjectRecipe& recipe = materials.objects[index];
  if (const Value* found = objects_.find(recipe.number)) return *found;
  switch (recipe.kind) {
    case VirtualKind::Tensor: {
      Value made = remember(recipe, build_tensor(recipe, materials, live));
      if (recipe.gradient.form != Recipe::Form::Undefined)
        cast<TensorObject>(made)->grad = build(recipe.gradient, materials, live);
      return made;
    }
    case VirtualKind::List:
    case VirtualKind::Dict:
    case VirtualKind::Instance:
    case VirtualKind::Set:
    case VirtualKind::Cell: return build_container(recipe, materials, live);
    default: {
      Value made = build_plain(recipe, materials, live);
      // One that holds itself has been made by its parts.
      if (const Value* found = objects_.find(recipe.number)) return *found;
      return remember(recipe, std::move(made));
    }
  }
}

namespace {

uint32_t writes_of(const ObjectRecipe& recipe, std::span<const jit::RunValue> live) {
  return recipe.writes + (recipe.parts.size() > 1 ? static_cast<uint32_t>(live[recipe.parts[1].index].scalar.i) : 0);
}

}  // namespace

void Materializer::count_writes(const Materials& materials, std::span<const jit::RunValue> live) {
  for (const ObjectRecipe& recipe : materials.objects) {
    if (recipe.kind != VirtualKind::Tensor || recipe.is_view || objects_.find(recipe.number)) continue;
    const uint32_t writes = writes_of(recipe, live);
    if (writes == 0) continue;
    const Tensor elements = live[recipe.parts[0].index].tensor;
    const auto has_memory = [&](const ObjectRecipe& one) {
      return one.kind == VirtualKind::Tensor && !one.is_view &&
             live[one.parts[0].index].tensor.storage() == elements.storage();
    };
    const auto owners = std::count_if(materials.objects.begin(), materials.objects.end(), has_memory);
    if (owners > 1 || is_shared(elements)) continue;  // all but one are copied, which counts then
    uint32_t& version = elements.storage()->version;
    version = std::max(version, writes);
  }
}

Value Materializer::build_tensor(const ObjectRecipe& recipe, const Materials& materials,
                                 std::span<const jit::RunValue> live) {
  for (const auto& [condition, same] : recipe.same_as)
    if (live[condition.index].scalar.i) return build(same, materials, live);
  if (recipe.is_view) {
    Value parent = build(recipe.parts[0], materials, live);
    SmallVector<Scalar, 6> scalars;
    for (size_t i = 1; i < recipe.parts.size(); ++i) scalars.push_back(live[recipe.parts[i].index].scalar);
    // Its history is a result of the region's node: its gradient takes the region's way to the parent.
    TensorObject* operands[] = {cast<TensorObject>(parent)};
    Local<TensorObject> made = [&] {
      const WithoutGradient scope(tensor_state(vm_).modes.grad_enabled);
      return run_eager(vm_, recipe.view_op, operands, scalars, recipe.attributes).first;
    }();
    if (made->view) made->view->number = first_number_ + recipe.number;
    return finish_tensor(made, recipe);
  }
  Tensor elements = live[recipe.parts[0].index].tensor;
  // Two objects never share the memory of one region value, nor that of an input, and a fresh tensor is
  // row-major as in the interpreter.
  if (!elements.is_contiguous() || is_shared(elements)) {
    elements = run_op(Op::copy, {&elements, 1}, {}, {}).first;
    elements.storage()->version = writes_of(recipe, live);
  } else if (const uint32_t writes = writes_of(recipe, live)) {
    elements.storage()->version = std::max(elements.storage()->version, writes);
  }
  if (const Sizes strides = contiguous_strides(elements.sizes()); elements.strides() != strides)  // of one element
    elements = view_as_strided(elements, elements.sizes(), strides, elements.offset());
  return finish_tensor(make_tensor(vm_, std::move(elements)), recipe);
}

bool Materializer::is_shared(const Tensor& elements) {
  if (elements.storage()->use_count() <= 2) return false;  // `elements` and the live value
  const TensorState& state = tensor_state(vm_);
  const auto look_at = [&](const Value& v) {
    if (const TensorObject* tensor = as_tensor(state, v)) memory_.insert(tensor->tensor.storage().get());
  };
  if (memory_.empty()) std::for_each(entry_.begin(), entry_.end(), look_at);
  for (; looked_at_ < objects_.items().size(); ++looked_at_) look_at(objects_.items()[looked_at_].second);
  return memory_.count(elements.storage().get()) != 0;
}

Value Materializer::finish_tensor(Local<TensorObject> made, const ObjectRecipe& recipe) {
  made->requires_grad = recipe.requires_grad;
  made->is_data = recipe.is_data;
  made->extra = recipe.is_inference ? autograd_state(vm_).inference : nullptr;
  if (auto output = outputs_.find(recipe.number); output != outputs_.end()) made->history = {node_, output->second};
  return made.take();
}

Value Materializer::build_container(const ObjectRecipe& recipe, const Materials& materials,
                                    std::span<const jit::RunValue> live) {
  auto part = [&](size_t i) { return build(recipe.parts[i], materials, live); };
  switch (recipe.kind) {
    case VirtualKind::List: {
      Local<ListObject> list = make_list(vm_, recipe.parts.size());
      objects_.add(recipe.number, list.value());
      for (size_t i = 0; i < recipe.parts.size(); ++i) list_append(vm_, list.get(), part(i));
      return list.take();
    }
    case VirtualKind::Set: {
      Local<SetObject> set = make_set(vm_, recipe.position != 0);
      objects_.add(recipe.number, set.value());
      for (size_t i = 0; i < recipe.parts.size(); ++i) set_add(vm_, set.get(), part(i));
      return set.take();
    }
    case VirtualKind::Dict: {
      Local<DictObject> dict = recipe.type ? vm_.heap().make<DictObject>(recipe.type.get()) : make_dict(vm_);
      objects_.add(recipe.number, dict.value());
      const size_t items = recipe.parts.size() - recipe.names.size();
      for (size_t i = 0; i < items; i += 2) dict_set(vm_, dict.get(), part(i), part(i + 1));
      for (size_t i = 0; i < recipe.names.size(); ++i)
        set_own_attribute(vm_, dict.get(), recipe.names[i].get(), part(items + i));
      return dict.take();
    }
    case VirtualKind::Cell: {
      Local<CellObject> cell = make_cell(vm_, Value());
      objects_.add(recipe.number, cell.value());
      cell->content = part(0);
      return cell.take();
    }
    default: break;
  }
  Local<Instance> instance = vm_.heap().make<Instance>(recipe.type.get());
  objects_.add(recipe.number, instance.value());
  for (size_t i = 0; i < recipe.parts.size(); ++i)
    set_own_attribute(vm_, instance.get(), recipe.names[i].get(), part(i));
  return instance.take();
}

Value Materializer::build_plain(const ObjectRecipe& recipe, const Materials& materials,
                                std::span<const jit::RunValue> live) {
  std::vector<Value> parts;
  for (const Recipe& part : recipe.parts) parts.push_back(build(part, materials, live));
  switch (recipe.kind) {
    case VirtualKind::Tuple: {
      Local<TupleObject> tuple = interp::make_tuple(vm_, parts);
      if (!recipe.type) return tuple.take();
      if (recipe.type->type_flags & kScriptClass)  // not by the class, whose __new__ the region has run
        return call(vm_, *lookup_in_type(vm_.types().tuple, intern(vm_, "__new__").get()),
                    {recipe.type.value(), tuple.value()});
      return retype_tuple(vm_, tuple, recipe.type.get());
    }
    case VirtualKind::Range: return make_range(vm_, parts[0].as_int(), parts[1].as_int(), parts[2].as_int()).take();
    case VirtualKind::DictView: {
      const char* method = kDictViewMethods[static_cast<size_t>(recipe.position)];
      return call(vm_, *lookup_in_type(vm_.types().dict, intern(vm_, method).get()), {parts[0]});
    }
    case VirtualKind::Slice: return make_slice(vm_, parts[0], parts[1], parts[2]).take();
    case VirtualKind::BoundMethod: return make_bound_method(vm_, parts[0], parts[1]);
    case VirtualKind::Partial: return build_partial(recipe, parts);
    case VirtualKind::Super: return call(vm_, Value(vm_.types().super), {recipe.type.value(), parts[0]});
    case VirtualKind::Function: return build_function(recipe, parts);
    case VirtualKind::Iterator: return build_iterator(recipe, parts);
    case VirtualKind::Text: return build_text(recipe, parts);
    default: TSC_CHECK(false, "recipe of a container"); return Value();
  }
}

Value Materializer::build_function(const ObjectRecipe& recipe, const std::vector<Value>& parts) {
  Local<FunctionObject> function = vm_.heap().make<FunctionObject>(vm_.types().function);
  function->code = recipe.code;
  function->module = recipe.module;
  function->name = intern(vm_, recipe.code->code->name);
  function->qualified_name = intern(vm_, recipe.code->code->qualname);
  size_t i = 0;
  for (uint32_t k = 0; k < recipe.counts[0]; ++k) function->defaults.push_back(parts[i++]);
  for (uint32_t k = 0; k < recipe.counts[1]; ++k) function->keyword_defaults.push_back(parts[i++]);
  for (uint32_t k = 0; k < recipe.counts[2]; ++k)
    function->closure.push_back(Local<CellObject>(cast<CellObject>(parts[i++])));
  return function.take();
}

Value Materializer::build_partial(const ObjectRecipe& recipe, const std::vector<Value>& parts) {
  std::vector<StrObject*> names;
  for (const Local<StrObject>& name : recipe.names) names.push_back(name.get());
  Args args;
  args.positional = parts.data();
  args.keyword_count = static_cast<uint32_t>(names.size());
  args.count = static_cast<uint32_t>(parts.size()) - args.keyword_count;
  args.keyword_names = names.data();
  args.keyword_values = parts.data() + args.count;
  return call(vm_, recipe.type.value(), args);
}

Value Materializer::build_iterator(const ObjectRecipe& recipe, const std::vector<Value>& parts) {
  switch (recipe.iterator) {
    case VIterator::Form::Items: {
      std::span<const Value> rest(parts);
      return iterate(vm_, interp::make_tuple(vm_, rest.subspan(static_cast<size_t>(recipe.position))).take());
    }
    case VIterator::Form::Live: {
      Value iterator = iterate(vm_, parts[0]);
      Value skipped;
      for (int64_t i = 0; i < recipe.position; ++i) iterate_next(vm_, iterator, skipped);
      return iterator;
    }
    case VIterator::Form::Native: return call(vm_, recipe.type.value(), parts);
    default: break;  // generators never leave, nor do those from outside
  }
  return Value();
}

Value Materializer::build_text(const ObjectRecipe& recipe, const std::vector<Value>& parts) {
  std::string text;
  size_t next = 0;
  for (const VText::Part& part : recipe.text) {
    if (part.formatted.is_undefined()) {
      text += part.text;
      continue;
    }
    const Value& v = parts[next++];
    text += format(vm_, converted(vm_, v, part.conversion), part.spec);
  }
  return str_value(vm_, text);
}

}  // namespace tsc::interp
