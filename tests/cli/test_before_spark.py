"""plan, check and run find what is wrong before Spark starts, and say what would be done."""

import json
from pathlib import Path

import pytest

from muntin.store.state import states_of
from tests.cli.conftest import RANGE, UNTIL, Muntin, Project


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """To ask for who runs tasks is a failure."""

    def started(*_: object, **__: object) -> None:
        pytest.fail("tasks were to run")

    monkeypatch.setattr("muntin.jobs.run.runner_for", started)
    monkeypatch.setattr("muntin.tasks.runner_for", started)


def suite(project: Project, **expectation: object) -> None:
    """The definition with a suite for the window `quarter`."""
    path = project.folder / "suite.json"
    path.write_text(json.dumps({"name": "s", "expectations": [expectation]}))
    guard(project, path)


def guard(project: Project, path: Path) -> None:
    project.define(**{'keys=["sensor"],': f'keys=["sensor"], expectations={{"quarter": "{path}"}},'})


@pytest.mark.usefixtures("no_spark")
@pytest.mark.parametrize("asked", [("check",), ("plan", *RANGE), ("plan", *UNTIL), ("run", *RANGE), ("run", *UNTIL)])
class TestRefused:
    """What does not fit, by every command that would read."""

    def test_a_wrong_column(self, muntin: Muntin, project: Project, asked: tuple[str, ...]) -> None:
        project.define(**{'agg.sum("value")': 'agg.sum("valeu")'})
        told = muntin(*project.arguments(*asked))
        assert told.status == 2
        assert "aggregates['total']: sum(valeu) does not fit the source" in told.err

    def test_a_wrong_key(self, muntin: Muntin, project: Project, asked: tuple[str, ...]) -> None:
        project.define(**{'keys=["sensor"]': 'keys=["censor"]'})
        told = muntin(*project.arguments(*asked))
        assert told.status == 2
        assert "keys: no column 'censor' in the source" in told.err

    def test_a_suite_that_is_not_there(self, muntin: Muntin, project: Project, asked: tuple[str, ...]) -> None:
        guard(project, project.folder / "absent.json")
        told = muntin(*project.arguments(*asked))
        assert told.status == 2
        assert "expectations: no file" in told.err

    def test_a_suite_of_another_column(self, muntin: Muntin, project: Project, asked: tuple[str, ...]) -> None:
        suite(project, type="expect_column_values_to_not_be_null", kwargs={"column": "totals"})
        told = muntin(*project.arguments(*asked))
        assert told.status == 2
        assert "no column 'totals' in window 'quarter'" in told.err
        assert "did you mean 'total'?" in told.err

    def test_a_misspelt_expectation(self, muntin: Muntin, project: Project, asked: tuple[str, ...]) -> None:
        suite(project, type="expect_column_value_to_not_be_null", kwargs={"column": "total"})
        told = muntin(*project.arguments(*asked))
        assert told.status == 2
        assert "did you mean 'expect_column_values_to_not_be_null'" in told.err


@pytest.mark.usefixtures("no_spark")
def test_a_warning_on_another_column_is_no_reason_to_refuse(muntin: Muntin, project: Project) -> None:
    suite(project, type="expect_column_values_to_not_be_null", kwargs={"column": "totals"}, severity="warning")
    assert muntin(*project.arguments("plan", *RANGE)).status == 0


@pytest.mark.usefixtures("no_spark")
def test_without_the_guard_its_suite_is_not_looked_at(muntin: Muntin, project: Project) -> None:
    guard(project, project.folder / "absent.json")
    assert muntin(*project.arguments("plan", *RANGE, "--no-validate")).status == 0


# smallest file   2020-01-02   words, which cannot be summed
# first file      2020-01-01   numbers: a run takes its types
@pytest.mark.usefixtures("no_spark")
def test_the_smallest_file_alone_refuses_nothing(muntin: Muntin, project: Project) -> None:
    project.bring("2020-01-02", "at,sensor,value\n2020-01-02T03:00:00Z,a,x\n")
    assert muntin(*project.arguments("plan", *RANGE)).status == 0
    assert muntin(*project.arguments("plan", "--start", "2020-01-02", "--end", "2020-01-03")).status == 2


