"""What rows say about their sessions: how long they reach, and whether they end them."""

from dataclasses import dataclass

from muntin.testing.oracle.time import Row


@dataclass(frozen=True)
class Gaps:
    """Rows that say their own gap: some of `unit`, as many as `v` says; without `v` it is `gap`."""

    gap: int
    unit: int

    def __call__(self, row: Row) -> int:
        """Until when a row lasts."""
        return int(row["t"]) + (self.gap if row["v"] is None else (abs(row["v"]) % 6 + 1) * self.unit)

    @property
    def sql(self) -> str:
        """The gap of a row, for users."""
        return f"to_microseconds((abs(v) % 6 + 1) * {self.unit})"


@dataclass(frozen=True)
class Ends:
    """Rows with this value of `v` end their session."""

    value: int

    def __call__(self, row: Row) -> bool:
        return bool(row["v"] == self.value)
