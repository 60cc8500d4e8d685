"""Notes of a sink of Redis beside its keys: how far they are, who writes, and what tells whether some were
lost.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from muntin.definition.spelling import many
from muntin.sinks.delivery import Position


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
