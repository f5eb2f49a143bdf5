// Shape annotations in the tree, as canonical text, and in bytecode: nothing at all without the option.
#include "emit_testing.h"
#include "lang/arena.h"
#include "lang/parse.h"
#include "lang/shapes/match.h"

namespace tsc::lang {
namespace {

CompileResult compile_with_shapes(const std::string& text) {
  CompileOptions options;
  options.check_shapes = true;
  return compile_module(std::make_shared<const Source>("test.tsc", text), options);
}

// The signature of the first function: "x: text, return: text".
std::string signature(const std::string& text) {
  const Source source("test.tsc", text);
  Arena arena;
  ParseResult parsed = parse_module(source, arena);
  REQUIRE(parsed.module);
  const ShapeNames names(*parsed.module);
  for (const Stmt* s : parsed.module->body) {
    auto* f = try_as<const FunctionDef>(s);
    if (!f) continue;
    Diagnostics found;
    const Literal literal = signature_literal(read_signature(*f->args, f->returns, source, names, &found));
    std::string out;
    for (size_t i = 0; i < literal.items.size(); i += 2)
      out += (i ? ", " : "") + literal.items[i].text + ": " + literal.items[i + 1].text;
    for (const Diagnostic& d : found.all())
      out += (out.empty() ? "" : "; ") + std::to_string(source.locate(d.primary.span.begin).column) + "-" +
             std::to_string(source.locate(d.primary.span.end).column) + " " + d.message;
    return out;
  }
  return "no function";
}

// The annotation `text` of a parameter, or of the result.
std::string parameter(const std::string& text) { return signature("def f(x: " + text + "): 1\n"); }
std::string result(const std::string& text) { return signature("def f(b: Tensor['b t *r']) -> " + text + ": 1\n"); }

ShapeFact tensor(const std::string& dtype, const std::vector<int64_t>& sizes) {
  ShapeFact fact;
  fact.kind = ShapeFact::Kind::Tensor;
  fact.type = dtype;
  for (int64_t size : sizes) fact.sizes.push_back({size, true, Size::kNoHandle});
  return fact;
}

// Why arguments and a result do not fit; empty: they do.
std::string mismatch(const std::vector<std::string>& signature, const std::vector<ShapeFact>& arguments,
                     const ShapeFact& result = {}) {
  const ShapeSignature read = signature_of(signature);
  SizeLogic logic;
  BoundSizes bound;
  if (auto wrong = match_arguments(read, arguments, logic, bound)) return wrong->what + ": " + wrong->reason;
  if (auto wrong = match_result(read, result, logic, bound)) return wrong->what + ": " + wrong->reason;
  return "";
}

}  // namespace

TEST_CASE("every form of a tensor annotation has one canonical text", "[shapes]") {
  CHECK(parameter("Tensor") == "x: Tensor");
  CHECK(parameter("torch.Tensor") == "x: Tensor");
  CHECK(parameter("Tensor[f32]") == "x: Tensor[f32]");
  CHECK(parameter("Tensor['b t c']") == "x: Tensor[\"b t c\"]");
  CHECK(parameter("torch.Tensor[torch.float32, '''b  t''']") == "x: Tensor[f32, \"b t\"]");
  CHECK(parameter("Tensor[float, \"\"]") == "x: Tensor[float, \"\"]");
  CHECK(parameter("Tensor[torch.float, '3']") == "x: Tensor[f32, \"3\"]");
  CHECK(parameter("Tensor[f32 | bf16, '*b 3 _']") == "x: Tensor[f32 | bf16, \"*b 3 _\"]");
  CHECK(parameter("'Tensor[int, \"... n\"]'") == "x: Tensor[int, \"... n\"]");
  CHECK(parameter("Optional[Tensor[long]]") == "x: Tensor[i64] | None");
  CHECK(parameter("typing.Union[Tensor, int, None]") == "x: Tensor | int | None");
  CHECK(parameter("tuple[Tensor, list[Tensor['n']], Foo]") == "x: tuple[Tensor, list[Tensor[\"n\"]], Any]");
  CHECK(parameter("tuple[Tensor['n'], ...]") == "x: tuple[Tensor[\"n\"], ...]");
  CHECK(parameter("Dict[str, Tensor['n']] | None") == "x: dict[Any, Tensor[\"n\"]] | None");
  CHECK(parameter("Annotated[Tensor, 'kept on the device']") == "x: Tensor");
  CHECK(signature("def f(x: Tensor = None, /, y: int = 3, *a: Tensor, k: Tensor['n'] = None, **r: Tensor) -> "
                  "tuple[Tensor, int]: 1\n") ==
        "x: Tensor | None, k: Tensor[\"n\"] | None, *a: tuple[Tensor, ...], **r: dict[Any, Tensor], "
        "return: tuple[Tensor, int]");
}

TEST_CASE("what is no tensor of torch is no tensor annotation", "[shapes]") {
  CHECK(parameter("int").empty());
  CHECK(parameter("Float[Tensor, 'b c']").empty());
  CHECK(parameter("np.Tensor['b']").empty());
  CHECK(parameter("'not an expression'").empty());
  CHECK(parameter("nn.Parameter | Callable[[Tensor], Tensor]").empty());
  CHECK(signature("class Tensor: pass\ndef f(x: Tensor['b,']): 1\n").empty());
  CHECK(signature("from tinygrad import Tensor\ndef f(x: Tensor): 1\n").empty());
  CHECK(signature("import other as torch\ndef f(x: torch.Tensor): 1\n").empty());
  CHECK(signature("from torch import Tensor as T\ndef f(x: T['b']): 1\n") == "x: Tensor[\"b\"]");
  CHECK(signature("import torch as t\nt.seed = 1\ndef f(x: t.Tensor): 1\n") == "x: Tensor");
  CHECK(signature("import torch\nT = torch.Tensor\ndef f(x: T): 1\n") == "x: Tensor");
  CHECK(signature("Image = \"Tensor[u8, 'c h w']\"\ndef f(x: Image): 1\n") == "x: Tensor[u8, \"c h w\"]");
  CHECK(signature("A = 'B'\nB = 'A'\ndef f(x: A): 1\n").empty());
  CHECK(signature("I = 'Tensor'\nI = 'int'\ndef f(x: I): 1\n").empty());
}

TEST_CASE("a fault in a shape is marked inside the text", "[shapes]") {
  CHECK(parameter("Tensor[f32, 'b, t']") == "23-25 'b,' is no dimension");
  CHECK(parameter("Tensor[f23, 'b']") == "17-20 'f23' is no dtype");
  CHECK(parameter("Tensor['b t-']") == "20-22 't-' is no dimension");
  CHECK(parameter("Tensor[r'b *']") == "21-22 '*' is no dimension");
  CHECK(parameter("Tensor['*a *b']") == "21-23 a second part of any length, '*b'");
  CHECK(parameter("Tensor['a *a']").find("'a' names one size and also") != std::string::npos);
  CHECK(parameter("Tensor['n//2']") == "18-22 the dimension 'n//2' of a parameter is computed");
  CHECK(parameter("Tensor['99999999999999999999']").find("too large") != std::string::npos);
  CHECK(parameter("Tensor[f32, 'a', 'b']").find("takes a dtype, the text of a shape, or both") != std::string::npos);
  CHECK(parameter("'Tensor[f32, \"b ?\"]'") == "26-27 '?' is no dimension");
  CHECK(parameter("'Tensor[f32, \\'b ?\\']'").find("'?' is no dimension") != std::string::npos);
  CHECK(parameter("Optional[Tensor['b ?']]").find("'?' is no dimension") != std::string::npos);
  CHECK(result("Tensor['b//2 2*(t+1)%3 *r']") == "b: Tensor[\"b t *r\"], return: Tensor[\"b//2 2*(t+1)%3 *r\"]");
  CHECK(result("Tensor['k//2']").find("no parameter binds the size 'k'") != std::string::npos);
  CHECK(result("Tensor['r+1']").find("no parameter binds the size 'r'") != std::string::npos);
  CHECK(result("Tensor['k k*2']").find("return: Tensor[\"k k*2\"]") != std::string::npos);
  CHECK(result("Tensor['" + std::string(200, '(') + "b" + std::string(200, ')') + "']").find("is no dimension") !=
        std::string::npos);
}

TEST_CASE("sizes bind names from left to right, results are computed from them", "[shapes]") {
  const std::vector<std::string> two = {"x",      "Tensor[f32, \"b t\"]", "y", "Tensor[\"t c\"]",
                                        "return", "Tensor[\"b c//2\"]"};
  const ShapeFact x = tensor("f32", {2, 3}), y = tensor("i64", {3, 5});
  CHECK(mismatch(two, {x, y}, tensor("f32", {2, 2})).empty());
  CHECK(mismatch(two, {x, y}, tensor("f32", {2, 3})) == "the result: dimension 1 is 3, but c//2 is 2");
  CHECK(mismatch(two, {x, x}) == "argument 'y': dimension 0 is 2, but t is 3");
  CHECK(mismatch(two, {y, y}) == "argument 'x': its dtype is i64, not f32");
  CHECK(mismatch(two, {tensor("f32", {1}), y}) == "argument 'x': it has 1 dimension, not 2");
  CHECK(mismatch(two, {tensor("f32", {0, 3}), y}, tensor("f32", {0, 2})).empty());
  const std::vector<std::string> rest = {"x", "Tensor[\"*b 3\"]", "y", "Tensor[\"*b _\"]"};
  CHECK(mismatch(rest, {tensor("f32", {3}), tensor("f32", {7})}).empty());
  CHECK(mismatch(rest, {tensor("f32", {2, 4, 3}), tensor("f32", {2, 4, 1})}).empty());
  CHECK(mismatch(rest, {tensor("f32", {2, 4, 3}), tensor("f32", {2, 5, 1})}) ==
        "argument 'y': its *b is (2 5), but *b is (2 4)");
  CHECK(mismatch(rest, {tensor("f32", {2, 4, 3}), tensor("f32", {2, 1})}) ==
        "argument 'y': its *b is (2), but *b is (2 4)");
  CHECK(mismatch(rest, {tensor("f32", {}), tensor("f32", {1})}) == "argument 'x': it has 0 dimensions, not at least 1");
  // A division by zero computes nothing that could differ.
  CHECK(mismatch({"x", "Tensor[\"n m\"]", "return", "Tensor[\"n//m n%m\"]"}, {tensor("f32", {4, 0})},
                 tensor("f32", {9, 9}))
            .empty());
}

TEST_CASE("unions, tuples and values that are no tensors", "[shapes]") {
  ShapeFact none, number, pair;
  none.kind = ShapeFact::Kind::None;
  number.kind = ShapeFact::Kind::Other;
  number.type = "int";
  pair.kind = ShapeFact::Kind::Tuple;
  pair.items = {tensor("f32", {2}), number};
  const ShapeFact two = tensor("f32", {2});
  CHECK(mismatch({"x", "Tensor"}, {none}) == "argument 'x': a tensor is expected");
  CHECK(mismatch({"x", "Tensor | None"}, {none}).empty());
  CHECK(mismatch({"x", "Tensor[\"3\"] | None"}, {two}) == "argument 'x': dimension 0 is 2, not 3");
  CHECK(mismatch({"x", "Tensor[\"3\"] | Tensor[\"4\"]"}, {two}) == "argument 'x': it is none of these");
  CHECK(mismatch({"x", "Tensor[\"3\"] | Any"}, {two}).empty());
  CHECK(mismatch({"x", "Tensor | int"}, {number}).empty());
  CHECK(mismatch({"x", "tuple[Tensor[\"n\"], int]"}, {pair}).empty());
  CHECK(mismatch({"x", "tuple[Tensor, Tensor]"}, {pair}) == "item 1 of argument 'x': a tensor is expected");
  CHECK(mismatch({"x", "tuple[Tensor]"}, {pair}) == "argument 'x': it has 2 items, not 1");
  CHECK(mismatch({"x", "list[Tensor]"}, {pair}) == "argument 'x': a list is expected");
  CHECK(mismatch({"x", "Sequence[Tensor | int]"}, {pair}).empty());
  CHECK(mismatch({"x", "Sequence[Tensor]"}, {number}).empty());
  // A part of a union that does not fit binds nothing.
  CHECK(mismatch({"x", "Tensor[\"n 3\"] | Tensor[\"3 n\"]", "y", "Tensor[\"n\"]"},
                 {tensor("f32", {3, 5}), tensor("f32", {5})})
            .empty());
}

TEST_CASE("without the option annotations are no code", "[shapes]") {
  const std::string body = ":\n    if x is None: return\n    return x * 2\n";
  const std::string annotated = "def f(x: Tensor[f32, 'b t'], *r: Tensor) -> Tensor['b t']" + body;
  const CodeRef with = find_code(compile_checked(annotated), "f");
  const CodeRef without = find_code(compile_checked("def f(x, *r)" + body), "f");
  CHECK(listing(*with) == listing(*without));
  CHECK(with->content_hash() == without->content_hash());
}

TEST_CASE("with the option only what is annotated changes", "[shapes]") {
  const std::string plain = "def f(x: int, y: Unknown['b'] = 1) -> str:\n    return x\n";
  CHECK(compile_with_shapes(plain).code->content_hash() == compile_checked(plain)->content_hash());
  const CompileResult result = compile_with_shapes(
      "def f(x: Tensor['b'], y, *, k: Tensor = None) -> Tensor['b']:\n"
      "    def inner(): return x\n"
      "    try:\n        return inner()\n    finally:\n        y = 1\n"
      "def g(x) -> Tensor: pass\n"
      "def h(x: Tensor) -> Tensor:\n    yield x\n");
  REQUIRE(result.code);
  for (const std::string& fault : verify(*result.code)) {
    INFO(fault << "\n" << disassemble(*result.code));
    CHECK(false);
  }
  const std::string f = listing(*find_code(result.code, "f"));
  INFO(f);
  CHECK(f.find("__check_arguments__") != std::string::npos);
  CHECK(f.find("__check_result__") != std::string::npos);
  CHECK(f.find("('x', 'Tensor[\"b\"]', 'k', 'Tensor | None', 'return', 'Tensor[\"b\"]')") != std::string::npos);
  CHECK(listing(*find_code(result.code, "g")).find("__check") == std::string::npos);
  const std::string h = listing(*find_code(result.code, "h"));
  CHECK(h.find("__check_arguments__") != std::string::npos);
  CHECK(h.find("__check_result__") == std::string::npos);
}

TEST_CASE("a fault is reported once, and the text compiles", "[shapes]") {
  const CompileResult result = compile_with_shapes("def f(x: Tensor['b ?'], y: Tensor['n']):\n    return x\n");
  REQUIRE(result.code);
  CHECK(result.diagnostics.all().size() == 1);
  CHECK(result.diagnostics.all()[0].code == Code::InvalidShape);
  CHECK(compile_text("def f(x: Tensor['b ?']):\n    return x\n").diagnostics.all().empty());
}

}  // namespace tsc::lang
