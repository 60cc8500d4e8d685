"""Values that last: windows by the naive loop of the oracle, and in every history the bits of a clean run.

`MUNTIN_CORE=3000` tries more cases.
"""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin.aggregates.aggregate import Aggregate
from muntin.definition.instants import BEFORE_ALL
from muntin.engine.merged_states import tallies
from muntin.engine.windows import Combined
from muntin.testing.oracle import DAY, Judgement
from muntin.testing.oracle.time import Event, events, watermarks
from muntin.timeline.closing import closing
from muntin.windows.kinds.right_closed import RightClosed
from tests.case_counts import random_seeds
from tests.oracle import lasting
from tests.properties.combining import combine
from tests.properties.equal_values import alike
from tests.properties.naive_lift import INSTANT, Rows, positioned
from tests.properties.random_cases import Case, case_of
from tests.properties.random_histories import Desk
from tests.properties.test_any_history import first_mistake
from tests.properties.test_kind_with_holes import case as holes

ON_A_GRID = ("tumbling", "sliding", "cumulating", "trailing", "calendar", "local_days", "cumulating_days", "cumulating_months", "holes")
ON_A_GRID += (
    *("right_closed", "right_closed_sliding", "right_closed_cumulating", "right_closed_trailing"),
    *("half_months", "business_days", "samples", "last_part"),
)
FAR = 1000 * DAY


@lru_cache(maxsize=4096)
def windows_at(theirs: Any, t: int) -> tuple[tuple[int, int], ...]:
    """The oracle's windows over an instant."""
    return tuple(theirs.windows_for(t))


@dataclass(frozen=True)
class Asked:
    """A case whose values last. `carry`: how long, of each aggregate, microseconds; `unit`: events are as far apart."""

    case: Case
    carry: Mapping[str, int]
    unit: int

    @property
    def aggregates(self) -> dict[str, Aggregate]:
        c = self.carry
        return {
            "n": agg.count(),
            "state": agg.last("s", carry=c["state"]),
            "level": agg.last("x", carry=c["level"]),
            "mean": agg.time_weighted_mean("v", carry=c["mean"]),
            "work": agg.integral("v", carry=c["work"]),
            "spent": agg.time_in_state("s", carry=c["spent"]),
        }

    @property
    def oracle(self) -> dict[str, lasting.Oracle]:
        s, v, x, c = (lambda row: row["s"]), (lambda row: row["v"]), (lambda row: row["x"]), self.carry
        return {
            "n": lambda span: len(span.events),
            "state": lasting.last(s, c["state"]),
            "level": lasting.last(x, c["level"]),
            "mean": lasting.mean(v, c["mean"]),
            "work": lasting.integral(v, c["work"]),
            "spent": lasting.time_in_state(s, c["spent"]),
        }

    def reached(self, event: Event) -> Iterator[tuple[int, int]]:
        """The windows that begin behind an event, and that one of its values lasts to."""
        step, longest = self.unit // 4, max(self.carry.values())
        for t in range(event.t // step * step, event.t + longest + 2 * step, step):
            for start, end in windows_at(self.case.theirs, t):
                if event.t < start + lasting.outside(self.case.theirs) and start <= event.t + longest:
                    yield start, end


def made_dense(kind: Any) -> Any:
    """The kind, dense if it can be."""
    if isinstance(kind, RightClosed):
        return replace(kind, kind=made_dense(kind.kind))
    return replace(kind, dense=True) if "dense" in getattr(kind, "__dataclass_fields__", {}) else kind


def asked(draw: str, seed: int) -> Asked:
    """A case of a kind; every second one with windows that hold no event, where the kind has them."""
    given, dice = holes(seed) if draw == "holes" else case_of(draw, seed), random.Random(f"lasting {draw} {seed}")
    unit = (given.batches[0].end - given.batches[0].start) // 5
    carry = {
        name: dice.choice([0, 1, unit, dice.randint(1, 20) * unit + dice.randint(-1, 1)])
        for name in ("state", "level", "mean", "work", "spent")
    }
    ours: Any = given.ours
    ours = made_dense(ours) if seed % 2 else ours
    return Asked(replace(given, ours=ours.carrying(max(carry.values()))), carry, unit)


KINDS = {"s": pa.string(), "v": pa.int64(), "x": pa.float64()}
LATEST = [(f"latest_{name}_{part}", kind) for name in "sx" for part, kind in (("time", pa.int64()), ("value", KINDS[name]))]
POINTS = [(f"points_{name}_{part}", pa.list_(kind)) for name in "sv" for part, kind in (("time", pa.int64()), ("value", KINDS[name]))]
SCHEMA = pa.schema([("k", pa.string()), ("frame", INSTANT), ("rows", pa.int64()), *LATEST, *POINTS])


def states(rows: Rows, given: Case) -> pa.Table:
    """The states of some rows of a batch."""
    groups: dict[tuple[str | None, int], list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row["t"]):
        frame = (row["t"] - given.begin) // given.width * given.width + given.begin
        groups.setdefault((row["k"] if given.keys else None, frame), []).append(row)
    found = []
    for key, frame in sorted(groups, key=lambda at: (at[0] is None, at[0] or "", at[1])):
        own = groups[key, frame]
        state = {"k": key, "frame": frame, "rows": len(own)}
        for name in "svx":
            points = [(row["t"], row[name]) for row in own if row[name] is not None]
            state |= {f"points_{name}_time": [t for t, _ in points], f"points_{name}_value": [value for _, value in points]}
            state |= dict(zip((f"latest_{name}_time", f"latest_{name}_value"), points[-1] if points else (None, None), strict=True))
        found.append(state)
    return pa.table(
        [pa.array([state[name] for state in found], kind) for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True)], schema=SCHEMA
    )


