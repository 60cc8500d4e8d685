"""The message of a run by hand: sent before the command ends; its exit status and its JSON are as without alerts."""

import json
from collections.abc import Iterator

import pytest

from tests.alerts.receivers import Webhook, webhook
from tests.cli.conftest import RANGE, Muntin, Project, here, muntin, project
from tests.cli.test_run import SUITE

__all__ = ["here", "muntin", "project"]  # pytest looks for them here
pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Webhook]:
    with webhook() as found:
        extra = {"config": {"path": found.address(), "tag": "alerts"}}
        monkeypatch.setenv("AIRFLOW_CONN_ALERTS", json.dumps({"conn_type": "apprise", "extra": extra}))
        yield found


def guarded(project: Project, *, mask: str = "") -> Project:
    """Totals of quarters may be 1 at most; two of them are more."""
    suite = project.folder / "little.json"
    suite.write_text(json.dumps(SUITE))
    said = f'expectations={{"quarter": "{suite}"}}, alerts=alerts.to("alerts", quarantined=0.1, mask=[{mask}]),'
    project.define(**{'keys=["sensor"],': f'keys=["sensor"], {said}', "import Pipeline,": "import Pipeline, alerts,"})
    return project


def test_failed_expectations_are_told_and_then_that_they_hold(muntin: Muntin, project: Project, hook: Webhook):
    told = muntin(*guarded(project, mask='"sensor"').arguments("run", *RANGE, "--json"))
    assert (told.status, json.loads(told.out)["error"]["exit_status"]) == (1, 1)
    (posted,) = hook.posted
    assert (posted["type"], posted["title"]) == ("failure", "sensors: 1 critical, 1 warning, [2020-01-01, 2020-01-03)")
    lines = posted["message"].splitlines()
    assert lines[2:6] == [
        "critical: window quarter: expect_column_values_to_be_between(column='total', max_value=1)",
        "  2 rows not as expected (66.7 %)",
        "  sensor  window_start          window_end            total",
        "  ***     2020-01-02T00:00:00Z  2020-01-02T06:00:00Z  3",
    ]
    assert lines[8:11] == ["warning: quarantined rows above 10 %", "  [2020-01-02, 2020-01-03): 1 of 3 rows (33.3 %)", ""]
    assert "nothing was published; nothing was published before" in lines
    again = ["muntin", "run", project.file, "--root", project.root]
    assert lines[-1] == "  " + " ".join([*again, "--start", "2020-01-01T00:00:00+00:00", "--end", "2020-01-03T00:00:00+00:00"])

    (project.folder / "little.json").write_text(
        json.dumps(SUITE).replace('"max_value": 1', '"max_value": 5').replace("critical", "warning")
    )
    told = muntin(*project.arguments("run", *RANGE))
    assert told.status == 0
    assert "alerts: sent to 'alerts'" in told.out.splitlines()


def test_several_ranges_of_a_run_are_one_message(muntin: Muntin, project: Project, hook: Webhook):
    for day in ("2020-01-01", "2020-01-02", "2020-01-03"):
        project.bring(day, f"at,sensor,value\n{day}T01:00:00Z,ä,1\n")
    project.define(
        **{"import Pipeline,": "import Pipeline, alerts,", 'keys=["sensor"],': 'keys=["sensor"], alerts=alerts.to("alerts", late=0),'}
    )
    assert muntin(*project.arguments("run", "--start", "2020-01-01", "--end", "2020-01-04")).status == 0
    assert hook.posted == []
    for day, yesterday in (("2020-01-01", "2019-12-31"), ("2020-01-03", "2020-01-02")):
        project.bring(day, f"at,sensor,value\n{day}T01:00:00Z,ä,1\n{yesterday}T01:00:00Z,ä,1\n")
    told = muntin(*project.arguments("run", "--end", "2020-01-04"))
    assert "2 batches read" in told.out
    (posted,) = hook.posted
    assert posted["title"] == "sensors: 1 warning, [2020-01-01, 2020-01-04)"
    assert "alerts: sent to 'alerts'" in told.out.splitlines()
