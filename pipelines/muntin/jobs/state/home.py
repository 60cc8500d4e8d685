"""The project's folder, where relative paths start, and the root of the state: the same for Airflow and the
command line.
"""

from __future__ import annotations

import os
from pathlib import Path

from muntin.definition.relative_paths import is_object_store, local, readable
from muntin.files.paths import AnyPath, path_of

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
