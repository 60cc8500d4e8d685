"""The page in the real web server: who sees what, with users and passwords; then a person with a browser, who mends a day."""

import os
from collections.abc import Callable
from datetime import date
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from examples.demo.api import Api
from examples.demo.home import Home
from examples.demo.servers import Airflow
from examples.demo.watch import Inspection
from tests.airflow.page.browser import NARROW, backfill, browser, inside, signed_in
from tests.airflow.page.conftest import HUSH, USERS
from tests.airflow.page.week import DAYS, MENDED, WHO, mend

SHOP = "/pipeline/shop"
OPEN = 4  # windows of two days, every 12 hours, with 6 hours of grace, after the last midnight: those that end then or later
NO_FOLDERS = (
    "(body, folder) => body.querySelectorAll('code').forEach(code => code.textContent = code.textContent.replaceAll(folder, '/srv'))"
)
WINDOW = f"{SHOP}/window?window=half_day&k0=ann&at=2024-01-{MENDED:02d}&ends=2024-01-{MENDED:02d}T12:00"
OF_SHOP = (
    *(
        f"{SHOP}/{tab}"
        for tab in ("now", "timeline", "windows", "results", "batches", "plan", "quarantine", "suites", "forgotten", "nothing")
    ),
    WINDOW,
)
BESIDE = ("/", "/static/page.css", "/static/page.js", "/nothing", "/pipeline/others/timeline", "/pipeline/no_dag/timeline", "/docs")
Ask = Callable[..., tuple[int, str]]


@pytest.fixture(scope="module")
def ask(airflow: Airflow, home: Home) -> Ask:
    """The status and the text of an address of the page, as a user with a token or a cookie, or as nobody."""
    tokens = {user: token(home, user) for user in USERS}

    def asked(path: str, user: str | None = None, *, cookie: bool = False, method: str = "GET") -> tuple[int, str]:
        bearer = {} if user is None else {"Cookie": f"_token={tokens[user]}"} if cookie else {"Authorization": f"Bearer {tokens[user]}"}
        answer = httpx.request(method, f"{home.url}/muntin{path}", headers=bearer, timeout=60)
        return answer.status_code, answer.text

    return asked


def token(home: Home, user: str) -> str:
    answer = httpx.post(f"{home.url}/auth/token", json={"username": user, "password": f"{user}-password"}, timeout=60)
    return str(answer.json()["access_token"])


def test_a_stranger_gets_401_everywhere(ask: Ask) -> None:
    for path in (*BESIDE, *OF_SHOP):
        status, text = ask(path)
        assert (path, status) == (path, 401)
        assert "shop" not in text


@pytest.mark.parametrize("user", ["admin", "viewer"])
@pytest.mark.parametrize("cookie", [False, True])
def test_who_may_read_the_dags_sees_the_pages(ask: Ask, user: str, cookie: bool) -> None:
    for path in OF_SHOP:
        assert ask(path, user, cookie=cookie)[0] == (400 if path.endswith("nothing") else 200), path
    said = ask("/", user, cookie=cookie)[1]
    assert "pipeline/shop/now" in said
    assert "was never run" in said  # others


@pytest.mark.parametrize("user", ["half", "nobody"])
def test_who_may_not_read_the_dag_sees_nothing_of_it(ask: Ask, user: str) -> None:
    for path in OF_SHOP:
        status, text = ask(path, user)
        assert (path, status) == (path, 403)
        assert "half_day" not in text
    assert "shop" not in ask("/", user)[1]
    assert ask("/pipeline/no_dag/timeline", user)[0] == 403


def test_rights_are_those_on_each_dag(ask: Ask) -> None:
    assert "others" in ask("/", "half")[1]
    assert ask("/pipeline/others/timeline", "half")[0] == 409  # seen, and never run
    assert ask("/pipeline/others/timeline", "nobody")[0] == 403


def test_who_may_read_the_dag_that_forgets_alone_sees_what_was_forgotten_and_no_rows(ask: Ask) -> None:
    assert "No key was forgotten." in ask(f"{SHOP}/forgotten", "keeper")[1]
    assert {ask(path, "keeper")[0] for path in OF_SHOP if not path.endswith("forgotten")} == {403}
    assert ask(f"{SHOP}.forget_keys/now", "keeper")[0] == 307


