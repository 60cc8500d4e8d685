"""A folder that is listed once for many patterns: each finds what `glob` finds."""

import random
from datetime import UTC, datetime
from glob import glob
from pathlib import Path

import pytest

from muntin import sources
from muntin.definition.schedule import Interval
from muntin.sources.listing import Folders, source_files

NAMES = ("a.csv", "a1.csv", "a12.csv", "ab.csv", "b.csv", "a.json", "ä.csv", "a[1].csv", ".a.csv", ".hidden", "A.csv", "a\U0001f600.csv")
PATTERNS = ("*", "a*", "a*.csv", "a?.csv", "a[0-9].csv", "a[!0-9]*", "[ab].csv", ".*", ".a*", "*.csv", "z*", "a[[]1].csv", "**", "a**")
ALPHABET = "a1.*?[]!"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files, a folder, and a link to nothing."""
    for name in NAMES:
        (tmp_path / "data" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "data" / name).touch()
    (tmp_path / "data" / "a.folder").mkdir()
    (tmp_path / "data" / "a.link").symlink_to("nowhere")
    return tmp_path / "data"


def by_glob(pattern: str) -> list[str]:
    return sorted(glob(pattern, recursive=True, include_hidden=True))  # noqa: PTH207 - Path.glob takes no absolute pattern


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_finds_what_glob_finds(pattern: str, folder: Path) -> None:
    folders = Folders()
    for each in (f"{folder}/{pattern}", f"{folder}/nothing/{pattern}", f"{folder.parent}/d*/{pattern}", f"{folder}//{pattern}"):
        assert folders.matches(each) == by_glob(each)


def test_random_patterns_find_what_glob_finds(folder: Path) -> None:
    dice, folders = random.Random(0), Folders()
    patterns = {f"{folder}/{''.join(dice.choices(ALPHABET, k=dice.randint(1, 5)))}*" for _ in range(500)}
    found = {pattern: folders.matches(pattern) for pattern in patterns}
    assert found == {pattern: by_glob(pattern) for pattern in patterns}
    assert sum(map(bool, found.values())) > 20


def test_folders_and_links_to_nothing_are_no_files(folder: Path) -> None:
    source = sources.files(f"{folder}/a.{{start:folder}}*", event_time="t", format="csv", all_files=True)
    day = Interval(0, 86_400_000_000)
    assert source_files(source, [day]) == ({day: []}, {day: 0})


def test_files_of_many_intervals(tmp_path: Path) -> None:
    days = [Interval(at * 86_400_000_000, (at + 1) * 86_400_000_000) for at in range(5)]
    for day in (0, 2, 3):
        for part in "ba":
            (tmp_path / f"{datetime(1970, 1, 1 + day, tzinfo=UTC):%Y-%m-%d}{part}.csv").write_text("t\n" * day)
    found, _ = source_files(sources.files(f"{tmp_path}/{{start:%Y-%m-%d}}*.csv", event_time="t"), days)
    assert [[(Path(file.path).name, file.size) for file in found[day]] for day in days] == [
        [("1970-01-01a.csv", 0), ("1970-01-01b.csv", 0)],
        [],
        [("1970-01-03a.csv", 4), ("1970-01-03b.csv", 4)],
        [("1970-01-04a.csv", 6), ("1970-01-04b.csv", 6)],
        [],
    ]
