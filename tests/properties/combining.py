"""Windows over states that are not sorted yet."""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from muntin.engine.protocols import Aggregate, Assigner, Closing
from muntin.engine.windows import Combined, combine_arranged
from muntin.states.frames import Ints
from muntin.states.sorted import arrange


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
