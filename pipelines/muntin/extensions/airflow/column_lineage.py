"""Columns in OpenLineage's events: which columns of the source the results of published windows are made of.

Hook lineage knows no columns. So the task `publish` emits an event of its own, where the provider for
OpenLineage is installed (2.20 or newer, which has a function for that) and says where events go.

The columns of a source that a result is made of, as OpenLineage calls them.

https://openlineage.io/docs/spec/facets/dataset-facets/column_lineage_facet

delay = agg.mean("arr - dep", where="not cancelled"), by origin     arr, dep     DIRECT    AGGREGATION
                                                                    cancelled    INDIRECT  FILTER
                                                                    origin       INDIRECT  GROUP_BY
                                                                    scheduled    INDIRECT  WINDOW
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit

from muntin.aggregates.lifts import Narrowed, OfNothing, PerGroup
from muntin.extensions.airflow.lineage import address_of
from muntin.sources.file_source import FileSource
from muntin.sources.sessions.row_expressions import named_columns
from muntin.sources.upstream_windows import WindowSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from muntin.aggregates.aggregate import Aggregate, Field
    from muntin.aggregates.lifts import Lift
    from muntin.jobs.state.bound import Bound

log = logging.getLogger("muntin")


def emit_columns(bound: Bound, tables: Mapping[str, str]) -> None:
    """Tell OpenLineage the origins of the columns of published windows; nothing where OpenLineage is off.

    `tables`: window -> the path of its table.
    """
    try:
        from airflow.providers.openlineage.api import emit_dataset_lineage, is_openlineage_active
    except ImportError:
        return
    try:
        if is_openlineage_active():
            emit_dataset_lineage(outputs=[_with_columns(bound, *each) for each in tables.items()])
    except Exception as wrong:  # noqa: BLE001 - windows go before notes about them
        log.warning("lineage: columns not told: %s: %s", type(wrong).__name__, wrong)


def _with_columns(bound: Bound, window: str, table: str) -> Any:  # noqa: ANN401 - of OpenLineage
    from openlineage.client.event_v2 import OutputDataset
    from openlineage.client.facet_v2 import column_lineage_dataset as facets

    fields = {
        column: facets.Fields(
            [
                facets.InputField(*dataset, name, [facets.Transformation(*each) for each in how])
                for dataset, name, how in inputs
            ]
        )
        for column, inputs in inputs_of(bound, window).items()
    }
    facet = facets.ColumnLineageDatasetFacet(fields)
    return OutputDataset(*dataset_of(address_of(table)), facets={"columnLineage": facet})


def inputs_of(
    bound: Bound, window: str
) -> Mapping[str, list[tuple[tuple[str, str], str, list[tuple[str, str]]]]]:
    """Column of a window -> its inputs: dataset, column, and how it goes in.

    What Spark reads is no dataset that anybody knows.
    """
    from muntin.jobs.inputs.upstream import upstream

    sources = {name: member.source for name, member in bound.members.items()} or {"": bound.source}
    place_of_source: dict[str, str | None] = {}
    for name, source in (
        *sources.items(),
        *((name, each.source) for name, each in bound.pipeline.lookups.items()),
    ):
        if isinstance(source, WindowSource):
            place_of_source[name] = str(upstream(bound, source).table)
        elif isinstance(source, FileSource):
            place_of_source[name] = folder_of_all(source.path)
        else:
            place_of_source[name] = getattr(source, "address", None)
    places = {name: dataset_of(address_of(place)) for name, place in place_of_source.items() if place}
    return {column: [*_inputs(origins, places)] for column, origins in column_origins(bound, window).items()}


def _inputs(
    origins: Iterable[Origin], places: Mapping[str, tuple[str, str]]
) -> Iterable[tuple[tuple[str, str], str, list[tuple[str, str]]]]:
    ways: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for each in sorted(origins):
        ways.setdefault((each.source, each.column), []).append((each.kind, each.how))
    return [(places[source], column, how) for (source, column), how in ways.items() if source in places]


def folder_of_all(template: str) -> str:
    """The folder above all files that a template names.

    >>> folder_of_all("s3://bucket/data/{start:%Y}/*.parquet"), folder_of_all("data/flights-{start:%Y}.csv")
    ('s3://bucket/data', 'data')
    """
    before = min((template.find(sign) for sign in "{*?[" if sign in template), default=len(template))
    return template[:before].rpartition("/")[0] or "."


def dataset_of(address: str) -> tuple[str, str]:
    """The namespace and the name that OpenLineage's rules give to an address.

    >>> dataset_of("file:///srv/a%20b"), dataset_of("s3://bucket/orders")
    (('file', '/srv/a b'), ('s3://bucket', 'orders'))
    >>> dataset_of("iceberg://lake/shop.orders")
    ('iceberg://lake', 'shop.orders')
    """
    parts = urlsplit(address)
    if parts.scheme == "file":
        return "file", unquote(parts.path)
    return f"{parts.scheme}://{parts.netloc}", parts.path.lstrip("/")


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
