"""What every built-in function and method makes of arguments of every type."""

SHOW = '''def show(text, make):
    try:
        value = make()
    except Exception as error:
        print(text, "!!", type(error).__name__, error)
        return
    if hasattr(value, "__next__"):
        print(text, "->", "iterator over", list(value))
    elif isinstance(value, set):
        print(text, "->", "set of", sorted(value, key=repr))
    else:
        print(text, "->", repr(value))


'''

VALUES = """[0, 5, -3, 2.5, -0.5, True, None, "", "7", "ab", "x y", b"", b"q", [], [3, 1, 2], (4, 5), {}, {"k": 1},
          range(3), ..., int, print, slice(1)]"""
# Sets have their own table: their order is not Python's.
ONE_ARGUMENT = """abs all any ascii bin bool bytes callable chr dict enumerate float frozenset hex int iter len list
                  max min next oct ord repr reversed round set sorted str sum tuple type""".split()
CONTAINER_ORDER_FREE = {"set", "frozenset"}

ARGUMENTS = """[None, 1, -1, 2.5, True, "a", "", "ab", b"a", [], ["a", "b"], (), ("a",), {}, {"a": 1}, range(2), int]"""

RECEIVERS = {
    "str": '"banana split"', "bytes": 'b"banana split"', "list": "[3, 1, 2, 1]", "tuple": "(3, 1, 2, 1)",
    "dict": '{"a": 1, "b": 2}', "set": "{1, 2, 3}", "int": "42", "float": "2.5", "range": "range(1, 10, 2)",
}
METHODS = {
    "str": """capitalize casefold center count encode endswith expandtabs find index isalnum isalpha isdigit isspace
              join ljust lower lstrip partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit
              rstrip split splitlines startswith strip swapcase title translate upper zfill""",
    "bytes": """capitalize center count endswith find index join ljust lower lstrip partition removeprefix
                removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip
                swapcase title upper zfill""",
    "list": "append clear copy count extend index insert pop remove reverse sort __contains__ __getitem__",
    "tuple": "count index __contains__ __getitem__",
    "dict": "clear copy get items keys pop popitem setdefault update values fromkeys __contains__ __getitem__",
    "set": """add clear copy difference difference_update discard intersection intersection_update isdisjoint issubset
              issuperset remove symmetric_difference union update""",
    "int": "bit_length bit_count conjugate as_integer_ratio to_bytes",
    "float": "as_integer_ratio conjugate hex is_integer",
    "range": "count index __contains__ __getitem__",
}

ONE_PROGRAM = SHOW + '''class Iter:
    def __iter__(self):
        return iter((2, 0, 1))

    def __repr__(self):
        return "Iter()"


class Int:
    def __int__(self):
        return 11

    def __float__(self):
        return 1.25

    def __index__(self):
        return 65

    def __len__(self):
        return 2

    def __repr__(self):
        return "Int()"


for value in {values} + [Iter(), Int()]:
    name = type(value).__name__ if type(value) in (Iter, Int) else repr(value)
    show("{function}(" + name + ")", lambda: {call})
'''

METHOD_PROGRAM = SHOW + '''for argument in {arguments}:
    receiver = {receiver}
    show("{method}(" + repr(argument) + ")", lambda: receiver.{method}(argument))
    if receiver != {receiver}:
        print("  now", {shown})
'''
NO_ARGUMENT = '''receiver = {receiver}
show("{method}()", lambda: receiver.{method}())
print("  now", {shown})
'''


def programs():
    """(topic, name, text) of every program."""
    for function in ONE_ARGUMENT:
        call = f"sorted({function}(value), key=repr)" if function in CONTAINER_ORDER_FREE else f"{function}(value)"
        yield "one_argument", function, ONE_PROGRAM.format(function=function, call=call, values=VALUES)
    for kind, methods in METHODS.items():
        for method in methods.split():
            receiver = RECEIVERS[kind]
            shown = "sorted(receiver, key=repr)" if kind == "set" else "receiver"
            parts = METHOD_PROGRAM if method.startswith("__") else METHOD_PROGRAM + NO_ARGUMENT
            text = parts.format(arguments=ARGUMENTS, receiver=receiver, method=method, shown=shown)
            yield f"{kind}_arguments", method.strip("_") if method.startswith("__") else method, text
