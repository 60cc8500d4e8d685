"""Workers acknowledge what Spark's Java sends them at once.

Java sends a task in several small packets, and TCP lets it send the next only when the last packet was
acknowledged. Linux waits up to 40 ms with that, for something to send along, while a worker has nothing to
say before the task is complete (RFC 896, RFC 1122 4.2.3.2).
"""

from __future__ import annotations

import socket
from contextlib import suppress


def answer_at_once() -> None:
    """Let the workers of this daemon acknowledge at once; where that is not to be had, they do as ever."""
    import pyspark.daemon

    worker = pyspark.daemon.worker

    def quick_worker(sock: socket.socket, authenticated: bool) -> int:  # noqa: FBT001 - as PySpark calls it, for each task
        with suppress(OSError, AttributeError):  # a socket of another family, another system than Linux
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return worker(sock, authenticated)  # type: ignore[no-any-return]

    pyspark.daemon.worker = quick_worker
