"""What each page says of the sensors; see the drawing in `sensors.py`."""

import html
import re
from datetime import datetime
from hashlib import sha256
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from muntin.definition.instants import spell_instant
from muntin.extensions.page.views.explained import Run
from muntin.extensions.page.views.held import Around, Dead
from muntin.jobs.records.attempts import Attempt
from tests.page.conftest import NOW_US, Get, client_of
from tests.page.sensors import SCRIPT, Sensors, sensors

EVERY_PAGE = (
    "now",
    "timeline",
    "timeline?window=visit&count=1&end=2",
    "windows",
    "windows?window=two_hours&f0=a&from=2024-01-01&to=2024-01-02",
    "changes",
    "changes?window=visit&since=0",
    "results",
    "batches",
    "plan",
    "plan?from=2024-01-01&to=2024-01-01T02:00",
    "quarantine",
    "suites",
    "forgotten",
    "window?window=hour&k0=a&at=2024-01-01T00:10",
    f"window?window=hour&k0={SCRIPT}&at=2024-01-01T00:20",
    "window?window=hour&n0=1&at=2024-01-01T09:00",
)


def words(page: str) -> str:
    """The text of a page, without tags."""
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))).replace("\N{EN DASH}", "-")


def table(page: str) -> list[list[str]]:
    """The rows of the first table."""
    body = page.partition("<tbody>")[2].partition("</tbody>")[0]
    return [[words(cell).strip() for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)] for row in body.split("<tr")[1:]]


def test_the_overview_says_how_it_is_and_what_to_do(client: TestClient) -> None:
    said = client.get("/")
    first, *_ = table(said.text)
    assert first[:5] == ["sensors", "1 missing 1 waiting 2\N{NO-BREAK SPACE}published", "-", "3 h", "2024-01-01 02:00"]
    assert first[6:] == ["2", "1", "1", "1", "failed"]
    for call in ("1 interval missing: 2024-01-01 02:00; 1 batch waiting for it", "1 row quarantined"):
        assert call in words(said.text)
    assert "--start 2024-01-01T02:00 --end 2024-01-01T03:00" in words(said.text)


def test_now_tells_the_state_of_each_batch_and_the_week(get: Get) -> None:
    page = get("now")
    assert [row[:3] for row in table(page)] == [
        ["[2024-01-01 03:00, 2024-01-01 04:00)", "1", "waiting"],
        ["[2024-01-01 02:00, 2024-01-01 03:00)", "1", "missing"],
        ["[2024-01-01, 2024-01-01 02:00)", "2", "published"],
    ]
    captions = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert captions[:3] == ["rows read", "late rows", "quarantined rows"]
    assert [caption.partition(" [")[0] for caption in captions[3:]] == ["lag at publication", "seconds of runs", "bytes of runs"]


def test_a_reader_chooses_the_clock(made: Sensors) -> None:
    client = client_of(made)
    client.cookies["muntin_timezone"] = "Asia%2FKolkata"
    page = client.get("/pipeline/sensors/windows?f0=a").text
    assert table(page)[0][1] == "[2024-01-01 06:30+05:30, 2024-01-01 07:30+05:30)"
    link = html.unescape(re.findall(r'href="(window\?[^"]*)"', page)[0])
    assert "Made of" in words(client.get(f"/pipeline/sensors/{link}").text)  # the same instant, whatever clock spells it
    client.cookies["muntin_timezone"] = "Nowhere%2F%3Cb%3E"
    assert "[2024-01-01 01:00, 2024-01-01 02:00)" in words(client.get("/pipeline/sensors/windows?f0=a").text)


def test_a_dead_scheduler_is_said_first(made: Sensors) -> None:
    dead = Around(dead=(Dead("scheduler", NOW_US - 600_000_000), Dead("DAG processor", None)), in_airflow=True)
    client = client_of(made, around=lambda _: dead)
    for path in ("/", "/pipeline/sensors/now"):
        said = words(client.get(path).text)
        assert "Airflow's scheduler is dead: its last sign of life was 10 min ago, 2024-01-01 04:50" in said
        assert "Airflow's DAG processor is dead: it never gave a sign of life" in said
        assert said.index("is dead") < said.index("missing")


def test_runs_of_airflow_are_told_in_the_same_words(made: Sensors) -> None:
    at = NOW_US - 60_000_000
    run = Attempt(
        "scheduled", ((NOW_US - 2 * 3_600_000_000, NOW_US - 3_600_000_000),), "failed", "finalize", at, at, link="http://airflow/log"
    )
    known = Around({"sensors": [run]}, in_airflow=True)
    page = client_of(made, around=lambda _: known).get("/pipeline/sensors/now").text
    assert table(page)[0] == [
        "[2024-01-01 03:00, 2024-01-01 04:00)", "1", "failed", "2024-01-01 04:59",
        "at finalize: no reason is known here: see its log log in Airflow",
    ]  # fmt: skip
    assert 'href="http://airflow/log"' in page


