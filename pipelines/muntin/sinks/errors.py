"""The errors of a sink. They stop no run: windows are published, and what the sink lacks is sent later."""

from __future__ import annotations


class SinkError(Exception):
    """Changes could not be sent, as when a server is down.

    The text names the address and what mends it, and holds no secret.
    """


class BlockedError(SinkError):
    """A sink refuses what it is sent, and no later run mends that by itself: a person has to act."""


class MovedError(Exception):
    """Another run sent to this sink meanwhile: its missing changes must be worked out again."""


class AllNeededError(Exception):
    """The changes alone would not do: all windows must be sent.

    The text says why, as the end of "all windows, since ...".
    """


class RefusedError(Exception):
    """Values of some rows do not fit the sink.

    Attributes:
        column: the column whose values do not fit; "": it is not known.
    """

    def __init__(self, text: str, column: str = "") -> None:
        super().__init__(text)
        self.column = column
