"""Messages of whole runs: through Airflow's connection, by Apprise, to real receivers."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from muntin import airflow_dag
from muntin.cli.place import load_pipeline
from muntin.extensions import alerts
from tests.airflow.inside.test_runs import published, states
from tests.airflow.project import half_days, write_day
from tests.alerts.receivers import Mailbox, Webhook, mailbox, webhook
from tests.servers import free_port

pytestmark = pytest.mark.usefixtures("spark_server")
Run = Callable[..., Any]
SECRET = "hunter2hunter2"  # noqa: S105 - no real one


class Heard:
    """A notifier as Airflow's providers have them."""

    template_fields = ("text",)
    texts: list[str] = []  # noqa: RUF012 - of all copies

    def __new__(cls) -> Any:
        from airflow.sdk import BaseNotifier

        class Notifier(BaseNotifier):
            template_fields = ("text",)

            def __init__(self) -> None:
                super().__init__()
                self.text = "{{ alert.title }} in {{ dag.dag_id }}"

            def notify(self, context: Any) -> None:
                Heard.texts.append(f"{self.text}: {context['alert'].text.count(chr(10))} lines")

        return Notifier()


@pytest.fixture(scope="module")
def server() -> Iterator[Webhook]:
    with webhook() as found:
        yield found


@pytest.fixture(scope="module")
def mail() -> Iterator[Mailbox]:
    with mailbox() as found:
        yield found


@pytest.fixture
def hook(server: Webhook, mail: Mailbox, monkeypatch: pytest.MonkeyPatch) -> Webhook:
    """A webhook and a mailbox behind one connection."""
    server.posted.clear()
    mail.letters.clear()
    Heard.texts.clear()
    connect(monkeypatch, server.address(SECRET, user=f"me:{SECRET}"), mail.address())
    return server


def connect(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    extra = {"config": [{"path": address, "tag": "alerts"} for address in addresses]}
    monkeypatch.setenv("AIRFLOW_CONN_ALERTS", json.dumps({"conn_type": "apprise", "extra": extra}))


@pytest.fixture
def told(dags: dict[str, Any], run_day: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the shop for a day with alerts declared."""
    file = dags["shop"].fileloc
    asked = [alerts.to("alerts", Heard, mask=["who"], quarantined=0.1), alerts.revised(by="5%", of="total")]
    shop = replace(load_pipeline(Path(file)), alerts=asked)
    dag = airflow_dag(shop)
    dag.fileloc = file
    monkeypatch.setitem(dags, "shop", dag)
    return run_day


def test_one_message_a_run_through_a_connection(
    told: Run, dags: dict[str, Any], root: Path, project: Path, hook: Webhook, mail: Mailbox, caplog: pytest.LogCaptureFixture
):
    caplog.set_level(logging.DEBUG)
    told(1)
    assert (hook.posted, mail.letters, Heard.texts) == ([], [], [])

    write_day(project, 2, [("ann", 3, -1), ("bob", 4, 2)])
    bad = told(2)
    assert states(bad)["validate"] == "failed"
    (posted,), (letter,) = hook.posted, mail.letters
    assert (posted["type"], posted["title"]) == ("failure", "shop: 1 critical, [2024-01-02, 2024-01-03)")
    assert letter["subject"] == posted["title"]
    assert posted["message"].splitlines()[2:9] == [
        "critical: window half_day: expect_column_values_to_be_between(column='total', min_value=0)",
        "  1 row not as expected (50 %)",
        "  who  window_start          window_end            total",
        "  ***  2024-01-02T00:00:00Z  2024-01-02T12:00:00Z  -1",
        "",
        "nothing was published; what was published before stays as it is, up to 2024-01-02 UTC",
        "",
    ]
    assert f"/dags/shop/runs/{bad.run_id.replace(':', '%3A').replace('+', '%2B')}/tasks/validate" in posted["message"]
    assert Heard.texts == [f"shop: 1 critical, [2024-01-02, 2024-01-03) in shop: {posted['message'].count(chr(10))} lines"]
    assert published(dags, root) == half_days([1])

    write_day(project, 2)
    told(2)
    assert [each["type"] for each in hook.posted] == ["failure", "success"]
    assert "well again:" in hook.posted[1]["message"]

    files = [path.read_text() for path in root.rglob("alerts/*/*") if path.is_file()]
    assert not [text for text in (*files, caplog.text, str(hook.posted)) if SECRET in text]


def test_a_published_total_that_moves_is_told(told: Run, project: Path, hook: Webhook):
    told(1)
    (project / "data/2024-01-01.csv").write_text("who,at,amount\nann,2024-01-01T01:00:00Z,77\n", encoding="utf-8")
    told(1)
    write_day(project, 1)
    (posted,) = hook.posted
    assert "warning: window half_day: total moved by more than 5 %" in posted["message"]
    assert "by 1 batch [2024-01-01, 2024-01-02)\n" in posted["message"]


def test_a_channel_that_is_down_fails_no_run_and_gets_it_later(
    told: Run,
    dags: dict[str, Any],
    root: Path,
    project: Path,
    hook: Webhook,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    connect(monkeypatch, hook.address().replace(str(hook.port), str(free_port())))
    (project / "data/2024-01-01.csv").write_text("who,at,amount\nann,2024-01-01T01:00:00Z,10\nbob,,1\n", encoding="utf-8")
    run = told(1)
    assert set(states(run).values()) == {"success"}
    assert published(dags, root) == [("ann", 1, 10)]
    assert "alerts: not sent to 'alerts' (JSON: A Connection error" in caplog.text

    connect(monkeypatch, hook.address())
    told(2)
    assert [each["title"] for each in hook.posted] == [
        "shop: 1 warning, [2024-01-01, 2024-01-02)",
        "shop: well again, [2024-01-02, 2024-01-03)",
    ]
