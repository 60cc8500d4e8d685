"""Modules that travel to Spark's workers with their code: those beside a definition, which workers cannot import."""

from __future__ import annotations

import sys
from pathlib import Path

_folders: set[Path] = set()


def ship_by_value(folder: Path) -> None:
    """From now on, functions and classes of modules in a folder travel with their code."""
    _folders.add(folder)


def register() -> None:
    """Tell Spark's pickler of all such modules that are imported."""
    from pyspark import cloudpickle

    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        if file and any(Path(file).is_relative_to(folder) for folder in _folders):
            cloudpickle.register_pickle_by_value(module)
