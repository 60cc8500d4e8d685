"""Values that last, through the public API: in every way to run the batches the windows of the oracle, to the last bit the same.

`MUNTIN_JUDGE=100` runs a hundred scenarios instead of a few.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin.testing.oracle import SECOND, Judgement
from muntin.testing.oracle.time import Event, events, watermarks
from tests.case_counts import seeds
from tests.catalogue.kinds import JUDGED
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.scenario_on_disk import Bench, bench
from tests.end_to_end.judge.scenarios import AHEAD, scenario
from tests.end_to_end.judge.test_random_batches import WAYS
from tests.end_to_end.judge.verdict import bits
from tests.oracle import lasting
from tests.properties.equal_values import alike
from tests.storage.three_batches import HERE

DENSE = ("ten", "seven", "thirty", "late_ones", "aligned")
SPARSE = ("so_far", "day", "day_so_far", "season")
CARRY = {"state": 17 * SECOND, "level": SECOND, "mean": 25 * SECOND + 1, "work": 0, "spent": 8 * SECOND - 1}
AGGREGATES = {
    "n": agg.count(),
    "state": agg.last("s", carry=CARRY["state"]),
    "level": agg.last("x", carry=CARRY["level"], where="v > 0"),
    "mean": agg.time_weighted_mean("v", carry=CARRY["mean"]),
    "work": agg.integral("v", carry=CARRY["work"]),
    "spent": agg.time_in_state("s", carry=CARRY["spent"]),
}


def above(row: Any) -> Any:
    return row["x"] if row["v"] is not None and row["v"] > 0 else None


ORACLE: dict[str, lasting.Oracle] = {
    "n": lambda span: len(span.events),
    "state": lasting.last(lambda row: row["s"], CARRY["state"]),
    "level": lasting.last(above, CARRY["level"]),
    "mean": lasting.mean(lambda row: row["v"], CARRY["mean"]),
    "work": lasting.integral(lambda row: row["v"], CARRY["work"]),
    "spent": lasting.time_in_state(lambda row: row["s"], CARRY["spent"]),
}


def made(seed: int, folder: Path) -> Bench:
    """A random scenario whose windows have values from before them; some of them hold no event."""
    plain = bench(replace(scenario(seed), windows={name: JUDGED[name] for name in (*DENSE, *SPARSE)}), folder, HERE)
    kinds = {name: replace(kind, dense=True) if name in DENSE else kind for name, kind in plain.pipeline.windows.items()}  # type: ignore[type-var]
    return replace(plain, pipeline=replace(plain.pipeline, windows=kinds, aggregates=AGGREGATES))


def truth(found: Bench, name: str) -> dict[Any, list[Any]]:
    """(keys, start, end) -> closing batch and values, of published windows."""
    case, window = found.case, found.case.windows[name]
    said = Judgement(watermarks(case.batches, case.watermark, AHEAD))

    def reached(event: Event) -> Iterator[tuple[int, int]]:
        for t in range(event.t // SECOND * SECOND, event.t + max(CARRY.values()) + SECOND, SECOND):
            yield from (span for span in window.windows_for(t) if event.t < span[0])  # type: ignore[attr-defined]

    def nothing(_: Event) -> Iterator[tuple[int, int]]:
        return iter(())

    spans = lasting.spans(window, events(case.batches, case.keys, AHEAD, case.kept), said, reached if name in DENSE else nothing)
    rows = {
        (*key, start, end): (span, [closed, *(oracle(span) for oracle in ORACLE.values())])
        for (key, start, end), (span, closed) in spans.items()
    }
    return {
        at: row for at, (span, row) in rows.items() if row[0] is not None and (span.events or any(each is not None for each in row[2:]))
    }


@pytest.mark.parametrize("seed", seeds(2))
def test_every_way_publishes_what_the_oracle_says(seed: int, tmp_path: Path) -> None:
    found = made(seed, tmp_path)
    WAYS[seed % len(WAYS)](found)
    found.run("clean")
    clean, other = found.tables("clean"), found.tables("state")
    for name in found.case.windows:
        rows = face.published(found.pipeline, name, tmp_path / "clean", found.case.batches, dense=False)
        names = (*found.case.keys, "window_start", "window_end")
        ours = {tuple(row[each] for each in names): [row["batch"], *(row[each] for each in ORACLE)] for row in rows}
        wanted = truth(found, name)
        wrong = {at: (ours.get(at), wanted.get(at)) for at in ours.keys() | wanted.keys() if not alike(ours.get(at), wanted.get(at))}
        assert wrong == {}, name
        assert repr(bits(other[name])) == repr(bits(clean[name])), name
