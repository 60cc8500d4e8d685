"""A pipeline that a page is about: its definition with its state, and the windows and keys shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from muntin.definition.pipeline import Pipeline
from muntin.errors import StateError
from muntin.extensions.page.address import key_of, key_texts
from muntin.extensions.page.installation import Place
from muntin.jobs.inspect.selection import no_window
from muntin.jobs.inspect.some_windows import Asked, newest_states, some_windows
from muntin.jobs.published.as_defined import as_readers_know
from muntin.jobs.state.bound import Bound
from muntin.jobs.state.state_folders import bind_existing

Key = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A pipeline with a definition and a state."""

    place: Place
    pipeline: Pipeline
    bound: Bound

    @property
    def name(self) -> str:
        return self.pipeline.name

    def window(self, asked: str | None) -> str:
        """The window of this name; the first one where no name is given."""
        if asked and asked not in self.pipeline.windows:
            raise no_window(self.pipeline, asked)
        return asked or next(iter(self.pipeline.windows))

    def keys(self, asked: str | None) -> tuple[str, ...]:
        return self.pipeline.keys_of(self.window(asked))


def seen(pipeline_place: Place) -> Seen:
    """Read a pipeline's state for a page."""
    if pipeline_place.pipeline is None:
        raise StateError(
            f"{pipeline_place.name}: no definition of it can be run; muntin check FILE says what is wrong"
        )
    return Seen(
        pipeline_place,
        pipeline_place.pipeline,
        as_readers_know(bind_existing(pipeline_place.pipeline, pipeline_place.root)),
    )


def chosen_key(at: Seen, window: str, asked: Mapping[str, str]) -> Key | None:
    """The key that a query names, as texts; else that of the newest window, or of the newest state.

    None: there is no state yet.
    """
    named = key_of(asked, len(at.pipeline.keys_of(window)))
    if named is not None:
        return tuple(named)
    published = some_windows(at.bound, window, Asked(), limit=1).rows
    newest = published if len(published) else newest_states(at.bound, window, limit=1).rows
    return keys_of(at, window, newest)[0] if len(newest) else None


def keys_of(at: Seen, window: str, rows: pa.Table) -> list[Key]:
    """The key that a window has of each row, as texts."""
    columns = [key_texts(rows[name]) for name in at.pipeline.keys_of(window)]
    return [*zip(*columns, strict=True)] if columns else [()] * len(rows)
