"""`muntin migrate`: a state of an earlier format, carried over at once, and back."""

from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json
from muntin.cli.place import placed
from muntin.cli.working import working

Yes = Annotated[bool, typer.Option("--yes", help="Do it; without, it is only said.")]
Undo = Annotated[bool, typer.Option("--undo", help="Take a migration back, as long as no run has changed the state since.")]


def migrate(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    yes: Yes = False,
    undo: Undo = False,
    as_json: opt.Json = False,
) -> None:
    """Say what an upgrade of Muntin does to a state, and do it.

    States of every earlier format are read as they are, and the first run carries a state over by itself. This does it at once and
    beside runs, and keeps what --undo needs until `muntin maintain` removes it after a week. Nothing is derived anew.

    Example:
      muntin migrate dags/flights.py --root state
      muntin migrate dags/flights.py --root state --yes
    """
    with working():
        from muntin.jobs.upkeep import migrate as jobs

        pipeline, folder = placed(file, name, root)
        do = jobs.undo if undo else jobs.migrate if yes else jobs.to_migrate
        found = do(pipeline, root=folder)
    done = yes or undo
    if as_json:
        facts = {"home": found.home, "from_format": found.from_format, "to_format": found.to_format}
        return say_json({**facts, "done": done and bool(found), "tables": dict(found.tables), "can_be_undone": found.can_be_undone})
    if not found and not undo:
        more = "; a migration can be taken back: --undo" if found.can_be_undone else ""
        return say(f"{found.home} has format {found.to_format}: there is nothing to do{more}")
    say(f"{found.home}: format {found.from_format} {'became' if done else 'becomes'} {found.to_format}")
    if found.tables and not undo:
        say(
            columns(["window", "files", "new place"], [[window, n, f"{found.home}/windows/{window}"] for window, n in found.tables.items()])
        )
    if not done:
        return say("nothing was changed; --yes does it, and --undo takes it back until a run has read or published")
    return say("the state is as it was before the migration" if undo else "done; --undo takes it back until a run has read or published")
