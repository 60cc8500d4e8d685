"""Columns in OpenLineage's events: which columns of the source the results of published windows are made of.

Hook lineage knows no columns. So the task `publish` emits an event of its own, where the provider for
OpenLineage is installed (2.20 or newer, which has a function for that) and says where events go.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from muntin.extensions.airflow.observed.lineage import address_of
from muntin.sources.file_source import FileSource
from muntin.sources.upstream_windows import WindowSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muntin.extensions.airflow.observed.column_origins import Origin
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
    from muntin.extensions.airflow.observed.column_origins import column_origins

    places = _places(bound)
    return {column: [*_inputs(origins, places)] for column, origins in column_origins(bound, window).items()}


def _inputs(
    origins: Iterable[Origin], places: Mapping[str, tuple[str, str]]
) -> Iterable[tuple[tuple[str, str], str, list[tuple[str, str]]]]:
    ways: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for each in sorted(origins):
        ways.setdefault((each.source, each.column), []).append((each.kind, each.how))
    return [(places[source], column, how) for (source, column), how in ways.items() if source in places]


def _places(bound: Bound) -> Mapping[str, tuple[str, str]]:
    """Name of a source or a dimension -> its dataset."""
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
    return {name: dataset_of(address_of(place)) for name, place in place_of_source.items() if place}


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
