// Programs whose function is called often, with objects of many classes that it looks at, hands on and stores: in some
// calls one object under several names, in others different ones, changed between the calls in everything that is
// reachable (templates.h).
#include "generate.h"
#include "templates.h"

namespace tsc::fuzz {
namespace {

// i int, f float, b bool, t text, l list, d dict, s set, o object, r dataclass, c enum member, e number of some class,
// q deque, a bytes, k function, g anything to iterate over, h anything, n name of an attribute. In capitals: a
// variable; V list of objects, N list of lists, M dict of lists, W iterator.
// clang-format off
const std::map<char, Templates> kExpressions = {
    {'i', {"{I}", "{I}", "1", "0", "len({l})", "{L}[-1]", "2", "3", "-1", "({i} + {i})", "({i} - {i})", "({i} * {i})", "len({d})", "len({s})",
           "len({q})", "len({a})", "{l}[{i}]", "{L}.pop()", "{l}.count({i})", "{d}.get({t}, {i})", "{D}.setdefault({t}, {i})",
           "{D}.pop({t}, {i})", "{d}[{t}]", "{o}.x", "{o}.double", "{O}.total", "type({o}).total", "{o}({i})", "len({o})", "{o}[{i}]",
           "getattr({o}, {n}, {i})", "({i} if {b} else {i})", "{k}({i})", "{K}({i})", "next({W}, {i})", "next({g}, {i})", "sum({g})",
           "max({g}, default={i})", "min({g}, default=0)", "{q}[0]", "{Q}.popleft()", "{Q}.pop()", "{a}[0]", "{r}.a", "{r}.c.a", "{c}.value",
           "{M}[{t}]", "{N}[0][0]", "len({N})", "len({N}[0])", "len({H})", "{H}[0]", "int({H} == {l})", "H2[{i}]", "len(G)", "G[-1]",
           "len(GO.items)", "GO.items[-1]", "cellmaker({i})({i})", "{l}.index({i})", "len({t})", "hash({t}) * 0", "{L}[0]", "{d}[{t}]",
           "int({e})", "len(dict({d}))", "len({O}.table)", "{i} % 3", "len(set({g}))", "{o}.kids[0].x", "len({o}.kids)",
           "id({O}) - id({O}) and 1"}},
    {'b', {"{i} < {i}", "bool({l})", "not {l}", "{L} is {L}", "{O} is {O}", "{i} == {i}", "{l} == {l}", "{o} == {o}", "{i} in {l}", "{O} in {V}",
           "{l} < {l}", "bool({o})", "{i} in {s}", "{t} in {d}", "bool({q})", "bool({a})", "isinstance({H}, list)",
           "isinstance({H}, (dict, set))", "{H} is {H}", "{H} == {H}", "bool({H})", "{H} is H2", "{L} is G", "{L} is {O}.items",
           "{c} is Color.RED", "{c} == {c}", "{r} == {r}", "{s} <= {s}", "{s} == {s}", "{d} == {d}", "hasattr({O}, {n})", "{D} is {D}",
           "{q} == {q}", "{t} == {t}", "{i} in {o}", "{b} and {b}", "{b} or {b}", "not {b}", "any({g})", "type({H}) is Items", "{K} is {K}",
           "{O}.flag", "G is GO.items", "{N}[0] is {N}[-1]", "{L} in {N}", "{e} in {l}", "isinstance({t}, Name)"}},
    {'t', {"{T}", "'a'", "'b'", "'ab'", "str({i})", "{t} + {t}", "{t}[:1]", "type({H}).__name__", "type({o}).__name__", "repr({l})",
           "'-'.join(sorted({d}))", "{c}.name", "f\"{{{i}}}\"", "Name({t})", "{t}.shout()", "repr({r})", "str({c})", "{t}.upper()",
           "next(iter({d}))", "{O}.label"}},
    {'l', {"{L}", "{L}", "[]", "[{i}]", "[{i}, {i}]", "list({g})", "{l} + {l}", "{l}[1:]", "{l}[-2:]", "{L}.copy()", "[v for v in {g}]",
           "sorted({g})", "{O}.items", "G", "Items({l})", "{N}[0]", "{N}[-1]", "list({d}.values())", "list(H2)", "[{i}] * ({i} % 4)", "GO.items",
           "list({a})", "list({q})", "[{k}(v) for v in {l}]", "{o}.kids and {o}.kids[0].items or {l}", "cellread()", "{M}.setdefault({t}, {l})",
           "[*{g}]"}},
    {'d', {"{D}", "{D}", "{O}.table", "{{}}", "{{{t}: {i}}}", "dict({d})", "{D}.copy()", "Table({d})", "{d} | {d}", "{{**{d}}}",
           "{{str(v): v for v in {g}}}", "defaultdict(int, {d})"}},
    {'s', {"{S}", "{S}", "{{{i}}}", "set({g})", "{s} | {s}", "{s} - {s}", "frozenset({g})", "Bag({g})"}},
    {'o', {"{O}", "{O}", "{V}[0]", "{V}[-1]", "Thing({i})", "Boxed({i}, {l})", "Sub({i})", "{o}.twin()", "GO", "{o} + {i}"}},
    {'r', {"{R}", "{R}", "Rec({i}, {i})", "Rec({i}, {i}, {r})", "replace({R}, a={i})", "Frozen({i})"}},
    {'c', {"{C}", "Color.RED", "Color.BLUE", "Color({i})", "Color['RED']", "Level.LOW", "Level.HIGH"}},
    {'e', {"{i}", "Level.LOW", "Level.HIGH", "True", "Number({i})"}},
    {'q', {"{Q}", "{Q}", "deque({l})", "deque({g}, maxlen=3)", "{Q}.copy()"}},
    {'a', {"{A}", "{A}", "bytearray({t}.encode())", "bytes({A})", "{a}[:2]", "bytearray(3)", "{A} + {A}"}},
    {'k', {"{K}", "{K}", "abs", "(lambda v: -v)", "adder({i})", "(lambda v, w={i}: v + w)", "cellmaker({i})", "{O}.scaled", "partial(plus, {i})",
           "appender({l})", "method({o})"}},
    {'g', {"{l}", "{L}", "{q}", "{d}.values()", "{s}", "range({i} % 5)", "iter({l})", "(v + 1 for v in {l})", "numbers({i} % 4)", "{o}",
           "map({k}, {l})", "filter(None, {l})", "reversed({l})", "{a}", "zip_sum({l})", "{V} and [v.x for v in {V}]", "careful({l})",
           "enumerate({l}) and {l}"}},
    {'n', {"'x'", "'late'", "'items'", "'none'", "'double'", "'flag'"}},
    {'f', {"0.5", "float({i})", "{i} / 2", "{i} / {i}", "1e300 * {i}", "-0.0", "{o}.x * 0.5"}},
    {'h', {"{H}", "{H}", "{L}", "Items({l})", "Table({d})", "Bag({g})", "{d}", "{s}", "{q}", "{a}", "bytes({a})", "None", "{o}", "{r}", "{c}",
           "{t}", "{i}", "range({i} % 4)", "{k}", "({l}, {i})", "(v for v in {l})", "iter({l})", "{e}", "H2", "kept", "object"}},
};
const Templates kSimple = {
    "{I} = {i}", "{I} += {i}", "{L}.append({i})", "{L}.append({i})", "{L} += {g}", "{L} = {l}", "{L}.extend({g})", "{L}.insert(0, {i})",
    "{L}.sort()", "{L}.reverse()", "{L}.clear()", "{L}[{i}] = {i}", "{L}[-1] = {i}", "{L}[-1] += {i}", "del {L}[0]", "del {L}[-1]",
    "{L}.remove({i})", "{L}[:1] = {g}", "{L} *= 2; del {L}[5:]", "{D}[{t}] = {i}", "{D}[{t}] += {i}", "{D}.update({d})", "del {D}[{t}]",
    "{D} = {d}", "{D}.clear()", "{D}.popitem()", "{S}.add({i})", "{S}.discard({i})", "{S} |= set({g})", "{S} = set({s})",
    "{Q}.append({i})", "{Q}.appendleft({i})", "{Q}.rotate(1)", "{Q}.extend({l})", "{A}.append({i} % 256)", "{A}[0] = {i} % 256",
    "{A} += {A}[:2]", "{A}.extend({l})", "{A}[:1] = {a}", "{O}.x = {i}", "{O}.x += {i}", "{O}.items = {l}", "{O}.items.append({i})",
    "{O}.late = {i}", "del {O}.late", "{O}.double = {i}", "{O}.kids.append({o})", "{O}.kids.clear()", "{O}.table = {d}",
    "{O}.table[{t}] = {i}", "{O} = {o}", "type({O}).total += 1", "Thing.total = {i}", "{O}.total = {i}", "setattr({O}, {n}, {i})", "{O}.__dict__[{n}] = {i}", "{O}.__dict__ = {o}.__dict__",
    "{O}[{i}] = {i}", "{O} += {i}", "{O}.hook = {k}", "out.append({O}.hook({i}))", "del {O}.hook", "{V}.append({O}); del {V}[3:]",
    "{V}.reverse()", "{V}[0] = {o}", "{M}[{t}] = {l}", "{M}[{t}].append({i})", "{M}.setdefault({t}, []).append({i})",
    "{N}.append({L}); del {N}[:-3]", "{N}[0].append({i})", "{N}[0] = {l}", "{N}.reverse()", "{R}.a = {i}", "{R}.b += {i}", "{R}.c = {r}",
    "{R} = {r}", "{C} = {c}", "{T} = {t}", "{T} += {t}", "{K} = {k}", "{H} = {h}", "{H}.append({i})", "{H}.late = {i}", "{H}.add({i})",
    "{H}[{i}] = {i}", "H2.append({i})", "H2 = {h}", "G.append({i})", "G = {l}", "GO = {o}", "GO.items = {l}", "GO.items.append({i})",
    "G.pop()", "G.clear()", "out.append({i})", "out.append({i})", "out.append({b})", "out.append({b})", "out.append({l})",
    "out.append({t})", "out.append(list({g}))", "out.append(dict({d}))", "out.append(sorted({s}))", "out.append({h})",
    "out.append(({l}, {l}))", "out.append(repr({r}))", "out.append({c})", "out.append(show({o}))", "out.append(bytes({a}))",
    "out.append({k}({i}))", "out.append({K})", "out.append({O})", "print({i}, {t})", "print({l}, {b})", "{W} = iter({l})",
    "{W} = numbers({i} % 5)", "{W} = careful({l})", "out.append(next({W}, {i}))", "for v in {W}:\n    out.append(v)\n    break\n",
    "assert {b}", "raise KeyError({i})", "kept.append({L}); del kept[:-2]", "kept.append({h}); del kept[:-2]", "out.append(kept[-1])",
    "out.append(kept[-1] is {L})", "memo[{t}] = {h}", "out.append(memo.get({t}))", "{I}, *{L} = {l}", "{L}, {L} = {L}, {L}",
    "{O}, {O} = {O}, {O}", "{I}, {I} = {I}, {I}", "cellpush({i})", "cellset({l})", "out.append({o}.scaled({i}))", "{W}.close()",
    "global_late({i})", "out.append({L}.append)", "out.append([*map({k}, {g})])", "return {i}", "return {l}, out", "{O}.flag = {b}",
    "del {O}.x", "{O}.x = {f}", "{I} = {f}", "out.append({f})", "{L}.append({f})", "{D}[{t}] = {f}"};
const Templates kCompound = {
    "if {b}:{:}", "if {b}:{:}else:{:}", "if {l}:{:}else:{:}", "for {I} in {g}:\n    if spent():\n        break{:}",
    "for {I} in {L}:\n    if spent():\n        break{:}", "for name, {I} in {d}.items():\n    if spent():\n        break{:}",
    "for {O} in {V}:{:}", "for one in {N}:\n    one.append({i})\n    del one[4:]{:}",
    "for step, {I} in enumerate({g}):\n    if spent():\n        break{:}", "for {I}, step in zip({g}, {g}):{:}",
    "try:{:}except (IndexError, KeyError) as error:\n    out.append(type(error).__name__)\n{:}",
    "try:{:}except Exception as error:\n    out.append(str(error))\n", "try:{:}finally:{:}", "with {O}:{:}",
    "while not spent() and ({b}):{:}",
    "def inner(v):\n    nonlocal {I}\n    {I} += v\n    return {I} + {i}\nout.append([inner({i}), inner({i})])\n",
    "def inner(v, w={i}):\n    return v + w + len({L})\n{L}.append({i})\nout.append(inner({i}))\n{K} = inner\n",
    "def inner(v):\n    {L}.append(v)\n    return {i}\n{K} = inner\nout.append(inner({i}))\n",
    "def walk(v):\n    for w in {g}:\n        yield w\n    {L}.append(v)\n{W} = walk({i})\nout.append(next({W}, {i}))\n",
    "match {h}:\n    case [a, b]:\n        out.append(a)\n    case {{\"a\": a}}:\n        out.append(a)\n    case Rec(a, b):\n        out.append(b)\n    case Thing(x=a):\n        out.append(a)\n    case Color.RED:\n        out.append(\"red\")\n    case _:\n        out.append(\"other\")\n",
    "if {H} is not None:{:}"};
const std::map<char, std::vector<const char*>> kVariables = {
    {'I', {"i0", "i1", "n"}},
    {'L', {"l0", "l1", "l2"}},
    {'D', {"d0", "d1"}},
    {'S', {"s0"}},
    {'T', {"t0", "t1"}},
    {'O', {"o0", "o1"}},
    {'V', {"v0"}},
    {'R', {"r0", "r1"}},
    {'C', {"c0"}},
    {'Q', {"q0"}},
    {'A', {"a0"}},
    {'K', {"k0", "k1"}},
    {'H', {"h0", "h1"}},
    {'N', {"n0"}},
    {'M', {"m0"}},
    {'W', {"w0"}},
};
// clang-format on

constexpr const char* kPrelude = R"(import torch
from collections import deque, defaultdict
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum
from functools import partial
class Items(list):
    def first(self): return self[0] if self else None
class Table(dict):
    def __missing__(self, key): return len(key)
class Bag(set):
    pass
class Name(str):
    def shout(self): return self.upper() + '!'
class Number(int):
    def __add__(self, other): return Number(int(self) + other + 1)
class Color(Enum):
    RED = 1
    BLUE = 2
class Level(IntEnum):
    LOW = 1
    HIGH = 3
@dataclass
class Rec:
    a: int
    b: int = 0
    c: object = None
@dataclass(frozen=True)
class Frozen:
    a: int
    b: int = 4
class Thing:
    total = 0
    flag = False
    label = 'thing'
    def __init__(self, x):
        self.x, self.items, self.table, self.kids = x, [x], {'a': x}, []
    @property
    def double(self): return self.x * 2
    @double.setter
    def double(self, v): self.x = v // 2
    def twin(self): return type(self)(self.x)
    def scaled(self, v): return v * 2 + self.x
    def __call__(self, v):
        self.x += 1
        return self.x + v
    def __add__(self, v): return type(self)(self.x + v)
    def __enter__(self):
        self.items.append(self.x)
        return self
    def __exit__(self, kind, error, trace):
        self.items.append(0 if kind is None else 1)
        return kind is KeyError
    def __repr__(self): return f'{type(self).__name__}({self.x}, {self.items})'
class Sub(Thing):
    total = 5
    def scaled(self, v): return super().scaled(v) + 1
    def __bool__(self): return self.x % 2 == 0
class Boxed(Thing):
    label = 'boxed'
    def __init__(self, x, items=(1, 2)):
        super().__init__(x)
        self.items = list(items)
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __getitem__(self, i): return self.items[i]
    def __setitem__(self, key, value): self.items[key] = value
    def __contains__(self, v): return v == self.x or v in self.items
    def __eq__(self, other): return isinstance(other, Boxed) and self.x == other.x
    def __hash__(self): return hash(self.x)
    def __iadd__(self, v):
        self.items.append(v)
        return self
    def __getattr__(self, name):
        if name == 'none': return -1
        raise AttributeError(name)
budget = [0]
kept, memo, memo2 = [], {}, []
G = [1]
GO = Thing(4)
H2 = [5]
def name_of(error): return type(error).__name__
def spent():
    budget[0] -= 1
    return budget[0] < 0
def plus(a, b): return a + b
def adder(a): return lambda v: v + a
def method(o): return o.scaled
def numbers(n):
    for v in range(n): yield v * v
def careful(l):
    try:
        for v in l: yield v
    finally:
        memo2.append('left')
def zip_sum(l): return (a - b for a, b in zip(l, reversed(l)))
def cellmaker(c):
    l = [c]
    def run(v):
        nonlocal c
        c += v
        l.append(c)
        del l[3:]
        return c + len(l) + l[-1]
    return run
def appender(l):
    def run(v):
        l.append(v)
        return len(l)
    return run
def cells():
    inside = [1]
    def read(): return inside
    def push(v): inside.append(v)
    def put(l):
        nonlocal inside
        inside = l
    return read, push, put
cellread, cellpush, cellset = cells()
def global_late(v):
    global late
    late = v
def show(v, depth=0):
    if depth > 4: return '...'
    if isinstance(v, Thing):
        return [type(v).__name__, *[(k, show(getattr(v, k, None), depth + 1)) for k in ('x', 'items', 'table', 'kids', 'late', 'total', 'flag')]]
    if isinstance(v, (list, tuple, deque)): return (type(v).__name__, [show(w, depth + 1) for w in v])
    if isinstance(v, dict): return (type(v).__name__, [(show(k), show(w, depth + 1)) for k, w in v.items()])
    if isinstance(v, (set, frozenset)): return (type(v).__name__, sorted([str(w) for w in v]))
    if isinstance(v, (str, int, float, bytes, bytearray, Rec, Frozen)) or v is None: return (type(v).__name__, repr(v))
    return type(v).__name__
def trim():
    budget[0] = 12
    for l in [*LS, *NS, *VS, *[o.items for o in OS], G, GO.items, H2, cellread(), kept]:
        if isinstance(l, list): del l[5:]
    for o in OS: 
        if isinstance(o.kids, list): del o.kids[1:]
    for t in AS: del t[6:]
    for q in QS:
        while len(q) > 5: q.pop()
    for d in [*DS, *MS, memo]:
        if isinstance(d, dict):
            while len(d) > 4: d.popitem()
    for s in SS:
        while len(s) > 5: s.pop()
)";

constexpr const char* kPools = R"(LS = [[3, 1, 2], [1], [], Items([4, 5])]
LS.append(LS[0])
DS = [{'a': 1, 'b': 2}, {}, Table({'a': 7})]
SS = [{1, 2}, set(), Bag([3])]
TS = ['ab', 'b', Name('a')]
OS = [Thing(2), Boxed(3), Sub(4), Boxed(3, [7])]
OS[0].kids.append(OS[1])
VS = [[OS[0], OS[1]], [OS[2]], []]
RS = [Rec(1, 2), Rec(3), Rec(1, 2, Rec(5))]
CS = [Color.RED, Color.BLUE, Level.LOW]
QS = [deque([1, 2]), deque()]
AS = [bytearray(b'ab'), bytearray()]
KS = [adder(1), adder(2), cellmaker(1), cellmaker(5), appender(LS[0]), OS[0].scaled, abs]
HS = [LS[0], LS[3], DS[2], SS[2], b'xy', None, OS[0], RS[0], QS[0], range(3), 'q', 5, Color.BLUE]
NS = [[LS[0], LS[1]], [[9]], [LS[3], LS[3]]]
MS = [{'a': LS[0]}, {}, {'b': [1]}]
WS = [iter(LS[0]), numbers(5), careful(LS[1]), iter({})]
)";

