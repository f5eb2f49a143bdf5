// Annotations from the tree.
#include <algorithm>

#include "lang/parse.h"
#include "lang/shapes/annotation.h"

namespace tsc::lang {
namespace {

using Kind = Annotation::Kind;

// ---- dtypes

struct DTypeName {
  std::string_view name;
  std::vector<std::string> dtypes;
};

// By torch's names and this project's short ones.
const DTypeName* find_dtype(std::string_view name) {
  static const DTypeName kRows[] = {
      {"f32", {"f32"}},     {"f64", {"f64"}},         {"bf16", {"bf16"}},    {"i32", {"i32"}},
      {"i64", {"i64"}},     {"u8", {"u8"}},           {"bool", {"bool"}},    {"float32", {"f32"}},
      {"float64", {"f64"}}, {"bfloat16", {"bf16"}},   {"int32", {"i32"}},    {"int64", {"i64"}},
      {"uint8", {"u8"}},    {"i8", {"i8"}},           {"i16", {"i16"}},      {"f16", {"f16"}},
      {"c64", {"c64"}},     {"c128", {"c128"}},       {"int8", {"i8"}},      {"int16", {"i16"}},
      {"float16", {"f16"}}, {"half", {"f16"}},        {"short", {"i16"}},    {"complex64", {"c64"}},
      {"cfloat", {"c64"}},  {"complex128", {"c128"}}, {"cdouble", {"c128"}}, {"double", {"f64"}},
      {"long", {"i64"}}};
  for (const DTypeName& row : kRows)
    if (row.name == name) return &row;
  return nullptr;
}

// `float` and `int` are torch's f32 and i32 behind `torch.`, and else Python's classes: any.
const DTypeName* find_class(std::string_view name, bool of_torch) {
  static const DTypeName kTorch[] = {{"float", {"f32"}}, {"int", {"i32"}}};
  static const DTypeName kClasses[] = {{"float", {"f16", "bf16", "f32", "f64"}},
                                       {"int", {"u8", "i8", "i16", "i32", "i64"}}};
  for (const DTypeName& row : of_torch ? kTorch : kClasses)
    if (row.name == name) return &row;
  return nullptr;
}

// ---- classes

// Classes that no tensor is an instance of.
constexpr std::string_view kOthers[] = {"int",  "float", "bool", "str", "bytes",
                                        "list", "tuple", "dict", "set", "frozenset"};

struct ContainerRow {
  std::string_view name;
  Kind kind;
  std::string_view container;
};
constexpr ContainerRow kContainers[] = {
    {"tuple", Kind::Tuple, "tuple"}, {"Tuple", Kind::Tuple, "tuple"},       {"list", Kind::Items, "list"},
    {"List", Kind::Items, "list"},   {"Sequence", Kind::Items, "Sequence"}, {"dict", Kind::Values, "dict"},
    {"Dict", Kind::Values, "dict"},  {"Mapping", Kind::Values, "Mapping"},  {"Union", Kind::Union, ""},
    {"Optional", Kind::Union, ""}};

// The last part of a dotted name.
std::string_view last_name(const Expr* e) {
  if (auto* name = try_as<const Name>(e)) return name->id;
  if (auto* attribute = try_as<const Attribute>(e)) return attribute->attr;
  return {};
}

// Reads one annotation. In the text of a string annotation places are those of a text of its own.
class Reader {
 public:
  Reader(const Source& source, const ShapeNames& names, const AnnotationPlace& place, Diagnostics* diagnostics)
      : source_(&source), names_(names), place_(place), diagnostics_(diagnostics) {}

  Annotation read(const Expr* e) {
    if (names_.is_tensor(e)) return of_kind(Kind::Tensor);
    if (auto* node = try_as<const Constant>(e)) return constant(*node);
    if (auto* node = try_as<const Subscript>(e)) return subscript(*node);
    if (auto* node = try_as<const BinOp>(e); node && node->op == Operator::BitOr) {
      Annotation both = of_kind(Kind::Union);
      for (const Expr* side : {node->left, node->right}) add_choice(both, read(side));
      return both;
    }
    if (auto* name = try_as<const Name>(e)) return named(*name);
    return {};
  }

 private:
  static constexpr int kDeepestAlias = 8;

  static Annotation of_kind(Kind kind) {
    Annotation a;
    a.kind = kind;
    return a;
  }

