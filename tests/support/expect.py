"""Fills in the `# expect:` comments of language scripts with what CPython prints.

python3 tests/support/expect.py FILE...   rewrites each file: old expectations are dropped; every
top-level statement is run, and what it prints is written beside it (one line) or below it (several).
Only for scripts that use nothing but the language and its standard modules.
"""
import ast
import contextlib
import io
import re
import sys

MARK = re.compile(r"\s*# expect:( .*)?$")


def strip(text):
    lines = []
    for line in text.split("\n"):
        bare = MARK.sub("", line)
        if bare or not line.strip():
            lines.append(bare)
    return "\n".join(lines)


def fill(path):
    source = strip(open(path).read())
    lines = source.split("\n")
    namespace = {"__name__": "__main__"}
    insertions = {}
    for node in ast.parse(source).body:
        output = io.StringIO()
        module = ast.Module([node], [])
        with contextlib.redirect_stdout(output):
            exec(compile(module, path, "exec", dont_inherit=True), namespace)
        printed = output.getvalue().split("\n")[:-1]
        if printed:
            insertions[node.end_lineno] = (node.lineno == node.end_lineno, printed)
    out = []
    for number, line in enumerate(lines, 1):
        single_line, printed = insertions.get(number, (False, []))
        if single_line and len(printed) == 1 and len(line) + len(printed[0]) < 90:
            out.append(f"{line}  # expect: {printed[0]}".rstrip())
            continue
        out.append(line)
        out.extend(f"# expect: {text}".rstrip() for text in printed)
    open(path, "w").write("\n".join(out))


for argument in sys.argv[1:]:
    fill(argument)
