"""A reader takes a file as it stands: no column of a folder's name, no row left out, no line skipped."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from muntin import Limits, run, sources
from muntin import aggregates as agg
from muntin.errors import DefinitionError, SourceError
from muntin.jobs.state.fingerprint import fingerprint
from muntin.tasks import Local
from tests.end_to_end.hourly import Hourly, times
from tests.source_options import grouped

ENDINGS = ("parquet", "csv", "jsonl")


# events      0:10    1:10    2:10    3:10     in a folder that says they all happened at 0:00
# hours     |  1   |   1   |   1   |   1   |
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_folder_named_as_the_event_time_does_not_replace_it(ending: str, tmp_path: Path) -> None:
    hourly = Hourly(tmp_path, f"at=2024-01-01/{{start:%H}}.{ending}")
    for at in range(4):
        hourly.write(f"at=2024-01-01/{at:02d}.{ending}", {"at": times(60 * at + 10), "k": ["a"]})
    hourly.run(0, 3)
    assert hourly.rows("n") == [(1,)] * 4


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_folder_named_as_a_key_does_not_replace_it(ending: str, tmp_path: Path) -> None:
    hourly = Hourly(tmp_path, f"k=folder/{{start:%H}}.{ending}", other={"keys": ["k"]})
    hourly.write(f"k=folder/00.{ending}", {"at": times(1, 2), "k": ["a", "b"]})
    hourly.run()
    assert hourly.rows("k", "n") == [("a", 1), ("b", 1)]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_folder_gives_no_column_that_its_files_lack(ending: str, tmp_path: Path) -> None:
    hourly = Hourly(tmp_path, f"k=folder/{{start:%H}}.{ending}", other={"keys": ["k"]})
    hourly.write(f"k=folder/00.{ending}", {"at": times(1, 2)})
    with pytest.raises(DefinitionError, match="no column 'k'"):
        hourly.run()


def csv(folder: Path, text: str, **other: Any) -> Hourly:
    hourly = Hourly(folder, "{start:%H}.csv", {}, other)
    hourly.write("00.csv", {"at": []}).write_text(text)
    return hourly


def test_a_row_that_begins_with_a_hash_is_read_and_refused_with_its_reason(tmp_path: Path) -> None:
    hourly = csv(tmp_path, "at,k\n2024-01-01 00:10:00,a\n#2024-01-01 00:20:00,b\n2024-01-01 00:30:00,c\n")
    (batch,) = hourly.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (3, 2, 1)


# ten rows of a second table below the first would make the reader skip the first
def test_lines_before_the_most_regular_part_are_not_skipped(tmp_path: Path) -> None:
    first = "at,k\n2024-01-01 00:10:00,a\n2024-01-01 00:20:00,b\n"
    second = "at,k,x\n" + "2024-01-01 00:30:00,c,1\n" * 10
    hourly = csv(tmp_path / "any", first + second)
    (batch,) = hourly.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (13, 2, 11)
    assert hourly.rows("n") == [(2,)]
    with pytest.raises(SourceError, match=r"00\.csv|event_time"):
        csv(tmp_path / "half", first + second, limits=Limits(max_quarantined=0.5)).run()


# DuckDB would take 01/02/2024 for the first of February, and in a file with 01/13/2024 for the second of January
def test_event_times_that_do_not_say_which_number_is_the_day_are_refused(tmp_path: Path) -> None:
    with pytest.raises((SourceError, DefinitionError), match="'01/01/2024 00:10:00': which number is the day would be a guess"):
        csv(tmp_path, "at\n01/01/2024 00:10:00\n").run()


@pytest.mark.parametrize("day", ["01-02-2024 03:04:05", "01-02-24 03:04:05"])
def test_so_it_is_with_any_column_of_any_file(day: str, tmp_path: Path) -> None:
    hourly = Hourly(tmp_path, "{start:%H}*.csv", {"unit": "s"}, {"aggregates": {"n": agg.max("paid")}})
    hourly.write("00a.csv", {"at": []}).write_text("at,paid\n1704067200,2024-01-02 00:00:00\n")
    hourly.write("00b.csv", {"at": []}).write_text(f"at,paid\n1704067201,{day}\n")
    with pytest.raises((SourceError, DefinitionError), match=rf"00b\.csv: column 'paid' holds '{day}'.*VARCHAR"):
        hourly.run()


def test_so_it_is_in_json(tmp_path: Path) -> None:
    hourly = Hourly(tmp_path, "{start:%H}.jsonl")
    hourly.write("00.jsonl", {"at": []}).write_text('{"at": "01-02-2024 03:04:05"}\n')
    with pytest.raises((SourceError, DefinitionError), match="column 'at' holds '01-02-2024 03:04:05'"):
        hourly.run()


@pytest.mark.parametrize("zone", [None, "Europe/Vienna"])
def test_a_format_says_how_event_times_are_written(zone: str | None, tmp_path: Path) -> None:
    hourly = Hourly(tmp_path, "{start:%H}.csv", {"time_format": "%d/%m/%Y %H:%M", "timezone": zone})
    shift = 0 if zone is None else 1  # hours that Vienna is ahead in January
    text = f"at,k\n01/01/2024 0{shift}:10,a\n01/01/2024 0{shift}:20,b\n2024-01-01 00:30,c\n"
    hourly.write("00.csv", {"at": []}).write_text(text)
    (batch,) = hourly.run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (3, 2, 1)
    assert hourly.rows("n", "window_start") == [(2, times(0)[0])]


# wall clocks show 2:30 twice in the night of October 27: with an offset it is known which
def test_an_instant_is_itself_in_the_hour_that_comes_twice(tmp_path: Path) -> None:
    first, second = datetime(2024, 10, 27, 0, 30, tzinfo=UTC), datetime(2024, 10, 27, 1, 30, tzinfo=UTC)
    daily = {"schedule": "@daily", "start": datetime(2024, 10, 27, tzinfo=UTC)}
    hourly = Hourly(tmp_path, "{start:%d}.parquet", {"timezone": "Europe/Vienna"}, daily)
    hourly.write("27.parquet", {"at": [first, second, second]})
    run(hourly.pipeline, root=hourly.root, start=datetime(2024, 10, 27, tzinfo=UTC), end=datetime(2024, 10, 28, tzinfo=UTC), spark=Local(2))
    assert hourly.rows("n") == [(1,), (2,)]


@pytest.mark.parametrize(("ending", "said"), [("csv", {"delimiter": ";"}), ("tsv", {}), ("tsv", {"delimiter": ";"}), ("csv", {})])
def test_values_are_separated_by_what_is_said(ending: str, said: dict[str, str], tmp_path: Path) -> None:
    mark = said.get("delimiter", "\t" if ending == "tsv" else ",")
    hourly = Hourly(tmp_path, f"{{start:%H}}.{ending}", said, {"keys": ["k"]})
    hourly.write(f"00.{ending}", {"at": []}).write_text(f'at{mark}k\n2024-01-01 00:10{mark}"a{mark}""b"""\n')
    hourly.run()
    assert hourly.rows("k", "n") == [(f'a{mark}"b"', 1)]


