"""Rows that commits of a Delta table update and delete: the windows are those of the rows that are left, with and without a change feed."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from muntin import plan, read, sources
from muntin.errors import DefinitionError, SourceError
from muntin.jobs.inspect.explain import explain
from muntin.jobs.inspect.late import quarantined
from tests.case_counts import some
from tests.end_to_end.hourly import hour
from tests.source_options import grouped
from tests.tables.delta_tables import dated
from tests.taken_back.delta_shop import DeltaShop, tell

HOURS = 7


@pytest.mark.parametrize("seed", some(range(20), one_in=20))
def test_windows_are_those_of_the_rows_that_are_left(seed: int, tmp_path: Path) -> None:
    changes_of_table(seed, tmp_path)


def changes_of_table(seed: int, folder: Path) -> None:
    dice = random.Random(f"a table {seed}")
    check_a_story(DeltaShop(folder, dice.randint(1, 4), dice.random() < 0.6, dice.choice([(), ("city",)])), dice)


def check_a_story(shop: DeltaShop, dice: random.Random) -> None:
    """Random commits of some hours; hours are run in between, in any order and again; then all, beside a clean run."""
    early = dice.random() < 0.5
    for now in tell(shop, dice, HOURS):
        if early and dice.random() < 0.6:
            shop.run(dice.randint(0, now), now)
    stretches = [(at, min(at + dice.randint(0, 3), HOURS - 1)) for at in range(HOURS)]
    for first, last in dice.sample(stretches, dice.randint(0, 4)):
        shop.run(first, last)
    shop.run(0, HOURS - 1)
    shop.check(HOURS)


# hours     0          1                    2
# order 1   c, 1.0     u, 10.0
# order 2   c, 2.0                          the partition is deleted, whole
# order 3              c, 4.0
@pytest.mark.parametrize("feed", [True, False])
def test_rows_are_changed_in_the_batch_that_brought_them(tmp_path: Path, feed: bool) -> None:
    shop = DeltaShop(tmp_path, feed=feed, by=("city",))
    shop.add(0, {1: (10, 1.0, "Graz"), 2: (20, 2.0, "Linz")})
    shop.add(1, {3: (70, 4.0, "Graz")})
    shop.update(1.1, 1, 10.0)
    shop.delete(2, (2).__eq__, "city = 'Linz'")
    shop.run(0)
    assert values(shop) == [[1.0, 2.0]]
    shop.run(1)
    assert values(shop) == [[2.0, 10.0], [4.0]]
    report = shop.run(2)
    assert values(shop) == [[10.0], [4.0]]
    assert [(each.rows_read, each.rows_accepted, each.rows_duplicate) for each in report.batches] == [(1, 0, 1)]
    shop.check(3)


# hours     0          1        2        3
# order 1   c                            u: within an hour no more
# order 2   c          u        u: the same
def test_what_changes_a_row_too_late_is_quarantined_and_counted(tmp_path: Path) -> None:
    shop = DeltaShop(tmp_path, within=1)
    shop.add(0, {1: (10, 1.0, "Graz"), 2: (20, 2.0, "Graz")})
    shop.update(1, 2, 3.0)
    shop.update(2, 2, 4.0)
    shop.update(3, 1, 5.0)
    report = shop.run(0, 3)
    assert [each.rows_quarantined for each in report.batches] == [0, 0, 1, 1]
    late = "changes an event whose first row came more than 1h before, or never (within)"
    assert {row["reason"] for row in quarantined(shop.pipeline, root=tmp_path / "state").to_pylist()} == {late}
    assert values(shop) == [[1.0, 3.0]]
    shop.check(4)


# within 1 hour   0      2                       3
# order 1         c      d: refused, too late    restored: a new row
# order 2         c                              as it was
@pytest.mark.parametrize(("feed", "by"), [(True, ()), (False, ("city",))])
def test_an_order_that_is_restored_after_its_time_is_new(tmp_path: Path, feed: bool, by: Sequence[str]) -> None:
    shop = DeltaShop(tmp_path, within=1, feed=feed, by=by)
    shop.add(0, {1: (170, 1.0, "Graz"), 2: (175, 2.0, "Linz")})
    shop.delete(2, (1).__eq__, "city = 'Graz'")
    shop.restore(3, 0)
    report = shop.run(0, 3)
    assert [each.rows_quarantined for each in report.batches] == [0, 0, 1, 0]
    assert values(shop) == [[1.0, 1.0, 2.0]]
    shop.check(4)


@pytest.mark.parametrize(("feed", "by"), [(True, ()), (False, ("city",))])
def test_what_is_deleted_and_restored_in_a_batch_is_as_before(tmp_path: Path, feed: bool, by: Sequence[str]) -> None:
    shop = DeltaShop(tmp_path, feed=feed, by=by)
    shop.add(0, {1: (10, 1.0, "Graz"), 2: (20, 2.0, "Linz")})
    shop.delete(1, (1).__eq__, "city = 'Graz'")
    shop.restore(1.1, 0)
    report = shop.run(0, 1)
    assert [each.rows_quarantined for each in report.batches] == [0, 0]
    assert values(shop) == [[1.0, 2.0]]
    shop.check(2)


def test_a_row_that_comes_and_goes_in_a_batch_is_no_row(tmp_path: Path) -> None:
    shop = DeltaShop(tmp_path)
    shop.add(0, {1: (10, 1.0, "Graz")})
    shop.add(1, {2: (70, 2.0, "Graz"), 3: (75, 2.0, "Graz")})
    shop.delete(1.1, (2).__eq__, '"order" = 2')
    shop.add(1.2, {4: (80, 3.0, "Graz")})
    shop.delete(1.3, (4).__eq__, '"order" = 4')
    report = shop.run(0, 1)
    assert [each.rows_quarantined for each in report.batches] == [0, 0]
    assert values(shop) == [[1.0], [2.0]]


# versions   0 (hour 0)   1 (hour 2)   2 (hour 1, by a slow clock): it deletes what version 1 added
def test_commits_count_in_the_order_of_the_log_whatever_clocks_say(tmp_path: Path) -> None:
    shop = DeltaShop(tmp_path)
    shop.add(0, {1: (10, 1.0, "Graz")})
    shop.add(2, {2: (70, 2.0, "Graz")})
    shop.delete(1, (2).__eq__, '"order" = 2')
    shop.run(0, 2)
    assert values(shop) == [[1.0]]


def test_rows_may_change_no_longer_than_the_table_keeps_its_files(tmp_path: Path) -> None:
    shop = DeltaShop(tmp_path, within=8 * 24)
    shop.add(0, {1: (10, 1.0, "Graz")})
    with pytest.raises(SourceError, match=r"keeps for 1w .+ \(delta.deletedFileRetentionDuration\); say a shorter .+'interval 10 days'"):
        shop.run(0)
    DeltaTable(shop.table).alter.set_table_properties({"delta.deletedFileRetentionDuration": "interval 10 days"})
    dated(shop.table, hour(0.5))
    shop.run(0)
    assert values(shop) == [[1.0]]


def test_a_file_that_was_vacuumed_is_told_and_nothing_is_published(tmp_path: Path) -> None:
    shop = DeltaShop(tmp_path)
    shop.add(0, {1: (10, 1.0, "Graz"), 2: (10, 1.5, "Graz")})
    shop.run(0)
    shop.update(1, 1, 2.0)
    DeltaTable(shop.table).vacuum(0, enforce_retention_duration=False, dry_run=False)
    with pytest.raises(SourceError, match=r"(?s)must be read again.+Nothing was published.+gone from .+delta.deletedFileRetentionDuration"):
        shop.run(1)
    assert values(shop) == [[1.0, 1.5]]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({"changes": True}, "changes=True reads what a table's commits .+ rows=sources.events"),
        ({"id": "order", "changes_within": "1d"}, "say changes=True, too"),
        ({"changes": True, "id": "order", "changes_within": "1d", "on_change": "skip"}, "so on_change= has no place; leave it out"),
        ({"changes": True, "id": "order", "changes_within": "1d", "arrival_order": "n"}, "so arrival_order= has no place"),
        ({"changes": True, "id": "order", "changes_within": "200d"}, "is longer than 183d"),
    ],
)
def test_wrong_arguments(told: dict[str, Any], why: str) -> None:
    with pytest.raises(DefinitionError, match=why):
        sources.table("orders", **grouped(event_time="at", **told))


def values(shop: DeltaShop) -> list[list[float]]:
    found = read(shop.pipeline, "hour", root=shop.folder / "state", provisional=True)
    return found["all"].to_pylist()


def test_explain_names_the_commit_that_took_a_row_back(tmp_path: Path) -> None:
    shop = DeltaShop(tmp_path)
    shop.add(0, {1: (10, 1.0, "Graz"), 2: (20, 2.0, "Graz")})
    shop.add(1, {3: (70, 4.0, "Graz")})
    shop.delete(1.1, (2).__eq__, '"order" = 2')
    shop.run(0, 1)
    (window,) = explain(shop.pipeline, "hour", root=tmp_path / "state", at=hour(0)).windows
    [change] = window.changes
    assert (change.batch, change.by, change.what, change.version) == (hour(0), hour(1), "takes a row back", 2)
    assert "/_change_data/" in change.file


def test_plan_foresees_the_batches_that_commits_change(tmp_path: Path) -> None:
    shop = DeltaShop(tmp_path)
    shop.add(0, {1: (10, 1.0, "Graz")})
    shop.add(1, {2: (70, 2.0, "Graz")})
    shop.run(0, 1)
    shop.update(2, 1, 3.0)
    found = plan(shop.pipeline, root=tmp_path / "state", start=hour(2), end=hour(3)).batches
    assert [(each.interval_start, each.reading) for each in found] == [(hour(0), "changed"), (hour(2), "new")]