def test_what_is_no_pipeline_is_told_to_who_may_read_it(ask: Ask) -> None:
    assert ask("/pipeline/no_dag/timeline", "admin")[0] == 404


def test_every_text_is_escaped_and_no_secret_is_shown(ask: Ask) -> None:
    for path in ("/", *OF_SHOP):
        text = ask(path, "admin")[1]
        assert "<script>eve" not in text
        assert HUSH not in text
    assert "&lt;script&gt;eve" in ask(f"{SHOP}/windows", "admin")[1]


@pytest.mark.parametrize(
    "path", ["/pipeline/..%2f..%2fproject/timeline", "/static/..%2f..%2fapp.py", "/static/%2fetc%2fpasswd", "/..%2f..%2f"]
)
def test_no_path_leads_out(ask: Ask, path: str) -> None:
    status, text = ask(path, "admin")
    assert status == 404
    assert "import" not in text


def test_looking_changes_nothing(ask: Ask, home: Home) -> None:
    before = contents(home.state)
    for path in ("/", *OF_SHOP):
        ask(path, "admin")
    assert contents(home.state) == before
    assert {ask(f"{SHOP}/timeline", "admin", method=method)[0] for method in ("POST", "PUT", "DELETE")} == {405}


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: sha256(path.read_bytes()).digest() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.timeout(1500)
def test_a_person_mends_a_day_by_a_backfill_from_the_form(airflow: Airflow, home: Home, project: Path, tmp_path: Path) -> None:
    shots = Path(os.environ.get("MUNTIN_PICTURES", tmp_path))
    with browser() as opened:
        if opened is None:
            pytest.skip("no browser: setup/browser.sh installs one where it can")
        with signed_in(opened, home.url, "admin", color_scheme="light") as page:
            page.get_by_role("button", name="Browse").first.click()
            page.get_by_role("menuitem", name="Windows").click()
            inside(page).get_by_role("link", name="shop").first.wait_for()
            page.screenshot(path=shots / "overview-light.png")

            look_at_the_window(page, home, shots)
            mend(project)
            backfill(page, date(2024, 1, DAYS[0]), date(2024, 1, DAYS[-1]), at_once=3, shot=shots / "form-light.png")
            airflow.follow(is_over)
            look_at_airflow(page, airflow, home, shots)
            page.goto(f"{home.url}/dags/shop/plugin/muntin")
            inside(page).locator("figure svg").first.wait_for()
            told_again(page, shots)
            look_at_what_failed(page, airflow, home, shots)
        look_at_it(opened, home, shots, "dark", color_scheme="dark")
        look_at_it(opened, home, shots, "narrow", color_scheme="light", viewport=NARROW)


def ask_for_the_window(page: Page) -> None:
    """Its row in the table of windows, and its explanation."""
    frame = inside(page)
    frame.get_by_role("link", name="Windows", exact=True).last.click()
    frame.get_by_label("from").fill(f"2024-01-{MENDED:02d}")  # this field is not on the page before
    frame.get_by_label("to").fill(f"2024-01-{MENDED:02d}T12:00")
    frame.get_by_label("who").first.fill(WHO[0])
    frame.get_by_role("button", name="Show").click()
    expect(frame.locator("tbody tr")).to_have_count(1)
    frame.get_by_role("link", name="explain").click()


def ask_for_the_timeline(page: Page) -> None:
    """Of windows that overlap; some are open."""
    frame = inside(page)
    frame.get_by_role("link", name="Timeline").click()
    frame.locator("select[name=window]").select_option("two_days")
    frame.get_by_label("who").fill(WHO[0])
    frame.get_by_role("button", name="Show").click()
    frame.get_by_role("heading", name="two_days").wait_for()
    titles = frame.locator("figure title").all_text_contents()
    assert sum(title.endswith("open") for title in titles) == OPEN


