"""`python -m benchmarks`: makes the events, compares everyone's windows, times everyone in turn, writes results.md.

Then what was asked of Muntin, line by line (`python -m benchmarks.promises`).
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks import figures, profile, promises, report
from benchmarks.contestants import CONTESTANTS, chosen
from benchmarks.race import Race

HERE = Path(__file__).parent
WIDTHS = "ours-widths"


def arguments() -> argparse.Namespace:
    """What was asked on the command line."""
    names = ", ".join([*(one.name for one in CONTESTANTS), WIDTHS])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__, epilog=f"Names: {names}.")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the keys, and so of the events (1)")
    parser.add_argument("--runs", type=int, default=3, help="timed runs of everyone (3)")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="those whose name contains a word")
    parser.add_argument("--data", type=Path, default=HERE / "data", help="where events are kept (benchmarks/data)")
    parser.add_argument("--results", type=Path, help="where to write (benchmarks/results.md, unless --only is given)")
    parser.add_argument(
        "--profile", nargs="+", default=[], metavar="WORK", help="CPU seconds by step of our jobs of a work, as W1, and nothing else"
    )
    return parser.parse_args()


def main() -> int:
    """Run what was asked; 1 if someone's windows were wrong, or a promise is not kept."""
    asked = arguments()
    console = Console(width=None if sys.stdout.isatty() else 150)
    for work in asked.profile:
        profile.show(work, asked.data, asked.scale, asked.runs, console)
    if asked.profile:
        return 0
    say = partial(console.print, markup=False, highlight=False)
    race = Race(asked.data, asked.scale, say)
    outcomes = race.outcomes(chosen(asked.only), asked.runs)
    widths = race.widths(asked.runs) if _wants_widths(asked.only) else []
    width_lines = figures.width_lines(widths)
    report.show("Benchmarks", figures.HEADINGS, figures.lines(outcomes), console)
    if kinds := figures.kind_lines(outcomes):
        report.show("What a kind costs", figures.KIND_HEADINGS, kinds, console)
    if width_lines:
        report.show("The time of combining", figures.WIDTH_HEADINGS, width_lines, console)
    results = asked.results or (None if asked.only else HERE / "results.md")

    def write(*more: str) -> None:
        if results:
            report.write(results, scale=asked.scale, runs=asked.runs, outcomes=outcomes, widths=width_lines, more=more)
            say(f"Written to {results}")

    write()  # other parts may take an hour
    lines = list[tuple[str, ...]]()
    if not asked.only:
        lines = _promises(asked, outcomes, say)
        report.show("What was asked", promises.HEADINGS, lines, console)
        write("### What was asked", promises.MEANING, report.markdown(promises.HEADINGS, lines))
    for line in (broken := [*figures.broken(outcomes), *promises.broken(lines)]):
        say(f"Not kept: {line}")
    return int(bool(broken) or any(outcome.wrong for outcome in outcomes))


def _promises(asked: argparse.Namespace, outcomes: Sequence[figures.Outcome], say: Callable[[str], None]) -> list[tuple[str, ...]]:
    """The lines of all parts; the works of one were raced already."""
    size = promises.Size(asked.scale, asked.runs, asked.data.absolute())
    others = [part for part in promises.PARTS if part != "works"]
    return promises.lines({"works": promises.works(outcomes)} | promises.measured(others, size, say))


def _wants_widths(words: list[str]) -> bool:
    return not words or any(word in WIDTHS for word in words)


if __name__ == "__main__":
    raise SystemExit(main())
