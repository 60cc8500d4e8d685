"""Files of the simulated source: a file a minute, its rows as JSON."""

import json
from functools import lru_cache

from tests.simulation.disk import Disk, at_hand
from tests.simulation.rows import Row

FOLDER = "/simulated/source"


def deliver(disk: Disk, minute: int, rows: list[Row]) -> None:
    disk.write(f"{FOLDER}/{minute}", json.dumps(rows).encode())


def vanish(disk: Disk, minute: int) -> None:
    disk.files.pop(f"{FOLDER}/{minute}", None)


def rows_of_source(path: str) -> list[Row]:
    return _rows(at_hand.disk.read(path))


@lru_cache(maxsize=4096)
def _rows(content: bytes) -> list[Row]:
    return [tuple(row) for row in json.loads(content)]


def delivered(disk: Disk) -> dict[int, list[Row]]:
    """Minute -> its rows, ascending."""
    paths = disk.below(FOLDER)
    return dict(sorted((int(path.rpartition("/")[2]), _rows(disk.files[path].content)) for path in paths))
