// Programs of plain Python by templates (templates.h).
#include "generate.h"
#include "templates.h"

namespace tsc::fuzz {
namespace {

// i int, f float, b bool, t text, l list of ints, p tuple, d dict of texts to ints, s set of ints, o object, g anything
// to iterate over that gives ints, k function of an int, n name of an attribute. In capitals: a variable.
// clang-format off
const std::map<char, Templates> kExpressions = {
      {'i', {"{I}", "{I}", "0", "1", "2", "3", "-1", "7", "({i} + {i})", "({i} - {i})", "({i} * {i})", "({i} // {i})", "({i} % {i})",
             "len({l})", "len({d})", "len({s})", "len({t})", "sum({g})", "min({g})", "max({g}, default={i})", "max({i}, {i})",
             "{l}[{i}]", "{L}[-1]", "{d}[{t}]", "{d}.get({t}, {i})", "{D}.setdefault({t}, {i})", "{D}.pop({t}, {i})", "{L}.pop()",
             "{l}.index({i})", "{l}.count({i})", "{o}.x", "getattr({o}, {n}, {i})", "{o}({i})", "len({o})", "{o}[{i}]", "int({b})",
             "abs({i})", "({i} if {b} else {i})", "{k}({i})", "next(iter({g}))", "next(iter({g}), {i})", "divmod({i}, {i})[1]",
             "int({f})", "round({f})", "hash({i})", "{t}.count('a')", "{t}.find({t})", "({i} & {i})", "({i} << 1)", "counter()",
             "functools.reduce(lambda a, b: a + b, {g}, {i})", "{p}[0]", "sum(v for v in {g} if v > {i})", "ord('a')"}},
      {'f', {"0.5", "-1.5", "2.0", "float({i})", "({f} + {i})", "({f} * {f})", "({i} / {i})", "{o}.y", "abs({f})", "-0.0"}},
      {'b', {"True", "False", "({i} < {i})", "({i} == {i})", "({i} in {l})", "({t} in {d})", "({i} not in {s})", "not {b}", "({b} and {b})",
             "({b} or {b})", "bool({l})", "bool({o})", "isinstance({o}, Base)", "isinstance({i}, (int, str))", "hasattr({o}, {n})",
             "any({g})", "all(v > {i} for v in {g})", "({l} == {l})", "({o} == {o})", "({o} is {o})", "({l} is {l})", "({l} < {l})", "({t} == {t})",
             "({d} == {d})", "({s} <= {s})", "({p} == {p})", "({i} in {o})", "callable({o})", "{t}.startswith('a')", "({o} in [{o}, {o}])"}},
      {'t', {"{T}", "'a'", "'b'", "'ab'", "''", "str({i})", "({t} + {t})", "{t}.upper()", "'-'.join(sorted({d}))", "f\"{{{i}}}\"", "'%s' % {i}",
             "'{{}}'.format({i})", "repr({l})", "str({o})", "type({o}).__name__", "({t} * 2)", "{t}[:1]", "','.join(str(v) for v in {g})"}},
      {'l', {"{L}", "{L}", "[]", "[{i}]", "[{i}, {i}, {i}]", "list({g})", "sorted({g})", "sorted({g}, reverse={b})", "sorted({g}, key={k})", "({l} + {l})",
             "({l} * 2)", "{l}[{i}:]", "{l}[:{i}]", "{l}[::-1]", "{l}[::2]", "{L}.copy()", "[{i} for v in {g}]", "[v for v in {g} if v > {i}]",
             "[v + w for v, w in zip({g}, {g})]", "[a * b for a, b in enumerate({g})]", "list({d}.values())", "{o}.items", "[*{g}, {i}]",
             "[v for v, w in {d}.items() for v in [w]]", "list(reversed({l}))", "list(range({i} % 5))", "make_list({i})"}},
      {'p', {"{P}", "({i}, {i})", "tuple({l})", "({i}, *{l})", "({p} + {p})", "{p}[1:]", "Point({i}, {i})", "(*{g},)"}},
      {'d', {"{D}", "{D}", "{{}}", "{{{t}: {i}}}", "{{'a': {i}, 'b': {i}}}", "dict({d})", "{{**{d}, {t}: {i}}}", "{{str(v): v for v in {g}}}",
             "dict(zip('abc', {g}))", "{D}.copy()", "({d} | {d})", "dict(a={i})", "{o}.table", "defaultdict(int, {d})", "Counter({t})",
             "dict(Counter({t}))"}},
      {'s', {"{S}", "{{{i}, {i}}}", "set({g})", "({s} | {s})", "({s} & {s})", "({s} - {s})", "({s} ^ {s})", "{s}.union({g})", "frozenset({g})",
             "{{v % 3 for v in {g}}}"}},
      {'o', {"{O}", "{O}", "{O}", "Base({i})", "Derived({i}, {l})", "{o} + {i}", "{o}.twin()"}},
      {'g', {"{l}", "{L}", "{p}", "range({i} % 6)", "{d}.values()", "(v * 2 for v in {l})", "numbers({i} % 4)", "map({k}, {l})", "filter({k}, {l})",
             "{s}", "{o}", "reversed({l})", "iter({l})", "zipped({l})", "itertools.chain({g}, {g})", "itertools.islice({g}, {i} % 5)",
             "itertools.accumulate({g})", "itertools.takewhile(lambda v: v < 5, {g})", "(a - b for a, b in itertools.pairwise({g}))",
             "(a + b for a, b in itertools.zip_longest({g}, {g}, fillvalue=1))", "itertools.filterfalse({k}, {g})", "Counter({g}).elements()",
             "(i * v for i, v in enumerate({g}, {i}))", "(len(list(same)) for _, same in itertools.groupby({g}))"}},
      {'k', {"abs", "(lambda v: -v)", "(lambda v: v % 3)", "(lambda v, w={i}: v + w)", "adder({i})", "{o}.scaled", "functools.partial(plus, {i})", "int"}},
      {'n', {"'x'", "'y'", "'items'", "'none'", "'late'"}},
};

// Simple ones; a suite of them stands in the compound ones, where {:} is.
const Templates kSimple = {
    "{I} = {i}", "{I} += {i}", "{L} = {l}", "{L}.append({i})", "{L}.extend({g})", "{L}.insert({i}, {i})", "{L} += {g}", "{L}.remove({i})", "{L}.sort()",
    "{L}.sort(key={k})", "{L}.reverse()", "{L}.clear()", "{L}[{i}] = {i}", "{L}[{i}:{i}] = {g}", "del {L}[{i}]", "del {L}[:1]", "{D}[{t}] = {i}", "{D} = {d}",
    "del {D}[{t}]", "{D}.update({d})", "{D}.update(a={i})", "{D}.clear()", "{D} |= {d}", "{S}.add({i})", "{S}.discard({i})", "{S} = set({s})", "{S} |= set({g})",
    "{S}.update({g})", "{T} = {t}", "{T} += {t}", "{P} = {p}", "{O} = {o}", "{O}.x = {i}", "{O}.x += {i}", "{O}.items = {l}", "{O}.items.append({i})",
    "{O}.late = {i}", "del {O}.late", "setattr({O}, {n}, {i})", "{O}.__dict__[{n}] = {i}", "vars({O}).update(y={f})", "{O}.__dict__ = {o}.__dict__", "{O}[{t}] = {i}", "{O}.y = {f}", "{I}, {I} = {p}", "{I}, *{L} = {l}", "{L}, {D} = {l}, {d}",
    "out.append({i})", "out.append({b})", "out.append({t})", "out.append({f})", "out.append(list({g}))", "out.append({d})", "out.append({p})", "out.append(sorted({s}))",
    "print({i}, {l})", "print({d}, {t})", "print({o})", "Base.total += {i}", "shared.append({i})", "memo[{i}] = {i}", "assert {b}", "{D}[{t}] += {i}", "walker = zip({g}, {l}); out.append(next(walker, None)); {L} = [a + b for a, b in walker]",
    "kept = defaultdict(list); kept[{t}].append({i}); kept[{t}] += {g}; out.append(kept)", "source = iter({g}); {L} = [*itertools.islice(source, 2)]; out.append(sum(source))", "walker = iter({l}); out.append(next(walker, {i}))"};
const Templates kCompound = {
    "if {b}:{:}", "if {b}:{:}else:{:}", "for {I} in {g}:\n    if spent():\n        break{:}", "for step, {I} in enumerate({g}):\n    if spent():\n        break{:}", "for name, {I} in {d}.items():\n    if spent():\n        break{:}", "for {I}, step in zip({g}, {g}):\n    if spent():\n        break{:}",
    "try:{:}except (IndexError, KeyError) as error:\n    out.append(type(error).__name__)\n{:}", "try:{:}except Exception as error:\n    out.append(repr(error))\n",
    "try:{:}finally:{:}", "with {O}:{:}", "def inner(v):\n    nonlocal {I}\n    {I} += v\n    return {I} + {i}\nout.append([inner({i}), inner({i})])\n",
    "def walk(v):\n    for w in {g}:\n        yield w + v\n    return\n{L} = [w for w in walk({i})]\n", "while not spent() and ({b}):{:}    out.append('round')\n",
    "match {p}:\n    case (a, b):\n        out.append(a)\n    case [*rest]:\n        out.append(len(rest))\n", "for {I} in {g}:{:}    if {b} or spent():\n        break\nelse:{:}"};

const std::map<char, std::vector<const char*>> kVariables = {{'I', {"i0", "i1", "n"}}, {'L', {"l0", "l1"}}, {'D', {"d0", "d1"}}, {'S', {"s0"}},
                                                             {'T', {"t0", "t1"}}, {'P', {"p0"}}, {'O', {"o0", "o1"}}};
// clang-format on

const Grammar& grammar() {
  static const Grammar all = {kExpressions, kSimple, kCompound, kVariables};
  return all;
}

constexpr const char* kPrelude = R"(import functools
import itertools
import torch
from collections import Counter, defaultdict, namedtuple
Point = namedtuple('Point', 'a b')
class Base:
    total = 0
    def __init__(self, x):
        self.x, self.y, self.items, self.table = x, 0.5, [x, 2], {'a': x}
    def twin(self): return type(self)(self.x)
    def scaled(self, v): return v * 2 + self.x % 3
    def __call__(self, v): return self.x + v
    def __add__(self, other): return Base(self.x + other)
    def __enter__(self):
        self.x += 1
        return self
    def __exit__(self, kind, error, trace):
        self.items.append(0 if kind is None else 1)
        return kind is KeyError
    def __repr__(self): return f'{type(self).__name__}({self.x}, {self.items})'
class Derived(Base):
    def __init__(self, x, items=(1, 2)):
        super().__init__(x)
        self.items = list(items)
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __getitem__(self, i): return self.items[i]
    def __setitem__(self, key, value): self.table[key] = value
    def __contains__(self, v): return v == self.x or v in self.items
    def __eq__(self, other): return isinstance(other, Derived) and self.x == other.x
    def __hash__(self): return hash(self.x)
    def __getattr__(self, name):
        if name == 'none': return -1
        raise AttributeError(name)
    @property
    def double(self): return self.x * 2
shared, memo, calls, budget = [], {}, [0], [0]
def name_of(error): return type(error).__name__
def spent():
    budget[0] -= 1
    return budget[0] < 0
def counter():
    calls[0] += 1
    return calls[0]
def plus(a, b): return a + b
def adder(a): return lambda v: v + a
def numbers(n):
    for v in range(n): yield v * v
def make_list(n): return [n, n + 1]
def zipped(l): return (a - b for a, b in zip(l, reversed(l)))
@torch.compile
def f(i0, i1, l0, l1, d0, d1, s0, t0, t1, p0, o0, o1):
    n, out = 0, []
)";

std::string plain_program(uint64_t seed) {
  TemplateText text(grammar(), seed);
  Random& random = text.random;
  std::string program = kPrelude;
  program += indented(text.guarded(4 + random.below(6)));
  program += "    return i0, i1, l0, l1, d0, d1, sorted(s0), t0, p0, n, out\n";
  program +=
      "i0, i1, n, l0, l1, d0, d1, s0 = 1, 2, 0, [3, 1, 2], [1], {'a': 1, 'b': 2}, {}, {1, 2}\n"
      "t0, t1, p0, o0, o1, out = 'ab', 'b', (1, 2), Base(2), Derived(3), []\n";
  program +=
      "for turn in range(4):\n    budget[0] = 12\n    try:\n        print(f(i0 + turn, i1, l0, l1, d0, d1, s0, t0, t1, "
      "p0, o0, o1))\n"
      "    except Exception as error:\n        print(type(error).__name__, error)\n"
      "    print(l0, l1, d0, d1, sorted(s0), o0, o0.x, o1, o1.x, Base.total, shared, memo, calls)\n    out.clear()\n";
  for (size_t i = 1 + random.below(3); i > 0; --i)
    program += "    if turn == " + std::to_string(random.below(3)) + ":\n        try:\n" +
               indented(indented(indented(text.expand(random.pick(grammar().simple), 1)))) +
               "        except Exception as error:\n            print('between', type(error).__name__)\n";
  return program;
}

}  // namespace

std::string generate_python_program(uint64_t seed) {
  switch (seed / 4 % 4) {  // the worlds take turns with each seed
    case 0: return plain_program(seed);
    case 1: return generate_aliases_program(seed);
    default: return generate_objects_program(seed);
  }
}

}  // namespace tsc::fuzz