  static Annotation other(std::string_view name) {
    Annotation a = of_kind(Kind::Other);
    a.container = name;
    return a;
  }

  // Unions inside unions are one.
  static void add_choice(Annotation& all, Annotation choice) {
    if (choice.kind != Kind::Union) return all.parts.push_back(std::move(choice));
    for (Annotation& part : choice.parts) all.parts.push_back(std::move(part));
  }

  Annotation constant(const Constant& node) {
    if (node.value_kind == ConstantKind::None) return of_kind(Kind::None);
    if (node.value_kind == ConstantKind::Str) return text(node);
    return {};
  }

  Annotation named(const Name& name) {
    if (std::find(std::begin(kOthers), std::end(kOthers), name.id) != std::end(kOthers)) return other(name.id);
    const Expr* alias = names_.alias(name.id);
    if (!alias || aliases_ == kDeepestAlias) return {};
    ++aliases_;
    const Place before = enter({main_source_ ? main_source_ : source_, 0, std::nullopt});
    Annotation a = read(alias);
    leave(before);
    --aliases_;
    return a;
  }

  // Text that is an annotation; what cannot be parsed is none.
  Annotation text(const Constant& node) {
    const Source inner(source_->name(), std::string(node.text));
    Arena arena;
    ParseResult parsed = parse_expression(inner, arena);
    if (!parsed.module) return {};
    if (!main_source_) main_source_ = source_;
    const Place before = enter({&inner, base_ + text_begin(node), fixed_span(node)});
    Annotation a = read(as<const ExprStmt>(static_cast<const Stmt*>(parsed.module->body[0]))->value);
    leave(before);
    return a;
  }

  Annotation subscript(const Subscript& node) {
    if (names_.is_tensor(node.value)) return tensor(node);
    const std::string_view name = last_name(node.value);
    std::vector<const Expr*> parts = items_of(node.slice);
    if (name == "Annotated") return parts.empty() ? Annotation() : read(parts[0]);
    for (const ContainerRow& row : kContainers) {
      if (row.name != name) continue;
      Annotation a = container(row, parts);
      if (name == "Optional") a.parts.push_back(of_kind(Kind::None));
      return a.holds_tensor() || a.kind == Kind::Union ? a : other(row.container);
    }
    return {};
  }

  static std::vector<const Expr*> items_of(const Expr* slice) {
    auto* tuple = try_as<const Tuple>(slice);
    if (!tuple) return {slice};
    return {tuple->elts.begin(), tuple->elts.end()};
  }

  Annotation container(const ContainerRow& row, std::vector<const Expr*> parts) {
    Annotation a = of_kind(row.kind);
    a.container = row.container;
    const auto is_ellipsis = [](const Expr* e) {
      auto* c = try_as<const Constant>(e);
      return c && c->value_kind == ConstantKind::Ellipsis;
    };
    if (row.kind == Kind::Tuple && parts.size() == 2 && is_ellipsis(parts[1])) {
      a.kind = Kind::Items;
      parts.pop_back();
    }
    if (row.kind == Kind::Values && !parts.empty()) parts = {parts.back()};
    for (const Expr* part : parts) {
      if (a.kind == Kind::Union) add_choice(a, read(part));
      else a.parts.push_back(read(part));
    }
    return a;
  }

  // ---- Tensor[...]

  Annotation tensor(const Subscript& node) {
    Annotation a = of_kind(Kind::Tensor);
    const std::vector<const Expr*> parts = items_of(node.slice);
    const Constant* shape = parts.empty() ? nullptr : try_as<const Constant>(parts.back());
    if (shape && shape->value_kind != ConstantKind::Str) shape = nullptr;
    const size_t dtypes = parts.size() - (shape ? 1 : 0);
    if (parts.empty() || dtypes > 1 || (!shape && parts.size() > 1))
      return fault(node.slice->span, "Tensor[...] takes a dtype, the text of a shape, or both",
                   "write Tensor[f32, \"b t c\"]: all dimensions are one text");
    if (dtypes && !dtype(parts[0], a.tensor)) return {};
    if (!shape) return a;
    a.tensor.has_dimensions = true;
    const auto wrong = parse_dimensions(shape->text, place_, a.tensor.dimensions);
    if (!wrong) return a;
    Span place = shape->span;
    if (is_verbatim(*shape)) {
      const uint32_t begin = text_begin(*shape);
      place = {begin + static_cast<uint32_t>(wrong->begin), begin + static_cast<uint32_t>(wrong->end)};
    }
    return fault(place, wrong->message, wrong->help);
  }

