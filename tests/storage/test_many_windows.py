"""A pipeline of many windows: each log and each ledger is read once by a process, however many windows there are."""

from collections import Counter
from pathlib import Path

import pytest

from muntin import read as published
from muntin import windows
from muntin.store import parquet, seen_tables
from tests.end_to_end.hourly import Hourly, hour

MANY = 100


def test_a_log_is_read_once_however_many_windows_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Hourly(tmp_path, other={"windows": {f"w{at}": windows.tumbling("1h", grace=f"{at}s") for at in range(MANY)}})
    case.write("00.parquet", {"at": [hour(0)], "k": ["a"]})
    case.write("01.parquet", {"at": [hour(1)], "k": ["a"]})
    case.run(0)
    opened, read = Counter[Path](), Counter[str]()
    open_table, footer = seen_tables.open_table, parquet.footer

    def counted(path: Path, version: int | None = None):
        opened[path] += "windows" in path.parts
        return open_table(path, version)

    monkeypatch.setattr(seen_tables, "open_table", counted)
    monkeypatch.setattr("muntin.jobs.published.ledger_segments.footer", lambda path: [read.update([path]), footer(path)][1])
    case.run(1, 1)
    assert [len(published(case.pipeline, name, root=case.root)) for name in ("w0", "w99")] == [2, 1]
    assert max(opened.values(), default=0) <= 1
    assert max(read.values()) == 1
    opened.clear()
    read.clear()
    case.run(1, 1)
    assert (sum(opened.values()), sum(read.values())) == (0, 0), "nothing is new"
