"""Programs in the background, of which none is left when the foreground is done, however it ends."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psutil


@contextlib.contextmanager
def started(command: Sequence[str], env: Mapping[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A program in a process group of its own, its output in `log`; stopped at the end with all that it started."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as out:
        program = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)
    try:
        yield program
    finally:
        with undisturbed():
            stop(program)


def stop(program: subprocess.Popen[bytes]) -> None:
    """Ask politely, then firmly, then kill: the group, and whatever left the group."""
    family = family_of(program.pid)
    for sign, patience in ((signal.SIGINT, 12), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        family |= family_of(program.pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(program.pid, sign)
        for one in family if sign != signal.SIGINT else ():
            with contextlib.suppress(psutil.Error):
                one.send_signal(sign)
        _, family_alive = psutil.wait_procs(family, timeout=patience)
        family = set(family_alive)
        if not family:
            break
    with contextlib.suppress(subprocess.TimeoutExpired):
        program.wait(5)


def family_of(pid: int) -> set[psutil.Process]:
    """A process and everything below it."""
    try:
        top = psutil.Process(pid)
        return {top, *top.children(recursive=True)}
    except psutil.Error:
        return set()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """While cleaning up, a second Ctrl-C waits."""
    before = {sign: signal.signal(sign, signal.SIG_IGN) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def interruptible() -> None:
    """Ctrl-C, a hang-up and a plain kill all end in the clean-up, even under a shell that ignores Ctrl-C for its jobs."""

    def leave(*_: object) -> None:
        raise KeyboardInterrupt

    for sign in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(sign, leave)


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    with contextlib.ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
