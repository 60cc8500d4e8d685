"""What changed since a version, from the files that commits took and brought: against reading the whole table at both versions."""

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from muntin import Pipeline, Retain, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, StateError, VersionGoneError
from muntin.files.paths import path_of
from muntin.jobs.housekeeping import compact as compaction
from muntin.jobs.housekeeping.compact import compact
from muntin.jobs.housekeeping.expire import expire
from muntin.jobs.inspect.diff import diff
from muntin.jobs.published import changes_since as looked
from muntin.jobs.state.bound import bind
from muntin.jobs.upkeep.promote import promote, rollback
from muntin.store.log_append import commits_between
from muntin.store.log_check import commit_path
from tests.case_counts import random_seeds
from tests.made_once import made_once
from tests.storage.three_batches import HERE, HOUR, OTHER, START, Small

Rows = dict[tuple[Any, ...], tuple[str, ...]]


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two files of a size are many."""
    monkeypatch.setattr(compaction, "MANY", 2)


@dataclass(frozen=True)
class Changing(Small):
    """Batches of an hour under definitions that change. `more`: another result; `grace`: windows that close later."""

    more: bool = False
    grace: str = "0s"
    retain: Any = None

    @property
    def pipeline(self) -> Pipeline:
        return Pipeline(
            name="changing",
            source=sources.files(str(self.folder / "data/{start:%H}.parquet"), event_time="t", missing="empty"),
            schedule="1h",
            start=START,
            keys=["k"],
            windows={
                "hours": windows.sliding("2h", step="1h", grace=self.grace),
                "visits": windows.session("20m"),
                "twos": windows.arrival(windows.by_count(2)),
            },
            aggregates={"n": agg.count(), "total": agg.sum("x"), **({"most": agg.max("x")} if self.more else {})},
            retain=self.retain,
        )

    def rewrite(self, at: int, chance: random.Random) -> None:
        self.write(at, [60 * at + chance.choice((0, 0, 0, -50, -130)) + chance.uniform(0, 60) for _ in range(chance.randrange(6))])

    def ran(self, *batches: int) -> None:
        for at in batches:
            run(
                self.pipeline,
                root=self.folder / "state",
                start=START + at * HOUR,
                end=START + (at + 1) * HOUR,
                spark=HERE,
                allow_missing=True,
            )

    def table(self, window: str) -> Path:
        return self.folder / "state/changing/windows" / window

    def version(self, window: str) -> int:
        return DeltaTable(str(self.table(window))).version()

    def since(self, window: str, version: int) -> pa.Table:
        return read(self.pipeline, window, root=self.folder / "state", changes_since=version)


def identity_of(small: Changing, window: str) -> list[str]:
    return ["k", *small.pipeline.windows[window].order]


def rows_at(small: Changing, window: str, version: int) -> Rows:
    """Identity -> the values of a window, to the last bit, from all files of a version."""
    if version < 0:
        return {}
    identity = identity_of(small, window)
    names = [*small.pipeline.aggregates, "window_start", "window_end"]
    rows = DeltaTable(str(small.table(window)), version=version).to_pyarrow_table().to_pylist()
    return {tuple(row[name] for name in identity): tuple(repr(row.get(name)) for name in names) for row in rows}


def naive(small: Changing, window: str, since: int, until: int) -> dict[tuple[Any, ...], tuple[str, int]]:
    """Identity -> kind of change, and the version after which the window stayed as it is now."""
    at_each = [rows_at(small, window, version) for version in range(since, until + 1)]
    before, now = at_each[0], at_each[-1]
    found = {}
    for key in before.keys() | now.keys():
        if before.get(key) != now.get(key):
            kind = "new" if key not in before else "gone" if key not in now else "changed"
            steps = range(1, len(at_each))
            found[key] = (kind, since + max(at for at in steps if at_each[at].get(key) != at_each[at - 1].get(key)))
    return found


def wrong(small: Changing, window: str, since: int) -> list[Any]:
    """What the fast path says otherwise than the naive one, values of windows among it."""
    until, identity = small.version(window), identity_of(small, window)
    table = small.since(window, since)
    assert table.schema.metadata[b"muntin.version"] == str(until).encode()
    ours = {tuple(row[name] for name in identity): row for row in table.to_pylist()}
    assert len(ours) == len(table)
    told = {key: (row["change"], row["revision"]) for key, row in ours.items()}
    theirs, now = naive(small, window, since, until), rows_at(small, window, until)
    lines: list[Any] = [(key, told.get(key), theirs.get(key)) for key in told.keys() | theirs.keys() if told.get(key) != theirs.get(key)]
    for key, row in ours.items():
        values = tuple(repr(row[name]) for name in [*small.pipeline.aggregates, "window_start", "window_end"])
        if row["change"] == "gone":
            lines += [(key, values)] if any(row[name] is not None for name in small.pipeline.aggregates) else []
        elif values != now[key]:
            lines.append((key, values, now[key]))
    return lines


def step(small: Changing, chance: random.Random) -> Changing:
    """Something happens to the state; the definition that is current then."""
    what = chance.choice(["batch", "batch", "batch", "batch", "compact", "define", "rollback", "expire"])
    if what == "compact":
        compact(bind(small.pipeline, small.folder / "state"))
    elif what == "define":
        other = replace(small, more=chance.random() < 0.5, grace=chance.choice(["0s", "1h"]))
        if not path_of(bind(other.pipeline, small.folder / "state").folder).is_dir():
            other.ran(0, 1, 2)
        promote(other.pipeline, root=small.folder / "state", spark=HERE, incomplete=True)
        return other
    elif what == "rollback":
        try:
            rollback(small.pipeline, root=small.folder / "state")
        except StateError:
            return small
        promote(small.pipeline, root=small.folder / "state", spark=HERE, incomplete=True)
    elif what == "expire":
        expire(bind(replace(small, retain=Retain(windows="3h")).pipeline, small.folder / "state"), at_once=True)
    else:
        at = chance.choice([0, 1, 2, 3, 4, 6])  # 5 is a hole
        small.rewrite(at, chance)
        small.ran(at)
    return small


@pytest.mark.parametrize("seed", random_seeds(30))
def test_any_history_against_a_full_read_at_both_versions(tmp_path: Path, seed: int) -> None:
    chance, small = random.Random(seed), Changing(tmp_path)
    for at in range(3):
        small.rewrite(at, chance)
    small.ran(0, 1)
    for _ in range(7):
        small = step(small, chance)
    for window in small.pipeline.windows:
        for since in {0, *chance.sample(range(small.version(window) + 1), 3 if small.version(window) > 2 else 1)}:
            assert wrong(small, window, since) == [], (window, since)


@pytest.fixture
def small(tmp_path: Path) -> Changing:
    made_once(tmp_path, _three)
    return Changing(tmp_path)


def _three(folder: Path) -> None:
    small = Changing(folder)
    small.write_all()
    small.ran(0, 1, 2)


def said(table: pa.Table) -> list[tuple[str, int, int, str, int | None]]:
    """Key, hour of the window's start, revision, change, `n`."""
    rows = table.select(["k", "window_start", "revision", "change", "n"]).to_pylist()
    return [(row["k"], (row["window_start"] - START) // HOUR, row["revision"], row["change"], row["n"]) for row in rows]


#            [-1h, 1h)   [0h, 2h)   [1h, 3h)
# version 2   a2 ü1       a4 ü2      a3 ü3
# version 3   a2 ü1       a3 ü1      a3 ü2        batch 1 holds one row
# version 4   a2 ü1       a3 ü1      a1           batch 2 holds none
def test_new_changed_and_gone(small: Changing) -> None:
    whole = read(small.pipeline, "hours", root=small.folder / "state")
    assert whole.schema.metadata[b"muntin.version"] == b"2"
    for at, minutes in ((1, [75]), (2, [])):
        small.write(at, minutes)
        small.ran(at)
    shorter = [("a", 0, 3, "changed", 3), ("a", 1, 4, "changed", 1), ("ü", 0, 3, "changed", 1)]
    assert said(small.since("hours", 2)) == [*shorter, ("ü", 1, 4, "gone", None)]
    assert said(small.since("hours", 1)) == [shorter[0], ("a", 1, 4, "new", 1), shorter[2]]
    assert small.since("hours", 4).num_rows == 0


def test_a_batch_that_is_put_back_changes_nothing(small: Changing) -> None:
    first = small.folder / "data/01.parquet"
    kept = first.read_bytes()
    small.write(1, OTHER)
    small.ran(1)
    first.write_bytes(kept)
    small.ran(1)
    assert small.version("hours") == 4
    assert small.since("hours", 2).num_rows == 0
    assert {revision for _, _, revision, _, _ in said(small.since("hours", 3))} == {4}


def test_files_that_are_put_together_change_nothing_and_are_not_read(small: Changing, monkeypatch: pytest.MonkeyPatch) -> None:
    while compact(bind(small.pipeline, small.folder / "state")):
        pass
    assert small.version("hours") > 2
    monkeypatch.setattr(looked, "_tables", lambda *_: pytest.fail("a file is read"))
    assert small.since("hours", 2).num_rows == 0


def test_only_files_that_commits_took_or_brought_are_read(small: Changing, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, given = list[str](), looked._tables
    monkeypatch.setattr(looked, "_tables", lambda table, paths, *more: asked.extend(paths) or given(table, paths, *more))
    small.rewrite(3, random.Random(0))
    small.ran(3)
    small.since("hours", 2)
    (commit,) = commits_between(small.table("hours"), 2, 3)
    assert sorted(asked) == sorted([*commit.adds, *commit.removes])
    assert not any("T010000Z" in path for path in asked)


def test_all_windows_are_new_since_before_the_first_version(small: Changing) -> None:
    table, whole = small.since("hours", -1), read(small.pipeline, "hours", root=small.folder / "state")
    assert table.drop_columns(["revision", "change", "old_n", "old_total"]).equals(whole.drop_columns(["batch"]))
    assert set(table["change"].to_pylist()) == {"new"}
    assert set(table["revision"].to_pylist()) == {2}


def test_some_keys_columns_and_times(small: Changing) -> None:
    found = read(
        small.pipeline, "hours", root=small.folder / "state", changes_since=-1, keys={"k": "a"}, columns=["n", "change"], end=START + HOUR
    )
    assert found.to_pylist() == [{"n": 2, "change": "new"}]


def test_a_table_that_began_without_windows_knows_its_keys_in_files_put_together(tmp_path: Path) -> None:
    small = Changing(tmp_path)
    for at, minutes in enumerate(([], [70, 61], [130, 179], [])):
        small.write(at, minutes)
        small.ran(at)
    assert DeltaTable(str(small.table("hours"))).schema().fields[0].name == "window_start"
    before = small.version("hours")
    while compact(bind(small.pipeline, small.folder / "state")):
        pass
    small.write(1, OTHER)
    small.ran(1)
    assert wrong(small, "hours", before) == []
    other = replace(small, grace="1h")
    other.ran(0, 1, 2, 3)
    [found] = diff(other.pipeline, root=small.folder / "state", window="hours")
    assert (found.before, found.counted()) == (5, {"new": 0, "gone": 0, "changed": 0})


class TestRefusals:
    """What cannot be told, and from which version on it can."""

    def test_a_commit_that_the_log_has_lost(self, tmp_path: Path) -> None:
        _three(tmp_path)
        small = Changing(tmp_path)
        commit_path(small.table("hours"), 1).unlink()
        with pytest.raises(VersionGoneError, match=r"since version 0 cannot be told.*It can be told since version 1.*go on from version 2"):
            small.since("hours", 0)
        assert small.since("hours", 1).num_rows

    def test_a_file_that_was_replaced_and_removed(self, small: Changing) -> None:
        small.write(1, OTHER)
        small.ran(1)
        (commit,) = commits_between(small.table("hours"), 2, 3)
        for path in commit.removes:
            (small.table("hours") / path).unlink()
        with pytest.raises(VersionGoneError, match="It can be told since version 3"):
            small.since("hours", 1)

    def test_a_file_that_is_damaged(self, small: Changing) -> None:
        small.write(1, OTHER)
        small.ran(1)
        (commit,) = commits_between(small.table("hours"), 2, 3)
        for path in (*commit.removes, *commit.adds):
            (small.table("hours") / path).write_bytes(b"PAR1")
        with pytest.raises(VersionGoneError, match="It can be told since version 3"):
            small.since("hours", 1)
        with pytest.raises(StateError, match="muntin doctor --mend FILE derives it again"):
            small.since("hours", -1)

    @pytest.mark.parametrize("version", [-2, 3])
    def test_a_version_that_is_not_there(self, small: Changing, version: int) -> None:
        with pytest.raises(StateError, match=f"has no version {version}: it is at 2; was the state put back"):
            small.since("hours", version)

    @pytest.mark.parametrize("more", [{"provisional": True}, {"dense": True}])
    def test_windows_without_a_version(self, small: Changing, more: Mapping[str, bool]) -> None:
        with pytest.raises(DefinitionError, match="open windows and empty ones have no version"):
            read(small.pipeline, "hours", root=small.folder / "state", changes_since=0, **more)

    def test_a_result_with_a_name_that_changes_need(self, small: Changing) -> None:
        other = replace(small.pipeline, aggregates={"revision": agg.count()})
        with pytest.raises(DefinitionError, match="changes have a column 'revision' of their own"):
            read(other, "hours", root=small.folder / "state", changes_since=0)

    def test_other_keys(self, small: Changing) -> None:
        other = replace(small.pipeline, keys=[])
        run(other, root=small.folder / "state", start=START, end=START + 3 * HOUR, spark=HERE)
        with pytest.raises(StateError, match="other columns told the windows of an earlier version apart"):
            read(other, "hours", root=small.folder / "state", changes_since=1)
        with pytest.raises(StateError, match="another definition, without k; promote"):
            small.since("hours", 1)


def test_a_result_whose_type_is_another_is_changed(tmp_path: Path) -> None:
    """`x` was text and is a number; the count stays as it was."""
    small = Changing(tmp_path)
    small.write_all()
    texts = replace(small.pipeline, aggregates={"n": agg.count(), "total": agg.first("k")})
    for each in (texts, small.pipeline):
        run(each, root=tmp_path / "state", start=START, end=START + 3 * HOUR, spark=HERE)
    rows = small.since("hours", 0).to_pylist()
    assert {row["change"] for row in rows} == {"changed"}
    assert all(isinstance(row["total"], float) for row in rows)