const std::vector<Parameter> kParameters = {
    {"i0", nullptr, nullptr},
    {"i1", nullptr, nullptr},
    {"l0", "LS", "list(range(turn % 4))"},
    {"l1", "LS", "list(range(turn % 4))"},
    {"l2", "LS", "list(range(turn % 4))"},
    {"d0", "DS", "{'a': turn}"},
    {"d1", "DS", "{'a': turn}"},
    {"s0", "SS", "{turn}"},
    {"t0", "TS", "str(turn)"},
    {"t1", "TS", "str(turn)"},
    {"o0", "OS", "Thing(turn)"},
    {"o1", "OS", "Thing(turn)"},
    {"v0", "VS", "[Thing(turn), Boxed(1)]"},
    {"r0", "RS", "Rec(turn, 1)"},
    {"r1", "RS", "Rec(turn, 1)"},
    {"c0", "CS", "Color.RED"},
    {"q0", "QS", "deque([turn])"},
    {"a0", "AS", "bytearray([turn])"},
    {"k0", "KS", "cellmaker(turn)"},
    {"k1", "KS", "cellmaker(turn)"},
    {"h0", "HS", "Items([turn])"},
    {"h1", "HS", "Items([turn])"},
    {"n0", "NS", "[[turn], [1]]"},
    {"m0", "MS", "{'a': [turn]}"},
    {"w0", "WS", "careful([turn, 1, 2])"},
};

constexpr const char* kShown =
    "print([show(v) for v in (LS, DS, SS, OS, VS, RS, QS, AS, KS, NS, MS, G, GO, H2, kept, memo, Thing.total, "
    "cellread())])\n"
    "print([[a is b for a in (*LS, G, GO.items, H2, *kept)] for b in (*LS, *HS)])\n";

}  // namespace

std::string generate_objects_program(uint64_t seed) {
  static const Grammar grammar = {kExpressions, kSimple, kCompound, kVariables};
  static const CallsProgram program = {grammar, kPrelude, kPools, kParameters, "global G, GO, H2\n", kShown};
  return calls_program(program, seed);
}

}  // namespace tsc::fuzz
