"""where, diff, promote, rollback: a changed definition, seen before readers see it, put in place, and taken back."""

import json

import pytest
from deltalake import DeltaTable

from tests.cli.conftest import RANGE, Muntin, Project

pytestmark = pytest.mark.usefixtures("here")
MORE = {'"least": agg.min("value")': '"least": agg.min("value"), "greatest": agg.max("value")'}


def columns(muntin: Muntin, project: Project) -> list[str]:
    """Of the table that `where` says."""
    table = json.loads(muntin(*project.arguments("status", "--paths", "quarter", "--json")).out)["quarter"]
    return DeltaTable(table).schema().to_arrow().names


def test_from_one_definition_to_the_next_and_back(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    before = columns(muntin, project)
    project.define(**MORE)
    assert "muntin run --rebuild FILE --candidate" in muntin(*project.arguments("plan", "--diff")).err
    told = muntin(*project.arguments("run", "--rebuild", "--candidate"))
    assert (told.status, "candidates: quarter, visit: readers know those of an earlier definition" in told.out) == (0, True)
    assert columns(muntin, project) == before
    told = muntin(*project.arguments("plan", "--diff", "quarter"))
    assert [line.strip() for line in told.out.splitlines()] == [
        "quarter: 3 windows before, 3 after",
        "0 changed, 0 new, 0 gone",
        "greatest: new",
    ]
    assert "promoted: quarter, visit" in muntin(*project.arguments("promote")).out
    assert {*columns(muntin, project)} == {*before, "greatest"}
    assert "this definition is current already" in muntin(*project.arguments("promote")).out
    assert muntin(*project.arguments("promote", "--back")).status == 0
    assert columns(muntin, project) == before
    refused = muntin(*project.arguments("run", *RANGE))
    assert (refused.status, "is superseded" in refused.err, "muntin promote FILE" in refused.err) == (3, True, True)


def test_a_diff_in_numbers(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    project.define(**{'"total": agg.sum("value"), "least": agg.min("value")': '"total": agg.min("value"), "least": agg.sum("value")'})
    told = muntin(*project.arguments("status")).out
    assert "published by another definition: quarter, visit; muntin promote FILE" in told
    assert "current" not in told
    [told] = json.loads(muntin(*project.arguments("plan", "--diff", "quarter", "--json")).out)
    assert told["changed"] == len(told["rows"]) == 0  # a reading a window: its sum is its least
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,ä,1\n2020-01-01T01:30:00Z,ä,5\n")
    project.define()
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    project.define(**{'"total": agg.sum("value"), "least": agg.min("value")': '"total": agg.min("value"), "least": agg.sum("value")'})
    [told] = json.loads(muntin(*project.arguments("plan", "--diff", "quarter", "--json")).out)
    assert (told["changed"], {name: by["change"] for name, by in told["largest"].items()}) == (1, {"total": 5, "least": 5})
    assert (told["rows"][0]["old"], told["rows"][0]["new"]) == ({"total": 6, "least": 1}, {"total": 1, "least": 6})


def test_what_is_not_there_is_said(muntin: Muntin, project: Project) -> None:
    for command in (("promote",), ("promote", "--back"), ("plan", "--diff")):
        assert muntin(*project.arguments(*command)).status == 3
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    assert "nothing to go back to" in muntin(*project.arguments("promote", "--back")).err
    assert "has no version 99" in muntin(*project.arguments("promote", "--back", "quarter", "--version", "99")).err
    assert muntin(*project.arguments("promote", "--back", "--version", "1")).status == 2
    assert muntin(*project.arguments("status", "--paths", "quater")).status == 2
