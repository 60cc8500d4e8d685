"""The rows that commits of a Delta table change, as rows that bring and rows that take back.

version   commit                                 files of its batch                    its rows say
1         INSERT                                 the added file                        nothing: they bring
2         UPDATE, with a change feed             the feed's file; not what was         delete, insert, update_preimage, update_postimage
                                                 written anew
3         DELETE of a partition, no feed needed  the removed files                     delete
4         UPDATE or overwrite without a feed     the removed files and the added       delete, update_postimage, insert; unchanged, if
                                                 files                                 the commit removed and added the same

Of a commit, rows that take back come before rows that bring, wherever they stand: a row may take the id of another.

Rows of an id that the batch itself brought change no other batch: they are told as `insert`, or by a word of ours where they take back.
Rows of other ids change a row that was there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from muntin.sources.reading.event_ids import to_the_bit
from muntin.sources.reading.scan import literal
from muntin.sources.repeated_rows import CHANGE, TAKEN_BACK_AGAIN, TAKES_BACK, UNCHANGED
from muntin.states.columns import FILE_PATH, IDENTITY, ORDINAL, ROW_IN_SPLIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.sources.delta.table_log import Added, Commit

UPDATED, BROUGHT = "update_postimage", "I"
"""The words for rows of ids that were there before the batch; and of a file that came in the batch, went, and was restored. Of a file that
came and went it is `TAKEN_BACK_AGAIN`."""
_VERSION, _SAID = "muntin_version", "muntin_said"


class Step(NamedTuple):
    """The place of a file in the log of its table.

    Attributes:
        version: of the commit.
        said: what each row of the file is: "insert", "delete", or a word of ours; None of the change feed, whose rows say it.
        compared: whether the commit removed files and added others, and has no feed that says what is different in them.
    """

    version: int
    said: str | None = "insert"
    compared: bool = False


def steps_of(commit: Commit) -> Iterator[tuple[Added, Step]]:
    """The files that say what a commit changed."""
    if commit.feed:
        yield from ((each, Step(commit.version, None)) for each in commit.feed)
        return
    compared = bool(commit.gone and commit.data_added)
    said = UPDATED if commit.operation == "RESTORE" else "insert"
    yield from ((each, Step(commit.version, "delete", compared)) for each in commit.gone)
    yield from ((each, Step(commit.version, said, compared)) for each in commit.added if each.path in commit.data_added)


def last_steps(found: Sequence[tuple[Added, Step]]) -> Iterator[tuple[Added, Step]]:
    """Each file of a batch once, as its last commit left it."""
    first = {added.path: step for added, step in reversed(found)}
    last = {added.path: at for at, (added, _) in enumerate(found)}
    for at in sorted(last.values()):
        added, step = found[at]
        again = first[added.path].said == "insert" and step != first[added.path]
        yield added, step._replace(said=TAKEN_BACK_AGAIN if step.said == "delete" else BROUGHT) if again else step


def with_steps(rows: str, steps: Mapping[str, Step]) -> str:
    """Rows with what their files tell of them, for `in_order`; rows of a batch that only adds as they are.

    Args:
        rows: a relation with `FILE_PATH` and `CHANGE`.
        steps: path of a file -> its step; empty of other sources.
    """
    if not _changes(steps):
        return rows
    paths = ", ".join(map(literal, steps))
    version = f"map([{paths}], {[step.version for step in steps.values()]})[{FILE_PATH}]"
    words = [step.said or "" for step in steps.values()]
    said = f"coalesce({CHANGE}, map([{paths}], {words})[{FILE_PATH}])"
    return f"(SELECT *, {version} AS {_VERSION}, {said} AS {_SAID} FROM {rows})"


def in_order(rows: str, steps: Mapping[str, Step], columns: Mapping[str, str]) -> str:
    """Rows with what they say in `CHANGE`, and with `ORDINAL` by commit; those that take back first.

    Args:
        rows: a relation as `with_steps` and then `staged` give it.
        steps: path of a file -> its step; empty of other sources.
        columns: name -> SQL type of the source's columns.
    """
    if not _changes(steps):
        return rows
    if compared := sorted({str(step.version) for step in steps.values() if step.compared}):
        rows = f"(SELECT * REPLACE ({_compared(compared, columns)} AS {_SAID}) FROM {rows})"
    order = f"ORDER BY {_VERSION}, {_SAID} NOT IN {TAKES_BACK}, {ROW_IN_SPLIT}"
    first, every = f"first_value({_SAID}) OVER (PARTITION BY {IDENTITY} {order})", f"OVER (PARTITION BY {IDENTITY})"
    brought = f"{IDENTITY} IS NULL OR {first} = 'insert' OR bool_or({_SAID} IN {BROUGHT, TAKEN_BACK_AGAIN}) {every}"
    own = f"CASE WHEN {_SAID} IN {TAKES_BACK} THEN '{TAKEN_BACK_AGAIN}' ELSE 'insert' END"
    known = f"CASE WHEN {_SAID} IN {TAKES_BACK} THEN {_SAID} ELSE '{UPDATED}' END"
    said = f"CASE WHEN {_SAID} = '{UNCHANGED}' THEN {_SAID} WHEN {brought} THEN {own} ELSE {known} END"
    replaced = f"{said} AS {CHANGE}, row_number() OVER ({order}) AS {ORDINAL}"
    return f"(SELECT * EXCLUDE ({_VERSION}, {_SAID}) REPLACE ({replaced}) FROM {rows})"


def _compared(versions: Sequence[str], columns: Mapping[str, str]) -> str:
    """SQL for what a row says, where its commit removed rows and added rows, and some are the same."""
    values = ", ".join(to_the_bit(name, kind) for name, kind in columns.items() if name != CHANGE)
    same, alike = f"OVER (PARTITION BY {_VERSION}, {_SAID} = '{TAKEN_BACK_AGAIN}', {values})", f"OVER (PARTITION BY {_VERSION}, {IDENTITY})"
    updated = f"{_SAID} = 'insert' AND {IDENTITY} IS NOT NULL AND bool_or({_SAID} = 'delete') {alike}"
    return (
        f"CASE WHEN NOT {_among(_VERSION, versions)} THEN {_SAID} WHEN min({_SAID}) {same} <> max({_SAID}) {same} THEN '{UNCHANGED}' "
        f"WHEN {updated} THEN '{UPDATED}' ELSE {_SAID} END"
    )


def _changes(steps: Mapping[str, Step]) -> bool:
    return any(step.said not in ("insert", BROUGHT) for step in steps.values())


def _among(value: str, some: Sequence[str]) -> str:
    return f"{value} IN ({', '.join(some)})" if some else "false"
