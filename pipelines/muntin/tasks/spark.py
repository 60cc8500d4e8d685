"""Tasks on Spark, one for each item: with a Spark context, or over Spark Connect."""

from __future__ import annotations

import json
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin import errors
from muntin.spark.stopping import java_is_gone
from muntin.spark.workers_python import about_python
from muntin.tasks.runner import in_memory, killed_task, register

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Packed:
    """An item that is pickled as Spark pickles functions: a class or function of a notebook or a DAG file
    travels with it.
    """

    item: Any

    def __reduce__(self) -> tuple[Callable[[bytes], Packed], tuple[bytes]]:
        from pyspark.cloudpickle import dumps

        return _unpacked, (dumps(self.item),)


def _unpacked(content: bytes) -> Packed:
    return Packed(pickle.loads(content))  # noqa: S301 - the driver packed it


@dataclass(frozen=True, slots=True)
class OnSpark:
    """Runs tasks on Spark.

    Attributes:
        spark: the session, classic or Connect.
        address: where Spark is, for people.
    """

    spark: SparkSession
    address: str = "of this process"

    @property
    def parallelism(self) -> int:
        """How many tasks can run at once; 8 where the session does not tell."""
        try:
            return int(self.spark.sparkContext.defaultParallelism)
        except Exception:  # noqa: BLE001 - Connect has no context, and raises one of several errors
            return int(self.spark.conf.get("spark.default.parallelism", "8") or 8)

    def run(self, work: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """See `Runner`. A task receives its own item only: items are pickled apart, and what two items share
        travels with both.

        Workers with another Python than this process are refused.
        """
        if not items:
            return []
        run = _with_context if hasattr(self.spark, "sparkContext") else _over_connect
        register()
        try:
            texts = run(self.spark, work, [Packed(item) for item in items])
        except Exception as wrong:
            error = (None if java_is_gone() else about_python(self.spark, wrong)) or killed_task(wrong, items)
            if error:
                raise error from wrong
            raise
        outcomes = [json.loads(text) for text in texts]
        for outcome in outcomes:
            if "error" in outcome:
                raise getattr(errors, outcome["error"], errors.StateError)(outcome["text"])
        return [outcome["result"] for outcome in outcomes]

    def __str__(self) -> str:
        return f"on Spark ({self.address})"


def _with_context(spark: SparkSession, work: Callable[[Any], Any], packed: Sequence[Packed]) -> list[str]:
    """The outcomes in order. A partition holds one item, and travels with its own task: nothing is shuffled.

    An error that is no `MuntinError` comes as a `PythonException`, over Connect, too.
    """
    try:
        return list(
            spark.sparkContext.parallelize(packed, len(packed))
            .map(lambda item: _outcome(work, item))
            .collect()
        )
    except Exception as wrong:
        java = getattr(wrong, "java_exception", None)
        cause = java.getCause() if java else None
        if cause is None or cause.getClass().getSimpleName() != "PythonException":
            raise
        from pyspark.errors import PythonException

        message = (
            "An exception was thrown from the Python worker. Please see the stack trace"
            f" below.\n{cause.getMessage()}"
        )
        raise PythonException(message) from None


def _over_connect(spark: SparkSession, work: Callable[[Any], Any], packed: Sequence[Packed]) -> list[str]:
    """The outcomes in order.

    Connect does not let us fill partitions: of several items, a shuffle by number gives each task its own.
    """
    import pyarrow as pa

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            outcomes = [_outcome(work, pickle.loads(item)) for item in batch.column(1).to_pylist()]  # noqa: S301 - the driver packed them
            yield pa.RecordBatch.from_arrays(
                [batch.column(0), pa.array(outcomes, pa.string())], ["number", "outcome"]
            )

    table = pa.table(
        {
            "number": pa.array(range(len(packed)), pa.int32()),
            "item": pa.array(map(pickle.dumps, packed), pa.binary()),
        }
    )
    frame = spark.createDataFrame(table)
    tasks = frame.repartitionById(len(packed), "number") if len(packed) > 1 else frame.coalesce(1)
    rows = tasks.mapInArrow(task, "number int, outcome string").collect()
    return [row.outcome for row in sorted(rows, key=lambda row: row.number)]


def _outcome(work: Callable[[Any], Any], packed: Packed) -> str:
    """JSON of the result, or of a `MuntinError` as texts. Spark retries and reports any other error."""
    try:
        return json.dumps({"result": in_memory(work, packed.item)})
    except errors.MuntinError as wrong:
        return json.dumps({"error": type(wrong).__name__, "text": str(wrong)})
