"""The interface of a source: how the files of a batch are read as rows.

A new kind is a frozen dataclass with these members, and a module that says which files a batch has, in
`jobs/inputs/listings` or in an extension. A kind whose files are no files of a user's, as windows of an
upstream, gives them the format and the facts with which they are written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from muntin.definition import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from dataclasses import Field
    from pathlib import Path

    import numpy as np
    from fsspec import AbstractFileSystem

    from muntin.sources.dialect import Dialect
    from muntin.sources.logged.log import Log
    from muntin.sources.logged.numbered_fields import NumberedField

    Columns = Mapping[str, str]  # name -> SQL: the type of a column, or what it is made of
    Used = Callable[[str], bool]  # whether the definition may use a column of a name

OnBadFile = Literal["error", "quarantine"]
OnSchema = Literal["error", "quarantine"]


class Content(Protocol):
    """The rows at an address that is no file.

    Attributes:
        file: a file of Parquet with its rows.
        number, offset: the place of each row among all that lies there, and where its source has it.
        odd: what is no row there.
    """

    @property
    def file(self) -> bytes: ...
    @property
    def number(self) -> np.ndarray: ...
    @property
    def offset(self) -> np.ndarray: ...
    @property
    def odd(self) -> Sequence[Any]: ...


class Source(parts.Source, Protocol):
    """The source of batches' rows, for modules that read them."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def message_columns(self) -> tuple[str, ...]:
        """The columns that each message has beside its fields, where rows are messages, which may lack
        fields; () of files.
        """

    @property
    def listing(self) -> str:
        """The module that says which files a batch has: a `Listing` of `jobs/inputs`."""

    @property
    def log(self) -> Callable[[], Log] | None:
        """Reads the log of a table; None: the source is no table."""

    @property
    def call(self) -> str:
        """How a user wrote it, for errors: `sources.files(...)`."""

    @property
    def format(self) -> str:
        """The format of the files."""

    @property
    def separator(self) -> str:
        """The delimiter between the values of a CSV file."""

    @property
    def dialect(self) -> Dialect:
        """How a CSV file is written, apart from its delimiter."""

    @property
    def columns(self) -> Mapping[str, str]:
        """Column -> SQL type of columns that a file may lack."""

    @property
    def numbered(self) -> tuple[NumberedField, ...]:
        """The fields of a table that finds them in its files by number; () where columns
        are found by name.
        """

    @property
    def on_bad_file(self) -> OnBadFile:
        """The treatment of a file that cannot be read as a whole."""

    @property
    def on_schema(self) -> OnSchema:
        """The treatment of a batch with a column of a type that contradicts earlier batches."""

    @property
    def in_one_piece(self) -> bool:
        """Whether a batch is read by one task, since rows of all its files are compared."""

    @property
    def order(self) -> tuple[str, ...]:
        """The columns that rows are ordered by, whatever files they lie in; () where files and rows are in
        order.
        """

    @property
    def batch_column(self) -> str | None:
        """The column with the start of a row's batch, where batches share files; such files have a name for a
        batch's rows as their
        checksum. None: all rows of a file are of one batch.
        """

    @property
    def blank(self) -> str | None:
        """The address of a file without rows, whose columns all files have; None: files
        tell their columns.
        """

    @property
    def bundles(self) -> bool:
        """Whether the files of several batches may be read together."""

    def content(self, path: str) -> Content | None:
        """The rows at an address that is no file; None: it is a file."""

    def opened_as(self, path: str) -> str:
        """The address by which DuckDB opens a file."""

    def file_systems(self, paths: Sequence[str]) -> Sequence[AbstractFileSystem]:
        """The file systems through which DuckDB reads addresses that are no files."""

    def settled(self, path: str) -> int | None:
        """The size of a file that never changes, in bytes; None: its facts must be read."""

    def below(self, home: str | Path) -> Source:
        """The same source with its relative paths below a folder."""
