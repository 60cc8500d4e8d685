"""Published history goes only if that is asked for: not when the files that it was read from are gone."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin.cli.main import main
from muntin.errors import SourceError
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.outdated import outdated
from muntin.jobs.upkeep.rebuild import to_rebuild
from tests.end_to_end.hourly import Hourly, hour, times

Muntin = Callable[..., tuple[int, str, str]]


def read_before(folder: Path, hours: int = 4, **source: Any) -> Hourly:
    """Hours with one event each, read and published."""
    case = Hourly(folder, source={"missing": "empty", **source})
    for at in range(hours):
        case.write(f"{at:02d}.parquet", {"at": times(60 * at + 1)})
    case.run(0, hours - 1)
    return case


def purge(case: Hourly, *hours: int) -> None:
    for at in hours:
        (case.folder / f"data/{at:02d}.parquet").unlink()


def counts(case: Hourly) -> list[int]:
    return [n for (n,) in case.rows("n")]


def purged(case: Hourly) -> list[bool]:
    return [one.purged for one in outdated(case.pipeline, root=case.root, start=hour(0), end=hour(4))]


# files     0h  -   -   3h
def test_a_run_over_purged_batches_names_them_and_changes_nothing(tmp_path: Path) -> None:
    case = read_before(tmp_path)
    purge(case, 1, 2)
    named = r"^\[2024-01-01T01:00, 2024-01-01T02:00\), \[2024-01-01T02:00, 2024-01-01T03:00\): rows were read .*T03:00 --allow-missing"
    with pytest.raises(SourceError, match=named):
        case.run(0, 3)
    assert counts(case) == [1, 1, 1, 1]


def test_they_go_when_that_is_asked_for(tmp_path: Path) -> None:
    case = read_before(tmp_path)
    purge(case, 1, 2)
    case.run(0, 3, allow_missing=True)
    assert counts(case) == [1, 1]
    assert purged(case) == []
    case.run(0, 3)
    assert counts(case) == [1, 1]


# a source that says nothing of missing files too
@pytest.mark.parametrize("missing", ["empty", "error"])
def test_purged_and_changed_batches_are_told_apart(missing: str, tmp_path: Path) -> None:
    case = read_before(tmp_path, missing=missing)
    case.write("03.parquet", {"at": times(181, 182)})
    purge(case, 0, 1)
    assert purged(case) == [True, True, False]


def test_an_empty_batch_is_not_purged(tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"missing": "empty"})
    case.write("00.parquet", {"at": times(1)})
    case.run(0, 3)
    assert purged(case) == []
    assert case.run(0, 3).batches[1].rows_read == 0


def test_a_batch_of_refused_rows_alone_has_nothing_to_lose(tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"missing": "empty"})
    path = case.write("00.parquet", {"at": times(60 * 24 * 30)})
    case.run()
    path.unlink()
    assert case.run().batches[0].rows_read == 0


def test_a_changed_definition_does_not_take_them_for_empty(tmp_path: Path) -> None:
    case = read_before(tmp_path)
    purge(case, 0, 1)
    changed = Hourly(tmp_path, source=case.source, other={"aggregates": {"n": agg.count(), "x": agg.min('"at"')}})
    assert [one.purged for one in to_rebuild(bind(changed.pipeline, case.root))] == [True, True, False, False]
    with pytest.raises(SourceError, match=r"^\[2024-01-01, 2024-01-01T01:00\), .*rows were read before"):
        changed.run(0, 3)
    assert counts(case) == [1, 1, 1, 1]
    changed.run(2, 3)
    assert counts(case) == [1, 1, 1, 1]
    changed.run(0, 3, allow_missing=True)
    assert counts(changed) == [1, 1]


def test_a_state_that_is_gone_does_not_make_them_empty(tmp_path: Path) -> None:
    case = read_before(tmp_path)
    purge(case, 0, 1)
    (state,) = (folder for folder in (case.root / case.pipeline.name).iterdir() if folder.is_dir() and folder.name != "windows")
    shutil.rmtree(state)
    with pytest.raises(SourceError, match="rows were read before"):
        case.run(0, 3)
    assert counts(case) == [1, 1, 1, 1]


DEFINITION = """
from pathlib import Path
from tests.end_to_end.hourly import Hourly
hourly = Hourly(Path({folder!r}), source={{"missing": "empty"}}).pipeline
"""


@pytest.fixture
def muntin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Muntin:
    """The command on hours 0 to 3; its exit status, stdout, stderr."""
    file = tmp_path / "definition.py"
    file.write_text(DEFINITION.format(folder=str(tmp_path)))
    end = ("--end", "2024-01-01T04:00")

    def call(command: str, *more: str) -> tuple[int, str, str]:
        status = main([command, str(file), "--root", str(tmp_path / "state"), *end, *more])
        told = capsys.readouterr()
        return status, told.out, told.err

    return call


def test_a_run_without_a_range_lists_them_and_leaves_them(tmp_path: Path, muntin: Muntin) -> None:
    case = read_before(tmp_path)
    purge(case, 0, 1)
    case.write("03.parquet", {"at": times(181, 182)})
    status, out, _ = muntin("run")
    assert status == 0
    assert "purged: [2024-01-01 00:00, 2024-01-01 02:00): 2 batches" in out
    assert "1 batch read" in out
    assert counts(case) == [1, 1, 1, 2]


def test_a_run_without_a_range_allows_missing_files(tmp_path: Path, muntin: Muntin) -> None:
    case = read_before(tmp_path)
    purge(case, 0, 1)
    status, out, _ = muntin("run", "--allow-missing", "--json")
    assert status == 0
    assert [len(json.loads(out)[what]) for what in ("batches", "purged")] == [2, 0]
    assert counts(case) == [1, 1]


def test_the_run_command_says_what_to_do(tmp_path: Path, muntin: Muntin) -> None:
    case = read_before(tmp_path)
    purge(case, 0)
    status, _, err = muntin("run", "--start", "2024-01-01")
    assert (status, "--allow-missing" in err) == (3, True)
    assert counts(case) == [1, 1, 1, 1]
    assert muntin("run", "--start", "2024-01-01", "--allow-missing")[0] == 0
    assert counts(case) == [1, 1, 1]
