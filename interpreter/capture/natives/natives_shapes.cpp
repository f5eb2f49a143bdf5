// Calls compared with shape annotations while capturing (tensor/shape_check.h): the interpreter's comparison
// over the sizes of the region. What it compares becomes a condition on the entry values; a call that does not
// fit leaves the region, and the interpreter raises.
#include "interpreter/capture/capture.h"
#include "interpreter/capture/natives/native_table.h"
#include "interpreter/capture/values/attributes.h"
#include "interpreter/capture/values/containers.h"
#include "interpreter/capture/values/iterators.h"
#include "interpreter/capture/values/numbers.h"
#include "interpreter/capture/values/operators.h"
#include "interpreter/capture/values/shapes.h"
#include "interpreter/capture/values/tensors.h"
#include "interpreter/tensor/shape_check.h"
#include "runtime/tensor/dtype.h"

namespace tsc::interp {
namespace {

using Arguments = CallArguments;
using lang::Annotation;
using lang::ShapeFact;

Av described(Capture& c, const Av& av, const Annotation& annotation);

Av text(Capture& c, std::string_view text) { return Av::constant(intern(c.vm(), text).take()); }

Av container_av(Capture& c, int64_t form, const std::vector<Av>& items, const Annotation& each) {
  std::vector<Av> parts{Av::integer(form)};
  for (size_t i = 0; i < items.size(); ++i) parts.push_back(described(c, items[i], part_of(each, i)));
  return c.containers().make_tuple_av(std::move(parts));
}

Av described(Capture& c, const Av& av, const Annotation& annotation) {
  if (av.is_none()) return av;
  if (VTensor* tensor = c.tensors().tensor_of(av)) {
    const Av dtype = c.attributes().get_attribute(av, intern(c.vm(), "dtype").get());
    std::vector<Av> parts{text(c, dtype_short_name(expect_dtype(c.vm(), dtype.value, "a tensor's dtype")))};
    for (const Av& size : c.iterators().items_of(c.shapes().shape_of(*tensor))) parts.push_back(size);
    return c.containers().make_tuple_av(std::move(parts));
  }
  const bool of_dict = c.containers().is_dict(av);
  const Annotation* inner = container_of(annotation, of_dict);
  if (inner && of_dict) {
    std::vector<Av> values;
    for (const Av& key : c.containers().dict_keys(av)) values.push_back(c.containers().dict_find(av, key));
    return container_av(c, kDescribedDict, values, *inner);
  }
  if (inner && c.containers().is_sequence(av)) {
    const bool is_list = c.containers().is_sequence_of(av, Kind::List);
    return container_av(c, is_list ? kDescribedList : kDescribedTuple, c.iterators().items_of(av), *inner);
  }
  return text(c, c.attributes().type_of_av(av)->name);
}

// Sizes are numbers of the region: a handle is an index into them.
class RegionSizes final : public lang::SizeLogic {
 public:
  explicit RegionSizes(Capture& c) : c_(c) {}

  lang::Size size(const Av& av) {
    sizes_.push_back(av);
    const bool has_value = av.value.is_int();
    return {has_value ? av.value.as_int() : 0, true, static_cast<uint32_t>(sizes_.size() - 1)};
  }

  std::optional<bool> equal(const lang::Size& a, const lang::Size& b) override {
    const Av left = number(a), right = number(b);
    if (left.is_number() && right.is_number() && c_.numbers().is_same_number(left.id, right.id)) return true;
    return c_.numbers().truth(c_.operators().compare(CompareOp::Eq, left, right));
  }

  lang::Size compute(lang::SizeTerm::Kind operation, const lang::Size& a, const lang::Size& b) override {
    using Term = lang::SizeTerm::Kind;
    const Av left = number(a), right = number(b);
    const bool divides = operation == Term::FloorDivide || operation == Term::Modulo;
    if (divides && !c_.numbers().truth(c_.operators().compare(CompareOp::Ne, right, Av::integer(0))))
      return {0, false, lang::Size::kNoHandle};
    const BinaryOp op = operation == Term::Add           ? BinaryOp::Add
                        : operation == Term::Subtract    ? BinaryOp::Sub
                        : operation == Term::Multiply    ? BinaryOp::Mul
                        : operation == Term::FloorDivide ? BinaryOp::FloorDiv
                                                         : BinaryOp::Mod;
    return size(c_.operators().binary(op, left, right));
  }

