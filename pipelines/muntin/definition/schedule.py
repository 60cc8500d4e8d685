"""The data intervals of a pipeline: a cron string or a duration cuts time into them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from muntin.definition.clocks import UTC_NAME, tick_after, tick_before, zone_info
from muntin.definition.durations import UNITS, positive, spell
from muntin.definition.instants import from_us, instant_us, spell_instant
from muntin.definition.spelling import did_you_mean
from muntin.errors import DefinitionError

PRESETS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
# Cron strings that are a fixed step: ten thousand intervals then need no cron arithmetic.
_CRON_FIELDS = 5
_GRIDS = {"0 * * * *": UNITS["h"], "0 0 * * *": UNITS["d"]}


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """One data interval `[start_us, end_us)`, in microseconds since 1970 UTC."""

    start_us: int
    end_us: int

    def __str__(self) -> str:
        return f"[{spell_instant(self.start_us)}, {spell_instant(self.end_us)})"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The grid of data intervals.

    Attributes:
        cron: the cron string; None for a duration.
        step_us: the length of an interval, microseconds; 0 where a cron string gives several lengths.
        anchor_us: a border that steps are counted from.
        first_us: no interval begins before it: the pipeline's start.
        timezone: the IANA name of the zone whose clock the cron string is of.
    """

    cron: str | None
    step_us: int
    anchor_us: int
    first_us: int
    timezone: str = UTC_NAME

    def intervals(self, start_us: int, end_us: int) -> list[Interval]:
        """Every interval inside `[start_us, end_us)`."""
        borders = [b for b in self._borders(start_us, end_us) if b >= self.first_us]
        self._check(start_us, end_us, borders)
        return [Interval(a, b) for a, b in pairwise(borders)]

    @property
    def first_border_us(self) -> int:
        """The beginning of the first interval."""
        return self.after(self.first_us - 1)

    def after(self, border_us: int) -> int:
        """The next border after an instant."""
        return tick_after(*self._local, border_us) if self._local else self._around(border_us)[1]

    def over(self, starts: Sequence[int]) -> Interval:
        """The range of batches, from the start of the first to the end of the last."""
        return Interval(min(starts), self.after(max(starts)))

    def around(self, us: int) -> Interval:
        """The interval that an instant is in, also before the pipeline's start."""
        end_us = self.after(us)
        return Interval(self._around(end_us - 1)[0], end_us)

    @property
    def _local(self) -> tuple[str, str] | None:
        """The cron string and its zone, where that is another than UTC."""
        return (self.cron, self.timezone) if self.cron and self.timezone != UTC_NAME else None

    def argument(self, us: int) -> str:
        """An instant as `--start` and `--end` of a command take it."""
        return (
            from_us(us).astimezone(zone_info(self.timezone)).isoformat(timespec="minutes")
            if self._local
            else spell_instant(us)
        )

    def options(self, start_us: int, end_us: int) -> str:
        """The options of a command for a range."""
        return f"--start {self.argument(start_us)} --end {self.argument(end_us)}"

    def _spell(self, us: int) -> str:
        """An instant in UTC for people, and beside it what the schedule's clock shows."""
        return (
            f"{spell_instant(us)} ({self.argument(us)} in {self.timezone})"
            if self._local
            else spell_instant(us)
        )

    def _check(self, start_us: int, end_us: int, borders: list[int]) -> None:
        if end_us < start_us:
            raise DefinitionError(f"end {self._spell(end_us)} lies before start {self._spell(start_us)}")
        if start_us < self.first_us:
            own = f"the pipeline's own start {self._spell(self.first_us)}; {self._first()}"
            raise DefinitionError(f"start {self._spell(start_us)} lies before {own}; begin there or later")
        for what, us in (("start", start_us), ("end", end_us)):
            if us not in (borders[:1] + borders[-1:]):
                around = self._around(us)
                nearest = " or ".join(map(self._spell, around)) + (
                    f"; {self._first()}" if around[0] < self.first_us else ""
                )
                raise DefinitionError(
                    f"{what} {self._spell(us)} is not a border of the schedule {self}; take {nearest}"
                )

    def _first(self) -> str:
        return f"the first batch begins at {self._spell(self.first_border_us)}"

    def _borders(self, start_us: int, end_us: int) -> list[int]:
        if self.step_us:
            low = -((self.anchor_us - start_us) // self.step_us)
            return list(range(self.anchor_us + low * self.step_us, end_us + 1, self.step_us))
        return list(self._local_ticks(start_us, end_us) if self._local else self._ticks(start_us, end_us))

    def _ticks(self, start_us: int, end_us: int) -> Iterator[int]:
        from croniter import croniter

        ticks = croniter(self.cron, from_us(start_us - 1))
        while (tick := instant_us(ticks.get_next(type(from_us(0))), "tick")) <= end_us:
            yield tick

    def _local_ticks(self, start_us: int, end_us: int) -> Iterator[int]:
        tick = self.after(start_us - 1)
        while tick <= end_us:
            yield tick
            tick = self.after(tick)

    def _around(self, us: int) -> list[int]:
        """The borders before and after an instant."""
        if self.step_us:
            below = us - (us - self.anchor_us) % self.step_us
            return [below, below + self.step_us]
        if self._local:
            return [tick_before(*self._local, us), tick_after(*self._local, us)]
        from croniter import croniter

        kind = type(from_us(0))
        return [
            instant_us(getattr(croniter(self.cron, from_us(us)), way)(kind), "tick")
            for way in ("get_prev", "get_next")
        ]

    def __str__(self) -> str:
        if self._local:
            return f"{self.cron!r} in {self.timezone}"
        return (
            repr(self.cron)
            if self.cron
            else f"every {spell(self.step_us)} from {spell_instant(self.anchor_us)}"
        )


def schedule_of(schedule: object, start_us: int, timezone: str = UTC_NAME) -> Schedule:
    """The schedule of a cron string, a preset such as "@daily", or a duration, from the pipeline's start on.

    `timezone`: the IANA name of the zone whose clock a cron string is of.
    """
    zone_info(timezone)
    cron = PRESETS.get(schedule, schedule) if isinstance(schedule, str) else schedule
    if isinstance(cron, str) and len(cron.split()) == _CRON_FIELDS:
        if cron in _GRIDS and timezone == UTC_NAME:
            return Schedule(cron, _GRIDS[cron], 0, start_us)
        _check_cron(cron)
        return Schedule(cron, 0, 0, start_us, timezone)
    try:
        step_us = positive(cron, "schedule")  # type: ignore[arg-type]
    except DefinitionError as wrong:
        near = did_you_mean(cron, PRESETS) if isinstance(cron, str) else ""
        text = (
            f'{wrong}; or a cron string of five fields, as "0 * * * *", or one of {", ".join(PRESETS)}{near}'
        )
        raise DefinitionError(text) from None
    if timezone != UTC_NAME:
        raise DefinitionError(
            f"timezone: {timezone!r} is for a cron string, and steps of {spell(step_us)} are of one length, "
            "which days of a clock are not; "
            'write the times of its clock, as schedule="0 6 * * *" or "@daily", or leave timezone out'
        )
    return Schedule(None, step_us, start_us, start_us)


def _check_cron(cron: str) -> None:
    from croniter import croniter

    if not croniter.is_valid(cron):
        raise DefinitionError(
            f'schedule: {cron!r} is not a cron string; minute, hour, day of month, month, day of week, as "0 '
            '6 * * 1"'
        )
