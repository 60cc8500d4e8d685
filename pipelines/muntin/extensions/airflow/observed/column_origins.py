"""The columns of a source that a result is made of, as OpenLineage calls them.

https://openlineage.io/docs/spec/facets/dataset-facets/column_lineage_facet

delay = agg.mean("arr - dep", where="not cancelled"), by origin     arr, dep     DIRECT    AGGREGATION
                                                                    cancelled    INDIRECT  FILTER
                                                                    origin       INDIRECT  GROUP_BY
                                                                    scheduled    INDIRECT  WINDOW
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from muntin.aggregates.lifts import Narrowed, OfNothing, PerGroup
from muntin.sources.sessions.row_expressions import named_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muntin.aggregates.aggregate import Aggregate, Field
    from muntin.aggregates.lifts import Lift
    from muntin.jobs.state.bound import Bound


class Origin(NamedTuple):
    """A column that a result depends on.

    Attributes:
        source: the name of the source, among several, or of the dimension; "" the only source.
        column: its name there.
        kind: "DIRECT", where values are made of its values; else "INDIRECT".
        how: "IDENTITY", "TRANSFORMATION" or "AGGREGATION"; indirectly "FILTER", "GROUP_BY" or "WINDOW".
    """

    source: str
    column: str
    kind: str
    how: str


def column_origins(bound: Bound, window: str) -> dict[str, set[Origin]]:
    """Keys, times, aggregates and derived columns of a window -> what they are made of.

    Of what a function reads (`agg.own`) nothing is known but its expressions.
    """
    members = bound.members or {"": bound}
    keys, origins = bound.keys_of(window), dict[str, set[Origin]]()
    for key in keys:
        origins[key] = {
            origin for name in members for origin in _of(bound, name, [key], "DIRECT", "IDENTITY", key=True)
        }
    times = {
        name: [each for each in (member.source.event_time, member.source.arrival_time) if each]
        for name, member in members.items()
    }
    for each in ("window_start", "window_end"):
        origins[each] = {
            Origin(name, column, "DIRECT", "TRANSFORMATION") for name in members for column in times[name]
        }
    around = {
        name: {
            *_of(bound, name, [member.pipeline.filter or "true"], "INDIRECT", "FILTER"),
            *_of(bound, name, keys, "INDIRECT", "GROUP_BY", key=True),
            *(Origin(name, column, "INDIRECT", "WINDOW") for column in times[name]),
        }
        for name, member in members.items()
    }
    for result, aggregate in bound.aggregates.items():
        sources = [aggregate.source] if aggregate.source in members else [*members]
        origins[result] = {
            origin for name in sources for origin in (*_direct(bound, name, aggregate), *around[name])
        }
    for result, sql in bound.pipeline.derived.items():
        origins[result] = set[Origin]().union(*(origins.get(path[0], set()) for path in named_columns(sql)))
    return origins


def _direct(bound: Bound, source: str, aggregate: Aggregate) -> Iterator[Origin]:
    for field in aggregate.fields:
        yield from _of(bound, source, _texts(field), "DIRECT", "AGGREGATION")
        yield from _of(bound, source, [field.where or "true"], "INDIRECT", "FILTER")


def _texts(field: Field) -> Iterator[str]:
    """The SQL of what fills a field; of a state that is kept, the column that has it."""
    if field.is_state:
        yield field.of
        return
    for _, lift in field.parts:
        yield from _in(lift)


def _in(lift: Lift) -> Iterator[str]:
    if isinstance(lift, str):
        yield lift
    elif isinstance(lift, PerGroup):
        own = lift.elements.columns if lift.elements else ()
        yield from (lift.group, *own)
        for each in lift.lifts:
            yield from _in(each)
    elif isinstance(lift, Narrowed | OfNothing):
        yield from _in(lift.lift)


def _of(
    bound: Bound, source: str, texts: Iterable[str], kind: str, how: str, *, key: bool = False
) -> Iterator[Origin]:
    """The origins that SQL names. `key`: whether the texts are names of key columns."""
    dimensions = bound.pipeline.lookups
    for text in texts:
        for path in (
            [tuple(text.split(".")) if text.partition(".")[0] in dimensions else (text,)]
            if key
            else named_columns(text)
        ):
            of_dimension = path[0] in dimensions and len(path) > 1
            yield Origin(path[0], path[1], kind, how) if of_dimension else Origin(source, path[0], kind, how)
