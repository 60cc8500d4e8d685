"""A step of a contender, in a process of its own, and what it took."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.contestant import cpu_s, own_peak_mb
from benchmarks.living.allowed_lateness import AllowedLateness
from benchmarks.living.contenders import LOOK_BACK, AskAgain, Contender, LookBack, Muntin, Polars, View
from benchmarks.living.stream import ForeachBatch
from benchmarks.living.world import World


@dataclass(frozen=True)
class Figures:
    """What a step took, in a process of its own and those that it started; `written_mb`: files that are new or have changed."""

    cpu_s: float
    peak_mb: float
    written_mb: float


CONTENDERS: Mapping[str, tuple[str, type[Contender]]] = {
    "duckdb": ("DuckDB, asked again", AskAgain),
    "muntin": ("Muntin", Muntin),
    "polars": ("Polars, asked again", Polars),
    "look-back": (f"dbt's way: a look-back of {LOOK_BACK} days, in DuckDB", LookBack),
    "stream": ("Spark, a stream with foreachBatch", ForeachBatch),
    "flink": ("Flink, allowed lateness of eight days", AllowedLateness),
    "view": ("ClickHouse (chdb), a materialised view", View),
}


def step(name: str, world: World, state: Path, day: int | None) -> Figures:
    """The history (None) or a day by a contender. The CPU seconds are of this process, from its start."""
    contender = CONTENDERS[name][1](world, state)
    state.mkdir(parents=True, exist_ok=True)
    before = _sizes(state)
    if day is None:
        contender.first()
    else:
        contender.day(day)
    peaks = [own_peak_mb(), *(own_peak_mb(f"{child.pid}") for child in psutil.Process().children(recursive=True))]
    written = {each: size for each, size in _sizes(state).items() if each not in before}
    return Figures(cpu_s(), sum(peaks), sum(written.values()) / 1e6)


def _sizes(folder: Path) -> dict[tuple[str, int], int]:
    """File and time -> bytes."""
    stats = {f"{path}": path.stat() for path in folder.rglob("*") if path.is_file()}
    return {(path, stat.st_mtime_ns): stat.st_size for path, stat in stats.items()}


def write_tables(name: str, world: World, state: Path, out: Path) -> None:
    """The tables of a contender for the comparison, in an empty folder."""
    out.mkdir(parents=True)
    CONTENDERS[name][1](world, state).tables(out)
