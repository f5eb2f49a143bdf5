"""Expected output of the conformance corpus, produced by CPython 3.11.

    make.py             compares the tree's expected.txt files with what CPython prints now
    make.py --write     writes them
    make.py --write classes match    only these topics

Every folder here is a topic, every .tsc file in it one program, and tables*.py make more of them (assemble.py). A topic's expected.txt holds the
output of its programs, one after the other, each below a line `=== NAME`. A program that ends with
an exception has a last line `!!! Type: message`. What changed within 3.11 is left as it is by an older one,
for programs with a line like `# CPython 3.11.7 or later`. Exits with 0 when nothing differs, 1 when
something does, 77 (skipped) when this is no CPython 3.11.
"""
import os
import pathlib
import re
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent


def run_here(program):
    """Runs a program in this process, as __main__, and ends the process."""
    import types
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    main.__dict__["__file__"] = program.name
    sys.argv = [program.name]
    sys.path[0] = str(program.parent)
    os.chdir(program.parent)
    code = 0
    try:
        exec(compile(program.read_text(encoding="utf-8"), program.name, "exec"), main.__dict__)
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException as error:
        sys.stdout.flush()
        last = traceback.format_exception_only(type(error), error)
        text = last[-1] if isinstance(error, SyntaxError) else last[0]
        print("!!! " + text.rstrip("\n"))
    sys.stdout.flush()
    os._exit(code)


def output_of(program):
    """What the program prints under this Python, from a child process of its own."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        os.dup2(write_end, 1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        sys.stdout = open(1, "w", encoding="utf-8", errors="surrogatepass", newline="\n", closefd=False)
        run_here(program)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        text = pipe.read().decode("utf-8", "surrogatepass")
    os.waitpid(child, 0)
    return text if not text or text.endswith("\n") else text + "\n\\ no line break at the end\n"


def is_newer(program):
    """Whether the program is about a later Python than this one."""
    found = re.search(r"^# CPython 3\.11\.(\d+) or later", program.read_text(encoding="utf-8"), re.MULTILINE)
    return bool(found) and sys.version_info[2] < int(found[1])


def expected_text(topic, old):
    """The topic's expected.txt; `old` is what it holds now."""
    before = dict(part.split("\n", 1) for part in re.split(r"^=== ", old, flags=re.MULTILINE)[1:])
    parts = []
    for program in sorted(topic.glob("*.tsc")):
        keep = is_newer(program) and program.stem in before
        parts.append(f"=== {program.stem}\n{before[program.stem] if keep else output_of(program)}")
    return "".join(parts)


def main():
    if sys.implementation.name != "cpython" or sys.version_info[:2] != (3, 11):
        print("skipped: the expected output is CPython 3.11's, this is", sys.version.split()[0])
        return 77
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    write = "--write" in sys.argv[1:]
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(HERE))
    import assemble
    with tempfile.TemporaryDirectory() as folder:
        assemble.assemble(folder)
        programs, different = compare(pathlib.Path(folder), arguments, write)
    print(programs, "programs")
    return 1 if different and not write else 0


def compare(corpus, topics, write):
    """How many programs there are, and how many topics' expected.txt are not what CPython prints."""
    programs = different = 0
    for topic in sorted(corpus.iterdir()):
        if topics and topic.name not in topics:
            continue
        programs += len(list(topic.glob("*.tsc")))
        file = HERE / topic.name / "expected.txt"
        old = file.read_text(encoding="utf-8") if file.exists() else ""
        text = expected_text(topic, old)
        if text == old:
            continue
        different += 1
        print(("wrote " if write else "differs: ") + str(file.relative_to(HERE)))
        if write:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
    return programs, different


if __name__ == "__main__":
    sys.exit(main())
