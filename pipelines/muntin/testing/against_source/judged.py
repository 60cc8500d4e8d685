"""Published windows drawn at random, each with what the oracle says of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

from muntin.definition.instants import spell_instant
from muntin.definition.pipeline import Pipeline
from muntin.definition.schedule import Interval
from muntin.files.paths import AnyPath
from muntin.jobs.published.pending import pending_window
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.forgotten import hashed
from muntin.jobs.state.state_folders import bind_existing
from muntin.testing.against_source.drawn import Asked, Drawn, draw
from muntin.testing.against_source.same_words import Question, ends_in, questions, same_kind
from muntin.testing.against_source.source_rows import NotJudgedError, rows_of_batch, why_not
from muntin.testing.oracle import Alone, Batch, RightClosed, Session, judge
from muntin.windows.kinds.session import LimitedSession

DIGITS = 1e-9
FAR = 2**62
NEVER_EXACT = {"variance": 2, "stddev": 1}
"""Aggregates that are right to rounding; the power of the values that they grow with."""


@dataclass(frozen=True)
class AgainstSource:
    """The verdict of the oracle.

    Attributes:
        drawn: the windows.
        compared: name of a window -> the results that were compared.
        left_out: what was not judged, a window or a result, and why.
        published: how many windows there are of the names that were drawn from.
        rows: so many rows of the source were read.
    """

    drawn: Sequence[Drawn]
    compared: Mapping[str, Sequence[str]]
    left_out: Sequence[tuple[str, str]]
    published: int
    rows: int


def against_source(pipeline: Pipeline, *, root: str | AnyPath, count: int, seed: int) -> AgainstSource:
    """Draw published windows at random, as many of each name, and compute them again from the source's rows.

    Raises:
        StateError: there is no state.
    """
    bound = bind_existing(pipeline, root)
    bound = replace(bound, forgotten=hashed(bound))
    left_out = _results_left_out(bound)
    asked = dict[str, Asked]()
    for name, kind in bound.windows.items():
        same = None if kind.rows_out else same_kind(kind)
        if reason := why_not(bound) or (None if same else "the oracle does not know this kind"):
            left_out.append((name, reason))
            continue
        asked[name] = Asked(same, pending_window(bound, name), bound.keys_of(name), kind.lateness_us)
    dice, drawn, published = Random(seed), list[Drawn](), 0  # noqa: S311 - drawn again by its seed
    for at, (name, each) in enumerate(asked.items()):
        published += sum(file.rows for file in each.files)
        drawn += draw(bound, name, each, count * (at + 1) // len(asked) - count * at // len(asked), dice)
    rows = _judge(bound, asked, drawn)
    results = [*questions(pipeline)]
    return AgainstSource(drawn, dict.fromkeys(asked, results), left_out, published, rows)


def _results_left_out(bound: Bound) -> list[tuple[str, str]]:
    """The results that the oracle does not know, of all windows."""
    asked = questions(bound.pipeline)
    unknown = [
        (name, f"the oracle does not know {each}")
        for name, each in bound.pipeline.row_aggregates.items()
        if name not in asked
    ]
    return unknown + [(name, "SQL over results") for name in bound.pipeline.derived]


def _judge(bound: Bound, asked: Mapping[str, Asked], drawn: Sequence[Drawn]) -> int:
    """Judge each window as soon as its last batch is read; returns how many rows were read."""
    stretches = [_batches(asked[each.window], each) for each in drawn]
    results = questions(bound.pipeline)
    values = _values(results, bound.windows.values())
    held: list[list[tuple[int, Batch]]] = [[] for _ in drawn]
    after, total = bound.pipeline.intervals.after, 0
    for start in sorted({start for stretch in stretches for start in stretch}):
        interval = Interval(start, after(start))
        here = [at for at, stretch in enumerate(stretches) if start in stretch and not drawn[at].not_judged]
        for keys in {tuple(asked[drawn[at].window].keys) for at in here}:
            some = [at for at in here if tuple(asked[drawn[at].window].keys) == keys]
            try:
                rows = rows_of_batch(bound, interval, _table(asked, drawn, some), keys, values)
            except NotJudgedError as reason:
                for at in some:
                    drawn[at].leave(str(reason))
                continue
            total += rows.count
            time = [] if rows.newest_us is None else [{"t": rows.newest_us, "number": None}]
            for at in some:
                held[at].append((start, Batch(start, interval.end_us, [*rows.rows.get(at, ()), *time])))
        for at in here:
            if start == max(stretches[at]):
                if not drawn[at].not_judged:
                    _compare(bound, asked[drawn[at].window], drawn[at], held[at], results)
                held[at] = []
    return total


def _batches(asked: Asked, drawn: Drawn) -> set[int]:
    """Starts of the batches whose rows may count in a window, or say when it closes; none where it waits to
    be derived anew.

    Batches that ended before it began are among them where their report knows a row that was ahead.
    """
    batches, work = asked.pending.history.batches, asked.pending.work
    position = int(np.searchsorted(batches.start_us, drawn.batch_us))
    if position in work.positions:
        drawn.leave("it waits for muntin run, which derives it anew")
        return set()
    low, high = _times(asked.kind, drawn)
    over = min(high, drawn.end_us) + 1 + _grace(asked.kind) + asked.lateness_us
    last = max(position, int(np.searchsorted(asked.pending.watermarks_us, over)))
    may = (batches.end_us > low) | (batches.newest_us >= low)
    return {*batches.start_us[: last + 1][may[: last + 1]].tolist()}


def _grace(kind: Any) -> int:  # noqa: ANN401 - the oracle's kinds have it here or there
    inner = getattr(kind, "stretch", None) or getattr(kind, "kind", None)
    return kind.grace if hasattr(kind, "grace") else _grace(inner)


def _times(kind: Any, drawn: Drawn) -> tuple[int, int]:  # noqa: ANN401 - of the oracle
    """The first and the last event time at which a row may decide about a window."""
    if isinstance(kind, Session):  # a row as near as the gap would be of it; limits count from the first row
        is_limited = kind.max_length is not None or kind.until is not None
        return (-FAR, FAR) if is_limited else (drawn.start_us - kind.gap, drawn.end_us)
    right = isinstance(kind, RightClosed)
    return drawn.start_us + right, drawn.end_us - 1 + right


def _table(asked: Mapping[str, Asked], drawn: Sequence[Drawn], some: Sequence[int]) -> pa.Table:
    """The drawn windows with these numbers, as rows are looked for: both bounds inside."""
    times = [_times(asked[drawn[at].window].kind, drawn[at]) for at in some]
    columns = {
        "number": pa.array(some, pa.int64()),
        "low": pa.array([low for low, _ in times], pa.int64()),
        "high": pa.array([high for _, high in times], pa.int64()),
    }
    first = asked[drawn[some[0]].window]
    schema = first.pending.published.snapshot.schema
    for at, key in enumerate(first.keys):
        kind = None if schema is None else schema.field(key).type
        columns[f"k{at}"] = pa.array([drawn[number].key[key] for number in some], kind)
    return pa.table(columns)


def _values(results: Mapping[str, Question], kinds: Iterable[Any]) -> dict[str, str]:
    """Column -> SQL over a row: the value of each aggregate, whether the row counts in it, and whether it
    ends sessions.
    """
    ends = {until for kind in kinds if isinstance(kind, LimitedSession) and (until := kind.until)}
    of_kinds = {ends_in(until): f"coalesce(({until}), false)" for until in ends}
    of_values = {f"v{each.column}": each.value for each in results.values()}
    return of_kinds | of_values | {f"w{each.column}": each.condition for each in results.values()}


def _compare(
    bound: Bound,
    asked: Asked,
    drawn: Drawn,
    held: Sequence[tuple[int, Batch]],
    results: Mapping[str, Question],
) -> None:
    """Note in a window how it differs from the oracle's."""
    aggregates: dict[str, Callable[[Any], Any]] = {"rows": len, **results}
    try:
        said = judge(
            Alone(asked.kind, drawn.start_us, drawn.end_us)
            if hasattr(asked.kind, "windows_for")
            else asked.kind,
            [batch for _, batch in held],
            aggregates,
            watermark=bound.pipeline.watermark_policy,
            max_ahead=FAR,
            where=lambda row: row["number"] is not None,
            lateness=asked.lateness_us,
        )
    except (ArithmeticError, TypeError, ValueError) as wrong:
        drawn.leave(f"the oracle cannot compute with these values ({wrong})")
        return
    bounds = (drawn.start_us, drawn.end_us)
    same_bounds = [each for each in said.published if (each["window_start"], each["window_end"]) == bounds]
    if not same_bounds:
        drawn.differs.append("by the source there is no such window")
        return
    [row] = same_bounds
    drawn.count(row["rows"])
    closing = held[row["batch"]][0]
    if closing != drawn.batch_us:
        drawn.differs.append(
            f"batch is {spell_instant(drawn.batch_us)}, by the source {spell_instant(closing)}"
        )
    values = [each for _, batch in held for each in batch.rows if each["number"] is not None]
    for name, question in results.items():
        ours, theirs = drawn.published[name], row[name]
        if not same(ours, theirs, _tolerance(question, values)):
            drawn.differs.append(f"{name} is {ours}, by the source {_plain(theirs)}")


