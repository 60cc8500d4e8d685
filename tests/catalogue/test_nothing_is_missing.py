"""Every window kind and every aggregate has a row in the tables, and every row has all that it needs."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from docs.windows.panel import told
from docs.windows.pictures import HERE
from muntin import aggregates, windows
from tests.catalogue.aggregates import CARRYING, NO_STATES, ROWS, Row
from tests.catalogue.kinds import KINDS, POLICIES, Kind
from tests.end_to_end.judge.arrivals import ARRIVALS

ROOT = HERE.parents[1]


def functions(module: ModuleType) -> set[str]:
    """The public functions."""
    return {name for name in module.__all__ if inspect.isfunction(getattr(module, name))}


COMMON = {"Adjacent", "Carrying", "Gapless", "Plain", "Window", "WithHoles"}
"""Classes that assign windows, and are the common part of kinds or wrap a kind."""


def classes_of_windows() -> set[type]:
    """The classes behind the kinds."""
    modules = [import_module(each.name) for each in walk_packages(windows.__path__, "muntin.windows.")]
    classes = {each for module in modules for each in vars(module).values() if inspect.isclass(each) and hasattr(each, "assign")}
    return {each for each in classes if each.__module__.startswith("muntin.windows.") and each.__name__ not in COMMON}


def missing_rows() -> Iterator[str]:
    for name in sorted(functions(aggregates) - NO_STATES - {row.name for row in (*ROWS, *CARRYING)}):
        yield f"muntin.aggregates.{name} has no row: add one to ROWS in tests/catalogue/aggregates.py"
    for name in sorted(functions(windows) - POLICIES - {kind.name for kind in KINDS}):
        yield f"muntin.windows.{name} has no row: add one to KINDS in tests/catalogue/kinds.py"
    for each in sorted(classes_of_windows() - {each for kind in KINDS for each in kind.makes}, key=str):
        yield f"muntin.windows.{each.__name__} is in no row: add it to `makes` of its row in tests/catalogue/kinds.py"


def missing_of_aggregate(row: Row) -> Iterator[str]:
    if row.oracle is None:
        yield f"{row.call} has no oracle: write one in tests/oracle and name it in the row in tests/catalogue/aggregates.py"
    if not row.types:
        yield f"{row.call} has no types: say in tests/catalogue/aggregates.py with which the laws are tried"


def missing_of_kind(kind: Kind) -> Iterator[str]:
    if not kind.calls:
        yield f"{kind.name} has no oracle: write one in tests/oracle and name it in `calls` of the row in tests/catalogue/kinds.py"
    by_arrival = kind.window.made_of.by_arrival
    if not (kind.arrivals if by_arrival else kind.draws):
        yield f"{kind.name} has no random windows: add `{'arrivals' if by_arrival else 'draws'}` to the row in tests/catalogue/kinds.py"
    if by_arrival and not any(isinstance(asked.ours, kind.makes) for asked in ARRIVALS.values()):
        yield f"{kind.name} is not judged: add windows to ARRIVALS in tests/end_to_end/judge/arrivals.py"
    if not by_arrival and not kind.judged:
        yield f"{kind.name} is not judged: add windows to `judged` of the row in tests/catalogue/kinds.py"
    if not kind.picture:
        yield f"{kind.name} has no picture: add panels to `picture` of the row in tests/catalogue/kinds.py"
    if not kind.questions:
        yield f"{kind.name} answers no question: add `questions` to the row in tests/catalogue/kinds.py"
    for file in (f"{kind.page}.md", f"{kind.page}.svg"):
        if not (HERE / file).exists():
            yield f"{kind.name} lacks docs/windows/{file}: {'write the page' if file.endswith('md') else 'python -m docs.windows.pictures'}"
        elif file.endswith("md"):
            yield from missing_on_the_page(kind, (HERE / file).read_text(encoding="utf-8"))


def missing_on_the_page(kind: Kind, page: str) -> Iterator[str]:
    if f"]({kind.page}.svg)" not in page:
        yield f"docs/windows/{kind.page}.md does not show its picture: write ![what it shows]({kind.page}.svg)"
    for panel in kind.picture:
        text = "\n".join(["```text", *told(panel), "```"])
        if text not in page:
            yield f"docs/windows/{kind.page}.md lacks the text of its picture: write below it\n{text}"
    if not any(f"{kind.name}(" in block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)):
        yield f"docs/windows/{kind.page}.md has no example: write a block of ```python with windows.{kind.name}(...)"


def missing_in_the_changelog() -> Iterator[str]:
    named = set(re.findall(r"`(\w+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")))
    for name in sorted((functions(windows) | functions(aggregates)) - named):
        yield f"{name} is not in CHANGELOG.md: say there what it is for"


def test_every_kind_and_every_aggregate_is_in_the_tables() -> None:
    rows = [said for row in (*ROWS, *CARRYING) for said in missing_of_aggregate(row)] + [
        said for kind in KINDS for said in missing_of_kind(kind)
    ]
    missing = [*missing_rows(), *rows, *missing_in_the_changelog()]
    assert not missing, "\n" + "\n".join(missing)


def test_what_a_page_lacks_is_named() -> None:
    kind = next(each for each in KINDS if each.name == "cumulating")
    missing = [*missing_on_the_page(kind, "# Cumulating windows\n")]
    assert [said.partition(".md ")[2].partition(":")[0] for said in missing] == [
        "does not show its picture",
        *["lacks the text of its picture"] * len(kind.picture),
        "has no example",
    ]
