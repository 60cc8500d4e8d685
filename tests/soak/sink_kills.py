"""SIGKILL to a run that sends to a store, before or after a message of its connection. In the end the store has what is published, once.

a batch is replaced, with other types at times     killed while it sends, once or twice     the next run
                                                                                            the store is what is published
"""

import os
import signal
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from tests import maria_server, redis_server
from tests.sinks.places import Held, Keys, MariaTable, Place
from tests.sinks.shop import Shop, differences

BATCHES = 5
MOST_STEPS = 24
"""A delivery makes about so many messages."""
KINDS = (pa.int32(), pa.int64(), pa.decimal128(20, 3))


def sinks_killed(folder: Path, dice: Random, *, kills: int = 25, stores: tuple[type[Place], ...] = (MariaTable, Keys)) -> str:
    """So many runs are killed for each store; how it went."""
    folder.mkdir(parents=True)
    return "; ".join(_killed(kind, folder / kind.__name__, dice, kills) for kind in stores)


def _killed(kind: type[Place], folder: Path, dice: Random, kills: int) -> str:
    folder.mkdir()
    with STARTED[kind](folder / "server") as place:
        latest = dice.random() < 0.5
        life, ended, runs = Life(Shop(folder, place.sink(latest=latest)), place, dice, latest=latest), 0, 0
        while ended < kills:
            ended += life.round()
            runs += 1
            assert runs < 20 * kills, f"{ended} of {kills} runs were killed"
    return f"{kind.__name__}{', latest' * latest}: {ended} kills in {runs} rounds"


@dataclass
class Life:
    """A shop whose batches are replaced, and the store that its windows go to."""

    shop: Shop
    place: Place
    dice: Random
    latest: bool

    def round(self) -> int:
        """Replace batches, and send until nothing kills it; how many runs were killed."""
        ended = 0
        for _ in range(self.dice.randrange(1, 3)):
            self._replace(self.dice.randrange(BATCHES))
            ended += sum(self._sent_until(self.dice.randrange(MOST_STEPS)) for _ in range(self.dice.randrange(1, 3)))
        sent = self.shop.sent()
        assert (sent.failed, sent.misfits) == ("", ()), sent.line
        assert differences(self._wanted(), self.place.held()) == [], self._wanted()
        assert self.shop.sent().rows == 0
        return ended

    def _replace(self, at: int) -> None:
        kind = self.dice.choice(KINDS[: self.dice.randrange(1, len(KINDS) + 1)])
        keys = self.dice.sample("abcdefgh", self.dice.randrange(5))
        self.shop.write(at, kind, {key: _value(kind, self.dice.randrange(1000)) for key in keys})
        self.shop.run(at)

    def _sent_until(self, step: int) -> bool:
        """Send in a process of its own, which is killed at a step; whether it came to that."""
        before, held = self.dice.random() < 0.5, self.place.held()
        processes = get_context("forkserver")
        processes.set_forkserver_preload([__name__, "muntin.jobs.sending.catch_up"])  # to import everything takes a second
        process = processes.Process(target=_send, args=(self.shop, step, before, dict(os.environ)))
        process.start()
        process.join(120)
        if isinstance(self.place, MariaTable):  # what a reader sees is one publication or the other
            now = self.place.held()
            assert [] in (differences(held, now), differences(self._wanted(), now)), (step, before)
        assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
        return process.exitcode != 0

    def _wanted(self) -> Held:
        rows = sorted(self.shop.published().items(), key=lambda row: row[0][1])
        if not self.latest:
            return dict(rows)
        newest = {key: (start, value) for (key, start), value in rows}
        return {(key, start): value for key, (start, value) in newest.items()}


def _value(kind: pa.DataType, number: int) -> Any:
    return Decimal(number) / 8 if pa.types.is_decimal(kind) else number


def _send(shop: Shop, step: int, before: bool, environment: Mapping[str, str]) -> None:
    """Send; SIGKILL to this process before or after a message of its connection to the store."""
    os.environ.update(environment)
    steps, plain = count(), socket.socket.sendall

    def sendall(self: socket.socket, *data: Any) -> None:
        at = next(steps)
        if at == step and before:
            os.kill(os.getpid(), signal.SIGKILL)
        plain(self, *data)
        if at == step:
            os.kill(os.getpid(), signal.SIGKILL)

    socket.socket.sendall = sendall  # type: ignore[method-assign]
    sent = shop.sent()
    assert not sent.failed, sent.line


@contextmanager
def _maria(folder: Path) -> Iterator[Place]:
    folder.mkdir()
    with maria_server.started(maria_server.program(), folder) as address:
        with maria_server.connected(address) as connection:
            connection.cursor().execute("CREATE DATABASE shop")
        os.environ["SHOP"] = f"{address}/shop"
        yield MariaTable(f"{address}/shop")


@contextmanager
def _redis(folder: Path) -> Iterator[Place]:
    folder.mkdir()
    with redis_server.started(redis_server.program(), folder) as address:
        os.environ["CACHE"] = address
        yield Keys(address)


STARTED = {MariaTable: _maria, Keys: _redis}
PROGRAMS = {MariaTable: maria_server.program, Keys: redis_server.program}
"""What finds the program of a server; \"\": there is none here."""
