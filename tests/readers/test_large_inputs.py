"""What a file costs follows its size: a cell that is too long is not kept, and columns that nobody uses cost little."""

import gzip
import re
import subprocess
import sys
from pathlib import Path

from muntin import aggregates as agg
from muntin.jobs.inspect.late import quarantined
from muntin.jobs.state.bound import bind
from muntin.sources.reading.cut_rows import LONGEST, Cut, is_text
from tests.case_counts import at_length
from tests.end_to_end.hourly import Hourly

AT = "2024-01-01 00:10:00"
SUM = {"aggregates": {"x": agg.sum("x")}}


def test_of_a_row_that_is_too_long_the_quarantine_has_the_begin(tmp_path: Path) -> None:
    case = Hourly(tmp_path, "{start:%H}.csv.gz", {}, SUM)
    path = case.write("00.csv", {"at": []}).with_name("00.csv.gz")
    path.write_bytes(gzip.compress(f"at,x,s\n{AT},1,a\n{AT},2,{'a' * LONGEST}\n{AT},4,b\n".encode(), 1))
    case.run()
    [row] = quarantined(case.pipeline, root=case.root)["row"].to_pylist()
    assert case.rows("x") == [(5,)]
    assert len(row) < 11_000
    assert row.startswith(f"{AT},2,aaa")
    assert row.endswith(f"a ... and {LONGEST + len(AT) + 3 - 10_000:,} bytes")


def test_a_row_of_any_other_length_is_kept_whole() -> None:
    cut = Cut(b"a" * LONGEST)
    cut.add(0, LONGEST, 1, "")
    assert cut.text(0) == "a" * LONGEST


def test_letters_over_the_borders_of_parts_are_text() -> None:
    data = b"a" * (2**24 - 1) + "ü".encode() * 3
    assert is_text(data)
    assert not is_text(data[:-1])
    assert not is_text(data[:-2] + b"\xff\xff")


FACTS = ["x + y", "x\n+y2", 'x1 + "a b"', "X.z", "sum_x", "count(x)", "\\n", "tx\ty"]


def test_a_column_is_used_if_its_name_is_a_word_of_the_definition(tmp_path: Path) -> None:
    for facts in FACTS:
        bound = bind(Hourly(tmp_path, other={"aggregates": {"a": agg.sum(facts.replace("\\n", "n"))}}).pipeline, tmp_path)
        for name in ("x", "y", "y2", "x1", "z", "X", "sum", "tx", "nothing"):
            word = re.search(rf"(?<!\w){name}(?!\w)", facts, re.IGNORECASE)
            assert bound.may_use(name) or not word, (facts, name)
        assert not bound.may_use("nothing")
        assert bound.may_use("not a word")


PEAK = """
import resource, sys
from tests.readers.test_large_inputs import hour_of_a_long_cell
from pathlib import Path
case = hour_of_a_long_cell(Path(sys.argv[1]), int(sys.argv[2]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
case.run()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024)
"""


def hour_of_a_long_cell(folder: Path, size: int) -> Hourly:
    case = Hourly(folder, "{start:%H}.csv.gz", {}, SUM)
    path = case.write("00.csv", {"at": []}).with_name("00.csv.gz")
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(f"at,x,s\n{AT},1,a\n{AT},2,".encode())
        for _ in range(size // 2**20):
            file.write(b"a" * 2**20)
        file.write(f"\n{AT},4,b\n".encode())
    return case


@at_length
def test_a_cell_of_a_hundred_megabytes_takes_four_bytes_a_byte_at_most(tmp_path: Path) -> None:
    size = 100 * 2**20
    root = Path(__file__).parents[2]
    asked = [sys.executable, "-c", PEAK, str(tmp_path), str(size)]
    told = subprocess.run(asked, cwd=root, capture_output=True, text=True, check=True).stdout
    assert int(told) < 4 * size
