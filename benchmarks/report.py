"""The tables on the screen, and what is measured in pages such as `results.md`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import facts, figures

BEGIN, END = "<!-- measured: written by the command -->", "<!-- end of what is measured -->"


def show(title: str, headings: Sequence[str], lines: Sequence[Sequence[str]], console: Console) -> None:
    """Print a table."""
    table = Table(title=title, title_justify="left")
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number < 2 else "right")
    for line in lines:
        table.add_row(*line)
    console.print(table)


def write(
    path: Path,
    *,
    scale: float,
    runs: int,
    outcomes: Sequence[figures.Outcome],
    widths: Sequence[Sequence[str]],
    more: Sequence[str] = (),
) -> None:
    """Write everything that was measured, what it was measured on, and what the words mean. `more`: parts that follow."""
    parts = [
        f"{datetime.now(UTC):%Y-%m-%d}, `python -m benchmarks --scale {scale:g} --runs {runs}`: {facts.machine()}. {facts.versions()}."
    ]
    works = {one.contestant.workload.name: one.contestant.workload.scaled(scale) for one in outcomes}.values()
    parts.append("\n".join(f"- {w.name}: {w.events:,} events, {w.keys:,} keys, {w.question}." for w in works))
    parts.append(markdown(figures.HEADINGS, figures.lines(outcomes)))
    if kinds := figures.kind_lines(outcomes):
        parts.append("### What a kind costs\n\nOurs, beside tumbling windows of the same events and about as many results.")
        parts.append(markdown(figures.KIND_HEADINGS, kinds))
    if widths:
        parts.append("### Frames a window\n\nThe time of combining, at an equal number of windows (W1's events).")
        parts.append(markdown(figures.WIDTH_HEADINGS, widths))
    put(path, "\n\n".join([*parts, *more]))


def put(path: Path, measured: str) -> None:
    """Write what was measured into a page, in place of what was measured before; what people wrote around it stays."""
    before, _, rest = (path.read_text(encoding="utf-8") if path.exists() else "").partition(BEGIN)
    path.write_text(f"{before}{BEGIN}\n\n{measured}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def markdown(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of Markdown."""
    rows = [headings, ["---"] * len(headings), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
