"""`muntin doctor` and `muntin maintain`: what is wrong with a state, and its files put in order."""

from dataclasses import asdict
from typing import Annotated

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json, say_what_was_done, size, stretches
from muntin.cli.place import placed, root_of
from muntin.cli.report import exported
from muntin.cli.working import working
from muntin.definition.durations import UNITS
from muntin.definition.spelling import many

Deep = Annotated[bool, typer.Option("--deep", help="Also read every file and compare it with its digest.")]
WithSpark = Annotated[
    bool,
    typer.Option(
        "--workers",
        help="Also start a Spark task, and compare its versions with the versions of this machine.",
    ),
]


AgainstSource = Annotated[
    int | None,
    typer.Option(
        "--against-source",
        min=1,
        metavar="N",
        help="Also compute N published windows, drawn at random, from the rows of the source.",
        show_default=False,
    ),
]


def doctor(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    deep: Deep = False,
    workers: WithSpark = False,
    against_source: AgainstSource = None,
    spark: opt.Spark = None,
    as_json: opt.Json = False,
) -> int:
    """Say what is wrong with a state.

    The disk, the logs and files of all tables, states against reports and ledgers, notes; batches whose run
    failed, and batches that a suite holds. Nothing is changed. Exit status 3 if anything is wrong.

    --against-source computes drawn windows by muntin.testing.oracle, which shares nothing with the engine:
    equal to the bit, floats to nine digits; it names what it cannot judge. MUNTIN_SEED=4711 draws them again.

    Example:
      muntin doctor dags/flights.py --root state --deep
      muntin doctor dags/flights.py --root state --against-source 50
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
        verdict = None
        if against_source:
            from muntin.cli.oracle import drawn

            verdict = drawn(pipeline, folder, against_source)
            findings += verdict.findings
    serious = [one for one in findings if not one.mend.startswith("none needed")]
    if as_json:
        document = {"findings": [asdict(one) for one in findings], "versions": versions()}
        say_json(document | ({"against_source": verdict.to_dict()} if verdict else {}))
        return 3 if serious else 0
    if verdict:
        say(verdict.spelled())
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
      muntin doctor --mend dags/flights.py --root state
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


OlderThan = Annotated[
    int,
    typer.Option(
        "--older-than", parser=opt.duration, metavar="DURATION", help="Default: 7d.", show_default=False
    ),
]
Superseded = Annotated[
    bool,
    typer.Option(
        "--superseded", help="Also remove states of earlier definitions of FILE, with their windows."
    ),
]


def maintain(
    file: opt.SomeFile = None,
    root: opt.Root = None,
    name: opt.Name = None,
    older_than: OlderThan = UNITS["w"],
    superseded: Superseded = False,
    dry_run: opt.DryRun = False,
    as_json: opt.Json = False,
) -> None:
    """Join small files, shorten logs, remove files that no reader can need.

    Every run does a part of it, so this command is worth it only after an upgrade or a long run. Runs may go
    on meanwhile. Files go that later commits replaced, abandoned stagings and half-written files, where they
    are older than --older-than; nothing that a table consists of now is touched. Without FILE that alone is
    done, in all states below the root. --superseded also removes the states of earlier definitions that read
    no batch for --older-than: their windows cannot be read any more.

    Example:
      muntin maintain dags/flights.py --root state --superseded --dry-run
      muntin maintain --root state --older-than 1d
    """
    if superseded and file is None:
        raise typer.BadParameter("--superseded: say FILE, whose earlier definitions are meant")
    with working() as tell:
        if file:
            from muntin.jobs.upkeep.maintain import maintain as do

            pipeline, folder = placed(file, name, root)
            maintenance = do(
                pipeline,
                root=folder,
                older_than_us=older_than,
                superseded=superseded,
                dry_run=dry_run,
                tell=tell,
            )
            compacted, removed = maintenance.compacted, [*maintenance.removed]
        else:
            from muntin.jobs.upkeep.vacuum import vacuum

            compacted, removed = {}, vacuum(root_of(root), older_than_us=older_than, dry_run=dry_run)
    total = sum(one.bytes for one in removed)
    if as_json:
        places = [asdict(one) for one in removed]
        return say_json({"dry_run": dry_run, "compacted": compacted, "bytes": total, "removed": places})
    tell = say if dry_run else say_what_was_done
    for table, times in compacted.items():
        tell(f"{table}: files put together {many(times, 'time')}")
    if removed:
        rows = [[one.what, one.place, one.files, size(one.bytes)] for one in removed]
        tell(columns(["what", "place", "files", "bytes"], rows))
    verb = "would remove" if dry_run else "removed"
    return tell(f"{verb} {many(sum(one.files for one in removed), 'file')}, {size(total)}")
