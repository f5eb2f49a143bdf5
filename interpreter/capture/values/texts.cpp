// Texts while capturing: formatted values, as they are when the text is made.
#include <cstring>

#include "interpreter/capture/house.h"

namespace tsc::interp {

// A specification that does not fit the value raises here, and not where the text is made.
void Texts::check_format(const Av& av, const std::string& spec) {
  if (spec.empty()) return;
  Value sample;
  if (av.is_number()) {
    sample = av.scalar_kind == jit::ValueKind::Float ? Value::real(1.5)
             : av.scalar_kind == jit::ValueKind::Int ? Value::integer(1)
                                                     : Value::boolean(true);
    if (spec.back() == 'c') break_here(BreakReason::unknown_call, "a character by number");
  } else if (VTensor* tensor = tensors_.tensor_of(av)) {
    const jit::Type& type = region_.type(tensor->id);
    sample = make_tensor(vm_, Tensor::empty(type.dtype, Sizes(type.sizes.size(), 0))).take();
    if (type.sizes.empty())
      std::memset(cast<TensorObject>(sample)->tensor.data(), 0, static_cast<size_t>(dtype_size(type.dtype)));
  } else {
    break_here(BreakReason::unknown_call, "the format of a value the compiler does not know");
  }
  format(vm_, sample, spec);
}

// What a method of the script's class gives; empty: there is none.
std::optional<Av> Texts::text_by_class(const Av& av, int conversion, const std::string& spec) {
  std::optional<Av> text;
  if (conversion == 0) text = calls_.call_own("__format__", {av, Av::constant(str_value(vm_, spec))});
  const bool is_formatted = text.has_value();
  // Without one a specification is for what the value is without its class.
  if (!text && conversion == 0 && !spec.empty()) calls_.refuse_override(av, {"__str__", "__repr__"});
  if (!text && conversion < 2) text = calls_.call_own("__str__", {av});
  if (!text) text = calls_.call_own("__repr__", {av});
  if (!text) return text;
  const bool is_text = is_virtual(*text, VirtualKind::Text) || (text->is_constant() && is_kind(text->value, Kind::Str));
  if (!is_text || conversion == 3)
    break_here(BreakReason::unknown_call, "text by a method of " + attributes_.type_of_av(av)->name);
  return spec.empty() || is_formatted ? text : std::optional(text_of_value(*text, 0, spec));
}

Av Texts::text_of_value(const Av& av, int conversion, std::string spec) {
  if (const std::optional<Av> text = text_by_class(av, conversion, spec)) return *text;
  if (av.is_constant() && numbers_.is_plain_data(av.value))
    return Av::constant(str_value(vm_, format(vm_, converted(vm_, av.value, conversion), spec)));
  if (VText* text = as<VText>(av); text && spec.empty() && conversion < 2) return av;
  if (conversion == 0) check_format(av, spec);
  else format(vm_, str_value(vm_, ""), spec);
  bool printable = av.is_number() || tensors_.tensor_of(av) || as<VTuple>(av) || as<VList>(av) || as<VText>(av);
  if (!printable) break_here(BreakReason::unknown_call, "text of a value the compiler does not know");
  auto text = make<VText>();
  VText::Part part;
  part.formatted = snapshot(av, !spec.empty());
  part.conversion = conversion;
  part.spec = std::move(spec);
  text->parts.push_back(std::move(part));
  return Av::of(text);
}

// The value as it is now, for text that is formatted later: tensors and lists may be written meanwhile. The copy of a
// tensor has no history, whose name the text of a whole tensor tells; a specification formats its number alone.
Av Texts::snapshot(const Av& av, bool is_number, int depth) {
  if (depth > 50) break_here(BreakReason::too_large, "text of a list that is too deep, or holds itself");
  if (VTensor* tensor = tensors_.tensor_of(av)) {
    if (tensor->requires_grad && !tensor->leaf && !is_number)
      break_here(BreakReason::history, "the text of a tensor with gradient history");
    repeats_.spoil_record();
    ValueId id = tensors_.current(*tensor);
    Av out = tensors_.new_tensor(builder_.op(Op::copy, {&id, 1}, {}, {}), false);
    as<VTensor>(out)->requires_grad = tensor->requires_grad;
    as<VTensor>(out)->leaf = true;
    return out;
  }
  if (containers_.is_sequence(av)) {
    // The copy of one that holds itself would be another object.
    const void* identity = av.is_constant() ? static_cast<const void*>(av.value.object()) : av.object.get();
    if (std::find(inside_texts_.begin(), inside_texts_.end(), identity) != inside_texts_.end())
      break_here(BreakReason::unknown_call, "text of a list that holds itself");
    const bool is_class = av.is_constant() && attributes_.type_of_av(av)->type_flags & kScriptClass;
    if (is_class && !numbers_.is_plain_data(av.value))
      break_here(BreakReason::unknown_call, "text of a " + attributes_.type_of_av(av)->name);
    if (is_class) return av;
    std::vector<Av> items;
    inside_texts_.push_back(identity);
    for (const Av& item : iterators_.items_of(av)) items.push_back(snapshot(item, is_number, depth + 1));
    inside_texts_.pop_back();
    if (containers_.is_sequence_of(av, Kind::List)) return containers_.make_list_av(std::move(items));
    Av tuple = containers_.make_tuple_av(std::move(items));
    if (Type* type = attributes_.type_of_av(av); type != vm_.types().tuple) as<VTuple>(tuple)->type = Local<Type>(type);
    return tuple;
  }
  return av;
}

// Whether str() of it may call a function of a script.
bool Texts::text_is_script_code(const Av& av, int depth) {
  constexpr int kDeepest = 4;
  if (depth > kDeepest) return true;
  Type* type = attributes_.type_of_av(av);
  if (!type) return false;
  for (const char* name : {"__str__", "__repr__"})
    if (const Value* method = attributes_.class_attribute(type, intern(vm_, name).get(), nullptr);
        method && is_kind(*method, Kind::Function))
      return true;
  std::vector<Av> items;
  if (is_virtual(av, VirtualKind::Tuple) || is_virtual(av, VirtualKind::List)) items = iterators_.items_of(av);
  std::span<const Value> values;
  if (av.is_constant() && is_kind(av.value, Kind::List)) values = cast<ListObject>(av.value)->items;
  if (av.is_constant() && is_kind(av.value, Kind::Tuple)) values = cast<TupleObject>(av.value)->span();
  for (const Value& value : values) items.push_back(Av::constant(value));
  return std::any_of(items.begin(), items.end(), [&](const Av& item) { return text_is_script_code(item, depth + 1); });
}

}  // namespace tsc::interp
