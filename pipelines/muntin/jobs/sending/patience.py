"""How long a run waits for a sink: as long as it gives signs of life."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from muntin.sinks.errors import SinkError

_FOR_EVER = float("inf")


@dataclass(slots=True)
class Patience:
    """The time until which a sink has to give a sign of life. Work of this process does not count."""

    seconds: float
    until: float = field(default=_FOR_EVER, init=False)
    over: bool = field(default=False, init=False)

    def alive(self) -> None:
        """The sink answered, or is spoken to from now on; SinkError if the run has given it up meanwhile."""
        if self.over:
            raise SinkError("given up")
        self.until = time.monotonic() + self.seconds

    def own_work(self) -> None:
        """The sink waits for this process."""
        self.until = _FOR_EVER

    def is_over(self) -> bool:
        """Whether the sink gave no sign of life for too long; then it is given up for good."""
        self.over = self.over or time.monotonic() > self.until
        return self.over
