"""The parameters of a window by arrival."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.windows.arrival.policies import Keep, Policy


class Parameters(Protocol):
    """The parameters of `arrival`, and `policies`: evict, and trigger if there is one."""

    @property
    def evict(self) -> Policy: ...
    @property
    def trigger(self) -> Policy | None: ...
    @property
    def policies(self) -> Sequence[Policy]: ...
    @property
    def incomplete(self) -> bool: ...
    @property
    def flush(self) -> bool: ...
    @property
    def dense(self) -> bool: ...
    @property
    def partitions(self) -> Keep | None: ...
    @property
    def group_by(self) -> tuple[str, ...]: ...
