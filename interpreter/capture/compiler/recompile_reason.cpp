// Why a call needs another variant: every fact of an older one that does not hold now, in the words of
// the script. Runs once per capture, never on the way into compiled code.
#include "interpreter/capture/compiler/compiler.h"
#include "interpreter/capture/outside/object_path.h"
#include "interpreter/tensor/eager.h"

namespace tsc::interp {

using Check = EntrySource::Check;
using Form = EntrySource::Form;

namespace {

constexpr size_t kLongestText = 40;

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string autocast_text(std::optional<DType> dtype) { return dtype ? std::string(dtype_name(*dtype)) : "off"; }

std::string register_name(const Frame& frame, uint32_t index) {
  const std::vector<std::string>& names = frame.code->code->register_names;
  return index < names.size() && !names[index].empty() ? quoted(names[index]) : "a value in use here";
}

std::string closure_name(const Frame& frame, const Value& cell) {
  const std::vector<std::string>& names = frame.code->code->free_names;
  if (frame.function)
    for (size_t i = 0; i < frame.function->closure.size() && i < names.size(); ++i)
      if (frame.function->closure[i].get() == cell.object()) return quoted(names[i]);
  return "a variable of an enclosing function";
}

// "'Block'", with the way to it from the variables of the call.
std::string owner_text(const Frame& frame, const Object* owner, const std::string& type) {
  const std::string path = object_path(frame, owner);
  return quoted(type) + (path.empty() ? "" : " (" + path + ")");
}

std::string source_name(const std::vector<EntrySource>& sources, const EntrySource& source, const Frame& frame) {
  switch (source.form) {
    case Form::Register: return register_name(frame, source.index);
    case Form::Closure:
      return "the variable " + quoted(frame.code->code->free_names[source.index]) + " of the enclosing function";
    case Form::Item: {
      const bool named = is_kind(source.key, Kind::Str);
      return source_name(sources, sources[source.parent], frame) + "[" +
             (named ? quoted(cast<StrObject>(source.key)->view()) : std::to_string(source.index)) + "]";
    }
    case Form::Length: return "length of " + source_name(sources, sources[source.parent], frame);
    case Form::Attribute:
      if (!source.holder.is_object())
        return source_name(sources, sources[source.parent], frame) + "." + std::string(source.name->view());
      return quoted(source.name->view()) + " of " +
             owner_text(frame, source.holder.object(), source.holder.object()->type->name);
    case Form::Namespace: return quoted(source.name->view());
    case Form::Content: return closure_name(frame, source.holder);
    case Form::Element: return "item " + std::to_string(source.index) + " of a list";
    case Form::Gradient: return source_name(sources, sources[source.parent], frame) + ".grad";
    case Form::Pinned: return "a tensor of the program";
    case Form::Part: return "a part of " + source_name(sources, sources[source.parent], frame);
    case Form::Copy: return source_name(sources, sources[source.parent], frame);
    case Form::Next:
      return "item " + std::to_string(source.index) + " of " + source_name(sources, sources[source.parent], frame);
  }
  return "a value";
}

// A plain value as text, anything else as its type: no script code runs here.
std::string value_text(Vm& vm, const Value& v) {
  if (v.is_undefined()) return "nothing";
  if (v.is_object() && !is_kind(v, Kind::Str)) return "a " + type_name(vm, v);
  std::string text = repr(vm, v);
  return text.size() <= kLongestText ? text : "a " + type_name(vm, v);
}

std::string change(std::string before, std::string after) {
  return before == after ? "another one" : std::move(before) + " -> " + std::move(after);
}

// The parts of tensor_key() that differ.
std::string tensor_change(uint64_t before, uint64_t after, const std::string& name) {
  std::vector<std::string> parts;
  auto part = [&](int shift, uint64_t mask, const std::string& what, auto&& text) {
    const uint64_t was = before >> shift & mask, is = after >> shift & mask;
    if (was != is) parts.push_back(what + " of " + name + ": " + change(text(was), text(is)));
  };
  auto truth = [](uint64_t bit) { return std::string(bit ? "True" : "False"); };
  part(0, 0xFF, "dtype", [](uint64_t dtype) { return std::string(dtype_name(static_cast<DType>(dtype))); });
  part(8, 0xFF, "dim", [](uint64_t rank) { return std::to_string(rank); });
  part(16, 1, "requires_grad", truth);
  part(17, 1, "gradient history", truth);
  part(18, 1, "is_contiguous", truth);
  part(19, 1, "hooks on the gradient", truth);
  part(20, 1, "inference mode or a tangent", truth);
  part(21, 1, "being a view of a leaf that requires grad", truth);
  part(24, 255, "device", [](uint64_t code) { return Place::of_code(static_cast<uint8_t>(code)).name(); });
  std::string out;
  for (const std::string& text : parts) out += (out.empty() ? "" : "; ") + text;
  return out;
}

std::string length_text(Vm& vm, const Value& v) {
  if (is_kind(v, Kind::Tuple)) return std::to_string(cast<TupleObject>(v)->size);
  if (is_kind(v, Kind::List)) return std::to_string(cast<ListObject>(v)->items.size());
  if (is_kind(v, Kind::Dict)) return std::to_string(cast<DictObject>(v)->table.size());
  return value_text(vm, v);
}

std::string source_change(Vm& vm, const EntrySource& source, const Value& now, const std::string& name) {
  switch (source.check) {
    case Check::Nothing:
    case Check::Alias: break;
    case Check::Instance:
    case Check::Same: return name + ": " + change(value_text(vm, source.expected), value_text(vm, now));
    case Check::Text: return name + ": a str -> " + value_text(vm, now);
    case Check::Int: return name + ": an int -> " + value_text(vm, now);
    case Check::Float: return name + ": a float -> " + value_text(vm, now);
    case Check::Tensor:
      if (now.is_object() && now.object()->type == source.expected.object())
        return tensor_change(source.tensor_key, tensor_key(*cast<TensorObject>(now)), name);
      return name + ": a " + cast<Type>(source.expected)->name + " -> " + value_text(vm, now);
    case Check::Method:
    case Check::Function:
    case Check::Cell:
    case Check::Partial:
    case Check::Iterator: return name + ": another kind of " + value_text(vm, now);
    case Check::Tuple:
      if (now.is_object() && now.object()->type != source.expected.object())
        return name + ": a " + cast<Type>(source.expected)->name + " -> " + value_text(vm, now);
      [[fallthrough]];
    case Check::Set:
      if (is_kind(now, Kind::Set)) return "other items of " + name;
      [[fallthrough]];
    case Check::List:
    case Check::Dict:
      if (is_kind(now, Kind::Dict) && cast<DictObject>(now)->table.size() == source.length)
        return "other keys of " + name;
      return "length of " + name + ": " + change(std::to_string(source.length), length_text(vm, now));
  }
  return name;
}

}  // namespace

std::string EntryChecks::difference(const Variant& old, const Frame& frame) const {
  std::string out;
  auto add = [&](const std::string& text) { out += (out.empty() ? "" : "; ") + text; };
  const Modes &then = old.plan.modes, &now = tensor_state(vm_).modes;
  if (then.grad_enabled != now.grad_enabled)
    add(std::string("gradients recorded: ") + (then.grad_enabled ? "True -> False" : "False -> True"));
  if (then.default_dtype != now.default_dtype)
    add("default dtype: " + std::string(dtype_name(then.default_dtype)) + " -> " +
        std::string(dtype_name(now.default_dtype)));
  if (then.autocast != now.autocast)
    add("autocast: " + autocast_text(then.autocast) + " -> " + autocast_text(now.autocast));
  if (then.device_autocast != now.device_autocast)
    add("autocast of devices: " + autocast_text(then.device_autocast) + " -> " + autocast_text(now.device_autocast));
  if (then.place != now.place) add("device of new tensors: " + then.place.name() + " -> " + now.place.name());
  if (!old.plan.is_for(then))
    add("current device: " + std::to_string(*old.plan.device_number) + " -> " +
        std::to_string(current_device().current_backend));
  if (old.plan.function.get() && old.plan.function.get() != frame.function)
    add("another function object made by the same def");
  const std::vector<EntrySource>& sources = old.plan.sources;
  std::vector<Value> entry;
  std::vector<bool> absent(sources.size());  // of something that already differs
  for (size_t i = 0; i < sources.size(); ++i) {
    const EntrySource& source = sources[i];
    absent[i] = source.is_inside() && absent[source.parent];
    entry.push_back(absent[i] ? Value() : fetch(source, frame, entry));
    if (absent[i]) continue;
    if (source.check == Check::Alias && !entry.back().is(entry[source.length]))
      add(source_name(sources, source, frame) + " is no longer " + source_name(sources, sources[source.length], frame));
    if (check_source(source, entry.back())) continue;
    absent[i] = true;
    add(source_change(vm_, source, entry.back(), source_name(sources, source, frame)));
  }
  if (!out.empty()) return out;
  if (!are_distinct(old.plan, entry) || old.entry.has_twins(old.plan, entry))
    return "an object is reached in two ways now";
  if (old.running) return "the function runs already";
  if (old.entry.overlaps(old.plan, entry, ++epoch_)) return "a tensor that is written shares memory with another";
  return "sizes that were equal, or what was found of sizes and numbers: another case now";
}

}  // namespace tsc::interp
