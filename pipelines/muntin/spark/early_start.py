"""A session that starts in a thread, while the process imports and looks at what there is to do. Whoever needs it waits for it."""

from __future__ import annotations

import atexit
import os
import signal
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_begun: list[_Start] = []


class _Start(Thread):
    """A start that is under way or over. A daemon: a process that ends does not wait for it."""

    def __init__(self, start: Callable[[], Any]) -> None:
        super().__init__(name="start of Spark", daemon=True)
        self._begin = start
        self.session: Any = None
        self.wrong: BaseException | None = None

    def run(self) -> None:
        try:
            self.session = self._begin()
        except BaseException as wrong:  # noqa: BLE001 - raised again where the session is needed
            self.wrong = wrong

    def end(self) -> None:
        """End what the thread has started, if the process ends before the session is there."""
        if not self.is_alive():
            return
        with suppress(OSError, ValueError):
            for pid in Path(f"/proc/self/task/{self.native_id}/children").read_text(encoding="utf-8").split():
                os.kill(int(pid), signal.SIGTERM)


def begin(start: Callable[[], Any]) -> None:
    """Start a session in a thread, unless one was begun already."""
    if not _begun:
        _begun.append(_Start(start))
        _begun[0].start()
        atexit.register(_begun[0].end)


def begun() -> Any:  # noqa: ANN401 - Spark's
    """The session that was begun, once it is there; None if none was.

    Raises:
        Exception: what its start raised. The next call finds none begun.
    """
    if not _begun:
        return None
    _begun[0].join()
    if wrong := _begun[0].wrong:
        _begun.clear()
        raise wrong
    return _begun[0].session
