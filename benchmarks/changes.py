"""`python -m benchmarks.changes`: what it costs to change what. The table of `docs/operating/definitions.md`.

A history of 20 days, 100,000 rows a day in files of ten columns, is run. Then each kind of change is made on a copy of it, by the commands
that a user would call, each in a process of its own: rebuild where the state lacks batches, then promote. Counted are the rows of the
source that were read, and the bytes that the tasks read of the source and of states (what the process asked of the system, by
/proc/self/io). Spark is left out: its tasks run in this process.
"""

import argparse
import json
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from muntin import Pipeline, Renamed, run, sources, windows
from muntin import aggregates as agg
from muntin.tasks import Local

START, DAY = datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=1)
DAYS, ROWS, KEYS = 20, 100_000, 200
MEGA = 1e6


def write(folder: Path, days: range, rows: int, kind: pa.DataType) -> None:
    """A file for each day: a time, two keys, and seven measures; `kind`: of the measure `x`."""
    folder.mkdir(parents=True, exist_ok=True)
    for day in days:
        dice = np.random.default_rng(day)
        times = int((START + day * DAY).timestamp()) * 1_000_000 + np.sort(dice.integers(0, 86_399_000_000, rows))
        columns = {
            "t": pa.array(times).cast(pa.timestamp("us", tz="UTC")),
            "k": dice.integers(0, KEYS, rows),
            "g": dice.integers(0, 3, rows),
        }
        columns |= {"x": pa.array(dice.integers(0, 10_000, rows)).cast(kind)}
        columns |= {name: dice.random(rows) for name in ("y", "a", "b", "c", "d", "e")}
        pq.write_table(pa.table(columns), folder / f"{START + day * DAY:%Y-%m-%d}.parquet")


def definition(folder: Path) -> Pipeline:
    """The definition before the changes."""
    return Pipeline(
        name="flow",
        source=sources.files(str(folder / "data/{start:%Y-%m-%d}.parquet"), event_time="t"),
        schedule="@daily",
        start=START,
        keys=["k"],
        windows={"hours": windows.sliding("6h", step="1h"), "visits": windows.session("30m")},
        aggregates={"n": agg.count(), "total": agg.sum("x"), "most": agg.max("x")},
    )


Change = Callable[[Pipeline], Pipeline]
CHANGES: Mapping[str, Change] = {
    "nothing": lambda now: now,
    "`unit`, `comment`, `description`": lambda now: replace(now, description="other"),
    "`name` with `renamed=`": lambda now: replace(now, name="stream", renamed=Renamed(pipeline="flow")),
    "`grace`": lambda now: replace(now, windows={**now.windows, "hours": windows.sliding("6h", step="1h", grace="1h")}),
    "`size` over the same frames": lambda now: replace(now, windows={**now.windows, "hours": windows.sliding("12h", step="1h")}),
    "SQL over results": lambda now: replace(now, aggregates={**now.aggregates, "mean": "total / n"}),
    "a window over frames that are there": lambda now: replace(now, windows={**now.windows, "short": windows.sliding("3h", step="1h")}),
    "an aggregate over fields that are there": lambda now: replace(now, aggregates={**now.aggregates, "mean": agg.mean("x")}),
    "an aggregate less": lambda now: replace(now, aggregates={"n": agg.count(), "total": agg.sum("x")}),
    "an aggregate with new fields, of a column that was used": lambda now: replace(
        now, aggregates={**now.aggregates, "spread": agg.stddev("x")}
    ),
    "an aggregate with new fields, of another column": lambda now: replace(now, aggregates={**now.aggregates, "y": agg.sum("y")}),
    "`keys`": lambda now: replace(now, keys=["k", "g"]),
    "`where`": lambda now: replace(now, where="x > 100"),
    "`types`": lambda now: replace(now, source=replace(now.source, types={"x": "DOUBLE"})),
}
WIDER = "a file with a wider type (int, then long)"


