"""The definitions of docs/sinks.md."""

from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from tests.sinks.places import blocks_of_the_page

BLOCKS = blocks_of_the_page()


def names_of(*blocks: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "docs/sinks.md", "exec"), names)  # noqa: S102 - our own page
    return names


def test_definitions_can_be_written() -> None:
    names = names_of(*BLOCKS)
    assert [sink.window for sink in names["flights"].to] == ["day", "last_6_hours"]
    assert names["to_lake_as_well"].name == "function to_lake"


def test_a_function_writes_a_folder_a_version() -> None:
    written = list[str]()
    frame = SimpleNamespace(write=SimpleNamespace(mode=lambda _: SimpleNamespace(parquet=written.append)))
    names_of(*BLOCKS)["to_lake"](frame, 7)
    assert written == ["s3://lake/flights/day/version=7"]


def test_pulling(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def read(pipeline: Any, window: str, **more: Any) -> pa.Table:
        asked.append((pipeline.name, window, more))
        return pa.table({"n": [1]}).replace_schema_metadata({"muntin.version": "9"})

    names = names_of(*BLOCKS)
    names["read"] = read
    changes, version = names["changed_windows"](7)
    assert (len(changes), version) == (1, 9)
    assert asked == [("flights", "day", {"root": "state", "changes_since": 7})]
