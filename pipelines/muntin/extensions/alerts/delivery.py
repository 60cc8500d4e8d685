"""Deliver messages to the channels of a declaration, within ten seconds in all.

A channel that is down stops nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from threading import Thread
from typing import Any

from muntin.errors import MissingPackageError
from muntin.extensions.alerts.addresses import Address, ChannelError, notify, of_environment
from muntin.extensions.alerts.apprise_channel import send
from muntin.extensions.alerts.declaration import Alerts
from muntin.extensions.alerts.message import Message
from muntin.extensions.alerts.outbox import Letter, Outbox

BUDGET_S = 10.0
log = logging.getLogger("muntin")


@dataclass(frozen=True, slots=True)
class Sender:
    """How this process reaches channels.

    Attributes:
        addresses: name of a channel -> addresses of Apprise.
        context: what templates of notifiers find in addition to the message, as Airflow's context of a task.
        budget_s: seconds for all messages together.
    """

    addresses: Callable[[str], list[Address]] = of_environment
    context: Mapping[str, Any] = field(default_factory=dict)
    budget_s: float = BUDGET_S

    def send(self, channel: Any, message: Message, sent: list[int]) -> None:  # noqa: ANN401 - a name, a notifier, or a function
        """Send a message to the addresses of a channel that do not have it; `sent` are the positions of
        addresses that have it.

        A `ChannelError` if it could not be sent.
        """
        if isinstance(channel, str):
            send(self.addresses(channel), message, sent)
        else:
            notify(channel, message, self.context)


def names_of(channels: Sequence[Any]) -> list[str]:
    """The names of channels in logs and in the outbox: each channel has its own name.

    >>> names_of(["alerts", print, print])
    ['alerts', 'print', 'print 2']
    """
    names = [
        each if isinstance(each, str) else str(getattr(each, "__name__", None) or type(each).__name__)
        for each in channels
    ]
    before = [names[:at].count(name) for at, name in enumerate(names)]
    return [f"{name} {count + 1}" if count else name for name, count in zip(names, before, strict=True)]


def deliver(alerts: Alerts, outbox: Outbox, messages: Sequence[Message], sender: Sender) -> tuple[str, ...]:
    """Send what waits, then the new messages, to every channel; say of each what became of it."""
    end = time.monotonic() + sender.budget_s
    names = names_of(alerts.channels)
    outbox.forget_others(names)
    channels = zip(names, alerts.channels, strict=True)
    lines = [
        line for name, channel in channels for line in _deliver(name, channel, outbox, messages, sender, end)
    ]
    for line in (line for line in lines if "not sent" in line):
        log.warning("alerts: %s", line)
    return tuple(lines)


def _deliver(
    name: str,
    channel: Any,  # noqa: ANN401
    outbox: Outbox,
    messages: Sequence[Message],
    sender: Sender,
    end: float,
) -> Iterator[str]:
    """Deliver to one channel; after a message that could not be sent, later messages wait with it."""
    new = [Letter(name, message) for message in messages]
    unkept = [letter for letter in new if not outbox.put(letter)]
    count = 0
    for letter in chain(unkept, outbox.letters(name)):
        reason, sent = _within(end - time.monotonic(), sender, channel, letter)
        if reason is not None:
            again = "the next run tries again" if outbox.back(letter, sent) else "it is given up"
            yield f"not sent to {name!r} ({reason}); {again}"
            break
        outbox.done(letter)
        count += 1
    if count:
        yield f"sent to {name!r}" + (f", with {count - len(new)} of earlier runs" if count > len(new) else "")


def _within(
    seconds: float,
    sender: Sender,
    channel: Any,  # noqa: ANN401 - as `Sender.send`
    letter: Letter,
) -> tuple[str | None, tuple[int, ...]]:
    """Send in a thread; why it was not sent within so many seconds, or None, and which addresses have the
    message.

    The thread is left alone when the time is over.
    """
    outcome: list[str | None] = []
    sent = list(letter.sent)

    def attempt() -> None:
        try:
            sender.send(channel, letter.message, sent)
            outcome.append(None)
        except (ChannelError, MissingPackageError) as wrong:
            outcome.append(str(wrong))
        except Exception as wrong:  # noqa: BLE001 - its text may hold an address
            outcome.append(type(wrong).__name__)

    thread = Thread(target=attempt, name="muntin alert", daemon=True)
    if seconds > 0:
        thread.start()
        thread.join(seconds)
    return outcome[0] if outcome else f"no answer within {sender.budget_s:g} s", tuple(sent)
