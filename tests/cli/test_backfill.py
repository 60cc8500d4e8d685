"""backfill: what is missing or changed, nothing else."""

import json
import os
import time

import pytest

from tests.cli.conftest import DAYS, RANGE, Muntin, Project

pytestmark = pytest.mark.usefixtures("here")


def backfill(muntin: Muntin, project: Project, *more: str) -> dict[str, str]:
    """Start of each batch that was read -> why."""
    told = muntin(*project.arguments("backfill", *RANGE, "--json", *more))
    assert told.status == 0, told.err
    document = json.loads(told.out)
    read = [batch["interval_start"] for batch in (document["report"] or {"batches": []})["batches"]]
    assert read == [batch["interval_start"] for batch in document["batches"]]
    return {batch["interval_start"][:10]: batch["reason"] for batch in document["batches"]}


def test_missing_batches_first_then_none(muntin: Muntin, project: Project):
    assert muntin(*project.arguments("run", "--start", "2020-01-02", "--end", "2020-01-03")).status == 0
    assert backfill(muntin, project) == {"2020-01-01": "missing"}
    assert backfill(muntin, project) == {}
    assert "every batch is what its source is now" in muntin(*project.arguments("backfill", *RANGE)).out
    assert backfill(muntin, project, "--all") == {"2020-01-01": "asked for", "2020-01-02": "asked for"}


def test_changed_sources(muntin: Muntin, project: Project):
    backfill(muntin, project)
    project.bring("2020-01-02", DAYS["2020-01-02"] + "2020-01-02T04:00:00Z,ü,5\n")
    assert backfill(muntin, project) == {"2020-01-02": "a file has another size"}
    (project.folder / "2020-01-01b.csv").write_text(DAYS["2020-01-01"])
    assert backfill(muntin, project) == {"2020-01-01": "new file: 2020-01-01b.csv"}
    (project.folder / "2020-01-01b.csv").unlink()
    later = time.time() + 60
    os.utime(project.bring("2020-01-02", DAYS["2020-01-02"].replace("3\n", "7\n") + "2020-01-02T04:00:00Z,ü,5\n"), (later, later))
    assert backfill(muntin, project) == {
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
    assert backfill(muntin, project) == {}
    assert json.loads(muntin(*project.arguments("show", "quarter", "--json")).out)["total"] == 3


def test_a_retry_reads_the_batches_of_refused_rows(muntin: Muntin, project: Project):
    backfill(muntin, project)
    project.bring("2020-01-02", DAYS["2020-01-02"].replace(",ö,4", "2020-01-02T05:00:00Z,ö,4"))
    told = json.loads(muntin(*project.arguments("quarantine", "--retry", "--json")).out)
    assert [batch["interval_start"][:10] for batch in told["batches"]] == ["2020-01-02"]
    assert [batch["rows_quarantined"] for batch in told["report"]["batches"]] == [0]
    assert "there is no row in the quarantine" in muntin(*project.arguments("quarantine", "--retry")).out
