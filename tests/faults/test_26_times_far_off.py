"""Fault 26: a time a year ahead, the instant 0, a wrong unit, an instant beyond its type: to the quarantine, and no watermark moves."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from muntin import Limits, windows
from muntin.errors import DefinitionError
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.state.fingerprint import fingerprint
from tests.end_to_end.hourly import START, Hourly, hour

BEHIND, AHEAD = (
    "event time is more than 30d before the beginning of its interval",
    "event time is more than 1d ahead of the end of its interval",
)
YEARS = "event time is outside the years 1 to 9999"
SECONDS = int(START.timestamp()) + 60

# unit said, time in the file, why it is refused
FAR: dict[str, tuple[str | None, Any, str]] = {
    "a year ahead": (None, datetime(2025, 1, 1, tzinfo=UTC), AHEAD),
    "the instant 0": ("s", 0, BEHIND),
    "seconds, said to be milliseconds": ("ms", SECONDS, BEHIND),
    "milliseconds, said to be seconds": ("s", SECONDS * 1000, YEARS),
    "milliseconds, said to be microseconds": ("us", SECONDS * 1000, BEHIND),
    "nanoseconds, said to be microseconds": ("us", SECONDS * 10**9, YEARS),
    "the greatest number": ("s", 2**63 - 1, "event time cannot be read"),
    "a second too old": (None, datetime(2023, 12, 1, 23, 59, 59, tzinfo=UTC), BEHIND),
}
SCALE = {"s": 1, "ms": 10**3, "us": 10**6, None: 1}


def made(folder: Path, unit: str | None, *others: Any, ending: str = "parquet") -> Hourly:
    """An hour with a row of its first minute and other rows."""
    other = {"watermark": "events", "limits": Limits(max_quarantined=None, max_behind="30d"), "windows": {"hour": windows.tumbling("1h")}}
    case = Hourly(folder, f"{{start:%H}}.{ending}", {"unit": unit} if unit else {}, other)
    good = SECONDS * SCALE[unit] if unit else hour(1 / 60)
    case.write(f"00.{ending}", {"at": pa.array([good, *others], pa.int64() if unit else pa.timestamp("us", "UTC"))})
    return case


@pytest.mark.parametrize("ending", ["parquet", "csv"])
@pytest.mark.parametrize("what", FAR)
def test_it_goes_to_the_quarantine(what: str, ending: str, tmp_path: Path) -> None:
    unit, time, reason = FAR[what]
    case = made(tmp_path, unit, time, ending=ending)
    (batch,) = case.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (2, 1, 1)
    assert quarantined(case.pipeline, root=case.root)["reason"].to_pylist() == [reason]
    assert batch.watermark == hour(1 / 60), "a refused row tells no time"


# interval       [0h,        1h)
# taken from 30d before 0h: that very instant is taken
def test_the_earliest_time_is_taken(tmp_path: Path) -> None:
    case = made(tmp_path, None, datetime(2023, 12, 2, tzinfo=UTC))
    assert case.run().batches[0].rows_accepted == 2


def test_without_it_no_row_is_too_old(tmp_path: Path) -> None:
    case = Hourly(tmp_path, source={"unit": "s"})
    case.write("00.parquet", {"at": pa.array([0, SECONDS], pa.int64())})
    assert case.run().batches[0].rows_accepted == 2


def test_it_is_part_of_what_states_are_made_by(tmp_path: Path) -> None:
    names = {
        fingerprint(Hourly(tmp_path, other=each).pipeline)
        for each in (
            {},
            {"limits": Limits(max_quarantined=None)},
            {"limits": Limits(max_quarantined=None, max_behind="1d")},
            {"limits": Limits(max_behind=0)},
        )
    }
    assert len(names) == 3
    with pytest.raises(DefinitionError, match="max_behind"):
        _ = Hourly(tmp_path, other={"limits": Limits(max_behind="-1h")}).pipeline
