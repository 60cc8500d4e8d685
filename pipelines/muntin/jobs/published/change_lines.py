"""Changed windows for people: how many, and the first of them."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from muntin.definition.instants import instant_us, spell_instant
from muntin.definition.spelling import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muntin.jobs.published.changes import Changes

SHOWN = 10


def change_lines(window: str, parts: Sequence[Changes], *, limit: int = SHOWN) -> Iterator[str]:
    """The changes of a run in the published windows of one name, as lines; no line if it changed none."""
    counts = Counter(kind for part in parts for kind in part.kinds)
    total, uncompared = sum(counts.values()), sum(part.uncompared for part in parts)
    if uncompared:
        yield (
            f"{window}: {uncompared:,} windows were replaced; which of them changed is not known: they are"
            " too many, or a file is gone"
        )
    if not total:
        return
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(counts.items()))
    yield f"{window}: {many(total, 'published window')} changed ({kinds})"
    yield from (
        f"  {_line(row)}" for row in islice((row for part in parts for row in part.rows(limit)), limit)
    )
    if total > limit:
        yield f"  ... {total - limit:,} more"


def _line(row: Mapping[str, Any]) -> str:
    keys = [f"{name}={value}" for name, value in row["key"].items()]
    what = " ".join([*keys, f"[{_spelled(row['window_start'])}, {_spelled(row['window_end'])})"])
    if row["change"] == "changed":
        new = row["new"]
        moves = [f"{name} {_spelled(old)} -> {_spelled(new[name])}" for name, old in row["old"].items()]
        return f"{what}: {', '.join(moves)}"
    values = row["new"] or row["old"]
    return (
        f"{what}: {row['change']}: {', '.join(f'{name} {_spelled(value)}' for name, value in values.items())}"
    )


def _spelled(value: object) -> str:
    if isinstance(value, datetime):
        return spell_instant(instant_us(value, "instant"))
    return "null" if value is None else str(value)
