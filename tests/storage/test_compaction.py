"""Files that are put together change no window, no version and no reader's rows; and each batch in them can be replaced."""

import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable

from muntin import Pipeline, read, sources, windows
from muntin import aggregates as agg
from muntin.errors import ConflictError, StateError
from muntin.jobs.accumulate.accumulate import accumulate
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.housekeeping.compact import Unit, _units_by_table, compact, crowd, units
from muntin.jobs.published import ledger_segments
from muntin.jobs.published.window_tables import published
from muntin.jobs.state.bound import bind
from muntin.store.batch_facts import shared_batches
from muntin.store.delta import DeltaStore
from muntin.store.paths import SharedPath, parse_states_path
from muntin.store.store import File
from muntin.timeline import ledger
from tests.case_counts import random_seeds
from tests.made_once import made_once
from tests.properties.equal_values import bitwise
from tests.storage.crashing import Crash
from tests.storage.test_crash_points import points, same
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small, facts, one_by_one


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of a size are many, and notes are kept for two batches."""
    for module in (compaction, ledger_segments):
        monkeypatch.setattr(module, "MANY", 2)
    monkeypatch.setattr(ledger, "RECENT", 2)


@dataclass(frozen=True)
class Many(Small):
    """Twelve batches and every way in which windows follow from batches."""

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="many",
            source=sources.files(str(self.folder / "data/{start:%H}.parquet"), event_time="t"),
            schedule="1h",
            start=START,
            keys=["k"],
            windows={
                "hours": windows.sliding("2h", step="1h", grace="30m"),
                "visits": windows.session("20m"),
                "changes": windows.unique_sliding("30m", resolution="1s"),
                "threes": windows.arrival(windows.by_count(3)),
                "ever": windows.all_time(),
            },
            aggregates={"n": agg.count(), "total": agg.sum("x"), "first": agg.first("x")},
        )

    def rewrite(self, at: int, chance: random.Random) -> None:
        """Rows of an hour, some of them late."""
        self.write(at, [60 * at + chance.choice((0, 0, 0, -50, -130)) + chance.uniform(0, 60) for _ in range(chance.randrange(6))])

    def everything(self, root: str) -> dict[str, pa.Table]:
        """All that is published or open."""
        return {name: read(self.pipeline, name, root=self.folder / root, provisional=True) for name in self.pipeline.windows}


def whole(small: Small, root: str) -> None:
    """Put together what can be."""
    bound = bind(small.pipeline, small.folder / root)
    while compact(bound):
        pass


# units by their number of batches, `MANY` = 2:   1 1 -> the two     1 -> none     2 1 2 -> the twos     1 2 -> none
@pytest.mark.parametrize(
    ("sizes", "chosen"), [([1, 1, 1], [0, 1]), ([1], []), ([2, 1, 2], [0, 2]), ([1, 2], []), ([300, 300], []), ([150, 200, 2], [0, 1])]
)
def test_the_oldest_of_a_size_are_put_together(sizes: Sequence[int], chosen: Sequence[int]) -> None:
    found = [Unit((File(str(at), 1, 1),), at, at, size) for at, size in enumerate(sizes)]
    assert [unit.first_us for unit in crowd(found)] == chosen


@pytest.mark.parametrize("seed", random_seeds(6))
def test_any_history_equals_a_clean_run(tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance, many = random.Random(seed), Many(tmp_path)
    for at in range(8):
        many.rewrite(at, chance)
    steps = [*chance.sample(range(8), 8), *(chance.randrange(8) for _ in range(4))]
    for step in steps:
        many.rewrite(step, chance)
        many.run("state", step, step)
    many.run("state", 0, 7) if chance.random() < 0.5 else whole(many, "state")
    monkeypatch.setattr(compaction, "MANY", 1000)
    many.run("clean", 0, 7)
    ours, clean = many.everything("state"), many.everything("clean")
    assert {name: bitwise(ours[name], clean[name]) for name in clean} == dict.fromkeys(clean, True), steps


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made = Small(tmp_path)
    made.write_all()
    return made


@pytest.fixture
def three(tmp_path: Path) -> Small:
    made_once(tmp_path, _three)
    return Small(tmp_path)


def _three(folder: Path) -> None:
    """Under a name of its own: two files of a size are many here."""
    one_by_one(folder)


def test_a_run_that_puts_files_together_may_stop_anywhere(small: Small) -> None:
    for at in range(2):
        small.run("old", at, at)
    clean, new = facts(small.run("clean")), small.tables("clean")
    for store in points(small, "old", 2, 2):
        with pytest.raises(Crash):
            small.run("crashed", 2, 2, store=store)
        where = (store.said[-1], store.after)
        assert facts(small.run("crashed", 2, 2)) == clean[2:], where
        assert same(small.tables("crashed"), new), where


def test_a_replaced_batch_of_a_shared_file_may_stop_anywhere(small: Small) -> None:
    for at in range(3):
        small.run("old", at, at)
    whole(small, "old")
    small.write(1, OTHER)
    clean, new = facts(small.run("clean")), small.tables("clean")
    for store in points(small, "old", 1, 1):
        with pytest.raises(Crash):
            small.run("crashed", 1, 1, store=store)
        where = (store.said[-1], store.after)
        assert facts(small.run("crashed", 1, 1)) == clean[1:2], where
        assert same(small.tables("crashed"), new), where


def test_a_shared_file_in_the_place_of_another_is_told(three: Small) -> None:
    whole(three, "state")
    folder = Path(bind(three.pipeline, three.folder / "state").folder) / "frames"
    shared = next(path for path in folder.rglob("*.parquet") if isinstance(parse_states_path("/".join(path.parts[-2:])), SharedPath))
    other = shared.parent.with_name("20240101T000000Z_20240101T090000Z") / shared.name
    other.parent.mkdir()
    shutil.copy(shared, other)
    assert len(shared_batches(str(shared))) > 1
    with pytest.raises(StateError, match=r"holds other batches than its name says; muntin doctor --mend FILE"):
        shared_batches(str(other))


def rows(table: DeltaTable) -> pa.Table:
    found = pa.table(table.to_pyarrow_table())
    return found.sort_by([(name, "ascending") for name in found.column_names if name != "spread"])


def versions(small: Small, root: str) -> Iterator[tuple[str, DeltaTable]]:
    bound = bind(small.pipeline, small.folder / root)
    for name, _ in _units_by_table(bound):
        if (Path(bound.folder) / name).exists():
            yield name, DeltaTable(f"{bound.folder}/{name}")


def test_every_delta_reader_sees_the_same_rows(three: Small) -> None:
    before = {name: (rows(table), len(table.file_uris())) for name, table in versions(three, "state")}
    whole(three, "state")
    after = {name: (rows(table), len(table.file_uris())) for name, table in versions(three, "state")}
    assert {name: table.equals(after[name][0]) for name, (table, _) in before.items()} == dict.fromkeys(before, True)
    assert sum(files for _, files in after.values()) < sum(files for _, files in before.values())


def test_versions_and_ledgers_stay_as_they_are(small: Small) -> None:
    one_by_one(small.folder)
    bound = bind(small.pipeline, small.folder / "state")
    before = [published(bound.store, name).head for name in bound.windows]
    whole(small, "state")
    assert [published(bound.store, name).head for name in bound.windows] == before
    again = small.run("state")
    assert not any(again.published.values()), "the same rows again derive nothing anew"
    assert not any(batch.source_changed for batch in again.batches)


def test_who_began_before_files_were_put_together_commits_all_the_same(three: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    three.write(1, OTHER)
    three.run("clean")
    bound, commit = bind(three.pipeline, three.folder / "state"), DeltaStore.commit

    def late(self: DeltaStore, table: str, *rest: object) -> None:
        with monkeypatch.context() as once:
            once.setattr(DeltaStore, "commit", commit)
            whole(three, "state")
        commit(self, table, *rest)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(DeltaStore, "commit", late)
        accumulate(bound, HERE, three.pipeline.intervals.intervals(us(1), us(2)))
        three.run("state", 1, 1)
    assert same(three.tables("state"), three.tables("clean"))


def us(hours: int) -> int:
    return int((START + hours * HOUR).timestamp()) * 1_000_000


def test_a_conflict_is_left_to_a_later_run(three: Small, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:

    def refuse(*_: object) -> None:
        raise ConflictError("somebody came first")

    monkeypatch.setattr(DeltaStore, "commit", refuse)
    assert compact(bind(three.pipeline, three.folder / "state")) is None, "maintain does not try for ever"
    assert "somebody came first" in caplog.text


def test_a_table_keeps_few_files(tmp_path: Path) -> None:
    many = Many(tmp_path)
    chance = random.Random(1)
    for at in range(12):
        many.rewrite(at, chance)
        many.run("state", at, at)
    bound = bind(many.pipeline, tmp_path / "state")
    whole(many, "state")
    assert all(len(units(bound, name)) <= 1 + np.log2(12) for name, _ in _units_by_table(bound))
    assert all(len(published(bound.store, name).segments) <= 2 * np.log2(12) for name in bound.windows)


def test_notes_of_old_batches_go(tmp_path: Path) -> None:
    many = Many(tmp_path)
    for at in range(10):
        many.write(at, [60 * at + 1, 60 * at + 2])
        many.run("state", at, at)
    found = published(bind(many.pipeline, tmp_path / "state").store, "threes").ledger
    assert found
    assert 1 < len(found.entries.noted()) < 9
    many.write(3, [181, 182, 183])
    shutil.copytree(tmp_path / "state", tmp_path / "copy")
    many.run("state", 3, 3)
    many.run("clean", 0, 9)
    assert same({"threes": many.everything("state")["threes"]}, {"threes": many.everything("clean")["threes"]})


def shared(small: Small, table: str) -> Path:
    """The file that batches share, of a table."""
    bound = bind(small.pipeline, small.folder / "state")
    [file] = [file for file in bound.store.snapshot(table).files if "_2024" in file.path.partition("/")[0]]
    return Path(bound.folder, table, file.path)


@pytest.mark.parametrize("table", ["frames/20m", "../windows/hours"])
def test_damage_does_not_pass_into_a_new_file(
    small: Small, table: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with monkeypatch.context() as later:
        later.setattr(compaction, "MANY", 1000)
        for at in range(2):
            small.run("state", at, at)
    bound = bind(small.pipeline, small.folder / "state")
    before = bound.store.snapshot(table).files
    path = next(Path(bound.table(table), file.path) for file in before if file.rows)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    whole(small, "state")  # ends, and leaves the table as it is
    assert bound.store.snapshot(table).files == before
    assert f"{path} is damaged" in caplog.text


@pytest.mark.parametrize("harm", ["gone", "damaged"])
def test_a_shared_file_that_is_lost_comes_back_with_its_batches(small: Small, harm: str) -> None:
    one_by_one(small.folder)
    whole(small, "state")
    path = shared(small, "frames/20m")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.unlink() if harm == "gone" else path.write_bytes(content)
    small.write(1, OTHER)
    with pytest.raises(StateError, match="again"):
        small.run("state", 1, 1)
    small.run("state")
    small.run("clean")
    assert same(small.tables("state"), small.tables("clean"))
