"""Between the oracle's values and the public API: definitions, source files, published rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, read, sources
from muntin import aggregates as agg
from muntin.testing.oracle import Agg, Batch, Window
from muntin.testing.oracle.kinds import SECOND, micros
from tests.catalogue.calls import span
from tests.catalogue.kinds import called

__all__ = ["SECOND", "Window", "micros", "span"]
NAME = "%Y%m%dT%H%M%S"
TIME = pa.timestamp("us", tz="UTC")
Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Measure:
    """One aggregate twice: the SQL that Muntin gets and the function that the oracle applies."""

    name: str
    sql: str | None
    oracle: Agg

    @property
    def public(self) -> object:
        """As a user writes it."""
        make = getattr(agg, self.name)
        more = {"population": True} if self.oracle.population else {}
        return make() if self.sql is None else make(self.sql, **more)


def measure(name: str, column: str | None = None, *, population: bool = False) -> Measure:
    """An aggregate over a plain column."""
    if column is None:
        return Measure(name, None, Agg(name))
    return Measure(name, column, Agg(name, lambda row: row[column], population=population))


def instant(at: int) -> datetime:
    """Microseconds since 1970 as an aware datetime."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at)


def define(
    name: str,
    folder: Path,
    batches: Sequence[Batch],
    asked: Mapping[str, Window],
    measures: Mapping[str, Measure],
    *,
    keys: Sequence[str],
    file: str = "{start:" + NAME + "}.parquet",
    **more: Any,
) -> Pipeline:
    """The pipeline over a folder of batches, all of one length."""
    return Pipeline(
        name=name,
        source=sources.files(str(folder / file), event_time="t", missing="empty"),
        schedule=span(batches[0].end - batches[0].start),
        start=instant(batches[0].start),
        keys=list(keys),
        windows={key: called(value) for key, value in asked.items()},
        aggregates={key: value.public for key, value in measures.items()},
        **{"limits": Limits(max_quarantined=None), **more},
    )


def write(folder: Path, batch: Batch, types: Mapping[str, pa.DataType]) -> None:
    """One Parquet file, or none for an empty batch."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{instant(batch.start):{NAME}}.parquet"
    path.unlink(missing_ok=True)
    if batch.rows:
        pq.write_table(pa.Table.from_pylist(list(batch.rows), pa.schema({"t": TIME, **types})), path)


def published(pipeline: Pipeline, name: str, root: Path, batches: Sequence[Batch], **more: bool) -> Rows:
    """What `read` gives, instants as microseconds, the closing batch as its number."""
    rows = read(pipeline, name, root=str(root), **more).to_pylist()
    numbers = {batch.start: number for number, batch in enumerate(batches)}
    for row in rows:
        row["window_start"], row["window_end"] = micros(row["window_start"]), micros(row["window_end"])
        row["batch"] = None if row["batch"] is None else numbers[micros(row["batch"])]
    return rows
