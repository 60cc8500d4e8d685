"""Hand changes to a function as a DataFrame of Spark.

How far it is, is noted by the state: a change arrives at least once.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.definition.extras import need
from muntin.sinks.errors import SinkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from muntin.sinks.declaration import SparkSink
    from muntin.sinks.delivery import Delivery, Position, Reach


@contextmanager
def opened(sink: SparkSink, reach: Reach) -> Iterator[SparkFrame]:
    """A session, once there is something to send.

    Raises:
        SinkError: there is no Spark here, or the function failed.
        MissingPackageError: pyspark is not installed.
    """
    need("pyspark")
    if sink.write is None or reach.session is None:
        raise SinkError("there is no Spark here; muntin status --sinks FILE --send starts one")
    yield SparkFrame(sink.write, sink.title, reach)


@dataclass(frozen=True, slots=True)
class SparkFrame:
    """The function of a sink, reached. See `Opened`."""

    write: Callable[[Any, int], object]
    title: str
    reach: Reach

    def position(self, noted: Position | None) -> Position | None:
        return noted

    def send(self, delivery: Delivery, alive: Callable[[], None]) -> Position:
        if len(delivery.rows):
            self._call(delivery, alive)
        return delivery.reached("")

    def _call(self, delivery: Delivery, alive: Callable[[], None]) -> None:
        if self.reach.session is None:
            raise SinkError("there is no Spark here")
        with self.reach.session() as session:
            alive()
            try:
                self.write(session.createDataFrame(delivery.rows), delivery.until.version)
            except Exception as wrong:  # noqa: BLE001 - a function of the user's; its text may hold a secret
                raise SinkError(f"{self.title} raised {type(wrong).__name__}") from None
