"""The scenarios again, with the kinds of windows that came later."""

from collections.abc import Mapping
from dataclasses import replace

from tests.judge.scenarios import Scenario, scenario
from tests.oracle import DAY, SECOND, AllTime, Calendar, Cumulating, Session, Unique, Window

NEW_YORK = "America/New_York"
HOUR = 3600 * SECOND

KINDS: Mapping[str, Window] = {
    "so_far": Cumulating(30 * SECOND, 10 * SECOND, grace=3 * SECOND),
    "day_so_far": Cumulating(DAY, 6 * HOUR, align_to="23:59", timezone=NEW_YORK),
    "month_so_far": Cumulating("1mo", DAY, timezone=NEW_YORK),
    "month": Calendar(1),
    "quarter": Calendar(3, 2 * SECOND, "23:59", NEW_YORK),
    "changes": Unique(3 * SECOND, SECOND),
    "fine_changes": Unique(4 * SECOND, 1_000, grace=2 * SECOND),
    "entering": Unique(10 * SECOND, SECOND, "enter"),
    "cut": Session(3 * SECOND, max_length=5 * SECOND),
    "cut_split": Session(2 * SECOND, 4 * SECOND, "split", 7 * SECOND),
    "ever": AllTime(),
}


def scenario_of_kinds(seed: int) -> Scenario:
    """The same batches, keys and watermark."""
    return replace(scenario(seed), windows=KINDS)
