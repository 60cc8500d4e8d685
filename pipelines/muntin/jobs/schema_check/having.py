"""Having: a SQL condition over the row of a finished window says whether the window is
published, or hidden.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from muntin.errors import DefinitionError, SourceError
from muntin.jobs.schema_check.derive_expressions import WINDOWS, empty_row, misfit, over, query_with
from muntin.sources.sessions.duckdb_session import described, said
from muntin.sources.sessions.single_expressions import check_expression
from muntin.sources.sessions.time_limit import in_time

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from muntin.jobs.state.bound import Bound


def shown(bound: Bound, window: str, windows: pa.Table) -> np.ndarray | None:
    """Whether the condition holds for each window, null as false; None: all windows are published.

    `windows`: with the columns of derive expressions. SourceError if the condition has no value, as where a
    text is no number.
    """
    having = bound.windows[window].having
    if having is None:
        return None
    check_expression(having, _named(window))
    session = over(bound, window, windows, bound.pipeline.derived)
    try:
        with in_time(session, ["having"]):
            holds = session.sql(
                f"SELECT coalesce(({having}), false) AS holds FROM {WINDOWS}"
            ).to_arrow_table()["holds"]
    except (duckdb.BinderException, duckdb.ParserException, duckdb.CatalogException) as wrong:
        raise DefinitionError(
            f"{_named(window)}: {having!r} does not fit the windows of {window!r}: {said(wrong)}"
        ) from wrong
    except duckdb.Error as wrong:
        raise SourceError(
            f"{_named(window)}: {said(wrong)}; guard the condition, as with nullif, try_cast or case"
        ) from wrong
    finally:
        session.unregister(WINDOWS)
    return holds.combine_chunks().to_numpy(zero_copy_only=False)


def check_having(bound: Bound, window: str, states: pa.Table) -> None:
    """Try the condition on a window without rows; it must be true or false.

    `states`: of the window's frame set, without rows.
    """
    having, rows = bound.windows[window].having, query_with(bound.pipeline.derived.items())
    if having is None:
        return
    check_expression(having, _named(window))
    session = over(bound, window, empty_row(bound, window, states))
    columns = described(session, rows)
    try:
        # where SQL refuses aggregates, and other rows
        described(session, f"SELECT 1 FROM ({rows}) WHERE (({having}) IS NULL)")
        kind = described(session, f"SELECT ({having}) AS it FROM ({rows})")["it"]
    except duckdb.Error as wrong:
        raise misfit(f"{_named(window)}: {having!r}", window, having, wrong, columns) from wrong
    if kind != "BOOLEAN":
        raise DefinitionError(
            f"{_named(window)}: {having!r} is {kind}, and no condition; compare it, as {having} > 0"
        )


def _named(window: str) -> str:
    """The place of a condition in a definition."""
    return f"windows[{window!r}], having"
