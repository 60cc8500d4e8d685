"""`muntin show --changes`: what changed since a version of a window's table, for people and in each format."""

import json
from collections.abc import Iterator

import pytest

from muntin.cli.main import main
from tests.cli.conftest import DAYS, RANGE, Muntin, Project, without_spark
from tests.cli.test_formats import FORMATS, table_of


# quarter     [00, 06)   [06, 12)   next day [00, 06)
# version 0   ä 1        ö 2        ä 3
# version 1   ä 1                   ä 7
@pytest.fixture(scope="module")
def corrected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = Project(tmp_path_factory.mktemp("corrected"))
    project.define()
    for day in DAYS:
        project.bring(day)
    with without_spark():
        assert main(project.arguments("run", *RANGE)) == 0
        project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,ä,1\n")
        project.bring("2020-01-02", "at,sensor,value\n2020-01-02T03:00:00Z,ä,7\n")
        assert main(project.arguments("run", *RANGE)) == 0
    return project


def test_people_get_a_table_and_how_to_go_on(muntin: Muntin, corrected: Project) -> None:
    lines = muntin(*corrected.arguments("show", "--changes", "quarter", "--since", "0")).out.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["ä", "ö"]
    head = lines[0].split()
    at = head.index("change") - len(head)
    assert [line.split()[at - 1 : at + 1] for line in lines[1:3]] == [["1", "changed"], ["1", "gone"]]
    assert [name for name in head if name.startswith("old_")] == ["old_readings", "old_total", "old_least", "old_who"]
    assert lines[-1] == "2 changes; instants in UTC; go on with --since 1"
    assert (
        muntin(*corrected.arguments("show", "--changes", "quarter", "--since", "1")).out
        == "0 changes; instants in UTC; go on with --since 1\n"
    )


@pytest.mark.parametrize("form", FORMATS)
def test_each_format(corrected: Project, capfdbinary: pytest.CaptureFixture[bytes], form: str) -> None:
    capfdbinary.readouterr()
    assert main(corrected.arguments("show", "--changes", "quarter", "--since", "0", "--key", "ä", "--format", form)) == 0
    assert table_of(form, capfdbinary.readouterr().out) == [("ä", 7)]


def test_one_document(muntin: Muntin, corrected: Project) -> None:
    told = json.loads(muntin(*corrected.arguments("show", "--changes", "quarter", "--since", "0", "--json", "--limit", "1")).out)
    (row,) = told.pop("rows")
    assert told == {"pipeline": "sensors", "window": "quarter", "since": 0, "version": 1, "total": 2}
    assert (row["sensor"], row["revision"], row["change"], row["total"]) == ("ä", 1, "changed", 7)
    (status,) = json.loads(muntin(*corrected.arguments("status", "--json")).out)
    assert [window["version"] for window in status["windows"]] == [1, 1]


def test_a_version_that_is_not_there(muntin: Muntin, corrected: Project) -> None:
    told = muntin(*corrected.arguments("show", "--changes", "quarter", "--since", "7"))
    assert (told.status, told.out) == (3, "")
    assert "has no version 7: it is at 1" in told.err
