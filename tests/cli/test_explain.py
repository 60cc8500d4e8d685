"""`muntin explain`: frames, batches, late rows, the batch that closed a window; or why there is none."""

import json

from tests.cli.conftest import Muntin, Project


def test_a_window_and_what_came_too_late_for_it(muntin: Muntin, ran: Project) -> None:
    told = json.loads(muntin(*ran.arguments("explain", "quarter", "--key", "ä", "--at", "2020-01-01T01:00", "--json")).out)
    [window] = told["windows"]
    assert window["window"]["readings"] == 1
    assert window["closed_by"].startswith("2020-01-01T00:00")
    assert [(part["frame"][:13], part["batch"][:10], part["rows"]) for part in window["parts"]] == [("2020-01-01T00", "2020-01-01", 1)]
    assert [(part["batch"][:10], part["rows"]) for part in window["missed"]] == [("2020-01-02", 1)]


def test_said_for_people(muntin: Muntin, ran: Project) -> None:
    said = muntin(*ran.arguments("explain", "quarter", "--key", "ä", "--at", "2020-01-01T01:00")).out
    assert "closed by batch 2020-01-01T00:00 UTC" in said
    assert "1 state came too late for it" in said


def test_why_there_is_none(muntin: Muntin, ran: Project) -> None:
    said = muntin(*ran.arguments("explain", "quarter", "--key", "ä", "--at", "2020-01-01T13:00")).out
    assert "no such window" in said
    assert "the last window before it ends at 2020-01-01T06:00:00" in said
    assert "the next one starts at 2020-01-02T00:00:00" in said


def test_a_key_is_asked_for(muntin: Muntin, ran: Project) -> None:
    failed = muntin(*ran.arguments("explain", "quarter", "--at", "2020-01-01T01:00"))
    assert failed.status == 2
    assert "give one value for sensor, as --key sensor=VALUE" in failed.err
