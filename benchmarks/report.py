"""The tables on the screen and in `results.md`."""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import facts, figures

NOTES = """\
- Job: from the events in Parquet to windows in Parquet, the second time in a process: session, imports and compiled
  code are warm. Process: from the start of a fresh process to the end of its first job. Both the median of {runs},
  contestants in turn; from - to: the fastest and the slowest job. CPU: of the job, all cores together, JVM included.
- Ours has the Python and the Java that `muntin run` starts where Spark only hands out tasks: engine imported, quick compiler alone.
- Peak: the process and its children added up, sampled five times a second; pages that forks share count in each. The
  Spark peers may take half of the machine's memory, and do.
- Every contestant's windows are compared with a plain numpy reference before anything is timed: keys, spans, counts,
  integer sums, minima and maxima to the bit, float sums to 1e-9. Whoever differs has no figures.
- To ours: how many times our job (the first line of the work) theirs takes. Promised: what it should at least be.
"""


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
) -> None:
    """Write everything that was measured, what it was measured on, and what the words mean."""
    parts = [f"# Benchmarks\n\n{datetime.now(UTC):%Y-%m-%d}, `python -m benchmarks --scale {scale:g} --runs {runs}`."]
    parts.append(f"{facts.machine()}. {facts.versions()}.")
    works = {one.contestant.workload.name: one.contestant.workload.scaled(scale) for one in outcomes}.values()
    parts.append("\n".join(f"- {w.name}: {w.events:,} events, {w.keys:,} keys, {w.question}." for w in works))
    parts.append(_markdown(figures.HEADINGS, figures.lines(outcomes)))
    if kinds := figures.kind_lines(outcomes):
        parts.append("## What a kind costs\n\nOurs, beside tumbling windows of the same events and about as many results.")
        parts.append(_markdown(figures.KIND_HEADINGS, kinds))
    if widths:
        parts.append("## Frames a window\n\nThe time of combining, at an equal number of windows (W1's events).")
        parts.append(_markdown(figures.WIDTH_HEADINGS, widths))
    parts.append("Why some fall short, and what aggregates cost: [notes](notes.md).")
    parts.append("## What the words mean\n\n" + NOTES.format(runs=runs))
    path.write_text("\n\n".join(parts))


def _markdown(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [headings, ["---"] * len(headings), *lines]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
