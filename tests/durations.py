"""How long files of tests take, as measured: `--write-durations` writes it down, and what is quick is chosen by it."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = Path(__file__).with_name("durations.json")
SECONDS: dict[str, float] = json.loads(FILE.read_text(encoding="utf-8"))
"""File -> seconds that it took in `make test` on two cores, five files at a time, with other work beside: thrice what it needs."""
OTHERS = 1.0
"""Seconds that a file is reckoned with which was not there when the others were measured."""
QUICK = 2.2
"""Seconds that a file of `make check` takes at most."""
BUDGET = 100.0
"""Seconds that all of them take, which two processes share."""


def seconds(path: Path) -> float:
    """About how long a file takes."""
    return SECONDS.get(str(path.relative_to(ROOT)), OTHERS)


def is_quick(path: Path) -> bool:
    """Whether a file is quick enough for `make check`."""
    return seconds(path) <= QUICK


def write(measured: Iterable[tuple[str, float]]) -> None:
    """Write down what the tests of a run took, each with its file; files that were not among them stay as they are."""
    found = Counter[str]()
    for file, took in measured:
        found[file] += took  # type: ignore[assignment]
    known = {file: took for file, took in SECONDS.items() if (ROOT / file).exists()}
    known |= {file: round(took, 1) for file, took in found.items()}
    FILE.write_text(json.dumps(dict(sorted(known.items())), indent=0) + "\n", encoding="utf-8")
