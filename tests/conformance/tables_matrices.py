"""Rules that hang on the combination of two things: one program for each combination or for each row."""

EXCEPTIONS = """BaseException Exception ArithmeticError AssertionError AttributeError BufferError EOFError
    FloatingPointError GeneratorExit ImportError ModuleNotFoundError IndexError KeyError KeyboardInterrupt LookupError
    MemoryError NameError NotImplementedError OSError OverflowError RecursionError ReferenceError RuntimeError
    StopAsyncIteration StopIteration SystemError SystemExit TypeError
    UnboundLocalError UnicodeError ValueError ZeroDivisionError BlockingIOError BrokenPipeError ChildProcessError
    ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError FileExistsError
    FileNotFoundError InterruptedError IsADirectoryError NotADirectoryError PermissionError ProcessLookupError
    TimeoutError Warning UserWarning DeprecationWarning RuntimeWarning FutureWarning SyntaxWarning ImportWarning
    UnicodeWarning BytesWarning ResourceWarning PendingDeprecationWarning""".split()

EXCEPTION_PROGRAM = '''print([c.__name__ for c in {name}.__mro__], {name}.__module__, {name}.__name__)
for arguments in ((), ("text",), ("a", 1), (None,), (("t",),), ("it's",), (5,)):
    error = {name}(*arguments)
    print(arguments, "|", str(error), "|", repr(error), "|", error.args)
try:
    raise {name}("raised")
except {base} as error:
    print("caught by {base}:", type(error).__name__, error, error.__cause__, error.__context__)


class Own({name}):
    def __init__(self, code):
        super().__init__("own", code)
        self.code = code


try:
    raise Own(7)
except {name} as error:
    print(error.code, error.args, isinstance(error, {name}), issubclass(Own, {base}))
try:
    {name}("a", unknown=1)
except TypeError as error:
    print(error)
error = {name}("x")
error.note = "attribute"
error.add_note("n")
print(error.note, error.__notes__, error == {name}("x"), error.with_traceback(None) is error)
'''

SLICE_READ = '''value = {value}
step = {step}
for start in (None, -8, -6, -5, -3, -1, 0, 1, 2, 4, 5, 6, 9):
    print(start, [value[start:stop:step] for stop in (None, -8, -6, -5, -2, -1, 0, 1, 3, 5, 6, 9)])
'''
SLICE_WRITE = '''step = {step}
for start in (None, -8, -3, 0, 2, 5, 9):
    for stop in (None, -8, -2, 0, 3, 5, 9):
        row = []
        for new in ([], ["x"], ["x", "y", "z"], "pq"):
            values = [0, 1, 2, 3, 4]
            try:
                values[start:stop:step] = new
                row.append(values)
            except ValueError as error:
                row.append(str(error))
        values = [0, 1, 2, 3, 4]
        del values[start:stop:step]
        print(start, stop, row, values)
'''
SLICED = {
    "list": "[0, 1, 2, 3, 4]", "tuple": "(0, 1, 2, 3, 4)", "str": '"abcde"', "unicode": '"aé€😀e"',
    "bytes": 'b"abcde"', "range": "range(10, 20, 2)",
}

INT_VALUES = "[0, 1, -1, 2, -2, 3, 7, -7, 10, 63, 100, -100, 12345, -98765, 2 ** 31, -(2 ** 31)]"
FLOAT_VALUES = """[0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.7, 1e10, -1e-10, 1e300, 5e-324, float("inf"), float("-inf"),
          float("nan")]"""
NUMBER_PROGRAM = '''left_values = {left}
right_values = {right}
for a in left_values:
    row = []
    for b in right_values:
        try:
            row.append({expression})
        except (ZeroDivisionError, ValueError, TypeError) as error:
            row.append(type(error).__name__)
        except OverflowError:
            row.append("overflow")
    print(a, row)
'''
NUMBER_OPERATORS = {
    "add": "a + b", "subtract": "a - b", "multiply": "a * b", "divide": "a / b", "floor_divide": "a // b",
    "modulo": "a % b", "divmod": "divmod(a, b)", "less": "a < b", "less_equal": "a <= b", "equal": "a == b",
}
INT_OPERATORS = {
    "and": "a & b", "or": "a | b", "xor": "a ^ b", "shift_left": "a << b if -1 <= b < 20 else None",
    "shift_right": "a >> b", "power": "a ** b if abs(a) < 11 and -3 < b < 11 else None",
    "round": "round(a, b) if -6 < b < 3 else None", "bit_length": "(a.bit_length(), (a ^ b).bit_count())",
    "pow_mod": "pow(a, abs(b) % 50, 97)", "min_max": "(min(a, b), max(a, b))",
}

