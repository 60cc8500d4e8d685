"""Replacements for the files of a split, where some rows or files cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from muntin.sources.source import Source


class BadRow(NamedTuple):
    """A row that cannot be read, or a whole file, which counts as one row.

    Attributes:
        file: its path.
        reason: why.
        position: its number in the file, from 0; None: the file itself.
        line: where it begins, from 1; None: the file itself.
        column: the column that cannot be read; None: the whole row.
        text: the row as it is written; None: the file itself.
    """

    file: str
    reason: str
    position: int | None = None
    line: int | None = None
    column: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Mended:
    """Files, taken apart.

    Attributes:
        source: says how `paths` are written.
        whole: the paths of all files, in order.
        paths: of what is to be read instead, in this order: files, copies without bad rows, nothing for a bad
            file.
        files: path of a copy -> path of its file.
        bad: the bad files, and the rows that copies lack.
        places: path of a copy -> of each of its rows the number in the file, from 0, and the line, from 1.
        changed: the paths of the copies that are not what their files are.
        misfits: the files that were left out for their columns.
    """

    source: Source
    whole: Sequence[str]
    paths: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    bad: list[BadRow] = field(default_factory=list)
    places: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    changed: list[str] = field(default_factory=list)
    misfits: list[str] = field(default_factory=list)

    @property
    def differ(self) -> bool:
        """Whether the files are to be read otherwise than they are."""
        return bool(self.changed or self.bad)

    @property
    def has_no_row_left(self) -> bool:
        """Whether all rows are bad, or files of JSON lines are empty, which then tell no columns."""
        left = any(path not in self.places or len(self.places[path][0]) for path in self.paths)
        return not left and (bool(self.bad) or self.source.format == "json")

    def of(self, path: str) -> str:
        """The file that a path is read instead of."""
        return self.files.get(path, path)

    def rows(self, read: Sequence[int]) -> list[int]:
        """How many rows each file has, bad rows too.

        `read`: how many rows each of `paths` has.
        """
        counts = Counter({self.of(path): count for path, count in zip(self.paths, read, strict=True)})
        counts.update(row.file for row in self.bad)
        return [counts[path] for path in self.whole]

    def add_copy(
        self,
        copy: str,
        path: str,
        bad: Iterable[BadRow],
        places: tuple[np.ndarray, np.ndarray],
        *,
        same: bool,
    ) -> None:
        """Let a copy be read instead of a file. `same`: whether it is what its file is, but for bad rows."""
        before = len(self.bad)
        self.bad.extend(bad)
        if not same or len(self.bad) > before:
            self.changed.append(copy)
        self.places[copy] = places
        self.files[copy] = path
        self.paths.append(copy)

    def leave_out(self, path: str, reason: str) -> None:
        """Make a bad file of a file that does not fit the definition."""
        file = self.of(path)
        self.misfits.append(file)
        self.bad[:] = [*(row for row in self.bad if row.file != file), BadRow(file, reason)]
        self.paths.remove(path)

    def named(self, text: str) -> str:
        """A text with the names of files instead of the names of their copies."""
        for copy, path in self.files.items():
            text = text.replace(copy, path)
        return text
