"""Freshness: how far behind the clock published windows may be, and whether they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muntin.definition.durations import Duration, positive, spell
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from muntin.definition.schedule import Schedule

_SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Freshness:
    """The target of a pipeline and how far it is from it, in microseconds. `lag_us`: None before anything is published."""

    within_us: int
    lag_us: int | None

    @property
    def met(self) -> bool:
        """Whether all published windows reach far enough."""
        return self.lag_us is not None and self.lag_us <= self.within_us

    def to_dict(self) -> dict[str, float | bool | None]:
        """The target, how far it is from it, both in seconds, and whether it is met, as JSON has them."""
        lag_s = None if self.lag_us is None else self.lag_us / _SECOND_US
        return {"within_s": self.within_us / _SECOND_US, "lag_s": lag_s, "met": self.met}


def within_us(asked: Duration | None, schedule: Schedule) -> int | None:
    """The target that a definition asks for, in microseconds; None: it asks for none.

    Raises:
        DefinitionError: no duration, or a target that nobody can meet: a batch is there when its interval has ended.
    """
    if asked is None:
        return None
    us, batch = positive(asked, "fresh_within"), schedule.around(schedule.first_border_us)
    if us <= (length_us := batch.end_us - batch.start_us):
        length = spell(length_us)
        raise DefinitionError(
            f"fresh_within: {spell(us)} can never be met: a batch takes {length} and is read when it has ended, so that windows are "
            f'{length} behind just before the next one; give more, as fresh_within="{spell(2 * length_us)}", or shorter intervals'
        )
    return us
