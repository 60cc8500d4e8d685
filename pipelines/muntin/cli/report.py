"""The report of a run, for people; its metrics, for a receiver of OpenTelemetry."""

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.cli.output import columns, moment, say_what_was_done, stretches
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.files.paths import AnyPath
    from muntin.jobs.records.reports import BatchReport, RunReport

BLOCKED = 4
"""The exit status if windows are published, and a sink refuses some of them."""
SHOWN = 40


def status_of(report: "RunReport | None") -> int:
    """The exit status of a run that published: whether a sink misses something that no later run sends by
    itself.
    """
    return BLOCKED if report and report.blocked_sinks else 0


def say_report(report: "RunReport", place: str = "") -> None:
    """A run's report for people: a line a batch, what was published, what is missing, its `place`, and last
    what was refused.
    """
    if report.batches:
        say_what_was_done(_table(report.batches))
        say_what_was_done()
    for line in (*summary(report), *([place] if place else []), *_refused(report.batches)):
        say_what_was_done(line)


def _refused(batches: "Sequence[BatchReport]") -> list[str]:
    """A line on the batches with more than a tenth of their rows in the quarantine, if there are any."""
    much = [one for one in batches if one.refusals]
    if not much:
        return []
    others = f"; and {many(len(much) - 1, 'more batch')} with more than a tenth" if len(much) > 1 else ""
    return [
        (
            f"quarantined: {moment(much[0].interval_start)}: {much[0].refusals}{others}; muntin show"
            " --quarantine shows the rows"
        )
    ]


def command_of(command: str, file: Path, name: str | None, root: "AnyPath", *span: datetime) -> str:
    """The command line that runs a range again, or all if no start and end are given; for a message."""
    words = ["muntin", *command.split(), str(file), *(["--pipeline", name] if name else [])]
    borders = zip(("--start", "--end"), span, strict=False)
    options = (word for option, border in borders for word in (option, border.isoformat()))
    return shlex.join([*words, "--root", str(root), *options])


def _table(batches: "tuple[BatchReport, ...]") -> str:
    windows = list(dict.fromkeys(name for batch in batches for name in batch.windows_closed))
    heads = [
        "batch (UTC)",
        "read",
        "accepted",
        "quarantined",
        "late",
        *(f"{name} closed" for name in windows),
        "watermark",
    ]
    rows = [
        [
            batch.interval_start,
            batch.rows_read,
            batch.rows_accepted,
            batch.rows_quarantined,
            batch.rows_late,
            *(batch.windows_closed.get(name) for name in windows),
            batch.watermark,
        ]
        for batch in batches
    ]
    if len(rows) <= SHOWN:
        return columns(heads, rows)
    return (
        columns(heads, rows[:SHOWN]) + f"\n... {many(len(rows) - SHOWN, 'batch')} more; --json has them all"
    )


def _of_sources(batches: "Sequence[BatchReport]") -> list[str]:
    names = dict.fromkeys(name for one in batches for name in one.sources)
    each = {name: [one.sources[name] for one in batches if name in one.sources] for name in names}
    return [
        f"  {name}: {many(sum(one.read for one in rows), 'row')} read,"
        f" {sum(one.quarantined for one in rows):,} quarantined"
        for name, rows in each.items()
    ]


def _corrected(batches: "Sequence[BatchReport]") -> list[str]:
    """A line on the rows that revised published windows, if there are any."""
    names = dict.fromkeys(name for one in batches for name in one.rows_correcting)
    rows_of = {name: sum(one.rows_correcting.get(name, 0) for one in batches) for name in names}
    counts = [f"{name} by {many(rows, 'row')}" for name, rows in rows_of.items() if rows]
    return [f"published windows corrected: {', '.join(counts)}"] if counts else []


def _despite(batches: "Sequence[BatchReport]") -> list[str]:
    approvals = [one.despite for one in batches if one.despite]
    if not approvals:
        return []
    from muntin.jobs.records.approvals import spelled_approval

    return [*dict.fromkeys(map(spelled_approval, approvals))]


