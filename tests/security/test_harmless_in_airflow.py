"""Logs, XComs, events of assets and errors of tasks, as Airflow keeps and shows them: text of data stands there as text."""

import json
import logging
from pathlib import Path
from traceback import format_exception
from typing import Any

import duckdb
import pytest

from muntin.cli.main import main
from muntin.cli.place import load_pipeline
from muntin.definition.instants import instant_us
from muntin.definition.pipeline import at_home
from muntin.definition.schedule import Interval
from muntin.errors import SourceError
from muntin.extensions.airflow import steps
from muntin.extensions.airflow.assets.events import extras
from muntin.extensions.airflow.dag import _described
from muntin.extensions.airflow.place import Place
from muntin.extensions.airflow.publishing import publish
from muntin.jobs.sending.catch_up import Sent
from muntin.jobs.sending.send import reported
from muntin.jobs.state.bound import bind
from muntin.printable import make_printable
from muntin.quality.report import Check, QualityReport
from muntin.tasks import Local
from tests.end_to_end.hourly import hour
from tests.security.test_harmless_text import DEFINITION, ESCAPE, FILE, KEYS, RANGE, folder, unseen

__all__ = ["folder"]
HOUR = Interval(instant_us(hour(0), "start"), instant_us(hour(1), "end"))


def kept(value: Any) -> str:
    """A value as Airflow's database has it; a PostgreSQL takes no NUL there."""
    return json.dumps(value, ensure_ascii=False, default=str)


def test_what_tasks_return_and_log(folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = Place(bind(at_home(load_pipeline(folder / "dags/shown.py"), folder), tmp_path / "state", claim=True), HOUR)
    runner: Any = Local(1)
    with caplog.at_level(logging.INFO, "muntin"):
        accumulated = steps.accumulate(place, runner)
        staged = steps.finalize(place, runner, accumulated)
        quality = steps.validate(place, runner, staged)
        result = publish(place, staged, accumulated, quality, lambda: pytest.fail("nobody came first"))
    assert result["published"]["hour"]
    assert unseen(kept([accumulated, staged, quality, result, extras(place, result)])) == []
    assert "error: forged" in caplog.text
    assert all(unseen(record.getMessage()) == [] and "\n" not in record.getMessage() for record in caplog.records)
    assert "<script>" not in _described(place.bound.pipeline)


def test_the_report_of_a_suite() -> None:
    rows = tuple({"k": key, "n": 1} for key in KEYS)
    check = Check("expect_it", "k", {"column": "k"}, "critical", success=False, observed_value=KEYS, error=KEYS[0], failing_rows=rows)
    report = QualityReport("hour", len(KEYS), (check,))
    assert unseen(kept(report.to_dict())) == []
    assert "\n" not in str(report.to_dict()["checks"])
    assert unseen(report.text()) == []


def test_the_lines_of_sinks() -> None:
    (line,) = reported([Sent("postgres", "hour", failed=f"the row of {KEYS[0]} is refused", blocked=True)])
    assert unseen(line) == []
    assert "\n" not in line


def test_the_errors_that_an_error_came_of() -> None:
    def of_data() -> None:
        try:
            duckdb.execute("SELECT CAST(? AS INTEGER)", [ESCAPE]).fetchall()
        except duckdb.Error as wrong:
            raise SourceError("a cell is no number") from wrong

    with pytest.raises(SourceError) as told:
        of_data()
    assert unseen(str(told.value.__cause__))
    make_printable(told.value)
    assert isinstance(told.value.__cause__, duckdb.ConversionException)
    assert unseen("".join(format_exception(told.value))) == []


def test_the_trace_of_a_command(folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / FILE).write_text("damaged")
    (tmp_path / "shown.py").write_text(DEFINITION.replace('"data/', f'"{tmp_path}/data/'), encoding="utf-8")
    assert main(["run", str(tmp_path / "shown.py"), "--root", str(tmp_path / "state"), *RANGE, "--debug"]) == 3
    told = capfd.readouterr().err
    assert "Traceback" in told
    assert unseen(told) == []
