"""The files of a Delta table by a checkpoint of its log, for tables whose older commits are gone.

5.checkpoint.parquet                                one file
5.checkpoint.0000000001.0000000002.parquet          a part of two
5.checkpoint.65c0....json or .parquet               of the second kind, with files below _sidecars
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from muntin.errors import SourceError
from muntin.files.paths import names_in, path_of
from muntin.files.readable import readable

_NAME = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-f-]{36})?\.(?:parquet|json)")
_WANTED = ("path", "size", "partitionValues", "modificationTime", "deletionVector")


def checkpoint_files(root: str, oldest: int, version: int) -> tuple[int, list[dict[str, Any]]]:
    """The version of the newest checkpoint up to a version behind which no commit is lacking, and its files
    as the log has them.

    `oldest`: the first version whose commit is there.
    """
    folder = f"{root}/_delta_log"
    parts = defaultdict[tuple[int, int], list[str]](list)
    for name in names_in(folder):
        if (match := _NAME.fullmatch(name)) and oldest - 1 <= int(match[1]) <= version:
            parts[int(match[1]), int(match[3] or 1)].append(name)
    whole = {
        number: names if many > 1 else names[-1:]
        for (number, many), names in parts.items()
        if len(names) >= many
    }
    if not whole:
        raise SourceError(
            f"{folder}: the log begins with version {oldest}, and no checkpoint says which files the table"
            f" had at version {version}; bring back the checkpoint, or the older commits"
        )
    try:
        return max(whole), [each for name in whole[max(whole)] for each in _files(folder, name)]
    except (OSError, pa.ArrowException, ValueError) as wrong:
        raise SourceError(
            f"{folder}/{whole[max(whole)][0]}: the checkpoint cannot be read ({wrong}); bring it back as it"
            " was"
        ) from wrong


def _files(folder: str, name: str) -> Iterator[dict[str, Any]]:
    """The files that a file of a checkpoint names, itself or by its sidecars."""
    if name.endswith(".json"):
        lines = path_of(folder, name).read_bytes().splitlines()
        actions = [json.loads(line) for line in lines if line.strip()]
    else:
        actions = pq.ParquetFile(readable(f"{folder}/{name}")).read(["add", "sidecar"]).to_pylist()
    for action in actions:
        if sidecar := action.get("sidecar"):
            yield from _files(folder, f"_sidecars/{sidecar['path'].rsplit('/', 1)[-1]}")
        if added := action.get("add"):
            fields = {field: added.get(field) for field in _WANTED}
            yield {**fields, "partitionValues": dict(fields["partitionValues"] or {})}
