"""How far time is known after a batch, as a definition says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from muntin.definition.durations import Duration, not_negative
from muntin.definition.several_sources import SeveralSources
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from muntin.definition.parts import Source

Watermark = Literal["interval", "events"]


@dataclass(frozen=True, slots=True)
class Watermarking:
    """How the watermark follows from batches.

    Attributes:
        policy: "interval": the end of a batch's interval; "events": the largest event time so far.
        sources: how many sources there are. Of several, the least of their largest event times counts.
        idle_us: a source is idle where its largest event time is further than this behind the end of the batch, microseconds; an idle
            source does not count. None: no source is idle.
    """

    policy: Watermark
    sources: int = 1
    idle_us: int | None = None


def check_idle(idle_after: Duration | None, watermark: Watermark, source: Source) -> None:
    """A duration for several sources whose events make the watermark, or None.

    Raises:
        DefinitionError: the argument would mean nothing here.
    """
    if idle_after is None or source.member:
        return
    not_negative(idle_after, "idle_after")
    if not isinstance(source, SeveralSources):
        raise DefinitionError("idle_after is for several sources: a single source holds nobody back; leave it out")
    if watermark != "events":
        raise DefinitionError(
            'idle_after is for watermark="events"; under "interval" windows close on schedule, whatever a source brings; leave it out'
        )
