"""`muntin doctor` and `muntin repair`: what is wrong with a state, and mending it."""

from dataclasses import asdict
from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.exported import exported
from muntin.cli.output import say, say_json, stretches
from muntin.cli.place import placed
from muntin.cli.quiet import say_what_was_done
from muntin.cli.working import working
from muntin.definition.spelling import many

Deep = Annotated[bool, typer.Option("--deep", help="Also read every file and compare it with its digest.")]
WithSpark = Annotated[
    bool,
    typer.Option(
        "--workers",
        help="Also start a Spark task, and compare its versions with the versions of this machine.",
    ),
]


def doctor(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    deep: Deep = False,
    workers: WithSpark = False,
    spark: opt.Spark = None,
    as_json: opt.Json = False,
) -> int:
    """Say what is wrong with a state.

    The disk, the logs and files of all tables, states against reports and ledgers, notes; batches whose run
    failed, and batches that a suite holds. Nothing is changed. Exit status 3 if anything is wrong.

    Example:
      muntin doctor dags/flights.py --root state --deep
    """
    with working():
        from muntin.jobs.doctor.diagnosis import diagnose, examine_versions
        from muntin.jobs.schema_check.same_versions import versions

        pipeline, folder = placed(file, name, root)
        findings = diagnose(pipeline, root=folder, deep=deep)
        if workers:
            from muntin.tasks import runner_for

            with runner_for(spark, needed="--workers") as runner:
                findings += examine_versions(runner)
    serious = [one for one in findings if not one.mend.startswith("none needed")]
    if as_json:
        say_json({"findings": [asdict(one) for one in findings], "versions": versions()})
        return 3 if serious else 0
    for one in findings:
        say(f"{one.place}\n  {one.problem}\n  mend: {one.mend}")
    say(", ".join(f"{package} {number}" for package, number in versions().items()))
    say(f"{many(len(serious), 'thing')} to mend" if serious else "nothing to mend")
    return 3 if serious else 0


def repair(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    spark: opt.Spark = None,
    as_json: opt.Json = False,
) -> None:
    """Mend a state.

    Lost or damaged files are derived again: windows from states, states from the source. A damaged file stays
    in its folder, under a name that ends with .damaged. Let no other run work meanwhile.

    Example:
      muntin repair dags/flights.py --root state
    """
    with working() as tell:
        from muntin.jobs.doctor.repair import repair as mend

        pipeline, folder = placed(file, name, root)
        with exported():
            repairs = mend(pipeline, root=folder, spark=spark, progress=tell)
    if as_json:
        document = {
            "logs": [str(path) for path in repairs.logs],
            "read": list(repairs.read),
            "notes": repairs.notes,
        }
        document["files"] = [str(path) for path in repairs.files]
        return say_json(
            document | {"derived": {window: list(starts) for window, starts in repairs.derived.items()}}
        )
    for path in repairs.logs:
        say_what_was_done(f"set aside: {path}")
    for path in repairs.files:
        say_what_was_done(f"was lost or damaged: {path}")
    if repairs.read:
        from muntin.definition.instants import from_us

        after = pipeline.intervals.after
        say_what_was_done(
            f"read again: {many(len(repairs.read), 'batch')}:"
            f" {stretches([(from_us(at), from_us(after(at))) for at in repairs.read])}"
        )
    for window, starts in repairs.derived.items():
        say_what_was_done(f"{window}: windows of {many(len(starts), 'batch')} derived again")
    if repairs.notes:
        say_what_was_done(
            f"forgotten: {many(repairs.notes, 'note')}; they are made again when they are needed"
        )
    return say_what_was_done("mended" if repairs else "nothing was to mend")
