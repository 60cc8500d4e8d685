"""Names that extensions add: an extension that is broken is no missing name, and a Muntin that is not installed says so."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from muntin import aggregates, registry, sinks, sources, windows
from muntin.registry import NoExtensionError, extension


@pytest.fixture
def stranger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with a distribution that names `sinks.broken` and `sinks.postgres`; its module fails."""
    facts = tmp_path / "stranger-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[muntin.extensions]\nsinks.broken = stranger:broken\nsinks.postgres = stranger:broken\n")
    (tmp_path / "stranger.py").write_text('{}["a setting"]\n')
    monkeypatch.syspath_prepend(tmp_path)
    forget()
    yield tmp_path
    sys.modules.pop("stranger", None)
    forget()


def forget() -> None:
    registry._all.cache_clear()
    registry._own.cache_clear()


def test_an_error_in_an_extension_is_its_own(stranger: Path) -> None:
    with pytest.raises(KeyError, match="a setting"):
        sinks.broken  # type: ignore[attr-defined]  # noqa: B018


def test_a_name_of_our_own_comes_first(stranger: Path) -> None:
    assert sinks.postgres.__module__ == "muntin.extensions.postgres.sink"


def test_a_name_that_nobody_adds_is_no_attribute() -> None:
    with pytest.raises(AttributeError, match=r"^module 'muntin.sinks' has no attribute 'jurnal'$") as wrong:
        sinks.jurnal  # type: ignore[attr-defined]  # noqa: B018
    assert (wrong.value.name, wrong.value.obj) == ("jurnal", sinks)


def test_a_muntin_that_is_not_installed_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    forget()
    try:
        with pytest.raises(NoExtensionError, match=r"no extension has sinks\.postgres; .*pip install -e"):
            extension("sinks", "postgres")
        with pytest.raises(AttributeError, match=r"no attribute 'postgres' \(no extension has .*pip install -e"):
            sinks.postgres  # noqa: B018
    finally:
        forget()


def test_a_module_by_its_short_name_is_no_second_copy() -> None:
    module = import_module("muntin.airflow.page")
    assert module is import_module("muntin.extensions.airflow.page")
    assert module.__spec__
    assert module.__spec__.name == module.__name__ == "muntin.extensions.airflow.page"
    with pytest.raises(ModuleNotFoundError, match=r"'muntin\.extensions\.airflow\.nothing'"):
        import_module("muntin.airflow.nothing")


@pytest.mark.parametrize(("module", "name"), [(aggregates, "sum"), (sources, "files"), (windows, "tumbling")])
def test_names_that_are_loaded_late_are_those_of_the_stub(module: ModuleType, name: str) -> None:
    assert name in module.__all__
    assert {*module.__all__} <= {*dir(module)}
    assert all(callable(getattr(module, name)) for name in module.__all__)
    with pytest.raises(AttributeError, match=rf"^module '{module.__name__}' has no attribute 'tumblng'$"):
        module.tumblng  # noqa: B018
