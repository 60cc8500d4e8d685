"""The project's folder, where relative paths start, and the root of the state: the same for Airflow and the
command line; below the root the folder of a pipeline, which a pipeline with another name keeps.
"""

from __future__ import annotations

import os
from pathlib import Path

from muntin.definition.pipeline import Pipeline
from muntin.definition.relative_paths import is_object_store, local, readable
from muntin.files.paths import AnyPath, folders_in, move_folder, path_of
from muntin.store.disk import refused
from muntin.store.state import OWNER_FILE, WINDOWS, give_to

HOME, ROOT = "MUNTIN_HOME", "MUNTIN_ROOT"


def named_home() -> Path | None:
    """The folder that the environment names as `MUNTIN_HOME`.

    Raises:
        DefinitionError: an address, as `s3://...`.
    """
    named = os.environ.get(HOME)
    return Path(local(named, HOME)).absolute() if named else None


def dags_holder(definition: str | Path) -> Path | None:
    """The folder that holds the folder `dags` of a definition's file; None where the file lies in no such
    folder.
    """
    return next(
        (folder.parent for folder in Path(definition).absolute().parents if folder.name == "dags"), None
    )


def root_of(home: Path, root: str | AnyPath | None) -> AnyPath:
    """The root of the state: as given, else `MUNTIN_ROOT`, else `state`; a relative root is below the home
    folder.

    Raises:
        DefinitionError: an address of something else than an object store, as `hdfs://...`.
    """
    named = os.environ.get(ROOT)
    given = readable(str(root), "root") if root else readable(named, ROOT) if named else "state"
    return path_of(given) if is_object_store(str(given)) else home / given


def name_of_state(pipeline: Pipeline, root: AnyPath) -> str:
    """The present name of a pipeline's state: the name before, until the first run has taken it over."""
    before, here = pipeline.renamed.pipeline, root / pipeline.name
    return (
        before if before and not here.exists() and (root / before / OWNER_FILE).is_file() else pipeline.name
    )


def take_over(pipeline: Pipeline, home: AnyPath) -> None:
    """Give the state and the tables of the names before the names of today. What has its name already stays.

    Raises:
        StateError: the disk refuses.
    """
    try:
        if (before := name_of_state(pipeline, home.parent)) != pipeline.name:
            move_folder(home.with_name(before), home)
        if pipeline.renamed.pipeline:
            give_to(home, pipeline.name, pipeline.renamed.pipeline)
        for window, old in pipeline.renamed_tables.items():
            for folder in (home, *folders_in(home)):
                table = folder / WINDOWS / old
                if table.is_dir() and not (folder / WINDOWS / window).exists():
                    move_folder(table, folder / WINDOWS / window)
    except OSError as wrong:
        raise refused(str(home), wrong) from wrong
