"""A definition changes: readers keep their address, and see whole versions of one definition or of the other."""

import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from muntin import Pipeline, Renamed, plan, read, run, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, StateError
from muntin.jobs.accumulate.earlier_state import adopt
from muntin.jobs.inspect.diff import diff
from muntin.jobs.inspect.status import states_below
from muntin.jobs.state.bound import Bound, bind
from muntin.jobs.upkeep.outdated import versions
from muntin.jobs.upkeep.promote import promote, rollback
from muntin.store.delta import DeltaStore
from tests.case_counts import some
from tests.made_once import made_once
from tests.storage.crashing import Crash, Crashing
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small, at_once


@pytest.fixture
def small(tmp_path: Path) -> Small:
    made_once(tmp_path, at_once)
    return Small(tmp_path)


def more(small: Small) -> Pipeline:
    """Another field: states hold something else."""
    return replace(small.pipeline, aggregates={**small.pipeline.aggregates, "most": agg.max("x")})


def graced(small: Small) -> Pipeline:
    """Another grace: the same states, other windows."""
    return replace(small.pipeline, windows={**small.pipeline.windows, "hours": windows.sliding("2h", step="1h", grace="1h")})


def ran(pipeline: Pipeline, small: Small, first: int = 0, last: int = 2, root: str = "state", **options: object) -> None:
    run(pipeline, root=small.folder / root, start=START + first * HOUR, end=START + (last + 1) * HOUR, spark=HERE, **options)


def rows(table: pa.Table) -> list[Mapping[str, object]]:
    return sorted(table.to_pylist(), key=repr)


def known(small: Small, window: str, version: int | None = None) -> list[Mapping[str, object]]:
    """What any Delta reader sees at the address that stays."""
    return rows(DeltaTable(str(small.folder / "state/small/windows" / window), version=version).to_pyarrow_table())


def clean(pipeline: Pipeline, small: Small, window: str, last: int = 2) -> list[Mapping[str, object]]:
    root = f"clean_{len([*small.folder.iterdir()])}"
    ran(pipeline, small, 0, last, root)
    return rows(read(pipeline, window, root=small.folder / root))


@pytest.mark.parametrize("window", ["hours", "visits"])
def test_readers_see_the_windows_before_until_the_new_ones_are_complete(small: Small, window: str) -> None:
    before, table = known(small, window), DeltaTable(str(small.folder / "state/small/windows" / window))
    for at in range(3):
        assert known(small, window) == before
        ran(more(small), small, at, at)
    assert known(small, window) == clean(more(small), small, window)
    versions = range(table.version(), DeltaTable(table.table_uri).version() + 1)
    assert all(known(small, window, version) in (before, known(small, window)) for version in versions)
    assert not [*small.folder.glob("state/small/*/windows/*")]  # nothing is left beside


def test_the_definition_before_is_refused_until_it_is_promoted(small: Small) -> None:
    ran(more(small), small)
    for refused in (lambda: small.run("state", 2, 2), lambda: read(small.pipeline, "hours", root=small.folder / "state")):
        with pytest.raises(StateError, match=r"superseded.*muntin promote"):
            refused()
    now = known(small, "hours")
    assert promote(small.pipeline, root=small.folder / "state", spark=HERE) == ["hours", "visits"]
    assert (
        rows(read(small.pipeline, "hours", root=small.folder / "state")) == known(small, "hours") == clean(small.pipeline, small, "hours")
    )
    with pytest.raises(StateError, match="superseded"):
        ran(more(small), small)
    promote(more(small), root=small.folder / "state", spark=HERE)
    assert known(small, "hours") == now


def test_a_rule_over_the_same_states_reads_nothing_and_is_never_taken_in_turns(small: Small) -> None:
    shutil.move(small.folder / "data", small.folder / "gone")
    promote(graced(small), root=small.folder / "state", spark=HERE)
    shutil.move(small.folder / "gone", small.folder / "data")
    assert known(small, "hours") == clean(graced(small), small, "hours")
    with pytest.raises(StateError, match="definition of hours is superseded"):
        small.run("state", 2, 2)
    assert known(small, "hours") == clean(graced(small), small, "hours")