def look_at_the_window(page: Page, home: Home, shots: Path) -> None:
    """The window of the day that lacks rows, on the tab of the DAG."""
    page.goto(f"{home.url}/dags/shop/plugin/muntin")
    frame = inside(page)
    ask_for_the_timeline(page)
    page.screenshot(path=shots / "timeline-light.png")
    ask_for_the_window(page)
    frame.get_by_text("Made of 1 state").wait_for()
    assert frame.get_by_text("By task").count() == 0  # published in bulk, by no run
    filled = frame.locator(".again .field code").all_inner_texts()
    assert filled == [f"2024/01/{MENDED:02d} 00:00", f"2024/01/{MENDED + 1:02d} 00:00", "All Runs"]  # a late row came a day later
    frame.locator("body").evaluate(NO_FOLDERS, str(home.folder.parent))
    page.screenshot(path=shots / "window-light.png")


def look_at_airflow(page: Page, airflow: Airflow, home: Home, shots: Path) -> None:
    """Airflow's own pages: the grid of the runs, and a window's asset between the DAG that publishes it and another that waits."""
    page.goto(f"{home.url}/dags/shop/runs")
    expect(page.get_by_role("table").last.locator("tbody tr")).to_have_count(len(DAYS))
    page.screenshot(path=shots / "grid-light.png")
    (asset,) = (each for each in airflow.api.get("assets?limit=100")["assets"] if each["name"] == "shop/half_day")
    page.goto(f"{home.url}/assets/{asset['id']}")
    for name in ("shop", "shop/half_day", "ranking"):
        page.locator(".react-flow__node").get_by_text(name, exact=True).first.wait_for()
    page.screenshot(path=shots / "asset-light.png")


def told_again(page: Page, shots: Path) -> None:
    """The window of the mended day has all of its rows, and names the run that published them."""
    ask_for_the_window(page)
    frame = inside(page)
    frame.get_by_text("Made of 3 states").wait_for()
    assert frame.get_by_text("By task").first.inner_text().startswith("By task publish of run backfill__2024-01-")
    frame.get_by_role("link", name="Results").click()
    frame.locator("figure svg").first.wait_for()
    page.screenshot(path=shots / "results-light.png")


def look_at_what_failed(page: Page, airflow: Airflow, home: Home, shots: Path) -> None:
    """A run of a day without a file: the page says at which step it failed, why, and leads to its log, out of its frame."""
    day = f"2024-01-{DAYS[-1] + 1:02d}T00:00:00Z"
    airflow.api.post("backfills", {"dag_id": "shop", "from_date": day, "to_date": day, "reprocess_behavior": "none", "max_active_runs": 1})
    airflow.follow(is_over)
    page.goto(f"{home.url}/dags/shop/plugin/muntin")
    call = inside(page).locator(".call").first
    expect(call.locator("strong")).to_contain_text("failed at accumulate")
    expect(call).to_contain_text("SourceError: no file at")
    expect(call.locator("code")).to_contain_text("airflow tasks clear shop")
    inside(page).locator(".trends svg").first.wait_for()
    inside(page).locator("body").evaluate(NO_FOLDERS.replace("'code'", "'code, .more li, td.reason'"), str(home.folder.parent))
    page.screenshot(path=shots / "now-light.png")
    call.get_by_role("link", name="log in Airflow").click()
    page.wait_for_url("**/dags/shop/runs/**/tasks/accumulate*")


def look_at_it(opened: Browser, home: Home, shots: Path, name: str, **style: object) -> None:
    """Pictures of the pages as another reader sees them."""
    with signed_in(opened, home.url, "viewer", **style) as page:
        page.goto(f"{home.url}/plugin/windows")
        inside(page).get_by_role("link", name="shop").first.click()
        ask_for_the_timeline(page)
        page.screenshot(path=shots / f"timeline-{name}.png")


def is_over(api: Api) -> Inspection:
    """Whether the backfill is done; `completed_at` comes after its runs."""
    backfills = api.get("backfills?dag_id=shop")["backfills"]
    tasks = api.get("dags/shop/dagRuns/~/taskInstances")["task_instances"]
    return Inspection(bool(backfills) and all(each["completed_at"] for each in backfills), str([task["state"] for task in tasks]))
