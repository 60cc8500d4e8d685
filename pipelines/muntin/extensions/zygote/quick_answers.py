"""Workers acknowledge what Spark's Java sends them at once.

Java sends a task in several small packets, and TCP lets it send the next only when the last packet was
acknowledged. Linux waits up to 40 ms with that, for something to send along, while a worker has nothing to
say before the task is complete (RFC 896, RFC 1122 4.2.3.2).

PySpark from its folder instead of the archive that Spark puts before it in the path of its Python.

Before each task a worker calls `importlib.invalidate_caches()`, which reads the table of contents of an
archive anew for each package that was imported from it, and that of Spark's jar, in Python: a tenth of a
second and more, for sixteen packages and 27,000 names. The folder holds the same files as the archive, and is
found by name.
"""

from __future__ import annotations

import socket
import sys
from contextlib import suppress
from pathlib import Path


def use_folders() -> None:
    """Let this process and its forks import PySpark from its folder, and search nothing in Spark's jar.

    To be called before PySpark is imported.
    """
    before = list(sys.path)
    sys.path[:] = without_archives(before)
    for name in {*before} - {*sys.path}:
        sys.path_importer_cache.pop(name, None)


def without_archives(path: list[str]) -> list[str]:
    """The path without Spark's jar, and with the folder of PySpark instead of its archive; an archive without
    such a folder stays.

    >>> without_archives(["/spark/jars/spark-core_2.13-4.1.3.jar", "/mine/jars/mine.jar",
    ...     "/spark/python/lib/pyspark.zip"])
    ['/mine/jars/mine.jar', '/spark/python/lib/pyspark.zip']
    """
    without_jars = [name for name in path if not _is_jar_of_spark(Path(name))]
    return [each for name in without_jars if (each := _replaced(name, without_jars)) is not None]


def _is_jar_of_spark(file: Path) -> bool:
    return file.parent.name == "jars" and file.name.startswith("spark-core_")


def _replaced(name: str, path: list[str]) -> str | None:
    """The folder in place of an archive; None if it is the first in the path to have PySpark anyway, as where
    pip installed it.
    """
    if not name.endswith("/python/lib/pyspark.zip"):
        return name
    home = Path(name).parents[2]
    if _has_pyspark(home / "python"):  # a distribution of Spark
        return str(home / "python")
    first = next((folder for folder in map(Path, path) if _has_pyspark(folder)), None)
    return None if first and (first / "pyspark").samefile(home) else name


def _has_pyspark(folder: Path) -> bool:
    return (folder / "pyspark" / "__init__.py").is_file()


def answer_at_once() -> None:
    """Let the workers of this daemon acknowledge at once; where that is not to be had, they do as ever."""
    import pyspark.daemon

    worker = pyspark.daemon.worker

    def quick_worker(sock: socket.socket, authenticated: bool) -> int:  # noqa: FBT001 - as PySpark calls it, for each task
        with suppress(OSError, AttributeError):  # a socket of another family, another system than Linux
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return worker(sock, authenticated)  # type: ignore[no-any-return]

    pyspark.daemon.worker = quick_worker
