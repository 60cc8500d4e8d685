"""publish: what a suite holds is told by name, and published by this name alone; everything says so afterwards."""

import json
from pathlib import Path

import pytest

from muntin.jobs import publish_approved as despite
from muntin.jobs.published.staged_windows import STAGED_FILE
from muntin.jobs.records.verdicts import VERDICTS_FILE, last_verdicts
from muntin.store.state import states_of
from tests.case_counts import paired
from tests.cli.conftest import RANGE, Muntin, Project

pytestmark = pytest.mark.usefixtures("here")
FIRST = ("--start", "2020-01-01", "--end", "2020-01-02")
CHECK = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "total", "max_value": 1}}
WHY = ("--by", "ann", "--reason", "the sensor is known to be hot")


@pytest.fixture
def held(project: Project, muntin: Muntin) -> str:
    """The name of the verdict that holds the first day, whose second window has 2."""
    (project.folder / "suite.json").write_text(json.dumps({"name": "s", "expectations": [CHECK]}))
    project.define(**{'keys=["sensor"],': f'keys=["sensor"], expectations={{"quarter": "{project.folder}/suite.json"}},'})
    failed = muntin(*project.arguments("run", *FIRST))
    assert failed.status == 1
    name = failed.err.rpartition("--despite ")[2].split()[0]
    assert failed.err.splitlines()[-1].strip() == f"To publish it all the same: muntin publish FILE --despite {name} --reason WHY"
    return name


def rows(muntin: Muntin, project: Project) -> list[float]:
    return [row["total"] for row in json.loads(muntin(*project.arguments("show", "quarter", "--format", "json")).out)]


def told(muntin: Muntin, project: Project) -> list[dict[str, str]]:
    (status,) = json.loads(muntin(*project.arguments("status", "--json")).out)
    return [each for each in status["told"] if each["state"] not in ("missing", "waiting")]


def test_what_is_held_is_named_with_its_checks_and_rows(held: str, project: Project, muntin: Muntin) -> None:
    lines = muntin(*project.arguments("publish")).out.splitlines()
    assert lines[0] == f"verdict {held}, 1 batch [2020-01-01, 2020-01-02)"
    assert lines[1].startswith("  window 'quarter' failed: 1 critical of 1 check on")
    assert lines[-1] == "  held with it: visit"
    (one,) = json.loads(muntin(*project.arguments("publish", "--json")).out)
    assert (one["verdict"], one["batches"], one["reports"][0]["window"]) == (held, ["2020-01-01"], "quarter")
    (batch,) = told(muntin, project)
    assert (batch["state"], batch["verdict"]) == ("held", held)
    assert f"to publish it all the same: muntin publish FILE --despite {held}" in muntin(*project.arguments("status")).out
    assert f"or publish it all the same: muntin publish FILE --despite {held}" in muntin(*project.arguments("doctor")).out


def test_published_despite_it_and_everything_says_so(held: str, project: Project, muntin: Muntin) -> None:
    done = muntin(*project.arguments("publish", "--despite", held, *WHY, "--json"))
    report = json.loads(done.out)
    said = report["batches"][0]["despite"]
    assert (done.status, said["by"], said["reason"], said["verdict"]) == (0, "ann", WHY[-1], held)
    assert set(report["published"]) == {"quarter", "visit"}
    assert sorted(rows(muntin, project)) == [1, 2]
    words = f"published despite the suite of quarter: {said['windows']['quarter']}; ann: {WHY[-1]}"
    assert words in muntin(*project.arguments("status")).out
    doctor = muntin(*project.arguments("doctor"))
    assert (doctor.status, words in doctor.out) == (0, True)  # told, and nothing to mend
    assert muntin(*project.arguments("publish")).out == "sensors: nothing is held that could be published\n"
    again = muntin(*project.arguments("run", *FIRST))  # nothing is published anew, and what is there rests on the approval still
    assert (again.status, words in again.out) == (0, True)
    assert told(muntin, project)[0]["despite"]


# quarter   ... [18, 24) and 6 hours of grace, [00, 06)
# day 1          ä 20:00 5
# day 2                                        ä 03:00 1     closes the window of day 1
def test_the_command_mends_the_batch_that_the_rows_are_of(project: Project, muntin: Muntin) -> None:
    (project.folder / "suite.json").write_text(json.dumps({"name": "s", "expectations": [CHECK]}))
    suite = f'keys=["sensor"], expectations={{"quarter": "{project.folder}/suite.json"}},'
    project.define(**{'keys=["sensor"],': suite, 'tumbling("6h")': 'tumbling("6h", grace="6h")'})
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T20:00:00Z,ä,5\n")
    project.bring("2020-01-02", "at,sensor,value\n2020-01-02T03:00:00Z,ä,1\n")
    assert muntin(*project.arguments("run", *FIRST)).status == 0
    assert muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-03")).status == 1
    said = muntin(*project.arguments("status")).out
    assert "[2020-01-02 00:00, 2020-01-03 00:00) held by the verdict on quarter: failed" in said
    again = said.partition("when that is mended: muntin ")[2].splitlines()[0]
    assert f"{FIRST[0]} 2020-01-01T00:00:00+00:00 {FIRST[2]} 2020-01-02T00:00:00+00:00" in again
    assert "then muntin run FILE --start 2020-01-01 --end 2020-01-02" in muntin(*project.arguments("doctor")).out
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T20:00:00Z,ä,0\n")
    assert muntin(*again.split()).status == 0
    assert sorted(rows(muntin, project)) == [0, 1]


