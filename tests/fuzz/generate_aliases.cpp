// Programs whose function is called often, with tensors that are one object in some calls and different ones in others,
// or share their memory: written in place, compared by `is`, kept, given gradients (templates.h).
#include "generate.h"
#include "templates.h"

namespace tsc::fuzz {
namespace {

// x tensor, b bool, i int, m module, k function of a tensor. In capitals: a variable; P tensor that needs a gradient, L
// list of tensors, D dict with one.
// clang-format off
const std::map<char, Templates> kExpressions = {
    {'x', {"{X}", "{X}", "{X}", "{x} * 2.0", "{x} + {x}", "{x} * {x}", "{x} - {x}", "torch.relu({x})", "{x}.detach()", "{x}.clone()",
           "{x}.view(-1)", "{P}", "{L}[0]", "{L}[-1]", "{m}.w", "{m}({x})", "torch.tanh({x})", "{x}.sum().reshape(1) + {x}", "{D}[\"a\"]",
           "{x}[:2]", "{k}({x})", "sum({L}, {x})", "({x} if {b} else {x})", "torch.zeros(3)", "{x} * {i}",
           "max({x}, {x}, key=lambda v: v.sum().item())", "functools.reduce(lambda a, b: a + b, {L})", "torch.stack([{x}, {x}]).sum(0)", "{x}.T",
           "{x}.flip(0)", "cellread()", "torch.where({x} > 0, {x}, {x})", "{x}.data", "{x}[[0, 1, 2]]", "torch.cat([{x}, {x}])[:3]"}},
    {'b', {"{X} is {X}", "{X} is {P}", "{X} is {L}[0]", "{L}[0] is {L}[-1]", "{X} in [{X}]", "any(v is {X} for v in {L})", "{X} is {M}.w",
           "{X} is not {X}", "({x}.sum() > 0)", "bool({L})", "{X}.requires_grad", "{X}.grad is None", "{X}.grad is not None", "{X}.is_leaf",
           "{i} > 1", "torch.equal({x}, {x})", "{X}.data_ptr() == {X}.data_ptr()", "{L} is {L}", "id({X}) == id({X})", "len({{{X}, {X}}}) == 1",
           "{X} is cellread()", "{X}._version > 2", "{D}.get(\"a\") is {X}", "{M} is {M}"}},
    {'i', {"1", "2", "len({L})", "{X}.dim()", "{X}.size(0)", "{X}._version", "len(set({L}))", "len({{{X}, {X}}})",
           "[id(v) == id({L}[-1]) for v in {L}].index(True)", "turn", "int({x}.sum().item())", "{D}.get(\"n\", 0)", "sum(v is {X} for v in {L})",
           "{M}.n", "turn % 3"}},
    {'m', {"{M}", "{M}"}},
    {'k', {"torch.relu", "(lambda v: v + 1.0)", "scaler({x})", "{M}", "{K}", "{K}"}},
};
const Templates kSimple = {
    "{X} = {x}", "{X}.add_({x})", "{X}.mul_(0.5)", "{X}.add_(1.0)", "{X}[0] = {i}", "{X}[:2] += 1", "{X} += {x}", "{X}.copy_({x})",
    "{X}.zero_()", "{P}.data.add_({x}.detach())", "with torch.no_grad():\n    {P}.add_({x})\n", "with torch.no_grad():\n    {P} -= 0.1\n",
    "{L}.append({X})", "{L}.append({x})", "{L}[0] = {x}", "{L}[-1].add_(1)", "{L}.reverse()", "{L} = [{x}, {x}]", "del {L}[3:]",
    "{D}[\"a\"] = {x}", "{D}[\"n\"] = {i}", "{M}.w = {x}", "{M}.n += 1", "{M}.w.data.mul_(0.5)", "out.append({x}.tolist())",
    "out.append({x})", "out.append({b})", "out.append({b})", "out.append({b})", "out.append({i})", "out.append({X})",
    "({x} * {P}).sum().backward()", "(({x} + {x}) * {P}).sum().backward()", "({P} * {P} + {x}.detach()).sum().backward()",
    "{P}.grad = None", "{P}.grad.zero_()", "out.append({P}.grad)", "{P}.grad = {x}.detach()", "out.append({X}.grad)",
    "({x}).sum().backward()", "{X}.requires_grad_()", "{X}.detach_()", "{X}, {X} = {X}, {X}", "cellset({x})", "cellread().add_(1)",
    "kept.append({X})", "kept.append({x}); del kept[:-2]", "out.append(torch.autograd.grad(({x} * {P}).sum(), {P}))",
    "out.append(kept[-1] is {X})", "out.append([v is {X} for v in {L}])", "return {x}", "return {X}", "{K} = scaler({x})",
    "{X} = {X}.detach().requires_grad_()", "{L} = [{X}, *{L}[:2]]", "assert {b}", "G.w = {x}", "out.append(G.w is {X})",
    "{X}.data = {x}.detach().clone()", "view = {X}.view(-1); view.add_(1); out.append({X}.sum())", "{M}.w.grad = None",
    "out.append({M}.w.grad)", "({M}({x})).sum().backward()", "{X}.resize_(3)", "{X}.relu_()", "{X}.clamp_(-1, 1)"};
const Templates kCompound = {
    "if {b}:{:}", "if {b}:{:}else:{:}", "for {X} in {L}:\n    if spent():\n        break{:}", "for one in {L}:\n    one.add_(1.0)\n",
    "for a, b in zip({L}, {L}):\n    out.append(a is b)\n    out.append((a + b).sum())\n",
    "try:{:}except Exception as error:\n    out.append(name_of(error))\n", "with torch.no_grad():{:}",
    "def inner(v):\n    {X}.add_(v)\n    return {x}\nout.append(inner({x}))\n",
    "def inner(v):\n    nonlocal {X}\n    {X} = {X} + v\n    return {X}\nout.append(inner({x}) is {X})\n",
    "def inner(v):\n    return v * {X} + {i}\n{K} = inner\n", "for step in range({i} % 4):{:}"};
const std::map<char, std::vector<const char*>> kVariables = {
    {'X', {"x0", "x1", "x2", "p0", "p1"}},
    {'P', {"p0", "p1"}},
    {'L', {"l0", "l1"}},
    {'D', {"d0"}},
    {'M', {"m0", "m1"}},
    {'K', {"k0", "k1"}},
};
// clang-format on

constexpr const char* kPrelude = R"(import torch, functools
import torch.nn as nn
class Mod(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.w = nn.Parameter(w)
        self.n = 0
    def forward(self, v): return v * self.w
class Bag:
    def __init__(self, w): self.w, self.n = w, 0
    def __call__(self, v):
        self.n += 1
        return v + self.w
G = Bag(torch.ones(3))
kept = [torch.ones(3)]
def scaler(c):
    n = 0
    def run(v):
        nonlocal n
        n += 1
        return v * c + n
    return run
def cells():
    inside = torch.ones(3)
    def read(): return inside
    def put(v):
        nonlocal inside
        inside = v
    return read, put
cellread, cellset = cells()
def show(v, depth=0):
    if depth > 3: return '...'
    if isinstance(v, torch.Tensor): return ('T', str(v.dtype), v.detach().tolist(), v.requires_grad, v.is_leaf, v.grad_fn.name() if v.grad_fn is not None else None, None if not v.is_leaf or v.grad is None else v.grad.tolist())
    if isinstance(v, (list, tuple)): return (type(v).__name__, [show(w, depth + 1) for w in v])
    if isinstance(v, dict): return [(k, show(w, depth + 1)) for k, w in v.items()]
    if isinstance(v, (Mod, Bag)): return [type(v).__name__, v.n, show(v.w, depth + 1)]
    if isinstance(v, (str, int, float)) or v is None: return repr(v)
    return type(v).__name__
# A region finds out what was written, or freed, before its backward begins: fewer gradients have arrived by then.
def name_of(error):
    if 'inplace operation' in str(error) or 'second time' in str(error):
        for t in [*PS, *[m.w for m in MS]]:
            if isinstance(t, torch.Tensor) and t.is_leaf: t.grad = None
    return type(error).__name__
budget = [0]
def spent():
    budget[0] -= 1
    return budget[0] < 0
def trim():
    budget[0] = 12
    for l in [*LS, kept]: del l[4:]
    with torch.no_grad():
        for t in [*XS, *PS, cellread(), G.w, *kept, *[v for l in LS for v in l], *[m.w for m in MS]]:
            if isinstance(t, torch.Tensor): t.clamp_(-9, 9)
)";

constexpr const char* kPools = R"(XS = [torch.tensor([1.0, -2.0, 3.0]), torch.tensor([0.5, 0.25, -1.0]), torch.zeros(3)]
PS = [torch.tensor([1.0, 2.0, -1.0], requires_grad=True), torch.tensor([3.0, -1.0, 0.5], requires_grad=True), nn.Parameter(torch.ones(3))]
XS.append(XS[0].view(-1))
XS.append(PS[0])
LS = [[XS[0], XS[1]], [XS[0], XS[0]], [PS[0], PS[0], XS[2]], [torch.ones(3)]]
DS = [{'a': XS[0], 'n': 1}, {'a': PS[0]}, {}]
MS = [Mod(torch.ones(3)), Bag(XS[0]), Mod(torch.full((3,), 2.0)), Bag(PS[0])]
KS = [scaler(2.0), scaler(XS[0]), scaler(PS[1]), torch.relu]
)";

const std::vector<Parameter> kParameters = {
    {"x0", "XS", "torch.full((3,), float(turn))"},
    {"x1", "XS", "torch.full((3,), float(turn))"},
    {"x2", "XS", "torch.full((3,), float(turn))"},
    {"p0", "PS", "torch.ones(3).requires_grad_()"},
    {"p1", "PS", "torch.ones(3).requires_grad_()"},
    {"l0", "LS", "[torch.ones(3), XS[0]]"},
    {"l1", "LS", "[torch.ones(3), XS[0]]"},
    {"d0", "DS", "{'a': torch.ones(3)}"},
    {"m0", "MS", "Bag(torch.ones(3))"},
    {"m1", "MS", "Bag(torch.ones(3))"},
    {"k0", "KS", "scaler(torch.ones(3))"},
    {"k1", "KS", "scaler(torch.ones(3))"},
};

constexpr const char* kShown =
    "print([show(v) for v in (XS, PS, LS, DS, MS, G, kept, cellread())])\n"
    "print([[a is b for a in (*XS, *PS, G.w, *kept)] for b in (*LS[0], *LS[1], *LS[2], *[m.w for m in MS], "
    "cellread())])\n";

}  // namespace

std::string generate_aliases_program(uint64_t seed) {
  static const Grammar grammar = {kExpressions, kSimple, kCompound, kVariables};
  static const CallsProgram program = {grammar, kPrelude, kPools, kParameters, "", kShown};
  return calls_program(program, seed);
}

}  // namespace tsc::fuzz
