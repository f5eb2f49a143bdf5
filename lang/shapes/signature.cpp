// The annotations of one function, and the text that bytecode keeps of them.
#include "lang/parse.h"
#include "lang/shapes/annotation.h"

namespace tsc::lang {
namespace {

using Kind = Annotation::Kind;

std::string joined(const std::vector<Annotation>& parts, std::string_view separator) {
  std::string out;
  for (const Annotation& part : parts) out += (out.empty() ? "" : std::string(separator)) + annotation_text(part);
  return out;
}

std::string tensor_text(const TensorShape& tensor) {
  std::string shape;
  for (const Dimension& d : tensor.dimensions) {
    if (!shape.empty()) shape += " ";
    shape += (d.kind == Dimension::Kind::Rest ? "*" : "") + d.text;
  }
  if (!tensor.has_dimensions) return tensor.dtype_text.empty() ? "Tensor" : "Tensor[" + tensor.dtype_text + "]";
  return "Tensor[" + tensor.dtype_text + (tensor.dtype_text.empty() ? "\"" : ", \"") + shape + "\"]";
}

Literal text_literal(std::string text) {
  Literal literal;
  literal.kind = LiteralKind::Str;
  literal.text = std::move(text);
  return literal;
}

Annotation read_text(const std::string& text, const AnnotationPlace& place) {
  const Source source("<annotation>", text);
  Arena arena;
  ParseResult parsed = parse_expression(source, arena);
  if (!parsed.module) return {};
  const auto* body = as<const ExprStmt>(static_cast<const Stmt*>(parsed.module->body[0]));
  return read_annotation(body->value, source, ShapeNames(), place, nullptr);
}

// What a parameter takes: itself, or so many of it.
Annotation gathered(Annotation each, Kind kind, const char* container) {
  if (!each.holds_tensor()) return {};
  Annotation all;
  all.kind = kind;
  all.container = container;
  all.parts.push_back(std::move(each));
  return all;
}

Annotation or_none(Annotation annotation, const Expr* default_value) {
  auto* constant = default_value ? try_as<const Constant>(default_value) : nullptr;
  if (!constant || constant->value_kind != ConstantKind::None) return annotation;
  Annotation none, either;
  none.kind = Kind::None;
  either.kind = Kind::Union;
  if (annotation.kind == Kind::Union) either.parts = std::move(annotation.parts);
  else either.parts.push_back(std::move(annotation));
  for (const Annotation& part : either.parts)
    if (part.kind == Kind::None) return either;
  either.parts.push_back(std::move(none));
  return either;
}

}  // namespace

std::string annotation_text(const Annotation& annotation) {
  switch (annotation.kind) {
    case Kind::Unknown: return "Any";
    case Kind::None: return "None";
    case Kind::Other: return annotation.container;
    case Kind::Tensor: return tensor_text(annotation.tensor);
    case Kind::Union: return joined(annotation.parts, " | ");
    case Kind::Tuple: return "tuple[" + joined(annotation.parts, ", ") + "]";
    case Kind::Items:
      return annotation.container + "[" + joined(annotation.parts, ", ") +
             (annotation.container == "tuple" ? ", ...]" : "]");
    case Kind::Values: return annotation.container + "[Any, " + joined(annotation.parts, ", ") + "]";
  }
  return {};
}

ShapeSignature read_signature(const Arguments& args, const Expr* returns, const Source& source, const ShapeNames& names,
                              Diagnostics* diagnostics) {
  ShapeSignature signature;
  std::unordered_map<std::string, bool> sizes;
  const AnnotationPlace place{false, &sizes}, at_result{true, &sizes};
  const auto add = [&](std::string name, Annotation annotation) {
    if (annotation.holds_tensor()) signature.parameters.push_back({std::move(name), std::move(annotation)});
  };
  const auto read = [&](const Parameter* p, const Expr* default_value) {
    Annotation annotation = read_annotation(p->annotation, source, names, place, diagnostics);
    if (annotation.holds_tensor()) add(std::string(p->name), or_none(std::move(annotation), default_value));
  };
  const size_t positional = args.posonlyargs.size() + args.args.size();
  const size_t required = positional - args.defaults.size();
  for (size_t i = 0; i < positional; ++i) {
    const size_t first = args.posonlyargs.size();
    read(i < first ? args.posonlyargs[i] : args.args[i - first], i < required ? nullptr : args.defaults[i - required]);
  }
  for (size_t i = 0; i < args.kwonlyargs.size(); ++i) read(args.kwonlyargs[i], args.kw_defaults[i]);
  if (args.vararg)
    add("*" + std::string(args.vararg->name),
        gathered(read_annotation(args.vararg->annotation, source, names, place, diagnostics), Kind::Items, "tuple"));
  if (args.kwarg)
    add("**" + std::string(args.kwarg->name),
        gathered(read_annotation(args.kwarg->annotation, source, names, place, diagnostics), Kind::Values, "dict"));
  Annotation result = read_annotation(returns, source, names, at_result, diagnostics);
  if (result.holds_tensor()) signature.result = std::move(result);
  return signature;
}

Literal signature_literal(const ShapeSignature& signature) {
  Literal all;
  all.kind = LiteralKind::Tuple;
  const auto add = [&](const std::string& name, const Annotation& annotation) {
    all.items.push_back(text_literal(name));
    all.items.push_back(text_literal(annotation_text(annotation)));
  };
  for (const ShapeParameter& p : signature.parameters) add(p.name, p.annotation);
  if (signature.result.holds_tensor()) add("return", signature.result);
  return all;
}

ShapeSignature signature_of(const std::vector<std::string>& texts) {
  ShapeSignature signature;
  for (size_t i = 0; i + 1 < texts.size(); i += 2) {
    const std::string& name = texts[i];
    const bool is_result = name == "return";
    // The names were resolved when the signature was written.
    Annotation annotation = read_text(texts[i + 1], {is_result, nullptr});
    if (is_result) signature.result = std::move(annotation);
    else signature.parameters.push_back({name, std::move(annotation)});
  }
  return signature;
}

}  // namespace tsc::lang
