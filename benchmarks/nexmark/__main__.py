"""`python -m benchmarks.nexmark`: NEXMark's queries by Muntin and by what a user would pick instead; the figures of docs/nexmark.md.

Writes the events, runs each query by each engine in turn, and compares the rows; then what one more batch costs after a history, and a
batch that is replaced.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from benchmarks import report
from benchmarks.nexmark import files, page
from benchmarks.nexmark.engines import ENGINES, has_flink
from benchmarks.nexmark.queries import QUERIES
from benchmarks.nexmark.race import FIRST, Outcome, Race


def arguments() -> argparse.Namespace:
    """What was asked on the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.nexmark", description=__doc__)
    parser.add_argument("--events", type=int, default=10_000_000, help="how many (10,000,000)")
    parser.add_argument("--generators", type=int, default=1, help="of events: by Beam's default 100; auctions last as much longer (1)")
    parser.add_argument("--runs", type=int, default=3, help="timed runs of each (3)")
    parser.add_argument("--history", type=int, default=1000, help="batches of the history (1000); 0: none")
    parser.add_argument("--only", nargs="+", default=[*QUERIES], choices=[*QUERIES], metavar="QUERY", help="some queries")
    others = f"some engines beside {FIRST}: {', '.join(name for name in ENGINES if name != FIRST)}"
    parser.add_argument("--engines", nargs="+", default=[*ENGINES], choices=[*ENGINES], metavar="ENGINE", help=others)
    parser.add_argument("--folder", type=Path, help="where the events are written, and stay")
    parser.add_argument("--page", type=Path, help="the page to write figures into (docs/nexmark.md, unless --only or --engines is given)")
    return parser.parse_args()


def main() -> int:
    """Run what was asked; 1 if an engine's rows were wrong."""
    asked, console = arguments(), Console(width=None if sys.stdout.isatty() else 150)

    def say(line: str) -> None:
        console.print(line, markup=False, highlight=False)

    engines = [name for name in dict.fromkeys([FIRST, *asked.engines]) if name != "flink" or has_flink()]
    with tempfile.TemporaryDirectory() as made:
        folder = (asked.folder or Path(made)).absolute() / "data/nexmark"
        shutil.rmtree(folder, ignore_errors=True)  # of more events
        files.write(folder, asked.events, generators=asked.generators)
        race = Race(folder, Path(made, "out"), say)
        outcomes = dict[str, Outcome]()
        for query in asked.only:
            outcomes[query] = race.outcome(query, engines, asked.runs)
            _write(asked, outcomes)  # hours may follow
    histories = race.histories(asked.only, asked.history) if asked.history else []
    for title, (figure, shown) in page.FIGURES.items():
        report.show(f"{title}, {asked.events:,} events", *page.table(outcomes, figure, shown), console)
    if histories:
        report.show(f"After {asked.history:,} batches", *page.history_table(histories), console)
    if place := _write(asked, outcomes, histories):
        say(f"Written to {place}")
    return int(any(outcome.wrong for outcome in outcomes.values()) or len(histories) < len(asked.only) * bool(asked.history))


def _write(asked: argparse.Namespace, outcomes: Mapping[str, Outcome], histories: Sequence[Mapping[str, float]] = ()) -> Path | None:
    """Put what was measured so far into the page; where there is none, nothing."""
    place: Path | None = asked.page or (page.PAGE if (asked.only, asked.engines) == ([*QUERIES], [*ENGINES]) else None)
    if place:
        report.put(place, page.measured(outcomes, histories, asked.events, asked.history))
    return place


if __name__ == "__main__":
    raise SystemExit(main())
