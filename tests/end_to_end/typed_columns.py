"""Columns of every type that files can have, with hostile values."""

import math
from datetime import UTC, date, datetime, time
from decimal import Decimal
from uuid import UUID

import pyarrow as pa

YEAR_1, YEAR_9999 = -62_135_596_800, 253_402_300_799
TEXTS = ["", "\0", "a", "A", "\u00e4", "a\u0308", "\U0001f600", "7", "007", " 7", "NULL", "x" * 100_000, None]
COLUMNS: dict[str, pa.Array] = {
    **{f"int{n}": pa.array([-(2 ** (n - 1)), -1, 0, 2 ** (n - 1) - 1, None], getattr(pa, f"int{n}")()) for n in (8, 16, 32, 64)},
    **{f"uint{n}": pa.array([0, 1, 2**n - 1, None], getattr(pa, f"uint{n}")()) for n in (8, 16, 32, 64)},
    "int64 beyond doubles": pa.array([2**53 + 1, 2**53, -(2**53) - 1], pa.int64()),
    "float16": pa.array([0.0, -0.0, 65504.0, math.nan, math.inf, 5.960464477539063e-08], pa.float16()),
    "float32": pa.array([0.0, -0.0, 0.1, 1.401298464324817e-45, math.nan, -math.inf, None], pa.float32()),
    "float64": pa.array([0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308, 2.0**53, math.nan, math.inf, None], pa.float64()),
    "decimal(9,2)": pa.array([Decimal("-0.01"), Decimal("9999999.99"), None], pa.decimal128(9, 2)),
    "decimal(38,0)": pa.array([Decimal(10**38 - 1), Decimal(-(10**38) + 1), Decimal(2**53 + 1)], pa.decimal128(38, 0)),
    "decimal(38,38)": pa.array([Decimal("0." + "9" * 38), Decimal("0." + "0" * 37 + "1")], pa.decimal128(38, 38)),
    "decimal(76,0)": pa.array([Decimal(10**75), Decimal(10**75 + 1)], pa.decimal256(76, 0)),
    "bool": pa.array([True, False, None]),
    "text": pa.array(TEXTS),
    "dictionary": pa.array(["a", "b", None, "a"]).dictionary_encode(),
    "bytes": pa.array([b"", b"\0", b"\xff\xfe", None]),
    "date": pa.array([date(1, 1, 1), date(1969, 12, 31), date(9999, 12, 31), None]),
    **{
        f"instants in {unit}, {zone}": pa.array([at * 10**place for at in ats], pa.int64()).cast(pa.timestamp(unit, zone))
        for unit, place, ats in (
            ("s", 0, [YEAR_1, -1, 0, YEAR_9999]),
            ("ms", 3, [YEAR_1, -1, 0, YEAR_9999]),
            ("us", 6, [YEAR_1, -1, 0, YEAR_9999]),
            ("ns", 9, [-1, 0, 9_000_000_000]),
        )
        for zone in (None, "UTC")
    },
    "nanoseconds": pa.array([1, 1000, -1, -1000], pa.timestamp("ns")),
    "time in ms": pa.array([time(0, 0), time(23, 59, 59)], pa.time32("ms")),
    "time in ns": pa.array([0, 1, 86_399_999_999_999], pa.time64("ns")),
    "list": pa.array([[1], [], None, [2**53 + 1]], pa.list_(pa.int64())),
    "list of nanoseconds": pa.array([[1], [1000]], pa.list_(pa.timestamp("ns"))),
    "struct": pa.array([{"a": 1, "b": "x"}, {"a": None, "b": ""}, None]),
    "map": pa.array([[("a", 1)], [("b", 2**53 + 1)], None], pa.map_(pa.string(), pa.int64())),
    "nothing": pa.nulls(2),
}


def _of(kind: pa.DataType, *values: object) -> pa.Array:
    return pa.array(values, kind)


