"""The definition, tried without Spark: on the sample data, and on rows that a test makes up."""

from datetime import timedelta
from decimal import Decimal
from pathlib import Path

from muntin import read
from muntin.testing import pipeline_of, run_here, windows_of
from sample_data import DAYS, FIRST, LATE, write

FILE = Path(__file__).parents[1] / "dags/sales.py"


def test_the_sample_data_from_files_to_windows(tmp_path: Path) -> None:
    write(tmp_path / "data")
    sales = pipeline_of(FILE, home=tmp_path)
    report = run_here(sales, root=tmp_path / "state", start=FIRST, end=FIRST + timedelta(days=DAYS))
    assert [(batch.rows_read, batch.rows_quarantined, batch.rows_late) for batch in report.batches] == [
        (18, 0, 0),
        (19, 0, 0),
        (18, 0, 0),
    ]
    first, *_ = read(sales, "day", root=tmp_path / "state", keys={"shop": "north"}).to_pylist()
    assert (first["window_start"], first["sold"]) == (FIRST, 10)  # nine sales of the day, and the late one
    assert first["revenue"] == Decimal("139.50") + Decimal(LATE[2])


# hour     [09:00   10:00)   [10:00   11:00)
# north        2.50  4.00            1.00
def test_hours_of_a_shop() -> None:
    sales = pipeline_of(FILE)
    rows = [
        {"at": FIRST + timedelta(minutes=at), "shop": "north", "amount": Decimal(amount)}
        for at, amount in ROWS
    ]
    found = windows_of(sales, [rows], window="hour").to_pylist()
    assert [(row["sold"], row["revenue"]) for row in found] == [(2, Decimal("6.50")), (1, Decimal("1.00"))]


ROWS = [(545, "2.50"), (595, "4.00"), (610, "1.00")]
