"""Tables that say where windows lie: read once a run, and kept in the state as they were when windows were
published.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from muntin.definition.spelling import many
from muntin.store.contents import problem_of
from muntin.store.parquet import encoded, read_parquet, write_named
from muntin.store.paths import GIVEN, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from muntin.definition.pipeline import Pipeline
    from muntin.engine.given_spans import GivenSpans
    from muntin.jobs.state.bound import Bound
    from muntin.timeline.ledger import Ledger
    from muntin.windows.kind import Window


class ReadOnce:
    """The spans of a table, read when somebody first asks for them. A task gets them as they were read."""

    def __init__(self, read: Callable[[], GivenSpans]) -> None:
        self._read = read
        self._found: GivenSpans | None = None

    def __call__(self) -> GivenSpans:
        if self._found is None:
            self._found = self._read()
        return self._found

    def __reduce__(self) -> tuple[Any, ...]:
        return _found, (self(),)


def _found(spans: GivenSpans) -> ReadOnce:
    return ReadOnce(lambda: spans)


def with_tables(pipeline: Pipeline) -> Pipeline:
    """The pipeline, whose windows know how to read their tables. Nothing is read."""
    from muntin.definition.rollups import given_windows

    windows = given_windows(pipeline.windows)
    if all(kind.given_by is None for kind in windows.values()):
        return pipeline
    return replace(pipeline, windows={name: kind.with_spans(_reader(kind)) for name, kind in windows.items()})


def _reader(kind: Any) -> Callable[[], GivenSpans]:  # noqa: ANN401 - a kind with a table
    def read() -> GivenSpans:
        from muntin.sources.reading.given_rows import rows_given

        return rows_given(kind.given_by, kind.resolution_us)

    return ReadOnce(read)


def keep(bound: Bound, kind: Window) -> str:
    """The name of the file that keeps the spans of a kind in the state, which is written; "" for a kind
    without a table.
    """
    if kind.given_by is None:
        return ""
    spans: GivenSpans = kind.spans  # type: ignore[attr-defined]
    return str(
        write_named(spans.table, bound.folder / GIVEN, lambda digest: f"spans_{digest}.parquet")["path"]
    )


def as_published(bound: Bound, window: str, ledger: Ledger | None) -> Window | None:
    """The kind with the spans that windows were published by; None if they are lost, so that changes cannot
    be seen.
    """
    kind = bound.windows[window]
    if kind.given_by is None or ledger is None:
        return kind
    path = bound.folder / GIVEN / ledger.given
    if not ledger.given or problem_of(path):
        return None
    try:
        table = read_parquet(str(path))
    except (OSError, pa.ArrowException):
        return None
    from muntin.engine.given_spans import given_spans

    spans = given_spans(table, kind.given_by.keys)
    return kind.with_spans(lambda: spans)  # type: ignore[return-value]


def tables_read(bound: Bound) -> dict[str, str]:
    """Window -> the table that says where its windows lie, with its version, for reports."""
    kinds = {name: kind for name, kind in bound.windows.items() if kind.given_by is not None}
    return {name: _named(kind.spans) for name, kind in kinds.items()}  # type: ignore[attr-defined]


def _named(spans: GivenSpans) -> str:
    return f"{spans.named}, {many(len(spans), 'span')}, content {digest_of(memoryview(encoded(spans.table)))}"
