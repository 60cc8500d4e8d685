"""Roots, and what the record has of them: digests of the names and versions of their files, which name content to the last bit.

A root is three batches of ten minutes: two at once, the third, then the second anew, with late rows. What it is made of stands in
`roots.json`: source, kinds of windows and aggregates by the rows of the catalogue. `python -m tests.golden.recorded_roots` records
all roots anew.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from muntin import Limits, Pipeline, run, sources
from muntin.jobs.published.pending import accumulated
from muntin.jobs.schema_check.same_versions import versions
from muntin.jobs.state.bound import bind
from tests.catalogue.aggregates import CARRYING, ROWS
from tests.catalogue.columns import COLUMNS
from tests.catalogue.kinds import KINDS
from tests.storage.three_batches import HERE
from tests.tables.delta_tables import append

RECORD = Path(__file__).with_name("roots.json")
LIBRARIES = ("duckdb", "numba", "numpy", "pyarrow")
BEGIN, STEP = datetime(2024, 1, 1, tzinfo=UTC), timedelta(minutes=10)
SCHEMA = pa.schema({"t": pa.timestamp("us", tz="UTC"), "k": pa.string(), "id": pa.int64(), **COLUMNS})
LISTS = ("l", "m")
"""Columns that a CSV file cannot have."""
SQL = {"k": "VARCHAR", "id": "BIGINT", "n": "BIGINT", "x": "DOUBLE", "y": "DOUBLE", "s": "VARCHAR", "b": "BOOLEAN", "d": "DECIMAL(38,2)"}
CALLS = {row.call: row for row in (*ROWS, *CARRYING)}
WINDOWS = {kind.name: kind for kind in KINDS}
Root = Mapping[str, Any]


def made_with() -> dict[str, str]:
    """What names of files depend on beside the product: the libraries that write and compute, Python and the processor."""
    here = versions()
    python = here["python"].rpartition(".")[0]
    return {name: here[name] for name in LIBRARIES} | {"python": python, "machine": platform.machine()}


def rows_of(number: int, again: int) -> list[dict[str, Any]]:
    """Rows of a batch, each fifth late by some minutes. They follow from CRCs, which no version of Python draws otherwise."""
    rows = []
    for at in range(14):
        drawn = [crc32(repr((number, again, at, column)).encode()) for column in range(8)]
        seconds = number * 600 + drawn[0] % 600 - (300 if at % 5 == 4 else 0)
        rows.append(
            {
                "t": BEGIN + timedelta(seconds=max(0, seconds), microseconds=drawn[1] % 1_000_000),
                "k": "aü"[drawn[2] % 2],
                "id": 100 * number + at - at % 7 // 6,  # two rows of an id
                "n": None if at % 6 == 5 else drawn[3] % 19 - 9,
                "x": drawn[4] / 2**28,
                "y": 1e9 + drawn[4] / 2**20,
                "s": ("p", "q", "ö")[drawn[5] % 3],
                "b": drawn[5] % 2 == 0,
                "d": Decimal(drawn[6] % 10**7) / 100,
                "l": [drawn[6] / 2**20, drawn[7] / 2**22],
                "m": [drawn[7] / 2**24],
            }
        )
    return rows


def write(root: Root, folder: Path, number: int, again: int = 0) -> None:
    """A batch of the source; of a table, what is written again is added."""
    table = pa.Table.from_pylist(rows_of(number, again), SCHEMA)
    begins, form = BEGIN + number * STEP, root["source"]
    path = folder / f"{begins:%H%M}.{form}"
    if form == "table":
        append(folder / "table", table, begins + STEP / 2)
    elif form == "csv":
        pyarrow.csv.write_csv(table.drop_columns(LISTS), path)
    elif form == "jsonl":
        lines = (json.dumps({name: str(value) if name in "td" else value for name, value in row.items()}) for row in table.to_pylist())
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    else:
        pq.write_table(table, path)


def source_of(form: str, folder: Path) -> Any:
    """The source that `write` writes; of Parquet, each `id` counts once."""
    if form == "table":
        return sources.table(str(folder / "table"), event_time="t")
    more: dict[str, Any] = {"rows": sources.events(dedupe="id")} if form == "parquet" else {"types": SQL}
    return sources.files(f"{folder}/{{start:%H%M}}.{form}", event_time="t", **more)


def pipeline_of(root: Root, folder: Path) -> Pipeline:
    return Pipeline(
        name="recorded",
        source=source_of(root["source"], folder),
        schedule="10m",
        start=BEGIN,
        keys=["k"],
        windows={name: WINDOWS[name].window for name in root["windows"]},
        aggregates={f"a{at}": CALLS[call].made() for at, call in enumerate(root["aggregates"])},
        limits=Limits(max_quarantined=None, settle_after=0),
    )


def digests(root: Root, folder: Path) -> dict[str, str]:
    """Table of the root -> the digest of its files, of states also of the versions of batches; `definition`: the name of the state.

    Windows that no batch closes have no files, and no digest.
    """
    pipeline, state = pipeline_of(root, folder), folder / "state"

    def go(first: int, last: int) -> None:
        run(pipeline, root=state, start=BEGIN + first * STEP, end=BEGIN + (last + 1) * STEP, spark=HERE)

    for number in range(3):
        write(root, folder, number)
    go(0, 1)
    go(2, 2)
    write(root, folder, 1, again=1)
    go(1, 1)
    bound = bind(pipeline, state)
    texts = {"definition": [bound.folder.name]}
    for frames in bound.frame_sets:
        batches = accumulated(bound, frames.table)
        texts[frames.table] = [*files(bound.table(frames.table)), *map(str, batches.start_us), *map(str, batches.version)]
    texts |= {name: files(bound.home / "windows" / name) for name in root["windows"]}
    return {name: blake2b("\n".join(each).encode(), digest_size=8).hexdigest() for name, each in texts.items() if each}


def files(table: Any) -> list[str]:
    """The files of a table. Ledgers say when windows were published, and are left out."""
    return sorted(path.relative_to(table).as_posix() for path in table.rglob("*.parquet") if not path.name.startswith("ledger_"))


def recorded() -> list[Root]:
    return list(json.loads(RECORD.read_text(encoding="utf-8"))["roots"])


def record(roots: Sequence[Root]) -> None:
    """Write the record: a root a line."""
    lines = []
    for root in roots:
        with TemporaryDirectory() as folder:
            lines.append(json.dumps({**root, "digests": digests(root, Path(folder))}, ensure_ascii=False))
    text = ",\n".join(lines)
    RECORD.write_text(f'{{"made_with": {json.dumps(made_with())},\n"roots": [\n{text}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    record(recorded())
