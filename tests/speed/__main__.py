"""`python -m tests.speed [WORK ...]`: measures works, all unless named, and records their ratios in `tests/speed/ratios.json`."""

import argparse
import tempfile
from pathlib import Path

from tests.speed.measuring import ROUNDS, WORKS, Record, machine, recorded, write


def main() -> None:
    """Measure, print and record, work by work."""
    parser = argparse.ArgumentParser(prog="python -m tests.speed", description=__doc__)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"of {', '.join(WORKS)}; all unless named")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"whose median counts ({ROUNDS})")
    asked = parser.parse_args()
    if unknown := set(asked.works) - WORKS.keys():
        parser.error(f"there is no work {min(unknown)!r}")
    ratios = dict(recorded().ratios)
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.works or WORKS:
            before, ratios[name] = ratios.get(name), WORKS[name].ratio(Path(folder), asked.rounds)
            print(f"{name}: {ratios[name]:.2f}, before {before}", flush=True)
            write(Record(machine(), {each: ratios[each] for each in WORKS if each in ratios}))


if __name__ == "__main__":
    main()
