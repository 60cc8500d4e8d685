"""Breaks of a contract by a change of a definition: the promises of a contract that a later contract does not
keep.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from muntin.definition.durations import spell
from muntin.extensions.contracts.agreed import Agreed, Column, Table
from muntin.quality.suite import SEVERITIES
from muntin.sources.reading.sql_types import common_type

_SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Break:
    """A promise that is not kept.

    Attributes:
        table: "" where it is about all tables.
        column: "" where it is about the whole table.
        what: what has become of it, in words.
        before, now: what was promised and what is; "" where nothing is.
    """

    table: str
    column: str
    what: str
    before: str = ""
    now: str = ""

    def __str__(self) -> str:
        where = ".".join(filter(None, (self.table, self.column)))
        values = f": before {self.before}, now {self.now or 'nothing'}" if self.before else ""
        return f"{where}: {self.what}{values}" if where else f"{self.what}{values}"


def breaks(before: Agreed, now: Agreed, renamed: Mapping[str, str]) -> list[Break]:
    """The promises that are not kept. `renamed`: a table's name now -> its name before."""
    names = {old: new for new, old in renamed.items() if new in now.tables}
    broken_promises: list[Break] = []
    for name, table in before.tables.items():
        new = name if name in now.tables else names.get(name)
        if new is None:
            broken_promises.append(Break(name, "", "the table is gone"))
            continue
        broken_promises += [Break(name, "", "the table has another name", name, new)] * (new != name)
        broken_promises += [*_of_table(name, table, now.tables[new])]
    return [*broken_promises, *_of_times(before.service, now.service)]


def added(before: Agreed, now: Agreed, renamed: Mapping[str, str]) -> list[str]:
    """The tables and columns that no reader can miss: they are new."""
    old = {name: before.tables.get(name) or before.tables.get(renamed.get(name, "")) for name in now.tables}
    columns = (
        f"{name}.{column}"
        for name, table in old.items()
        if table
        for column in now.tables[name].columns
        if column not in table.columns
    )
    return [*(name for name, table in old.items() if table is None), *columns]


def _of_table(name: str, before: Table, now: Table) -> Iterator[Break]:
    if before.keys != now.keys:
        yield Break(
            name,
            "",
            "windows have other keys",
            ", ".join(before.keys) or "none",
            ", ".join(now.keys) or "none",
        )
    new = {
        column: each
        for column, each in now.columns.items()
        if column not in before.columns and column not in now.keys
    }  # keys look alike
    for column, each in before.columns.items():
        if column in now.columns:
            yield from _of_column(name, column, each, now.columns[column])
        else:
            same = next(
                (
                    other
                    for other, kind in new.items()
                    if each.says and (kind.says, kind.type) == (each.says, each.type)
                ),
                None,
            )
            yield (
                Break(name, column, "the column has another name", column, same)
                if same
                else Break(name, column, "the column is gone")
            )
    yield from _of_checks(name, before.checks, now.checks)
    if (before.on_failure, now.on_failure) == ("hold", "ask") and before.checks and now.checks:
        yield Break(
            name,
            "",
            "windows that fail the suite may be published (on_failure)",
            before.on_failure,
            now.on_failure,
        )


def _of_column(table: str, name: str, before: Column, now: Column) -> Iterator[Break]:
    if before.type != now.type and before.type and now.type:
        wider = common_type(before.type, now.type) == now.type
        yield Break(
            table, name, "the type is wider" if wider else "the type is another", before.type, now.type
        )
    if before.required and not now.required:
        yield Break(table, name, "a value may be null now, and never was")
    if before.unit and before.unit != now.unit:
        yield Break(table, name, "the unit is another", before.unit, now.unit)


def _of_checks(table: str, before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[Break]:
    if before and not now:
        yield Break(table, "", "the suite is gone")
        return
    for check, severity in before.items():
        if check not in now:
            yield Break(table, "", f"the suite has no {check} any more")
        elif SEVERITIES.index(now[check]) > SEVERITIES.index(severity):  # type: ignore[arg-type]
            yield Break(table, "", f"a failure of {check} counts for less", severity, now[check])


def _of_times(before: Mapping[str, float | str], now: Mapping[str, float | str]) -> Iterator[Break]:
    for name, what, more_is_worse in (
        ("frequency", "windows come less often, or at other times (schedule)", True),
        ("latency", "batches may be published later (fresh_within)", True),
        ("retention", "windows are kept for less time (retain)", False),
    ):
        one, other = before.get(name), now.get(name)
        if one != other and _is_weaker(one, other, more_is_worse=more_is_worse):
            yield Break("", "", what, _spelled(name, one), _spelled(name, other))


def _is_weaker(one: float | str | None, other: float | str | None, *, more_is_worse: bool) -> bool:
    """Whether the later of two promises holds less. Schedules that are no durations may."""
    if one is None or other is None:
        return (one is None) != more_is_worse
    if isinstance(one, str) or isinstance(other, str):
        return True
    return (other > one) == more_is_worse


def _spelled(name: str, value: float | str | None) -> str:
    if value is None:
        return "for ever" if name == "retention" else ""
    return value if isinstance(value, str) else spell(round(value * _SECOND))
