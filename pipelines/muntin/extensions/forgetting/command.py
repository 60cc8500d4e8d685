"""`muntin forget`: what is kept of a key goes, and stays away."""

from collections.abc import Sequence
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from muntin.cli import options as opt
from muntin.cli.output import columns, say, say_json, size
from muntin.cli.place import placed
from muntin.cli.selection import by_column
from muntin.cli.working import working
from muntin.definition.spelling import many
from muntin.errors import DefinitionError

if TYPE_CHECKING:
    from muntin.definition.pipeline import Pipeline
    from muntin.extensions.forgetting.forget import Forgetting
    from muntin.files.paths import AnyPath

Key = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        metavar="[NAME=]VALUE",
        help="The key to forget; may stand several times. Some columns alone mean all keys with them.",
    ),
]
Keys = Annotated[
    Path | None,
    typer.Option("--keys", metavar="PARQUET", help="A file with the keys: a row each, key columns alone."),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do it; else it is only said what lies where.")]
Prove = Annotated[
    bool,
    typer.Option(
        "--prove", help="Look through all that is kept; exit status 3 if something of the key is found."
    ),
]
Totals = Annotated[
    str, typer.Option("--totals", metavar="keep|redo", help="What becomes of totals with rows of the key.")
]
Undo = Annotated[
    bool, typer.Option("--undo", help="Let rows of the key count again in batches that are read from now on.")
]
Until = Annotated[
    datetime | None,
    typer.Option(
        "--until",
        parser=opt.instant,
        metavar="INSTANT",
        help="Let rows of the forgotten key count again from this event time on.",
    ),
]
Rotate = Annotated[bool, typer.Option("--rotate", help="Hash what is remembered with one more secret.")]
_LEFT = 3
_TOTALS: "dict[str, Literal['keep', 'redo']]" = {"keep": "keep", "redo": "redo"}


def forget(
    file: opt.File,
    root: opt.Root = None,
    name: opt.Name = None,
    key: Key = None,
    keys: Keys = None,
    yes: Yes = False,
    prove: Prove = False,
    totals: Totals = "keep",
    undo: Undo = False,
    until: Until = None,
    rotate: Rotate = False,
    spark: opt.Spark = None,
    as_json: opt.Json = False,
) -> int:
    """Forget keys: say what is kept of them, remove it, prove that it is gone.

    Without --yes it only says what lies where. With --yes, files are written anew without the key, old
    versions of tables go at once, sinks forget it too, and everything is checked again; run it again if it
    was interrupted. Windows of other keys stay. Rows of the key that come again are left out and counted.
    Without a key: a list of forgotten keys.

    Example:
      muntin forget dags/visits.py --root state --key user=42 --yes
      muntin forget dags/visits.py --root state --key user=42 --prove
    """
    if totals not in _TOTALS:
        raise DefinitionError(f"--totals {totals}: say keep or redo")
    if rotate or undo or until:
        return _remember(file, root, name, [] if rotate else [key, keys], until, undo=undo)
    if not key and not keys:
        return _register(file, root, name, as_json=as_json)
    deed = yes and not prove
    with working() as tell:
        pipeline, folder = placed(file, name, root)
        from muntin.extensions.forgetting import forget as jobs

        asked, how = _asked(pipeline, key, keys), _TOTALS[totals]
        if deed:
            forgetting = jobs.forget(pipeline, asked, root=folder, totals=how, spark=spark, progress=tell)
        else:
            forgetting = jobs.plan_forget(pipeline, asked, root=folder)
    if as_json:
        say_json(
            {
                **forgetting.register(),
                "left": [each.place for each in forgetting.left],
                "sinks": list(forgetting.sinks),
                "done": forgetting.done,
            }
        )
    else:
        _say(forgetting, deed=deed, prove=prove)
    return _LEFT if (prove and forgetting.left) or (deed and not forgetting.done) else 0


def _asked(pipeline: "Pipeline", texts: list[str] | None, file: Path | None) -> list[dict[str, Any]]:
    """The keys that were asked for: of several columns every combination, and the rows of a file."""
    values = by_column(pipeline.keys, texts or [])
    asked_keys = (
        [dict(zip(values, each, strict=True)) for each in product(*values.values())] if values else []
    )
    if file is not None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            asked_keys += pq.ParquetFile(file).read().to_pylist()
        except (OSError, pa.ArrowException) as wrong:
            raise DefinitionError(
                f"--keys {file}: cannot be read ({wrong}); write a Parquet file with key columns alone"
            ) from wrong
    return asked_keys


def _remember(
    file: Path,
    root: "AnyPath | None",
    name: str | None,
    keys: "Sequence[Any]",
    until: datetime | None,
    *,
    undo: bool,
) -> int:
    with working():
        pipeline, folder = placed(file, name, root)
        from muntin.extensions.forgetting import remembered as jobs

        if not keys:
            sentence = f"{many(jobs.new_secret(pipeline, root=folder), 'key')} hashed with one more secret"
        elif undo:
            count = jobs.undo(pipeline, _asked(pipeline, *keys), root=folder)
            sentence = (
                f"{many(count, 'key')} not forgotten any more: rows of batches that are read from now on"
                " count"
            )
        elif until:
            count = jobs.count_again(pipeline, _asked(pipeline, *keys), until, root=folder)
            sentence = f"{many(count, 'key')} counted again from {until.isoformat()} on"
    say(sentence)
    return 0


def _register(file: Path, root: "AnyPath | None", name: str | None, *, as_json: bool) -> int:
    with working():
        pipeline, folder = placed(file, name, root)
        from muntin.extensions.forgetting.remembered import remembered

        now = remembered(pipeline, root=folder)
    if as_json:
        say_json({"pipeline": pipeline.name, "keys": now.keys, "open": now.open, "events": list(now.events)})
        return 0
    left = f"; of {many(now.open, 'key')} something may be left: run the command again" if now.open else ""
    say(f"{many(now.keys, 'key')} forgotten{left}")
    if rows := [
        [event["at"], event["action"], event["keys"], _found(event.get("report"))] for event in now.events
    ]:
        say(columns(["at (UTC)", "what", "keys", "rows"], rows))
    return 0


def _found(report: dict[str, Any] | None) -> object:
    return sum(each["rows"] for each in report["found"]) if report else ""


def _say(forgetting: "Forgetting", *, deed: bool, prove: bool) -> None:
    shown = forgetting.left if deed or prove else forgetting.found
    if shown:
        say(
            columns(
                ["what", "place", "rows", "files", "bytes"],
                [[one.said, one.place, one.rows, one.files, size(one.bytes)] for one in shown],
            )
        )
    if forgetting.mend:
        say(forgetting.mend)
    for place in forgetting.undecided:
        say(f"cannot be told: {place}")
    for line in forgetting.sinks:
        say(f"sink: {line}")
    keys = many(forgetting.keys, "key")
    if deed:
        gone = many(sum(each.rows for each in forgetting.found), "row")
        return say(
            f"{keys} forgotten: {gone} gone"
            if forgetting.done
            else f"{keys} forgotten, and not yet everything is gone: run it again"
        )
    if prove:
        return say(f"{keys}: something is left" if forgetting.left else f"{keys}: nothing is found")
    return say(
        "nothing was changed; --yes removes it"
        if shown
        else f"nothing is kept of {keys}; --yes leaves their rows out from now on"
    )
