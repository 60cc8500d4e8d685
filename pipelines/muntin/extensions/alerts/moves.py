"""Revised windows: published values that moved by more than a definition lets them, as facts of a message."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from muntin.definition.instants import instant_us
from muntin.definition.schedule import Interval
from muntin.definition.spelling import many
from muntin.errors import DefinitionError
from muntin.jobs.published.changes import differing
from muntin.quality.report import plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from muntin.jobs.published.changes import Changes
    from muntin.jobs.records.reports import BatchReport

MOST = 10
"""So many rows of a message are worth reading."""
_HUNDRED = 100


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule on which moves of published values are reported.

    `by`: what a value may move by; None: nothing. `share`: whether that is a share of what it was. `of`: the
    result; None: each.
    """

    by: float | None
    share: bool
    of: str | None

    def __str__(self) -> str:
        limit = (
            f"{_HUNDRED * self.by:g} %"
            if self.by is not None and self.share
            else f"{self.by:g}"
            if self.by
            else ""
        )
        return f"{self.of or 'a result'} moved" + (f" by more than {limit}" if limit else "")

    def beyond(self, changes: Changes, name: str) -> np.ndarray:
        """Whether a value moved beyond the limit, for each window that changed; a window that is new or gone
        has moved.
        """
        every, is_other = np.arange(len(changes)), np.array(changes.kinds) != "changed"
        differs = is_other | differing(changes.before, changes.after, [name], every, every)
        kind = changes.after[name].type
        if self.by is None or not (
            pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        ):
            return differs
        old, new = (
            side[name].cast(pa.float64(), safe=False).to_numpy() for side in (changes.before, changes.after)
        )
        return is_other | (differs & ~(np.abs(new - old) <= self.by * (np.abs(old) if self.share else 1.0)))


def rule(by: Any, of: Any) -> Rule:  # noqa: ANN401 - whatever the user gave
    """The rule of `revised(by=, of=)`."""
    if of is not None and (not isinstance(of, str) or not of):
        raise DefinitionError(
            f'alerts: revised: of: {of!r} names no result; write of="revenue", or leave it out'
        )
    if by is None:
        return Rule(None, share=False, of=of)
    number, share = (by[:-1], True) if isinstance(by, str) and by.endswith("%") else (by, False)
    try:
        limit = float(number) if share or not isinstance(by, bool | str) else -1.0
    except (TypeError, ValueError):
        limit = -1.0
    if not 0 <= limit < float("inf"):
        raise DefinitionError(
            f'alerts: revised: by: {by!r} is no limit; write a share of the value, as "5%", an amount, as'
            " 100, or leave it out: any move is reported"
        )
    return Rule(limit / _HUNDRED if share else limit, share, of)


def moved(
    rules: Sequence[Rule],
    changed: Mapping[str, Sequence[Changes]],
    results: Sequence[str],
    reports: Sequence[BatchReport],
    mask: Collection[str],
) -> Iterator[dict[str, Any]]:
    """For each rule and window with values beyond it: `what`, `observed`, and some `rows`, `MOST` in all, as
    JSON has them.

    `changed`: window -> the published windows that a run changed. `results`: the result columns. `reports`:
    of the batches that the run has read. `mask`: columns whose values are not shown.
    """
    left = MOST
    for each in rules:
        for window, parts in changed.items():
            names = [each.of] if each.of else results
            windows, unknown, rows = 0, sum(part.uncompared for part in parts), list[dict[str, Any]]()
            for part in parts:
                flags = {name: each.beyond(part, name) for name in names if name in part.after.column_names}
                beyond = np.any([*flags.values()], axis=0) if flags else np.zeros(len(part), np.bool_)
                windows += int(beyond.sum())
                rows += _rows(part, flags, np.flatnonzero(beyond)[: max(0, left - len(rows))], mask)
            rows, left = rows[:left], left - len(rows[:left])
            if windows or unknown:
                counts = [many(windows, "window")] if windows else []
                counts += [f"{many(unknown, 'window')} replaced, too many to be compared"] if unknown else []
                yield {
                    "what": f"window {window}: {each}",
                    "observed": f"{', '.join(counts)}; by {_makers(window, reports)}",
                    "rows": rows,
                }


def _rows(
    part: Changes, flags: Mapping[str, np.ndarray], at: np.ndarray, mask: Collection[str]
) -> Iterator[dict[str, Any]]:
    """A row for each value that moved; one alone for a window that is new or gone."""
    if not len(at):
        return
    hidden = {name.lower() for name in mask}
    both = (side.take(pa.array(at)).to_pylist() for side in (part.before, part.after))
    for row, old, new in zip(at.tolist(), *both, strict=True):
        kind = part.kinds[row]
        there = new if kind == "new" else old
        place = {
            name: "***" if name.lower() in hidden else plain(there[name])
            for name in dict.fromkeys((*part.identity, "window_start", "window_end"))
        }
        names = [name for name, flag in flags.items() if flag[row]]
        for name in names[: None if kind == "changed" else 1]:
            values = {"old": old[name], "new": new[name]}
            shown = {
                side: "***" if name.lower() in hidden else plain(value) for side, value in values.items()
            }
            gone = {"new": {"old": "no window"}, "gone": {"new": "no window"}}.get(kind, {})
            yield {**place, "result": name, **shown, **gone}


def _makers(window: str, reports: Sequence[BatchReport]) -> str:
    """The batches whose rows or source revised a window; all of the run, where no report says it."""
    own = [each for each in reports if each.rows_correcting.get(window) or each.source_changed] or reports
    if not own:
        return "a changed definition or table"
    first, last = own[0].interval_start, own[-1].interval_end
    return f"{many(len(own), 'batch')} {Interval(instant_us(first, 'start'), instant_us(last, 'end'))}"
