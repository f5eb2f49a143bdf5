#include "lang/shapes/match.h"

#include <algorithm>

namespace tsc::lang {
namespace {

using Kind = Annotation::Kind;
using FactKind = ShapeFact::Kind;
using TermKind = SizeTerm::Kind;

Size unknown_size() { return {0, false, Size::kNoHandle}; }

std::string size_text(const Size& size) { return size.is_known ? std::to_string(size.number) : "?"; }

std::string sizes_text(const std::vector<Size>& sizes) {
  std::string out;
  for (const Size& size : sizes) out += (out.empty() ? "" : " ") + size_text(size);
  return out;
}

std::string counted(size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

const BoundSize* find(const BoundSizes& bound, const std::string& name) {
  for (const BoundSize& one : bound)
    if (one.name == name) return &one;
  return nullptr;
}

// The size that a computed dimension asks for; unknown when one of its names is.
Size evaluate(const Dimension& d, const BoundSizes& bound, SizeLogic& logic) {
  std::vector<Size> stack;
  for (const SizeTerm& term : d.terms) {
    if (term.kind == TermKind::Number) {
      stack.push_back({term.number, true, Size::kNoHandle});
    } else if (term.kind == TermKind::Name) {
      const BoundSize* one = find(bound, term.name);
      if (!one || one->is_rest || one->sizes.size() != 1) return unknown_size();
      stack.push_back(one->sizes[0]);
    } else {
      const Size right = stack.back();
      stack.pop_back();
      if (!stack.back().is_known || !right.is_known) return unknown_size();
      stack.back() = logic.compute(term.kind, stack.back(), right);
    }
  }
  return stack.back();
}

bool is_rest(const Dimension& d) { return d.kind == Dimension::Kind::Rest || d.kind == Dimension::Kind::AnyRest; }

// One annotation against one value. `reason` says why it does not fit.
class Matcher {
 public:
  Matcher(SizeLogic& logic, BoundSizes& bound, std::string from)
      : logic_(logic), bound_(bound), from_(std::move(from)) {}

  struct Failure {
    std::string inside;  // "item 1 of "
    const Annotation* annotation;
    const ShapeFact* fact;
    std::string reason;
  };

  std::optional<Failure> match(const Annotation& a, const ShapeFact& fact) {
    if (a.kind == Kind::Unknown || fact.kind == FactKind::Unknown) return std::nullopt;
    switch (a.kind) {
      case Kind::Unknown: return std::nullopt;
      case Kind::None:
        if (fact.kind == FactKind::None) return std::nullopt;
        return fail(a, fact, "None is expected");
      case Kind::Other:
        if (fact.kind != FactKind::Tensor && fact.kind != FactKind::None) return std::nullopt;
        return fail(a, fact, (a.container[0] == 'i' ? "an " : "a ") + a.container + " is expected");
      case Kind::Tensor: return tensor(a, fact);
      case Kind::Union: return choice(a, fact);
      case Kind::Tuple: return tuple(a, fact);
      case Kind::Items: return each(a, fact);
      case Kind::Values: return each(a, fact);
    }
    return std::nullopt;
  }

 private:
  static std::optional<Failure> fail(const Annotation& a, const ShapeFact& fact, std::string reason) {
    return Failure{"", &a, &fact, std::move(reason)};
  }

  std::optional<Failure> choice(const Annotation& a, const ShapeFact& fact) {
    for (const Annotation& part : a.parts)
      if (part.kind == Kind::Unknown) return std::nullopt;
    std::optional<Failure> only;
    size_t tensors = 0;
    for (const Annotation& part : a.parts) {
      const BoundSizes before = bound_;
      auto failure = match(part, fact);
      if (!failure) return std::nullopt;
      bound_ = before;
      if (part.kind != Kind::Tensor) continue;
      ++tensors;
      only = std::move(failure);
    }
    // The reason of the one part that it was meant to fit.
    if (tensors == 1 && fact.kind == FactKind::Tensor) return fail(a, fact, only->reason);
    return fail(a, fact, "it is none of these");
  }

  std::optional<Failure> tuple(const Annotation& a, const ShapeFact& fact) {
    if (fact.kind != FactKind::Tuple) return fail(a, fact, "a tuple is expected");
    if (fact.items.size() != a.parts.size())
      return fail(a, fact, "it has " + counted(fact.items.size(), "item") + ", not " + std::to_string(a.parts.size()));
    for (size_t i = 0; i < a.parts.size(); ++i)
      if (auto failure = match(a.parts[i], fact.items[i])) return inside(std::move(*failure), i);
    return std::nullopt;
  }

  std::optional<Failure> each(const Annotation& a, const ShapeFact& fact) {
    const bool open = a.container == "Sequence" || a.container == "Mapping";
    const bool fits = a.kind == Kind::Values   ? fact.kind == FactKind::Dict
                      : a.container == "tuple" ? fact.kind == FactKind::Tuple
                      : a.container == "list"  ? fact.kind == FactKind::List
                                               : fact.kind == FactKind::List || fact.kind == FactKind::Tuple;
    // Other classes may be sequences and mappings too.
    if (!fits && open && fact.kind == FactKind::Other) return std::nullopt;
    if (!fits) return fail(a, fact, "a " + a.container + " is expected");
    for (size_t i = 0; i < fact.items.size(); ++i)
      if (auto failure = match(a.parts[0], fact.items[i])) return inside(std::move(*failure), i);
    return std::nullopt;
  }

  static std::optional<Failure> inside(Failure failure, size_t index) {
    failure.inside += "item " + std::to_string(index) + " of ";
    return failure;
  }

  std::optional<Failure> tensor(const Annotation& a, const ShapeFact& fact) {
    const TensorShape& want = a.tensor;
    if (fact.kind != FactKind::Tensor) return fail(a, fact, "a tensor is expected");
    if (!want.dtypes.empty() && !fact.type.empty() &&
        std::find(want.dtypes.begin(), want.dtypes.end(), fact.type) == want.dtypes.end())
      return fail(a, fact, "its dtype is " + fact.type + ", not " + want.dtype_text);
    if (!want.has_dimensions || !fact.is_rank_known) return std::nullopt;
    const size_t fixed = static_cast<size_t>(
        std::count_if(want.dimensions.begin(), want.dimensions.end(), [](const Dimension& d) { return !is_rest(d); }));
    const bool open = fixed != want.dimensions.size();
    if (open ? fact.sizes.size() < fixed : fact.sizes.size() != fixed)
      return fail(a, fact,
                  "it has " + counted(fact.sizes.size(), "dimension") + ", not " + (open ? "at least " : "") +
                      std::to_string(fixed));
    size_t at = 0;
    for (const Dimension& d : want.dimensions) {
      const size_t taken = is_rest(d) ? fact.sizes.size() - fixed : 1;
      std::string reason = d.kind == Dimension::Kind::Rest ? rest(d, fact, at, taken)
                           : is_rest(d)                    ? ""
                                                           : one(d, fact.sizes[at], at);
      if (!reason.empty()) return fail(a, fact, std::move(reason));
      at += taken;
    }
    return std::nullopt;
  }

  bool differ(const Size& a, const Size& b) {
    if (!a.is_known || !b.is_known) return false;
    const std::optional<bool> same = logic_.equal(a, b);
    return same && !*same;
  }

  static std::string dimension(size_t at, const Size& size) {
    return "dimension " + std::to_string(at) + " is " + size_text(size);
  }

  std::string one(const Dimension& d, const Size& size, size_t at) {
    switch (d.kind) {
      case Dimension::Kind::Exact:
        if (!differ(size, {d.size, true, Size::kNoHandle})) return "";
        return dimension(at, size) + ", not " + d.text;
      case Dimension::Kind::Computed: {
        const Size want = evaluate(d, bound_, logic_);
        if (!differ(size, want)) return "";
        return dimension(at, size) + ", but " + d.text + " is " + size_text(want);
      }
      case Dimension::Kind::Name: {
        const BoundSize* known = find(bound_, d.text);
        if (!known) {
          bound_.push_back({d.text, false, {size}, from_});
          return "";
        }
        if (known->is_rest || !differ(size, known->sizes[0])) return "";
        return dimension(at, size) + ", but " + d.text + " is " + size_text(known->sizes[0]);
      }
      default: return "";
    }
  }

  std::string rest(const Dimension& d, const ShapeFact& fact, size_t at, size_t taken) {
    const auto begin = fact.sizes.begin() + static_cast<long>(at);
    const std::vector<Size> sizes(begin, begin + static_cast<long>(taken));
    const BoundSize* known = find(bound_, d.text);
    if (!known) {
      bound_.push_back({d.text, true, sizes, from_});
      return "";
    }
    bool same = known->is_rest && known->sizes.size() == sizes.size();
    for (size_t i = 0; same && i < sizes.size(); ++i) same = !differ(sizes[i], known->sizes[i]);
    if (same) return "";
    return "its *" + d.text + " is (" + sizes_text(sizes) + "), but *" + d.text + " is (" + sizes_text(known->sizes) +
           ")";
  }

  SizeLogic& logic_;
  BoundSizes& bound_;
  std::string from_;
};

std::optional<ShapeMismatch> match_one(const Annotation& annotation, const ShapeFact& fact, const std::string& what,
                                       const std::string& from, SizeLogic& logic, BoundSizes& bound) {
  auto failure = Matcher(logic, bound, from).match(annotation, fact);
  if (!failure) return std::nullopt;
  ShapeMismatch mismatch;
  mismatch.what = failure->inside + what;
  mismatch.annotation = annotation_text(*failure->annotation);
  mismatch.actual = fact_text(*failure->fact);
  mismatch.reason = std::move(failure->reason);
  mismatch.bound = bound;
  return mismatch;
}

std::string bound_text(const BoundSizes& bound) {
  std::string out;
  for (size_t i = 0; i < bound.size(); ++i) {
    const BoundSize& one = bound[i];
    out += (out.empty() ? "" : ", ");
    out += one.is_rest ? "*" + one.name + " = (" + sizes_text(one.sizes) + ")"
                       : one.name + " = " + size_text(one.sizes[0]);
    const bool last_of_it = i + 1 == bound.size() || bound[i + 1].from != one.from;
    if (last_of_it && !one.from.empty()) out += " (from " + one.from + ")";
  }
  return out.empty() ? "none" : out;
}

}  // namespace

std::optional<bool> SizeLogic::equal(const Size& a, const Size& b) { return a.number == b.number; }

Size SizeLogic::compute(SizeTerm::Kind operation, const Size& a, const Size& b) {
  Size out;
  switch (operation) {
    case TermKind::Add: return __builtin_add_overflow(a.number, b.number, &out.number) ? unknown_size() : out;
    case TermKind::Subtract: return __builtin_sub_overflow(a.number, b.number, &out.number) ? unknown_size() : out;
    case TermKind::Multiply: return __builtin_mul_overflow(a.number, b.number, &out.number) ? unknown_size() : out;
    default: break;
  }
  if (b.number == 0 || (b.number == -1 && a.number == INT64_MIN)) return unknown_size();
  int64_t quotient = a.number / b.number, rest = a.number % b.number;
  if (rest != 0 && (rest < 0) != (b.number < 0)) {  // as in Python: towards minus infinity
    --quotient;
    rest += b.number;
  }
  out.number = operation == TermKind::Modulo ? rest : quotient;
  return out;
}

std::string fact_text(const ShapeFact& fact) {
  switch (fact.kind) {
    case FactKind::Unknown: return "?";
    case FactKind::None: return "None";
    case FactKind::Other: return fact.type;
    case FactKind::Tensor: {
      if (!fact.is_rank_known) return fact.type.empty() ? "Tensor" : "Tensor[" + fact.type + "]";
      const std::string sizes = "\"" + sizes_text(fact.sizes) + "\"";
      return "Tensor[" + (fact.type.empty() ? "" : fact.type + ", ") + sizes + "]";
    }
    default: break;
  }
  constexpr size_t kShown = 8;
  std::string items;
  for (size_t i = 0; i < fact.items.size() && i < kShown; ++i) items += (i == 0 ? "" : ", ") + fact_text(fact.items[i]);
  if (fact.items.size() > kShown) items += ", ... (" + std::to_string(fact.items.size()) + " items)";
  if (fact.kind == FactKind::Tuple) return "(" + items + (fact.items.size() == 1 ? ",)" : ")");
  return fact.kind == FactKind::List ? "[" + items + "]" : "{" + items + "}";
}

std::optional<ShapeMismatch> match_arguments(const ShapeSignature& signature, const std::vector<ShapeFact>& arguments,
                                             SizeLogic& logic, BoundSizes& bound) {
  for (size_t i = 0; i < signature.parameters.size() && i < arguments.size(); ++i) {
    const ShapeParameter& p = signature.parameters[i];
    auto mismatch =
        match_one(p.annotation, arguments[i], "argument '" + p.name + "'", "'" + p.name + "'", logic, bound);
    if (!mismatch) continue;
    mismatch->parameter = i;
    return mismatch;
  }
  return std::nullopt;
}

std::optional<ShapeMismatch> match_result(const ShapeSignature& signature, const ShapeFact& result, SizeLogic& logic,
                                          BoundSizes& bound) {
  auto mismatch = match_one(signature.result, result, "the result", "the result", logic, bound);
  if (mismatch) mismatch->is_result = true;
  return mismatch;
}

std::string mismatch_text(const std::string& function, const ShapeSignature& signature,
                          const std::vector<ShapeFact>& arguments, const ShapeMismatch& mismatch) {
  std::string call;
  for (size_t i = 0; i < signature.parameters.size() && i < arguments.size(); ++i)
    call += (i == 0 ? "" : ", ") + signature.parameters[i].name + ": " + fact_text(arguments[i]);
  return function + "(): " + mismatch.what + " does not fit its annotation: " + mismatch.reason + "\n    annotation  " +
         mismatch.annotation +                                //
         "\n    actual      " + mismatch.actual +             //
         "\n    sizes       " + bound_text(mismatch.bound) +  //
         "\n    call        " + function + "(" + call + ")";
}

ShapeFact fact_of(const Annotation& a, const BoundSizes& bound, SizeLogic& logic) {
  ShapeFact fact;
  if (a.kind == Kind::Tuple) {
    fact.kind = FactKind::Tuple;
    for (const Annotation& part : a.parts) fact.items.push_back(fact_of(part, bound, logic));
  }
  if (a.kind != Kind::Tensor) return fact;
  fact.kind = FactKind::Tensor;
  if (a.tensor.dtypes.size() == 1) fact.type = a.tensor.dtypes[0];
  fact.is_rank_known = a.tensor.has_dimensions;
  for (const Dimension& d : a.tensor.dimensions) {
    const BoundSize* known = find(bound, d.text);
    if (d.kind == Dimension::Kind::Exact) {
      fact.sizes.push_back({d.size, true, Size::kNoHandle});
    } else if (d.kind == Dimension::Kind::Computed) {
      fact.sizes.push_back(evaluate(d, bound, logic));
    } else if (d.kind == Dimension::Kind::Rest && known && known->is_rest) {
      fact.sizes.insert(fact.sizes.end(), known->sizes.begin(), known->sizes.end());
    } else if (is_rest(d)) {
      fact.is_rank_known = false;
    } else {
      const bool is_bound = d.kind == Dimension::Kind::Name && known && !known->is_rest;
      fact.sizes.push_back(is_bound ? known->sizes[0] : unknown_size());
    }
  }
  if (!fact.is_rank_known) fact.sizes.clear();
  return fact;
}

}  // namespace tsc::lang
