"""Rows and batches for windows in order of arrival, and what the oracle says of them."""

from typing import Any

from muntin.testing.oracle import SECOND, Agg, Batch
from tests.oracle import Arrival, Delta, judge_arrival

Rows = list[dict[str, Any]]
HELD = {"held": Agg("collect", lambda row: row["v"]), "n": Agg("count")}


def rows(*values: Any, **more: Any) -> Rows:
    """A row for each value, one second apart."""
    return [{"t": n * SECOND, "a": n * SECOND, "v": value, **more} for n, value in enumerate(values)]


def said(window: Arrival, *batches: Rows, length: int = 1000, keys: tuple[str, ...] = (), **more: Any) -> Any:
    """Batches of that many seconds, from 0 on."""
    found = [Batch(n * length * SECOND, (n + 1) * length * SECOND, held) for n, held in enumerate(batches)]
    return judge_arrival(window, found, HELD, keys=keys, **more)


def held(window: Arrival, *batches: Rows, **more: Any) -> list[list[Any]]:
    """Contents in order of firing."""
    return [row["held"] for row in said(window, *batches, **more).published]


def by(d: Any, *, absolute: bool = False) -> Delta:
    """A difference of `v`."""
    return Delta(lambda row: row["v"], d, absolute)
