// Tensor annotations that cannot be read, and calls and results that certainly do not fit theirs.
#include <algorithm>

#include "lang/check/children.h"
#include "lang/check/static_shapes.h"

namespace tsc::lang {

namespace {

class Shapes {
 public:
  explicit Shapes(CheckRun& run) : run_(run), shapes_(run) {}

  void run() {
    block(run_.module.body);
    for (const CallSite& site : run_.facts.calls)
      if (!site.caught.calls) call(*site.call);
  }

 private:
  void block(List<Stmt*> list) {
    for (Stmt* s : list) {
      if (auto* f = try_as<FunctionDef>(s)) {
        function(*f);
        block(f->body);
      } else if (auto* c = try_as<ClassDef>(s)) {
        block(c->body);
      } else if (auto* a = try_as<AnnAssign>(s)) {
        read_annotation(a->annotation, run_.source, shapes_.names(), {true, nullptr}, &run_.diagnostics);
      }
      each_block(s, [this](List<Stmt*> inner) { block(inner); });
    }
  }

  void report(Span span, const Callee& callee, const ShapeMismatch& mismatch, Span annotation) {
    Diagnostic& d = run_.diagnostics.warning(
        Code::ShapeMismatch, span,
        mismatch.what + " of " + callee.name + "() does not fit its annotation: " + mismatch.reason);
    d.under("this is " + mismatch.actual);
    d.label(annotation, "the annotation is " + mismatch.annotation);
    std::string sizes;
    for (const BoundSize& one : mismatch.bound)
      if (!one.is_rest && one.sizes[0].is_known)
        sizes +=
            (sizes.empty() ? "" : ", ") + one.name + " = " + std::to_string(one.sizes[0].number) + " from " + one.from;
    if (!sizes.empty()) d.note("sizes: " + sizes);
  }

  // ---- calls

  // Where the argument of a parameter stands in the call.
  static Span argument_span(const Call& call, const Callee& callee, const std::string& name) {
    const Arguments& a = *callee.function->args;
    std::vector<Identifier> positional;
    for (const Parameter* p : a.posonlyargs) positional.push_back(p->name);
    for (const Parameter* p : a.args) positional.push_back(p->name);
    for (const Keyword* k : call.keywords)
      if (k->name == name) return k->value->span;
    const auto at = std::find(positional.begin(), positional.end(), Identifier(name));
    const size_t index = static_cast<size_t>(at - positional.begin()) - callee.given;
    return at != positional.end() && index < call.args.size() ? call.args[index]->span : call.span;
  }

  static Span annotation_span(const Arguments& a, const std::string& name) {
    for (auto group : {a.posonlyargs, a.args, a.kwonlyargs})
      for (const Parameter* p : group)
        if (p->name == name) return p->annotation->span;
    const Parameter* rest = name.starts_with("**") ? a.kwarg : a.vararg;
    return rest->annotation->span;
  }

  void call(const Call& call) {
    const std::optional<Callee> callee = shapes_.callee(&call);
    if (!callee) return;
    const ShapeSignature& signature = shapes_.signature(callee->function);
    if (signature.parameters.empty()) return;
    const auto arguments = shapes_.arguments(call, *callee);
    if (!arguments) return;
    SizeLogic logic;
    BoundSizes bound;
    const auto mismatch = match_arguments(signature, *arguments, logic, bound);
    if (!mismatch) return;
    const std::string& name = signature.parameters[mismatch->parameter].name;
    report(argument_span(call, *callee, name), *callee, *mismatch, annotation_span(*callee->function->args, name));
  }

  // ---- results

  void function(const FunctionDef& f) {
    const ShapeSignature& signature = shapes_.signature(&f);
    if (!signature.result.holds_tensor() || !f.scope || f.scope->is_generator) return;
    BoundSizes bound;
    SizeLogic logic;
    std::vector<ShapeFact> arguments;
    for (const ShapeParameter& p : signature.parameters) arguments.push_back(fact_of(p.annotation, {}, logic));
    match_arguments(signature, arguments, logic, bound);
    const Callee callee{&f, std::string(f.name), f.name_span, 0};
    returns(f.body, callee, signature, bound);
  }

  void returns(List<Stmt*> list, const Callee& callee, const ShapeSignature& signature, const BoundSizes& bound) {
    for (Stmt* s : list) {
      each_block(s, [&](List<Stmt*> inner) { returns(inner, callee, signature, bound); });
      auto* r = try_as<Return>(s);
      if (!r) continue;
      ShapeFact none;
      none.kind = ShapeFact::Kind::None;
      BoundSizes sizes = bound;
      SizeLogic logic;
      const ShapeFact fact = r->value ? shapes_.of(r->value) : none;
      if (const auto mismatch = match_result(signature, fact, logic, sizes))
        report(r->value ? r->value->span : r->span, callee, *mismatch, callee.function->returns->span);
    }
  }

  CheckRun& run_;
  StaticShapes shapes_;
};

}  // namespace

void check_shapes(CheckRun& run) {
  // Most texts have no such annotation.
  if (run.source.text().find("Tensor") != std::string_view::npos) Shapes(run).run();
}

}  // namespace tsc::lang
