"""Cases for the laws from a few example values: every short list of them in three parts, and some longer lists."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.aggregates import Aggregate
    from muntin.laws.states import Kinds, Row, Rows

    Triple = tuple[Rows, Rows, Rows]

_EACH, _LONGER = 1_000, 200  # how many cases of a short length are tried, and of a longer length
_CLOCKS = ((0, 0, 1, 1, 2, 3, 3, 4), (2, 0, 1, 1, 3, 0, 2, 1))  # in order with ties, and as late rows come


def rows_of(aggregate: Aggregate, examples: Sequence[Any], types: Kinds | None) -> tuple[list[Row], Kinds]:
    """Examples as rows, and the Arrow types of their columns.

    Raises:
        DefinitionError: no examples, or plain values where the aggregate is not about a single column.
    """
    if not examples:
        raise DefinitionError("laws.check: no example values; give a few, null and the ones that hurt among them")
    plain = not isinstance(examples[0], Mapping)
    rows: list[Row] = [{_column(aggregate): value} if plain else dict(value) for value in examples]
    guessed = pa.Table.from_pylist(rows).schema
    return rows, {name: (types or {}).get(name, guessed.field(name).type) for name in guessed.names}


def _column(aggregate: Aggregate) -> str:
    named = re.match(r"(?:DISTINCT )?([A-Za-z_]\w*)\s*(?:,|$)", aggregate.of)
    if aggregate.of and not named:
        raise DefinitionError(f'laws.check: {aggregate} is not about one column; give rows, as [{{"price": 2.0, "quantity": 3}}, ...]')
    return named[1] if named else "x"


def triples(rows: Sequence[Row]) -> list[Triple]:
    """Lists of these rows in three parts, the shortest first. Each row gets a `time`; some times are equal, some are late."""
    found: list[Triple] = []
    for length in range(9):
        several = islice(product(rows, repeat=length), _EACH) if length <= 3 else _sampled(rows, length)  # noqa: PLR2004 - every short list
        for at, chosen in enumerate(several):
            clock = _CLOCKS[at % 2]
            timed = [{**row, "time": clock[place]} for place, row in enumerate(chosen)]
            found += [(timed[:i], timed[i:j], timed[j:]) for i, j in _cuts(length, at)]
    return found


def _cuts(length: int, at: int) -> list[tuple[int, int]]:
    """Where a list is cut: a short list everywhere, a longer list in two of the ways."""
    every = [(i, j) for i in range(length + 1) for j in range(i, length + 1)]
    return every if length <= 2 else [every[at % len(every)], every[(7 * at + 3) % len(every)]]  # noqa: PLR2004


def _sampled(rows: Sequence[Row], length: int) -> Iterator[list[Row]]:
    dice = random.Random(length)  # noqa: S311 - equal examples give equal cases
    for _ in range(_LONGER // length):
        yield [dice.choice(rows) for _ in range(length)]
