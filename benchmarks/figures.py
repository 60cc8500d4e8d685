"""From measurements to the lines of the tables: medians, scaled times, ratios, whether a promise was kept."""

import dataclasses
from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.contestants import Contestant
from benchmarks.measurement import Measurement
from benchmarks.workloads import MEASURES

NOTHING = "-"
_YES, _NO = ": yes", ": no"


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a contestant: its measurements, or what was wrong with its windows."""

    contestant: Contestant
    measurements: Sequence[Measurement] = ()
    wrong: Sequence[str] = ()
    windows: int = 0
    """How many there must be."""

    @property
    def job_s(self) -> float:
        """The median job, for all events."""
        return median(one.job_s for one in self.measurements) / self.contestant.share

    @property
    def spread(self) -> str:
        """The fastest and the slowest job, for all events."""
        jobs = [one.job_s / self.contestant.share for one in self.measurements]
        return f"{min(jobs):.2f} - {max(jobs):.2f}"

    @property
    def cpu_s(self) -> float:
        """The median of what a job computed on all cores together, for all events."""
        return median(one.cpu_s for one in self.measurements) / self.contestant.share

    @property
    def process_s(self) -> float:
        """The median process, for the events it got."""
        return median(one.process_s for one in self.measurements)

    @property
    def peak_mb(self) -> float:
        """The median peak, for the events it got."""
        return median(one.peak_mb for one in self.measurements)


HEADINGS = ("work", "who", "job s", "from - to", "CPU s", "process s", "peak MB", "CPU to ours", "promised at least")


def lines(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """A line for each contestant, under HEADINGS."""
    ours: dict[str, float] = {}
    for outcome in outcomes:
        if outcome.contestant.ours and outcome.measurements:
            ours.setdefault(outcome.contestant.workload.name, outcome.cpu_s)
    return [_line(outcome, ours) for outcome in outcomes]


def _line(outcome: Outcome, ours: Mapping[str, float]) -> tuple[str, ...]:
    contestant = outcome.contestant
    who = (contestant.workload.name, contestant.title + _scaling(contestant))
    if outcome.wrong:
        return (*who, "differs", *[NOTHING] * 6)
    if not outcome.measurements:
        return (*who, "not measured", *[NOTHING] * 6)
    times = (f"{outcome.job_s:.2f}", outcome.spread, f"{outcome.cpu_s:.1f}", f"{outcome.process_s:.1f}")
    return (*who, *times, f"{outcome.peak_mb:,.0f}", *_ratio(outcome, ours.get(contestant.workload.name)))


def _ratio(outcome: Outcome, ours_cpu_s: float | None) -> tuple[str, str]:
    if ours_cpu_s is None:
        return NOTHING, NOTHING
    ratio, promised = outcome.cpu_s / ours_cpu_s, outcome.contestant.promised
    if not promised:
        return f"{ratio:.2f}", NOTHING
    return f"{ratio:.2f}", f"{promised:.2f}{_YES if ratio >= promised else _NO}"


def _scaling(contestant: Contestant) -> str:
    times = round(1 / contestant.share)
    return "" if times == 1 else f" (1/{times} of the events, job x{times})"


KIND_HEADINGS = ("work", "windows", "CPU s", "tumbling windows", "CPU s", "to tumbling")


def kind_lines(outcomes: Sequence[Outcome]) -> list[tuple[str, ...]]:
    """A line for each of our kinds whose tumbling windows have been measured too, under KIND_HEADINGS."""
    ours: dict[str, Outcome] = {}
    for outcome in outcomes:
        if outcome.contestant.ours and outcome.measurements:
            ours.setdefault(outcome.contestant.workload.name, outcome)
    return [_kind_line(ours[kind], ours[measure]) for kind, measure in MEASURES.items() if kind in ours and measure in ours]


def _kind_line(kind: Outcome, measure: Outcome) -> tuple[str, ...]:
    work = f"{kind.contestant.workload.name}, {kind.contestant.workload.question}"
    figures = (f"{kind.windows:,}", f"{kind.cpu_s:.2f}", f"{measure.windows:,}", f"{measure.cpu_s:.2f}")
    return (work, *figures, f"{kind.cpu_s / measure.cpu_s:.2f}")


def broken(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each promise that is not kept."""
    return [
        f"{work}, {who}: {ratio} times our CPU seconds; promised at least {promised.removesuffix(_NO)}"
        for work, who, *_, ratio, promised in lines(outcomes)
        if promised.endswith(_NO)
    ]


WIDTH_HEADINGS = ("frames a window", "windows", "finalize s", "of it fixed", "to the fewest frames")


def width_lines(measured: Sequence[Mapping[str, float]]) -> list[tuple[str, ...]]:
    """A line for each number of frames a window."""
    rows: dict[float, list[Mapping[str, float]]] = {}
    for figure in measured:
        rows.setdefault(figure["frames"], []).append(figure)
    fastest = [median(figure["finalize_s"] for figure in figures) for figures in rows.values()]
    return [
        (
            f"{frames:,}",
            f"{figures[0]['windows']:,}",
            f"{seconds:.2f}",
            f"{median(figure['idle_s'] for figure in figures):.2f}",
            f"{seconds / fastest[0]:.2f}",
        )
        for (frames, figures), seconds in zip(rows.items(), fastest, strict=True)
    ]
