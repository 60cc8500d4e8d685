"""`muntin publish` and `muntin promote`: what readers get, and what is taken back."""

from dataclasses import asdict, astuple
from getpass import getuser
from typing import TYPE_CHECKING, Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json, say_what_was_done
from muntin.cli.place import placed
from muntin.cli.report import exported, say_report, status_of
from muntin.cli.working import working
from muntin.definition.instants import spell_instant
from muntin.definition.spelling import many
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muntin.definition.pipeline import Pipeline
    from muntin.jobs.publish.held import HeldWindows

Despite = Annotated[
    str | None,
    typer.Option(
        "--despite",
        metavar="VERDICT",
        help="Publish the windows that this verdict holds, exactly as they were checked.",
    ),
]
Reason = Annotated[
    str | None,
    typer.Option(
        "--reason", metavar="WHY", help="Why they are published all the same; it stays in the report."
    ),
]
By = Annotated[
    str | None, typer.Option("--by", metavar="WHO", help="Who decides; the user of this machine if left out.")
]


def publish(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    despite: Despite = None,
    reason: Reason = None,
    by: By = None,
    spark: opt.Spark = None,
    as_json: opt.Json = False,
) -> int:
    """Show what suites hold back, or publish it all the same.

    Without --despite: the windows that failed a critical expectation, with the failed checks, their rows and
    the name of the verdict. With it, exactly these windows are published as they were staged; verdict, person
    and reason stay in the report. Batches that are read again get a verdict with another name.

    Example:
      muntin publish dags/flights.py --root state
      muntin publish dags/flights.py --root state --despite 0b6f4f8a1c2d3e4f --reason "EWR was closed, readers
      know"
    """
    with working("finalize", "validate", "publish") as tell:
        pipeline, folder = placed(file, name, root)
        if despite is None:
            if reason is not None or by is not None:
                raise DefinitionError(
                    "--reason, --by: say which verdict it is about, by --despite; muntin publish FILE names"
                    " them"
                )
            from muntin.jobs.publish.held import held_windows
            from muntin.jobs.state.state_folders import bind_existing

            held = held_windows(bind_existing(pipeline, folder))
        else:
            from muntin.jobs.reported_run import publish_and_tell

            with exported():
                report = publish_and_tell(
                    pipeline,
                    root=folder,
                    verdict=despite,
                    by=by or getuser(),
                    reason=reason or "",
                    spark=spark,
                    progress=tell,
                )
    if despite is None:
        return _say_held(held, pipeline, as_json=as_json)
    if as_json:
        say_json(report.to_dict())
    else:
        say_report(report)
    return status_of(report)


def _say_held(held: "list[HeldWindows]", pipeline: "Pipeline", *, as_json: bool) -> int:
    if as_json:
        say_json(
            [
                {
                    "verdict": each.name,
                    "batches": [*map(spell_instant, each.starts)],
                    "reports": [*each.reports.values()],
                }
                for each in held
            ]
        )
    elif not held:
        say(f"{pipeline.name}: nothing is held that could be published")
    for each in held if not as_json else ():
        say("\n".join(_lines(each)))
    return 0


def _lines(each: "HeldWindows") -> "Iterator[str]":
    from muntin.quality.report import verdict_lines

    yield f"verdict {each.name}, {many(len(each.starts), 'batch')} {each.over}"
    for report in each.reports.values():
        yield from (f"  {line}" for line in verdict_lines(report))
    others = [window.window for window in each.staged.windows if window.window not in each.reports]
    if others:
        yield f"  held with it: {', '.join(others)}"


Incomplete = Annotated[
    bool,
    typer.Option(
        "--incomplete", help="Also promote windows that lack batches: missing windows are gone then."
    ),
]
Version = Annotated[
    int | None,
    typer.Option(
        "--version", min=0, help="A version of the window's table; else the last of the definition before."
    ),
]


def promote(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    incomplete: Incomplete = False,
    validate: opt.Validate = True,
    spark: opt.Spark = None,
    as_json: opt.Json = False,
) -> None:
    """Make a definition the current one.

    The live tables hold its windows from then on, in one commit for each window. No source is read. The
    earlier definition is superseded: its runs are refused until it is promoted again.

    Example:
      muntin promote dags/flights.py --root state
    """
    with working() as tell:
        from muntin.jobs.upkeep.promote import promote as do

        pipeline, folder = placed(file, name, root)
        with exported():
            window_names = do(
                pipeline, root=folder, spark=spark, incomplete=incomplete, validate=validate, progress=tell
            )
    if as_json:
        return say_json({"promoted": window_names})
    return say_what_was_done(
        f"promoted: {', '.join(window_names)}"
        if window_names
        else f"{pipeline.name}: this definition is current already"
    )


def rollback(
    file: opt.File,
    window: opt.SomeWindow = None,
    root: opt.Root = None,
    name: opt.Name = None,
    version: Version = None,
    as_json: opt.Json = False,
) -> None:
    """Take back the promotion of a definition.

    The live tables hold the earlier windows again, in one commit for each window, as long as `maintain` has
    not removed their files. The current definition is superseded; the definition before it goes on with its
    next run.

    Example:
      muntin promote --back dags/flights.py --root state
    """
    with working():
        from muntin.jobs.upkeep.promote import rollback as do

        pipeline, folder = placed(file, name, root)
        rollbacks = do(pipeline, root=folder, window=window, version=version)
    if as_json:
        return say_json([asdict(one) for one in rollbacks])
    return say_what_was_done(columns(["window", "as of version", "files"], [*map(astuple, rollbacks)]))
