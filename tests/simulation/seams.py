"""Where the jobs meet the disk, the clock, and what reads and computes rows: stand-ins take these places while worlds are lived.

What is not listed here is the product's own: accumulate's commits, pending, reconcile, history, ledger and its segments, shards, staged
windows, verdicts, publish, promotion, compaction, vacuum.
"""

import pkgutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
import tenacity.nap

from muntin import jobs, sources, store
from muntin.files import paths, readable
from muntin.jobs.accumulate import accumulate, joined_reading
from muntin.jobs.finalize import finalize
from muntin.jobs.housekeeping import compact
from muntin.jobs.inputs.listings import of_files
from muntin.jobs.publish import publish, validate
from muntin.jobs.published import ledger_segments, promotion, staged_windows, window_files
from muntin.jobs.quarantine import refused_rows_kept
from muntin.jobs.records import batch_reports
from muntin.jobs.state import bound, notes, state_folders
from muntin.jobs.tiles import tiers
from muntin.jobs.upkeep import vacuum
from muntin.store import batch_facts, parquet, shared_files, state
from muntin.store import contents as store_contents
from muntin.store import disk as store_disk
from muntin.store.store import Snapshot, Texts
from muntin.timeline import ledger
from tests.simulation import contents, stand_ins
from tests.simulation.actors import pause
from tests.simulation.definitions import HOME
from tests.simulation.disk import at_hand
from tests.simulation.place import Place
from tests.simulation.tables import MemoryStore

FEW = 3
"""So many files are put together, so that small worlds come to it."""
_ARROW = SimpleNamespace(read_table=contents.read_table, read_schema=contents.read_schema)
_derivations: dict[tuple[int, str], str] = {}


@store_disk.write_whole.register(Place)
def _(target: Place, content: Any) -> None:
    pause()
    at_hand.disk.write(str(target), bytes(content))


@notes.rewrite.register(Place)
def _(note: Place, changed: Any, mode: int = 0o666) -> None:
    """As under the guard: nothing happens between reading and writing."""
    pause()
    files = at_hand.disk.files
    before = bytes(files[str(note)].content) if str(note) in files else None
    if (after := changed(before)) not in (None, before):
        at_hand.disk.write(str(note), bytes(after))


@store_disk._link.register(Place)
def _(target: Place, source: Place) -> None:
    """As a hard link, which is made young."""
    at_hand.disk.files.setdefault(str(target), at_hand.disk.files[str(source)])
    at_hand.disk.touch(str(target))


@parquet._exists.register(Place)
def _(target: Place, size: int) -> bool:
    """As on a disk: a whole file is made young."""
    same = target.is_file() and target.stat().st_size == size and store_contents.problem_of(target) is None  # type: ignore[arg-type]
    if same:
        at_hand.disk.touch(str(target))
    return same


@paths.sizes_below.register(Place)
def _(path: Place) -> list[tuple[Place, int, float]]:
    files = at_hand.disk.files
    return [(Place(file), len(files[file].content), files[file].at_s) for file in at_hand.disk.below(str(path))]


@paths.folders_in.register(Place)
def _(path: Place) -> list[Place]:
    above = f"{path}/"
    rests = (file[len(above) :].partition("/") for file in at_hand.disk.files if file.startswith(above))
    return [Place(above + name) for name in sorted({name for name, slash, _ in rests if slash})]


@paths.remove_folder.register(Place)
def _(path: Place) -> None:
    for file in at_hand.disk.below(str(path)):
        at_hand.disk.remove(file)


def states_of(home: Any) -> list[Place]:
    names = sorted({path[len(f"{home}/") :].partition("/")[0] for path in at_hand.disk.below(str(home))})
    return [Place(home, name) for name in names if name not in ("windows", state.OWNER_FILE)]


class Log:
    """As much of a `DeltaTable` as vacuum uses."""

    def __init__(self, path: Place) -> None:
        self.path, self.table = path, at_hand.tables.at(str(path))

    def vacuum(self, hours: int, *, dry_run: bool, enforce_retention_duration: bool) -> list[str]:
        """The files that were taken out of the table so long ago."""
        assert dry_run
        assert not enforce_retention_duration
        oldest, files = at_hand.disk.clock.now_s - hours * 3600, at_hand.disk.files
        return [name for name, at in sorted(self.table.removed_s.items()) if at <= oldest and f"{self.path}/{name}" in files]

    def get_add_actions(self, *, flatten: bool) -> pa.Table:
        assert flatten
        return pa.table({"path": pa.array([file.path for file in self.table.versions[-1].files], pa.string())})


