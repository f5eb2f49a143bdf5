// Calls from C++: native functions, script functions (a nested dispatch loop), classes.
#include <algorithm>

#include "interpreter/vm/attempt.h"
#include "interpreter/vm/class_builder.h"
#include "interpreter/vm/frames.h"
#include "interpreter/vm/iteration.h"
#include "interpreter/vm/mapping.h"
#include "interpreter/vm/native.h"
#include "lang/bytecode/bytecode.h"
#include "runtime/base/error.h"

namespace tsc::interp {

namespace {

// A method taken from its class and called: the first argument must be of the class.
void check_self(Vm& vm, const NativeFunction* f, const Args& args) {
  const Type* owner = static_cast<const Type*>(f->pointer);
  if (args.count && type_of(vm, args[0])->is_subtype_of(owner)) return;
  if (args.count == 0) raise_type_error(vm, "unbound method " + owner->name + "." + f->name + "() needs an argument");
  const std::string& given = type_name(vm, args[0]);
  bool wrapper = f->name.starts_with("__");
  raise_type_error(vm, wrapper ? "descriptor '" + f->name + "' requires a '" + owner->name +
                                     "' object but received a '" + given + "'"
                               : "descriptor '" + f->name + "' for '" + owner->name + "' objects doesn't apply to a '" +
                                     given + "' object");
}

constexpr size_t kFewParameters = 8;

// The parameters of a call by position that leaves out only what has a ready default. False: bind.
bool fill_few(const Signature& signature, const Args& args, Value (&out)[kFewParameters]) {
  const std::vector<Signature::Parameter>& parameters = signature.parameters();
  if (parameters.size() > kFewParameters || args.count > signature.positional_count()) return false;
  for (size_t i = args.count; i < parameters.size(); ++i)
    if (parameters[i].required || parameters[i].has_text_default) return false;
  for (size_t i = 0; i < args.count; ++i) {
    if (args[i].is_undefined()) return false;
    out[i] = args[i];
  }
  for (size_t i = args.count; i < parameters.size(); ++i) out[i] = parameters[i].default_value;
  return true;
}

// Throws, or leaves an exception in the Vm.
inline Value run_native(Vm& vm, NativeFunction* f, Args& args) {
  vm.check_native_stack();
  if (f->is_method && f->pointer && !(args.count && type_of(vm, args[0]) == static_cast<const Type*>(f->pointer)))
    check_self(vm, f, args);
  try {
    args.callee = f;
    if (!f->signature) return f->code(vm, args);
    const Signature& signature = *f->signature;
    if (args.keyword_count == 0 && args.count == signature.parameters().size() &&
        args.count == signature.positional_count() && signature.is_plain())
      return f->code(vm, args);
    Args full;
    full.callee = f;
    Value few[kFewParameters];
    if (args.keyword_count == 0 && signature.is_plain() && fill_few(signature, args, few)) {
      full.positional = few;
      full.count = static_cast<uint32_t>(signature.parameters().size());
      return f->code(vm, full);
    }
    std::vector<Value> bound;
    signature.bind(vm, f->name, args, bound);
    full.positional = bound.data();
    full.count = static_cast<uint32_t>(bound.size());
    return f->code(vm, full);
  } catch (const Error&) {
    rethrow_as_script_exception(vm);
  } catch (const std::bad_alloc&) {
    rethrow_as_script_exception(vm);
  } catch (const std::length_error&) {
    rethrow_as_script_exception(vm);
  }
}

}  // namespace

Value call_native(Vm& vm, NativeFunction* f, Args& args) { return or_throw(vm, run_native(vm, f, args)); }

Value call_native_softly(Vm& vm, NativeFunction* f, Args& args) {
  try {
    return run_native(vm, f, args);
  } catch (const ScriptException& e) {
    return vm.return_raised(e.local());
  }
}

void call_native_window(Vm& vm, NativeFunction* f, Value* values, uint32_t count, Value& result) {
  Args args;
  args.positional = values;
  args.count = count;
  try {
    result = run_native(vm, f, args);
  } catch (const ScriptException& e) {
    result = vm.return_raised(e.local());
  }
  for (uint32_t k = 0; k < count; ++k) values[k].reset();
}

Value call_function_softly(Vm& vm, FunctionObject* function, const Args& args) {
  vm.check_native_stack();
  enter_recursion(vm);
  if (args.keyword_count == 0 && function->code->plain_arguments == args.count) [[likely]] {
    Frame* frame = VmAccess::stack(vm).push(function, nullptr, args.count);
    ++function->reference_count;
    for (uint32_t k = 0; k < args.count; ++k) new (&frame->registers[k]) Value(args[k]);
    link_frame(vm, frame, FrameReturn::Leave);
  } else {
    Frame* frame = new_frame(vm, function);
    Value result;
    if (!bind_frame(vm, frame, args, result)) return result;
    link_frame(vm, frame, FrameReturn::Leave);
  }
  if (function->compiled && vm.hooks()) return run_loop_entering(vm);
  return run_loop_softly(vm);
}

Value call(Vm& vm, const Value& callee, Args& args) { return or_throw(vm, call_softly(vm, callee, args)); }

Value call_softly(Vm& vm, const Value& callee, Args& args) {
  if (callee.is_object()) {
    switch (callee.object()->kind) {
      case Kind::Function: {
        Local<FunctionObject> kept(cast<FunctionObject>(callee));
        return call_function_softly(vm, kept, args);
      }
      case Kind::NativeFunction: {
        Value kept = callee;
        return run_native(vm, cast<NativeFunction>(kept), args);
      }
      case Kind::Type:
        if (callee.object()->type == vm.types().type) return construct_softly(vm, cast<Type>(callee), args);
        break;  // the metaclass decides: type's own slot constructs
      case Kind::BoundMethod: {
        Local<BoundMethod> method(cast<BoundMethod>(callee));
        std::vector<Value> shifted;
        shifted.reserve(args.count + 1);
        shifted.push_back(method->self);
        shifted.insert(shifted.end(), args.positional, args.positional + args.count);
        Args bound = args;
        bound.positional = shifted.data();
        bound.count = args.count + 1;
        return call_softly(vm, method->function, bound);
      }
      default: break;
    }
    if (auto slot = callee.object()->type->slots.call) {
      vm.check_native_stack();
      Value kept = callee;
      return slot(vm, kept, args);
    }
  }
  return return_error(vm, vm.exceptions().TypeError, "'" + type_name(vm, callee) + "' object is not callable");
}

Value call(Vm& vm, const Value& callee, std::span<const Value> values) {
  Args args;
  args.positional = values.data();
  args.count = static_cast<uint32_t>(values.size());
  return call(vm, callee, args);
}

Value call(Vm& vm, const Value& callee, std::initializer_list<Value> values) {
  return call(vm, callee, std::span<const Value>(values.begin(), values.size()));
}

void settle_unpacked(Vm& vm, const Value& callee, Value& positional, Value* keywords) {
  if (!is_kind(positional, Kind::Tuple)) {
    const TypeSlots& slots = type_of(vm, positional)->slots;
    if (!slots.iterate && !slots.get_item)
      raise_type_error(
          vm, callable_name(vm, callee) + " argument after * must be an iterable, not " + type_name(vm, positional));
    positional = to_tuple(vm, positional).take();
  }
  if (!keywords) return;
  if (!plain_dict(vm, *keywords)) {
    Local<DictObject> dict = make_dict(vm);
    if (!for_each_pair(vm, *keywords, [&](const Value& k, const Value& v) { dict_set(vm, dict, k, v); }))
      raise_type_error(
          vm, callable_name(vm, callee) + " argument after ** must be a mapping, not " + type_name(vm, *keywords));
    *keywords = dict.take();
  }
  Table& table = cast<DictObject>(*keywords)->table;
  for (uint32_t k = 0; k < table.used(); ++k) {
    const Table::Entry& entry = table.entry(k);
    if (entry.key && !is_kind(entry.key, Kind::Str)) raise_type_error(vm, "keywords must be strings");
  }
}

Value call_method(Vm& vm, const Value& self, std::string_view name, std::initializer_list<Value> args) {
  return call(vm, get_attribute(vm, self, name), args);
}

namespace {

[[noreturn]] void raise_abstract(Vm& vm, Type* type) {
  Value names = get_attribute(vm, Value(type), "__abstractmethods__");
  Local<ListObject> sorted = to_list(vm, names);
  std::vector<std::string> texts;
  for (const Value& name : sorted->items) texts.push_back(to_string(vm, name));
  std::sort(texts.begin(), texts.end());
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  raise_type_error(vm, "Can't instantiate abstract class " + type->name + " with abstract method" +
                           (texts.size() > 1 ? "s " : " ") + joined);
}

}  // namespace

Value allocate_instance(Vm& vm, Type* type) {
  if (type->type_flags & kAbstractClass) [[unlikely]]
    raise_abstract(vm, type);
  if (type->layout != Kind::Instance || !(type->type_flags & kBaseType))
    raise_type_error(vm, "cannot create '" + type->name + "' instances");
  Local<Instance> instance = vm.heap().make<Instance>(type);
  if (type->instance_offset) {
    instance->state.shape = type->root();
    if (type->slots_hint) reserve_slots(vm, instance->state, type->slots_hint, 0);
  }
  return instance.take();
}

Value construct(Vm& vm, Type* type, Args& args) { return or_throw(vm, construct_softly(vm, type, args)); }

Value construct_softly(Vm& vm, Type* type, Args& args) {
  vm.check_native_stack();
  Local<Type> kept(type);
  Value object = type->slots.construct ? type->slots.construct(vm, type, args) : allocate_instance(vm, type);
  if (type == vm.types().type || object.is_undefined() || !is_instance(vm, object, type)) return object;
  if (auto initialize = type_of(vm, object)->slots.initialize) {
    initialize(vm, object, args);
  } else if (!type->slots.construct && (args.count || args.keyword_count)) {
    raise_type_error(vm, type->name + "() takes no arguments");
  }
  return object;
}

}  // namespace tsc::interp
