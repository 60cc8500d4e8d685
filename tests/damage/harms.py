"""Kinds of files and of folders, found by walking a root; and kinds of damage."""

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

_NAMES = [(r"[0-9a-f]{12,16}", "H"), (r"\d{8}T\d{6}(\.\d+)?Z|never", "T"), (r"\d+", "N")]


def kind_of(path: str) -> str:
    """The pattern of a path: digests, instants and numbers are left out.

    >>> kind_of("long/7b59cfdd0f30/frames/1m/20240101T000000Z/00000_never_never_0123456789abcdef.parquet")
    'long/H/frames/Nm/T/N_T_T_H.parquet'
    """
    for pattern, letter in _NAMES:
        path = re.sub(pattern, letter, path)
    return path


def kinds(root: Path) -> Mapping[str, Sequence[str]]:
    """Kind -> the paths of its files below the root, ascending. Another file of a new kind is found without a word here."""
    found = defaultdict(list)
    for path in sorted(root.rglob("*")):
        if path.is_file():
            relative = str(path.relative_to(root))
            found[kind_of(relative)].append(relative)
    return dict(found)


def folders(root: Path) -> Mapping[str, str]:
    """Kind of folder -> the path of its last folder, for folders that hold more than the files of one batch."""
    paths = (str(path.relative_to(root)) for path in sorted(root.rglob("*")) if path.is_dir())
    return {kind_of(path): path for path in paths if "T" not in kind_of(path).split("/")} | {"": ""}


@dataclass(frozen=True)
class Harm:
    """A damage: what is done, and to which file or folder below the root.

    Attributes:
        name, path, do: its name, where it is below the root, and what it does there, given the root.
        backup: the age that all of a pipeline was put back to.
        listed: whether a listing of the folder shows it.
    """

    name: str
    path: str
    do: Callable[[Path], None]
    backup: Path | None = None
    listed: bool = False

    def __str__(self) -> str:
        return f"{self.name} {self.path or 'the root'}"


def _rewritten(path: Path, content: bytes) -> None:
    """As a disk does it: nothing but the content changes, not even the time."""
    stat = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def flipped(path: str, share: float) -> Harm:
    def do(root: Path) -> None:
        content = bytearray((root / path).read_bytes())
        content[int(share * (len(content) - 1))] ^= 4
        _rewritten(root / path, content)

    return Harm(f"flip at {share:.2f} of", path, do)


def emptied(path: str) -> Harm:
    return Harm("empty", path, lambda root: _rewritten(root / path, b""), listed=True)


def halved(path: str) -> Harm:
    def do(root: Path) -> None:
        content = (root / path).read_bytes()
        _rewritten(root / path, content[: len(content) // 2])

    return Harm("cut", path, do, listed=True)


def removed(path: str) -> Harm:
    return Harm("remove", path, lambda root: (root / path).unlink(), listed=True)


def swapped(path: str, other: str) -> Harm:
    def do(root: Path) -> None:
        one, two = ((root / each).read_bytes() for each in (path, other))
        _rewritten(root / path, two)
        _rewritten(root / other, one)

    return Harm(f"swap with {other}", path, do)


def older(path: str, backup: Path) -> Harm:
    return Harm(f"put back from {backup.name}", path, lambda root: _rewritten(root / path, (backup / path).read_bytes()))


def restored(folder: str, backup: Path) -> Harm:
    def do(root: Path) -> None:
        shutil.rmtree(root / folder)
        if (backup / folder).is_dir():
            shutil.copytree(backup / folder, root / folder)

    whole = "/" not in folder
    return Harm(f"restore from {backup.name}", folder, do, backup if whole else None)


def harms_of(root: Path, paths: Sequence[str], backups: Sequence[Path], live: Callable[[str], bool], chance: Random) -> list[Harm]:
    """Every damage of one kind of file: to its newest file that counts, and to its oldest.

    Args:
        root: of the files.
        paths: of the kind.
        backups: of the root, the newest first.
        live: whether a file counts.
        chance: says which bytes are flipped, one in each third of a file.
    """
    counting = [path for path in paths if live(path)] or paths
    found = list[Harm]()
    for path in dict.fromkeys((counting[-1], counting[0])):
        found += [flipped(path, (third + chance.random()) / 3) for third in range(3)]
        found += [emptied(path), halved(path), removed(path)]
        content = (root / path).read_bytes()
        found += [older(path, age) for age in backups if (age / path).is_file() and (age / path).read_bytes() != content]
        others = [other for other in paths if other != path and (root / other).read_bytes() != content]
        found += [swapped(path, others[len(others) // 2])] if others else []
    return found
