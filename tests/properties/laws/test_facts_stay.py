"""States are found again by the facts of their fields, so that facts stay the same to the letter from version to version."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from muntin.aggregates.aggregate import Aggregate
from muntin.sources.reading.lift_sql import facts_of
from tests.properties.laws.saved import PLAIN, nested

SAVED: dict[str, list[str]] = json.loads((Path(__file__).parent / "facts_of_0_1.json").read_text(encoding="utf-8"))


def mark_of(aggregate: Aggregate) -> str:
    return sha256(repr([facts_of(field) for field in aggregate.fields]).encode()).hexdigest()[:8]


def test_no_aggregate_of_0_1_is_gone() -> None:
    assert SAVED.keys() <= PLAIN.keys()
    assert len(SAVED) > 150


@pytest.mark.parametrize("name", SAVED)
def test_facts_are_those_of_version_0_1(name: str) -> None:
    assert [mark_of(each) for each in nested(PLAIN[name])] == SAVED[name]
