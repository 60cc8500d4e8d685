"""The states below a root, and the staged folders in them."""

from __future__ import annotations

import glob
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from muntin.definition.pipeline import Pipeline
from muntin.definition.relative_paths import readable
from muntin.errors import StateError
from muntin.files.paths import AnyPath, folders_in, path_of, sizes_below
from muntin.jobs.state.bound import Bound, bind
from muntin.store.state import OWNER_FILE, states_of

_INSPECTED = 1_000  # folders


@dataclass(frozen=True, slots=True)
class Staging:
    """A folder of staged windows: of a run at work, of windows that failed their suite,
    or of a killed run.
    """

    folder: str
    written_at: datetime
    files: int
    bytes: int


def stagings(state: AnyPath) -> list[Staging]:
    """The staged folders of a state."""
    return [_staging(folder) for folder in folders_in(state / "staging")]


def _staging(folder: AnyPath) -> Staging:
    files = sizes_below(folder)
    written = max([folder.stat().st_mtime, *(written for _, _, written in files)])
    place = f"{folder.parent.name}/{folder.name}"
    return Staging(place, datetime.fromtimestamp(written, UTC), len(files), sum(size for _, size, _ in files))


def state_folders(root: str | AnyPath) -> list[AnyPath]:
    """Every state below a root: `<root>/<pipeline>/<fingerprint>`.

    Raises:
        DefinitionError: the root is an address of something else than an object store, as `hdfs://...`.
        StateError: there is no such root.
    """
    root = readable(str(root), "root")
    if not path_of(root).is_dir():
        raise StateError(f"there is no folder {root}; give the root that runs wrote to, as --root state")
    homes = sorted(path.parent for path in path_of(root).glob(f"*/{OWNER_FILE}"))
    return [folder for home in homes for folder in states_of(home)]


def bind_existing(pipeline: Pipeline, root: str | AnyPath) -> Bound:
    """Bind a pipeline to the state of its present definition.

    Raises:
        StateError: the pipeline was never run under this definition.
    """
    bound = bind(pipeline, root)
    folder = bound.folder
    if folder.is_dir():
        return bound
    others = [other.name for other in states_of(folder.parent)]
    text = f"there is no state of {pipeline.name!r} under this definition at {folder}"
    if others:
        raise StateError(
            f"{text}; under other definitions there is {', '.join(sorted(others))}. "
            f"Read its batches by this definition: muntin run --rebuild FILE --root {root}"
        )
    near = roots_near(bound.root, pipeline.name)
    raise StateError(
        f"{text}; run it first, or give the root that runs wrote"
        f" to{f'; {near[0]} has a state of it' if near else ''}"
    )


def roots_near(root: AnyPath, name: str = "*") -> list[Path]:
    """The folders around one of this machine that have the state of a pipeline, or of any: next to it, above
    it and in it.
    """
    if not isinstance(root, Path):
        return []
    around = {root.parent, root.parent.parent, *_folders(root.parent), *_folders(root)} - {root}
    return sorted(
        folder
        for folder in around
        if next(folder.glob(f"{glob.escape(name) if name != '*' else name}/{OWNER_FILE}"), None)
    )


def _folders(folder: Path) -> list[Path]:
    with suppress(OSError):
        return [each for each in islice(folder.iterdir(), _INSPECTED) if each.is_dir()]
    return []
