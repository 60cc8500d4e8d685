"""Forget: what a pipeline keeps of some keys goes, and rows of these keys that come again are left out.

    remembered     hashes of the keys: from here on each reading leaves their rows out
    states         files without their rows; batches keep their versions
    ledgers        notes without them, and a segment: what runs have staged meanwhile is stale
    windows        files without their windows
    texts          their values are overwritten in verdicts and messages
    sinks          get that these windows are gone
    old versions   of all tables that held them: commits and files
    looked through once more: if nothing is left, that is noted with a report

Each step does nothing where it was done: a command that was killed is run again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from muntin.errors import StateError
from muntin.extensions.forgetting.loose import words_of
from muntin.extensions.forgetting.notes_and_ledgers import notes_without
from muntin.extensions.forgetting.remembered import bound_home, plain_keys
from muntin.extensions.forgetting.said import unsaid
from muntin.extensions.forgetting.table_files import log_says, of_rows, old_file_says
from muntin.extensions.forgetting.texts import overwrite, texts_of, verdicts_without
from muntin.extensions.forgetting.traces import (
    MENDS,
    Trace,
    all_traces,
    states_below,
    tables_below,
    undecided,
)
from muntin.extensions.forgetting.without_keys import batches_holding, without_keys
from muntin.files.paths import relative, remove_folder, sizes_below
from muntin.jobs.publish.finish import finish
from muntin.jobs.publish.spark_needed import spark_needed
from muntin.jobs.published.mirrors import METADATA, without_history
from muntin.jobs.published.window_tables import is_of_windows
from muntin.jobs.records.reports_table import utc_now
from muntin.jobs.sending.send import send
from muntin.jobs.state import definition_note
from muntin.jobs.state.beside_forgetting import beside_forgetting
from muntin.jobs.state.forgotten import note
from muntin.jobs.state.state_folders import stagings
from muntin.states.frames import NO_INTS
from muntin.store.log_checkpoint import end_old_versions, old_commits, old_files
from muntin.store.paths import QUARANTINE, TIERS
from muntin.store.state import ROWS, states_of
from muntin.tasks import runner_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from pyspark.sql import SparkSession

    from muntin.definition.pipeline import Pipeline
    from muntin.files.paths import AnyPath
    from muntin.jobs.state.bound import Bound
    from muntin.sinks.delivery import Reach
    from muntin.states.forgotten_keys import Plain
    from muntin.tasks import Runner

Totals = Literal["keep", "redo"]


@dataclass(frozen=True, slots=True)
class Forgetting:
    """Traces of some keys, and what became of them.

    Attributes:
        found: what lay there.
        left: what lies there still; of a plan, the same.
        undecided: columns in which a key cannot be told from what is stored.
        sinks: a line for each sink that does not have what is published.
        keys: how many keys.
        done: whether the deed was done and nothing is left.
    """

    found: tuple[Trace, ...]
    left: tuple[Trace, ...]
    undecided: tuple[str, ...] = ()
    sinks: tuple[str, ...] = ()
    keys: int = 0
    done: bool = field(default=False)

    @property
    def mend(self) -> str:
        """The sentences on what somebody has to do about what this command leaves alone, a line each; ""
        where there is nothing.
        """
        left = {each.what for each in self.left}
        return "\n".join(mend for what, mend in MENDS.items() if what in left)

    def register(self) -> dict[str, Any]:
        """The report for a register of such requests: what, where and how much, without the keys."""
        places = [
            {"what": each.what, "place": each.place, "rows": each.rows, "files": each.files}
            for each in self.found
        ]
        return {"keys": self.keys, "found": places, "undecided": list(self.undecided)}


def plan_forget(pipeline: Pipeline, keys: Sequence[Mapping[str, Any]], *, root: str | AnyPath) -> Forgetting:
    """Find what lies where of some keys, and change nothing; of a key that is forgotten, this proves it.

    Args:
        pipeline: the definition.
        keys: of each key some columns of the pipeline's keys with their values; all keys that have them are
            meant.
        root: the folder above the states.

    Raises:
        DefinitionError: a column is no key of the pipeline, or a value is null.
        StateError: there is no state, or a file of it cannot be read.
    """
    bound, plain = bound_home(pipeline, root), plain_keys(pipeline, keys)
    traces = tuple(all_traces(bound, plain))
    named = dict.fromkeys(line for state in states_below(bound) for line in undecided(state))
    return Forgetting(traces, traces, tuple(named), keys=len(plain.keys))


def forget(
    pipeline: Pipeline,
    keys: Sequence[Mapping[str, Any]],
    *,
    root: str | AnyPath,
    totals: Totals = "keep",
    spark: SparkSession | str | Runner | None = None,
    reach: Reach | None = None,
    progress: Callable[[str], None] = lambda _: None,
    now: datetime | None = None,
) -> Forgetting:
    """Remove everything that is kept of some keys, and leave their rows out from now on.

    Windows of all other keys stay as they are, to the bit. Totals, as windows of a rollup without a column of
    the keys, stay as they were published with `totals="keep"`; with "redo" they are derived again from the
    rows that are left.

    Args:
        pipeline, keys, root: as for `plan_forget`.
        totals: what becomes of totals.
        spark: who derives totals again; see `muntin.run`.
        reach: how sinks are reached; None: by addresses of the environment.
        progress: called with the name of each step as it begins.
        now: the present; None: the clock tells.

    Raises:
        DefinitionError: a column is no key of the pipeline, or a value is null.
        StateError: there is no state, a file of it cannot be read, or the disk refuses.
        ConflictError: other runs commit all the time.
        ExpectationsError: totals that were derived again fail their suite.
    """
    bound, plain = bound_home(pipeline, root), plain_keys(pipeline, keys)
    _check_schedules(bound)
    before = beside_forgetting(bound, lambda: plan_forget(pipeline, keys, root=root))
    progress("remember")
    note(bound, "forget", plain.keys, now or utc_now())
    for path, *_ in sizes_below(bound.home / ROWS):  # a function can be asked again
        if path.suffix == ".parquet":
            path.unlink(missing_ok=True)
    for state in states_below(bound):
        # noted while states tell which batches; a run would derive them, too
        if totals == "redo" and state.folder == bound.folder:
            notes_without(state, plain, _doubted(state, plain))
        beside_forgetting(state, partial(_take_out, state, plain, progress))
    if totals == "redo":
        progress("totals")
        with runner_for(spark, needed=spark_needed(pipeline)) as runner:
            finish(bound, runner, [], validate=True, tell=progress)
    progress("sinks")
    held = {trace.place.removesuffix("/_delta_log").partition(f"/{METADATA}/")[0] for trace in before.found}
    for folder in map(bound.table, filter(is_of_windows, tables_below(bound))):
        if relative(folder, bound.root) in held:
            without_history(folder)
    sent = tuple(each.line for each in send(bound, reach) if each.failed)
    progress("old versions")
    for state in states_below(bound):
        beside_forgetting(state, partial(_end_old_versions, state, plain))
    progress("look through")
    left = tuple(beside_forgetting(bound, lambda: all_traces(bound, plain)))
    forgetting = Forgetting(
        before.found, left, before.undecided, sent, len(plain.keys), done=not left and not sent
    )
    if forgetting.done:
        note(bound, "done", plain.keys, now or utc_now(), report=forgetting.register())
    return forgetting


def _take_out(state: Bound, keys: Plain, progress: Callable[[str], None]) -> None:
    """Take some keys out of everything that a state holds now.

    Windows come last: what a run has staged is stale before.
    """
    for table in tables_below(state):
        if table.startswith(("frames/", TIERS)) or table == QUARANTINE:
            progress(table)
            without_keys(state, table, keys)
    progress("notes")
    notes_without(state, keys)
    for table in filter(is_of_windows, tables_below(state)):
        progress(table.removeprefix("../"))
        without_keys(state, table, keys)
    progress("texts")
    verdicts_without(state, keys)
    for staged in stagings(state.folder):
        files = (path for path, *_ in sizes_below(state.folder / staged.folder) if path.suffix == ".parquet")
        if any(_says(partial(of_rows, ""), path, keys) for path in files):
            remove_folder(state.folder / staged.folder)
    for path in texts_of(state):
        overwrite(path, keys)


def _check_schedules(bound: Bound) -> None:
    """Check that batches of all states end as the definition says: files that are written anew say when.

    Raises:
        StateError: a state is of a definition with another schedule.
    """
    for state in states_below(bound):
        before = (definition_note.read(state.folder) or {}).get("schedule")
        if before not in (None, definition_note.described(bound.pipeline)["schedule"]):
            raise StateError(
                f"{state.folder} is the state of a definition with another schedule ({before}); nothing was"
                " changed. Remove that state: muntin maintain FILE --superseded"
            )


def _doubted(bound: Bound, keys: Plain) -> Sequence[int]:
    """Starts of the batches whose states hold some keys, ascending."""
    starts = [batches_holding(bound, frames.table, keys) for frames in bound.frame_sets]
    return np.unique(np.concatenate([*starts, NO_INTS])).astype(np.int64).tolist()


def _says(look: Callable[[AnyPath, Plain], int], path: AnyPath, keys: Plain) -> bool:
    """Whether a file that is not needed any more says some keys, or cannot be read."""
    try:
        return bool(look(path, keys))
    except Exception:  # noqa: BLE001 - whatever the readers of formats raise of damaged files
        return path.is_file()


def _end_old_versions(bound: Bound, keys: Plain) -> None:
    """End the old versions of tables that held some keys: their old files or the ranges
    in their logs tell.
    """
    meant = unsaid(keys, words_of(bound.pipeline, states_of(bound.home)))
    for table in tables_below(bound):
        folder, snapshot = bound.table(table), bound.store.snapshot(table)
        columns = frozenset(snapshot.schema.names if snapshot.schema else ())
        held = partial(_says, partial(old_file_says, table, columns, meant), keys=keys)
        answers = (
            _says(lambda path, keys: log_says(path, keys, meant), path, keys)
            for path in old_commits(folder, snapshot.version)
        )
        if any(held(path) for path, *_ in old_files(folder)) or any(answers):
            end_old_versions(folder, held)
