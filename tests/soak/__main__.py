"""`python -m tests.soak`: random histories with replaced batches, holes and compaction, each compared with a clean run to the last bit."""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.soak.world import World


def main() -> int:
    """Worlds until the time is up; the exit status is 1 as soon as a world differs from its clean run."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="of the first world")
    parser.add_argument("--batches", type=int, default=100, help="of a world")
    asked = parser.parse_args()
    until, seed, steps = time.monotonic() + 60 * asked.minutes, asked.seed, Counter[str]()
    while time.monotonic() < until:
        with tempfile.TemporaryDirectory() as folder:
            world = World(Path(folder), random.Random(seed))
            steps.update(world.live(asked.batches))
            if wrong := world.wrong():
                print(f"world {seed}: {', '.join(wrong)} differ from a clean run")
                return 1
        seed += 1
        print(f"{seed - asked.seed} worlds are right; steps: {dict(steps)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
