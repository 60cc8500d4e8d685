"""The zygote: a process that has imported everything and forks on request, until the server ends. See
`muntin.extensions.zygote`.

A client sends, over a socket: the length of its request, with its streams 0, 1 and 2; then JSON of its
environment, folder, words of the command line and paths of modules. It gets the number of the fork. The
connection is open as long as the fork and its workers run.

Whether a process still runs. Its number alone does not say so: numbers are given again.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NoReturn


def started_at(pid: int) -> str:
    """When a process started, in the kernel's ticks, as text; "" if it has ended, or where the system does
    not tell (macOS).
    """
    try:
        state, *fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
    except (OSError, ValueError):
        return ""
    return fields[18] if state != "Z" else ""


def is_running(pid: int, started: str) -> bool:
    """Whether the process that started then still runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return started_at(pid) == started


def has_children(pid: int) -> bool:
    """Whether a process has children; True where the system does not tell."""
    try:
        return bool(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="utf-8"))
    except OSError:
        return True


LENGTH = struct.Struct("!I")
_POLL_S = 1.0


def ask(zygote: socket.socket) -> int:
    """Ask the zygote for a fork with the streams, folder and environment of this process; the number of the
    fork.

    An `OSError` if the zygote has gone.
    """
    said = {"env": dict(os.environ), "cwd": os.getcwd(), "argv": sys.argv, "path": sys.path}  # noqa: PTH109 - a plain name
    words = json.dumps(said).encode()
    socket.send_fds(zygote, [LENGTH.pack(len(words))], [0, 1, 2])
    zygote.sendall(words)
    return int(LENGTH.unpack(_exactly(zygote, LENGTH.size))[0])


def become_zygote(
    listening: socket.socket, place: Path, server: int, load: Callable[[], None], work: Callable[[], None]
) -> NoReturn:
    """Import, then fork for each who asks, until the server ends. Whoever asks before is served then.

    `place`: the file of the socket, removed at the end; `server`: the process to live as long as.
    """
    try:
        born = started_at(server)
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, 0)
        os.dup2(nothing, 1)
        if sys.path and sys.path[0] == os.getcwd():  # noqa: PTH109 - of the first session: nothing is imported from there
            del sys.path[0]
        load()
        os.dup2(nothing, 2)
        while is_running(server, born):
            if select.select([listening], [], [], _POLL_S)[0]:
                asking, _ = listening.accept()
                with asking:
                    if os.fork() == 0:
                        listening.close()
                        _be_another(asking, work)
    finally:
        place.unlink(missing_ok=True)
        os._exit(0)


def _be_another(asking: socket.socket, work: Callable[[], None]) -> NoReturn:
    """Take the streams, folder and environment of the requesting process, and do its work."""
    try:
        length, streams, _, _ = socket.recv_fds(asking, LENGTH.size, 3)
        said = json.loads(_exactly(asking, LENGTH.unpack(length)[0]))
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(said["env"])
        os.chdir(said["cwd"])
        sys.argv, sys.path[:] = said["argv"], said["path"]
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        asking.sendall(LENGTH.pack(os.getpid()))
        with suppress(SystemExit):
            work()
    except BaseException:  # noqa: BLE001 - as an interpreter ends: the error is reported, whatever it is
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        os._exit(0)


def _exactly(zygote: socket.socket, size: int) -> bytes:
    """Exactly so many bytes from the socket. An `OSError` if the other end closed before."""
    content = b""
    while len(content) < size:
        part = zygote.recv(size - len(content))
        if not part:
            raise OSError("the other end closed")
        content += part
    return content
