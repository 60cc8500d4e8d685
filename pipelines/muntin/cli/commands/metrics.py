"""`muntin metrics`: the gauges of a pipeline as they are now, for a dashboard between two runs."""

from typing import TYPE_CHECKING

from muntin.cli import options as opt
from muntin.cli.exported import exported
from muntin.cli.output import say, say_json
from muntin.cli.place import inspected
from muntin.cli.working import working

if TYPE_CHECKING:
    from muntin.jobs.records.metrics import Metric


def metrics(file: opt.File, root: opt.Root = None, name: opt.Name = None, as_json: opt.Json = False) -> None:
    """Say the gauges of a pipeline as they are now.

    The lag of each window, the batches by state, and whether `fresh_within` is met, in the text format of
    Prometheus. Runs send the same when they end. A receiver of OpenTelemetry that the environment names gets
    them too.

    Example:
      muntin metrics dags/flights.py --root state > /var/lib/node_exporter/muntin_flights.prom
    """
    with working():
        from muntin.definition.instants import instant_us
        from muntin.jobs.records import telemetry
        from muntin.jobs.records.metrics import of_state
        from muntin.jobs.records.reports_table import utc_now
        from muntin.jobs.state.state_folders import bind_existing

        pipeline, folder = inspected(file, name, root)
        gauges = of_state(bind_existing(pipeline, folder), instant_us(utc_now(), "now"))
        with exported():
            telemetry.record(lambda: gauges)
    if as_json:
        return say_json([{"name": each.name, "labels": each.labels, "value": each.value} for each in gauges])
    return say("\n".join(exposition(gauges)))


def exposition(gauges: "list[Metric]") -> list[str]:
    """Metrics as Prometheus reads them, each name with its type and what it is."""
    from muntin.jobs.records.metrics import KINDS

    lines = []
    for name in dict.fromkeys(each.name for each in gauges):
        kind, flat = KINDS[name], name.replace(".", "_") + ("_seconds" if KINDS[name].unit == "s" else "")
        lines += [f"# HELP {flat} {kind.about}", f"# TYPE {flat} {kind.type}"]
        for each in (each for each in gauges if each.name == name):
            labels = ",".join(f'{label}="{_escaped(value)}"' for label, value in each.labels.items())
            lines.append(f"{flat}{{{labels}}} {each.value:.10g}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
