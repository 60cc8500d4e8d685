"""Values that last, through the public API: a meter that is read now and then, and what its windows know between."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import Pipeline, Retain, as_of, over, read, sources, windows
from muntin import aggregates as agg
from muntin.definition.instants import instant_us
from muntin.errors import DefinitionError
from muntin.jobs.housekeeping.expire import expire
from muntin.jobs.inspect.explain import explain
from muntin.jobs.published.pending import are_gone, pending_window
from muntin.jobs.state.bound import bind
from tests.end_to_end.hourly import Hourly, hour, times
from tests.properties.equal_values import bitwise

LEVEL = {
    "n": agg.count(),
    "level": agg.last("x", carry="1d"),
    "mean": agg.time_weighted_mean("x", carry="1d"),
    "work": agg.integral("x", carry="1d"),
    "spent": agg.time_in_state("x", carry="1d"),
}


def meter(folder: Path, *, dense: bool = False, aggregates: Mapping[str, Any] = LEVEL, **other: Any) -> Hourly:
    """Hours of a meter."""
    return Hourly(folder, other={"windows": {"hour": windows.tumbling("1h", dense=dense)}, "aggregates": dict(aggregates), **other})


def readings(case: Hourly, found: Mapping[str, Sequence[tuple[float, float | None]]]) -> None:
    """A file for each hour: (minute, value)."""
    for name, rows in found.items():
        at = pa.array(times(*(minute for minute, _ in rows)), pa.timestamp("us", tz="UTC"))
        case.write(f"{name}.parquet", {"at": at, "x": pa.array([value for _, value in rows], pa.float64())})


# minutes     0:00             0:50  1:00      1:20                  2:00
# values                       10              31
# window                             [ 10 for 20, 31 for 40 minutes  )
def test_a_window_begins_with_the_last_value_before_it(tmp_path: Path) -> None:
    case = meter(tmp_path)
    readings(case, {"00": [(50, 10.0)], "01": [(80, 31.0)]})
    case.run(0, 1)
    mean = (10 * 20 + 31 * 40) / 60
    assert case.rows("window_start", "mean", "work") == [
        (hour(0), 10.0, 10.0 * 600),
        (hour(1), pytest.approx(mean), pytest.approx(mean * 3600)),
    ]
    assert case.rows("level", "spent") == [(10.0, [(10.0, 600.0)]), (31.0, [(10.0, 1200.0), (31.0, 2400.0)])]


# minutes     0:00           1:00           2:00           3:00           4:00
# values          10 at 0:10                                   null 3:30, 31 at 3:40
# carry 2h        |------------------------------|                           2:10 is too far for the window of 3:00
# windows     [ n=1 )        [ n=0 )        [ n=0 )        [ n=2 )        [
def test_dense_windows_are_there_as_far_as_a_value_lasts(tmp_path: Path) -> None:
    lasting = {"n": agg.count(), "level": agg.last("x", carry="2h"), "mean": agg.time_weighted_mean("x", carry="2h")}
    case = meter(tmp_path, dense=True, aggregates=lasting)
    readings(case, {"00": [(10, 10.0)], "01": [], "02": [], "03": [(210, None), (220, 31.0)], "04": []})
    reports = case.run(0, 4).batches
    assert [each.windows_closed["hour"] for each in reports] == [1, 1, 1, 1, 1]
    assert case.rows("window_start", "n", "level", "mean", "batch") == [
        (hour(0), 1, 10.0, 10.0, hour(0)),
        (hour(1), 0, 10.0, 10.0, hour(1)),
        (hour(2), 0, 10.0, 10.0, hour(2)),
        (hour(3), 2, 31.0, 31.0, hour(3)),
        (hour(4), 0, 31.0, 31.0, hour(4)),
    ]
    other = meter(tmp_path / "other", aggregates=lasting)
    readings(other, {"00": [(10, 10.0)]})
    other.run(0, 0)
    with pytest.raises(DefinitionError, match="say dense=True in its definition"):
        read(other.pipeline, "hour", root=other.root, dense=True)


# carry       |------------|               to the microsecond: 1:00 is 2 h before the window of 3:00
# values      10 at 1:00                   or 1 us before 1:00
@pytest.mark.parametrize(("at", "level"), [(60.0, 10.0), (60 - 1 / 60e6, None)])
def test_a_value_is_as_old_as_carry_says_to_the_microsecond(at: float, level: float | None, tmp_path: Path) -> None:
    lasting = {"n": agg.count(), "level": agg.last("x", carry="2h"), "other": agg.last("x", carry="1us")}
    case = meter(tmp_path, aggregates=lasting)
    readings(case, {"00": [], "01": [(at, 10.0)], "02": [], "03": [(200, None)]})
    case.run(0, 3)
    assert case.rows("n", "level", "other")[-1] == (1, level, None)


# values at one time: the last to arrive holds; a value at the start of a window takes the place of what is carried
def test_values_at_one_time(tmp_path: Path) -> None:
    case = meter(tmp_path)
    readings(case, {"00": [(50, 1.0), (50, 2.0)], "01": [(60, 3.0), (60, 4.0), (90, 5.0)], "02": [(150, 6.0)]})
    case.run(0, 2)
    assert case.rows("spent") == [([(2.0, 600.0)],), ([(4.0, 1800.0), (5.0, 1800.0)],), ([(5.0, 1800.0), (6.0, 1800.0)],)]


# batch 0 comes again: 10 at 0:50 is 20; batch 2 has a value of 1:30, too late for the window of 1:00, not for that of 2:00
def test_a_batch_changes_the_windows_that_its_values_reach_and_no_others(tmp_path: Path) -> None:
    case = meter(tmp_path, dense=True)
    readings(case, {"00": [(50, 10.0)], "01": [], "02": [(90, 7.0)], "03": [(190, 8.0)], "04": []})
    case.run(0, 4)
    before = dict(zip(range(5), case.rows("n", "level", "mean"), strict=True))
    assert before == {
        0: (1, 10.0, 10.0),
        1: (0, 10.0, 10.0),
        2: (0, 7.0, 7.0),
        3: (1, 8.0, pytest.approx((70 + 400) / 60)),
        4: (0, 8.0, 8.0),
    }
    readings(case, {"00": [(50, 20.0)]})
    case.run(0, 0)
    after = dict(zip(range(5), case.rows("n", "level", "mean"), strict=True))
    assert {at for at in after if after[at] != before[at]} == {0, 1}
    clean = meter(tmp_path / "clean", dense=True)
    readings(clean, {"00": [(50, 20.0)], "01": [], "02": [(90, 7.0)], "03": [(190, 8.0)], "04": []})
    clean.run(0, 4)
    assert bitwise(*(read(each.pipeline, "hour", root=each.root) for each in (case, clean)))


# a batch that came late is there when the window of 1:00 is derived anew; open windows end where time is known
def test_open_windows_and_windows_by_the_newest_event(tmp_path: Path) -> None:
    case = meter(tmp_path, dense=True, watermark="events")
    readings(case, {"00": [(10, 10.0)], "01": [(70, None), (130, None)]})
    case.run(0, 1)
    found = read(case.pipeline, "hour", root=case.root, provisional=True).to_pylist()
    assert [(row["window_start"], row["level"], row["provisional"]) for row in found] == [
        (hour(0), 10.0, False), (hour(1), 10.0, False), (hour(2), 10.0, True),
    ]  # fmt: skip


# one value at 0:50 lasts five hours; states are kept for an hour, and those that open windows begin with
def test_states_stay_as_long_as_their_values_last(tmp_path: Path) -> None:
    lasting = {"n": agg.count(), "level": agg.last("x", carry="5h")}
    case = meter(tmp_path, dense=True, aggregates=lasting, retain=Retain(states="1h"))
    readings(case, {"00": [(50, 10.0)], **{f"{at:02d}": [] for at in range(1, 12)}})
    within, gone = [instant_us(hour(at), "at") for at in (0, 1)], list[bool]()
    for at in range(12):
        case.run(at, at)
        while expire(bind(case.pipeline, case.root), at_once=True):
            pass
        gone.append(are_gone(pending_window(bind(case.pipeline, case.root), "hour").history.batches, *within))
    assert gone == sorted(gone)
    assert (gone[6], gone[-1]) == (False, True)
    assert case.rows("level", "batch") == [(10.0, hour(at)) for at in range(6)]


def test_to_say_carry_reads_no_row_again(tmp_path: Path) -> None:
    plain = {"n": agg.count(), "mean": agg.time_weighted_mean("x"), "level": agg.last("x", ignore_nulls=True)}
    case = meter(tmp_path, aggregates=plain)
    readings(case, {"00": [(50, 10.0)], "01": [(80, 31.0)]})
    case.run(0, 1)
    assert case.rows("mean") == [(10.0,), (31.0,)]
    (tmp_path / "data" / "00.parquet").unlink()
    case = meter(tmp_path, aggregates=plain | {"mean": LEVEL["mean"], "level": LEVEL["level"]})
    case.run(1, 1)
    assert case.rows("mean") == [(10.0,), (pytest.approx((10 * 20 + 31 * 40) / 60),)]


# a       0:50 10                       the group b of a rollup has both, by time
# b              0:55 20    1:30 30
def test_fewer_keys_have_the_last_value_of_all(tmp_path: Path) -> None:
    case = meter(tmp_path, keys=["k"], rollups={"all": []})
    case.write("00.parquet", {"at": times(50, 55), "k": ["a", "b"], "x": [10.0, 20.0]})
    case.write("01.parquet", {"at": times(90, 95), "k": ["b", "a"], "x": [30.0, None]})
    case.run(0, 1)
    own = read(case.pipeline, "hour", root=case.root)
    assert own["spent"].to_pylist() == [[(10.0, 600.0)], [(10.0, 3600.0)], [(20.0, 300.0)], [(20.0, 1800.0), (30.0, 1800.0)]]
    rolled = read(case.pipeline, "hour.all", root=case.root)["spent"].to_pylist()
    assert rolled == [[(10.0, 300.0), (20.0, 300.0)], [(20.0, 1800.0), (30.0, 1800.0)]]


def test_a_condition_says_which_rows_carry(tmp_path: Path) -> None:
    case = meter(tmp_path, aggregates={"level": agg.last("x", carry="1d", where="x < 15")})
    readings(case, {"00": [(40, 10.0), (50, 20.0)], "01": [(80, 31.0)]})
    case.run(0, 1)
    assert case.rows("level") == [(10.0,), (10.0,)]


def test_as_of_finds_a_value_that_lasts(tmp_path: Path) -> None:
    case = meter(tmp_path, dense=True, keys=["k"])
    case.write("00.parquet", {"at": times(50), "k": ["a"], "x": [10.0]})
    case.write("01.parquet", {"at": times(61), "k": ["b"], "x": [1.0]})
    case.run(0, 1)
    asked = pa.table({"k": ["a"], "at": times(125)})
    found = as_of(case.pipeline, "hour", asked, root=case.root, at="at")
    assert found["level"].to_pylist() == [10.0]


# 0:50 10   1:20 31: the window of 1:00 is made of the second, and begins with the value of the first
def test_explain_names_the_state_that_a_window_begins_with(tmp_path: Path) -> None:
    case = meter(tmp_path, dense=True)
    readings(case, {"00": [(50, 10.0)], "01": [(80, 31.0)], "02": []})
    case.run(0, 2)
    explained = [explain(case.pipeline, "hour", root=case.root, at=hour(at)).windows[0] for at in range(3)]
    assert [([part.frame for part in each.parts], [part.frame for part in each.before]) for each in explained] == [
        ([hour(0)], []), ([hour(1)], [hour(0)]), ([], [hour(1)]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "kind", [windows.session("5m"), windows.unique_sliding("5m"), windows.all_time(), windows.arrival(windows.by_count(2))]
)
def test_windows_that_begin_with_events_are_refused(kind: Any, tmp_path: Path) -> None:
    with pytest.raises(
        DefinitionError, match=r"aggregates\['level'\] has values from before a window.*put 'own' into a pipeline without carry"
    ):
        _ = meter(tmp_path, windows={"own": kind}).pipeline


def test_what_knows_a_windows_own_rows_alone_refuses_values_that_last(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="make the group a key"):
        agg.by("k", LEVEL["level"])
    with pytest.raises(DefinitionError, match="leave one of them out"):
        agg.integral("x", "linear", carry="1d")
    with pytest.raises(DefinitionError, match="last, carry: -1 must not be negative"):
        agg.last("x", carry=-1)
    case = meter(tmp_path, retain=Retain(states_in_windows=True))
    with pytest.raises(DefinitionError, match="over: aggregates"):
        over(case.pipeline, hour(0), hour(1), root=case.root)
    with pytest.raises(DefinitionError, match="merge an aggregate without carry"):
        Pipeline(
            name="day", source=sources.windows(case.pipeline, "hour"), schedule="1h", start=hour(0),
            windows={"day": windows.tumbling("1d")}, aggregates={"level": agg.merge("level")},
        )  # fmt: skip


def test_two_definitions_of_the_same_windows(tmp_path: Path) -> None:
    """A definition made of another one carries as long as its own aggregates say."""
    whole = meter(tmp_path).pipeline
    assert whole.windows["hour"].carry_us == 24 * 3600 * 1_000_000  # type: ignore[attr-defined]
    assert replace(whole, aggregates={"n": agg.count()}).windows["hour"] == windows.tumbling("1h")