def test_the_timeline_tells_each_batch_and_window(get: Get) -> None:
    titles = re.findall(r"<title>(.*?)</title>", get("timeline?window=two_hours&f0=a"))[1:]
    assert titles == [
        "batch [2024-01-01, 2024-01-01 01:00): closed 2 windows",
        "batch [2024-01-01 01:00, 2024-01-01 02:00): closed 3 windows, 1 late row",
        "missing interval [2024-01-01 02:00, 2024-01-01 03:00)",
        "batch [2024-01-01 03:00, 2024-01-01 04:00): waiting: an interval before it is missing",
        "window [2023-12-31 23:00, 2024-01-01 01:00): closed by batch 2024-01-01",
        "window [2024-01-01, 2024-01-01 02:00): closed by batch 2024-01-01 01:00",
        "window [2024-01-01 01:00, 2024-01-01 03:00): open",
    ]


def test_a_window_of_the_timeline_leads_to_its_explanation(get: Get) -> None:
    links = [html.unescape(link) for link in re.findall(r'href="(window\?[^"]*)"', get("timeline?window=hour&f0=a"))]
    said = words(get(links[0]))
    assert "Closed by batch 2024-01-01 , published" in said
    assert "Made of 3 states" in said
    assert "1 state came too late for it" in said
    assert "From 2024/01/01 00:00 To 2024/01/01 01:00 Reprocess Behavior All Runs" in said


def test_the_windows_newest_first_by_key_and_time(get: Get) -> None:
    assert [row[:3] for row in table(get("windows"))] == [
        ["a", "[2024-01-01 01:00, 2024-01-01 02:00)", "1"],
        ["null", "[2024-01-01 01:00, 2024-01-01 02:00)", "1"],
        [SCRIPT, "[2024-01-01, 2024-01-01 01:00)", "1"],
        ["a", "[2024-01-01, 2024-01-01 01:00)", "3"],
    ]
    assert [row[0] for row in table(get("windows?f0=a&to=2024-01-01T01:00"))] == ["a"]
    assert [row[1] for row in table(get("windows?from=2024-01-01T01:00"))] == ["[2024-01-01 01:00, 2024-01-01 02:00)"] * 2


def test_the_run_that_published_is_named(made: Sensors) -> None:
    def runs(pipeline: str, window: str, batch_us: int, published: datetime) -> list[Run]:
        return [Run(f"{pipeline} {window} {spell_instant(batch_us)} <b>", "publish", "success")]

    page = client_of(made, runs=runs).get("/pipeline/sensors/window?window=hour&k0=a&at=2024-01-01T00:10").text
    assert "By task publish of run sensors hour 2024-01-01 <b> (success)" in words(page)


def test_why_a_window_is_not_there(get: Get) -> None:
    assert "there is no event of this key" in words(get("window?window=hour&k0=nobody&at=2024-01-01T00:10"))
    assert "the history ends at 2024-01-01T02:00" in words(get("window?window=hour&k0=a&at=2024-01-01T09:00"))


def test_a_null_key_is_explained(get: Get) -> None:
    assert "Made of 1 state" in words(get("window?window=hour&n0=1&at=2024-01-01T01:10"))


def test_the_batches_with_their_reports(get: Get) -> None:
    rows = [[*row[:6], *row[7:8]] for row in table(get("batches"))]
    assert rows == [
        ["[2024-01-01 03:00, 2024-01-01 04:00)", "waiting", "1", "1", "0", "0", "-"],
        ["[2024-01-01 02:00, 2024-01-01 03:00)", "missing", "-"],
        ["[2024-01-01 01:00, 2024-01-01 02:00)", "published", "4", "3", "1", "1", "2"],
        ["[2024-01-01, 2024-01-01 01:00)", "published", "4", "4", "0", "0", "2"],
    ]


def test_the_quarantine_says_why(get: Get) -> None:
    ((batch, reason, _, row, *_),) = table(get("quarantine"))
    assert (batch, reason) == ("2024-01-01 01:00", "event time is null")
    assert SCRIPT in row


def test_the_suites_with_failing_rows(get: Get) -> None:
    said = words(get("suites"))
    assert "failed: 1 critical of 1 check on 3 rows" in said
    assert "expect_column_values_to_be_between(column=n, max_value=2)" in said
    assert f"1 row not as expected <b>key</b> window_start n {SCRIPT} 2024-01-01T00:00:00Z 3" in said


def test_results_are_a_picture_each(get: Get) -> None:
    page = get("results")
    assert re.findall(r"<h2>(.*?)</h2>", page) == ["n", "&lt;i&gt;total&lt;/i&gt;"]
    assert page.count("<svg") == 2


