"""The alerts of a definition: the channels, the findings that are worth a message, and the columns that no
message shows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import Duration, positive
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.definition.schedule import Interval
    from muntin.extensions.alerts.moves import Rule
    from muntin.jobs.records.reports import RunReport
    from muntin.jobs.state.bound import Bound

VARIABLE = "env:"
"""A channel that begins with it names an environment variable, whose text is an address of Apprise."""

CONNECTION = "alerts"
_CONNECTION = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_ENVIRONMENT = re.compile(r"env:[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Alerts:
    """A declaration of alerts; `to` and `revised` make it.

    Attributes:
        channels: names of Airflow connections, `env:NAME`, notifiers of Airflow, or functions that make a
            notifier.
        mask: columns whose values no message shows.
        warnings: whether a failed expectation of severity `warning` is reported.
        quarantined, late: the largest share of a batch's rows that is not reported; None: no share is
            reported.
        empty_after: an empty batch is reported if so many batches before it had rows; None: never.
        hole_after: a missing interval is reported once so many later intervals have a batch; None: never.
        silent_after_us: how long a run may take before Airflow tells so, in microseconds; None: for ever.
        revised: which moves of published values are reported.
    """

    channels: tuple[Any, ...]
    mask: frozenset[str] = frozenset()
    warnings: bool = True
    quarantined: float | None = 0.1
    late: float | None = None
    empty_after: int | None = 10
    hole_after: int | None = 3
    silent_after_us: int | None = None
    revised: tuple[Rule, ...] = ()

    def joined(self, others: Sequence[Alerts]) -> Alerts:
        """The alerts of a list: one of `to`, which says everything else, and any number of `revised`.

        Without a channel, messages go to the connection `alerts`.
        """
        every = (self, *others)
        declared = [each for each in every if not each.revised]
        if len(declared) > 1:
            raise DefinitionError(
                "alerts: alerts.to stands twice; write it once, with all channels, as"
                ' alerts.to("alerts", "env:MUNTIN_ALERTS")'
            )
        channels = tuple(dict.fromkeys(channel for each in every for channel in each.channels))
        rules = tuple(rule for each in every for rule in each.revised)
        return replace(
            (declared or [self])[0], channels=channels or (CONNECTION,) * bool(rules), revised=rules
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Spark's tasks carry the definition, and a notifier does not travel: a pickle has the channels with
        names alone.
        """
        named = tuple(channel for channel in self.channels if isinstance(channel, str))
        return Alerts, (named, *(getattr(self, name) for name in self.__slots__[1:]))

    def ended(
        self, bound: Bound, intervals: Sequence[Interval], report: RunReport, *, link: str
    ) -> tuple[str, ...]:
        from muntin.extensions.alerts.alert import tell
        from muntin.extensions.alerts.gathered import of_report

        return tell(self, bound.folder, lambda: of_report(bound, intervals, report, link=link))

    def failed(
        self, bound: Bound, intervals: Sequence[Interval], wrong: BaseException, *, link: str
    ) -> tuple[str, ...]:
        from muntin.extensions.alerts.alert import tell
        from muntin.extensions.alerts.gathered import failed

        return tell(self, bound.folder, lambda: failed(bound, intervals, wrong, link=link))


