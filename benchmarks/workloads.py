"""The work: which events there are, and which windows everyone must make of them. Sizes follow `--scale`."""

import dataclasses
from datetime import UTC, datetime, timedelta

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)
FILES = 16
SECOND_US = 1_000_000
LATEST_ARRIVAL_US = 2 * SECOND_US

SLIDING_STEP_S = 1
SLIDING_SIZE_S = 100
SESSION_GAP_S = 10
UNIQUE_SIZE_S = 10
ROWS = 100
"""By arrival: a tumbling window is full with so many rows, a sliding one holds the last of so many."""
DELTA_S = 36
"""An hour of 10,000 events a key: about as many windows as by 100 rows."""
BELOW = 99
"""One row of a hundred is not: stretches of about 100 rows."""
ZONE = "America/New_York"
BURST_SIZE = 10
BURST_PAUSE_US = 2_250_000
"""Mean pause within a burst. About one pause in 85 is longer than the session gap: 1.09 sessions a burst."""


@dataclasses.dataclass(frozen=True, slots=True)
class Workload:
    """Events of one shape, over `keys` keys and `duration_s` seconds from EPOCH, in 16 files by arrival."""

    name: str
    question: str
    reference: str
    """The module of `benchmarks.references` that says what must come out."""
    events: int
    keys: int
    duration_s: int
    bursts: bool = False
    resolution_us: int = 1
    """How finely event times are told."""
    size_us: int = 0
    """Of tumbling windows."""
    events_of: str = ""
    """The work whose events these are; its own unless said."""

    def scaled(self, scale: float) -> "Workload":
        """The same work with a share of the keys: events, states and windows all shrink by the same factor."""
        keys = max(1, round(self.keys * scale))
        return dataclasses.replace(self, events=round(self.events * keys / self.keys), keys=keys)

    @property
    def folder(self) -> str:
        """Name of the folder that holds its events, different for every size."""
        return f"{self.events_of or self.name}-{self.events}-events"


SLIDING = Workload(
    name="W1",
    question="sliding windows of 100 s, step 1 s",
    reference="sliding",
    events=10_000_000,
    keys=1_000,
    duration_s=3_600,
)
SESSIONS = Workload(
    name="W2",
    question="sessions with a gap of 10 s",
    reference="sessions",
    events=10_000_000,
    keys=100_000,
    duration_s=6 * 3_600,
    bursts=True,
)
UNIQUE = Workload(
    name="W3",
    question="unique sliding windows of 10 s, events at whole milliseconds",
    reference="unique",
    events=1_000_000,
    keys=1_000,
    duration_s=3_600,
    resolution_us=1_000,
)
COUNTED = dataclasses.replace(SLIDING, name="W4", question="every 100 rows by arrival", reference="counted", events_of="W1")
LAST_ROWS = dataclasses.replace(
    SLIDING,
    name="W5",
    question="the last 100 rows by arrival, after every row",
    reference="last_rows",
    events=2_000_000,
    keys=200,
    events_of="W1",
)
"""A fifth of the events: 1.98 M windows, of 10 M events it would be 9.9 M."""
DELTAS = dataclasses.replace(
    SLIDING, name="W6", question="rows by arrival until the event time has grown by more than 36 s", reference="deltas", events_of="W1"
)
STRETCHES = dataclasses.replace(SLIDING, name="W8", question=f"rows while a is below {BELOW}", reference="stretches", events_of="W1")
DAYS = Workload(
    name="W7",
    question="calendar days of New York",
    reference="days",
    events=10_000_000,
    keys=1_000,
    duration_s=100 * 86_400,
)


def tumbling(work: Workload, size_us: int) -> Workload:
    """Tumbling windows of the same events: what another kind is measured by. The size gives about as many results."""
    question = f"tumbling windows of {timedelta(microseconds=size_us) / timedelta(seconds=1):g} s over the events of {work.name}"
    name, events_of = f"{work.name}t", work.events_of or work.name
    return dataclasses.replace(work, name=name, question=question, reference="tumbling", size_us=size_us, events_of=events_of)


SLIDING_TUMBLING = tumbling(SLIDING, SLIDING_STEP_S * SECOND_US)
SESSIONS_TUMBLING = tumbling(SESSIONS, 120 * SECOND_US)
UNIQUE_TUMBLING = tumbling(UNIQUE, 1_000)
"""As many results as there are distinct times, the most there can be, and half of the unique windows."""
COUNTED_TUMBLING = tumbling(COUNTED, DELTA_S * SECOND_US)
LAST_ROWS_TUMBLING = tumbling(LAST_ROWS, 1_000)
DAYS_TUMBLING = tumbling(DAYS, 86_400 * SECOND_US)
MEASURES = {
    SLIDING.name: SLIDING_TUMBLING.name,
    SESSIONS.name: SESSIONS_TUMBLING.name,
    UNIQUE.name: UNIQUE_TUMBLING.name,
    COUNTED.name: COUNTED_TUMBLING.name,
    LAST_ROWS.name: LAST_ROWS_TUMBLING.name,
    DELTAS.name: COUNTED_TUMBLING.name,
    STRETCHES.name: COUNTED_TUMBLING.name,
    DAYS.name: DAYS_TUMBLING.name,
}
"""A work -> the tumbling windows, of the same events, that it is measured by."""
