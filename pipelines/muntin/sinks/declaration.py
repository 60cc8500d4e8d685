"""Sinks as a definition declares them. Nothing is imported or reached before something is sent.

The sink of Spark hands changes to a function as a DataFrame. How far it is, is noted by the state: a change
arrives at least once.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

from muntin.definition.durations import Duration, positive
from muntin.definition.extras import need
from muntin.errors import DefinitionError
from muntin.sinks.addresses import connection_in
from muntin.sinks.errors import SinkError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from muntin.files.paths import AnyPath
    from muntin.sinks.delivery import Delivery, Opened, Position, Reach


PATIENCE_US = 10_000_000
"""How long a sink may give no sign of life."""


OnUnsupported = Literal["quarantine", "replace", "stop"]


class Declared:
    """The base of all sinks; each has its own fields."""

    __slots__ = ()
    patience_us = PATIENCE_US
    latest = False
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

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:
        """Reach it. `pipeline`: the name of the pipeline."""
        raise NotImplementedError

    def follow(self, bound: Any, reach: Reach, patience: Any, *, anew: bool) -> Any | None:  # noqa: ANN401, ARG002 - jobs know their types
        """Bring a sink up to date that takes no changes of windows: a `Sent` of `jobs.sending`.

        None: it takes changes.
        """
        return None

    def examine(self, bound: Any, *, deep: bool) -> Iterable[Any]:  # noqa: ANN401, ARG002 - as above
        """The damage of what the sink keeps in the state:

        `Finding`s of `jobs.doctor`. `deep`: whether all of it is read.
        """
        return ()

    def repair(self, bound: Any) -> Sequence[AnyPath]:  # noqa: ANN401, ARG002 - as above
        """Make anew what `examine` names; the paths of that.

        Raises:
            StateError: it cannot be mended.
        """
        return ()

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
            raise DefinitionError(
                f"to: the {self.name}: latest=True keeps a row for each key, and window {self.window!r} has"
                " no keys"
            )


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
        return f"function {self.title}"

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:  # noqa: ARG002 - as other sinks
        return opened(self, reach)


def spark(
    write: Callable[[Any, int], object],
    *,
    window: str | None = None,
    name: str | None = None,
    patience: Duration = "10m",
) -> SparkSink:
    """A function that gets the windows that changed, at least once.

    >>> def to_lake(changes, version): ...
    >>> spark(to_lake, window="day").name
    'function to_lake'

    Args:
        write: called as `write(dataframe, version)`: the changes as a DataFrame of Spark, and the version
            that they lead to.
        window: the name of the window; may be left out where the pipeline has one.
        name: what the sink is called, where the function has no name of its own.
        patience: how long it may take.

    Raises:
        DefinitionError: no function, or one without a name.
    """
    title = name or getattr(write, "__name__", "")
    if not callable(write) or not title or title == "<lambda>":
        raise DefinitionError(
            'sinks.spark: give a function that has a name, as write(dataframe, version), or name="..."'
            " beside it"
        )
    return SparkSink(write, title, window, positive(patience, "sinks.spark: patience"))


def choice_of(choice: OnUnsupported, where: str) -> OnUnsupported:
    """The choice for windows that do not fit.

    Raises:
        DefinitionError: it is not known.
    """
    if choice not in get_args(OnUnsupported):
        raise DefinitionError(
            f"{where}: on_unsupported: {choice!r} is not known; write one of"
            f" {', '.join(get_args(OnUnsupported))}"
        )
    return choice


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
