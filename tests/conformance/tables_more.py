"""Formatting of every presentation type, sequences of container operations, equality and types of everything."""

FORMAT_PROGRAM = '''values = {values}
fills = ("", "<", ">", "^", "=", "*^", "0=", "é<")
signs = ("", "+", " ", "-")
rest = ("", "12", "012", "#", "#012", ",", "_", "014,", ".0", ".3", "12.2", "#.3", ",.2", "z.1", "020_.4")
n = {start}
for fill in fills:
    for sign in signs:
        for _ in range(3):
            n += 1
            spec = fill + sign + rest[n * 7 % len(rest)] + "{kind}"
            value = values[n * 5 % len(values)]
            try:
                print(repr(spec), repr(value), repr(format(value, spec)))
            except (ValueError, TypeError, OverflowError) as error:
                print(repr(spec), repr(value), type(error).__name__, error)
'''
FORMAT_VALUES = {
    "int": "[0, 7, -7, 65, 255, 1234567, -98765]",
    "float": "[0.0, -0.0, 3.14159, -2.5, 1e20, 1e-7, 123456.789, float('inf'), float('nan')]",
    "str": "['', 'a', 'text', 'é€', 'long text here']", "bool": "[True, False]",
}
FORMAT_KINDS = {"int": ["", *"bcdeEfFgGoxX%ns"], "float": ["", *"eEfFgG%ndx"], "str": ["", "s", "d"], "bool": ["", "d", "x", "s"]}

PERCENT_PROGRAM = '''values = {values}
flags = ("", "-", "+", " ", "0", "#", "-+", "+0", "#0", " 0")
sizes = ("", "8", "12", ".0", ".2", "10.3", ".8")
n = 0
for flag in flags:
    for size in sizes:
        n += 1
        spec = "%" + flag + size + "{kind}|"
        value = values[n * 3 % len(values)]
        try:
            print(spec, repr(value), repr(spec % (value,)))
        except (ValueError, TypeError, OverflowError) as error:
            print(spec, repr(value), type(error).__name__, error)
'''
PERCENT_KINDS = {kind: "[0, 5, -5, 3.7, -0.5, 255, 10 ** 12, 'a', None, True]" for kind in "diuoxXeEfFgGc"}
PERCENT_KINDS.update({kind: "['', 'text', 5, None, 'é', [1], (1, 2), b'x']" for kind in "sra"})

