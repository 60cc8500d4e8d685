"""Whether the files of an interval are there, and are whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.errors import SourceError
from muntin.files.paths import matching, path_of
from muntin.sources.path_templates import is_hidden

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.definition.schedule import Interval
    from muntin.sources.file_source import FileSource
    from muntin.sources.listing import SourceFile


def not_there(message: str) -> SourceError:
    """The error of an interval whose rows are not there yet, or not whole."""
    wrong = SourceError(message)
    wrong.is_there = False
    return wrong


def check_found(source: FileSource, interval: Interval, files: Sequence[SourceFile], hidden: int = 0) -> None:
    """Refuse an interval without files, if the source says so.

    `hidden`: how many files were passed over for their names.
    """
    if not files and source.missing == "error":
        passed = (
            f" but {hidden} whose names begin with _ or ., read only if path says so, as _*.csv"
            if hidden
            else ""
        )
        raise not_there(
            f"no file at {source.patterns(interval)} for the interval {interval}{passed}; bring it, "
            f'or say missing="empty" in sources.files(...) if an interval without files is an empty batch'
        )


def check_ready(source: FileSource, interval: Interval, files: Sequence[SourceFile]) -> None:
    """Refuse an interval whose files may not be whole:

    `source.ready` has to be there for each of their folders, if it is asked for.
    """
    if source.ready is None:
        return
    for folder, *above in _folders(source, interval, files):
        if not any(path_of(each, source.ready).exists() for each in (folder, *above)):
            instead = f" (nor in a folder above it, up to {above[-1]})" if above else ""
            raise not_there(
                f"{folder}/{source.ready} is not there yet{instead}, which says that the files of the"
                f" interval {interval} are whole (ready={source.ready!r}); run again when their writer is"
                " done"
            )


def _folders(source: FileSource, interval: Interval, files: Sequence[SourceFile]) -> list[list[str]]:
    """The folders that have to have the file, each with the folders above it that may have it instead.

    Of a pattern with `**` the folders with files: the writer of all of them may say in the folder before `**`
    that it is done.
    """
    pattern = str(path_of(source.patterns(interval)).absolute()).rpartition("/")[0]
    if "**" not in pattern.split("/"):
        return [[each] for each in _found(pattern)]
    fixed = pattern.split("/")[: pattern.split("/").index("**")]
    below = [tuple(file.path.split("/")[:-1]) for file in files]
    chains = [
        ["/".join(parts[:end]) for end in range(len(parts), len(fixed) - 1, -1)]
        for parts in dict.fromkeys(below)
    ]
    return chains or [[each] for each in _found("/".join(fixed))]


def _found(pattern: str) -> list[str]:
    """The folders that a pattern names; the pattern where there are none."""
    folders = [each for each in matching(pattern) if path_of(each).is_dir() and not is_hidden(each, pattern)]
    return folders or [pattern]
