"""The columns that the calls of the catalogue are about, and the names of the types that laws put in their place."""

from decimal import Decimal
from typing import Any

import pyarrow as pa

COLUMNS = {
    "n": pa.int64(),
    "x": pa.float64(),
    "y": pa.float64(),
    "s": pa.string(),
    "b": pa.bool_(),
    "d": pa.decimal128(38, 2),
    "l": pa.list_(pa.float64()),
    "m": pa.list_(pa.float64()),
}
"""Whole numbers, doubles, doubles far from zero, texts, flags, decimals, two columns of lists."""

NUMBERS = ("int", "float", "offset", "absurd", "decimal")
FLOATS = ("float", "offset", "absurd")
ORDERED = (*NUMBERS, "text", "moment", "flag")
TEXTS = ("int", "text", "moment", "flag")
"""Types that print alike everywhere."""


def fixed(at: int) -> dict[str, Any]:
    """Row number `at` of a column set that never changes."""
    return {
        "n": at % 10,
        "x": at / 8,
        "y": 1e9 + at / 8,
        "s": "abc"[at % 3],
        "b": at % 2 == 0,
        "d": Decimal(at) / 4,
        "l": [at / 2, -at / 2],
        "m": [at / 4],
    }