def test_an_approval_is_known_though_the_command_was_killed(
    held: str, project: Project, muntin: Muntin, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(despite, "concluded", killed)  # published, and no report says so
    muntin(*project.arguments("publish", "--despite", held, *WHY))
    assert sorted(rows(muntin, project)) == [1, 2]
    (state,) = states_of(Path(project.root) / "sensors")
    (verdict,) = last_verdicts(state, "quarter")
    assert verdict["despite"] == {"by": "ann", "reason": WHY[-1]}


@pytest.mark.parametrize(("left", "name"), paired(["", "{", "[]", '{"quarter": 1}', "\0"], [STAGED_FILE, VERDICTS_FILE]))
def test_nothing_is_held_by_a_damaged_file_until_the_batch_runs_again(
    held: str, project: Project, muntin: Muntin, name: str, left: str
) -> None:
    (state,) = states_of(Path(project.root) / "sensors")
    (file,) = state.glob(f"staging/*/{name}")
    file.write_text(left)
    assert muntin(*project.arguments("publish")).out == "sensors: nothing is held that could be published\n"
    assert (muntin(*project.arguments("status")).status, muntin(*project.arguments("publish", "--despite", held, *WHY)).status) == (0, 3)
    assert held in muntin(*project.arguments("run", *FIRST)).err


def test_a_batch_that_is_replaced_is_held_again_and_cleared_by_good_data(held: str, project: Project, muntin: Muntin) -> None:
    assert muntin(*project.arguments("publish", "--despite", held, *WHY)).status == 0
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,ä,7\n")
    assert muntin(*project.arguments("run", *FIRST)).status == 1
    assert sorted(rows(muntin, project)) == [1, 2]
    refused = muntin(*project.arguments("publish", "--despite", held, *WHY))
    assert (refused.status, "nothing is held by the verdict" in refused.err) == (3, True)
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,ä,0\n")
    assert muntin(*project.arguments("run", *FIRST)).status == 0
    assert rows(muntin, project) == [0]
    assert told(muntin, project)[0]["despite"] is None


def test_what_a_batch_was_before_it_was_read_again_is_not_published(held: str, project: Project, muntin: Muntin) -> None:
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,ä,7\n")
    assert muntin(*project.arguments("run", *FIRST)).status == 1
    (now,) = json.loads(muntin(*project.arguments("publish", "--json")).out)
    assert now["verdict"] != held
    assert muntin(*project.arguments("publish", "--despite", held, *WHY)).status == 3


# first run    day 1         held by A
# second run   days 1, 2     held by B, which covers both; approving B publishes both, and A holds nothing any more
def test_a_later_run_holds_the_earlier_batch_too(held: str, project: Project, muntin: Muntin) -> None:
    assert muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-03")).status == 1
    both = json.loads(muntin(*project.arguments("publish", "--json")).out)
    assert [each["batches"] for each in both] == [["2020-01-01"], ["2020-01-01", "2020-01-02"]]
    assert muntin(*project.arguments("publish", "--despite", both[1]["verdict"], *WHY)).status == 0
    assert muntin(*project.arguments("publish", "--despite", held, *WHY)).status == 3
    assert [each["state"] for each in told(muntin, project)] == ["published"] * 2


def test_staged_under_another_definition_is_not_published(held: str, project: Project, muntin: Muntin) -> None:
    text = Path(project.file).read_text(encoding="utf-8")
    Path(project.file).write_text(text.replace('tumbling("6h")', 'tumbling("6h", grace="1h")'), encoding="utf-8")
    refused = muntin(*project.arguments("publish", "--despite", held, *WHY))
    assert (refused.status, "nothing is held now" in refused.err) == (3, True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--despite", "0123456789abcdef", *WHY), "nothing is held by the verdict '0123456789abcdef'"),
        (("--despite", "0123456789abcdef"), "say who and why"),
        (("--reason", "why"), "say which verdict it is about"),
    ],
)
def test_refused(project: Project, muntin: Muntin, words: tuple[str, ...], says: str) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    refused = muntin(*project.arguments("publish", *words))
    assert refused.status in (2, 3)
    assert says in refused.err


# day       1        2         a window of the first day fails; the second day is staged with it, and is innocent
def test_a_day_that_is_staged_with_a_bad_day_is_not_blamed(held: str, project: Project, muntin: Muntin) -> None:
    project.bring("2020-01-02", "at,sensor,value\n2020-01-02T03:00:00Z,ä,0\n")
    second = muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-03"))
    assert second.status == 1
    assert "The failing windows are made of 1 batch: 2020-01-01." in second.err
    (status,) = json.loads(muntin(*project.arguments("status", "--json")).out)
    states = {each["start"][:10]: (each["state"], each["reason"]) for each in status["told"]}
    assert states["2020-01-01"][0] == "held"
    assert states["2020-01-02"] == ("waiting", "its windows were staged with those of 2020-01-01, which the suite of quarter holds")


# quarter   [18, 24) of day 1, grace 1 h      closes with day 2: rows of a batch that is published fail it
def test_a_day_that_closes_a_bad_window_names_the_day_of_its_rows(held: str, project: Project, muntin: Muntin) -> None:
    text = Path(project.file).read_text(encoding="utf-8").replace('windows.tumbling("6h")', 'windows.tumbling("6h", grace="1h")')
    Path(project.file).write_text(text, encoding="utf-8")
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,ä,1\n2020-01-01T20:00:00Z,ö,2\n")
    project.bring("2020-01-02", "at,sensor,value\n2020-01-02T03:00:00Z,ä,0\n")
    assert muntin(*project.arguments("run", *FIRST)).status == 0
    second = muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-03"))
    assert "The failing windows are made of 1 batch: 2020-01-01." in second.err
    (status,) = json.loads(muntin(*project.arguments("status", "--json")).out)
    (day,) = (each for each in status["told"] if each["start"][:10] == "2020-01-02")
    assert (day["state"], day["reason"].partition(", made of ")[2]) == ("held", "rows of 2020-01-01")
