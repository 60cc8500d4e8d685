"""`muntin sinks`: how far each sink is; sends what is missing."""

from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.commands.run import BLOCKED
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import inspected
from muntin.cli.working import working
from muntin.definition.spelling import many

if TYPE_CHECKING:
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
      muntin sinks dags/flights.py --root state
      muntin sinks dags/flights.py --root state --send
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
            say_misfits(one)
    if any(one.needs_a_person for one in sent) or any(
        not misfit.replaced for one in sink_standings for misfit in one.misfits
    ):
        return BLOCKED
    return _FAILED if any(one.failed for one in sent) else 0


def say_misfits(one: "SinkStanding") -> None:
    """The windows that a sink does not have as they are published, a line each."""
    if one.misfits:
        say(f"\n{one.window} in {one.sink}: {many(len(one.misfits), 'window')} not as published")
    for misfit in one.misfits:
        say(f"  {misfit.line}")


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
