"""status of unfinished work, and maintain."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.cli.conftest import RANGE, UNTIL, Muntin, Project

pytestmark = pytest.mark.usefixtures("here")


def test_status_names_holes_and_open_windows(muntin: Muntin, project: Project):
    # day 1 and day 3 are there; an event of day 1 lies in a window of day 2
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,a,1\n2020-01-02T01:00:00Z,a,1\n2020-01-02T09:00:00Z,a,1\n")
    assert muntin(*project.arguments("run", "--start", "2020-01-01", "--end", "2020-01-02")).status == 0
    assert muntin(*project.arguments("run", "--start", "2020-01-03", "--end", "2020-01-04")).status == 0
    (told,) = json.loads(muntin(*project.arguments("status", "--json")).out)
    assert told["windows"][0]["open_since"] == "2020-01-02T00:00:00+00:00"
    assert told["windows"][1]["open_since"] == "2020-01-02T01:00:00+00:00"
    assert told["windows"][0]["unpublished"] == 1
    assert told["waiting"] == ["2020-01-03T00:00:00+00:00"]
    assert told["missing"] == [["2020-01-02T00:00:00+00:00", "2020-01-03T00:00:00+00:00"]]
    assert "missing: [2020-01-02 00:00, 2020-01-03 00:00)" in muntin(*project.arguments("status")).out


def files(project: Project) -> set[Path]:
    return {path for path in Path(project.root).rglob("*.parquet") if "_delta_log" not in path.parts}


def shown(muntin: Muntin, project: Project) -> str:
    return muntin(*project.arguments("show", "quarter", "--csv")).out


def test_maintain_removes_what_was_replaced_and_nothing_else(muntin: Muntin, project: Project):
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    first, kept = files(project), project.bring("2020-01-02").read_text()
    project.bring("2020-01-02", kept.replace(",3\n", ",33\n"))
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    before, published = files(project), shown(muntin, project)
    young = json.loads(muntin("maintain", "--root", project.root, "--older-than", "7d", "--json").out)
    assert (young["removed"], files(project)) == ([], before)
    dry = json.loads(muntin("maintain", "--root", project.root, "--older-than", "0", "--dry-run", "--json").out)
    assert dry["bytes"] > 0
    assert files(project) == before
    wet = json.loads(muntin("maintain", "--root", project.root, "--older-than", "0", "--json").out)
    assert wet | {"dry_run": True} == dry
    assert files(project) < before
    assert before - files(project) <= first
    assert shown(muntin, project) == published
    again = muntin("maintain", "--root", project.root, "--older-than", "0")
    assert again.out == "removed 0 files, 0 B\n"


def test_what_came_back_after_it_was_replaced_stays(muntin: Muntin, project: Project):
    for value in ("3", "33", "3"):  # the third run's files are the first one's, by name and content
        project.bring("2020-01-02", f"at,sensor,value\n2020-01-02T03:00:00Z,ä,{value}\n")
        assert muntin(*project.arguments("run", *RANGE)).status == 0
    published = shown(muntin, project)
    assert muntin("maintain", "--root", project.root, "--older-than", "0").status == 0
    assert shown(muntin, project) == published
    assert json.loads(muntin(*project.arguments("run", *UNTIL, "--json")).out)["batches"] == []


def old(path: Path, content: str = "half") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    long_ago = time.time() - 8 * 86_400
    for each in (path, path.parent):
        os.utime(each, (long_ago, long_ago))
    return path


def test_maintain_removes_old_stagings_and_half_written_files(muntin: Muntin, project: Project):
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    staged = old(project.state / "staging" / "aaaa" / "staged.json")
    partial = old(project.state / "frames" / "1h" / ".00000_x.parquet.77.partial")
    foreign = old(project.state / "frames" / "1h" / "notes.txt")
    fresh = project.state / "staging" / "bbbb" / "staged.json"
    fresh.parent.mkdir()
    fresh.write_text("at work")
    told = muntin(*project.arguments("maintain", "--older-than", "7d"))
    assert told.status == 0
    assert "abandoned staging" in told.out
    assert told.out.splitlines()[-1] == "removed 2 files, 8 B"
    assert not staged.parent.exists()
    assert not partial.exists()
    assert foreign.exists()
    assert fresh.exists()


def test_maintain_tells_what_it_did(muntin: Muntin, project: Project):
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    published = shown(muntin, project)
    told = json.loads(muntin(*project.arguments("maintain", "--older-than", "0", "--json")).out)
    assert told["compacted"] == {}, "few files are left as they are"
    assert told["dry_run"] is False
    assert shown(muntin, project) == published
    assert "removed 0 files" in muntin(*project.arguments("maintain")).out
