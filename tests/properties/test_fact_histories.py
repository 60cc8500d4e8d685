"""A thousand random histories of events, of changes of their rows, and of a dimension, against nested loops; no file is written.

All histories lie on one line of time, far apart, so that the core decides them at once. Through files: tests/taken_back, tests/dimensions.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from muntin.engine.versions import met, valid_versions
from muntin.jobs.deduplication.earlier import Homes, homes, names_of_changes
from muntin.jobs.deduplication.event_ids import Ids
from muntin.jobs.inputs.dimensions.read_dimensions import differing, otherwise
from muntin.sources.reading.answers import MET
from muntin.sources.reading.dimension import FOREVER, Versions
from muntin.states.columns import INSTANT
from tests.taken_back.stories import DELETES, UPDATES, Row, left

HISTORIES, HOURS, APART, CITIES = 250, 7, 1000, 2  # histories of each reach; hours from one history to the next
Story = list[list[Row]]  # rows of each hour
Batches = Mapping[int, Sequence[Row]]  # rows of each batch, by its number
Rate = tuple[int, int, int]  # key, minute from which on it is valid, rate


def story(dice: random.Random) -> Story:
    return [rows(dice, hour) for hour in range(HOURS)]


def rows(dice: random.Random, hour: int) -> list[Row]:
    """Some changes of few orders; the amount says how an order looks up."""
    words = ("c", "c", "u", "u", "d")
    return [
        (dice.choice(words), dice.choice([None, 0, 1, 2, 3]), 60 * hour + dice.randrange(-90, 60), dice.randrange(CITIES))
        for _ in range(dice.randint(0, 5))
    ]


def taken(found: Sequence[Row]) -> list[Row]:
    """The rows without deletes that name no row, which are refused."""
    return [row for row in found if row[1] is not None or row[0] not in DELETES]


@dataclass
class Decided:
    """All histories as the core decides them: their ids, and where these are at home."""

    stories: Sequence[Story]
    ids: Ids
    homes: Homes

    def left(self) -> dict[int, list[Row]]:
        """The rows that are left of each batch: the last of each id, in the place of its last row in its home."""
        found: dict[int, dict[Any, Row]] = {}
        decided = dict(zip(_pairs(self.ids), zip(self.homes.batch.tolist(), self.homes.late.tolist(), strict=True), strict=True))
        for batch, told in _batches(self.stories):
            rows = found.setdefault(batch, {})
            for place, row in enumerate(taken(told)):
                home, late = (batch, False) if row[1] is None else decided[batch, row[1]]
                order = (place,) if row[1] is None else row[1]
                if home == batch:
                    rows.pop(order, None)
                if not late:
                    found[home][order] = row
        return {batch: [row for row in each.values() if row[0] not in DELETES] for batch, each in found.items()}

    def names(self) -> dict[int, tuple[Any, ...]]:
        """A name of each batch: of its ids, of those that are left out, and of the changes that others make."""
        ids, changing = self.ids, dict(zip(*(each.tolist() for each in names_of_changes(self.ids, self.homes)), strict=True))
        facts = zip(
            ids.batch.tolist(), ids.low.tolist(), ids.row.tolist(), self.homes.batch.tolist(), self.homes.late.tolist(), strict=True
        )
        own = {batch: tuple((*each[1:3], each[3] < batch, each[4]) for each in some) for batch, some in groupby(facts, lambda one: one[0])}
        return {batch: (own.get(batch), changing.get(batch)) for batch, _ in _batches(self.stories)}


def _batches(stories: Sequence[Story]) -> Iterator[tuple[int, list[Row]]]:
    return ((APART * number + hour, told) for number, each in enumerate(stories) for hour, told in enumerate(each))


def _pairs(ids: Ids) -> Iterator[tuple[int, int]]:
    return zip(ids.batch.tolist(), ids.low.tolist(), strict=True)


def decide(stories: Sequence[Story], within: int, updates: Sequence[str]) -> Decided:
    """What the core makes of the ids of all batches, some of which are compared at a time."""
    told = list[tuple[int, int, int]]()
    for batch, found in _batches(stories):
        first = {row[1]: row for row in reversed(taken(found)) if row[1] is not None}
        last = {row[1]: row for row in taken(found) if row[1] is not None}
        told += [(batch, order, _said(last[order], first[order][0], updates)) for order in sorted(last)]  # type: ignore[type-var]
    batch, order, said = np.array(told, np.int64).T
    ids = Ids(batch, batch // APART, order, batch, said)
    parts = (ids.take(ids.low % 3 == part) for part in range(3))
    return Decided(stories, ids, homes(ids, parts, within))


def _said(row: Row, first: str, updates: Sequence[str]) -> int:
    """What the last row of an id says, odd where the first changes a row that was there."""
    op, _, minute, city = row
    number = hash((ord(op), minute, city)) >> 1 << 1
    return number + (first in (*DELETES, *updates))


def judged(stories: Sequence[Story], within: int, updates: Sequence[str]) -> dict[int, list[Row]]:
    """The same by loops."""
    found: dict[int, list[Row]] = {}
    for number, each in enumerate(stories):
        of_story = left(dict(enumerate(map(taken, each))), within, updates)
        found |= {APART * number + hour: rows for hour, rows in of_story.items()}
    return found


@pytest.mark.parametrize("within", [1, 2, 3, 4])
@pytest.mark.parametrize("updates", [UPDATES, ()])
def test_rows_are_changed_and_taken_back(within: int, updates: Sequence[str]) -> None:
    """A batch has the rows that are left; if it is to have others, since a batch was replaced, its name is another."""
    dice = random.Random(f"rows {within} {updates}")
    stories = [story(dice) for _ in range(HISTORIES // 2)]
    before = decide(stories, within, updates)
    assert before.left() == judged(stories, within, updates)
    replaced = [[*each] for each in stories]
    for each in replaced:
        hour = dice.randrange(HOURS)
        each[hour] = rows(dice, hour)
    after = decide(replaced, within, updates)
    rows_before, rows_after, names_before, names_after = before.left(), after.left(), before.names(), after.names()
    assert rows_after == judged(replaced, within, updates)
    nameless = [row for batch, row in _batches(replaced) if any(each[1] is None for each in row)]
    assert nameless
    others = {batch for batch, told in rows_after.items() if with_ids(told) != with_ids(rows_before[batch])}
    assert others
    assert others <= {batch for batch, name in names_after.items() if name != names_before[batch]}


def with_ids(told: Sequence[Row]) -> list[Row]:
    """Rows that others may change: a batch with other rows without an id is another by its files."""
    return sorted((row for row in told if row[1] is not None), key=lambda row: row[1] or 0)


def rates(dice: random.Random, histories: int) -> list[Rate]:
    """The rates of some histories: of each city a few, on a grid of time."""
    found = {
        (CITIES * number + city, 60 * APART * number + dice.randrange(-120, 60 * HOURS, 30)): dice.randrange(1, 4)
        for number in range(histories)
        for city in range(CITIES)
        for _ in range(dice.randint(0, 3))
    }
    return [(*key, rate) for key, rate in sorted(found.items())]


def versions(told: Sequence[Rate], keys: int) -> Versions:
    """The rates as the core has them. `keys`: how many there are; some have none."""
    key, since, rate = np.array(told, np.int64).T
    there, first = np.unique(key, return_index=True)
    until = np.where(np.append(key[1:] == key[:-1], np.False_), np.append(since[1:], 0), FOREVER)
    table = pa.table({"k0": there, "id": np.arange(len(there))})
    assert len(there) < keys
    return Versions(table, there, np.append(first, len(key)), since, until, rate, pa.array(rate))


def found_by_loop(told: Sequence[Rate], at: int) -> int | None:
    """The rate at a time, of the rates of one key."""
    valid = [rate for rate in told if rate[1] <= at]
    return max(valid, key=lambda rate: rate[1])[2] if valid else None


@pytest.mark.parametrize("within", [1, 2, 3, 4])
def test_rows_that_are_left_look_up(within: int) -> None:
    """Each row finds what a loop finds; of a changed dimension, batches are found that got another answer, and none that met no change."""
    dice = random.Random(f"rates {within}")
    stories = [story(dice) for _ in range(HISTORIES)]
    old, keys = rates(dice, HISTORIES), CITIES * HISTORIES
    others = [rate for rate in rates(dice, HISTORIES) if dice.random() < 0.4]
    new = sorted({(*rate[:2], dice.choice([rate[2], rate[2], 9])) for rate in old if dice.random() < 0.9} | {*others})
    new = [rate for at, rate in enumerate(new) if at == 0 or rate[:2] != new[at - 1][:2]]
    before, now = versions(old, keys), versions(new, keys)
    told = [(batch, *_asked(batch, row)) for batch, some in decide(stories, within, UPDATES).left().items() for row in some]
    batch, key, at = np.array(told, np.int64).T
    table, answers = looked_up(before, batch, key, at)
    by_key = [{each: [*some] for each, some in groupby(dimension, lambda rate: rate[0])} for dimension in (old, new)]

    def answered(number: int, key: int, at: int) -> int | None:
        return found_by_loop(by_key[number].get(key, []), at)

    assert answers == [answered(0, *asked) for _, *asked in told]
    differs, _, _ = differing(before, now)
    affected = table["met_key"].to_numpy()[otherwise(table, now) & np.isin(table["met_key"].to_numpy(), differs)]
    surely = {each for _, each, time in told if answered(0, each, time) != answered(1, each, time)}
    assert surely
    assert surely <= {*affected.tolist()} <= {each for each in range(keys) if by_key[0].get(each) != by_key[1].get(each)}
    spans = [(each, *_stretch(table, place)) for place, each in enumerate(table["met_key"].to_pylist())]
    for (each, first, last), other in zip(spans, otherwise(table, now).tolist(), strict=True):
        moments = {first, last, *(since for _, since, _ in by_key[1].get(each, []) if first <= since <= last)}
        apart = any(answered(0, each, moment) != answered(1, each, moment) for moment in moments)
        assert other or not apart
        assert not other or apart or len(moments) > len({first, last}), "nothing between its rows has changed"


def _asked(batch: int, row: Row) -> tuple[int, int]:
    """The key and the time by which a row looks up."""
    history = batch // APART
    return CITIES * history + int(row[3] or 0), 60 * APART * history + int(row[2] or 0)


def looked_up(found: Versions, batch: np.ndarray, key: np.ndarray, at: np.ndarray) -> tuple[pa.Table, list[int | None]]:
    """What batches met, and the answer of each row."""
    place = np.searchsorted(found.key, key).clip(max=len(found.key) - 1)
    ids = np.where(found.key[place] == key, place, -1)
    version, stretch = valid_versions(ids, at, found.first, found.since, found.until)
    answers = pa.array(np.append(found.answer, 0)[version], mask=version < 0)
    some, low, high = met(stretch, at, batch, 2 * len(found.since) + len(found.key))
    times = [pa.array(each).view(INSTANT) for each in (batch[some], low, high)]
    names = pa.array(["rates"] * len(some))
    known = pa.table([times[0], names, pa.array(key[some]), *times[1:], answers.take(pa.array(some))], MET)
    return pa.concat_tables([known, unknown(batch[ids < 0], key[ids < 0], at[ids < 0])]), answers.to_pylist()


def unknown(batch: np.ndarray, key: np.ndarray, at: np.ndarray) -> pa.Table:
    """What batches met of keys without a version."""
    table = pa.table({"batch": batch, "key": key, "first": at, "last": at}).group_by(["batch", "key"])
    found = table.aggregate([("first", "min"), ("last", "max")])
    times = [found[name].combine_chunks().view(INSTANT) for name in ("batch", "first_min", "last_max")]
    return pa.table([times[0], pa.array(["rates"] * len(found)), found["key"], *times[1:], pa.nulls(len(found), pa.int64())], MET)


def _stretch(table: pa.Table, place: int) -> tuple[int, int]:
    return table["met_first"][place].value, table["met_last"][place].value
