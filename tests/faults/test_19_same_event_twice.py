"""Fault 19: an event comes twice in a batch. With `dedupe` the first to arrive counts; a report tells how many did not."""

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from muntin import aggregates as agg
from muntin import windows
from muntin.errors import DefinitionError, SourceError
from muntin.jobs.records.reports_table import last_accumulated
from muntin.jobs.state.fingerprint import fingerprint
from tests.end_to_end.hourly import Hourly, times

ENDINGS = ["parquet", "csv", "jsonl"]
SUM = {"aggregates": {"n": agg.count(), "x": agg.sum("x"), "first": agg.first("x")}}


def made(folder: Path, ending: str, dedupe: Any = "id", **other: Any) -> Hourly:
    types = {"types": {"x": "BIGINT", "id": "VARCHAR"}} if ending != "parquet" else {}
    return Hourly(folder, f"{{start:%H}}*.{ending}", {"dedupe": dedupe, **types}, {**SUM, **other})


def counts(batch: Any) -> tuple[int, ...]:
    return batch.rows_read, batch.rows_accepted, batch.rows_left_out, batch.rows_quarantined, batch.rows_duplicate


# file      00a                00b
# id        a   b   a   null   b   c   null
# x         1   2   4   8      16  32  64
# counts    1   2       8          32  64
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_first_to_arrive_counts(ending: str, tmp_path: Path) -> None:
    case = made(tmp_path, ending)
    case.write(f"00a.{ending}", {"at": times(1, 2, 3, 4), "id": ["a", "b", "a", None], "x": [1, 2, 4, 8]})
    case.write(f"00b.{ending}", {"at": times(5, 6, 7), "id": ["b", "c", None], "x": [16, 32, 64]})
    (batch,) = case.run().batches
    assert counts(batch) == (7, 5, 0, 0, 2)
    assert case.rows("n", "x", "first") == [(5, 107, 1)]
    assert [one["rows_duplicate"] for one in last_accumulated(bound(case).store).values()] == [2]


def bound(case: Hourly) -> Any:
    from muntin.jobs.state.bound import bind

    return bind(case.pipeline, case.root)


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_row_is_somewhere(ending: str, tmp_path: Path) -> None:
    """A refused row is no event that another row repeats; a row that the filter leaves out is one."""
    case = made(tmp_path, ending, where="x < 100")
    at = [None, *times(2, 3, 4, 5)]
    case.write(f"00.{ending}", {"at": pa.array(at, pa.timestamp("us", "UTC")), "id": ["a", "a", "b", "b", "a"], "x": [1, 2, 200, 3, 4]})
    (batch,) = case.run().batches
    assert counts(batch) == (5, 1, 1, 1, 2)
    assert case.rows("x") == [(2,)]


def test_beside_a_row_that_cannot_be_read(tmp_path: Path) -> None:
    case = made(tmp_path, "csv")
    case.write("00.csv", {"at": []}).write_text(
        "at,id,x\n" + "".join(f"2024-01-01 00:0{at},{row}\n" for at, row in enumerate(["a,1", "a,one", "a,2"]))
    )
    (batch,) = case.run().batches
    assert counts(batch) == (3, 1, 0, 1, 1)
    assert case.rows("x") == [(1,)]


def test_an_arrival_order_says_which_is_the_first(tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"dedupe": "id", "arrival_order": "seen"}, other=SUM)
    case.write("00.parquet", {"at": times(1, 2), "id": ["a", "a"], "x": [1, 2], "seen": [9, 3]})
    case.run()
    assert case.rows("x") == [(2,)]


def test_windows_by_arrival_see_an_event_once(tmp_path: Path) -> None:
    case = made(tmp_path, "parquet", windows={"hour": windows.arrival(windows.by_count(2))})
    case.write("00.parquet", {"at": times(1, 2, 3, 4), "id": [1, 1, 2, 3], "x": [1, 2, 4, 8]})
    case.run()
    assert case.rows("x") == [(5,)]


def test_a_duplicate_tells_no_time(tmp_path: Path) -> None:
    case = made(tmp_path, "parquet", watermark="events")
    case.write("00.parquet", {"at": times(1, 50), "id": [1, 1], "x": [1, 2]})
    assert case.run().batches[0].watermark == times(1)[0]


@pytest.mark.parametrize("seed", range(12))
def test_as_a_naive_reader_would(seed: int, tmp_path: Path) -> None:
    """Two columns together, several files and batches, in bulk and one by one."""
    dice, ending = Random(seed), ENDINGS[seed % 3]
    case, wanted = made(tmp_path, ending, ["id", "part"], keys=["part"]), list[tuple[Any, ...]]()
    for at in range(3):
        rows = [(dice.choice(["a", "b", None]), dice.choice(["x", "y"]), dice.randint(0, 9), dice.uniform(0, 59)) for _ in range(30)]
        half = dice.randint(1, 29)
        for name, part in ((f"{at:02d}a", rows[:half]), (f"{at:02d}b", rows[half:])):
            case.write(f"{name}.{ending}", dict(zip(("id", "part", "x", "at"), _columns(part, at), strict=True)))
        first = {(row[0] or object(), row[1]): row for row in reversed(rows)}.values()
        wanted += [(key, len(kept), sum(row[2] for row in kept)) for key in "xy" if (kept := [row for row in first if row[1] == key])]
    report = case.run(0, 2)
    assert sorted(case.rows("part", "n", "x")) == sorted(wanted)
    assert [one.rows_read for one in report.batches] == [30] * 3
    assert sum(one.rows_duplicate for one in report.batches) == 90 - sum(count for _, count, _ in wanted)
    case.run(1, 1)
    assert sorted(case.rows("part", "n", "x")) == sorted(wanted)


def _columns(rows: list[tuple[Any, ...]], at: int) -> list[list[Any]]:
    return [[row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows], times(*(60 * at + row[3] for row in rows))]


def test_without_it_every_row_counts(tmp_path: Path) -> None:
    case = Hourly(tmp_path, other=SUM)
    case.write("00.parquet", {"at": times(1, 1), "id": [1, 1], "x": [1, 1]})
    assert counts(case.run().batches[0]) == (2, 2, 0, 0, 0)


def test_it_is_part_of_what_states_are_made_by(tmp_path: Path) -> None:
    names = {
        fingerprint(Hourly(tmp_path, source=each).pipeline) for each in ({}, {"dedupe": None}, {"dedupe": "id"}, {"dedupe": ["id", "x"]})
    }
    assert len(names) == 3


@pytest.mark.parametrize("dedupe", [[], "", [1], {}, 5])
def test_what_names_no_column_is_refused(dedupe: Any, tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match="dedupe"):
        _ = Hourly(tmp_path, source={"dedupe": dedupe}).pipeline


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_column_that_is_not_there_is_named(ending: str, tmp_path: Path) -> None:
    case = made(tmp_path, ending, "event")
    case.write(f"00.{ending}", {"at": times(1), "id": ["a"], "x": [1]})
    with pytest.raises((DefinitionError, SourceError), match="event"):
        case.run()
    case.write(f"00b.{ending}", {"at": times(1), "event": ["a"], "id": ["a"], "x": [1]})
    with pytest.raises((DefinitionError, SourceError), match=r"00\..*event|event.*00\."):
        case.run()
