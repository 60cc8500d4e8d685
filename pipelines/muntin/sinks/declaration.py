"""Sinks as a definition declares them. Nothing is imported or reached before something is sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from muntin.definition.durations import Duration, positive
from muntin.errors import DefinitionError
from muntin.sinks.address_checks import brokers, check_table, check_topic, postgres_address
from muntin.sinks.addresses import connection_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from muntin.sinks.delivery import Opened, Reach

PATIENCE_US = 10_000_000
"""How long a sink may give no sign of life."""


@dataclass(frozen=True, slots=True)
class JdbcSink:
    """A table of PostgreSQL; `jdbc` makes it."""

    address: str
    table: str
    window: str | None = None

    patience_us = PATIENCE_US

    @property
    def name(self) -> str:
        """The name of the sink in logs."""
        return f"table {self.table} at {self.address}"

    @property
    def connection_name(self) -> str | None:
        """The connection that it is reached by; None: none."""
        return connection_in(self.address)

    def of(self, window: str) -> Self:
        """The sink of a window."""
        return replace(self, window=window)

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:
        """Reach it."""
        from muntin.sinks.postgres import opened

        return opened(self, pipeline, reach)


@dataclass(frozen=True, slots=True)
class KafkaSink:
    """A topic of Kafka; `kafka` makes it."""

    address: str
    topic: str
    window: str | None = None

    patience_us = PATIENCE_US

    @property
    def name(self) -> str:
        """The name of the sink in logs."""
        return f"topic {self.topic} at {self.address}"

    @property
    def connection_name(self) -> str | None:
        """The connection that it is reached by; None: none."""
        return connection_in(self.address)

    def of(self, window: str) -> Self:
        """The sink of a window."""
        return replace(self, window=window)

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:  # noqa: ARG002 - as other sinks
        """Reach it."""
        from muntin.sinks.kafka_topic import opened

        return opened(self, reach)


@dataclass(frozen=True, slots=True)
class SparkSink:
    """A function that takes a DataFrame; `spark` makes it."""

    write: Callable[[Any, int], object] | None
    title: str
    window: str | None = None
    patience_us: int = PATIENCE_US

    def __reduce__(self) -> tuple[Any, ...]:
        """Spark's tasks carry the definition, and not every function travels: a pickle has the name alone."""
        return SparkSink, (None, self.title, self.window, self.patience_us)

    @property
    def name(self) -> str:
        """The name of the sink in logs."""
        return f"function {self.title}"

    @property
    def connection_name(self) -> str | None:
        """No connection."""
        return None

    def of(self, window: str) -> Self:
        """The sink of a window."""
        return replace(self, window=window)

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:  # noqa: ARG002 - as other sinks
        """Reach it."""
        from muntin.sinks.spark_frame import opened

        return opened(self, reach)


def jdbc(address: str, *, table: str, window: str | None = None) -> JdbcSink:
    """A table of PostgreSQL that holds a window's results, exactly once.

    >>> jdbc("warehouse", table="flights_day", window="day").name
    'table flights_day at warehouse'

    Args:
        address: the name of an Airflow connection of type postgres; `env:NAME`, an environment variable that holds an address;
            or an address without a secret, as "postgresql://muntin@db.example:5432/warehouse".
        table: its name, as "flights_day" or "reports.flights_day". It is made if it is missing.
        window: the name of the window; may be left out where the pipeline has one.

    Raises:
        DefinitionError: an address with a password, or of something else; a name that cannot be.
    """
    check_table(table)
    return JdbcSink(postgres_address(address), table, window)


def kafka(address: str, topic: str, *, window: str | None = None) -> KafkaSink:
    """A topic of Kafka that gets a message for each window that changed, at least once, with a revision number.

    >>> kafka("broker:9092", "flights-day", window="day").name
    'topic flights-day at broker:9092'

    Args:
        address: brokers as "one:9092,two:9092"; the name of an Airflow connection of type kafka; or `env:NAME`, an environment variable
            that holds brokers or a JSON object with the settings of librdkafka.
        topic: its name. It has to exist.
        window: the name of the window; may be left out where the pipeline has one.

    Raises:
        DefinitionError: an address with a password; a name that cannot be.
    """
    check_topic(topic)
    return KafkaSink(brokers(address), topic, window)


def spark(
    write: Callable[[Any, int], object], *, window: str | None = None, name: str | None = None, patience: Duration = "10m"
) -> SparkSink:
    """A function that gets the windows that changed, at least once.

    >>> def to_lake(changes, version): ...
    >>> spark(to_lake, window="day").name
    'function to_lake'

    Args:
        write: called as `write(dataframe, version)`: the changes as a DataFrame of Spark, and the version that they lead to.
        window: the name of the window; may be left out where the pipeline has one.
        name: what the sink is called, where the function has no name of its own.
        patience: how long it may take.

    Raises:
        DefinitionError: no function, or one without a name.
    """
    title = name or getattr(write, "__name__", "")
    if not callable(write) or not title or title == "<lambda>":
        raise DefinitionError('sinks.spark: give a function that has a name, as write(dataframe, version), or name="..." beside it')
    return SparkSink(write, title, window, positive(patience, "sinks.spark: patience"))
