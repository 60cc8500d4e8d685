"""The staged files as a frame of one engine: what validation asks of Spark and of pandas alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

ROW_NUMBER = "__muntin_row"


class Frame(Protocol):
    """The rows of the staged files, each with a number of its own."""

    numbered_by: ClassVar[Mapping[str, object]]
    """What the form of a result needs, so that Great Expectations names failing rows by their numbers."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the files' columns, in order."""
        ...

    def batch(self, context: Any, *, numbered: bool) -> Any:  # noqa: ANN401 - of Great Expectations
        """A batch of Great Expectations with the files' columns; with `ROW_NUMBER` as the last column if
        `numbered` and needed.
        """
        ...

    def rows(self, numbers: Collection[int]) -> Mapping[int, Mapping[str, object]]:
        """Row number -> row, for these numbers. Instants are aware datetimes."""
        ...