def _tolerance(question: Question, rows: Sequence[Mapping[str, Any]]) -> float:
    """How far a result may lie from the oracle's: 0 where it is exact."""
    values = [row[f"v{question.column}"] for row in rows]
    sizes = [abs(float(value)) for value in values if isinstance(value, int | float | Decimal)]
    finite = [size for size in sizes if math.isfinite(size)]
    if question.name in NEVER_EXACT:
        return DIGITS * max(finite, default=0.0) ** NEVER_EXACT[question.name]
    is_float = any(isinstance(value, float) for value in values)
    return DIGITS * math.fsum(finite) if is_float and question.name in {"sum", "mean"} else 0.0


def same(ours: Any, theirs: Any, tolerance: float) -> bool:  # noqa: ANN401 - results of any type
    """Whether two results are equal, or as near as floats allow."""
    if ours is None or theirs is None:
        return ours is theirs
    if isinstance(ours, float) and isinstance(theirs, float):
        if math.isnan(ours) or math.isnan(theirs):
            return math.isnan(ours) and math.isnan(theirs)
        return ours == theirs or abs(ours - theirs) <= tolerance
    return bool(ours == theirs)


def _plain(value: Any) -> Any:  # noqa: ANN401 - results of any type
    """A fraction as a number that people read."""
    return float(value) if hasattr(value, "denominator") and not isinstance(value, int) else value
