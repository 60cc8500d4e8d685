"""A mirror is right after the next run, wherever the one before ended; two runs mirror each version once."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import product
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest
from pyiceberg.exceptions import CommitFailedException, CommitStateUnknownException, ServiceUnavailableError

from muntin.extensions.iceberg.mirrors.follow import mirror
from muntin.extensions.iceberg.mirrors.found_tables import named_files
from muntin.jobs.sending.notes import Patience
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.vacuum import vacuum
from muntin.sinks.addresses import of_environment
from muntin.sinks.delivery import Reach
from muntin.sinks.errors import SinkError
from tests.case_counts import some
from tests.sinks import dying_catalog
from tests.sinks.dying_catalog import Fate
from tests.sinks.test_iceberg import Mirrored, versions
from tests.storage.crashing import Crash
from tests.storage.three_batches import FIRST, OTHER

REACH = Reach(of_environment)
STEPS, STEPS_OF_TWO = 10, 8


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirrored:
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__URI", f"sqlite:///{tmp_path}/lake.db")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__PY_CATALOG_IMPL", "tests.sinks.dying_catalog.DyingCatalog")
    monkeypatch.setenv("PYICEBERG_CATALOG__LAKE__PY_IO_IMPL", "tests.sinks.dying_catalog.DyingFiles")
    monkeypatch.setattr(dying_catalog, "FATE", Fate())
    small = Mirrored(tmp_path)
    small.write_all()
    return small


def mirrored(small: Mirrored, monkeypatch: pytest.MonkeyPatch, fate: Fate) -> Any:
    """Mirror `hours`, in this thread."""
    monkeypatch.setattr(dying_catalog, "FATE", fate)
    bound = bind(small.mirrored, small.folder / "state")
    return mirror(bound, next(sink for sink in bound.sinks if sink.window == "hours"), REACH, Patience(60))


def steps(small: Mirrored, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The steps of a mirroring."""
    mirrored(small, monkeypatch, fate := Fate())
    return fate.said


@pytest.mark.parametrize(("at", "after"), some(product(range(STEPS), [False, True]), one_in=4))
def test_a_kill_at_each_step_of_the_first_mirroring(small: Mirrored, monkeypatch: pytest.MonkeyPatch, at: int, after: bool) -> None:
    small.ran(0, 1, 2)
    with pytest.raises(Crash):
        mirrored(small, monkeypatch, Fate(at, after=after))
    whole(small, monkeypatch, [(2, "append")])


@pytest.mark.parametrize(("at", "after"), some(product(range(STEPS_OF_TWO), [False, True]), one_in=4))
def test_a_kill_at_each_step_of_two_overwrites(small: Mirrored, monkeypatch: pytest.MonkeyPatch, at: int, after: bool) -> None:
    small.ran(0, 1, 2)
    mirrored(small, monkeypatch, Fate())
    replaced_twice(small)
    with pytest.raises(Crash):
        mirrored(small, monkeypatch, Fate(at, after=after))
    whole(small, monkeypatch, [(2, "append"), (3, "overwrite"), (4, "overwrite")])


def test_there_are_no_more_steps(small: Mirrored, monkeypatch: pytest.MonkeyPatch) -> None:
    small.ran(0, 1, 2)
    assert len(first := steps(small, monkeypatch)) == STEPS, first
    replaced_twice(small)
    assert len(again := steps(small, monkeypatch)) == STEPS_OF_TWO, again


def replaced_twice(small: Mirrored) -> None:
    for minutes in (OTHER, FIRST[1]):
        small.write(1, minutes)
        small.ran(1)


def whole(small: Mirrored, monkeypatch: pytest.MonkeyPatch, expected: list[tuple[int, str]]) -> None:
    """The next run mirrors what lacks, once; and what the killed run left is swept."""
    mirrored(small, monkeypatch, Fate())
    assert versions(small.iceberg()) == expected
    assert small.rows() == small.published()
    vacuum(small.folder / "state", older_than_us=0)
    own = {str(path) for path in small.table("hours").rglob("_iceberg/*/*")}
    assert own <= named_files("lake", "shop.hours", REACH)
    assert small.rows() == small.published()


@pytest.mark.parametrize("after", [False, True], ids=["refused", "done"])
@pytest.mark.parametrize("error", [CommitStateUnknownException, ServiceUnavailableError, CommitFailedException])
def test_an_answer_that_is_lost(small: Mirrored, monkeypatch: pytest.MonkeyPatch, error: Any, after: bool) -> None:
    small.ran(0, 1, 2)
    mirrored(small, monkeypatch, Fate())
    small.write(1, OTHER)
    small.ran(1)
    fate = Fate("commit", after=after, error=error)
    if error is CommitFailedException:
        mirrored(small, monkeypatch, fate)
    else:
        with pytest.raises(SinkError):
            mirrored(small, monkeypatch, fate)
    assert fate.said.count("commit") == 1 + (error is CommitFailedException and not after)
    whole(small, monkeypatch, [(2, "append"), (3, "overwrite")])


def test_two_runs_at_once(small: Mirrored, monkeypatch: pytest.MonkeyPatch) -> None:
    small.ran(0)
    for at, minutes in enumerate([FIRST[1], OTHER, FIRST[1], OTHER]):
        small.write(1, minutes)
        small.ran(1)
        barrier = Barrier(3)

        def one(barrier: Barrier = barrier) -> Any:
            barrier.wait()
            bound = bind(small.mirrored, small.folder / "state")
            return mirror(bound, next(sink for sink in bound.sinks if sink.window == "hours"), REACH, Patience(60))

        with ThreadPoolExecutor(3) as threads:
            results = [future.result() for future in [threads.submit(one) for _ in range(3)]]
        assert {result.version for result in results} == {at + 1}
        assert small.rows() == small.published()
    assert [version for version, _ in versions(small.iceberg())] == [1, 2, 3, 4]


def test_other_runs_that_always_come_first(small: Mirrored, monkeypatch: pytest.MonkeyPatch) -> None:
    small.ran(0)
    mirrored(small, monkeypatch, Fate())
    small.ran(1)

    class Always(Fate):
        def step(self, what: str, do: Any, *given: Any, **more: Any) -> Any:
            if what == "commit":
                raise CommitFailedException
            return do(*given, **more)

    with pytest.raises(SinkError, match="other runs keep writing to it"):
        mirrored(small, monkeypatch, Always())
    assert replace(small).rows() != small.published()
