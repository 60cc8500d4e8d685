"""The question whether a Spark Connect server has a core free: a job of one task that does nothing, asked for
without a thread.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

import grpc
from pyspark.sql.connect import proto
from pyspark.sql.connect.client import DefaultChannelBuilder

if TYPE_CHECKING:
    from grpc.aio import Channel

_NOTHING = proto.Plan(root=proto.Relation(range=proto.Range(start=0, end=1, step=1, num_partitions=1)))
_RELEASE_S = 5.0
# A server that is gone without a word is noticed after hours, too. Servers close connections that ask more
# often than every five minutes.
_PINGS = [
    ("grpc.keepalive_time_ms", 360_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
]


async def has_free_core(address: str) -> bool:
    """Whether a Spark Connect server (`sc://`) runs a task.

    Returns:
        True once it has, however long that takes, or has said why it does not; False if no server answers.
        Cancelling this ends the job.
    """
    at = DefaultChannelBuilder(address)
    of_session = {
        "session_id": str(uuid4()),
        "user_context": proto.UserContext(user_id=at.userId or "muntin"),
    }
    metadata = [*at.metadata()]
    async with _channel(at) as channel:
        spark = proto.SparkConnectServiceStub(channel)
        try:
            async for _ in spark.ExecutePlan(
                proto.ExecutePlanRequest(**of_session, plan=_NOTHING), metadata=metadata
            ):
                pass
        except grpc.aio.AioRpcError as wrong:
            return bool(wrong.code() != grpc.StatusCode.UNAVAILABLE)
        finally:
            with suppress(grpc.aio.AioRpcError):
                await spark.ReleaseSession(
                    proto.ReleaseSessionRequest(**of_session), metadata=metadata, timeout=_RELEASE_S
                )
    return True


def _channel(at: DefaultChannelBuilder) -> Channel:
    """The channel that `at.toChannel()` makes, for asyncio, and with pings."""
    if not at.secure:
        return grpc.aio.insecure_channel(at.endpoint, options=_PINGS)
    is_local = at.host == "localhost" and not at.use_ssl
    credentials = grpc.local_channel_credentials() if is_local else grpc.ssl_channel_credentials()
    if at.token:
        credentials = grpc.composite_channel_credentials(
            credentials, grpc.access_token_call_credentials(at.token)
        )
    return grpc.aio.secure_channel(at.endpoint, credentials, options=_PINGS)
