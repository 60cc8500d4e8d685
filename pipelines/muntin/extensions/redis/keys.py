"""Send changes to Redis or Valkey: a key for each window, or for each key of the pipeline, whose value is
JSON.

<prefix>                       how far the keys are, as JSON: pipeline, window, position, and the run that
writes <prefix>/JFK/<start>/<end>     a window; with `latest=True` <prefix>/JFK, the newest window

Each write is a transaction that fails if another run has begun to write since. Up to `CHUNK` changes are seen
together.

Notes of a sink of Redis beside its keys: how far they are, who writes, and what tells whether some were
lost.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pyarrow as pa

from muntin.definition.spelling import many
from muntin.extensions.redis.sink import RedisSink
from muntin.sinks.delivery import Delivery, Position, sliced
from muntin.sinks.errors import (
    AllNeededError,
    BlockedError,
    MovedError,
    RefusedError,
    as_json,
    plain_rows,
    widest,
)


@dataclass(frozen=True, slots=True)
class Ledger:
    """The note on the keys of a prefix.

    Attributes:
        pipeline, window: what the keys hold.
        position: how far they are; None: the first delivery is not whole yet.
        writer: the delivery under way; "": there is none.
    """

    pipeline: str
    window: str
    position: Position | None
    writer: str = ""

    def to_json(self) -> str:
        position = json.loads(self.position.to_json()) if self.position else None
        version = self.position.version if self.position else None
        return json.dumps(asdict(self) | {"position": position, "version": version})

    @staticmethod
    def of_json(text: str) -> Ledger | None:
        """The note that `to_json` made a text of; None: the text is somebody else's."""
        try:
            facts = json.loads(text)
            position = Position.of_json(json.dumps(facts["position"])) if facts["position"] else None
            return Ledger(str(facts["pipeline"]), str(facts["window"]), position, str(facts["writer"]))
        except (ValueError, KeyError, TypeError):
            return None


@dataclass(frozen=True, slots=True)
class Standing:
    """A server and the keys of a prefix at some moment.

    Attributes:
        run: the id of the server's process.
        evicted: how many keys that process has removed for want of memory.
        rows: how many keys there are; None: not counted, as they are many or vanish by themselves.
        identity: the columns that keys are named by.
        expires_us: how long after a window's end its key vanishes.
    """

    run: str
    evicted: int
    rows: int | None
    identity: tuple[str, ...]
    expires_us: int | None

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def of_json(text: str) -> Standing:
        facts = json.loads(text)
        return Standing(**facts | {"identity": tuple(facts["identity"])})

    def lost(self, now: Standing) -> str:
        """Why keys that were there may be gone by another hand; "": as far as it is known, they are there."""
        before = self.evicted if self.run == now.run else 0
        if now.evicted > before:
            return (
                f"the server removed {many(now.evicted - before, 'key')} for want of memory"
                " (maxmemory-policy)"
            )
        if self.rows is not None and now.rows is not None and now.rows < self.rows:
            return f"it has {now.rows:,} of {many(self.rows, 'key')}"
        return ""


