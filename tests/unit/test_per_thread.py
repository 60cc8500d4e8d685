"""What threads keep goes with them, and a fork leaves its parent's things alone."""

import os
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from muntin.sources import per_thread
from muntin.sources.per_thread import of_all_threads, of_this_thread

THREADS = 8


class Thing:
    """A session, say."""


@pytest.fixture(autouse=True)
def _alone() -> Iterator[None]:
    yield
    for which in [which for which in per_thread._kept if which[0].startswith("test")]:
        del per_thread._kept[which]


def kept_by_threads(barrier: Barrier) -> list["weakref.ref[Thing]"]:
    """A thing that each of some threads keeps; they have ended."""

    def keep(_: int) -> "weakref.ref[Thing]":
        thing = of_this_thread("test")["thing"] = Thing()
        barrier.wait()  # all of them live at once
        return weakref.ref(thing)

    with ThreadPoolExecutor(THREADS) as threads:
        return list(threads.map(keep, range(THREADS)))


def test_a_thread_finds_its_things_again_and_no_others() -> None:
    of_this_thread("test")["thing"] = mine = Thing()
    things = kept_by_threads(Barrier(THREADS))
    assert of_this_thread("test")["thing"] is mine
    assert len({id(each) for each in things}) == THREADS


def test_things_of_threads_that_have_ended_are_freed_once_another_comes() -> None:
    things = kept_by_threads(Barrier(THREADS))
    of_this_thread("test, for the first time")
    assert [each() for each in things] == [None] * THREADS
    assert [*of_all_threads("test")] == []


def test_a_fork_neither_uses_nor_frees_them() -> None:
    of_this_thread("test")["thing"] = mine = Thing()
    things, freed = [weakref.ref(mine), *kept_by_threads(Barrier(THREADS))], 7
    del mine
    if (child := os.fork()) == 0:
        found = of_this_thread("test")
        of_this_thread("test, for the first time")
        os._exit(freed if found or None in [each() for each in things] else 0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