def summary(report: "RunReport") -> list[str]:
    """Summary of a run, in a few lines."""
    batches = report.batches
    read, refused, late = (
        sum(getattr(one, what) for one in batches) for what in ("rows_read", "rows_quarantined", "rows_late")
    )
    lines = [
        f"{many(len(batches), 'batch')}: {many(read, 'row')} read, {refused:,} quarantined, {late:,} late"
    ]
    odd = (
        (sum(one.rows_duplicate for one in batches), "duplicate", "left out"),
        (sum(one.rows_ambiguous for one in batches), "local time", "that came twice"),
        (sum(one.rows_nonexistent for one in batches), "local time", "that never was"),
        (sum(one.rows_forgotten for one in batches), "row", "of forgotten keys left out"),
    )
    lines[0] += "".join(f", {many(count, noun)} {what}" for count, noun, what in odd if count)
    hidden = sum(one.files_hidden for one in batches)
    lines[0] += f"; {many(hidden, 'file')} passed over whose names begin with _ or ." if hidden else ""
    lines += _of_sources(batches)
    lines += _corrected(batches)
    anew = [f"{name} of {many(len(starts), 'batch')}" for name, starts in report.published.items() if starts]
    lines.append(f"published: {', '.join(anew)}" if anew else "published: nothing, every window is as it was")
    lines += [f"given by a table: {name}: {table}" for name, table in report.tables.items()]
    if report.changed:
        from muntin.jobs.published.change_lines import change_lines

        lines += [line for window, parts in report.changed.items() for line in change_lines(window, parts)]
    if report.quality:
        from muntin.quality.report import verdict_lines
    for one in report.quality:
        first, *rest = verdict_lines(one)
        lines += [f"expectations: {first}", *rest]
    for head, texts in (
        ("published", _despite(batches)),
        ("alerts:", report.alerts),
        ("sinks:", report.sinks),
        ("mended:", report.remarks),
        ("columns:", report.schema_changes[:SHOWN]),
    ):
        lines += [f"{head} {text}" for text in texts]
    changed = [moment(one.interval_start) for one in batches if one.source_changed]
    if changed:
        lines.append(f"another source than at the last run: {', '.join(changed)}")
    lines += [f"left as it was: {line}" for line in report.unsettled]
    if report.waiting_for:
        lines.append(f"missing: {stretches(report.waiting_for)}; what was accumulated beyond waits for it")
    if report.left_behind:
        lines.append(
            f"left behind: {many(report.left_behind, 'batch')} that an earlier definition had read; muntin"
            " run --rebuild reads them again"
        )
    if report.promoted:
        lines.append(
            f"promoted: {', '.join(report.promoted)}: readers know the windows of this definition now"
        )
    if report.candidates:
        lines.append(
            f"candidates: {', '.join(report.candidates)}: readers know those of an earlier definition; see"
            " muntin plan --diff, muntin promote"
        )
    return lines


ENDPOINTS = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PATIENCE_MS = 5_000


@contextmanager
def exported() -> Iterator[None]:
    """Send the metrics of a run over OTLP/HTTP when it ends, well or not; nothing unless the environment
    names a receiver.
    """
    off = (
        os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or os.environ.get("OTEL_METRICS_EXPORTER") == "none"
    )
    if not (not off and any(os.environ.get(name) for name in ENDPOINTS)):
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    except ImportError:
        print(
            "metrics: not sent: OpenTelemetry is not installed: pip install 'muntin[metrics]'",
            file=sys.stderr,
        )
        yield
        return
    from muntin.jobs.records.metrics import to_meter

    provider = MeterProvider([PeriodicExportingMetricReader(OTLPMetricExporter())], shutdown_on_exit=False)
    try:
        with to_meter(provider.get_meter("muntin")):
            yield
    finally:
        provider.shutdown(timeout_millis=_PATIENCE_MS)
