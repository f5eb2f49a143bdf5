#include "lang/check/static_shapes.h"

#include <algorithm>

#include "lang/check/children.h"

namespace tsc::lang {
namespace {

using Kind = ShapeFact::Kind;

Size known(int64_t number) { return {number, true, Size::kNoHandle}; }
Size unknown_size() { return {0, false, Size::kNoHandle}; }

bool has(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// torch.NAME(sizes...) with the sizes as arguments or as one tuple or list.
constexpr std::string_view kCreations[] = {"zeros", "ones", "empty", "randn", "rand"};
// The sizes are one tuple or list among the arguments.
constexpr std::string_view kSized[] = {"full", "randint"};
constexpr std::string_view kLike[] = {"zeros_like", "ones_like", "empty_like", "rand_like", "randn_like", "full_like"};
// Methods, and functions of torch, whose result has the shape and dtype of the tensor.
constexpr std::string_view kSame[] = {"relu", "exp", "log",   "sqrt",       "tanh",   "sigmoid", "sin",   "cos",
                                      "abs",  "neg", "clone", "contiguous", "detach", "cpu",     "square"};
struct Cast {
  std::string_view method;
  const char* dtype;
};
constexpr Cast kCasts[] = {{"float", "f32"},     {"double", "f64"}, {"long", "i64"},  {"int", "i32"}, {"bool", "bool"},
                           {"bfloat16", "bf16"}, {"half", "f16"},   {"short", "i16"}, {"char", "i8"}};
// Decorators that leave a function its parameters and its result.
constexpr std::string_view kTransparent[] = {"compile", "no_grad", "inference_mode", "enable_grad"};

bool is_floating(const std::string& dtype) {
  return dtype == "f32" || dtype == "f64" || dtype == "bf16" || dtype == "f16";
}

bool is_starred(const Expr* e) { return e->kind == ExprKind::Starred; }

const Keyword* keyword(const Call& call, std::string_view name) {
  for (const Keyword* k : call.keywords)
    if (k->name == name) return k;
  return nullptr;
}

// Torch makes it, and no keyword says more than dtype and what shapes do not depend on.
bool has_plain_keywords(const Call& call) {
  static constexpr std::string_view kPlain[] = {"dtype",         "device",     "requires_grad", "generator",
                                                "memory_format", "pin_memory", "layout"};
  return std::all_of(call.keywords.begin(), call.keywords.end(), [](const Keyword* k) { return has(kPlain, k->name); });
}

// ".data" of something is assigned.
bool sets_data(std::string_view text) {
  for (size_t at = text.find(".data"); at != std::string_view::npos; at = text.find(".data", at + 1)) {
    size_t next = at + 5;
    while (next < text.size() && text[next] == ' ') ++next;
    const bool assigns = next < text.size() && text[next] == '=' && text.substr(next, 2) != "==";
    if (assigns) return true;
  }
  return text.find("\"data\"") != std::string_view::npos || text.find("'data'") != std::string_view::npos;
}

std::vector<const Expr*> elements(const Expr* e) {
  if (auto* tuple = try_as<const Tuple>(e)) return {tuple->elts.begin(), tuple->elts.end()};
  if (auto* list = try_as<const ListExpr>(e)) return {list->elts.begin(), list->elts.end()};
  return {};
}

bool is_sequence(const Expr* e) { return e->kind == ExprKind::Tuple || e->kind == ExprKind::ListExpr; }

// The shape that two operands have together; Unknown ranks stay so.
ShapeFact broadcast(const ShapeFact& a, const ShapeFact& b) {
  ShapeFact out;
  out.kind = Kind::Tensor;
  out.is_rank_known = a.is_rank_known && b.is_rank_known;
  if (!out.is_rank_known) return out;
  const size_t rank = std::max(a.sizes.size(), b.sizes.size());
  const auto size = [&](const ShapeFact& of, size_t i) {
    const size_t missing = rank - of.sizes.size();
    return i < missing ? known(1) : of.sizes[i - missing];
  };
  for (size_t i = 0; i < rank; ++i) {
    const Size left = size(a, i), right = size(b, i);
    if (left.is_known && left.number != 1) out.sizes.push_back(left);
    else if (left.is_known || (right.is_known && right.number != 1)) out.sizes.push_back(right);
    else out.sizes.push_back(unknown_size());
  }
  return out;
}

}  // namespace

StaticShapes::StaticShapes(CheckRun& run)
    : run_(run), names_(run.module), shapes_are_set_(sets_data(run.source.text())) {
  for (const Variable& v : run.facts.variables)
    for (const Use& use : v.uses) variables_[use.span.begin] = &v;
  collect(run.module.body);
}

void StaticShapes::collect(List<Stmt*> block) {
  for (Stmt* s : block) {
    if (auto* f = try_as<FunctionDef>(s)) {
      for (auto group : {f->args->posonlyargs, f->args->args, f->args->kwonlyargs})
        for (Parameter* p : group) parameters_[p->name_span.begin] = {f, p->name};
      collect(f->body);
    } else if (auto* c = try_as<ClassDef>(s)) {
      collect(c->body);
    }
    each_block(s, [this](List<Stmt*> inner) { collect(inner); });
  }
}

const ShapeSignature& StaticShapes::signature(const FunctionDef* f) {
  const auto found = signatures_.find(f);
  if (found != signatures_.end()) return found->second;
  return signatures_[f] = read_signature(*f->args, f->returns, run_.source, names_, &run_.diagnostics);
}

const Variable* StaticShapes::variable_of(const Expr* e) const {
  if (e->kind != ExprKind::Name) return nullptr;
  const auto found = variables_.find(e->span.begin);
  return found == variables_.end() ? nullptr : found->second;
}

// ---- calls

std::optional<Callee> StaticShapes::callee(const Call* call) const {
  const Variable* v = variable_of(call->func);
  if (!v) return std::nullopt;
  if (auto found = find_callee(v)) return found;
  if (const BindingSite* site = only_binding(v, BindingKind::Function); site && !v->in_class) {
    auto* f = as<FunctionDef>(site->statement);
    const bool transparent = std::all_of(f->decorator_list.begin(), f->decorator_list.end(), [this](const Expr* d) {
      if (auto* made = try_as<const Call>(d)) d = made->func;
      auto* attribute = try_as<const Attribute>(d);
      return attribute && has(kTransparent, attribute->attr) && names_.is_torch(attribute->value);
    });
    if (transparent) return Callee{f, std::string(f->name), f->name_span, 0};
  }
  // model = Net(); model(x)
  const BindingSite* site = only_binding(v, BindingKind::Assignment);
  auto* made = site ? try_as<const Call>(site->value) : nullptr;
  const Variable* type = made ? variable_of(made->func) : nullptr;
  const BindingSite* definition = only_binding(type, BindingKind::Class);
  if (!definition) return std::nullopt;
  auto* c = as<ClassDef>(definition->statement);
  FunctionDef* forward = is_plain_class(c) && !only_method(c, "__call__") ? only_method(c, "forward") : nullptr;
  const bool is_module = c->bases.size() == 1;
  if (!forward || !is_module || !forward->decorator_list.empty() || forward->args->args.empty() ||
      run_.source.text().find("register_forward") != std::string_view::npos)
    return std::nullopt;
  return Callee{forward, std::string(c->name) + ".forward", forward->name_span, 1};
}

std::optional<std::vector<ShapeFact>> StaticShapes::arguments(const Call& call, const Callee& callee) {
  const Arguments& a = *callee.function->args;
  if (std::any_of(call.args.begin(), call.args.end(), is_starred)) return std::nullopt;
  if (std::any_of(call.keywords.begin(), call.keywords.end(), [](Keyword* k) { return k->name.empty(); }))
    return std::nullopt;
  std::vector<Identifier> positional;
  for (const Parameter* p : a.posonlyargs) positional.push_back(p->name);
  for (const Parameter* p : a.args) positional.push_back(p->name);
  std::vector<ShapeFact> facts;
  for (const ShapeParameter& p : signature(callee.function).parameters) {
    ShapeFact fact;
    if (a.vararg && p.name == "*" + std::string(a.vararg->name)) {
      fact.kind = Kind::Tuple;
      for (size_t i = positional.size() - callee.given; i < call.args.size(); ++i)
        fact.items.push_back(of(call.args[i]));
    }
    const auto at = std::find(positional.begin(), positional.end(), Identifier(p.name));
    const size_t index = static_cast<size_t>(at - positional.begin());
    if (at != positional.end() && index >= callee.given && index - callee.given < call.args.size())
      fact = of(call.args[index - callee.given]);
    else if (const Keyword* k = keyword(call, p.name)) fact = of(k->value);
    facts.push_back(std::move(fact));
  }
  return facts;
}

// ---- expressions

ShapeFact StaticShapes::of(const Expr* e) {
  const auto found = known_.find(e);
  if (found != known_.end()) return found->second;
  if (!asked_.insert(e).second) return {};
  ShapeFact fact = compute(e);
  asked_.erase(e);
  return known_[e] = std::move(fact);
}

ShapeFact StaticShapes::compute(const Expr* e) {
  if (auto* node = try_as<const Constant>(e)) return of_constant(*node);
  if (auto* node = try_as<const Name>(e)) return of_name(*node);
  if (auto* node = try_as<const Call>(e)) return of_call(*node);
  if (auto* node = try_as<const BinOp>(e)) return of_operator(*node);
  if (auto* node = try_as<const UnaryOp>(e)) {
    const ShapeFact fact = of(node->operand);
    return node->op == UnaryOperator::USub && fact.kind == Kind::Tensor ? fact : ShapeFact();
  }
  if (auto* node = try_as<const Attribute>(e)) {
    ShapeFact fact = of(node->value);
    if (node->attr != "T" || fact.kind != Kind::Tensor || !fact.is_rank_known) return {};
    std::reverse(fact.sizes.begin(), fact.sizes.end());
    return fact;
  }
  if (!is_sequence(e)) return {};
  ShapeFact fact;
  fact.kind = e->kind == ExprKind::Tuple ? Kind::Tuple : Kind::List;
  for (const Expr* item : elements(e)) {
    if (is_starred(item)) return {};
    fact.items.push_back(of(item));
  }
  return fact;
}

ShapeFact StaticShapes::of_constant(const Constant& node) const {
  ShapeFact fact;
  fact.kind = Kind::Other;
  switch (node.value_kind) {
    case ConstantKind::None: fact.kind = Kind::None; break;
    case ConstantKind::Int: fact.type = "int"; break;
    case ConstantKind::Float: fact.type = "float"; break;
    case ConstantKind::Str: fact.type = "str"; break;
    case ConstantKind::True:
    case ConstantKind::False: fact.type = "bool"; break;
    default: return {};
  }
  return fact;
}

ShapeFact StaticShapes::of_name(const Name& node) {
  const Variable* v = variable_of(&node);
  if (!v || shapes_are_set_) return {};
  if (const BindingSite* site = only_binding(v, BindingKind::Assignment)) {
    // A list may grow; numbers and tensors stay what they are.
    ShapeFact fact = site->value ? of(site->value) : ShapeFact();
    return fact.kind == Kind::List ? ShapeFact() : fact;
  }
  const BindingSite* site = only_binding(v, BindingKind::Parameter);
  const auto found = site ? parameters_.find(site->span.begin) : parameters_.end();
  if (found == parameters_.end()) return {};
  for (const ShapeParameter& p : signature(found->second.first).parameters)
    if (p.name == found->second.second) return fact_of(p.annotation, {}, logic_);
  return {};
}

std::optional<int64_t> StaticShapes::integer(const Expr* e) const {
  for (int steps = 0; steps < 8; ++steps) {
    if (auto* constant = try_as<const Constant>(e))
      return constant->value_kind == ConstantKind::Int ? std::optional(constant->integer) : std::nullopt;
    const BindingSite* site = only_binding(variable_of(e), BindingKind::Assignment);
    if (!site || !site->value) return std::nullopt;
    e = site->value;
  }
  return std::nullopt;
}

// Of f(2, n) or f((2, n)). A single argument that is no literal may be a tuple itself.
std::optional<std::vector<Size>> StaticShapes::sizes(const std::vector<const Expr*>& arguments) const {
  std::vector<const Expr*> items = arguments;
  if (items.size() == 1 && is_sequence(items[0])) items = elements(items[0]);
  else if (items.size() == 1 && !integer(items[0])) return std::nullopt;
  std::vector<Size> out;
  for (const Expr* item : items) {
    if (is_starred(item)) return std::nullopt;
    const std::optional<int64_t> number = integer(item);
    out.push_back(number && *number >= 0 ? known(*number) : unknown_size());
  }
  return out;
}

void StaticShapes::take_dtype(const Call& call, ShapeFact& fact) const {
  const Keyword* k = keyword(call, "dtype");
  if (!k) return;
  fact.type.clear();
  auto* attribute = try_as<const Attribute>(k->value);
  if (!attribute || !names_.is_torch(attribute->value)) return;
  const auto dtypes = dtypes_of_name(attribute->attr, true);
  if (dtypes && dtypes->size() == 1) fact.type = dtypes->front();
}

ShapeFact StaticShapes::created(const Call& call, std::vector<const Expr*> arguments) {
  ShapeFact fact;
  fact.kind = Kind::Tensor;
  const auto dims = sizes(arguments);
  fact.is_rank_known = dims.has_value();
  if (dims) fact.sizes = *dims;
  take_dtype(call, fact);
  return fact;
}

ShapeFact StaticShapes::of_torch_call(const Call& call, std::string_view function) {
  if (!has_plain_keywords(call) || std::any_of(call.args.begin(), call.args.end(), is_starred)) return {};
  const std::vector<const Expr*> arguments(call.args.begin(), call.args.end());
  if (arguments.empty()) return {};
  if (has(kCreations, function)) return created(call, arguments);
  if (has(kSized, function)) {
    const auto at = std::find_if(arguments.begin(), arguments.end(), is_sequence);
    if (at == arguments.end()) return {};
    ShapeFact fact = created(call, {*at});
    if (function == "randint" && !keyword(call, "dtype")) fact.type = "i64";
    return fact;
  }
  ShapeFact fact = of(arguments[0]);
  if (fact.kind != Kind::Tensor) return {};
  if (has(kLike, function)) {
    take_dtype(call, fact);
    return fact;
  }
  if (!has(kSame, function) || arguments.size() != 1 || !call.keywords.empty()) return {};
  if (!is_floating(fact.type)) fact.type.clear();
  return fact;
}

ShapeFact StaticShapes::of_call(const Call& call) {
  if (auto* function = try_as<const Attribute>(call.func)) {
    if (names_.is_torch(function->value)) return of_torch_call(call, function->attr);
    return of_method(call, *function);
  }
  const std::optional<Callee> target = callee(&call);
  if (!target || (target->given && target->name.find('.') == std::string::npos)) return {};
  if (target->function->scope && target->function->scope->is_generator) return {};
  const ShapeSignature& annotations = signature(target->function);
  if (!annotations.result.holds_tensor()) return {};
  const auto facts = arguments(call, *target);
  if (!facts) return {};
  BoundSizes bound;
  if (match_arguments(annotations, *facts, logic_, bound)) return {};
  return fact_of(annotations.result, bound, logic_);
}

ShapeFact StaticShapes::of_method(const Call& call, const Attribute& method) {
  ShapeFact fact = of(method.value);
  if (fact.kind != Kind::Tensor || !call.keywords.empty()) return {};
  const std::vector<const Expr*> arguments(call.args.begin(), call.args.end());
  if (std::any_of(arguments.begin(), arguments.end(), is_starred)) return {};
  for (const Cast& cast : kCasts) {
    if (cast.method != method.attr || !arguments.empty()) continue;
    fact.type = cast.dtype;
    return fact;
  }
  if (has(kSame, method.attr) && arguments.empty()) {
    if (!is_floating(fact.type)) fact.type.clear();
    return fact;
  }
  if (method.attr == "view" || method.attr == "reshape") {
    const auto dims = sizes(arguments);
    if (!dims || arguments.empty()) return {};
    // view(dtype) takes no size.
    fact.sizes = *dims;
    fact.is_rank_known = true;
    return fact;
  }
  return reshaped(fact, arguments, method.attr);
}

// Methods that move dimensions by literal positions.
ShapeFact StaticShapes::reshaped(const ShapeFact& of, const std::vector<const Expr*>& arguments,
                                 std::string_view method) {
  if (!of.is_rank_known) return {};
  ShapeFact fact = of;
  const auto rank = static_cast<int64_t>(of.sizes.size());
  std::vector<int64_t> at;
  for (const Expr* e : arguments) {
    const std::optional<int64_t> number = integer(e);
    if (!number) return {};
    at.push_back(*number);
  }
  const auto inside = [](int64_t i, int64_t limit) { return i >= -limit && i < limit; };
  const auto place = [](int64_t i, int64_t limit) { return i < 0 ? i + limit : i; };
  if (method == "t" && at.empty() && rank == 2) {
    std::swap(fact.sizes[0], fact.sizes[1]);
    return fact;
  }
  if (method == "transpose" && at.size() == 2 && inside(at[0], rank) && inside(at[1], rank)) {
    std::swap(fact.sizes[static_cast<size_t>(place(at[0], rank))], fact.sizes[static_cast<size_t>(place(at[1], rank))]);
    return fact;
  }
  if (method == "unsqueeze" && at.size() == 1 && inside(at[0], rank + 1)) {
    fact.sizes.insert(fact.sizes.begin() + place(at[0], rank + 1), known(1));
    return fact;
  }
  return {};
}

ShapeFact StaticShapes::of_operator(const BinOp& node) {
  const ShapeFact left = of(node.left), right = of(node.right);
  const auto is_number = [](const ShapeFact& f) {
    return f.kind == Kind::Other && (f.type == "int" || f.type == "float");
  };
  const bool tensors = left.kind == Kind::Tensor && right.kind == Kind::Tensor;
  if (node.op == Operator::MatMult) {
    const auto is_matrix = [](const ShapeFact& f) { return f.is_rank_known && f.sizes.size() == 2; };
    if (!tensors || !is_matrix(left) || !is_matrix(right)) return {};
    ShapeFact out = left;
    out.sizes[1] = right.sizes[1];
    if (left.type != right.type) out.type.clear();
    return out;
  }
  constexpr Operator kElementwise[] = {Operator::Add, Operator::Sub, Operator::Mult, Operator::Div};
  if (std::find(std::begin(kElementwise), std::end(kElementwise), node.op) == std::end(kElementwise)) return {};
  if (tensors) {
    ShapeFact out = broadcast(left, right);
    if (left.type == right.type && is_floating(left.type)) out.type = left.type;
    return out;
  }
  const bool one = (left.kind == Kind::Tensor && is_number(right)) || (right.kind == Kind::Tensor && is_number(left));
  if (!one) return {};
  ShapeFact out = left.kind == Kind::Tensor ? left : right;
  if (!is_floating(out.type)) out.type.clear();
  return out;
}

}  // namespace tsc::lang
