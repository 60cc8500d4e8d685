"""The process stops before or after one of the changes that it makes on the disk."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.storage.crashing import Crash

_CHANGES: tuple[tuple[Any, str], ...] = ((Path, "replace"), (Path, "unlink"), (os, "link"), (shutil, "rmtree"))


class Stop:
    """Counts changes of the disk; the change with number `at` is not made, or is the last one; or something else happens before it."""

    def __init__(self, at: int = -1, *, after: bool = False, meet: Callable[[], object] | None = None) -> None:
        self.at, self.after, self.count, self.stopped, self.meet, self.meeting = at, after, 0, False, meet, False

    def around(self, change: Callable[..., Any]) -> Callable[..., Any]:
        def stopping(*given: Any, **named: Any) -> Any:
            if self.stopped:
                raise Crash("after the end")
            if self.meet and not self.meeting and self.count == self.at:
                self.meeting = True
                self.meet()
            if self.meet:
                self.count += not self.meeting
                return change(*given, **named)
            here = self.count == self.at
            self.count += 1
            self.stopped = here
            if here and not self.after:
                raise Crash(str(given))
            done = change(*given, **named)
            if here:
                raise Crash(str(given))
            return done

        return stopping

    @contextmanager
    def watching(self) -> Iterator[None]:
        patches = [patch.object(place, name, self.around(getattr(place, name))) for place, name in _CHANGES]
        for each in patches:
            each.start()
        try:
            yield
        finally:
            for each in patches:
                each.stop()
