"""`python -m tests.end_to_end.judge.shrink SEED WINDOW`: the fewest rows with which bulk and oracle still disagree."""

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tests.catalogue.kinds import JUDGED
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.scenario_on_disk import bench
from tests.end_to_end.judge.scenarios import Scenario, scenario
from tests.end_to_end.judge.verdict import differences, truth

Place = tuple[int, int]
"""A row: number of its batch, position in it."""


def minimal(places: Sequence[Place], fails: Callable[[Sequence[Place]], bool]) -> list[Place]:
    """Leave out ever smaller runs of rows while it still fails."""
    left, width = list(places), len(places) // 2
    while width:
        begin = 0
        while begin < len(left):
            fewer = left[:begin] + left[begin + width :]
            if fails(fewer):
                left = fewer
            else:
                begin += width
        width //= 2
    return left


def only(case: Scenario, places: Sequence[Place]) -> Scenario:
    """The scenario with these rows alone."""
    kept = set(places)
    rows = [[row for p, row in enumerate(batch.rows) if (n, p) in kept] for n, batch in enumerate(case.batches)]
    found = tuple(replace(batch, rows=held) for batch, held in zip(case.batches, rows, strict=True))
    return replace(case, batches=found)


def disagreement(case: Scenario, window: str) -> list[str]:
    """What a bulk run in a new folder gets wrong."""
    with tempfile.TemporaryDirectory() as folder:
        made = bench(case, Path(folder), None)
        made.run("state")
        rows = face.published(made.pipeline, window, made.folder / "state", case.batches)
        return differences(case, rows, truth(case, window).published)


def main(seed: int, window: str) -> None:
    """Print the rows and what is wrong with them."""
    case = scenario(seed)
    case = replace(case, windows={window: JUDGED[window]})
    every = [(n, p) for n, batch in enumerate(case.batches) for p in range(len(batch.rows))]
    small = only(case, minimal(every, lambda places: bool(disagreement(only(case, places), window))))
    print(case.windows[window], small.keys, small.watermark, "watermarks", truth(small, window).watermarks)
    for batch in small.batches:
        print(batch.start, batch.end, *batch.rows, sep="\n    ")
    print(*disagreement(small, window), sep="\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
