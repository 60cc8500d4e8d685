"""Runs may be at work beside a command that forgets: neither fails, and the key is gone once the command has been run again.

run      | accumulate | finalize | publish |      a request comes between any two of its steps,
forget                 ^                          and a run between any two of the command's
"""

import multiprocessing
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from muntin import forget, run
from muntin.errors import ConflictError
from muntin.extensions.forgetting.forget import plan_forget
from muntin.jobs.doctor.diagnosis import diagnose
from muntin.jobs.state.bound import bind
from muntin.store import log_append
from muntin.store.delta import DeltaStore
from muntin.store.disk import write_new
from muntin.store.log_check import problems_of_log
from muntin.store.log_checkpoint import end_old_versions
from muntin.store.parquet import write_named
from muntin.store.store import Change, File, Snapshot
from muntin.tasks import Local
from tests.case_counts import at_length, cases, some
from tests.end_to_end.hourly import hour
from tests.forgetting.stops import Stop
from tests.forgetting.visits import KINDS, Visits, drawn, others_are
from tests.storage.crashing import Crashing

KEY = [{"person": "bob"}]


class Meeting(Crashing):
    """A store beside which something else happens, once: before the verb with number `at`, or behind it."""

    def __init__(self, store: DeltaStore, at: int, meet: Callable[[], object], *, after: bool) -> None:
        super().__init__(store, -1)
        self.met, self.where, self.later = meet, at, after

    def _do(self, verb: str, *given: Any) -> Any:
        here = len(self.said) == self.where
        if here and not self.later:
            self.met()
        done = super()._do(verb, *given)
        if here and self.later:
            self.met()
        return done


def begun(folder: Path, kind: str = "by time") -> Visits:
    visits = Visits(folder, kind)
    for at in range(4):
        visits.write(at, [*drawn(random.Random(at), at), (at * 60 + 1, "bob", "x", 2.0, "a")], bad=["bob"])
    visits.run(0, 2)
    return visits


def again(visits: Visits) -> object:
    """The run that meets the request: it replaces batches and reads a new one."""
    return run(visits.pipeline, root=visits.root, start=hour(1), end=hour(4), spark=Local(1))


def is_well(visits: Visits, clean: dict[str, Any]) -> None:
    """Nothing is damaged; and where the key is forgotten once more, the windows of all others are as without any forgetting."""
    assert not [
        each.problem for each in diagnose(visits.pipeline, root=visits.root, deep=True) if "something may be left" not in each.problem
    ]
    assert forget(visits.pipeline, KEY, root=visits.root).done
    assert plan_forget(visits.pipeline, KEY, root=visits.root).found == ()
    others_are(visits.tables(), clean, "bob", totals=False)


def meetings(tmp_path: Path, kind: str, chosen: Callable[[list[Any]], list[Any]]) -> None:
    visits = begun(tmp_path, kind)
    shutil.copytree(visits.root, tmp_path / "kept")
    bound = bind(visits.pipeline, visits.root)
    whole = Crashing(DeltaStore(bound.folder))
    run(visits.pipeline, root=visits.root, start=hour(1), end=hour(4), spark=Local(1), store=whole)
    clean = visits.tables()
    for at, after in chosen([(at, after) for at in range(len(whole.said)) for after in (False, True)]):
        shutil.rmtree(visits.root)
        shutil.copytree(tmp_path / "kept", visits.root)
        store: Any = Meeting(DeltaStore(bound.folder), at, partial(forget, visits.pipeline, KEY, root=visits.root), after=after)
        run(visits.pipeline, root=visits.root, start=hour(1), end=hour(4), spark=Local(1), store=store)
        is_well(visits, clean)


