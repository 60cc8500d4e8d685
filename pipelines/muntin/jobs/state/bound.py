"""The state of a pipeline: everything that follows from its definition and its root, worked out once for all
steps of a run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from muntin.aggregates.counting import shared_fields
from muntin.definition.frame_sets import FrameSet, frame_sets
from muntin.definition.relative_paths import readable
from muntin.files.paths import path_of
from muntin.jobs.state import definition_note
from muntin.jobs.state.fingerprint import derivation, facts_text, fingerprint, keeps_even_frames
from muntin.jobs.state.given_spans import with_tables
from muntin.jobs.state.home import name_of_state, take_over
from muntin.states.forgotten_keys import NONE, Hashed
from muntin.store import state
from muntin.store.paths import IDS, LOOKED_UP, folder_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muntin.aggregates.aggregate import Aggregate, Field
    from muntin.definition.parts import Alerts
    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.sinks.declaration import Declared as Sink
    from muntin.sources.reading.dimension import Dimension
    from muntin.sources.source import Source
    from muntin.store.store import Store
    from muntin.windows.kind import Window


@dataclass(frozen=True)
class Bound:
    """A definition and its state.

    Attributes:
        pipeline: the definition.
        folder: of the state under this definition, an absolute path.
        given: an implementation of `Store`; None: Delta tables in `folder`.
        lifted: the fields that the source is read for, the number of rows first; None: the fields of all
            aggregates.
        even: whether all frames of a set have one width, as `frame_sets` says.
        mending: whether a repair is at work, which derives from states that are known to lack something.
        dimensions: that rows look up, as a run has read them; () before.
        forgotten: the keys whose rows are left out, as a run has read them; none before.
        anew: starts of the batches that a run names, whose rows functions are asked for again.
    """

    pipeline: Pipeline
    folder: AnyPath
    given: Store | None = None
    lifted: tuple[Field, ...] | None = None
    even: bool = False
    mending: bool = False
    dimensions: tuple[Dimension, ...] = ()
    forgotten: Hashed = NONE
    anew: frozenset[int] = frozenset()

    @cached_property
    def store(self) -> Store:
        from muntin.store.delta import DeltaStore

        return self.given or DeltaStore(self.folder)

    @property
    def home(self) -> AnyPath:
        """The folder of the pipeline: its states, and the tables that readers know."""
        return self.folder.parent

    @property
    def others(self) -> list[AnyPath]:
        """The states of other definitions of the pipeline."""
        return [folder for folder in state.states_of(self.home) if folder.name != self.state]

    @property
    def root(self) -> AnyPath:
        """The folder above the states of all pipelines."""
        return self.home.parent

    def table(self, name: str) -> AnyPath:
        """The folder of a table of the state, or of one that readers know."""
        return folder_of(self.folder, name)

    @property
    def source(self) -> Source:
        """The source of the rows; of a run, with the dimensions that they look up."""
        source: Source = self.pipeline.source  # type: ignore[assignment]
        if not self.dimensions or self.pipeline.sources:
            return source
        name = source.member.name if source.member else ""
        lookups = tuple(each for each in self.dimensions if not each.of or name in each.of)
        return replace(source, lookups=lookups)

    @cached_property
    def _facts(self) -> str:
        return facts_text(self.pipeline)

    @cached_property
    def _words(self) -> frozenset[str]:
        """The words of the definition in small letters; behind the escape of a line's end one begins, too."""
        text = self._facts.lower()
        return frozenset(re.findall(r"\w+", text) + re.findall(r"\w+", re.sub(r"\\+[nrt]", " ", text)))

    def may_use(self, column: str) -> bool:
        """Whether the definition may use a column of the source: its name stands somewhere in it."""
        plain = column.isidentifier() and column.isascii() and "columns(" not in self._facts.lower()
        return not plain or column.lower() in self._words

    @property
    def members(self) -> dict[str, Bound]:
        """Name -> the definition over this source alone, with the same state; nothing where there is one
        source.
        """
        return {name: replace(self, pipeline=self.pipeline.only(name)) for name in self.pipeline.sources}

    @property
    def own_aggregates(self) -> dict[str, Aggregate]:
        """The aggregates that take rows of the source: all, where it is the only one."""
        member = self.source.member
        return {
            name: each
            for name, each in self.aggregates.items()
            if not member or each.source in ("", member.name)
        }

    @property
    def windows(self) -> dict[str, Window]:
        return self.pipeline.windows  # type: ignore[return-value]

    def keys_of(self, window: str) -> tuple[str, ...]:
        """The key columns of a window; a rollup has fewer than the states."""
        return self.pipeline.keys_of(window)

    @property
    def aggregates(self) -> dict[str, Aggregate]:
        return self.pipeline.row_aggregates  # type: ignore[return-value]

    @property
    def alerts(self) -> Alerts | None:
        return self.pipeline.listener

    @property
    def sinks(self) -> Sequence[Sink]:
        return self.pipeline.to  # type: ignore[return-value]

    @cached_property
    def fields(self) -> list[Field]:
        """The distinct fields of all aggregates, or the lifted fields; the number of rows first."""
        return shared_fields(self.aggregates) if self.lifted is None else list(self.lifted)

    @cached_property
    def frame_sets(self) -> list[FrameSet]:
        """Finest first."""
        return frame_sets(self.pipeline, even=self.even)

    @cached_property
    def frames_by_window(self) -> dict[str, FrameSet]:
        """Window -> its frame set, in the order of the definition."""
        return {
            window: next(frames for frames in self.frame_sets if window in frames.windows)
            for window in self.windows
        }

    @property
    def tables_of_ids(self) -> tuple[str, ...]:
        """The tables beside the states that say what they rest on: the ids of events, or what events looked
        up; () where neither is.
        """
        compared = (IDS,) if self.source.dedupe_within_us is not None else ()
        return (*compared, LOOKED_UP) if self.pipeline.lookups else compared

    def frames_of(self, window: str) -> FrameSet:
        return self.frames_by_window[window]

    def derivation(self, window: str) -> str:
        """A name of everything that determines a window's results apart from the states: another name, and
        all windows are derived anew.
        """
        return derivation(self.pipeline, window)

    @property
    def state(self) -> str:
        """The name of the state: its fingerprint."""
        return self.folder.name


