"""Times that are texts: each is the instant that the text says, to its last digit and in its zone, or its row is in the quarantine."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from muntin import aggregates as agg
from muntin import read, sources
from muntin.errors import DefinitionError
from muntin.jobs.inspect.late import quarantined
from tests.end_to_end.exact_values import exact, says
from tests.end_to_end.hourly import Hourly
from tests.end_to_end.written_by import AT
from tests.topics.test_values import of

CARRIED = {
    "2024-01-02": "TIMESTAMPTZ TIMESTAMP DATE",
    "0001-01-01": "TIMESTAMPTZ TIMESTAMP DATE",
    "2024-01-02 00:00:00": "TIMESTAMPTZ TIMESTAMP DATE",
    "2024-01-02T03:04:05": "TIMESTAMPTZ TIMESTAMP",
    "1969-12-31 23:59:59.123456": "TIMESTAMPTZ TIMESTAMP",
    "2024-01-02 03:04:05.123456000": "TIMESTAMPTZ TIMESTAMP",
    "2024-01-02T03:04:05Z": "TIMESTAMPTZ",
    "2024-01-02 03:04:05+02": "TIMESTAMPTZ",
    "2024-01-02T03:04:05.5-02:30": "TIMESTAMPTZ",
    "2024-01-02T03:04:05+23:59": "TIMESTAMPTZ",
    "2024-01-02T03:04:05-1200": "TIMESTAMPTZ",
    "2024-01-02T03:04:05+24:00": "",
    "2024-01-02T03:04:05-25": "",
    "2024-01-02T03:04:05+0560": "",
    "2024-01-02 03:04:05.123456789": "",
    "2024-01-02T03:04:05.0000001Z": "",
    "2024-01-02 03:04:05 PM": "",
    "2024-01-02 03:04:05 IST": "",
    "2024-01-02 03:04:05 CET": "",
    "2024-07-02 03:04:05 Europe/Vienna": "",
    "2024-01-02 03:04:05 nonsense": "",
    "24-01-02": "",
    "infinity": "",
    "epoch": "",
    "03:04:05": "TIME",
    "03:04:05.123456": "TIME",
    "03:04:05.1234567": "",
}
"""Text -> the types that have it as it is."""


def write(made: Hourly, texts: list[str]) -> None:
    path = made.write("00" + Path(made.path).suffix, {"at": []})
    if path.suffix == ".csv":
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([["at", "k"], *([AT, text] for text in texts)])
    else:
        path.write_text("".join(json.dumps({"at": AT, "k": text}) + "\n" for text in texts))


def texts_and_values(folder: Path, ending: str, texts: list[str], **source: Any) -> tuple[list[Any], int]:
    """The values of rows in order, and the number of rows in the quarantine."""
    made = Hourly(folder, f"{{start:%H}}.{ending}", {"unit": "s", **source}, {"aggregates": {"k": agg.collect("k")}})
    write(made, texts)
    (batch,) = made.run().batches
    values = exact(read(made.pipeline, "hour", root=made.root)["k"]) if batch.rows_accepted else [()]
    return [*values[0]], batch.rows_quarantined


@pytest.mark.parametrize("kind", ["TIMESTAMPTZ", "TIMESTAMP", "DATE", "TIME"])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_of_a_type_that_is_said(ending: str, kind: str, tmp_path: Path) -> None:
    carried = [text for text, kinds in CARRIED.items() if kind in kinds.split()]
    values, refused = texts_and_values(tmp_path, ending, [*CARRIED], types={"k": kind})
    assert [pair for pair in zip(carried, values, strict=True) if not says(*pair)] == []
    assert refused == len(CARRIED) - len(carried)


@pytest.mark.parametrize("kind", ["TIMESTAMPTZ", "TIMESTAMP", "DATE", "TIME"])
def test_in_messages(kind: str) -> None:
    done = of("json", *(json.dumps({"k": text}).encode() for text in CARRIED), columns={"k": kind})
    carried = [text for text, kinds in CARRIED.items() if kind in kinds.split()]
    assert [pair for pair in zip(carried, exact(done.rows["k"]), strict=True) if not says(*pair)] == []
    assert len(done.odd) == len(CARRIED) - len(carried)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_of_a_type_that_is_told_from_the_texts(ending: str, tmp_path: Path) -> None:
    for name, good, bad in (
        ("fine", "1969-12-31 23:59:59.123456", "2024-01-02 03:04:05.123456789"),
        ("zones", "2024-01-02 03:04:05+01", "2024-01-02 03:04:05 IST"),
    ):
        values, refused = texts_and_values(tmp_path / name, ending, [good, bad])
        kept = [good] if refused else [good, bad]  # of JSON the column is of texts
        assert ([says(*pair) for pair in zip(kept, values, strict=True)], refused) == ([True] * len(kept), 2 - len(kept))


@pytest.mark.parametrize("types", [{}, {"k": "VARCHAR"}, {"k": "TIMESTAMPTZ"}])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_event_times_lose_parts_of_microseconds_and_no_zone(ending: str, types: dict[str, str], tmp_path: Path) -> None:
    made = Hourly(
        tmp_path, f"{{start:%H}}.{ending}", {"event_time": "k", "types": types}, {"aggregates": {"k": agg.max("epoch_us(k::TIMESTAMPTZ)")}}
    )
    write(made, ["2024-01-01T00:10:00.123456999Z", "2024-01-01T00:20:00 IST"])
    (batch,) = made.run().batches
    assert (batch.rows_accepted, batch.rows_quarantined) == (1, 1)
    (reason,) = quarantined(made.pipeline, root=made.root)["reason"].to_pylist()
    assert any(words in reason for words in ("names its zone by a word", "the name of a zone", "cannot be read as TIMESTAMPTZ"))


def test_a_format_with_names_of_zones_is_refused() -> None:
    with pytest.raises(DefinitionError, match=r"one name is of several zones .* offsets, which %z reads"):
        sources.files("{start}.csv", event_time=sources.at("at", format="%d.%m.%Y %H:%M %Z"))
    assert sources.files("{start}.csv", event_time=sources.at("at", format="%d.%m.%Y %H:%M %%Z"))
