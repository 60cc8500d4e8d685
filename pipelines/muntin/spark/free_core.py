"""The question whether a Spark Connect server has a core free: a job of one task that does nothing, asked for without a thread."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import grpc
from pyspark.sql.connect.client import DefaultChannelBuilder
from pyspark.sql.connect.proto import ExecutePlanRequest, Plan, Range, Relation, ReleaseSessionRequest, UserContext
from pyspark.sql.connect.proto.base_pb2_grpc import SparkConnectServiceStub

if TYPE_CHECKING:
    from grpc.aio import Channel

_NOTHING = Plan(root=Relation(range=Range(start=0, end=1, step=1, num_partitions=1)))
_RELEASE_S = 5.0


class _AsyncBuilder(DefaultChannelBuilder):  # type: ignore[misc]
    """The channel to an address, with its token and TLS as PySpark has them, for asyncio."""

    def _insecure_channel(self, target: Any, **options: Any) -> Channel:  # noqa: ANN401 - as PySpark has it
        return grpc.aio.insecure_channel(target, options=self._channel_options, **options)

    def _secure_channel(self, target: Any, credentials: Any, **options: Any) -> Channel:  # noqa: ANN401 - as PySpark has it
        return grpc.aio.secure_channel(target, credentials, options=self._channel_options, **options)


async def has_free_core(address: str) -> bool:
    """Whether a Spark Connect server (`sc://`) runs a task.

    Returns:
        True once it has, however long that takes, or has said why it does not; False if nobody answers. Whoever cancels this ends the job.
    """
    builder = _AsyncBuilder(address)
    of_session = {"session_id": str(uuid4()), "user_context": UserContext(user_id=builder.userId or "muntin")}
    metadata = [*builder.metadata()]
    async with builder.toChannel() as channel:
        spark = SparkConnectServiceStub(channel)
        try:
            async for _ in spark.ExecutePlan(ExecutePlanRequest(**of_session, plan=_NOTHING), metadata=metadata):
                pass
        except grpc.aio.AioRpcError as wrong:
            return bool(wrong.code() != grpc.StatusCode.UNAVAILABLE)
        finally:
            with suppress(grpc.aio.AioRpcError):
                await spark.ReleaseSession(ReleaseSessionRequest(**of_session), metadata=metadata, timeout=_RELEASE_S)
    return True
