"""Programs made from tables: one program for each row group, each about one method or rule.

A table is a topic, and in it for each program a list of expressions. The program prints every
expression with its value, or with the type and text of the exception. `write` makes the files.
"""
import tables_text
import tables_numbers
import tables_containers
import tables_operators
import tables_arguments
import tables_matrices
import tables_more
import tables_dunders

PROLOGUE = '''def show(text, make):
    try:
        print(text, "->", repr(make()))
    except Exception as error:
        print(text, "!!", type(error).__name__, error)


'''


def program(setup, expressions):
    lines = [PROLOGUE]
    if setup:
        lines.append(setup.strip("\n") + "\n\n")
    for text in expressions:
        lines.append(f"show({text!r}, lambda: {text})\n")
    return "".join(lines)


def write(folder):
    """Writes every table's programs below `folder` and removes nothing."""
    for module in (tables_text, tables_numbers, tables_containers):
        for topic, programs in module.TABLES.items():
            target = folder / topic
            target.mkdir(exist_ok=True)
            for name, rows in programs.items():
                setup, expressions = rows if isinstance(rows, tuple) else ("", rows)
                if isinstance(expressions, str):
                    expressions = [line.strip() for line in expressions.strip().split("\n")]
                (target / f"{name}.tsc").write_text(program(setup, expressions), encoding="utf-8")
    for topic, name, text in [*tables_operators.programs(), *tables_arguments.programs(),
                              *tables_matrices.programs(), *tables_more.programs(),
                              *tables_dunders.programs()]:
        (folder / topic).mkdir(exist_ok=True)
        (folder / topic / f"{name}.tsc").write_text(text, encoding="utf-8")