SEQUENCE_HEAD = '''state = {seed}


def rnd(n):
    global state
    state = (state * 1103515245 + 12345) % 2147483648
    return state // 65536 % n


'''
LIST_PROGRAM = SEQUENCE_HEAD + '''values = []
for step in range(60):
    action = rnd(14)
    try:
        if action < 3: values.append(rnd(10))
        elif action == 3: values.insert(rnd(8) - 3, rnd(10))
        elif action == 4: values.pop(rnd(6) - 3)
        elif action == 5: values.remove(rnd(10))
        elif action == 6: values[rnd(5):rnd(8)] = [rnd(10) for _ in range(rnd(4))]
        elif action == 7: del values[rnd(4)::rnd(3) + 1]
        elif action == 8: values.sort(key=lambda v: (v % 3, v), reverse=bool(rnd(2)))
        elif action == 9: values.reverse()
        elif action == 10: values += values[:rnd(4)]
        elif action == 11: print(values.index(rnd(10)), values.count(rnd(10)))
        elif action == 12: values[rnd(6)] = values[-rnd(6) - 1]
        else: values = values * rnd(3) if len(values) < 12 else values[::rnd(4) + 1]
    except (IndexError, ValueError) as error:
        print(step, action, type(error).__name__, error)
    print(step, values)
'''
DICT_PROGRAM = SEQUENCE_HEAD + '''table = {{}}
for step in range(60):
    action, key = rnd(12), "abcdefgh"[rnd(8)]
    try:
        if action < 4: table[key] = rnd(100)
        elif action == 4: print(table.pop(key))
        elif action == 5: del table[key]
        elif action == 6: print(table.setdefault(key, rnd(100)))
        elif action == 7: table.update({{key: 1, "z": 2}}, q=3)
        elif action == 8: print(table.popitem())
        elif action == 9: table |= {{"m": rnd(9)}}
        elif action == 10: table = {{k: v + 1 for k, v in table.items() if v % 2 == 0 or rnd(2)}}
        else: print(table.get(key), key in table, list(reversed(table)), len(table.keys() & {{"a", "b", "z"}}))
    except KeyError as error:
        print(step, action, "KeyError", error)
    print(step, table)
'''
SET_PROGRAM = SEQUENCE_HEAD + '''values = set()
other = {{1, 3, 5, 7}}
for step in range(60):
    action = rnd(12)
    try:
        if action < 4: values.add(rnd(12))
        elif action == 4: values.remove(rnd(12))
        elif action == 5: values.discard(rnd(12))
        elif action == 6: values |= other
        elif action == 7: values -= {{rnd(12), rnd(12)}}
        elif action == 8: values ^= {{rnd(12)}}
        elif action == 9: values &= set(range(rnd(12))) | other
        elif action == 10: other = {{rnd(12) for _ in range(4)}}
        else: print(values <= other, values.isdisjoint(other), values > {{1}}, sorted(values.symmetric_difference(other)))
    except KeyError as error:
        print(step, action, "KeyError", error)
    print(step, sorted(values), len(values))
'''

EVERYTHING = """[0, 1, -1, 1.0, 0.0, 2.5, True, False, None, "", "1", "a", b"", b"a", [], [1], [1.0], (), (1,), ([],), {}, {1: 2},
              {1.0: 2.0}, set(), {1}, frozenset(), frozenset({1}), range(0), range(1), range(1, 1), slice(1), ..., int, bool,
              print, NotImplemented, ValueError]"""
EQUALITY_PROGRAM = '''everything = {everything}
value = {value}
print([other for other in everything if value == other])
print([other for other in everything if other == value])
print([type(other).__name__ for other in everything if value != other].count("int"))
print(value in everything, everything.index(value) if value in everything else None, everything.count(value))
try:
    print({{value: "found"}}.get(value), len({{value, value}}), hash(value) == hash(value))
except TypeError as error:
    print(error)
print(bool(value), type(value).__name__, isinstance(value, (int, str)), isinstance(value, type(value)))
print([t.__name__ for t in (object, int, float, bool, str, bytes, list, tuple, dict, set, frozenset, range, slice, type,
                            type(None), type(print), Exception) if isinstance(value, t)])
for text in (repr(value), str(value), f"{{value}}", f"{{value!r:>12}}", "%s" % (value,), "{{}}".format(value)):
    print(text)
for name in ("__len__", "__iter__", "__getitem__", "__hash__", "__contains__", "__int__"):
    print(name, hasattr(value, name) and getattr(value, name) is not None, end="; ")
print()
'''
EQUALITY = {
    "zero": "0", "one": "1", "minus_one": "-1", "float_one": "1.0", "float_half": "2.5", "true": "True", "false": "False",
    "none": "None", "empty_text": '""', "digit_text": '"1"', "empty_bytes": 'b""', "bytes_a": 'b"a"', "empty_list": "[]",
    "list_one": "[1]", "empty_tuple": "()", "tuple_one": "(1,)", "tuple_of_list": "([],)", "empty_dict": "{}",
    "dict_one": "{1: 2}", "empty_set": "set()", "set_one": "{1}", "frozen_one": "frozenset({1})", "range_none": "range(0)",
    "range_one": "range(1)", "ellipsis": "...", "type_int": "int", "not_implemented": "NotImplemented",
}