def test_a_request_comes_while_a_run_is_at_work(tmp_path: Path) -> None:
    meetings(tmp_path, "by time", lambda points: [points[len(points) // 2], points[-8]])


@at_length
@pytest.mark.parametrize("kind", KINDS)
def test_a_request_comes_between_any_two_steps_of_a_run(kind: str, tmp_path: Path) -> None:
    meetings(tmp_path, kind, some)


@at_length
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_comes_between_any_two_steps_of_a_request(kind: str, tmp_path: Path) -> None:
    visits = begun(tmp_path, kind)
    shutil.copytree(visits.root, tmp_path / "kept")
    whole = Stop()
    with whole.watching():
        forget(visits.pipeline, KEY, root=visits.root)
    shutil.rmtree(visits.root)
    shutil.copytree(tmp_path / "kept", visits.root)
    again(visits)
    clean = visits.tables()
    for at in some(range(whole.count)):
        shutil.rmtree(visits.root)
        shutil.copytree(tmp_path / "kept", visits.root)
        with Stop(at, meet=partial(again, visits)).watching():
            forget(visits.pipeline, KEY, root=visits.root)
        is_well(visits, clean)


def _runs(folder: Path, go: Any) -> None:
    visits = Visits(folder)
    go.wait()
    for at in range(1, 7):
        run(visits.pipeline, root=visits.root, start=hour(at - 1), end=hour(at + 1), spark=Local(1))


def _forgets(folder: Path, go: Any) -> None:
    go.wait()
    forget(Visits(folder).pipeline, KEY, root=folder / "state")


@at_length
@pytest.mark.parametrize("seed", range(cases(80)))
def test_two_processes_at_once(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    visits = Visits(tmp_path)
    for at in range(7):
        visits.write(at, [*drawn(dice, at), (at * 60 + 1, "bob", "x", 2.0, "a")], bad=["bob"])
    visits.run(0, 3)
    context = multiprocessing.get_context("spawn")
    go = context.Event()
    both = [context.Process(target=each, args=(tmp_path, go)) for each in (_runs, _forgets)]
    for each in both:
        each.start()
    go.set()
    for each in both:
        each.join()
    assert [each.exitcode for each in both] == [0, 0]
    clean = Visits(tmp_path / "clean")
    for at, rows in visits.rows.items():
        clean.write(at, [row for row in rows if row[1] != "bob"], bad=["bob"])
    clean.run(0, 6)
    visits.run(0, 6)
    is_well(visits, clean.tables())


def commit(of: DeltaStore, base: Snapshot, n: int) -> None:
    table = of.root / "t"
    written = write_named(pa.table({"n": [n]}), table, lambda digest: f"{n}_{digest}.parquet")
    of.commit("t", base, Change(pa.schema([("n", pa.int64())]), [File(written["path"], written["size"], 1)], [], []))


def ended(root: Path, *more: int) -> None:
    """Another process commits more, and ends old versions."""
    other = DeltaStore(root)
    for n in more:
        commit(other, other.snapshot("t"), n)
    end_old_versions(root / "t", lambda _: False)


@pytest.mark.parametrize("first", [0, 3])
def test_no_commit_lands_among_old_versions_that_have_ended(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their numbers are free again: a commit there would be read by nobody."""
    store = DeltaStore(tmp_path)
    for n in range(first):
        commit(store, store.snapshot("t"), n)
    base = store.snapshot("t")

    def late(path: Path, content: bytes) -> None:
        monkeypatch.undo()
        ended(tmp_path, first, first + 1)
        write_new(path, content)

    monkeypatch.setattr(log_append, "write_new", late)
    with pytest.raises(ConflictError, match="another run committed first"):
        commit(store, base, first + 2)
    commit(store, store.snapshot("t"), first + 2)
    assert sorted(DeltaTable(tmp_path / "t").to_pyarrow_table()["n"].to_pylist()) == [*range(first + 3)]
    assert not problems_of_log(tmp_path / "t")


def test_no_commit_lands_behind_another_that_landed_among_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, nothing = DeltaStore(tmp_path), Change(pa.schema([("n", pa.int64())]), [], [], [])
    for n in range(3):
        commit(store, store.snapshot("t"), n)

    def late(path: Path, content: bytes) -> None:
        monkeypatch.undo()
        ended(tmp_path, 3, 4, 5)
        write_new(path, content)
        with pytest.raises(ConflictError):
            log_append.append(tmp_path / "t", 2, nothing, 0)

    monkeypatch.setattr(log_append, "write_new", late)
    with pytest.raises(ConflictError):
        log_append.append(tmp_path / "t", 2, nothing, 0)
    assert [path.name for path in sorted((tmp_path / "t/_delta_log").glob("*.json"))] == [f"{5:020d}.json"]


def test_a_commit_that_landed_before_old_versions_end_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DeltaStore(tmp_path)
    for n in range(3):
        commit(store, store.snapshot("t"), n)

    def early(path: Path, content: bytes) -> None:
        monkeypatch.undo()
        write_new(path, content)
        ended(tmp_path)

    monkeypatch.setattr(log_append, "write_new", early)
    commit(store, store.snapshot("t"), 3)
    commit(store, store.snapshot("t"), 4)
    assert sorted(DeltaTable(tmp_path / "t").to_pyarrow_table()["n"].to_pylist()) == [*range(5)]
    assert not problems_of_log(tmp_path / "t")
