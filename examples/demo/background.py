"""Programs in the background, of which none is left when the foreground is done, however it ends."""

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil


@dataclass(frozen=True, slots=True)
class Program:
    """What to start: its name for people, its command, its log, and the folder to start it in if that matters."""

    name: str
    command: Sequence[str]
    log: Path
    folder: Path | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """A program that runs, or ran."""

    name: str
    log: Path
    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def started(*programs: Program, env: Mapping[str, str]) -> Iterator[tuple[Component, ...]]:
    """Programs, each in a process group of its own; stopped together at the end, with all that they started."""
    running: list[Component] = []
    try:
        for program in programs:
            running.append(start(program, env))  # noqa: PERF401 - if a start fails, the others are stopped
        yield tuple(running)
    finally:
        with undisturbed():
            stop([each.process for each in running])


def start(program: Program, env: Mapping[str, str]) -> Component:
    """Start a program; its output goes to its log."""
    program.log.parent.mkdir(parents=True, exist_ok=True)
    with program.log.open("ab") as out:
        process = subprocess.Popen(
            program.command, env=env, cwd=program.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True
        )
    return Component(program.name, program.log, process)


def stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """Ask politely, then firmly, then kill: the groups, and whatever left the groups."""
    families: set[psutil.Process] = set()
    for sign, patience in ((signal.SIGINT, 12), (signal.SIGTERM, 5), (signal.SIGKILL, 5)):
        families = families.union(*(family_of(each.pid) for each in processes))
        _signal(processes, families if sign != signal.SIGINT else (), sign)
        families = set(psutil.wait_procs(families, timeout=patience)[1])
        if not families:
            break
    for each in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            each.wait(5)


def _signal(processes: Iterable[subprocess.Popen[bytes]], others: Iterable[psutil.Process], sign: signal.Signals) -> None:
    for each in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(each.pid, sign)
    for one in others:
        with contextlib.suppress(psutil.Error):
            one.send_signal(sign)


def family_of(pid: int) -> set[psutil.Process]:
    """A process that leads a session, everything below it, and what is left of its session if it died."""
    family: set[psutil.Process] = set()
    for one in (pid, *(other for other in psutil.pids() if _session(other) == pid)):
        with contextlib.suppress(psutil.Error):
            top = psutil.Process(one)
            family |= {top, *top.children(recursive=True)}
    return family


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


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