@pytest.mark.usefixtures("no_spark")
def test_every_missing_interval_is_named(muntin: Muntin, project: Project) -> None:
    project.define(**{'missing="empty"': 'missing="error"'})
    wide = ("--start", "2020-01-01", "--end", "2020-01-06")
    told = muntin(*project.arguments("run", *wide))
    assert told.status == 3
    assert "3 intervals are without: [2020-01-03, 2020-01-04), [2020-01-04, 2020-01-05), [2020-01-05, 2020-01-06)" in told.err
    planned = muntin(*project.arguments("plan", *wide))
    assert planned.status == 3
    assert "5 batches: 2 new, 3 missing" in planned.out
    assert "no files: 3 batches, [2020-01-03 00:00, 2020-01-06 00:00); a run fails" in planned.out
    document = json.loads(muntin(*project.arguments("plan", *wide, "--json")).out)
    assert [batch["reading"] for batch in document["batches"]] == ["new"] * 2 + ["missing"] * 3


@pytest.mark.usefixtures("no_spark")
def test_check_says_what_fits(muntin: Muntin, project: Project) -> None:
    told = muntin(*project.arguments("check"))
    assert told.out == f"sensors: 2 windows, 4 aggregates fit {project.folder}/2020-01-01.csv\n"
    for path in project.folder.glob("*.csv"):
        path.unlink()
    assert "no file of its source was found" in muntin(*project.arguments("check")).out


def reading(muntin: Muntin, project: Project) -> list[tuple[str, str | None]]:
    planned = json.loads(muntin(*project.arguments("plan", *RANGE, "--json")).out)
    return [(batch["reading"], batch["why"]) for batch in planned["batches"]]


@pytest.mark.usefixtures("here")
def test_a_plan_knows_what_is_new_changed_and_unchanged(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", "--start", "2020-01-01", "--end", "2020-01-02")).status == 0
    assert reading(muntin, project) == [("unchanged", None), ("new", None)]
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    project.bring("2020-01-01", "at,sensor,value\n2020-01-01T01:00:00Z,x,1\n")
    assert reading(muntin, project) == [("changed", "a file has another size"), ("unchanged", None)]
    told = muntin(*project.arguments("plan", *RANGE)).out
    assert "2 batches: 1 changed, 1 unchanged" in told
    assert "quarter: windows of 1 batch anew [2020-01-01, 2020-01-02); 2 windows of them published now" in told


@pytest.mark.usefixtures("here")
def test_what_nothing_has_changed_in_touches_no_window(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    planned = json.loads(muntin(*project.arguments("plan", *RANGE, "--json")).out)
    assert planned["windows"] == {"quarter": [], "visit": []}
    assert planned["redefined"] is None


@pytest.mark.usefixtures("here")
def test_a_plan_says_what_another_window_costs(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    project.define(**{'windows.tumbling("6h")': 'windows.tumbling("6h", grace="1h")'})
    told = muntin(*project.arguments("plan", *RANGE)).out
    assert "  windows: 'quarter' was Tumbling(size=6h, " in told
    assert "  cost: quarter: 3 windows derived anew from the states; no file is read again" in told


@pytest.mark.usefixtures("here")
def test_a_plan_says_what_another_key_costs(muntin: Muntin, project: Project) -> None:
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    state = project.state.name
    project.define(**{'keys=["sensor"]': "keys=[]"})
    told = muntin(*project.arguments("plan", *RANGE)).out
    assert "  keys: 'sensor' is now ''" in told
    assert "  cost: states hold something else now; 2 batches (" in told
    assert f"must be read again, as by muntin run --rebuild; state {state} stays" in told


@pytest.mark.usefixtures("here")
def test_dry_runs_say_and_do_nothing(muntin: Muntin, project: Project) -> None:
    told = muntin(*project.arguments("plan", *UNTIL))
    assert (told.status, told.out.splitlines()[-1].partition(",")[0]) == (0, "would read 2 batches")
    assert not Path(project.root).exists()
    assert muntin(*project.arguments("run", *RANGE)).status == 0
    project.define(**{'keys=["sensor"]': "keys=[]"})
    told = muntin(*project.arguments("run", "--rebuild", "--dry-run"))
    assert (told.status, told.out.splitlines()[-1].partition(",")[0]) == (0, "would read 2 batches")
    assert len(states_of(Path(project.root, "sensors"))) == 1
    assert muntin(*project.arguments("run", "--rebuild")).status == 0
    assert len(states_of(Path(project.root, "sensors"))) == 2


@pytest.mark.usefixtures("no_spark")
def test_a_wrong_definition_leaves_no_folder(muntin: Muntin, project: Project) -> None:
    project.define(**{'agg.sum("value")': 'agg.sum("valeu")'})
    assert muntin(*project.arguments("run", *RANGE)).status == 2
    assert not Path(project.root).exists()
