"""What aggregates cost: 20 numeric ones against 2, sketches against their bare update. `python -m benchmarks.aggregates`.

Two million events, 1,000 keys, tumbling windows of 10 s; results compared with DuckDB's first. Prints a table.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import datasketches
import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.ours.pipeline import session
from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg

BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
WINDOW_S = 10
FEW: dict[str, tuple[Any, str]] = {"n": (agg.count(), "count(*)"), "sum_a": (agg.sum("a"), "sum(a)")}
MANY: dict[str, tuple[Any, str]] = FEW | {
    "sum_b": (agg.sum("b"), "sum(b)"),
    "mean_a": (agg.mean("a"), "avg(a)"),
    "mean_b": (agg.mean("b"), "avg(b)"),
    "min_a": (agg.min("a"), "min(a)"),
    "max_a": (agg.max("a"), "max(a)"),
    "min_b": (agg.min("b"), "min(b)"),
    "max_b": (agg.max("b"), "max(b)"),
    "range_b": (agg.range("b"), "max(b) - min(b)"),
    "variance_a": (agg.variance("a"), "var_samp(a)"),
    "variance_b": (agg.variance("b"), "var_samp(b)"),
    "stddev_b": (agg.stddev("b", population=True), "stddev_pop(b)"),
    "covariance": (agg.covariance("a", "b"), "covar_samp(a, b)"),
    "correlation": (agg.correlation("a", "b"), "corr(a, b)"),
    "large": (agg.count_if("a > 50"), "count_if(a > 50)"),
    "sum_large": (agg.sum("a", where="a > 50"), "sum(a) FILTER (WHERE a > 50)"),
    "weighted": (agg.weighted_mean("b", "a"), "CASE WHEN sum(a) <> 0 THEN sum(a * b) / sum(a) END"),
    "any_large": (agg.any_of("a > 98"), "bool_or(a > 98)"),
    "all_small": (agg.all_of("a < 99"), "bool_and(a < 99)"),
}
SKETCHES: dict[str, tuple[Any, Callable[[], Any]]] = {
    "approx_count_distinct": (agg.approx_count_distinct("a"), lambda: datasketches.hll_sketch(12)),
    "theta": (agg.theta("a"), lambda: datasketches.update_theta_sketch(12)),
}


def events(folder: Path, count: int) -> Path:
    """One file; nearly all values of `b` differ."""
    dice = np.random.default_rng(1)
    at = np.sort(dice.integers(0, 3_600_000_000, count)) + int(BEGIN.timestamp()) * 1_000_000
    table = {"t": pa.array(at).cast(pa.timestamp("us", tz="UTC")), "key": dice.integers(0, 1_000, count, dtype=np.int32)}
    pq.write_table(pa.table(table | {"a": dice.integers(0, 100, count), "b": dice.normal(1e3, 10, count)}), folder / "events.parquet")
    return folder / "events.parquet"


def pipeline(file: Path, aggregates: dict[str, Any]) -> Pipeline:
    source = sources.files(str(file), event_time="t", all_files=True)
    kinds = {"w": windows.tumbling(timedelta(seconds=WINDOW_S))}
    return Pipeline(name="p", source=source, schedule="1h", start=BEGIN, keys=["key"], windows=kinds, aggregates=aggregates)


def ours(file: Path, aggregates: dict[str, Any], runs: int) -> tuple[float, pa.Table]:
    """The median time of a run into a fresh folder, after one that nobody counts; and what came out."""
    spent = []
    for _ in range(runs + 1):
        with tempfile.TemporaryDirectory() as root:
            begun = time.perf_counter()
            run(pipeline(file, aggregates), root=root, start=BEGIN, end=BEGIN + timedelta(hours=1), spark=session(computes=True))
            spent.append(time.perf_counter() - begun)
            table = read(pipeline(file, aggregates), "w", root=root)
    return statistics.median(spent[1:]), table


def duck(file: Path, chosen: dict[str, tuple[Any, str]], runs: int) -> tuple[float, pa.Table]:
    """The same by GROUP BY, written to Parquet."""
    parts = ", ".join(f"{sql} AS {name}" for name, (_, sql) in chosen.items())
    query = f"SELECT key, epoch_us(t) // {WINDOW_S * 1_000_000} AS w, {parts} FROM '{file}' GROUP BY 1, 2 ORDER BY 1, 2"
    spent = []
    with duckdb.connect() as db, tempfile.TemporaryDirectory() as root:
        for _ in range(runs + 1):
            begun = time.perf_counter()
            db.execute(f"COPY ({query}) TO '{root}/out.parquet'")
            spent.append(time.perf_counter() - begun)
        return statistics.median(spent[1:]), pq.read_table(f"{root}/out.parquet")


def spark(file: Path, chosen: dict[str, tuple[Any, str]], runs: int) -> float:
    """The same by Spark SQL."""
    parts = ", ".join(f"{sql} AS {name}" for name, (_, sql) in chosen.items())
    spark_session = session(computes=True)
    spark_session.conf.set("spark.sql.ansi.enabled", "false")  # else a covariance of one row is an error
    spark_session.read.parquet(str(file)).createOrReplaceTempView("events")
    query = f"SELECT key, unix_micros(t) div {WINDOW_S * 1_000_000} AS w, {parts} FROM events GROUP BY 1, 2"
    spent = []
    for _ in range(runs + 1):
        with tempfile.TemporaryDirectory() as root:
            begun = time.perf_counter()
            spark_session.sql(query).write.mode("overwrite").parquet(f"{root}/out")
            spent.append(time.perf_counter() - begun)
    return statistics.median(spent[1:])


def compared(found: pa.Table, wanted: pa.Table, names: list[str]) -> None:
    """Floats to nine digits or, where they cancel, to what is left of the values; all else equal."""
    for name in names:
        one, other = (table[name].to_pandas().to_numpy(dtype=float, na_value=np.nan) for table in (found, wanted))
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7, err_msg=name)


def bare(file: Path, make: Callable[[], Any]) -> float:
    """Every value of every window into a sketch of its own, with nothing around it."""
    order = "ORDER BY key, t"
    table = duckdb.sql(f"SELECT key, epoch_us(t) // {WINDOW_S * 1_000_000} AS w, a FROM '{file}' {order}").to_arrow_table()
    values, group = table["a"].to_numpy(), table["key"].to_numpy() * 10**9 + table["w"].to_numpy() % 10**9
    heads = np.flatnonzero(np.diff(group, prepend=-1))
    begun = time.perf_counter()
    for low, high in zip(heads, [*heads[1:], len(values)], strict=True):
        sketch = make()
        for value in values[low:high].tolist():
            sketch.update(value)
    return time.perf_counter() - begun


MOST_OF_MANY, MOST_OF_BARE = 3, 5  # times 2 aggregates; times a sketch's bare update


def main() -> int:
    """Compare, then measure; 1 if something costs more than is promised."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--events", type=int, default=2_000_000)
    asked.add_argument("--runs", type=int, default=3)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = events(Path(folder), given.events)
        lines = []
        few, kept = 0.0, True
        for title, chosen in (("2 numeric aggregates", FEW), ("20 numeric aggregates", MANY)):
            spent, found = ours(file, {name: aggregate for name, (aggregate, _) in chosen.items()}, given.runs)
            theirs, wanted = duck(file, chosen, given.runs)
            compared(found, wanted, list(chosen))
            few = few or spent
            kept &= spent <= MOST_OF_MANY * few
            lines.append(f"| {title} | {spent:.2f} | {spent / few:.2f} | {theirs:.2f} | {spark(file, chosen, given.runs):.2f} |")
        for name, (aggregate, make) in SKETCHES.items():
            spent, _ = ours(file, {"n": agg.count(), "x": aggregate}, given.runs)
            least = bare(file, make)
            kept &= spent - few <= MOST_OF_BARE * least
            title = f"{name}: {spent - few:.2f} s over 2 numeric ones; bare update {least:.2f} s, {(spent - few) / least:.1f} times"
            lines.append(f"| {title} | {spent:.2f} | {spent / few:.2f} | | |")
        print("| aggregates | ours s | to 2 | DuckDB s | Spark SQL s |\n| --- | --- | --- | --- | --- |")
        print("\n".join(lines))
    print(f"\nPromised: {MOST_OF_MANY} times 2 for 20, {MOST_OF_BARE} times a bare update: {'kept' if kept else 'NOT KEPT'}.")
    return int(not kept)


if __name__ == "__main__":
    raise SystemExit(main())
