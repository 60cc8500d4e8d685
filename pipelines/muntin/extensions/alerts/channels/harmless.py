"""Messages without live markup: what comes of data mentions no user, leads nowhere and shows no picture,
whatever a chat makes of it.

Chats read markup in texts of every format, mentions within code too, and Apprise itself looks for mentions.
So the characters that begin markup are replaced by their likes, or parted from what follows by a space of no
width.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from muntin.printable import lines, printable

if TYPE_CHECKING:
    from muntin.extensions.alerts.message import Message

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
