"""Candlesticks: how traders sum up prices and volumes. Rows with a null price are left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.aggregates.aggregate import Aggregate
from muntin.aggregates.extremes import greatest, least
from muntin.aggregates.order import earliest, latest
from muntin.aggregates.sums import quotient, weighted
from muntin.definition.expressions import expression

if TYPE_CHECKING:
    from typing import Unpack

    import pyarrow as pa

    from muntin.aggregates.aggregate import About


def _candle(
    opened: pa.Array,  # noqa: ARG001 - finish gets every part
    first: pa.Array,
    closed: pa.Array,  # noqa: ARG001 - finish gets every part
    last: pa.Array,
    low: pa.Array,
    high: pa.Array,
    paid: pa.Array,
    volume: pa.Array,
) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = {"open": first, "high": high, "low": low, "close": last, "vwap": quotient(paid, volume)}
    return pa.StructArray.from_arrays(list(columns.values()), list(columns), mask=pc.is_null(first))


def candlestick(price: str, volume: str, *, where: str | None = None, **about: Unpack[About]) -> Aggregate:
    """A struct of open, high, low, close (of the price's type) and vwap, the mean price weighted by volume (a double).

    Null where every price is null. Only vwap is null where the sum of the volumes is 0.
    """
    price, volume = expression(price, "candlestick"), expression(volume, "candlestick")
    fields = (earliest(price), latest(price), least(price), greatest(price), weighted(price, volume))
    return Aggregate("candlestick", f"{price}, {volume}", fields, _candle).only(where, **about)
