"""The whole corpus in one folder: the programs that stand here and those that tables*.py make.

    assemble.py FOLDER      writes what has changed, and removes what is gone

The build does this, so that no program is stored that a table makes.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def files_here():
    """The files of every topic, by their path below this folder."""
    return {path.relative_to(HERE): path.read_bytes() for path in HERE.glob("*/*") if path.suffix in (".tsc", ".txt")}


def assemble(folder):
    """Makes `folder` hold the corpus; files that are as they should be keep their time."""
    import tables
    wanted = files_here()
    for topic, name, text in tables.programs():
        path = pathlib.Path(topic, f"{name}.tsc")
        if path in wanted:
            raise SystemExit(f"tests/conformance/{path} stands in the tree and in a table")
        wanted[path] = text.encode("utf-8")
    folder = pathlib.Path(folder)
    for old in [path for path in folder.glob("*/*") if path.relative_to(folder) not in wanted]:
        old.unlink()
    for path, content in wanted.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_bytes() != content:
            target.write_bytes(content)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(HERE))
    assemble(sys.argv[1])