TEXTS = '["", "a", "ab", "aba", " a b ", "a,b,,c", ",a,", "aXbXc", "abcabc", "\\\\t\\\\n", "ééa", "A-b_C"]'
NEEDLES = '["a", "b", ",", "X", "ab", " ", "é", "abc", "-", "zz"]'
PAIR_PROGRAM = '''for text in {texts}:
    row = []
    for piece in {needles}:
        try:
            row.append({expression})
        except ValueError as error:
            row.append(str(error))
    print(repr(text), row)
'''
PAIR_METHODS = {
    "find": "text.find(piece)", "rfind": "text.rfind(piece)", "count": "text.count(piece)",
    "split": "text.split(piece)", "rsplit": "text.rsplit(piece, 1)", "split_once": "text.split(piece, 1)",
    "partition": "text.partition(piece)", "rpartition": "text.rpartition(piece)",
    "replace": 'text.replace(piece, {q}<>{q})', "replace_once": 'text.replace(piece, {q}{q}, 1)',
    "strip": "text.strip(piece)", "lstrip": "text.lstrip(piece)", "rstrip": "text.rstrip(piece)",
    "startswith": "text.startswith(piece)", "endswith": "text.endswith(piece)", "contains": "piece in text",
    "join": "piece.join([text, text])", "removeprefix": "text.removeprefix(piece)",
    "removesuffix": "text.removesuffix(piece)", "index": "text.index(piece)", "rindex": "text.rindex(piece)",
    "compare": "(text < piece, text == piece, text >= piece)", "concatenate": "text + piece * 2",
    "find_range": "text.find(piece, 1, -1)", "count_range": "text.count(piece, -4, 4)",
}

CHARACTERS = ('["a", "Z", "0", " ", "_", "é", "É", "ß", "ẞ", "ı", "İ", "Σ", "ς", "σ", "ﬁ", "Ǆ", "ǅ", "ǆ", "ŉ", "²", "½", "Ⅷ", '
              '"٣", "五", "日", "あ", "ア", "한", "😀", "\\u0301", "\\u200d", "\\xa0", "\\u2003", "\\u2028", "\\x1c", "\\x7f", '
              '"\\xad", "ª", "ⓐ", "Ⓐ", "ა", "Ა", "Ꭰ", "ꭰ", "𝐀", "𝟘", "א", "ไ", "क", "்"]')
UNICODE_METHODS = """upper lower title capitalize casefold swapcase isalpha isdigit isdecimal isnumeric isalnum isspace
    isupper islower istitle isprintable isidentifier isascii strip""".split()
UNICODE_PROGRAM = '''for c in {characters}:
    print(ascii(c), ascii(c.{method}()), ascii(("a" + c + "B").{method}()))
'''

GENERATORS = {
    "plain": "    x = yield 1\n    print('got', x)\n    y = yield 2\n    print('then', y)\n    return 'end'\n",
    "finally": "    try:\n        x = yield 1\n        print('got', x)\n        yield 2\n    finally:\n        print('cleanup')\n",
    "except_value": "    try:\n        x = yield 1\n        print('got', x)\n    except ValueError as e:\n"
                    "        print('caught', e)\n        yield 'recovered'\n    yield 'last'\n",
    "except_all": "    while True:\n        try:\n            x = yield 'loop'\n            print('got', x)\n"
                  "        except Exception as e:\n            print('caught', repr(e))\n            if str(e) == 'stop': return 'stopped'\n",
    "delegate": "    r = yield from inner()\n    print('inner returned', r)\n    yield 'outer'\n",
    "delegate_list": "    yield from [10, 20]\n    yield 30\n",
    "nested_try": "    try:\n        try:\n            yield 1\n        finally:\n            print('inner finally')\n"
                  "            yield 'from finally'\n    except Exception as e:\n        print('outer', repr(e))\n        yield 'handled'\n",
    "context": "    with Manager():\n        x = yield 1\n        print('got', x)\n        yield 2\n",
}
ACTIONS = {
    "exhaust": ["next(g)"] * 5, "send": ["next(g)", "g.send('s1')", "g.send('s2')", "g.send('s3')"],
    "send_first": ["g.send('early')", "g.send(None)", "g.send(5)"],
    "throw_value": ["next(g)", "g.throw(ValueError('v'))", "next(g)", "next(g)"],
    "throw_key": ["next(g)", "g.throw(KeyError('k'))", "next(g)"],
    "throw_stop": ["next(g)", "g.throw(ValueError('stop'))", "next(g)"],
    "throw_fresh": ["g.throw(ValueError('fresh'))", "next(g)"],
    "close": ["next(g)", "g.close()", "next(g)", "g.close()"],
    "close_fresh": ["g.close()", "next(g)"],
    "throw_exit": ["next(g)", "g.throw(GeneratorExit)", "next(g)"],
}
GENERATOR_PROGRAM = '''class Manager:
    def __enter__(self):
        print("enter")

    def __exit__(self, kind, value, traceback):
        print("exit", kind.__name__ if kind else None)
        return kind is ValueError


def inner():
    try:
        x = yield "inner 1"
        print("inner got", x)
        yield "inner 2"
    finally:
        print("inner done")
    return "inner value"


def gen():
{body}

g = gen()
'''
GENERATOR_ACTION = '''try:
    print("{action}", "->", {action})
except BaseException as error:
    print("{action}", "!!", type(error).__name__, error.args)
'''

