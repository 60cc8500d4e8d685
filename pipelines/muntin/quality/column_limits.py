"""Limits of columns beyond which Spark judges an expectation: the values in the staged files, and the values
in the suite.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from keyword import iskeyword

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from muntin.quality.pandas_rules import NAN, NO_VALUE, NULLS, RULES, SUM, sentences, type_reason
from muntin.quality.suite import Expectation, Suite, SuiteError

EXACT, INT64 = 2**53, 2**63  # integers up to the first are the same as floats
SCALE = 20  # digits behind the point with which Spark compares decimals and such integers without rounding
LIMITS = ("min_value", "max_value", "value", "sum_total")


def check_columns(suite: Suite, table: pa.Table) -> None:
    """Refuse a suite that pandas might judge in another way than Spark, by types, arguments and the columns
    of the staged files.
    """
    if reasons := sentences(
        suite, lambda expectation: type_reason(expectation) or _column_reason(expectation, table)
    ):
        raise SuiteError(f"{suite.path or suite.name}: {reasons}")


def _column_reason(expectation: Expectation, table: pa.Table) -> str | None:
    """Why these columns and arguments are left to Spark. Columns that are missing fail on both engines."""
    if nested := [name for name in expectation.columns if "." in name or "`" in name]:
        return f"{nested[0]!r} has a dot or a backtick, which Spark takes for a part of a column"
    parted = [field.name for field in table.schema if types.is_struct(field.type) or "." in field.name]
    if expectation.lists_columns and parted:
        return f"column {parted[0]!r} is a struct or has a dot, and Spark counts the parts of a column"
    condition = expectation.condition
    if condition and (wrong := _condition_column(str(condition["column"]["name"]), table)):
        return wrong
    names = [name for name in expectation.columns if name in table.column_names]
    if RULES[expectation.type].kinds and len({kind_of(table[name].type) for name in names}) > 1:
        return "its columns have different types"
    return next(
        (reason for name in names if (reason := _values_reason(expectation, name, table[name]))), None
    )


def _values_reason(expectation: Expectation, name: str, column: pa.ChunkedArray) -> str | None:
    rule = RULES[expectation.type]
    kind = kind_of(column.type)
    if rule.kinds and kind not in rule.kinds:
        return f"column {name!r} is {column.type}"
    if held := [what for what in rule.without if _holds(what, expectation, column)]:
        return f"column {name!r} holds {held[0]}"
    values = _values(expectation) if rule.kinds else []
    if unfit := [value for value in values if not _fits(kind, value)]:
        return f"it compares {unfit[0]!r} with column {name!r}, which is {column.type}"
    members = _members(expectation)
    return "its value_set holds a value twice" if len({*members}) < len(members) else None


def _condition_column(name: str, table: pa.Table) -> str | None:
    plain = name.isidentifier() and not iskeyword(name)
    if plain and name in table.column_names and kind_of(table[name].type) == "text":
        return None
    return f"its row_condition is on {name!r}, which is not a column of texts with a plain name"


def kind_of(of: pa.DataType) -> str:
    """The kind of a column for the rules; a column of kind `other` is only asked for nulls."""
    if types.is_dictionary(of):
        return kind_of(of.value_type)
    if types.is_timestamp(of):
        return "instant" if of.unit == "us" and of.tz is not None else "other"
    kinds: dict[str, Callable[[pa.DataType], bool]] = {
        "boolean": types.is_boolean,
        "short": lambda it: types.is_int8(it) or types.is_int16(it),
        "integer": types.is_signed_integer,
        "float": lambda it: types.is_float32(it) or types.is_float64(it),
        "text": lambda it: types.is_string(it) or types.is_large_string(it),
        "decimal": lambda it: types.is_decimal128(it) and 0 <= it.scale <= SCALE,
        "day": types.is_date32,
    }
    return next((kind for kind, is_kind in kinds.items() if is_kind(of)), "other")


def _holds(what: str, expectation: Expectation, column: pa.ChunkedArray) -> bool:
    if what == NULLS:
        ignored = expectation.kwargs.get("ignore_row_if") in {
            "either_value_is_missing",
            "any_value_is_missing",
        }
        return column.null_count > 0 and not ignored
    if what == NO_VALUE:
        return column.null_count == len(column)
    if what == NAN:
        return types.is_floating(column.type) and bool(pc.any(pc.is_nan(column)).as_py())
    if what == SUM and types.is_integer(column.type):
        ends = pc.min_max(column).as_py().values()
        return max((abs(end) for end in ends if end is not None), default=0) * len(column) > EXACT
    return False


def _values(expectation: Expectation) -> list[object]:
    """The values that an expectation compares with the values of columns."""
    if "proportion" in expectation.type or "length" in expectation.type or "value_count" in expectation.type:
        return []
    limits = [expectation.kwargs[name] for name in LIMITS if expectation.kwargs.get(name) is not None]
    return [*limits, *_members(expectation)]


def _members(expectation: Expectation) -> list[object]:
    listed = expectation.kwargs.get("value_set")
    return listed if isinstance(listed, list) else []


def _fits(kind: str, value: object) -> bool:
    """Whether a value of a suite is compared with a column of this kind in the same way by both engines."""
    if kind == "text":
        return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)
    if kind in {"day", "instant"}:
        return isinstance(value, str) and _is_written_as(kind, value)
    if kind == "boolean" or isinstance(value, bool):
        return kind == "boolean" and isinstance(value, bool)
    if kind == "decimal":
        return isinstance(value, int) and abs(value) <= EXACT
    if isinstance(value, int):
        return abs(value) <= EXACT or (kind == "integer" and -INT64 <= value < INT64)
    return isinstance(value, float) and math.isfinite(value) and (kind == "float" or abs(value) < EXACT)


def _is_written_as(kind: str, text: str) -> bool:
    try:
        return (
            datetime.fromisoformat(text).tzinfo is not None
            if kind == "instant"
            else date.fromisoformat(text).isoformat() == text
        )
    except ValueError:
        return False
