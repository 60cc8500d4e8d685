"""Messages to real receivers, by every way in which a channel can be named; and what is told of a channel that is down."""

import json
import logging
from typing import Any

import pytest

from muntin.extensions.alerts.addresses import ChannelError, chat_text, notify, of_connection, of_environment
from muntin.extensions.alerts.apprise_channel import send
from muntin.extensions.alerts.message import Message
from tests.alerts.receivers import Mailbox, Webhook
from tests.servers import free_port

TEXT = "one  two   three\n  <b>four</b> & {{ five }}"
MESSAGE = Message("failure", "shop: 1 critical", TEXT, f"**shop**\n```\n{TEXT}\n```")
SECRET = "hunter2hunter2"  # noqa: S105 - no real one


def test_a_webhook_gets_title_text_and_type(hook: Webhook) -> None:
    send([(hook.address(), "alerts")], MESSAGE)
    (posted,) = hook.posted
    assert (posted["title"], posted["message"], posted["type"]) == (MESSAGE.title, TEXT, "failure")


def test_a_letter_keeps_lines_and_markup_of_data_is_text(mail: Mailbox) -> None:
    send([(mail.address(), None)], MESSAGE)
    (letter,) = mail.letters
    assert letter["subject"] == MESSAGE.title
    plain, html = (letter.get_body((kind,)).get_content() for kind in ("plain", "html"))  # type: ignore[union-attr]
    assert [line.split() for line in plain.splitlines()] == [line.split() for line in TEXT.splitlines()]
    assert "&lt;b&gt;four&lt;/b&gt; &amp; {{ five }}" in html
    assert "one&nbsp; two&nbsp;&nbsp; three<br/>&nbsp; &lt;b" in html


def test_a_service_of_markdown_gets_markdown(hook: Webhook) -> None:
    send([(f"{hook.address()}?format=markdown", None)], MESSAGE)
    assert hook.posted[0]["message"] == MESSAGE.markdown


def test_several_addresses_all_get_it_though_the_first_is_down(hook: Webhook, mail: Mailbox) -> None:
    with pytest.raises(ChannelError, match="JSON: A Connection error"):
        send([(f"json://127.0.0.1:{free_port()}/", None), (hook.address(), None), (mail.address(), None)], MESSAGE)
    assert (len(hook.posted), len(mail.letters)) == (1, 1)


def test_an_address_that_has_the_message_is_left_out(hook: Webhook, mail: Mailbox) -> None:
    sent = [1]
    with pytest.raises(ChannelError):
        send([(mail.address(), None), (hook.address(), None), (f"json://127.0.0.1:{free_port()}/", None)], MESSAGE, sent)
    assert (len(hook.posted), len(mail.letters), sent) == (0, 1, [1, 0])


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("json://user:{secret}@127.0.0.1:{port}/{secret}?token={secret}", "Connection error"),
        ("json://user:{secret}@127.0.0.1:{hook}/{secret}", "error=500"),
        ("mailto://user:{secret}@127.0.0.1:{port}/?from=a@example.com&to=b@example.com&mode=insecure", "E-Mail"),
        ("nonsense://{secret}", "does not understand"),
        ("slack://{secret}", "does not understand"),
        ("{secret}", "does not understand"),
    ],
)
def test_a_reason_holds_no_secret(
    hook: Webhook, path: str, words: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    hook.status = 500
    caplog.set_level(logging.DEBUG)
    with pytest.raises(ChannelError) as down:
        send([(path.format(secret=SECRET, port=free_port(), hook=hook.port), None)], MESSAGE)
    assert words in str(down.value)
    told = f"{down.value}{down.value.__cause__}{caplog.text}{''.join(capfd.readouterr())}"
    assert SECRET not in told


EXTRA: dict[str, Any] = {"config": [{"path": "json://host/x", "tag": "a"}, {"path": "json://host/y"}]}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (json.dumps({"conn_type": "apprise", "extra": EXTRA}), [("json://host/x", "a"), ("json://host/y", None)]),
        (json.dumps({"conn_type": "apprise", "extra": json.dumps({"config": json.dumps({"path": "json://h"})})}), [("json://h", None)]),
        ("apprise://?config=%7B%22path%22%3A%20%22json%3A%2F%2Fh%22%7D", [("json://h", None)]),
        ("apprise://?__extra__=%7B%22config%22%3A%20%7B%22path%22%3A%20%22json%3A%2F%2Fh%22%7D%7D", [("json://h", None)]),
    ],
)
def test_a_connection_is_read_as_airflow_reads_it(text: str, found: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_OUR_ALERTS", text)
    assert of_environment("our_alerts") == found


def test_a_variable_holds_an_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MUNTIN_ALERTS", "json://host/x")
    assert of_environment("env:MUNTIN_ALERTS") == [("json://host/x", None)]


@pytest.mark.parametrize(
    "text", [None, "{", '{"conn_type": "slack"}', '{"conn_type": "apprise"}', f"http://a:{SECRET}@b", f'{{"x": "{SECRET}']
)
def test_what_is_no_connection_is_told_without_its_content(text: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_ALERTS", raising=False)
    if text is not None:
        monkeypatch.setenv("AIRFLOW_CONN_ALERTS", text)
    with pytest.raises(ChannelError, match=r"AIRFLOW_CONN_ALERTS|connection 'alerts'") as told:
        of_environment("alerts")
    assert SECRET not in str(told.value)
    assert told.value.__cause__ is None


def test_a_connection_of_another_type_is_refused() -> None:
    with pytest.raises(ChannelError, match="of type slack"):
        of_connection("alerts", "slack", {})


class Notifier:
    """As Airflow's are: attributes that are templates, rendered in place."""

    sent: list[str] = []  # noqa: RUF012 - what all copies sent

    def __init__(self, text: str = "{alert.title}|{alert.text}") -> None:
        self.text = text

    def render_template_fields(self, context: Any) -> None:
        self.text = self.text.format(**context)

    def notify(self, context: Any) -> None:
        if context.get("broken"):
            raise RuntimeError(SECRET)
        self.sent.append(self.text)


@pytest.mark.parametrize("channel", [Notifier(), Notifier])
def test_a_notifier_gets_the_message_as_a_value_of_its_templates(channel: Any) -> None:
    Notifier.sent.clear()
    for _ in range(2):  # a template is rendered in place, so each message needs a copy
        notify(channel, MESSAGE, {})
    assert Notifier.sent == [f"{MESSAGE.title}|{chat_text(TEXT)}"] * 2


def test_of_a_notifier_that_raises_the_type_is_told() -> None:
    with pytest.raises(ChannelError, match="raised RuntimeError") as told:
        notify(Notifier(), MESSAGE, {"broken": True})
    assert SECRET not in str(told.value)