TRY_ENDS = {"fall": "pass", "raise": "raise KeyError('{where}')", "return": "return '{where}'", "break": "break",
            "continue": "continue"}
TRY_PROGRAM = '''def f(fail):
    log = []
    for i in range(2):
        try:
            log.append("try")
            if fail:
                raise ValueError("body")
            {body}
        except ValueError as error:
            log.append("except")
            {handler}
        else:
            log.append("else")
        finally:
            log.append("finally")
            print(log)
            {final}
        log.append("after")
    else:
        log.append("loop else")
    return log


for fail in (False, True):
    try:
        print("result", f(fail))
    except Exception as error:
        print(type(error).__name__, error, "context", repr(error.__context__))
'''

SIGNATURES = {
    "none": "", "one": "a", "two": "a, b", "default": "a, b=2", "defaults": "a=1, b=2", "varargs": "*args",
    "one_varargs": "a, *args", "kwargs": "**kw", "everything": "a, b=2, *args, c, d=4, **kw",
    "keyword_only": "*, a, b=2", "positional_only": "a, b=2, /", "mixed": "a, /, b, *, c=3",
    "args_and_keyword": "*args, k=0",
}
CALLS = ["", "1", "1, 2", "1, 2, 3", "a=1", "b=1", "a=1, b=2", "1, b=5", "1, a=5", "c=3", "1, 2, c=3", "*[1, 2]", "*[1], b=2",
         "**{'a': 1}", "1, **{'b': 2}", "k=5", "1, 2, 3, 4, k=5", "*(), **{}", "a=1, b=2, c=3, d=4", "1, c=3, d=4, e=5",
         "*range(3), c=1", "**{'c': 1, 'a': 2}", "1, *[2], c=3, **{'z': 4}"]
CALL_PROGRAM = '''def f({signature}):
    return sorted(locals().items())


class C:
    def m(self{method_signature}):
        return sorted((k, v) for k, v in locals().items() if k != "self")


def show(text, make):
    try:
        print(text, "->", make())
    except TypeError as error:
        print(text, "!!", error)


'''

