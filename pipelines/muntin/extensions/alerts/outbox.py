"""The outbox: messages on their way to a channel, a file each.

What could not be sent stays, and the next run sends it first.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from uuid import uuid4

from muntin.errors import StateError
from muntin.extensions.alerts.message import Message
from muntin.files.paths import AnyPath, ascending, rename
from muntin.jobs.state.notes import read_note
from muntin.store.disk import write_whole

MOST = 50
"""Messages that wait at most; an older message makes room for a newer."""
TRIES = 10
"""How often a message is tried at most: a service may refuse it for ever."""

_STALE_S = 120
_SENDING = ".sending"
log = logging.getLogger("muntin")


@dataclass(frozen=True, slots=True)
class Letter:
    """A message to one channel.

    Attributes:
        channel: its name.
        message: what it is sent.
        tries: how often it was tried.
        sent: the positions of the channel's addresses that have it.
        path: its file while this run sends it; None where nothing is kept.
    """

    channel: str
    message: Message
    tries: int = 0
    sent: tuple[int, ...] = ()
    path: AnyPath | None = None


@dataclass(frozen=True, slots=True)
class Outbox:
    """The messages of a state that wait; without a folder, before the first run, none waits."""

    folder: AnyPath | None

    def put(self, letter: Letter) -> bool:
        """Keep a message until it is sent; returns whether it is kept: a full disk is a reason to send it all
        the same.
        """
        if self.folder is None:
            return False
        try:
            _write(self.folder / f"{time.time_ns():020d}-{uuid4().hex[:8]}.json", letter)
        except StateError:
            return False
        waiting = self._files()
        for path in waiting[: max(0, len(waiting) - MOST)]:
            log.warning("alerts: more than %s messages wait: the oldest is dropped", MOST)
            path.unlink(missing_ok=True)
        return True

    def letters(self, channel: str) -> Iterator[Letter]:
        """The messages to a channel, oldest first.

        Each is taken by this run alone: say `done` or `back` of it.
        """
        for path in self._files():
            sending_path = path.with_name(path.name + _SENDING)
            letter = _read(path)
            if letter is None or letter.channel != channel:
                continue
            with suppress(OSError):  # another run took it
                rename(path, sending_path)
                sending_path.touch()
                yield replace(letter, path=sending_path)

    def done(self, letter: Letter) -> None:
        if letter.path is not None:
            letter.path.unlink(missing_ok=True)

    def back(self, letter: Letter, sent: Sequence[int]) -> bool:
        """A message was not sent, but to some addresses; whether it will be tried again."""
        if letter.path is None or letter.tries + 1 >= TRIES:
            self.done(letter)
            return False
        with suppress(StateError):
            _write(letter.path, replace(letter, tries=letter.tries + 1, sent=tuple(sent)))
        rename(letter.path, letter.path.with_name(letter.path.name.removesuffix(_SENDING)))
        return True

    def forget_others(self, channels: Sequence[str]) -> None:
        """Drop the messages to channels that are not declared any more."""
        for path in self._files():
            letter = _read(path)
            if letter is not None and letter.channel not in channels:
                path.unlink(missing_ok=True)

    def count(self) -> int:
        """How many messages wait, or are on their way. Changes nothing."""
        return sum(1 for path in self.folder.glob("[!.]*.json*")) if self.folder else 0

    def _files(self) -> list[AnyPath]:
        """The files of the messages that wait, oldest first; with messages that a killed run was sending."""
        if self.folder is None:
            return []
        for path in self.folder.glob(f"*{_SENDING}"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _STALE_S:
                    rename(path, path.with_name(path.name.removesuffix(_SENDING)))
        return ascending(self.folder.glob("*.json"))


def _write(path: AnyPath, letter: Letter) -> None:
    facts = {
        "channel": letter.channel,
        "tries": letter.tries,
        "sent": letter.sent,
        "message": asdict(letter.message),
    }
    write_whole(path, json.dumps(facts).encode())


def _read(path: AnyPath) -> Letter | None:
    facts = read_note(path)
    try:
        return Letter(facts["channel"], Message(**facts["message"]), facts["tries"], tuple(facts["sent"]))
    except (ValueError, TypeError, KeyError):
        return None
