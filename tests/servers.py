"""Servers that tests start on this machine: a free port, and until when to wait."""

import socket
import time


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port: int, *, seconds: float = 30) -> None:
    """Until somebody listens.

    Raises:
        RuntimeError: nobody does.
    """
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"nothing listens on port {port} after {seconds:g} s")
