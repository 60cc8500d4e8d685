"""A scenario on disk, and what a user may do with it."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from muntin import Limits, Pipeline, read, run
from tests.end_to_end.judge import user_files as face
from tests.end_to_end.judge.scenarios import AHEAD, FILTER, HAVING, MEASURES, TYPES, Scenario


@dataclass(frozen=True)
class Bench:
    """A scenario on disk and what may be done with it."""

    case: Scenario
    folder: Path
    spark: Any
    pipeline: Pipeline

    def run(self, root: str, first: int = 0, last: int | None = None) -> Any:
        """Batches first..last, last included."""
        found = self.case.batches
        start, end = found[first].start, found[-1 if last is None else last].end
        at = {"start": face.instant(start), "end": face.instant(end)}
        return run(self.pipeline, root=str(self.folder / root), **at, spark=self.spark, allow_missing=True)

    def tables(self, root: str) -> dict[str, pa.Table]:
        """All that is published under a root."""
        return {name: read(self.pipeline, name, root=str(self.folder / root)) for name in self.pipeline.windows}

    def write(self, case: Scenario) -> None:
        """The scenario's files, other ones replaced."""
        for batch in case.batches:
            face.write(self.folder / "data", batch, TYPES)


def bench(case: Scenario, folder: Path, spark: object) -> Bench:
    """Written and defined, not yet run."""
    more: dict[str, Any] = {"watermark": case.watermark, "rollups": case.rollups}
    more["limits"] = Limits(max_quarantined=None, max_ahead=face.span(AHEAD))
    if case.where:
        more["where"] = FILTER
    data = folder / "data"
    pipeline = face.define("judged", data, case.batches, case.windows, MEASURES, keys=case.keys, **more)
    if case.having:
        kinds: Any = pipeline.windows
        given = {name: replace(kinds[name], having=HAVING) for name in case.windows}
        pipeline = replace(pipeline, windows=given)
    made = Bench(case, folder, spark, pipeline)
    made.write(case)
    return made
