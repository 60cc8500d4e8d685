"""A world on a real disk: DuckDB reads, kernels compute, `deltalake` commits; only Spark is not there. It is held against a clean run."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import tenacity.nap

from muntin import Limits, Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.housekeeping import compact
from muntin.jobs.publish.publish import publish
from muntin.jobs.published import ledger_segments
from muntin.jobs.published.staged_windows import load_staged
from muntin.jobs.published.window_tables import current
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.upkeep.promote import promote
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.store.contents import problem_of
from muntin.store.delta import DeltaStore
from muntin.tasks import Local
from muntin.timeline import ledger
from tests.properties.equal_values import bitwise
from tests.simulation.actors import Actor, Fault, interleave, pause, raw_errors
from tests.simulation.definitions import KINDS, MINUTE, START
from tests.simulation.disk import DAY_S, Clock
from tests.simulation.rows import BAD, Row
from tests.simulation.seams import FEW
from tests.simulation.watched import Watched

HERE: Any = Local(2)
SHIFTED = 0.3  # so often the table of shifts changes with a file
SCHEMA = pa.schema([("t", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("x", pa.float64())])
WINDOWS = {
    "sliding": {"sliding": windows.sliding("3m", step="1m"), "visits": windows.session("90s")},
    "lasting": {"lasting": windows.sliding("3m", step="1m", dense=True)},
    "revised": {
        "revised": windows.sliding("3m", step="1m", allowed_lateness="2m"),
        "stays": windows.session("90s", allowed_lateness="3m"),
        "over": windows.while_("x > 7e7", at_most="150s", allowed_lateness="2m"),
        "distinct": windows.unique_sliding("2m", resolution="1m", allowed_lateness="2m"),
    },
    "carried": {"carried": windows.arrival(windows.by_count(3)), "above": windows.while_("x > 7e7", at_most="150s")},
}
GRACE = {
    "sliding": windows.sliding("3m", step="1m", grace="1m"),
    "lasting": windows.sliding("3m", step="1m", dense=True, grace="1m"),
    "visits": windows.session("90s", grace="1m"),
    "revised": windows.sliding("3m", step="1m", grace="1m", allowed_lateness="1m"),
    "stays": windows.session("90s", grace="1m", allowed_lateness="3m"),
    "above": windows.while_("x > 7e7", at_most="150s", grace="1m"),
}


@dataclass
class RealWorld:
    """As `World`, in a folder. `rows`: minute -> what its file says."""

    folder: Path
    kind: str
    dice: Random
    variant: str = "plain"
    rows: dict[int, list[Row]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    cuts: list[int] = field(default_factory=list)
    cut: Any = None

    @property
    def root(self) -> Path:
        return self.folder / "state"

    def pipeline(self) -> Pipeline:
        every = {name: window for part in KINDS[self.kind] for name, window in WINDOWS[part].items()}
        changed = {name: window for name, window in GRACE.items() if name in every and self.variant == "grace"}
        if "carried" in every:
            every["shift"] = windows.given(str(self.folder / "shifts.csv"), start="begins", end="ends", keys=["k"], columns=["name"])
        more = {"spread": agg.stddev("x")} if self.variant == "more" else {}
        more |= {"mean": agg.time_weighted_mean("x", carry="100s")} if "lasting" in every else {}
        return Pipeline(
            name="world",
            source=sources.files(str(self.folder / "data/{start:%Y%m%dT%H%M}.parquet"), event_time="t"),
            schedule="1m",
            limits=Limits(max_quarantined=None),
            start=START,
            keys=["k"],
            windows=every | changed,
            aggregates={"n": agg.count(), "total": agg.sum("x"), "last": agg.last("x"), **more},
        )

    def bound(self) -> Bound:
        return bind(self.pipeline(), self.root, store=self.store())

    def store(self) -> Watched:
        return Watched(DeltaStore(bind(self.pipeline(), self.root, claim=True).folder))

    def copy(self, _dice: Random) -> None:
        """A disk is not copied: a life has one world."""

    # the source, and the table of shifts

    def __post_init__(self) -> None:
        self.change_shifts()

    def change_shifts(self) -> None:
        """Some spans of each key, which may overlap."""
        lines = ["k,name,begins,ends"]
        for number in range(self.dice.randrange(6)):
            begin = self.dice.randrange(12)
            times = [START + minute * MINUTE for minute in (begin, begin + self.dice.randrange(1, 6))]
            lines.append(",".join([self.dice.choice("aü"), f"s{number}", *map(str, times)]))
        path = self.folder / "shifts.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".new").write_text("\n".join(lines) + "\n", encoding="utf-8")
        path.with_suffix(".new").replace(path)

    def file(self, minute: int) -> Path:
        return self.folder / f"data/{START + minute * MINUTE:%Y%m%dT%H%M}.parquet"

    def deliver(self, minute: int, rows: list[Row]) -> None:
        """Two keys in turn; doubles that sum differently in every order; a row that cannot be read has no time."""
        self.rows[minute] = rows
        if self.dice.random() < SHIFTED:
            self.change_shifts()
        times = [None if amount == BAD else START + event * MINUTE + timedelta(seconds=7 * at) for at, (event, amount) in enumerate(rows)]
        table = pa.table([times, ["aü"[at % 2] for at in range(len(rows))], [amount / 7 for _, amount in rows]], schema=SCHEMA)
        self.file(minute).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, self.file(minute))

    def vanish(self, minute: int) -> None:
        self.rows.pop(minute, None)
        self.file(minute).unlink(missing_ok=True)

    def delivered(self) -> dict[int, list[Row]]:
        return dict(sorted(self.rows.items()))

    # time, chance, the end

    def play(self, *actors: Actor) -> None:
        self.told += [actor.name for actor in actors]
        interleave(actors, self.dice, Clock())
        self.wrong += raw_errors(actors)

    def hours(self, count: int) -> None:
        """All files are older."""
        for path in self.root.rglob("*"):
            if path.is_file() and "_delta_log" not in path.parts:
                stat = path.stat()
                os.utime(path, (stat.st_atime - count * 3600, stat.st_mtime - count * 3600))

    def damage(self) -> None:
        """The disk loses a file: of states or of notes."""
        store = DeltaStore(bind(self.pipeline(), self.root).folder)
        used = [
            Path(store.root, frames.table, file.path) for frames in self.bound().frame_sets for file in store.snapshot(frames.table).files
        ]
        if files := sorted([*used, *Path(store.root).glob("carry/**/*.parquet")]):
            path = self.dice.choice(files)
            path.unlink()
            self.told.append(f"damage {path}")

    def check_end(self) -> None:
        """Windows equal those of a clean run, to the bit; each row of the source was accepted or refused."""
        minutes = sorted(self.rows)
        reports = self._run(self.folder / "clean", minutes[0], minutes[-1] + 1).batches
        refused = sum(amount == BAD for rows in self.rows.values() for _, amount in rows)
        counts = [sum(getattr(report, name) for report in reports) for name in ("rows_read", "rows_accepted", "rows_quarantined")]
        if counts != [(count := sum(map(len, self.rows.values()))), count - refused, refused]:
            self.wrong.append(f"rows read, accepted, refused: {counts}")
        for name in self.pipeline().windows:
            ours, clean = (read(self.pipeline(), name, root=self.folder / root, provisional=True) for root in ("state", "clean"))
            if (len(ours) or len(clean)) and not bitwise(ours, clean):  # a table without rows has the columns that it had with rows
                self.wrong.append(f"{name} is {ours.to_pylist()} not {clean.to_pylist()}")

    # what actors do

    def _run(self, root: Path, first: int, end: int, **more: Any) -> Any:
        borders = {"start": START + first * MINUTE, "end": START + end * MINUTE}
        return run(self.pipeline(), root=root, spark=HERE, **borders, **more)

    def run(self, first: int, end: int, fault: Fault | None = None, *, allow_missing: bool = False) -> Actor:
        store, flow = self.store(), self.pipeline()
        borders = {"start": START + first * MINUTE, "end": START + end * MINUTE}
        return Actor(
            f"run {first} {end} {fault or ''}",
            lambda: run(flow, root=self.root, spark=HERE, store=store, allow_missing=allow_missing, **borders),
            fault,
        )

    def accumulating(self, first: int, end: int, fault: Fault | None = None) -> Actor:
        bound = self.bound()
        intervals = bound.pipeline.intervals.intervals(_us(first), _us(end))
        return Actor(f"accumulate {first} {end}", lambda: accumulate(bound, HERE, intervals), fault)

    def finalizing(self, first: int, end: int, keep: list[str], fault: Fault | None = None) -> Actor:
        bound = self.bound()

        def work() -> None:
            staged = finalize(bound, HERE, [_us(minute) for minute in range(first, end)])
            keep.extend([staged.folder] if staged.windows else [])

        return Actor(f"finalize {first} {end}", work, fault)

    def validating(self, _keep: Sequence[str]) -> Actor:
        """No suite."""
        return Actor("validate", lambda: None)

    def publishing(self, keep: Sequence[str], fault: Fault | None = None) -> Actor:
        bound = self.bound()
        return Actor("publish", lambda: [publish(bound, load_staged(bound.store, folder)) for folder in keep], fault)

    def promoting(self) -> Actor:
        flow = self.pipeline()
        return Actor("promote", lambda: promote(flow, root=self.root, spark=HERE))

    def rewriting(self, minute: int, rows: list[Row]) -> Actor:
        turns = self.dice.choice((3, 5, 20))

        def work() -> None:
            for _ in range(turns):
                pause()
            self.deliver(minute, rows)

        return Actor(f"rewrite {minute}", work)

    def compacting(self, fault: Fault | None = None) -> Actor:
        bound = self.bound()
        return Actor("compact", lambda: compact.compact(bound), fault)

    def vacuuming(self, fault: Fault | None = None) -> Actor:
        """Replaced files stay: Delta's log has the time of the real clock."""
        return Actor("vacuum", lambda: vacuum(self.root, older_than_us=DAY_S * 1_000_000), fault)

    def reading(self, window: str) -> Actor:
        """Each file of a version is there, and whole, though others act meanwhile."""
        bound = self.bound()

        def work() -> None:
            now = current(bound.store, window)
            for file in now.snapshot.files:
                pause()
                if problem := problem_of(Path(bound.table(now.table), file.path)):
                    self.wrong.append(f"a reader of {window}: {file.path} {problem}")

        return Actor(f"read {window}", work)


def _us(minute: int) -> int:
    return int((START + minute * MINUTE).timestamp()) * 1_000_000


@contextmanager
def small_and_quick() -> Iterator[None]:
    """Few files are put together, and nobody waits after a conflict."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (compact, ledger_segments):
            patch.setattr(module, "MANY", FEW)
        patch.setattr(ledger, "RECENT", FEW)
        patch.setattr(tenacity.nap, "time", SimpleNamespace(sleep=lambda _seconds: pause()))
        yield
