"""What holds in every world: at any moment, and in the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.jobs.published.staged_windows import staged_entries
from muntin.jobs.published.window_tables import Published, current
from muntin.store.paths import NOTES, QUARANTINE
from muntin.timeline.ledger import Entries
from tests.simulation import contents, source
from tests.simulation.actors import pause
from tests.simulation.definitions import HOME, KINDS, MINUTE_US, START_US, VARIANTS, bound_before, rule, state_of
from tests.simulation.place import Place
from tests.simulation.rows import BAD, Row, Window, expected, good, is_poisoned

if TYPE_CHECKING:
    from tests.simulation.world import World


def check_use(world: World) -> None:
    """No file in use was deleted: of tables, of notes that a ledger or something staged names."""
    for path, table in world.tables.tables.items():
        if table.versions:
            lost = [file.path for file in table.versions[-1].files if f"{path}/{file.path}" not in world.disk.files]
            world.wrong += [f"{path}/{name} is in use and gone" for name in lost]
    for variant in VARIANTS if "carried" in KINDS[world.kind] else ():
        folder = state_of(world.kind, variant)
        for name in _named_notes(world, folder):
            if f"{folder}/{NOTES}/{name}" not in world.disk.files:
                world.wrong.append(f"note {name} is in use and gone")


def _named_notes(world: World, folder: Place) -> set[str]:
    bound = world.bound()
    found = [now.ledger.entries for window in KINDS[world.kind] if (now := current(bound.store, window)).ledger and _is_of(now, folder)]
    entries: list[Entries] = [*found, *staged_entries(folder)]  # type: ignore[arg-type]
    return {path for each in entries for at in each.noted().tolist() for path in each.note_of(at) or ()}


def _is_of(now: Published, folder: Place) -> bool:
    return now.ledger is not None and now.ledger.state == folder.name


def read_slowly(world: World, window: str) -> None:
    """A reader has a version, and reads its files while others act: the version is whole, and none of it is gone."""
    now = current(world.bound().store, window)
    found = list[Window]()
    for file in now.snapshot.files:
        pause()
        try:
            found += contents.rows_of_windows(contents.content_of(f"{HOME}/windows/{window}", file))
        except FileNotFoundError as wrong:
            world.wrong.append(f"a reader of {window} lost {wrong.filename}")
            return
    if window != "carried" and any(map(is_poisoned, found)):
        world.wrong.append(f"a reader saw poison in {window}")
    check_whole(world, window, now, found)


def check_published(world: World) -> None:
    """What readers see now is whole."""
    for window in KINDS[world.kind]:
        read_slowly(world, window)


def check_whole(world: World, window: str, now: Published, found: list[Window]) -> None:
    """A version holds exactly the windows of the batches that its ledger names."""
    if now.ledger is None:
        if found:
            world.wrong.append(f"{window}: windows without a ledger")
        return
    batches = [
        ((start - START_US) // MINUTE_US, world.contents.get((start, version)))
        for start, version in zip(now.ledger.entries.start_us.tolist(), now.ledger.entries.version.tolist(), strict=True)
    ]
    if any(rows is None for _, rows in batches):
        world.wrong.append(f"{window}: the ledger names a version that nobody wrote")
        return
    wanted = expected(rule(window, variant_of(world, window, now)), batches)  # type: ignore[arg-type]
    if sorted(found) != sorted(wanted):
        world.wrong.append(f"{window}: version {now.snapshot.version} is {sorted(found)} not {sorted(wanted)}")


def variant_of(world: World, window: str, now: Published) -> str:
    """The definition that a table's windows are derived under."""
    assert now.ledger is not None
    for variant in VARIANTS:
        bound = bound_before(world.kind, variant)
        if now.ledger.definition == bound.derivation(window) and now.ledger.state == bound.state:
            return variant
    raise AssertionError(f"{window}: windows of no definition")


def check_end(world: World) -> None:
    """After a last run: windows are what the source says, and each row of the source is in a state or in the quarantine."""
    rows = source.delivered(world.disk)
    batches = [(minute, good(found)) for minute, found in rows.items()]
    for window in KINDS[world.kind]:
        now = current(world.bound().store, window)
        folder = f"{HOME}/windows/{window}"
        found = [row for file in now.snapshot.files for row in contents.rows_of_windows(contents.content_of(folder, file))]
        if sorted(found) != sorted(wanted := expected(rule(window, world.variant), batches)):
            world.wrong.append(f"{window} is {sorted(found)} in the end, not {sorted(wanted)}")
    for frames in world.bound().frame_sets:
        _check_rows(world, frames.table, dict(batches))
    _check_rows(world, QUARANTINE, {minute: [row for row in found if row[1] == BAD] for minute, found in rows.items()})


def _check_rows(world: World, table: str, wanted: dict[int, list[Row]]) -> None:
    bound = world.bound()
    found: dict[int, list[Row]] = {minute: [] for minute in wanted}
    for file in bound.store.snapshot(table).files:
        for batch, frame, amount in contents.rows_of_states(contents.content_of(bound.table(table), file)):
            found.setdefault((batch - START_US) // MINUTE_US, []).append(((frame - START_US) // MINUTE_US, amount))
    if found != wanted:
        world.wrong.append(f"{table} holds {found} not {wanted}")
