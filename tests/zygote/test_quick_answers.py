"""A worker acknowledges at once what Spark sends: Linux would wait up to 40 ms with it, several times a task."""

import socket

import pyspark.daemon
import pytest

from muntin.extensions.zygote.quick_answers import answer_at_once


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """What Spark's own worker is called with: the option of the socket, and whether Spark has said who it is."""
    found = list[tuple[int, bool]]()

    def worker(sock: socket.socket, authenticated: bool) -> int:
        found.append((sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK) if sock.family == socket.AF_INET else -1, authenticated))
        return 7

    monkeypatch.setattr(pyspark.daemon, "worker", worker)
    answer_at_once()
    return found


@pytest.mark.skipif(not hasattr(socket, "TCP_QUICKACK"), reason="an option of Linux")
def test_over_tcp(asked: list[tuple[int, bool]]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        sock, _ = server.accept()
        with sock:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
            assert pyspark.daemon.worker(sock, True) == 7
    assert asked == [(1, True)]


def test_another_socket_is_left_as_it_is(asked: list[tuple[int, bool]]) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        assert pyspark.daemon.worker(ours, False) == 7
    assert asked == [(-1, False)]