_ODD = ("a b", 'c"d', "select", "a.b", "a,b", "a(b", "a'b", "[]", "STRUCT(", "\u00e4")
_DAY_1 = datetime(1, 1, 1, tzinfo=UTC)
NESTED: dict[str, pa.Array] = {
    "list of uint64": _of(pa.list_(pa.uint64()), [2**64 - 1], [0, None], [], None),
    "list of decimals": _of(pa.list_(pa.decimal128(20, 2)), [Decimal("0.10")], [], None),
    "list of floats": _of(pa.list_(pa.float32()), [0.1, math.nan], [-0.0]),
    "list of times": _of(pa.list_(pa.time64("us")), [time(1, 2, 3, 4)], []),
    "list of instants": _of(pa.list_(pa.timestamp("us", "UTC")), [_DAY_1], [None]),
    "list of bytes": _of(pa.list_(pa.binary()), [b"\xff", b""], [None]),
    "list of nothing": _of(pa.list_(pa.null()), [None], []),
    "list of lists": _of(pa.list_(pa.list_(pa.int64())), [[2**53 + 1], []], [None]),
    "list of two": _of(pa.list_(pa.uint16(), 2), [65_535, 1], None),
    "list of structs": _of(pa.list_(pa.struct([("a", pa.uint64()), ("b", pa.list_(pa.decimal128(5, 1)))])), [{"a": 2**64 - 1, "b": []}]),
    "struct of odd names": _of(pa.struct([(name, pa.uint64()) for name in _ODD]), dict.fromkeys(_ODD, 2**64 - 1)),
    "struct of times": _of(pa.struct([("a", pa.time64("us"))]), {"a": time(1, 2, 3, 4)}, {"a": None}, None),
    "map of uint64": _of(pa.map_(pa.string(), pa.uint64()), [("a", 2**64 - 1)], [("b", None)], [], None),
    "map of bytes to uint32": _of(pa.map_(pa.uint8(), pa.uint32()), [(255, 2**32 - 1)]),
    "map of instants": _of(pa.map_(pa.string(), pa.timestamp("ms")), [("a", -1)], []),
    "map of days": _of(pa.map_(pa.date32(), pa.decimal128(38, 2)), [(date(1, 1, 1), Decimal("0.01"))]),
    "map of times": _of(pa.map_(pa.string(), pa.time64("us")), [("a", time(1))]),
    "map of maps": _of(pa.map_(pa.string(), pa.map_(pa.string(), pa.uint16())), [("a", [("b", 1)])]),
    "map of structs": _of(pa.map_(pa.string(), pa.struct([("x", pa.uint64()), ("y", pa.date32())])), [("a", {"x": 2**64 - 1, "y": None})]),
    "uuid": pa.array([UUID(int=5).bytes, None], pa.uuid()),
    "json": pa.array(['{"a":1}', "1e2", None], pa.json_()),
    "bytes of two": _of(pa.binary(2), b"ab", b"\0\0"),
    "days in milliseconds": _of(pa.date64(), date(1, 1, 1), date(9999, 12, 31)),
    "instants of a zone": _of(pa.timestamp("us", "Europe/Vienna"), 0, -1),
}
LOST: dict[str, tuple[pa.Array, str]] = {
    "decimals": (_of(pa.decimal256(76, 0), Decimal(10**75)), r'decimal\(76,0\), and states have 38 digits .* types=\{"k": "DOUBLE"\}'),
    "list of decimals": (_of(pa.list_(pa.decimal256(39, 1)), [Decimal("0.1")]), r"decimal\(39,1\), and states have 38 digits at most"),
    "duration": (_of(pa.duration("us"), 1), r'duration\[us\], of which .* types=\{"k": "BIGINT"\} in sources.files'),
    "list of durations": (_of(pa.list_(pa.duration("ns")), [1]), r"duration\[ns\]"),
    "members": (
        _of(pa.struct([("a", pa.int64()), ("A", pa.int64())]), {"a": 1, "A": 2}),
        "members whose names differ only in capital letters",
    ),
    "members of a list": (
        _of(pa.list_(pa.struct([("a", pa.int64()), ("A", pa.int64())])), [{"a": 1, "A": 2}]),
        "differ only in capital letters",
    ),
}
"""Name -> a column that is refused, and the words of the error."""
