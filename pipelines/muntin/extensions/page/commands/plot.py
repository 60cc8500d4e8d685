"""`muntin show --plot`: published windows over time, a line a key."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from muntin.cli import options as opt
from muntin.cli.output import say_json, say_what_was_done
from muntin.cli.place import inspected
from muntin.cli.selection import NoSuchKeyError, selected
from muntin.cli.working import working
from muntin.definition.extras import need
from muntin.definition.spelling import did_you_mean, many
from muntin.errors import DefinitionError, StateError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from muntin.definition.pipeline import Pipeline
    from muntin.extensions.page.pictures.drawing import Drawing, Mark

LINES = 20  # readers cannot tell more lines apart
Aggregates = Annotated[
    list[str] | None,
    typer.Argument(metavar="AGGREGATE...", help="The aggregates to draw.", show_default=False),
]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="Where to; .png, .svg, .pdf or .html.")]


def plot(
    file: opt.File,
    window: opt.Window,
    aggregate: Aggregates = None,
    root: opt.Root = None,
    out: Out = Path("plot.png"),
    name: opt.Name = None,
    key: opt.Key = None,
    low: opt.From = None,
    high: opt.To = None,
    provisional: opt.Provisional = False,
    as_json: opt.Json = False,
) -> None:
    """Draw published windows over time.

    One picture an aggregate, one line a key, over the ends of the windows.

    Example:
      muntin show --plot dags/flights.py last_6_hours delay late --root state --out plot.png
    """
    need("matplotlib")
    with working():
        pipeline, folder = inspected(file, name, root)
        names = aggregate or []
        _check(pipeline, names)
        try:
            table = selected(pipeline, window, folder, keys=key, low=low, high=high, provisional=provisional)
        except NoSuchKeyError as wrong:
            raise StateError(f"no window of {window!r} to draw: {wrong}") from None
        if not names:
            raise DefinitionError(
                _which(pipeline, table, f"muntin show --plot {file} {window}", f"--root {folder}")
            )
        lines = _lines(table, pipeline.keys_of(window), names)
        if not lines:
            raise StateError(
                f"no window of {window!r} to draw; see which there are with: muntin show {file} {window}"
                f" --root {folder}"
            )
        from muntin.extensions.page.pictures.drawing import write_picture

        write_picture(_drawing(lines[:LINES], names, f"{pipeline.name}: {window}"), out)
    drawn = min(len(lines), LINES)
    if as_json:
        return say_json(
            {
                "out": str(out.absolute()),
                "windows": len(table),
                "lines": drawn,
                "left_out": len(lines) - drawn,
            }
        )
    left = f"; {many(len(lines) - drawn, 'key')} left out, choose with --key" if len(lines) > drawn else ""
    return say_what_was_done(
        f"{out.absolute()}: {many(drawn, 'line')} over {many(len(table), 'window')}{left}"
    )


def _which(pipeline: "Pipeline", table: "pa.Table", command: str, root: str) -> str:
    """The question which aggregates to draw: the aggregates that can be drawn, and a
    command that draws one.
    """
    possible = [name for name in pipeline.results if _is_number(table[name].type)]
    if not possible:
        return f"pipeline {pipeline.name!r} has no aggregate that is a number: there is nothing to draw"
    return f"say which aggregate to draw, of {', '.join(possible)}: {command} {possible[0]} {root}"


def _is_number(kind: "pa.DataType") -> bool:
    from pyarrow import types

    return bool(
        types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_null(kind)
    )


def _check(pipeline: "Pipeline", names: list[str]) -> None:
    for name in names:
        if name not in pipeline.row_aggregates and name not in pipeline.derived:
            there = pipeline.results
            near = did_you_mean(name, there)
            raise DefinitionError(
                f"no aggregate {name!r} in pipeline {pipeline.name!r}; there are {', '.join(there)}{near}"
            )


def _lines(table: "pa.Table", keys: Sequence[str], names: list[str]) -> list[tuple[str, "pa.Table"]]:
    """Label and windows of each key; the table is sorted by key."""
    for name in names:
        kind = table[name].type
        if not _is_number(kind):
            raise DefinitionError(f"aggregate {name!r} is {kind}: only numbers can be drawn")
    return [(label, table.slice(start, end - start)) for label, start, end in _runs(table, keys)]


def _runs(table: "pa.Table", columns: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    keys = list(zip(*(table[key].to_pylist() for key in columns), strict=True)) or [()] * len(table)
    first = 0
    for at, key in enumerate(keys):
        if at + 1 == len(keys) or keys[at + 1] != key:
            yield " ".join(map(str, key)), first, at + 1
            first = at + 1


def _drawing(lines: list[tuple[str, "pa.Table"]], names: list[str], title: str) -> "Drawing":
    from muntin.extensions.page.pictures.drawing import Drawing, Mark, legend_label

    def draw(figure: Any, colours: "Mapping[str, str]") -> "dict[str, Mark]":  # noqa: ANN401 - matplotlib's
        pictures = figure.subplots(len(names), sharex=True, squeeze=False)[:, 0].tolist()
        for row, (picture, name) in enumerate(zip(pictures, names, strict=True)):
            for at, (label, rows) in enumerate(lines):
                values = [float("nan") if value is None else float(value) for value in rows[name].to_pylist()]
                style = {
                    # beyond the colours of the page matplotlib's, which know neither light nor dark
                    "color": colours.get(f"s{at}", f"C{at % 10}"),
                    "linewidth": 1.2,
                    "marker": "." if len(rows) < LINES else None,
                }
                picture.plot(
                    rows["window_end"].to_pylist(),
                    values,
                    label=legend_label(label),
                    gid=f"l{row}-{at}",
                    **style,
                )
            picture.set_ylabel(name)
            picture.grid(visible=True, linewidth=0.6)
        pictures[0].set_title(title)
        pictures[-1].set_xlabel("window_end (UTC)")
        if lines[0][0]:
            pictures[0].legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return {
            f"l{row}-{at}": Mark(label or name)
            for row, name in enumerate(names)
            for at, (label, _) in enumerate(lines)
        }

    return Drawing(11, 1.2 + 2.8 * len(names), draw, title)
