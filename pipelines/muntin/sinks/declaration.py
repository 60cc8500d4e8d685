"""Sinks as a definition declares them. Nothing is imported or reached before something is sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from muntin.definition.durations import Duration, positive
from muntin.errors import DefinitionError
from muntin.sinks.address_checks import brokers, check_columns, check_table, check_topic, postgres_address
from muntin.sinks.addresses import connection_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from muntin.sinks.delivery import Opened, Reach

PATIENCE_US = 10_000_000
"""How long a sink may give no sign of life."""


OnUnsupported = Literal["quarantine", "replace", "stop"]


class Declared:
    """The base of all sinks; each has its own fields."""

    __slots__ = ()
    patience_us = PATIENCE_US
    latest = False
    takes = "changes"
    """What the sink is sent: changes, or "versions" or the "place" of the window's table."""
    needs_spark = ""
    """The function that makes the sink, where it works by a session of Spark."""
    package = ""
    """The package that sends to it, which not every installation has."""
    window: str | None

    @property
    def name(self) -> str:
        """The name of the sink in logs and notes, which tells its target from other targets."""
        raise NotImplementedError

    @property
    def of_each(self) -> bool:
        """Whether each window has one, where none is named."""
        return False

    @property
    def query(self) -> str:
        """SQL by which readers of Spark's catalog get at the windows; "": the sink gives no name there."""
        return ""

    @property
    def connection_name(self) -> str | None:
        """The connection that the sink is reached by; None: none."""
        return connection_in(getattr(self, "address", ""))

    def of(self, window: str) -> Self:
        """The sink of a window."""
        return replace(self, window=window)  # type: ignore[type-var]

    def check_columns(self, names: Sequence[str]) -> None:
        """See that the sink can have columns of these names.

        Raises:
            DefinitionError: it cannot.
        """

    def check_keys(self, keys: Sequence[str]) -> None:
        """See that the sink can have windows of these keys: there are keys to keep a row of.

        Raises:
            DefinitionError: it cannot.
        """
        if self.latest and not keys:
            raise DefinitionError(f"to: the {self.name}: latest=True keeps a row for each key, and window {self.window!r} has no keys")


@dataclass(frozen=True, slots=True)
class PostgresSink(Declared):
    """A table of PostgreSQL; `postgres` makes it."""

    address: str
    table: str
    window: str | None = None
    on_unsupported: OnUnsupported = "quarantine"
    latest: bool = False

    package = "psycopg"

    @property
    def name(self) -> str:
        """The name of the sink in logs."""
        return f"table {self.table} at {self.address}"

    def check_columns(self, names: Sequence[str]) -> None:
        """See that PostgreSQL can have columns of these names."""
        check_columns(self.name, names)

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:
        """Reach it."""
        from muntin.sinks.postgres_table import opened

        return opened(self, pipeline, reach)


@dataclass(frozen=True, slots=True)
class KafkaSink(Declared):
    """A topic of Kafka; `kafka` makes it."""

    address: str
    topic: str
    window: str | None = None
    on_unsupported: OnUnsupported = "quarantine"

    package = "confluent_kafka"

    @property
    def name(self) -> str:
        """The name of the sink in logs."""
        return f"topic {self.topic} at {self.address}"

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:  # noqa: ARG002 - as other sinks
        """Reach it."""
        from muntin.sinks.kafka_topic import opened

        return opened(self, reach)


@dataclass(frozen=True, slots=True)
class SparkSink(Declared):
    """A function that takes a DataFrame; `spark` makes it."""

    write: Callable[[Any, int], object] | None
    title: str
    window: str | None = None
    patience_us: int = PATIENCE_US

    needs_spark = "sinks.spark"
    package = "pyspark"

    def __reduce__(self) -> tuple[Any, ...]:
        """Spark's tasks carry the definition, and not every function travels: a pickle has the name alone."""
        return SparkSink, (None, self.title, self.window, self.patience_us)

    @property
    def name(self) -> str:
        """The name of the sink in logs."""
        return f"function {self.title}"

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:  # noqa: ARG002 - as other sinks
        """Reach it."""
        from muntin.sinks.spark_frame import opened

        return opened(self, reach)


def postgres(
    address: str, *, table: str, window: str | None = None, on_unsupported: OnUnsupported = "quarantine", latest: bool = False
) -> PostgresSink:
    """A table of PostgreSQL that holds a window's results, exactly once.

    >>> postgres("warehouse", table="flights_day", window="day").name
    'table flights_day at warehouse'

    Args:
        address: the name of an Airflow connection of type postgres; `env:NAME`, an environment variable that holds an address;
            or an address without a secret, as "postgresql://muntin@db.example:5432/warehouse".
        table: its name, as "flights_day" or "reports.flights_day". It is made if it is missing.
        window: the name of the window; may be left out where the pipeline has one.
        on_unsupported: what becomes of a window with a value that the sink refuses, as a text with U+0000. "quarantine": it is left out,
            and `muntin sinks` names it; "replace": the value is null there, in texts U+FFFD for U+0000, but a key is never another;
            "stop": nothing is sent until the value is mended.
        latest: whether the table keeps one row for each key, of the newest window that is closed, for services that ask by key.

    Raises:
        DefinitionError: an address with a password, or of something else; a name that cannot be.
    """
    check_table(table)
    return PostgresSink(postgres_address(address), table, window, choice_of(on_unsupported, "sinks.postgres"), latest)


def kafka(address: str, topic: str, *, window: str | None = None, on_unsupported: OnUnsupported = "quarantine") -> KafkaSink:
    """A topic of Kafka that gets a message for each window that changed, at least once, with a revision number.

    >>> kafka("broker:9092", "flights-day", window="day").name
    'topic flights-day at broker:9092'

    Args:
        address: brokers as "one:9092,two:9092"; the name of an Airflow connection of type kafka; or `env:NAME`, an environment variable
            that holds brokers or a JSON object with the settings of librdkafka.
        topic: its name. It has to exist.
        window: the name of the window; may be left out where the pipeline has one.
        on_unsupported: what becomes of a window whose message the brokers refuse, as it is too large. "quarantine": it is left out, and
            `muntin sinks` names it; "replace": its largest results are null; "stop": nothing is sent until that is mended.

    Raises:
        DefinitionError: an address with a password; a name that cannot be.
    """
    check_topic(topic)
    return KafkaSink(brokers(address), topic, window, choice_of(on_unsupported, "sinks.kafka"))


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


def choice_of(choice: OnUnsupported, where: str) -> OnUnsupported:
    """The choice for windows that do not fit.

    Raises:
        DefinitionError: it is not known.
    """
    if choice not in get_args(OnUnsupported):
        raise DefinitionError(f"{where}: on_unsupported: {choice!r} is not known; write one of {', '.join(get_args(OnUnsupported))}")
    return choice