CHUNK = 5_000
COUNTED = 100_000
"""Keys of a database that are looked through to count rows."""
_LARGEST = 512 * 1024 * 1024
_PLACE = ("window_index", "window_end", "window_start")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class RedisKeys:
    """The keys of a sink, reached. See `Opened`.

    Attributes:
        client: a `redis.Redis`.
        sink: the declaration.
        pipeline: its name.
    """

    client: Any
    sink: RedisSink
    pipeline: str

    def position(self, noted: Position | None) -> Position | None:  # noqa: ARG002 - the server knows better
        ledger = self._ledger(self.client.get(self.sink.prefix))
        if ledger is None or ledger.position is None:
            return None
        lost = Standing.of_json(ledger.position.target).lost(self._standing(()))
        return replace(ledger.position, lost=lost)

    def send(self, delivery: Delivery, alive: Callable[[], None]) -> Position:
        import pyarrow as pa

        from muntin.sinks.misfits import Fitted

        claim, largest, names = self._claimed(delivery), self._largest(), set[str]()

        def put(rows: pa.Table) -> None:
            names.update(self._put(claim, delivery, rows, largest))

        fitted = Fitted(delivery, self.sink.on_unsupported, put, alive)
        for chunk in sliced(pa.concat_tables(delivery.gone_and_there()), CHUNK):
            fitted.put(chunk)
        if delivery.whole:

            def remove(names: Sequence[str], batch: Any) -> None:  # noqa: ANN401 - a pipeline of redis-py
                batch.multi()
                batch.delete(*names)

            stale = list[str]()
            for at, name in enumerate(self._names()):
                if name not in names:
                    stale.append(name)
                if at % CHUNK == 0:
                    alive()
            for first in range(0, len(stale), CHUNK):
                self._fenced(claim, partial(remove, stale[first : first + CHUNK]))
                alive()
        now = delivery.reached(self._standing(delivery.identity).to_json(), fitted.misfits)
        final_note = replace(claim, position=now, writer="").to_json()
        self._fenced(claim, lambda batch: (batch.multi(), batch.set(self.sink.prefix, final_note)))
        return now

    def _claimed(self, delivery: Delivery) -> Ledger:
        """The note that this run writes from now on: a run that began before writes nothing any more."""
        claim = Ledger(self.pipeline, str(self.sink.window), delivery.since, uuid4().hex)
        if delivery.since and not delivery.whole:
            before = Standing.of_json(delivery.since.target)
            if before.identity != delivery.identity or before.expires_us != self.sink.expires_us:
                raise AllNeededError("keys are named otherwise, or live for another time")

        def begin(batch: Any, there: str | None) -> None:  # noqa: ANN401 - a pipeline of redis-py
            ledger = self._ledger(there)
            if not ledger and not delivery.anew and (there is not None or next(self._names(), None)):
                raise BlockedError(
                    f"{self.sink.prefix} has keys that this window of Muntin did not write; remove them, name"
                    " another prefix, or let them be replaced: muntin status --sinks FILE --send --anew"
                )
            if (ledger.position if ledger else None) != delivery.since:
                raise MovedError
            batch.multi()
            batch.set(self.sink.prefix, claim.to_json())

        self._watched(begin)
        return claim

    def _put(self, claim: Ledger, delivery: Delivery, rows: pa.Table, largest: int) -> list[str]:
        """Set and delete keys, as the `change` of each row says: all of them, or none. Their names.

        A text that is larger than the server takes is refused, and an instant beyond the year 9999 where it
        has to be compared.
        """
        expires = self.sink.expires_us
        changes = [
            (
                _name_of(self.sink.prefix, row, delivery.identity),
                as_json({name: value for name, value in row.items() if name != "change"}),
                row,
            )
            for row in plain_rows(rows)
        ]
        names = [name for name, *_ in changes]
        for name, value, row in changes:
            if len(name.encode()) > largest or len(value.encode()) > largest:
                raise RefusedError(
                    f"larger than {largest:,} bytes, which the server takes (proto-max-bulk-len)", widest(row)
                )
            if self.sink.latest or expires:
                _place_of(row)

        def write(batch: Any) -> None:  # noqa: ANN401 - a pipeline of redis-py
            compared = names if delivery.latest and not delivery.whole else []
            held = batch.mget(compared) if compared else []
            newest = {name: json.loads(text) for name, text in zip(compared, held, strict=True) if text}
            batch.multi()
            for name, value, row in changes:
                if row["change"] == "gone":
                    newest.pop(name, None)
                    batch.delete(name)
                elif name not in newest or _place_of(newest[name]) <= _place_of(row):
                    batch.set(name, value, pxat=_until_ms(row, expires) if expires else None)

        self._fenced(claim, write)
        return names

    def _fenced(self, claim: Ledger, write: Callable[[Any], object]) -> None:
        """A transaction, unless another run has begun to write."""

        def checked(batch: Any, there: str | None) -> None:  # noqa: ANN401 - a pipeline of redis-py
            if there != claim.to_json():
                raise MovedError
            write(batch)

        self._watched(checked)

    def _watched(self, write: Callable[[Any, str | None], object]) -> None:
        """A transaction that fails if the note on the keys is changed meanwhile."""
        from redis import WatchError

        with self.client.pipeline() as batch:
            batch.watch(self.sink.prefix)
            try:
                write(batch, batch.get(self.sink.prefix))
                batch.execute()
            except WatchError:
                raise MovedError from None

    def _ledger(self, text: str | None) -> Ledger | None:
        """The note on the keys, if they are of this window."""
        note = Ledger.of_json(text or "")
        return note if note and (note.pipeline, note.window) == (self.pipeline, self.sink.window) else None

    def _standing(self, identity: tuple[str, ...]) -> Standing:
        server, stats = self.client.info("server"), self.client.info("stats")
        counted = not self.sink.expires_us and self.client.dbsize() <= COUNTED
        rows = len({*self._names()}) if counted else None
        return Standing(server["run_id"], stats["evicted_keys"], rows, identity, self.sink.expires_us)

    def _names(self) -> Iterator[str]:
        """The keys below the prefix; a key may come twice."""
        return self.client.scan_iter(match=f"{self.sink.prefix}/*", count=1_000)

    def _largest(self) -> int:
        """The largest text that the server takes, in bytes."""
        from redis import ResponseError

        try:
            return int(self.client.config_get("proto-max-bulk-len").get("proto-max-bulk-len", _LARGEST))
        except ResponseError:  # hosted servers do not tell
            return _LARGEST


def _name_of(prefix: str, row: Mapping[str, Any], identity: Sequence[str]) -> str:
    """The key of a row.

    >>> _name_of("flights", {"origin": "JFK", "kind": None}, ["origin", "kind"])
    'flights/JFK/%null'
    """
    return "/".join([prefix, *(_part(row[name]) for name in identity)])


def _place_of(row: Mapping[str, Any]) -> list[Any]:
    """The order that tells an older window of a key from a newer window.

    An instant beyond the year 9999 is refused.
    """
    try:
        return [
            each if isinstance(each := row[name], int | datetime) else datetime.fromisoformat(each)
            for name in _PLACE
            if name in row
        ]
    except ValueError:
        raise RefusedError("an instant after the year 9999, which cannot be compared", "window_end") from None


def _until_ms(row: Mapping[str, Any], expires_us: int) -> int:
    """The instant at which a key vanishes, in milliseconds since 1970; at least 1, as Redis knows no instant
    before.
    """
    return max(
        (row["window_end"] - _EPOCH + timedelta(microseconds=expires_us)) // timedelta(milliseconds=1), 1
    )


def _part(value: Any) -> str:  # noqa: ANN401 - whatever a key holds
    """A value as a part of a key, in which "/" and "%" are written otherwise; null as no text can be."""
    if value is None:
        return "%null"
    text = value if isinstance(value, str) else as_json(value).strip('"')
    return text.replace("%", "%25").replace("/", "%2F")
