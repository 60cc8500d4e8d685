"""The entry point: commands put together, errors reported once, exit statuses."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from inspect import getdoc
from typing import Annotated

import typer

from muntin.cli.commands import as_of, backfill, changes, check, doctor, explain, forget, late, metrics, new, over, plan, promote, publish, quarantine, run, show, sinks, status, where
from muntin.extensions.page.commands import plot
from muntin.extensions.page.commands import timeline
from muntin.extensions.page.commands import ui
from muntin.cli.commands.upkeep import maintain, rebuild
from muntin.cli.failure import exit_status, tell
from muntin.cli.interrupt import Interrupted, caught, end, listening
from muntin.cli.output import say
from muntin.cli.quiet import quietly

DEBUG, QUIET = "--debug", "--quiet"
INTERRUPTED = 130  # what Typer makes of an interrupt
COMMANDS = (
    new.new,
    run.run,
    plan.plan,
    check.check,
    check.contract,
    backfill.backfill,
    rebuild.rebuild,
    publish.publish,
    promote.diff,
    promote.promote,
    promote.rollback,
    status.status,
    metrics.metrics,
    where.where,
    show.show,
    show.sql,
    over.over,
    changes.changes,
    as_of.as_of,
    plot.plot,
    timeline.timeline,
    explain.explain,
    late.late,
    quarantine.quarantine,
    sinks.sinks,
    ui.ui,
    doctor.doctor,
    doctor.repair,
    forget.forget,
    maintain.maintain,
    maintain.vacuum,
)

app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)


def _help(command: Callable[..., int | None]) -> str:
    """A command's docstring, its example kept as it is written."""
    return (getdoc(command) or "").replace("Example:", "\b\nExample:")


for each in COMMANDS:
    app.command(help=_help(each))(each)


def muntin(
    context: typer.Context,
    debug: Annotated[bool, typer.Option(DEBUG, help="Show the traceback of an error; may stand anywhere.")] = False,  # noqa: ARG001 - taken by main
    quiet: Annotated[bool, typer.Option(QUIET, help="Results and errors alone, no progress; may stand anywhere.")] = False,  # noqa: ARG001 - as above
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Windowed aggregation on micro-batches.

    Exit status: 0 done, 1 failed expectations, 2 wrong usage or definition, 3 source or state trouble,
    4 published, and a sink refuses windows, 130 and 143 interrupted.

    Example:
      muntin run dags/flights.py --root state --start 2013-01-01 --end 2013-02-01
      muntin show dags/flights.py last_6_hours --root state
    """
    if version:
        from importlib.metadata import version as installed

        say(f"muntin {installed('muntin')}")
    elif context.invoked_subcommand is None:
        say(context.get_help())


app.callback(invoke_without_command=True, help=_help(muntin))(muntin)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, return its exit status; default: sys.argv."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    with listening():
        try:
            return _status(given)
        except Interrupted as interrupted:
            status = end(interrupted.number)
            return status if arguments is not None else _leave(status)


def _leave(status: int) -> int:
    """End the process at once where a task may still compute, and a thread cannot be stopped; nothing of it is committed."""
    local = sys.modules.get("muntin.tasks.local")
    if local and local.may_be_at_work():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


def _status(given: Sequence[str]) -> int:
    try:
        with quietly(QUIET in given):
            outcome = app([word for word in given if word not in (DEBUG, QUIET)], standalone_mode=False, prog_name="muntin")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as wrong:
        if interrupted := caught():  # what went wrong followed from that
            raise interrupted from wrong
        tell(wrong, as_json="--json" in given, traceback=DEBUG in given)
        return exit_status(wrong)
    if outcome == INTERRUPTED:
        raise Interrupted(signal.SIGINT)
    return outcome if isinstance(outcome, int) else 0
