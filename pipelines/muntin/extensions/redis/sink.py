"""Keys of Redis or Valkey as a definition declares them, and the way to their server."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muntin.definition.durations import Duration, positive
from muntin.definition.extras import need
from muntin.errors import DefinitionError
from muntin.files.connections import without
from muntin.sinks.addresses import checked_address, reached, tls_settings
from muntin.sinks.declaration import Declared, OnUnsupported, choice_of
from muntin.sinks.errors import BlockedError, SinkError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from muntin.extensions.redis.keys import RedisKeys
    from muntin.files.connections import Connection
    from muntin.sinks.delivery import Opened, Reach

KINDS = ("redis", "rediss", "valkey", "valkeys")
EXAMPLE = "redis://cache.example:6379/0"
ANSWER_S = 5
_PREFIX = re.compile(r"[A-Za-z0-9_.:-]{1,200}")


@dataclass(frozen=True, slots=True)
class RedisSink(Declared):
    """Keys of Redis below a prefix; `redis` makes it."""

    address: str
    prefix: str
    window: str | None = None
    on_unsupported: OnUnsupported = "quarantine"
    latest: bool = False
    expires_us: int | None = None

    package = "redis"

    @property
    def name(self) -> str:
        return f"keys {self.prefix}/* at {self.address}"

    def opened(self, pipeline: str, reach: Reach) -> AbstractContextManager[Opened]:
        return _opened(self, pipeline, reach)


def redis(
    address: str,
    prefix: str,
    *,
    window: str | None = None,
    on_unsupported: OnUnsupported = "quarantine",
    latest: bool = False,
    expires: Duration | None = None,
) -> RedisSink:
    """Keys of Redis or Valkey that hold a window's results as JSON, for services that ask by key.

    >>> redis("cache", "flights", window="day", latest=True, expires="2d").name
    'keys flights/* at cache'

    Args:
        address: the name of an Airflow connection of type redis; `env:NAME`, an environment variable that
            holds an address; or an address without a secret, as "redis://cache.example:6379/0" (rediss:// for
            TLS). One server or its primary, not a cluster.
        prefix: of the keys, as "flights": a window is the key flights/JFK/<start>/<end>, and the key
            "flights" says how far they are.
        window: the name of the window; may be left out where the pipeline has one.
        on_unsupported: what becomes of a window that is too large for the server. "quarantine": it is left
            out, and `muntin status --sinks` names it; "replace": its largest results are null; "stop":
            nothing is sent until that is mended.
        latest: whether there is one key for each key of the pipeline, as flights/JFK, with the newest window
            that is closed.
        expires: how long after a window's end its key vanishes; None: it stays.

    Raises:
        DefinitionError: an address with a password, or of something else; a prefix or a duration that cannot
            be.
    """
    if not isinstance(prefix, str) or not _PREFIX.fullmatch(prefix):
        raise DefinitionError(
            f'sinks.redis: {prefix!r} is no prefix of keys; write letters, digits and "_.:-", as'
            ' "shop:flights"'
        )
    where = checked_address("sinks.redis", address, KINDS, EXAMPLE)
    lives = None if expires is None else positive(expires, "sinks.redis: expires")
    return RedisSink(where, prefix, window, choice_of(on_unsupported, "sinks.redis"), latest, lives)


@contextmanager
def _opened(sink: RedisSink, pipeline: str, reach: Reach) -> Iterator[RedisKeys]:
    need("redis")
    from redis import Redis, RedisError, ResponseError
    from redis.exceptions import OutOfMemoryError, ReadOnlyError

    from muntin.extensions.redis.keys import RedisKeys

    server = reached(sink.address, reach, KINDS, EXAMPLE)
    place = f"{server.host}:{server.port or 6379}"
    try:
        with Redis(**_settings(server)) as client:
            yield RedisKeys(client, sink, pipeline)
    except RedisError as wrong:
        text = without(str(wrong), [str(server.password or "")])
        if isinstance(wrong, ResponseError) and not isinstance(wrong, OutOfMemoryError | ReadOnlyError):
            raise BlockedError(
                f"{place}: {text}; mend the keys or the rights, or name another prefix"
            ) from None
        raise SinkError(
            f"{place}: {text}; see that the server is up and takes writes, and that the address is right"
        ) from None


def _settings(server: Connection) -> dict[str, Any]:
    """The settings of redis-py, which tries nothing again behind our back."""
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    secure = server.kind in ("rediss", "valkeys") or str(server.extra.get("ssl", "")).lower() == "true"
    return {
        "host": server.host,
        "port": server.port or 6379,
        "db": int(server.schema or server.extra.get("db") or 0),
        "username": server.login or None,
        "password": server.password or None,
        "socket_connect_timeout": ANSWER_S,
        "socket_timeout": 2 * ANSWER_S,
        "retry": Retry(NoBackoff(), 0),
        "decode_responses": True,
        **({"ssl": True, **tls_settings(server)} if secure else {}),
    }
