"""Many lives, spread over processes, and what they met on the way."""

from __future__ import annotations

import logging
import multiprocessing
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.simulation.actors import often
from tests.simulation.chance import Life
from tests.simulation.seams import simulated

if TYPE_CHECKING:
    from collections.abc import Iterator

AT_ONCE = min(2, os.cpu_count() or 1)


@dataclass
class Met:
    """What some lives met. `wrong`: seed, what happened, and what was wrong; `often`: as `tests.simulation.actors.often`."""

    lives: int = 0
    worlds: int = 0
    wrong: list[tuple[int, list[str], list[str]]] = field(default_factory=list)
    often: Counter[str] = field(default_factory=Counter)

    def add(self, other: Met) -> None:
        self.lives, self.worlds = self.lives + other.lives, self.worlds + other.worlds
        self.wrong += other.wrong
        self.often.update(other.often)


def lived(first: int, step: int, worlds: int) -> Met:
    """Lives of every `step`th seed, until so many worlds came to their end, or one was wrong."""
    found, seed = Met(), first
    often.clear()
    logging.disable(logging.CRITICAL)  # what worlds log is no news
    try:
        with simulated():
            while found.worlds < worlds and not found.wrong:
                life = Life(seed)
                wrong = life.live()
                found.add(Met(1, life.worlds, [(seed, life.world.told, wrong)] if wrong else []))
                seed += step
    finally:
        logging.disable(logging.NOTSET)
    found.often.update(often)
    return found


def in_processes(worlds: int, first: int = 0, at_once: int = AT_ONCE) -> Met:
    """So many worlds from a seed on, by several processes at once."""
    whole = Met()
    with ProcessPoolExecutor(at_once, multiprocessing.get_context("spawn")) as pool:
        parts = [pool.submit(lived, first + at, at_once, -(-worlds // at_once)) for at in range(at_once)]
        for part in parts:
            whole.add(part.result())
    return whole


def wrong_worlds(seeds: range) -> Iterator[tuple[int, list[str], list[str]]]:
    """The lives in this process that broke a law: seed, what happened, what was wrong."""
    for seed in seeds:
        life = Life(seed)
        if wrong := life.live():
            yield seed, life.world.told, wrong