@pytest.mark.parametrize("path", EVERY_PAGE)
def test_no_text_becomes_a_tag(get: Get, path: str) -> None:
    page = get(path)
    assert not re.findall(r"<script>|<b>|alert\(1\)</script>|<i>total", page)
    assert page.count("<script") == 1  # the page's own, from its own file


@pytest.mark.parametrize("path", EVERY_PAGE)
def test_nothing_comes_from_elsewhere(get: Get, path: str) -> None:
    kept = re.sub(r'xmlns(:\w+)?="[^"]*"', "", get(path))
    assert not re.findall(r'(?:src|href|action)="(?:https?:|//|/|javascript:)', kept)
    assert "http://" not in kept


def test_looking_changes_nothing(made: Sensors, client: TestClient) -> None:
    before = {path: sha256(path.read_bytes()).digest() for path in made.root.rglob("*") if path.is_file()}
    assert client.get("/").status_code == 200
    for path in EVERY_PAGE:
        assert client.get(f"/pipeline/sensors/{path}").status_code == 200
    assert before == {path: sha256(path.read_bytes()).digest() for path in made.root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/pipeline/sensors/windows?window=month", 400, "no window 'month' in pipeline 'sensors'"),
        ("/pipeline/sensors/windows?from=soon", 400, "'soon' is not an instant"),
        ("/pipeline/sensors/windows?begin=19700101T000000Z.y", 400, "no whole number"),
        ("/pipeline/sensors/windows?begin=x.1", 400, "is no batch"),
        ("/pipeline/sensors/timeline?count=many", 400, "is no whole number"),
        ("/pipeline/sensors/batches?skip=-1", 400, "is no whole number"),
        ("/pipeline/sensors/everything", 400, "there is no page 'everything'"),
        ("/pipeline/sensors/window?window=hour", 400, "say which window"),
        ("/pipeline/others/timeline", 404, "no pipeline of Muntin's"),
        ("/pipeline/..%2F..%2Fetc/timeline", 404, "There is no page"),
        ("/static/..%2fapp.py", 404, "There is no page"),
        ("/static/app.py", 404, ""),
        ("/pipeline/sensors/..%2f..%2fstatic", 404, "There is no page"),
    ],
)
def test_what_cannot_be_asked_is_said(client: TestClient, path: str, status: int, says: str) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert says in words(answer.text)


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_only_get_is_answered(client: TestClient, method: str) -> None:
    assert getattr(client, method)("/pipeline/sensors/timeline").status_code == 405


def test_browsers_are_told_to_be_careful(client: TestClient) -> None:
    headers = client.get("/").headers
    assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'; ")
    assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")


# hours 0 and 1 are published, hour 1's file is written anew, hour 2 has none, hour 3 waits for it
def test_the_plan_lists_batches_and_windows(made: Sensors, get: Get) -> None:
    file = made.folder / "data/01.csv"
    kept = file.read_bytes()
    file.write_bytes(kept + b"2024-01-01T01:40:00+00:00,a,1\n")
    try:
        page = get("plan?from=2024-01-01&to=2024-01-01T04:00")
        foreseen = words(get("plan"))
    finally:
        file.write_bytes(kept)
    assert [row[1] for row in table(page)] == ["unchanged", "changed", "missing", "unchanged"]
    said = words(page)
    assert "1 batch changed at the source, oldest 2024-01-01 01:00; to be read again by the next run." in foreseen
    assert "changed at the source" not in words(get("plan"))
    assert "a file has another size" in said
    assert "a run of this range fails" in said
    assert "hour Windows of 3 batches are derived anew; 2 of them are published now, about 6 expected." in said
    assert "two_hours Windows of 3 batches are derived anew; 3 of them are published now, about 8 expected." in said
    assert page.count(">explain</a>") == 2 + 3 + 3
    assert "airflow backfill create --dag-id sensors --from-date 2024-01-01T00:00:00+00:00 --to-date 2024-01-01T03:00:00+00:00" in said


def test_a_plan_without_a_range_asks_for_one(get: Get) -> None:
    assert "Batches</h2>" not in get("plan")


def test_a_plan_of_very_many_batches_is_refused(get: Get) -> None:
    assert "too many for a page" in get("plan?from=2024-01-01&to=2025-01-01", 400)


def test_revised_windows_have_old_and_new_values(tmp_path: Path) -> None:
    made = sensors(tmp_path)
    path = tmp_path / "data/00.csv"
    path.write_text(path.read_text(encoding="utf-8").replace(",a,2", ",a,12"), encoding="utf-8")
    made.run(0, 0)
    page = client_of(made).get("/pipeline/sensors/changes?window=hour").text
    ((key, window, _, change, *values),) = table(page)
    assert (key, window, change, values[0]) == ("a", "[2024-01-01, 2024-01-01 01:00)", "changed", "3")
    assert values[1] == "6 \N{RIGHTWARDS ARROW} 16"
    assert "1 published window revised since version 0" in words(page)
