"""Messages to chats, mail and notifiers of Airflow, with keys that would mention, lead or compute there; to real receivers."""

import re
from collections.abc import Iterator
from contextlib import suppress
from email.message import EmailMessage
from typing import Any

import pytest

from muntin.extensions.alerts import to
from muntin.extensions.alerts.addresses import ChannelError, notify
from muntin.extensions.alerts.apprise_channel import send
from muntin.extensions.alerts.findings import findings
from muntin.extensions.alerts.message import Message, message
from tests.alerts.made import check, report, run
from tests.alerts.receivers import Webhook, mailbox, webhook
from tests.security.test_harmless_text import KEYS, unseen

LIVE = re.compile(r"<[!@#h]|(?<!\u200b)@(everyone|here|channel|all|U\d)|\]\(")


@pytest.fixture(scope="module")
def hostile() -> Message:
    rows = [{"k": key, "<!here>\x1b": key} for key in KEYS[:5]]
    told = run(quality=(report(check(failing_rows=rows, kwargs={"value_set": KEYS}, error=" ".join(KEYS))),), link="http://airflow/runs/1")
    return message(told, findings(to("alerts"), told))


@pytest.fixture
def hook() -> Iterator[Webhook]:
    with webhook() as found:
        yield found


@pytest.mark.parametrize("form", ["", "text", "markdown", "html"])
@pytest.mark.parametrize("chat", ["slack", "discord", "mattermost"])
def test_chats(chat: str, form: str, hostile: Message, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apprise.plugins.slack.NotifySlack.webhook_url", f"http://127.0.0.1:{hook.port}")
    monkeypatch.setattr("apprise.plugins.discord.NotifyDiscord.notify_url", f"http://127.0.0.1:{hook.port}")
    address = {
        "slack": "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ/#c",
        "discord": "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        "mattermost": f"mmost://127.0.0.1:{hook.port}/3ccdd113474722377935511fc85d3dd4",
    }[chat]
    with suppress(ChannelError):  # Slack's "ok" does not come
        send([(f"{address}?format={form}" if form else address, None)], hostile)
    (posted,) = hook.posted
    assert not {"allow_mentions", "fields"} & {*posted, *posted.get("embeds", [{}])[0]}
    told = "\n".join(texts(posted))
    assert "HYPERLINK" in told
    assert LIVE.findall(told) == []
    assert "\x1b" not in told


def texts(posted: object) -> Iterator[str]:
    """Every text of a document."""
    if isinstance(posted, str):
        yield posted
    elif isinstance(posted, dict | list):
        for each in posted.values() if isinstance(posted, dict) else posted:
            yield from texts(each)


def test_the_chats_would_have_taken_it_for_markup(hostile: Message, hook: Webhook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.extensions.alerts.apprise_channel.for_chat", lambda found: found)
    send([(f"mmost://127.0.0.1:{hook.port}/3ccdd113474722377935511fc85d3dd4", None)], hostile)
    assert LIVE.findall(hook.posted[0]["text"])


def test_mail(hostile: Message) -> None:
    with mailbox() as mail:
        send([(mail.address(), None)], hostile)
    letter: EmailMessage = mail.letters[0]
    plain, html = (letter.get_body((kind,)).get_content() for kind in ("plain", "html"))  # type: ignore[union-attr]
    assert unseen((plain + html).replace("\r", "")) == []
    assert "<script" not in html
    assert "<http" not in html


class Notifier:
    """As Airflow's, for a chat."""

    sent = ""

    def notify(self, context: Any) -> None:
        alert = context["alert"]
        Notifier.sent = f"{alert.title} {alert.text} {alert.markdown}"


def test_notifiers_of_airflow(hostile: Message) -> None:
    notify(Notifier(), hostile, {})
    assert "HYPERLINK" in Notifier.sent
    assert LIVE.findall(Notifier.sent) == []