def test_a_rollback_gives_what_was_there(small: Small) -> None:
    before = {window: known(small, window) for window in small.pipeline.windows}
    ran(more(small), small)
    assert known(small, "hours") != before["hours"]
    assert {done.window for done in rollback(more(small), root=small.folder / "state")} == {*before}
    assert {window: known(small, window) for window in before} == before
    with pytest.raises(StateError, match="superseded"):
        ran(more(small), small, 2, 2)
    small.write(1, OTHER)
    small.run("state", 1, 1)
    assert known(small, "hours") == clean(small.pipeline, small, "hours")


def test_a_column_takes_its_new_type(small: Small) -> None:
    fields = {"n": agg.count(), "mean": agg.mean("x"), "total": agg.sum("x"), "what": agg.count()}
    ran(replace(small.pipeline, aggregates=fields), small)
    ran(changed := replace(small.pipeline, aggregates={"what": agg.mean("x"), "n": agg.count(), "total": agg.sum("x")}), small)
    assert DeltaTable(str(small.folder / "state/small/windows/hours")).schema().to_arrow().names[-4:] == ["what", "n", "total", "batch"]
    assert known(small, "hours") == clean(changed, small, "hours")


@pytest.mark.parametrize("after", [False, True])
def test_a_crash_at_any_verb_of_the_promoting_run(small: Small, *, after: bool) -> None:
    ran(more(small), small, 0, 1)
    shutil.copytree(small.folder / "state", small.folder / "kept")
    before, wanted = known(small, "hours"), clean(more(small), small, "hours")
    store = Crashing(DeltaStore(bind(more(small), small.folder / "state").folder))
    ran(more(small), small, 2, 2, store=store)
    verbs = [at for at, verb in enumerate(store.said) if not verb.startswith("snapshot")]
    assert len(verbs) > 8
    for at in some(verbs):
        shutil.rmtree(small.folder / "state")
        shutil.copytree(small.folder / "kept", small.folder / "state")
        with pytest.raises(Crash):
            ran(more(small), small, 2, 2, store=Crashing(DeltaStore(store.root), at, after=after))
        assert known(small, "hours") in (before, wanted)
        ran(more(small), small, 2, 2)
        assert known(small, "hours") == wanted


def test_a_diff_tells_what_changes_before_it_does(small: Small) -> None:
    before = known(small, "hours")
    ran(more(small), small, 0, 1, promoting=False)
    [told] = diff(more(small), root=small.folder / "state", window="hours")
    assert (told.unread_batches, told.new_columns, told.gone_columns) == (1, ("most",), ())
    [told] = diff(graced(small), root=small.folder / "state", window="hours")
    wanted = clean(graced(small), small, "hours")
    keys = ("k", "window_start", "window_end")
    old, new = ({tuple(row[key] for key in keys): row for row in table} for table in (before, wanted))
    assert told.counted() == {
        "new": len(new.keys() - old.keys()),
        "gone": len(old.keys() - new.keys()),
        "changed": sum(any(old[each][name] != new[each][name] for name in ("n", "total", "spread")) for each in old.keys() & new.keys()),
    }
    largest = max((abs(new[each]["n"] - old[each]["n"]) for each in old.keys() & new.keys()), default=0)
    assert told.largest.get("n", (0,))[0] == largest
    assert known(small, "hours") == before


def test_status_says_which_state_is_current(small: Small) -> None:
    ran(more(small), small, 0, 1)
    said = {one.fingerprint: one.standing for one in states_below(small.folder / "state")}
    old, new = (Path(bind(each, small.folder / "state").folder).name for each in (small.pipeline, more(small)))
    assert said == {old: "current", new: "candidate"}
    ran(more(small), small)
    assert {one.fingerprint: one.standing for one in states_below(small.folder / "state")} == {old: "superseded", new: "current"}


def test_windows_do_not_go_because_their_states_did(small: Small) -> None:
    before = known(small, "hours")
    shutil.rmtree(bind(small.pipeline, small.folder / "state").folder)
    with pytest.raises(StateError, match=r"2 batches whose states are gone .* --start 2024-01-01 --end 2024-01-01T02:00"):
        small.run("state", 2, 2)
    assert known(small, "hours") == before
    small.run("state")
    assert known(small, "hours") == before