 private:
  Av number(const lang::Size& size) const {
    return size.handle == lang::Size::kNoHandle ? Av::integer(size.number) : sizes_[size.handle];
  }

  Capture& c_;
  std::vector<Av> sizes_;
};

ShapeFact fact_of_description(Capture& c, RegionSizes& sizes, const Av& av) {
  ShapeFact fact;
  if (av.is_none()) {
    fact.kind = ShapeFact::Kind::None;
  } else if (!c.containers().is_sequence(av)) {
    fact.kind = ShapeFact::Kind::Other;
    fact.type = cast<StrObject>(av.value)->view();
  } else {
    const std::vector<Av> items = c.iterators().items_of(av);
    const bool is_tensor = is_kind(items[0].value, Kind::Str);
    fact.kind = is_tensor ? ShapeFact::Kind::Tensor : described_kind(items[0].value.as_int());
    if (is_tensor) fact.type = cast<StrObject>(items[0].value)->view();
    for (size_t i = 1; i < items.size(); ++i) {
      if (is_tensor) fact.sizes.push_back(sizes.size(items[i]));
      else fact.items.push_back(fact_of_description(c, sizes, items[i]));
    }
  }
  return fact;
}

const lang::ShapeSignature& signature_of(Capture& c, const Arguments& arguments) {
  const bool known =
      arguments.positional.size() > 1 && arguments.keywords.empty() && arguments.positional[0].is_constant();
  if (!known) break_here(BreakReason::unknown_call, "a signature that is no constant");
  return shape_signature(c.vm(), arguments.positional[0].value);
}

std::optional<lang::ShapeMismatch> match_state(Capture& c, const lang::ShapeSignature& signature, const Av& state,
                                               RegionSizes& sizes, lang::BoundSizes& bound) {
  std::vector<ShapeFact> facts;
  for (const Av& one : c.iterators().items_of(state)) facts.push_back(fact_of_description(c, sizes, one));
  return lang::match_arguments(signature, facts, sizes, bound);
}

[[noreturn]] void leave(const lang::ShapeMismatch& mismatch) {
  break_here(BreakReason::raises, "TypeError: " + mismatch.what + " does not fit its annotation");
}

Av check_arguments(Capture& c, Arguments& arguments) {
  const lang::ShapeSignature& signature = signature_of(c, arguments);
  std::vector<Av> parts;
  for (size_t i = 0; i < signature.parameters.size() && i + 1 < arguments.positional.size(); ++i)
    parts.push_back(described(c, arguments.positional[i + 1], signature.parameters[i].annotation));
  const Av state = c.containers().make_tuple_av(std::move(parts));
  RegionSizes sizes(c);
  lang::BoundSizes bound;
  if (auto mismatch = match_state(c, signature, state, sizes, bound)) leave(*mismatch);
  return state;
}

// The state comes from a register that capture filled, or, where the region begins inside the function,
// from the frame.
Av check_result(Capture& c, Arguments& arguments) {
  const lang::ShapeSignature& signature = signature_of(c, arguments);
  if (arguments.positional.size() != 3) break_here(BreakReason::unknown_call);
  RegionSizes sizes(c);
  lang::BoundSizes bound;
  match_state(c, signature, arguments.positional[1], sizes, bound);
  const Av result = described(c, arguments.positional[2], signature.result);
  const ShapeFact fact = fact_of_description(c, sizes, result);
  if (auto mismatch = lang::match_result(signature, fact, sizes, bound)) leave(*mismatch);
  return Av::none();
}

constexpr NativeRow kShapes[] = {{"__check_arguments__", check_arguments}, {"__check_result__", check_result}};

}  // namespace

std::span<const NativeRow> shape_forms() { return kShapes; }

}  // namespace tsc::interp
