#include "interpreter/capture/compiler/called_backend.h"

#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/compiler/device_runs.h"
#include "interpreter/tensor/tensor_object.h"
#include "interpreter/vm/call.h"
#include "jit/region/executor.h"

namespace tsc::interp {
namespace {

constexpr uint32_t kPassed = ~0u;  // the exit of the entry conditions, when all hold

const char* kind_text(jit::ValueKind kind) {
  switch (kind) {
    case jit::ValueKind::Tensor: return "Tensor";
    case jit::ValueKind::Int: return "int";
    case jit::ValueKind::Float: return "float";
    case jit::ValueKind::Bool: return "bool";
    case jit::ValueKind::Object: break;
  }
  return "object";
}

std::string type_text(const jit::Type& type) {
  if (type.kind != jit::ValueKind::Tensor) return kind_text(type.kind);
  return std::string(dtype_name(type.dtype)) + " tensor of " + std::to_string(type.sizes.size()) + " dimensions";
}

// What a region takes or gives; TypeError where the value is none of that type. The value stays alive elsewhere.
jit::RunValue taken(Vm& vm, const Value& v, const jit::Type& type, const std::string& what) {
  jit::RunValue out;
  out.kind = type.kind;
  bool fits = true;
  switch (type.kind) {
    case jit::ValueKind::Tensor: {
      TensorObject* tensor = as_tensor(tensor_state(vm), v);
      fits = tensor && tensor->tensor.dtype() == type.dtype &&
             static_cast<size_t>(tensor->tensor.rank()) == type.sizes.size();
      if (fits) out.tensor = tensor->tensor;
      break;
    }
    case jit::ValueKind::Int:
      if ((fits = v.is_int())) out.scalar = Scalar::of_int(v.as_int());
      break;
    case jit::ValueKind::Float:
      if ((fits = v.is_float() || v.is_int()))
        out.scalar = Scalar::of_float(v.is_float() ? v.as_float() : static_cast<double>(v.as_int()));
      break;
    case jit::ValueKind::Bool:
      if ((fits = v.is_bool())) out.scalar = Scalar::of_bool(v.as_bool());
      break;
    case jit::ValueKind::Object: out.object = v.is_object() ? v.object() : nullptr;
  }
  if (!fits) raise_type_error(vm, what + " must be a " + type_text(type) + ", not " + type_name(vm, v));
  return out;
}

std::span<const Value> items_of(Vm& vm, const Value& v) {
  if (TupleObject* tuple = try_cast<TupleObject>(v)) return tuple->span();
  if (ListObject* list = try_cast<ListObject>(v)) return {list->items.data(), list->items.size()};
  raise_type_error(vm,
                   "what a backend returns must give a tuple or list of the region's outputs, not " + type_name(vm, v));
}

// The context of the call that goes on, for regions that the script calls meanwhile.
class ContextScope {
 public:
  ContextScope(CapturedRegion& region, jit::RunContext& context)
      : region_(region), before_(std::exchange(region.context, &context)) {}
  ~ContextScope() { region_.context = before_; }

 private:
  CapturedRegion& region_;
  jit::RunContext* before_;
};

class CalledExecutable final : public jit::Executable {
 public:
  CalledExecutable(Vm& vm, std::shared_ptr<CapturedRegion> region, std::shared_ptr<jit::Executable> conditions,
                   Value called)
      : vm_(vm), region_(std::move(region)), conditions_(std::move(conditions)), called_(std::move(called)) {}

  jit::RunExit run(std::span<const jit::RunInput> inputs, jit::RunContext& context) override {
    if (conditions_) {
      jit::RunExit exit = conditions_->run(inputs, context);
      if (exit.id != kPassed) return exit;
    }
    std::vector<Value> arguments;
    for (size_t i = 0; i < inputs.size(); ++i) arguments.push_back(given(inputs[i], region_->inputs[i].kind));
    const ContextScope scope(*region_, context);
    result_ = call(vm_, called_, arguments);  // objects among the outputs live as long as it does
    const std::span<const Value> outputs = items_of(vm_, result_);
    if (outputs.size() != region_->outputs.size())
      raise_type_error(vm_, "what a backend returns must give " + std::to_string(region_->outputs.size()) +
                                " outputs, not " + std::to_string(outputs.size()));
    const jit::Instruction& leaving = region_->region.body.instructions.back();
    jit::RunExit exit;
    exit.id = leaving.id;
    exit.origin = leaving.origin;
    for (size_t i = 0; i < outputs.size(); ++i)
      exit.live.push_back(taken(vm_, outputs[i], region_->outputs[i], "output " + std::to_string(i)));
    return exit;
  }

