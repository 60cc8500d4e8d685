"""Random events and dimensions, and the naive answer: for each event a loop over all rows of the dimension."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, read, sources, windows
from muntin import aggregates as agg
from muntin.sources.source import Source
from muntin.testing import run_here
from tests.source_options import grouped

START = datetime(2024, 5, 1, tzinfo=UTC)
HOURS = 5
KEYS = ("a", "b", "c", None, "Ä ", "no such key")
EVENT = pa.schema([("at", pa.timestamp("us", tz="UTC")), ("k", pa.string()), ("x", pa.float64())])
JOINED = EVENT.append(pa.field("found", pa.bool_())).append(pa.field("rate", pa.float64())).append(pa.field("zone", pa.string()))
JOINED = JOINED.append(pa.field("begun", pa.float64()))
ROW = pa.schema(
    [
        ("k", pa.string()),
        ("since", pa.timestamp("us", tz="UTC")),
        ("until", pa.timestamp("us", tz="UTC")),
        ("rate", pa.float64()),
        ("zone", pa.string()),
    ]
)
Row = dict[str, Any]
W = TypeVar("W", bound="World")


def hour(number: float) -> datetime:
    """An instant, some hours after the start."""
    return START + timedelta(hours=number)


@dataclass
class World:
    """Files of events and of a dimension, and what is in them.

    Attributes:
        folder: of the files and states.
        random: draws everything.
        until: whether rows of the dimension say when they end.
        required: whether events without a row are refused.
        form: ending of the events' files.
        events: number of a batch -> its events.
        dedupe: which rows of a batch, or of two, are one event.
        rows: of the dimension.
    """

    folder: Path
    random: Random
    until: bool
    required: bool
    form: str
    dedupe: Mapping[str, Any]
    events: dict[int, list[Row]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def write_batch(self, number: int) -> None:
        """Draw the events of a batch anew, a few of them late, some at the instant at which rows of the dimension change."""
        self.events[number] = [self._event(number) for _ in range(self.random.choice((0, 1, 5, 40)))]
        self._write("events", {number: pa.Table.from_pylist(self.events[number], EVENT)})
        joined = [event | self.answer(event) for event in self.events[number]]
        self._write("joined", {number: pa.Table.from_pylist(joined, JOINED)})

    def _event(self, number: int) -> Row:
        minutes = self.random.choice((self.random.randrange(12) * 5, -self.random.randrange(24) * 5, 0))
        at = hour(number) + timedelta(minutes=minutes, microseconds=self.random.choice((0, 0, 0, -1, 1)))
        return {"at": at, "k": self.random.choice(KEYS), "x": self.random.uniform(-1, 1)}

    def _write(self, kind: str, tables: Mapping[int, pa.Table]) -> None:
        for number, table in tables.items():
            path = self.folder / kind / f"{number:02d}.{self.form}"
            path.parent.mkdir(parents=True, exist_ok=True)
            if self.form == "parquet":
                pq.write_table(table, path)
            else:
                pa.csv.write_csv(table, path, pa.csv.WriteOptions(quoting_style="needed"))

    def write_dimension(self) -> None:
        """Write the rows of the dimension, and the events with what they look up in them."""
        self.write_rows()
        for number, events in self.events.items():
            joined = [event | self.answer(event) for event in events]
            self._write("joined", {number: pa.Table.from_pylist(joined, JOINED)})

    def write_rows(self) -> None:
        """Write the rows of the dimension."""
        (self.folder / "rates").mkdir(exist_ok=True)
        some = self.random.randint(0, len(self.rows))
        for name, rows in (("a", self.rows[:some]), ("b", self.rows[some:])):
            pq.write_table(pa.Table.from_pylist(rows, ROW), self.folder / f"rates/{name}.parquet")

    def change_dimension(self) -> None:
        """A row more, in the past or at the end; another rate; a row less."""
        for _ in range(self.random.choice((1, 1, 3))):
            change = self.random.choice(("more", "more", "other", "less"))
            if change == "more" or not self.rows:
                self._add_row()
            elif change == "other":
                self.random.choice(self.rows)["rate"] = self.random.uniform(1, 2)
            else:
                self.rows.remove(self.random.choice(self.rows))
        self.write_dimension()

    def _add_row(self) -> None:
        since = hour(0) + timedelta(minutes=self.random.randrange(-60, 60 * (HOURS + 1), 5))
        until = since + timedelta(minutes=5 * self.random.randint(1, 20)) if self.until and self.random.random() < 0.8 else None
        row = {"k": self.random.choice(("a", "b", "c", "Ä ")), "since": since, "until": until, "rate": 1.5, "zone": None}
        if self.until:
            others = [each for each in self.rows if each["k"] == row["k"]]
            after = [each["since"] for each in others if each["since"] >= since]
            if any(each["since"] <= since and (each["until"] is None or each["until"] > since) for each in others):
                return
            if after and (until is None or until > min(after)):
                row["until"] = min(after)
        elif any((each["k"], each["since"]) == (row["k"], since) for each in self.rows):
            return
        if row["until"] != since:
            self.rows.append(row | {"rate": self.random.uniform(1, 2), "zone": self.random.choice(("x", "y", None))})

    def answer(self, event: Row) -> Row:
        """The row of the dimension that was valid for an event: the naive judge."""
        valid = [row for row in self.rows if row["k"] == event["k"] and row["since"] <= event["at"]]
        begun = row = max(valid, key=lambda row: row["since"], default=None)
        if row is not None and row["until"] is not None and row["until"] <= event["at"]:
            row = None
        return {"found": row is not None, "rate": row and row["rate"], "zone": row and row["zone"], "begun": begun and begun["rate"]}

    @property
    def dimension(self) -> Source:
        """The source of the dimension's rows."""
        return sources.files(str(self.folder / "rates/*.parquet"))

    @property
    def looking_up(self) -> Pipeline:
        """The pipeline that looks up."""
        dimension = self.dimension
        until = "until" if self.until else None
        lookup = sources.lookup(dimension, keys=["k"], since="since", until=until, columns=["rate", "zone"], required=self.required)
        begun = sources.lookup(dimension, keys={"k": "k"}, since="since")
        return self._pipeline("events", "rates.", "rates IS NOT NULL", "begun.rate", lookups={"rates": lookup, "begun": begun})

    @property
    def given(self) -> Pipeline:
        """The same pipeline over events that have brought what they would look up."""
        return self._pipeline("joined", "", "found", "begun", name="given", where="found" if self.required else None)

    def _pipeline(self, kind: str, prefix: str, found: str, begun: str, *, name: str = "looking_up", **more: Any) -> Pipeline:
        return Pipeline(
            name=name,
            source=self._source(kind),
            schedule="@hourly",
            limits=Limits(max_quarantined=None),
            start=START,
            keys=["k"],
            windows={
                "hour": windows.tumbling("1h", grace="1h"),
                "quiet": windows.session("20m"),
                "long": windows.sliding("3h", step="30m"),
                "three": windows.arrival(windows.by_count(3)),
            },
            aggregates={
                "n": agg.count(),
                "known": agg.count_if(found),
                "sum": agg.sum(f"x * {prefix}rate"),
                "mean": agg.mean(f"{prefix}rate"),
                "last": agg.last(f"{prefix}zone"),
                "begun": agg.sum(begun),
            },
            **more,
        )

    def _source(self, kind: str) -> Source:
        types = {"k": "VARCHAR", "zone": "VARCHAR", "rate": "DOUBLE", "begun": "DOUBLE", "found": "BOOLEAN"} if self.form == "csv" else {}
        types = types if kind == "joined" else {name: of for name, of in types.items() if name == "k"}
        if self.form == "csv":
            types |= {"at": "TIMESTAMPTZ", "x": "DOUBLE"}
        path = str(self.folder / kind / f"{{start:%H}}.{self.form}")
        return sources.files(path, **grouped(event_time="at", types=types, **self.dedupe))

    def run(self, pipeline: Pipeline, first: int, last: int) -> list[int]:
        """Run some batches; the numbers of all that were read."""
        report = run_here(pipeline, root=str(self.folder / "state"), start=hour(first), end=hour(last))
        return [(batch.interval_start - START) // timedelta(hours=1) for batch in report.batches]

    def check(self, since: int = 0) -> None:
        """See that windows are those of events with what they look up, to the last bit."""
        self.run(self.given, since, HOURS)
        for window in self.given.windows:
            found, right = (read(each, window, root=str(self.folder / "state")) for each in (self.looking_up, self.given))
            assert found.equals(right) or not len(found) + len(right), f"{window}:\n{found.to_pylist()}\n{right.to_pylist()}"


def random_world(folder: Path, seed: int, make: type[W] = World) -> W:  # type: ignore[assignment]
    """Events and a dimension, written."""
    random = Random(seed)
    form = random.choice(("parquet", "parquet", "csv"))
    within = random.choice(({}, {"dedupe_within": "2h"}))
    dedupe = random.choice(({}, {}, {}, {"dedupe": ["at", "k"], **within}))
    world = make(folder, random, random.random() < 0.5, random.random() < 0.3, form, dedupe)
    for _ in range(random.choice((0, 3, 12))):
        world._add_row()
    for number in range(HOURS):
        world.write_batch(number)
    world.write_dimension()
    return world


def may_differ(world: World, before: Callable[[Row], Row], numbers: Iterable[int]) -> tuple[set[int], set[int]]:
    """The batches with an event that is answered otherwise than before; and those of which a key, between two of its events, is."""
    surely, perhaps = set[int](), set[int]()
    for number in numbers:
        for event in world.events[number]:
            own = [each["at"] for each in world.events[number] if each["k"] == event["k"]]
            moments = [min(own) + timedelta(minutes=each) for each in range(int((max(own) - min(own)) / timedelta(minutes=1)) + 1)]
            if before(event) != world.answer(event):
                surely.add(number)
            if any(before(event | {"at": at}) != world.answer(event | {"at": at}) for at in moments):
                perhaps.add(number)
    return surely, surely | perhaps
