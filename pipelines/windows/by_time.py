"""What most kinds have in common that go by event time; a kind says what it has otherwise."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_NONE: Mapping[str, str] = MappingProxyType({})


class ByTime:
    """A kind whose windows are `[start, end)`, and of which a stretch of time says which states matter."""

    __slots__ = ()

    by_arrival = flushes = together = False
    lifts = _NONE

    @property
    def carries(self) -> bool:
        """No window has to be carried over."""
        return False

    @property
    def event_times(self) -> bool:
        """Frames are enough."""
        return False

    @property
    def inside_us(self) -> int:
        """The end does not belong to a window."""
        return 0

    @property
    def margin_us(self) -> int:
        """No window ends beyond its frames."""
        return 0

    @property
    def columns(self) -> Mapping[str, str]:
        """Start and end say it all."""
        return _NONE
