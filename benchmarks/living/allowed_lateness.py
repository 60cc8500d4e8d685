"""Flink's way: a job that runs all the time, event-time windows with allowed lateness; each late row fires its window again.

A step is a process that goes on from a savepoint and ends with a new savepoint. Behind each day comes a row that says what time it is,
since Flink knows the time from rows alone. A file that is written anew under its name is not read again.
"""

# ruff: noqa: D102 - methods are those of `Contender`

import os
import subprocess
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.living.contenders import TABLES, Contender
from benchmarks.living.world import DAY, SCHEMA, START

PROGRAM = Path(__file__).with_name("flink") / "Windows.java"
CLOCK = -1
"""The key of rows that say what time it is."""
ALIVE = list["subprocess.Popen[str]"]()
"""Flink, until this process ends: what it took is measured before."""


class AllowedLateness(Contender):
    """Flink: windows fire when they end, and again for each row that comes up to eight days late."""

    def first(self) -> None:
        self._take(range(self.world.days))

    def day(self, day: int) -> None:
        self._take(range(day, day + 1))
        if (gone := self.world.gone(day)) is not None:
            (self.state / "gone").write_text(f"{gone}")

    def tables(self, out: Path) -> None:
        import duckdb

        left_out = [str(CLOCK), *(path.read_text() for path in self.state.glob("gone"))]
        newest = "QUALIFY row_number() OVER (PARTITION BY k, start_us ORDER BY number DESC) = 1"
        for name in TABLES:
            rows = f"FROM read_parquet('{self.state}/out/{name}/*') WHERE k NOT IN ({', '.join(left_out)})"
            duckdb.sql(f"SELECT k, start_us, end_us, n, x {rows} {newest}").write_parquet(f"{out}/{name}.parquet")

    def _take(self, days: range) -> None:
        """Give Flink the files of days, each when the one before was read, and keep its savepoint."""
        from benchmarks.nexmark.engines import flink_command

        feed, note, classes = self.state / "feed", self.state / "savepoint", self.state.parent / "classes-of-flink"
        feed.mkdir(exist_ok=True)
        java, *more = flink_command(2048, classes)
        if not classes.exists():
            subprocess.run([Path(java).with_name("javac"), "-XDsuppressNotes", "-cp", more[-1], "-d", classes, PROGRAM], check=True)
        saved = [note.read_text()] if note.exists() else []
        arguments = [feed, self.state / "out", f"file://{self.state}/savepoints", *saved]
        flink = subprocess.Popen([java, *more, "Windows", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        ALIVE.append(flink)
        for number, day in enumerate(days, 1):
            os.link(self.world.path(day), feed / f"{day:06}-rows.parquet")
            _ask(flink, str(number * (self.world.events + 1) - 1))
            self._write_clock(day)
            (self.state / "clock").rename(feed / f"{day:06}-time.parquet")
            _ask(flink, str(number * (self.world.events + 1)))
        note.write_text(_ask(flink, "stop"))

    def _write_clock(self, day: int) -> None:
        row = {"at": [START + (day + 1) * DAY], "k": [CLOCK], "x": [0]}
        pq.write_table(pa.table(row, schema=SCHEMA), self.state / "clock")


def _ask(flink: "subprocess.Popen[str]", line: str) -> str:
    assert flink.stdin is not None  # noqa: S101 - pipes were asked for
    assert flink.stdout is not None  # noqa: S101
    print(line, file=flink.stdin, flush=True)
    if not (answer := flink.stdout.readline().strip()):
        raise RuntimeError("Flink has ended")
    return answer
