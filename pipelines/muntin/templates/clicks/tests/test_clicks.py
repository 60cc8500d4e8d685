"""The definition, tried without Spark: on the sample data, and on rows that a test makes up."""

from datetime import timedelta
from pathlib import Path

from muntin import read
from muntin.testing import pipeline_of, run_here, windows_of
from sample_data import FIRST, HOURS, visits, write

FILE = Path(__file__).parents[1] / "dags/clicks.py"


def test_the_sample_data_from_files_to_windows(tmp_path: Path) -> None:
    write(tmp_path / "data")
    clicks = pipeline_of(FILE, home=tmp_path)
    run_here(clicks, root=tmp_path / "state", start=FIRST, end=FIRST + timedelta(hours=HOURS))
    found = {
        (row["visitor"], row["window_start"]): row
        for row in read(clicks, "visit", root=tmp_path / "state").to_pylist()
    }
    assert {key: row["clicks"] for key, row in found.items()} == {
        (visitor, visit[0][0]): len(visit) for visitor, visit in visits()
    }
    assert all(row["landed_on"] == "home" for row in found.values())


# minutes   0   10       50   55
# visits    [----)       [----)        thirty minutes without a click end a visit
def test_half_an_hour_without_a_click_ends_a_visit() -> None:
    clicks = pipeline_of(FILE)
    rows = [
        {"at": FIRST + timedelta(minutes=at), "visitor": "v", "page": page}
        for at, page in ((0, "home"), (10, "offer"), (50, "home"))
    ]
    found = windows_of(clicks, [rows, []], window="visit").to_pylist()
    assert [(row["clicks"], row["left_from"]) for row in found] == [(2, "offer"), (1, "home")]
