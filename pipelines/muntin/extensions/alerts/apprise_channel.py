"""Send a message by Apprise: to each address in the form that its service shows."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from html import escape
from threading import get_ident
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from muntin.definition.extras import need
from muntin.extensions.alerts.addresses import ChannelError, for_chat, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from muntin.extensions.alerts.addresses import Address
    from muntin.extensions.alerts.message import Message

CONNECT_S, READ_S = 3.0, 4.0
"""Seconds that a service has to take a connection, and to answer."""

_LOGGERS = ("apprise", "urllib3.connectionpool", "urllib3.util.retry", "requests_oauthlib.oauth2_session")
_NO_CHATS = {"mailto", "mailtos", "json", "jsons", "xml", "xmls", "form", "forms"}
"""Mail, whose HTML is escaped, and programs."""
_SHORT = 4  # a piece of an address that is shorter hides nothing


def send(addresses: Sequence[Address], message: Message, sent: list[int] | None = None) -> None:
    """Send a message to every address; an address of Apprise may stand for several services.

    `sent`: the positions of addresses that have the message: they are left out, and addresses that take it
    now are added. The text of a `ChannelError` holds no secret.
    """
    need("apprise")
    have: list[int] = [] if sent is None else sent
    failed: list[str] = []
    with _quiet() as warnings:
        for position in (each for each in range(len(addresses)) if each not in have):
            if wrong := list(_send(addresses[position], message)):
                failed += wrong
            else:
                have.append(position)
    if failed:
        reason = _without_secrets(warnings[0], addresses) if warnings else "no reason was given"
        raise ChannelError(f"{', '.join(dict.fromkeys(failed))}: {reason}")


def _send(address: Address, message: Message) -> Iterator[str]:
    """Send to one address; the names of the services that failed."""
    import apprise

    services = apprise.Apprise()
    path, tag = address
    if not services.add(path, tag=tag):
        yield "an address that Apprise does not understand"
    for service in services.find():
        service.socket_connect_timeout = min(service.socket_connect_timeout, CONNECT_S)
        service.socket_read_timeout = min(service.socket_read_timeout, READ_S)
        if service.overflow_mode == apprise.OverflowMode.UPSTREAM:
            service.overflow_mode = apprise.OverflowMode.TRUNCATE
        if not _reported(service, message):
            yield str(service.service_name or "a service")


def _reported(service: Any, original: Message) -> bool:  # noqa: ANN401 - Apprise's service
    """Hand a message to a service; whether it took it."""
    import apprise

    message = plain(original) if service.schema in _NO_CHATS else for_chat(original)
    lines = re.sub(
        " {2,}", lambda spaces: "&nbsp;" * (len(spaces[0]) - 1) + " ", escape(message.text)
    ).splitlines()
    forms = {
        apprise.NotifyFormat.MARKDOWN: message.markdown,
        apprise.NotifyFormat.HTML: f'<div style="font-family: monospace">{"<br/>".join(lines)}</div>',
    }
    body = forms.get(service.notify_format, message.text)
    one = apprise.Apprise()
    one.add(service)
    return bool(
        one.notify(
            body=body, title=message.title, notify_type=message.tone, body_format=service.notify_format
        )
    )


@contextmanager
def _quiet() -> Iterator[list[str]]:
    """Collect Apprise's warnings and errors of this thread.

    No log gets them, nor the request paths, which may be tokens.
    """
    warnings: list[str] = []
    thread = get_ident()

    def heard(record: logging.LogRecord) -> bool:
        if record.thread == thread and record.name == "apprise" and record.levelno >= logging.WARNING:
            warnings.append(record.getMessage())
        return record.thread != thread

    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for log in loggers:
        log.addFilter(heard)
    try:
        yield warnings
    finally:
        for log in loggers:
            log.removeFilter(heard)


def _without_secrets(text: str, addresses: Sequence[Address]) -> str:
    pieces = {piece for path, _ in addresses for piece in _pieces(path)}
    for piece in sorted(pieces, key=len, reverse=True):
        text = text.replace(piece, "***")
    return " ".join(text.split())[:300]


def _pieces(path: str) -> Iterator[str]:
    """The parts of an address that may be secret: user, password, tokens in path and query.

    Some services have a token as host.
    """
    behind = path.partition("://")[2] or path
    raw = [
        behind,
        *behind.replace("?", "/")
        .replace("&", "/")
        .replace("=", "/")
        .replace(":", "/")
        .replace("@", "/")
        .split("/"),
    ]
    for piece in raw:
        if len(piece) >= _SHORT:
            yield piece
            yield unquote(piece)