def test_names_change_and_nothing_is_read_again(small: Small) -> None:
    before = {window: known(small, window) for window in small.pipeline.windows}
    kinds = {"two_hours" if name == "hours" else name: kind for name, kind in small.pipeline.windows.items()}
    renamed = replace(small.pipeline, name="tiny", windows=kinds, renamed=Renamed(pipeline="small", windows={"two_hours": "hours"}))
    not_yet = replace(renamed, windows=small.pipeline.windows, renamed=Renamed(pipeline="small"))
    assert rows(read(not_yet, "hours", root=small.folder / "state")) == before["hours"]
    shutil.move(small.folder / "data", small.folder / "gone")
    promote(renamed, root=small.folder / "state", spark=HERE)
    for window, old in {"two_hours": "hours", "visits": "visits"}.items():
        assert rows(DeltaTable(str(small.folder / "state/tiny/windows" / window)).to_pyarrow_table()) == before[old]
        assert rows(read(renamed, window, root=small.folder / "state")) == before[old]
    shutil.move(small.folder / "gone", small.folder / "data")
    small.write(1, OTHER)
    ran(renamed, small, 1, 1)
    assert rows(read(renamed, "two_hours", root=small.folder / "state")) == clean(small.pipeline, small, "hours")


def test_a_renaming_that_was_cut_off_is_finished_by_the_next_run(small: Small) -> None:
    root, before = small.folder / "state", known(small, "hours")
    renamed = replace(small.pipeline, name="tiny", renamed=Renamed(pipeline="small"))
    (root / "small").rename(root / "tiny")
    assert rows(read(renamed, "hours", root=root)) == before
    small.write(1, OTHER)
    ran(renamed, small, 1, 1)
    assert rows(read(replace(renamed, renamed=Renamed()), "hours", root=root)) == clean(small.pipeline, small, "hours")
    (root / "tiny").rename(root / "other")
    with pytest.raises(StateError, match="is the state of pipeline 'tiny', not of 'other'"):
        bind(replace(renamed, name="other"), root)
    assert not (small.folder / "state/small").exists()


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"renamed": Renamed(pipeline="small")}, "is the name itself"),
        ({"renamed": Renamed(windows={"hour": "x"})}, "choose from 'hours', 'visits'"),
        ({"renamed": Renamed(windows={"hours": "visits"})}, "is a window of this definition"),
    ],
)
def test_what_cannot_be_is_refused(small: Small, wrong: dict[str, object], text: str) -> None:
    with pytest.raises(DefinitionError, match=text):
        replace(small.pipeline, **wrong)


@pytest.mark.parametrize(
    "fewer",
    some(
        [
            {"aggregates": {"n": agg.count(), "spread": agg.stddev("x")}},
            {"aggregates": {"total": agg.mean("x"), "n": agg.count()}},
            {"windows": {"visits": windows.session("20m")}},
            {"windows": {"hours": windows.tumbling("20m"), "visits": windows.session("20m", grace="1h")}},
        ],
        one_in=2,
    ),
)
def test_what_an_earlier_state_has_is_not_read_again(small: Small, fewer: dict[str, object]) -> None:
    changed = replace(small.pipeline, **fewer)
    promote_without_source(changed, small)
    for window in changed.windows:
        assert known(small, window) == clean(changed, small, window)
    small.write(1, OTHER)
    ran(changed, small, 1, 1)
    small.write(3, (181, 200, 150))
    ran(changed, small, 3, 3)
    for window in changed.windows:
        assert known(small, window) == clean(changed, small, window, 3)


def promote_without_source(changed: Pipeline, small: Small) -> None:
    shutil.move(small.folder / "data", small.folder / "gone")
    promote(changed, root=small.folder / "state", spark=HERE)
    shutil.move(small.folder / "gone", small.folder / "data")


def test_a_plan_tells_that_nothing_is_read(small: Small) -> None:
    fewer = replace(small.pipeline, aggregates={"n": agg.count(), "total": agg.sum("x")})
    for changed, batches in ((fewer, 0), (more(small), 3)):
        told = plan(changed, root=small.folder / "state", start=START, end=START + HOUR).redefined
        assert told is not None
        assert (told.batches, {*told.windows}) == (batches, set() if batches else {"hours", "visits"})
        assert told.changes


