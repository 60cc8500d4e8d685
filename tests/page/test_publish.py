"""The page that publishes what a suite holds: a form where the page may, Airflow's question or a command where it may not."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from muntin import run
from muntin.cli.place import load_pipeline
from muntin.definition.schedule import Interval
from muntin.errors import ExpectationsError
from muntin.extensions.page.commands.ui import publish
from muntin.extensions.page.views.held import Around
from muntin.jobs.publish.held import held_windows
from muntin.jobs.records.attempts import Attempt, begun, note
from muntin.jobs.state.bound import bind
from muntin.tasks import Local
from tests.cli.conftest import Project, made
from tests.end_to_end.hourly import hour
from tests.page.conftest import NOW_US
from tests.page.sensors import Sensors

CHECK = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "total", "max_value": 1}}
SAME = {"sec-fetch-site": "same-origin"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Two days that a suite holds."""
    project = made(tmp_path)
    (tmp_path / "suite.json").write_text(json.dumps({"name": "s", "expectations": [CHECK]}))
    project.define(**{'keys=["sensor"],': f'keys=["sensor"], expectations={{"quarter": "{tmp_path}/suite.json"}},'})
    pipeline = load_pipeline(Path(project.file))
    with pytest.raises(ExpectationsError):
        run(pipeline, root=project.root, start=pipeline.start, end=hour(48).replace(year=2020), spark=Local(1))
    return project


@pytest.fixture
def verdict(project: Project) -> str:
    return held_windows(bind(load_pipeline(Path(project.file)), project.root))[0].name


def client(project: Project, **options: object) -> TestClient:
    from muntin.extensions.page.app import page_app
    from muntin.extensions.page.installation import Installation

    installation = Installation(lambda: {"sensors": Path(project.file)}, Path(project.root), project.folder)
    given = {"enter": lambda: None, "may_see": lambda *_: True, "clock": lambda: NOW_US, **options}
    return TestClient(page_app(installation, **given), follow_redirects=False)  # type: ignore[arg-type]


def test_a_form_publishes_it_with_a_reason(project: Project, verdict: str) -> None:
    asked = client(project, publish=publish)
    assert f'href="pipeline/sensors/publish?verdict={verdict}"' in asked.get("/").text
    assert f'href="publish?verdict={verdict}"' in asked.get("/pipeline/sensors/now").text
    page = asked.get(f"/pipeline/sensors/publish?verdict={verdict}").text
    assert "expect_column_values_to_be_between" in page
    made_of = "The failing windows are made of 2 batches: 2020-01-01, 2020-01-02<"
    assert [made_of in text for text in (page, asked.get("/pipeline/sensors/suites").text)] == [True, True]
    assert 'name="reason" required' in page

    unreasoned = asked.post("/pipeline/sensors/publish", data={"verdict": verdict}, headers=SAME)
    assert (unreasoned.status_code, "say who and why" in unreasoned.text) == (400, True)
    answer = asked.post("/pipeline/sensors/publish", data={"verdict": verdict, "reason": "<b>hot"}, headers=SAME)
    assert (answer.status_code, answer.headers["location"]) == (303, "now")
    now = asked.get("/pipeline/sensors/now").text
    assert "despite the suite of quarter" in now
    assert "&lt;b&gt;hot" in now
    assert "let it be published all the same" in asked.get("/pipeline/sensors/suites").text
    gone = asked.get(f"/pipeline/sensors/publish?verdict={verdict}")
    assert (gone.status_code, "nothing is held now" in gone.text) == (409, True)


@pytest.mark.parametrize("headers", [{}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "cross-site"}])
def test_other_pages_cannot_ask_for_it(project: Project, verdict: str, headers: dict[str, str]) -> None:
    asked = client(project, publish=publish)
    answer = asked.post("/pipeline/sensors/publish", data={"verdict": verdict, "reason": "why"}, headers=headers)
    assert answer.status_code == 403
    assert "held" in asked.get("/pipeline/sensors/now").text


def test_in_airflow_it_leads_to_the_question_or_names_the_command(project: Project, verdict: str) -> None:
    day = 86_400_000_000
    start = int(load_pipeline(Path(project.file)).start.timestamp() * 1e6)
    run = Attempt("r", ((start, start + 2 * day),), "queued", "ask", start, start, link="http://airflow/ask")
    for runs, says in (((run,), 'href="http://airflow/ask"'), ((), f"--despite {verdict}")):
        known = Around({"sensors": runs}, in_airflow=True)
        asked = client(project, around=lambda _, known=known: known)
        page = asked.get(f"/pipeline/sensors/publish?verdict={verdict}").text
        assert says in page
        assert "<form" not in page.partition("<main")[2]
        assert asked.post("/pipeline/sensors/publish", data={"verdict": verdict, "reason": "why"}, headers=SAME).status_code == 403


def test_a_run_by_hand_with_a_start_alone_waits_too(project: Project, verdict: str) -> None:
    """Airflow does not know where its interval ends; the note of the run does."""
    pipeline = load_pipeline(Path(project.file))
    bound = bind(pipeline, project.root)
    starts = held_windows(bound)[0].starts
    last = Interval(starts[-1], pipeline.intervals.after(starts[-1]))
    note(bound.folder, replace(begun("manual__1", [last], "ask", "http://airflow/log"), phase="queued", process=None))
    now = replace(begun("manual__1", [last], "ask", "http://airflow/ask"), spans=(), phase="queued")
    asked = client(project, around=lambda _: Around({"sensors": (now,)}, in_airflow=True))
    assert 'href="http://airflow/ask"' in asked.get(f"/pipeline/sensors/publish?verdict={verdict}").text


def test_a_name_that_holds_nothing_is_refused(made: Sensors) -> None:
    from tests.page.conftest import client_of

    answer = client_of(made).get("/pipeline/sensors/publish?verdict=<script>")
    assert (answer.status_code, "<script>" in answer.text.partition("<main")[2]) == (409, False)


@pytest.mark.parametrize("body", [b"\xff", b"verdict=a&reason=\xc3\x28", b"\x80" * 100])
def test_what_is_no_form_is_refused_in_words(project: Project, verdict: str, body: bytes) -> None:
    answer = client(project, publish=publish).post("/pipeline/sensors/publish", content=body, headers=SAME)
    assert (answer.status_code, "no form in UTF-8" in answer.text) == (400, True)
    assert [one.name for one in held_windows(bind(load_pipeline(Path(project.file)), project.root))] == [verdict]


def test_the_timeline_has_what_failed_what_is_held_and_what_is_staged(project: Project) -> None:
    start, day = int(load_pipeline(Path(project.file)).start.timestamp() * 1e6), 86_400_000_000
    run = Attempt("r", ((start + 2 * day, start + 3 * day),), "failed", "accumulate", start, start, reason="OSError: full")
    asked = client(project, around=lambda _: Around({"sensors": (run,)}, in_airflow=True))
    titles = re.findall(r"<title>(.*?)</title>", asked.get("/pipeline/sensors/timeline?window=quarter&f0=%C3%A4").text)[1:]
    said = "held by the verdict on quarter: failed: 1 critical of 1 check"
    assert [title.partition(" on 3")[0] for title in titles] == [
        f"batch [2020-01-01, 2020-01-02): {said}",
        f"batch [2020-01-02, 2020-01-03): {said}",
        "batch [2020-01-03, 2020-01-04): failed at accumulate: OSError: full",
        "window [2020-01-01, 2020-01-01 06:00): closed by batch 2020-01-01, not published",
        "window [2020-01-02, 2020-01-02 06:00): closed by batch 2020-01-02, not published",
    ]
