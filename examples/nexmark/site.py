"""The auction site of NEXMark: what `python -m benchmarks.nexmark` writes, a batch a minute."""

from datetime import UTC, datetime
from typing import Any

from muntin import sources
from muntin.sources.source import Source

FOLDER = "data/nexmark"
EACH: dict[str, Any] = {"schedule": "1m", "start": datetime(2015, 7, 15, tzinfo=UTC)}
"""What all definitions have in common."""
RANKS = {"low": "price < 10_000", "middle": "price >= 10_000 AND price < 1_000_000", "high": "price >= 1_000_000"}
"""How high a bid is -> the condition, over prices in cents."""


def events(kind: str) -> Source:
    """The events of a kind: bid, auction or person."""
    return sources.files(f"{FOLDER}/{kind}/{{start:%Y-%m-%dT%H%M}}.parquet", event_time="dateTime")
