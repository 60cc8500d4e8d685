"""Commits that Muntin appends to a log itself: they say, win and lose what those of deltalake do."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Schema, Transaction
from deltalake.exceptions import CommitFailedError
from deltalake.transaction import AddAction, RemoveAction, create_table_with_add_actions

from muntin.errors import ConflictError, StateError
from muntin.files.paths import path_of
from muntin.store import log_append
from muntin.store.delta import DeltaStore
from muntin.store.log_append import append, stats
from muntin.store.log_check import commit_path
from muntin.store.parquet import write_named
from muntin.store.seen_tables import open_table
from muntin.store.store import Change, File
from tests.case_counts import some

SCHEMA = pa.schema([("n", pa.int64())])
HAD = tuple(File(f"batch=2024-01-01T00:0{number}/é %{number}.parquet", 10 + number, number) for number in range(3))
NEW = (File("new 0.parquet", 1, 5), File("new 1.parquet", 2, 7))


def change(adds: Sequence[File] = (), removes: Sequence[File] = (), names: Sequence[str] = ()) -> Change:
    return Change(SCHEMA, adds, removes, names)


def made(folder: Path) -> DeltaTable:
    """A table of three files."""
    adds = [AddAction(file.path, file.size, {}, 0, data_change=True, stats=stats(file, change(HAD))) for file in HAD]
    create_table_with_add_actions(str(folder), Schema.from_arrow(SCHEMA), adds, mode="error")
    return DeltaTable(str(folder))


def by_deltalake(table: DeltaTable, said: Change) -> None:
    """The same commit, by the library."""
    adds = [AddAction(file.path, file.size, {}, 0, data_change=True, stats=stats(file, said)) for file in said.adds]
    removes = [RemoveAction(path=f.path, data_change=True, deletion_timestamp=0, partition_values={}, size=f.size) for f in said.removes]
    marks = CommitProperties(app_transactions=[Transaction(name, table.version() + 1) for name in said.names])
    table.create_write_transaction([*removes, *adds], "append", Schema.from_arrow(SCHEMA), commit_properties=marks)


def content(folder: Path) -> list[tuple[str, int, int]]:
    found = pa.table(DeltaTable(str(folder)).get_add_actions(flatten=True)).select(["path", "size_bytes", "num_records"])
    return sorted(tuple(row.values()) for row in found.to_pylist())


CHANGES = [
    change([file] if file else [], gone, names)
    for file, gone, names in product((None, NEW[0]), ((), HAD[:1], HAD[:2], HAD[1:]), ((), ("x",), ("y", "x")))
    if file or gone or names
]


@pytest.mark.parametrize("theirs", some(CHANGES, one_in=4))
def test_a_change_goes_behind_those_that_deltalake_lets_it_go_behind(tmp_path: Path, theirs: Change) -> None:
    for number, ours in enumerate(CHANGES):
        one, other = made(tmp_path / f"{number}a"), made(tmp_path / f"{number}b")
        for table in (one, other):
            by_deltalake(DeltaTable(table.table_uri), theirs)
        try:
            by_deltalake(one, ours)
        except CommitFailedError:
            with pytest.raises(ConflictError, match="version 1 "):
                append(tmp_path / f"{number}b", 0, ours, 0)
        else:
            assert append(tmp_path / f"{number}b", 0, ours, 0) == 2
        assert content(tmp_path / f"{number}a") == content(tmp_path / f"{number}b")


def test_a_change_goes_behind_no_other_columns(tmp_path: Path) -> None:
    made(tmp_path / "t").alter.set_table_description("other")
    with pytest.raises(ConflictError, match="version 1 changed the table itself"):
        append(tmp_path / "t", 0, change(NEW), 0)


def test_a_commit_says_what_that_of_deltalake_says(tmp_path: Path) -> None:
    said = change(NEW, HAD[1:], ["x", "ü"])
    by_deltalake(made(tmp_path / "a"), said)
    made(tmp_path / "b")
    append(tmp_path / "b", 0, said, 0)
    theirs, ours = (
        [json.loads(line) for line in commit_path(tmp_path / name, 1).read_text(encoding="utf-8").splitlines()] for name in "ab"
    )
    for kind in ("add", "remove", "txn"):
        one, other = ([action[kind] for action in actions if kind in action] for actions in (theirs, ours))
        kept = [{key: value for key, value in action.items() if value is not None} for action in one]
        undated = [{key: value for key, value in action.items() if key != "lastUpdated"} for action in other]
        assert undated == [{key: value for key, value in action.items() if key != "lastUpdated"} for action in kept]


@pytest.mark.parametrize(("theirs", "reason"), [("", "is empty"), ('{"add": {"pa', "is torn")])
def test_nothing_goes_behind_a_commit_that_is_not_whole(tmp_path: Path, theirs: str, reason: str) -> None:
    made(tmp_path / "t")
    commit_path(tmp_path / "t", 1).write_text(theirs, encoding="utf-8")
    with pytest.raises(ConflictError, match=reason):
        append(tmp_path / "t", 0, change(NEW), 0)
    assert not commit_path(tmp_path / "t", 2).exists()


def test_a_commit_whose_answer_was_lost_is_made_once(roots: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write_new = log_append.write_new

    def lost(*given: object) -> None:
        write_new(*given)  # type: ignore[arg-type]
        write_new(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(log_append, "write_new", lost)
    table = path_of(roots, "t")
    assert append(table, 4, change(NEW, names=["x"]), 0) == 5
    assert [path.name for path in (table / "_delta_log").iterdir()] == ["00000000000000000005.json"]


def test_of_many_writers_everyone_has_a_version_of_its_own(roots: str) -> None:
    table = path_of(roots, "t")
    append(table, -1, change(names=["first"]), 0)  # the version that all are derived from is there, as `append` asks
    with ThreadPoolExecutor(8) as threads:
        versions = [*threads.map(lambda name: append(table, 0, change(names=[str(name)]), 0), range(40))]
    assert sorted(versions) == [*range(1, 41)]


class TestAStore:
    """The store appends where it may, and asks deltalake elsewhere."""

    @pytest.fixture
    def store(self, roots: str) -> DeltaStore:
        return DeltaStore(path_of(roots))

    @pytest.fixture
    def updates(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The versions at which deltalake was asked what is new."""
        found, ask = [], DeltaTable.update_incremental
        monkeypatch.setattr(DeltaTable, "update_incremental", lambda table: (found.append(table.version()), ask(table))[1])
        return found

    def add(self, store: DeltaStore, name: str, *removes: File) -> File:
        written = write_named(pa.table({"n": [1]}, SCHEMA), store.root / "t", lambda digest: f"{name}_{digest}.parquet")
        file = File(written["path"], written["size"], written["rows"])
        store.commit("t", store.snapshot("t"), Change(SCHEMA, [file], list(removes), ["x"]))
        return file

    def test_reads_its_log_once_in_twenty_commits(self, store: DeltaStore, updates: list[int]) -> None:
        files = [self.add(store, f"{number:02d}") for number in range(45)]
        assert updates == [0, 20]
        assert store.snapshot("t").version == 44
        opened = open_table(store.root / "t")
        assert (opened.version(), len(opened.file_uris())) == (44, len(files))
        last = json.loads((store.root / "t/_delta_log/_last_checkpoint").read_text(encoding="utf-8"))
        assert last["version"] == 40

    def test_keeps_a_checkpoint_that_fails_for_later(
        self, store: DeltaStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def full(_: DeltaTable) -> None:
            raise OSError(28, "no space")

        with monkeypatch.context() as patched:
            patched.setattr(DeltaTable, "create_checkpoint", full)
            for number in range(22):
                self.add(store, f"{number:02d}")
        assert ["no checkpoint behind commit 20" in each.getMessage() for each in caplog.records if each.levelname == "WARNING"] == [True]
        for number in range(22, 41):
            self.add(store, f"{number:02d}")
        assert len(open_table(store.root / "t").file_uris()) == 41

    def test_appends_to_no_table_that_may_only_grow(self, store: DeltaStore) -> None:
        file = self.add(store, "a")
        open_table(store.root / "t").alter.set_table_properties({"delta.appendOnly": "true"})
        with pytest.raises((StateError, ConflictError)):
            self.add(store, "b", file)
        assert [each.path for each in store.snapshot("t").files] == [file.path]

    def test_leaves_no_hole_where_the_log_was_made_anew(self, store: DeltaStore) -> None:
        for name in "abc":
            self.add(store, name)
        base = store.snapshot("t")
        for number in range(3):
            commit_path(store.root / "t", number).unlink()
        with pytest.raises((StateError, ConflictError)):
            store.commit("t", base, Change(SCHEMA, [], [base.files[0]], ["x"]))
        assert not commit_path(store.root / "t", 3).exists()
