"""Operators and protocols: one program for each operator, or for each built-in that iterates."""

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^",
}
COMPARE = {"lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">="}
MIRROR = {"lt": "gt", "le": "ge", "eq": "eq", "ne": "ne", "gt": "lt", "ge": "le"}

VALUES = """[1, 2.5, True, None, "s", b"b", [1], (1,), {"k": 1}, {1}, range(2), len, int, ...]"""

DUNDER = '''class Left:
    def __{name}__(self, other):
        if other == "decline":
            return NotImplemented
        return ("Left", other if isinstance(other, (int, str)) else type(other).__name__)


class Right:
    def __r{name}__(self, other):
        return ("Right", other if isinstance(other, (int, str)) else type(other).__name__)


class Both(Left):
    def __{name}__(self, other):
        return "Both"

    def __r{name}__(self, other):
        return "rBoth"


class Declines:
    def __{name}__(self, other):
        return NotImplemented

    def __r{name}__(self, other):
        return NotImplemented


print(Left() {op} 5)
print(5 {op} Right())
print(Left() {op} Right())
print(Declines() {op} Right())
print(Left() {op} Both())
print(Both() {op} Left())
for make in (lambda: Left() {op} "decline", lambda: 5 {op} Left(), lambda: Right() {op} 5,
             lambda: Declines() {op} Declines(), lambda: Declines() {op} 1, lambda: 1 {op} Declines()):
    try:
        print(make())
    except TypeError as error:
        print(error)
x = Left()
x {op}= 3
print(x)
'''

IN_PLACE = '''class Own:
    def __init__(self):
        self.log = []

    def __i{name}__(self, other):
        self.log.append(other)
        return self


class Declines:
    def __i{name}__(self, other):
        return NotImplemented

    def __{name}__(self, other):
        return ("plain", other)


class Replaces:
    def __i{name}__(self, other):
        return [other]


a = b = Own()
a {op}= 1
a {op}= "x"
print(a.log, a is b)
d = Declines()
d {op}= 2
print(d)
r = Replaces()
r {op}= 3
print(r)
holder = {{"k": Own()}}
holder["k"] {op}= 4
print(holder["k"].log)


class Box:
    item = Own()


box = Box()
box.item {op}= 5
print(box.item.log, "item" in vars(box))
try:
    n = None
    n {op}= 1
except TypeError as error:
    print(error)
'''

MATRIX = '''values = {values}
for left in values:
    for right in values:
        try:
            result = left {op} right
        except (TypeError, ValueError, ZeroDivisionError) as error:
            if type(left) in (int, str, list, type(None)) or type(right) in (int, list):
                print(type(left).__name__, type(right).__name__, "!!", type(error).__name__, error)
        else:
            print(type(left).__name__, type(right).__name__, "->", repr(result))
'''

COMPARISON = '''class A:
    def __init__(self, v):
        self.v = v

    def __{name}__(self, other):
        if not isinstance(other, A):
            return NotImplemented
        print("A.__{name}__", self.v, other.v)
        return self.v {op} other.v


class B(A):
    def __{mirror}__(self, other):
        print("B.__{mirror}__")
        return "from B"


class Text:
    def __{name}__(self, other):
        return "not a bool"


print(A(1) {op} A(2), A(2) {op} A(1), A(1) {op} A(1))
print(A(1) {op} B(2))
print(Text() {op} 3, bool(Text() {op} 3), not Text() {op} 3)
for make in (lambda: A(1) {op} 5, lambda: 5 {op} A(1), lambda: object() {op} 1, lambda: Text() {op} Text()):
    try:
        print(make())
    except TypeError as error:
        print(error)
print([1, "a"] {op} [1, "a"], (1, 2) {op} (1, 3), "a" {op} "b", 1 {op} 1.0, {{1}} {op} {{1, 2}})
print([0, 1] {op} [0], [] {op} [0], () {op} (), "" {op} "a", True {op} 1)
'''

CONSUMERS = {
    "list": "list(IT)", "tuple": "tuple(IT)", "set": "sorted(set(IT))", "sum": "sum(IT)",
    "max": "max(IT)", "min": "min(IT)", "any": "any(IT)", "all": "all(IT)", "sorted": "sorted(IT)",
    "zip": "list(zip(IT, 'abcd'))", "map": "list(map(str, IT))", "filter": "list(filter(None, IT))",
    "enumerate": "list(enumerate(IT))", "join": "'-'.join(str(v) for v in IT)",
    "unpack": "unpack(IT)", "star_call": "print_args(*IT)", "star_list": "[*IT, 'end']",
    "membership": "2 in IT", "dict_fromkeys": "dict.fromkeys(IT)", "extend": "extended(IT)",
    "comprehension": "[v * 2 for v in IT]", "for_loop": "loop(IT)", "dict_comprehension": "{v: v for v in IT}",
    "generator": "list(v + 1 for v in IT)", "slice_assign": "assigned(IT)", "bytes": "bytes(IT)",
    "frozenset": "sorted(frozenset(IT))", "yield_from": "list(through(IT))", "nested_zip": "list(zip(IT, IT2))",
    "set_update": "updated(IT)",
}

CONSUMER = '''class Iterator:
    def __init__(self, values, fail_at=None):
        self.values, self.i, self.fail_at = values, 0, fail_at

    def __iter__(self):
        return self

    def __next__(self):
        if self.i == self.fail_at:
            raise ValueError(f"failed at {{self.i}}")
        if self.i >= len(self.values):
            raise StopIteration
        self.i += 1
        return self.values[self.i - 1]


class Sequence:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, i):
        return self.values[i]


class Iterable:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        yield from self.values


def unpack(it):
    a, b, c = it
    return c, b, a


def print_args(*args):
    return args


def extended(it):
    l = [0]
    l.extend(it)
    return l


def loop(it):
    out = []
    for v in it:
        out.append(v)
    return out


def assigned(it):
    l = [7, 8, 9]
    l[1:2] = it
    return l


def through(it):
    yield from it


def updated(it):
    s = {{5}}
    s.update(it)
    return sorted(s)


for make in (lambda: [1, 2, 3], lambda: (1, 2, 3), lambda: Iterator([1, 2, 3]), lambda: Sequence([1, 2, 3]),
             lambda: Iterable((1, 2, 3)), lambda: range(1, 4), lambda: {{1: "a", 2: "b", 3: "c"}}, lambda: iter([1, 2, 3]),
             lambda: (v for v in (1, 2, 3)), lambda: Iterator([1, 2, 3], fail_at=2), lambda: Iterator([], fail_at=0),
             lambda: None, lambda: 5, lambda: [1, 2, 3][::-1], lambda: bytearray_or_bytes):
    bytearray_or_bytes = b"\\x01\\x02\\x03"
    IT, IT2 = make(), [4, 5, 6]
    try:
        print({expression})
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
'''


def programs():
    """(topic, name, text) of every program."""
    for name, op in BINARY.items():
        yield "operators", f"dunder_{name}", DUNDER.format(name=name, op=op)
        yield "operators", f"in_place_{name}", IN_PLACE.format(name=name, op=op)
        yield "operators", f"matrix_{name}", MATRIX.format(values=VALUES, op=op)
    for name, op in COMPARE.items():
        text = COMPARISON.format(name=name, op=op, mirror=MIRROR[name])
        yield "operators", f"compare_{name}", text
        yield "operators", f"matrix_{name}", MATRIX.format(values=VALUES, op=op)
    for name, expression in CONSUMERS.items():
        yield "iteration", name, CONSUMER.format(expression=expression)
