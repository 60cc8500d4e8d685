"""Where a command works: the definition with absolute paths, and the root of the state, as Airflow would have
them.
"""

import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.cli.definition import load_pipeline
from muntin.definition.pipeline import at_home
from muntin.jobs.state import home
from muntin.jobs.state.same_names import check_alone

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath


def placed(file: Path, name: str | None, root: "AnyPath | None") -> "tuple[Pipeline, AnyPath]":
    """The pipeline of a file, its relative paths below the project's folder, and the root of its state.

    A second file of the folder `dags` with a pipeline of this name is refused.
    """
    pipeline_and_root = _located(file, name, root)
    check_alone(file, pipeline_and_root[0].name)
    return pipeline_and_root


def inspected(file: Path, name: str | None, root: "AnyPath | None") -> "tuple[Pipeline, AnyPath]":
    """The place of a command that only reads tables, as `placed` gives it; two files with definitions of one
    pipeline may be compared.
    """
    pipeline_and_root = _located(file, name, root)
    without_pandas()
    return pipeline_and_root


def _located(file: Path, name: str | None, root: "AnyPath | None") -> "tuple[Pipeline, AnyPath]":
    return at_home(load_pipeline(file, name), home_of(file)), root_of(root, file)


def home_of(file: Path | None) -> Path:
    """`MUNTIN_HOME`, else the folder that holds the folder `dags` of the file, else the folder that the
    command runs in.
    """
    return home.named_home() or (home.dags_holder(file) if file else None) or Path.cwd()


def root_of(root: "AnyPath | None", file: Path | None = None) -> "AnyPath":
    """The root: as given, relative to where the command runs; else `MUNTIN_ROOT`, else `state`, relative to
    the project's folder.
    """
    return home.root_of(Path.cwd() if root else home_of(file), root)


class _Refused:
    """Says of pandas, while Arrow tries to import it, that it cannot be imported."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        if name == "pandas":
            raise ImportError(name)


def without_pandas() -> None:
    """Let Arrow try to import pandas once, in vain; from then on it goes without. Other modules can import
    pandas as before.

    For commands that read tables: Arrow imports pandas, where it is installed, as soon as it is given a
    Python value, and that takes half a second. It does nothing where pandas is there already, as after a
    definition that imports it.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    sys.meta_path.insert(0, _Refused)  # type: ignore[arg-type]
    try:
        with suppress(ImportError):
            pa.scalar(0)
    finally:
        sys.meta_path.remove(_Refused)  # type: ignore[arg-type]
