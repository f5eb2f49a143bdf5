#include "lang/annotated.h"

namespace tsc::lang {
namespace {

class Collector {
 public:
  std::vector<Annotated> found;

  void body(List<Stmt*> list, bool may_be_passed_by) {
    for (const Stmt* s : list) statement(s, may_be_passed_by);
  }

 private:
  void statement(const Stmt* s, bool may_be_passed_by) {
    if (auto* node = try_as<const AnnAssign>(s)) {
      if (!node->simple) return;
      const Identifier name = as<const Name>(static_cast<const Expr*>(node->target))->id;
      found.push_back({name, node->annotation, node, may_be_passed_by});
    } else if (auto* choice = try_as<const If>(s)) {
      both(choice->body, choice->orelse);
    } else if (auto* loop = try_as<const For>(s)) {
      both(loop->body, loop->orelse);
    } else if (auto* repeat = try_as<const While>(s)) {
      both(repeat->body, repeat->orelse);
    } else if (auto* with = try_as<const With>(s)) {
      body(with->body, true);
    } else if (auto* attempt = try_as<const Try>(s)) {
      body(attempt->body, true);
      for (const ExceptHandler* handler : attempt->handlers) body(handler->body, true);
      both(attempt->orelse, attempt->finalbody);
    } else if (auto* match = try_as<const Match>(s)) {
      for (const MatchCase* one : match->cases) body(one->body, true);
    }
  }

  void both(List<Stmt*> first, List<Stmt*> second) {
    body(first, true);
    body(second, true);
  }
};

}  // namespace

std::vector<Annotated> annotated_parts(const FunctionDef& function) {
  std::vector<Annotated> parts;
  const auto add = [&](const Parameter* p) {
    if (p && p->annotation) parts.push_back({p->name, p->annotation});
  };
  const Arguments& args = *function.args;
  for (const Parameter* p : args.args) add(p);
  for (const Parameter* p : args.posonlyargs) add(p);
  add(args.vararg);
  for (const Parameter* p : args.kwonlyargs) add(p);
  add(args.kwarg);
  if (function.returns) parts.push_back({"return", function.returns});
  return parts;
}

std::vector<Annotated> annotated_names(List<Stmt*> body) {
  Collector collector;
  collector.body(body, false);
  return std::move(collector.found);
}

}  // namespace tsc::lang
