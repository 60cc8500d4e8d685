"""The past of a run: the batches that it reads again beside its own, as their source has changed, or the rows
of dimensions that their events looked up; and what it leaves as it was, for people.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from muntin.definition.instants import from_us, instant_us
from muntin.definition.spelling import many
from muntin.jobs.inputs.inputs import source_changes
from muntin.jobs.records.reports_table import record_moved
from muntin.jobs.state.notes import change_note, read_note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from muntin.definition.schedule import Interval
    from muntin.files.paths import AnyPath
    from muntin.jobs.inputs.changed_files import SourceChanges
    from muntin.jobs.inputs.dimensions.changed_rows import LookupChanges
    from muntin.jobs.state.bound import Bound

_NOTE = "unsettled.json"


@dataclass(frozen=True, slots=True)
class ChangedPast:
    """Changes of batches that were read.

    Attributes:
        sources, lookups: the changes; None where nothing is looked up.
        why: of each batch to read again, in words.
        left: why the batches that have changed are left as they are, for people; "" where they are read.
    """

    sources: SourceChanges
    lookups: LookupChanges | None
    why: Mapping[Interval, str]
    left: str = ""

    def without(self, wrong: Exception) -> ChangedPast:
        """The past as it is left where its batches cannot be read."""
        return replace(self, left=f"{_changed(self.why)} and cannot be read: {wrong}")

    def remember(self, bound: Bound, now: datetime) -> None:
        """Note what is read, and what is left. Only to be called when the batches are read."""
        if not self.left:
            self.sources.remember(bound)
            if self.lookups:
                self.lookups.remember(bound)
        record_moved(bound.store, self.sources.moved, now)

        def noted(content: Any) -> dict[str, Any] | None:  # noqa: ANN401 - JSON
            reported = [tuple(each) for each in _noted(content).get("gone", ())]
            gone = [(each.start_us, each.end_us) for each in self.sources.gone]
            new = [each for each in gone if not any(a <= each[0] < b for a, b in reported)]
            unreadable = _reasons(self.sources.unreadable, ", and cannot be read")
            lines = [line for line in (self.left, *unreadable, _gone(bound, _stretches(new))) if line]
            after = {
                "lines": lines,
                "waiting": _reasons(self.sources.waiting),
                "gone": _stretches([*reported, *new]),
            }
            return after if content or any(after.values()) else None

        change_note(bound.folder / _NOTE, noted)


def changed_past(
    bound: Bound, intervals: Sequence[Interval] | None, now: datetime, *, unread: bool = False
) -> ChangedPast:
    """Changes beside the batches of a run.

    `intervals`: of the run; None: all that was read is compared. `unread`: batches of an upstream that were
    never read count, too.
    """
    sources = source_changes(bound, instant_us(now, "now"), intervals, unread=unread)
    stay = {*sources.gone, *sources.waiting, *sources.unreadable, *(intervals or ())}
    changed, lookups = dict(sources.why), None
    if bound.pipeline.lookups:
        from muntin.jobs.inputs.dimensions.changed_rows import lookup_changes

        lookups = lookup_changes(bound)
        changed = {**lookups.why, **changed}
    why = {each: changed[each] for each in sorted(changed) if each not in stay}
    past, most = ChangedPast(sources, lookups, why), bound.pipeline.limits.max_changed
    if most is None or len(why) <= most:
        return past
    end = bound.pipeline.intervals.options(min(why).start_us, max(why).end_us)
    return replace(
        past,
        left=f"{_changed(why)}, more than max_changed={most} of limits allows a run; to read them: muntin run"
        f" FILE --root {bound.root} {end[end.index('--end') :]}",
    )


def unsettled(state: AnyPath, *, waiting: bool = True) -> list[str]:
    """Sentences on the parts of the past that the last run left as they were.

    `waiting`: also on what only waits for the next run.
    """
    note = _noted(read_note(state / _NOTE))
    return [str(line) for line in (*note.get("lines", ()), *(note.get("waiting", ()) if waiting else ()))]


def _noted(content: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    return content if isinstance(content, dict) else {}


def _changed(why: Mapping[Interval, str]) -> str:
    """How many batches have changed, for a sentence."""
    return (
        f"{many(len(why), 'batch')} changed at the source, oldest {from_us(min(why).start_us):%Y-%m-%d %H:%M}"
    )


def _reasons(why: Mapping[Interval, str], what: str = "") -> list[str]:
    """Sentences on batches that have changed and are not read."""
    return [f"{_changed(why)}{what}: {why[min(why)]}"] if why else []


def _stretches(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of time, of which no two meet, with neighbours as one.

    >>> _stretches([(4, 5), (0, 2), (2, 4), (7, 9)])
    [(0, 5), (7, 9)]
    """
    out: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if out and out[-1][1] == start:
            out[-1] = (out[-1][0], end)
        else:
            out.append((start, end))
    return out


def _gone(bound: Bound, new: Sequence[tuple[int, int]]) -> str:
    """A sentence on batches that have lost all their files, said once."""
    if not new:
        return ""
    start, end = new[0]
    more = f" and {many(len(new) - 1, 'more stretch')}" if len(new) > 1 else ""
    options = bound.pipeline.intervals.options(start, end)
    return (
        f"the batches of [{from_us(start):%Y-%m-%d %H:%M}, {from_us(end):%Y-%m-%d %H:%M}){more} have no file"
        f" any more, and stay as they were read; to take their rows out: muntin run FILE --root {bound.root}"
        f" {options} --allow-missing"
    )
