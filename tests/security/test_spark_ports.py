"""The ports of a local Spark: each is on loopback, and answers nobody who lacks the secret; as any user of the machine would ask."""

import os
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import psutil
import pytest

from muntin.extensions.airflow.spark import settings_of
from muntin.spark.session import CLOSED
from tests.case_counts import at_length

pytestmark = pytest.mark.spark
PATIENCE_S = 15
DRIVER = """
import sys
from muntin.spark import session

session.LOCAL |= {more!r}
with session.opened("local[1]") as spark:
    print(spark.sparkContext.parallelize([1], 1).map(lambda n: n + 1).collect(), flush=True)
    sys.stdin.read()
"""
GREETED = b"Unsupported message RpcMessage"
"""A driver without a secret read an object of a stranger's, and gave it to whom it was for."""


@contextmanager
def driver(more: dict[str, str]) -> Iterator[psutil.Process]:
    """A process with a local Spark whose Python worker has worked."""
    command = [sys.executable, "-c", DRIVER.format(more=more)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ) as made:
        assert made.stdout
        assert made.stdin
        assert made.stdout.readline() == b"[2]\n"
        yield psutil.Process(made.pid)
        made.stdin.close()


def listening(process: psutil.Process) -> list[tuple[str, int]]:
    """The addresses on which a process and all that it started listen, as `/proc/net/tcp` has them."""
    found = of_family(process, lambda each: each.net_connections("inet"))
    return [tuple(each.laddr) for each in found if each.status == psutil.CONN_LISTEN]


def of_family(process: psutil.Process, tell: Callable[[psutil.Process], list[Any]]) -> list[Any]:
    """Whatever is told of a process and of all that it started; of a worker that ends meanwhile nothing is."""
    found = []
    for each in (process, *process.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            found += tell(each)
    return found


def asked(port: int, request: bytes) -> bytes:
    """The answer to a stranger's request; nothing where none comes, or the connection is closed."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), 5) as stranger, suppress(TimeoutError, ConnectionResetError):
        stranger.settimeout(PATIENCE_S)
        stranger.sendall(request)
        while part := stranger.recv(65536):
            answer += part
            stranger.settimeout(1)
    return answer


def text(words: str) -> bytes:
    return struct.pack("!H", len(words)) + words.encode()


def block(words: str) -> bytes:
    return struct.pack("!i", len(words)) + words.encode()


def request(body: bytes) -> bytes:
    """A request in the frame of Spark's protocol: length, kind, number, length of the body."""
    return struct.pack("!qbqi", 21 + len(body), 3, 7, len(body)) + body


OPEN_BLOCKS = request(b"\x00" + block("app") + block("driver") + struct.pack("!i", 1) + block("rdd_0_0"))
HELLO = b"\xac\xed\x00\x05t" + text("hello")  # an object of Java's
STRANGERS = {
    "an object to an endpoint of the driver": lambda port: request(
        b"\x00\x01" + text("127.0.0.1") + struct.pack("!i", port) + text("endpoint-verifier") + HELLO
    ),
    "a block": lambda _: OPEN_BLOCKS,
    "a command to Java": lambda _: b"c\nt\nversion\ne\n",
}
SERVED = (b"Unsupported message RpcMessage", b"Block rdd_0_0 not found")
"""The object was read and given to its endpoint; the block was looked for."""


def answers(process: psutil.Process) -> list[bytes]:
    """All answers to strangers, on every port."""
    found = listening(process)
    assert {address for address, _ in found} <= {"127.0.0.1", "::ffff:127.0.0.1"}
    assert found
    requests = [(port, made(port)) for _, port in found for made in STRANGERS.values()]
    with ThreadPoolExecutor(len(requests)) as strangers:
        return list(strangers.map(lambda each: asked(*each), requests))


def test_a_local_driver_serves_nobody_without_the_secret() -> None:
    with driver({}) as process:
        given = answers(process)
        assert [answer for answer in given if any(served in answer for served in SERVED)] == []
        assert sum(b"Expected SaslMessage" in answer for answer in given) == 4  # two ports, an object and a block
        assert sum(b"Authentication error" in answer for answer in given) == 1
        assert not [word for word in of_family(process, psutil.Process.cmdline) if "secret" in word]


@at_length
def test_without_the_setting_it_serves_strangers() -> None:
    with driver({"spark.authenticate": "false"}) as process:
        given = answers(process)
    assert all(any(served in answer for answer in given) for served in SERVED)


class Connection:
    """A connection of Airflow's, as far as it says where Spark is."""

    conn_type, port = "spark", None

    def __init__(self, host: str, **extra: str) -> None:
        self.host, self.extra_dejson = host, extra


def test_a_connection_to_a_local_spark_closes_it_too() -> None:
    assert settings_of(Connection("local[2]")) == CLOSED
    assert settings_of(Connection("", **{"spark.master": "local"})) == CLOSED
    assert settings_of(Connection("local[2]", **{"spark.authenticate": "false"})).keys() == CLOSED.keys() - {"spark.authenticate"}
    assert settings_of(Connection("spark://host")) == {}
