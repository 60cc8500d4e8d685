"""Versions that disagree between driver, workers and earlier runs are said before any work."""

import json
import logging
from pathlib import Path

import pytest

from muntin.errors import StateError
from muntin.jobs.accumulate import accumulate_task
from muntin.jobs.schema_check.same_versions import NAME, versions_here
from muntin.jobs.state.bound import bind
from tests.storage.three_batches import Small


@pytest.fixture
def small(tmp_path: Path) -> Small:
    small = Small(tmp_path)
    small.write_all()
    return small


def workers_have(monkeypatch: pytest.MonkeyPatch, **others: str) -> None:
    monkeypatch.setattr(accumulate_task, "versions_here", lambda: {**versions_here(), **others})


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ({"muntin": "0.0.1"}, r"muntin is 0\.0\.1 on the worker, .* here\. Nothing was read; install muntin=="),
        ({"python": "3.9.1"}, r"python is 3\.9\.1 on the worker.*PYSPARK_PYTHON"),
        ({"state format": "2"}, "state format is 2 on the worker"),
    ],
)
def test_workers_that_make_other_states_are_refused(
    small: Small, monkeypatch: pytest.MonkeyPatch, others: dict[str, str], text: str
) -> None:
    workers_have(monkeypatch, **others)
    monkeypatch.setattr(accumulate_task, "seen", lambda *_: pytest.fail("a file was looked at"))
    monkeypatch.setattr(accumulate_task, "_alone", lambda *_: pytest.fail("a file was read"))
    with pytest.raises(StateError, match=text):
        small.run("state")
    assert all(
        small.store("state").snapshot(frames.table).version < 0 for frames in bind(small.pipeline, small.folder / "state").frame_sets
    )


def test_other_packages_are_a_warning(small: Small, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    workers_have(monkeypatch, duckdb="0.1", python=".".join(versions_here()["python"].split(".")[:2]) + ".99")
    with caplog.at_level(logging.WARNING, "muntin"):
        small.run("state")
    [line] = caplog.messages
    assert line.startswith("Spark's workers: duckdb is 0.1 on the worker, ")


def test_workers_without_pyspark_of_their_own_have_that_of_spark(
    small: Small, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    workers_have(monkeypatch, pyspark="not installed")
    small.run("state")
    assert not caplog.messages


def test_an_upgrade_is_said_once(small: Small, caplog: pytest.LogCaptureFixture) -> None:
    small.run("state")
    assert not caplog.messages
    note = Path(bind(small.pipeline, small.folder / "state").folder, NAME)
    note.write_text(json.dumps(json.loads(note.read_text()) | {"pyarrow": "1.0"}))
    for said in (1, 0):
        caplog.clear()
        small.run("state")
        assert len(caplog.messages) == said
