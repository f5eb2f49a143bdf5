"""Makes data/signatures.txt again: the signatures of PyTorch's functions and Tensor methods, from the stubs that are
installed with it: `python tests/golden/signatures.py`.

A line is one way to call one function: its name, then the parameters in order, with their defaults; `*` stands before those
that are keywords only, `*name` takes what is left. Ways to call by names of dims are left out, and deprecated ones.
"""
import ast
import pathlib

import torch

HERE = pathlib.Path(__file__).resolve().parent
STUBS = pathlib.Path(torch.__file__).parent / "_C"


def parameters(function, is_method):
    """The words of one overload, or None for one that is left out."""
    a = function.args
    named = list(a.posonlyargs) + list(a.args)
    if is_method:
        named = named[1:]
    if any(p.arg == "self" for p in named):
        return None  # deprecated orders
    for p in named + a.kwonlyargs:
        kind = ast.unparse(p.annotation) if p.annotation else ""
        if "ellipsis" in kind or "EllipsisType" in kind or "Sequence[str" in kind:
            return None
    words = []
    defaults = [None] * (len(named) - len(a.defaults)) + list(a.defaults)
    for p, default in zip(named, defaults[-len(named):] if named else []):
        words.append(p.arg + ("" if default is None else "=" + ast.unparse(default).replace(" ", "")))
    if a.vararg:
        words.append("*" + a.vararg.arg)
    elif a.kwonlyargs:
        words.append("*")
    for p, default in zip(a.kwonlyargs, a.kw_defaults):
        words.append(p.arg + ("" if default is None else "=" + ast.unparse(default).replace(" ", "")))
    return words


def lines_of(body, prefix, names, is_method):
    found = set()
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name in names and not node.name.startswith("_"):
            words = parameters(node, is_method)
            if words is not None:
                found.add(" ".join([prefix + node.name] + words))
    return found


def main():
    functions = ast.parse((STUBS / "_VariableFunctions.pyi").read_text())
    classes = ast.parse((STUBS / "__init__.pyi").read_text())
    methods = next(n for n in classes.body if isinstance(n, ast.ClassDef) and n.name == "TensorBase")
    lines = lines_of(functions.body, "torch.", set(dir(torch)), False)
    lines |= lines_of(methods.body, "Tensor.", set(dir(torch.Tensor)), True)
    (HERE / "data/signatures.txt").write_text("\n".join(sorted(lines)) + "\n")
    print(len(lines))


main()
