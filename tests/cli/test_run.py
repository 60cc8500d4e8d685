"""run and plan: reports, exit statuses, JSON alone on stdout."""

import json
from pathlib import Path

import pytest
from deltalake import DeltaTable

from muntin.jobs.records.verdicts import last_verdicts
from tests.cli.conftest import RANGE, Muntin, Project

pytestmark = pytest.mark.usefixtures("here")


def test_run_reports_every_batch_and_the_whole(muntin: Muntin, project: Project):
    told = muntin(*project.arguments("run", *RANGE))
    assert told.status == 0
    lines = told.out.splitlines()
    assert lines[0].split()[:3] == ["batch", "(UTC)", "read"]
    assert lines[1].split()[:6] == ["2020-01-01", "00:00", "2", "2", "0", "0"]
    assert lines[2].split()[:6] == ["2020-01-02", "00:00", "3", "2", "1", "1"]
    assert "2 batches: 5 rows read, 1 quarantined, 1 late" in lines
    assert "published: quarter of 2 batches, visit of 2 batches" in lines


def test_progress_goes_to_stderr_in_plain_lines(muntin: Muntin, project: Project):
    told = muntin(*project.arguments("run", *RANGE))
    steps = [line.split()[-1] for line in told.err.splitlines() if " s  " in line]
    assert told.err.splitlines()[2].startswith("sensors: tasks run ")  # behind what the definition prints
    assert steps == ["accumulate", "finalize", "publish"]
    assert "\x1b" not in told.err


def test_json_is_all_there_is_on_stdout(muntin: Muntin, project: Project):
    told = muntin(*project.arguments("run", *RANGE, "--json"))
    report = json.loads(told.out)
    assert [batch["rows_read"] for batch in report["batches"]] == [2, 3]
    assert report["batches"][0]["interval_start"] == "2020-01-01T00:00:00+00:00"
    assert "a definition may print" in told.err


def test_a_hole_is_told(muntin: Muntin, project: Project):
    assert muntin(*project.arguments("run", "--start", "2020-01-01", "--end", "2020-01-02")).status == 0
    told = muntin(*project.arguments("run", "--start", "2020-01-04T00:00", "--end", "2020-01-05T01:00+01:00"))
    assert told.status == 0
    assert "missing: [2020-01-02 00:00, 2020-01-04 00:00)" in told.out


def test_plan_does_nothing(muntin: Muntin, project: Project):
    told = muntin(*project.arguments("plan", *RANGE))
    assert told.status == 0
    assert "2 batches" in told.out
    assert "quarter: windows of 2 batches anew [2020-01-01, 2020-01-03)" in told.out
    assert not Path(project.root).exists()


def test_plan_in_json(muntin: Muntin, project: Project):
    planned = json.loads(muntin(*project.arguments("plan", *RANGE, "--json")).out)
    assert [len(batch["files"]) for batch in planned["batches"]] == [1, 1]
    assert set(planned["windows"]) == {"quarter", "visit"}


SUITE = {
    "name": "little",
    "expectations": [{"type": "expect_column_values_to_be_between", "kwargs": {"column": "total", "max_value": 1}, "severity": "critical"}],
}


def guarded(project: Project) -> Project:
    suite = project.folder / "little.json"
    suite.write_text(json.dumps(SUITE))
    project.define(**{'keys=["sensor"],': f'keys=["sensor"], expectations={{"quarter": "{suite}"}},'})
    return project


def test_failed_expectations_are_status_1_and_publish_nothing(muntin: Muntin, project: Project):
    told = muntin(*guarded(project).arguments("run", *RANGE, "--json"))
    assert told.status == 1
    error = json.loads(told.out)["error"]
    assert error["exit_status"] == 1
    assert error["report"]["status"] == "failed"
    assert "error (expectations failed): window 'quarter'" in told.err
    assert json.loads(muntin(*project.arguments("show", "quarter", "--json")).out)["total"] == 0
    assert "staged, not published: staging/" in muntin(*project.arguments("status")).out
    (kept,) = last_verdicts(project.state, "quarter")
    assert (kept["status"], kept["verdict"]) == ("failed", error["report"]["verdict"])
    assert [row["total"] for row in kept["checks"][0]["failing_rows"]] == [3, 2]
    [row] = DeltaTable(str(project.state / "verdicts")).to_pyarrow_table().to_pylist()
    assert (row["window"], row["status"], row["success"], row["verdict"]) == ("quarter", "failed", False, kept["verdict"])


def test_without_the_guard_it_publishes(muntin: Muntin, project: Project):
    assert muntin(*guarded(project).arguments("run", *RANGE, "--no-validate")).status == 0


def test_a_border_that_is_none_is_status_2(muntin: Muntin, project: Project):
    told = muntin(*project.arguments("run", "--start", "2020-01-01T05:00", "--end", "2020-01-03"))
    assert told.status == 2
    assert "error (definition or call): start 2020-01-01T05:00 is not a border" in told.err
    assert told.out == ""


def test_a_source_that_is_missing_is_status_3(muntin: Muntin, project: Project):
    project.define(**{'missing="empty"': 'missing="error"'})
    told = muntin(*project.arguments("run", "--start", "2020-01-03", "--end", "2020-01-04", "--json"))
    assert told.status == 3
    assert "error (source): no file at" in told.err
    assert json.loads(told.out)["error"]["type"] == "SourceError"


@pytest.mark.parametrize(("url", "status", "words"), [("x:1", 2, "is no address of Spark"), ("sc://127.0.0.1:1", 3, "nobody answers")])
def test_a_spark_that_is_not_there(muntin: Muntin, project: Project, url: str, status: int, words: str):
    told = muntin(*project.arguments("run", *RANGE, "--spark", url))
    assert told.status == status
    assert words in told.err


def broken(*_: object, **__: object) -> None:
    raise RuntimeError("the bottom line\n\tat org.apache.spark")


def test_what_nobody_expected_is_one_line_and_status_3(muntin: Muntin, project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("muntin.jobs.run.run_batches", broken)
    told = muntin(*project.arguments("run", *RANGE))
    assert told.status == 3
    assert told.err.splitlines()[-1] == "error (unexpected): RuntimeError: the bottom line; run again with --debug for the traceback"
    assert "Traceback" in muntin(*project.arguments("run", *RANGE, "--debug")).err
