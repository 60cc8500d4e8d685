"""What a batch may cost after a long history: so many times what it costs after the shortest history of the same run."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

Found = tuple[str, int, Mapping[str, float]]
"""The name of a set of windows, the length of a history, and what was measured."""

TIMES = {10_000: 1.3, 100_000: 2.0}
"""Up to so many batches -> so many times the CPU of a short history at most. Behind the last no limit is known."""
WRITTEN_TIMES, BULK_MS = 1.1, 2.0
_FEW = 100
"""To begin and to end a run in bulk takes longer than so many batches."""
CPU = {
    "cpu_s": "a batch",
    "replaced_cpu_s": "a replaced batch",
    "corrected_cpu_s": "a corrected batch",
    "missing_cpu_s": "a missing batch",
}
OTHER_WINDOWS = ("arrival", "replaced_cpu_s")
"""All windows behind the batch are others and are published anew: what it costs is their number."""


def broken(figures: Sequence[Found]) -> list[str]:
    """A line for each limit that does not hold. `figures`: those of one set of windows lie together. Of a history alone, bulk."""
    return [line for _, of_windows in groupby(figures, lambda found: found[0]) for line in _of_windows([*of_windows])]


def _of_windows(figures: Sequence[Found]) -> Iterator[str]:
    """Those of one set of windows."""
    _, short, first = min(figures, key=lambda found: found[1])
    for name, history, found in figures:
        if history > _FEW and found["bulk_ms_a_batch"] > BULK_MS:
            yield f"{name}: {found['bulk_ms_a_batch']:.2f} ms a batch in bulk over {history:,}; at most {BULK_MS}"
        for column, (said, most) in _limits(name, history).items():
            if history > short and found[column] > most * first[column]:
                times = found[column] / first[column]
                yield f"{name}: {said} after {history:,} batches is {times:.2f} times that after {short:,}; at most {most}"


def _limits(name: str, history: int) -> dict[str, tuple[str, float]]:
    """Column -> how a line calls it, and so many times that after a short history at most."""
    times = next((most for length, most in TIMES.items() if history <= length), None)
    cpu = {column: (f"CPU of {said}", times) for column, said in CPU.items() if times and (name, column) != OTHER_WINDOWS}
    return {**cpu, "kb_a_batch": ("what is written of a batch", WRITTEN_TIMES)}
