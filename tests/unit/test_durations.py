"""What a change waits for stays short: `make check` a minute, `make test` a quarter of an hour."""

import re
from pathlib import Path

import pytest

from tests import durations, selection, touched
from tests.at_length import LONG

IN_TEST = [path for path in durations.files() if durations.name_of(path) not in selection.FILES]


def shortest_of(seconds: float) -> str:
    return f"{seconds:,.0f} s: move tests to tests/at_length.py or give them fewer cases, then --write-durations on a quiet machine"


def test_make_test_keeps_its_budget() -> None:
    took = sum(map(durations.seconds, [*IN_TEST, durations.ROOT / durations.SHARED]))
    assert took <= durations.TEST, shortest_of(took)


def test_make_check_keeps_its_budget() -> None:
    took = sum(durations.seconds(path) for path in IN_TEST if durations.is_quick(path))
    assert took <= durations.CHECK, shortest_of(took)


@pytest.mark.parametrize("path", IN_TEST, ids=durations.name_of)
def test_a_file_keeps_its_budget(path: Path) -> None:
    name = durations.name_of(path)
    assert name in durations.LONGER or durations.seconds(path) <= durations.LONGEST, shortest_of(durations.seconds(path))


def test_exceptions_are_files_that_need_them_and_keep_their_budget() -> None:
    named = {durations.ROOT / name for name in durations.LONGER}
    assert {path for path in named if path not in IN_TEST or durations.seconds(path) <= durations.LONGEST} == set()
    took = sum(map(durations.seconds, named))
    assert took <= durations.LONGER_TOGETHER, shortest_of(took)


@pytest.mark.parametrize(
    ("name", "seconds"), [("tests/unit/test_durations.py", durations.QUICK), ("tests/unit/test_new.py", durations.NOT_MEASURED)]
)
def test_a_file_that_nobody_measured_takes_long(name: str, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durations, "MEASURED", {"tests/unit/test_durations.py": {"test": durations.QUICK}})
    assert durations.seconds(durations.ROOT / name) == seconds
    assert durations.is_quick(durations.ROOT / name) == (seconds <= durations.QUICK)


def test_what_is_long_is_there() -> None:
    """A name that moved would bring its tests back into `make test`, or lose them."""
    names = [name for listed in LONG.values() for name in listed]
    assert sorted(set(names)) == sorted(names)
    missing = []
    for name in names:
        file, _, test = name.partition("::")
        path = durations.ROOT / file
        function = re.compile(rf"^\s*(?:async )?def {re.escape(test.partition('[')[0].rpartition('::')[2])}\(", re.MULTILINE)
        if not path.exists() or (test and not function.search(path.read_text(encoding="utf-8"))):
            missing.append(name)
    assert missing == []


@pytest.mark.parametrize(
    ("module", "room"),
    [("muntin.store.delta", "muntin.store"), ("muntin.jobs.publish.publish", "muntin.jobs.publish"), ("muntin.errors", "muntin.errors")],
)
def test_a_change_touches_the_files_that_import_its_room(module: str, room: str) -> None:
    assert touched.room_of(module) == room
    assert "muntin.store" in touched.rooms_of(durations.ROOT / "tests/storage/test_delta.py")
