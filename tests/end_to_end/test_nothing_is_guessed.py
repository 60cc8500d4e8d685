"""A reader takes a file as it stands: no column of a folder's name, no row left out, no line skipped."""

from pathlib import Path

import pytest

from pipelines.errors import DefinitionError, SourceError
from tests.end_to_end.hourly import Hourly, times

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


def csv(folder: Path, text: str) -> Hourly:
    hourly = Hourly(folder, "{start:%H}.csv")
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
    with pytest.raises(SourceError, match=r"00\.csv|event_time"):
        csv(tmp_path, first + second).run()
