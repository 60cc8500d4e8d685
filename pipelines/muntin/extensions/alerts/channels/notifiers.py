"""Send a message by a notifier of Airflow, such as a SlackNotifier: an object with `notify(context)`."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from muntin.extensions.alerts.channels.errors import ChannelError
from muntin.extensions.alerts.channels.harmless import for_chat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.extensions.alerts.message import Message

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
