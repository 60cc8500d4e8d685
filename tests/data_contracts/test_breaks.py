"""What breaks for readers between two contracts, and what is no contract."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from muntin.errors import DefinitionError
from muntin.extensions.contracts.agreed import agreed, read_contract
from muntin.extensions.contracts.breaks import added, breaks

Document = dict[str, Any]
CHECK = {"type": "expect_column_values_to_be_between", "kwargs": {"column": "n", "min_value": 1}}
CONTRACT: Document = {
    "apiVersion": "v3.1.0", "kind": "DataContract", "id": "shop", "version": "1", "status": "active",
    "schema": [
        {
            "name": "day",
            "properties": [
                {"name": "city", "physicalType": "VARCHAR", "primaryKey": True, "primaryKeyPosition": 2},
                {"name": "window_start", "physicalType": "DATE", "primaryKey": True, "primaryKeyPosition": 1, "required": True},
                {"name": "n", "physicalType": "INTEGER", "required": True, "description": "count()"},
                {"name": "spent", "physicalType": "DOUBLE", "customProperties": [{"property": "unit", "value": "EUR"}]},
            ],
            "quality": [{"type": "custom", "engine": "great-expectations", "severity": "critical", "implementation": CHECK}],
        },
        {"name": "week", "properties": []},
    ],
    "slaProperties": [
        {"property": "frequency", "value": 3600, "unit": "s"},
        {"property": "latency", "value": 7200, "unit": "s"},
        {"property": "retention", "value": 864_000, "unit": "s"},
    ],
}  # fmt: skip


def column(document: Document, at: int) -> Document:
    return document["schema"][0]["properties"][at]


def sla(document: Document, at: int, value: Any) -> None:
    document["slaProperties"][at]["value"] = value


def renamed_column(document: Document) -> None:
    column(document, 2)["name"] = "count"


def asking(document: Document) -> None:
    document["schema"][0]["customProperties"] = [{"property": "on_failure", "value": "ask"}]


def later(change: Callable[[Document], object]) -> Document:
    document = copy.deepcopy(CONTRACT)
    change(document)
    return document


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        (lambda _: None, []),
        (lambda d: d["schema"].pop(1), ["week: the table is gone"]),
        (lambda d: d["schema"][0]["properties"].pop(3), ["day.spent: the column is gone"]),
        (renamed_column, ["day.n: the column has another name: before n, now count"]),
        (lambda d: column(d, 2).update(physicalType="BIGINT"), ["day.n: the type is wider: before INTEGER, now BIGINT"]),
        (lambda d: column(d, 2).update(physicalType="SMALLINT"), ["day.n: the type is another: before INTEGER, now SMALLINT"]),
        (lambda d: column(d, 3).update(physicalType="VARCHAR"), ["day.spent: the type is another: before DOUBLE, now VARCHAR"]),
        (lambda d: column(d, 2).pop("physicalType"), []),
        (lambda d: column(d, 2).update(required=False), ["day.n: a value may be null now, and never was"]),
        (lambda d: column(d, 3).update(required=True), []),
        (lambda d: column(d, 3).pop("customProperties"), ["day.spent: the unit is another: before EUR, now nothing"]),
        (lambda d: column(d, 2).update(customProperties=[{"property": "unit", "value": "rows"}]), []),
        (lambda d: column(d, 0).update(primaryKey=False), ["day: windows have other keys: before window_start, city, now window_start"]),
        (
            lambda d: column(d, 0).update(primaryKeyPosition=0),
            ["day: windows have other keys: before window_start, city, now city, window_start"],
        ),
        (lambda d: d["schema"][0].pop("quality"), ["day: the suite is gone"]),
        (
            lambda d: d["schema"][0]["quality"][0].update(implementation={"type": "expect_other", "kwargs": {}}),
            ['day: the suite has no expect_column_values_to_be_between {"column": "n", "min_value": 1} any more'],
        ),
        (
            lambda d: d["schema"][0]["quality"][0].update(severity="warning"),
            ['day: a failure of expect_column_values_to_be_between {"column": "n", "min_value": 1} counts for less: before critical, now warning'],  # noqa: E501
        ),
        (asking, ["day: windows that fail the suite may be published (on_failure): before hold, now ask"]),
        (lambda d: (asking(d), d["schema"][0].pop("quality")), ["day: the suite is gone"]),
        (lambda d: sla(d, 0, 86_400), ["windows come less often, or at other times (schedule): before 1h, now 1d"]),
        (lambda d: sla(d, 0, "0 6 * * 1"), ["windows come less often, or at other times (schedule): before 1h, now 0 6 * * 1"]),
        (lambda d: sla(d, 0, 900), []),
        (lambda d: sla(d, 1, 7201), ["batches may be published later (fresh_within): before 2h, now 7201s"]),
        (lambda d: d["slaProperties"].pop(1), ["batches may be published later (fresh_within): before 2h, now nothing"]),
        (lambda d: sla(d, 1, 60), []),
        (lambda d: sla(d, 2, 86_400), ["windows are kept for less time (retain): before 10d, now 1d"]),
        (lambda d: d["slaProperties"].pop(2), []),
        (lambda d: d["schema"][0]["properties"].append({"name": "more", "physicalType": "DATE"}), []),
    ],
)  # fmt: skip
def test_what_breaks(change: Callable[[Document], object], sentences: list[str]) -> None:
    assert [str(each) for each in breaks(agreed(CONTRACT, "a"), agreed(later(change), "b"), {})] == sentences


def test_a_suite_that_holds_again_breaks_nothing() -> None:
    assert breaks(agreed(later(asking), "a"), agreed(CONTRACT, "b"), {}) == []


def test_another_key_is_no_new_name_of_a_key() -> None:
    def keyed(name: str) -> Document:
        column = {"name": name, "physicalType": "VARCHAR", "primaryKey": True, "primaryKeyPosition": 1, "description": "key"}
        return later(lambda d: d.update(schema=[{"name": "day", "properties": [column]}]))

    assert [str(each) for each in breaks(agreed(keyed("city"), "a"), agreed(keyed("page"), "b"), {})] == [
        "day: windows have other keys: before city, now page", "day.city: the column is gone",
    ]  # fmt: skip


def test_what_was_kept_for_ever() -> None:
    before = agreed(later(lambda d: d["slaProperties"].pop(2)), "a")
    assert [str(each) for each in breaks(before, agreed(CONTRACT, "b"), {})] == [
        "windows are kept for less time (retain): before for ever, now 10d"
    ]


def test_a_renamed_table_is_held_against_what_it_was() -> None:
    def change(document: Document) -> None:
        document["schema"][0].update(name="daily")
        column(document, 3)["physicalType"] = "VARCHAR"

    before, now = agreed(CONTRACT, "a"), agreed(later(change), "b")
    assert [str(each) for each in breaks(before, now, {"daily": "day"})] == [
        "day: the table has another name: before day, now daily",
        "day.spent: the type is another: before DOUBLE, now VARCHAR",
    ]
    assert added(before, now, {"daily": "day"}) == []
    assert "day: the table is gone" in [str(each) for each in breaks(before, now, {})]


def test_what_is_added() -> None:
    def change(document: Document) -> None:
        document["schema"].append({"name": "month", "properties": [{"name": "n"}]})
        document["schema"][0]["properties"].append({"name": "more"})

    before, now = agreed(CONTRACT, "a"), agreed(later(change), "b")
    assert (breaks(before, now, {}), added(before, now, {})) == ([], ["month", "day.more"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is no JSON"),
        ("kind: DataContract", "it is no JSON"),
        ("[" * 100_000, "it is no JSON"),
        ("[]", "it is no data contract"),
        ("null", "it is no data contract"),
        ('{"kind": "DataContract"}', "it is no data contract"),
        (json.dumps({**CONTRACT, "kind": "Pod"}), "it is no data contract"),
        (json.dumps({**CONTRACT, "apiVersion": "v2.2.0"}), "it is no data contract"),
        (json.dumps({"kind": "DataContract", "apiVersion": "v3.1.0", "id": "shop"}), "it has no schema"),
        (json.dumps({**CONTRACT, "schema": {"day": 1}}), "schema is no list"),
        (json.dumps({**CONTRACT, "schema": [1]}), r"schema\[0\] is no object with a text as its name"),
        (json.dumps({**CONTRACT, "schema": [{"name": 7}]}), r"schema\[0\] is no object with a text as its name"),
        (json.dumps({**CONTRACT, "schema": [{"name": "day", "properties": [{}]}]}), r"day: properties\[0\] is no object"),
        (json.dumps({**CONTRACT, "slaProperties": 3}), "slaProperties is no list"),
        (json.dumps(later(lambda d: column(d, 0).update(physicalType="INT); DROP"))), "city: physicalType: 'INT.; DROP' is not a SQL type"),
        (json.dumps(later(lambda d: column(d, 0).update(physicalType=["INT"]))), "is not a SQL type"),
        (json.dumps(later(lambda d: column(d, 0).update(primaryKeyPosition="first"))), "primaryKeyPosition is no whole number"),
    ],
)  # fmt: skip
def test_what_is_no_contract(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "contract.yaml"
    path.write_text(text)
    with pytest.raises(DefinitionError, match=words) as refused:
        read_contract(path)
    assert "muntin check --contract FILE > contract.yaml" in str(refused.value) or "not a SQL type" in str(refused.value)


@pytest.mark.parametrize("path", ["nowhere.yaml", "."])
def test_a_file_that_cannot_be_read(tmp_path: Path, path: str) -> None:
    with pytest.raises(DefinitionError, match=r"No such file|Is a directory"):
        read_contract(tmp_path / path)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, [1], {"a": 1}])
def test_an_odd_value_of_a_promise_is_none(value: Any) -> None:
    odd = agreed(later(lambda d: sla(d, 2, value)), "a")
    assert odd.service == {"frequency": 3600, "latency": 7200}
