"""Maintain and vacuum remove what nobody reads, and nothing else."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from muntin import aggregates as agg
from muntin import read, run
from muntin.definition.durations import UNITS
from muntin.jobs.housekeeping import compact
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.maintain import maintain
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.store import seen_tables
from muntin.store.disk import write_whole
from muntin.store.state import states_of
from tests.made_once import made_once
from tests.storage.crashing import Crash
from tests.storage.test_crash_points import same
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small, one_by_one

LATER = datetime.now(UTC) + timedelta(days=3)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made_once(tmp_path, one_by_one)
    return Small(tmp_path)


def swept(small: Small) -> dict[str, int]:
    return {one.what: one.files for one in vacuum(small.folder / "state", older_than_us=UNITS["d"], now=LATER)}


def test_a_file_that_no_commit_names_goes(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "files of no commit" not in swept(small)
    bound = bind(small.pipeline, small.folder / "state")
    small.write(1, OTHER)
    monkeypatch.setattr(type(bound.store), "commit", crash)
    with pytest.raises(Crash):
        small.run("state", 1, 1)
    monkeypatch.undo()
    before = small.tables("state")
    assert swept(small)["files of no commit"] == 1
    assert same(small.tables("state"), before)


def crash(*_: object) -> None:
    raise Crash("commit")


def test_half_of_a_file_goes(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small.folder / "state/small"
    target = next(folder.glob("*/")) / "frames/20m/a.parquet"
    monkeypatch.setattr(Path, "replace", crash)
    with pytest.raises(Crash):
        write_whole(target, b"half")
    monkeypatch.undo()
    assert swept(small)["half-written files"] == 1


def test_half_of_a_commit_goes(small: Small) -> None:
    """As deltalake leaves it where it is killed, `<version>.json#1`; and as Muntin does, between two names of the same file and before."""
    before = small.tables("state")
    logs = sorted((small.folder / "state").rglob("_delta_log"))
    for log in logs:
        draft = log / f"{99:020d}.{uuid4().hex}.draft"
        for half in (log / f"{99:020d}.json#1", draft, draft.with_name(f".{draft.name}.{uuid4().hex}.partial")):
            half.write_text('{"add":')
    vars(seen_tables._KEPT).clear()  # with the weight of the tables
    assert same(small.tables("state"), before)
    assert swept(small)["half-written files"]
    assert not [path for log in logs for path in log.iterdir() if f"{99:020d}" in path.name]
    assert same(small.tables("state"), before)


def test_so_does_what_a_first_run_left_beside(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    root, plain = small.folder / "state", Path.replace
    (root / ".other.txt").write_text("somebody else's")

    def killed(self: Path, target: Path) -> Path:
        if Path(target).name == "muntin.json":
            raise Crash("claim")
        return plain(self, target)

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(Crash):
        run(replace(small.pipeline, name="second"), root=root, start=START, end=START + HOUR, spark=HERE)
    monkeypatch.undo()
    assert [path.name.split(".")[1] for path in root.iterdir() if path.is_file()].count("second") == 1
    assert swept(small)["half-written files"] == 1
    assert [path.name for path in root.iterdir() if path.is_file()] == [".other.txt"]


def test_a_superseded_state_goes_if_asked(small: Small) -> None:
    other = replace(small.pipeline, aggregates={**small.pipeline.aggregates, "most": agg.max("x")})
    run(other, root=small.folder / "state", start=START, end=START + 3 * HOUR, spark=HERE)
    before, states = read(other, "hours", root=small.folder / "state"), states_of(small.folder / "state/small")
    assert len(states) == 2
    options = {"root": small.folder / "state", "older_than_us": UNITS["d"], "now": LATER}
    told = maintain(other, superseded=True, dry_run=True, **options)
    assert [one.what for one in told.removed if one.what == "superseded state"] == ["superseded state"]
    assert not [one for one in maintain(other, **options).removed if one.what == "superseded state"]
    assert states_of(small.folder / "state/small") == states
    assert maintain(other, superseded=True, **options).removed[0].what == "superseded state"
    assert len(states_of(small.folder / "state/small")) == 1
    assert read(other, "hours", root=small.folder / "state").equals(before)


def test_a_superseded_state_that_still_reads_batches_stays(small: Small) -> None:
    other = replace(small.pipeline, aggregates={"n": agg.count(), "most": agg.max("x")})
    run(other, root=small.folder / "state", start=START, end=START + 3 * HOUR, spark=HERE)
    done = maintain(other, root=small.folder / "state", older_than_us=UNITS["d"], superseded=True)
    assert not [one for one in done.removed if one.what == "superseded state"]


def test_a_superseded_state_that_reads_its_first_batches_stays(small: Small) -> None:
    """Nobody has reported a batch of it yet: reading a long history takes hours."""
    other = replace(small.pipeline, aggregates={"n": agg.count(), "most": agg.max("x")})
    begun = Path(bind(other, small.folder / "state", claim=True).folder)
    (begun / "frames").mkdir()
    (begun / "frames/first.parquet").write_bytes(b"rows")
    options = {"root": small.folder / "state", "older_than_us": UNITS["d"], "superseded": True}
    assert not [one for one in maintain(small.pipeline, **options).removed if one.what == "superseded state"]
    assert [one.what for one in maintain(small.pipeline, now=LATER, **options).removed if one.what == "superseded state"]
    assert not begun.exists()


def test_all_files_are_put_together_at_once(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compact, "MANY", 3)
    before = small.tables("state")
    done = maintain(small.pipeline, root=small.folder / "state", older_than_us=0, now=LATER)
    assert done.compacted.keys() >= {"frames/20m", "windows/visits"}
    assert same(small.tables("state"), before)
    small.write(1, OTHER)
    small.run("state", 1, 1)
    small.run("clean")
    assert same(small.tables("state"), small.tables("clean"))
