"""The rows that commits of a table with a log change, as rows that bring and rows that take back.

version   commit                                 files of its batch                    its rows say
1         INSERT                                 the added file                        nothing: they bring
2         UPDATE, with a change feed             the feed's file; not what was         delete, insert,
update_preimage, update_postimage
                                                 written anew
3         DELETE of a partition, no feed needed  the removed files                     delete
4         UPDATE or overwrite without a feed     the removed and the added files       delete, insert

Of a commit, rows that take back come before rows that bring, wherever they stand: a row may take the id of
another.

What a row is told to be follows from all rows of its id in the batch. If the batch brought the id, they
change no other batch: they are `insert`, or a word of ours where they take back. Else they change a row that
was there; or they are unchanged, if it is as before in the end, as most rows of a file are that was written
anew.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from muntin.sources.repeated_rows import CHANGE, TAKEN_BACK_AGAIN, TAKES_BACK, UNCHANGED, to_the_bit
from muntin.states.columns import FILE_PATH, IDENTITY, ORDINAL, ROW_IN_SPLIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from muntin.sources.logged.log import Added, Commit
    from muntin.sources.source import Columns

_VERSION, _SAID, _BEGAN, _BEGUN = "muntin_version", "muntin_said", "muntin_began", "muntin_begun"


class Step(NamedTuple):
    """The place of a file in the log of its table.

    Attributes:
        version: of the commit.
        said: what each row of the file is, as "insert" or "delete"; None of the change feed, whose rows say
            it themselves.
        began, begun: `version` and `said` of the first commit of the batch that names the file, where
            `version` is that of the last.
    """

    version: int
    said: str | None = "insert"
    began: int | None = None
    begun: str | None = None


def steps_of(commit: Commit) -> Iterator[tuple[Added, Step]]:
    """The files that say what a commit changed."""
    if commit.feed:
        yield from ((each, Step(commit.version, None)) for each in commit.feed)
        return
    came = {each.path: each for each in commit.added if each.path in commit.data_added}
    went = {each.path: each for each in commit.gone}
    # a file may be both, with other rows marked as deleted
    yield from (
        (_newly(each, came.get(each.path)), Step(commit.version, "delete"))
        for each in went.values()
        if each.path not in came or came[each.path].without not in ("", each.without)
    )
    yield from (
        (_newly(each, went.get(each.path)), Step(commit.version))
        for each in came.values()
        if each.path not in went or went[each.path].without not in ("", each.without)
    )


def _newly(added: Added, other: Added | None) -> Added:
    """The rows of a file that the other file, the same with other marks, has not."""
    return replace(added, only=other.without) if other else added


def last_steps(file_steps: Sequence[tuple[Added, Step]]) -> Iterator[tuple[Added, Step]]:
    """Each file of a batch once, as its last commit left it."""
    first = {_rows_of(added): step for added, step in reversed(file_steps)}
    last = {_rows_of(added): at for at, (added, _) in enumerate(file_steps)}
    for at in sorted(last.values()):
        added, step = file_steps[at]
        began = first[_rows_of(added)]
        yield added, step._replace(began=began.version, begun=began.said)


def _rows_of(added: Added) -> tuple[str, str, str]:
    return added.path, added.only, added.without


def with_steps(rows: str, steps: Mapping[str, Step]) -> str:
    """Rows with what their files tell of them, for `in_order`; rows of a batch that only adds as they are.

    `rows` have `FILE_PATH` and `CHANGE`; `steps`: path of a file -> its step, empty of other sources.
    """
    if not _changes(steps):
        return rows

    def told(values: Iterable[object]) -> str:
        return f"map([{paths}], {[*values]})[{FILE_PATH}]"

    every = steps.values()
    paths = ", ".join("'" + path.replace("'", "''") + "'" for path in steps)
    columns = {
        _VERSION: told(step.version for step in every),
        _BEGAN: told(step.began for step in every),
        _SAID: f"coalesce({CHANGE}, {told(step.said or '' for step in every)})",
        _BEGUN: f"coalesce({CHANGE}, {told(step.begun or '' for step in every)})",
    }
    return f"(SELECT *, {', '.join(f'{sql} AS {name}' for name, sql in columns.items())} FROM {rows})"


def in_order(rows: str, steps: Mapping[str, Step], columns: Columns) -> str:
    """Rows with what they say in `CHANGE`, and with `ORDINAL` by commit; rows that take back first.

    `rows` as `with_steps` and then `staged` give them.
    """
    if not _changes(steps):
        return rows
    took = f"{_SAID} IN {TAKES_BACK}"
    values = ", ".join(to_the_bit(name, kind) for name, kind in columns.items() if name != CHANGE)
    first = f"OVER (PARTITION BY {IDENTITY} ORDER BY {_BEGAN}, {_BEGUN} NOT IN {TAKES_BACK}, {ROW_IN_SPLIT})"
    last = f"OVER (PARTITION BY {IDENTITY} ORDER BY {_VERSION} DESC, {took}, {ROW_IN_SPLIT} DESC)"
    brought = f"{IDENTITY} IS NULL OR first_value({_BEGUN}) {first} = 'insert'"
    same = f"first_value(row({values})) {first} IS NOT DISTINCT FROM first_value(row({values})) {last}"
    own = f"CASE WHEN {took} THEN '{TAKEN_BACK_AGAIN}' ELSE 'insert' END"
    unchanged = f"first_value({_BEGUN} IN {TAKES_BACK}) {first} AND NOT first_value({took}) {last} AND {same}"
    other = f"CASE WHEN {unchanged} THEN '{UNCHANGED}' WHEN {took} THEN {_SAID} ELSE 'update_postimage' END"
    place = f"row_number() OVER (ORDER BY {_VERSION}, NOT ({took}), {ROW_IN_SPLIT})"
    replaced = f"CASE WHEN {brought} THEN {own} ELSE {other} END AS {CHANGE}, {place} AS {ORDINAL}"
    return f"(SELECT * EXCLUDE ({_VERSION}, {_SAID}, {_BEGAN}, {_BEGUN}) REPLACE ({replaced}) FROM {rows})"


def _changes(steps: Mapping[str, Step]) -> bool:
    return any((step.begun, step.said) != ("insert", "insert") for step in steps.values())