def bind(
    pipeline: Pipeline, root: str | AnyPath, *, store: Store | None = None, claim: bool = False
) -> Bound:
    """Bind a pipeline to its state below a root.

    Args:
        pipeline: the definition.
        root: the folder above the states of all pipelines.
        store: an implementation of `Store`, with a folder of its own; None: Delta tables below the root.
        claim: whether to make the folder and mark it as the pipeline's.

    Raises:
        DefinitionError: the root is an address of something else than an object store, as `hdfs://...`.
        StateError: the folder belongs to another pipeline, its state has another format, or it cannot be
            made.
    """
    pipeline = with_tables(pipeline)
    if store is not None:
        return Bound(pipeline, store.root, store)
    place = path_of(readable(str(root), "root")).absolute()
    home = place / name_of_state(pipeline, place)
    even = keeps_even_frames(pipeline, home)
    state.check_owner(home, home.name, pipeline.renamed.pipeline)
    bound = Bound(pipeline, home / fingerprint(pipeline, even=even), even=even)
    return claimed(bound) if claim else bound


def claimed(bound: Bound) -> Bound:
    """The same pipeline; its folder is made and marked as its own, and what lay under names before has the
    names of today.

    Raises:
        StateError: the folder belongs to another pipeline, its state has another format, or it cannot be
            made.
    """
    if bound.given is not None:
        return bound
    pipeline, home = bound.pipeline, bound.root / bound.pipeline.name
    take_over(pipeline, home)
    state.check_owner(home, pipeline.name)
    folder = home / bound.state
    state.claim(pipeline.name, folder)
    definition_note.write(folder, pipeline)
    definition_note.note_facts(folder, facts_text(pipeline, even=bound.even))
    return bound if folder == bound.folder else replace(bound, folder=folder)
