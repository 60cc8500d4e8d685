"""The verbs of the store on real Delta tables, one promise a test."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin.errors import ConflictError, StateError
from muntin.files.paths import path_of, remove_folder
from muntin.files.readable import readable
from muntin.store import delta, seen_tables
from muntin.store.delta import DeltaStore
from muntin.store.parquet import footer, write_named
from muntin.store.seen_tables import open_table
from muntin.store.store import Change, File, Snapshot

INSTANT = pa.timestamp("us", tz="UTC")
SCHEMA = pa.schema([("frame", INSTANT), ("n", pa.int64())])


@pytest.fixture
def store(roots: str) -> DeltaStore:
    return DeltaStore(path_of(roots))


def rows(*frames: int) -> pa.Table:
    return pa.table({"frame": pa.array(frames, INSTANT), "n": pa.array(range(len(frames)), pa.int64())}, SCHEMA)


def new(store: DeltaStore, name: str, table: pa.Table, folder: str = "t") -> File:
    written = write_named(table, store.root / folder, lambda digest: f"{name}_{digest}.parquet")
    return File(written["path"], written["size"], written["rows"])


def commit(store: DeltaStore, base: Snapshot, adds: list[File], *names: str, removes: Any = ()) -> None:
    store.commit("t", base, Change(SCHEMA, adds, list(removes), names))


def test_a_table_that_does_not_exist(store: DeltaStore) -> None:
    assert store.snapshot("t") == Snapshot(-1, ())


def test_a_commit_is_seen_whole(store: DeltaStore) -> None:
    a, b = new(store, "a", rows(1000, 5000)), new(store, "b", rows(7000))
    commit(store, store.snapshot("t"), [a, b], "x")
    seen = store.snapshot("t")
    assert seen.files == (a, b)
    assert seen.schema is not None
    assert seen.schema.names == SCHEMA.names


def test_files_that_no_commit_names_do_not_exist(store: DeltaStore) -> None:
    new(store, "a", rows(1))
    assert store.snapshot("t").version == -1
    commit(store, store.snapshot("t"), [new(store, "b", rows(2))], "x")
    new(store, "c", rows(3))
    assert open_table(store.root / "t").to_pyarrow_table()["n"].to_pylist() == [0]


def test_a_replacement_is_one_step(store: DeltaStore) -> None:
    commit(store, store.snapshot("t"), [new(store, "a", rows(1)), new(store, "b", rows(2))], "x")
    base = store.snapshot("t")
    commit(store, base, [new(store, "c", rows(3))], "x", removes=base.files[:1])
    assert [file.path[0] for file in store.snapshot("t").files] == ["b", "c"]


def test_two_first_commits_conflict(store: DeltaStore) -> None:
    base = store.snapshot("t")
    commit(store, base, [new(store, "a", rows(1))], "x")
    with pytest.raises(ConflictError):
        commit(store, base, [new(store, "b", rows(2))], "y")


def test_of_two_writers_of_a_first_commit_one_wins(store: DeltaStore) -> None:
    for number in range(40):
        base, barrier = store.snapshot(f"t{number}"), Barrier(2)
        files = [new(store, name, rows(1), f"t{number}") for name in "ab"]

        def write(file: File, table: str = f"t{number}", base: Snapshot = base, barrier: Barrier = barrier) -> bool:
            barrier.wait()
            try:
                store.commit(table, base, Change(rows(1).schema, [file], [], ["x"]))
            except ConflictError:
                return False
            return True

        with ThreadPoolExecutor(2) as both:
            won = [*both.map(write, files)]
        assert store.snapshot(f"t{number}").files == tuple(file for file, first in zip(files, won, strict=True) if first)
        assert sum(won) == 1


def test_one_name_decided_twice_from_one_snapshot_conflicts(store: DeltaStore) -> None:
    commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
    base = store.snapshot("t")
    commit(store, base, [new(store, "b", rows(2))], "x", "y")
    with pytest.raises(ConflictError):
        commit(store, base, [new(store, "c", rows(3))], "y")
    assert [file.path[0] for file in store.snapshot("t").files] == ["a", "b"]


def test_other_names_from_one_snapshot_do_not(store: DeltaStore) -> None:
    commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
    base = store.snapshot("t")
    commit(store, base, [new(store, "b", rows(2))], "x")
    commit(store, base, [new(store, "c", rows(3))], "y")
    assert [file.path[0] for file in store.snapshot("t").files] == ["a", "b", "c"]


def test_one_file_removed_twice_conflicts(store: DeltaStore) -> None:
    commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
    base = store.snapshot("t")
    commit(store, base, [new(store, "b", rows(2))], "x", removes=base.files)
    with pytest.raises(ConflictError):
        commit(store, base, [new(store, "c", rows(3))], "y", removes=base.files)


@pytest.mark.parametrize("cut", [1, 8, 200])
def test_a_truncated_file_is_refused_before_the_commit(store: DeltaStore, cut: int) -> None:
    file = new(store, "a", rows(1))
    path = store.root / "t" / file.path
    path.write_bytes(path.read_bytes()[:-cut])
    for size in (file.size, path.stat().st_size):
        with pytest.raises(StateError, match="not whole"):
            commit(store, store.snapshot("t"), [File(file.path, size, file.rows)], "x")
    assert store.snapshot("t").version == -1


def test_a_missing_file_is_refused(store: DeltaStore) -> None:
    with pytest.raises(StateError, match="not whole"):
        commit(store, store.snapshot("t"), [File("gone.parquet", 10, 1)], "x")


def test_columns_may_come_with_a_later_batch(store: DeltaStore) -> None:
    commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
    wider = rows(2).append_column("word", pa.array(["ü"]))
    store.commit("t", store.snapshot("t"), Change(wider.schema, [new(store, "b", wider)], [], ["x"]))
    assert open_table(store.root / "t").to_pyarrow_table().sort_by("word")["word"].to_pylist() == ["ü", None]


def test_two_that_bring_new_columns_conflict_too(store: DeltaStore) -> None:
    commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
    base, wider = store.snapshot("t"), rows(2).append_column("word", pa.array(["ü"]))
    commit(store, base, [new(store, "b", rows(2))], "x")
    with pytest.raises(ConflictError):
        store.commit("t", base, Change(wider.schema, [new(store, "c", wider)], [], ["x"]))
    assert [file.path[0] for file in store.snapshot("t").files] == ["a", "b"]


def test_promote_moves_and_may_be_repeated(store: DeltaStore) -> None:
    file = new(store, "a", rows(1), "staging/w")
    for _ in range(2):
        store.promote({f"staging/w/{file.path}": f"deep/{file.path}"}, "t")
    assert pq.read_table(readable(store.root / "t/deep" / file.path)).num_rows == 1
    store.discard("staging")
    store.discard("staging")
    assert not (store.root / "staging").exists()


def test_a_footer_has_texts(store: DeltaStore) -> None:
    file = new(store, "a", rows(1).replace_schema_metadata({"muntin.ledger": "ü"}))
    assert footer(f"{store.root}/t/{file.path}")["muntin.ledger"] == "ü"


class TestTheNewestSnapshot:
    """A table is listed again only when its log has grown, or is another one."""

    @pytest.fixture
    def opened(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The tables that were opened."""
        found: list[str] = []
        open_ = delta.opened_at
        monkeypatch.setattr(delta, "opened_at", lambda path: found.append(path.name) or open_(path))
        return found

    def test_is_listed_once(self, store: DeltaStore, opened: list[str]) -> None:
        commit(store, Snapshot(-1, ()), [new(store, "a", rows(1))], "x")
        assert store.snapshot("t") is store.snapshot("t")
        commit(store, store.snapshot("t"), [new(store, "b", rows(1))], "x")
        assert [file.path[0] for file in store.snapshot("t").files] == ["a", "b"]
        assert opened == ["t"]

    def test_behind_a_commit_is_what_the_log_says(self, store: DeltaStore) -> None:
        a, b, c = (new(store, name, rows(count)) for count, name in enumerate("abc"))
        commit(store, store.snapshot("t"), [a, b], "x")
        store.commit("t", store.snapshot("t"), Change(rows(1).schema, [c], [a], ["x"]))
        known = store.snapshot("t")
        vars(seen_tables._KEPT).clear()  # with the weight of the tables
        assert (known, [file.path[0] for file in known.files]) == (store.snapshot("t"), ["b", "c"])

    def test_goes_to_no_task(self, store: DeltaStore) -> None:
        before = pickle.dumps(store)
        commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
        store.snapshot("t")
        assert pickle.dumps(store) == before

    def test_is_listed_again_after_another_process_has_committed(self, store: DeltaStore) -> None:
        commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
        base, other = store.snapshot("t"), DeltaStore(store.root)
        commit(other, base, [new(store, "b", rows(2))], "y")
        assert [file.path[0] for file in store.snapshot("t").files] == ["a", "b"]

    def test_is_listed_again_when_the_table_is_another_one(self, store: DeltaStore) -> None:
        commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
        store.snapshot("t")
        remove_folder(store.root / "t")
        assert store.snapshot("t") == Snapshot(-1, ())
        commit(store, Snapshot(-1, ()), [new(store, "b", rows(2))], "x")
        assert [file.path[0] for file in store.snapshot("t").files] == ["b"]

    def test_is_listed_always_where_its_commit_was_tidied_away(self, store: DeltaStore, opened: list[str]) -> None:
        commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
        commit(store, store.snapshot("t"), [new(store, "b", rows(2))], "x")
        open_table(store.root / "t").create_checkpoint()
        for entry in (store.root / "t/_delta_log").glob("0*.json"):
            entry.unlink()
        opened.clear()
        assert store.snapshot("t") == store.snapshot("t")
        assert opened == ["t", "t"]


def test_a_file_is_removed_by_one_commit_alone(store: DeltaStore) -> None:
    a, b, c = (new(store, name, rows(1)) for name in "abc")
    commit(store, store.snapshot("t"), [a], "x")
    base = store.snapshot("t")
    store.commit("t", base, Change(rows(1).schema, [b], [a], []))
    with pytest.raises(ConflictError):
        store.commit("t", base, Change(rows(1).schema, [c], [a], []))


def test_a_table_that_is_made_again_is_another_one(store: DeltaStore) -> None:
    commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
    first = store.snapshot("t")
    commit(store, first, [new(store, "b", rows(1))], "x")
    assert store.snapshot("t").identity == first.identity != ""
    remove_folder(store.root / "t")
    commit(store, store.snapshot("t"), [new(store, "a", rows(1))], "x")
    assert store.snapshot("t").identity not in ("", first.identity)
