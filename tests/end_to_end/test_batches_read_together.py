"""Batches that are read together: what is wrong with one of them is said as if it were alone, and a file that changes does not count."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import aggregates as agg
from muntin import read, windows
from muntin.errors import MuntinError
from muntin.jobs.accumulate import accumulate_bundle, accumulate_task, read_batches
from muntin.jobs.records.reports_table import last_accumulated, manifest
from muntin.jobs.state.bound import bind
from muntin.store.paths import QUARANTINE, SharedPath, parse_states_path
from tests.end_to_end.hourly import Hourly, hour, times

HOURS = 5
TWO_SETS = {"hour": windows.tumbling("1h"), "pairs": windows.arrival(windows.by_count(2))}
GREAT = 2**62


def not_seven(value: int) -> int:
    if value == 7:
        raise ZeroDivisionError("seven")
    return value


NO_SEVEN = agg.own("picky", "x", create=lambda: 0, accumulate=lambda _, value: not_seven(value), combine=max, finish=float)


def hours(folder: Path, **other: Any) -> Hourly:
    """Five hours with a file each: an event at its fifth minute, with x = 1."""
    case = Hourly(folder, other={"windows": TWO_SETS, "aggregates": {"total": agg.sum("x")}, **other})
    for at in range(HOURS):
        write(case, at, [1])
    return case


def write(case: Hourly, at: int, x: Any, part: str = "") -> Path:
    return case.write(f"{at:02d}{part}.parquet", {"at": times(*[60 * at + 5] * len(x)), "x": x})


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """Whether each bundle came to an end; one task gets all batches."""
    found, whole = list[bool](), accumulate_bundle.accumulate_bundle

    def watched(*given: Any) -> Any:
        found.append(False)
        done = whole(*given)
        found[-1] = True
        return done

    monkeypatch.setattr(accumulate_bundle, "accumulate_bundle", watched)
    monkeypatch.setattr(read_batches, "shares", lambda sizes, _: [list(range(len(sizes)))])
    return found


def files(case: Hourly) -> list[int]:
    """How many batches each file of states has, of the first frame set."""
    bound = bind(case.pipeline, case.root)
    paths = [parse_states_path(file.path) for file in bound.store.snapshot(bound.frame_sets[0].table).files]
    return sorted(path.batches if isinstance(path, SharedPath) else 1 for path in paths)


def totals(case: Hourly) -> list[Any]:
    return read(case.pipeline, "hour", root=case.root)["total"].to_pylist()


def test_hours_are_read_together(tmp_path: Path, together: list[bool]) -> None:
    case = hours(tmp_path)
    case.run(0, HOURS - 1)
    assert together == [True]
    assert files(case) == [HOURS]
    assert totals(case) == [1] * HOURS


def damaged(case: Hourly) -> None:
    """The rows; the footer is whole."""
    path = case.folder / "data" / "02.parquet"
    content = path.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[:4] + b"\xff" * (footer - 4) + content[footer:])


def cut_off(case: Hourly) -> None:
    path = case.folder / "data" / "02.parquet"
    path.write_bytes(path.read_bytes()[:-1])


def text(case: Hourly) -> None:
    write(case, 2, ["one"])


def too_great(case: Hourly) -> None:
    case.write("02.parquet", {"at": times(125, 125), "x": pa.array([GREAT, GREAT])})


def seven(case: Hourly) -> None:
    write(case, 2, [7])


def short_of_a_column(case: Hourly) -> None:
    case.write("02b.parquet", {"at": times(125)})


Spoil = Callable[[Hourly], None]


# what is wrong with the third of five hours, and whether the bundles that are tried come to an end
@pytest.mark.parametrize(
    ("spoil", "tried"),
    [(damaged, [False]), (cut_off, [True]), (text, [True]), (too_great, [False]), (seven, [False]), (short_of_a_column, [True])],
)
def test_what_is_wrong_with_a_batch_is_said_as_if_it_were_alone(
    spoil: Spoil, tried: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: list[bool]
) -> None:
    case = hours(tmp_path, where="x <> 7 OR error('seven')")
    spoil(case)
    with pytest.raises(MuntinError) as among_others:
        case.run(0, HOURS - 1)
    assert together == tried
    monkeypatch.setattr(accumulate_task, "may_bundle", lambda _: False)
    with pytest.raises(type(among_others.value)) as alone:
        case.run(0, HOURS - 1)
    assert (str(among_others.value), type(among_others.value)) == (str(alone.value), type(alone.value))
    assert "02" in str(alone.value)


def test_an_error_of_the_users_own_function_comes_out(tmp_path: Path) -> None:
    case = hours(tmp_path, aggregates={"picky": NO_SEVEN})
    write(case, 2, [7])
    with pytest.raises(ZeroDivisionError, match="seven"):
        case.run(0, HOURS - 1)


def test_an_hour_with_a_column_of_another_type_is_read_alone(tmp_path: Path, together: list[bool]) -> None:
    case = hours(tmp_path)
    write(case, 2, pa.array([1], pa.int32()))
    case.run(0, HOURS - 1)
    assert together == [True, True]
    assert files(case) == [1, 2, 2]
    assert totals(case) == [1] * HOURS


def after_the_first_bundle(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    whole, first = accumulate_bundle.accumulate_bundle, iter([True])

    def and_then(*given: Any) -> Any:
        done = whole(*given)
        if next(first, False):
            act()
        return done

    monkeypatch.setattr(accumulate_bundle, "accumulate_bundle", and_then)


def test_a_file_that_changes_while_it_is_read_counts_by_what_it_becomes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: list[bool]
) -> None:
    case = hours(tmp_path)
    after_the_first_bundle(monkeypatch, lambda: write(case, 1, [5]))
    case.run(0, HOURS - 1)
    assert together == [True]
    assert files(case) == [HOURS]  # read one by one, and put together before the commit
    assert totals(case) == [1, 5, 1, 1, 1]
    reports = last_accumulated(bind(case.pipeline, case.root).store)
    (entry,) = manifest(reports[int(hour(1).timestamp()) * 1_000_000])
    assert entry.written_ns == (tmp_path / "data" / "01.parquet").stat().st_mtime_ns


def test_a_file_that_goes_meanwhile_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: list[bool]) -> None:
    case = hours(tmp_path)
    after_the_first_bundle(monkeypatch, (tmp_path / "data" / "01.parquet").unlink)
    with pytest.raises(MuntinError, match=r"01\.parquet: gone"):
        case.run(0, HOURS - 1)
    assert together == [True]


def test_refused_rows_are_told_with_file_and_position(tmp_path: Path, together: list[bool]) -> None:
    case = hours(tmp_path)
    write(case, 1, [2], part="b")
    case.write("01c.parquet", {"at": [*times(65), None, *times(6000)], "x": [3, 4, 5]})
    case.write("03.parquet", {"at": pa.array([None], pa.timestamp("us", tz="UTC")), "x": [6]})
    report = case.run(0, HOURS - 1)
    bound = bind(case.pipeline, case.root)
    found = [row for path in sorted(Path(bound.folder, QUARANTINE).rglob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    told = sorted((row["batch"], Path(row["file"]).name, row["position"], row["reason"][:22]) for row in found)
    assert together == [True]
    assert [batch.rows_quarantined for batch in report.batches] == [0, 2, 0, 1, 0]
    assert told == [
        (hour(1), "01c.parquet", 1, "event time is null"),
        (hour(1), "01c.parquet", 2, "event time is more tha"),
        (hour(3), "03.parquet", 0, "event time is null"),
    ]


def test_a_batch_that_is_read_again_alone_has_the_version_that_it_had(tmp_path: Path) -> None:
    case = hours(tmp_path)
    case.run(0, HOURS - 1)
    before = case.run(2, 2)
    assert not before.batches[0].source_changed
    assert before.published == {}
    write(case, 2, [4])
    assert case.run(2, 2).batches[0].source_changed
    assert totals(case) == [1, 1, 4, 1, 1]


def test_hours_without_files_share_a_file(tmp_path: Path, together: list[bool]) -> None:
    case = Hourly(tmp_path, source={"missing": "empty"}, other=hours(tmp_path).other)
    case.run(0, HOURS + 3)
    assert together == [True]
    assert files(case) == [4, HOURS]
    assert case.run(HOURS + 2, HOURS + 2).published == {}
    assert totals(case) == [1] * HOURS
