"""Hook lineage: what tasks read and write, for OpenLineage and any other reader of it that Airflow has.

accumulate   files of the source -> tables of states
publish      tables of states    -> tables of windows
"""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from muntin.definition.relative_paths import is_object_store
from muntin.files.paths import path_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muntin.jobs.records.reports import Accumulated
    from muntin.jobs.state.bound import Bound

MOST = 50
"""So many files are named one by one, else their folders: Airflow takes a hundred addresses of a task."""
FRESH = "muntin.fresh"
"""Name of what is told beside tables of windows: the target of `fresh_within`, the lag, whether it is met."""
log = logging.getLogger("muntin")


def accumulated(bound: Bound, batches: Sequence[Accumulated], task: Any) -> None:  # noqa: ANN401 - Airflow's operator
    """Report to Airflow what the task `accumulate` read and wrote."""
    _collect(task, _sources(bound, batches), _states(bound))


def published(bound: Bound, windows: Iterable[str], task: Any) -> None:  # noqa: ANN401 - Airflow's operator
    """Report to Airflow what the task `publish` read and wrote, and whether that is fresh enough: nothing if
    no window was published.
    """
    from muntin.extensions.airflow.column_lineage import emit_columns
    from muntin.jobs.published.window_tables import table_of
    from muntin.jobs.records.metrics import of_pipeline
    from muntin.jobs.records.reports_table import now_us

    if tables := {window: str(table_of(bound, window)) for window in windows}:
        fresh = of_pipeline(bound, now_us())
        _collect(task, _states(bound), [*tables.values()], {FRESH: fresh.to_dict()} if fresh else {})
        emit_columns(bound, tables)


def _sources(bound: Bound, batches: Sequence[Accumulated]) -> list[str]:
    """The table of the upstream's windows, the table or the topic; else files, else their folders.

    What Spark reads is not known.
    """
    from muntin.jobs.inputs.upstream import upstream
    from muntin.sources.file_source import FileSource
    from muntin.sources.functions import FunctionSource
    from muntin.sources.spark_frames import SparkSource
    from muntin.sources.upstream_windows import WindowSource

    match bound.source:
        case WindowSource() as source:
            return [str(upstream(bound, source).table)]
        case SparkSource():
            return []
        case FileSource():
            pass
        case source if hasattr(source, "address"):
            return [source.address]
        case FunctionSource():
            return []
    if bound.members:
        return [
            path
            for name, member in bound.members.items()
            for path in _sources(
                member,
                [
                    replace(batch, manifest=tuple(file for file in batch.manifest if file.source == name))
                    for batch in batches
                ],
            )
        ]
    paths = sorted({file.path for batch in batches for file in batch.manifest})
    return paths if len(paths) <= MOST else sorted({str(path_of(path).parent) for path in paths})


def _states(bound: Bound) -> list[str]:
    return [str(bound.folder / frames.table) for frames in bound.frame_sets]


def _collect(
    task: Any,  # noqa: ANN401 - Airflow's operator
    inputs: Sequence[str],
    outputs: Sequence[str],
    extra: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Tell Airflow's collector, which keeps nothing unless somebody reads it."""
    try:
        from airflow.sdk.lineage import get_hook_lineage_collector

        collector = get_hook_lineage_collector()
        for path in inputs:
            collector.add_input_asset(task, uri=address_of(path))
        for path in outputs:
            collector.add_output_asset(task, uri=address_of(path))
        for key, value in extra.items():
            collector.add_extra(task, key, value)
    except Exception as wrong:  # noqa: BLE001 - windows go before notes about them
        log.warning("lineage: not collected: %s: %s", type(wrong).__name__, wrong)


def address_of(path: str) -> str:
    """The address of a path of this machine; any other address as it is."""
    return (
        path
        if is_object_store(path) or path.startswith(("kafka://", "iceberg://"))
        else f"file://{quote(str(Path(path).absolute()))}"
    )
