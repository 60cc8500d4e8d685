"""A Delta table as a source, as its user defines it. Nothing is read here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from muntin.definition.checks import check_choice
from muntin.definition.relative_paths import is_object_store, readable
from muntin.errors import DefinitionError
from muntin.old_names import old_names_refused
from muntin.sources.row_source import LastingFiles, LookBack, checked_terms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muntin.definition.schedule import Schedule
    from muntin.sources.logged.log import Log
    from muntin.sources.logged.numbered_fields import NumberedField
    from muntin.sources.repeated_rows import Events
    from muntin.sources.time_arguments import At

OnChange = Literal["error", "skip"]


@dataclass(frozen=True, slots=True)
class TableSource(LastingFiles):
    """A Delta table.

    See `table`. `columns`, `hive` and `numbered` are empty until the table's own schema is known.
    """

    path: str
    on_change: OnChange = "error"
    numbered: tuple[NumberedField, ...] = ()  # type: ignore[assignment]

    call = "sources.table(...)"
    listing = "muntin.jobs.inputs.listings.of_tables"

    @property
    def address(self) -> str:
        """The table as lineage tools name it."""
        return self.path

    def facts(self, schedule: Schedule) -> dict[str, Any]:
        """The fact that determines states, apart from the columns: the first batch holds all rows that the
        table had before.
        """
        return {"begins": schedule.after(schedule.first_us - 1)}

    def log(self) -> Log:
        from muntin.sources.logged.table_log import table_log

        return table_log(self)

    def below(self, home: str | Path) -> TableSource:
        return (
            self if is_object_store(self.path) else replace(self, path=str(Path(home, self.path).absolute()))
        )


@old_names_refused
def table(
    path: str,
    *,
    event_time: str | At | None = None,
    rows: Events | None = None,
    changes: bool = False,
    types: Mapping[str, str] | None = None,
    arrival_order: str | None = None,
    arrival_time: str | None = None,
    on_change: OnChange | None = None,
    look_back: LookBack = "all",
) -> TableSource:
    """A Delta table, read by version and without Spark's own reader: a batch is what was added to the table
    in its interval.

    A commit belongs to the interval in which it was made, by the time in the table's log. The batch of the
    schedule's first interval holds, too, what the table held before. A compaction (OPTIMIZE) adds no rows.
    Columns that older files lack are null there.

    Args:
        path: of the table's folder, or its address in an object store, as "s3://bucket/orders".
        event_time: the column that says when an event happened: a timestamp, text that reads as one, or an
            integer; `at("placed", timezone=...)` says how it is read. None of a dimension, whose rows are
            looked up.
        rows: how rows become facts, where not each row is an event: `events(dedupe="event_id")`; with
            `changes`, `events(id="order_id", within="7d")`. The table must keep removed files at least as
            long as rows may change (delta.deletedFileRetentionDuration).
        changes: whether rows that later commits update or delete are changed and taken back in the batch that
            brought them, which is then read again. The table's change feed (delta.enableChangeDataFeed) says
            what is different; without it, files are compared.
        types: column -> SQL type that the column is cast to.
        arrival_order: a column that orders the rows of a batch by arrival; the order of commits, and of the
            files and rows in them, unless given. A batch is then read by one task.
        arrival_time: the column that says when a row arrived, in the same unit and zone as event times, for
            windows that go by the clock; rows are ordered by it unless `arrival_order` says otherwise. It
            does not say which batch a row is of.
        on_change: where changes are not read, what a commit is that removes or changes rows (DELETE, UPDATE,
            MERGE, an overwrite): an "error", as windows hold rows that the table holds no more; or to "skip":
            it is passed over with all that it adds.
        look_back: as of `files`: how old a batch may be that is read again, as a commit came late to it.

    Raises:
        DefinitionError: an address of no object store, an unknown word for `on_change`; or `changes` and
            `rows` that do not go together.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise DefinitionError(
            f'path: {path!r} is no path of a Delta table; write "data/orders" or "s3://bucket/orders"'
        )
    terms = checked_table_terms(
        event_time, rows, changes, types, arrival_order, arrival_time, on_change, look_back
    )
    return TableSource(str(readable(path, "path")).rstrip("/"), **terms)


def checked_table_terms(
    event_time: str | At | None,
    rows: Events | None,
    changes: object,
    types: Mapping[str, str] | None,
    arrival_order: str | None,
    arrival_time: str | None,
    on_change: OnChange | None,
    look_back: LookBack,
) -> dict[str, Any]:
    """The arguments of a `TableSource` but for where it is, from the arguments that a user gave."""
    if not isinstance(changes, bool):
        raise DefinitionError(
            f"changes: {changes!r} is neither True nor False; write changes=True, "
            'rows=sources.events(id="order_id", within="7d")'
        )
    terms = checked_terms(
        event_time, rows, types, arrival_order, arrival_time, of_table=changes, look_back=look_back
    )
    others = {"arrival_order": arrival_order, "arrival_time": arrival_time, "on_change": on_change}
    if changes and (given := [name for name, value in others.items() if value is not None]):
        raise DefinitionError(
            f"changes: the log of the table says which row of an id came last, so {given[0]}= has no place;"
            " leave it out"
        )
    on_change = on_change or "error"
    check_choice("on_change", on_change, get_args(OnChange))
    return {**terms, "on_change": on_change}
