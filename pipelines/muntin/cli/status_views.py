"""Views of `muntin status`: how far each sink is, where windows are, and gauges for a dashboard."""

from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import inspected, placed
from muntin.cli.report import BLOCKED, exported
from muntin.cli.working import working
from muntin.definition.relative_paths import is_object_store
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from muntin.jobs.records.metrics import Metric
    from muntin.jobs.sending.catch_up import Sent
    from muntin.jobs.sending.notes import SinkStanding
    from muntin.jobs.state.bound import Bound

Send = Annotated[bool, typer.Option("--send", help="Send to each sink what is missing there.")]
Anew = Annotated[
    bool,
    typer.Option(
        "--anew", help="With --send: send all windows, and let them take the place of what is there."
    ),
]
_FAILED = 3


def sinks(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    send: Send = False,
    anew: Anew = False,
    as_json: opt.Json = False,
) -> int:
    """Say how far each sink is.

    The version that each sink has, how many versions are missing, and why the last attempt failed, as the
    state has it. Windows whose values a sink refuses are named, each with the column. Exit status 3 if a sink
    is down, 4 if a person is needed.

    Example:
      muntin status --sinks dags/flights.py --root state
      muntin status --sinks dags/flights.py --root state --send
    """
    if anew and not send:
        raise typer.BadParameter("--anew: say --send, too")
    with working():
        from muntin.jobs.sending.notes import standings
        from muntin.jobs.sending.send import reported
        from muntin.jobs.state.state_folders import bind_existing

        pipeline, folder = inspected(file, name, root)
        bound = bind_existing(pipeline, folder)
        sent = _sent(bound, anew=anew) if send else ()
        sink_standings = standings(bound)
    if as_json:
        say_json([one.to_dict() for one in sink_standings])
    else:
        for line in reported(sent):
            say(line)
        say(
            _table(sink_standings)
            if sink_standings
            else f"{pipeline.name}: the definition has no sinks; write Pipeline(..., to=[...])"
        )
        for one in sink_standings:
            if one.misfits:
                say(f"\n{one.window} in {one.sink}: {many(len(one.misfits), 'window')} not as published")
            for misfit in one.misfits:
                say(f"  {misfit.line}")
    if any(one.needs_a_person for one in sent) or any(
        not misfit.replaced for one in sink_standings for misfit in one.misfits
    ):
        return BLOCKED
    return _FAILED if any(one.failed for one in sent) else 0


def _sent(bound: "Bound", *, anew: bool) -> "tuple[Sent, ...]":
    from muntin.jobs.publish.spark_needed import rows_need_spark
    from muntin.jobs.sending.send import reach_of, send
    from muntin.tasks import runner_for

    with runner_for(needed=rows_need_spark(bound.pipeline)) as runner:
        return send(bound, reach_of(runner.spark), anew=anew)


def _table(sink_standings: "list[SinkStanding]") -> str:
    heads = ["window", "sink", "version", "behind", "last attempt", "failed"]
    return columns(
        heads,
        [
            [one.window, one.sink, one.version, one.behind, one.at, one.failed or None]
            for one in sink_standings
        ],
    )


_READERS = {
    "DuckDB": "SELECT * FROM delta_scan('{table}');",
    "Polars": "polars.read_delta('{table}')",
    "pandas": "deltalake.DeltaTable('{table}').to_pandas()",
    "Spark": "spark.read.format('delta').load('{table}')",
    "Trino": "CALL delta.system.register_table('default', '{name}', '{location}');",
    "Muntin": "muntin show {file} {window} --root {root}",
}


def where(
    file: opt.File,
    window: opt.SomeWindow = None,
    root: opt.Root = None,
    name: opt.Name = None,
    as_json: opt.Json = False,
) -> None:
    """Say where windows are, and how other tools read them.

    The path of a window's table stays, whatever becomes of the definition.

    Example:
      muntin status --paths dags/flights.py day --root state
    """
    with working():
        from muntin.jobs.inspect.selection import no_window
        from muntin.store.state import WINDOWS

        pipeline, folder = placed(file, name, root)
        if window is not None and window not in pipeline.windows:
            raise no_window(pipeline, window)
        names = [window] if window else [*pipeline.windows]
        tables = {each: str(folder.absolute() / pipeline.name / WINDOWS / each) for each in names}
    if as_json:
        return say_json(tables)
    for each, table in tables.items():
        say(f"{each}: {table}")
        location = table if is_object_store(table) else f"file://{table}"
        plain = f"{pipeline.name}_{each}".replace(".", "_")
        facts = {
            "table": table,
            "location": location,
            "name": plain,
            "file": file,
            "window": each,
            "root": folder,
        }
        for reader, line in _READERS.items():
            say(f"  {reader:<8}{line.format(**facts)}")
        for sink in pipeline.to:
            if sink.window == each and sink.query:
                say(f"  {'Catalog':<8}{sink.query}")
    return None


def metrics(file: opt.File, root: opt.Root = None, name: opt.Name = None, as_json: opt.Json = False) -> None:
    """Say the gauges of a pipeline as they are now.

    The lag of each window, the batches by state, and whether `fresh_within` is met, in the text format of
    Prometheus. Runs send the same when they end. A receiver of OpenTelemetry that the environment names gets
    them too.

    Example:
      muntin status --metrics dags/flights.py --root state > /var/lib/node_exporter/muntin_flights.prom
    """
    with working():
        from muntin.jobs.records.metrics import of_state, record
        from muntin.jobs.records.reports_table import now_us
        from muntin.jobs.state.state_folders import bind_existing

        pipeline, folder = inspected(file, name, root)
        gauges = of_state(bind_existing(pipeline, folder), now_us())
        with exported():
            record(lambda: gauges)
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
