"""Partition keys of a window's asset: what DAGs wait for that are scheduled by partitions.

    airflow_dag(flights, partitions=by_window(whole="1d"))

published     0h  1h  ...  23h      5h again           whole="1d"
keys          0h  1h  ...  23h      0h .. 23h          so that who waits for 24 keys has them again

Assets: each window of a pipeline is an asset, and publishing it emits an event with the batch's report,
and one for each key.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from muntin.definition.instants import from_us
from muntin.definition.kinds import Bounded
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from airflow.sdk import Asset

    from muntin.definition.durations import Duration
    from muntin.definition.kinds import Kind
    from muntin.definition.pipeline import Pipeline
    from muntin.extensions.airflow.place import Context
    from muntin.jobs.state.bound import Bound
    from muntin.windows.kinds.tumbling import Tumbling


def window_asset(pipeline: Pipeline | str, window: str) -> Asset:
    """The asset of a window, to schedule other DAGs by: `schedule=[window_asset("flights", "day")]`.

    Its address does not depend on the folder of the state, so that the state can be moved. The folder of its
    table is in each event's `extra["table"]`.
    """
    from airflow.sdk import Asset

    name = pipeline if isinstance(pipeline, str) else pipeline.name
    return Asset(name=f"{name}/{window}", uri=f"muntin://{name}/{window}", group="muntin")


def window_assets(pipeline: Pipeline) -> list[Asset]:
    """The outlets of the task `publish`:

    Airflow makes these assets when it reads the DAG, so that no two runs make one at once.
    """
    return [window_asset(pipeline, window) for window in pipeline.windows]


def emit(
    pipeline: Pipeline,
    context: Context,
    extras: Mapping[str, Mapping[str, Any]],
    keys: Mapping[str, Sequence[str]],
) -> None:
    """Emit an event for each published window, for no other, and an event for each of its keys.

    Airflow emits an event for each outlet that the task has when it ends: from now on it has the published
    windows only. `extras`: window
    -> the `extra` of its events. A DAG that is scheduled by the asset as a whole takes no event with a key,
      so there is one without.
    """
    published = {window: window_asset(pipeline, window) for window in extras}
    context["task"].outlets = [*published.values()]
    for window, asset in published.items():
        event = context["outlet_events"][asset]
        event.extra = dict(extras[window])
        if keys.get(window):
            event.add_partitions([*keys[window]])
            if extras[window]["published"]:
                event.partition_keys.add(None)  # type: ignore[arg-type]  # an event without a key


MOST = 200
"""So many keys a run emits, the newest of each window; runs after it emit the rest. Airflow writes an event
for each while the task waits, five seconds at most unless `[workers] execution_api_timeout` says otherwise;
1,000 keys took 18 seconds on two busy cores.
"""


@dataclass(frozen=True, slots=True)
class Partitions:
    """The keys that a publication emits.

    Attributes:
        by: "window": the starts of the windows that the published batches closed; "batch": the starts of
            these batches.
        whole: spans that are emitted as a whole when one of their keys is corrected; None: only what was
            published.
    """

    by: Literal["window", "batch"]
    whole: Tumbling | None = None


def by_window(*, whole: Duration | Tumbling | None = None) -> Partitions:
    """A key for each closed window start, as "2024-01-01T05:00:00" in UTC, again when its batch is corrected.

    Of windows on a grid also for windows in which nothing happened.

    Args:
        whole: a span, as "1d" or `windows.tumbling("1d", timezone="Europe/Berlin")`. When a key is corrected
            whose span is closed, all
            keys of the span are emitted again: Airflow forgets them once a DAG that waited for all of them
                has run.

    Raises:
        DefinitionError: `whole` is neither a duration nor a tumbling window.
    """
    return Partitions("window", _span(whole))


def by_batch(*, whole: Duration | Tumbling | None = None) -> Partitions:
    """A key for each published batch: the start of its interval, as "2024-01-01T05:00:00" in UTC.

    `whole`: as in `by_window`.
    """
    return Partitions("batch", _span(whole))


def check_few(pipeline: Pipeline, partitions: Partitions) -> None:
    """Refuse windows that begin more often in an interval than a run emits keys: runs never catch up."""
    if partitions.by == "batch":
        return
    begin_us = pipeline.intervals.first_border_us
    end_us, keys = pipeline.intervals.after(begin_us), 0
    for name, kind in pipeline.windows.items():
        keys += _starts_in(kind, begin_us, end_us)
        if keys > MOST:
            raise DefinitionError(
                f"{pipeline.name}: partitions=by_window() is a key for each start of a window, and with"
                f" {name!r} there are more than {MOST} in an interval of the schedule, so that runs, of"
                f" {MOST} keys at most, never catch up; take by_batch(), or give {name!r} a pipeline of its"
                " own without partitions"
            )


def _starts_in(kind: Kind, begin_us: int, end_us: int) -> int:
    """How many starts windows of a grid have between two instants; of more than `MOST` only some."""
    follows = kind.follows
    if not (kind.grid and isinstance(follows, Bounded)):
        return 0
    import numpy as np

    count, until_us, length = 0, begin_us, follows.longest_us
    while count <= MOST and until_us < end_us:
        until_us = min(begin_us + length, end_us)
        starts, _ = kind.grid(begin_us, until_us + follows.longest_us)
        count, length = len(np.unique(starts[(starts >= begin_us) & (starts < until_us)])), 2 * length
    return count


def announced_keys(
    bound: Bound, partitions: Partitions, window: str, batches_us: Sequence[int], again_us: Sequence[int]
) -> list[int]:
    """The keys to emit for a window, as instants, ascending.

    `again_us`: the starts among `batches_us` that had been published before: corrections.
    """
    corrected = _starts(bound, window, partitions, again_us)
    spans = partitions.whole.bounds(_ints(corrected)) if partitions.whole and corrected else ((), ())
    wholes = [
        _whole(bound, window, partitions, int(low), int(high)) for low, high in {*zip(*spans, strict=True)}
    ]
    return sorted(
        {*_starts(bound, window, partitions, batches_us), *(start for whole in wholes for start in whole)}
    )


def key_of(start_us: int) -> str:
    """An instant as a key: as Airflow's mappers of time read it by default.

    >>> key_of(1_704_067_200_000_000)
    '2024-01-01T00:00:00'
    """
    return from_us(start_us).replace(tzinfo=None).isoformat()


def _starts(bound: Bound, window: str, partitions: Partitions, batches_us: Sequence[int]) -> list[int]:
    from muntin.extensions.airflow.assets.closed_starts import closed_starts

    return [*batches_us] if partitions.by == "batch" else closed_starts(bound, window, batches_us)


def _whole(bound: Bound, window: str, partitions: Partitions, low_us: int, high_us: int) -> list[int]:
    """The keys of a span, if all of them are there."""
    from muntin.extensions.airflow.assets.closed_starts import published_batches, starts_if_closed

    return (published_batches if partitions.by == "batch" else starts_if_closed)(
        bound, window, low_us, high_us
    )


def _span(whole: Any) -> Tumbling | None:  # noqa: ANN401 - whatever a user gives
    from muntin.windows import tumbling
    from muntin.windows.gapless import Gapless

    span = tumbling(whole) if isinstance(whole, str | int | timedelta) else whole
    if span is not None and not isinstance(span, Gapless):
        raise DefinitionError(
            f'whole: {whole!r} does not cut time into spans; give "1d", or windows.tumbling("1d",'
            " timezone=...)"
        )
    return span  # type: ignore[return-value]  # gapless kinds have `bounds`


def _ints(values: Iterable[int]) -> Any:  # noqa: ANN401 - an array
    import numpy as np

    return np.array([*values], np.int64)
