"""A pipeline with all that follows from its definition and its root, worked out once and handed from step to step."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.aggregates.shared_fields import shared_fields
from pipelines.definition.frame_sets import FrameSet, frame_sets
from pipelines.definition.function_marks import mark
from pipelines.definition.relative_paths import local
from pipelines.store import state
from pipelines.store.state import FORMAT

if TYPE_CHECKING:
    from pipelines.aggregates.aggregate import Aggregate, Field
    from pipelines.definition.pipeline import Pipeline
    from pipelines.sources import Source
    from pipelines.store.store import Store
    from pipelines.windows.kind import Window


@dataclass(frozen=True)
class Bound:
    """A definition beside its state.

    Attributes:
        pipeline: the definition.
        folder: of the state under this definition, an absolute path.
        given: an implementation of the state's verbs; None: Delta tables in `folder`.
    """

    pipeline: Pipeline
    folder: str
    given: Store | None = None

    @cached_property
    def store(self) -> Store:
        """The tables of the state."""
        from pipelines.store.delta import DeltaStore

        return self.given or DeltaStore(self.folder)

    @property
    def root(self) -> Path:
        """The folder that the state of all pipelines lives below."""
        return Path(self.folder).parents[1]

    @property
    def source(self) -> Source:
        """Where the rows of a batch are."""
        return self.pipeline.source  # type: ignore[return-value]

    @property
    def windows(self) -> dict[str, Window]:
        """Name -> kind."""
        return self.pipeline.windows  # type: ignore[return-value]

    @property
    def aggregates(self) -> dict[str, Aggregate]:
        """Result column -> aggregate."""
        return self.pipeline.aggregates  # type: ignore[return-value]

    @cached_property
    def fields(self) -> list[Field]:
        """Every field that the aggregates need, each once; the number of rows first."""
        return shared_fields(self.aggregates)

    @cached_property
    def frame_sets(self) -> list[FrameSet]:
        """Finest first."""
        return frame_sets(self.pipeline)

    def frames_of(self, window: str) -> FrameSet:
        """The frame set that a window is made of."""
        return next(frames for frames in self.frame_sets if window in frames.windows)

    def derivation(self, window: str) -> str:
        """Names everything that, beside the states, determines a window's results."""
        return derivation(self.pipeline, window)


def bind(pipeline: Pipeline, root: str | Path, *, store: Store | None = None, claim: bool = False) -> Bound:
    """A pipeline beside its state below a root.

    Args:
        pipeline: the definition.
        root: the folder that state lives below.
        store: an implementation of the state's verbs, with a folder of its own; None: Delta tables below the root.
        claim: whether to make the folder and mark it as the pipeline's.

    Raises:
        DefinitionError: the root is an address, as `s3://...`.
        StateError: the folder belongs to another pipeline, a newer Muntin wrote it, or it cannot be made.
    """
    if store is not None:
        return Bound(pipeline, store.root, store)
    folder = state.state_folder(pipeline.name, fingerprint(pipeline), local(root, "root"))
    if claim:
        state.claim(pipeline.name, folder)
    return Bound(pipeline, folder)


def fingerprint(pipeline: Pipeline) -> str:
    """Names everything that determines the states: a change of any of it begins a new state folder."""
    source, schedule = pipeline.source, pipeline.intervals
    facts = {
        "format": FORMAT,
        "keys": pipeline.keys,
        "where": pipeline.where,
        "time": [source.event_time, source.unit, source.timezone, source.arrival_order, source.arrival_time],
        "schedule": [schedule.cron, schedule.step_us, schedule.anchor_us],
        "max_ahead": pipeline.max_ahead_us,
        "frames": [[frames.table, frames.event_times, sorted(frames.lifts.items())] for frames in frame_sets(pipeline)],
        "fields": sorted(each.facts for each in shared_fields(pipeline.aggregates)),
    }
    if source.types:  # left out where none are given, so that states from before they counted keep their name
        facts["types"] = sorted(source.types.items())
    return sha256(json.dumps(facts, sort_keys=True, default=str).encode()).hexdigest()[:12]


def derivation(pipeline: Pipeline, window: str) -> str:
    """Names everything that, beside the states, determines a window's results."""
    results = {name: [str(each), each.finish.__qualname__, mark(each.finish)] for name, each in pipeline.aggregates.items()}
    facts = [FORMAT, repr(pipeline.windows[window]), pipeline.marks_by, pipeline.on_gap, results, pipeline.keep_states]
    facts += [list(pipeline.derive.items())] if pipeline.derive else []  # in order: one may read those before it
    return sha256(json.dumps(facts).encode()).hexdigest()[:12]
