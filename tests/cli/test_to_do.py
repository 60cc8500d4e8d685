"""run without a range: what is missing, changed, left behind or not published, and nothing else."""

import json
import os
import time
from datetime import datetime
from pathlib import Path

import pytest

from muntin import run
from muntin.cli.place import load_pipeline
from muntin.jobs.upkeep.to_do import to_do
from tests.cli.conftest import DAYS, RANGE, UNTIL, Muntin, Project

pytestmark = pytest.mark.usefixtures("here")


def read(muntin: Muntin, project: Project) -> dict[str, str]:
    """Start of each batch that was read -> why."""
    told = muntin(*project.arguments("run", *UNTIL, "--json"))
    assert told.status == 0, told.err
    document = json.loads(told.out)
    starts = [batch["interval_start"] for batch in (document["report"] or {"batches": []})["batches"]]
    assert starts == [batch["interval_start"] for batch in document["batches"]]
    return {batch["interval_start"][:10]: batch["reason"] for batch in document["batches"]}


def test_missing_batches_first_then_none(muntin: Muntin, project: Project):
    assert muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-03")).status == 0
    assert read(muntin, project) == {"2020-01-01": "missing"}
    assert read(muntin, project) == {}
    told = muntin(*project.arguments("run", *UNTIL))
    assert (told.status, told.out.startswith("nothing to do: every batch that is there was read")) == (0, True)
    assert muntin(*project.arguments("plan", *UNTIL)).out == told.out


def test_changed_sources(muntin: Muntin, project: Project):
    read(muntin, project)
    project.bring("2020-01-02", DAYS["2020-01-02"] + "2020-01-02T04:00:00Z,ü,5\n")
    assert read(muntin, project) == {"2020-01-02": "a file has another size"}
    project.bring("2020-01-01b", DAYS["2020-01-01"])
    assert read(muntin, project) == {"2020-01-01": "new file: 2020-01-01b.csv"}
    (project.folder / "2020-01-01b.csv").unlink()
    later = time.time() + 3600
    os.utime(project.bring("2020-01-02", DAYS["2020-01-02"].replace("3\n", "7\n") + "2020-01-02T04:00:00Z,ü,5\n"), (later, later))
    assert read(muntin, project) == {
        "2020-01-01": "file gone: 2020-01-01b.csv",
        "2020-01-02": "written since it was read: 2020-01-02.csv",
    }


def test_what_was_read_and_not_published_is_published(muntin: Muntin, project: Project, monkeypatch: pytest.MonkeyPatch):
    def stop(*_: object, **__: object) -> None:
        raise OSError("the lights went out")

    with monkeypatch.context() as patch:
        patch.setattr("muntin.jobs.publish.finish.finalize", stop)
        assert muntin(*project.arguments("run", *RANGE)).status == 3
    assert json.loads(muntin(*project.arguments("show", "quarter", "--json")).out)["total"] == 0
    assert read(muntin, project) == {}
    assert json.loads(muntin(*project.arguments("show", "quarter", "--json")).out)["total"] == 3


def test_a_retry_reads_the_batches_of_refused_rows(muntin: Muntin, project: Project):
    read(muntin, project)
    project.bring("2020-01-02", DAYS["2020-01-02"].replace(",ö,4", "2020-01-02T05:00:00Z,ö,4"))
    told = json.loads(muntin(*project.arguments("show", "--quarantine", "--retry", "--json")).out)
    assert [batch["interval_start"][:10] for batch in told["batches"]] == ["2020-01-02"]
    assert [batch["rows_quarantined"] for batch in told["report"]["batches"]] == [0]
    assert "there is no row in the quarantine" in muntin(*project.arguments("show", "--quarantine", "--retry")).out


def test_what_an_earlier_definition_had_read_is_left_behind(muntin: Muntin, project: Project):
    read(muntin, project)
    state = project.state.name
    project.define(**{'"least": agg.min("value")': '"least": agg.min("value"), "most": agg.max("value")'})
    assert read(muntin, project) == {"2020-01-01": f"in the state {state}", "2020-01-02": f"in the state {state}"}
    assert "most" in muntin(*project.arguments("show", "quarter", "--csv")).out


def test_a_plan_says_beforehand_what_is_read_and_what_it_costs(muntin: Muntin, project: Project):
    first = muntin(*project.arguments("plan", *UNTIL)).out.splitlines()
    assert first[0].split() == ["batch", "(UTC)", "bytes", "why"]
    assert first[-1].startswith("would read 2 batches, ")
    assert " s by the last batches" not in first[-1]
    read(muntin, project)
    path = project.bring("2020-01-01", DAYS["2020-01-01"] + "2020-01-01T04:00:00Z,ü,5\n")
    planned = json.loads(muntin(*project.arguments("plan", *UNTIL, "--json")).out)
    (batch,) = planned["batches"]
    assert (batch["bytes"], batch["reason"], planned["seconds"] > 0) == (path.stat().st_size, "a file has another size", True)
    assert muntin(*project.arguments("plan", *UNTIL)).out.splitlines()[-1].endswith(" in about 1 s by the last batches")
    status = muntin(*project.arguments("status")).out
    assert "1 batch changed at the source, oldest 2020-01-01 00:00; to be read again by the next run" in status


# files      day 1   -   day 3
def test_a_batch_that_is_not_there_yet_is_named_and_read_when_it_is_there(muntin: Muntin, project: Project):
    project.define(**{'missing="empty", ': ""})
    (project.folder / "2020-01-02.csv").rename(project.folder / "2020-01-03.csv")
    told = muntin(*project.arguments("run", "--end", "2020-01-04"))
    assert (told.status, "2 batches read" in told.out) == (0, True), told
    assert "not read: 1 batch in [2020-01-02 00:00, 2020-01-03 00:00); the first: no file at" in told.out
    assert "missing: [2020-01-02 00:00, 2020-01-03 00:00); what was accumulated beyond waits for it" in told.out
    assert "nothing to do" in muntin(*project.arguments("run", "--end", "2020-01-04")).out
    project.bring("2020-01-02")
    assert "1 batch read" in muntin(*project.arguments("run", "--end", "2020-01-04")).out
    assert "not read" not in muntin(*project.arguments("run", "--end", "2020-01-04")).out


def test_a_source_that_has_no_batch_at_all_is_an_error(muntin: Muntin, project: Project):
    project.define(**{'missing="empty", ': "", "/{start:": "/none-{start:"})
    told = muntin(*project.arguments("run", *UNTIL))
    assert (told.status, "no file at" in told.err, "(1 more batch likewise)" in told.err) == (3, True, True), told


@pytest.mark.parametrize(("now", "days"), [("2020-01-01T23:59", 0), ("2020-01-02T00:00", 1), ("2020-01-03T12:00", 2)])
def test_it_ends_with_the_last_whole_interval_before_now(project: Project, now: str, days: int):
    instant = datetime.fromisoformat(f"{now}Z")
    todo = to_do(load_pipeline(Path(project.file)), root=project.root, now=instant)
    assert [one.interval_start.day for one in todo] == [1, 2][:days]


def test_a_run_without_a_range_does_the_same(project: Project):
    pipeline, end = load_pipeline(Path(project.file)), datetime.fromisoformat("2020-01-03T00:00Z")
    assert [batch.interval_start.day for batch in run(pipeline, root=project.root, end=end).batches] == [1, 2]
    assert run(pipeline, root=project.root, end=end).batches == ()
