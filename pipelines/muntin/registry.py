"""The parts of extensions: entry points of the group `muntin.extensions`, as `muntin.extensions.interface`
has them.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution, entry_points
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

from muntin.errors import MissingPackageError
from muntin.old_names import no_such_name

GROUP = "muntin.extensions"


class NoExtensionError(LookupError):
    """No extension has a part of this name."""


def extension(kind: str, name: str) -> Any:  # noqa: ANN401 - whatever the extension has there
    """The part that an extension has below a name: `extension("sinks", "postgres")`. Names of Muntin's own
    distribution come first.

    Raises:
        NoExtensionError: no installed distribution has it.
        MissingPackageError: its module, or a package that its module imports, is not there.
    """
    for each in chain.from_iterable(group() for group in (_own, _all)):
        if each.name == f"{kind}.{name}":
            try:
                return each.load()
            except ModuleNotFoundError as wrong:
                home = each.dist.name if each.dist else each.module
                raise MissingPackageError(
                    f"{kind}.{name} of {home} cannot be loaded: {wrong}; install {home} anew, or remove it"
                ) from wrong
    lost = (
        ""
        if _own()
        else (
            "; Muntin's own extensions are not known either: pip install -e . in its checkout, or install it"
            " anew"
        )
    )
    raise NoExtensionError(f"no extension has {kind}.{name}{lost}")


def homes_in(package: str, file: str) -> dict[str, str]:
    """Name -> the module below a package that defines it, as the stub for type checkers imports it. `file`:
    of the package; the stub lies beside it.
    """
    stub = ast.parse(Path(f"{file}i").read_bytes())
    imports = [each for each in stub.body if isinstance(each, ast.ImportFrom)]
    homes = {name.name: str(each.module) for each in imports for name in each.names}
    return {name: home for name, home in homes.items() if home.startswith(f"{package}.")}


def of_home(module: str, homes: Mapping[str, str], name: str) -> Any:  # noqa: ANN401 - as above
    """The attribute of a module that a module below it defines, for its `__getattr__`: `homes` maps names to
    modules.

    Raises:
        AttributeError: no module defines it.
        DefinitionError: it is an old name.
    """
    if name not in homes:
        raise no_such_name(module, name)
    return getattr(import_module(homes[name]), name)


def attribute_of(module: str, kind: str, name: str) -> Any:  # noqa: ANN401 - as above
    """The attribute that an extension adds to a module, for its `__getattr__`.

    Raises:
        AttributeError: no installed distribution has it.
        DefinitionError: it is an old name.
    """
    try:
        return extension(kind, name)
    except NoExtensionError as wrong:
        lost = str(wrong).partition("; ")[2] and f" ({wrong})"
        raise no_such_name(module, name, lost) from None


def stand_for(short: str, module: ModuleType) -> None:
    """Let a short name be a package of an extension, and `short.x` its module `x`: a second copy of a module
    has classes and notes of its own.
    """

    class Same:
        @staticmethod
        def find_spec(name: str, _path: object, _target: object = None) -> ModuleSpec | None:
            return ModuleSpec(name, Same) if name.startswith(f"{short}.") else None  # type: ignore[arg-type]

        @staticmethod
        def create_module(spec: ModuleSpec) -> None:
            """A new module, which makes way in `exec_module`."""

        @staticmethod
        def exec_module(new: ModuleType) -> None:
            sys.modules[new.__name__] = import_module(f"{module.__name__}{new.__name__.removeprefix(short)}")

    sys.meta_path.insert(0, Same)  # type: ignore[arg-type]
    sys.modules[short] = module


def names_of(kind: str) -> list[str]:
    """The names that extensions add of a kind, in order."""
    return sorted({each.name.partition(".")[2] for each in _all() if each.name.startswith(f"{kind}.")})


@cache
def _own() -> tuple[EntryPoint, ...]:
    """To look through all distributions takes as long as to parse a definition."""
    try:
        return tuple(distribution("muntin").entry_points.select(group=GROUP))
    except PackageNotFoundError:
        return ()


@cache
def _all() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))