@lru_cache(maxsize=4096)
def table_of(text: str | bytes) -> pa.Table:
    """The product's; a text is read once."""
    return parquet.table_of(text)


def _sleep(_seconds: float) -> None:
    at_hand.disk.clock.now_s += 1
    pause()


def _derivation(pipeline: Any, window: str, real: Any = bound.derivation) -> str:
    """The product's, worked out once for each definition: definitions of worlds live as long as the process."""
    known = _derivations.get((id(pipeline), window))
    if known is None:
        known = _derivations[id(pipeline), window] = real(pipeline, window)
    return known


def _texts(_bound: Any, window: str) -> Texts:
    return Texts(window)


def _refused_rows(folder: str, snapshot: Snapshot) -> pa.Table:
    """Rows of the quarantine, which have the columns of states."""
    return contents.read_files(folder, snapshot) if snapshot.files else contents.STATES.empty_table()


def _everywhere() -> Iterator[tuple[Any, str, Any]]:
    """(module, name, stand-in) of what the jobs import to reach the disk.

    A module that is first imported while stand-ins stand would keep them.
    """
    for room in (jobs, sources, store):
        for each in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            import_module(each.name)
    stand_ins_of = {"path_of": Place, "readable": str, "readable_footer": str}
    originals = {"path_of": paths.path_of, "readable": readable.readable, "readable_footer": readable.readable_footer}
    for module in [module for name, module in sorted(sys.modules.items()) if name.startswith("muntin.")]:
        for name, stand_in in stand_ins_of.items():
            if getattr(module, name, None) is originals[name]:
                yield module, name, stand_in


def _others() -> tuple[tuple[Any, str, Any], ...]:
    """The other stand-ins."""
    return (
        (parquet, "encoded", contents.encoded),
        (accumulate, "pq", _ARROW),
        (shared_files, "read_parquet", contents.read_table),
        (window_files, "read_parquet", contents.read_table),
        (batch_facts, "footer", contents.footer),
        (ledger_segments, "footer", contents.footer),
        (ledger_segments, "problem_once", lambda place: None if place in at_hand.disk.files else "is gone"),
        (compact, "read_files", contents.read_files),
        (compact, "read_states", contents.read_files),
        (refused_rows_kept, "read_files", _refused_rows),
        (batch_reports, "refusals", lambda *_: {}),  # rows have no reasons
        (state_folders, "states_of", states_of),
        (vacuum, "bind_existing", lambda _pipeline, _root: SimpleNamespace(home=Place(HOME))),
        (vacuum, "open_table", Log),
        (vacuum, "DeltaStore", lambda folder: MemoryStore(folder, at_hand.tables)),
        (finalize, "uuid4", lambda: SimpleNamespace(hex=f"{next(at_hand.numbers):032x}")),
        (finalize, "_results", stand_ins.results),
        (accumulate, "read_batches", stand_ins.read_batches),
        (joined_reading, "read_batches", stand_ins.read_batches),
        (of_files, "source_files", stand_ins.source_files),
        (validate, "validate_staged", stand_ins.validate_staged),
        (publish, "changed_windows", lambda *_: None),
        (tiers, "make_tiers", lambda _bound: False),
        (publish, "texts", _texts),
        (promotion, "texts", _texts),
        (bound, "derivation", _derivation),
        (tenacity.nap, "time", SimpleNamespace(sleep=_sleep)),
        (parquet, "_WRITTEN", pa.ipc.IpcWriteOptions(use_threads=False)),
        (ledger_segments, "table_of", table_of),
        (staged_windows, "table_of", table_of),
    )


@contextmanager
def simulated() -> Iterator[pytest.MonkeyPatch]:
    """The jobs act on the disk that is at hand."""
    with pytest.MonkeyPatch.context() as patch:
        for module, name, stand_in in (*_everywhere(), *_others()):
            patch.setattr(module, name, stand_in)
        for module in (compact, ledger_segments):
            patch.setattr(module, "MANY", FEW)
        patch.setattr(ledger, "RECENT", FEW)
        yield patch


def put_together(few: int) -> None:
    """So many files become one from now on."""
    compact.MANY = ledger_segments.MANY = ledger.RECENT = few


def forget() -> None:
    """Empty what a process keeps of immutable files: worlds use the same paths."""
    for kept in (batch_facts.shared_batches, batch_facts._joined, ledger_segments._LEDGERS, ledger_segments.read_segment):
        kept.cache_clear()
