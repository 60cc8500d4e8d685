"""What came out, for people: a table of batches, a table of windows, a picture."""

from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from muntin import Pipeline, read
from muntin.cli.output import columns
from muntin.definition.instants import instant_us
from muntin.jobs.records.batch_reports import batch_reports
from muntin.jobs.records.reports import BatchReport
from muntin.jobs.state.bound import bind

WINDOW = "last_6_hours"
ORIGINS = ("EWR", "JFK", "LGA")


def reports(pipeline: Pipeline, root: Path, start: datetime, end: datetime) -> list[BatchReport]:
    """The report of each batch, as the state tells it."""
    intervals = pipeline.intervals.intervals(instant_us(start, "start"), instant_us(end, "end"))
    return batch_reports(bind(pipeline, root), intervals)


def batch_table(found: list[BatchReport]) -> str:
    """A line a batch."""
    names = list(dict.fromkeys(name for each in found for name in each.windows_closed))
    heads = ["batch (UTC)", "read", "accepted", "quarantined", "late", *(f"{name} closed" for name in names), "watermark"]
    rows = [
        [
            f"{each.interval_start:%Y-%m-%d}",
            *(each.rows_read, each.rows_accepted, each.rows_quarantined, each.rows_late),
            *(each.windows_closed.get(name, 0) for name in names),
            each.watermark,
        ]
        for each in found
    ]
    return columns(heads, rows)


def window_table(pipeline: Pipeline, root: Path, end: datetime) -> str:
    """The windows of each airport that ended last before an instant."""
    table = read(pipeline, WINDOW, root=root)
    before = table.filter(pc.less_equal(table["window_end"], pa.scalar(end, table["window_end"].type)))
    last = before.filter(pc.greater(before["window_end"], pa.scalar(end - timedelta(hours=3), table["window_end"].type)))
    names = [name for name in last.column_names if name != "batch"]
    return columns(names, [[row[name] for name in names] for row in last.to_pylist()])


def plot(pipeline: Pipeline, root: Path, out: Path) -> Path:
    """The share of late flights and the mean delay of each airport, over the week."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    table = read(pipeline, WINDOW, root=root)
    figure = Figure(figsize=(11, 6), layout="constrained")
    FigureCanvasAgg(figure)
    share, delay = figure.subplots(2, sharex=True)
    for origin in ORIGINS:
        rows = table.filter(pc.equal(table["origin"], origin))
        ends = rows["window_end"].to_pylist()
        late = pc.multiply(100.0, pc.divide(rows["late"].cast(pa.float64()), rows["flights"]))
        share.plot(ends, late.to_pylist(), label=origin, linewidth=1.2)
        delay.plot(ends, rows["delay"].to_pylist(), label=origin, linewidth=1.2)
    share.set_ylabel("over 15 minutes late, %")
    delay.set_ylabel("mean delay, minutes")
    delay.set_xlabel("end of the six hours (UTC)")
    share.set_title("Departures from New York, six-hour windows every hour")
    share.legend(frameon=False)
    for part in (share, delay):
        part.grid(visible=True, alpha=0.3)
    figure.savefig(out, dpi=120)
    return out


def differences(pipeline: Pipeline, one: Path, other: Path) -> dict[str, tuple[int, bool]]:
    """Window -> how many of them are published below `one`, and whether those below `other` are the same, to the last bit."""
    tables = {name: (read(pipeline, name, root=one), read(pipeline, name, root=other)) for name in pipeline.windows}
    return {name: (len(first), first.equals(second)) for name, (first, second) in tables.items()}
