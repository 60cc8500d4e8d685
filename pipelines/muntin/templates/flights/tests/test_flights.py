"""The definition, tried without Spark: on the sample data, and on rows that a test makes up."""

from datetime import timedelta
from pathlib import Path

from muntin import read
from muntin.testing import pipeline_of, run_here, windows_of
from sample_data import DAYS, FIRST, departures, write

FILE = Path(__file__).parents[1] / "dags/flights.py"


def test_the_sample_data_from_files_to_windows(tmp_path: Path) -> None:
    write(tmp_path / "data")
    flights = pipeline_of(FILE, home=tmp_path)
    run_here(flights, root=tmp_path / "state", start=FIRST, end=FIRST + timedelta(days=DAYS))
    for row in read(flights, "last_6_hours", root=tmp_path / "state").to_pylist():
        inside = [
            flight["delay"]
            for flight in departures()
            if flight["origin"] == row["origin"]
            and row["window_start"] <= flight["scheduled"] < row["window_end"]
            and flight["delay"] is not None
        ]
        assert (row["flights"], row["worst"]) == (len(inside), max(inside))


# scheduled   10:00 +5    11:00 +20    a flight is late from 16 minutes on
def test_late_is_more_than_a_quarter_of_an_hour() -> None:
    flights = pipeline_of(FILE)
    rows = [
        {"scheduled": FIRST + timedelta(hours=hour), "origin": "JFK", "delay": delay}
        for hour, delay in ((10, 5), (11, 20))
    ]
    found = windows_of(flights, [rows], window="last_6_hours", provisional=True).to_pylist()
    assert {(row["flights"], row["late"]) for row in found} == {(1, 0), (2, 1), (1, 1)}
