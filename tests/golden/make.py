#!/usr/bin/env python3
"""Makes the golden data of this folder again from PyTorch: `./dev goldens [NAME ...]`.

  data/ops.txt     every row of the op table (op_cases.py), read by ops.cpp
  data/NAME.txt    what cases/NAME.tsc prints when PyTorch runs it, read by library.cpp
  conformance/data/NAME.txt    the results of conformance/table_NAME.tsc; asked for as conformance_NAME

Nothing here is needed to run the tests.
"""
import contextlib
import io
import pathlib
import re
import sys
import types

import torch

HERE = pathlib.Path(__file__).resolve().parent
DTYPES = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64",
          torch.int32: "i32", torch.int16: "i16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool",
          torch.complex64: "c64", torch.complex128: "c128"}


def number(value, dtype):
    if dtype.is_complex:  # its two parts, one behind the other
        return " ".join(number(part, dtype.to_real()) for part in (value.real, value.imag))
    if dtype.is_floating_point:
        return f"{value:.17g}" if dtype is torch.float64 else f"{value:.9g}"
    return str(int(value))


def tensor_line(mark, x):
    """`mark dtype sizes : elements`, row-major; no sizes for a scalar."""
    values = x.detach().flatten().tolist()
    sizes = ",".join(str(s) for s in x.shape)
    return f"{mark} {DTYPES[x.dtype]} [{sizes}] " + " ".join(number(v, x.dtype) for v in values)


def scalar_text(value):
    return f"f{value!r}" if isinstance(value, float) else f"i{int(value)}"


def attribute_line(case):
    words = []
    if case.axes is not None:
        words.append("axes=" + ",".join(str(a) for a in case.axes))
    if case.scalars:
        words.append("scalars=" + ",".join(scalar_text(s) for s in case.scalars))
    if case.dtype is not None:
        words.append("dtype=" + DTYPES[case.dtype])
    if case.mode:
        words.append(f"mode={case.mode}")
    return "a " + " ".join(words)


def op_text():
    from op_cases import OPS
    table = (HERE.parent.parent / "runtime/ops/ops.def").read_text()
    rows = re.findall(r"^OP\((\w+),", table, re.M)
    missing = [row for row in rows if row not in OPS]
    if missing:
        sys.exit("op_cases.py has no entry for: " + ", ".join(missing))
    lines = []
    for row in rows:
        for case in OPS[row]():
            lines.append("op " + row)
            lines += [tensor_line("x", x) for x in case.operands]
            lines.append(attribute_line(case))
            lines += [tensor_line("y", y) for y in case.results]
    return "\n".join(lines) + "\n"


def install_module(name, path):
    """A .tsc file that is Python as well."""
    module = types.ModuleType(name)
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    sys.modules[name] = module


def table_text(path):
    """Runs one table of the generated cases with PyTorch."""
    install_module("harness", HERE / "conformance/harness.tsc")
    return library_text(path)


def library_text(path):
    """Runs one file of cases with PyTorch."""
    out = io.StringIO()
    code = compile(path.read_text(), str(path), "exec")
    with contextlib.redirect_stdout(out):
        exec(code, {"__name__": "__main__"})
    return out.getvalue()


def main():
    sys.path.insert(0, str(HERE))
    install_module("golden", HERE / "cases/golden.tsc")
    torch.set_num_threads(1)
    wanted = sys.argv[1:]
    jobs = {"ops": op_text}
    for path in sorted((HERE / "cases").glob("*.tsc")):
        if path.stem != "golden":
            jobs[path.stem] = lambda path=path: library_text(path)
    for path in sorted((HERE / "conformance").glob("table_*.tsc")):
        jobs["conformance_" + path.stem[6:]] = lambda path=path: table_text(path)
    for name, make in jobs.items():
        if wanted and name not in wanted:
            continue
        text = make()
        table = name.removeprefix("conformance_")
        folder = HERE / "data" if table == name else HERE / "conformance/data"
        (folder / f"{table}.txt").write_text(text)
        print(f"{name}: {len(text)} bytes")


main()