@contextmanager
def counted(into: dict[str, int]) -> Iterator[None]:
    """Count what is read: of the source by the tasks that make states, of states by those that make windows, and to write them anew."""
    from muntin.jobs.accumulate import accumulate, joined_reading, read_batches
    from muntin.jobs.finalize import finalize_task

    def counting(what: str, task: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def read(*given: Any) -> Any:  # noqa: ANN401 - whatever a task takes
            before = _read_so_far()
            done = task(*given)
            into[what] = into.get(what, 0) + _read_so_far() - before
            return done

        return read

    places = [(read_batches, "accumulate_shares", "source_bytes"), (finalize_task, "finalize_shards", "state_bytes")]
    places += [(accumulate, "in_types", "state_bytes"), (joined_reading, "join", "state_bytes")]
    kept = [(module, name, getattr(module, name)) for module, name, _ in places]
    for module, name, what in places:
        setattr(module, name, counting(what, getattr(module, name)))
    try:
        yield
    finally:
        for module, name, task in kept:
            setattr(module, name, task)


def _read_so_far() -> int:
    return int(Path("/proc/self/io").read_text(encoding="ascii").split()[1])


def measured(folder: Path, name: str) -> dict[str, Any]:
    """Make a change in a folder with data and state, and count."""
    from muntin.jobs.state.bound import bind
    from muntin.jobs.upkeep.promote import promote
    from muntin.jobs.upkeep.rebuild import to_rebuild

    root, spark, found = folder / "state", Local(1), {"source_bytes": 0, "state_bytes": 0, "source_rows": 0}
    began = time.process_time()
    with counted(found):
        if name == WIDER:
            write(folder / "data", range(DAYS - 1, DAYS), ROWS, pa.int64())
            report = run(definition(folder), root=root, start=START + (DAYS - 1) * DAY, end=START + DAYS * DAY, spark=spark)
            found["source_rows"] = sum(batch.rows_read for batch in report.batches if batch.interval_start >= START + (DAYS - 1) * DAY)
        else:
            changed = CHANGES[name](definition(folder))
            for batch in to_rebuild(bind(changed, root)) if _needs_source(changed, root) else ():
                report = run(changed, root=root, start=batch.interval_start, end=batch.interval_end, spark=spark, promoting=False)
                found["source_rows"] += next(each.rows_read for each in report.batches if each.interval_start == batch.interval_start)
            if changed.renamed.pipeline:
                bind(changed, root, claim=True)
            promote(changed, root=root, spark=spark)
    return {**found, "cpu": time.process_time() - began}


def _needs_source(changed: Pipeline, root: Path) -> bool:
    from muntin.jobs.accumulate.earlier_state import adoptable
    from muntin.jobs.state.bound import bind

    bound = bind(changed, root)
    return not Path(bound.folder).is_dir() and adoptable(bound) is None


def line(name: str, found: Mapping[str, Any], source_bytes: int) -> str:
    """A row of the table."""
    share = f" ({found['source_bytes'] / source_bytes:.0%})" if found["source_rows"] else ""
    cells = [name, f"{found['source_rows']:,}", f"{found['source_bytes'] / MEGA:,.1f} MB{share}", f"{found['state_bytes'] / MEGA:,.1f} MB"]
    return "| " + " | ".join([*cells, f"{found['cpu']:.1f} s"]) + " |"


def main() -> None:
    """Measure every change, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="one change, by its name in the table")
    parser.add_argument("--json", action="store_true", help="figures instead of the table")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="muntin-changes-") as name:
        base = Path(name, "base")
        write(base / "data", range(DAYS), ROWS, pa.int32())
        run(definition(base), root=base / "state", start=START, end=START + DAYS * DAY, spark=Local(1))
        source_bytes, found = sum(file.stat().st_size for file in (base / "data").iterdir()), {}
        for change in [asked.only] if asked.only else (*CHANGES, WIDER):
            shutil.rmtree(Path(name, "now"), ignore_errors=True)
            base.rename(Path(name, "now"))  # the definition names the folder
            shutil.copytree(Path(name, "now"), base)
            with multiprocessing.get_context("spawn").Pool(1) as alone:
                found[change] = alone.apply(measured, (base, change))
            shutil.rmtree(base)
            Path(name, "now").rename(base)
    if asked.json:
        json.dump(found, sys.stdout, indent=2)
        return
    heads = f"| change | rows of the source | bytes of the source (of {source_bytes / MEGA:,.0f} MB) | bytes of states | CPU |"
    print("\n".join([heads, "| --- | --- | --- | --- | --- |", *(line(name, each, source_bytes) for name, each in found.items())]))


if __name__ == "__main__":
    main()
