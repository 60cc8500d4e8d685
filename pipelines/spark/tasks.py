"""Run a function on Spark, one task per item, and get JSON-able results. It works over Connect too: no RDD."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pipelines import errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import SparkSession


def run_tasks(spark: SparkSession, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    """`[work(item) for item in items]`, each in a Spark task of its own; results must be JSON-able.

    Raises:
        MuntinError: the error of the first item that raised one, in its own type.
    """
    if not items:
        return []
    items = list(items)

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            for at in batch.column(0).to_pylist():
                result = [[at], [json.dumps(_outcome(work, items[at]))]]
                yield pa.RecordBatch.from_arrays([pa.array(column) for column in result], ["item", "outcome"])

    rows = spark.range(0, len(items), 1, len(items)).mapInArrow(task, "item bigint, outcome string").collect()
    outcomes = [json.loads(row.outcome) for row in sorted(rows, key=lambda row: row.item)]
    for outcome in outcomes:
        if "error" in outcome:
            raise getattr(errors, outcome["error"], errors.StateError)(outcome["text"])
    return [outcome["result"] for outcome in outcomes]


def _outcome(work: Callable[[Any], Any], item: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON-able value
    """The result, or a `MuntinError` as texts. Spark retries and reports any other error."""
    try:
        return {"result": work(item)}
    except errors.MuntinError as wrong:
        return {"error": type(wrong).__name__, "text": str(wrong)}


def parallelism(spark: SparkSession) -> int:
    """How many tasks can run at once; 8 where the session does not tell."""
    try:
        return int(spark.sparkContext.defaultParallelism)
    except Exception:  # noqa: BLE001 - Connect has no context, and raises one of several errors
        return int(spark.conf.get("spark.default.parallelism", "8") or 8)
