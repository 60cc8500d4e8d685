"""Where a channel's addresses are: in an environment variable, as Airflow has connections, or as plain text.

No error of this module repeats an address: it may hold a password.

The error of a channel. It stops no run: it is logged, and the message is kept.

Send a message by a notifier of Airflow, such as a SlackNotifier: an object with `notify(context)`.

Messages without live markup: what comes of data mentions no user, leads nowhere and shows no picture,
whatever a chat makes of it.

Chats read markup in texts of every format, mentions within code too, and Apprise itself looks for mentions.
So the characters that begin markup are replaced by their likes, or parted from what follows by a space of no
width.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muntin.extensions.alerts.declaration import VARIABLE
from muntin.files.connections import connection_of_environment
from muntin.printable import lines, printable

if TYPE_CHECKING:
    from muntin.extensions.alerts.message import Message


class ChannelError(Exception):
    """A message could not be sent. The text holds no address and no secret."""


_SPACE = "\N{ZERO WIDTH SPACE}"
_LIVE = (
    # <!channel>, <@U1>, <http://...|text>, <b>
    (re.compile(r"\\?<"), "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"),
    (re.compile(r"\\?>"), "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"),
    (re.compile(r"@(?=\S)"), f"@{_SPACE}"),  # @everyone
    (re.compile(r"\](?=[(\[:])"), f"]{_SPACE}"),  # [text](http://...), ![text](http://...)
    # a heading, which Apprise makes a field of Discord's
    (re.compile(r"^(\s*)#", re.MULTILINE), rf"\1{_SPACE}#"),
)


def plain(message: Message) -> Message:
    """The message as mail and programs get it."""
    return replace(
        message, title=printable(message.title), text=lines(message.text), markdown=lines(message.markdown)
    )


def for_chat(message: Message) -> Message:
    """The message as a chat gets it, or a notifier of Airflow's that may be one."""
    plain_message = plain(message)
    return replace(
        plain_message,
        title=chat_text(plain_message.title),
        text=chat_text(plain_message.text),
        markdown=chat_text(plain_message.markdown),
    )


def chat_text(text: str) -> str:
    r"""A text in which a chat finds no markup that does anything.

    >>> ascii(chat_text("<!channel> @here"))
    "'\\u2039!channel\\u203a @\\u200bhere'"
    """
    for live, dead in _LIVE:
        text = live.sub(dead, text)
    return text


NAME = "alert"
"""What a notifier's templates find the message by:

`{{ alert.title }}`, `{{ alert.text }}`, `{{ alert.markdown }}`.
"""


def notify(channel: Any, message: Message, context: Mapping[str, Any]) -> None:  # noqa: ANN401 - a notifier, or a function that makes one
    """Render a copy of the notifier's templates with the message, and let the notifier send it.

    The message is a value of the templates and never a template: braces in data stay braces. Nothing in it is
    markup of a chat or HTML. Of an error of the notifier only the type is reported, as the text may hold an
    address.
    """
    try:
        notifier = copy(channel() if isinstance(channel, type) or not hasattr(channel, "notify") else channel)
        full = {**context, NAME: for_chat(message)}
        if hasattr(notifier, "render_template_fields"):
            notifier.render_template_fields(full)
        notifier.notify(full)
    except Exception as wrong:  # noqa: BLE001 - whatever it is, the run goes on
        raise ChannelError(f"raised {type(wrong).__name__}") from None


Address = tuple[str, Any]
"""An address of Apprise, and its tags or None."""


def of_environment(channel: str) -> list[Address]:
    """The addresses of `env:NAME`, or of the connection in `AIRFLOW_CONN_<NAME>`."""
    if channel.startswith(VARIABLE):
        name = channel.removeprefix(VARIABLE)
        if not (address := os.environ.get(name, "").strip()):
            raise ChannelError(f"the environment has no {name}; set it to an address of Apprise")
        return [(address, None)]
    connection = connection_of_environment(channel, ChannelError, "set it to a connection of type apprise")
    return of_connection(channel, connection.kind, connection.extra)


def of_connection(name: str, kind: str | None, extra: Mapping[str, Any]) -> list[Address]:
    """The addresses of a connection: its `extra` has `config`, an object or a list of objects with `path` and
    `tag`.
    """
    if kind != "apprise":
        raise ChannelError(
            f"the connection {name!r} is of type {kind}; make it one of type apprise, or give a notifier of"
            " Airflow"
        )
    try:
        config = extra["config"]
        parsed = json.loads(config) if isinstance(config, str) else config
        entries = [parsed] if isinstance(parsed, Mapping) else parsed
        return [(str(entry["path"]), entry.get("tag")) for entry in entries]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise ChannelError(
            f'the connection {name!r} has no addresses; its extra is {{"config": [{{"path":'
            ' "mailto://..."}]}'
        ) from None