TARGETS = {
    "one": "a", "pair": "a, b", "triple": "a, b, c", "list_pair": "[a, b]", "single": "a,", "starred": "*a,", "head_star": "a, *b",
    "star_tail": "*a, b", "middle_star": "a, *b, c", "nested": "a, (b, c)", "nested_star": "a, (b, *c)", "deep": "(a, (b, (c,)))",
    "attribute": "o.a, o.b", "item": "d['a'], d['b']", "mixed": "a, o.b, *d['c']", "index": "l[0], l[1]", "slice": "l[0:1], a",
}
TARGET_PROGRAM = '''class O:
    pass


sources = [[1, 2], (1, 2, 3), "ab", "abc", {{"k": 1, "j": 2}}, range(2), range(3), [1, [2, 3]], [1, [2, [3]]], ([9], 8), [],
           [1], 5, None, "", iter([1, 2]), (x for x in (7, 8, 9)), [[1], [2]], b"xy", {{1}}, ((1, (2, (3,))),)]
for source in sources:
    a = b = c = None
    o, d, l = O(), {{}}, [0, 0]
    name = repr(source) if not hasattr(source, "__next__") else type(source).__name__
    try:
        {target} = source
        print(name, "->", a if not hasattr(a, "__next__") else "iterator", b, c, vars(o), d, l)
    except (ValueError, TypeError) as error:
        print(name, "!!", type(error).__name__, error, "|", vars(o), d, l)
for a in ():
    pass
try:
    for {target} in [[1, 2], [3, [4, 5]], (1, (2, (3,)))]:
        print("loop", a, b, c)
except (ValueError, TypeError) as error:
    print("loop", type(error).__name__, error)
'''

WITH_PROGRAM = '''class Manager:
    def __init__(self, name, swallow):
        self.name, self.swallow = name, swallow

    def __enter__(self):
        print("enter", self.name)
        return self.name

    def __exit__(self, kind, error, traceback):
        print("exit", self.name, kind.__name__ if kind else None, error)
        return self.swallow


def f():
    for i in range(2):
        with Manager("outer", {outer}) as a, Manager("inner", {inner}) as b:
            print("body", i, a, b)
            {body}
            print("not reached?")
        print("after", i)
    return "end"


try:
    print(f())
except Exception as error:
    print(type(error).__name__, error, repr(error.__context__))
'''
WITH_BODIES = {"fall": "pass", "raise": "raise ValueError('body')", "return": "return 'returned'", "break": "break",
               "continue": "continue"}


def programs():
    """(topic, name, text) of every program."""
    for kind, letters in FORMAT_KINDS.items():
        for start, letter in enumerate(letters):
            label = {"": "none", "%": "percent"}.get(letter, letter + "_upper" if letter.isupper() else letter)
            text = FORMAT_PROGRAM.format(values=FORMAT_VALUES[kind], kind=letter, start=start)
            yield "format_matrix", f"{kind}_{label}", text
    for letter, values in PERCENT_KINDS.items():
        label = letter + "_upper" if letter.isupper() else letter
        yield "percent_matrix", label, PERCENT_PROGRAM.format(values=values, kind=letter)
    for seed in range(12):
        for name, text in (("list", LIST_PROGRAM), ("dict", DICT_PROGRAM), ("set", SET_PROGRAM)):
            yield "container_sequences", f"{name}_{seed}", text.format(seed=seed * 7919 + 17)
    for name, value in EQUALITY.items():
        yield "equality", name, EQUALITY_PROGRAM.format(everything=EVERYTHING, value=value)
    for name, target in TARGETS.items():
        yield "targets", name, TARGET_PROGRAM.format(target=target)
    for outer in (True, False):
        for inner in (True, False):
            for body, text in WITH_BODIES.items():
                name = f"{body}_{'swallow' if outer else 'pass'}_{'swallow' if inner else 'pass'}"
                yield "with_matrix", name, WITH_PROGRAM.format(outer=outer, inner=inner, body=text)
