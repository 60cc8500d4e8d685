"""Windows over states that are not sorted yet."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from muntin.engine.protocols import Aggregate, Assigner, Closing
from muntin.engine.windows import Combined, combine_arranged
from muntin.states.frames import Ints
from muntin.states.sorted import Arranged, Batches, arrange, arrange_rows
from tests.properties.naive_lift import Rows, states_of_rows
from tests.properties.naive_lift import states as states_of
from tests.properties.random_cases import Case


def combine(
    states: pa.Table,
    *,
    window: Assigner,
    when: Closing,
    keys: Sequence[str],
    aggregates: Mapping[str, Aggregate],
    width_us: int,
    wanted: Ints | None = None,
    then: Sequence[str] = (),
) -> Combined:
    """`combine_arranged` of states that are not sorted yet; see `arrange`."""
    arranged = arrange(states, keys, width_us, then)
    return combine_arranged(arranged, window=window, when=when, keys=keys, aggregates=aggregates, wanted=wanted)


def arranged(states: pa.Table, note: pa.Table | None, case: Case, noted_after: Sequence[int] = ()) -> Arranged:
    """The states of a case, behind a note, in the order in which its windows read them."""
    if not case.ours.made_of.of_rows:
        return arrange(pa.concat_tables([note.select(states.column_names), states]) if note is not None else states, case.keys, case.width)
    starts, ends = (np.array([getattr(batch, name) for batch in case.batches], np.int64) for name in ("start", "end"))
    batches = Batches(starts, ends, int(starts[0]), np.array(noted_after, np.int64))
    return arrange_rows(states, note, case.keys, batches, by_arrival=case.ours.made_of.by_arrival)


def lifted(rows: Rows, case: Case) -> pa.Table:
    """The states of some rows of a batch, as the windows of a case are made of."""
    made_of = case.ours.made_of
    if made_of.of_rows:
        return states_of_rows(rows, made_of.lifts, case.keys)
    return states_of(rows, case.width, case.keys, case.begin, case.theirs)
