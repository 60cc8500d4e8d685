"""So many names a user may meet: a new name takes the place of an old name."""

from importlib import import_module

import muntin
from muntin import errors
from muntin.registry import names_of

MODULES = ("aggregates", "airflow", "laws", "quality", "testing", "windows", "sinks", "sources")
MOST = 150


def public_names() -> set[str]:
    """The names of the package, of its modules and of what extensions add to them."""
    modules = {name: import_module(f"muntin.{name}") for name in MODULES} | {"alerts": muntin.alerts}
    names = {f"{name}.{each}" for name, module in modules.items() for each in module.__all__}
    names |= {f"{kind}.{each}" for kind in ("sinks", "sources") for each in names_of(kind)}
    names |= {f"errors.{name}" for name, each in vars(errors).items() if isinstance(each, type)}
    return names | set(muntin.__all__)


def test_public_names_are_few() -> None:
    assert len(public_names()) <= MOST, sorted(public_names())
