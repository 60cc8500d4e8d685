"""A mirror's own files: manifests and lists of them under names that say their content, and descriptions of
the table as JSON.

_iceberg/<mirror>/<digest>-m0.avro, snap-<snapshot>-0-<digest>.avro, 00007-<uuid>.metadata.json
"""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING

from pyiceberg.io import OutputFile
from pyiceberg.manifest import ManifestEntryStatus, read_manifest_list

from muntin.files.paths import names_in, path_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyiceberg.io import FileIO, InputFile, OutputStream
    from pyiceberg.manifest import ManifestFile
    from pyiceberg.table.snapshots import Snapshot

_NAMED = re.compile(r"(?:snap-\d+-\d+-)?([0-9a-f]{32})(?:-m\d+)?\.avro")
_DESCRIPTION = re.compile(r"(\d+)-.*\.metadata\.json")
_OTHER = "is damaged: its content is not what its name says"


class NamedByDigest(OutputFile):  # type: ignore[misc]  # of pyiceberg, which may be missing
    """A file that is written once its content, and with it its name, is known."""

    def __init__(self) -> None:
        super().__init__("")
        self._content = b""

    def __len__(self) -> int:
        return len(self._content)

    def exists(self) -> bool:
        """Whether it is there: never before it is kept."""
        return False

    def to_input_file(self) -> InputFile:
        """Nothing reads it before it is kept."""
        raise NotImplementedError

    def create(self, overwrite: bool = False) -> OutputStream:  # noqa: ARG002, FBT001, FBT002 - as pyiceberg has it
        return _Stream(self._took)

    def _took(self, content: bytes) -> None:
        self._content = content

    def keep(self, io: FileIO, place: Callable[[str], str]) -> str:
        """Write it; its address. `place`: the address that a digest gives it.

        Raises:
            OSError: the disk refuses.
        """
        self._location = place(_digest(self._content))
        with io.new_output(self._location).create(overwrite=True) as stream:
            stream.write(self._content)
        return self._location


class _Stream(BytesIO):
    def __init__(self, took: Callable[[bytes], None]) -> None:
        super().__init__()
        self._took = took

    def close(self) -> None:
        if not self.closed:
            self._took(self.getvalue())
        super().close()


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def damaged_files(
    snapshots: Iterable[Snapshot], io: FileIO, *, deep: bool
) -> Iterator[tuple[str, str, Snapshot]]:
    """The address of each lost or damaged file that a snapshot names, what is wrong with it, and the
    snapshot.

    `deep`: whether manifests are held against their lists, too, as earlier versions gave them names without a
    digest.
    """
    problems = dict[str, str]()
    for snapshot in snapshots:
        place = snapshot.manifest_list
        problem, manifests = _problem_of_content(io, place), []
        if not problem:
            try:
                manifests = [*read_manifest_list(io.new_input(place))]
            except Exception as wrong:  # noqa: BLE001 - whatever a damaged file makes of the reader
                problem = f"is damaged: it cannot be read ({type(wrong).__name__})"
        if problem:
            yield place, problem, snapshot
        for each in manifests:
            if each.manifest_path not in problems:
                problems[each.manifest_path] = _problem_of_manifest(io, each, deep=deep)
            if problems[each.manifest_path]:
                yield each.manifest_path, problems[each.manifest_path], snapshot


def torn_leftovers(place: str, snapshots: Sequence[Snapshot], io: FileIO) -> list[str]:
    """The damaged lists and manifests in a folder that no snapshot names.

    The files of snapshots must be whole.
    """
    lists = {each.manifest_list for each in snapshots}
    named = lists | {each.manifest_path for one in lists for each in read_manifest_list(io.new_input(one))}
    candidates = (f"{place}/{name}" for name in names_in(place) if name.endswith(".avro"))
    return [each for each in candidates if each not in named and _problem_of_content(io, each) == _OTHER]


def _problem_of_manifest(io: FileIO, manifest: ManifestFile, *, deep: bool) -> str:
    try:
        size = len(io.new_input(manifest.manifest_path))
    except FileNotFoundError:
        return "is gone"
    if size != manifest.manifest_length:
        return f"is damaged: it has {size:,} bytes instead of {manifest.manifest_length:,}"
    return _problem_of_content(io, manifest.manifest_path) or (
        _problem_of_entries(io, manifest) if deep else ""
    )


def _problem_of_content(io: FileIO, place: str) -> str:
    """The problem of a file by its name; "" of a file that is named by something else."""
    try:
        with io.new_input(place).open() as stream:
            content = stream.read()
    except FileNotFoundError:
        return "is gone"
    named = _NAMED.fullmatch(place.rpartition("/")[2])
    return _OTHER if named and _digest(content) != named[1] else ""


def _problem_of_entries(io: FileIO, manifest: ManifestFile) -> str:
    """Whether a manifest has as many files as its list says, and new files of its own snapshot alone."""
    try:
        entries = manifest.fetch_manifest_entry(io, discard_deleted=False)
    except Exception as wrong:  # noqa: BLE001 - whatever a damaged file makes of the reader
        return f"is damaged: it cannot be read ({type(wrong).__name__})"
    counts = [sum(each.status == status for each in entries) for status in ManifestEntryStatus]
    said = [manifest.existing_files_count, manifest.added_files_count, manifest.deleted_files_count]
    strange = any(
        each.status == ManifestEntryStatus.ADDED and each.snapshot_id != manifest.added_snapshot_id
        for each in entries
    )
    return _OTHER.replace("its name", "its list") if counts != said or strange else ""


def newest_description(place: str) -> tuple[str | None, list[str]]:
    """The newest whole description of a table in a folder, None if there is none; and the damaged
    descriptions that are newer.
    """
    from pyiceberg.exceptions import ValidationError
    from pyiceberg.table.metadata import TableMetadataUtil

    numbered = [(int(match[1]), name) for name in names_in(place) if (match := _DESCRIPTION.fullmatch(name))]
    damaged = list[str]()
    for _, name in sorted(numbered, reverse=True):
        with suppress(ValidationError, ValueError, KeyError, TypeError, OSError):
            TableMetadataUtil.parse_raw(path_of(f"{place}/{name}").read_bytes().decode())
            return f"{place}/{name}", damaged
        damaged.append(f"{place}/{name}")
    return None, damaged
