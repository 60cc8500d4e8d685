"""Spans of two tables compared, and spans that stand twice in one: as sets of rows have it."""

import math
import random

import pyarrow as pa
import pytest

from muntin.engine.given_spans import END, START, GivenSpans, given_spans, repeated_rows
from tests.catalogue.given_tables import instants

Rows = list[tuple[str | None, int, int, float | None]]


def spans_of(rows: Rows, *, with_load: bool) -> GivenSpans:
    keys, starts, ends, loads = zip(*rows, strict=True) if rows else ((), (), (), ())
    columns = {"k": pa.array(keys, pa.string()), START: instants(starts), END: instants(ends)}
    return given_spans(pa.table(columns | ({"load": pa.array(loads, pa.float64())} if with_load else {})), ["k"])


def drawn(dice: random.Random) -> Rows:
    starts = [(dice.choice(["a", "b", None]), dice.randint(0, 2)) for _ in range(dice.randint(0, 9))]
    return [(key, start, start + dice.randint(1, 2), dice.choice([0.0, -0.0, 1.0, None])) for key, start in starts]


def facts(rows: Rows, *, with_load: bool) -> list[str]:
    """The rows as texts: of 0.0 another than of -0.0."""
    return [repr(row if with_load else row[:3]) for row in rows]


@pytest.mark.parametrize("with_load", [False, True])
def test_spans_that_one_table_has_alone(with_load: bool) -> None:
    for seed in range(300):
        dice = random.Random(f"apart {seed}")
        ours = list({repr(row if with_load else row[:3]): row for row in drawn(dice)}.values())
        theirs = dice.choice([ours, ours[1:], list({repr(row if with_load else row[:3]): row for row in drawn(dice)}.values())])
        start, end = spans_of(ours, with_load=with_load).apart_from(spans_of(theirs, with_load=with_load))
        apart = {*facts(ours, with_load=with_load)} ^ {*facts(theirs, with_load=with_load)}
        alone = [row for row in (*ours, *theirs) if facts([row], with_load=with_load)[0] in apart]
        assert sorted(zip(start.tolist(), end.tolist(), strict=True)) == sorted(row[1:3] for row in alone), seed


def test_another_zero_is_another_table() -> None:
    zeros = [spans_of([("a", 0, 1, zero)], with_load=True) for zero in (0.0, -0.0)]
    assert [len(each) for each in zeros[0].apart_from(zeros[1])] == [2, 2]
    assert [len(each) for each in zeros[0].apart_from(zeros[0])] == [0, 0]


def test_not_a_number_is_the_same_table() -> None:
    spans = spans_of([("a", 0, 1, math.nan)], with_load=True)
    assert [len(each) for each in spans.apart_from(spans)] == [0, 0]


def test_spans_that_stand_twice() -> None:
    for seed in range(300):
        spans = spans_of(drawn(random.Random(f"twice {seed}")), with_load=False)
        rows = [tuple(row.values()) for row in spans.table.to_pylist()]
        assert repeated_rows(spans).tolist() == [at for at in range(1, len(rows)) if rows[at] == rows[at - 1]], seed