ATTRIBUTES = {
    "instance_attribute": ("class A: pass", "a.__dict__['x'] = 'own'"),
    "class_attribute": ("class A:\n    x = 'class'", ""),
    "both": ("class A:\n    x = 'class'", "a.__dict__['x'] = 'own'"),
    "property": ("class A:\n    @property\n    def x(self): return 'property'", "a.__dict__['x'] = 'own'"),
    "property_setter": ("class A:\n    @property\n    def x(self): return self._x\n    @x.setter\n    def x(self, v): self._x = ('set', v)", "a._x = 0"),
    "data_descriptor": ("class D:\n    def __get__(s, o, t): return 'data'\n    def __set__(s, o, v): print('set', v)\n    def __delete__(s, o): print('delete')\nclass A:\n    x = D()", "a.__dict__['x'] = 'own'"),
    "non_data_descriptor": ("class D:\n    def __get__(s, o, t): return 'non-data'\nclass A:\n    x = D()", ""),
    "non_data_and_own": ("class D:\n    def __get__(s, o, t): return 'non-data'\nclass A:\n    x = D()", "a.__dict__['x'] = 'own'"),
    "set_only_descriptor": ("class D:\n    def __set__(s, o, v): print('set', v)\nclass A:\n    x = D()", "a.__dict__['x'] = 'own'"),
    "getattr": ("class A:\n    def __getattr__(self, n): return 'missing ' + n", ""),
    "getattr_and_own": ("class A:\n    def __getattr__(self, n): return 'missing ' + n", "a.__dict__['x'] = 'own'"),
    "getattribute": ("class A:\n    def __getattribute__(self, n): return 'all ' + n if n == 'x' else object.__getattribute__(self, n)", ""),
    "setattr": ("class A:\n    def __setattr__(self, n, v): print('setattr', n, v)", ""),
    "delattr": ("class A:\n    def __delattr__(self, n): print('delattr', n)", "a.__dict__['x'] = 'own'"),
    "slots": ("class A:\n    __slots__ = ('x',)", "a.x = 'slot'"),
    "slots_unset": ("class A:\n    __slots__ = ('x',)", ""),
    "slots_other": ("class A:\n    __slots__ = ('y',)", ""),
    "inherited": ("class B:\n    x = 'base'\nclass A(B): pass", ""),
    "overridden": ("class B:\n    x = 'base'\nclass A(B):\n    x = 'derived'", ""),
    "method": ("class A:\n    def x(self): return 'called'", ""),
    "classmethod": ("class A:\n    @classmethod\n    def x(cls): return cls.__name__", ""),
    "staticmethod": ("class A:\n    @staticmethod\n    def x(): return 'static'", ""),
    "lambda_on_instance": ("class A: pass", "a.x = lambda: 'instance lambda'"),
    "nothing": ("class A: pass", ""),
}
ATTRIBUTE_PROGRAM = '''{definition}


def show(text, make):
    try:
        value = make()
        print(text, "->", value() if callable(value) and not isinstance(value, type) else value)
    except (AttributeError, TypeError) as error:
        print(text, "!!", type(error).__name__, error)


def assign(o, v):
    o.x = v


def delete(o):
    del o.x


def get(o):
    return o.x


a = A()
{setup}
for _ in range(3):
    show("get", lambda: get(a))
show("class get", lambda: A.x if isinstance(A.x, str) else type(A.x).__name__)
show("hasattr", lambda: hasattr(a, "x"))
show("getattr default", lambda: getattr(a, "x", "default"))
show("set", lambda: assign(a, "new"))
show("get after set", lambda: get(a))
show("delete", lambda: delete(a))
show("get after delete", lambda: get(a))
show("delete again", lambda: delete(a))
show("class set", lambda: assign(A, "on class"))
show("get after class set", lambda: get(a))
show("fresh instance", lambda: get(A()))
show("class delete", lambda: delete(A))
show("get after class delete", lambda: get(a))
'''

PATTERNS = {
    "literal_int": "1", "literal_str": "'a'", "none": "None", "true": "True", "wildcard": "_", "capture": "x",
    "or_literals": "1 | 'a' | None", "empty_sequence": "[]", "one_item": "[x]", "two_items": "[x, y]",
    "star_first": "[*x, y]", "star_last": "[x, *y]", "star_middle": "[x, *_, y]", "tuple_pattern": "(1, x)",
    "nested_sequence": "[[x], *_]", "empty_mapping": "{}", "mapping_key": "{'k': x}", "mapping_rest": "{'k': 1, **x}",
    "class_int": "int()", "class_capture": "int(x)", "class_str": "str() as x", "class_list": "list([x, *_])",
    "class_keyword": "Point(x=x)", "class_positional": "Point(1, x)", "as_pattern": "[1, _] as x",
    "guard_true": "x if x == 1", "value_pattern": "Names.ONE", "float_literal": "1.0", "negative": "-1",
    "bytes_literal": "b'a'", "or_capture": "[x] | [_, x]", "bool_class": "bool(x)", "dict_class": "dict(x)",
    "deep": "{'k': [Point(x=1, y=x), *_]}",
}
MATCH_PROGRAM = '''class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Point({{self.x}}, {{self.y}})"


class Names:
    ONE = 1


def f(subject):
    x = y = "unbound"
    match subject:
        case {pattern}:
            return "match", x, y
        case other:
            return "no"


subjects = [0, 1, -1, True, False, None, 1.0, 2.5, "", "a", "ab", b"a", [], [1], [1, 2], [1, 2, 3], [[1], 2], (), (1,), (1, 2),
            {{}}, {{"k": 1}}, {{"k": 1, "j": 2}}, {{"k": [Point(1, 9)]}}, {{1}}, range(2), Point(1, 2), Point(3, 4), int, "1"]
for subject in subjects:
    try:
        print(repr(subject), f(subject))
    except TypeError as error:
        print(repr(subject), "!!", error)
'''


