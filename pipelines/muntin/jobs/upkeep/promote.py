"""Promote and roll back: which definition's windows the live tables hold, when a person decides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from muntin.definition.spelling import many
from muntin.errors import DefinitionError, StateError
from muntin.jobs.accumulate.earlier_state import adopt, adoptable
from muntin.jobs.publish.finish import finish
from muntin.jobs.publish.spark_needed import spark_needed
from muntin.jobs.published.as_defined import other_windows
from muntin.jobs.published.ledger_segments import write_segment
from muntin.jobs.published.pending import pending_windows
from muntin.jobs.published.promotion import describe, lacking, promote_complete, replacing, superseded
from muntin.jobs.published.window_tables import as_of, current
from muntin.jobs.state.bound import bind
from muntin.jobs.state.state_folders import bind_existing
from muntin.tasks import runner_for

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound
    from muntin.tasks import Runner


def promote(
    pipeline: Pipeline,
    *,
    root: str | AnyPath,
    spark: SparkSession | str | Runner | None = None,
    incomplete: bool = False,
    validate: bool = True,
    progress: Callable[[str], None] | None = None,
) -> list[str]:
    """Make a definition the current one: the live tables hold its windows. The names of the windows that
    changed hands.

    Windows that are not derived yet, or not any more, are derived from states; no source is read. `spark`:
    who derives windows, as `run` takes it. `incomplete`: promote also windows that lack batches which the
    current definition has; their windows are gone then. `validate`: expectations guard what is derived; if a
    critical expectation fails, nothing is promoted. `progress`: called with the name of each step.
    """
    if not adoptable(bind(pipeline, root)):
        bind_existing(pipeline, root)
    bound, tell = bind(pipeline, root, claim=True), progress or (lambda _: None)
    adopt(bound)
    before = {*superseded(bound), *lacking(bound), *other_windows(bound)}
    if any(pending.work for pending in pending_windows(bound, [])):
        with runner_for(spark, needed=spark_needed(pipeline, validate=validate)) as runner:
            finish(bound, runner, [], validate=validate, tell=tell, promoting=False, again=True)
    if (lacks := max(lacking(bound).values(), default=0)) and not incomplete:
        raise StateError(
            f"{pipeline.name}: the windows of this definition lack {many(lacks, 'batch')} of those that"
            f" readers know; muntin run --rebuild FILE --root {root} reads them, --incomplete promotes"
            " without them"
        )
    tell("promote")
    promoted = promote_complete(bound, incomplete=incomplete)
    describe(bound)
    return sorted({*promoted, *before})


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A window whose table holds again what it held at a version, and the number of its files."""

    window: str
    version: int
    files: int


def rollback(
    pipeline: Pipeline, *, root: str | AnyPath, window: str | None = None, version: int | None = None
) -> list[RolledBack]:
    """Give live tables the windows that they held before a definition was promoted. The definition that was
    current is superseded then.

    `pipeline`: the current or an earlier definition. `window`: None: each window that has an earlier
    definition. `version`: of the window's table; None: the last version under the definition before.
    """
    if version is not None and window is None:
        raise DefinitionError(
            "version: each window has versions of its own; say which window, as muntin promote --back FILE"
            " day --version 12"
        )
    bound = bind(pipeline, root)
    names = [window] if window else [name for name in bound.windows if _before(bound, name) is not None]
    if not names:
        raise StateError(
            f"{pipeline.name}: no window had an earlier definition; there is nothing to go back to"
        )
    return [
        _roll_back(bound, name, version if version is not None else _before(bound, name)) for name in names
    ]


def _before(bound: Bound, window: str) -> int | None:
    ledger = current(bound.store, window).ledger
    return ledger.superseded[-1].version if ledger and ledger.superseded else None


def _roll_back(bound: Bound, window: str, version: int | None) -> RolledBack:
    now = current(bound.store, window)
    if version is None or not now.ledger:
        raise StateError(
            f"{window}: no earlier definition of {bound.table(now.table)} is known; give a version of the"
            " table"
        )
    then = as_of(bound.store, now.table, version)
    if not then.ledger or then.snapshot.schema is None:
        raise StateError(f"{bound.table(now.table)} has no windows at version {version}")
    state, table = then.ledger.state, bound.table(now.table)
    if not (bound.home / state).is_dir():
        raise StateError(
            f"the states that version {version} of {table} was derived from, {state}, are removed: its"
            " windows could not go on"
        )
    ledger = replace(
        then.ledger, superseded=now.ledger.superseded_by(then.ledger.derivation, now.snapshot.version)
    )
    files = [file for file in then.snapshot.files if file not in {segment.file for segment in then.segments}]
    folder, schema = bound.table(now.table), then.snapshot.schema
    segment = write_segment(folder, schema, max(now.number, then.number) + 1, ledger)
    bound.store.commit(
        now.table,
        now.snapshot,
        replacing(now.snapshot, schema, [*files, segment], f"{bound.pipeline.name}/{window}"),
    )
    return RolledBack(window, version, len(files))
