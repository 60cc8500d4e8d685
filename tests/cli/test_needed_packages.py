"""What a definition needs is looked for before anything is read: a sink without its package sends nothing of what was published."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from muntin.definition.extras import EXTRAS
from tests.cli.conftest import RANGE, Muntin, Project

SINKS = {
    "psycopg": 'sinks.postgres("w", table="x", window="quarter")',
    "pymysql": 'sinks.mysql("w", table="x", window="quarter")',
    "redis": 'sinks.redis("w", prefix="x", window="quarter")',
    "confluent_kafka": 'sinks.kafka("w", topic="x", window="quarter")',
    "pyiceberg": 'sinks.iceberg("w", table="a.x", window="quarter")',
    "pyspark": 'sinks.catalog("a.x", window="quarter")',
    "apprise": None,
}


class Hidden:
    """A finder in front of all others, for which a package is not there."""

    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, *_: object) -> None:
        if name.partition(".")[0] == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


@pytest.fixture
def hide(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def hidden(package: str) -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [Hidden(package), *sys.meta_path])

    return hidden


@pytest.mark.parametrize("package", SINKS)
def test_what_a_definition_needs_is_there_before_anything_is_read(
    project: Project, muntin: Muntin, hide: Callable[[str], None], package: str
) -> None:
    part = f"to=[{SINKS[package]}]" if SINKS[package] else 'alerts=alerts.to("alerts")'
    project.define(**{"import Pipeline, ": "import Pipeline, alerts, sinks, ", 'keys=["sensor"],': f'keys=["sensor"], {part},'})
    hide(package)
    for command in ("run", *RANGE), ("check",):
        done = muntin(*project.arguments(*command))
        assert (done.status, f"{package}, which is not installed: pip install 'muntin[{EXTRAS[package]}]'" in done.err) == (2, True), done
    assert not Path(project.root).exists()


def test_the_doctor_and_sinks_name_packages_that_are_gone(project: Project, muntin: Muntin, hide: Callable[[str], None]) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    project.define(**{"import Pipeline, ": "import Pipeline, sinks, ", 'keys=["sensor"],': f'keys=["sensor"], to=[{SINKS["psycopg"]}],'})
    hide("psycopg")
    assert "psycopg, which is not installed" in muntin(*project.arguments("doctor")).out
    assert "psycopg is not installed: pip install 'muntin[postgres]'" in muntin(*project.arguments("status", "--sinks", "--send")).out
