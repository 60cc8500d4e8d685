"""The states of batches in a terminal, in the words of the page; and whether the windows are fresh enough."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from muntin.definition.amounts import lasting, many
from muntin.definition.asking import PUBLISH_DESPITE
from muntin.definition.durations import spell
from muntin.definition.instants import from_us

if TYPE_CHECKING:
    from muntin.jobs.inspect.status import PipelineStatus
    from muntin.jobs.records.batch_states import Stretch

Again = Callable[[datetime, datetime], str]
_SHOWN = 20
_TOLD = ("running", "failed", "held", "waiting")
_SECOND_US = 1_000_000


def batch_lines(one: "PipelineStatus", at: Callable[[datetime], str], again: Again) -> list[str]:
    """Lines on the batches of a pipeline; none where its definition is not known. `at` gives an instant in the reader's clock."""
    if one.states is None:
        return []
    from muntin.jobs.records.batch_states import stretches

    counts = ", ".join(f"{count:,} {state}" for state, count in one.states.counts.items() if count)
    notable_states = [each for each in one.states.told if each.despite or each.state in _TOLD]
    batch_stretches = stretches(notable_states)
    lines = [f"batches: {counts or 'none'}", *_fresh(one)]
    lines += [line for each in batch_stretches[-_SHOWN:] for line in _told(each, at, again)]
    return (
        [*lines, f"  ... {many(len(batch_stretches) - _SHOWN, 'stretch')} before; --json has them all"]
        if len(batch_stretches) > _SHOWN
        else lines
    )


def _told(each: "Stretch", at: Callable[[datetime], str], again: Again) -> list[str]:
    """Batches in one state, with what to do."""
    from muntin.jobs.records.batch_states import NEED_A_PERSON, spelled

    one, start, end = each.one, from_us(each.start_us), from_us(each.end_us)
    since = at(from_us(one.since_us // _SECOND_US * _SECOND_US)) if one.since_us is not None else None
    lines = [f"  [{at(start)}, {at(end)}) {spelled(one, since)}", *(f"    {check}" for check in one.checks)]
    if one.state not in NEED_A_PERSON:
        return lines
    log, command = [f"    see {one.link}"] if one.link else [], again(start, end)
    mended = [f"    when that is mended: {command}"] if command else []
    despite = [f"    to publish it all the same: {PUBLISH_DESPITE.format(one.verdict)}"] if one.verdict else []
    return [*lines, *log, *mended, *despite]


def _fresh(one: "PipelineStatus") -> list[str]:
    if (fresh := one.fresh) is None:
        return []
    behind = "nothing is published" if fresh.lag_us is None else f"{lasting(fresh.lag_us)} behind"
    return [f"fresh within {spell(fresh.within_us)}: {'yes' if fresh.met else 'no'}, {behind}"]
