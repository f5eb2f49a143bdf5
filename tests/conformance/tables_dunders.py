"""Operator methods called by their names: what they give, decline or refuse, type by type."""

PROGRAM = '''def shown(value):
    if isinstance(value, (set, frozenset)):
        return f"{{type(value).__name__}} {{sorted(value, key=repr)}}"
    return repr(value)


names = {names}
others = [3, 1.5, True, "x", b"x", [2], (2,), {{3: 4}}, {{2}}, frozenset({{5}}), None, range(2), slice(1)]
for name in names:
    for other in others:
        value = {value}
        method = getattr(value, name, None)
        if method is None:
            print(name, "none")
            break
        try:
            result = method(other)
            print(name, shown(other), "->", shown(result), shown(value) if name.startswith("__i") else "")
        except Exception as error:
            print(name, shown(other), "!!", type(error).__name__, error)
'''
VALUES = {
    "int": "5", "zero": "0", "float": "2.5", "bool": "True", "str": "'ab'", "bytes": "b'ab'", "list": "[1, 2]", "tuple": "(1, 2)",
    "dict": "{1: 2}", "set": "{1, 2}", "frozenset": "frozenset({2, 5})", "none": "None", "range": "range(3)", "slice": "slice(1, 2)",
    "object": "object()", "keys": "{1: 2}.keys()", "items": "{1: 2}.items()",
}
GROUPS = {
    "arithmetic": ["__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__pow__", "__divmod__", "__matmul__"],
    "reflected": ["__radd__", "__rsub__", "__rmul__", "__rtruediv__", "__rfloordiv__", "__rmod__", "__rpow__", "__rdivmod__"],
    "bits": ["__and__", "__or__", "__xor__", "__lshift__", "__rshift__", "__rand__", "__ror__", "__rxor__", "__rlshift__", "__rrshift__"],
    "order": ["__lt__", "__le__", "__eq__", "__ne__", "__gt__", "__ge__"],
    "in_place": ["__iadd__", "__isub__", "__imul__", "__iand__", "__ior__", "__ixor__", "__itruediv__"],
}
UNARY = '''names = ("__neg__", "__pos__", "__invert__", "__abs__", "__len__", "__int__", "__float__", "__index__", "__round__",
         "__trunc__", "__floor__", "__ceil__", "__hash__", "__repr__", "__str__", "__iter__", "__contains__")
value = {value}
for name in names:
    method = getattr(value, name, None)
    if method is None:
        print(name, "none")
        continue
    try:
        result = method(2) if name == "__contains__" else method()
        print(name, type(result).__name__ if name in ("__hash__", "__iter__") or "object at" in repr(result) else repr(result))
    except Exception as error:
        print(name, "!!", type(error).__name__, error)
'''
# Where a name is missing in one type and inherited in the other only by the way it is made.
LEFT_OUT = {("unary", "slice"), ("unary", "object"), ("unary", "none"), ("unary", "items"), ("unary", "keys"), ("unary", "str")}


def programs():
    for type_name, value in VALUES.items():
        for group, names in GROUPS.items():
            yield "dunders", f"{type_name}_{group}", PROGRAM.format(names=names, value=value)
        if ("unary", type_name) not in LEFT_OUT:
            yield "dunders", f"{type_name}_unary", UNARY.format(value=value)
