"""`python -m tests.soak`: what `make test` does in short, for an hour or a night. Each part is held against clean runs, to the last bit."""

import argparse
import logging
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

from tests.dimensions.test_random_changes import tables_that_change
from tests.dimensions.test_random_histories import rows_of_dimensions
from tests.end_to_end.test_matrix_of_types import made_of, wrong
from tests.end_to_end.test_types_inside import INNER, wrong_pair
from tests.end_to_end.typed_columns import COLUMNS
from tests.end_to_end.written_by import WRITERS, wrong_by
from tests.simulation.chance import Life
from tests.simulation.many import in_processes
from tests.simulation.real_world import RealWorld, small_and_quick
from tests.soak.damage import damaged
from tests.soak.disks import full, read_only
from tests.soak.first_backfills import first_backfills
from tests.soak.forget_kills import forget_killed
from tests.soak.kills import killed
from tests.soak.races import raced, slowly
from tests.soak.sink_kills import sinks_killed
from tests.soak.task_kills import tasks_killed
from tests.soak.upkeep_kills import upkeep_killed
from tests.soak.world import SETS, World
from tests.taken_back.test_changes_of_tables import changes_of_table
from tests.taken_back.test_look_ups import changes_of_table_that_look_up, changes_that_look_up
from tests.taken_back.test_look_ups_stop import look_ups_that_stop
from tests.taken_back.test_random_stories import stream_of_changes

Round = Callable[[Path, random.Random], str]


def history(folder: Path, dice: random.Random) -> str:
    """A hundred batches that come in any order, are replaced, and put together."""
    world = World(folder, dice, dice.choice(SETS))
    steps = len(list(world.live(100)))
    assert not (wrong := world.wrong()), f"{', '.join(wrong)} differ from a clean run"
    return f"{steps} steps, {world.definition.__name__}"


def worlds_in_memory(_folder: Path, dice: random.Random) -> str:
    """By two processes at once."""
    met = in_processes(OFTEN, dice.randrange(2**60))
    assert met.wrong == [], f"Life({met.wrong[0][0]}): {met.wrong[0][1]}: {met.wrong[0][2]}"
    return f"{met.worlds} worlds of {met.lives} lives"


def world_on_disk(folder: Path, dice: random.Random) -> str:
    make: Any = partial(RealWorld, folder)
    with small_and_quick():
        return _lived(Life(dice.randrange(2**60), make))


def _lived(life: Life) -> str:
    assert (wrong := life.live()) == [], f"Life({life.seed}): {life.world.told}: {wrong}"
    return f"{len(life.world.told)} things happened"


def types(folder: Path, dice: random.Random) -> str:
    """Files of two types, one behind the other, of types with others inside also beside each other; and a file of each writer."""
    pairs, inner = dice.sample([*permutations(COLUMNS, 2)], 20), dice.sample([*permutations(INNER, 2)], 20)
    for number, pair in enumerate(pairs):
        made = made_of(folder / str(number), {hour: COLUMNS[name] for hour, name in enumerate(pair)})
        found = [each for hour, name in enumerate(pair) for each in wrong(made, COLUMNS[name], hour=hour)]
        assert not found, f"{' and '.join(pair)}: {'; '.join(found)}"
    for number, pair in enumerate(inner):
        found = [each for beside in (False, True) for each in wrong_pair(folder / f"{number}-{beside}", *pair, beside=beside)]
        assert not found, f"{' and '.join(pair)}: {'; '.join(found)}"
    for number, writer in enumerate(WRITERS):
        (folder / f"by-{number}").mkdir()
        found = wrong_by(writer, folder / f"by-{number}")
        assert not found, f"{writer}: {'; '.join(found)}"
    return f"{len(pairs) + len(inner)} pairs of types, {len(WRITERS)} writers"


FACTS: Mapping[str, Callable[[int, Path], None]] = {
    "a dimension": rows_of_dimensions,
    "tables that change": tables_that_change,
    "a stream": stream_of_changes,
    "a table": changes_of_table,
    "a stream that looks up": changes_that_look_up,
    "a table that looks up": changes_of_table_that_look_up,
    "runs that stop": look_ups_that_stop,
}


def facts(folder: Path, dice: random.Random) -> str:
    """Dimensions and spans that change; changes of streams and tables, with look-ups and without; runs that stop. By the judge."""
    seed = dice.randrange(2**60)
    for number, story in enumerate(FACTS.values()):
        (folder / str(number)).mkdir(parents=True)
        story(seed, folder / str(number))
    return f"story {seed} of {', '.join(FACTS)}"


PARTS: Mapping[str, Round] = {
    "types": types,
    "histories": history,
    "worlds": worlds_in_memory,
    "real": world_on_disk,
    "facts": facts,
    "kills": killed,
    "upkeep-kills": upkeep_killed,
    "forget-kills": forget_killed,
    "sink-kills": sinks_killed,
    "races": raced,
    "slow": slowly,
    "full": full,
    "read-only": read_only,
    "airflow-kills": tasks_killed,
    "first-backfills": first_backfills,
    "damage": damaged,
}
EXAMPLE = 'example: make soak ARGS="--part kills --rounds 200 --seed 7"'
OFTEN = 20_000
"""So many worlds in memory are a round: fifty rounds are a million."""


def main() -> int:
    """Rounds until the time is up or so many are done; the exit status is 1 as soon as a round is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__, epilog=EXAMPLE)
    parser.add_argument("--part", choices=PARTS, default="histories")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rounds", type=int, help="at most so many")
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    asked = parser.parse_args()
    logging.disable(logging.CRITICAL)
    begun, done = time.monotonic(), 0
    while time.monotonic() < begun + 60 * asked.minutes and done != asked.rounds:
        seed = asked.seed + done
        with tempfile.TemporaryDirectory() as folder:
            try:
                said = PARTS[asked.part](Path(folder, "ground"), random.Random(seed))
            except AssertionError as wrong:
                print(f"{asked.part} --seed {seed} is wrong: {wrong}")
                return 1
        done += 1
        print(f"{asked.part} {done}, {time.monotonic() - begun:.0f} s: {said}", flush=True)
    print(f"{asked.part}: {done} rounds are right, {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
