"""The page of NEXMark has the queries that are definitions, and tells of each other one why it is none."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.measurement import Measurement
from benchmarks.nexmark import page
from benchmarks.nexmark.engines import ENGINES
from benchmarks.nexmark.frames import FRAMES
from benchmarks.nexmark.queries import QUERIES
from benchmarks.nexmark.race import FIRST, Outcome

DEFINED = {path.stem for path in (page.ROOT / "examples/nexmark").glob("q*.py")}
TEXT = page.PAGE.read_text(encoding="utf-8")


def test_queries_of_the_page_are_the_definitions() -> None:
    assert DEFINED == set(QUERIES) == set(FRAMES) == set(page.questions())
    figures = TEXT.partition(report.BEGIN)[2].partition(report.END)[0]
    tables = figures.split("\n\n|")[1:]
    assert len(tables) >= 1 + len(page.FIGURES)  # a history is not always asked for
    assert all({*re.findall(r"\bq\d+\b", re.sub(r"\(.*?\)", "", each))} == DEFINED for each in tables)


def test_each_other_query_is_told_why() -> None:
    table = TEXT.partition("## Queries that are not here")[2].partition("##")[0]
    told = re.findall(r"q\d+", " ".join(re.findall(r"^\| (q.*?) \|", table, re.MULTILINE)))
    assert sorted([*DEFINED, *told]) == sorted(f"q{number}" for number in range(24))


def took(cpu_s: float) -> Measurement:
    return Measurement(job_s=1.0, cpu_s=cpu_s, process_s=1.0, peak_mb=1.0)


def test_a_ratio_and_the_median_are_told() -> None:
    outcome = Outcome(measured={"muntin": [took(9.0), took(3.0), took(1.0)], FIRST: [took(2.0)]})
    headings, lines = page.table({"q7": outcome}, *page.FIGURES["CPU seconds"])
    assert headings == ["query", ENGINES["muntin"].title, ENGINES[FIRST].title, page.RATIO]
    assert lines == [["q7", "3.00", "2.00", "1.50"]]


@pytest.mark.parametrize("engine", ["muntin", FIRST])
def test_an_engine_that_differs_has_no_figures(engine: str) -> None:
    outcome = Outcome(measured={"muntin": [took(1.0)], FIRST: [took(1.0)]}, wrong={engine: "its 6 rows differ"})
    _, ((*_, ratio),) = page.table({"q7": outcome}, *page.FIGURES["CPU seconds"])
    assert ratio == page.NOTHING
    assert f"- q7, {ENGINES[engine].title}: its 6 rows differ" in page.measured({"q7": outcome}, [], 10, 0)


def test_what_people_wrote_stays_around_what_is_measured(tmp_path: Path) -> None:
    place = tmp_path / "page.md"
    place.write_text(f"Before.\n\n{report.BEGIN}\n\nold\n\n{report.END}\n\nBehind.\n", encoding="utf-8")
    for measured in ("new", "newer"):
        report.put(place, measured)
    assert place.read_text(encoding="utf-8") == f"Before.\n\n{report.BEGIN}\n\nnewer\n\n{report.END}\n\nBehind.\n"


def test_who_knows_which_files_a_window_needs_has_a_column() -> None:
    costs: list[dict[str, float]] = [
        {"query": "q7", "more_cpu_s": 0.14, "replaced_cpu_s": 0.2, "files_cpu_s": 0.05, "whole_cpu_s": 1.85},  # type: ignore[dict-item]
        {"query": "q18", "more_cpu_s": 0.14, "replaced_cpu_s": 0.2, "whole_cpu_s": 3.19},  # type: ignore[dict-item]
    ]
    assert page.history_table(costs)[1] == [["q7", "0.14", "0.20", "0.05", "1.85"], ["q18", "0.14", "0.20", page.NOTHING, "3.19"]]


def test_the_process_of_an_engine_imports_no_other_engine() -> None:
    code = "import sys, benchmarks.nexmark.engines, benchmarks.nexmark.queries; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=page.ROOT).stdout.split()
    assert {"muntin", "pyspark", "numba", "polars", "duckdb", "pandas"}.isdisjoint(modules)
