"""Names that begin with `_` or `.` are passed over and counted, unless the definition means them; and `ready=` beside them."""

from pathlib import Path
from typing import Any

import pytest

from muntin import RunReport, read, run, sources
from muntin.errors import SourceError
from muntin.files.paths import path_of
from muntin.tasks import Local
from tests.end_to_end.hourly import START, hour
from tests.readers.test_names_of_files import content, pipeline
from tests.source_options import grouped

PLAIN = ["a.csv", "b/a_.csv", "b/c.d/a.b.csv"]
HIDDEN = ["_a.csv", ".a.csv", "_temporary/0/a.csv", "b/.tmp/a.csv", "b/_a.csv", "_b/a.csv"]
FILES = [*PLAIN, *HIDDEN]


def written(root: str, *names: str) -> None:
    """Files of the first hour; the number in each is its place in `FILES`."""
    for name in names:
        path = path_of(root, "data", "00", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(FILES.index(name), "csv") if name in FILES else b"")


def result(root: str, states: Path, pattern: str, **source: Any) -> tuple[RunReport, list[str]]:
    """The report, and the names of the files that are read."""
    each = pipeline(sources.files(f"{root}/data/{pattern}", **grouped(event_time="at", **source)))
    report = run(each, root=states, start=START, end=hour(1), spark=Local(1))
    return report, [FILES[number] for row in read(each, "hour", root=states).to_pylist() for number in sorted(row["x"])]


@pytest.mark.parametrize(
    ("pattern", "names", "hidden"),
    [
        ("{start:%H}/**/*.csv", PLAIN, 6),
        ("{start:%H}/*.csv", ["a.csv"], 2),
        ("{start:%H}/*/*.csv", ["b/a_.csv"], 2),  # b/_a.csv and _b/a.csv
        ("{start:%H}/?a.csv", [], 2),
        ("{start:%H}/_*.csv", ["_a.csv"], 0),  # written so, it is meant
        ("{start:%H}/.*.csv", [".a.csv"], 0),
        ("{start:%H}/_a.csv", ["_a.csv"], 0),
        ("{start:%H}/**/_*.csv", ["_a.csv", "b/_a.csv"], 0),
        ("{start:%H}/_temporary/**/*.csv", ["_temporary/0/a.csv"], 0),
    ],
)
def test_hidden_names_are_passed_over_and_counted(roots: str, tmp_path: Path, pattern: str, names: list[str], hidden: int) -> None:
    written(roots, *FILES)
    report, found = result(roots, tmp_path / "state", pattern, missing="empty")
    assert (found, report.batches[0].files_hidden) == (names, hidden)


def test_the_fixed_part_of_a_path_is_meant(roots: str, tmp_path: Path) -> None:
    written(f"{roots}/_landing/.x", "a.csv", "_a.csv")
    report, found = result(f"{roots}/_landing/.x", tmp_path / "state", "{start:%H}/*.csv")
    assert (found, report.batches[0].files_hidden) == (["a.csv"], 1)


def test_nothing_but_hidden_names_is_told(roots: str, tmp_path: Path) -> None:
    written(roots, *HIDDEN)
    with pytest.raises(SourceError, match=r"no file at .* but 6 whose names begin with _ or \., read only if path says so"):
        result(roots, tmp_path / "state", "{start:%H}/**/*.csv")


@pytest.mark.parametrize(
    ("pattern", "files", "markers", "lacking"),
    [
        ("{start:%H}/*.csv", ["a.csv"], ["_SUCCESS"], None),
        ("{start:%H}/*.csv", ["a.csv"], [], "00/_SUCCESS"),
        ("{start:%H}/*/*.csv", ["b/a_.csv", "_b/a.csv"], ["b/_SUCCESS"], None),
        ("{start:%H}/*/*.csv", ["b/a_.csv"], ["_SUCCESS"], "00/b/_SUCCESS"),
        # the writer of all folders, as Spark with partitionBy, writes one for all
        ("{start:%H}/**/*.csv", PLAIN, ["_SUCCESS"], None),
        ("{start:%H}/**/*.csv", ["b/a_.csv", "b/c.d/a.b.csv"], ["b/_SUCCESS"], None),
        ("{start:%H}/**/*.csv", PLAIN, ["b/_SUCCESS"], "00/_SUCCESS"),
        ("{start:%H}/**/*.csv", ["b/a_.csv", "b/c.d/a.b.csv"], ["b/c.d/_SUCCESS"], "00/b/_SUCCESS"),
        ("{start:%H}/**/*.csv", ["a.csv", "_temporary/0/a.csv"], ["_SUCCESS"], None),
        ("*/{start:%H}/**/*.csv", PLAIN, ["_SUCCESS"], None),
        ("**/{start:%H}/*/*.csv", ["b/a_.csv"], ["_SUCCESS"], None),
    ],
)
def test_ready_asks_for_the_folders_of_files(
    roots: str, tmp_path: Path, pattern: str, files: list[str], markers: list[str], lacking: str | None
) -> None:
    written(roots, *files, *markers)
    folder = roots if pattern.startswith("*") else f"{roots}/data"
    each = pipeline(sources.files(f"{folder}/{pattern}", event_time="at", ready="_SUCCESS"))
    if lacking:
        with pytest.raises(SourceError, match=f"data/{lacking} is not there yet"):
            run(each, root=tmp_path / "state", start=START, end=hour(1), spark=Local(1))
        written(roots, lacking.removeprefix("00/"))
    run(each, root=tmp_path / "state", start=START, end=hour(1), spark=Local(1))
    [row] = read(each, "hour", root=tmp_path / "state").to_pylist()
    assert sorted(row["x"]) == [FILES.index(name) for name in files if name in PLAIN]
