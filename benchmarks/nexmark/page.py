"""What `python -m benchmarks.nexmark` writes into `docs/nexmark.md`: what each query costs by each engine."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import facts
from benchmarks.nexmark.engines import ENGINES
from benchmarks.nexmark.race import Outcome
from benchmarks.report import markdown

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/nexmark.md"
QUERIES_PAGE = ROOT / "examples/nexmark/README.md"
NOTHING = "-"
Table = tuple[list[str], list[list[str]]]
"""Headings and lines."""


def _seconds(value: float) -> str:
    return f"{value:.2f}"


def _whole(value: float) -> str:
    return f"{value:,.0f}"


FIGURES: Mapping[str, tuple[str, Callable[[float], str]]] = {
    "CPU seconds": ("cpu_s", _seconds),
    "Peak memory, MB": ("peak_mb", _whole),
}
RATIO = "Muntin to DuckDB"


def measured(outcomes: Mapping[str, Outcome], histories: Sequence[Mapping[str, float]], events: int, batches: int) -> str:
    """What the page says of a measurement: a table for each figure, then the table of histories of so many batches."""
    asked, done = questions(), f"{datetime.now(UTC):%Y-%m-%d}, {events:,} events: {facts.machine()}. {facts.versions()}, flink {flink()}."
    lines = [[_link(query), asked[query], f"{one.rows:,}"] for query, one in outcomes.items()]
    parts = [done, markdown(["query", "question", "rows"], lines)]
    for title, (figure, shown) in FIGURES.items():
        parts += [f"### {title}", markdown(*table(outcomes, figure, shown))]
    if left_out := [f"- {query}, {ENGINES[name].title}: {why}" for query, one in outcomes.items() for name, why in one.wrong.items()]:
        parts += ["No figures, and why:", "\n".join(left_out)]
    if histories:
        parts += [f"### A batch more after {batches:,}, and a batch replaced", markdown(*history_table(histories))]
    return "\n\n".join(parts)


def table(outcomes: Mapping[str, Outcome], figure: str, shown: Callable[[float], str]) -> Table:
    """A line for each query, a column for each engine that ran; Muntin's part of DuckDB's in the last."""
    engines = [name for name in ENGINES if any(name in one.measured or name in one.wrong for one in outcomes.values())]
    lines = []
    for query, outcome in outcomes.items():
        found = [outcome.median(engine, figure) for engine in engines]
        mine, other = outcome.median("muntin", figure), outcome.median("duckdb", figure)
        ratio = NOTHING if mine is None or not other else f"{mine / other:.2f}"
        lines.append([query, *(NOTHING if value is None else shown(value) for value in found), ratio])
    return ["query", *(ENGINES[name].title for name in engines), RATIO], lines


def history_table(histories: Sequence[Mapping[str, float]]) -> Table:
    """A line for each query."""
    names = {"more": "one more", "replaced": "replaced", "files": "DuckDB, only the files concerned", "whole": "DuckDB, all of it"}
    heading = [f"{title}, CPU s" for title in names.values()]
    lines = [[one.get(f"{name}_cpu_s") for name in names] for one in histories]
    cells = [[NOTHING if value is None else _seconds(value) for value in line] for line in lines]
    return ["query", *heading], [[str(one["query"]), *line] for one, line in zip(histories, cells, strict=True)]


def questions() -> dict[str, str]:
    """Query -> its question, as the list of definitions has it."""
    return dict(re.findall(r"^\| \[(q\d+)\]\(q\d+\.py\) \| (.+?) \|", QUERIES_PAGE.read_text(encoding="utf-8"), re.MULTILINE))


def flink() -> str:
    """The version of Flink whose jars are asked for."""
    (version,) = re.findall(r"<flink>(.+)</flink>", (Path(__file__).parent / "flink/pom.xml").read_text(encoding="utf-8"))
    return version


def _link(query: str) -> str:
    return f"[{query}](../examples/nexmark/{query}.py)"
