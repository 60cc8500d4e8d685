"""Modules that are imported when something of them is first used, not before."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _Later(ModuleType):
    """Stands for a module until something of it is asked for; then the module itself answers."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        if name.startswith("__") and name != "__path__":  # the import system asks, which uses nothing
            raise AttributeError(name)
        _forget(self)
        return getattr(import_module(self.__name__), name)


@contextmanager
def imported_later(*names: str) -> Iterator[None]:
    """Inside the block, `import a.b` and `from a import b` of these modules bind what imports them on first
    use.

    Only whoever imports them in the block gets that: after it they are imported as ever. A module that is
    imported already, or not installed, is left as it is.
    """
    there = [_Later(name) for name in names if name not in sys.modules and _is_installed(name)]
    for later in there:
        sys.modules[later.__name__] = later
        holder, _, own = later.__name__.rpartition(".")
        if holder:
            setattr(import_module(holder), own, later)
    try:
        yield
    finally:
        for later in there:
            _forget(later)


def _is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of what holds it
        return False


def _forget(later: _Later) -> None:
    """From now on, importing the module gives the module."""
    name = later.__name__
    if sys.modules.get(name) is later:
        del sys.modules[name]
    holder, _, own = name.rpartition(".")
    if holder and vars(sys.modules[holder]).get(own) is later:
        delattr(sys.modules[holder], own)