def test_another_delimiter_is_no_guess(tmp_path: Path) -> None:
    with pytest.raises((SourceError, DefinitionError), match="no column 'at'; there are at;k"):
        csv(tmp_path, "at;k\n2024-01-01 00:10:00;a\n").run()


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"time_format": "d/m/y"}, "is no format of strptime"),
        ({"time_format": "%d", "unit": "s"}, "give one of them"),
        ({"delimiter": ";;"}, "give one character"),
    ],
)
def test_what_cannot_be_said_of_text(said: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        sources.files("{start:%H}.csv", **grouped(event_time="at", **said))


def test_states_of_tab_separated_files_keep_their_name() -> None:
    """Version 0.1 found out by itself that these files have tabs."""
    tabs, commas = (Hourly(Path("/x"), f"{{start:%H}}.{ending}").pipeline for ending in ("tsv", "csv"))
    assert fingerprint(tabs) == fingerprint(commas)
    assert fingerprint(Hourly(Path("/x"), "{start:%H}.csv", {"delimiter": ";"}).pipeline) != fingerprint(commas)


def test_a_time_that_is_no_date_goes_to_the_quarantine(tmp_path: Path) -> None:
    (batch,) = csv(tmp_path, "at\ninfinity\n2024-01-01 00:10:00\n").run().batches
    assert (batch.rows_read, batch.rows_accepted, batch.rows_quarantined) == (2, 1, 1)


def test_ids_of_several_batches_are_compared_as_they_are_written(tmp_path: Path) -> None:
    """By its file alone 007 would be a number in the first hour, and a text in the second."""
    case = Hourly(tmp_path, "{start:%H}.csv", {"dedupe": "k", "dedupe_within": "2h"})
    case.write("00.csv", {"at": []}).write_text("at,k\n2024-01-01 00:10:00,007\n2024-01-01 00:10:00,7\n")
    (tmp_path / "data/01.csv").write_text("at,k\n2024-01-01 01:10:00,007\n2024-01-01 01:10:00,a7\n")
    assert [(batch.rows_accepted, batch.rows_duplicate) for batch in case.run(0, 1).batches] == [(2, 0), (1, 1)]


@pytest.mark.parametrize("rows", [{"dedupe": "k", "dedupe_within": "2h"}, {"id": "k", "deletes": "false", "changes_within": "2h"}])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_file_without_rows_and_types_is_an_empty_batch(tmp_path: Path, rows: dict[str, Any], order: tuple[int, int]) -> None:
    case = Hourly(tmp_path, "{start:%H}.parquet", rows)
    case.write(f"{order[0]:02d}.parquet", {"at": times(60 * order[0] + 10), "k": ["a"]})
    pq.write_table(pa.table({"at": pa.nulls(0), "k": pa.nulls(0)}), tmp_path / f"data/{order[1]:02d}.parquet")
    assert sum(batch.rows_accepted for batch in case.run(0, 1).batches) == 1
