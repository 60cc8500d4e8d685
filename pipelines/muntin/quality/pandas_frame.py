"""The staged files as a pandas frame in this process."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from muntin.errors import StateError
from muntin.files.readable import opened
from muntin.quality.column_limits import check_columns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pandas as pd

    from muntin.quality.suite import Suite
"""Stands for NaN, which pandas takes for a null."""


@dataclass(frozen=True)
class PandasFrame:
    """A table of Arrow, of which Great Expectations gets the columns that a suite is about.

    The number of a row is its place, from 0.
    """

    table: pa.Table
    asked: tuple[str, ...]
    numbered_by: ClassVar[Mapping[str, object]] = {}  # the index of the frame

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.table.column_names)

    def batch(self, context: Any, *, numbered: bool) -> Any:  # noqa: ANN401, ARG002 - of Great Expectations; the index is always there
        asset = context.data_sources.add_pandas("staged").add_dataframe_asset("windows")
        return asset.add_batch_definition_whole_dataframe("whole").get_batch({"dataframe": self._frame})

    def rows(self, numbers: Collection[int]) -> Mapping[int, Mapping[str, object]]:
        listed = sorted(numbers)
        return dict(zip(listed, self.table.take(pa.array(listed, pa.int64())).to_pylist(), strict=True))

    @cached_property
    def _frame(self) -> pd.DataFrame:
        import pandas as pd

        columns = {name: _as_pandas(self.table[name]) for name in self.asked}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self.table)), columns=[*columns])


@contextmanager
def pandas_frame(suite: Suite, files: Sequence[str]) -> Iterator[PandasFrame]:
    """The frame of the files for this suite, for as long as the block lasts."""
    table = _read(files)
    check_columns(suite, table)
    yield PandasFrame(table, _asked(suite, table.column_names))


def _read(files: Sequence[str]) -> pa.Table:
    try:
        tables = [opened(file).read().replace_schema_metadata() for file in files]
        table = pa.concat_tables(tables) if tables else pa.table({})
        table.validate(full=True)  # a text may be no UTF-8, which neither Python nor a report can show
    except (pa.ArrowException, OSError) as error:
        raise StateError(f"the staged Parquet files cannot be read: {error}") from error
    return table


def _asked(suite: Suite, columns: Sequence[str]) -> tuple[str, ...]:
    """The columns that the suite is about, in order: all of them if it is about the columns of the table."""
    if any(expectation.lists_columns for expectation in suite.expectations):
        return tuple(columns)
    named = {name for expectation in suite.expectations for name in expectation.columns}
    named |= {
        expectation.condition["column"]["name"] for expectation in suite.expectations if expectation.condition
    }
    return tuple(name for name in columns if name in named)


class _NaN:
    """NaN as Spark orders it: equal to itself, and larger than any other number."""

    def __eq__(self, other: object) -> bool:
        return other is self

    def __lt__(self, other: object) -> bool:
        return False

    def __le__(self, other: object) -> bool:
        return other is self

    def __gt__(self, other: object) -> bool:
        return other is not self

    def __ge__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(_NaN)


_SPARK_NAN = _NaN()


def _as_pandas(column: pa.ChunkedArray) -> pd.Series:
    """The values for pandas: integers stay; a null is None, in floats NaN (NaN: `_SPARK_NAN`), or NaT."""
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if types.is_floating(column.type):
        return _floats(column.cast(pa.float64()))
    if types.is_signed_integer(column.type):
        column = column.cast(pa.int64())
    if types.is_timestamp(column.type) or (
        types.is_primitive(column.type) and not column.null_count and not types.is_date(column.type)
    ):
        return column.to_pandas()
    return _objects(column.to_pylist())


def _floats(column: pa.ChunkedArray) -> pd.Series:
    wrong = pc.is_nan(column).fill_null(False).to_numpy()  # noqa: FBT003 - Arrow's signature
    if not wrong.any():
        return column.to_pandas()
    # a null stays NaN here, too: a row of two nulls holds one value, not two
    values = column.to_pandas().astype(object)
    values[wrong] = _SPARK_NAN
    return values


def _objects(values: list[object]) -> pd.Series:
    import numpy as np
    import pandas as pd

    held = np.empty(len(values), object)
    held[:] = values
    return pd.Series(held)
