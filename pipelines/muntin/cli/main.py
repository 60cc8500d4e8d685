"""The entry point: commands put together, errors reported once, exit statuses."""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from inspect import getdoc
from typing import Annotated

import typer

from muntin.cli.output import quietly, say
from muntin.cli.working import Interrupted, caught, end, listening
from muntin.errors import DefinitionError, MissingPackageError
from muntin.old_names import COMMANDS as OLD
from muntin.registry import extension, names_of

DEBUG, QUIET = "--debug", "--quiet"
INTERRUPTED = 130  # what Typer makes of an interrupt
COMMANDS = {
    "new": "new:new",
    "check": "check:check",
    "check --contract": "check:contract",
    "plan": "plan:plan",
    "plan --diff": "plan:diff",
    "run": "run:run",
    "run --rebuild": "run:rebuild",
    "publish": "publish:publish",
    "promote": "publish:promote",
    "promote --back": "publish:rollback",
    "status": "status:status",
    "status --metrics": "status_views:metrics",
    "status --paths": "status_views:where",
    "status --sinks": "status_views:sinks",
    "show": "show:show",
    "show --late": "left_out:late",
    "show --quarantine": "left_out:quarantine",
    "show --changes": "show:changes",
    "explain": "explain:explain",
    "as-of": "lookups:as_of",
    "over": "lookups:over",
    "sql": "show:sql",
    "doctor": "upkeep:doctor",
    "doctor --mend": "upkeep:repair",
    "maintain": "upkeep:maintain",
}
"""A command of the core, or a form of it that an option asks for -> its function in `cli`. Only what
is asked for is imported.
"""


def names() -> list[str]:
    """All commands and their forms, last what extensions add."""
    return [*COMMANDS, *names_of("commands"), *(f"show --{view}" for view in names_of("show"))]


def with_form(words: Sequence[str]) -> list[str]:
    """The words of a command line, a command and the option that asks for a form of it as one word.

    >>> with_form(["doctor", "FILE", "--mend"])
    ['doctor --mend', 'FILE']
    """
    command = next((word for word in words if not word.startswith("-")), "")
    options = dict.fromkeys(word for word in words if word.startswith("--"))
    forms = [option for option in options if f"{command} {option}" in COMMANDS]
    if command == "show":
        forms += [option for option in options if option[2:] in names_of("show")]
    if not forms:
        return [*words]
    if len(forms) > 1:
        raise typer.BadParameter(f"{' and '.join(forms)} exclude each other: say one of them")
    at = words.index(command)
    rest = [word for word in words[at + 1 :] if word != forms[0]]
    return [*(word for word in words[:at] if word != forms[0]), f"{command} {forms[0]}", *rest]


def command_line(given: Sequence[str] = ()) -> typer.Typer:
    """The command that some words ask for, as Typer has it; all commands, for help and suggestions, where the
    words name none.
    """
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    app.callback(invoke_without_command=True, help=_help(muntin))(muntin)
    asked = next((word for word in given if not word.startswith("-")), None)
    is_one = asked in COMMANDS or asked in names()
    if asked in OLD and not is_one:
        raise DefinitionError(f"muntin {asked} is gone: write muntin {OLD[asked]}")
    is_told_of_forms = "--help" in given or not is_one
    for name, command in _commands([asked] if asked and is_one else names()):
        forms = _forms(name) if is_told_of_forms else None
        app.command(name, help=_help(command), epilog=forms, hidden=" --" in name)(command)
    return app


def _commands(asked: Sequence[str]) -> Iterator[tuple[str, Callable[..., int | None]]]:
    """Commands by their names. Of many, an extension that cannot be loaded is left out with a warning."""
    for name in asked:
        try:
            yield name, _command(name)
        except MissingPackageError as wrong:
            if len(asked) == 1:
                raise
            print(f"warning: {wrong}", file=sys.stderr)


def _command(name: str) -> Callable[..., int | None]:
    if name in COMMANDS:
        module, _, function = COMMANDS[name].partition(":")
        return getattr(import_module(f"muntin.cli.{module}"), function)
    return extension("show", name.partition("--")[2]) if " --" in name else extension("commands", name)


def _forms(command: str) -> str | None:
    """The forms of a command, below its help; None if there is none."""
    forms = [each for each in names() if each.startswith(f"{command} --")]
    lines = [f"  muntin {each}  {_help(form).splitlines()[0]}" for each, form in _commands(forms)]
    return "\n".join(["\b", "Forms, each with its own --help:", *lines]) if forms else None


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
            status = _status(given)
        except Interrupted as interrupted:
            status = end(interrupted.number)
        return status if arguments is not None else _leave(status)


def _leave(status: int) -> int:
    """End the process at once where a task or a query may still compute, and a thread cannot be stopped;
    nothing of it is committed.
    """
    local, limit = map(sys.modules.get, ("muntin.tasks.local", "muntin.sources.sessions.time_limit"))
    if (local and local.may_be_at_work()) or (limit and limit.is_left_behind()):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    return status


def _status(given: Sequence[str]) -> int:
    try:
        with quietly(QUIET in given):
            words = with_form([word for word in given if word not in (DEBUG, QUIET)])
            outcome = command_line(words)(words, standalone_mode=False, prog_name="muntin")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as wrong:
        if interrupted := caught():  # what went wrong followed from that
            raise interrupted from wrong
        from muntin.cli.failure import exit_status, tell

        tell(wrong, as_json="--json" in given, traceback=DEBUG in given)
        return exit_status(wrong)
    if outcome == INTERRUPTED:
        raise Interrupted(signal.SIGINT)
    return outcome if isinstance(outcome, int) else 0
