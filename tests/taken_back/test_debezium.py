"""Messages of Debezium as it writes them, in files: the envelope, the flat form, tombstones; and those of AWS DMS."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fastavro import parse_schema, writer

from muntin import Pipeline, read, run, sources, windows
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.records.reports import BatchReport
from muntin.sources.envelopes import flattened

START = datetime(2024, 5, 1, tzinfo=UTC)
Change = tuple[str, int, float | None]  # an operation, an id, a value
# days     0                          1
# 1        c 10                       u 12
# 2        c 5          d
# 3        r 0.5
# 4                                   c 4
# 5                                   d, of which no row came
STORY: list[list[Change]] = [[("c", 1, 10), ("c", 2, 5), ("r", 3, 0.5), ("d", 2, None)], [("u", 1, 12), ("c", 4, 4)]]
LEFT = [([1, 3], 12.5), ([4], 4.0)]


def envelope(change: Change, day: int) -> dict[str, Any]:
    operation, number, x = change
    placed = START + timedelta(days=int(number == 4), hours=1)
    row = {"id": number, "at": int(placed.timestamp()) * 1000, "x": x, "city": "Graz"}
    before = {"id": number, "at": 0, "x": None, "city": None}  # the other columns of a key, where a table keeps no more
    return {
        "before": before if operation in "ud" else None,
        "after": None if operation == "d" else row,
        "source": {"lsn": number, "table": "orders"},
        "op": operation,
        "ts_ms": 1714557600000,
        "transaction": None,
    }


def with_schema(change: Change, day: int) -> dict[str, Any]:
    return {"schema": {"type": "struct", "fields": []}, "payload": envelope(change, day)}


def flat(change: Change, day: int) -> dict[str, Any]:
    """As ExtractNewRecordState writes it, with delete.handling.mode=rewrite and add.fields=op."""
    message = envelope(change, day)
    return {**(message["after"] or message["before"]), "__op": change[0], "__deleted": str(change[0] == "d").lower()}


def flat_without_operation(change: Change, day: int) -> dict[str, Any]:
    return {name: value for name, value in flat(change, day).items() if name != "__op"}


def written(folder: Path, days: Sequence[Sequence[object]]) -> None:
    folder.mkdir()
    for day, messages in enumerate(days):
        text = "".join(f"{json.dumps(message)}\n" for message in messages)
        (folder / f"{START + timedelta(days=day):%Y-%m-%d}.json").write_text(text)


def pipeline(folder: Path, **source: Any) -> Pipeline:
    given = {"format": "debezium", "event_time": sources.at("at", unit="ms"), "rows": sources.events(id="id", within="30d")} | source
    return Pipeline(
        name="orders",
        source=sources.files(f"{folder}/{{start:%Y-%m-%d}}.json", **given),
        schedule="@daily",
        start=START,
        windows={"day": windows.tumbling("1d", grace="1d")},
        aggregates={"ids": agg.collect_sorted("id"), "sum": agg.sum("x")},
    )


def results(folder: Path, days: int, **source: Any) -> tuple[list[tuple[list[int], float]], list[BatchReport]]:
    orders, batches = pipeline(folder, **source), list[BatchReport]()
    for day in range(days):
        start = START + timedelta(days=day)
        batches += run(orders, root=folder / "state", start=start, end=start + timedelta(days=1)).batches
    rows = read(orders, "day", root=folder / "state", provisional=True).sort_by("window_start").to_pylist()
    return [([int(each) for each in row["ids"]], row["sum"]) for row in rows], batches


@pytest.mark.parametrize("form", [envelope, with_schema, flat, flat_without_operation])
def test_each_form_of_a_message_is_the_row_that_it_changes(tmp_path: Path, form: Any) -> None:
    written(tmp_path / "in", [[form(each, day) for each in changes] for day, changes in enumerate(STORY)])
    assert results(tmp_path / "in", 2)[0] == LEFT


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_files_of_avro(tmp_path: Path, nested: bool, codec: str) -> None:
    """As sinks of Kafka Connect write them: times and decimals have types of Avro."""
    row = {"type": "record", "name": "Value", "fields": [{"name": "id", "type": "long"}, optional("at", "long", "timestamp-millis"),
           optional("x", "bytes", "decimal", precision=9, scale=2), optional("city", "string")]}  # fmt: skip
    source = {"type": "record", "name": "Source", "fields": [{"name": "lsn", "type": "long"}, {"name": "table", "type": "string"}]}
    own = [optional("before", row), optional("after", "Value"), {"name": "source", "type": source}, optional("ts_ms", "long")]
    if not nested:
        own = [*row["fields"], optional("__deleted", "string")]  # type: ignore[list-item]
    op = {"name": "op" if nested else "__op", "type": "string"}
    schema = parse_schema({"type": "record", "name": "Envelope", "fields": [*own, op]})
    (tmp_path / "in").mkdir()
    for day, changes in enumerate(STORY):
        messages = [(envelope if nested else flat)(each, day) for each in changes]
        for value in [each[part] for each in messages for part in ("before", "after") if each[part]] if nested else messages:
            value |= {"at": datetime.fromtimestamp(value["at"] / 1000, UTC), "x": None if value["x"] is None else Decimal(value["x"])}
        with (tmp_path / f"in/{START + timedelta(days=day):%Y-%m-%d}.json").open("wb") as file:
            writer(file, schema, messages, codec)
    given = {"event_time": "at", "types": {"x": "DECIMAL(9,2)"}}
    assert results(tmp_path / "in", 2, **given)[0] == LEFT
    whole = file.name, Path(file.name).read_bytes()
    Path(whole[0]).write_bytes(whole[1][: len(whole[1]) // 2])
    with pytest.raises(SourceError, match="is cut off or damaged"):
        results(tmp_path / "in", 2, **given)


def optional(name: str, kind: Any, logical: str = "", **more: int) -> dict[str, Any]:
    return {"name": name, "type": ["null", {"type": kind, "logicalType": logical, **more} if logical else kind], "default": None}


def test_columns_may_be_named_as_members_of_the_message(tmp_path: Path) -> None:
    written(tmp_path / "in", [[envelope(each, day) for each in changes] for day, changes in enumerate(STORY)])
    rows = sources.changes(id="after.id", operation="op", within="30d", newest_by="__ts_ms")
    terms = {"event_time": sources.at("after.at", unit="ms"), "rows": None, "changes": rows, "types": {"after.id": "BIGINT"}}
    assert results(tmp_path / "in", 2, **terms)[0] == LEFT


def test_a_tombstone_is_a_repeated_row_and_other_operations_are_refused(tmp_path: Path) -> None:
    others = [{**envelope(("t", 9, 1), 0), "op": operation, "before": None, "after": None} for operation in ("t", "m")]
    written(tmp_path / "in", [[*(envelope(each, 0) for each in STORY[0]), None, {"schema": None, "payload": None}, *others]])
    left, [batch] = results(tmp_path / "in", 1)
    assert left == [([1, 3], 10.5)]
    assert (batch.rows_read, batch.rows_accepted, batch.rows_duplicate, batch.rows_quarantined) == (8, 2, 4, 2)
    reasons = quarantined(pipeline(tmp_path / "in"), root=tmp_path / "in" / "state")["reason"].to_pylist()
    assert sorted(reasons) == ["operation is not known: m", "operation is not known: t"]


def test_a_condition_beside_takes_back_more_than_the_operation(tmp_path: Path) -> None:
    written(tmp_path / "in", [[envelope(each, 0) for each in [*STORY[0], ("u", 1, -1)]]])
    assert results(tmp_path / "in", 1, rows=sources.events(id="id", within="30d", deletes="x < 0"))[0] == [([3], 0.5)]


def test_numbers_keep_their_digits() -> None:
    text = '{"before": null, "op": "c", "after": {"x": 0.12345678901234567890, "n": 123456789012345678901234567890, "s": "\\u00e9{"}}'
    row = '{"x": 0.12345678901234567890, "n": 123456789012345678901234567890, "s": "\\u00e9{"}'
    assert (
        flattened(text)
        == '{"after": ' + row + ', "x": 0.12345678901234567890, "n": 123456789012345678901234567890, "s": "\\u00e9{", "__op": "c"}'
    )


@pytest.mark.parametrize(
    "text", ["", "{", '{"op": "c", "after": }', '{"a": 1, "a": 2}', "[1]", '{"op": "c"} x', "[" * 5000, '{"op": "c", "after": 7}']
)
def test_what_is_no_message_stays_as_it_is(text: str) -> None:
    assert flattened(text) == text


def test_rows_need_an_id(tmp_path: Path) -> None:
    with pytest.raises(DefinitionError, match=r'as rows=sources.events\(id="order_id", within="30d"\)'):
        sources.files(str(tmp_path / "{start:%Y-%m-%d}.json"), event_time="at", format="debezium")


def test_a_full_load_of_dms_has_no_operation(tmp_path: Path) -> None:
    load = [{"id": number, "at": "2024-05-01T01:00:00Z", "x": x} for number, x in ((1, 10), (2, 5))]
    later = [
        {"Op": operation, "id": number, "at": "2024-05-01T01:00:00Z", "x": x}
        for operation, number, x in (("U", 1, 12), ("D", 2, 5), ("I", 3, 1))
    ]
    written(tmp_path / "in", [load, later])
    rows = sources.events(id="id", operation="Op", deletes="false", within="30d")
    left, _ = results(tmp_path / "in", 2, format="jsonl", event_time="at", columns={"Op": "VARCHAR"}, rows=rows)
    assert left == [([1, 3], 13.0)]