  std::unique_ptr<jit::Executable> another() const override {
    return std::make_unique<CalledExecutable>(vm_, region_, conditions_, called_);
  }

 private:
  Value given(const jit::RunInput& input, jit::ValueKind kind) {
    jit::RunValue value;
    value.kind = kind;
    value.scalar = input.scalar;
    value.object = input.object;
    if (input.tensor) value.tensor = *input.tensor;
    return run_value_to_script(vm_, value);
  }

  Vm& vm_;
  std::shared_ptr<CapturedRegion> region_;
  std::shared_ptr<jit::Executable> conditions_;
  Value called_, result_;
};

// The instructions up to the last guard; null where there is none.
std::shared_ptr<jit::Executable> conditions_of(const jit::Region& region) {
  jit::Region conditions = region.clone();
  std::vector<jit::Instruction>& all = conditions.body.instructions;
  size_t count = all.size();
  while (count > 0 && all[count - 1].code != jit::Code::Guard) --count;
  if (count == 0) return nullptr;
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  jit::Instruction& passed = all.emplace_back();
  passed.code = jit::Code::Exit;
  passed.id = kPassed;
  return jit::make_region_executor(std::move(conditions));
}

Local<ListObject> ops_of(Vm& vm, const jit::Region& region) {
  Local<ListObject> names = make_list(vm);
  for (const jit::Instruction& instruction : region.body.instructions)
    if (instruction.code == jit::Code::Op)
      list_append(vm, names.get(), str_value(vm, std::string(op_name(instruction.op))));
  return names;
}

Local<ListObject> types_of(Vm& vm, const std::vector<jit::Type>& types) {
  Local<ListObject> texts = make_list(vm);
  for (const jit::Type& type : types) list_append(vm, texts.get(), str_value(vm, type_text(type)));
  return texts;
}

// (reason, explanation, [(file, line, function), ...]) for each place where the interpreter goes on, innermost last.
Local<ListObject> breaks_of(Vm& vm, const RegionPlan& plan) {
  Local<ListObject> breaks = make_list(vm);
  for (const ExitPlan& exit : plan.exits) {
    if (exit.form != ExitPlan::Form::Resume) continue;
    std::vector<Value> places;
    for (uint32_t origin = exit.origin; origin; origin = plan.origins[origin].caller) {
      const lang::CodeObject& code = *plan.origins[origin].code->code;
      places.push_back(make_tuple(vm, {str_value(vm, std::string(code.file())),
                                       Value::integer(code.line_of(plan.origins[origin].pc)), str_value(vm, code.name)})
                           .value());
    }
    Local<ListObject> stack = make_list(vm);
    for (auto place = places.rbegin(); place != places.rend(); ++place) list_append(vm, stack.get(), *place);
    std::string text = break_row(exit.reason).explanation;
    if (!exit.detail.empty()) text += " (" + exit.detail + ")";
    list_append(vm, breaks.get(),
                make_tuple(vm, {str_value(vm, break_row(exit.reason).id), str_value(vm, text), stack.value()}).value());
  }
  return breaks;
}

std::shared_ptr<CapturedRegion> make_captured(jit::Region region) {
  auto captured = std::make_shared<CapturedRegion>();
  std::erase_if(region.body.instructions, [](const jit::Instruction& i) { return i.code == jit::Code::Guard; });
  for (ValueId input : region.body.parameters) captured->inputs.push_back(region.type(input));
  for (ValueId output : region.body.instructions.back().operands) captured->outputs.push_back(region.type(output));
  captured->region = std::move(region);
  return captured;
}

}  // namespace

Type* make_region_type(Vm& vm) {
  TypeBuilder type(vm, "captured_region", Kind::Native);
  type.slots().destroy = destroy_as<RegionObject>;
  return type.finish();
}

Value run_captured_region(Vm& vm, CapturedRegion& region, std::span<const Value> inputs) {
  if (inputs.size() != region.inputs.size())
    raise_type_error(vm, "the region takes " + std::to_string(region.inputs.size()) + " inputs, not " +
                             std::to_string(inputs.size()));
  std::vector<jit::RunValue> values;
  for (size_t i = 0; i < inputs.size(); ++i)
    values.push_back(taken(vm, inputs[i], region.inputs[i], "input " + std::to_string(i)));
  std::vector<jit::RunInput> given;
  for (const jit::RunValue& value : values)
    given.push_back({value.kind == jit::ValueKind::Tensor ? &value.tensor : nullptr, value.scalar, value.object});
  jit::RunContext alone;
  alone.rng = &tensor_state(vm).rng;
  const bool needs_call = std::any_of(region.region.body.instructions.begin(), region.region.body.instructions.end(),
                                      [](const jit::Instruction& i) { return i.code == jit::Code::Host; });
  if (needs_call && !region.context)
    raise(vm, vm.exceptions().RuntimeError,
          "the region runs statements of the function it was captured from: it can only be "
          "called in place of a call of that function");
  try {
    jit::RunExit exit = region.code->run(given, region.context ? *region.context : alone);
    std::vector<Value> outputs;
    for (const jit::RunValue& value : exit.live) outputs.push_back(run_value_to_script(vm, value));
    return make_tuple(vm, outputs).take();
  } catch (const jit::RunError& error) {
    throw Error(error.error);
  } catch (const InternalFault&) {
    raise(vm, vm.exceptions().RuntimeError, "the inputs have sizes for which the region was not captured");
  }
}

std::unique_ptr<jit::Executable> make_called_executable(Vm& vm, Type* region_type, const Value& called,
                                                        jit::Region region, const RegionPlan& plan,
                                                        const std::vector<Value>& example,
                                                        const jit::CompileOptions& options, jit::Report& report) {
  std::shared_ptr<jit::Executable> conditions = conditions_of(region);
  std::shared_ptr<CapturedRegion> captured = make_captured(std::move(region));
  captured->code = with_devices(jit::compile(captured->region.clone(), options, report), plan.place);
  Local<RegionObject> handle = vm.heap().make<RegionObject>(region_type);
  handle->region = captured;
  Local<ListObject> inputs = make_list(vm), facts = make_list(vm);
  for (const auto& [value, source] : plan.inputs) list_append(vm, inputs.get(), example[source]);
  for (const std::string& fact : plan.facts) list_append(vm, facts.get(), str_value(vm, fact));
  const Local<ModuleObject> module = vm.import_module("torch._dynamo.regions");
  const Value ask = dict_get(vm, module->globals.get(), "_ask_backend");
  const std::vector<Value> arguments = {called,
                                        inputs.value(),
                                        handle.value(),
                                        str_value(vm, captured->region.name),
                                        str_value(vm, place_text(plan.entry_code.get(), plan.entry_pc)),
                                        str_value(vm, jit::print(captured->region)),
                                        types_of(vm, captured->inputs).value(),
                                        types_of(vm, captured->outputs).value(),
                                        ops_of(vm, captured->region).value(),
                                        breaks_of(vm, plan).value(),
                                        facts.value()};
  return std::make_unique<CalledExecutable>(vm, std::move(captured), std::move(conditions), call(vm, ask, arguments));
}

std::unique_ptr<jit::Executable> RegionRuns::make_executable(const Variant& variant, const Frame& frame,
                                                             jit::Region region) {
  const CompileSettings& settings = *variant.settings;
  const jit::CompileOptions options = requests_.jit_options(settings, variant.background);
  if (settings.backend != Backend::Called)
    return with_devices(jit::compile(std::move(region), options, report_), variant.plan.place);
  std::vector<Value> entry;
  for (const EntrySource& source : variant.plan.sources) entry.push_back(entry_checks_.fetch(source, frame, entry));
  if (!region_type_) region_type_ = make_region_type(vm_);
  return make_called_executable(vm_, region_type_, settings.called, std::move(region), variant.plan, entry, options,
                                report_);
}

}  // namespace tsc::interp