def indented(text, spaces):
    return text.replace("\n", "\n" + " " * spaces)


def matrix_programs():
    for name in EXCEPTIONS:
        base = "Exception" if name not in ("BaseException", "GeneratorExit", "KeyboardInterrupt", "SystemExit") else "BaseException"
        yield "exception_classes", name, EXCEPTION_PROGRAM.format(name=name, base=base)
    for kind, value in SLICED.items():
        for step in (None, 1, 2, 3, -1, -2, -3):
            label = "none" if step is None else str(step).replace("-", "minus_")
            yield "slice_matrix", f"{kind}_{label}", SLICE_READ.format(value=value, step=step)
    for step in (None, 1, 2, 3, -1, -2, -3):
        label = "none" if step is None else str(step).replace("-", "minus_")
        yield "slice_matrix", f"assign_{label}", SLICE_WRITE.format(step=step)
    for name, expression in NUMBER_OPERATORS.items():
        for kind, left, right in (("int", INT_VALUES, INT_VALUES), ("float", FLOAT_VALUES, FLOAT_VALUES),
                                  ("int_float", INT_VALUES, FLOAT_VALUES), ("float_int", FLOAT_VALUES, INT_VALUES)):
            text = NUMBER_PROGRAM.format(left=left, right=right, expression=expression)
            yield "number_matrix", f"{kind}_{name}", text
    for name, expression in INT_OPERATORS.items():
        yield "number_matrix", f"int_{name}", NUMBER_PROGRAM.format(left=INT_VALUES, right=INT_VALUES, expression=expression)
    for name, expression in PAIR_METHODS.items():
        yield "text_pairs", name, PAIR_PROGRAM.format(texts=TEXTS, needles=NEEDLES, expression=expression.format(q='"'))
        as_bytes = [t.replace("é", "e").replace('"', 'b"', 1) for t in (TEXTS, NEEDLES)]
        as_bytes = [t.replace(', "', ', b"') for t in as_bytes]
        expression = expression.replace("{q}<>{q}", 'b"<>"').replace("{q}{q}", 'b""')
        yield "bytes_pairs", name, PAIR_PROGRAM.format(texts=as_bytes[0], needles=as_bytes[1], expression=expression)
    for method in UNICODE_METHODS:
        yield "unicode", method, UNICODE_PROGRAM.format(characters=CHARACTERS, method=method)


def control_programs():
    for body, text in GENERATORS.items():
        for action, steps in ACTIONS.items():
            lines = "".join(GENERATOR_ACTION.format(action=step) for step in steps)
            yield "generator_protocol", f"{body}_{action}", GENERATOR_PROGRAM.format(body=text) + lines
    for body, body_text in TRY_ENDS.items():
        for handler, handler_text in TRY_ENDS.items():
            for final, final_text in TRY_ENDS.items():
                if final != "fall" and body != "fall" and handler != "fall":
                    continue  # the finally decides alone
                parts = dict(body=body_text.format(where="body"), handler=handler_text.format(where="handler"),
                             final=final_text.format(where="finally"))
                yield "try_matrix", f"{body}_{handler}_{final}", TRY_PROGRAM.format(**parts)
    for name, signature in SIGNATURES.items():
        method = ", " + signature if signature else ""
        text = CALL_PROGRAM.format(signature=signature, method_signature=method)
        for call in CALLS:
            text += f"show({'f(' + call + ')'!r}, lambda: f({call}))\n"
            text += f"show({'C().m(' + call + ')'!r}, lambda: C().m({call}))\n"
        yield "call_matrix", name, text
    for name, (definition, setup) in ATTRIBUTES.items():
        yield "attribute_matrix", name, ATTRIBUTE_PROGRAM.format(definition=definition, setup=setup)
    for name, pattern in PATTERNS.items():
        text = MATCH_PROGRAM.format(pattern=pattern)
        if pattern in ("_", "x"):
            text = text.replace("        case other:\n            return \"no\"\n", "")
        yield "match_matrix", name, text


def programs():
    """(topic, name, text) of every program."""
    yield from matrix_programs()
    yield from control_programs()
