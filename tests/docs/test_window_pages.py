"""The pages of docs/windows: their code runs, every constructor is on one, and the engine does what tables say."""

import doctest
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from docs.windows.panel import NAMES
from muntin import windows
from muntin.testing.oracle import SECOND, Batch
from tests.catalogue.kinds import KINDS, POLICIES
from tests.properties.random_arrivals import DEEP
from tests.properties.test_arrival import ours

FOLDER = Path(__file__).parents[2] / "docs" / "windows"
PAGES = sorted(FOLDER.glob("*.md"))
CONSTRUCTORS = [*(kind.name for kind in KINDS if (FOLDER / f"{kind.page}.md").exists()), *sorted(POLICIES)]


def blocks(page: Path, language: str) -> list[str]:
    """The page's code, piece by piece."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page: Path) -> None:
    names: dict[str, Any] = {}
    for block in blocks(page, "python"):
        exec(compile(block, str(page), "exec"), names)  # noqa: S102 - our own page
    for block in blocks(page, "pycon"):
        shown = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
        assert shown.examples
        assert doctest.DocTestRunner().run(shown).failed == 0


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_every_constructor_is_used_on_a_page(name: str) -> None:
    assert [page.stem for page in PAGES if any(re.search(rf"\b{name}\(", block) for block in blocks(page, "python"))]


def sliding_outputs() -> list[tuple[str, ...]]:
    """The table of the page on windows by arrival: rows, policies, results, incomplete results."""
    table = (FOLDER / "arrival.md").read_text(encoding="utf-8")
    return re.findall(r"^\| ([\d ]+) \| `(by_.*?)`, `(by_.*?)` \| (.*?) \|(.*?)\|$", table, re.MULTILINE)


def sets(text: str) -> list[list[int]]:
    """`{1,2} {3}` as numbers."""
    return [[int(value) for value in each.split(",")] for each in re.findall(r"{(.*?)}", text)]


@pytest.mark.parametrize(("values", "evict", "trigger", "results", "more"), sliding_outputs())
def test_the_engine_gives_what_the_table_of_sliding_windows_says(values: str, evict: str, trigger: str, results: str, more: str) -> None:
    came = [(int(value), DEEP + int(value) * SECOND if "by_time" in evict + trigger else DEEP) for value in values.split()]
    rows = [{"t": at, "k": "a", "v": value, "x": 0.0, "s": "", "a": when, "file": ""} for at, (value, when) in enumerate(came)]
    for incomplete, wanted in ((False, sets(results)), (True, sets(more) + sets(results))):
        policies = [eval(said, NAMES) for said in (evict, trigger)]  # noqa: S307 - our own page
        window = windows.arrival(policies[0], trigger=policies[1], incomplete=incomplete)
        found = ours(window, (Batch(DEEP, DEEP + 20 * SECOND, rows),))
        fired = [values for _, values in sorted(found.items()) if values[0] == 0]
        assert [(n, total) for _, _, _, n, _, total, *_ in fired] == [(len(each), sum(each)) for each in wanted]


def sorted_outputs() -> list[tuple[str, ...]]:
    """The table of the page on progressive sort: rows, call, what comes out, what `flush=True` adds."""
    table = (FOLDER / "progressive-sort.md").read_text(encoding="utf-8")
    return re.findall(r"^\| ([\d ]+) \| `(progressive_sort\(.*?\))` \|([\d ]*)\|([\d ]*)\|$", table, re.MULTILINE)


@pytest.mark.parametrize(("values", "call", "results", "more"), sorted_outputs())
def test_the_engine_gives_what_the_table_of_progressive_sorts_says(values: str, call: str, results: str, more: str) -> None:
    rows = [{"t": at, "k": "a", "v": int(v), "x": 0.0, "s": "", "a": DEEP, "file": ""} for at, v in enumerate(values.split())]
    window = eval(call, NAMES)  # noqa: S307 - our own page
    for flush, wanted in ((False, results), (True, f"{results} {more}")):
        found = ours(replace(window, flush=flush), (Batch(DEEP, DEEP + SECOND, rows),))
        assert [total for _, (closed, _, _, _, _, total, *_) in sorted(found.items()) if closed == 0] == [int(v) for v in wanted.split()]


def test_the_tables_are_found() -> None:
    assert len(sorted_outputs()) == 5


def test_the_table_has_all_pairs_of_eviction_and_trigger() -> None:
    assert len({(evict.split("(")[0], trigger.split("(")[0]) for _, evict, trigger, *_ in sliding_outputs()}) == 9
