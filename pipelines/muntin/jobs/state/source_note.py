"""A note beside a state: the columns of the source as the files had them so far, so that a run can report
changes in new files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from muntin.definition.several_sources import Member
from muntin.definition.spelling import many
from muntin.files.paths import AnyPath
from muntin.jobs.state.notes import change_note, read_note
from muntin.sources.reading.sql_types import common_type, stored_type

NAME = "columns.json"
Columns = dict[str, str]  # name -> SQL type, in the order of a file


def noted(state: AnyPath, member: Member | None = None) -> Columns:
    """Name -> SQL type of a source's columns; {} where no note has them, as before a first run.

    `member`: its place among several.
    """
    return _columns(read_note(state / _name(member)))


def note(state: AnyPath, more: Callable[[Columns], Columns], member: Member | None = None) -> None:
    """Note the columns in the folder of a state. `more`: the noted columns -> the noted columns with the
    columns of further files.

    Raises:
        StateError: the disk refuses.
    """

    def changed(noted_json: Any) -> Columns | None:  # noqa: ANN401 - JSON
        before = _columns(noted_json)
        after = more(before)
        return after if [*after.items()] != [*before.items()] else None

    change_note(state / _name(member), changed)


def _columns(noted_json: Any) -> Columns:  # noqa: ANN401 - JSON
    return dict(noted_json) if isinstance(noted_json, dict) else {}


def _name(member: Member | None) -> str:
    return NAME if member is None else f"columns_of_{member.name}.json"


def taken_in(
    noted_columns: Columns, here: Columns, path: str, *, ordered: bool = True
) -> tuple[Columns, list[str]]:
    """The columns with the columns of another file, and its differences, a sentence each. `ordered`: whether
    files have an order of columns.

    >>> taken_in({"x": "INTEGER"}, {"x": "BIGINT", "y": "DATE"}, "b.csv")  # doctest: +NORMALIZE_WHITESPACE
    ({'x': 'BIGINT', 'y': 'DATE'}, ['x is BIGINT in b.csv and was INTEGER: BIGINT holds both', 'y DATE is
    a new column in b.csv'])
    """
    if not noted_columns:
        return dict(here), []
    columns, sentences = dict(noted_columns), []
    for name, kind in here.items():
        before = noted_columns.get(name)
        if before is None:
            sentences.append(f"{name} {kind} is a new column in {path}")
            columns[name] = kind
        elif before != kind and (wide := common_type(stored_type(before), stored_type(kind)) or kind) not in (
            before,
            stored_type(before),
        ):
            sentences.append(
                f"{name} is {kind} in {path} and was {before}"
                + (
                    f": {wide} holds both"
                    if common_type(stored_type(before), stored_type(kind)) is not None
                    else ""
                )
            )
            columns[name] = wide
    common = [name for name in noted_columns if name in here]
    if ordered and common != [name for name in here if name in noted_columns]:
        sentences.append(f"the columns of {path} are in another order: {', '.join(here)}")
        columns = {name: columns[name] for name in (*here, *(name for name in columns if name not in here))}
    return columns, sentences


def lacks(files_without: Iterable[Mapping[str, Sequence[str]]]) -> list[str]:
    """The columns that some files lack, a sentence each. `files_without`: column -> paths of files."""
    paths: dict[str, list[str]] = {}
    for each in files_without:
        for name, without in each.items():
            paths.setdefault(name, []).extend(without)
    return [
        f"{name} is null in {many(len({*without}), 'file')} without it, as {without[0]}"
        for name, without in paths.items()
    ]
