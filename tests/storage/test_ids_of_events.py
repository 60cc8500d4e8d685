"""The table of ids beside the states: it is kept, mended and forgotten as these are, and costs what is new."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Limits, Pipeline, Retain, run, sources
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError, StateError
from muntin.extensions.kafka.source import kafka
from muntin.jobs.deduplication import kept_decisions
from muntin.jobs.deduplication.kept_decisions import NAME, facts_of_ids
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.doctor.repair import repair
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.records.reports_table import TABLE
from muntin.jobs.state.fingerprint import fingerprint
from muntin.jobs.upkeep.maintain import maintain
from muntin.sources import files, spark, table
from muntin.store.paths import IDS
from muntin.store.reading import read_files
from muntin.tasks import Local
from muntin.timeline.batches import UNDECIDED
from tests.case_counts import some
from tests.end_to_end.hourly import Hourly, hour, times
from tests.source_options import grouped
from tests.storage.crashing import Crashing
from tests.storage.repeated_events import HERE, Repeating, Row, clean
from tests.storage.test_deduplication_in_batches import same

# batches    0        1        2        3
# ids        a b      a c      c d      e        a in 1 and c in 2 are duplicates
HOURS: dict[int, list[Row]] = {
    0: [("a", 10, 1), ("b", 20, 2)],
    1: [("a", 65, 3), ("c", 70, 4)],
    2: [("c", 125, 5), ("d", 130, 6)],
    3: [("e", 200, 7)],
}


@pytest.fixture
def case(tmp_path: Path) -> Repeating:
    made = Repeating(tmp_path / "ours")
    for at, rows in HOURS.items():
        made.write(at, rows)
    return made


def readings(case: Repeating) -> list[int]:
    """How often each hour was read."""
    store = case.bound().store
    found = read_files(store.root / TABLE, store.snapshot(TABLE)).to_pylist()
    read = [row["batch"].hour for row in found if row["step"] == "accumulate"]
    return [read.count(at) for at in HOURS]


def test_hours_one_by_one_are_read_once(case: Repeating) -> None:
    for at in HOURS:
        case.run(at, at)
    assert readings(case) == [1, 1, 1, 1]


def test_of_hours_together_those_with_duplicates_are_read_twice(case: Repeating, tmp_path: Path) -> None:
    case.run(0, 3)
    assert readings(case) == [1, 2, 2, 1]
    assert same(case.published(), clean(tmp_path / "clean", HOURS)[0])
    case.run(0, 3)
    assert readings(case) == [2, 3, 3, 2]


# tasks     0 1   2 3       hour 1 is compared with hour 0 by the task that reads both
def test_a_task_compares_what_it_reads(case: Repeating) -> None:
    run(case.pipeline, root=case.root, start=hour(0), end=hour(4), spark=Local(1))
    assert readings(case) == [1, 1, 2, 1]


# hour 0    a b    ->    a x      nothing changes for hour 1
#           a b    ->    x b      a of hour 1 counts now
def test_a_replaced_hour_costs_the_hours_with_other_duplicates(case: Repeating, tmp_path: Path) -> None:
    case.run(0, 3)
    for rows, more in (([("a", 10, 1), ("x", 20, 2)], 0), ([("x", 10, 1), ("b", 20, 2)], 1)):
        before = readings(case)
        case.write(0, rows)
        report = case.run(0, 0)
        assert [now - then for now, then in zip(readings(case), before, strict=True)] == [1, more, 0, 0]
        assert report.batches[0].source_changed
        assert same(case.published(), clean(tmp_path / f"clean{more}", HOURS | {0: rows})[0])


def test_without_the_file_of_decisions_ids_are_compared_again(case: Repeating) -> None:
    case.run(0, 3)
    before = readings(case)
    (Path(case.bound().folder) / NAME).unlink()
    case.run(3, 3)
    assert [now - then for now, then in zip(readings(case), before, strict=True)] == [0, 0, 0, 1]
    assert (Path(case.bound().folder) / NAME).exists()


def test_a_flipped_bit_of_the_decisions_is_as_without_them(tmp_path: Path) -> None:
    bound, starts = SimpleNamespace(folder=tmp_path), np.arange(3)
    names, changing = starts.astype(np.uint64), {1: ((0, 2**63),)}
    kept_decisions.keep(bound, starts, names, names + np.uint64(5), changing)  # type: ignore[arg-type]
    whole = (tmp_path / NAME).read_bytes()
    answers = []
    for at in some(range(8 * len(whole)), 40):
        content = bytearray(whole)
        content[at // 8] ^= 1 << at % 8
        (tmp_path / NAME).write_bytes(content)
        decided, changes = kept_decisions.kept(bound, starts, names)  # type: ignore[arg-type]
        answers.append((decided.tolist(), changes))
    for decided, changes in answers:  # of each batch the same, or nothing: it is read again
        assert all(now in (once, UNDECIDED) for now, once in zip(decided, [5, 6, 7], strict=True)), answers
        assert changes == (changing if decided[1] == 6 else {}), answers


def test_a_batch_whose_source_is_gone_is_named(case: Repeating) -> None:
    case.run(0, 3)
    old = case.published()
    (case.folder / "data/01.parquet").unlink()
    case.write(0, [("x", 10, 1)])
    with pytest.raises(SourceError, match=r"must be read again, the first .*T01:00.*within="):
        case.run(0, 0)
    assert same(case.published(), old)
    case.write(1, HOURS[1])
    case.run(2, 2)
    assert not same(case.published(), old)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-9] + b"damaged!!")])
def test_lost_ids_are_mended(case: Repeating, damage: Callable[[Path], Any]) -> None:
    for at in HOURS:
        case.run(at, at)
    old = case.published()
    damage(sorted(Path(case.bound().folder, IDS).glob("*/*.parquet"))[1])
    (Path(case.bound().folder) / NAME).unlink()
    assert any(f"/{IDS}/" in finding.place for finding in diagnose(case.pipeline, root=case.root, deep=True))
    assert repair(case.pipeline, root=case.root, spark=HERE).read
    assert not diagnose(case.pipeline, root=case.root, deep=True)
    case.write(0, [("x", 10, 1)])
    case.run(0, 0)
    assert not same(case.published(), old)


def test_files_of_ids_are_put_together(case: Repeating, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "MANY", 2)
    for at in HOURS:
        case.run(at, at)
    maintain(case.pipeline, root=case.root, older_than_us=0)
    store = case.bound().store
    assert len(store.snapshot(IDS).files) < len(HOURS)
    before = readings(case)
    changed = HOURS | {1: [("f", 65, 3), ("c", 70, 4)]}
    case.write(1, changed[1])
    case.run(1, 1)
    assert [now - then for now, then in zip(readings(case), before, strict=True)] == [0, 1, 0, 0]
    assert same(case.published(), clean(tmp_path / "clean", changed)[0])


def test_a_definition_with_less_takes_ids_over(case: Repeating) -> None:
    case.run(0, 2)
    less = Fewer(case.folder)
    assert fingerprint(less.pipeline) != fingerprint(case.pipeline)
    less.run(3, 3)
    assert facts_of_ids(less.bound(), less.bound().store.snapshot(IDS)).rows.tolist() == [2, 2, 2, 1]
    assert less.published()["hours"]["n"].to_pylist() == case_of(less).published()["hours"]["n"].to_pylist()


@dataclass(frozen=True)
class Fewer(Repeating):
    """With fewer aggregates, at the same place."""

    @property
    def pipeline(self) -> Pipeline:
        return replace(super().pipeline, aggregates={"n": agg.count()})


def case_of(less: Repeating) -> Repeating:
    """The same definition from the beginning."""
    other = Fewer(less.folder / "anew")
    for at, rows in HOURS.items():
        other.write(at, rows)
    other.run(0, 3)
    return other


# retain 4 hours, max_behind 1 hour, within 1 hour: of hour 0 nothing can be repeated any more
def test_ids_out_of_reach_go_with_the_states(tmp_path: Path) -> None:
    case = Old(tmp_path)
    for at in range(12):
        case.write(at, [(f"e{at}", 60 * at + 10, at), (f"e{at - 1}", 60 * at + 20, at)])
        case.run(at, at)
    maintain(case.pipeline, root=case.root, older_than_us=0)
    facts = facts_of_ids(case.bound(), case.bound().store.snapshot(IDS))
    assert facts.expired.any()
    assert not facts.expired[-5:].any()
    case.write(11, [("e10", 60 * 11 + 30, 1)])
    assert case.run(11, 11).batches[0].rows_duplicate == 0
    case.write(11, [("e10", 60 * 11 + 9, 1)])
    assert case.run(11, 11).batches[0].rows_duplicate == 1
    with pytest.raises(StateError, match="retain"):
        case.run(0, 0)


@dataclass(frozen=True)
class Old(Repeating):
    """With states that go."""

    @property
    def pipeline(self) -> Pipeline:
        return replace(super().pipeline, retain=Retain(states="4h"), limits=Limits(max_quarantined=None, max_behind="1h"))


class Between(Crashing):
    """A store beside which something else happens before one of its verbs."""

    def __init__(self, store: Any, at: int, happens: Callable[[], Any]) -> None:
        super().__init__(store)
        self.happens, self.when = happens, at

    def _do(self, verb: str, *given: Any) -> Any:
        if len(self.said) == self.when:
            self.happens()
        return super()._do(verb, *given)


# a run of hour 2 at work      --- x -------       x: hour 1 is read with other rows, by another run or by its task accumulate
def test_a_neighbour_may_be_replaced_at_any_moment_of_a_run(case: Repeating, tmp_path: Path) -> None:
    changed = HOURS | {1: [("a", 65, 3), ("d", 70, 4)]}
    old, new = (clean(tmp_path / name, {at: of[at] for at in range(3)})[0] for name, of in (("old", HOURS), ("new", changed)))
    verbs = Crashing(case.bound().store)
    case.run(0, 1)
    case.run(2, 2, store=verbs)
    for at in range(0, len(verbs.said), 7):
        other = Repeating(tmp_path / f"{at}")
        for number, of_hour in HOURS.items():
            other.write(number, of_hour)
        other.run(0, 1)

        def replaced(other: Repeating = other, whole: bool = at % 2 == 0) -> None:
            other.write(1, changed[1])
            other.run(1, 1) if whole else other.accumulate(1)

        other.run(2, 2, store=Between(other.bound().store, at, replaced))
        assert same(other.published(), old) or same(other.published(), new), verbs.said[at]
        other.run(2, 2)
        assert same(other.published(), new), verbs.said[at]


WRONG = [
    ({"dedupe_within": "1h"}, "events: name the columns that tell events apart"),
    ({"dedupe": "id", "dedupe_within": "-1h"}, "longer than 0"),
    ({"dedupe": "id", "dedupe_within": 0}, "longer than 0"),
    ({"dedupe": "id", "dedupe_within": "soon"}, "within: 'soon'"),
    ({"dedupe": "id", "dedupe_within": "400d"}, "longer than 366d"),
]


@pytest.mark.parametrize(("wrong", "told"), WRONG)
def test_what_cannot_be_is_refused(wrong: dict[str, Any], told: str) -> None:
    made: list[Callable[..., Any]] = [
        lambda **how: files("{start:%H}.parquet", **grouped(**how)),
        lambda **how: table("data/orders", **grouped(**how)),
        lambda **how: spark(print, **grouped(**how)),
        lambda **how: kafka("broker:9092", "topic", **grouped(value="json", columns={"id": "VARCHAR", "at": "TIMESTAMPTZ"}, **how)),
    ]
    for of_kind in made:
        assert of_kind(event_time="at", dedupe="id", dedupe_within="2d").dedupe_within_us == timedelta(days=2) // timedelta(microseconds=1)
        with pytest.raises(DefinitionError, match=told):
            of_kind(event_time="at", **wrong)


def test_an_id_of_files_of_text_is_a_text_unless_a_type_is_given() -> None:
    how: dict[str, Any] = {"event_time": "at", "rows": sources.events(dedupe="id", within="1h")}
    assert files("{start:%H}.csv", **how).types == {"id": "VARCHAR"}
    assert files("{start:%H}.csv", **how, types={"id": "BIGINT"}).types == {"id": "BIGINT"}
    assert files("{start:%H}.parquet", **how).types == {}


def test_it_is_part_of_what_states_are_made_by(tmp_path: Path) -> None:
    each = ({"dedupe": "id"}, {"dedupe": "id", "dedupe_within": "1h"}, {"dedupe": "id", "dedupe_within": "2h"})
    assert len({fingerprint(Hourly(tmp_path, source=how).pipeline) for how in each}) == 3


# the same id in other types, and two columns that look alike one behind the other
IDS_OF_TYPES = [
    (["id"], {"id": pa.array([7], pa.int16())}, {"id": pa.array([7], pa.uint64())}, True),
    (["id"], {"id": pa.array([7], pa.int64())}, {"id": pa.array(["7"])}, True),
    (["id"], {"id": pa.array([times(1)[0]], pa.timestamp("ms"))}, {"id": pa.array([times(1)[0]], pa.timestamp("us"))}, True),
    (["id"], {"id": pa.array([b"\x00\xff"])}, {"id": pa.array([b"\x00\xff"])}, True),
    (["id", "n"], {"id": ["ab"], "n": ["c"]}, {"id": ["a"], "n": ["bc"]}, False),
    (["id", "n"], {"id": ["a"], "n": ["1:b"]}, {"id": ["a1:b"], "n": [""]}, False),
    (["id", "n"], {"id": ["a"], "n": [1]}, {"id": ["a"], "n": [1]}, True),
]


@pytest.mark.parametrize(("dedupe", "one", "other", "alike"), IDS_OF_TYPES)
def test_ids_are_compared_by_value(dedupe: list[str], one: Any, other: Any, alike: bool, tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"dedupe": dedupe, "dedupe_within": "1h"})
    case.write("00.parquet", {"at": times(10), **one})
    case.write("01.parquet", {"at": times(65), **other})
    for at in range(2):
        report = case.run(at, at)
    assert report.batches[0].rows_duplicate == int(alike)


def test_an_id_that_has_no_text_of_its_own_is_refused(tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"dedupe": "id", "dedupe_within": "1h"})
    case.write("00.parquet", {"at": times(10), "id": [0.1]})
    with pytest.raises(SourceError, match="id is DOUBLE"):
        case.run()


def test_a_faulty_row_is_refused_whatever_it_repeats(tmp_path: Path) -> None:
    """So that the ids of a batch follow from its source alone."""
    case = Hourly(tmp_path, source={"dedupe": "id", "dedupe_within": "1h"}, other={"aggregates": {"x": agg.sum("x::BIGINT")}})
    case.write("00.parquet", {"at": times(10, 20), "id": ["a", "b"], "x": ["1", "2"]})
    case.write("01.parquet", {"at": times(65, 66), "id": ["a", "b"], "x": ["one", "4"]})
    for first, last in ((0, 0), (1, 1), (0, 1)):
        batch = case.run(first, last).batches[-1]
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined, batch.rows_duplicate) == (2, 0, 1, 1)
    assert pq.read_table(next(Path(case.root).glob("hourly/*/ids/*/*.parquet"))).num_columns == 5
