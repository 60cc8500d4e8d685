"""A pipeline with one window and one result, whose windows go to one sink."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.jobs.sending.catch_up import Sent
from muntin.jobs.sending.send import send
from muntin.jobs.state.bound import Bound, bind
from tests.sinks.places import REACH, Held, alike
from tests.storage.three_batches import HERE, HOUR, START


@dataclass
class Shop:
    """Windows of an hour with one result; they go to one sink."""

    folder: Path
    to: Any
    value: str = "v"
    lateness: str = "0s"

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="shop",
            source=sources.files(str(self.folder / "data/{start:%H}.parquet"), event_time="t", missing="empty"),
            schedule="1h",
            start=START,
            keys=["k"],
            windows={"hour": windows.tumbling("1h", allowed_lateness=self.lateness)},
            aggregates={"v": agg.last(self.value)},
            to=self.to,
        )

    @property
    def bound(self) -> Bound:
        return bind(self.pipeline, self.folder / "state")

    def write(self, at: int, kind: pa.DataType, rows: Mapping[str, Any], of: int | None = None) -> None:
        """The file of a batch, whose events are of its hour, or `of` another hour."""
        (self.folder / "data").mkdir(exist_ok=True)
        columns = [
            pa.repeat(pa.scalar(START + (at if of is None else of) * HOUR, pa.timestamp("us", tz="UTC")), len(rows)),
            pa.array(rows),
            pa.array([*rows.values()], kind),
        ]
        pq.write_table(pa.table(columns, ["t", "k", "v"]), self.folder / f"data/{at:02d}.parquet")

    def ran(self, *batches: int) -> Sent:
        """Run some batches without sinks, then send."""
        self.run(*batches)
        return self.sent()

    def run(self, *batches: int) -> None:
        """Run some batches without sinks."""
        to, self.to = self.to, ()
        for at in batches:
            run(self.pipeline, root=self.folder / "state", start=START + at * HOUR, end=START + (at + 1) * HOUR, spark=HERE)
        self.to = to

    def sent(self) -> Sent:
        (one,) = send(self.bound, REACH)
        return one

    def published(self) -> Held:
        rows = read(self.pipeline, "hour", root=self.folder / "state").to_pylist()
        return {(row["k"], row["window_start"]): row["v"] for row in rows}


def differences(published: Held, held: Held) -> list[Any]:
    """The windows that a sink has otherwise than they are published."""
    return [
        (place, published.get(place), held.get(place))
        for place in published.keys() | held.keys()
        if place not in held or place not in published or not alike(published[place], held[place])
    ]