def test_tables_say_what_they_are(small: Small) -> None:
    told = replace(
        small.pipeline,
        description="Departures.",
        aggregates={
            "n": agg.count(comment="rows"),
            "total": agg.sum("x", unit="min", where="x > 0"),
            "spread": agg.stddev("x"),
            "per": "total / n",
        },
    )
    for description in ("Departures.", "Departures of trains."):  # the second time nothing else changes
        ran(replace(told, description=description), small)
        table = DeltaTable(str(small.folder / "state/small/windows/hours"))
        assert (table.metadata().name, table.metadata().description.partition(" Windows")[0]) == ("small.hours", description)
        assert "size=2h" in table.metadata().description
        assert {field.name: field.metadata["comment"] for field in table.schema().fields} == {
            "k": "key: windows are kept apart by it",
            "window_start": "start of the window, inclusive, UTC",
            "window_end": "end of the window, exclusive, UTC",
            "n": "count(): rows",
            "total": "sum(x) where x > 0 [min]",
            "spread": "stddev(x)",
            "per": "derived: total / n",
            "batch": "start of the interval of the batch that closed the window, UTC",
        }
    version = table.version()
    ran(replace(told, description=description), small)
    assert DeltaTable(table.table_uri).version() == version


@pytest.mark.parametrize(("wrong", "text"), [({"unit": 3}, 'as unit="min"'), ({"units": "min"}, "no argument 'units'")])
def test_a_unit_that_is_none(wrong: dict[str, object], text: str) -> None:
    with pytest.raises(DefinitionError, match=text):
        agg.sum("x", **wrong)


def test_a_damaged_earlier_state_is_not_taken_over(small: Small) -> None:
    next(Path(bind(small.pipeline, small.folder / "state").folder).glob("frames/*/*/*.parquet")).unlink()
    fewer = replace(small.pipeline, aggregates={"n": agg.count(), "total": agg.sum("x")})
    ran(fewer, small)
    assert known(small, "hours") == clean(fewer, small, "hours")


def test_two_runs_that_take_over_an_earlier_state_at_once(small: Small) -> None:
    fewer = bind(replace(small.pipeline, aggregates={"n": agg.count()}), small.folder / "state", claim=True)
    barrier = Barrier(2)

    def take(bound: Bound) -> str | None:
        barrier.wait()
        return adopt(bound)

    with ThreadPoolExecutor(2) as both:
        assert {*both.map(take, (fewer, replace(fewer)))} <= {Path(bind(small.pipeline, small.folder / "state").folder).name, None}
    assert len(versions(fewer)) == 3


def test_a_diff_says_what_it_cannot_compare(small: Small) -> None:
    retyped = replace(small.pipeline, aggregates={"n": agg.mean("x"), "total": agg.sum("x"), "spread": agg.stddev("x")})
    [told] = diff(retyped, root=small.folder / "state", window="hours")
    assert told.retyped_columns == ("n",)
    keyless = replace(small.pipeline, keys=[])
    ran(keyless, small, promoting=False)
    with pytest.raises(DefinitionError, match="keys were k, and are none"):
        diff(keyless, root=small.folder / "state")


def test_a_diff_against_another_state(small: Small) -> None:
    """A root, the pipeline's folder in it, or a state: all say what was published there."""
    ran(graced(small), small, root="other")
    other, state = small.folder / "other", Path(bind(graced(small), small.folder / "other").folder)
    told = [diff(small.pipeline, root=small.folder / "state", window="hours", against=place) for place in (other, other / "small", state)]
    mirror = diff(graced(small), root=small.folder / "other", window="hours", against=small.folder / "state")
    assert [one.to_dict() for [one] in told] == [told[0][0].to_dict()] * 3
    there, back = told[0][0].counted(), mirror[0].counted()
    assert (there["new"], there["gone"], there["changed"]) == (back["gone"], back["new"], back["changed"])
    assert sum(there.values())
    with pytest.raises(StateError, match="neither a definition's file nor a state's folder"):
        diff(small.pipeline, root=small.folder / "state", against=small.folder / "data")


def test_a_diff_against_a_state_of_another_type(small: Small) -> None:
    """A type that is wider is compared by value."""
    narrow = replace(small.pipeline, aggregates={"total": agg.max("length(k)::INTEGER")})
    wide = replace(small.pipeline, aggregates={"total": agg.max("length(k)::BIGINT + 1")})
    ran(narrow, small, root="narrow")
    ran(wide, small, root="wide")
    [told] = diff(wide, root=small.folder / "wide", window="hours", against=small.folder / "narrow")
    assert (told.retyped_columns, told.largest["total"][0], told.counted()["changed"]) == ((), 1, told.after)
