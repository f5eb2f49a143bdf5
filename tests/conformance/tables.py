"""Programs made from tables: one program for each row group, each about one method or rule.

A table is a topic, and in it for each program a list of expressions. The program prints every
expression with its value, or with the type and text of the exception. assemble.py writes them where the tests
run them.
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


def programs():
    """Every program of the tables: topic, name, text."""
    for module in (tables_text, tables_numbers, tables_containers):
        for topic, named in module.TABLES.items():
            for name, rows in named.items():
                setup, expressions = rows if isinstance(rows, tuple) else ("", rows)
                if isinstance(expressions, str):
                    expressions = [line.strip() for line in expressions.strip().split("\n")]
                yield topic, name, program(setup, expressions)
    for module in (tables_operators, tables_arguments, tables_matrices, tables_more, tables_dunders):
        yield from module.programs()
