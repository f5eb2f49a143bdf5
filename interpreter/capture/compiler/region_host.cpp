#include "interpreter/capture/compiler/region_host.h"

#include "interpreter/vm/vm_access.h"

namespace tsc::interp {
namespace {

void set_gradient(const Value& tensor, const Value& gradient) {
  TensorObject* object = cast<TensorObject>(tensor);
  if (gradient.is_none()) object->grad.reset();
  else object->grad = gradient;
}

jit::RunValue to_run_value(const Value& v, jit::ValueKind kind, std::vector<Value>& held) {
  jit::RunValue out;
  out.kind = kind;
  switch (kind) {
    case jit::ValueKind::Float:
      out.scalar = Scalar::of_float(v.is_float() ? v.as_float() : static_cast<double>(v.as_int()));
      break;
    case jit::ValueKind::Int: out.scalar = Scalar::of_int(v.as_int()); break;
    case jit::ValueKind::Bool: out.scalar = Scalar::of_bool(v.as_bool()); break;
    default:
      if (!v.is_object()) break;
      held.push_back(v);
      out.object = v.object();
  }
  return out;
}

Value call_action(Vm& vm, const HostAction& action, const std::vector<Value>& values) {
  Args args;
  std::vector<StrObject*> names;
  for (const Local<StrObject>& name : action.keywords) names.push_back(name.get());
  size_t positional = values.size() - 1 - names.size();
  args.positional = values.data() + 1;
  args.count = static_cast<uint32_t>(positional);
  args.keyword_count = static_cast<uint32_t>(names.size());
  args.keyword_names = names.data();
  args.keyword_values = values.data() + 1 + positional;
  return call(vm, values[0], args);
}

}  // namespace

void RegionHost::poll() {
  if (--VmAccess::fuel(vm_) < 0) vm_.handle_interrupts();
  vm_.poll();
}

Value perform(Vm& vm, const HostAction& action, const std::vector<Value>& values) {
  Value result;
  switch (action.form) {
    case HostAction::Form::Call: return call_action(vm, action, values);
    case HostAction::Form::SetAttribute: generic_set_attribute(vm, values[0], action.name.get(), values[1]); break;
    case HostAction::Form::SetItem: set_item(vm, values[0], values[1], values[2]); break;
    case HostAction::Form::SetContent:
      cast<CellObject>(values[0])->content = values[1];
      note_store(vm, values[0].object(), Value());
      break;
    case HostAction::Form::SetGlobal: dict_set(vm, cast<DictObject>(values[0]), action.name.value(), values[1]); break;
    case HostAction::Form::SetGradient: set_gradient(values[0], values[1]); break;
    case HostAction::Form::Advance: iterate_next(vm, values[0], result); break;
  }
  return result;
}

void RegionHost::host(uint32_t id, std::span<const jit::RunValue> arguments, std::span<jit::RunValue> results) {
  const HostAction& action = variant_.plan.actions[id];
  origin_ = action.origin;
  ++performed_;
  std::vector<Value> values;
  values.reserve(action.values.size());
  materializer_.count_writes(action.materials, arguments);
  for (const Recipe& recipe : action.values) values.push_back(materializer_.build(recipe, action.materials, arguments));
  const Value result = perform(vm_, action, values);
  if (action.has_result) results[0] = to_run_value(result, action.result, held_);
  origin_ = 0;
}

}  // namespace tsc::interp
