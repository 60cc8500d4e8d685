"""The entry point: commands put together, errors reported once, exit statuses."""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import getdoc
from typing import Annotated

import typer

from muntin.cli.failure import exit_status, tell
from muntin.cli.interrupt import Interrupted, caught, end, listening
from muntin.cli.output import say
from muntin.cli.quiet import quietly
from muntin.registry import extension, names_of

DEBUG, QUIET = "--debug", "--quiet"
INTERRUPTED = 130  # what Typer makes of an interrupt
COMMANDS = {
    "new": "new",
    "run": "run",
    "plan": "plan",
    "check": "check",
    "contract": "check",
    "backfill": "backfill",
    "rebuild": "upkeep.rebuild",
    "publish": "publish",
    "diff": "promote",
    "promote": "promote",
    "rollback": "promote",
    "status": "status",
    "metrics": "metrics",
    "where": "where",
    "show": "show",
    "sql": "show",
    "over": "over",
    "changes": "changes",
    "as-of": "as_of",
    "explain": "explain",
    "late": "late",
    "quarantine": "quarantine",
    "sinks": "sinks",
    "doctor": "doctor",
    "repair": "doctor",
    "maintain": "upkeep.maintain",
    "vacuum": "upkeep.maintain",
}
"""Command of the core -> its module in `cli/commands`. Only a command that is asked for is imported."""


def command_line(given: Sequence[str] = ()) -> typer.Typer:
    """The command that some words ask for, as Typer has it; all commands, for help and suggestions, where the
    words name none.
    """
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True, help=_help(muntin))(muntin)
    asked = next((word for word in given if not word.startswith("-")), None)
    is_one = asked in COMMANDS or asked in names_of("commands")
    for name in [asked] if asked and is_one else [*COMMANDS, *names_of("commands")]:
        command = _command(name)
        app.command(name, help=_help(command))(command)
    return app


def _command(name: str) -> Callable[..., int | None]:
    if name not in COMMANDS:
        return extension("commands", name)
    return getattr(import_module(f"muntin.cli.commands.{COMMANDS[name]}"), name.replace("-", "_"))


def _help(command: Callable[..., int | None]) -> str:
    """A command's docstring, its example kept as it is written."""
    return (getdoc(command) or "").replace("Example:", "\b\nExample:")


def muntin(
    context: typer.Context,
    debug: Annotated[  # noqa: ARG001 - taken by main
        bool, typer.Option(DEBUG, help="Show the traceback of an error; may stand anywhere.")
    ] = False,
    quiet: Annotated[  # noqa: ARG001 - as above
        bool, typer.Option(QUIET, help="Results and errors alone, no progress; may stand anywhere.")
    ] = False,
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
    """End the process at once where a task may still compute, and a thread cannot be stopped; nothing of it
    is committed.
    """
    local = sys.modules.get("muntin.tasks.local")
    if local and local.may_be_at_work():
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


def _status(given: Sequence[str]) -> int:
    try:
        with quietly(QUIET in given):
            words = [word for word in given if word not in (DEBUG, QUIET)]
            outcome = command_line(words)(words, standalone_mode=False, prog_name="muntin")
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
