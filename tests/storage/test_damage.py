"""Files that somebody deleted or a disk damaged: found, said, mended where that can be done; never taken for whole."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from muntin import Pipeline, RunReport, read, run, windows
from muntin.errors import ConflictError, StateError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.finalize.finalize import finalize
from muntin.jobs.publish.publish import publish
from muntin.jobs.published.window_tables import published
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.timeline.ledger import Entries
from tests.end_to_end.hourly import Hourly, times
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small

HOUR_US = 3_600_000_000


class Carrying(Small):
    """Windows that go on from notes."""

    @property
    def pipeline(self) -> Pipeline:
        flow = super().pipeline
        return replace(flow, windows={**flow.windows, "threes": windows.arrival(windows.by_count(3))})


@pytest.fixture(scope="module")
def undamaged(tmp_path_factory: pytest.TempPathFactory) -> Carrying:
    """Two equal states of three batches, each batch in a run of its own; and a copy of the folder beside it."""
    made = Carrying(tmp_path_factory.mktemp("damage") / "small")
    made.folder.mkdir()
    made.write_all()
    for at in range(3):
        made.run("state", at, at)
    shutil.copytree(made.folder / "state", made.folder / "whole")
    shutil.copytree(made.folder, made.folder.with_name("copy"))
    return made


@pytest.fixture
def small(undamaged: Carrying) -> Carrying:
    """In the same folder again: the definition names it."""
    shutil.rmtree(undamaged.folder)
    shutil.copytree(undamaged.folder.with_name("copy"), undamaged.folder)
    return undamaged


def files(small: Small, folder: str) -> list[Path]:
    return sorted(Path(bind(small.pipeline, small.folder / "state").folder, folder).rglob("*.parquet"))


def flip(path: Path, at: float) -> None:
    """One bit of a file becomes another one; its time of change stays."""
    stat, content = path.stat(), bytearray(path.read_bytes())
    content[int(at * (len(content) - 1))] ^= 4
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def same(small: Small) -> None:
    """As in a state that nobody damaged."""
    ours, theirs = small.tables("state"), small.tables("whole")
    assert all(ours[name].equals(theirs[name]) for name in ours)


def test_windows_that_were_deleted_come_back_when_their_batch_runs_again(small: Small) -> None:
    gone = [path for path in files(small, "../windows/hours") if "T010000Z" in str(path)]
    assert gone
    for path in gone:
        path.unlink()
    with pytest.raises(StateError, match=r"windows/hours/20240101T010000Z/.* is gone; muntin doctor --mend FILE derives it again"):
        read(small.pipeline, "hours", root=small.folder / "state")
    report = small.run("state", 1, 1)
    assert any(remark.startswith("hours: windows of batch 20240101T010000Z: files were gone") for remark in report.remarks)
    same(small)


#            0h     1h     2h     3h
# batch 0     5      65                 its windows are deleted, and then it says 5 alone
# [1h, 3h)           65 ...             closed by batch 2, whose windows are all there; without 65 now
def test_a_batch_that_lost_its_windows_and_changes_takes_its_old_rows_out_of_later_windows(small: Small) -> None:
    for root in ("state", "whole"):
        shutil.rmtree(small.folder / root)
    small.write(0, (5, 65))
    small.write(1, (70, 61))
    for at in range(3):
        for root in ("state", "whole"):
            small.run(root, at, at)
    next(path for path in files(small, "../windows/hours") if path.parent.name == "20240101T000000Z").unlink()
    small.write(0, (5,))
    for root in ("state", "whole"):
        small.run(root, 0, 0)
    same(small)


@pytest.mark.parametrize("at", [0.0, 0.3, 0.6, 0.9, 1.0])
def test_a_flipped_bit_in_a_state_is_never_silent(small: Small, at: float) -> None:
    batch = next(path for path in files(small, "frames") if "T000000Z/" in str(path))
    flip(batch, at)
    small.write(1, OTHER)
    with pytest.raises(
        StateError, match=r"batch 2024-01-01T00:00:00Z are not whole: .* is damaged.* muntin run FILE --start 2024-01-01T00:00:00"
    ):
        small.run("state", 1, 1)


def test_a_deleted_state_names_the_batch_and_the_mend(small: Small) -> None:
    next(path for path in files(small, "frames") if "T000000Z/" in str(path)).unlink()
    small.write(1, OTHER)
    with pytest.raises(StateError, match=r"batch 2024-01-01T00:00:00Z are not whole: .* is gone"):
        small.run("state", 1, 1)


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: flip(path, 0.5)])
def test_without_its_note_a_window_is_derived_from_the_batches(small: Small, damage: object) -> None:
    for path in files(small, "carry/threes"):
        damage(path)
    for root in ("state", "whole"):
        small.write(2, (121, 122, 150))
        report = small.run(root, 2, 2)
        mended = [remark for remark in report.remarks if remark.startswith("threes: note")]
        assert bool(mended) == (root == "state")
    same(small)
    assert not again(small).remarks, "the lost note is not looked for once more"


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: flip(path, 0.5)])
def test_without_its_note_what_is_open_is_read_from_the_batches(small: Small, damage: object) -> None:
    for path in files(small, "carry/threes"):
        damage(path)
    ours, theirs = (read(small.pipeline, "threes", root=small.folder / root, provisional=True) for root in ("state", "whole"))
    assert ours["provisional"].to_pylist()[-1]
    assert ours.equals(theirs)


def again(small: Small) -> RunReport:
    start = START + 2 * HOUR
    return run(small.pipeline, root=small.folder / "state", start=start, end=start + HOUR, spark=small.spark)


# note:      written an age ago, named by no ledger since; made again now, the same to the byte
# vacuum:    before: old enough to go; after: as young as its last use
def test_a_note_that_is_made_again_is_young_again(small: Small) -> None:
    notes = files(small, "carry/threes")
    for path in notes:
        os.utime(path, (0, 0))
    small.write(1, OTHER)
    small.run("state", 1, 1)
    small.write(1, (70, 61, 30))
    small.run("state", 1, 1)
    vacuum(small.folder / "state", older_than_us=86_400_000_000)
    assert {path for at in range(len(ledger(small))) for path in ledger(small).note_of(at) or ()} <= {
        str(path.relative_to(path.parents[2])) for path in files(small, "carry/threes")
    }


def ledger(small: Small) -> Entries:
    found = published(bind(small.pipeline, small.folder / "state").store, "threes").ledger
    assert found
    return found.entries


def test_a_note_that_vanished_since_it_was_staged_is_not_published(small: Small) -> None:
    small.write(2, (121, 122, 150))
    bound = bind(small.pipeline, small.folder / "state")
    first = bound.pipeline.intervals.first_us
    accumulate(bound, HERE, bound.pipeline.intervals.intervals(first + 2 * HOUR_US, first + 3 * HOUR_US))
    before = set(files(small, "carry/threes"))
    staged = finalize(bound, HERE, [])
    for path in set(files(small, "carry/threes")) - before:
        path.unlink()
    with pytest.raises(ConflictError, match=r"windows/threes: note .* is gone since these windows were staged"):
        publish(bound, staged)


# visits are staged before the states of the longer windows are found damaged
def test_a_run_that_meets_damaged_states_leaves_no_staged_folder(tmp_path: Path) -> None:
    kinds = {"visits": windows.session("7m", grace="3h"), "long": windows.sliding("90m", step="30m", grace="2h")}
    hourly = Hourly(tmp_path, other={"windows": kinds})
    for at in range(6):
        hourly.write(f"{at:02d}.parquet", {"at": times(60 * at + 5, 60 * at + 11, 60 * at + 58)})
    hourly.run(0, 3)
    state = bind(hourly.pipeline, hourly.root).folder
    for file in (state / "frames").rglob("*.parquet"):
        file.write_bytes(file.read_bytes()[:-9] + b"x" * 9)
    with pytest.raises(StateError, match="are not whole"):
        hourly.run(4, 5)
    assert not [*(state / "staging").glob("*")]