  bool dtype(const Expr* e, TensorShape& out) {
    if (auto* both = try_as<const BinOp>(e); both && both->op == Operator::BitOr) {
      return dtype(both->left, out) && dtype(both->right, out);
    }
    auto* attribute = try_as<const Attribute>(e);
    const bool of_torch = attribute && names_.is_torch(attribute->value);
    const std::string_view name = last_name(e);
    const auto dtypes = attribute && !of_torch ? std::nullopt : dtypes_of_name(name, of_torch);
    if (!dtypes) {
      fault(e->span, "'" + std::string(source_->slice(e->span)) + "' is no dtype",
            "dtypes are f32 f64 f16 bf16 i64 i32 i16 i8 u8 bool c64 c128, torch's names of these, and float and int "
            "for all of a kind");
      return false;
    }
    out.dtypes.insert(out.dtypes.end(), dtypes->begin(), dtypes->end());
    const bool is_class = dtypes->size() > 1;
    out.dtype_text += (out.dtype_text.empty() ? "" : " | ") + (is_class ? std::string(name) : dtypes->front());
    return true;
  }

  // ---- places

  struct Place {
    const Source* source;
    uint32_t base;              // where the text of `source` begins in the module
    std::optional<Span> fixed;  // for faults in a text that is not written as it reads
  };

  Place enter(Place place) {
    const Place before{source_, base_, fixed_};
    source_ = place.source;
    base_ = place.base;
    fixed_ = place.fixed;
    return before;
  }
  void leave(const Place& place) { enter(place); }

  // Whether the literal's text stands in the source as it is.
  bool is_verbatim(const Constant& node) const {
    const std::string_view raw = source_->slice(node.span);
    const size_t at = raw.find(node.text);
    return at != std::string_view::npos && at <= 4 && raw.find('\\') == std::string_view::npos &&
           raw.size() - at - node.text.size() <= 3;
  }

  uint32_t text_begin(const Constant& node) const {
    const size_t at = source_->slice(node.span).find_first_of("'\"");
    const std::string_view raw = source_->slice(node.span).substr(at == std::string_view::npos ? 0 : at);
    const bool triple = raw.size() >= 6 && raw[0] == raw[1] && raw[1] == raw[2];
    return node.span.begin + static_cast<uint32_t>(at) + (triple ? 3 : 1);
  }

  std::optional<Span> fixed_span(const Constant& node) const {
    if (fixed_) return fixed_;
    if (is_verbatim(node)) return std::nullopt;
    return Span{node.span.begin + base_, node.span.end + base_};
  }

  Annotation fault(Span span, const std::string& message, const std::string& help) {
    if (!diagnostics_) return {};
    const Span place = fixed_ ? *fixed_ : Span{span.begin + base_, span.end + base_};
    // A function may be compiled twice, and an alias read more than once.
    for (const Diagnostic& d : diagnostics_->all())
      if (d.code == Code::InvalidShape && d.primary.span == place) return {};
    Diagnostic& d = diagnostics_->warning(Code::InvalidShape, place, message);
    if (!help.empty()) d.help(help);
    d.note("the annotation is not checked");
    return {};
  }

  const Source* source_;
  const Source* main_source_ = nullptr;  // while a text inside it is read
  const ShapeNames& names_;
  const AnnotationPlace& place_;
  Diagnostics* diagnostics_;
  uint32_t base_ = 0;
  std::optional<Span> fixed_;
  int aliases_ = 0;
};

}  // namespace

std::optional<std::vector<std::string>> dtypes_of_name(std::string_view name, bool of_torch) {
  const DTypeName* row = find_dtype(name);
  if (!row) row = find_class(name, of_torch);
  return row ? std::optional(row->dtypes) : std::nullopt;
}

bool Annotation::holds_tensor() const {
  return kind == Kind::Tensor ||
         std::any_of(parts.begin(), parts.end(), [](const Annotation& part) { return part.holds_tensor(); });
}

Annotation read_annotation(const Expr* e, const Source& source, const ShapeNames& names, const AnnotationPlace& place,
                           Diagnostics* diagnostics) {
  return e ? Reader(source, names, place, diagnostics).read(e) : Annotation();
}

}  // namespace tsc::lang
