"""Modules that travel to Spark's workers with their code: modules beside a definition, which workers cannot
import.
"""

from __future__ import annotations

import sys
from pathlib import Path

_OURS = Path(__file__).parents[1]
_folders: set[Path] = set()


def ship_by_value(folder: Path) -> None:
    """From now on, functions and classes of modules in a folder travel with their code."""
    _folders.add(folder)


def register() -> None:
    """Tell Spark's pickler of all such modules that are imported."""
    from pyspark import cloudpickle

    for module in [*sys.modules.values()]:
        file = getattr(module, "__file__", None)
        if file and _is_of_a_definition(Path(file)):
            cloudpickle.register_pickle_by_value(module)


def _is_of_a_definition(file: Path) -> bool:
    """Whether a module lies beside a definition, and is not of an environment that lies there, too: workers
    have its packages.
    """
    installed = file.is_relative_to(sys.prefix) or "site-packages" in file.parts or file.is_relative_to(_OURS)
    return not installed and any(file.is_relative_to(folder) for folder in _folders)
