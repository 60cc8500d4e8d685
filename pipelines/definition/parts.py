"""What a pipeline asks of its parts that are defined elsewhere: sources, aggregates and their fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pipelines.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pipelines.definition.schedule import Schedule


class Source(Protocol):
    """Where the rows of a batch are."""

    @property
    def event_time(self) -> str:
        """The column that says when an event happened."""
        ...

    @property
    def unit(self) -> str | None:
        """Of an integer event time."""
        ...

    @property
    def timezone(self) -> str | None:
        """The zone of event times that have none; None is UTC."""
        ...

    @property
    def types(self) -> Mapping[str, str]:
        """Column -> SQL type, where the user gave one."""
        ...

    @property
    def arrival_order(self) -> str | None:
        """The column that orders the rows of a batch by arrival."""
        ...

    @property
    def arrival_time(self) -> str | None:
        """The column that says when a row arrived."""
        ...

    @property
    def section(self) -> tuple[str, ...]:
        """The columns that tell one section of the rows from another; () where files do."""
        ...

    @property
    def upstream(self) -> Any | None:  # noqa: ANN401 - a pipeline, which is defined above
        """The pipeline whose windows are the rows; None where they are files."""
        ...

    def misfit(self, schedule: Schedule) -> str | None:
        """Why batches of a schedule cannot be read from it, and what to do; None: they can."""
        ...

    def below(self, home: str | Path) -> Source:
        """The same source with its relative paths below a folder."""
        ...


class Field(Protocol):
    """Columns of a state that combine together."""

    @property
    def stem(self) -> str:
        """Names the field and begins the names of its columns."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """Of a state."""
        ...

    @property
    def facts(self) -> str:
        """All that the columns depend on."""
        ...


class Aggregate(Protocol):
    """What a user asks of the rows of a window."""

    @property
    def fields(self) -> Sequence[Any]:
        """What is kept of the rows of a frame."""
        ...

    @property
    def finish(self) -> Any:  # noqa: ANN401 - a function of Arrow arrays
        """From what is kept to the results."""
        ...

    @property
    def gives_lists(self) -> bool:
        """Whether results are lists in an order, which can come out as rows."""
        ...


F = TypeVar("F", bound=Field)


def distinct(aggregates: Iterable[tuple[object, Sequence[F]]]) -> list[F]:
    """The fields of aggregates, every stem once.

    Raises:
        DefinitionError: two different fields would have one stem.
    """
    seen: dict[str, F] = {}
    for aggregate, fields in aggregates:
        for field in fields:
            if seen.setdefault(field.stem, field).facts != field.facts:
                raise DefinitionError(
                    f"aggregates: {aggregate} would share the columns of another field, {field.stem}; write its expression otherwise"
                )
    return list(seen.values())
