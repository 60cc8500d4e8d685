"""The work: which events there are, and which windows everyone must make of them. Sizes follow `--scale`."""

import dataclasses
from datetime import UTC, datetime

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
FILES = 16
SECOND_US = 1_000_000
LATEST_ARRIVAL_US = 2 * SECOND_US

SLIDING_STEP_S = 1
SLIDING_SIZE_S = 100
SESSION_GAP_S = 10
BURST_SIZE = 10
BURST_PAUSE_US = 2_250_000
"""Mean pause within a burst. About one pause in 85 is longer than the session gap: 1.09 sessions a burst."""


@dataclasses.dataclass(frozen=True, slots=True)
class Workload:
    """Events of one shape, over `keys` keys and `duration_s` seconds from EPOCH, in 16 files by arrival."""

    name: str
    question: str
    events: int
    keys: int
    duration_s: int

    def scaled(self, scale: float) -> "Workload":
        """The same work with a share of the keys: events, states and windows all shrink by the same factor."""
        keys = max(1, round(self.keys * scale))
        return dataclasses.replace(self, events=round(self.events * keys / self.keys), keys=keys)

    @property
    def folder(self) -> str:
        """Name of the folder that holds its events, different for every size."""
        return f"{self.name}-{self.events}-events"


SLIDING = Workload(
    name="W1",
    question="sliding windows of 100 s, step 1 s",
    events=10_000_000,
    keys=1_000,
    duration_s=3_600,
)
SESSIONS = Workload(
    name="W2",
    question="sessions with a gap of 10 s",
    events=10_000_000,
    keys=100_000,
    duration_s=6 * 3_600,
)
WORKLOADS = {workload.name: workload for workload in (SLIDING, SESSIONS)}
