"""No two folders of the package import each other at run time, imports inside functions included."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import muntin

PACKAGE = Path(muntin.__file__).parent
MOST_FILES = 25


def modules() -> dict[str, Path]:
    """Dotted name -> file; a folder goes by its own name."""
    files = [file for file in PACKAGE.rglob("*.py") if "templates" not in file.parts]
    return {".".join(("muntin", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): file for file in files}


def imported(tree: ast.AST) -> Iterator[str]:
    """What a file imports at run time: `a.b` and `a.b.c` of `from a.b import c`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        yield from imported(node)


def arrows() -> dict[str, dict[str, str]]:
    """Folder -> the folders that its files import, each with one such import. The face, `muntin` itself, imports on demand."""
    known = modules()
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for name, file in known.items():
        here = name if file.name == "__init__.py" else name.rpartition(".")[0]
        for target in imported(ast.parse(file.read_text(encoding="utf-8"))):
            module = target if target in known else target.rpartition(".")[0]
            if module in known:
                there = module if known[module].name == "__init__.py" else module.rpartition(".")[0]
                if "muntin" not in (here, there) and not is_within(here, there) and not is_within(there, here):
                    found[here].setdefault(there, f"{name} -> {module}")
    return found


def is_within(folder: str, other: str) -> bool:
    """Whether a folder is another, or lies in it: then both are one package."""
    return f"{folder}.".startswith(f"{other}.")


def reached(start: str, found: dict[str, dict[str, str]]) -> set[str]:
    seen, todo = set[str](), [start]
    while todo:
        for there in found.get(todo.pop(), {}):
            if there not in seen:
                seen.add(there)
                todo.append(there)
    return seen


def test_no_folder_is_reached_from_itself() -> None:
    found = arrows()
    assert len(found) > 30
    circles = {(here, there): why for here, all_ in found.items() for there, why in all_.items() if here in reached(there, found)}
    assert not circles


def test_no_folder_is_a_heap() -> None:
    counted = {folder: len([*folder.glob("*.py")]) for folder in {file.parent for file in modules().values()}}
    assert not {folder: count for folder, count in counted.items() if count > MOST_FILES}
