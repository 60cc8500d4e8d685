"""What happens: files of days, rows of the week before in them, old files that are written anew, a key that is to be deleted."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

START, DAY, WEEK = datetime(2023, 1, 1, tzinfo=UTC), timedelta(days=1), 7
DAY_US, GAP_US = 86_400_000_000, 1_800_000_000
LATE = 100
"""Of so many rows of a day, one is of the week before."""
SCHEMA = pa.schema([("at", pa.timestamp("us", "UTC")), ("k", pa.int64()), ("x", pa.int64())])


@dataclass(frozen=True)
class World:
    """`days` of history, `more` days to come, each of `events` rows of `keys` keys, in a folder."""

    folder: Path
    days: int
    more: int
    events: int
    keys: int

    @property
    def last(self) -> int:
        """The day behind the last."""
        return self.days + self.more

    @cached_property
    def replaced(self) -> dict[int, int]:
        """Day -> the old day whose file is written anew on it: one a week, two to twelve weeks old."""
        dice = np.random.default_rng(11)
        oldest = min(12 * WEEK, self.days)
        return {day: day - int(dice.integers(2 * WEEK, oldest)) for day in range(self.days + 3, self.last, WEEK)}

    @property
    def deletion(self) -> tuple[int, int]:
        """The day on which a person asks to be forgotten, and the key."""
        return self.days + self.more * 2 // 3, 0

    def path(self, day: int) -> Path:
        """The file of a day."""
        return self.folder / f"{START + day * DAY:%Y-%m-%d}.parquet"

    def gone(self, day: int) -> int | None:
        """The key that is deleted by then, if any."""
        return self.deletion[1] if day >= self.deletion[0] else None

    def write_history(self) -> None:
        """The files of the days before."""
        self.folder.mkdir(parents=True)
        for day in range(self.days):
            self._write(day, 0)

    def go_on(self, day: int) -> None:
        """The file of a day comes; on some days, an old one is written anew. The deleted person's rows keep coming."""
        self._write(day, 0)
        if day in self.replaced:
            self._write(self.replaced[day], 1)

    def _write(self, day: int, version: int) -> None:
        dice = np.random.default_rng([day, version])
        at = np.sort(dice.integers(0, DAY_US, self.events))
        late = dice.permutation(self.events)[: self.events // LATE] if day >= WEEK else np.empty(0, np.int64)
        at[late] -= dice.integers(1, WEEK + 1, len(late)) * DAY_US
        at += (int(START.timestamp()) * 1_000_000) + day * DAY_US
        keys, values = dice.integers(0, self.keys, self.events), dice.integers(0, 1000, self.events)
        pq.write_table(pa.table([pa.array(at).cast(SCHEMA.field("at").type), keys, values], schema=SCHEMA), self.path(day))
