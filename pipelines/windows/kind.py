"""What kinds of windows have in common."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, Self

from pipelines.definition.kinds import FrameStates, Kind, RowStates
from pipelines.engine.protocols import Assigner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pipelines.states.frames import Ints

NO_COLUMNS: Mapping[str, str] = MappingProxyType({})
FRAMES = FrameStates()


class Window(Kind, Assigner, Protocol):
    """A kind of windows, with its parameters."""


class Plain:
    """A kind whose windows are `[start, end)` over frames, with nothing more to say; a kind says what it has otherwise."""

    __slots__ = ()

    @property
    def made_of(self) -> FrameStates | RowStates:
        """Frames without event times."""
        return FRAMES

    @property
    def inside_us(self) -> int:
        """The end does not belong to a window."""
        return 0

    @property
    def beyond_us(self) -> int:
        """No window holds events beyond its end."""
        return 0

    @property
    def columns(self) -> Mapping[str, str]:
        """Start and end say it all."""
        return NO_COLUMNS

    @property
    def order(self) -> tuple[str, ...]:
        """By start, then by end."""
        return ("window_start", "window_end")

    @property
    def rows_out(self) -> bool:
        """A result is one row."""
        return False

    @property
    def grid(self) -> Callable[[int, int], tuple[Ints, Ints]] | None:
        """Windows lie where the events are."""
        return None

    @property
    def dense(self) -> bool:
        """Empty windows are not shown."""
        return False

    def one_row_each(self) -> Self:
        """The same: a window is one row."""
        return self

    def misfit(self, source: Any) -> str | None:  # noqa: ANN401, ARG002 - a source of any kind will do
        """Any source will do."""
        return None

    def windows_for(self, instant_us: int) -> list[tuple[int, int]]:
        """The windows that an event at this instant belongs to by itself."""
        raise NotImplementedError

    def ends(self, low_us: int, high_us: int) -> tuple[int, int]:
        """The ends of the first window of one instant and of the last window of another."""
        return self.windows_for(low_us)[0][1], self.windows_for(high_us)[-1][1]