def to(
    *channels: Any,  # noqa: ANN401 - a name, a notifier, or a function
    mask: Sequence[str] = (),
    warnings: bool = True,
    quarantined: float | None = 0.1,
    late: float | None = None,
    empty_after: int | None = 10,
    hole_after: int | None = 3,
    silent_after: Duration | None = None,
) -> Alerts:
    """Alerts to these channels. A run that fails is always reported; no secret stands in code.

    >>> to("alerts", quarantined=0.01).channels
    ('alerts',)

    Args:
        *channels: the name of an Airflow connection of type Apprise; `env:NAME`, an environment variable that
            holds an address of Apprise; a notifier of Airflow; or a function without arguments that makes a
            notifier.
        mask: columns whose values are replaced in messages: keys and results.
        warnings: whether a failed expectation of severity `warning` is reported.
        quarantined: tell a batch of whose rows a larger share is in quarantine, as 0.01. It fails no run.
            None: never.
        late: tell a batch of whose rows a larger share came too late for a window.
        empty_after: tell an empty batch if so many batches before it all had rows; None: never.
        hole_after: tell a missing interval once so many later intervals have a batch; None: never.
        silent_after: tell a run in Airflow that has not ended so long after it was queued, as "2h".

    Raises:
        DefinitionError: no channel, an address instead of a name, or a number that cannot be.
    """
    if not channels:
        raise DefinitionError(
            'alerts: to whom? Give the name of an Airflow connection, as alerts.to("alerts")'
        )
    _check_channels(channels)
    _check_share(quarantined, "quarantined")
    _check_share(late, "late")
    _check_count(empty_after, "empty_after")
    _check_count(hole_after, "hole_after")
    silent_after_us = None if silent_after is None else positive(silent_after, "alerts: silent_after")
    return Alerts(
        channels,
        frozenset(_listed(mask)),
        warnings,
        quarantined,
        late,
        empty_after,
        hole_after,
        silent_after_us,
    )


def revised(*channels: Any, by: float | str | None = None, of: str | None = None) -> Alerts:  # noqa: ANN401 - as `to`
    """Alerts when a published value changes, beside `to` in a list: one message a run.

    >>> revised(by="5%", of="revenue").revised[0].by
    0.05

    Args:
        *channels: more channels, as of `to`. Without any, messages go to the channels of `to`; without `to`,
            to the Airflow connection `alerts`, and failures of runs with them.
        by: how far a value may move without a message: a share of what it was, as "5%", or an amount, as 100;
            None: no move is without. A window that is gone, or new among published windows, has moved.
        of: the result column; None: each.

    Raises:
        DefinitionError: no share and no amount, no name, or no channel.
    """
    from muntin.extensions.alerts.moves import rule

    _check_channels(channels)
    return Alerts(
        channels,
        warnings=False,
        quarantined=None,
        empty_after=None,
        hole_after=None,
        revised=(rule(by, of),),
    )


def _check_channels(channels: Sequence[Any]) -> None:
    for at, channel in enumerate(channels):
        _check_channel(channel)
        if channel in channels[:at]:
            raise DefinitionError(f"alerts: {channel!r} stands twice; each message goes to a channel once")


def _check_channel(channel: Any) -> None:  # noqa: ANN401 - whatever the user gave
    if callable(channel) or hasattr(channel, "notify"):
        return
    if not isinstance(channel, str):
        raise DefinitionError(
            f"alerts: {type(channel).__name__} is no channel; give a connection's name, a notifier, or a"
            " function"
        )
    if "://" in channel:  # the address is not repeated: it may hold a secret
        raise DefinitionError(
            f"alerts: an address ({channel.partition('://')[0]}://...) holds secrets and must not stand in"
            ' code; put it into an environment variable and write alerts.to("env:MUNTIN_ALERTS"), or into'
            " an Airflow connection and write its name"
        )
    if not (_CONNECTION if not channel.startswith(VARIABLE) else _ENVIRONMENT).fullmatch(channel):
        raise DefinitionError(
            f'alerts: {channel!r} names neither a connection nor a variable; write alerts.to("alerts") or'
            ' "env:NAME"'
        )


def _check_share(share: Any, what: str) -> None:  # noqa: ANN401 - whatever the user gave
    if share is not None and (
        isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1
    ):
        raise DefinitionError(
            f"alerts: {what}: {share!r} is not a share of rows; write 0.01 for one of a hundred"
        )


def _check_count(count: Any, what: str) -> None:  # noqa: ANN401 - whatever the user gave
    if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 1):
        raise DefinitionError(
            f"alerts: {what}: {count!r} is not a number of intervals; write 1 or more, or None for never"
        )


def _listed(names: Any) -> tuple[str, ...]:  # noqa: ANN401 - whatever the user gave
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
        raise DefinitionError(f'alerts: mask: {names!r} is not a list of column names; write ["email"]')
    return tuple(names)
