// What the names of a module mean in annotations.
#include "lang/check/children.h"
#include "lang/shapes/annotation.h"

namespace tsc::lang {
namespace {

bool is_of_torch(std::string_view module) { return module == "torch" || module.starts_with("torch."); }

}  // namespace

ShapeNames::ShapeNames(const Module& module) {
  for (const Stmt* s : module.body) statement(s, true);
}

void ShapeNames::bind(std::string_view name, bool is_foreign) {
  if (!bound_.insert(name).second) aliases_.erase(name);
  if (is_foreign) foreign_.insert(name);
}

void ShapeNames::import_from(const ImportFrom& node) {
  for (const Alias* alias : node.names) {
    const std::string_view bound = alias->asname.empty() ? alias->name : alias->asname;
    const bool is_tensor = node.level == 0 && is_of_torch(node.module) && alias->name == "Tensor";
    if (is_tensor) tensors_.insert(bound);
    bind(bound, !is_tensor);
  }
}

void ShapeNames::assign(const Expr* target, const Expr* value, bool at_top) {
  auto* name = try_as<const Name>(target);
  if (!name) {
    const bool unpacks =
        target->kind == ExprKind::Tuple || target->kind == ExprKind::ListExpr || target->kind == ExprKind::Starred;
    if (unpacks) each_child(const_cast<Expr*>(target), [&](Expr* c) { assign(c, nullptr, false); });
    return;
  }
  if (value && is_tensor(value)) {
    tensors_.insert(name->id);
    return bind(name->id, false);
  }
  const bool is_first = !bound_.count(name->id);
  bind(name->id, true);
  const bool may_name = value && (value->kind == ExprKind::Constant || value->kind == ExprKind::Subscript ||
                                  value->kind == ExprKind::BinOp);
  if (at_top && is_first && may_name) aliases_[name->id] = value;
}

void ShapeNames::statement(const Stmt* s, bool at_top) {
  if (auto* node = try_as<const Import>(s)) {
    for (const Alias* alias : node->names) {
      const bool has_own_name = !alias->asname.empty();
      const std::string_view root = alias->name.substr(0, alias->name.find('.'));
      const bool is_torch = has_own_name ? alias->name == "torch" : root == "torch";
      const std::string_view bound = has_own_name ? alias->asname : root;
      if (is_torch) torches_.insert(bound);
      bind(bound, !is_torch);
    }
  } else if (auto* node = try_as<const ImportFrom>(s)) {
    import_from(*node);
  } else if (auto* node = try_as<const Assign>(s)) {
    for (const Expr* target : node->targets) assign(target, node->value, at_top);
  } else if (auto* node = try_as<const AnnAssign>(s)) {
    if (node->value) assign(node->target, node->value, at_top);
  } else if (auto* node = try_as<const For>(s)) {
    assign(node->target, nullptr, false);
  } else if (auto* node = try_as<const FunctionDef>(s)) {
    bind(node->name, true);
    for (const Stmt* inner : node->body) statement(inner, false);
  } else if (auto* node = try_as<const ClassDef>(s)) {
    bind(node->name, true);
    for (const Stmt* inner : node->body) statement(inner, false);
  }
  each_block(const_cast<Stmt*>(s), [this](List<Stmt*> block) {
    for (const Stmt* inner : block) statement(inner, false);
  });
}

bool ShapeNames::is_torch(const Expr* e) const {
  auto* name = try_as<const Name>(e);
  return name && torches_.count(name->id) && !foreign_.count(name->id);
}

bool ShapeNames::is_tensor(const Expr* e) const {
  if (auto* name = try_as<const Name>(e)) return tensors_.count(name->id) && !foreign_.count(name->id);
  auto* attribute = try_as<const Attribute>(e);
  return attribute && attribute->attr == "Tensor" && is_torch(attribute->value);
}

const Expr* ShapeNames::alias(std::string_view name) const {
  const auto found = aliases_.find(name);
  return found == aliases_.end() ? nullptr : found->second;
}

}  // namespace tsc::lang
