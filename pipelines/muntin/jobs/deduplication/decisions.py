"""The right decisions: for each batch the name that follows from its ids and the ids of earlier batches."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from muntin.definition.instants import BEFORE_ALL, spell_instant
from muntin.errors import StateError
from muntin.jobs.deduplication.earlier import Earlier, Homes, names_of_changes, together
from muntin.jobs.deduplication.event_ids import Ids
from muntin.jobs.deduplication.kept_decisions import compared_ids, facts_of_ids, keep, kept
from muntin.store.paths import IDS, parse_states_path
from muntin.timeline.batches import UNDECIDED, Batches, decided

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muntin.jobs.deduplication.kept_decisions import Changing
    from muntin.jobs.state.bound import Bound
    from muntin.states.frames import Flags, Ints
    from muntin.store.store import Snapshot
    from muntin.tasks import Runner
    from muntin.timeline.batches import Versions

_MOST_BATCHES, _MOST_IDS = 512, 2**21
"""Of a task, as long as these are several batches."""


@dataclass(frozen=True, slots=True)
class Deciding:
    """The work of one task of decisions.

    Attributes:
        earlier: the ids of these batches, and of all that they are compared with.
        begin_us: start of the first batch that they are compared with.
        batches: their facts in the table of ids.
        changes: whether rows change rows of earlier batches.
    """

    earlier: Earlier
    begin_us: int
    batches: Batches
    changes: bool = False


def decisions(bound: Bound, runner: Runner, starts: Ints, wanted: Ints) -> Versions:
    """The name of the right decision for each of some batches; `UNDECIDED` of a batch without ids, and of a
    batch that is not asked for.

    `starts`: of all batches that have states, ascending, for ids of other batches do not count. `wanted`: of
    the batches whose decision is asked for.
    """
    snapshot = bound.store.snapshot(IDS)
    every = facts_of_ids(bound, snapshot)
    facts = every.take(np.isin(every.start_us, starts))
    first, names = compared_ids(bound, facts)
    names_of_decisions, changing = kept(bound, facts.start_us, names)
    new = (names_of_decisions == UNDECIDED) & np.isin(facts.start_us, wanted)
    if new.any():
        _check_kept(bound, facts, new)
        alone = (first == np.arange(len(facts))) & (bound.source.changes is None)
        nothing = Ids.none()
        names_of_decisions[new & alone] = np.array(
            [
                decided(version, nothing.high, nothing.low)
                for version in facts.take(new & alone).version.tolist()
            ],
            np.uint64,
        )
        names_of_decisions[new & ~alone], new_changes = _by_tasks(
            bound, runner, snapshot, every, facts, first, np.flatnonzero(new & ~alone)
        )
        changing |= new_changes
        keep(bound, facts.start_us, names, names_of_decisions, changing)
    return np.append(_with_changes(facts, names_of_decisions, changing), np.uint64(UNDECIDED))[
        facts.position(starts)
    ]


def _with_changes(facts: Batches, decided: Versions, changing: Mapping[int, Changing]) -> Versions:
    """The names of decisions together with the names of the changes that later batches make."""
    changes = defaultdict[int, list[int]](list)
    for of_batch in changing.values():
        for home, name in of_batch:
            changes[home].append(name)
    names = decided.copy()
    for start, at in zip(changes, facts.position(np.array([*changes], np.int64)).tolist(), strict=True):
        if at >= 0 and names[at] != UNDECIDED:
            names[at] = together(int(names[at]), changes[start])
    return names


def _check_kept(bound: Bound, facts: Batches, new: Flags) -> None:
    """Refuse to decide without ids that are gone and within reach."""
    gone_to = int(facts.high_us[facts.expired].max(initial=BEFORE_ALL))
    lost = new & (facts.low_us - (bound.source.dedupe_within_us or 0) <= gone_to)
    if lost.any():
        first = int(facts.start_us[lost][0])
        end = int(facts.end_us[facts.expired].max())
        raise StateError(
            f"{bound.pipeline.name}: ids of batches before {spell_instant(end)} are gone, as retain says, and"
            f" the batch of {spell_instant(first)} must be compared with them; run all batches before it"
            " again, too"
        )


def _by_tasks(
    bound: Bound, runner: Runner, snapshot: Snapshot, every: Batches, facts: Batches, first: Ints, these: Ints
) -> tuple[Versions, dict[int, Changing]]:
    """The decisions of some batches, by their positions, and what the batches change.

    `every`: the facts of all batches in the table.
    """
    left_out = tuple(np.setdiff1d(every.start_us, facts.start_us).tolist())
    files = [file for file in snapshot.files if file.rows]
    earlier = Earlier(bound.folder, files, bound.source.dedupe_within_us or 0, left_out=left_out)
    changes = bound.source.changes is not None
    items = [
        _deciding(earlier, facts, first, near, changes=changes) for near in _stretches(facts, first, these)
    ]
    decisions_of_batches = [each for of_task in runner.run(decide, items) for each in of_task]
    changing = {
        start: tuple(map(tuple, changes_of_batch))
        for start, (_, changes_of_batch) in zip(
            facts.start_us[these].tolist(), decisions_of_batches, strict=True
        )
        if changes_of_batch
    }
    return np.array([name for name, _ in decisions_of_batches], np.uint64), changing


def _stretches(facts: Batches, first: Ints, these: Ints) -> Iterator[Ints]:
    """Positions of batches that one task decides: without a hole between them, and not with too many ids."""
    begin, count = 0, 0
    for at, position in enumerate(these.tolist()):
        rows = int(facts.rows[position])
        if at > begin and (
            at - begin == _MOST_BATCHES or count + rows > _MOST_IDS or first[position] > these[at - 1]
        ):
            yield these[begin:at]
            begin, count = at, 0
        count += rows
    if len(these):
        yield these[begin:]


def _deciding(earlier: Earlier, facts: Batches, first: Ints, these: Ints, *, changes: bool) -> Deciding:
    begin_us = int(facts.start_us[first[these].min()])
    last_us = int(facts.start_us[these[-1]])
    paths = ((file, parse_states_path(file.path)) for file in earlier.files)
    near = [file for file, path in paths if path.first_us <= last_us and path.last_us >= begin_us]
    return Deciding(replace(earlier, files=near), begin_us, facts.take(these), changes)


def decide(deciding: Deciding) -> list[tuple[int, list[tuple[int, int]]]]:
    """For each batch the name of its decision, and the batches whose rows it changes, with a name of the
    changes.
    """
    own = deciding.earlier.ids_of(deciding.batches.start_us)
    if deciding.changes:
        homes = deciding.earlier.homes(own, deciding.begin_us)
        repeated = Ids.joined([own.take((homes.batch < own.batch) | homes.late), own.take(homes.late)])
        repeated = repeated.take(np.argsort(repeated.batch, kind="stable"))
    else:
        homes = None
        repeated = own.take(deciding.earlier.repeated(own, deciding.begin_us))
    decisions_of_batches = []
    for start, version in zip(
        deciding.batches.start_us.tolist(), deciding.batches.version.tolist(), strict=True
    ):
        these = slice(*np.searchsorted(repeated.batch, (start, start + 1)))
        changing = []
        if homes:
            mine = slice(*np.searchsorted(own.batch, (start, start + 1)))
            home, names = names_of_changes(own.take(mine), Homes(homes.batch[mine], homes.late[mine]))
            changing = list(zip(home.tolist(), names.tolist(), strict=True))
        decisions_of_batches.append((decided(version, repeated.high[these], repeated.low[these]), changing))
    return decisions_of_batches
