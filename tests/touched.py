"""Which files of tests a change touches: those that import a room of the product in which something changed, and all of `end_to_end`.

`.venv/bin/python -m tests.touched [REV]` prints them, with the rooms; `make test-long ARGS="--touched REV"` runs them.
"""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests import durations

PRODUCT = "pipelines/"
ALWAYS = "tests/end_to_end"
"""Asks the whole product by its public names, which lead everywhere."""
NESTED = ("jobs",)
"""Rooms whose folders are rooms."""
IMPORTS = re.compile(r"^\s*(?:from|import) (muntin(?:\.\w+)+)", re.MULTILINE)


def room_of(module: str) -> str:
    """The folder of a module, as `muntin.store`, or `muntin.jobs.publish`."""
    parts = module.split(".")
    return ".".join(parts[: 3 if parts[1:2] and parts[1] in NESTED else 2])


@cache
def rooms_since(revision: str) -> frozenset[str]:
    """Rooms in which a file differs from a revision."""
    asked = ["git", "diff", "--name-only", revision, "--", PRODUCT]
    changed = subprocess.run(asked, cwd=durations.ROOT, check=True, capture_output=True, text=True).stdout.split()
    return frozenset(room_of(name.removeprefix(PRODUCT).removesuffix(".py").replace("/", ".")) for name in changed)


@cache
def files(revision: str) -> frozenset[Path]:
    """Files of tests that a change since a revision touches."""
    rooms, tests = rooms_since(revision), durations.files()
    if not rooms:
        return frozenset()
    always = durations.ROOT / ALWAYS
    return frozenset(path for path in tests if path.is_relative_to(always) or not rooms.isdisjoint(rooms_of(path)))


def rooms_of(path: Path) -> frozenset[str]:
    """Rooms that a file of tests imports."""
    return frozenset(room_of(module) for module in IMPORTS.findall(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    print("rooms:", *sorted(rooms_since(revision)))
    print(*sorted(map(durations.name_of, files(revision))), sep="\n")