def derived(at: Asked, known: list[float]) -> Combined:
    """The engine's word."""
    given = at.case
    return combine(
        positioned([(number, states(batch.rows, given)) for number, batch in enumerate(given.batches)]),
        window=given.ours,
        when=closing(given.ours, np.array([max(watermark, BEFORE_ALL) for watermark in known]).astype(np.int64)),
        keys=given.keys,
        aggregates=at.aggregates,
        width_us=given.width,
    )


def disagreement(at: Asked) -> list[str]:
    """What engine and oracle say differently."""
    given = at.case
    said = Judgement(watermarks(given.batches, given.policy, FAR), given.lateness)
    admitted = events(given.batches, given.keys, FAR, lambda _: True)
    combined, never = derived(at, said.watermarks), len(given.batches)
    found = by_window(given, combined)
    spans = lasting.spans(given.theirs, admitted, said, at.reached if given.ours.dense else lambda _: iter(()))
    wanted = {}
    for (key, start, end), (span, closed) in spans.items():
        values = [oracle(span) for oracle in at.oracle.values()]
        there = span.events or (start < max(said.watermarks) and any(value is not None for value in values[1:]))
        if there:
            wanted[*key, start, end] = [never if closed is None else closed, *values]
    wrong = [f"{key}: {found.get(key)} not {wanted.get(key)}" for key in wanted | found if not alike(found.get(key), wanted.get(key))]
    told = tallies(combined, never, np.arange(never), opened=False)
    right = {
        "late": [len(said.late[at]) for at in range(never)],
        "windows": [sum(row[0] == at for row in wanted.values()) for at in range(never)],
    }
    return wrong + [f"{name}: {told[name]} not {counted}" for name, counted in right.items() if told[name] != counted]


def by_window(given: Case, combined: Combined) -> dict[tuple[Any, ...], list[Any]]:
    """(keys, start, end) -> closing batch and values; every window once."""
    table = combined.windows
    bounds = [table[name].combine_chunks().view("int64").to_pylist() for name in ("window_start", "window_end")]
    keys = list(zip(*(table[key].to_pylist() for key in given.keys), *bounds, strict=True))
    values = zip(combined.closed.tolist(), *(column.to_pylist() for column in table.columns[len(given.keys) + 2 :]), strict=True)
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, map(list, values), strict=True))


@pytest.mark.parametrize("draw", ON_A_GRID)
def test_engine_and_oracle_agree(draw: str) -> None:
    wrong = {seed: said for seed in random_seeds(200) if (said := disagreement(asked(draw, seed)))}
    assert wrong == {}


@dataclass
class LastingDesk(Desk):
    """A desk of values that last."""

    at: ClassVar[Asked]

    def lifted(self, rows: Rows) -> pa.Table:
        return states(rows, self.given)


def mistake(at: Asked) -> list[str]:
    kind = type("Own", (LastingDesk,), {"at": at, "aggregates": at.aggregates})
    return first_mistake(at.case, kind(at.case))


@pytest.mark.parametrize("draw", ON_A_GRID)
def test_every_history_equals_a_clean_run(draw: str) -> None:
    wrong = {seed: said for seed in random_seeds(100) if (said := mistake(asked(draw, seed)))}
    assert wrong == {}
