"""The table with the borders of batches: what a run reads of it does not grow with the number of batches."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from muntin.errors import ConflictError, SourceError
from muntin.extensions.kafka import borders as kept_borders
from muntin.extensions.kafka.borders import keep, kept
from muntin.jobs.state.bound import Bound, bind
from muntin.store.state import states_of
from tests.topics.orders import pipeline, topic_of

HOUR = 3_600_000_000
READ = kept_borders.opened


def bound_to(root: str) -> Bound:
    """A pipeline whose state is claimed."""
    return bind(pipeline(topic_of("broker:9092", "orders")), root, claim=True)


def note(bound: Bound, borders: dict[int, dict[int, int]], topic_id: str = "x") -> None:
    """Note borders, as a run does."""
    known = kept(bound, "orders", min(borders), max(borders))
    keep(bound, "orders", known.snapshot, borders, topic_id)


def test_what_was_noted_is_there_with_the_neighbours_of_what_is_asked_for(roots: str) -> None:
    bound = bound_to(roots)
    assert kept(bound, "orders", 0, HOUR).borders == {}
    for number in (0, 3, 1, 9):
        note(bound, {number * HOUR: {0: number, 1: 2 * number}})
    found = kept(bound, "orders", 2 * HOUR, 3 * HOUR)
    assert {at // HOUR for at in found.borders} == {1, 3, 9}
    assert found.borders[3 * HOUR] == {0: 3, 1: 6}
    assert found.topic_id == "x"
    assert [folder.name for folder in states_of(bound.root / "orders")] == [bound.state]


def test_a_run_reads_the_files_near_its_batches_and_those_are_few(tmp_path: Path) -> None:
    bound, read = bound_to(str(tmp_path)), list[object]()
    with patch.object(kept_borders, "_MANY", 4), patch.object(kept_borders, "_SMALL", 8):
        for number in range(40):
            note(bound, {number * HOUR: {0: number}})
    assert len(bound.store.snapshot(kept_borders.table_of("orders")).files) <= 12
    with patch.object(kept_borders, "opened", side_effect=lambda *given: read.append(given) or READ(*given)):
        for number in (3, 20, 39):
            found = kept(bound, "orders", number * HOUR, number * HOUR).borders
            assert found[number * HOUR] == {0: number}
            assert {number - 1, min(number + 1, 39)} <= {at // HOUR for at in found}
    assert len(read) <= 3 * 5


def test_of_two_runs_at_once_one_comes_first(tmp_path: Path) -> None:
    bound = bound_to(str(tmp_path))
    note(bound, {0: {0: 0}})
    base = kept(bound, "orders", 0, 0).snapshot
    keep(bound, "orders", base, {HOUR: {0: 1}}, "x")
    with pytest.raises(ConflictError):
        keep(bound, "orders", base, {2 * HOUR: {0: 0}}, "x")


def test_a_changed_definition_has_the_same_borders(tmp_path: Path) -> None:
    bound = bound_to(str(tmp_path))
    note(bound, {0: {0: 5}})
    other = bind(replace(bound.pipeline, keys=("shop",)), str(tmp_path), claim=True)
    assert other.folder != bound.folder
    assert kept(other, "orders", 0, 0).borders == {0: {0: 5}}


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    bound = bound_to(str(tmp_path))
    note(bound, {0: {0: 5}})
    (file,) = (tmp_path / "orders/topics/orders").rglob("*.parquet")
    file.unlink()
    with pytest.raises(SourceError, match=r"the offsets of batches cannot be read .*bring the file back"):
        kept(bound, "orders", 0, 0)


def test_nothing_of_the_source_but_its_columns_is_in_the_fingerprint(tmp_path: Path) -> None:
    one = bound_to(str(tmp_path))
    other = bind(
        pipeline(topic_of("other:9093", "others", connection="shop", value="avro", registry="http://registry:8081")), str(tmp_path)
    )
    assert one.state == other.state
