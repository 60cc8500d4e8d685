"""Each query by each engine in turn, in processes of their own; then what one more batch costs, and a batch replaced."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from benchmarks.measurement import BrokenRunError, Measurement, measure, told
from benchmarks.nexmark.rows import Columns, columns, digest

FIRST = "duckdb"
"""The engine whose rows are compared with those of others."""


@dataclass
class Outcome:
    """What became of a query: the columns and the digest of FIRST's rows, the measurements by engine, and what was wrong with an engine."""

    columns: Columns = field(default_factory=dict)
    digest: tuple[int, int] = (0, 0)
    measured: dict[str, list[Measurement]] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        """How many there are."""
        return self.digest[0]

    def median(self, engine: str, figure: str) -> float | None:
        """The median of a figure of an engine; nothing where its rows are wrong or it did not run."""
        found = [getattr(one, figure) for one in self.measured.get(engine, ()) if engine not in self.wrong]
        return median(found) if found else None


@dataclass(frozen=True)
class Race:
    """Where the events and results are, and whom to tell how it goes."""

    folder: Path
    out: Path
    say: Callable[[str], None]

    def outcome(self, query: str, engines: Sequence[str], runs: int) -> Outcome:
        """Run a query by each engine in turn, FIRST before others, `runs` rounds. An engine that differs or fails runs no more."""
        outcome = Outcome()
        for number in range(runs):
            for engine in engines:
                if {engine, FIRST}.isdisjoint(outcome.wrong):
                    self._turn(query, engine, outcome)
                    self.say(f"{query}, {engine}, {number + 1} of {runs}: {_said(engine, outcome)}")
        return outcome

    def _turn(self, query: str, engine: str, outcome: Outcome) -> None:
        try:
            found = self._measure(query, engine)
        except BrokenRunError as broken:
            outcome.wrong[engine] = f"broken: {broken}"
            return
        outcome.measured.setdefault(engine, []).append(found)
        if engine == FIRST and not outcome.columns:
            outcome.columns = columns(self.out)
            outcome.digest = digest(self.out, outcome.columns)
        elif (digested := digest(self.out, outcome.columns)) != outcome.digest:
            outcome.wrong[engine] = f"its {digested[0]:,} rows differ from the {outcome.rows:,} of {FIRST}"

    def _measure(self, query: str, engine: str) -> Measurement:
        arguments = [engine, query, "--folder", f"{self.folder}", "--out", f"{self.out}"]
        return measure("benchmarks.nexmark.engines", arguments, self.out.with_name("last-run.log"))

    def histories(self, queries: Sequence[str], batches: int) -> list[dict[str, float]]:
        """What a batch costs after so many, by query."""
        found = []
        for query in queries:
            try:
                arguments = [query, "--batches", f"{batches}"]
                found += told("benchmarks.nexmark.history", arguments, self.out.with_name("last-run.log"))
            except BrokenRunError as broken:
                self.say(f"{query}, a history: {broken}")
        return found


def _said(engine: str, outcome: Outcome) -> str:
    if engine in outcome.wrong:
        return outcome.wrong[engine]
    last = outcome.measured[engine][-1]
    return f"{last.job_s:.2f} s, {last.cpu_s:.2f} CPU s"
